"""Counts and sums of elements by the number of the segment they belong to. Deterministic: in the elements' order."""

from __future__ import annotations

from ..array import Array
from ..dtypes import complex64, float32, int32
from . import elementwise as ew
from .creation import astype, full, positions
from .picking import pick
from .routine import routine, stored
from .scans import _scan
from .searching import found
from .sorting import order_of


def count(ids: Array, bins: int) -> Array:
    """int32 (bins,): how often each number 0 .. bins - 1 occurs among flat int32 ids; others are left out."""
    if not ids.size or not bins:
        return full((bins,), 0, dtype=int32)
    return routine("count", [stored(ids)], (bins,), int32, None, ids.size)


def total(values: Array, ids: Array, bins: int) -> Array:
    """float32 (bins,): sums of the float32 values with each id; elements are added in a tree over their order."""
    if not ids.size or not bins:
        return full((bins,), 0.0, dtype=float32)
    order = order_of(ids)
    line, wide = pick(ids, order), pick(astype(values, float32, copy=False), order)
    begins = ew.not_equal(line[1:], line[:-1])
    ends = found(line, positions(bins), True)
    before = found(line, positions(bins), False)
    if ids.size > 1:
        from .joining import concat

        flags = concat([full((1,), 1.0, dtype=float32), astype(begins, float32)])
        pairs = ew.add(wide, ew.multiply(flags, 1j))
        assert pairs.dtype is complex64
        wide = ew.real(_scan("segments", pairs, 0, False, False))
    return pick(wide, ew.where(ew.greater(ends, before), ew.subtract(ends, 1), -1), 0.0)
