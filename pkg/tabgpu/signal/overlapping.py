"""Signals from the transforms of their windows: istft, and whether overlapping windows keep every sample."""

from __future__ import annotations

import warnings
from math import sqrt
from typing import Any

from ..array import Array
from ..dtypes import complex64, float32
from ..ops import elementwise as ew
from ..ops.along import prepared
from ..ops.creation import arange, astype
from ..ops.manipulation import broadcast_to, moveaxis, reshape
from . import shapes
from .samples import axis_of, on_host, whole_number
from .spectral import Window


def istft(
    Zxx: Any, fs: float = 1.0, window: Any = "hann_periodic", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, input_onesided: bool = True, boundary: bool = True, time_axis: int = -1,
    freq_axis: int = -2, scaling: str = "spectrum",
) -> tuple[Array, Array]:  # fmt: skip
    """(times, signal) of what stft gave with the same arguments: windows are added up where they overlap.

    float32 if input_onesided, else complex64. ValueError for axes or lengths that do not fit. A window that leaves
    samples without weight gives a warning (only one of the host), and these samples are not divided.
    """
    from .. import fft

    z = prepared(Zxx, "istft")
    z = astype(z, complex64, copy=False)
    if z.ndim < 2:
        raise ValueError(f"istft: an array of shape {z.shape}: it needs two axes")
    freq, time = (axis_of(z, a, "istft") for a in (freq_axis, time_axis))
    if freq == time:
        raise ValueError("istft: the axes of frequencies and times are one")
    many = z.shape[time]
    default = 2 * (z.shape[freq] - 1) if input_onesided else z.shape[freq]
    size = default if nperseg is None else whole_number(nperseg, "nperseg", "istft")
    if nfft is None:
        nfft = size if input_onesided and size == default + 1 else default
    elif nfft < size:
        raise ValueError(f"istft: nfft = {nfft} is less than nperseg = {size}")
    noverlap = size // 2 if noverlap is None else int(noverlap)
    if not 0 <= noverlap < size:
        raise ValueError(f"istft: noverlap = {noverlap} must be less than nperseg = {size}, not negative")
    win = Window(window, size, None, "istft")
    step = size - noverlap
    if win.host is not None and not check_NOLA(win.host, size, noverlap):
        warnings.warn(
            "istft: windows leave samples without weight (NOLA): the signal may not come back", stacklevel=2
        )
    z = moveaxis(z, (freq, time), (-1, -2))
    parts = (fft.irfft if input_onesided else fft.ifft)(z, nfft)[..., :size]
    if scaling == "spectrum":
        factor: Any = win.sum
    elif scaling == "psd":
        factor = sqrt(fs * win.squares) if win.host is not None else ew.sqrt(fs * win.squares)
    else:
        raise ValueError(f"istft: scaling {scaling!r}: 'spectrum' or 'psd'")
    parts = ew.multiply(parts, ew.multiply(win.values, factor))
    x = _added(parts, step)
    weights = _added(broadcast_to(ew.multiply(win.values, win.values), (many, size)), step)
    if boundary:
        x, weights = (v[..., size // 2 : v.shape[-1] - size // 2] for v in (x, weights))
    x = ew.divide(x, ew.where(ew.greater(weights, 1e-10), weights, 1.0))
    n = x.shape[-1]
    if x.ndim > 1:
        x = moveaxis(x, -1, time - (freq < time))
    return ew.divide(astype(arange(n), float32), float(fs)), x


def _added(parts: Array, step: int) -> Array:
    """(.., windows, size) added up where they overlap, `step` apart: (.., (windows - 1) * step + size)."""
    if parts.dtype.kind == "c":
        return ew.complex_of(_added(ew.real(parts), step), _added(ew.imag(parts), step))
    from ..nn.folding import fold

    *lead, many, size = parts.shape
    columns = moveaxis(reshape(parts, (-1, many, size)), -1, -2)
    made = fold(columns, (1, (many - 1) * step + size), (1, size), stride=(1, step))
    return reshape(made, (*lead, made.shape[-1]))


def _overlaps(window: Any, nperseg: int, noverlap: int, where: str, squared: bool) -> Any:
    """Sums of a host window's samples (or squares) that meet at each place of a step."""
    import numpy as np

    nperseg = whole_number(nperseg, "nperseg", where)
    if not 0 <= noverlap < nperseg:
        raise ValueError(
            f"{where}: noverlap = {noverlap} must be less than nperseg = {nperseg}, not negative"
        )
    if isinstance(window, (str, tuple)):
        win = shapes.host_window(window, nperseg, True, where)
    else:
        win = np.asarray(on_host(window, "window", where), dtype=np.float64)
        if win.shape != (nperseg,):
            raise ValueError(f"{where}: a window of shape {win.shape}, nperseg = {nperseg}")
    win = win**2 if squared else win
    step = nperseg - noverlap
    return np.pad(win, (0, -nperseg % step)).reshape(-1, step).sum(0)


def check_COLA(window: Any, nperseg: int, noverlap: int, tol: float = 1e-10) -> bool:
    """Whether overlapping windows (of the host) add up to a constant."""
    import numpy as np

    sums = _overlaps(window, nperseg, noverlap, "check_COLA", False)
    return bool(np.abs(sums - np.median(sums)).max() < tol)


def check_NOLA(window: Any, nperseg: int, noverlap: int, tol: float = 1e-10) -> bool:
    """Whether overlapping windows (of the host) leave no sample without weight."""
    return bool(_overlaps(window, nperseg, noverlap, "check_NOLA", True).min() > tol)


__all__ = ["check_COLA", "check_NOLA", "istft"]
