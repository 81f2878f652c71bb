"""Peaks of a line: prominences, widths and which of them stay at a distance: launches of peaks_*.wgsl."""

from __future__ import annotations

from ..dtypes import uint32
from ..graph import Op
from ..launch import Launch
from ..region import Facts, bits
from . import kernel, launch, temporary

BLOCK = 256  # elements that count as one step
ROUNDS = 24  # of decisions made at once; what is left is decided in order
IN_ORDER = 1 << 13  # peaks of one launch of that


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "peaks.prominence" (extra: the furthest step), "peaks.width" (extra: the part of the prominence) or
    "peaks.distance" (extra: the distance)."""
    what = op.fn.partition(".")[2]
    wg = min(64, facts.workgroup)
    if what == "distance":
        return _distance(op, wg, facts)
    count = op.shape[1]
    n = op.args[0].size
    second = min(op.extra, n) if what == "prominence" else bits(op.extra, "f")
    made = kernel(f"peaks_{what}", "rrrrrw" if what == "prominence" else "rrrrrrw", WG=wg)
    words = [n, count, second, BLOCK]
    return [launch(made, op.args, (op,), -(-count // wg), words, facts)]


def _distance(op: Op, wg: int, facts: Facts) -> list[Launch]:
    """op.args: positions, keys, their order, which count."""
    count = op.size
    left = temporary((1,), uint32)

    def step(k: int, first: int = 0, many: int = 0) -> Launch:
        made = kernel("peaks_distance", "rrrrww", f"peaks_distance_{k}", WG=wg, STEP=k)
        groups = 1 if k == 3 else -(-count // wg)
        return launch(made, op.args, (op, left), groups, [count, op.extra, first, many], facts)

    rounds = [step(1)] * min(ROUNDS, max(count.bit_length() - 1, 1))
    rest = [step(3, at, min(IN_ORDER, count - at)) for at in range(0, count, IN_ORDER)]
    return [step(0), *rounds, step(2), *rest]
