"""What a row of the elementwise table must give, in every dtype: NumPy in float64, rounded, within the row's ULP.

No tests. Narrow integers are NumPy's own. 16-bit floats: the float32 result within its ULP, rounded once more (NumPy
computes them so). Complex numbers: normwise, in ULP of the larger part.
"""

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
    if x.dtype.kind in "fc":
        return 1 / x
    return np.where((x == 1) | ((x == -1) if x.dtype.kind == "i" else False), x, 0).astype(x.dtype)


def log1p(z: Any) -> Any:
    """NumPy's own loses what is below 1e-16."""
    if z.dtype.kind != "c":
        return np.log1p(z)
    near = np.where(np.abs(z) < 0.5, z, 0)
    real = 0.5 * np.log1p(near.real * (2 + near.real) + near.imag**2)
    real = np.where(np.abs(z) < 0.5, real, np.log(np.hypot(1 + z.real, z.imag)))
    return complex_of(real, np.arctan2(z.imag, 1 + z.real))


def floor_divide(x: Any, y: Any) -> Any:
    """The array API prefers floor(x / y) of infinities."""
    whole = np.floor_divide(x, y)
    return np.where(np.isinf(x) | np.isinf(y), x / y, whole) if x.dtype.kind == "f" else whole


def complex_of(x: Any, y: Any) -> Any:
    out = np.empty(np.broadcast_shapes(x.shape, y.shape), np.complex128)
    out.real, out.imag = x, y
    return out


def steps16(a: Any, name: str) -> Any:
    """16-bit floats as integers in their order, one apart for neighbours."""
    i = (
        a.astype(np.float16).view(np.int16)
        if name == "float16"
        else (a.view(np.uint32) >> 16).astype(np.uint16)
    )
    i = i.view(np.int16).astype(np.int32)
    return np.where(i < 0, -(i & 0x7FFF), i)


def from_steps16(k: Any, name: str) -> Any:
    i = np.where(k < 0, 0x8000 | -k, k).astype(np.uint16)
    return i.view(np.float16) if name == "float16" else (i.astype(np.uint32) << 16).view(np.float32)


def nextafter16(x: Any, y: Any, name: str) -> Any:
    k = steps16(x, name) + np.sign(y.astype(np.float64) - x).astype(np.int32)
    out = from_steps16(k, name).astype(np.float32)
    out = np.where(x == y, y, np.where(out == 0, np.copysign(out, x), out))
    return np.where(np.isnan(x) | np.isnan(y), np.float32(np.nan), out)


def spacing16(x: Any, name: str) -> Any:
    k = steps16(x, name)
    away = from_steps16(np.where(np.signbit(x) & (x != 0), k - 1, k + 1), name).astype(np.float32)
    return np.where(np.isfinite(x), away - x.astype(np.float32), np.float32(np.nan))


ORACLES: dict[str, Any] = {
    "numpy.log1p": log1p,
    "torch.complex": complex_of,
    "torch.rsqrt": lambda x: 1 / np.sqrt(x),
    "torch.lerp": lambda x, y, w: np.where(w < 0.5, x + w * (y - x), y - (y - x) * (1 - w)),
    "matlab.nextpow2": lambda x: np.where(x == 0, 0.0, np.ceil(np.log2(np.abs(x))) + 0.0),
    "numpy.frexp:1": lambda x: np.where(np.isfinite(x), np.frexp(x)[1], 0).astype(np.int32),  # C leaves inf, NaN open
    "numpy.sinc": sinc,
    # NumPy before 2.1 makes floats of integers.
    **{f"numpy.{n}": lambda x, f=getattr(np, n): f(x).astype(x.dtype) for n in ("ceil", "floor", "trunc")},
    "numpy.power": power,
    "numpy.floor_divide": floor_divide,
    "numpy.reciprocal": reciprocal,
    # The C library of Pyodide (musl) gives 0.69 for arccosh(-2**24 + 1).
    "numpy.arccosh": lambda x: np.arccosh(x) if x.dtype.kind == "c" else np.where(x < 1, np.nan, np.arccosh(x)),
    "numpy.clip": lambda x, lo, hi: np.minimum(np.maximum(x, lo), hi),
}  # fmt: skip
IN_FLOAT32 = {"nextafter", "spacing"}  # the answer depends on the type
IN_16_BITS = {"nextafter": nextafter16, "spacing": spacing16}
# The greatest errors of complex functions in ULP of the larger part (docs/numerics.md); of power for each unit of
# 1 + |y log x|, of exp2 for each of 1 + |y| / 2.
COMPLEX_ULP = {
    "add": 1, "subtract": 1, "multiply": 3, "divide": 7, "reciprocal": 5, "square": 3, "sign": 5, "sqrt": 4, "exp": 5,
    "exp2": 5, "expm1": 6, "log": 5, "log2": 6, "log10": 6, "log1p": 7, "sin": 6, "cos": 6, "tan": 9, "sinh": 6,
    "cosh": 6, "tanh": 9, "arcsin": 7, "arccos": 7, "arctan": 6, "arcsinh": 7, "arccosh": 7, "arctanh": 6, "power": 8,
    "float_power": 8,
}  # fmt: skip


def oracle(row: Row, arrays: list[Any]) -> Any:
    """NumPy's answer, floats in float64 and rounded once."""
    with np.errstate(all="ignore"):
        out = exactly(row, arrays)
        return out.astype({"f": np.float32, "c": np.complex64}.get(out.dtype.kind, out.dtype))


def exactly(row: Row, arrays: list[Any]) -> Any:
    """NumPy's answer to float operands in float64."""
    wide = [
        a.astype({"f": np.float64, "c": np.complex128}[a.dtype.kind])
        if a.dtype.kind in "fc" and row.name not in IN_FLOAT32
        else a
        for a in arrays
    ]
    name, _, index = row.like.partition(":")
    f = ORACLES.get(row.like)
    if f is not None:
        index = ""
    else:
        f = getattr(np, name.removeprefix("numpy."))
    with np.errstate(all="ignore"):
        out = f(*wide)
        return np.asarray(out[builtins.int(index)] if index else out)


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


def flushed(arrays: list[Any]) -> list[Any]:
    """The operands with denormals as zeros: the hardware may read them so."""
    return [np.where(np.abs(a) < TINY, np.copysign(np.float32(0), a), a) for a in arrays]


def from_keys(k: Any) -> Any:
    return np.where(k < 0, 0x80000000 | -k, k).astype(np.uint32).view(np.float32)


def rounded(a: Any, name: str) -> Any:
    """float32 values as the nearest float16 or bfloat16 ones, in float32."""
    with np.errstate(all="ignore"):
        if name == "float16":
            return a.astype(np.float16).astype(np.float32)
        bits = a.view(np.uint32)
        even = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
        return np.where(np.isnan(a), a, even)


def close16(row: Row, got: Any, arrays: list[Any], name: str) -> Any:
    """Where a result in 16 bits is a float32 within the row's ULP, rounded to them."""
    if row.name in IN_16_BITS:
        want = np.asarray(IN_16_BITS[row.name](*np.broadcast_arrays(*arrays), name), np.float32)
    else:
        want = oracle(row, arrays)
    k = keys(want)
    low, high = (
        rounded(from_keys(np.clip(k + d, -0x7F800000, 0x7F800000)), name) for d in (-row.ulp, row.ulp)
    )
    wide = got.astype(np.float32)
    ok = (wide >= low) & (wide <= high)
    if row.name in CANCELS:
        scale = np.maximum(*[np.abs(a.astype(np.float32)) for a in np.broadcast_arrays(*arrays)])
        ok |= np.abs(wide - want) <= scale * 2.0 ** (-9 if name == "bfloat16" else -11)
    if row.name not in ANY_ZERO and not row.ulp:
        ok &= (wide != 0) | (want != 0) | (np.signbit(wide) == np.signbit(want))
    if name == "bfloat16" and (row.ulp or row.name in FLUSHED_OPERANDS):
        ok |= np.abs(wide - want) <= TINY
    return (ok & ~np.isnan(want)) | (np.isnan(wide) & np.isnan(want))


def close_complex(row: Row, got: Any, arrays: list[Any]) -> Any:
    """Where the error is within the row's bound, in ULP of the larger part; anything goes where operands or the result
    are not finite (test_complex.py has these)."""
    want = exactly(row, arrays)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(want.real), np.abs(want.imag))
        usual = size < 3e38
        for a in arrays:
            usual &= np.isfinite(a)
        unit = np.spacing(np.where(usual, np.maximum(size, TINY), 1).astype(np.float32)).astype(np.float64)
        if row.name in ("power", "float_power"):
            x, y = (a.astype(np.complex128) for a in arrays)
            turn = np.abs(y * np.log(np.where(x == 0, 1, x)))
            unit = unit * (1 + turn)
            usual &= turn < 1e38  # else float32 does not even hold the logarithm
        if row.name == "exp2":
            unit = unit * (1 + np.abs(arrays[0].imag) / 2)
        off = np.abs(got.astype(np.complex128) - want)
        return ~usual | (off <= COMPLEX_ULP.get(row.name, 0) * unit + 2 * TINY)


def check(row: Row, got: Any, arrays: list[Any], label: str, dtype: str = "") -> None:
    """Fails if a result is not NumPy's within the row's bounds. dtype: the name of the floats' dtype if it has 16 bits
    (arrays and results of bfloat16 are float32 on the host)."""
    want = oracle(row, arrays)
    shown = want.dtype
    if dtype and want.dtype.kind == "f":
        shown = np.dtype("float16" if dtype == "float16" else "float32")
    assert got.shape == want.shape and got.dtype == shown, f"{row.name} {label}: {got.dtype} {got.shape}"
    if got.dtype.kind == "c":
        bad = ~close_complex(row, got, arrays)
    elif got.dtype.kind == "f" and dtype:
        ok = close16(row, got, arrays, dtype)
        if dtype == "bfloat16" and row.name in FLUSHED_OPERANDS:
            ok |= close16(row, got, flushed(arrays), dtype)
        bad = ~ok
    elif got.dtype != np.float32:
        bad = got != want
    else:
        ok = close(row, got, want, arrays)
        if row.name in FLUSHED_OPERANDS:
            ok |= close(row, got, oracle(row, flushed(arrays)), arrays)
        bad = ~ok
    if bad.any():
        k = tuple(np.argwhere(bad)[0])
        at = [np.broadcast_to(a, got.shape)[k] for a in arrays]
        pytest.fail(
            f"{row.name} {label}: {bad.sum()} of {bad.size} wrong, at {at} got {got[k]!r}, NumPy {want[k]!r}"
        )
