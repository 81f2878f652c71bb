"""Direct methods of tg.linalg beside SciPy and NumPy in float64: many shapes, kinds and conditions."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.linalg as sl
from direct import EPS, adjoint, conditioned, matrix, narrow, positive, residual, wide
from hypothesis import given, settings
from hypothesis import strategies as st

import tabgpu as tg

la = tg.linalg
rng = np.random.default_rng(0)
KINDS = ("f", "c")

# Public names of scipy.linalg and numpy.linalg about direct methods that are not here, and why.
LEFT_OUT = {
    "cholesky_banded": "band storage: cholesky of the whole matrix",
    "cho_solve_banded": "band storage: cho_solve",
    "solve_banded": "band storage: solve",
    "solveh_banded": "band storage: solve(.., assume_a='pos')",
    "solve_continuous_are": "control theory: no use was named",
    "solve_discrete_are": "control theory: no use was named",
    "solve_continuous_lyapunov": "control theory: no use was named",
    "solve_discrete_lyapunov": "control theory: no use was named",
    "solve_lyapunov": "control theory: no use was named",
    "solve_sylvester": "control theory: no use was named",
    "ldl": "Bunch-Kaufman pivoting: solve(.., assume_a='sym') takes LU",
    "expm_frechet": "expm of the block matrix [[a, e], [0, a]]",
    "expm_cond": "needs expm_frechet of every direction",
    "logm": "functions by Schur forms: only expm was asked for",
    "fractional_matrix_power": "of Hermitian matrices: eigh",
    "funm": "calls a host function of eigenvalues: eig",
    "signm": "polar, for Hermitian matrices",
    "cosm": "real(expm(1j * a)) of a real matrix",
    "sinm": "imag(expm(1j * a)) of a real matrix",
    "tanm": "solve(cosm, sinm)",
    "coshm": "(expm(a) + expm(-a)) / 2",
    "sinhm": "(expm(a) - expm(-a)) / 2",
    "tanhm": "solve(coshm, sinhm)",
}
WORDS = (
    "cho", "lu", "ldl", "solve", "inv", "det", "slogdet", "matrix_power", "expm", "logm", "sqrtm", "fractional", "funm",
    "signm", "cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm", "tensorsolve", "tensorinv", "matmul_toeplitz",
)  # fmt: skip


def gpu(x):
    return tg.asarray(narrow(x))


def host(x):
    return wide(np.asarray(x))


def near(got, want, units: float, n: int, size: float | None = None) -> None:
    """Within units * n eps of the size of what is wanted."""
    got, want = host(got), np.asarray(want)
    assert got.shape == want.shape
    size = np.abs(want).max(initial=0.0) if size is None else size
    assert np.abs(got - want).max(initial=0.0) <= units * max(n, 1) * EPS * size + 1e-37


def test_what_scipy_has_is_here_or_in_the_table() -> None:
    for module in (np.linalg, sl):
        names = {
            name
            for name in dir(module)
            if name.startswith(WORDS) and not inspect.ismodule(getattr(module, name))
        }
        assert {name for name in names if not hasattr(la, name)} <= set(LEFT_OUT)
    assert not [name for name in LEFT_OUT if hasattr(la, name) or not hasattr(sl, name)]


@pytest.mark.parametrize("kind", KINDS)
def test_lu_is_scipys(kind) -> None:
    """Well-conditioned matrices: factors are compared themselves, not only their product."""
    for m, n in ((1, 1), (4, 4), (9, 5), (5, 9), (20, 20), (34, 34), (40, 25)):
        a = matrix(rng, (m, n), kind)
        k = min(m, n)
        for permute in (False, True):
            for got, want in zip(la.lu(gpu(a), permute), sl.lu(a, permute), strict=True):
                near(got, want, 200, k)
        p, lower, _ = la.lu(gpu(a), p_indices=True)
        want_p, want_l, _ = sl.lu(a, p_indices=True)
        assert np.array_equal(np.asarray(p), want_p)
        near(lower, want_l, 200, k)
        packed, piv = la.lu_factor(gpu(a))
        want, want_piv = sl.lu_factor(a)
        assert np.array_equal(np.asarray(piv), want_piv)
        near(packed, want, 200, k)


@pytest.mark.parametrize("kind", KINDS)
def test_cholesky_is_numpys(kind) -> None:
    for n in (1, 5, 33, 50):
        a = positive(rng, (2, n, n), kind, 0.1)
        for upper in (False, True):
            near(la.cholesky(gpu(a), upper=upper), np.linalg.cholesky(a, upper=upper), 40, n)
        factor, lower = la.cho_factor(gpu(a[0]))
        want, want_lower = sl.cho_factor(a[0])
        assert lower == want_lower is False
        near(factor, np.triu(want), 40, n)
        b = matrix(rng, (n, 2), kind)
        for low in (False, True):
            near(
                la.cho_solve(la.cho_factor(gpu(a[0]), low), gpu(b)),
                sl.cho_solve(sl.cho_factor(a[0], low), b),
                40,
                n,
            )


@pytest.mark.parametrize("kind", KINDS)
def test_solutions_are_scipys(kind) -> None:
    """Forward errors: within the condition number times the backward error."""
    for n in (2, 7, 20, 45):
        a = conditioned(rng, n, 0.05, kind)
        b = matrix(rng, (n, 3), kind)
        factor, theirs = la.lu_factor(gpu(a)), sl.lu_factor(a)
        for trans in (0, 1, 2):
            near(la.lu_solve(factor, gpu(b), trans), sl.lu_solve(theirs, b, trans), 60, n)
        near(la.solve(gpu(a), gpu(b)), sl.solve(a, b), 60, n)
        near(la.solve(gpu(a), gpu(b), transposed=True), sl.solve(a.T, b), 60, n)
        near(la.inv(gpu(a)), sl.inv(a), 60, n)
        s = positive(rng, (n, n), kind, 0.05)
        for name in ("pos", "sym", "her", "gen"):
            if name == "sym" and kind == "c":
                continue
            for lower in (False, True):
                near(
                    la.solve(gpu(s), gpu(b), assume_a=name, lower=lower), sl.solve(s, b, assume_a=name), 60, n
                )
        t = np.tril(matrix(rng, (n, n), kind)) / n + np.eye(n)
        for lower, unit in ((False, False), (False, True), (True, False), (True, True)):
            for trans in (0, 1, 2, "N", "T", "C"):
                both = t if lower else t.T
                got = la.solve_triangular(gpu(both), gpu(b), trans, lower, unit)
                near(got, sl.solve_triangular(both, b, trans, lower, unit), 60, n)
        near(
            la.solve(gpu(t), gpu(b), assume_a="lower triangular"),
            sl.solve_triangular(t, b, lower=True),
            60,
            n,
        )
        near(la.solve(gpu(t.T), gpu(b), assume_a="upper triangular"), sl.solve_triangular(t.T, b), 60, n)


@pytest.mark.parametrize("kind", KINDS)
def test_determinants_are_numpys(kind) -> None:
    for n in (1, 2, 3, 8, 20, 40, 70):
        a = matrix(rng, (3, n, n), kind) / max(1, n**0.5)
        want, cond = np.linalg.det(a), np.linalg.cond(a)
        assert np.all(np.abs(host(la.det(gpu(a))) - want) <= 3 * n * EPS * cond * np.abs(want))
        sign, logs = la.slogdet(gpu(a))
        want_sign, want_logs = np.linalg.slogdet(a)
        assert np.all(np.abs(host(sign) - want_sign) <= 3 * n * EPS * cond)
        assert np.all(np.abs(host(logs) - want_logs) <= 3 * n * EPS * (cond + np.abs(want_logs)))


def test_determinants_of_any_size_of_number() -> None:
    """Partial products would overflow or vanish; the whole does not."""
    for values in (
        [1e30, 1e30, 1e-30, 1e-30],
        [1e-30] * 3 + [1e30] * 3,
        [0.5] * 100 + [2.0] * 100,
        [1e20] * 2,
    ):
        a = np.diag(np.array(values))
        want = np.inf if len(values) == 2 else 1.0
        np.testing.assert_allclose(np.asarray(la.det(gpu(a))), want, rtol=1e-5)
        if np.isfinite(want):
            np.testing.assert_allclose(np.asarray(la.det(gpu(a * 1j))), 1j ** len(values), rtol=1e-5)
        logs = np.log(values).sum()
        np.testing.assert_allclose(np.asarray(la.slogdet(gpu(a))[1]), logs, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_expm_is_scipys(kind) -> None:
    for n in (1, 2, 5, 20, 40):
        for size in (1e-4, 0.1, 1.0, 8.0, 30.0):
            a = matrix(rng, (2, n, n), kind)
            a *= size / np.abs(a).sum(axis=-2).max()
            near(la.expm(gpu(a)), sl.expm(a), 30 + 8 * size, 1, np.abs(sl.expm(a)).sum(-2).max())
    # One matrix of a stack needs many squarings, the other none; decay, rotation, nilpotent.
    a = np.stack([np.zeros((3, 3)), -np.diag([1.0, 50, 3000])])
    near(la.expm(gpu(a)), sl.expm(a), 4000, 1)
    turn = np.array([[0.0, -100], [100, 0]])
    near(la.expm(gpu(turn)), sl.expm(turn), 300, 1)
    assert np.array_equal(host(la.expm(gpu(np.triu(np.ones((2, 2)), 1)))), [[1, 1], [0, 1]])
    assert np.isnan(host(la.expm(gpu(np.eye(2) * 1e9)))).all()


def test_matrix_power_is_numpys() -> None:
    a = rng.integers(-3, 4, (2, 4, 4)).astype(np.int32)
    for n in (0, 1, 2, 3, 5, 8):
        got = la.matrix_power(tg.asarray(a), n)
        assert got.dtype.name == "int32" and np.array_equal(np.asarray(got), np.linalg.matrix_power(a, n))
    for kind in KINDS:
        x = conditioned(rng, 6, 0.3, kind)
        for n in (-3, -1, 0, 4, 7):
            near(la.matrix_power(gpu(x), n), np.linalg.matrix_power(x, n), 100, 6)
    with pytest.raises(TypeError):
        la.matrix_power(tg.eye(2), 1.5)


def test_tensor_equations_are_numpys() -> None:
    a = matrix(rng, (2, 3, 6)) + np.eye(6).reshape(2, 3, 6) * 4
    b = matrix(rng, (2, 3))
    near(la.tensorsolve(gpu(a), gpu(b)), np.linalg.tensorsolve(a, b), 100, 6)
    c = wide(narrow((matrix(rng, (24, 24)) + 8 * np.eye(24)).reshape(2, 12, 2, 3, 4)))
    b2 = matrix(rng, (2, 12))
    near(la.tensorsolve(gpu(c), gpu(b2)), np.linalg.tensorsolve(c, b2), 100, 24)
    moved = np.moveaxis(a, 0, 1)
    near(la.tensorsolve(gpu(moved), gpu(b.T)), np.linalg.tensorsolve(moved, b.T), 100, 6)
    d = np.transpose(c, (2, 0, 3, 1, 4))  # the axes of x lie between those of b
    near(
        la.tensorsolve(gpu(d), gpu(b2), axes=(0, 2, 4)), np.linalg.tensorsolve(d, b2, axes=(0, 2, 4)), 100, 24
    )
    for ind in (1, 2):
        e = (matrix(rng, (24, 24)) + 8 * np.eye(24)).reshape((24, 8, 3) if ind == 1 else (4, 6, 8, 3))
        e = wide(narrow(e))
        near(la.tensorinv(gpu(e), ind), np.linalg.tensorinv(e, ind), 100, 24)
    for call in (
        lambda: la.tensorinv(tg.ones((2, 3, 4))),
        lambda: la.tensorsolve(tg.ones((2, 3, 4)), tg.ones((2, 3))),
    ):
        with pytest.raises(la.LinAlgError):
            call()
    with pytest.raises(ValueError, match="ind"):
        la.tensorinv(tg.eye(2), 0)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 40), st.integers(0, 6), st.sampled_from(KINDS), st.integers(-20, 20), st.integers(0, 2**32 - 1),
    st.sampled_from([(), (3,), (2, 1)]),
)  # fmt: skip
def test_any_system_is_solved_backward_stably(n, columns, kind, scale, seed, lead) -> None:
    """Any size, number of right-hand sides, scale and stack: the backward error stays a few n eps."""
    own = np.random.default_rng(seed)
    a, b = matrix(own, (*lead, n, n), kind) * 2.0**scale, matrix(own, (*lead, n, columns), kind)
    x = host(la.solve(gpu(a), gpu(b)))
    assert x.shape == b.shape
    if columns:
        assert residual(a, x, b) < 4
    lower = np.tril(a)
    lower[..., np.arange(n), np.arange(n)] += 4 * 2.0**scale
    if columns:
        assert residual(lower, host(la.solve_triangular(gpu(lower), gpu(b), lower=True)), b) < 4


def test_residuals_of_hard_matrices() -> None:
    """Matrices that are known to be hard: ill-conditioned, graded, with large growth, nearly singular."""
    n = 24
    k = np.arange(n)
    frank = np.triu(np.minimum(n - k[:, None], n - k)) + np.diag(np.arange(n - 1, 0, -1.0), -1)
    kahan = (np.eye(n) - np.cos(1.2) * np.triu(np.ones((n, n)), 1)) * np.sin(1.2) ** k[:, None]
    hard = {
        "hilbert": sl.hilbert(12), "pascal": sl.pascal(10), "vandermonde": np.vander(np.linspace(0, 1, 14)),
        "kahan": kahan, "toeplitz": sl.toeplitz(1 / np.arange(1.0, n + 1)), "frank": frank,
        "rows": matrix(rng, (n, n)) * np.logspace(-15, 15, n)[:, None],
        "nearly singular": np.ones((n, n)) + 1e-5 * matrix(rng, (n, n)),
    }  # fmt: skip
    for name, a in hard.items():
        a = wide(narrow(a))
        b = matrix(rng, (len(a), 2))
        assert residual(a, host(la.solve(gpu(a), gpu(b))), b) < 4, name
        p, lower, upper = map(host, la.lu(gpu(a)))
        assert np.abs(p @ lower @ upper - a).max() <= 4 * len(a) * EPS * np.abs(upper).max(), name


def test_inverses_are_left_and_right() -> None:
    for kind in KINDS:
        a = conditioned(rng, 30, 1e-3, kind)
        x = host(la.inv(gpu(a)))
        size = np.linalg.cond(a) * 30 * EPS
        assert np.abs(a @ x - np.eye(30)).max() < 2 * size and np.abs(x @ a - np.eye(30)).max() < 2 * size
        assert np.abs(adjoint(x) - host(la.inv(gpu(adjoint(a))))).max() < size * np.abs(x).max()
