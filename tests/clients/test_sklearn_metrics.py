"""scikit-learn's metrics that take arrays of any library. Tolerance: 2e-5 (same.TOL) unless a test says another."""

from __future__ import annotations

import numpy as np
import pytest
from data import (
    BINARY,
    BINARY_GUESSES,
    CLASSES,
    FORECAST,
    FORECASTS,
    GUESSES,
    SCORES,
    SHARES,
    TAG_GUESSES,
    TAGS,
    TARGET,
    TARGETS,
    WEIGHTS,
    X,
)  # fmt: skip
from same import same
from sklearn import metrics

WEIGHTED = pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
LABELS = {"classes": (CLASSES, GUESSES), "binary": (BINARY, BINARY_GUESSES), "tags": (TAGS, TAG_GUESSES)}
# TAGS have no single label a row.
SINGLE = [
    "balanced_accuracy_score", "cohen_kappa_score", "matthews_corrcoef", "confusion_matrix",
]  # fmt: skip
ANY = ["accuracy_score", "hamming_loss", "zero_one_loss", "multilabel_confusion_matrix"]
AVERAGED = ["f1_score", "jaccard_score", "precision_score", "recall_score", "precision_recall_fscore_support"]
AVERAGES = {
    "classes": ["micro", "macro", "weighted", None],
    "binary": ["binary"],
    "tags": ["samples", "macro"],
}


@WEIGHTED
@pytest.mark.parametrize("name", [*SINGLE, *ANY, *AVERAGED, "fbeta_score"])
def test_classification(name: str, weights) -> None:
    function = getattr(metrics, name)
    for kind, (truth, guess) in LABELS.items():
        if kind == "tags" and name in SINGLE:
            continue
        if name in (*AVERAGED, "fbeta_score"):
            averages = {
                "classes": ["micro", "macro", "weighted", None],
                "binary": ["binary"],
                "tags": ["samples", "macro"],
            }
            more = {"beta": 0.5} if name == "fbeta_score" else {}
            for average in averages[kind]:
                same(
                    function, truth, guess, average=average, sample_weight=weights, zero_division=0.0, **more
                )
        else:
            same(function, truth, guess, sample_weight=weights)


@WEIGHTED
@pytest.mark.parametrize("name", ["log_loss", "d2_log_loss_score", "brier_score_loss", "d2_brier_score"])
def test_probabilities(name: str, weights) -> None:
    function = getattr(metrics, name)
    same(function, CLASSES, SHARES, sample_weight=weights)
    same(function, BINARY, SCORES, sample_weight=weights)


@WEIGHTED
@pytest.mark.parametrize(
    "name",
    ["roc_curve", "roc_auc_score", "precision_recall_curve", "det_curve", "confusion_matrix_at_thresholds"],
)
def test_ranking(name: str, weights) -> None:
    same(getattr(metrics, name), BINARY, SCORES, sample_weight=weights)
    if name == "roc_curve":
        same(metrics.roc_curve, BINARY, SCORES, sample_weight=weights, drop_intermediate=False)
    if name == "roc_auc_score":
        same(metrics.roc_auc_score, CLASSES, SHARES, multi_class="ovr", sample_weight=weights)


REGRESSION = [
    "d2_tweedie_score", "explained_variance_score", "max_error", "mean_absolute_error",
    "mean_absolute_percentage_error", "mean_gamma_deviance", "mean_pinball_loss", "mean_poisson_deviance",
    "mean_squared_error", "mean_squared_log_error", "mean_tweedie_deviance", "median_absolute_error", "r2_score",
    "root_mean_squared_error", "root_mean_squared_log_error",
]  # fmt: skip
POSITIVE = {"d2_tweedie_score", "mean_gamma_deviance", "mean_poisson_deviance", "mean_squared_log_error",
            "mean_tweedie_deviance", "root_mean_squared_log_error"}  # fmt: skip
ONE_TARGET = {
    "d2_tweedie_score",
    "max_error",
    "mean_gamma_deviance",
    "mean_poisson_deviance",
    "mean_tweedie_deviance",
}


@WEIGHTED
@pytest.mark.parametrize("name", REGRESSION)
def test_regression(name: str, weights) -> None:
    function = getattr(metrics, name)
    options = {} if name == "max_error" else {"sample_weight": weights}
    if name in ("d2_tweedie_score", "mean_tweedie_deviance"):
        options["power"] = 1.5

    def shifted(a: np.ndarray) -> np.ndarray:
        return np.abs(a) + np.float32(0.1) if name in POSITIVE else a

    same(function, shifted(TARGET), shifted(FORECAST), **options)
    if name not in ONE_TARGET:
        for output in ("uniform_average", "raw_values"):
            same(function, shifted(TARGETS), shifted(FORECASTS), multioutput=output, **options)


def test_clusters() -> None:
    labels = CLASSES
    for name in ("calinski_harabasz_score", "davies_bouldin_score"):
        same(getattr(metrics, name), X, labels, tol=1e-4)
    for name in ("adjusted_rand_score", "mutual_info_score", "v_measure_score", "fowlkes_mallows_score"):
        same(getattr(metrics, name), CLASSES, GUESSES)
