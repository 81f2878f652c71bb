"""Norms of vectors and matrices. Integers are taken as float32."""

from __future__ import annotations

from math import inf
from typing import Any

from ..array import Array
from ..dtypes import float32
from ..layout import normalize_axes, normalize_axis
from ..ops import elementwise as ew
from ..ops import reductions
from ..ops.creation import astype
from ..ops.manipulation import expand_dims, moveaxis
from ..ops.rearranging import prepare

Axes = tuple[int, ...]


def _floating(x: Any, where: str) -> Array:
    x = prepare(x, where)
    return x if x.dtype.kind in "fc" else astype(x, float32)


def _squares(x: Array) -> Array:
    """|x|**2, real."""
    if x.dtype.kind != "c":
        return ew.square(x)
    return ew.add(ew.square(ew.real(x)), ew.square(ew.imag(x)))


def _of_vectors(x: Array, axes: Axes, keepdims: bool, order: Any, where: str) -> Array:
    options: Any = {"axis": axes, "keepdims": keepdims}
    if isinstance(order, str):
        raise ValueError(f"{where}: {order!r} is no order of a vector norm")
    if order == inf:
        return reductions.max(ew.abs(x), initial=0, **options)
    if order == -inf:
        return reductions.min(ew.abs(x), **options)
    if order == 0:
        return reductions.sum(astype(ew.not_equal(x, 0), ew.abs(x).dtype), **options)
    if order == 1:
        return reductions.sum(ew.abs(x), **options)
    if order == 2:
        return ew.sqrt(reductions.sum(_squares(x), **options))
    powers: Array = reductions.sum(ew.power(ew.abs(x), float(order)), **options)
    root: Array = ew.power(powers, 1.0 / float(order))
    return root


def _of_matrices(x: Array, axes: Axes, keepdims: bool, order: Any, where: str) -> Array:
    rows, columns = axes
    if rows == columns:
        raise ValueError(f"{where}: the axes of a matrix are both {rows}")
    if order in ("nuc", 2, -2):
        return _of_singular_values(x, axes, keepdims, order)
    if order in (None, "fro", "f"):
        return _of_vectors(x, axes, keepdims, 2, where)
    if order not in (1, -1, inf, -inf):
        raise ValueError(f"{where}: {order!r} is no order of a matrix norm")
    along, across = (rows, columns) if order in (1, -1) else (columns, rows)
    sums = reductions.sum(ew.abs(x), axis=along, keepdims=True)
    if order > 0:
        found = reductions.max(sums, axis=across, keepdims=True, initial=0)
    else:
        found = reductions.min(sums, axis=across, keepdims=True)
    return found if keepdims else reductions.sum(found, axis=axes)


def _of_singular_values(x: Array, axes: Axes, keepdims: bool, order: Any) -> Array:
    from .singular import svdvals

    s = svdvals(moveaxis(x, axes, (-2, -1)))
    if order == "nuc":
        found = reductions.sum(s, axis=-1)
    else:
        found = reductions.max(s, axis=-1, initial=0) if order == 2 else reductions.min(s, axis=-1)
    return expand_dims(found, axis=tuple(sorted(axes))) if keepdims else found


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Array:
    """The norm of vectors: sum(|x|**ord)**(1/ord) over axis (None: all elements); inf and -inf the greatest and least
    |x|, 0 the number of nonzero elements."""
    x = _floating(x, "vector_norm")
    return _of_vectors(x, normalize_axes(axis, x.ndim, "vector_norm"), keepdims, ord, "vector_norm")


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """The norm of each matrix in the last two axes: "fro", 1 and -1 (columns), inf and -inf (rows), of singular
    values the sum ("nuc"), the greatest (2) and the least (-2)."""
    x = _floating(x, "matrix_norm")
    if x.ndim < 2:
        raise ValueError(f"matrix_norm: needs at least 2 axes, shape is {x.shape}")
    return _of_matrices(x, (x.ndim - 2, x.ndim - 1), keepdims, ord, "matrix_norm")


def norm(x: Any, /, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """NumPy's norm: of vectors along one axis, of matrices along two; without an axis of a vector, a matrix, or
    (ord=None) of all elements."""
    x = _floating(x, "norm")
    if axis is None:
        axes: Axes = tuple(range(x.ndim))
        if ord is None:
            return _of_vectors(x, axes, keepdims, 2, "norm")
    else:
        axes = tuple(
            [
                normalize_axis(k, x.ndim, "norm")
                for k in (axis if isinstance(axis, (tuple, list)) else (axis,))
            ]
        )
    if len(axes) == 1:
        return _of_vectors(x, axes, keepdims, 2 if ord is None else ord, "norm")
    if len(axes) == 2:
        return _of_matrices(x, axes, keepdims, ord, "norm")
    raise ValueError(
        f"norm: a vector or a matrix is along one or two axes, not {len(axes)} (shape {x.shape})"
    )
