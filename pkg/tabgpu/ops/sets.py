"""Arrays as sets: unique and its kin, isin, union, intersection, differences. One stable sort, one read of a count."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..array import Array
from ..dtypes import bool_, int32, promote
from ..layout import Shape, normalize_axis
from . import elementwise as ew
from .along import prepared, widened
from .compaction import placed, positions_bounded, positions_of, total_of
from .creation import astype, full, positions
from .joining import concat
from .manipulation import moveaxis, ravel, reshape
from .picking import pick, place
from .reductions import any as any_of
from .rows import _WEAK
from .scans import cumulative_sum, diff
from .searching import found
from .sorting import lexsort, order_of, sorted_rows
from .waiting import plain


class UniqueAll(NamedTuple):
    """What unique_all gives."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What unique_counts gives."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What unique_inverse gives."""

    values: Array
    inverse_indices: Array


def _changes(v: Array, equal_nan: bool) -> Array:
    """bool (n - 1,): whether each element of a sorted line but the first differs from the one before."""
    new, old = v[1:], v[:-1]
    changed = ew.not_equal(new, old)
    if equal_nan and v.dtype.kind in "fc":
        return ew.logical_and(changed, ew.logical_not(ew.logical_and(ew.isnan(new), ew.isnan(old))))
    return changed


class _Groups(NamedTuple):
    """A sorted line of n elements in groups of equal ones."""

    order: Array  # positions that sort it
    group: Array  # the number of each sorted element's group
    starts: Array  # where each group begins; n in slots that no group takes


async def _grouped(order: Array, changed: Array, size: int | None) -> _Groups:
    n = order.size
    group = cumulative_sum(changed, include_initial=True)
    counts = ew.add(group, 1)
    return _Groups(order, group, placed(counts, await total_of(counts) if size is None else size, n))


async def _unique(
    x: Array, axis: int | None, equal_nan: bool, size: int | None, fill_value: Any
) -> tuple[Array, _Groups]:
    """(values, groups). The values are slices for an axis."""
    if size is not None and size < 0:
        raise ValueError(f"unique: size must not be negative: {size}")
    rows = ravel(x) if axis is None else moveaxis(x, axis, 0)
    n = rows.shape[0]
    if not n:
        if size:
            raise ValueError(f"unique: size = {size}, but there are no elements in shape {x.shape}")
        none = full((0,), 0, dtype=int32)
        return (rows if axis is None else x), _Groups(none, none, none)
    if axis is None:
        order = order_of(rows)
        line = pick(rows, order)
        groups = await _grouped(order, _changes(line, equal_nan), size)
        values = pick(line, _first(groups) if fill_value is None else groups.starts, fill_value or 0)
        return values, groups
    flat = reshape(rows, (n, rows.size // n))
    m = flat.shape[1]
    if m:
        order = lexsort([flat[:, k] for k in range(m - 1, -1, -1)])
        across = pick(flat.T, order)  # type: ignore[attr-defined]
        new, old = across[:, 1:], across[:, :-1]
        changed = any_of(ew.not_equal(new, old), axis=0)
    else:  # rows of nothing are all equal
        order, across, changed = positions(n), flat.T, full((n - 1,), False, dtype=bool_)  # type: ignore[attr-defined]
    groups = await _grouped(order, changed, size)
    picked = pick(across, _first(groups) if fill_value is None else groups.starts, fill_value or 0)
    values = reshape(picked.T, (groups.starts.size, *rows.shape[1:]))  # type: ignore[attr-defined]
    return moveaxis(values, 0, axis), groups


def _first(groups: _Groups) -> Array:
    """Where each group begins, the first one's in slots that no group takes."""
    starts = groups.starts
    return ew.where(ew.equal(starts, groups.order.size), 0, starts)


def _indices(groups: _Groups) -> Array:
    return pick(groups.order, _first(groups)) if groups.order.size else groups.order


def _inverse(groups: _Groups, shape: Shape) -> Array:
    return reshape(place(groups.group, groups.order), shape)


def _counts(groups: _Groups) -> Array:
    return diff(groups.starts, append=groups.order.size) if groups.starts.size else groups.starts


async def unique_all_async(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """(values, indices, inverse_indices, counts): different elements in order, the position of the first of each, which
    one each element is (x's shape), how many there are; int32.

    Every NaN is an element of its own, -0 equals 0. The number of values is read, unless size= says how many to give:
    missing ones become fill_value (the least value if None), with count 0.
    """
    x = prepared(x, "unique_all")
    values, groups = await _unique(x, None, False, size, fill_value)
    return UniqueAll(values, _indices(groups), _inverse(groups, x.shape), _counts(groups))


async def unique_counts_async(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueCounts:
    """(values, counts); see unique_all."""
    values, groups = await _unique(prepared(x, "unique_counts"), None, False, size, fill_value)
    return UniqueCounts(values, _counts(groups))


async def unique_inverse_async(
    x: Any, /, *, size: int | None = None, fill_value: Any = None
) -> UniqueInverse:
    """(values, inverse_indices); see unique_all."""
    x = prepared(x, "unique_inverse")
    values, groups = await _unique(x, None, False, size, fill_value)
    return UniqueInverse(values, _inverse(groups, x.shape))


async def unique_values_async(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The different elements in order; see unique_all."""
    return (await _unique(prepared(x, "unique_values"), None, False, size, fill_value))[0]


async def unique_async(
    ar: Any, /, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, *, equal_nan: bool = True, sorted: bool = True, size: int | None = None,
    fill_value: Any = None,
) -> Any:  # fmt: skip
    """numpy.unique: different elements (or slices along an axis) in order; then indices, inverse, counts as asked for.

    All NaN are one element unless equal_nan is False (in slices they are always different). size, fill_value: see
    unique_all. An axis costs a sort for each element of a slice.
    """
    x = prepared(ar, "unique")
    k = None if axis is None else normalize_axis(axis, x.ndim, "unique")
    values, groups = await _unique(x, k, bool(equal_nan), size, fill_value)
    out = [values]
    if return_index:
        out.append(_indices(groups))
    if return_inverse:
        shape = x.shape if k is None else (x.shape[k],)
        out.append(_inverse(groups, shape))
    if return_counts:
        out.append(_counts(groups))
    return out[0] if len(out) == 1 else tuple(out)


unique = plain(unique_async)
unique_all = plain(unique_all_async)
unique_counts = plain(unique_counts_async)
unique_inverse = plain(unique_inverse_async)
unique_values = plain(unique_values_async)


def isin(
    element: Any, test_elements: Any, /, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Array:  # fmt: skip
    """bool, in element's shape: whether each element is among the test elements (invert: is not). NaN never is.
    A Python number among them takes the other's dtype."""
    if type(element) in _WEAK or type(test_elements) in _WEAK:
        one = ew.not_equal if invert else ew.equal
        if type(element) not in _WEAK:
            return one(prepared(element, "isin"), test_elements)
        same = ew.equal(prepared(test_elements, "isin"), element)
        return ew.logical_not(any_of(same)) if invert else any_of(same)
    x, tests = prepared(element, "isin"), ravel(prepared(test_elements, "isin"))
    if not tests.size:
        return full(x.shape, bool(invert), dtype=bool_)
    common = promote(x.dtype, tests.dtype, where="isin")
    x, tests = astype(x, common, copy=False), astype(tests, common, copy=False)
    if common.kind == "c":
        inside = _isin_by_groups(x, tests)
    else:
        line = sorted_rows(widened(tests))
        wide = widened(x)
        at = ew.minimum(found(line, wide, False), line.size - 1)
        inside = ew.equal(reshape(pick(line, ravel(at)), x.shape), wide)
    return ew.logical_not(inside) if invert else inside


def _isin_by_groups(x: Array, tests: Array) -> Array:
    """For elements without an order: those whose group in one sorted line of both begins with a test element."""
    line = concat([tests, ravel(x)])
    order = order_of(line)
    group = cumulative_sum(_changes(pick(line, order), False), include_initial=True)
    begins = pick(order, placed(ew.add(group, 1), line.size, 0))
    inside = ew.less(pick(begins, group), tests.size)
    return reshape(place(inside, order)[tests.size :], x.shape)


def in1d(
    ar1: Any, ar2: Any, /, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Array:
    """isin of the flattened first array."""
    return isin(ravel(prepared(ar1, "in1d")), ar2, invert=invert)


class _Pair(NamedTuple):
    """Two arrays in one sorted line; within a group of equal elements those of the first come first."""

    line: Array
    order: Array
    first: Array  # whether an element is of the first array
    changed: Array  # (n - 1,)
    n: int  # elements of the first array


def _pair(a: Any, b: Any, where: str) -> _Pair | Array:
    """The two arrays as one line; the empty result if there is nothing in it."""
    x, y = ravel(prepared(a, where)), ravel(prepared(b, where))
    common = promote(x.dtype, y.dtype, where=where)
    both = concat([astype(x, common, copy=False), astype(y, common, copy=False)])
    if not both.size:
        return both
    order = order_of(both)
    line = pick(both, order)
    return _Pair(line, order, ew.less(order, x.size), _changes(line, True), x.size)


async def _chosen(pair: _Pair, flags: Array, size: int | None, fill_value: Any) -> tuple[Array, Array]:
    """(values, positions in the line) where flags are set."""
    if size is None:
        at = await positions_of(flags)
        return pick(pair.line, at), at
    at = positions_bounded(flags, size, pair.line.size)
    return pick(pair.line, at, 0 if fill_value is None else fill_value), at


def _ends(pair: _Pair) -> tuple[Array, Array]:
    """Whether an element is the first, and the last, of its group."""
    edge = full((1,), True, dtype=bool_)
    return concat([edge, pair.changed]), concat([pair.changed, edge])


def _turns(pair: _Pair) -> Array:
    """Whether an element is of the second array and the one before of the first."""
    turn = ew.logical_and(pair.first[:-1], ew.logical_not(pair.first[1:]))
    return concat([full((1,), False, dtype=bool_), turn])


async def intersect1d_async(
    ar1: Any, ar2: Any, /, assume_unique: bool = False, return_indices: bool = False, *, size: int | None = None,
    fill_value: Any = None,
) -> Any:  # fmt: skip
    """Different elements that are in both arrays, in order; NaN never is. return_indices: also where each is first in
    either. Their number is read, unless size= says how many to give (the rest is fill_value, 0 if None)."""
    pair = _pair(ar1, ar2, "intersect1d")
    if isinstance(pair, Array):
        none = full((0,), 0, dtype=int32)
        return (pair, none, none) if return_indices else pair
    apart = pair.changed
    if pair.line.dtype.kind in "fc":
        apart = ew.logical_or(apart, ew.isnan(pair.line[1:]))
    flags = ew.logical_and(_turns(pair), ew.logical_not(concat([full((1,), False, dtype=bool_), apart])))
    values, at = await _chosen(pair, flags, size, fill_value)
    if not return_indices:
        return values
    group = cumulative_sum(pair.changed, include_initial=True)
    starts = placed(ew.add(group, 1), pair.line.size, 0)
    return values, pick(pair.order, pick(starts, pick(group, at))), ew.subtract(pick(pair.order, at), pair.n)


async def union1d_async(ar1: Any, ar2: Any, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Different elements of both arrays, in order; size, fill_value: as unique_all."""
    x, y = ravel(prepared(ar1, "union1d")), ravel(prepared(ar2, "union1d"))
    common = promote(x.dtype, y.dtype, where="union1d")
    both = concat([astype(x, common, copy=False), astype(y, common, copy=False)])
    return (await _unique(both, None, True, size, fill_value))[0]


async def setdiff1d_async(
    ar1: Any, ar2: Any, /, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Array:
    """Different elements of the first array that are not in the second, in order; size, fill_value: as intersect1d."""
    pair = _pair(ar1, ar2, "setdiff1d")
    if isinstance(pair, Array):
        return pair
    begins, ends = _ends(pair)
    flags = ew.logical_and(ends, pair.first)
    if pair.line.dtype.kind in "fc":  # a NaN of the second array is another one
        lonely = ew.logical_and(ew.logical_and(begins, pair.first), ew.isnan(pair.line))
        flags = ew.where(ew.isnan(pair.line), lonely, flags)
    return (await _chosen(pair, flags, size, fill_value))[0]


async def setxor1d_async(
    ar1: Any, ar2: Any, /, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Array:
    """Different elements that are in one of the arrays only, in order; size, fill_value: as intersect1d."""
    pair = _pair(ar1, ar2, "setxor1d")
    if isinstance(pair, Array):
        return pair
    begins, ends = _ends(pair)
    second = ew.logical_not(pair.first)
    flags = ew.logical_or(ew.logical_and(ends, pair.first), ew.logical_and(begins, second))
    if pair.line.dtype.kind in "fc":  # a NaN of either array is in that one only
        flags = ew.where(ew.isnan(pair.line), ew.logical_or(begins, _turns(pair)), flags)
    return (await _chosen(pair, flags, size, fill_value))[0]


intersect1d = plain(intersect1d_async)
union1d = plain(union1d_async)
setdiff1d = plain(setdiff1d_async)
setxor1d = plain(setxor1d_async)

__all__ = [
    "in1d", "intersect1d", "isin", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all", "unique_counts",
    "unique_inverse", "unique_values",
]  # fmt: skip
