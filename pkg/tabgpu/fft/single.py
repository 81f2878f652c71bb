"""Fourier transforms along one axis."""

from __future__ import annotations

from math import prod
from operator import index as as_index
from typing import Any

from ..array import Array, source
from ..dtypes import complex64, float32
from ..graph import IOTA, SCALAR, Op
from ..layout import Layout, collapse, normalize_axis
from ..ops.along import prepared
from ..ops.creation import astype, copy_of, zeros
from ..ops.routine import routine

NORMS = {
    None: 0.0,
    "backward": 0.0,
    "ortho": 0.5,
    "forward": 1.0,
}  # the forward transform's 1 / n to this power


def scale_of(where: str, n: int, norm: Any, inverse: bool) -> float:
    """What results are multiplied by; ValueError for an unknown norm."""
    try:
        power = NORMS[norm]
    except (KeyError, TypeError):
        raise ValueError(
            f'{where}: norm {norm!r} is not one of None, "backward", "ortho", "forward"'
        ) from None
    return float(float(n) ** -(1.0 - power if inverse else power))


def lines_of(x: Array, axis: int) -> tuple[Op, int, int, int, tuple[int, int, int]]:
    """(stored memory, lines before the axis, side by side behind it, offset, strides of both and of the axis between
    them); a copy where axes in front or behind are not evenly spaced."""
    op, seen = source(x)
    if not (op.kind in (SCALAR, IOTA) and op.buffer is None):
        if seen is None:
            n, inner = x.shape[axis], prod(x.shape[axis + 1 :])
            return op, prod(x.shape[:axis]), inner, 0, (n * inner, inner, 1)
        lay: Layout = seen
        sides = [
            collapse(lay.shape[part], [lay.strides[part]]) for part in (slice(axis), slice(axis + 1, None))
        ]
        if all(len(dims) < 2 for dims, _ in sides):
            (outer, a), (inner, b) = [(d[0], w[0][0]) if d else (1, 0) for d, w in sides]
            return op, outer, inner, lay.offset, (a, lay.strides[axis], b)
    return lines_of(copy_of(x), axis)


def transformed(
    where: str, x: Array, n: int, axis: int, form: str, flips: tuple[bool, bool], scale: float
) -> Array:
    """A pending transform (routines/fft.py) of n positions along a normalised axis, cropped or padded with zeros."""
    if n < 1:
        raise ValueError(f"{where}: invalid number of data points ({n}) along axis {axis} of shape {x.shape}")
    m = n // 2 + 1 if form == "forward" else n
    shape = (*x.shape[:axis], m, *x.shape[axis + 1 :])
    dtype = float32 if form == "backward" else complex64
    if 0 in x.shape:
        return zeros(shape, dtype=dtype)
    op, outer, inner, offset, strides = lines_of(x, axis)
    there = min(x.shape[axis], n // 2 + 1 if form == "backward" else n)
    job = (n, outer, inner, offset, strides, there, flips, scale)
    return routine(f"fft.{form}", [op], shape, dtype, job, x.size * max(1, n.bit_length() // 2))


def operand(x: Any, where: str, axis: Any) -> tuple[Array, int]:
    """(complex64 or float32, axis normalised)."""
    x = prepared(x, where)
    axis = normalize_axis(axis, x.ndim, where)
    return (x if x.dtype is complex64 else astype(x, float32, copy=False)), axis


def along(where: str, a: Any, n: Any, axis: Any, norm: Any, inverse: bool) -> Array:
    """Complex to complex."""
    x, k = operand(a, where, axis)
    n = x.shape[k] if n is None else as_index(n)
    scale = scale_of(where, max(n, 1), norm, inverse)
    return transformed(where, x, n, k, "complex", (inverse, inverse), scale)


def of_reals(where: str, a: Any, n: Any, axis: Any, norm: Any, inverse: bool) -> Array:
    """Reals to the first half of their spectrum."""
    x, k = operand(a, where, axis)
    if x.dtype is complex64:
        raise TypeError(f"{where}: needs real numbers, not {x.dtype.name}; use fft")
    n = x.shape[k] if n is None else as_index(n)
    scale = scale_of(where, max(n, 1), norm, inverse)
    return transformed(where, x, n, k, "forward", (False, inverse), scale)


def to_reals(where: str, a: Any, n: Any, axis: Any, norm: Any, inverse: bool) -> Array:
    """The first half of a Hermitian sequence to reals."""
    x, k = operand(a, where, axis)
    n = 2 * (x.shape[k] - 1) if n is None else as_index(n)
    scale = scale_of(where, max(n, 1), norm, inverse)
    whole = astype(x, complex64, copy=False)
    return transformed(where, whole, n, k, "backward", (inverse, False), scale)


def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The discrete Fourier transform along an axis, complex64, of n positions: a cropped or padded with zeros.

    Any length, any axis. norm: "backward" (None; the inverse is divided by n), "ortho" (both by sqrt(n)), "forward".
    ValueError for n < 1.
    """
    return along("fft", a, n, axis, norm, False)


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of fft, complex64."""
    return along("ifft", a, n, axis, norm, True)


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """fft of real numbers: its first n // 2 + 1 positions. TypeError for complex ones."""
    return of_reals("rfft", a, n, axis, norm, False)


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of rfft: n float32 (by default 2 (m - 1) of m positions). Imaginary parts of the first and, for even
    n, of position n / 2 do not count."""
    return to_reals("irfft", a, n, axis, norm, True)


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """fft of a signal whose second half is the conjugate of its first (a): n float32, by default 2 (m - 1)."""
    return to_reals("hfft", a, n, axis, norm, False)


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of hfft: n // 2 + 1 complex64 from reals."""
    return of_reals("ihfft", a, n, axis, norm, True)


__all__ = ["fft", "hfft", "ifft", "ihfft", "irfft", "rfft"]
