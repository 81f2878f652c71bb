"""unwrap: jumps of a period taken out of a sequence of angles."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..ops import elementwise as ew
from ..ops.along import prepared
from ..ops.creation import astype, full
from ..ops.joining import concat
from ..ops.scans import cumsum
from .samples import axis_of, cut, floats


def unwrap(
    p: Any, discont: float | None = None, axis: int = -1, *, period: float = 6.283185307179586
) -> Array:
    """p with multiples of the period added along an axis, so that neighbours differ by at most half a period.

    discont: only jumps of at least that much are changed. Integers stay integers if the period is one. The multiples
    are counted, not their products added up, so that errors do not grow along the axis.
    """
    x = prepared(p, "unwrap")
    whole = x.dtype.kind in "iu" and isinstance(period, int)
    if x.dtype.kind == "c":
        raise TypeError("unwrap: complex numbers have no order")
    want = x.dtype
    if not whole:
        x, want = floats(x, "unwrap")
    k = axis_of(x, axis, "unwrap")
    if x.shape[k] < 2:
        return x
    step = ew.subtract(cut(x, k, 1, None), cut(x, k, None, -1))
    if whole:
        half, odd = divmod(period, 2)
        low, high = -half, half + odd  # as NumPy has it: the lower end belongs to the interval
        turns = ew.floor_divide(ew.add(step, half), period)
    else:
        high = period / 2
        low = -high
        turns = ew.where(ew.isfinite(step), ew.floor(ew.divide(ew.add(step, high), period)), float("nan"))
    left = ew.subtract(step, ew.multiply(turns, period))
    on_edge = ew.logical_and(ew.less_equal(left, low), ew.greater(step, 0))
    if not whole or not period % 2:
        turns = ew.where(on_edge, ew.subtract(turns, 1), turns)
    small = ew.less(ew.abs(step), high if discont is None else discont)
    turns = ew.where(small, 0 if whole else 0.0, turns)
    first = full(cut(turns, k, 0, 1).shape, 0, dtype=turns.dtype)
    sums = cumsum(concat([first, turns], axis=k), axis=k)
    return astype(ew.subtract(x, ew.multiply(sums, period)), want, copy=False)


__all__ = ["unwrap"]
