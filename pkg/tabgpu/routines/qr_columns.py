"""Householder QR column by column, greatest remainder first or in order: a launch a column
(kernels/qr_columns.wgsl)."""

from __future__ import annotations

from ..dtypes import float32
from ..graph import Op
from ..kernels.reflector_functions import text
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch, temporary
from .beside_eye import beside_eye


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.extra: (matrices, columns, rows, whether in order). args: columns as rows; the result (matrices, columns,
    rows + 4) as the kernel describes it."""
    count, n, m, in_order = op.extra
    threads = 16 if facts.software else facts.workgroup
    key = ("qr_columns", op.dtype.kind, threads)
    made = kernel_for(key, columns_text, f"qr_columns_{op.dtype.kind}", threads)
    total = count * n
    norms = [temporary((total,), float32) for _ in range(2)]
    launches = [beside_eye(op.args[0], op, n, m, m + 4, facts)]
    words = [n, m, 0, in_order, total, 1, 0, 0]
    launches.append(launch(made, (op.args[0],), (op, norms[0]), total, words, facts))
    for step in range(min(m, n)):
        words = [n, m, step, in_order, total, 0, 0, 0]
        reads, writes = (norms[step % 2],), (op, norms[1 - step % 2])
        launches.append(launch(made, reads, writes, total, words, facts))
    return launches


def columns_text(key: tuple[str, str, int]) -> tuple[str, str]:
    name, kind, threads = key
    return text(name, kind, {}, WG=threads), "rww"
