"""scipy.signal on the GPU: each part is imported when one of its names is first used (PEP 562)."""

from __future__ import annotations

from typing import Any

SCIPY = (
    "bessel besselap bilinear bilinear_zpk buttap butter buttord cheb1ap cheb1ord cheb2ap cheb2ord cheby1 cheby2 ellip "
    "ellipap ellipord findfreqs firls firwin2 firwin_2d freqs freqs_zpk gammatone group_delay iircomb iirdesign "
    "iirfilter iirnotch iirpeak invres invresz lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk "
    "minimum_phase normalize remez residue residuez sos2tf sos2zpk tf2sos tf2zpk unique_roots zpk2sos zpk2tf"
)
"""Designs that are SciPy's, on the host."""
PARTS = {
    "convolving":
        "choose_conv_method convolve convolve2d correlate correlate2d correlation_lags deconvolve fftconvolve "
        "oaconvolve",
    "design": f"firwin freqz freqz_sos freqz_zpk kaiser_atten kaiser_beta kaiserord sosfreqz {SCIPY}",
    "filtering": "detrend filtfilt lfilter lfilter_zi lfiltic sosfilt sosfilt_zi sosfiltfilt",
    "analytic": "envelope hilbert hilbert2",
    "integrating": "cumulative_trapezoid simpson trapezoid",
    "peaks": "argrelextrema argrelmax argrelmin find_peaks peak_prominences peak_widths",
    "periods": "lombscargle vectorstrength",
    "phases": "unwrap",
    "resampling": "decimate resample resample_poly upfirdn",
    "smoothing": "medfilt medfilt2d order_filter savgol_coeffs savgol_filter wiener",
    "overlapping": "check_COLA check_NOLA istft",
    "spectral": "coherence csd periodogram spectrogram stft welch",
    "waveforms": "chirp gausspulse max_len_seq sawtooth square sweep_poly unit_impulse",
    "windows": "get_window",
}  # fmt: skip
MODULES = ("windows",)
WHERE = {name: part for part, names in PARTS.items() for name in names.split()}
__all__ = sorted([*WHERE, *MODULES])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in MODULES:
        return import_module(f".{name}", __name__)
    if name not in WHERE:
        raise AttributeError(f"module 'tabgpu.signal' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{WHERE[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
