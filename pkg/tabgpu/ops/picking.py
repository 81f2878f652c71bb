"""Gathers and permutations along the last axis, for sorts and sets: rows of positions at once."""

from __future__ import annotations

from ..array import Array
from ..dtypes import int32
from .along import widened
from .creation import astype, full
from .routine import routine, stored


def _bits(value: float | complex, x: Array) -> tuple[int, ...]:
    """The words of a number in x's (whole-word) dtype."""
    from struct import pack, unpack

    if x.dtype.kind == "c":
        return unpack("<II", pack("<ff", complex(value).real, complex(value).imag))
    if x.dtype.kind == "f":
        return unpack("<I", pack("<f", value))
    return (int(value.real) & 0xFFFFFFFF,)


def pick(x: Array, index: Array, fill: float | complex = 0) -> Array:
    """x[..., k] for each k of index: int32 of shape (m,), the same for all rows, or x.shape[:-1] + (m,).

    Positions past the end (such as -1) give the fill.
    """
    wide = widened(x)
    m = index.shape[-1]
    shape = (*x.shape[:-1], m)
    rows = 1
    for n in x.shape[:-1]:
        rows *= n
    if not rows or not m or not x.size:
        return full(shape, fill, dtype=x.dtype)
    shared = rows > 1 and index.ndim == 1
    extra = (rows, x.shape[-1], m, m, shared, _bits(fill, wide))
    out = routine("pick.gather", [stored(wide), stored(index)], shape, wide.dtype, extra)
    return astype(out, x.dtype, copy=False)


def invert(order: Array) -> Array:
    """The inverse of permutations along the last axis, int32: where each position went."""
    from .creation import positions

    n = order.shape[-1]
    if not order.size:
        return full(order.shape, 0, dtype=int32)
    return place(positions(n), order)


def place(x: Array, order: Array) -> Array:
    """out[..., order[.., k]] = x[.., k] for permutations along the last axis; a 1-d x is every row."""
    from .manipulation import broadcast_to

    n = order.shape[-1]
    if not order.size:
        return full(order.shape, 0, dtype=x.dtype)
    wide = widened(broadcast_to(x, order.shape))
    extra = (order.size // n, n, n, n, False)
    out = routine("pick.scatter", [stored(wide), stored(order)], order.shape, wide.dtype, extra)
    return astype(out, x.dtype, copy=False)
