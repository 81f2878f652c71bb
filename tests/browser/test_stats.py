"""tg.stats: moments in one read, ranks, modes, correlations and tests against NumPy in float64. Wide sweeps beside
SciPy are in tests/sci/test_stats.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import stats

rng = np.random.default_rng(2024)


def normal(shape: Any, offset: float = 0.0) -> np.ndarray:
    return (rng.normal(size=shape) ** 3 + offset).astype(np.float32)


def wanted(x: Any, axis: Any) -> list[np.ndarray]:
    """count, mean, variance, skewness, kurtosis, mean square, NaN left out, in float64."""
    x = np.asarray(x, np.float64)
    n = np.sum(~np.isnan(x), axis=axis)
    mean = np.nanmean(x, axis=axis, keepdims=True)
    m2, m3, m4 = (np.nanmean((x - mean) ** k, axis=axis) for k in (2, 3, 4))
    square = np.nanmean(x * x, axis=axis)
    return [n, np.nanmean(x, axis=axis), m2, m3 / m2**1.5, m4 / m2**2 - 3, square]


SHAPES: list[tuple[tuple[int, ...], Any]] = [
    ((7,), 0), ((2048,), None), ((70_001,), 0), ((300, 5), 0), ((300, 5), 1), ((20, 3, 50), (0, 2)),
    ((20, 3, 50), (1,)), ((4, 4096), 1), ((9000, 2), 0), ((6, 7, 8), (1, 2)), ((6, 7, 8), None),
]  # fmt: skip


@pytest.mark.limits
@pytest.mark.parametrize(("shape", "axis"), SHAPES, ids=str)
@pytest.mark.parametrize("offset", [0.0, 1000.0])
async def test_moments(shape: tuple[int, ...], axis: Any, offset: float) -> None:
    """RM-reduce_moments_nd. Relative to the deviation, float32's own rounding of the data about the offset aside."""
    x = normal(shape, offset)
    turns: list[Any] = [lambda v: v]
    if len(shape) == 2 and min(shape) > 4:
        turns += [lambda v: v[::-1], lambda v: v.T]
    for turn in turns:
        view = turn(x)
        got = await tg.fetch(*stats.moments(turn(tg.asarray(x)), axis))
        want = wanted(view, axis)
        deviation = np.sqrt(want[2])
        slack = 1 + offset / deviation * 2e-3
        np.testing.assert_array_equal(got[0], want[0])
        assert (np.abs(got[1] - want[1]) <= 2e-6 * (np.abs(want[1]) + deviation)).all()
        assert (np.abs(got[2] - want[2]) <= 1e-5 * slack * want[2]).all()
        assert (np.abs(got[3] - want[3]) <= 3e-5 * slack * (1 + np.abs(want[3]))).all()
        assert (np.abs(got[4] - want[4]) <= 3e-5 * slack * (3 + np.abs(want[4]))).all()
        np.testing.assert_allclose(got[5], want[5], rtol=1e-5)


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
async def test_moments_leave_nan_out_or_carry_it() -> None:
    x = normal((40, 30), 5)
    x[rng.random(x.shape) < 0.2] = np.nan
    x[:, 3] = np.nan
    for axis in (0, 1):
        got = await tg.fetch(*stats.moments(x, axis, nan_policy="omit"))
        with np.errstate(all="ignore"):
            want = wanted(x, axis)
        for g, w in zip(got, want, strict=True):
            np.testing.assert_allclose(g, w, rtol=2e-4, atol=1e-4)
        carried = await tg.fetch(*stats.moments(x, axis))
        assert np.isnan(carried[1]).all() and np.isnan(carried[4]).all()
    with pytest.raises(ValueError, match="nan"):
        await stats.moments(x, 0, nan_policy="raise").mean.numpy()
    with pytest.raises(ValueError, match="nan_policy"):
        stats.moments(x, nan_policy="drop")
    spoilt = await stats.moments(np.float32([np.inf, 1, 2])).mean.numpy()
    assert spoilt == np.inf or np.isnan(spoilt)


async def test_moments_of_nothing_of_one_and_of_constants() -> None:
    empty = await tg.fetch(*stats.moments(tg.zeros((0, 3)), 0))
    np.testing.assert_array_equal(empty[0], [0, 0, 0])
    assert all(np.isnan(v).all() for v in empty[1:5])
    assert stats.moments(tg.zeros((3, 0)), 0).mean.shape == (0,)
    one = await tg.fetch(*stats.moments(tg.asarray([2.5])))
    np.testing.assert_array_equal(np.stack(one), np.float32([1, 2.5, 0, np.nan, np.nan, 6.25]))
    constant = await tg.fetch(*stats.moments(tg.full((1000,), 1e4)))
    np.testing.assert_array_equal(np.stack(constant)[:4], np.float32([1000, 1e4, 0, np.nan]))


async def test_moments_are_one_or_two_launches() -> None:
    for shape, axis, most in (((4, 500), 1, 1), ((300_000,), 0, 2)):
        x = tg.asarray(normal(shape))
        await x.sum().numpy()
        before = tg.memory()["launches"]
        made = stats.moments(x, axis)
        del made  # planned anew below, with one plane read
        await stats.moments(x, axis).count.numpy()
        assert tg.memory()["launches"] - before <= most + 1  # and one that packs the plane


async def test_shapes_compile_nothing_new() -> None:
    for n in (3, 300, 40_000):
        await stats.moments(tg.asarray(normal((n,))))[1].numpy()
        await stats.moments(tg.asarray(normal((n, 3))), 0)[1].numpy()
    before = tg.memory()["pipelines"]
    for n in (5, 290, 299, 41_000):
        await stats.moments(tg.asarray(normal((n,))))[1].numpy()
        await stats.moments(tg.asarray(normal((n, 3))), 0)[1].numpy()
    assert tg.memory()["pipelines"] <= before + 1


async def test_skew_kurtosis_and_describe() -> None:
    x = normal((50, 4))
    n, mean, m2, g1, g2, _ = wanted(x, 0)
    got = await tg.fetch(
        stats.skew(x),
        stats.skew(x, bias=False),
        stats.kurtosis(x),
        stats.kurtosis(x, fisher=False, bias=False, keepdims=True),
    )
    unbiased = (n**2 - 1) / ((n - 2) * (n - 3)) * (g2 + 3) - 3 * (n - 1) ** 2 / ((n - 2) * (n - 3)) + 3
    want = [g1, g1 * np.sqrt(n * (n - 1)) / (n - 2), g2, unbiased[None]]
    for g, w in zip(got, want, strict=True):
        assert g.shape == w.shape
        np.testing.assert_allclose(g, w, rtol=5e-5, atol=5e-5)
    nobs, (low, high), average, variance, skewness, kurt = stats.describe(x)
    assert nobs == 50
    found = await tg.fetch(low, high, average, variance, skewness, kurt)
    for g, w in zip(found, [x.min(0), x.max(0), mean, m2 * 50 / 49, g1, g2], strict=True):
        np.testing.assert_allclose(g, w, rtol=5e-5, atol=5e-5)
    with pytest.raises(ValueError, match="empty"):
        stats.describe(tg.zeros((0,)))


async def test_scores_and_means() -> None:
    x = normal((30, 5), 4)
    y = np.abs(x) + np.float32(0.5)
    d, e = x.astype(np.float64), y.astype(np.float64)
    pairs = [
        (stats.zscore(x, axis=1), (d - d.mean(1, keepdims=True)) / d.std(1, keepdims=True)),
        (stats.zmap(x[:3], x, ddof=1), (d[:3] - d.mean(0)) / d.std(0, ddof=1)),
        (stats.sem(x), d.std(0, ddof=1) / np.sqrt(30)),
        (stats.variation(x, axis=None), d.std() / d.mean()),
        (stats.gmean(y), np.exp(np.log(e).mean(0))),
        (stats.hmean(y, axis=None), 1 / (1 / e).mean()),
        (stats.pmean(y, 3), (e**3).mean(0) ** (1 / 3)),
        (
            stats.pmean(y, -2, weights=np.arange(30)),
            np.average(e**-2.0, axis=0, weights=np.arange(30)) ** -0.5,
        ),
        (stats.moment(x, [1, 2, 3]), np.stack([((d - d.mean(0)) ** k).mean(0) for k in (1, 2, 3)])),
        (stats.moment(x, 3, center=1.0), ((d - 1) ** 3).mean(0)),
    ]
    for k, ((_, want), got) in enumerate(zip(pairs, await tg.fetch(*[p[0] for p in pairs]), strict=True)):
        assert got.shape == want.shape, k
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=2e-4 if k in (8, 9) else 1e-5, err_msg=str(k))
    assert np.isnan(await stats.zscore(tg.full((4,), 3.0)).numpy()).all()
    assert float(await stats.gmean(np.float32([0, 4])).numpy()) == 0
    big = await stats.pmean(np.float32([1e30, 1e30]), 4).numpy()
    np.testing.assert_allclose(big, 1e30, rtol=1e-5)


def ranks(x: np.ndarray, method: str) -> np.ndarray:
    """By counting, in O(n^2)."""
    less = (x[None] < x[:, None]).sum(1)
    same = (x[None] == x[:, None]).sum(1)
    if method == "ordinal":
        return np.argsort(np.argsort(x, kind="stable"), kind="stable") + 1
    if method == "dense":
        return np.searchsorted(np.unique(x), x) + 1
    return {"min": less + 1, "max": less + same, "average": less + (same + 1) / 2}[method]


@pytest.mark.limits
@pytest.mark.parametrize("method", ["average", "min", "max", "dense", "ordinal"])
async def test_ranks(method: str) -> None:
    x = rng.integers(-3, 4, (4, 70)).astype(np.float32)
    want = np.stack([ranks(row, method) for row in x])
    rows, columns, ints = await tg.fetch(
        stats.rankdata(x, method, axis=1), stats.rankdata(tg.asarray(x).T, method, axis=0),
        stats.rankdata(x.astype(np.int16), method, axis=1),
    )  # fmt: skip
    for got in (rows, columns.T, ints):
        np.testing.assert_array_equal(got, want)
    assert rows.dtype == (np.float32 if method == "average" else np.int32)
    flat = await stats.rankdata(x, method).numpy()
    np.testing.assert_array_equal(flat, ranks(x.reshape(-1), method))
    assert stats.rankdata(tg.zeros((0,)), method).shape == (0,)
    with pytest.raises(ValueError, match="unknown method"):
        stats.rankdata(x, "highest")


async def test_a_nan_spoils_average_ranks() -> None:
    got = await stats.rankdata(np.float32([[1, np.nan, 0], [2, 1, 3]]), axis=1).numpy()
    np.testing.assert_array_equal(got, np.float32([[np.nan] * 3, [2, 1, 3]]))
    last = await stats.rankdata(np.float32([np.nan, 1, -0.0, 0.0]), "min").numpy()
    np.testing.assert_array_equal(last, [4, 3, 1, 1])


@pytest.mark.limits
async def test_mode() -> None:
    x = rng.integers(0, 5, (6, 40)).astype(np.float32)
    for axis in (0, 1, None):
        got = await tg.fetch(*stats.mode(x, axis, keepdims=True))
        lines = x.reshape(1, -1) if axis is None else np.moveaxis(x, axis, -1)
        pairs = [np.unique(line, return_counts=True) for line in lines]
        want = [v[np.argmax(c)] for v, c in pairs], [c.max() for _, c in pairs]
        for g, w in zip(got, want, strict=True):
            np.testing.assert_array_equal(g.reshape(-1), w)
        assert got[0].shape == ((1, 1) if axis is None else (1, 40) if axis == 0 else (6, 1))
    some = np.float32([np.nan, np.nan, 1, 2, 2, np.nan])
    kept, omitted = await tg.fetch(*stats.mode(some)), await tg.fetch(*stats.mode(some, nan_policy="omit"))
    assert np.isnan(kept[0]) and kept[1] == 3 and (omitted[0], omitted[1]) == (2, 2)
    nothing = await tg.fetch(*stats.mode(tg.zeros((0,))))
    assert np.isnan(nothing[0]) and nothing[1] == 0


async def test_spreads() -> None:
    x = normal((30, 5))
    d = x.astype(np.float64)
    quarter, three = np.percentile(d, [25, 75], axis=0)
    mad = np.median(np.abs(d - np.median(d, axis=0)), axis=0)
    trimmed = np.sort(d, axis=0)[3:-3].mean(0)
    got = await tg.fetch(
        stats.iqr(x, axis=0), stats.iqr(x, axis=0, scale="normal", rng=(75, 25)), stats.median_abs_deviation(x),
        stats.median_abs_deviation(x, axis=None, scale="normal", keepdims=True), stats.trim_mean(x, 0.1),
    )  # fmt: skip
    whole = np.median(np.abs(d - np.median(d))) / 0.6744897501960817
    want = [three - quarter, (three - quarter) / 1.3489795003921634, mad, np.full((1, 1), whole), trimmed]
    for g, w in zip(got, want, strict=True):
        assert g.shape == w.shape
        np.testing.assert_allclose(g, w, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="too big"):
        stats.trim_mean(x, 0.5)
    assert np.isnan(await stats.trim_mean(np.float32([1, 2, np.nan, 3]), 0.25).numpy())


async def test_percentiles_of_scores() -> None:
    x = np.float32([1, 2, 2, 3, 4])
    s = np.float32([2, 2.5, 0, 9, np.nan])
    for kind, want in {
        "strict": [20, 60, 0, 100], "weak": [60, 60, 0, 100], "mean": [40, 60, 0, 100], "rank": [50, 60, 0, 100],
    }.items():  # fmt: skip
        got = await stats.percentileofscore(x, s, kind).numpy()
        np.testing.assert_allclose(got[:4], want, rtol=1e-6)
        assert np.isnan(got[4])


async def test_correlations() -> None:
    x = normal((40, 3))
    y = (0.5 * x + normal((40, 3), 100)).astype(np.float32)
    r = await stats.pearsonr(x, y).statistic.numpy()
    np.testing.assert_allclose(
        r, [np.corrcoef(x[:, k], y[:, k])[0, 1] for k in range(3)], rtol=2e-5, atol=2e-5
    )
    rho, p = await tg.fetch(*stats.spearmanr(x))
    want = np.corrcoef([ranks(c, "average") for c in x.T])
    np.testing.assert_allclose(rho, want, rtol=1e-5, atol=1e-5)
    assert p.shape == (3, 3) and (np.diag(p) == 0).all()
    pairs = [(i, j) for i in range(40) for j in range(i)]
    sign = [np.sign(x[i, 0] - x[j, 0]) * np.sign(y[i, 0] - y[j, 0]) for i, j in pairs]
    tau = await stats.kendalltau(x[:, 0], y[:, 0]).statistic.numpy()
    np.testing.assert_allclose(tau, np.mean(sign), rtol=1e-5)
    perfect = await tg.fetch(*stats.pearsonr(np.float32([1, 2]), np.float32([5, 3])))
    assert (perfect[0], perfect[1]) == (-1, 1)
    flat = await stats.pearsonr(np.float32([1, 1, 1]), np.float32([5, 3, 2])).statistic.numpy()
    assert np.isnan(flat)
    with pytest.raises(ValueError, match="at least 2"):
        stats.pearsonr(np.float32([1]), np.float32([1]))
    with pytest.raises(ValueError, match="alternative"):
        stats.pearsonr(x, y, alternative="both")


async def test_large_means_do_not_cancel() -> None:
    """Issue bank R08, of relations: covariance of values around 1e4."""
    x = (1e4 + rng.normal(size=500)).astype(np.float32)
    y = (x * 2 + rng.normal(size=500)).astype(np.float32)
    r = await stats.pearsonr(x, y).statistic.numpy()
    np.testing.assert_allclose(r, np.corrcoef(x.astype(float), y.astype(float))[0, 1], rtol=2e-4)
    line = await tg.fetch(*stats.linregress(x, y))
    want = np.polyfit(x.astype(float) - 1e4, y.astype(float), 1)
    np.testing.assert_allclose(line[0], want[0], rtol=1e-3)


async def test_linear_regression() -> None:
    x = normal((60,))
    y = (3 * x - 2 + rng.normal(size=60)).astype(np.float32)
    slope, intercept, r, p, error, other = (float(v) for v in await tg.fetch(*stats.linregress(x, y)))
    want, cov = np.polyfit(x.astype(float), y.astype(float), 1, cov="unscaled")
    rest = y - np.polyval(want, x.astype(float))
    scale = (rest**2).sum() / 58
    np.testing.assert_allclose([slope, intercept], want, rtol=1e-5)
    np.testing.assert_allclose([error, other], np.sqrt(np.diag(cov) * scale), rtol=1e-4)
    np.testing.assert_allclose(r, np.corrcoef(x, y)[0, 1], rtol=1e-5)
    assert p < 1e-10


async def test_t_tests() -> None:
    """Against the density of Student's t, integrated."""
    a, b = normal((12, 3)), normal((9, 3), 0.5)

    def tail(t: Any, df: Any) -> np.ndarray:
        grid = np.linspace(0, 1, 20001)[1:] - 0.5 / 20000
        u = np.abs(np.atleast_1d(t))[:, None] / grid  # from |t| to infinity
        density = (1 + u**2 / np.atleast_1d(df)[:, None]) ** (-(np.atleast_1d(df)[:, None] + 1) / 2)
        whole = np.linspace(-1, 1, 200001)[1:-1] * np.pi / 2
        total = [(np.cos(whole) ** (n - 1)).mean() * np.pi * np.sqrt(n) for n in np.atleast_1d(df)]
        return 2 * (density * np.abs(np.atleast_1d(t))[:, None] / grid**2).mean(1) / total

    da, db = a.astype(float), b.astype(float)
    one = da.mean(0) / (da.std(0, ddof=1) / np.sqrt(12))
    pooled = (11 * da.var(0, ddof=1) + 8 * db.var(0, ddof=1)) / 19
    two = (da.mean(0) - db.mean(0)) / np.sqrt(pooled * (1 / 12 + 1 / 9))
    u, v = da.var(0, ddof=1) / 12, db.var(0, ddof=1) / 9
    welch, df = (da.mean(0) - db.mean(0)) / np.sqrt(u + v), (u + v) ** 2 / (u**2 / 11 + v**2 / 8)
    cases = [
        (stats.ttest_1samp(a, 0.0), one, np.full(3, 11.0)), (stats.ttest_ind(a, b), two, np.full(3, 19.0)),
        (stats.ttest_ind(a, b, equal_var=False), welch, df), (stats.ttest_rel(a[:9], b), None, np.full(3, 8.0)),
    ]  # fmt: skip
    for result, statistic, degrees in cases:
        t, p, n = await tg.fetch(*result)
        if statistic is not None:
            np.testing.assert_allclose(t, statistic, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(n, degrees, rtol=1e-4)
        np.testing.assert_allclose(p, tail(t.astype(float), degrees), rtol=2e-3)
    less, more = await tg.fetch(
        stats.ttest_ind(a, b, alternative="less").pvalue, stats.ttest_ind(a, b, alternative="greater").pvalue
    )
    np.testing.assert_allclose(less + more, np.ones(3), rtol=1e-5)


async def test_variance_chi_square_and_entropy() -> None:
    groups = [normal((8, 2), k) for k in range(3)]
    d = [g.astype(float) for g in groups]
    grand = np.concatenate(d).mean(0)
    between = sum(8 * (g.mean(0) - grand) ** 2 for g in d) / 2
    within = sum(((g - g.mean(0)) ** 2).sum(0) for g in d) / 21
    f, p = await tg.fetch(*stats.f_oneway(*groups))
    np.testing.assert_allclose(f, between / within, rtol=1e-4)
    assert ((p > 0) & (p < 1)).all()
    chi, p = await tg.fetch(*stats.chisquare(np.float32([16, 18, 16, 14, 12, 12])))
    np.testing.assert_allclose([chi, p], [2.0, 0.84914503608460956], rtol=1e-5)
    pk, qk = np.float32([0.5, 0.25, 0.25]), np.float32([1, 1, 2])
    got = await tg.fetch(stats.entropy(pk, base=2), stats.entropy(pk, qk), stats.entropy(pk, keepdims=True))
    np.testing.assert_allclose(got[0], 1.5, rtol=1e-6)
    np.testing.assert_allclose(got[1], 0.5 * np.log(2) - 0.25 * np.log(2), rtol=1e-5)
    assert got[2].shape == (1,)


async def test_kolmogorov_and_smirnov() -> None:
    x = rng.random(200).astype(np.float32)
    d, p = await tg.fetch(*stats.ks_1samp(x, lambda v: tg.clip(v, 0.0, 1.0)))
    line = np.sort(x.astype(float))
    want = max((np.arange(1, 201) / 200 - line).max(), (line - np.arange(200) / 200).max())
    np.testing.assert_allclose(d, want, rtol=1e-4)
    assert 0.001 < p <= 1
    y = (rng.random(150) ** 2).astype(np.float32)
    d, p = await tg.fetch(*stats.ks_2samp(x, y))
    both = np.concatenate([x, y])
    gap = [abs((x <= v).mean() - (y <= v).mean()) for v in both]
    np.testing.assert_allclose(d, max(gap), rtol=1e-5)
    assert p < 1e-3


async def test_normal_distribution() -> None:
    x = np.float32([-3, 0, 1, 40, np.inf, np.nan])
    z = (x.astype(float) - 1) / 2
    with np.errstate(all="ignore"):
        log = -z * z / 2 - np.log(2 * np.sqrt(2 * np.pi))
    pdf, logpdf, cdf, sf, back = await tg.fetch(
        stats.norm.pdf(x, 1, 2), stats.norm.logpdf(x, 1, 2), stats.norm.cdf(x, 1, 2), stats.norm.sf(x, 1, 2),
        stats.norm.ppf(stats.norm.cdf(x[:3], 1, 2), 1, 2),
    )  # fmt: skip
    np.testing.assert_allclose(logpdf, log, rtol=1e-5)
    np.testing.assert_allclose(pdf, np.exp(log), rtol=1e-5, atol=1e-37)
    np.testing.assert_allclose((cdf + sf)[:5], np.ones(5), rtol=1e-6)
    np.testing.assert_allclose(back, x[:3], rtol=1e-4, atol=1e-5)
    assert np.isnan(await stats.norm.cdf(0.0, 0, -1.0).numpy())


def test_complex_numbers_are_refused() -> None:
    z = tg.asarray([1j, 2])
    for f in (stats.moments, stats.skew, stats.zscore, stats.rankdata, stats.mode, stats.gmean):
        with pytest.raises(TypeError, match="complex"):
            f(z)
