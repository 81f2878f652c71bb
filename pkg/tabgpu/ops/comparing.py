"""Whether whole arrays are the same: 0-d bool Arrays, computed when they are read."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..layout import broadcast_shapes
from . import elementwise as ew
from . import reductions as rd
from .creation import full


def array_equal(a1: Any, a2: Any, /, equal_nan: bool = False) -> Array:
    """Whether two arrays have the same shape and equal elements, as a 0-d bool Array. equal_nan: NaN equals NaN."""
    x, y = rd.prepared(a1, "array_equal"), rd.prepared(a2, "array_equal")
    if x.shape != y.shape:
        return full((), False)
    same = ew.equal(x, y)
    if equal_nan:
        same = ew.logical_or(same, ew.logical_and(ew.isnan(x), ew.isnan(y)))
    return rd.all(same)


def array_equiv(a1: Any, a2: Any, /) -> Array:
    """Whether two arrays broadcast to each other and are equal then, as a 0-d bool Array."""
    x, y = rd.prepared(a1, "array_equiv"), rd.prepared(a2, "array_equiv")
    try:
        broadcast_shapes(x.shape, y.shape, where="array_equiv")
    except ValueError:
        return full((), False)
    return rd.all(ew.equal(x, y))


def allclose(a: Any, b: Any, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Array:
    """Whether all elements are close (see isclose), as a 0-d bool Array."""
    return rd.all(ew.isclose(a, b, rtol, atol, equal_nan))


__all__ = ["allclose", "array_equal", "array_equiv"]
