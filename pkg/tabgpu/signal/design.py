"""Designs of filters: numbers of the host in, coefficients of the host (NumPy, float64) out.

SciPy's own functions (the names SCIPY of the package), where SciPy is installed; firwin, freqz and a few more are here
and need NumPy only.
"""

from __future__ import annotations

from typing import Any

from .samples import on_host
from .shapes import host_window


def scipy_signal(name: str) -> Any:
    """scipy.signal; ImportError that says what to do."""
    try:
        import scipy.signal  # type: ignore[import-untyped]
    except ImportError:
        raise ImportError(
            f"tabgpu.signal.{name} is SciPy's design function on the host, and SciPy is not installed: "
            'in Pyodide `await pyodide.loadPackage("scipy")` or `await micropip.install("scipy")`'
        ) from None
    return scipy.signal


def __getattr__(name: str) -> Any:
    """SciPy's function of a name, looked up when it is called (PEP 562)."""
    from . import SCIPY

    if name not in SCIPY.split():
        raise AttributeError(f"module 'tabgpu.signal.design' has no attribute {name!r}")

    def call(*args: Any, **options: Any) -> Any:
        return getattr(scipy_signal(name), name)(*args, **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"scipy.signal.{name}, on the host: NumPy arrays of float64. ImportError without SciPy."
    return call


def _sampling(fs: Any, where: str) -> float:
    rate = 2.0 if fs is None else float(fs)
    if not rate > 0:
        raise ValueError(f"{where}: fs must be positive, it is {fs}")
    return rate


def firwin(
    numtaps: int, cutoff: Any, *, width: float | None = None, window: Any = "hamming", pass_zero: Any = True,
    scale: bool = True, fs: float | None = None,
) -> Any:  # fmt: skip
    """Taps of a filter of linear phase by the window method: numtaps numbers of float64 (NumPy), as SciPy's.

    cutoff: one frequency or rising ones, between 0 and fs / 2. pass_zero: True, False, "lowpass", "highpass",
    "bandpass", "bandstop". width: of the transition, chooses a Kaiser window. scale: gain 1 in the first pass band.
    """
    import numpy as np

    half = _sampling(fs, "firwin") / 2
    cut = np.atleast_1d(np.asarray(on_host(cutoff, "cutoff", "firwin"), dtype=np.float64)) / half
    if cut.ndim > 1 or not cut.size:
        raise ValueError(f"firwin: cutoff of shape {cut.shape}: a number or one axis of them")
    if cut.min() <= 0 or cut.max() >= 1:
        raise ValueError(f"firwin: cutoff {cutoff!r} must lie between 0 and fs / 2 = {half}")
    if (np.diff(cut) <= 0).any():
        raise ValueError(f"firwin: cutoff {cutoff!r} must rise")
    if width is not None:
        window = ("kaiser", kaiser_beta(kaiser_atten(numtaps, float(width) / half)))
    if isinstance(pass_zero, str):
        wanted = {"bandstop": True, "lowpass": True, "bandpass": False, "highpass": False}
        if pass_zero not in wanted:
            raise ValueError(f"firwin: pass_zero {pass_zero!r}: True, False or {', '.join(wanted)}")
        if (cut.size == 1) == pass_zero.startswith("band"):
            raise ValueError(f"firwin: {pass_zero} with {cut.size} cutoff frequencies")
        pass_zero = wanted[pass_zero]
    nyquist = bool(cut.size & 1) ^ bool(pass_zero)
    if nyquist and numtaps % 2 == 0:
        raise ValueError("firwin: an even number of taps cannot pass the Nyquist frequency: take an odd one")
    edges = np.hstack([[0.0] * bool(pass_zero), cut, [1.0] * nyquist]).reshape(-1, 2)
    middle = (numtaps - 1) / 2
    m = np.arange(numtaps) - middle
    h = np.zeros(numtaps)
    for left, right in edges:
        h += right * np.sinc(right * m) - left * np.sinc(left * m)
    h *= host_window(window, numtaps, False, "firwin")
    if scale:
        left, right = edges[0]
        at = 0.0 if left == 0 else 1.0 if right == 1 else (left + right) / 2
        h /= (h * np.cos(np.pi * m * at)).sum()
    return h


def kaiser_atten(numtaps: int, width: float) -> float:
    """The attenuation in dB of a Kaiser filter of numtaps taps and a transition of `width` (1: Nyquist)."""
    return 2.285 * (numtaps - 1) * 3.141592653589793 * width + 7.95


def kaiser_beta(a: float) -> float:
    """Kaiser's beta for an attenuation of a dB."""
    if a > 50:
        return 0.1102 * (a - 8.7)
    return float(0.5842 * (a - 21) ** 0.4 + 0.07886 * (a - 21)) if a > 21 else 0.0


def kaiserord(ripple: float, width: float) -> tuple[int, float]:
    """(taps, beta) of a Kaiser filter of `ripple` dB and a transition of `width` (1: Nyquist)."""
    a = abs(ripple)
    if a < 8:
        raise ValueError(f"kaiserord: a ripple of {ripple} dB is too great for Kaiser's formula (at least 8)")
    taps = (a - 7.95) / 2.285 / (3.141592653589793 * width) + 1
    return int(-(-taps // 1)), kaiser_beta(a)


def _frequencies(worn: Any, whole: bool, include: bool) -> tuple[Any, bool]:
    """(radians a sample, whether they are evenly spaced)."""
    import numpy as np

    n = 512 if worn is None else on_host(worn, "worN", "freqz")
    try:
        from operator import index

        n = index(n)
    except TypeError:
        return np.atleast_1d(np.asarray(worn)), False
    end = 2 * np.pi if whole else np.pi
    return np.linspace(0, end, n, endpoint=bool(include) and not whole), True


def freqz(
    b: Any, a: Any = 1, worN: Any = 512, whole: bool = False, plot: Any = None, fs: float = 6.283185307179586,
    include_nyquist: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """(frequencies, response) of a filter's coefficients: NumPy, float64 and complex128."""
    import numpy as np

    b, a = (np.atleast_1d(np.asarray(on_host(x, name, "freqz"))) for x, name in ((b, "b"), (a, "a")))
    w, even = _frequencies(worN, whole, include_nyquist)
    if not even:
        w = 2 * np.pi * w / fs
    z = np.exp(-1j * w)

    def value(c: Any) -> Any:
        total = np.zeros_like(z)
        for one in c[::-1]:
            total = total * z + one
        return total

    with np.errstate(divide="ignore", invalid="ignore"):
        h = value(b) / value(a)
    if plot is not None:
        plot(w * fs / (2 * np.pi), h)
    return w * fs / (2 * np.pi), h


def freqz_sos(
    sos: Any, worN: Any = 512, whole: bool = False, fs: float = 6.283185307179586
) -> tuple[Any, Any]:
    """(frequencies, response) of second-order sections: NumPy, float64 and complex128."""
    import numpy as np

    sos = np.atleast_2d(np.asarray(on_host(sos, "sos", "freqz_sos"), dtype=np.float64))
    if sos.ndim != 2 or sos.shape[1] != 6 or not len(sos):
        raise ValueError(f"freqz_sos: sos has shape {sos.shape}: (sections, 6)")
    h: Any = 1.0
    for row in sos:
        w, one = freqz(row[:3], row[3:], worN, whole, fs=fs)
        h = h * one
    return w, h


sosfreqz = freqz_sos


def freqz_zpk(
    z: Any, p: Any, k: float, worN: Any = 512, whole: bool = False, fs: float = 6.283185307179586
) -> tuple[Any, Any]:
    """(frequencies, response) of zeros, poles and gain: NumPy, float64 and complex128."""
    import numpy as np

    z, p = (np.atleast_1d(on_host(x, name, "freqz_zpk")) for x, name in ((z, "z"), (p, "p")))
    w, even = _frequencies(worN, whole, False)
    if not even:
        w = 2 * np.pi * w / fs
    at = np.exp(1j * w)
    top = np.prod(at[:, None] - z, axis=1) if z.size else 1.0
    bottom = np.prod(at[:, None] - p, axis=1) if p.size else 1.0
    return w * fs / (2 * np.pi), k * top / bottom


__all__ = [
    "firwin", "freqz", "freqz_sos", "freqz_zpk", "kaiser_atten", "kaiser_beta", "kaiserord", "sosfreqz",
]  # fmt: skip
