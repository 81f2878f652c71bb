"""Smoothing: medians, Wiener's filter, Savitzky's and Golay's."""

from __future__ import annotations

import warnings
from math import factorial, prod
from typing import Any

from ..array import Array
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.along import back, last, prepared
from ..ops.creation import asarray, astype
from ..ops.joining import concat
from ..ops.manipulation import reshape
from ..ops.products import matmul
from .samples import axis_of, cut, floats, on_host, taps_along


def _sizes(given: Any, ndim: int, where: str, odd: bool = True) -> list[int]:
    """A size for each axis."""
    import numpy as np

    sizes = (
        [3] * ndim
        if given is None
        else [int(n) for n in np.atleast_1d(np.asarray(on_host(given, "sizes", where)))]
    )
    sizes = sizes * ndim if len(sizes) == 1 else sizes
    if len(sizes) != ndim or min(sizes, default=1) < 1 or (odd and any(n % 2 == 0 for n in sizes)):
        what = "odd sizes" if odd else "sizes of at least 1"
        raise ValueError(f"{where}: {given!r}: {what}, one or one for each of {ndim} axes")
    return sizes


def medfilt(volume: Any, kernel_size: Any = None) -> Array:
    """The median of the elements around each one, zeros beyond the ends, in x's dtype. kernel_size: an odd number, or
    one for each axis (3)."""
    from ..image.ranking import median_filter

    x = prepared(volume, "medfilt")
    x = x if x.ndim else reshape(x, (1,))
    if x.dtype.kind not in "iuf":
        raise ValueError(f"medfilt: {x.dtype.name} is not supported: integers and real floats are")
    sizes = _sizes(kernel_size, x.ndim, "medfilt")
    if any(k > n for k, n in zip(sizes, x.shape, strict=True)):
        warnings.warn(
            f"medfilt: a kernel of {tuple(sizes)} for {x.shape}: filled up with zeros", stacklevel=2
        )
    return median_filter(x, size=tuple(sizes), mode="constant", cval=0.0)


def medfilt2d(input: Any, kernel_size: Any = 3) -> Array:
    """medfilt of a matrix."""
    x = prepared(input, "medfilt2d")
    if x.ndim != 2:
        raise ValueError(f"medfilt2d: {x.shape}: two axes")
    return medfilt(x, kernel_size)


def order_filter(a: Any, domain: Any, rank: int) -> Array:
    """The element of a rank (0 the least) among those around each one where domain (host, odd sizes) is not 0; zeros
    beyond the ends."""
    import numpy as np

    from ..image.ranking import rank_filter

    x = prepared(a, "order_filter")
    mask = np.asarray(on_host(domain, "domain", "order_filter"))
    if mask.ndim != x.ndim or any(n % 2 == 0 for n in mask.shape):
        raise ValueError(
            f"order_filter: a domain of shape {mask.shape} for {x.shape}: odd sizes, as many axes"
        )
    return rank_filter(x, rank, footprint=mask, mode="constant", cval=0.0)


def wiener(im: Any, mysize: Any = None, noise: float | None = None) -> Array:
    """Wiener's filter: local means, the closer the smaller the local variance. mysize: of windows (3), noise: its power
    (the mean of local variances). float32; zeros beyond the ends."""
    from .convolving import correlate

    x, _ = floats(im, "wiener")
    sizes = _sizes(mysize, x.ndim, "wiener", False)
    if x.dtype.kind == "c":
        raise TypeError("wiener: real numbers")
    if not x.size:
        return x
    mean, square = x, ew.multiply(x, x)
    for k, n in enumerate(sizes):  # a box is one axis after another
        shape = [1] * x.ndim
        shape[k] = n
        box = asarray([1.0] * n)
        mean, square = (correlate(v, reshape(box, tuple(shape)), "same", "direct") for v in (mean, square))
    many = float(prod(sizes))
    mean = ew.divide(mean, many)
    variance = ew.subtract(ew.divide(square, many), ew.multiply(mean, mean))
    power: Any = rd.mean(variance) if noise is None else float(noise)
    got = ew.add(mean, ew.multiply(ew.subtract(x, mean), ew.subtract(1.0, ew.divide(power, variance))))
    return ew.where(ew.less(variance, power), mean, got)


def savgol_coeffs(
    window_length: int, polyorder: int, deriv: int = 0, delta: float = 1.0, pos: Any = None, use: str = "conv"
) -> Any:  # fmt: skip
    """Weights (NumPy, float64) of a polynomial of least squares at a place of a window, or of its derivative."""
    import numpy as np

    if polyorder >= window_length:
        raise ValueError(
            f"savgol_coeffs: polyorder {polyorder} must be less than window_length {window_length}"
        )
    half, rest = divmod(window_length, 2)
    place = (half if rest else half - 0.5) if pos is None else pos
    if not 0 <= place < window_length:
        raise ValueError(f"savgol_coeffs: pos {pos} lies outside the window of {window_length}")
    if use not in ("conv", "dot"):
        raise ValueError(f"savgol_coeffs: use {use!r}: 'conv' or 'dot'")
    if deriv > polyorder:
        return np.zeros(window_length)
    x = np.arange(-place, window_length - place, dtype=float)
    if use == "conv":
        x = x[::-1]
    powers = x ** np.arange(polyorder + 1)[:, None]
    y = np.zeros(polyorder + 1)
    y[deriv] = factorial(deriv) / delta**deriv
    return np.linalg.lstsq(powers, y, rcond=None)[0]


def savgol_filter(
    x: Any, window_length: int, polyorder: int, deriv: int = 0, delta: float = 1.0, axis: int = -1,
    mode: str = "interp", cval: float = 0.0,
) -> Array:  # fmt: skip
    """Polynomials of least squares over windows along an axis, at their middles: float32, or x's own float dtype.

    mode: at the ends "interp" (the first and last windows' polynomials), or what lies beyond: "mirror", "nearest",
    "constant" (cval), "wrap". One launch, and a small product at each end.
    """
    import numpy as np

    x, want = floats(x, "savgol_filter")
    k = axis_of(x, axis, "savgol_filter")
    n = x.shape[k]
    modes = {"mirror": "reflect", "nearest": "edge", "constant": "constant", "wrap": "wrap"}
    if mode != "interp" and mode not in modes:
        raise ValueError(f"savgol_filter: mode {mode!r}: 'interp', 'mirror', 'nearest', 'constant' or 'wrap'")
    taps = asarray(savgol_coeffs(window_length, polyorder, deriv, delta))
    half = window_length // 2
    if mode == "interp":
        if window_length > n:
            raise ValueError(
                f"savgol_filter: window_length {window_length} is more than the {n} samples of {x.shape}"
            )
        y = taps_along(x, taps, k, half, n)
        if not half:
            return astype(y, want, copy=False)
        ends = [np.stack([
            savgol_coeffs(window_length, polyorder, deriv, delta, pos=p, use="dot")
            for p in (range(half) if at == 0 else range(window_length - half, window_length))
        ]) for at in (0, 1)]  # fmt: skip
        left = matmul(last(cut(x, k, 0, window_length), k), asarray(ends[0].T))
        right = matmul(last(cut(x, k, n - window_length, n), k), asarray(ends[1].T))
        middle = cut(y, k, half, max(half, n - half))
        return astype(concat([back(left, k), middle, back(right, k)], axis=k), want, copy=False)
    if not x.size:
        return astype(x, want)
    from ..ops.padding import pad

    pads = [(0, 0)] * x.ndim
    pads[k] = (window_length, window_length)
    wide = pad(x, pads, mode=modes[mode], **({"constant_values": float(cval)} if mode == "constant" else {}))
    return astype(taps_along(wide, taps, k, half + window_length, n), want, copy=False)


__all__ = ["medfilt", "medfilt2d", "order_filter", "savgol_coeffs", "savgol_filter", "wiener"]
