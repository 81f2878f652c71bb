"""Counts, means and central sums along an axis: one launch of moments.wgsl, a second one where the axis is long."""

from __future__ import annotations

from .. import kernels
from ..dtypes import float32
from ..graph import Op
from ..launch import Kernel, Launch
from ..region import Facts, kernel_for
from . import launch, temporary

BLOCK = 8  # elements that a thread holds at once
ROUNDS = 32  # blocks a thread of a workgroup that works along a row
SERIAL = 4096  # elements that one thread takes where neighbours are other outputs
TASKS = 4096  # as many keep a GPU busy


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.extra (outer, n, inner, omit): lines of n elements `inner` apart in op.args[0], row-major float32. The result:
    six planes of outer * inner numbers: count, mean, sums of (x - mean)**2, **3 and **4 in units of the sixth."""
    outer, n, inner, omit = op.extra
    (source,) = op.args
    alone = facts.software or inner > 1
    lanes = 1 if alone else min(facts.workgroup, max(1, 1 << max(0, -(-n // BLOCK) - 1).bit_length()))
    chunk = n
    if alone:
        if n > 2 * BLOCK * 8:
            beside = outer * inner
            chunk = max(BLOCK * 8, min(SERIAL, -(-n * beside // TASKS)))
    else:
        chunk = lanes * BLOCK * ROUNDS
    chunks = -(-n // chunk)
    made = _kernel(facts.workgroup, lanes, False)
    if chunks == 1:
        return [_step(made, lanes, source, op, (n, inner, outer * inner, 1, chunk, omit, 1), facts)]
    between = temporary((7, outer, chunks, inner), float32)
    first = _step(
        made, lanes, source, between, (n, inner, outer * chunks * inner, chunks, chunk, omit, 0), facts
    )
    lanes = 1 if alone and chunks <= 64 else min(facts.workgroup, 1 << (chunks - 1).bit_length())
    if facts.software:
        lanes = 1
    second = _kernel(facts.workgroup, lanes, True)
    return [first, _step(second, lanes, between, op, (chunks, inner, outer * inner, 1, chunks, 0, 1), facts)]


def _step(
    made: Kernel, lanes: int, source: Op, into: Op, words: tuple[int, ...], facts: Facts
) -> Launch:  # fmt: skip
    groups = -(-words[2] // (facts.workgroup // lanes))
    return launch(made, (source,), (into,), groups, [*words, 0], facts)


def _kernel(wg: int, lanes: int, merge: bool) -> Kernel:
    label = f"moments_{lanes}{'_merge' if merge else ''}"
    return kernel_for(("moments", wg, lanes, merge), _text, label, wg)


def _text(key: tuple[str, int, int, bool]) -> tuple[str, str]:
    name, wg, lanes, merge = key
    text = kernels.specialise(name, WG=wg, LANES=lanes, MERGE=merge)
    for block in ("tree", "join") if lanes == 1 else ():
        text = kernels.replace_block(text, block, "")
    return text, "rw"
