"""Spectra: windows of a signal transformed together, their squares averaged; scipy.signal's functions."""

from __future__ import annotations

import warnings
from math import sqrt
from typing import Any

from ..array import Array
from ..dtypes import complex64, float32
from ..layout import broadcast_shapes
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.along import last
from ..ops.creation import arange, asarray, astype, zeros
from ..ops.manipulation import broadcast_to, moveaxis, reshape
from . import shapes
from .filtering import detrend as detrended
from .samples import axis_of, extended, floats, frames, whole_number, zeros_beside


class Window:
    """A window of one length, its sum and sum of squares (numbers, or 0-d Arrays of an Array)."""

    def __init__(self, window: Any, size: int | None, n: int | None, where: str) -> None:
        import numpy as np

        if isinstance(window, (str, tuple)):
            size = whole_number(256 if size is None else size, "nperseg", where)
            if n is not None and size > n:
                warnings.warn(
                    f"{where}: nperseg = {size} is more than the signal's {n}: taken as {n}", stacklevel=4
                )
                size = n
            name, args, sym = shapes.named(window, where)
            sym = bool(sym)
            values = shapes.made(name, size, sym, args, False)
            self.values: Array = shapes.made(name, size, sym, args, True)
        elif isinstance(window, Array):
            values, self.values = None, floats(window, where)[0]
        else:
            values = np.asarray(window, dtype=np.float64)
            self.values = asarray(values)
        if self.values.ndim != 1:
            raise ValueError(f"{where}: a window of shape {self.values.shape}: it needs one axis")
        if size is not None and self.values.shape[0] != size:
            raise ValueError(f"{where}: nperseg = {size}, the window has {self.values.shape[0]} samples")
        self.size = self.values.shape[0]
        if n is not None and self.size > n:
            raise ValueError(f"{where}: a window of {self.size} samples for a signal of {n}")
        self.host = values
        if values is None:
            self.sum: Any = rd.sum(self.values)
            self.squares: Any = rd.sum(ew.multiply(self.values, self.values))
        else:
            self.sum, self.squares = float(values.sum()), float((values * values).sum())


def _overlap(window: Window, noverlap: Any, nfft: Any, where: str) -> tuple[int, int]:
    """(overlap, length of transforms)."""
    noverlap = window.size // 2 if noverlap is None else int(noverlap)
    nfft = window.size if nfft is None else int(nfft)
    if not 0 <= noverlap < window.size:
        raise ValueError(
            f"{where}: noverlap = {noverlap} must be less than nperseg = {window.size}, not negative"
        )
    if nfft < window.size:
        raise ValueError(f"{where}: nfft = {nfft} is less than nperseg = {window.size}")
    return noverlap, nfft


def _segments(
    x: Array, window: Window, noverlap: int, nfft: int, detrend: Any, onesided: bool, padded: bool
) -> Array:  # fmt: skip
    """(.., windows, frequencies): transforms of windows along the last axis."""
    from .. import fft

    step = window.size - noverlap
    if padded:
        x = zeros_beside(x, x.ndim - 1, 0, -(x.shape[-1] - window.size) % step % window.size)
    cut = frames(x, window.size, step)
    if callable(detrend):
        cut = detrend(cut)
    elif detrend:
        cut = detrended(cut, -1, detrend)
    cut = ew.multiply(cut, window.values)
    return fft.rfft(cut, nfft) if onesided else fft.fft(cut, nfft)


def _check(scaling: str, detrend: Any, where: str) -> None:
    if scaling not in ("density", "spectrum", "psd"):
        raise ValueError(f"{where}: scaling {scaling!r}: 'density' or 'spectrum'")
    if not callable(detrend) and detrend not in (False, None, "constant", "linear", "c", "l"):
        raise ValueError(f"{where}: detrend {detrend!r}: 'constant', 'linear', a function or False")


def _factor(window: Window, scaling: str, fs: float) -> Any:
    """What squares are multiplied with."""
    if scaling == "spectrum":
        return 1 / (window.sum * window.sum)
    return 1 / (fs * window.squares)


def _frequencies(nfft: int, fs: float, onesided: bool) -> Array:
    from .. import fft

    return fft.rfftfreq(nfft, 1 / fs) if onesided else fft.fftfreq(nfft, 1 / fs)


def _placed(x: Array, axis: int, ndim: int) -> Array:
    """(.., windows, frequencies) with frequencies at the axis of an array of ndim axes, windows last."""
    return moveaxis(moveaxis(x, -1, -2), -2, axis % ndim)


def _times(first: float, many: int, step: int, fs: float) -> Array:
    return ew.divide(ew.add(ew.multiply(astype(arange(many), float32), step), first), fs)


def _squares(
    x: Array, y: Array | None, window: Window, noverlap: int, nfft: int, detrend: Any, onesided: bool, scaling: str,
    fs: float, axis: int,
) -> Array:  # fmt: skip
    """Scaled (cross) spectra of all windows, axes as _placed; y None: of x itself, real."""
    a = _segments(last(x, axis), window, noverlap, nfft, detrend, onesided, False)
    factor = _factor(window, scaling, fs)
    if y is None:
        re, im = ew.real(a), ew.imag(a)
        both = ew.add(ew.multiply(re, re), ew.multiply(im, im))
    else:
        b = _segments(last(y, axis), window, noverlap, nfft, detrend, onesided, False)
        both = ew.multiply(ew.conj(a), b)
    if onesided:
        bins = arange(both.shape[-1])
        single = (
            ew.equal(bins, 0) if nfft % 2 else ew.logical_or(ew.equal(bins, 0), ew.equal(bins, nfft // 2))
        )
        both = ew.multiply(both, ew.where(single, 1.0, 2.0))
    return _placed(ew.multiply(both, factor), axis, x.ndim)


def csd(
    x: Any, y: Any, fs: float = 1.0, window: Any = "hann_periodic", nperseg: int | None = None,
    noverlap: int | None = None, nfft: int | None = None, detrend: Any = "constant", return_onesided: bool = True,
    scaling: str = "density", axis: int = -1, average: str = "mean",
) -> tuple[Array, Array]:  # fmt: skip
    """(frequencies, cross spectral density) by Welch's method: conj(X) Y averaged over windows along an axis.

    window: a name, a tuple, numbers or an Array. nperseg: samples a window (256), noverlap: those that neighbours share
    (half), nfft: length of transforms. detrend: "constant", "linear", a function or False. scaling: "density" or
    "spectrum". average: "mean" or "median". float32 (csd of two arrays: complex64).
    """
    return _welch(
        x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average, "csd"
    )


def _welch(
    x: Any, y: Any, fs: float, window: Any, nperseg: Any, noverlap: Any, nfft: Any, detrend: Any, onesided: bool,
    scaling: str, axis: int, average: str, where: str,
) -> tuple[Array, Array]:  # fmt: skip
    _check(scaling, detrend, where)
    if average not in ("mean", "median"):
        raise ValueError(f"{where}: average {average!r}: 'mean' or 'median'")
    same = y is x or y is None
    x, _ = floats(x, where)
    k = axis_of(x, axis, where)
    other = None
    if not same:
        other, _ = floats(y, where)
        j = axis_of(other, axis, where)
        if not x.size or not other.size:  # SciPy's shape: the lesser length, the other axes together
            leads = [(*z.shape[:a], *z.shape[a + 1 :]) for z, a in ((x, k), (other, j))]
            shape = (*broadcast_shapes(*leads, where=where), min(x.shape[k], other.shape[j]))
            empty = moveaxis(zeros(shape), -1, axis)
            return empty, empty
        x, other = _together(x, other, axis, where)
        k = axis % x.ndim
    if not x.size:
        return zeros(x.shape), zeros(x.shape)
    win = Window(window, nperseg, x.shape[k], where)
    noverlap, nfft = _overlap(win, noverlap, nfft, where)
    onesided = onesided and x.dtype.kind != "c" and (other is None or other.dtype.kind != "c")
    p = _squares(x, other, win, noverlap, nfft, detrend, onesided, scaling, float(fs), k)
    many = p.shape[-1]
    if many == 1:
        p = reshape(p, p.shape[:-1])
    elif average == "mean":
        p = rd.mean(p, -1)
    else:
        from ..ops.quantiles import median

        steps = range(2, (many - 1) // 2 * 2 + 1, 2)
        bias = 1 + sum(1 / (n + 1) - 1 / n for n in steps)
        p = (
            median(p, -1)
            if p.dtype.kind != "c"
            else ew.complex_of(median(ew.real(p), -1), median(ew.imag(p), -1))
        )
        p = ew.divide(p, bias)
    return _frequencies(nfft, float(fs), onesided), p


def _together(x: Array, y: Array, axis: int, where: str) -> tuple[Array, Array]:
    """Both signals of one length (zeros behind the shorter one), other axes broadcast."""
    a, b = (moveaxis(v, axis, -1) for v in (x, y))
    n = max(a.shape[-1], b.shape[-1])
    lead = broadcast_shapes(a.shape[:-1], b.shape[:-1], where=where)
    a, b = (broadcast_to(zeros_beside(v, v.ndim - 1, 0, n - v.shape[-1]), (*lead, n)) for v in (a, b))
    return moveaxis(a, -1, axis), moveaxis(b, -1, axis)


def welch(
    x: Any, fs: float = 1.0, window: Any = "hann_periodic", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = "constant", return_onesided: bool = True, scaling: str = "density",
    axis: int = -1, average: str = "mean",
) -> tuple[Array, Array]:  # fmt: skip
    """(frequencies, power spectral density) by Welch's method; see csd."""
    return _welch(
        x,
        None,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        scaling,
        axis,
        average,
        "welch",
    )


def periodogram(
    x: Any, fs: float = 1.0, window: Any = "boxcar", nfft: int | None = None, detrend: Any = "constant",
    return_onesided: bool = True, scaling: str = "density", axis: int = -1,
) -> tuple[Array, Array]:  # fmt: skip
    """(frequencies, power spectral density) of one transform of the whole signal; nfft cuts it or fills up."""
    x, _ = floats(x, "periodogram")
    k = axis_of(x, axis, "periodogram")
    if not x.size:
        return zeros(x.shape), zeros(x.shape)
    n = x.shape[k]
    if nfft is not None and nfft < n:
        x, n, nfft = x[(*(slice(None),) * k, slice(int(nfft)))], int(nfft), None
    if not isinstance(window, (str, tuple)):
        size = window.shape[0] if hasattr(window, "shape") else len(window)
        if size != n:
            raise ValueError(f"periodogram: a window of {size} samples for {n}")
    return _welch(
        x, None, fs, window, n, 0, nfft, detrend, return_onesided, scaling, k, "mean", "periodogram"
    )


def coherence(
    x: Any, y: Any, fs: float = 1.0, window: Any = "hann_periodic", nperseg: int | None = None,
    noverlap: int | None = None, nfft: int | None = None, detrend: Any = "constant", axis: int = -1,
) -> tuple[Array, Array]:  # fmt: skip
    """(frequencies, |Pxy|**2 / (Pxx Pyy)) by Welch's method, float32; see csd."""
    some = (fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis, "mean", "coherence")
    f, xx = _welch(x, None, *some)
    yy = _welch(y, None, *some)[1]
    xy = _welch(x, y, *some)[1]
    re, im = ew.real(xy), ew.imag(xy)
    square = ew.add(ew.multiply(re, re), ew.multiply(im, im))
    return f, ew.divide(ew.divide(square, xx), yy)


def stft(
    x: Any, fs: float = 1.0, window: Any = "hann_periodic", nperseg: int | None = 256, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = False, return_onesided: bool = True, boundary: str | None = "zeros",
    padded: bool = True, axis: int = -1, scaling: str = "spectrum",
) -> tuple[Array, Array, Array]:  # fmt: skip
    """(frequencies, times, complex64 transforms of windows): frequencies at the axis, times last.

    boundary: "zeros", "even", "odd", "constant" or None; padded: zeros behind, so that windows fit. scaling: "spectrum"
    or "psd". Windows are views of the signal: overlapping ones share its memory. Otherwise as csd.
    """
    _check(scaling, detrend, "stft")
    if boundary not in ("zeros", "even", "odd", "constant", None):
        raise ValueError(f"stft: boundary {boundary!r}: 'zeros', 'even', 'odd', 'constant' or None")
    x, _ = floats(x, "stft")
    k = axis_of(x, axis, "stft")
    if not x.size:
        return zeros(x.shape), zeros(x.shape), zeros(x.shape, dtype=complex64)
    win = Window(window, nperseg, x.shape[k], "stft")
    return _short(
        x, k, win, noverlap, nfft, detrend, return_onesided, boundary, padded, scaling, float(fs), "stft"
    )


def _short(
    x: Array, k: int, win: Window, noverlap: Any, nfft: Any, detrend: Any, onesided: bool, boundary: str | None,
    padded: bool, scaling: str, fs: float, where: str,
) -> tuple[Array, Array, Array]:  # fmt: skip
    noverlap, nfft = _overlap(win, noverlap, nfft, where)
    onesided = onesided and x.dtype.kind != "c"
    rows = last(x, k)
    if boundary is not None:
        kind = "zero" if boundary == "zeros" else boundary
        rows = extended(rows, rows.ndim - 1, win.size // 2, kind, where)
    z = _segments(rows, win, noverlap, nfft, detrend, onesided, padded)
    if scaling == "spectrum":
        factor = 1 / win.sum
    else:
        factor = 1 / sqrt(fs * win.squares) if win.host is not None else ew.rsqrt(fs * win.squares)
    first = 0.0 if boundary is not None else win.size / 2
    times = _times(first, z.shape[-2], win.size - noverlap, fs)
    return _frequencies(nfft, fs, onesided), times, _placed(ew.multiply(z, factor), k, x.ndim)


def spectrogram(
    x: Any, fs: float = 1.0, window: Any = ("tukey_periodic", 0.25), nperseg: int | None = None,
    noverlap: int | None = None, nfft: int | None = None, detrend: Any = "constant", return_onesided: bool = True,
    scaling: str = "density", axis: int = -1, mode: str = "psd",
) -> tuple[Array, Array, Array]:  # fmt: skip
    """(frequencies, times, spectra of windows). mode: "psd" (float32, see csd), "complex" (as stft, nothing added
    at the ends), "magnitude", "angle", "phase" (unwrapped along frequencies, as SciPy has it). noverlap: an eighth."""
    if mode not in ("psd", "complex", "magnitude", "angle", "phase"):
        raise ValueError(f"spectrogram: mode {mode!r}: 'psd', 'complex', 'magnitude', 'angle' or 'phase'")
    _check(scaling, detrend, "spectrogram")
    x, _ = floats(x, "spectrogram")
    k = axis_of(x, axis, "spectrogram")
    if not x.size:
        return zeros(x.shape), zeros(x.shape), zeros(x.shape)
    win = Window(window, nperseg, x.shape[k], "spectrogram")
    noverlap = win.size // 8 if noverlap is None else noverlap
    if mode == "psd":
        noverlap, nfft = _overlap(win, noverlap, nfft, "spectrogram")
        onesided = return_onesided and x.dtype.kind != "c"
        p = _squares(x, None, win, noverlap, nfft, detrend, onesided, scaling, float(fs), k)
        times = _times(win.size / 2, p.shape[-1], win.size - noverlap, float(fs))
        return _frequencies(nfft, float(fs), onesided), times, p
    f, t, z = _short(
        x, k, win, noverlap, nfft, detrend, return_onesided, None, False, scaling, float(fs), "spectrogram"
    )
    if mode == "complex":
        return f, t, z
    if mode == "magnitude":
        return f, t, ew.abs(z)
    from ..ops.complex_functions import angle
    from .phases import unwrap

    turned = angle(z)
    return f, t, turned if mode == "angle" else unwrap(turned, axis=k)


__all__ = ["coherence", "csd", "periodogram", "spectrogram", "stft", "welch"]
