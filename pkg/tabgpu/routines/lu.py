"""LU factorisations with partial pivoting: two launches a panel, lu_panel.wgsl (a workgroup a matrix) and the update.

No row moves before the end: a table says which row stands at which place, lu_ends.wgsl puts the factors in order.
"""

from __future__ import annotations

from ..dtypes import uint32
from ..graph import Op
from ..launch import Launch
from ..region import Facts
from . import launch, temporary
from .elimination import Block, Walk, depth, kernel_of, threads, update
from .scatter import copied

MOST = 1024  # threads of a panel's workgroup


def sizes(batch: int, m: int, n: int) -> tuple[int, int, int, int]:
    """Where in the result pivots, rows and verdicts begin, and its size."""
    pivots = batch * m * n
    rows = pivots + batch * min(m, n)
    verdicts = rows + batch * m
    return pivots, rows, verdicts, verdicts + batch


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.args: matrices (batch, m, n); op.extra: batch, m, n. The result: L below the diagonals and U, then as numbers
    the place that each row was exchanged with, the rows in their new order, and 0 or the number of the first zero
    pivot."""
    batch, m, n = op.extra
    kind, source = op.dtype.kind, op.args[0]
    least, k = min(m, n), depth(kind, facts, True)
    l = temporary((batch, least, m), op.dtype)  # noqa: E741
    posts = 2 * m + least + 1
    table = temporary((batch, posts), uint32)
    begin = [m, n, least, 0, least * m, posts, batch, min(k, least), *sizes(batch, m, n)[:3], 0]
    ends = [kernel_of("lu_ends", kind, "www", WG=facts.workgroup, STEP=step) for step in (0, 1)]

    def end(step: int, columns: int, matrix: Op) -> Launch:
        threads_ = (m * columns + m + least + 1) * batch
        return launch(ends[step], (), (l, table, matrix), -(-threads_ // facts.workgroup), begin, facts)

    w = temporary((batch, m, n), op.dtype)
    made = [copied(source, w, facts), end(0, min(k, least), w)]
    subgroups = bool(facts.subgroups[0]) and not facts.software
    size = 16 if facts.software else min(MOST, threads(facts), max(32, 1 << (m - 1).bit_length()))
    subgroups = subgroups and size >= facts.subgroups[1]
    panel = kernel_of("lu_panel", kind, "www", subgroups, K=k, WG=size)
    where = Walk(0, n, 1, m * n)
    for j in range(0, least, k):
        width = min(k, least - j)
        words = [m, n, j, width, least * m, posts, m * n, batch, 2 * m, 2 * m + least, 0, 0]
        made.append(launch(panel, (), (l, table, op), batch, words, facts))
        if j + width < n:
            kept = min(j + width + k, least)
            block = Block(m, n, batch, j, width, j + width, 0, 1, kept, posts)
            made.append(
                update(kind, block, l, Walk(0, 1, m, least * m), (w, where), (op, where), facts, table)
            )
    return [*made, end(1, least, op)]
