"""Functions of stacks of matrices whose twins at the top level take other axes: cross, diagonal, outer, trace."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..ops import contractions, triangles
from ..ops.rearranging import prepare


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """The cross product of 3-vectors along one axis of both; the other axes broadcast."""
    return contractions.cross(x1, x2, axis=axis)


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """The offset-th diagonal of each matrix in the last two axes, as a view."""
    return triangles.diagonal(x, offset, -2, -1)


def outer(x1: Any, x2: Any, /) -> Array:
    """Every element of a 1-D array times every element of another. ValueError for other ranks."""
    x, y = prepare(x1, "outer"), prepare(x2, "outer")
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"outer: takes arrays of 1 axis, shapes are {x.shape} and {y.shape}")
    return contractions.outer(x, y)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sum of the offset-th diagonal of each matrix in the last two axes."""
    return triangles.trace(x, offset, -2, -1, dtype)
