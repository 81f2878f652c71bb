"""The modules of web/examples/science on real data beside NumPy and SciPy: values, and what they cost."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import example_references as ref
import tabgpu as tg

sys.path.insert(0, str(ref.SCIENCE))

import denoise  # noqa: E402
import option_price  # noqa: E402
import pca  # noqa: E402
import spectrogram  # noqa: E402


async def fetched(*arrays, launches: int) -> tuple[np.ndarray, ...]:
    """All of them by one read, and no more launches than that."""
    before = tg.memory()
    found = await tg.fetch(*arrays)
    after = tg.memory()
    assert after["reads"] - before["reads"] == 1
    assert after["launches"] - before["launches"] <= launches
    return found


async def test_principal_components_of_the_digits() -> None:
    images, labels = pca.load((ref.DATA / "digits.csv.gz").read_bytes())
    x, digits = ref.digits()
    assert np.array_equal(images, x) and np.array_equal(labels, digits)
    want, g = ref.components(x), tg.asarray(images)
    c = pca.fit(g)
    errors = [pca.error(g, c, k) for k in (0, 2, 32, 64)]
    mean, axes, variance, scores, explained, *errors = await fetched(
        *c, pca.explained(c), *errors, launches=90
    )
    assert np.abs(mean - want["mean"]).max() < 1e-5
    assert np.abs(variance - want["variance"]).max() < 1e-5 * variance[0]
    assert np.abs(axes @ axes.T - np.eye(64)).max() < 1e-5
    assert np.abs(axes[:12] - want["axes"][:12]).max() < 1e-3  # they are at least 2 % apart
    assert np.abs(scores[:, :12] - want["scores"][:, :12]).max() < 1e-2
    assert np.abs(explained - np.cumsum(want["variance"]) / want["variance"].sum()).max() < 1e-5
    for k, error in zip((0, 2, 32, 64), errors, strict=True):
        assert error == pytest.approx(np.sqrt(np.mean((x - ref.restored(want, k)) ** 2)), rel=1e-4, abs=1e-4)


async def test_singular_values_say_the_same() -> None:
    x, _ = ref.digits()
    g = tg.asarray(x.astype(np.float32))
    s = await tg.linalg.svdvals(g - g.mean(axis=0)).numpy()
    want = ref.components(x)["variance"]
    assert np.abs(s**2 / (len(x) - 1) - want).max() < 1e-5 * want[0]


@pytest.mark.parametrize("box", [(slice(96, 224), slice(120, 312)), (slice(0, 77), slice(0, 91))])
async def test_denoising(box: tuple[slice, slice]) -> None:
    """A part of the photograph, and one whose sides are no whole number of windows."""
    clean = ref.photo()[box]
    g = tg.asarray(clean.astype(np.float32))
    noisy = denoise.noisy(g, 0.1, seed=3)
    made = noisy, denoise.gaussian(noisy), denoise.median(noisy), denoise.wiener(noisy, 0.1)
    scores = [denoise.psnr(g, p) for p in made]
    noise, *found = await fetched(*made, *scores, denoise.as_bytes(made[-1]), launches=40)
    assert np.std(noise - clean) == pytest.approx(0.1, rel=0.02)
    want = noise, ref.gaussian(noise), ref.median(noise), ref.wiener(noise, 0.1)
    for ours, theirs in zip(found[:3], want[1:], strict=True):
        assert np.abs(ours - theirs).max() < 2e-5
    for ours, theirs in zip(found[3:7], want, strict=True):
        assert ours == pytest.approx(ref.psnr(clean, theirs), abs=1e-3)
    assert found[3] < min(found[4:6]) and max(found[4:6]) < found[6]  # Wiener's does best
    shown = np.clip(want[-1], 0, 1) * 255
    assert found[-1].dtype == np.uint8 and np.abs(found[-1] - shown).max() < 0.52


async def test_the_spectrogram_of_the_guitar() -> None:
    rate, samples = spectrogram.load((ref.DATA / "guitar.wav").read_bytes())
    want_rate, x = ref.guitar()
    assert rate == want_rate == 44100 and np.array_equal(samples, x)
    g = tg.asarray(samples)
    f, t, level = spectrogram.decibels(g, rate)
    loudest, low, high = spectrogram.loudest(f, level), *spectrogram.envelope(g, 700)
    f, t, level, loudest, low, high = await fetched(f, t, level, loudest, low, high, launches=25)
    want = ref.decibels(x, rate)
    assert np.allclose(f, want[0]) and np.allclose(t, want[1])
    # The transform errs by about 1e-7 of a window's strongest frequency: 60 dB below it, 0.001 of what is there.
    near = want[2] > want[2].max(axis=0) - 60
    assert np.abs(level - want[2])[near].max() < 0.02 and np.abs(level - want[2]).max() < 2
    assert level.max() == 0 and level.min() == -80
    sounding = want[2].max(axis=0) > -60
    assert np.array_equal(loudest[sounding], f[want[2].argmax(axis=0)][sounding])
    pieces = samples[: 700 * (len(samples) // 700)].reshape(700, -1)
    assert np.array_equal(low, pieces.min(axis=1)) and np.array_equal(high, pieces.max(axis=1))


async def test_the_price_of_an_option() -> None:
    call = option_price.Call()
    z = tg.random.default_rng(0).standard_normal(1 << 16)
    x = option_price.values(call, z)
    z, x, price, half, mean, band = await fetched(
        z, x, *option_price.estimate(x), *option_price.running(x, 64), launches=25
    )
    want = ref.futures(call._asdict(), z.astype(np.float64))
    assert np.abs(x - want).max() < 1e-4
    for k, ours in ((63, (price, half)), *[(k, (mean[k], band[k])) for k in (0, 1, 30, 63)]):
        assert ours == pytest.approx(ref.confidence(want[: (k + 1) << 10]), rel=1e-4)
    exact = option_price.formula(call)
    assert exact == pytest.approx(ref.formula(call._asdict()), rel=1e-8)
    assert abs(price - exact) < 2 * half
    # A pair's mean varies less than that of two futures that have nothing to do with each other.
    assert half < 0.8 * ref.confidence(np.maximum(100 * np.exp(0.01 + 0.2 * np.r_[z, -z]) - 105, 0))[1]


async def test_the_paths_of_a_share() -> None:
    call = option_price.Call(spot=80.0, rate=0.05, volatility=0.3, years=0.5)
    (paths,) = await fetched(option_price.paths(call, 4000, 16, seed=5), launches=10)
    assert paths.shape == (4000, 17) and (paths[:, 0] == 80).all()
    moves = np.diff(np.log(paths.astype(np.float64)), axis=1)
    scale = 0.3 * np.sqrt(0.5 / 16)
    assert moves.std() == pytest.approx(scale, rel=0.01)
    assert moves.mean() == pytest.approx((0.05 - 0.3**2 / 2) * 0.5 / 16, abs=4 * scale / 4000**0.5 / 4)
