"""Other rates of samples: by transforms, by a filter between zeros, by dropping samples behind a filter."""

from __future__ import annotations

from math import gcd
from typing import Any

from ..array import Array
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.along import back, last
from ..ops.creation import arange, asarray, astype, copy_of, zeros
from ..ops.joining import concat
from . import shapes
from .samples import along, axis_of, cut, floats, taps_along, whole_number


def resample(
    x: Any, num: int, t: Any = None, axis: int = 0, window: Any = None, domain: str = "time"
) -> Any:  # fmt: skip
    """x as `num` samples along an axis, of the same periodic signal: its spectrum is cut or filled up with zeros.

    window: of the spectrum: a function of fftfreq(n), an array of n factors as fftfreq has them, or a name. domain
    "freq": x is a spectrum already. With t (times of x, evenly spaced, of the host) also
    the new times. float32 or complex64.
    """
    from .. import fft

    if domain not in ("time", "freq"):
        raise ValueError(f"resample: domain {domain!r}: 'time' or 'freq'")
    x, want = floats(x, "resample")
    k = axis_of(x, axis, "resample")
    num = whole_number(num, "num", "resample")
    x = last(x, k)
    n = x.shape[-1]
    m = min(n, num)
    half = m // 2 + 1
    weights = _weights(window, n)
    if domain == "time" and x.dtype.kind != "c":
        z = fft.rfft(x)
        if weights is not None:
            bins = z.shape[-1]
            mirrored = concat([weights[:1], weights[: n - bins : -1]], axis=0) if bins > 1 else weights[:1]
            both = ew.multiply(ew.add(weights[:bins], mirrored), 0.5)
            z = ew.multiply(z, both)
        z = z[..., :half]
        if m % 2 == 0 and num != n:
            z = concat([z[..., : m // 2], ew.multiply(z[..., m // 2 :], 2.0 if num < n else 0.5)], axis=-1)
        y = fft.irfft(ew.multiply(z, num / n), num)
    else:
        z = fft.fft(x) if domain == "time" else astype(x, "complex64", copy=False)
        if weights is not None:
            z = ew.multiply(z, weights)
        parts = [z[..., :half], zeros((*z.shape[:-1], num - m), dtype=z.dtype)]
        if half < m:
            parts.append(z[..., half - m :])
        if m % 2 == 0 and num < n:
            low = ew.add(z[..., m // 2 : half], z[..., n - m // 2 : n - m // 2 + 1])
            parts[0] = concat([z[..., : m // 2], low], axis=-1)
        elif m % 2 == 0 and num > n:
            low = ew.multiply(z[..., m // 2 : half], 0.5)
            parts[0] = concat([z[..., : m // 2], low], axis=-1)
            parts[1] = concat([zeros((*z.shape[:-1], num - m - 1), dtype=z.dtype), low], axis=-1)
        y = ew.multiply(fft.ifft(concat(parts, axis=-1)), num / n)
        want = y.dtype
    y = back(astype(y, want, copy=False), k)
    if t is None:
        return y
    first, second = float(t[0]), float(t[1])
    return y, ew.add(ew.multiply(astype(arange(num), "float32"), (second - first) * n / num), first)


def _weights(window: Any, n: int) -> Array | None:
    """n factors of a spectrum in fftfreq's order."""
    import numpy as np

    if window is None:
        return None
    if callable(window):
        return astype(asarray(window(np.fft.fftfreq(n))), "float32")
    if hasattr(window, "shape"):
        if tuple(window.shape) != (n,):
            raise ValueError(f"resample: a window of shape {tuple(window.shape)} for a spectrum of {n}")
        return asarray(window)
    return asarray(np.fft.fftshift(shapes.host_window(window, n, True, "resample")))


_MODES = ("constant", "symmetric", "reflect", "edge", "wrap", "line", "smooth")


def _straight(x: Array, axis: int, before: int, behind: int, whole: bool) -> Array:
    """x with straight lines beyond its ends: that through the first and last sample, or through two at each end."""
    n = x.shape[axis]
    first, end = cut(x, axis, 0, 1), cut(x, axis, n - 1, n)
    if n == 1:
        slopes = [ew.subtract(first, first)] * 2
    elif whole:
        slopes = [ew.divide(ew.subtract(end, first), float(n - 1))] * 2
    else:
        slopes = [ew.subtract(cut(x, axis, k + 1, k + 2), cut(x, axis, k, k + 1)) for k in (0, n - 2)]
    low = along(astype(arange(-before, 0), "float32"), axis, x.ndim)
    high = along(astype(arange(1, behind + 1), "float32"), axis, x.ndim)
    left, right = (
        ew.add(v, ew.multiply(s, k)) for v, s, k in ((first, slopes[0], low), (end, slopes[1], high))
    )
    return concat([left, x, right], axis=axis)


def _taps(h: Any, x: Array, where: str) -> tuple[Array, Array]:
    """(taps, samples) of dtypes that go together."""
    taps, _ = floats(h, where)
    if taps.ndim != 1 or not taps.size:
        raise ValueError(f"{where}: taps of shape {taps.shape}: one axis of at least one number")
    return taps, astype(x, "complex64") if taps.dtype.kind == "c" and x.dtype.kind != "c" else x


def _rated(
    x: Array, taps: Array, axis: int, first: int, m: int, up: int, down: int, mode: str, cval: float
) -> Array:  # fmt: skip
    """taps_along with something else than zeros beyond the ends."""
    if mode == "constant" and not cval:
        return taps_along(x, taps, axis, first, m, up, down)
    if mode not in _MODES:
        raise ValueError(f"upfirdn: mode {mode!r}: {', '.join(map(repr, _MODES))}")
    before = -(-max(0, taps.size - 1 - first) // up)
    behind = max(0, ((m - 1) * down + first) // up - (x.shape[axis] - 1))
    if mode in ("line", "smooth"):
        x = _straight(x, axis, before, behind, mode == "line")
    else:
        from ..ops.padding import pad

        pads = [(0, 0)] * x.ndim
        pads[axis] = (before, behind)
        x = pad(x, pads, mode=mode, **({"constant_values": cval} if mode == "constant" else {}))
    return taps_along(x, taps, axis, first + before * up, m, up, down)


def upfirdn(
    h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant", cval: float = 0
) -> Array:  # fmt: skip
    """up - 1 zeros between samples, a filter of taps h, every down-th of the results: only these are computed.

    h may be on the GPU. mode: what lies beyond the ends: "constant" (cval), "edge", "wrap", "symmetric", "reflect",
    "line" (through the first and last sample) or "smooth" (through the two at each end).
    """
    x, want = floats(x, "upfirdn")
    k = axis_of(x, axis, "upfirdn")
    up, down = whole_number(up, "up", "upfirdn"), whole_number(down, "down", "upfirdn")
    taps, x = _taps(h, x, "upfirdn")
    want = want if x.dtype.kind == want.kind else x.dtype
    m = ((x.shape[k] - 1) * up + taps.size - 1) // down + 1
    if not x.shape[k]:
        raise ValueError(f"upfirdn: x {x.shape} has no samples along axis {axis}")
    return astype(_rated(x, taps, k, 0, m, up, down, mode, cval), want, copy=False)


def resample_poly(
    x: Any, up: int, down: int, axis: int = 0, window: Any = ("kaiser", 5.0), padtype: str = "constant",
    cval: float | None = None,
) -> Array:  # fmt: skip
    """x at up / down times its rate along an axis: a filter of linear phase between the zeros, in one pass.

    window: a name or tuple for firwin, or taps (host or GPU). padtype: "constant" (cval), "edge", "wrap", "symmetric",
    "reflect", "line", "smooth"; or "mean", "median", "minimum", "maximum", taken off first and added afterwards.
    """
    x, want = floats(x, "resample_poly")
    k = axis_of(x, axis, "resample_poly")
    up, down = whole_number(up, "up", "resample_poly"), whole_number(down, "down", "resample_poly")
    if padtype != "constant" and cval is not None:
        raise ValueError("resample_poly: cval is for padtype 'constant'")
    common = gcd(up, down)
    up, down = up // common, down // common
    if up == down == 1:
        return copy_of(astype(x, want, copy=False))
    n = x.shape[k]
    m = -(-n * up // down)
    if isinstance(window, (str, tuple)):
        from .design import firwin

        half = 10 * max(up, down)
        taps = asarray(firwin(2 * half + 1, 1 / max(up, down), window=window) * up)
    else:
        taps = ew.multiply(floats(window, "resample_poly")[0], float(up))
        half = (taps.size - 1) // 2
    taps, x = _taps(taps, x, "resample_poly")
    want = want if x.dtype.kind == want.kind else x.dtype
    if padtype not in ("mean", "median", "minimum", "maximum"):
        return astype(_rated(x, taps, k, half, m, up, down, padtype, float(cval or 0)), want, copy=False)
    if padtype == "median":
        from ..ops.quantiles import median

        level = median(x, k, keepdims=True)
    else:
        reduces: dict[str, Any] = {"mean": rd.mean, "minimum": rd.min, "maximum": rd.max}
        level = reduces[padtype](x, k, keepdims=True)
    y = taps_along(ew.subtract(x, level), taps, k, half, m, up, down)
    return astype(ew.add(y, level), want, copy=False)


def decimate(
    x: Any, q: int, n: int | None = None, ftype: str = "iir", axis: int = -1, zero_phase: bool = True
) -> Array:  # fmt: skip
    """Every q-th sample behind a filter: ftype "iir" (Chebyshev's of order n = 8, as sections) or "fir" (n = 20 q
    taps of firwin). zero_phase: no shift (forwards and backwards)."""
    x, want = floats(x, "decimate")
    k = axis_of(x, axis, "decimate")
    q = whole_number(q, "q", "decimate")
    if ftype == "fir":
        from .design import firwin

        order = 20 * q if n is None else whole_number(n, "n", "decimate")
        b = firwin(order + 1, 1 / q, window="hamming")
        if zero_phase:
            return resample_poly(astype(x, want, copy=False), 1, q, axis=k, window=b)
        m = -(-x.shape[k] // q)
        return astype(taps_along(x, asarray(b), k, 0, m, 1, q), want, copy=False)
    if ftype != "iir":
        raise ValueError(f"decimate: ftype {ftype!r}: 'iir' or 'fir'")
    from .filtering import sosfilt, sosfiltfilt

    sos = chebyshev(8 if n is None else whole_number(n, "n", "decimate"), 0.05, 0.8 / q)
    y = sosfiltfilt(sos, x, k) if zero_phase else sosfilt(sos, x, k)
    return astype(cut(y, k, None, None, q), want, copy=False)


def chebyshev(order: int, ripple: float, edge: float) -> Any:
    """Sections of a low pass of Chebyshev's first kind (NumPy, float64): ripple in dB, edge of 1 at Nyquist."""
    import numpy as np

    eps = np.sqrt(10 ** (ripple / 10) - 1)
    mu = np.arcsinh(1 / eps) / order
    theta = np.pi * np.arange(1 - order, order, 2) / (2 * order)
    poles = -np.sinh(mu + 1j * theta) * 4 * np.tan(np.pi * edge / 2)
    gain = np.prod(-poles).real * (1 if order % 2 else 1 / np.sqrt(1 + eps * eps))
    gain *= (1 / np.prod(4 - poles)).real  # the bilinear transform at a rate of 2
    poles = (4 + poles) / (4 - poles)
    upper = sorted(poles[poles.imag > 1e-12], key=abs)
    real = poles[abs(poles.imag) <= 1e-12].real
    sos = [[1.0, 2.0, 1.0, 1.0, -2 * p.real, abs(p) ** 2] for p in upper]
    sos = [[1.0, 1.0, 0.0, 1.0, -p, 0.0] for p in real] + sos
    made = np.array(sos)
    made[0, :3] *= gain
    return made


__all__ = ["decimate", "resample", "resample_poly", "upfirdn"]
