"""What broke tg.signal, tg.image and their kin when they were run beside SciPy on drawn arguments: one test a kind."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import tabgpu as tg

rng = np.random.default_rng(71)
S, image = tg.signal, tg.image


def draw(*shape: int) -> Any:
    return rng.standard_normal(shape).astype("float32")


def full_convolution(a: Any, b: Any) -> Any:
    """By definition, in float64."""
    out = np.zeros(
        [n + k - 1 for n, k in zip(a.shape, b.shape, strict=True)], np.result_type(a, b, np.float64)
    )
    for at in np.ndindex(*b.shape):
        out[tuple([slice(t, t + n) for t, n in zip(at, a.shape, strict=True)])] += a.astype(out.dtype) * b[at]
    return out


def centred(x: Any, shape: Any) -> Any:
    firsts = [(n - m) // 2 for n, m in zip(x.shape, shape, strict=True)]
    return x[tuple([slice(f, f + m) for f, m in zip(firsts, shape, strict=True)])]


def near(got: Any, want: Any, tolerance: float = 3e-6) -> bool:
    return got.shape == want.shape and np.abs(got - want).max(initial=0) <= tolerance * np.abs(want).max(
        initial=1
    )


async def test_the_middle_of_convolutions_with_a_longer_second() -> None:
    """ "same" where in2 is more than twice as long along some axis: only zeros lie before what is kept."""
    for a, b in (
        ((4, 8, 8), (11, 1, 5)),
        ((3, 1, 6), (9, 2, 1)),
        ((2, 3), (9, 2)),
        ((3,), (11,)),
        ((1, 4, 3), (6, 1, 7)),
    ):
        x, y = draw(*a), draw(*b)
        want = centred(full_convolution(x, y), a)
        for method in ("direct", "fft"):
            assert near(await S.convolve(tg.asarray(x), tg.asarray(y), "same", method).numpy(), want), (
                a,
                b,
                method,
            )
        i, j = (np.round(v * 3).astype("int32") for v in (x, y))
        assert np.array_equal(
            await S.convolve(tg.asarray(i), tg.asarray(j), "same").numpy(), centred(full_convolution(i, j), a)
        )
        for name in ("fftconvolve", "oaconvolve"):
            assert near(await getattr(S, name)(tg.asarray(x), tg.asarray(y), "same").numpy(), want), (
                a,
                b,
                name,
            )


async def test_axes_of_one_element_in_transforms() -> None:
    """They broadcast, as SciPy's: also for "valid", whichever operand has them."""
    x, y = draw(10, 1, 6), draw(3, 4, 1)
    want = full_convolution(x, y)
    for name in ("fftconvolve", "oaconvolve"):
        f = getattr(S, name)
        assert near(await f(tg.asarray(x), tg.asarray(y), "valid").numpy(), want[2:10])
        assert near(await f(tg.asarray(x), tg.asarray(y), "same").numpy(), centred(want, x.shape))
        assert near(await f(tg.asarray(x[:1]), tg.asarray(y), "same", [0]).numpy(), (x[:1] * y)[1:2, 1:2])


async def test_filters_of_nothing() -> None:
    """Empty signals leave the state as it was; a numerator of 0 leaves what the state makes."""
    zi = np.array([1.0, 2.0, 3.0], "float32")
    y, zf = await tg.fetch(*S.lfilter([1, 0.5], [1, 0.3, 0.2, 0.1], tg.zeros(0), zi=tg.asarray(zi)))
    assert y.shape == (0,) and np.array_equal(zf, zi)
    y, zf = await tg.fetch(*S.lfilter([0.0], [1, 0.3, 0.2, 0.1], tg.ones(4), zi=tg.asarray(zi)))
    assert np.allclose(y, [1, 1.7, 2.29, -1.127], atol=1e-5) and np.allclose(
        zf, [-0.2899, -0.0036, 0.1127], atol=1e-5
    )
    none = tg.zeros((3, 0))
    for got in (
        S.savgol_filter(none, 5, 2, mode="wrap"),
        S.wiener(none),
        image.minimum_filter1d(none, 50),
        image.maximum_filter1d(none, 50, 0),
    ):
        assert got.shape == (3, 0)


async def test_complex_weights_are_conjugated_by_correlate() -> None:
    x, w = draw(7), np.array([1 + 2j, 3 - 1j, -2j])
    padded = np.pad(x.astype(float), 1)
    want = np.array([(padded[k : k + 3] * w.conj()).sum() for k in range(7)])
    for got in (
        image.correlate(tg.asarray(x), w, mode="constant"),
        image.correlate1d(tg.asarray(x), w, mode="constant"),
    ):
        assert near(await got.numpy(), want)
    want = np.array([(padded[k : k + 3] * w[::-1]).sum() for k in range(7)])
    assert near(await image.convolve(tg.asarray(x), w, mode="constant").numpy(), want)


@pytest.mark.parametrize("kind", ["uint8", "int8", "bool"])
async def test_borders_of_kernels_of_three_axes_need_not_fit_the_dtype(kind: str) -> None:
    x = rng.integers(0, 2, (3, 4, 5)).astype(kind)
    got = image.correlate(tg.asarray(x), np.ones((3, 3, 3)), "float32", mode="constant", cval=-300.5)
    padded = np.pad(x.astype(float), 1, constant_values=-300.5)
    want = sum(padded[a : a + 3, b : b + 4, c : c + 5] for a, b, c in product(range(3), repeat=3))
    assert near(await got.numpy(), want)


async def test_quantiles_of_nothing() -> None:
    """No quantiles, or no elements (also of integers): nan functions give what NumPy gives."""
    x = draw(3, 4)
    for axis, keep in product((None, 0, -1), (False, True)):
        assert (
            tg.nanquantile(tg.asarray(x), [], axis, keepdims=keep).shape
            == np.nanquantile(x, [], axis, keepdims=keep).shape
        )
        assert tg.nanpercentile(tg.zeros((2, 0), dtype="int32"), [1, 2], axis, keepdims=keep).shape[0] == 2
    assert np.isnan(await tg.nanpercentile(tg.zeros((2, 0), dtype="int16"), 30, -1).numpy()).all()
    assert np.isnan(await tg.stats.iqr(tg.zeros((2, 0)), -1).numpy()).all()


async def test_power_transforms_of_tiny_powers() -> None:
    x, powers = np.float32([0.5, 2, 30]), np.float32([1e-40, -1e-42, 1e-37, 0])
    special = tg.special
    for p in powers:
        assert near(await special.boxcox(tg.asarray(x), float(p)).numpy(), np.log(x))
        assert near(await special.inv_boxcox(tg.asarray(np.log(x)), tg.asarray(p)).numpy(), x)


async def test_windows_of_no_width_and_bad_numbers() -> None:
    """What divides by a width of 0 gives 0 beside the middle; other nonsense has an error of ours, not of Python's."""
    for name, args in (("gaussian", (0.0,)), ("general_gaussian", (2.0, 0.0)), ("exponential", (None, 0.0))):
        got = await getattr(S.windows, name)(5, *args).numpy()
        assert (got[[0, 1, 3, 4]] == 0).all()
    x = tg.ones((4, 5))
    for call, match in (
        (lambda: image.affine_transform(x, "abc"), "matrix"), (lambda: image.gaussian_filter(x, "a"), "sigma"),
        (lambda: image.gaussian_filter(x, np.nan), "sigma"), (lambda: image.gaussian_filter1d(x, -1.0), "sigma"),
        (lambda: image.gaussian_filter1d(x, 0, order=1), "sigma above 0"),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=match):
            call()
    assert float(await tg.polynomial.polyval2d(2.0, 3.0, [5.0]).item()) == 5


async def test_resize_keeps_cval() -> None:
    """clip=True does not move what lies outside into image's extremes, as in scikit-image."""
    x = np.full((3, 4), 7.0, "float32")
    got = await image.resize(tg.asarray(x), (9, 8), 2, "constant", 0.5, preserve_range=True).numpy()
    assert got.max() == 7 and set(np.unique(got)) <= {0.5, 7.0}


async def test_skewness_and_kurtosis_of_any_scale() -> None:
    """Fourth powers of SI units' or of nations' numbers neither vanish nor overflow, in one launch and in two."""
    x = rng.gamma(2.0, size=(2, 20000))
    z = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    for scale in (1e-33, 1e-12, 1.0, 3e11, 1e34):
        a = tg.asarray((x * scale).astype("float32"))
        for got in (tg.stats.moments(a, 1), tg.stats.moments(a.T, 0)):
            assert near(await got.skewness.numpy(), (z**3).mean(1), 1e-3)
            assert near(await got.kurtosis.numpy(), (z**4).mean(1) - 3, 1e-3)
        assert near(await tg.stats.sem(a, 1).numpy() / np.float32(scale), x.std(1, ddof=1) / 20000**0.5, 1e-5)
    sparse = np.zeros(3000, "float32")
    sparse[::700] = 1e10
    assert abs(float(await tg.stats.skew(tg.asarray(sparse)).item()) - 24.433) < 0.01


async def test_relations_of_any_scale() -> None:
    """Squares of 1e-27 kg and 1e22 are neither 0 nor infinite where the result does not depend on the scale."""
    x, y = rng.standard_normal((2, 3, 40))
    y += 0.3 * x
    want = np.corrcoef(x)
    for scale in (1e-30, 1.0, 1e30):
        a = tg.asarray((x * scale).astype("float32"))
        assert near(await tg.corrcoef(a).numpy(), want, 1e-6)
        assert near(await tg.corrcoef(a.T, rowvar=False).numpy(), want, 1e-6)
        z = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
        assert near(await tg.stats.zscore(a, 1).numpy(), z, 1e-6)
        slope, height = np.polyfit(x[0], y[0], 1)
        line = tg.stats.linregress(a[0], tg.asarray(y[0].astype("float32")))
        assert abs(float(await line.slope.item()) * scale / slope - 1) < 1e-5
        assert abs(float(await line.intercept.item()) - height) < 1e-6
        assert abs(float(await line.rvalue.item()) - np.corrcoef(x[0], y[0])[0, 1]) < 1e-6
