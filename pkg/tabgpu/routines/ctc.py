"""The connectionist temporal classification loss: one launch of ctc.wgsl, a workgroup for each batch item."""

from __future__ import annotations

from .. import kernels
from ..dtypes import float32
from ..graph import Op
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch, temporary


def lower(op: Op, facts: Facts) -> list[Launch]:
    """args: logs (T, N, C), targets, starts, lengths of both. op.extra: T, N, C, states, blank. Result (N,)."""
    steps, n, classes, states, blank = op.extra
    made = kernel_for(("ctc", facts.software), _text, "ctc", 1 if facts.software else 64)
    alpha = temporary((n, 2, states), float32)
    words = [n, steps, classes, states, blank, op.args[1].size, 0, 0]
    return [launch(made, op.args, (op, alpha), n, words, facts)]


def _text(key: tuple[str, bool]) -> tuple[str, str]:
    text = kernels.specialise("ctc", WG=1 if key[1] else 64)
    if key[1]:
        for block in ("barrier", "last"):
            text = kernels.replace_block(text, block, "")
    return text, "rrrrrww"
