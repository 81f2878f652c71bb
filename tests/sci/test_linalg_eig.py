"""tg.linalg.eig, eigvals, schur, hessenberg beside SciPy: generated matrices of many kinds, left and right vectors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import tabgpu as tg

EPS = 2.0**-23
BOUND = 20  # n eps |A|
KINDS = [
    "normal",
    "integers",
    "sparse",
    "graded",
    "repeated",
    "symmetric",
    "skew",
    "unitary",
    "nilpotent",
    "low rank",
]


def made(kind: str, n: int, complex_: bool, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if complex_ else 0)
    if kind == "integers":
        x = np.round(2 * x)
    if kind == "sparse":
        x = x * (rng.random((n, n)) < 0.2)
    if kind == "graded":
        d = 10.0 ** -np.arange(n)
        x = x * d[:, None] * d
    if kind == "repeated":
        q = np.linalg.qr(x)[0]
        x = q @ np.diag(rng.integers(-1, 3, n)) @ q.conj().T
    if kind == "symmetric":
        x = x + x.conj().T
    if kind == "skew":
        x = x - x.conj().T
    if kind == "unitary":
        x = np.linalg.qr(x)[0]
    if kind == "nilpotent":
        x = np.triu(x, 1)[rng.permutation(n)][:, np.argsort(rng.permutation(n))]
    if kind == "low rank":
        x = x[:, : max(n // 3, 1)] @ x[: max(n // 3, 1)]
    return x.astype("complex64" if complex_ else "float32")


def residual(a: np.ndarray, w: np.ndarray, v: np.ndarray) -> float:
    far = np.linalg.norm(a @ v - v * w, axis=0).max(initial=0)
    return float(far / (len(a) * EPS * max(np.linalg.norm(a), 1e-30)))


@settings(max_examples=40)
@given(st.sampled_from(KINDS), st.integers(1, 24), st.booleans(), st.integers(0, 10**6))
def test_generated_matrices(kind: str, n: int, complex_: bool, seed: int) -> None:
    a = made(kind, n, complex_, seed)
    w, left, right = (np.asarray(x).astype("complex128") for x in tg.linalg.eig(tg.asarray(a), left=True))
    wide = a.astype("complex128")
    for v in (left, right):
        np.testing.assert_allclose(np.linalg.norm(v, axis=0), 1, atol=1e-6)
    assert residual(wide, w, right) < BOUND
    assert residual(wide.conj().T, w.conj(), left) < BOUND
    if not complex_:
        assert abs(w.sum().imag) == 0
    # an eigenvalue of A + E with |E| = n eps |A| may be off by |E| / |left . right|
    want, one, other = sl.eig(wide, left=True)
    with np.errstate(all="ignore"):
        slack = (
            20 * n * EPS * np.linalg.norm(wide) / np.maximum(np.abs((one.conj() * other).sum(axis=0)), 1e-30)
        )
    far = np.abs(w[:, None] - want)
    i, k = linear_sum_assignment(far)
    assert (
        far[i, k] <= slack[k] + (20 * n * EPS) ** (1 / n) * np.linalg.norm(wide) * (slack[k] > 1e-2)
    ).all()


@pytest.mark.parametrize("complex_", [False, True])
def test_forms_of_scipy(complex_: bool) -> None:
    """Left and right vectors are SciPy's up to a phase, where eigenvalues are apart."""
    a = made("normal", 9, complex_, 3)
    want, one, other = sl.eig(a.astype("complex128" if complex_ else "float64"), left=True)
    w, left, right = (np.asarray(x) for x in tg.linalg.eig(tg.asarray(a), left=True))
    _, k = linear_sum_assignment(np.abs(w[:, None] - want))
    np.testing.assert_allclose(w, want[k], atol=2e-5)
    for ours, theirs in ((left, one), (right, other)):
        np.testing.assert_allclose(np.abs((ours.conj() * theirs[:, k]).sum(axis=0)), 1, atol=1e-4)
    t, z = (np.asarray(x) for x in tg.linalg.schur(tg.asarray(a)))
    np.testing.assert_allclose(z @ t @ z.conj().T, a, atol=2e-5)
    h = np.asarray(tg.linalg.hessenberg(tg.asarray(a)))
    np.testing.assert_allclose(np.abs(h), np.abs(sl.hessenberg(a.astype("complex128"))), atol=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("n", [60, 150, 260])
def test_larger_matrices(n: int, complex_: bool) -> None:
    for kind in ("normal", "symmetric", "graded", "low rank"):
        a = made(kind, n, complex_, n)
        w, v = (np.asarray(x).astype("complex128") for x in tg.linalg.eig(tg.asarray(a)))
        assert residual(a.astype("complex128"), w, v) < BOUND
