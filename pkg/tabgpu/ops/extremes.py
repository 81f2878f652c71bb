"""The greatest and least elements together with their positions, of all in one pass, and of those so far."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import BY_KIND, int32, uint32
from ..layout import normalize_axis
from . import elementwise as ew
from . import reductions as rd
from .along import back, last
from .creation import astype, full, positions
from .joining import concat
from .manipulation import flip, getitem, reshape
from .routine import routine, stored
from .rows import unary
from .scans import cumulative_max, cumulative_min

float_of_bits = unary(
    "float32_of_bits", {"u": "bitcast<f32>(x)"}, out="f", like="", doc="The float32 with these bits."
)


def max_with_index(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> tuple[Array, Array]:
    """(values, positions): what max and argmax give along an axis (None: of the flattened array), from one pass.

    Values have x's dtype, positions are int32: the first of equals, the first NaN if there is one. ValueError over a
    zero-size axis, TypeError for complex64.
    """
    return _both("max", x, axis, keepdims)


def min_with_index(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> tuple[Array, Array]:
    """(values, positions) of the least elements; otherwise as max_with_index."""
    return _both("min", x, axis, keepdims)


def _both(name: str, x: Any, axis: Any, keepdims: bool) -> tuple[Array, Array]:
    label = f"{name}_with_index"
    x = rd.prepared(x, label)
    axes = rd.one_axis(x, axis, label)
    shape = rd.reduced_shape(x.shape, axes, keepdims)
    if 0 in x.shape:
        return full(shape, 0, dtype=x.dtype), full(shape, 0, dtype=int32)
    wide = int32 if x.dtype.kind == "b" else BY_KIND[x.dtype.kind]
    outer, n, inner = 1, x.size, 1
    if axis is not None:
        for size in x.shape[: axes[0]]:
            outer *= size
        n = x.shape[axes[0]]
        inner = x.size // (outer * n)
    op = stored(astype(x, wide, copy=False))
    both = routine(f"extremes.{name}", [op], (2, outer * inner), uint32, (outer, n, inner), x.size)
    bits, places = reshape(getitem(both, 0), shape), reshape(getitem(both, 1), shape)
    values = float_of_bits(bits) if wide.kind == "f" else astype(bits, wide, copy=False)
    return astype(values, x.dtype, copy=False), astype(places, int32)


def cumulative_max_with_index(
    x: Any, /, *, axis: int | None = None, reverse: bool = False, omit_nan: bool = False
) -> tuple[Array, Array]:
    """(values, positions) of the greatest element so far along an axis (needed if there are several).

    Values as cumulative_max gives them, positions int32: of equals the one met first, of NaN the first one. reverse:
    from the last element on. omit_nan: NaN is passed over, as numpy.fmax does; where nothing else was met yet the
    value is NaN, at the place where the way began. TypeError for complex64.
    """
    return _running("max", x, axis, reverse, omit_nan)


def cumulative_min_with_index(
    x: Any, /, *, axis: int | None = None, reverse: bool = False, omit_nan: bool = False
) -> tuple[Array, Array]:
    """(values, positions) of the least element so far; otherwise as cumulative_max_with_index."""
    return _running("min", x, axis, reverse, omit_nan)


def _running(name: str, x: Any, axis: Any, reverse: bool, omit_nan: bool) -> tuple[Array, Array]:
    """Scans of the values, then of the places where they change: a change is an element that was met first."""
    label = f"cumulative_{name}_with_index"
    x = rd.prepared(x, label)
    if x.dtype.kind == "c":
        raise TypeError(f"{label}: complex numbers have no order")
    if not x.ndim or (axis is None and x.ndim > 1):
        raise ValueError(f"{label}: axis is needed for an array of shape {x.shape}")
    k = normalize_axis(-1 if axis is None else axis, x.ndim, label)
    x = last(flip(x, axis=k) if reverse else x, k)
    n = x.shape[-1]
    scan = cumulative_max if name == "max" else cumulative_min
    omit = omit_nan and x.dtype.kind == "f" and n > 1
    lost = ew.isnan(x)
    y = ew.where(lost, float("-inf" if name == "max" else "inf"), x) if omit else x
    values = scan(y, axis=-1)
    if n < 2:
        places = full(x.shape, 0, dtype=int32)
    else:
        before, now = values[..., :-1], values[..., 1:]
        change = ew.not_equal(now, before)
        if omit:
            met = cumulative_max(astype(ew.logical_not(lost), int32), axis=-1)
            values = ew.where(ew.equal(met, 0), x, values)
            change = ew.logical_or(change, ew.not_equal(met[..., 1:], met[..., :-1]))
        elif x.dtype.kind == "f":
            change = ew.logical_and(change, ew.logical_not(ew.isnan(before)))
        there = ew.where(change, ew.add(positions(n - 1), 1), 0)
        places = concat([full((*x.shape[:-1], 1), 0, dtype=int32), cumulative_max(there, axis=-1)], axis=-1)
    values, places = back(values, k), back(places, k)
    if reverse:
        return flip(values, axis=k), ew.subtract(n - 1, flip(places, axis=k))
    return values, places


__all__ = ["cumulative_max_with_index", "cumulative_min_with_index", "max_with_index", "min_with_index"]
