"""numpy.linalg and the array API's linalg: what needs no factorisation. Products are those of the top level."""

from __future__ import annotations

from typing import Any

from ..errors import LinAlgError
from ..ops.contractions import tensordot, vecdot
from ..ops.manipulation import matrix_transpose
from ..ops.products import matmul
from .matrices import cross, diagonal, outer, trace
from .norms import matrix_norm, norm, vector_norm

__all__ = [
    "LinAlgError", "cross", "diagonal", "matmul", "matrix_norm", "matrix_transpose", "norm", "outer", "tensordot",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """blas, imported at its first use (PEP 562)."""
    from importlib import import_module

    if name in LATER:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module 'tabgpu.linalg' has no attribute {name!r}")


LATER = ("blas",)
