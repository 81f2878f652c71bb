"""Every public name of scipy.linalg is ours, or in LEFT_OUT with the reason; numpy.linalg's are all there."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl

import tabgpu as tg

_BANDED = (
    "banded and tridiagonal storage: its gain is on large thin bands, which a GPU solves no faster than SciPy"
)
_MATFUNCS = "functions of matrices beyond expm, sqrtm and matrix_power"
_EQUATIONS = "matrix equations: sequential back substitutions of Schur forms"
_GENERAL = "generalised eigenvalues"
LEFT_OUT = {
    "LinAlgWarning": "nothing here can warn: what depends on device data raises at the read, or is not told",
    **dict.fromkeys(
        ("find_best_blas_type", "get_blas_funcs", "get_lapack_funcs"), "handles of compiled functions"
    ),
    **dict.fromkeys(
        "cho_solve_banded cholesky_banded eig_banded eigh_tridiagonal eigvals_banded eigvalsh_tridiagonal solve_banded "
        "solveh_banded".split(),
        _BANDED,
    ),
    **dict.fromkeys(
        "coshm cosm expm_cond expm_frechet fractional_matrix_power funm logm signm sinhm sinm tanhm tanm".split(),
        _MATFUNCS,
    ),
    **dict.fromkeys(
        "solve_continuous_are solve_continuous_lyapunov solve_discrete_are solve_discrete_lyapunov solve_lyapunov "
        "solve_sylvester".split(),
        _EQUATIONS,
    ),
    **dict.fromkeys(("ordqz", "qz"), _GENERAL),
    "cdf2rdf": "schur and eig give complex forms only",
    "rsf2csf": "schur gives the complex form",
    "cossin": "a factorisation of four blocks, seldom used",
    "ldl": "lu and cholesky: Bunch's pivoting is sequential",
    "matrix_balance": "eig balances by itself",
    "clarkson_woodruff_transform": "a sparse sketch on the host",
    "diagsvd": "tg.diag and padding",
    "pinvh": "pinv(hermitian=True)",
    "subspace_angles": "svdvals of a product of two orth",
    **dict.fromkeys(
        ("qr_delete", "qr_insert", "qr_update"), "updates of a factorisation: sequential rotations"
    ),
    "qr_multiply": "qr and a product",
    "rq": "qr of the flipped transpose",
}


def test_every_name_of_scipy_s_linalg() -> None:
    public = {n for n in sl.__all__ if callable(getattr(sl, n))}
    ours = {n for n in public if hasattr(tg.linalg, n)}
    assert public - ours == public & set(LEFT_OUT), (public - ours) ^ (public & set(LEFT_OUT))
    assert not set(LEFT_OUT) & ours
    assert set(LEFT_OUT) <= public
    for name in ours:
        assert getattr(tg.linalg, name).__doc__, name


def test_every_name_of_numpy_s_linalg() -> None:
    assert not [n for n in np.linalg.__all__ if not hasattr(tg.linalg, n)]
