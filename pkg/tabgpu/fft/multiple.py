"""Fourier transforms along several axes: one after the other, the last first, as NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from operator import index as as_index
from typing import Any

from ..array import Array
from ..layout import normalize_axis
from ..ops.along import prepared
from . import single

LAST_TWO = (-2, -1)


def whole(v: Any) -> bool:
    """Whether v is one integer: of Python, NumPy or an array without axes."""
    return hasattr(v, "__index__") and not getattr(v, "ndim", 0)


def cooked(where: str, x: Array, s: Any, axes: Any, real_result: bool = False) -> list[tuple[int, Any]]:
    """(length, axis) in order. s without axes means the last axes; -1 or None in s a whole axis. Both may be ints."""
    s, axes = ((v,) if whole(v) else v for v in (s, axes))
    if axes is None:
        axes = range(-(x.ndim if s is None else len(s)), 0)
    axes = [as_index(k) for k in axes]
    sizes = [x.shape[normalize_axis(k, x.ndim, where)] for k in axes]
    if s is not None:
        if len(s) != len(axes):
            raise ValueError(f"{where}: s {tuple(s)} and axes {tuple(axes)} have different lengths")
        given = [-1 if k is None else as_index(k) for k in s]
        return [(n if k == -1 else k, a) for n, k, a in zip(sizes, given, axes, strict=True)]
    if real_result and sizes:
        sizes[-1] = 2 * (sizes[-1] - 1)
    return list(zip(sizes, axes, strict=True))


def some(where: str, pairs: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """The same; IndexError if there is no axis (the last one is special)."""
    if not pairs:
        raise IndexError(f"{where}: needs at least one axis")
    return pairs


def _each(where: str, step: Callable[..., Array], a: Any, s: Any, axes: Any, norm: Any) -> Array:
    x = prepared(a, where)
    for n, axis in reversed(cooked(where, x, s, axes)):
        x = step(x, n, axis, norm)
    return x


def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """fft along several axes (all; with s the last len(s)), cropped or padded to the lengths s (-1: as it is)."""
    return _each("fftn", single.fft, a, s, axes, norm)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The inverse of fftn."""
    return _each("ifftn", single.ifft, a, s, axes, norm)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """rfft along the last of the axes, then fft along the others."""
    x = prepared(a, "rfftn")
    pairs = some("rfftn", cooked("rfftn", x, s, axes))
    x = single.of_reals("rfftn", x, *pairs.pop(), norm, False)
    for n, axis in reversed(pairs):
        x = single.fft(x, n, axis, norm)
    return x


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The inverse of rfftn: float32; the last axis has 2 (m - 1) positions unless s says otherwise."""
    x = prepared(a, "irfftn")
    *pairs, last = some("irfftn", cooked("irfftn", x, s, axes, True))
    for n, axis in pairs:
        x = single.ifft(x, n, axis, norm)
    return single.to_reals("irfftn", x, *last, norm, True)


def fft2(a: Any, s: Any = None, axes: Any = LAST_TWO, norm: str | None = None) -> Array:
    """fftn along the last two axes."""
    return _each("fft2", single.fft, a, s, axes, norm)


def ifft2(a: Any, s: Any = None, axes: Any = LAST_TWO, norm: str | None = None) -> Array:
    """ifftn along the last two axes."""
    return _each("ifft2", single.ifft, a, s, axes, norm)


def rfft2(a: Any, s: Any = None, axes: Any = LAST_TWO, norm: str | None = None) -> Array:
    """rfftn along the last two axes."""
    return rfftn(a, s, axes, norm)


def irfft2(a: Any, s: Any = None, axes: Any = LAST_TWO, norm: str | None = None) -> Array:
    """irfftn along the last two axes."""
    return irfftn(a, s, axes, norm)


def hfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """fftn of what is Hermitian-symmetric over the axes, its last axis given by half: float32."""
    x = prepared(a, "hfftn")
    *pairs, last = some("hfftn", cooked("hfftn", x, s, axes, True))
    for n, axis in pairs:
        x = single.fft(x, n, axis, norm)
    return single.to_reals("hfftn", x, *last, norm, False)


def ihfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The inverse of hfftn: of reals, half of the last axis."""
    x = prepared(a, "ihfftn")
    *pairs, last = some("ihfftn", cooked("ihfftn", x, s, axes))
    x = single.of_reals("ihfftn", x, *last, norm, True)
    for n, axis in reversed(pairs):
        x = single.ifft(x, n, axis, norm)
    return x


def hfft2(a: Any, s: Any = None, axes: Any = LAST_TWO, norm: str | None = None) -> Array:
    """hfftn along the last two axes."""
    return hfftn(a, s, axes, norm)


def ihfft2(a: Any, s: Any = None, axes: Any = LAST_TWO, norm: str | None = None) -> Array:
    """ihfftn along the last two axes."""
    return ihfftn(a, s, axes, norm)


__all__ = [
    "fft2", "fftn", "hfft2", "hfftn", "ifft2", "ifftn", "ihfft2", "ihfftn", "irfft2", "irfftn", "rfft2", "rfftn",
]  # fmt: skip
