"""Random programs over random views give NumPy's values: planner, lowering, pool and command stream, on the emulator.

Wrong fusion, wrong views, a wrong order of parameter words, a buffer reused too early or a missing workgroup show.
A failure prints the program as the lines that a person would write. TABGPU_PROGRAMS=5000 runs more of them.
"""

from __future__ import annotations

import gc
import os
from random import Random
from typing import Any, NamedTuple

import native
import numpy as np
import pytest
from emulator import read

import tabgpu as tg
from tabgpu import lower_reduction
from tabgpu.errors import LimitError

DTYPES = [np.float32, np.int32, np.uint32, np.bool_]
EXACT = 1 << 22  # float32 values stay whole numbers below this, so every result is exact
MOST = 600  # elements

BINARY = {
    "f": ["add", "subtract", "multiply", "minimum", "maximum", "less", "equal"],
    "i": ["add", "subtract", "multiply", "minimum", "maximum", "bitwise_xor", "less_equal", "not_equal"],
    "u": ["add", "subtract", "multiply", "minimum", "maximum", "bitwise_and", "greater"],
    "b": ["bitwise_or", "bitwise_and", "bitwise_xor", "logical_and", "equal", "add", "multiply"],
}
UNARY = {
    "f": ["negative", "absolute", "square", "positive"],
    "i": ["negative", "absolute", "square", "bitwise_not"],
    "u": ["square", "bitwise_not", "positive"],
    "b": ["logical_not", "bitwise_not"],
}
REDUCE = {
    "f": ["sum", "max", "min", "argmax", "argmin"],
    "i": ["sum", "prod", "max", "min", "argmax", "argmin", "any", "all"],
    "u": ["sum", "prod", "max", "min", "argmax"],
    "b": ["sum", "any", "all", "max", "min"],
}


class Pair(NamedTuple):
    """One value, in both worlds."""

    ours: tg.Array
    theirs: np.ndarray
    name: str


class Program:
    """The values at hand, and the steps that make new ones."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.pairs: list[Pair] = []
        self.lines: list[str] = []
        self.made = 0
        self.refused = False

    def below(self, n: int) -> int:
        return self.random.randrange(n)

    def one(self, options: Any) -> Any:
        return self.random.choice(options)

    def keep(self, text: str, ours: Any, theirs: Any) -> None:
        theirs = np.asarray(theirs)
        self.made += 1
        name = f"v{self.made}"
        self.lines.append(f"{name} = {text}  # {theirs.shape} {theirs.dtype}")
        assert ours.shape == theirs.shape and ours.dtype.name == theirs.dtype.name, (ours.shape, ours.dtype)
        if theirs.size > MOST or (theirs.dtype.kind == "f" and theirs.size and np.abs(theirs).max() > EXACT):
            self.lines.append(f"del {name}")
        else:
            self.pairs.append(Pair(ours, theirs, name))

    def pick(self) -> Pair:
        return self.one(self.pairs)  # type: ignore[no-any-return]

    def partner(self, x: np.ndarray) -> Pair:
        """A value of x's dtype whose shape broadcasts with x's: at worst x."""

        def fits(y: np.ndarray) -> bool:
            if y.dtype != x.dtype:
                return False
            try:
                return np.prod(np.broadcast_shapes(x.shape, y.shape)) <= MOST
            except ValueError:
                return False

        return self.one([p for p in self.pairs if fits(p.theirs)])  # type: ignore[no-any-return]

    # --- steps ---

    def leaf(self) -> None:
        shape = tuple(self.one([1, 2, 3, 4, 5, 7, 8, 12]) for _ in range(self.below(4)))
        if self.below(6) == 0:
            shape = (self.one([0, 16, 33, 64, 129]), *shape[:1])
        dtype = self.one(DTYPES)
        count = int(np.prod(shape))
        x = (np.arange(count) * 7919 % 101 - 50 + self.below(3)).astype(dtype).reshape(shape)
        text = f"tg.asarray((np.arange({count}) * 7919 % 101 - 50).astype('{x.dtype}').reshape({shape}))"
        self.keep(text, tg.asarray(x), x.copy())

    def creation(self) -> None:
        n = self.below(9)
        made = [
            (f"tg.arange({n})", lambda: tg.arange(n), np.arange(n, dtype=np.int32)),
            (
                "uint32 range",
                lambda: tg.arange(3, 3 + 2 * n, 2, dtype="uint32"),
                np.arange(3, 3 + 2 * n, 2, np.uint32),
            ),
            (f"tg.eye({n}, {n + 1}, k=1)", lambda: tg.eye(n, n + 1, k=1), np.eye(n, n + 1, 1, np.float32)),
            (f"tg.full(({n}, 2), 7)", lambda: tg.full((n, 2), 7), np.full((n, 2), 7, np.int32)),
            (f"tg.full((2, {n}), True)", lambda: tg.full((2, n), True), np.full((2, n), True)),
            (f"tg.ones(({n},))", lambda: tg.ones((n,)), np.ones(n, np.float32)),
        ]
        text, ours, theirs = self.one(made)
        self.keep(text, ours(), theirs)

    def view(self) -> None:
        a, x, name = self.pick()
        kind = self.below(7)
        if kind == 0:
            axes = self.random.sample(range(x.ndim), x.ndim)
            self.keep(f"{name}.transpose({axes})", a.transpose(axes) if axes else a.T, x.transpose(axes))
        elif kind == 1 and x.ndim:
            axis = self.below(x.ndim)
            self.keep(f"tg.flip({name}, axis={axis})", tg.flip(a, axis=axis), np.flip(x, axis))
        elif kind == 2:
            key: list[Any] = []
            for n in x.shape[: self.below(x.ndim + 1)]:
                what = self.below(4)
                if what == 0 and n:
                    key.append(self.below(2 * n) - n)
                else:
                    bounds = [self.one([None, self.below(2 * n + 3) - n - 1]) for _ in "ab"]
                    key.append(slice(*bounds, self.one([None, 1, 2, 3, -1, -2])))
            for extra in (None, Ellipsis):
                if self.below(3) == 0:
                    key.insert(self.below(len(key) + 1), extra)
            if Ellipsis in key:  # what follows meets the last axes
                key = [
                    k if k is None or k is Ellipsis else slice(None, None, self.one([1, -1, 2])) for k in key
                ]
            self.keep(f"{name}[{key}]", a[tuple(key)], x[tuple(key)])
        elif kind == 3:
            shape = tuple(self.one([1, 2, 3]) if n == 1 else n for n in x.shape)
            shape = tuple(self.one([1, 2, 3]) for _ in range(self.below(3))) + shape
            if np.prod(shape) <= MOST:
                self.keep(
                    f"tg.broadcast_to({name}, {shape})", tg.broadcast_to(a, shape), np.broadcast_to(x, shape)
                )
        elif kind == 4 and x.size:
            dims, left = [], x.size
            while left > 1 and len(dims) < 4:
                dims.append(self.one([k for k in range(1, left + 1) if left % k == 0]))
                left //= dims[-1]
            shape = (*dims, left)
            self.keep(f"{name}.reshape({shape})", a.reshape(shape), x.reshape(shape))
        elif kind == 5:
            axis = self.below(x.ndim + 1)
            self.keep(
                f"tg.expand_dims({name}, axis={axis})", tg.expand_dims(a, axis=axis), np.expand_dims(x, axis)
            )
        elif kind == 6:
            to = self.one(DTYPES)
            low = np.maximum(x, 0) if x.dtype.kind == "f" and to is np.uint32 else x
            self.keep(f"{name}.astype('{to.__name__}')", a.astype(to), low.astype(to))

    def unary(self) -> None:
        a, x, n = self.pick()
        name = self.one(UNARY[x.dtype.kind])
        self.keep(f"tg.{name}({n})", getattr(tg, name)(a), getattr(np, name)(x))

    def binary(self) -> None:
        p = self.pick()
        q = self.partner(p.theirs)
        name = self.one(BINARY[p.theirs.dtype.kind])
        if self.below(4) == 0 and p.theirs.ndim == 2 and p.theirs.shape[0] == p.theirs.shape[1]:
            q = Pair(p.ours.T, p.theirs.T, f"{p.name}.T")
        if self.below(2):
            p, q = q, p
        result = getattr(np, name)(p.theirs, q.theirs)
        self.keep(f"tg.{name}({p.name}, {q.name})", getattr(tg, name)(p.ours, q.ours), result)

    def outer(self) -> None:
        """a[:, None] with b[None, :], both perhaps pending: what must not be computed again for every pair."""
        p, q = self.pick(), self.pick()
        if p.theirs.dtype == q.theirs.dtype and p.theirs.size * q.theirs.size <= MOST:
            name = self.one(BINARY[p.theirs.dtype.kind])
            text = f"tg.{name}({p.name}.ravel()[:, None], {q.name}.ravel())"
            ours = getattr(tg, name)(p.ours.reshape(-1)[:, None], q.ours.reshape(-1))
            self.keep(text, ours, getattr(np, name)(p.theirs.reshape(-1)[:, None], q.theirs.reshape(-1)))

    def scalar(self) -> None:
        a, x, n = self.pick()
        kind = x.dtype.kind
        s = {
            "f": float(self.below(9) - 4),
            "i": self.below(9) - 4,
            "u": self.below(9),
            "b": bool(self.below(2)),
        }[kind]
        name = self.one(BINARY[kind])
        if self.below(2):
            self.keep(f"tg.{name}({n}, {s})", getattr(tg, name)(a, s), getattr(np, name)(x, s))
        else:
            self.keep(f"tg.{name}({s}, {n})", getattr(tg, name)(s, a), getattr(np, name)(s, x))

    def where(self) -> None:
        p = self.pick()
        q = self.partner(p.theirs)
        shape = np.broadcast_shapes(p.theirs.shape, q.theirs.shape)
        conditions = [
            c for c in self.pairs if c.theirs.dtype == np.bool_ and c.theirs.shape in (shape, shape[1:], ())
        ]
        if conditions:
            c = self.one(conditions)
            text = f"tg.where({c.name}, {p.name}, {q.name})"
            self.keep(text, tg.where(c.ours, p.ours, q.ours), np.where(c.theirs, p.theirs, q.theirs))

    def reduce(self) -> None:
        a, x, n = self.pick()
        name = self.one(REDUCE[x.dtype.kind])
        keep = bool(self.below(2))
        axis: Any = None
        if x.ndim and self.below(4):
            axes = self.random.sample(range(x.ndim), 1 + self.below(x.ndim))
            axis = axes[0] if name.startswith("arg") else tuple(axes)
        if x.size == 0:
            return
        options: dict[str, Any] = {"axis": axis, "keepdims": keep}
        wide = {"dtype": np.int32 if x.dtype == np.bool_ else x.dtype} if name in ("sum", "prod") else {}
        theirs = np.asarray(getattr(np, name)(x, **options, **wide))
        theirs = theirs.astype(np.int32) if name.startswith("arg") else theirs
        self.keep(f"tg.{name}({n}, **{options})", getattr(tg, name)(a, **options), theirs)

    def product(self) -> None:
        p = self.pick()
        q = self.partner(p.theirs)
        x, y = p.theirs, q.theirs
        if x.ndim >= 2 and y.ndim >= 2 and x.dtype != np.bool_ and x.shape[-1] == y.shape[-1]:
            wide = np.float64 if x.dtype.kind == "f" else np.int64
            theirs = (x.astype(wide) @ y.swapaxes(-1, -2).astype(wide)).astype(x.dtype)
            self.keep(f"{p.name} @ {q.name}.mT", p.ours @ q.ours.mT, theirs)

    def assign(self) -> None:
        """a[...] = x: views of a see it, values made before do not."""
        p = self.pick()
        q = self.partner(p.theirs)
        x, y = p.theirs, q.theirs
        if x.flags.owndata and x.flags.c_contiguous and np.broadcast_shapes(x.shape, y.shape) == x.shape:
            if p.ours._layout == p.ours._cell.op.layout:
                self.lines.append(f"{p.name}[...] = {q.name}")
                p.ours[...] = q.ours
                x[...] = y

    def drop(self) -> None:
        if len(self.pairs) > 1:
            gone = self.pairs.pop(self.below(len(self.pairs)))
            self.lines.append(f"del {gone.name}")

    def check(self) -> None:
        self.compare([self.pick() for _ in range(1 + self.below(3))])

    def compare(self, chosen: list[Pair]) -> None:
        self.lines.append(f"await tg.fetch({', '.join(p.name for p in chosen)})")
        try:
            got = read(*[p.ours for p in chosen])
        except LimitError:
            self.refused = True
            return
        for g, p in zip([got] if len(chosen) == 1 else got, chosen, strict=True):
            if not np.array_equal(g, p.theirs):
                np.testing.assert_array_equal(g, p.theirs, p.name)

    def run(self) -> None:
        self.leaf()
        with np.errstate(all="ignore"):
            for _ in range(3 + self.below(25)):
                getattr(self, self.one(STEPS) if self.pairs else "leaf")()
            while self.pairs:
                self.compare(self.pairs[:5])
                del self.pairs[:5]


STEPS = (
    ["leaf", "creation", "drop", "check", "assign", "where", "outer", "product"]
    + 2 * ["unary", "scalar", "reduce"]
    + 4 * ["view", "binary"]
)
DEVICES: dict[str, dict[str, Any]] = {
    "plain": {},
    "unfused": {"fuse": False},
    "few buffers": {"fused": 4},
    "small grid": {"maxComputeWorkgroupsPerDimension": 7, "maxComputeInvocationsPerWorkgroup": 16},
    "narrow bindings": {"maxStorageBufferBindingSize": 512, "fused": 6},
}


def shorten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long axes begin early, so that reductions in two passes are common."""
    monkeypatch.setattr(lower_reduction, "CHUNK", 16)
    monkeypatch.setattr(lower_reduction, "LONGEST", 32)
    monkeypatch.setattr(lower_reduction, "ENOUGH", 8)


@pytest.mark.parametrize("name", DEVICES)
def test_random_programs(open_gpu: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    if name in ("small grid", "narrow bindings"):
        shorten(monkeypatch)
    ran = refused = 0
    first = int(os.environ.get("TABGPU_FIRST", "0"))
    programs = int(os.environ.get("TABGPU_PROGRAMS", "80"))
    for seed in range(first, first + programs):
        device = open_gpu(**DEVICES[name])
        program = Program(seed)
        try:
            program.run()
        except Exception as error:
            text = "\n".join(program.lines)
            raise AssertionError(
                f"program {seed} on {name!r}: {type(error).__name__}: {error}\n{text}"
            ) from error
        if device.live_bytes:  # an error's traceback may still hold arrays
            gc.collect()
        assert device.live_bytes == 0, (
            f"program {seed}: nothing is live, yet {device.live_bytes} bytes are held"
        )
        ran += len(device.js.ran)
        refused += program.refused
    assert ran > programs, "hardly anything was launched"
    assert refused == 0 or name == "narrow bindings"


@pytest.mark.parametrize("name", ["plain", "small grid", "narrow bindings"])
def test_random_programs_on_real_kernels(open_gpu: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The same programs, a few, with their WGSL compiled by naga and run by wgpu-native."""
    native.device()
    if name != "plain":
        shorten(monkeypatch)
    for seed in range(int(os.environ.get("TABGPU_NATIVE", "6"))):
        device = open_gpu(**DEVICES[name])
        device.js = native.Bridge()
        program = Program(seed)
        try:
            program.run()
        except Exception as error:
            text = "\n".join(program.lines)
            raise AssertionError(
                f"program {seed} on {name!r}: {type(error).__name__}: {error}\n{text}"
            ) from error
