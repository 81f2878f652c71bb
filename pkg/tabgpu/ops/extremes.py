"""The greatest and least elements together with their positions, both from one pass over the array."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import BY_KIND, int32, uint32
from . import reductions as rd
from .creation import astype, full
from .manipulation import getitem, reshape
from .routine import routine, stored
from .rows import unary

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


__all__ = ["max_with_index", "min_with_index"]
