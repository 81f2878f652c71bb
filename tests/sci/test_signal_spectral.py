"""tg.signal's spectra beside SciPy in float64: windows, overlaps, axes, scalings, detrending, and back again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.signal as ss
from signals import T, draw, same, wide

import tabgpu as tg

pytestmark = pytest.mark.filterwarnings("ignore")
X = {"line": draw(1000) + 1, "cube": draw((2, 300, 3)), "complex": draw(700, "c"), "short": draw(50)}
WAYS: list[dict[str, Any]] = [
    {}, {"nperseg": 64}, {"nperseg": 65, "noverlap": 10, "nfft": 100},
    {"nperseg": 48, "detrend": "linear", "scaling": "spectrum"},
    {"nperseg": 32, "detrend": False, "window": ("kaiser", 5.0)},
    {"nperseg": 40, "return_onesided": False}, {"window": np.hanning(30)}, {"nperseg": 33, "average": "median"},
]  # fmt: skip


def without(way: dict[str, Any], *names: str) -> dict[str, Any]:
    return {k: v for k, v in way.items() if k not in names}


@pytest.mark.parametrize("name,axis", [("line", 0), ("cube", 1), ("cube", -2), ("complex", -1), ("short", 0)])
def test_averaged_spectra(name: str, axis: int) -> None:
    x = X[name]
    y = np.roll(x, 3, axis) + x / 8
    for k, way in enumerate(WAYS):
        way = {**way, "axis": axis, "fs": 10.0}
        same(way, lambda: tg.signal.welch(T(x), **way), lambda: ss.welch(wide(x), **way))
        same(way, lambda: tg.signal.csd(T(x), T(y), **way), lambda: ss.csd(wide(x), wide(y), **way))
        if 0 < way.get("nperseg", 0) < 45:
            few = without(way, "average", "scaling", "return_onesided")
            same(
                few,
                lambda: tg.signal.coherence(T(x), T(y), **few),
                lambda: ss.coherence(wide(x), wide(y), **few),
                1e-4,
            )
        some = without(way, "average")
        mode = ("psd", "complex", "magnitude")[k % 3]
        same((some, mode), lambda: tg.signal.spectrogram(T(x), mode=mode, **some),
             lambda: ss.spectrogram(wide(x), mode=mode, **some))  # fmt: skip
    for way in (
        {},
        {"nfft": 300},
        {"nfft": 2000},
        {"window": "hann", "scaling": "spectrum", "detrend": False},
    ):
        same(way, lambda: tg.signal.periodogram(T(x), 5.0, axis=axis, **way),
             lambda: ss.periodogram(wide(x), 5.0, axis=axis, **way))  # fmt: skip
    longer = np.concatenate([x, x], axis)
    same("cut", lambda: tg.signal.csd(T(x), T(longer), axis=axis, nperseg=32),
         lambda: ss.csd(wide(x), wide(longer), axis=axis, nperseg=32))  # fmt: skip


@pytest.mark.parametrize("name,axis", [("line", 0), ("cube", 1), ("complex", -1), ("short", 0)])
def test_short_time_transforms(name: str, axis: int) -> None:
    x = X[name]
    ends = [("zeros", True), ("even", False), ("odd", True), ("constant", False), (None, True)]
    for k, way in enumerate(WAYS[:-1]):
        way = {**way, "axis": axis, "fs": 10.0}
        if "scaling" in way:
            way["scaling"] = "psd"
        for boundary, padded in ends[k % 3 :: 2]:
            same((way, boundary), lambda: tg.signal.stft(T(x), boundary=boundary, padded=padded, **way),
                 lambda: ss.stft(wide(x), boundary=boundary, padded=padded, **way))  # fmt: skip


@pytest.mark.parametrize("name", ["line", "cube", "complex"])
def test_and_back(name: str) -> None:
    x = X[name].swapaxes(-1, -2) if name == "cube" else X[name]
    real = name != "complex"
    for way in (
        {"nperseg": 64}, {"nperseg": 65}, {"nperseg": 60, "noverlap": 45}, {"nperseg": 64, "nfft": 80},
        {"nperseg": 50, "noverlap": 20, "scaling": "psd"},
    ):  # fmt: skip
        z = ss.stft(wide(x), return_onesided=real, **way)[2].astype(np.complex64)
        same(way, lambda: tg.signal.istft(T(z), input_onesided=real, **way)[1],
             lambda: ss.istft(wide(z), input_onesided=real, **way)[1])  # fmt: skip
        turned = np.moveaxis(z, -1, 0)
        args = {"input_onesided": real, "time_axis": 0, "freq_axis": -1, "boundary": False, **way}
        same(
            way,
            lambda: tg.signal.istft(T(turned), **args)[1],
            lambda: ss.istft(wide(turned), **args)[1],
            1e-4,
        )
        back = np.asarray(
            tg.signal.istft(tg.signal.stft(T(x), return_onesided=real, **way)[2], input_onesided=real, **way)[
                1
            ]
        )
        assert np.abs(back[..., : x.shape[-1]] - x).max() < 3e-6 * np.abs(x).max()
    for window, n, o in (
        ("hann", 64, 32),
        ("hann", 64, 30),
        ("boxcar", 10, 9),
        (("tukey", 0.25), 64, 16),
        ("hann", 64, 0),
    ):
        assert tg.signal.check_COLA(window, n, o) == ss.check_COLA(window, n, o)
        assert tg.signal.check_NOLA(window, n, o) == ss.check_NOLA(window, n, o)


def test_samples_at_any_times() -> None:
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 10, 80)).astype(np.float32)
    y = np.sin(3 * t) + np.float32(0.5)
    f = np.linspace(0.1, 10, 50).astype(np.float32)
    for way in ({}, {"normalize": True}, {"normalize": "amplitude"}, {"floating_mean": True},
                {"floating_mean": True, "normalize": True, "weights": rng.uniform(0.5, 1, 80)}):  # fmt: skip
        same(way, lambda: tg.signal.lombscargle(T(t), T(y), T(f), **way),
             lambda: ss.lombscargle(wide(t), wide(y), wide(f), **way), 1e-5)  # fmt: skip
    same("vs", lambda: tg.signal.vectorstrength(T(t), 0.7), lambda: ss.vectorstrength(wide(t), 0.7), 1e-5)
    some = np.array([0.5, 1.0, 2.0])
    same("vs", lambda: tg.signal.vectorstrength(T(t), some), lambda: ss.vectorstrength(wide(t), some), 1e-5)
