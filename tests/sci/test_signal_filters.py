"""tg.signal's filters, windows and designs beside SciPy in float64; what of scipy.signal is not there, and why."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.signal as ss
import scipy.signal.windows as sw
from signals import T, draw, same, wide

import tabgpu as tg
from tabgpu import engine
from tabgpu.signal import design, shapes

LEFT_OUT = {
    "a class or function of linear systems in continuous or discrete time, for host arithmetic: use SciPy's": (
        "StateSpace TransferFunction ZerosPolesGain abcd_normalize bode cont2discrete dbode dfreqresp dimpulse dlsim "
        "dlti dstep freqresp impulse lsim lti place_poles ss2tf ss2zpk step tf2ss zpk2ss BadCoefficients"
    ),
    "B-splines: interpolation, not filters; most are deprecated": (
        "cspline1d cspline1d_eval cspline2d gauss_spline qspline1d qspline1d_eval qspline2d sepfir2d spline_filter "
        "symiirorder1 symiirorder2"
    ),
    "chirp z-transforms": "CZT ZoomFFT czt czt_points zoom_fft",
    "stft, istft and spectrogram do its work": "ShortTimeFFT closest_STFT_dual_window",
    "wavelet ridges are walked one after another": "find_peaks_cwt",
    "a design helper that SciPy keeps for optimisers": "band_stop_obj",
    "a module of SciPy": (
        "bsplines filter_design fir_filter_design lti_conversion ltisys signaltools spectral spline waveforms wavelets "
        "test"
    ),
}


def test_what_is_left_out() -> None:
    gone = {name for names in LEFT_OUT.values() for name in names.split()}
    theirs = {name for name in dir(ss) if not name.startswith("_")}
    ours = set(tg.signal.__all__)  # a module of ours that was imported is no name
    assert not (theirs - ours) ^ (gone & theirs), (theirs - ours) ^ (gone & theirs)
    assert not gone & set(tg.signal.__all__)
    for name in tg.signal.__all__:
        assert callable(getattr(tg.signal, name)) or name == "windows", name
    assert set(sw.__all__) == set(tg.signal.windows.__all__)


@pytest.fixture(params=["own", "other"])
def form(request: pytest.FixtureRequest) -> Any:
    """The form of CPU adapters, and that of GPUs."""
    tg.asarray([1.0])
    gpu = engine.device()
    facts, programs = engine.facts_of(gpu), gpu.programs
    if request.param == "other":
        gpu.facts, gpu.programs = replace(facts, software=not facts.software), None
    yield
    gpu.facts, gpu.programs = facts, programs


B, A = ss.butter(3, 0.2)
SOS = ss.butter(6, [0.1, 0.3], "band", output="sos")
COMB = np.zeros(41)
COMB[[0, 3, 40]] = 1, 0.1, -0.7


@pytest.mark.parametrize("n", [1, 7, 100, 70001])
def test_filters_of_one_channel(n: int, form: None) -> None:
    """runmat iir_filter. Errors within 3e-6 of the largest result: these filters' gains are near 1."""
    x = draw(n)
    taps = np.random.default_rng(n).normal(size=40)
    for b, a in (
        (B, A),
        (taps, A),
        (taps, [1.0]),
        ([1.0, 0.5], COMB),
        ([2.0], [4.0, 1.0]),
        ([0, 0, 1], [1, -0.5]),
    ):
        order = max(len(b), len(a)) - 1
        zi = np.linspace(-1, 1, order) if order else np.zeros(0)
        same((len(b), len(a)), lambda: tg.signal.lfilter(b, a, T(x)), lambda: ss.lfilter(b, a, wide(x)))
        same("zi", lambda: tg.signal.lfilter(b, a, T(x), zi=zi), lambda: ss.lfilter(b, a, wide(x), zi=zi))
    zi2 = np.linspace(-1, 1, 12).reshape(6, 2)
    same("sos", lambda: tg.signal.sosfilt(SOS, T(x)), lambda: ss.sosfilt(SOS, wide(x)))
    same(
        "sos zi", lambda: tg.signal.sosfilt(SOS, T(x), zi=zi2), lambda: ss.sosfilt(SOS, wide(x), zi=zi2), 1e-5
    )
    many = np.concatenate([SOS, SOS, SOS])
    same("18 sections", lambda: tg.signal.sosfilt(many, T(x)), lambda: ss.sosfilt(many, wide(x)), 1e-5)
    for pad in ("odd", "even", "constant", None):
        same(
            "filtfilt",
            lambda: tg.signal.filtfilt(B, A, T(x), padtype=pad),
            lambda: ss.filtfilt(B, A, wide(x), padtype=pad),
        )
        same("both ways", lambda: tg.signal.sosfiltfilt(SOS, T(x), padtype=pad),
             lambda: ss.sosfiltfilt(SOS, wide(x), padtype=pad), absolute=1e-6)  # fmt: skip
    if n > 100:
        same(
            "detrend", lambda: tg.signal.detrend(T(x), bp=[3, 100]), lambda: ss.detrend(wide(x), bp=[3, 100])
        )


def test_both_ways_of_orders() -> None:
    x = draw((2, 900))
    filters = [ss.butter(1, 0.3), ss.butter(6, 0.1), ss.butter(3, [0.2, 0.4], "band"), ss.butter(4, 0.3, "high"),
               ss.iirnotch(0.2, 20), (np.ones(5) / 5, [1.0]), ([1.0, 2], [2.0, -0.5, 0.1]), ([0, 1.0], [1, -0.5]),
               ([1.0, 0.5], COMB)]  # fmt: skip
    for b, a in filters:
        same((b, a), lambda: tg.signal.filtfilt(b, a, T(x)), lambda: ss.filtfilt(b, a, wide(x)), 2e-5)
        same(
            (b, a), lambda: tg.signal.filtfilt(b, a, T(x).T, 0), lambda: ss.filtfilt(b, a, wide(x).T, 0), 2e-5
        )


def test_filters_along_axes(form: None) -> None:
    x = draw((3, 500, 4))
    for axis in (0, 1, 2, -1):
        k = axis % 3
        zi = draw((*x.shape[:k], 3, *x.shape[k + 1 :]), seed=1)
        z2 = draw((6, *x.shape[:k], 2, *x.shape[k + 1 :]), seed=2)
        args = {"axis": axis}
        same(
            axis,
            lambda: tg.signal.lfilter(B, A, T(x), zi=T(zi), **args),
            lambda: ss.lfilter(B, A, wide(x), zi=wide(zi), **args),
        )
        same(
            axis,
            lambda: tg.signal.sosfilt(SOS, T(x), zi=T(z2), **args),
            lambda: ss.sosfilt(SOS, wide(x), zi=wide(z2), **args),
        )
        same(
            axis,
            lambda: tg.signal.lfilter([1, 2, 3], 1, T(x), **args),
            lambda: ss.lfilter([1, 2, 3], 1, wide(x), **args),
        )
    one = np.ones((1, 3, 1))
    same(
        "broadcast", lambda: tg.signal.lfilter(B, A, T(x), 1, one), lambda: ss.lfilter(B, A, wide(x), 1, one)
    )
    c = draw((3, 500), "c")
    for axis in (0, 1):
        same("c", lambda: tg.signal.lfilter(B, A, T(c), axis), lambda: ss.lfilter(B, A, wide(c), axis))
    same("b", lambda: tg.signal.lfilter(B * (1 + 2j), A, T(c)), lambda: ss.lfilter(B * (1 + 2j), A, wide(c)))
    same("view", lambda: tg.signal.lfilter(B, A, T(x).T[::-1]), lambda: ss.lfilter(B, A, wide(x).T[::-1]))


def test_unstable_filters_are_walked(form: None) -> None:
    """Powers of the matrix beyond float32: no chunks, as much as float32 coefficients allow."""
    x = draw(100)
    same(
        "grows",
        lambda: tg.signal.lfilter([1.0], [1, -1.2], T(x)),
        lambda: ss.lfilter([1.0], [1, -1.2], wide(x)),
        1e-5,
    )
    zeros = np.zeros(70000, np.float32)
    assert not np.asarray(tg.signal.lfilter([1.0], [1, -1.5], T(zeros))).any()


def test_errors_of_high_orders(form: None) -> None:
    """Direct forms of float64 coefficients come as sections: the error is bounded by eps times the sum of |response| of
    1 / a of the sharpest section, not of the whole filter."""
    x = draw(20000)
    for cut in (0.5, 0.1, 0.02):
        for order in (1, 2, 4, 6, 8):
            b, a = ss.butter(order, cut)
            sos = ss.butter(order, cut, output="sos")
            g = max(np.abs(ss.lfilter([1.0], row[3:], np.eye(1, 20000)[0])).sum() for row in sos)
            want = ss.lfilter(b, a, wide(x))
            size = np.abs(want).max() + np.abs(x).max() * np.abs(b).sum()
            for got in (tg.signal.lfilter(b, a, T(x)), tg.signal.sosfilt(sos, T(x))):
                assert np.abs(np.asarray(got) - want).max() <= 8 * order * 2.0**-24 * g * size, (cut, order)


def test_states_of_the_host() -> None:
    for b, a in ((B, A), ([1, 2.0, 3], [2.0, 1])):
        assert np.allclose(tg.signal.lfilter_zi(b, a), ss.lfilter_zi(b, a), rtol=1e-12, atol=1e-13)
    assert np.allclose(tg.signal.sosfilt_zi(SOS), ss.sosfilt_zi(SOS), rtol=1e-9, atol=1e-10)
    for y, x in (([1.0, 2], [3.0]), ([1.0, 2, 3], None), ([1.0], [1.0, 2, 3])):
        assert np.allclose(tg.signal.lfiltic(B, A, y, x), ss.lfiltic(B, A, y, x))


ARGS: dict[str, tuple[Any, ...]] = {
    "general_cosine": ((0.5, 0.3, 0.2),), "general_hamming": (0.6,), "gaussian": (7.0,), "general_gaussian": (1.5, 5.0),
    "kaiser": (8.6,), "kaiser_bessel_derived": (4.0,), "chebwin": (60,), "dpss": (3.0,), "tukey": (0.4,),
    "exponential": (None, 3.0), "taylor": (5, 40),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(sw.__all__) - {"get_window"}))
def test_windows(name: str) -> None:
    """Within 3e-7 of the peak in float32, and 1e-12 in the designs' float64."""
    for m, sym in itertools.product((0, 1, 2, 3, 4, 7, 8, 51, 64, 1001), (True, False)):
        if (name == "kaiser_bessel_derived" and (m % 2 or not sym)) or (name == "dpss" and m < 7):
            continue
        args = ARGS.get(name, ())
        want = getattr(sw, name)(m, *args, sym=sym)
        got = np.asarray(getattr(tg.signal.windows, name)(m, *args, sym=sym))
        assert got.shape == want.shape and got.dtype == np.float32
        if m:
            assert np.abs(got - want).max() < 3e-7, (m, sym)
        if m > 1:
            assert np.abs(shapes.made(name, m, sym, args, False) - want).max() < 1e-12


def test_get_window() -> None:
    from scipy.signal.windows import _windows

    assert set(_windows._WIN_FUNCS) == set(shapes.NAMES)
    for name in (
        "hann",
        "hann_symmetric",
        "box",
        ("kaiser", 5.0),
        8.6,
        ("tukey", 0.3),
        "tukey",
        ("general_cosine", [0.6, 0.4]),
    ):
        for fft in (True, False):
            same(name, lambda: tg.signal.get_window(name, 33, fft), lambda: ss.get_window(name, 33, fft))
    for wrong in ("nothing", "kaiser", ("hann", 3), None, (3, "hann")):
        same(wrong, lambda: tg.signal.get_window(wrong, 9), lambda: ss.get_window(wrong, 9))
    for m in (0, 1, 2, 9):
        for mine, its in (
            (tg.hanning, np.hanning),
            (tg.hamming, np.hamming),
            (tg.blackman, np.blackman),
            (tg.bartlett, np.bartlett),
        ):
            assert np.abs(np.asarray(mine(m)) - its(m)).max(initial=0) < 3e-7
        assert np.abs(np.asarray(tg.kaiser(m, 5.0)) - np.kaiser(m, 5.0)).max(initial=0) < 3e-7


def test_designs() -> None:
    for taps, cut, options in (
        (51, 0.3, {}), (50, 0.3, {}), (51, [0.2, 0.5], {"pass_zero": False}),
        (51, [0.2, 0.5], {"pass_zero": "bandstop"}),
        (33, 0.4, {"pass_zero": False, "window": ("kaiser", 5.0)}), (33, 100, {"fs": 1000, "width": 30}),
        (33, 0.4, {"scale": False, "window": "nuttall"}), (50, 0.3, {"pass_zero": False}), (51, [0.5, 0.2], {}),
        (51, 1.5, {}), (51, [0.2, 0.5], {"pass_zero": "lowpass"}),
    ):  # fmt: skip
        same(cut, lambda: design.firwin(taps, cut, **options), lambda: ss.firwin(taps, cut, **options), 1e-12)  # type: ignore[arg-type]
    for options in (
        {},
        {"worN": 10, "whole": True},
        {"worN": [0.1, 0.2], "fs": 3.0},
        {"worN": 16, "include_nyquist": True},
    ):
        same(options, lambda: tg.signal.freqz(B, A, **options), lambda: ss.freqz(B, A, **options), 1e-12)
    same("sos", lambda: tg.signal.sosfreqz(SOS), lambda: ss.freqz_sos(SOS), 1e-12)
    zpk = ss.butter(4, 0.3, output="zpk")
    same("zpk", lambda: tg.signal.freqz_zpk(*zpk), lambda: ss.freqz_zpk(*zpk), 1e-12)
    assert tg.signal.kaiserord(60, 0.1) == ss.kaiserord(60, 0.1)
    assert (
        np.array_equal(tg.signal.butter(3, 0.2)[0], B) and tg.signal.cheby1(2, 1, 0.3)[0].dtype == np.float64
    )
