"""A surface with hills and hollows to try plots and interpolations on."""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from ..array import Array
from ..dtypes import float32
from . import elementwise as ew
from .along import prepared
from .creation import astype, linspace
from .manipulation import reshape

__all__ = ["peaks"]


def peaks(x: Any = 49, y: Any = None) -> Array:
    """A sum of shifted and scaled Gaussians with three hills and three hollows, float32.

    peaks(n): at n x n points of [-3, 3] x [-3, 3], x along the last axis; peaks(x, y): at given coordinates, broadcast.
    """
    if y is None:
        n = as_index(x)
        if n < 0:
            raise ValueError(f"peaks: the number of points must not be negative: {n}")
        line = linspace(-3.0, 3.0, n)
        x, y = reshape(line, (1, n)), reshape(line, (n, 1))
    a, b = (astype(prepared(v, "peaks"), float32, copy=False) for v in (x, y))
    aa, bb = ew.square(a), ew.square(b)

    def bell(u: Any, v: Any) -> Array:
        return ew.exp(ew.negative(ew.add(u, v)))

    hill = ew.multiply(ew.multiply(ew.square(ew.subtract(1.0, a)), 3.0), bell(aa, ew.square(ew.add(b, 1.0))))
    fifth = ew.multiply(ew.multiply(bb, bb), b)
    middle = ew.subtract(ew.subtract(ew.multiply(a, 0.2), ew.multiply(aa, a)), fifth)
    hollow = ew.multiply(ew.multiply(middle, 10.0), bell(aa, bb))
    return ew.subtract(ew.subtract(hill, hollow), ew.divide(bell(ew.square(ew.add(a, 1.0)), bb), 3.0))
