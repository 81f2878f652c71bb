"""The order in which Cuthill and McKee visit the nodes of a graph: launches of rcm.wgsl, one workgroup that goes on."""

from __future__ import annotations

from ..dtypes import uint32
from ..graph import Op
from ..launch import Launch
from ..region import Facts
from . import kernel, launch, temporary

STEPS = 4096  # nodes a launch on a GPU
ROUNDS = 30_000  # of a thread's loops in a launch on a CPU adapter


def lower(op: Op, facts: Facts) -> list[Launch]:
    """args: (n, n) words, nonzero for an edge, nodes in the order of their degrees. Result: (n,) int32."""
    (n,) = op.extra
    wg = min(facts.workgroup, 128 if facts.software else 256)
    made = kernel("rcm", "rww", WG=wg)
    state = temporary((n + 1,), uint32)
    each = -(-n // wg)
    steps = max(1, ROUNDS // (3 * each + 12)) if facts.software else max(64, STEPS * 4 // (4 + each))
    return [
        launch(made, op.args, (op, state), 1, [n, k, min(k + steps, n), each], facts)
        for k in range(0, n, steps)
    ]
