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
from ..special import j1
from .arguments import each, finish, prepared, scalar, whole

__all__ = ["fourier_ellipsoid", "fourier_gaussian", "fourier_shift", "fourier_uniform"]


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


def fourier_ellipsoid(input: Any, size: Any, n: int = -1, axis: int = -1, output: Any = None) -> Array:
    """A spectrum times that of an ellipsoid of `size` elements (one or one an axis), of one to three axes; as
    fourier_gaussian."""
    label = "fourier_ellipsoid"
    x = prepared(input, label)
    if not 1 <= x.ndim <= 3:
        raise ValueError(f"{label}: takes one to three axes, not {x.shape}")
    length = whole(n, label, "n")
    real = normalize_axis(axis, x.ndim, label) if length >= 0 else -1
    squares: Array | None = None
    for k, v in enumerate(each(size, x.ndim, label, "size")):
        t = asarray(_frequencies(x.shape[k], length if k == real else 0), dtype=float32)
        t = reshape(ew.multiply(t, pi * scalar(v, label, "size")), (x.shape[k], *(1,) * (x.ndim - k - 1)))
        squares = ew.multiply(t, t) if squares is None else ew.add(squares, ew.multiply(t, t))
    assert squares is not None
    r = ew.sqrt(squares)
    near = ew.less(r, 0.05)  # a series where the quotients cancel
    far = ew.where(near, 1.0, r)
    if x.ndim == 1:
        made = ew.sinc(ew.multiply(r, 1 / pi))
    elif x.ndim == 2:
        bent = ew.divide(ew.multiply(j1(far), 2.0), far)
        made = ew.where(near, ew.subtract(1.0, ew.multiply(squares, 0.125)), bent)
    else:
        cube = ew.multiply(far, ew.multiply(far, far))
        bent = ew.divide(ew.multiply(ew.subtract(ew.sin(far), ew.multiply(far, ew.cos(far))), 3.0), cube)
        made = ew.where(near, ew.subtract(1.0, ew.multiply(squares, 0.1)), bent)
    wide = astype(x, complex64 if x.dtype.kind == "c" else float32, copy=False)
    whole_of = ew.multiply(wide, made)
    return finish(whole_of, whole_of, output, label)
