"""scikit-learn's estimators that need factorisations: PCA, LinearDiscriminantAnalysis, Ridge and kin, GaussianMixture.

Factorisations agree with NumPy's in float64 to float32's accuracy; signs are fixed by scikit-learn (svd_flip).
"""

from __future__ import annotations

import numpy as np
import pytest
from data import BINARY, CLASSES, TARGET, TARGETS, WEIGHTS, X, Y
from same import same
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge, RidgeClassifier, RidgeClassifierCV, RidgeCV
from sklearn.mixture import GaussianMixture
from sklearn.utils.extmath import randomized_range_finder, randomized_svd, svd_flip

RNG = np.random.default_rng(5)
WIDE = (X @ RNG.standard_normal((4, 30)) + 0.1 * RNG.standard_normal((40, 30))).astype(np.float32)

SOLVERS = {
    "full": {"svd_solver": "full"},
    "full-all": {"svd_solver": "full", "n_components": None},
    "full-whiten": {"svd_solver": "full", "whiten": True},
    "full-share": {"svd_solver": "full", "n_components": 0.9},
    "full-mle": {"svd_solver": "full", "n_components": "mle"},
    "covariance_eigh": {"svd_solver": "covariance_eigh"},
    "covariance_eigh-whiten": {"svd_solver": "covariance_eigh", "whiten": True},
    "randomized": {"svd_solver": "randomized", "power_iteration_normalizer": "QR", "random_state": 0},
}


@pytest.mark.parametrize("name", SOLVERS)
def test_pca(name: str) -> None:
    estimator = PCA(**{"n_components": 3, **SOLVERS[name]})
    data = X if name.endswith(("mle", "all")) else WIDE

    def work(a):
        fitted = clone(estimator).fit(a)
        low = fitted.transform(a)
        return [
            fitted.components_, fitted.explained_variance_, fitted.explained_variance_ratio_, fitted.singular_values_,
            fitted.mean_, low, fitted.inverse_transform(low), fitted.get_covariance(), fitted.get_precision(),
        ]  # fmt: skip

    tol = 2e-3 if name == "randomized" else 5e-4
    same(work, data, tol=tol)


def test_pca_scores() -> None:
    same(lambda a, b: PCA(n_components=2, svd_solver="full").fit(a).score_samples(b), X, Y, tol=1e-3)


def test_randomised_svd() -> None:
    def work(a):
        u, s, v = randomized_svd(a, 3, random_state=0, power_iteration_normalizer="QR")
        return [s, (u * s) @ v]

    same(work, WIDE, tol=1e-3)
    same(lambda a: svd_flip(a[:3, :3], a[:3]), WIDE, tol=1e-5)

    def spanned(a):
        q = randomized_range_finder(a, size=4, n_iter=4, power_iteration_normalizer="QR", random_state=0)
        return q @ q.T

    same(spanned, WIDE, tol=2e-2)


@pytest.mark.parametrize(
    "options", [{}, {"n_components": 1}, {"priors": "even"}], ids=["plain", "one", "priors"]
)
def test_linear_discriminant_analysis(options: dict) -> None:
    def work(a, y, new):
        given = dict(options)
        if "priors" in given:
            given["priors"] = a[:3, 0] * 0 + 1 / 3
        fitted = LinearDiscriminantAnalysis(**given).fit(a, y)
        return [
            fitted.predict(new), fitted.predict_proba(new), fitted.decision_function(new), fitted.coef_,
            fitted.intercept_, fitted.means_, fitted.transform(new) ** 2,
        ]  # fmt: skip

    same(work, X, CLASSES, Y, tol=1e-3)


@pytest.mark.parametrize("target", [TARGET, TARGETS], ids=["one", "many"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_ridge(target: np.ndarray, weights: np.ndarray | None) -> None:
    def work(a, y, new, w):
        found = []
        for solver in ("svd", "auto"):
            for intercept in (True, False):
                fitted = Ridge(alpha=0.7, solver=solver, fit_intercept=intercept).fit(a, y, sample_weight=w)
                found += [fitted.coef_, fitted.predict(new)]
        return found

    same(work, X, target, Y, weights, tol=1e-4)


def test_ridge_chosen_by_cross_validation() -> None:
    def work(a, y, new):
        fitted = RidgeCV(alphas=(0.1, 1.0, 10.0)).fit(a, y)
        return [fitted.coef_, fitted.predict(new)]

    same(work, X, TARGET, Y, tol=1e-3)


def test_ridge_classifiers() -> None:
    def work(a, y, new):
        found = []
        for estimator in (RidgeClassifier(solver="svd"), RidgeClassifierCV(alphas=(0.1, 1.0))):
            fitted = clone(estimator).fit(a, y)
            found += [fitted.predict(new), fitted.decision_function(new)]
        return found

    same(work, X, CLASSES, Y, tol=1e-3)
    same(work, X, BINARY, Y, tol=1e-3)


PRECISIONS = {
    "full": np.stack([np.eye(2)] * 3), "tied": np.eye(2), "diag": np.ones((3, 2)), "spherical": np.ones(3),
}  # fmt: skip


@pytest.mark.parametrize("kind", PRECISIONS)
def test_gaussian_mixture(kind: str) -> None:
    centres = np.array([[0, 0], [8, 1], [3, 9]], np.float32)
    data = (centres[CLASSES] + RNG.standard_normal((40, 2))).astype(np.float32)
    shares = np.array([0.25, 0.5, 0.25], np.float32)

    def work(a, means, weights, precisions, new):
        fitted = GaussianMixture(
            3, covariance_type=kind, init_params="random_from_data", means_init=means, weights_init=weights,
            precisions_init=precisions, random_state=0, max_iter=20,
        ).fit(a)  # fmt: skip
        return [
            fitted.means_, fitted.covariances_, fitted.weights_, fitted.predict(new), fitted.predict_proba(new),
            fitted.score_samples(new),
        ]  # fmt: skip

    same(
        work, data, centres, shares, PRECISIONS[kind].astype(np.float32), data[:7] + np.float32(0.1), tol=3e-3
    )
