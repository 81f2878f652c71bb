"""Sorting and sets of whole rows, sorting by magnitude, membership with positions: what NumPy has no one function
for."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..array import Array
from ..dtypes import bool_, int32, promote
from . import elementwise as ew
from . import reductions as rd
from .along import back, last, pick_axis, prepared, widened
from .creation import astype, full
from .joining import concat
from .manipulation import ravel, reshape, transpose
from .picking import pick, place
from .scans import cumulative_sum
from .searching import found
from .sets import intersect1d_async, setdiff1d_async, setxor1d_async, union1d_async
from .sorting import lexsort, order_of, then
from .waiting import plain

__all__ = [
    "intersect_rows", "ismember", "setdiff_rows", "setxor_rows", "sort_by_magnitude", "sort_rows", "union_rows",
]  # fmt: skip
_DOWN = {"ascend": False, "ascending": False, "descend": True, "descending": True}


class SortResult(NamedTuple):
    """Sorted values and the int32 positions they had."""

    values: Array
    indices: Array


class Membership(NamedTuple):
    """What ismember gives."""

    mask: Array
    locations: Array


def sort_by_magnitude(a: Any, axis: int | None = -1, *, descending: bool = False) -> SortResult:
    """(values, int32 positions) along an axis (of the flattened array for None), sorted by absolute value, equal ones
    by value (complex numbers: by angle) in the same direction; stable, NaN last."""
    x = prepared(a, "sort_by_magnitude")
    x, k = pick_axis(x, axis, "sort_by_magnitude")
    rows = last(x, k)
    if not rows.size:
        return SortResult(x, full(x.shape, 0, dtype=int32))
    if rows.dtype.kind == "c":
        order = order_of(ew.arctan2(ew.imag(rows), ew.real(rows)), descending)
    else:
        order = order_of(rows, descending)
    size = ew.absolute(rows)
    if rows.dtype.kind == "i":  # the least integer has no absolute value of its dtype
        size = astype(astype(size, int32, copy=False), "uint32")
    order = then(order, size, descending)
    return SortResult(back(pick(rows, order), k), back(order, k))


def sort_rows(a: Any, keys: Any = None, *, by: str = "value") -> SortResult:
    """(the rows of a matrix in order, int32 positions they had); stable, NaN last.

    keys: columns in order of weight (all by default), each a number or a pair (number, "ascend" or "descend"). by:
    "value", or "magnitude" to compare absolute values (equal ones then by value).
    """
    x = prepared(a, "sort_rows")
    if x.ndim != 2:
        raise ValueError(f"sort_rows: needs a matrix, its shape is {x.shape}")
    if by not in ("value", "magnitude"):
        raise ValueError(f"sort_rows: by must be 'value' or 'magnitude', not {by!r}")
    n, m = x.shape
    given = range(m) if keys is None else keys
    specs = [s if isinstance(s, (tuple, list)) else (s, "ascend") for s in given]
    order: Array | None = None
    for column, direction in reversed(specs):
        if direction not in _DOWN:
            raise ValueError(f"sort_rows: a direction is 'ascend' or 'descend', not {direction!r}")
        if not -m <= column < m:
            raise IndexError(f"sort_rows: column {column} is out of range for shape {x.shape}")
        line = ravel(x[:, column])
        parts = [line] if by == "value" else [line, ew.absolute(line)]
        for part in parts:
            order = order_of(part, _DOWN[direction]) if order is None else then(order, part, _DOWN[direction])
    if order is None or not n:
        from .creation import positions

        order = positions(n)
        return SortResult(x, order)
    return SortResult(transpose(pick(transpose(x), order)), order)


def _rows_of(a: Any, b: Any, where: str) -> tuple[Array, int]:
    """(the rows of both matrices in one, how many are a's)."""
    x, y = prepared(a, where), prepared(b, where)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise ValueError(
            f"{where}: needs matrices with rows of one length, got shapes {x.shape} and {y.shape}"
        )
    common = promote(x.dtype, y.dtype, where=where)
    return concat([astype(x, common, copy=False), astype(y, common, copy=False)], axis=0), x.shape[0]


def _numbered(rows: Array) -> tuple[Array, Array, Array]:
    """(number of each row among the different ones in order, that sorted, positions that sort): rows with NaN are
    equal to none."""
    n, m = rows.shape
    if not m or not n:
        nothing = full((n,), 0, dtype=int32)
        from .creation import positions

        return nothing, nothing, positions(n)
    columns = transpose(rows)
    order = lexsort([columns[k] for k in range(m - 1, -1, -1)])
    across = pick(columns, order)
    changed = rd.any(ew.not_equal(across[:, 1:], across[:, :-1]), axis=0)
    group = cumulative_sum(concat([full((1,), False, dtype=bool_), changed]))
    return place(group, order), group, order


def ismember(a: Any, b: Any, rows: bool = False) -> Membership:
    """(mask, locations): which elements of a are in b, bool of a's shape, and where in the flattened b each is first,
    int32, -1 for those that are not. rows=True: rows of matrices, mask and locations of shape (rows of a,). NaN is in
    nothing."""
    if rows:
        both, n = _rows_of(a, b, "ismember")
        if both.shape[0] == n:
            return Membership(full((n,), False, dtype=bool_), full((n,), -1, dtype=int32))
        numbers, _, _ = _numbered(both)
        return ismember(numbers[:n], numbers[n:])
    x, y = prepared(a, "ismember"), ravel(prepared(b, "ismember"))
    common = promote(x.dtype, y.dtype, where="ismember")
    if common.kind == "c":
        raise TypeError("ismember: complex numbers have no order on the GPU")
    if not x.size or not y.size:
        return Membership(full(x.shape, False, dtype=bool_), full(x.shape, -1, dtype=int32))
    values = widened(astype(ravel(x), common, copy=False))
    line = widened(astype(y, common, copy=False))
    order = order_of(line)
    ordered = pick(line, order)
    at = ew.minimum(found(ordered, values, False), y.size - 1)
    mask = ew.equal(pick(ordered, at), values)
    place_ = ew.where(mask, pick(order, at), -1)
    return Membership(reshape(mask, x.shape), reshape(place_, x.shape))


async def _chosen(which: Any, a: Any, b: Any, size: int | None, where: str) -> Array:
    both, n = _rows_of(a, b, where)
    numbers, group, order = _numbered(both)
    if not both.shape[0]:
        return both
    chosen = await which(numbers[:n], numbers[n:], size=size)
    if not chosen.size:
        return both[:0]
    at = ew.minimum(found(group, astype(chosen, int32, copy=False), False), group.size - 1)
    return transpose(pick(transpose(both), pick(order, at)))


async def union_rows_async(a: Any, b: Any, /, *, size: int | None = None) -> Array:
    """The different rows of two matrices, in order. Their number is read, unless size= says how many to give (missing
    ones repeat another row). Rows with NaN are all different."""
    return await _chosen(union1d_async, a, b, size, "union_rows")


async def intersect_rows_async(a: Any, b: Any, /, *, size: int | None = None) -> Array:
    """The different rows that are in both matrices, in order; size as union_rows."""
    return await _chosen(intersect1d_async, a, b, size, "intersect_rows")


async def setdiff_rows_async(a: Any, b: Any, /, *, size: int | None = None) -> Array:
    """The different rows of the first matrix that are not in the second, in order; size as union_rows."""
    return await _chosen(setdiff1d_async, a, b, size, "setdiff_rows")


async def setxor_rows_async(a: Any, b: Any, /, *, size: int | None = None) -> Array:
    """The different rows that are in one of two matrices only, in order; size as union_rows."""
    return await _chosen(setxor1d_async, a, b, size, "setxor_rows")


union_rows = plain(union_rows_async)
intersect_rows = plain(intersect_rows_async)
setdiff_rows = plain(setdiff_rows_async)
setxor_rows = plain(setxor_rows_async)
