"""scikit-learn's distances and kernels. Tolerance: 1e-4, since differences of squares lose digits."""

from __future__ import annotations

import numpy as np
import pytest
from data import X, Y
from same import same
from sklearn import metrics
from sklearn.metrics import pairwise

TOL = 1e-4
KERNELS = [
    "cosine_distances", "cosine_similarity", "euclidean_distances", "laplacian_kernel", "linear_kernel",
    "manhattan_distances", "polynomial_kernel", "rbf_kernel", "sigmoid_kernel", "additive_chi2_kernel", "chi2_kernel",
]  # fmt: skip


@pytest.mark.parametrize("with_itself", [False, True], ids=["two", "one"])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str, with_itself: bool) -> None:
    function = getattr(pairwise, name)
    a, b = (np.abs(X), np.abs(Y)) if "chi2" in name else (X, Y)
    if not with_itself:
        same(function, a, b, tol=TOL)
    else:  # the diagonal of euclidean_distances is a root of a rounding error
        same(function, a, tol=2e-3 if name == "euclidean_distances" else TOL)


@pytest.mark.parametrize("name", ["cosine", "euclidean", "manhattan"])
def test_paired(name: str) -> None:
    same(getattr(pairwise, f"paired_{name}_distances"), X[:12], Y, tol=TOL)


def test_by_name() -> None:
    for metric in ("euclidean", "cosine", "manhattan", "l1", "l2", "cityblock"):
        same(metrics.pairwise_distances, X, Y, metric=metric, tol=TOL)
    for metric in ("rbf", "linear", "poly", "cosine", "laplacian", "sigmoid"):
        same(pairwise.pairwise_kernels, X, Y, metric=metric, tol=TOL)
    same(pairwise.euclidean_distances, X, Y, squared=True, tol=TOL)


def test_a_kernel_of_ones_own() -> None:
    def kernel(u, v):
        return (u * v).sum() ** 2

    same(pairwise.pairwise_kernels, X[:5], Y[:4], metric=kernel, tol=TOL)
