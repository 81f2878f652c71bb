"""Cosine and sine transforms, types 1 to 4: complex transforms (routines/fft.py) of elements in another order."""

from __future__ import annotations

from collections.abc import Callable
from operator import index as as_index
from typing import Any

from ..array import Array
from ..dtypes import complex64, float32
from ..layout import normalize_axis
from ..ops import elementwise as ew
from ..ops.along import prepared
from ..ops.creation import zeros
from ..ops.routine import routine
from .multiple import cooked
from .single import lines_of, operand, scale_of

READ_BACK, WRITE_BACK, SIGNS = 1, 2, 4  # flags of routines/fft.py
INVERSES = {1: 1, 2: 3, 3: 2, 4: 4}


def _job(
    where: str, sine: bool, kind: int, n: int, norm: Any, inverse: bool, orthogonal: Any
) -> tuple[str, float, tuple[float, float, int]]:
    """(form, scale, (factors of element 0 as read and written, flags))."""
    scale = scale_of(where, 2 * (n + (kind == 1 and (1 if sine else -1))), norm, inverse)
    unit = (norm == "ortho") if orthogonal is None else bool(orthogonal)
    root = 2.0**0.5
    read = root if unit and (kind == 3 or (kind == 1 and not sine)) else 1.0
    written = 1 / root if unit and (kind == 2 or (kind == 1 and not sine)) else 1.0
    form = f"cos{kind}" + ("odd" if kind == 4 and n % 2 else "")
    if kind in (2, 4):
        scale *= 2.0
    flags = 0
    if sine:
        form = "sin1" if kind == 1 else form
        flags = {1: 0, 2: WRITE_BACK | SIGNS, 3: READ_BACK | SIGNS, 4: READ_BACK | SIGNS}[kind]
    return form, scale, (read, written, flags)


def _along(
    where: str, sine: bool, x: Any, kind: Any, n: Any, axis: Any, norm: Any, inverse: bool, orthogonal: Any
) -> Array:
    x, k = operand(x, where, axis)
    if x.dtype is complex64:
        parts = (ew.real(x), ew.imag(x))
        return ew.complex_of(*[_along(where, sine, p, kind, n, k, norm, inverse, orthogonal) for p in parts])
    kind = as_index(kind)  # 2.0 is no type
    if kind not in INVERSES:
        raise ValueError(f"{where}: type {kind} is not one of 1, 2, 3, 4")
    kind = INVERSES[kind] if inverse else kind
    n = x.shape[k] if n is None else as_index(n)
    if n < 1 or (n < 2 and kind == 1 and not sine):
        raise ValueError(f"{where}: invalid number of data points ({n}) along axis {k} of shape {x.shape}")
    shape = (*x.shape[:k], n, *x.shape[k + 1 :])
    if 0 in x.shape:
        return zeros(shape, dtype=float32)
    form, scale, extra = _job(where, sine, kind, n, norm, inverse, orthogonal)
    op, outer, inner, offset, strides = lines_of(x, k)
    job = (n, outer, inner, offset, strides, min(n, x.shape[k]), (False, False), scale, extra)
    return routine(f"fft.{form}", [op], shape, float32, job, x.size * max(1, n.bit_length() // 2))


def dct(
    x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """The discrete cosine transform of type 1 to 4 along an axis, as scipy.fft.dct: float32; complex x by parts.

    n crops or pads with zeros. norm="ortho" makes it orthogonal (orthogonalize says otherwise). ValueError for n < 1
    (< 2 for type 1). overwrite_x and workers say nothing here.
    """
    return _along("dct", False, x, type, n, axis, norm, False, orthogonalize)


def idct(
    x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """The inverse of dct."""
    return _along("idct", False, x, type, n, axis, norm, True, orthogonalize)


def dst(
    x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """The discrete sine transform of type 1 to 4 along an axis, as scipy.fft.dst; see dct."""
    return _along("dst", True, x, type, n, axis, norm, False, orthogonalize)


def idst(
    x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """The inverse of dst."""
    return _along("idst", True, x, type, n, axis, norm, True, orthogonalize)


def _several(
    where: str, step: Callable[..., Array], x: Any, kind: Any, s: Any, axes: Any, norm: Any, orthogonal: Any
) -> Array:
    out = prepared(x, where)
    pairs = cooked(where, out, s, axes)
    if len({normalize_axis(k, out.ndim, where) for _, k in pairs}) < len(pairs):
        raise ValueError(f"{where}: axes {tuple(k for _, k in pairs)} repeat one")
    for n, axis in pairs:
        out = step(out, kind, n, axis, norm, orthogonalize=orthogonal)
    return out


def dctn(
    x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """dct along several axes (all), cropped or padded to the lengths s."""
    return _several("dctn", dct, x, type, s, axes, norm, orthogonalize)


def idctn(
    x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """The inverse of dctn."""
    return _several("idctn", idct, x, type, s, axes, norm, orthogonalize)


def dstn(
    x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """dst along several axes (all), cropped or padded to the lengths s."""
    return _several("dstn", dst, x, type, s, axes, norm, orthogonalize)


def idstn(
    x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
    workers: int | None = None, *, orthogonalize: bool | None = None,
) -> Array:  # fmt: skip
    """The inverse of dstn."""
    return _several("idstn", idst, x, type, s, axes, norm, orthogonalize)


__all__ = ["dct", "dctn", "dst", "dstn", "idct", "idctn", "idst", "idstn"]
