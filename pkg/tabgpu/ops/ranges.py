"""Ranges on other scales, and arrays from buffers and iterables: logspace, geomspace, frombuffer, fromiter."""

from __future__ import annotations

from collections.abc import Iterable
from math import log10
from operator import index as as_index
from typing import Any

from .. import engine
from ..array import Array
from ..dtypes import as_dtype, bool_, float32
from ..graph import Cell
from . import elementwise as ew
from .convert import from_host
from .creation import astype, linspace, positions


def logspace(
    start: float, stop: float, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype: Any = None
) -> Array:
    """base ** linspace(start, stop, num): float32 unless dtype says otherwise. start, stop, base: Python numbers."""
    line = linspace(start, stop, num, endpoint=endpoint)
    return astype(ew.power(float(base), line), float32 if dtype is None else as_dtype(dtype), copy=False)


def geomspace(start: float, stop: float, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Array:
    """num values from start to stop with a constant ratio; both of one sign, not 0. The ends are exact."""
    if isinstance(start, complex) or isinstance(stop, complex):
        raise TypeError("geomspace: start and stop are real numbers; use exp of a linspace of logarithms")
    if isinstance(start, Array) or isinstance(stop, Array):
        raise TypeError("geomspace: start and stop are Python numbers: an array would have to be read")
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
