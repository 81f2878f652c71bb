"""numpy.linalg, scipy.linalg, the array API's linalg. Factorisations are imported at their first use (PEP 562)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import LinAlgError
from ..ops.contractions import tensordot, vecdot
from ..ops.manipulation import matrix_transpose
from ..ops.products import matmul
from .matrices import cross, diagonal, outer, trace
from .norms import matrix_norm, norm, vector_norm

MODULES = ("blas",)
# Module -> its public names; no module has the name of a function, which an import would put in its place.
CHAPTERS = {
    "determinants": "det slogdet",
    "factors": "cho_factor cho_solve cholesky cholesky_ex lu lu_factor lu_solve",
    "matrix_functions": "expm matrix_power",
    "hermitian": "eigh eigvalsh",
    "householder": "qr",
    "least_squares": "cond lstsq matrix_rank pinv rcond",
    "singular": "svd svdvals",
    "subspaces": "null_space orth polar power_step qr_power_step subspace_iteration",
    "solving": "inv inv_ex solve solve_ex solve_triangular tensorinv tensorsolve",
    "eigen": "eig eigvals hessenberg schur",
    "special_matrices":
        "block_diag circulant companion convolution_matrix dft fiedler fiedler_companion hadamard hankel helmert "
        "hilbert invhilbert invpascal khatri_rao leslie pascal toeplitz",
    "structured": "matmul_toeplitz orthogonal_procrustes solve_circulant solve_toeplitz sqrtm",
    "structure": "bandwidth ishermitian issymmetric multi_dot reverse_cuthill_mckee",
}  # fmt: skip
WHERE = {name: module for module, names in CHAPTERS.items() for name in names.split()}

__all__ = [
    "LinAlgError", "cross", "diagonal", "matmul", "matrix_norm", "matrix_transpose", "norm", "outer", "tensordot",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip
__all__ += list(WHERE)


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return import_module(f".{name}", __name__)
    if name not in WHERE:
        raise AttributeError(f"module 'tabgpu.linalg' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f".{WHERE[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *MODULES})
