"""Sorting along an axis: sort, argsort, partition, topk, lexsort. Stable; NaN last in both directions, -0 equals 0."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_index
from typing import Any

from ..array import Array
from ..dtypes import complex64, int32
from ..layout import normalize_axis
from . import elementwise as ew
from .along import back, last, pick_axis, prepared, widened
from .creation import arange, astype, copy_of, full
from .manipulation import broadcast_to, reshape
from .picking import pick
from .routine import routine, stored

TILE = 1024  # elements that a workgroup sorts by itself
_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def _run(what: str, x: Array, descending: bool, nan_greatest: bool = False) -> Array:
    """One sort of the last axis of x, in whole words: values, or int32 positions."""
    n = x.shape[-1]
    extra = (x.size // n, n, descending, nan_greatest, x.dtype.name)
    passes = max(1, (n - 1).bit_length() - 8)
    wide = widened(x)
    dtype = wide.dtype if what == "values" else int32
    return routine(f"sort.{what}", [stored(wide)], x.shape, dtype, extra, x.size * passes)


def sorted_rows(x: Array, descending: bool = False) -> Array:
    """x with its last axis sorted."""
    if x.dtype.kind == "c":
        return pick(x, order_of(x, descending))
    if not x.size or x.shape[-1] == 1:
        return copy_of(x)
    return astype(_run("values", x, descending), x.dtype, copy=False)


def order_of(x: Array, descending: bool = False, nan_greatest: bool = False) -> Array:
    """int32 positions that sort the last axis of x."""
    if not x.size or x.shape[-1] == 1:
        return full(x.shape, 0, dtype=int32)
    if x.dtype.kind == "c":
        return _complex_order(x, descending)
    return _run("positions", x, descending, nan_greatest)


def _complex_order(x: Array, descending: bool) -> Array:
    """By real, then by imaginary part; behind all numbers those with a NaN: imaginary, real, both. NumPy's order."""
    re, im = ew.real(x), ew.imag(x)
    lost = ew.add(ew.multiply(astype(ew.isnan(re), int32), 2), astype(ew.isnan(im), int32))
    order = order_of(im, descending)
    order = then(order, re, descending)
    return then(order, lost)


def then(order: Array, x: Array, descending: bool = False) -> Array:
    """The order of x's last axis with equal elements in a given order: what a stable sort does to sorted rows."""
    return pick(order, order_of(pick(x, order), descending))


def _check_kind(kind: Any, order: Any, where: str) -> None:
    if kind not in _KINDS:
        raise ValueError(f"{where}: kind must be one of {', '.join(map(repr, _KINDS[1:]))}, not {kind!r}")
    if order is not None:
        raise ValueError(f"{where}: order= is for structured arrays, which are not there")


def sort(
    a: Any, /, axis: int | None = -1, kind: str | None = None, order: Any = None, *, stable: bool | None = True,
    descending: bool = False,
) -> Array:  # fmt: skip
    """A sorted copy along an axis (of the flattened array for None): stable, NaN last whether descending or not.

    Complex numbers are ordered by real, then imaginary part. kind and stable are accepted: the sort is always stable.
    """
    x = prepared(a, "sort")
    _check_kind(kind, order, "sort")
    x, k = _axis_of(x, axis, "sort")
    return back(sorted_rows(last(x, k), bool(descending)), k)


def argsort(
    a: Any, /, axis: int | None = -1, kind: str | None = None, order: Any = None, *, stable: bool | None = True,
    descending: bool = False,
) -> Array:  # fmt: skip
    """int32 positions that sort an axis; equal elements keep their order, also when descending. Otherwise as sort."""
    x = prepared(a, "argsort")
    _check_kind(kind, order, "argsort")
    x, k = _axis_of(x, axis, "argsort")
    return back(order_of(last(x, k), bool(descending)), k)


def _axis_of(x: Array, axis: Any, where: str) -> tuple[Array, int]:
    if axis is not None:
        normalize_axis(axis, x.ndim, where)  # a 0-d array has no axis to sort
    return pick_axis(x, axis, where)


def sort_complex(a: Any, /) -> Array:
    """A sorted copy along the last axis, as complex64."""
    return sort(astype(prepared(a, "sort_complex"), complex64))


def _check_kth(kth: Any, n: int, where: str) -> None:
    for k in kth if isinstance(kth, (tuple, list)) else (kth,):
        at = as_index(k)
        if not -n <= at < n:
            raise ValueError(f"{where}: kth(={at}) is out of bounds ({n})")


def partition(
    a: Any, /, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> Array:
    """A copy in which the kth element is where sorting puts it, smaller ones before it: here all is sorted."""
    x = prepared(a, "partition")
    y, k = _axis_of(x, axis, "partition")
    _check_kth(kth, y.shape[k], "partition")
    return sort(x, axis=axis, order=order)


def argpartition(
    a: Any, /, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> Array:
    """Positions that partition an axis; as partition, they sort it."""
    x = prepared(a, "argpartition")
    y, k = _axis_of(x, axis, "argpartition")
    _check_kth(kth, y.shape[k], "argpartition")
    return argsort(x, axis=axis, order=order)


def topk(
    x: Any, /, k: int, axis: int = -1, *, largest: bool = True, sorted: bool = True, nan_greatest: bool = False
) -> tuple[Array, Array]:  # fmt: skip
    """(values, int32 positions) of the k greatest (or least) elements along an axis, in order; the first of equals.

    NaN comes after all numbers; nan_greatest=True takes it for the greatest number, as torch.topk. sorted is accepted:
    the result is always sorted. ValueError if k is more than the axis holds.
    """
    y, at = _axis_of(prepared(x, "topk"), axis, "topk")
    k = as_index(k)
    if not 0 <= k <= y.shape[at]:
        raise ValueError(f"topk: k = {k} is out of range for axis {axis} of shape {y.shape}")
    if y.dtype.kind == "c":
        raise TypeError("topk: complex numbers have no order")
    rows = last(y, at)
    order = _first(rows, k, largest, nan_greatest)
    return back(pick(rows, order), at), back(order, at)


def _first(rows: Array, k: int, descending: bool, nan_greatest: bool) -> Array:
    """The first k of the positions that sort the last axis: of long rows only the first k of each tile go on."""
    n = rows.shape[-1]
    if n < 4 * TILE or not 0 < k <= TILE // 8 or not rows.size:
        return order_of(rows, descending, nan_greatest)[..., :k]
    tiles, lead = n // TILE, rows.shape[:-1]
    whole = rows[..., : tiles * TILE]
    inside = order_of(reshape(whole, (*lead, tiles, TILE)), descending, nan_greatest)[..., :k]
    begins = reshape(arange(0, tiles * TILE, TILE, dtype=int32), (tiles, 1))
    left = reshape(ew.add(inside, begins), (*lead, tiles * k))
    if n > tiles * TILE:  # what is no whole tile goes on as it is
        from .joining import concat

        rest = arange(tiles * TILE, n, dtype=int32)
        left = concat([left, broadcast_to(rest, (*lead, n - tiles * TILE))], axis=-1)
    return pick(left, _first(pick(rows, left), k, descending, nan_greatest))


def lexsort(keys: Any, axis: int = -1) -> Array:
    """int32 positions that sort by several keys (a sequence of arrays, or the rows of one): the last is the first to
    count, equal ones are ordered by the one before it."""
    parts: Sequence[Any] = (
        list(keys) if isinstance(keys, (tuple, list, Array)) else list(prepared(keys, "lexsort"))
    )
    if not parts:
        raise TypeError("lexsort: need a sequence of keys with len > 0")
    arrays = [prepared(p, "lexsort") for p in parts]
    if any(a.shape != arrays[0].shape for a in arrays):
        raise ValueError(f"lexsort: keys of different shapes: {', '.join(str(a.shape) for a in arrays)}")
    if not arrays[0].ndim:
        return full((), 0, dtype=int32)
    k = normalize_axis(axis, arrays[0].ndim, "lexsort")
    rows = [last(a, k) for a in arrays]
    order = order_of(rows[0])
    for key in rows[1:]:
        order = then(order, key)
    return back(order, k)


__all__ = ["argpartition", "argsort", "lexsort", "partition", "sort", "sort_complex", "topk"]
