"""What is left of a right-hand side, in two floats: one launch of residual.wgsl, a workgroup an element."""

from __future__ import annotations

from .. import kernels
from ..graph import Op
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.args: A (batch, rows, n), x (batch, n, columns), b; op.extra: n, whether there is one A for all."""
    _, rows, columns = op.shape
    n, one = op.extra
    made = kernel_for(("residual", facts.software), residual_text, "residual", 1 if facts.software else 64)
    words = [rows, n, columns, op.size, 0 if one else rows * n, 0, 0, 0]
    return [launch(made, op.args, (op,), op.size, words, facts)]


def residual_text(key: tuple[str, bool]) -> tuple[str, str]:
    text = kernels.specialise("residual", WG=1 if key[1] else 64)
    if key[1]:
        text = kernels.replace_block(text, "together", "").replace(
            "var<workgroup> parts: array<vec2f, WG>;\n", ""
        )
    return text, "rrrw"
