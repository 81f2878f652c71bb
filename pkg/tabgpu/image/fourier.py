"""Filters of spectra under scipy.ndimage's names: what a Fourier transform is multiplied by. tg.fft makes those."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

from ..array import Array
from ..dtypes import as_dtype, complex64, float32
from ..layout import normalize_axis
from ..ops import elementwise as ew
from ..ops.creation import asarray, astype
from ..ops.manipulation import reshape
from .arguments import each, finish, prepared, scalar, whole

__all__ = ["fourier_gaussian", "fourier_shift", "fourier_uniform"]


def _frequencies(n: int, real_of: int) -> list[float]:
    """Cycles an element of each of n places; real_of: of how many elements a real transform is, 0 for a complex one."""
    if real_of:
        return [k / real_of for k in range(n)]
    return [(k if k < (n + 1) // 2 else k - n) / n for k in range(n)]


def _filtered(
    input: Any, values: Any, n: Any, axis: int, output: Any, label: str, f: Callable[[Array, float], Array | None]
) -> Array:  # fmt: skip
    """Each axis' factor of f(frequencies, value), multiplied in."""
    x = prepared(input, label)
    length = whole(n, label, "n")
    real = normalize_axis(axis, x.ndim, label) if x.ndim and length >= 0 else -1
    made = astype(x, complex64 if x.dtype.kind == "c" else float32, copy=False)
    for k, v in enumerate(each(values, x.ndim, label, "values")):
        size = x.shape[k]
        factor = f(
            asarray(_frequencies(size, length if k == real else 0), dtype=float32), scalar(v, label, "values")
        )
        if factor is not None:
            made = ew.multiply(made, reshape(factor, (size, *(1,) * (x.ndim - k - 1))))
    if output is None or isinstance(output, Array):
        return made if output is None else finish(made, x, output, label)
    return astype(made, as_dtype(output), copy=False)


def fourier_gaussian(input: Any, sigma: Any, n: int = -1, axis: int = -1, output: Any = None) -> Array:
    """A spectrum times that of a Gaussian of sigma (one or one an axis). n: how many elements the real transform along
    `axis` had, below 0 for a complex one. complex64, or float32 of real spectra."""

    def factor(t: Array, s: float) -> Array | None:
        return None if not s else ew.exp(ew.multiply(ew.multiply(t, t), -2 * (pi * s) ** 2))

    return _filtered(input, sigma, n, axis, output, "fourier_gaussian", factor)


def fourier_uniform(input: Any, size: Any, n: int = -1, axis: int = -1, output: Any = None) -> Array:
    """A spectrum times that of a box of `size` elements (one or one an axis); as fourier_gaussian."""

    def factor(t: Array, s: float) -> Array | None:
        return None if not s else ew.sinc(ew.multiply(t, s))

    return _filtered(input, size, n, axis, output, "fourier_uniform", factor)


def fourier_shift(input: Any, shift: Any, n: int = -1, axis: int = -1, output: Any = None) -> Array:
    """A spectrum times that of a shift by `shift` elements (one or one an axis): complex64; as fourier_gaussian."""

    def factor(t: Array, s: float) -> Array | None:
        if not s:
            return None
        turn = ew.multiply(ew.subtract(ew.multiply(t, s), ew.rint(ew.multiply(t, s))), -2 * pi)
        return ew.add(ew.cos(turn), ew.multiply(ew.sin(turn), 1j))

    x = prepared(input, "fourier_shift")
    return _filtered(astype(x, complex64, copy=False), shift, n, axis, output, "fourier_shift", factor)
