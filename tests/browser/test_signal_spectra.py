"""Windows, spectra, resampling, smoothing and waveforms of tg.signal in the tab against NumPy's float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg

S = tg.signal


def draw(shape: Any, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *np.atleast_1d(shape)]).normal(size=shape).astype(np.float32)


def near(got: Any, want: Any, tol: float = 3e-6) -> None:
    assert got.shape == want.shape, (got.shape, want.shape)
    assert np.abs(got - want).max(initial=0) <= tol * np.abs(want).max(initial=0)


@pytest.mark.limits
async def test_windows() -> None:
    """runmat hann_window, hamming_window, blackman_window: on the GPU, symmetric and periodic, any length."""
    for m in (0, 1, 2, 3, 8, 101, 4096):
        made = [tg.hanning(m), tg.hamming(m), tg.blackman(m), tg.bartlett(m), tg.kaiser(m, 8.6)]
        want = [np.hanning(m), np.hamming(m), np.blackman(m), np.bartlett(m), np.kaiser(m, 8.6)]
        for a, b in zip(await tg.fetch(*made), want, strict=True):
            assert a.dtype == np.float32 and a.shape == b.shape and np.abs(a - b).max(initial=0) < 3e-7
        if m > 1:
            near(await S.windows.hann(m, sym=False).numpy(), np.hanning(m + 1)[:-1])
            near(await S.get_window("hamming", m).numpy(), np.hamming(m + 1)[:-1])
    for name in S.windows.__all__:
        needs = {"general_cosine": ([0.5, 0.5],), "general_hamming": (0.6,), "gaussian": (9.0,), "kaiser": (5.0,),
                 "general_gaussian": (1.5, 9.0), "chebwin": (60.0,), "kaiser_bessel_derived": (4.0,)}  # fmt: skip
        if name in ("get_window", "dpss"):
            continue
        w = await getattr(S.windows, name)(64, *needs.get(name, ())).numpy()
        assert np.array_equal(w, w[::-1]) and 0.5 < w.max() <= 1.000001, name
    with pytest.raises(ValueError, match="window"):
        S.get_window("no such", 8)


async def test_windows_are_lazy_and_new_lengths_compile_nothing() -> None:
    x = tg.asarray(draw(5000))
    await (x * S.windows.hann(5000)).numpy()
    await (x[:77] * S.windows.hann(77)).numpy()
    before, compiled = tg.memory(), tg.device().counters.pipelines
    await (x[:4321] * S.windows.hann(4321)).numpy()
    assert tg.memory()["launches"] - before["launches"] == 1  # the window joins the product
    for m in range(10, 5000, 499):
        await (x[:m] * S.windows.hann(m)).numpy()
    assert tg.device().counters.pipelines - compiled <= 2


def frames(x: Any, size: int, step: int) -> Any:
    return np.stack([x[..., k : k + size] for k in range(0, x.shape[-1] - size + 1, step)], -2)


@pytest.mark.limits
async def test_short_time_transforms_and_back() -> None:
    x = draw((2, 500))
    win = np.hanning(65)[:-1]
    f, t, z = S.stft(tg.asarray(x), 10.0, nperseg=64)
    f, t, z = await tg.fetch(f, t, z)
    wide = np.pad(x.astype(float), ((0, 0), (32, 32)))
    wide = np.pad(wide, ((0, 0), (0, -(wide.shape[-1] - 64) % 32)))
    want = np.fft.rfft(frames(wide, 64, 32) * win) / win.sum()
    near(z, np.swapaxes(want, -1, -2))
    near(f, np.fft.rfftfreq(64, 0.1))
    near(t, np.arange(want.shape[-2]) * 3.2)
    for way in (
        {"nperseg": 64},
        {"nperseg": 50, "noverlap": 40},
        {"nperseg": 60, "scaling": "psd", "nfft": 64},
    ):
        spectrum = S.stft(tg.asarray(x), **way)[2]
        back = await S.istft(spectrum, **way)[1].numpy()
        near(back[:, :500], x)
    with pytest.raises(ValueError, match="noverlap"):
        S.stft(tg.ones(100), nperseg=10, noverlap=10)


@pytest.mark.limits
async def test_averaged_spectra() -> None:
    x, y = draw(1000) + 3, draw(1000, 1)
    win = np.hanning(129)[:-1]
    a, b = (frames(v.astype(float), 128, 64) for v in (x, y))
    a, b = ((np.fft.rfft((v - v.mean(-1, keepdims=True)) * win)) for v in (a, b))
    two = np.r_[1, np.full(63, 2), 1] / (5.0 * (win**2).sum())
    ours, theirs = tg.asarray(x), tg.asarray(y)
    averaged = [S.welch(ours, 5.0, nperseg=128), S.csd(ours, theirs, 5.0, nperseg=128)]
    got = await tg.fetch(*[p for _, p in (*averaged, S.coherence(ours, theirs, nperseg=128))])
    xx, yy, xy = ((np.conj(p) * q * two).mean(0) for p, q in ((a, a), (b, b), (a, b)))
    near(got[0], xx.real)
    near(got[1], xy)
    near(got[2], np.abs(xy) ** 2 / xx.real / yy.real, 1e-5)
    p = await S.periodogram(tg.asarray(x), 5.0)[1].numpy()
    z = np.abs(np.fft.rfft(x.astype(float) - x.astype(float).mean())) ** 2 / 5000
    near(p, z * np.r_[1, np.full(499, 2), 1], 1e-5)
    s = await S.spectrogram(tg.asarray(x), nperseg=100, mode="magnitude")[2].numpy()
    assert s.shape == (51, 11)


@pytest.mark.limits
async def test_other_rates() -> None:
    x = draw((3, 120))
    taps = draw(21, 1)
    up, down = 3, 2
    sparse = np.zeros((3, 358))
    sparse[:, ::3] = x
    want = np.stack([np.convolve(row, taps.astype(float))[::down] for row in sparse])
    near(await S.upfirdn(taps, tg.asarray(x), up, down).numpy(), want)
    along = await S.upfirdn(tg.asarray(taps), tg.asarray(x.T), up, down, axis=0).numpy()
    near(along, want.T)
    t = np.arange(200) / 200
    wave = np.cos(2 * np.pi * 5 * t)
    for num in (100, 150, 401):
        near(
            await S.resample(tg.asarray(wave), num).numpy(),
            np.cos(2 * np.pi * 5 * np.arange(num) / num),
            5e-6,
        )
    for made in (S.decimate(tg.asarray(wave), 4), S.decimate(tg.asarray(wave), 4, ftype="fir")):
        assert np.abs((await made.numpy())[10:-10] - wave[::4][10:-10]).max() < 0.05
    assert (
        np.abs((await S.resample_poly(tg.asarray(wave), 2, 1).numpy())[40:-40:2] - wave[20:-20]).max() < 1e-3
    )


@pytest.mark.limits
async def test_smoothing() -> None:
    x = draw((6, 41))
    line = np.arange(41) * 0.5 - 3
    cubic = line**3 - line
    near(await S.savgol_filter(tg.asarray(cubic), 7, 3).numpy(), cubic)  # what a cubic fits stays
    near(await S.savgol_filter(tg.asarray(cubic), 7, 3, deriv=1, delta=0.5).numpy(), 3 * line**2 - 1, 1e-5)
    weights = S.savgol_coeffs(5, 2)
    want = np.stack([np.convolve(np.pad(row, 2, mode="reflect"), weights, "valid") for row in x])
    near(await S.savgol_filter(tg.asarray(x), 5, 2, mode="mirror").numpy(), want)
    wide = np.pad(x, [(1, 1), (2, 2)])
    median = np.median(np.lib.stride_tricks.sliding_window_view(wide, (3, 5)), (-1, -2))
    assert np.array_equal(await S.medfilt(tg.asarray(x), (3, 5)).numpy(), median)
    with pytest.raises(ValueError, match="odd"):
        S.medfilt(tg.asarray(x), 4)
    ramp = x + np.arange(41) * 3
    fit = np.polynomial.polynomial.polyfit(np.arange(41), ramp.T.astype(float), 1)
    near(
        await S.detrend(tg.asarray(ramp)).numpy(),
        ramp - (fit[0][:, None] + fit[1][:, None] * np.arange(41)),
        3e-5,
    )
    boxes = np.lib.stride_tricks.sliding_window_view(np.pad(x.astype(float), 1), (3, 3))
    mean, variance = boxes.mean((-1, -2)), (boxes**2).mean((-1, -2)) - boxes.mean((-1, -2)) ** 2
    want = np.where(variance < 0.5, mean, mean + (x - mean) * (1 - 0.5 / variance))
    near(await S.wiener(tg.asarray(x), 3, 0.5).numpy(), want, 1e-5)


async def test_analytic_signals_and_phases() -> None:
    t = np.arange(256)
    wave = np.cos(2 * np.pi * 7 * t / 256)
    near(await S.hilbert(tg.asarray(wave)).numpy(), np.exp(2j * np.pi * 7 * t / 256))
    near((await S.envelope(tg.asarray(wave * 2), residual=None).numpy()), np.full(256, 2.0))
    phase = np.cumsum(draw(300) * 2)
    wrapped = ((phase + np.pi) % (2 * np.pi) - np.pi).astype(np.float32)
    near(await tg.unwrap(tg.asarray(wrapped)).numpy(), np.unwrap(wrapped.astype(float)))
    near(
        await np.unwrap(tg.asarray([0, 3, 6, 9, 2], dtype="int32"), period=10).numpy(),
        np.unwrap([0, 3, 6, 9, 2], period=10),
        0,
    )


async def test_integrals_and_waveforms() -> None:
    x = np.linspace(0, 3, 101)
    near(await S.cumulative_trapezoid(tg.asarray(x**2), tg.asarray(x), initial=0).numpy(),
         np.concatenate([[0], np.cumsum((x[1:] ** 2 + x[:-1] ** 2) / 2 * 0.03)]))  # fmt: skip
    for n in (101, 100):
        got = await S.simpson(tg.asarray(x[:n] ** 2), dx=0.03).item()
        assert abs(got - x[n - 1] ** 3 / 3) < 1e-5
    t = np.linspace(0, 2, 400).astype(np.float32)
    near(await S.chirp(tg.asarray(t), 1, 2, 5).numpy(), np.cos(2 * np.pi * (t + t.astype(float) ** 2)), 1e-5)
    near(await S.square(tg.asarray(t * 20)).numpy(), np.where((t * 20.0) % (2 * np.pi) < np.pi, 1.0, -1.0))
    near(await S.sawtooth(tg.asarray(t * 20)).numpy(), (t * 20.0) % (2 * np.pi) / np.pi - 1, 1e-5)
    assert (await S.unit_impulse((2, 3), "mid").tolist()) == [[0, 0, 0], [0, 1, 0]]
    f = np.array([1.0, 2.0, 3.0])
    power = await S.lombscargle(
        tg.asarray(t), tg.sin(tg.asarray(t) * 2), tg.asarray(f), normalize=True
    ).numpy()
    assert power.argmax() == 1 and power[1] > 0.99
