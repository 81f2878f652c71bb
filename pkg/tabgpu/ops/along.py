"""The axis that a routine works along, moved last: what scans, sorts and searches do before and after their kernels."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import BY_KIND, DType, int32
from ..layout import normalize_axis
from .convert import from_host
from .creation import astype
from .manipulation import moveaxis, ravel, reshape


def prepared(x: Any, where: str) -> Array:
    """x as an Array: host values are uploaded."""
    return x if isinstance(x, Array) else from_host(x, where)


def pick_axis(x: Array, axis: Any, where: str) -> tuple[Array, int]:
    """(x, axis) with the axis normalised; None flattens x, and a 0-d array has one axis of one element."""
    if axis is None:
        return ravel(x), 0
    k = normalize_axis(axis, max(x.ndim, 1), where)
    return (x, k) if x.ndim else (reshape(x, (1,)), 0)


def last(x: Array, axis: int) -> Array:
    """A view with the (normalised) axis at the end."""
    return x if axis == x.ndim - 1 else moveaxis(x, axis, -1)


def back(x: Array, axis: int) -> Array:
    """A view with the last axis where `last` took it from."""
    return x if axis == x.ndim - 1 else moveaxis(x, -1, axis)


def word(dtype: DType) -> DType:
    """The dtype of a whole word that a dtype's values are computed in; int32 for bool."""
    return int32 if dtype.kind == "b" else BY_KIND[dtype.kind]


def widened(x: Array) -> Array:
    """x in whole words, as hand-written kernels read it; exact."""
    return astype(x, word(x.dtype), copy=False)
