"""Libraries written for the array API, unmodified, on tabgpu arrays; NumPy's results in float64 are the oracle.

`./build.sh test` runs SAMPLE of them, `./build.sh test --all` and `./build.sh clients --all` everything. What of these
libraries is not here is in README.md, with the reason.
"""

from __future__ import annotations

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # read by SciPy and scikit-learn when they are imported

import pytest
import sklearn

import tabgpu as tg

# Of each library and chapter a few; the others are marked slow.
SAMPLE = {
    "test_classification[f1_score-plain", "test_regression[r2_score-weighted", "test_ranking[roc_auc_score-plain",
    "test_kernels[rbf_kernel-two", "test_transformers[MinMaxScaler]", "test_labels[classes]", "test_splits",
    "test_special[gammaln]", "test_special[expit]", "test_samples[skew]", "test_comparisons[ttest_ind]", "test_vq",
    "test_at[add]", "test_rearrange", "test_namespace", "test_pca[covariance_eigh]", "test_gaussian_mixture[diag]",
}  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "clients" in item.path.parts and not any(item.name.startswith(name) for name in SAMPLE):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def dispatch():
    """scikit-learn asks arrays for their namespace; the widest float it can name is float32."""
    with sklearn.config_context(array_api_dispatch=True), tg.config.using(narrow64=True):
        yield
