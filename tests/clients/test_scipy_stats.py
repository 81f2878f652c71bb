"""scipy.stats: what takes arrays of any library and needs no factorisation. Tolerance: 1e-4 for tests, else 2e-5."""

from __future__ import annotations

import numpy as np
import pytest
from data import COUNTS, GROUPS, OTHER, POSITIVE, REAL, TABLE, UNIT
from same import same
from scipy import special, stats

TOL = 1e-4
SAMPLES = [
    "describe", "differential_entropy", "iqr", "kurtosis", "median_abs_deviation", "moment", "rankdata", "sem", "skew",
    "variation", "zscore", "tmean", "tmin", "tmax", "tvar", "tstd", "tsem", "circmean", "circvar", "circstd",
]  # fmt: skip
POSITIVES = ["gmean", "hmean", "gstd", "gzscore", "entropy"]
NORMALITY = ["skewtest", "kurtosistest", "normaltest", "jarque_bera"]
TWO = [
    "ttest_ind", "ttest_rel", "pearsonr", "chatterjeexi", "ansari", "brunnermunzel", "mannwhitneyu", "mood",
    "cramervonmises_2samp", "wilcoxon",
]  # fmt: skip
MANY = ["alexandergovern", "bartlett", "fligner", "friedmanchisquare", "kruskal", "f_oneway", "levene"]


@pytest.mark.parametrize("name", SAMPLES)
def test_samples(name: str) -> None:
    function = getattr(stats, name)
    tol = TOL if name.startswith("circ") else 2e-5
    same(function, REAL, tol=tol)
    same(function, TABLE, tol=tol)
    same(lambda a: function(a, axis=1), TABLE.T, tol=tol)


@pytest.mark.parametrize("name", POSITIVES)
def test_positive_samples(name: str) -> None:
    same(getattr(stats, name), TABLE)


def test_with_options() -> None:
    same(lambda a: stats.tmean(a, (-1, 1)), REAL)
    same(lambda a: stats.tvar(a, (-1, 1)), REAL)
    same(lambda a: stats.trim_mean(a, 0.1), REAL)
    same(lambda a: stats.pmean(a, 2.5), TABLE)
    same(stats.entropy, TABLE, TABLE[::-1].copy())
    same(stats.zmap, REAL, OTHER)
    same(stats.mode, COUNTS)
    same(stats.sigmaclip, REAL)
    same(lambda a: stats.quantile(a, 0.3), REAL)
    same(stats.quantile, REAL, UNIT[:3].copy())
    same(stats.kstat, REAL, tol=TOL)
    same(stats.kstatvar, REAL, tol=TOL)
    same(stats.lmoment, REAL)
    same(lambda a: stats.directional_stats(a).mean_direction, TABLE)
    same(lambda a: stats.boxcox_llf(0.5, a), POSITIVE, tol=TOL)
    same(lambda a: stats.yeojohnson_llf(0.5, a), POSITIVE, tol=TOL)


@pytest.mark.parametrize("name", NORMALITY)
def test_normality(name: str) -> None:
    same(getattr(stats, name), REAL, tol=TOL)


@pytest.mark.parametrize("name", TWO)
def test_comparisons(name: str) -> None:
    same(getattr(stats, name), REAL, OTHER, tol=TOL)


@pytest.mark.parametrize("name", MANY)
def test_groups(name: str) -> None:
    # fligner ranks distances from medians, which tie in pairs up to a rounding error.
    same(getattr(stats, name), *GROUPS, tol=2e-3 if name == "fligner" else TOL)


def test_other_tests() -> None:
    same(lambda a: stats.ttest_1samp(a, 0.1), REAL, tol=TOL)
    same(lambda a, b: stats.ttest_ind(a, b, equal_var=False), REAL, OTHER, tol=TOL)
    same(stats.chisquare, COUNTS.astype(np.float32), tol=TOL)
    same(lambda a: stats.power_divergence(a, lambda_=0.6), POSITIVE * 10, tol=TOL)
    same(stats.false_discovery_control, UNIT)
    same(stats.combine_pvalues, UNIT, tol=TOL)
    same(lambda a: stats.ks_1samp(a, special.ndtr), REAL, tol=TOL)
    same(lambda a: stats.cramervonmises(a, special.ndtr), REAL, tol=TOL)


def test_resampling() -> None:
    def mean(a, axis):
        return a.__array_namespace__().mean(a, axis=axis)

    def error(a):
        rng = np.random.default_rng(0)
        return stats.bootstrap((a,), mean, n_resamples=20, rng=rng, method="percentile").standard_error

    def permuted(a, b):
        rng = np.random.default_rng(0)
        return stats.permutation_test(
            (a, b), lambda a, b, axis: mean(a, axis) - mean(b, axis), n_resamples=20, rng=rng
        )

    same(error, REAL, tol=TOL)
    same(permuted, REAL, OTHER, tol=TOL)
