"""Ranges on other scales, and arrays from buffers and iterables: logspace, geomspace, frombuffer, fromiter."""

from __future__ import annotations

from collections.abc import Iterable
from math import log10
from operator import index as as_index
from typing import Any

from .. import engine
from ..array import Array
from ..dtypes import BY_KIND, as_dtype, bool_, float32
from ..graph import Cell
from . import elementwise as ew
from .convert import from_host
from .creation import _many, astype, linspace, positions


def between(
    start: Any, stop: Any, num: int, dtype: Any, endpoint: bool, retstep: bool, axis: int
) -> Any:  # fmt: skip
    """linspace between arrays (or numbers, with retstep): values along a new axis."""
    from .along import prepared
    from .manipulation import broadcast_arrays, moveaxis, reshape

    num = as_index(num)
    if num < 0:
        raise ValueError(f"linspace: num must not be negative: {num}")
    low, high = broadcast_arrays(prepared(start, "linspace"), prepared(stop, "linspace"))
    want = None if dtype is None else as_dtype(dtype)
    kind = "c" if "c" in (low.dtype.kind, high.dtype.kind) else "f"
    if kind == "c" and want is not None and want.kind != "c":
        raise TypeError(f"linspace: between complex arrays, and {want.name} is not complex")
    low, high = (astype(v, BY_KIND[kind], copy=False) for v in (low, high))
    steps = num - 1 if endpoint else num
    at = reshape(astype(positions(num), float32), (num, *[1] * low.ndim))
    t = ew.divide(at, float(max(steps, 1)))
    if kind == "c":
        made = ew.complex_of(*[ew.lerp(part(low), part(high), t) for part in (ew.real, ew.imag)])
    else:
        made = ew.lerp(low, high, t)
    if want is not None:
        made = astype(ew.floor(made) if want.kind in "iu" else made, want, copy=False)
    made = moveaxis(made, 0, axis) if low.ndim else made
    if not retstep:
        return made
    return made, ew.divide(ew.subtract(high, low), float(steps) if steps > 0 else float("nan"))


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """base ** linspace(start, stop, num): float32 unless dtype says otherwise. start, stop, base: numbers, or arrays
    that broadcast; then the values stand along a new axis."""
    want = float32 if dtype is None else as_dtype(dtype)
    if any(_many(v) for v in (start, stop, base)):
        from .along import prepared
        from .manipulation import broadcast_arrays, expand_dims

        parts = [prepared(v, "logspace") for v in (start, stop, base)]
        low, high, root = broadcast_arrays(*[astype(v, float32, copy=False) for v in parts])
        line = linspace(low, high, num, endpoint=endpoint, axis=axis)
        return astype(ew.power(expand_dims(root, axis=axis), line), want, copy=False)
    line = linspace(start, stop, num, endpoint=endpoint)
    return astype(ew.power(float(base), line), want, copy=False)


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Array:
    """num values from start to stop with a constant ratio; both of one sign, not 0. The ends are exact.

    Arrays are broadcast, and the values stand along a new axis; NaN where the ends differ in sign or are 0 (numbers:
    ValueError).
    """
    if isinstance(start, complex) or isinstance(stop, complex):
        raise TypeError("geomspace: start and stop are real numbers; use exp of a linspace of logarithms")
    if _many(start) or _many(stop):
        return _geometric(start, stop, as_index(num), endpoint, dtype, axis)
    num, first, last = as_index(num), float(start), float(stop)
    if first == 0 or last == 0:
        raise ValueError("geomspace: start and stop must not be 0")
    if (first < 0) != (last < 0):
        raise ValueError(f"geomspace: start {start} and stop {stop} differ in sign")
    if num < 0:
        raise ValueError(f"geomspace: num must not be negative: {num}")
    sign = -1.0 if first < 0 else 1.0
    made = logspace(log10(abs(first)), log10(abs(last)), num, endpoint)
    k = positions(num)
    made = ew.where(ew.equal(k, 0), first, ew.multiply(made, sign))
    if endpoint and num > 1:
        made = ew.where(ew.equal(k, num - 1), last, made)
    return astype(made, float32 if dtype is None else as_dtype(dtype), copy=False)


def _geometric(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any, axis: int) -> Array:
    from .along import prepared
    from .manipulation import broadcast_arrays, moveaxis, reshape

    parts = [prepared(v, "geomspace") for v in (start, stop)]
    if "c" in [p.dtype.kind for p in parts]:
        raise TypeError("geomspace: start and stop are real numbers; use exp of a linspace of logarithms")
    low, high = broadcast_arrays(*[astype(p, float32, copy=False) for p in parts])
    sign = ew.where(ew.equal(ew.sign(low), ew.sign(high)), ew.sign(low), float("nan"))
    line = linspace(ew.log2(ew.absolute(low)), ew.log2(ew.absolute(high)), num, endpoint=endpoint)
    made = ew.multiply(ew.exp2(line), ew.where(ew.equal(sign, 0.0), float("nan"), sign))
    at = reshape(positions(num), (num, *[1] * low.ndim))
    lost = ew.isnan(made)
    made = ew.where(ew.logical_or(lost, ew.not_equal(at, 0)), made, low)
    if endpoint and num > 1:
        made = ew.where(ew.logical_or(lost, ew.not_equal(at, num - 1)), made, high)
    made = moveaxis(made, 0, axis) if low.ndim else made
    return astype(made, float32 if dtype is None else as_dtype(dtype), copy=False)


def frombuffer(buffer: Any, dtype: Any = float32, count: int = -1, offset: int = 0) -> Array:
    """A 1-D array of the elements that a host buffer holds from a byte offset on (a copy; little-endian,
    bfloat16 too). ValueError where it holds no whole number of them, or too few."""
    want, offset, count = as_dtype(dtype), as_index(offset), as_index(count)
    memory = memoryview(buffer).cast("B")
    if not 0 <= offset <= len(memory):
        raise ValueError(f"frombuffer: offset {offset} is not inside a buffer of {len(memory)} bytes")
    rest = len(memory) - offset
    if count < 0 and rest % want.itemsize:
        raise ValueError(
            f"frombuffer: {rest} bytes are no whole number of {want.name} of {want.itemsize} bytes"
        )
    n = rest // want.itemsize if count < 0 else count
    if n * want.itemsize > rest:
        raise ValueError(
            f"frombuffer: {n} elements of {want.name} need {n * want.itemsize} bytes, there are {rest}"
        )
    part: Any = memory[offset : offset + n * want.itemsize]
    if want is bool_:
        part = memoryview(bytes(map(bool, part)))
    op = engine.upload(part, want, (n,), "frombuffer")
    return Array(want, op.layout, Cell(op))


def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1) -> Array:  # NumPy's name
    """A 1-D array of the values that an iterable gives: all, or the first `count` (ValueError if there are fewer)."""
    values, most = [], as_index(count)
    if most != 0:
        for value in iter:
            values.append(value)
            if len(values) == most:
                break
    if len(values) < most:
        raise ValueError(f"fromiter: the iterator is too short: expected {most}, got {len(values)}")
    return from_host(values, "fromiter", as_dtype(dtype))
