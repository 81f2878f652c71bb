"""Finding elements: searchsorted, and where an array is not zero. Shapes that depend on data: one read of the count."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import bool_, int32, promote
from ..layout import Shape
from . import elementwise as ew
from . import reductions
from .along import prepared, widened
from .compaction import placed, running_count, total_of
from .creation import astype, full, positions
from .joining import stack
from .manipulation import flip, ravel
from .picking import pick
from .routine import routine, stored
from .waiting import plain

_MISSING = object()
_WEAK = {bool: "b", int: "i", float: "f"}


def searchsorted(a: Any, v: Any, /, side: str = "left", sorter: Any = None) -> Array:
    """int32 positions at which elements of v keep the ascending 1-D array a sorted, in v's shape.

    side "left": before equal elements, "right": behind them. sorter: positions that sort a. NaN is greater than all
    numbers, as sort has it; both arrays are compared in their common dtype. ValueError unless a has one axis.
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', not {side!r}")
    row = prepared(a, "searchsorted")
    if row.ndim != 1:
        raise ValueError(f"searchsorted: the sorted array must have one axis, its shape is {row.shape}")
    if type(v) in _WEAK:
        common = promote(row.dtype, _WEAK[type(v)], where="searchsorted")
        values = full((), v, dtype=common)
    else:
        values = prepared(v, "searchsorted")
        common = promote(row.dtype, values.dtype, where="searchsorted")
    if common.kind == "c":
        raise TypeError("searchsorted: complex numbers have no order on the GPU")
    if sorter is not None:
        order = prepared(sorter, "searchsorted")
        if order.shape != row.shape or order.dtype.kind not in "iu":
            raise ValueError(
                f"searchsorted: sorter must be integers of shape {row.shape}, not {order.dtype.name} {order.shape}"
            )
        row = pick(row, astype(order, int32, copy=False))
    return found(
        widened(astype(row, common, copy=False)), widened(astype(values, common, copy=False)), side == "right"
    )


def found(row: Array, values: Array, right: bool) -> Array:
    """searchsorted of whole-word arrays of one dtype."""
    if not row.size or not values.size:
        return full(values.shape, 0, dtype=int32)
    steps = row.size.bit_length()
    return routine(
        "search", [stored(row), stored(values)], values.shape, int32, right, values.size * steps // 4
    )


def count_nonzero(a: Any, /, axis: Any = None, *, keepdims: bool = False) -> Array:
    """int32 number of elements that are not zero, over axes (all for None). NaN counts."""
    flags = astype(prepared(a, "count_nonzero"), bool_, copy=False)
    return reductions.sum(flags, axis=axis, keepdims=keepdims, dtype=int32)


def coordinates(flat: Array, shape: Shape, fill: Any) -> tuple[Array, ...]:
    """Positions in the flattened array as one array of positions an axis; -1 becomes the fill (one, or one an axis)."""
    fills = list(fill) if isinstance(fill, (tuple, list)) else [fill] * len(shape)
    if len(fills) != len(shape):
        raise ValueError(f"nonzero: {len(fills)} fill values for the {len(shape)} axes of shape {shape}")
    out, step = [], 1
    for n, value in zip(reversed(shape), reversed(fills), strict=True):
        at = ew.remainder(ew.floor_divide(flat, step), max(n, 1)) if len(shape) > 1 else flat
        out.append(at if value is None else ew.where(ew.less(flat, 0), int(value), at))
        step *= n
    return tuple(reversed(out))


async def _positions(mask: Array, size: int | None, last: bool) -> Array:
    """Flat positions of what is not zero: all of them, or `size` with -1 where there are fewer."""
    if size is None:
        if last:
            raise ValueError("nonzero: last=True needs size=, how many of the last to find")
        counts = running_count(mask)
        return placed(counts, await total_of(counts), -1)
    if size < 0:
        raise ValueError(f"nonzero: size must not be negative: {size}")
    if not last or not mask.size:
        return placed(running_count(mask), size, -1)
    counts = running_count(flip(ravel(mask)))  # the last ones, last first
    behind = ew.subtract(mask.size - 1, placed(counts, size, -1))
    n = ew.subtract(ew.minimum(counts[-1], size), 1)
    at = ew.subtract(n, positions(size))
    return pick(behind, ew.where(ew.less(at, 0), -1, at), -1)


def _fill(size: int | None, fill_value: Any) -> Any:
    """What stands where a bounded form has found no more."""
    return None if size is None else 0 if fill_value is None else fill_value


async def nonzero_async(
    a: Any, /, *, size: int | None = None, fill_value: Any = None, last: bool = False
) -> tuple[Array, ...]:
    """Positions of the elements that are not zero, in row-major order: one int32 array an axis.

    Their number is read: `await tg.aio.nonzero(a)`, or without await where Python can wait. With size= nothing is: the
    first `size` (last=True: the last), then fill_value (0; or one an axis). ValueError for a 0-d array.
    """
    x = prepared(a, "nonzero")
    if not x.ndim:
        raise ValueError("nonzero: a 0-d array has no axes; use tg.atleast_1d(a)")
    return coordinates(await _positions(x, size, last), x.shape, _fill(size, fill_value))


async def flatnonzero_async(
    a: Any, /, *, size: int | None = None, fill_value: Any = None, last: bool = False
) -> Array:
    """Positions in the flattened array of the elements that are not zero, int32; otherwise as nonzero."""
    x = ravel(prepared(a, "flatnonzero"))
    return coordinates(await _positions(x, size, last), x.shape, _fill(size, fill_value))[0]


async def argwhere_async(
    a: Any, /, *, size: int | None = None, fill_value: Any = None, last: bool = False
) -> Array:
    """Positions of the elements that are not zero, int32 (count, a.ndim); otherwise as nonzero."""
    x = prepared(a, "argwhere")
    flat = await _positions(x, size, last)
    if not x.ndim:
        return full((flat.size, 0), 0, dtype=int32)
    return stack(coordinates(flat, x.shape, _fill(size, fill_value)), axis=-1)


nonzero = plain(nonzero_async)
flatnonzero = plain(flatnonzero_async)
argwhere = plain(argwhere_async)


def where(condition: Any, x: Any = _MISSING, y: Any = _MISSING, /, **options: Any) -> Any:
    """x where the condition is true (not zero), else y; all broadcast. NaN, -0 and denormals come through unchanged.

    With the condition alone: nonzero(condition), with its options.
    """
    if x is _MISSING:
        return nonzero(condition, **options)
    if y is _MISSING or options:
        raise ValueError(
            "where: either both or neither of x and y should be given, and options only without them"
        )
    return ew.where(condition, x, y)


async def where_async(condition: Any, *choices: Any, **options: Any) -> Any:
    """where, for the form with the condition alone."""
    return where(condition, *choices) if choices else await nonzero_async(condition, **options)


__all__ = ["argwhere", "count_nonzero", "flatnonzero", "nonzero", "searchsorted", "where"]
