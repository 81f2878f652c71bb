"""Roots of connected components: three launches of components.wgsl. Text: codegen_components.py; users: image/."""

from __future__ import annotations

from ..codegen_components import PHASES, components
from ..graph import Op
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch

SEGMENT = 32  # as components.wgsl
MOST = 250  # neighbours that fit the parameters


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.args: bools, row-major; op.extra: (sizes of the axes, at most 8; differences of the neighbours before a
    place along them). Result: uint32, the first place of each one's component, all ones where False."""
    sizes, offsets = op.extra
    rank = len(sizes)
    strides = [1] * rank
    for k in range(rank - 2, -1, -1):
        strides[k] = strides[k + 1] * sizes[k + 1]
    linked = any(not any(d[:-1]) and d[-1] == -1 for d in offsets)
    words = [op.size, rank, len(offsets), int(linked), *sizes, *[0] * (8 - rank)]
    for d in offsets:
        packed = [0, 0]
        for k, v in enumerate(d):
            packed[k >> 2] |= (v & 255) << 8 * (k & 3)
        words += [sum(a * b for a, b in zip(d, strides, strict=True)), *packed]
    made = []
    for phase in PHASES:
        wg = min(facts.workgroup, 256)
        sig = ("components", phase, op.args[0].dtype, wg)
        threads = op.size // sizes[-1] * -(-sizes[-1] // SEGMENT) if phase == "begin" else op.size
        text = kernel_for(sig, components, f"components_{phase}", wg)
        made.append(launch(text, op.args, (op,), -(-threads // wg), words, facts))
    return made
