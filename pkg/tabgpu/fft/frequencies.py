"""Beside the transforms: frequencies of their positions, zero moved to the middle, lengths that are fast."""

from __future__ import annotations

from operator import index as as_index
from struct import pack, unpack
from typing import Any

from ..array import Array
from ..dtypes import float32, int32
from ..layout import normalize_axis
from ..ops import elementwise as ew
from ..ops.along import prepared
from ..ops.creation import arange, astype
from ..ops.rearranging import roll
from ..ops.searching import where

PRIMES = (2, 3, 5, 7, 11, 13)  # of lengths that are passes of butterflies (routines/fft.py)


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """The n frequencies that fft's positions stand for, in cycles a unit of d: 0, 1, .., -2, -1 over n d; float32."""
    n = _length(n, "fftfreq")
    if n < 0:
        raise ValueError(f"fftfreq: n must not be negative: {n}")
    k = arange(n, dtype=int32, device=device)
    signed = ew.subtract(k, where(ew.greater_equal(k, (n + 1) // 2), n, 0))
    return _over(signed, n, d, dtype)


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """The n // 2 + 1 frequencies that rfft's positions stand for: 0, 1, .. over n d; float32."""
    n = _length(n, "rfftfreq")
    return _over(arange(n // 2 + 1, dtype=int32, device=device), n, d, dtype)


def _length(n: Any, name: str) -> int:
    try:
        return as_index(n)
    except TypeError:
        raise ValueError(f"{name}: n should be an integer, not {n!r}") from None


def _over(k: Array, n: int, d: Any, dtype: Any) -> Array:
    whole = ew.multiply(d, float(n)) if isinstance(d, Array) else n * float(d)  # nothing is read
    if not n or (not isinstance(whole, Array) and not whole):
        raise ZeroDivisionError("fftfreq: n and d must not be 0")
    k = astype(k, float32)
    # Most often n d or its inverse is a float32, and then each frequency is the rounded one.
    made = (
        ew.multiply(k, 1 / whole)
        if not isinstance(whole, Array) and _is_float32(1 / whole)
        else ew.divide(k, whole)
    )
    return made if dtype is None else astype(made, dtype, copy=False)


def _is_float32(x: float) -> bool:
    """Whether nothing is lost."""
    try:
        return bool(unpack("f", pack("f", x))[0] == x)
    except OverflowError:
        return False


def _shifted(x: Any, axes: Any, name: str, back: bool) -> Array:
    x = prepared(x, name)
    wanted = range(x.ndim) if axes is None else axes if isinstance(axes, (tuple, list)) else (axes,)
    found = [normalize_axis(k, x.ndim, name) for k in wanted]
    return roll(x, [-(x.shape[k] // 2) if back else x.shape[k] // 2 for k in found], found)


def fftshift(x: Any, axes: Any = None) -> Array:
    """x with position 0 of axes (all) moved to the middle, n // 2; any dtype."""
    return _shifted(x, axes, "fftshift", False)


def ifftshift(x: Any, axes: Any = None) -> Array:
    """The inverse of fftshift; they differ for odd lengths."""
    return _shifted(x, axes, "ifftshift", True)


def _fast(n: int) -> bool:
    for p in PRIMES:
        while not n % p:
            n //= p
    return n == 1


def _near(target: Any, step: int, name: str) -> int:
    n = as_index(target)
    if n < (1 if step < 0 else 0):
        raise ValueError(f"{name}: target must be positive, not {n}")
    while n and not _fast(n):
        n += step
    return n


def next_fast_len(target: int, real: bool = False) -> int:
    """The least length from target on that has no prime factor above 13: those need no convolution."""
    return _near(target, 1, "next_fast_len")


def prev_fast_len(target: int, real: bool = False) -> int:
    """The greatest length up to target that has no prime factor above 13."""
    return _near(target, -1, "prev_fast_len")


__all__ = ["fftfreq", "fftshift", "ifftshift", "next_fast_len", "prev_fast_len", "rfftfreq"]
