"""Parameters of distributions: values of the host are checked at the call, values on the GPU by Guards at the read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..array import Array
from ..dtypes import DType, float32, int32, uint32
from ..graph import Guard
from ..ops import elementwise as ew
from ..ops.convert import from_host
from ..ops.creation import astype
from ..ops.guards import guard
from ..ops.rows import unary
from ..traced import isinstance_of_traced
from .applying import shape_of

MOST = 2147020000  # of a Poisson mean: counts beyond it by ten deviations still are int32
_BITS = "bitcast<u32>(x)"


def _fault(name: str, floats: str, integers: str = "false") -> Any:
    return unary(
        f"random_fault_{name}", {"f": f"select(0u, 1u, {floats})", "i": f"select(0u, 1u, {integers})"},
        out="uint32", like="", doc="0 where a parameter is allowed, by its bits.",
    )  # fmt: skip


RULES: dict[str, tuple[Callable[[Any], Any] | None, Any, str]] = {
    "not negative": (
        lambda x: x >= 0,
        _fault("negative", f"({_BITS} > 0x7f800000u) & ({_BITS} != 0x80000000u)", "x < 0i"),
        "must not be negative",
    ),
    "positive": (
        lambda x: x > 0,
        _fault("positive", f"{_BITS} - 1u >= 0x7f800000u", "x <= 0i"),
        "must be positive",
    ),
    "from 0 to 1": (
        lambda x: (x >= 0) & (x <= 1),
        _fault("unit", f"({_BITS} > 0x3f800000u) & ({_BITS} != 0x80000000u)"),
        "must be from 0 to 1",
    ),
    "above 0, to 1": (
        lambda x: (x > 0) & (x <= 1),
        _fault("chance", f"{_BITS} - 1u >= 0x3f800000u"),
        "must be above 0 and at most 1",
    ),
    "from 0, below 1": (
        lambda x: (x >= 0) & (x < 1),
        _fault("below_one", f"({_BITS} >= 0x3f800000u) & ({_BITS} != 0x80000000u)"),
        "must be at least 0 and below 1",
    ),
    "above 1": (
        lambda x: x > 1,
        _fault("above_one", f"({_BITS} <= 0x3f800000u) | ({_BITS} > 0x7f800000u)"),
        "must be greater than 1",
    ),
    "mean": (
        lambda x: (x >= 0) & (x <= MOST),
        _fault("mean", f"({_BITS} > 0x4efff1dau) & ({_BITS} != 0x80000000u)"),
        f"must be from 0 to {MOST}",
    ),
    "any": (None, None, ""),
}


class Parameters:
    """The parameters of one call: `take` each, then `shape`, then `put` the conditions on what came of them."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.guards: list[Guard] = []
        self.values: dict[str, Any] = {}
        self.host: dict[str, Any] = {}  # those that the host knows

    def take(self, name: str, x: Any, rule: str = "any", dtype: DType = float32) -> Any:
        """A number, or an Array of the dtype. ValueError where a value of the host breaks the rule."""
        x = self._taken(name, x, rule, dtype)
        self.values[name] = x
        return x

    def _taken(self, name: str, x: Any, rule: str, dtype: DType) -> Any:
        if isinstance_of_traced(x):
            return x
        allowed, fault, text = RULES[rule]
        if not isinstance(x, Array):
            if type(x) not in (int, float):
                import numpy as np

                x = np.asarray(x)
                if x.dtype.kind not in ("biuf" if dtype is float32 else "biu"):
                    raise TypeError(f"{self.where}: {name} must be of {_KIND[dtype]}, not {x.dtype}")
            elif dtype is int32 and type(x) is not int:
                raise TypeError(f"{self.where}: {name} must be an integer, not {x}")
            self.host[name] = x
            self._settle(allowed(x) if allowed else True, f"{name} {text}")
            if type(x) in (int, float):
                return x if dtype is int32 else float(x)
            if not x.ndim:
                return x.astype("int64" if dtype is int32 else "float64").item()
            if dtype is float32:
                x = x.astype(np.float32)
            return astype(from_host(x, self.where), dtype, copy=False)
        if x.dtype.kind not in ("biuf" if dtype is float32 else "biu"):
            raise TypeError(f"{self.where}: {name} must be of {_KIND[dtype]}, not {x.dtype.name}")
        x = astype(x, dtype, copy=False)
        if fault is not None and x.size:
            self._watch(fault(x), f"{name} {text}")
        return x

    def _settle(self, good: Any, text: str) -> None:
        if not (good if isinstance(good, bool) else good.all()):
            raise ValueError(f"{self.where}: {text}")

    def _watch(self, fault: Array, text: str) -> None:
        error = f"{self.where}: {text}"
        self.guards.append(guard(fault, lambda word: ValueError(error)))

    def total(self, name: str, a: str, b: str) -> None:
        """Names the sum of two parameters."""
        if a in self.host and b in self.host:
            self.host[name] = self.host[a] + self.host[b]
        else:
            self.values[name] = ew.add(self.values[a], self.values[b])

    def ordered(self, a: str, b: str | int, strict: bool) -> None:
        """ValueError unless parameter a is below b (or equal: not strict)."""
        text = f"{a} must be {'below' if strict else 'at most'} {b}"
        if a in self.host and (b in self.host or isinstance(b, int)):
            x, y = self.host[a], b if isinstance(b, int) else self.host[b]
            self._settle(x < y if strict else x <= y, text)
            return
        x = self.values[a]
        y = b if isinstance(b, int) else self.values.get(b, self.host.get(b))
        if isinstance(x, Array) or isinstance(y, Array):
            right = (ew.less if strict else ew.less_equal)(x, y)
            self._watch(astype(ew.logical_not(right), uint32), text)

    def means(self, n: Any, odds: Any) -> None:
        """ValueError where n * odds, ten deviations of a gamma number up, is beyond Poisson's greatest mean."""
        text = "n is too large, or p too small"
        if "n" in self.host and "p" in self.host:
            n, p = self.host["n"], self.host["p"]
            self._settle((n + 10 * n**0.5) * (1 - p) <= MOST * p, text)
        elif isinstance(n, Array) or isinstance(odds, Array):
            most = ew.multiply(ew.add(n, ew.multiply(10.0, ew.sqrt(n))), odds)
            self._watch(astype(ew.logical_not(ew.less_equal(most, float(MOST))), uint32), text)

    def shape(self, size: Any) -> tuple[int, ...]:
        """size, or what the parameters broadcast to."""
        return shape_of(size, self.where, *self.values.values())

    def put(self, out: Array) -> Array:
        """The result, with the conditions on the device's values."""
        if self.guards:
            op = out._cell.op
            op.guards = (*op.guards, *self.guards)
        return out


_KIND = {float32: "real numbers", int32: "integers"}
