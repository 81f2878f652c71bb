"""Measurements over labels under scipy.ndimage's names: each label's sum, mean, extremes, median, histogram, centre."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from ..array import Array
from ..dtypes import float32, int32
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.creation import astype, full, linspace, positions
from ..ops.joining import stack
from ..ops.manipulation import broadcast_arrays, getitem, ravel, reshape
from ..ops.picking import pick
from ..ops.searching import found
from ..ops.segments import count, total
from ..ops.sorting import lexsort, order_of
from ..ops.taking import At, take
from .arguments import prepared, scalar, whole
from .ranking import real

__all__ = [
    "center_of_mass", "extrema", "histogram", "maximum", "maximum_position", "mean", "median", "minimum",
    "minimum_position", "standard_deviation", "sum", "sum_labels", "variance",
]  # fmt: skip


class Groups(NamedTuple):
    """Which group each element belongs to."""

    values: Array  # flat
    slots: Array  # flat int32: 0 .. bins - 1, bins for none
    bins: int
    order: Array | None  # which bin each of the asked labels has; None: bin k is label k of those asked
    shape: tuple[int, ...]  # of the results
    dims: tuple[int, ...]  # of the input


def _groups(input: Any, labels: Any, index: Any, label: str) -> Groups:
    x = prepared(input, label)
    if labels is None:
        return Groups(ravel(x), full((x.size,), 0, dtype=int32), 1, None, (), x.shape)
    marks = prepared(labels, label)
    x, marks = broadcast_arrays(x, marks)
    flat, values = ravel(marks), ravel(x)
    if index is None:
        return Groups(values, ew.where(ew.greater(flat, 0), 0, 1), 1, None, (), x.shape)
    asked = prepared(index, label)
    if not asked.ndim:
        return Groups(values, ew.where(ew.equal(flat, asked), 0, 1), 1, None, (), x.shape)
    n, shape = asked.size, asked.shape
    if not isinstance(index, Array) and flat.dtype.kind in "iub":
        numbers = ravel(asked)
        host = index.ravel().tolist() if hasattr(index, "ravel") else list(index)
        if n and all(isinstance(v, int) for v in host) and host == list(range(host[0], host[0] + n)):
            near = ew.subtract(astype(flat, int32), host[0])  # neighbours: no search
            inside = ew.logical_and(ew.greater_equal(near, 0), ew.less(near, n))
            return Groups(values, ew.where(inside, near, n), n, None, shape, x.shape)
    numbers = ravel(asked)
    wide = numbers.dtype if numbers.dtype.kind == "f" or flat.dtype.kind != "f" else flat.dtype
    wide = {"f": float32}.get(wide.kind, int32)
    numbers, flat = astype(numbers, wide, copy=False), astype(flat, wide, copy=False)
    line = pick(numbers, order_of(numbers)) if n > 1 else numbers
    at = found(line, flat, False)
    slots = ew.where(ew.equal(pick(line, at, 0), flat), ew.where(ew.less(at, n), at, n), n)
    return Groups(values, slots, n, found(line, numbers, False), shape, x.shape)


def _out(g: Groups, bins: Array) -> Array:
    """One value a bin as the results."""
    made = bins if g.order is None else pick(bins, g.order)
    return reshape(made, g.shape)


def _counts(g: Groups) -> Array:
    return getitem(count(g.slots, g.bins + 1), slice(0, g.bins))


def _totals(g: Groups, values: Array) -> Array:
    """float32 (or complex64) sums a bin."""
    if values.dtype.kind == "c":
        parts = [_totals(g, v) for v in (ew.real(values), ew.imag(values))]
        return ew.add(parts[0], ew.multiply(parts[1], 1j))
    wide = astype(values, float32, copy=False)
    if g.bins == 1:
        kept = ew.where(ew.equal(g.slots, 0), wide, 0.0)
        return reshape(rd.sum(kept), (1,))
    return getitem(total(wide, g.slots, g.bins + 1), slice(0, g.bins))


def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Sums of the elements with each label: float32, or complex64.

    labels: numbers that broadcast with input; without them everything is one group. index: the labels asked for, whose
    shape the result has; one gives a 0-d array, None all elements whose label is above 0. Labels that do not occur
    give 0.
    """
    g = _groups(input, labels, index, "sum_labels")
    return _out(g, _totals(g, g.values))


def sum(input: Any, labels: Any = None, index: Any = None) -> Array:
    """sum_labels."""
    return sum_labels(input, labels, index)


def mean(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Means of the elements with each label; NaN for labels that do not occur. Arguments as sum_labels."""
    g = _groups(input, labels, index, "mean")
    return _out(g, ew.divide(_totals(g, g.values), _counts(g)))


def variance(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Variances of the elements with each label, about their means; as mean."""
    g = _groups(input, labels, index, "variance")
    n = _counts(g)
    means = ew.divide(_totals(g, g.values), n)
    centred = ew.subtract(g.values, pick(means, g.slots, 0.0))
    square = (
        ew.multiply(centred, ew.conj(centred)) if centred.dtype.kind == "c" else ew.multiply(centred, centred)
    )
    square = ew.real(square) if square.dtype.kind == "c" else square
    return _out(g, ew.divide(_totals(g, square), n))


def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Roots of variance."""
    return ew.sqrt(variance(input, labels, index))


def _extreme(g: Groups, name: str) -> Array:
    """Each bin's least or greatest element, 0 without any."""
    x = g.values
    wide = (
        x
        if x.dtype.kind == "f" and x.dtype.per_word == 1
        else astype(x, float32 if x.dtype.kind == "f" else int32)
    )
    if x.dtype.kind == "u" and x.dtype.per_word == 1:
        wide = x
    if wide.dtype.kind == "f":
        worst: Any = float("inf") if name == "min" else float("-inf")
    else:
        low, high = (0, (1 << 32) - 1) if wide.dtype.kind == "u" else (-(1 << 31), (1 << 31) - 1)
        worst = high if name == "min" else low
    if g.bins == 1:
        kept = (
            ew.where(ew.equal(g.slots, 0), wide, worst) if wide.size else full((1,), worst, dtype=wide.dtype)
        )
        made = reshape((rd.min if name == "min" else rd.max)(kept), (1,))
    else:
        part = At(full((g.bins + 1,), worst, dtype=wide.dtype))[g.slots]
        made = getitem((part.min if name == "min" else part.max)(wide, mode="clip"), slice(0, g.bins))
    return astype(ew.where(ew.greater(_counts(g), 0), made, 0), x.dtype, copy=False)


def _place(g: Groups, extremes: Array) -> Array:
    """The first flat place of each bin's extreme, 0 without any."""
    n = max(g.values.size, 1)
    hit = ew.equal(pick(astype(extremes, g.values.dtype, copy=False), g.slots, 0), g.values)
    at = ew.where(ew.logical_and(hit, ew.less(g.slots, g.bins)), positions(g.values.size), n)
    if g.bins == 1:
        first = reshape(rd.min(at), (1,)) if g.values.size else full((1,), 0, dtype=int32)
    else:
        first = getitem(
            At(full((g.bins + 1,), n, dtype=int32))[g.slots].min(at, mode="clip"), slice(0, g.bins)
        )
    return ew.where(ew.less(first, n), first, 0)


def _coordinates(g: Groups, flat: Array) -> Array:
    """int32 (*shape of the results, axes) of flat places."""
    parts = []
    step = prod(g.dims)
    for n in g.dims:
        step //= max(n, 1)
        parts.append(ew.remainder(ew.floor_divide(flat, max(step, 1)), max(n, 1)))
    return stack([_out(g, p) for p in parts], axis=-1) if parts else full((*g.shape, 0), 0, dtype=int32)


def minimum(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The least element with each label, in input's dtype; 0 for labels that do not occur. Arguments as sum_labels."""
    g = _groups(real(input, "minimum"), labels, index, "minimum")
    return _out(g, _extreme(g, "min"))


def maximum(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The greatest element with each label; as minimum."""
    g = _groups(real(input, "maximum"), labels, index, "maximum")
    return _out(g, _extreme(g, "max"))


def minimum_position(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Where the first least element with each label lies: int32 of index's shape and one axis more."""
    g = _groups(real(input, "minimum_position"), labels, index, "minimum_position")
    return _coordinates(g, _place(g, _extreme(g, "min")))


def maximum_position(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Where the first greatest element with each label lies; as minimum_position."""
    g = _groups(real(input, "maximum_position"), labels, index, "maximum_position")
    return _coordinates(g, _place(g, _extreme(g, "max")))


def extrema(input: Any, labels: Any = None, index: Any = None) -> tuple[Array, Array, Array, Array]:
    """(minimum, maximum, minimum_position, maximum_position)."""
    g = _groups(real(input, "extrema"), labels, index, "extrema")
    low, high = _extreme(g, "min"), _extreme(g, "max")
    return _out(g, low), _out(g, high), _coordinates(g, _place(g, low)), _coordinates(g, _place(g, high))


def median(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Medians of the elements with each label, float32; NaN for labels that do not occur. Arguments as sum_labels."""
    g = _groups(real(input, "median"), labels, index, "median")
    wide = astype(g.values, float32, copy=False)
    if not wide.size:
        return _out(g, full((g.bins,), float("nan"), dtype=float32))
    order = lexsort([wide, g.slots])
    line, groups = pick(wide, order), pick(g.slots, order)
    first = found(groups, positions(g.bins), False)
    n = ew.subtract(found(groups, positions(g.bins), True), first)
    low = pick(line, ew.add(first, ew.right_shift(ew.subtract(n, 1), 1)), 0.0)
    high = pick(line, ew.add(first, ew.right_shift(n, 1)), 0.0)
    middle = ew.add(ew.multiply(low, 0.5), ew.multiply(high, 0.5))
    return _out(g, ew.where(ew.greater(n, 0), middle, float("nan")))


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The mean place of the elements with each label, weighed by them: float32 of index's shape and one axis more."""
    g = _groups(input, labels, index, "center_of_mass")
    mass = _totals(g, g.values)
    parts, step = [], prod(g.dims)
    at = positions(g.values.size)
    for n in g.dims:
        step //= max(n, 1)
        place = ew.remainder(ew.floor_divide(at, max(step, 1)), max(n, 1))
        parts.append(_out(g, ew.divide(_totals(g, ew.multiply(astype(place, float32), g.values)), mass)))
    return stack(parts, axis=-1) if parts else full((*g.shape, 0), 0.0, dtype=float32)


def histogram(input: Any, min: float, max: float, bins: int, labels: Any = None, index: Any = None) -> Array:
    """How many elements with each label lie in each of `bins` equal bins from min to max: int32 of index's shape and
    one axis more. Arguments as sum_labels."""
    label = "histogram"
    n = whole(bins, label, "bins")
    low, high = scalar(min, label, "min"), scalar(max, label, "max")
    if n < 1 or not low < high:
        raise ValueError(f"{label}: {n} bins from {low} to {high} hold nothing")
    g = _groups(real(input, label), labels, index, label)
    wide = astype(g.values, float32, copy=False)
    edges = linspace(low, high, n + 1)
    at = ew.subtract(found(edges, wide, True), 1)
    at = ew.where(ew.equal(wide, getitem(edges, n)), n - 1, at)
    good = ew.logical_and(ew.logical_and(ew.greater_equal(at, 0), ew.less(at, n)), ew.less(g.slots, g.bins))
    made = count(ew.where(good, ew.add(ew.multiply(g.slots, n), at), -1), g.bins * n)
    table = reshape(made, (g.bins, n))
    if g.order is not None:
        table = take(table, g.order, axis=0, mode="clip")
    return reshape(table, (*g.shape, n))
