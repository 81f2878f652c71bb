"""Counting by value: bincount, digitize, histograms of any dimension. Counts are exact, weighted sums deterministic."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, isfinite, log2, sqrt
from operator import index as as_index
from typing import Any

from ..array import Array, fetch
from ..dtypes import bool_, float32, int32, promote, uint32
from ..graph import EW
from . import elementwise as ew
from . import reductions as rd
from .along import prepared, widened
from .convert import from_host
from .creation import astype, positions
from .guards import guard
from .manipulation import ravel, reshape
from .scans import diff
from .searching import found, searchsorted
from .segments import count, total
from .waiting import plain


async def bincount_async(
    x: Any, /, weights: Any = None, minlength: int = 0, *, length: int | None = None
) -> Array:
    """How often each number 0, 1, .. occurs in a 1-D integer array, int32; with weights, the float32 sums of theirs.

    As long as the greatest number needs, at least minlength: that number is read. With length= nothing is read; numbers
    outside of it are left out. ValueError for negative numbers (where they are read) and for other shapes.
    """
    ids = prepared(x, "bincount")
    if ids.ndim != 1:
        raise ValueError(f"bincount: x must have one axis, its shape is {ids.shape}")
    if ids.dtype.kind not in "iub":
        if ids.size:
            raise TypeError(f"bincount: x must be integers, not {ids.dtype.name}")
        ids = astype(ids, int32)
    if weights is not None:
        weights = prepared(weights, "bincount")
        if weights.shape != ids.shape:
            raise ValueError(f"bincount: weights of shape {weights.shape} for numbers of shape {ids.shape}")
    if (length is not None and as_index(length) < 0) or as_index(minlength) < 0:
        raise ValueError("bincount: length and minlength must not be negative")
    if length is None:
        length = minlength
        if ids.size:
            low, high = [int(v.tolist()) for v in await fetch(rd.min(ids), rd.max(ids))]
            if low < 0:
                raise ValueError(f"bincount: x must not be negative, its least element is {low}")
            length = max(high + 1, minlength)
    ids = widened(ids)
    return count(ids, length) if weights is None else total(weights, ids, length)


bincount = plain(bincount_async)


def digitize(x: Any, bins: Any, right: bool = False) -> Array:
    """int32 numbers of the bins that elements fall into, 0 and len(bins) beyond the ends, in x's shape.

    bins: 1-D, ascending or descending. Bin i begins with bins[i - 1]; right=True: it ends with bins[i]. ValueError for
    bins in neither order (of a GPU array at the read). NaN falls behind all.
    """
    edges = _edges_given(bins, "digitize", both_ways=True)
    x = prepared(x, "digitize")
    if x.dtype.kind == "c":
        raise TypeError("digitize: complex numbers have no order")
    up = searchsorted(edges, x, side="left" if right else "right")
    if edges.size < 2:
        return up
    turned = edges[::-1]
    down = ew.subtract(edges.size, searchsorted(turned, x, side="left" if right else "right"))
    out = ew.where(ew.less_equal(edges[0], edges[-1]), up, down)
    return _watched(out, bins, "digitize", both_ways=True)


builtin_range = range


def _edges_given(bins: Any, where: str, both_ways: bool = False) -> Array:
    """1-D edges; the order of host values is checked."""
    edges = prepared(bins, where)
    if edges.ndim != 1:
        raise ValueError(f"{where}: bins must have one axis, their shape is {edges.shape}")
    if edges.dtype.kind == "c":
        raise TypeError(f"{where}: complex numbers have no order")
    if not isinstance(bins, Array):
        host = list(bins)
        rising = all(a <= b for a, b in pairwise(host))
        if not (rising or (both_ways and all(a >= b for a, b in pairwise(host)))):
            raise _disorder(where, both_ways)
    return edges


def _disorder(where: str, both_ways: bool) -> ValueError:
    return ValueError(f"{where}: bins must increase monotonically{' or decrease' if both_ways else ''}")


def _watched(out: Array, bins: Any, where: str, both_ways: bool = False) -> Array:
    """A result, whose reads raise if bins on the GPU are out of order."""
    if isinstance(bins, Array) and bins.size > 1 and out._cell.op.kind >= EW:
        new, old = bins[1:], bins[:-1]
        wrong = rd.any(ew.less(new, old))
        if both_ways:
            wrong = ew.logical_and(wrong, rd.any(ew.greater(new, old)))
        watch = guard(astype(wrong, uint32), lambda word: _disorder(where, both_ways))
        out._cell.op.guards = (*out._cell.op.guards, watch)
    return out


def _by_size(rule: str, n: int) -> int:
    """How many bins the rules give that know the number of elements only."""
    rules: dict[str, float] = {"sqrt": sqrt(n), "sturges": log2(n) + 1, "rice": 2 * n ** (1 / 3)}
    return ceil(rules[rule])


def _edges(a: Array, bins: Any, range: Any, where: str) -> Array:
    """Edges of bins from numpy.histogram's arguments; equal bins between the extremes need no read."""
    if isinstance(bins, str):
        if bins not in ("sqrt", "sturges", "rice") or a.dtype.kind in "iu" or range is not None:
            raise ValueError(
                f"{where}: how many bins {bins!r} gives depends on the data; known by size alone are 'sqrt', 'sturges' "
                "and 'rice' for floats without range"
            )
        bins = _by_size(bins, a.size) if a.size else 1
    if getattr(bins, "ndim", None) == 0 or not hasattr(bins, "__len__"):
        try:
            n = as_index(bins)
        except TypeError:
            raise TypeError(f"{where}: bins must be an integer, a string or an array, not {bins!r}") from None
        if n < 1:
            raise ValueError(f"{where}: bins must be positive, not {n}")
        if range is None and a.size:
            return _spanned(a, n, where)
        low, high = (float(v) for v in (range or (0.0, 1.0)))
        if not (isfinite(low) and isfinite(high)) or low > high:
            raise ValueError(f"{where}: range ({low}, {high}) must be finite and increasing")
        if low == high:
            low, high = low - 0.5, high + 0.5
        step = (high - low) / n
        return from_host([k * step + low for k in builtin_range(n)] + [high], where, float32)
    return _edges_given(bins, where)


def _spanned(a: Array, n: int, where: str) -> Array:
    """n equal bins from the least to the greatest element; half a unit more on either side if these are equal.

    Reads of what depends on them raise ValueError if an element is NaN or inf.
    """
    low, high = astype(rd.min(a), float32, copy=False), astype(rd.max(a), float32, copy=False)
    lost = ew.logical_not(ew.logical_and(ew.isfinite(low), ew.isfinite(high)))
    flat = ew.equal(low, high)
    low, high = ew.where(flat, ew.subtract(low, 0.5), low), ew.where(flat, ew.add(high, 0.5), high)
    index = positions(n + 1)
    step = ew.divide(ew.subtract(high, low), float(n))
    edges = ew.where(ew.equal(index, n), high, ew.add(ew.multiply(astype(index, float32), step), low))
    message = f"{where}: the range of the data is not finite, it has NaN or inf; give range="
    edges._cell.op.guards = (guard(astype(lost, uint32), lambda word: ValueError(message)),)
    return edges


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """The edges that histogram would use, float32 (or those given)."""
    return _edges(ravel(prepared(a, "histogram_bin_edges")), bins, range, "histogram_bin_edges")


def _bins_of(a: Array, edges: Array) -> Array:
    """int32 numbers of the bins [e, next e), the last one closed; -1 outside and for NaN."""
    common = promote(a.dtype, edges.dtype, where="histogram")
    if common is bool_:
        common = int32
    x, row = (widened(astype(v, common, copy=False)) for v in (a, edges))
    at = ew.subtract(found(row, x, True), 1)
    last = row[-1]
    at = ew.where(ew.equal(x, last), row.size - 2, at)
    return ew.where(ew.less(at, row.size - 1), at, -1)


def _checked_weights(weights: Any, a: Array, where: str) -> Array | None:
    if weights is None:
        return None
    w = prepared(weights, where)
    if w.shape != a.shape:
        raise ValueError(f"{where}: weights of shape {w.shape} for data of shape {a.shape}")
    if w.dtype.kind == "c":
        raise TypeError(f"{where}: complex weights are not supported")
    return ravel(w)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, Array]:  # fmt: skip
    """(counts, edges): how many elements lie in each bin [edge, next edge), the last bin closed; NaN in none.

    bins: their number between the extremes (or `range`), or the edges. counts: int32, float32 sums of the weights, or
    with density the float32 values of a density that integrates to 1. Edges are computed in float32. Nothing is read:
    ValueError for NaN or inf in data without range, and for GPU edges out of order, comes with the read of a result.
    """
    x = prepared(a, "histogram")
    if x.dtype.kind == "c":
        raise TypeError("histogram: complex numbers have no order")
    w = _checked_weights(weights, x, "histogram")
    x = ravel(x)
    edges = _edges(x, bins, range, "histogram")
    n = edges.size - 1
    if n < 0:
        raise ValueError("histogram: edges are needed, at least one")
    ids = _bins_of(x, edges) if n and x.size else astype(x[:0], int32)
    got = count(ids, n) if w is None else total(w if ids.size else w[:0], ids, n)
    if density:
        wide = astype(got, float32, copy=False)
        got = ew.divide(ew.divide(wide, diff(astype(edges, float32, copy=False))), rd.sum(wide))
    return _watched(got, bins, "histogram"), edges


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, list[Array]]:  # fmt: skip
    """(counts, edges of each axis) of points: sample is (N, D), or D arrays of N coordinates.

    bins: one number, or a number or edges for each axis; range: a pair (or None) for each axis. Otherwise as histogram.
    """
    if isinstance(sample, (tuple, list)):
        columns = [ravel(prepared(s, "histogramdd")) for s in sample]
    else:
        points = prepared(sample, "histogramdd")
        points = reshape(points, (-1, 1)) if points.ndim == 1 else points
        if points.ndim != 2:
            raise ValueError(f"histogramdd: sample must have two axes, its shape is {points.shape}")
        columns = [points[:, k] for k in builtin_range(points.shape[1])]
    if not columns or any(c.shape != columns[0].shape for c in columns):
        raise ValueError("histogramdd: coordinates must be arrays of one length")
    each = list(bins) if isinstance(bins, (tuple, list)) else [bins] * len(columns)
    spans = [None] * len(columns) if range is None else list(range)
    if len(each) != len(columns) or len(spans) != len(columns):
        raise ValueError(f"histogramdd: {len(each)} bins and {len(spans)} ranges for {len(columns)} axes")
    edges = [_edges(c, b, r, "histogramdd") for c, b, r in zip(columns, each, spans, strict=True)]
    shape = tuple(e.size - 1 for e in edges)
    if any(n < 1 for n in shape):
        raise ValueError(
            f"histogramdd: each axis needs at least two edges, there are {[e.size for e in edges]}"
        )
    w = _checked_weights(weights, columns[0], "histogramdd")
    flat: Array | None = None
    for column, row, n in zip(columns, edges, shape, strict=True):
        at = _bins_of(column, row)
        if flat is None:
            flat = at
        else:
            out = ew.logical_or(ew.less(at, 0), ew.less(flat, 0))
            flat = ew.where(out, -1, ew.add(ew.multiply(flat, n), at))
    assert flat is not None
    size = 1
    for n in shape:
        size *= n
    got = reshape(count(flat, size) if w is None else total(w, flat, size), shape)
    if density:
        wide = astype(got, float32, copy=False)
        got = ew.divide(wide, rd.sum(wide))
        for k, row in enumerate(edges):
            widths = diff(astype(row, float32, copy=False))
            got = ew.divide(got, reshape(widths, (-1,) + (1,) * (len(shape) - k - 1)))
    for b in each:
        _watched(got, b, "histogramdd")
    return got, edges


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, Array, Array]:  # fmt: skip
    """(counts, edges along x, edges along y) of points; bins: a number, two of them, edges for both, or a pair."""
    pair = isinstance(bins, (tuple, list)) and len(bins) == 2
    if not pair and (isinstance(bins, (Array, tuple, list)) or getattr(bins, "ndim", 0) == 1):
        bins = [bins, bins]
    got, edges = histogramdd([x, y], bins, range, density, weights)
    return got, edges[0], edges[1]


__all__ = ["bincount", "digitize", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]
