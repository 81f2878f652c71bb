"""What a row of the elementwise table must give: NumPy in float64, rounded once, within the row's ULP. No tests."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from tabgpu.ops import elementwise
from tabgpu.ops.rows import Row

ROWS = {row.name: row for row in vars(elementwise).values() if isinstance(row, Row)}
TINY = np.float32(1.1754943508222875e-38)

# The hardware's own + - * decide about denormal operands and results (docs/numerics.md); all others must keep operands.
FLUSHED_OPERANDS = {
    "add", "subtract", "multiply", "square", "deg2rad", "rad2deg", "lerp",
    "logaddexp", "logaddexp2",
}  # fmt: skip
# NumPy leaves open which zero it is.
ANY_ZERO = {"maximum", "minimum", "fmax", "fmin", "clip", "logaddexp", "logaddexp2", "lerp"}
# Results that may cancel: the error is relative to the operands.
CANCELS = {"logaddexp", "logaddexp2"}


def sinc(x: Any) -> Any:
    """sin(pi x) / (pi x) with the argument reduced before pi comes in; numpy.sinc multiplies first."""
    r = x - 2 * np.rint(x / 2)
    r = np.where(np.abs(r) > 0.5, np.copysign(1, r) - r, r)
    return np.where(x == 0, 1.0, np.sin(np.pi * r) / (np.pi * x))


def power(x: Any, y: Any) -> Any:
    if x.dtype.kind != "i":
        return np.power(x, y)
    whole = np.power(x, np.where(y < 0, 0, y).astype(x.dtype), dtype=x.dtype)
    odd = np.where(y % 2 == 0, 1, -1)
    return np.where(y < 0, np.where(x == 1, 1, np.where(x == -1, odd, 0)), whole).astype(x.dtype)


def reciprocal(x: Any) -> Any:
    if x.dtype.kind == "f":
        return 1 / x
    return np.where((x == 1) | ((x == -1) if x.dtype.kind == "i" else False), x, 0).astype(x.dtype)


ORACLES: dict[str, Any] = {
    "torch.rsqrt": lambda x: 1 / np.sqrt(x),
    "torch.lerp": lambda x, y, w: np.where(w < 0.5, x + w * (y - x), y - (y - x) * (1 - w)),
    "matlab.nextpow2": lambda x: np.where(x == 0, 0.0, np.ceil(np.log2(np.abs(x))) + 0.0),
    "numpy.frexp:1": lambda x: np.where(np.isfinite(x), np.frexp(x)[1], 0).astype(np.int32),  # C leaves inf, NaN open
    "numpy.sinc": sinc,
    "numpy.power": power,
    "numpy.reciprocal": reciprocal,
    # The C library of Pyodide (musl) gives 0.69 for arccosh(-2**24 + 1).
    "numpy.arccosh": lambda x: np.where(x < 1, np.nan, np.arccosh(x)),
    "numpy.clip": lambda x, lo, hi: np.minimum(np.maximum(x, lo), hi),
    "numpy.bitwise_count": lambda x: np.bitwise_count(x).astype(np.int32),
}  # fmt: skip
IN_FLOAT32 = {"nextafter", "spacing"}  # the answer depends on the type


def oracle(row: Row, arrays: list[Any]) -> Any:
    """NumPy's answer, floats in float64 and rounded once."""
    wide = [
        a.astype(np.float64) if a.dtype == np.float32 and row.name not in IN_FLOAT32 else a for a in arrays
    ]
    name, _, index = row.like.partition(":")
    f = ORACLES.get(row.like)
    if f is not None:
        index = ""
    else:
        f = getattr(np, name.removeprefix("numpy."))
    with np.errstate(all="ignore"):
        out = f(*wide)
        out = np.asarray(out[builtins.int(index)] if index else out)
        return out.astype(np.float32) if out.dtype.kind == "f" else out


def keys(a: Any) -> Any:
    """Integers in the order of the floats, one apart for neighbours; both zeros are 0."""
    i = a.view(np.int32).astype(np.int64)
    return np.where(i < 0, -(i & 0x7FFFFFFF), i)


def ulps(got: Any, want: Any) -> Any:
    """Distance in units of the last place of float32; 0 where both are NaN."""
    return np.where(np.isnan(got) & np.isnan(want), 0, np.abs(keys(got) - keys(want)))


def close(row: Row, got: Any, want: Any, arrays: list[Any]) -> Any:
    """Where got is want within the row's ULP, NaN for NaN, the sign of zeros too."""
    with np.errstate(all="ignore"):
        ok = np.abs(keys(got) - keys(want)) <= row.ulp
        if row.name in CANCELS:
            scale = np.maximum(*[np.abs(a) for a in np.broadcast_arrays(*arrays)])
            ok |= np.abs(got - want) <= row.ulp * 2.0**-23 * scale
    ok &= ~(np.isnan(got) | np.isnan(want))
    if row.name not in ANY_ZERO:
        ok &= (got != 0) | (want != 0) | (np.signbit(got) == np.signbit(want))
    if row.ulp or row.name in FLUSHED_OPERANDS:  # a denormal result of arithmetic may be flushed
        ok |= (got == 0) & (np.abs(want) <= TINY)
    return ok | (np.isnan(got) & np.isnan(want))


def check(row: Row, got: Any, arrays: list[Any], label: str) -> None:
    want = oracle(row, arrays)
    assert got.shape == want.shape and got.dtype == want.dtype, f"{row.name} {label}: {got.dtype} {got.shape}"
    if got.dtype != np.float32:
        bad = got != want
    else:
        ok = close(row, got, want, arrays)
        if row.name in FLUSHED_OPERANDS:
            zeroed = [np.where(np.abs(a) < TINY, np.copysign(np.float32(0), a), a) for a in arrays]
            ok |= close(row, got, oracle(row, zeroed), arrays)
        bad = ~ok
    if bad.any():
        k = tuple(np.argwhere(bad)[0])
        at = [np.broadcast_to(a, got.shape)[k] for a in arrays]
        pytest.fail(
            f"{row.name} {label}: {bad.sum()} of {bad.size} wrong, at {at} got {got[k]!r}, NumPy {want[k]!r}"
        )
