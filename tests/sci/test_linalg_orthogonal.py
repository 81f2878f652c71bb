"""Orthogonal factorisations of tg.linalg beside SciPy and NumPy, over many shapes and special matrices, natively."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.linalg as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from orthogonal_checks import adjoint, bound, check_eigh, check_qr, check_svd, draw, near, orthonormal, wide

import tabgpu as tg
from tabgpu import linalg

OURS = (
    "qr",
    "eigh",
    "eigvalsh",
    "svd",
    "svdvals",
    "lstsq",
    "pinv",
    "matrix_rank",
    "cond",
    "norm",
    "matrix_norm",
)
SCIPYS = (
    "qr",
    "eigh",
    "eigvalsh",
    "svd",
    "svdvals",
    "lstsq",
    "pinv",
    "pinvh",
    "orth",
    "null_space",
    "polar",
    "norm",
)

# Public names of scipy.linalg about orthogonality that are not here, and why.
LEFT_OUT = {
    "pinvh": "pinv(a, hermitian=True)",
    "qr_multiply": "a product with qr(a).Q",
    "qr_insert": "updates of factorisations: factor again",
    "qr_delete": "updates of factorisations: factor again",
    "qr_update": "updates of factorisations: factor again",
    "rq": "flips of qr",
    "qz": "generalised problems",
    "ordqz": "generalised problems",
    "eigh_tridiagonal": "eigh of the whole matrix",
    "eigvalsh_tridiagonal": "eigvalsh of the whole matrix",
    "eig_banded": "eigh of the whole matrix",
    "eigvals_banded": "eigvalsh of the whole matrix",
    "diagsvd": "a product with an identity",
    "subspace_angles": "arccos of svdvals of the product of bases",
    "cossin": "no use was named",
    "orthogonal_procrustes": "polar of a product",
    "interpolative": "randomised: subspace_iteration",
    "cdf2rdf": "eig gives complex eigenvalues",
    "clarkson_woodruff_transform": "a sketch: a product with random signs",
}
WORDS = (
    "qr", "svd", "eigh", "eigvalsh", "orth", "polar", "lstsq", "pinv", "null_space", "rq", "qz", "ordqz", "cossin",
    "subspace", "eig_banded", "eigvals_banded", "interpolative", "cdf2rdf", "clarkson", "diagsvd",
)  # fmt: skip


def get(*arrays: tg.Array) -> list[np.ndarray]:
    return [np.asarray(a) for a in arrays]


def test_what_scipy_has_is_here_or_in_the_table() -> None:
    for module in (np.linalg, sl):
        for name in dir(module):
            if not name.startswith(WORDS):
                continue
            if inspect.ismodule(getattr(module, name)) and name not in LEFT_OUT:
                continue
            assert name in LEFT_OUT or hasattr(linalg, name), f"{module.__name__}.{name}"
    for name in OURS:
        assert hasattr(np.linalg, name) and hasattr(linalg, name)


shapes = st.tuples(st.integers(1, 24), st.integers(1, 24))


@settings(max_examples=15, deadline=None)
@given(shapes, st.sampled_from("fc"), st.integers(0, 99), st.booleans())
def test_qr_beside_scipy(shape: tuple[int, int], kind: str, seed: int, pivoting: bool) -> None:
    a = draw(shape, kind, seed)
    q, r, *order = get(*linalg.qr(tg.asarray(a), pivoting=pivoting))
    check_qr(a[:, order[0]] if pivoting else a, q, r)
    want = sl.qr(a.astype(np.complex128 if kind == "c" else np.float64), mode="economic", pivoting=pivoting)[
        1
    ]
    if shape[0] >= shape[1]:
        # the triangle is one but for phases of its rows; a small diagonal leaves little of it
        limit = bound(shape) * np.linalg.cond(wide(a))
        if limit < 0.1 and not pivoting:
            near(np.abs(r), np.abs(want), limit)


@settings(max_examples=15, deadline=None)
@given(shapes, st.sampled_from("fc"), st.integers(0, 99), st.booleans())
def test_svd_beside_numpy(shape: tuple[int, int], kind: str, seed: int, full: bool) -> None:
    a = draw(shape, kind, seed)
    check_svd(a, *get(*linalg.svd(tg.asarray(a), full_matrices=full)))


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 30), st.sampled_from("fc"), st.integers(0, 99), st.sampled_from("LU"))
def test_eigh_beside_numpy(n: int, kind: str, seed: int, uplo: str) -> None:
    a = draw((n, n), kind, seed)
    a = a + adjoint(a)
    check_eigh(a, *get(*linalg.eigh(tg.asarray(a), uplo)))


def conditioned(m: int, n: int, values: np.ndarray, seed: int = 0) -> np.ndarray:
    u = np.linalg.qr(draw((m, m), seed=seed).astype(np.float64))[0]
    v = np.linalg.qr(draw((n, n), seed=seed + 1).astype(np.float64))[0]
    k = len(values)
    return (u[:, :k] * values @ v[:, :k].T).astype(np.float32)


@pytest.mark.parametrize("fall", [0.9, 0.5, 0.1, 0.01])
def test_ill_conditioned(fall: float) -> None:
    """Singular values that fall by a factor each, to below rounding."""
    a = conditioned(20, 12, fall ** np.arange(12))
    check_qr(a, *get(*linalg.qr(tg.asarray(a))))
    check_svd(a, *get(*linalg.svd(tg.asarray(a))))
    rank = int(np.asarray(linalg.matrix_rank(tg.asarray(a), tol=3e-5)))
    assert rank == np.linalg.matrix_rank(a.astype(np.float64), tol=3e-5)
    if fall > 0.1:
        near(get(linalg.pinv(tg.asarray(a)))[0], np.linalg.pinv(wide(a)), 1e-6 / fall**12)


@pytest.mark.parametrize("make", ["hilbert", "pascal", "toeplitz", "hadamard", "dft", "companion", "tri"])
def test_matrices_with_names(make: str) -> None:
    n = 10
    a = {
        "hilbert": lambda: sl.hilbert(n),
        "pascal": lambda: sl.pascal(n),
        "toeplitz": lambda: sl.toeplitz(1.0 / (1 + np.arange(n))),
        "hadamard": lambda: sl.hadamard(16),
        "dft": lambda: sl.dft(n),
        "companion": lambda: sl.companion(np.arange(1.0, n)),
        "tri": lambda: np.tri(n),
    }[make]()
    a = a.astype(np.complex64 if np.iscomplexobj(a) else np.float32)
    check_qr(a, *get(*linalg.qr(tg.asarray(a))))
    check_svd(a, *get(*linalg.svd(tg.asarray(a))))
    h = a + adjoint(a)
    check_eigh(h, *get(*linalg.eigh(tg.asarray(h))))


def test_batches() -> None:
    for shape in ((50, 4, 4), (3, 2, 12, 7), (20, 16, 16)):
        a = draw(shape)
        check_qr(a, *get(*linalg.qr(tg.asarray(a))))
        check_svd(a, *get(*linalg.svd(tg.asarray(a), full_matrices=False)))
        if shape[-1] == shape[-2]:
            h = a + adjoint(a)
            check_eigh(h, *get(*linalg.eigh(tg.asarray(h))))


def test_bases_beside_scipy() -> None:
    for seed in range(4):
        a = (draw((9, 3), seed=seed) @ draw((3, 7), seed=seed)).astype(np.float32)
        null, basis = get(linalg.null_space(tg.asarray(a)), linalg.orth(tg.asarray(a)))
        want_null, want_basis = sl.null_space(wide(a), 1e-5), sl.orth(wide(a), 1e-5)
        assert null.shape == want_null.shape and basis.shape == want_basis.shape
        orthonormal(null)
        near(wide(null) @ null.T, want_null @ want_null.T, 1e-5)
        near(wide(basis) @ basis.T, want_basis @ want_basis.T, 1e-5)
        u, p = get(*linalg.polar(tg.asarray(draw((5, 4), seed=seed))))
        want = sl.polar(draw((5, 4), seed=seed).astype(np.float64))
        near(u, want[0], 1e-5)
        near(p, want[1], 1e-5)


@pytest.mark.slow
def test_the_largest_launches_are_split_by_matrices() -> None:
    """More matrices than one dispatch has workgroups in a row."""
    a = np.broadcast_to(draw((1, 2, 2)), (66000, 2, 2))
    h = np.ascontiguousarray(a + adjoint(a))
    w = np.asarray(linalg.eigvalsh(tg.asarray(h)))
    np.testing.assert_allclose(w, np.broadcast_to(np.linalg.eigvalsh(wide(h[:1])), w.shape), atol=1e-5)
