"""tg.stats beside scipy.stats: every function, over shapes, axes, policies and alternatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats as ss

from tabgpu import stats

rng = np.random.default_rng(3)
pytestmark = pytest.mark.filterwarnings("ignore")
SHAPES = ((3,), (7,), (100,), (40, 5), (5, 100), (30, 3, 6), (5000,))


def near(got: Any, want: Any, tolerance: float, label: Any = "") -> None:
    """Nested tuples of arrays; NaN alike."""
    if isinstance(want, tuple):
        for g, w in zip(got, want, strict=True):
            near(g, w, tolerance, label)
        return
    g, w = np.asarray(got).astype(float), np.asarray(want, float)
    assert g.shape == w.shape, label
    np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance, equal_nan=True, err_msg=str(label))


def both(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    single = x.astype(np.float32)
    return single, single.astype(np.float64)


@pytest.mark.parametrize("axis", [0, -1, None])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_summaries(shape: tuple[int, ...], axis: Any) -> None:
    x, d = both(rng.normal(size=shape) ** 3 + 6)
    y, e = both(np.abs(x) + 0.5)
    for name in ("skew", "kurtosis", "sem", "variation", "zscore", "iqr", "median_abs_deviation"):
        near(getattr(stats, name)(x, axis=axis), getattr(ss, name)(d, axis=axis), 2e-4, name)
    for name in ("gmean", "hmean", "entropy"):
        near(getattr(stats, name)(y, axis=axis), getattr(ss, name)(e, axis=axis), 5e-5, name)
    for p in (-2, 0.5, 3):
        near(stats.pmean(y, p, axis=axis), ss.pmean(e, p, axis=axis), 1e-4, p)
    near(stats.skew(x, axis=axis, bias=False), ss.skew(d, axis=axis, bias=False), 5e-4)
    options = {"axis": axis, "bias": False, "fisher": False}
    near(stats.kurtosis(x, **options) / 10, ss.kurtosis(d, **options) / 10, 1e-3)
    near(tuple(stats.describe(x, axis=axis)), tuple(ss.describe(d, axis=axis)), 3e-4)
    near(stats.trim_mean(x, 0.1, axis=axis), ss.trim_mean(d, 0.1, axis=axis), 1e-5)
    for order in (0, 1, 2, 3, 4):
        scale = 1 + np.abs(ss.moment(d, order, axis=axis))
        near(stats.moment(x, order, axis=axis) / scale, ss.moment(d, order, axis=axis) / scale, 1e-4, order)


@pytest.mark.parametrize("axis", [0, -1, None])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_ranks_and_modes(shape: tuple[int, ...], axis: Any) -> None:
    y = rng.integers(0, 6, shape).astype(np.float32)
    near(tuple(stats.mode(y, axis=axis)), tuple(ss.mode(y, axis=axis)), 0)
    for method in ("average", "min", "max", "dense", "ordinal"):
        near(stats.rankdata(y, method, axis=axis), ss.rankdata(y, method, axis=axis), 0, method)
    y[rng.random(shape) < 0.2] = np.nan
    near(
        tuple(stats.mode(y, axis=axis, nan_policy="omit")), tuple(ss.mode(y, axis=axis, nan_policy="omit")), 0
    )


@pytest.mark.parametrize("policy", ["propagate", "omit"])
@pytest.mark.parametrize("shape", [(50,), (40, 5), (9, 4, 6)], ids=str)
def test_nan(shape: tuple[int, ...], policy: str) -> None:
    x, d = both(rng.normal(size=shape) ** 3 + 2)
    lost = rng.random(shape) < 0.2
    lost[1:4] = False
    x[lost] = d[lost] = np.nan
    for name in ("skew", "kurtosis", "sem", "variation", "zscore", "iqr", "median_abs_deviation", "gmean"):
        near(
            getattr(stats, name)(x, axis=0, nan_policy=policy),
            getattr(ss, name)(d, axis=0, nan_policy=policy),
            1e-3,
            name,
        )
    for order in (2, 3):
        near(stats.moment(x, order, nan_policy=policy), ss.moment(d, order, nan_policy=policy), 1e-3)
    t, want = stats.ttest_1samp(x, 1.5, nan_policy=policy), ss.ttest_1samp(d, 1.5, nan_policy=policy)
    near((t.statistic, t.pvalue), (want.statistic, want.pvalue), 1e-3)


def test_a_nan_raises_at_the_read() -> None:
    x = np.float32([1, np.nan, 2])
    for f in (stats.skew, stats.zscore, stats.iqr, stats.sem, stats.rankdata, stats.gmean):
        with pytest.raises(ValueError, match="nan"):
            np.asarray(f(x, nan_policy="raise"))
    np.asarray(stats.skew(np.float32([1, 3, 2]), nan_policy="raise"))


@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
def test_hypotheses(side: str) -> None:
    x, d = both(rng.normal(size=(40, 3)))
    z, e = both(rng.normal(size=(9, 3)) * 2 + 0.5)
    for options in ({}, {"equal_var": False}):
        want = ss.ttest_ind(d, e, alternative=side, **options)
        near(
            tuple(stats.ttest_ind(x, z, alternative=side, **options)),
            (want.statistic, want.pvalue, want.df),
            1e-3,
        )
    want = ss.ttest_rel(d[:9], e, alternative=side)
    near(tuple(stats.ttest_rel(x[:9], z, alternative=side))[:2], (want.statistic, want.pvalue), 1e-3)
    want = ss.pearsonr(d, d[::-1], axis=0, alternative=side)
    near(tuple(stats.pearsonr(x, x[::-1], axis=0, alternative=side)), (want.statistic, want.pvalue), 1e-4)
    want = ss.spearmanr(d, alternative=side)
    near(tuple(stats.spearmanr(x, alternative=side)), (want.statistic, want.pvalue), 1e-4)
    rounded = np.round(x)
    for a, b in ((x[:, 0], x[:, 1]), (rounded[:, 0], rounded[:, 1])):
        want = ss.kendalltau(a.astype(float), b.astype(float), method="asymptotic", alternative=side)
        near(tuple(stats.kendalltau(a, b, alternative=side)), (want.statistic, want.pvalue), 1e-4)
    want = ss.linregress(d[:, 0], d[:, 1], alternative=side)
    near(tuple(stats.linregress(x[:, 0], x[:, 1], side)), (*want, want.intercept_stderr), 1e-4)
    want = ss.ks_1samp(d[:, 0], ss.norm.cdf, alternative=side, method="asymp")
    got = stats.ks_1samp(x[:, 0], stats.norm.cdf, alternative=side)
    near(tuple(got), (want.statistic, want.pvalue), 5e-3)
    want = ss.ks_2samp(d[:, 0], e[:, 1], side, method="asymp")
    near(tuple(stats.ks_2samp(x[:, 0], z[:, 1], side)), (want.statistic, want.pvalue), 2e-2)


def test_tests_of_frequencies_and_groups() -> None:
    x, d = both(np.abs(rng.normal(size=(6, 3))) * 30 + 3)
    for axis in (0, 1, None):
        near(tuple(stats.chisquare(x, axis=axis)), tuple(ss.chisquare(d, axis=axis)), 1e-3)
    near(
        tuple(stats.chisquare(x[:, 0], x[::-1, 0], ddof=1)),
        tuple(ss.chisquare(d[:, 0], d[::-1, 0], ddof=1)),
        1e-3,
    )
    near(tuple(stats.f_oneway(x, x[:4] + 5, x[2:] - 3)), tuple(ss.f_oneway(d, d[:4] + 5, d[2:] - 3)), 1e-3)
    near(stats.entropy(x, x[::-1], base=2), ss.entropy(d, d[::-1], base=2), 1e-4)
    q = np.round(x[:, 0] / 9)
    for kind in ("rank", "strict", "weak", "mean"):
        near(stats.percentileofscore(q, q + 0.0, kind), ss.percentileofscore(q, q + 0.0, kind), 1e-5)


def test_normal_distribution() -> None:
    x, d = both(np.array([-30, -3, 0, 1, 40, np.inf, np.nan]))
    for name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"):
        near(getattr(stats.norm, name)(x, 1, 2), getattr(ss.norm, name)(d, 1, 2), 1e-5, name)
    q, p = both(np.array([0, 0.1, 0.5, 0.99, 1, 1.5]))
    for name in ("ppf", "isf"):
        near(getattr(stats.norm, name)(q, 1, 2), getattr(ss.norm, name)(p, 1, 2), 1e-5, name)


LEFT_OUT = {
    "distributions, made on the host by SciPy; tg.random draws from them, tg.special has their functions": set(
        (
            "abs dirichlet dirichlet_multinomial exp gaussian_kde invwishart log make_distribution matrix_normal "
            "matrix_t multinomial multivariate_hypergeom multivariate_normal multivariate_t normal_inverse_gamma "
            "order_statistic ortho_group random_correlation random_table rv_continuous rv_discrete rv_histogram "
            "special_ortho_group truncate uniform_direction unitary_group vonmises_fisher wishart "
        ).split()
    )
    | {
        name
        for name in dir(ss)
        if isinstance(getattr(ss, name), (ss.rv_continuous, ss.rv_discrete))
        or (isinstance(getattr(ss, name), type) and name[0].isupper())
    },
    "tests of hypotheses and resampling that are not built": set(
        (
            "alexandergovern anderson anderson_ksamp ansari barnard_exact bartlett binned_statistic "
            "binned_statistic_2d binned_statistic_dd binomtest bootstrap boschloo_exact brunnermunzel bws_test "
            "chatterjeexi chi2_contingency combine_pvalues cramervonmises cramervonmises_2samp "
            "differential_entropy dunnett ecdf energy_distance epps_singleton_2samp expectile "
            "false_discovery_control fisher_exact fit fligner friedmanchisquare goodness_of_fit jarque_bera "
            "kruskal kstest kurtosistest levene lmoment logrank mannwhitneyu median_test monte_carlo_test mood "
            "multiscale_graphcorr normaltest page_trend_test permutation_test poisson_means_test power "
            "power_divergence ppcc_max ppcc_plot probplot quantile quantile_test ranksums relfreq shapiro "
            "siegelslopes skewtest sobol_indices somersd theilslopes tiecorrect ttest_ind_from_stats tukey_hsd "
            "wasserstein_distance wasserstein_distance_nd weightedtau wilcoxon "
        ).split()
    ),
    "not built: they are made of functions that are here": set(
        (
            "bayes_mvs boxcox boxcox_llf boxcox_normmax boxcox_normplot circmean circstd circvar cumfreq "
            "directional_stats find_repeats gstd gzscore kstat kstatvar mvsdist nanmedian obrientransform "
            "pointbiserialr scoreatpercentile sigmaclip spearmanrho tmax tmean tmin trim1 trimboth tsem tstd tvar "
            "yeojohnson yeojohnson_llf yeojohnson_normmax yeojohnson_normplot "
        ).split()
    ),
    "modules, warnings and errors": {
        name
        for name in dir(ss)
        if "module" in type(getattr(ss, name)).__name__ or name.endswith(("Warning", "Error"))
    }
    | {"test"},
}


def test_every_name_of_scipy_is_here_or_left_out() -> None:
    left = set().union(*LEFT_OUT.values())
    public = {name for name in dir(ss) if name[0] != "_" and callable(getattr(ss, name))}
    assert sorted(public - set(stats.__all__) - left) == []
