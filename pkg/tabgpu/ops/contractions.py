"""Products over chosen axes, of matmul and fused multiply-and-sum: dot, tensordot, inner, outer, kron, cross ..."""

from __future__ import annotations

from math import prod
from typing import Any

from .. import layout as lo
from ..array import Array, view
from ..dtypes import BY_KIND, int32, promote
from . import elementwise as ew
from . import reductions
from .creation import astype, positions
from .joining import deliver
from .manipulation import addressable, expand_dims, moveaxis, permute_dims, ravel, reshape
from .products import matmul
from .rearranging import prepare


def dot(a: Any, b: Any, /, out: Array | None = None) -> Array:
    """NumPy's dot: the last axis of a with the second last (or only) of b, all other axes side by side; a 0-d operand
    scales."""
    x, y = prepare(a, "dot"), prepare(b, "dot")
    if not x.ndim or not y.ndim:
        return deliver(ew.multiply(x, y), out, "dot")
    if x.ndim <= 2 and y.ndim <= 2:
        if x.shape[-1] != y.shape[0]:
            raise ValueError(
                f"dot: shapes {x.shape} and {y.shape}: inner sizes {x.shape[-1]} and {y.shape[0]} differ"
            )
        return deliver(vecdot_real(x, y) if x.ndim == y.ndim == 1 else matmul(x, y), out, "dot")
    return deliver(_tensordot(x, y, (x.ndim - 1,), (max(y.ndim - 2, 0),), "dot"), out, "dot")


def vecdot_real(x: Array, y: Array) -> Array:
    """sum(x * y) over the last axis, one launch; narrow types are summed in 32 bits."""
    want = promote(x.dtype, y.dtype, where="vecdot")
    wide = int32 if want.kind == "b" else BY_KIND[want.kind]
    product = ew.multiply(astype(x, wide, copy=False), astype(y, wide, copy=False))
    return astype(reductions.sum(product, axis=-1, dtype=wide), want, copy=False)


def _conjugate(x: Array) -> Array:
    return ew.conjugate(x) if x.dtype.kind == "c" else x


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, out: Array | None = None) -> Array:
    """sum(conj(x1) * x2) along an axis of each; the others broadcast."""
    x, y = prepare(x1, "vecdot"), prepare(x2, "vecdot")
    if not x.ndim or not y.ndim:
        raise ValueError(f"vecdot: operands need at least 1 axis, shapes are {x.shape} and {y.shape}")
    a, b = (lo.normalize_axis(axis, z.ndim, "vecdot") for z in (x, y))
    if x.shape[a] != y.shape[b]:
        raise ValueError(
            f"vecdot: {x.shape} and {y.shape}: sizes {x.shape[a]} and {y.shape[b]} of axis {axis} differ"
        )
    x, y = moveaxis(x, a, -1), moveaxis(y, b, -1)
    lo.broadcast_shapes(x.shape, y.shape, where="vecdot")
    return deliver(vecdot_real(_conjugate(x), y), out, "vecdot")


def vdot(a: Any, b: Any, /) -> Array:
    """sum(conj(a) * b) over the flattened arrays."""
    x, y = prepare(a, "vdot"), prepare(b, "vdot")
    if x.size != y.size:
        raise ValueError(f"vdot: {x.shape} and {y.shape} have {x.size} and {y.size} elements")
    return vecdot_real(_conjugate(ravel(x)), ravel(y))


def matvec(x1: Any, x2: Any, /, *, out: Array | None = None) -> Array:
    """(.., m, n) times (.., n) -> (.., m), leading axes broadcast."""
    x, y = prepare(x1, "matvec"), prepare(x2, "matvec")
    if x.ndim < 2 or not y.ndim:
        raise ValueError(f"matvec: needs a matrix and a vector, shapes are {x.shape} and {y.shape}")
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(
            f"matvec: {x.shape} and {y.shape}: inner sizes {x.shape[-1]} and {y.shape[-1]} differ"
        )
    return deliver(vecdot_real(x, expand_dims(y, axis=-2)), out, "matvec")


def vecmat(x1: Any, x2: Any, /, *, out: Array | None = None) -> Array:
    """conj((.., n)) times (.., n, m) -> (.., m), leading axes broadcast."""
    x, y = prepare(x1, "vecmat"), prepare(x2, "vecmat")
    if y.ndim < 2 or not x.ndim:
        raise ValueError(f"vecmat: needs a vector and a matrix, shapes are {x.shape} and {y.shape}")
    if x.shape[-1] != y.shape[-2]:
        raise ValueError(
            f"vecmat: {x.shape} and {y.shape}: inner sizes {x.shape[-1]} and {y.shape[-2]} differ"
        )
    return deliver(vecdot_real(expand_dims(_conjugate(x), axis=-2), moveaxis(y, -1, -2)), out, "vecmat")


def inner(a: Any, b: Any, /) -> Array:
    """The last axis of a with the last of b, all other axes side by side; a 0-d operand scales."""
    x, y = prepare(a, "inner"), prepare(b, "inner")
    if not x.ndim or not y.ndim:
        return ew.multiply(x, y)
    return _tensordot(x, y, (x.ndim - 1,), (y.ndim - 1,), "inner")


def tensordot(x1: Any, x2: Any, /, axes: Any = 2) -> Array:
    """Summed over axes of x1 and as many of x2; the others side by side. axes: n (the last n of x1 with the first n of
    x2), or (axes of x1, axes of x2)."""
    x, y = prepare(x1, "tensordot"), prepare(x2, "tensordot")
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise ValueError(f"tensordot: axes must be an integer or two sequences, not {axes!r}")
        given = [tuple(s) if isinstance(s, (tuple, list)) else (s,) for s in axes]
    else:
        if axes < 0 or axes > min(x.ndim, y.ndim):
            raise ValueError(f"tensordot: {axes} axes of shapes {x.shape} and {y.shape}")
        given = [tuple(range(x.ndim - axes, x.ndim)), tuple(range(axes))]
    over = [
        tuple(lo.normalize_axis(k, z.ndim, "tensordot") for k in s)
        for s, z in zip(given, (x, y), strict=True)
    ]
    return _tensordot(x, y, over[0], over[1], "tensordot")


def _tensordot(x: Array, y: Array, over_x: tuple[int, ...], over_y: tuple[int, ...], where: str) -> Array:
    sizes = [tuple(z.shape[k] for k in over) for z, over in ((x, over_x), (y, over_y))]
    if sizes[0] != sizes[1] or len(set(over_x)) != len(over_x) or len(set(over_y)) != len(over_y):
        raise ValueError(
            f"{where}: axes {over_x} of shape {x.shape} and {over_y} of shape {y.shape} do not match"
        )
    free_x = tuple(k for k in range(x.ndim) if k not in over_x)
    free_y = tuple(k for k in range(y.ndim) if k not in over_y)
    shape = addressable((*(x.shape[k] for k in free_x), *(y.shape[k] for k in free_y)), where)
    inner = prod(sizes[0])
    left = reshape(permute_dims(x, (*free_x, *over_x)), (prod(x.shape[k] for k in free_x), inner))
    right = reshape(permute_dims(y, (*over_y, *free_y)), (inner, prod(y.shape[k] for k in free_y)))
    if inner and 0 not in shape and (not free_x or not free_y):
        made = vecdot_real(expand_dims(left, axis=1), expand_dims(moveaxis(right, 0, 1), axis=0))
        return reshape(made, shape)
    return reshape(matmul(left, right), shape)


def outer(a: Any, b: Any, /, out: Array | None = None) -> Array:
    """Every element of a (flattened) times every element of b."""
    x, y = ravel(prepare(a, "outer")), ravel(prepare(b, "outer"))
    addressable((x.size, y.size), "outer")
    return deliver(ew.multiply(expand_dims(x, axis=1), y), out, "outer")


def kron(a: Any, b: Any, /) -> Array:
    """The Kronecker product: a with each element replaced by it times b. One launch."""
    x, y = prepare(a, "kron"), prepare(b, "kron")
    rank = max(x.ndim, y.ndim)
    x, y = (expand_dims(z, axis=tuple(range(rank - z.ndim))) for z in (x, y))
    shape = addressable(tuple(n * m for n, m in zip(x.shape, y.shape, strict=True)), "kron")
    x = expand_dims(x, axis=tuple(range(1, 2 * rank, 2)))
    y = expand_dims(y, axis=tuple(range(0, 2 * rank, 2)))
    return reshape(ew.multiply(x, y), shape)


def cross(
    a: Any, b: Any, /, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:  # fmt: skip
    """The cross product of 3-vectors along an axis; the other axes broadcast. One launch. (Vectors of 2 components,
    which NumPy deprecates, raise ValueError.)"""
    x, y = prepare(a, "cross"), prepare(b, "cross")
    if axis is not None:
        axisa = axisb = axisc = axis
    at = [lo.normalize_axis(k, z.ndim, "cross") for k, z in ((axisa, x), (axisb, y))]
    if x.shape[at[0]] != 3 or y.shape[at[1]] != 3:
        raise ValueError(f"cross: vectors must have 3 components, shapes are {x.shape} and {y.shape}")
    x, y = moveaxis(x, at[0], -1), moveaxis(y, at[1], -1)
    shape = lo.broadcast_shapes(x.shape, y.shape, where="cross")
    axisc = lo.normalize_axis(axisc, len(shape), "cross")
    u, v = ([view(z, lo.index(z._layout, (..., slice(k, k + 1)))) for k in range(3)] for z in (x, y))
    part = [
        ew.subtract(ew.multiply(u[i], v[j]), ew.multiply(u[j], v[i])) for i, j in ((1, 2), (2, 0), (0, 1))
    ]
    k = positions(3)
    made = ew.where(ew.equal(k, 0), part[0], ew.where(ew.equal(k, 1), part[1], part[2]))
    return moveaxis(made, -1, axisc)


__all__ = [
    "cross", "dot", "inner", "kron", "matvec", "outer", "tensordot", "vdot", "vecdot", "vecmat",
]  # fmt: skip
