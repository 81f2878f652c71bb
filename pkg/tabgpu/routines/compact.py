"""Positions of the True elements of a mask from its running count: one launch of compact.wgsl."""

from __future__ import annotations

from ..graph import Op
from ..launch import Launch
from ..region import Facts
from . import kernel, launch


def lower(op: Op, facts: Facts) -> list[Launch]:
    """args: running counts (n,), int32. extra: what slots get that no element takes."""
    (counts,) = op.args
    wg = facts.workgroup
    made = kernel("compact", "rw", WG=wg)
    groups = -(-max(counts.size, op.size) // wg)
    return [launch(made, (counts,), (op,), groups, [counts.size, op.size, op.extra, 0], facts)]
