"""The first launch of factorisations that work in place: stacks of matrices, each with the columns of an identity
behind."""

from __future__ import annotations

from ..graph import Op
from ..kernels.reflector_functions import text
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch


def beside_eye(source: Op, into: Op, rows: int, columns: int, width: int, facts: Facts) -> Launch:
    """source: any number of matrices (rows, columns); into: as many (rows, width)."""
    key = ("beside_eye", into.dtype.kind, facts.workgroup)
    made = kernel_for(key, start_text, f"beside_eye_{into.dtype.name}", facts.workgroup)
    words = [rows, columns, width, into.size]
    return launch(made, (source,), (into,), -(-into.size // facts.workgroup), words, facts)


def start_text(key: tuple[str, str, int]) -> tuple[str, str]:
    name, kind, wg = key
    return text(name, kind, {}, WG=wg), "rw"
