"""One axis of a distance transform: distance.wgsl. Text: codegen_components.py; users: image/distances.py."""

from __future__ import annotations

from ..codegen_components import distance
from ..graph import Op
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch

MOST = 1 << 36  # steps of one launch at most


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn: "distance.METRIC"; op.extra: (size of the axis, its stride, bits of the squared spacing or None).
    Source and result: uint32 (2, ..): costs and places."""
    n, stride, spacing = op.extra
    size = op.size // 2
    wg = min(facts.workgroup, 256)
    sig = ("distance", op.fn.partition(".")[2], spacing is not None, wg)
    made = kernel_for(sig, distance, "distance_" + sig[1], wg)
    parts = min(-(-size * n // (MOST >> 8 if facts.software else MOST)), 64)
    each = -(-size // (parts * wg)) * wg
    return [
        launch(
            made,
            op.args,
            (op,),
            -(-min(each, size - at) // wg),
            [size, n, stride, spacing or 0, at, 0, 0, 0],
            facts,
        )
        for at in range(0, size, each)
    ]
