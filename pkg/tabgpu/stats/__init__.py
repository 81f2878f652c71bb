"""tg.stats: summaries, ranks, correlations and tests under the names of scipy.stats. All lazy, in float32."""

from __future__ import annotations

from .hypotheses import chisquare, entropy, f_oneway, ks_1samp, ks_2samp, ttest_1samp, ttest_ind, ttest_rel
from .normal import norm
from .order import iqr, median_abs_deviation, mode, percentileofscore, rankdata, trim_mean
from .relations import kendalltau, linregress, pearsonr, spearmanr
from .summaries import (
    describe,
    gmean,
    hmean,
    kurtosis,
    moment,
    moments,
    pmean,
    sem,
    skew,
    variation,
    zmap,
    zscore,
)  # fmt: skip

__all__ = [
    "chisquare", "describe", "entropy", "f_oneway", "gmean", "hmean", "iqr", "kendalltau", "ks_1samp", "ks_2samp",
    "kurtosis", "linregress", "median_abs_deviation", "mode", "moment", "moments", "norm", "pearsonr",
    "percentileofscore", "pmean", "rankdata", "sem", "skew", "spearmanr", "trim_mean", "ttest_1samp", "ttest_ind",
    "ttest_rel", "variation", "zmap", "zscore",
]  # fmt: skip
