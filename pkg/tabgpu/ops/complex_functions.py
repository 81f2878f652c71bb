"""Functions that are about complex numbers: angle, isreal, iscomplex and what is known from the dtype alone."""

from __future__ import annotations

from typing import Any

from ..array import Array
from .convert import from_host
from .dtype_functions import dtype_of
from .elementwise_rows import arctan2, equal, imag, not_equal, rad2deg, real


def _array(z: Any, where: str) -> Array:
    return z if type(z) is Array else from_host(z, where)


def angle(z: Any, deg: bool = False) -> Array:
    """The angle of z in the complex plane, in (-pi, pi], or in degrees; of real z 0 or pi (pi for -0 as well).

    float32, or the dtype of a real floating z."""
    z = _array(z, "angle")
    turn = arctan2(imag(z), real(z))
    return rad2deg(turn) if deg else turn


def isreal(x: Any) -> Array:
    """Whether the imaginary part is zero."""
    return equal(imag(_array(x, "isreal")), 0)


def iscomplex(x: Any) -> Array:
    """Whether the imaginary part is not zero (NaN is not)."""
    return not_equal(imag(_array(x, "iscomplex")), 0)


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype of x, an Array or a host value, is complex."""
    if not isinstance(x, Array) and not hasattr(x, "dtype"):
        return isinstance(x, complex) or _array(x, "iscomplexobj").dtype.kind == "c"
    return dtype_of(x, "iscomplexobj").kind == "c"


def isrealobj(x: Any) -> bool:
    """Whether the dtype of x is not complex."""
    return not iscomplexobj(x)


__all__ = ["angle", "iscomplex", "iscomplexobj", "isreal", "isrealobj"]
