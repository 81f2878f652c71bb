"""LU factorisations with partial pivoting: two launches a panel, lu_panel.wgsl (a workgroup a matrix) and the update.

No row moves before the end: a table says which row stands at which place, lu_ends.wgsl puts the factors in order.
"""

from __future__ import annotations

from typing import NamedTuple

from ..dtypes import uint32
from ..graph import Op
from ..launch import Launch
from ..region import Facts
from . import launch, temporary
from .elimination import Block, Walk, depth, eliminated, kernel_of, small, threads, update
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
    places = sizes(batch, m, n)[:3]
    if m == n and small(n, 1, kind, facts)[0]:
        return eliminated(op, 0, (source, n * n), (source, 0), n, 1, batch, places, facts)
    made, ends = factored(source, op, batch, m, n, facts)
    return [*made, ends.launch(1, op, places)]


class Ends(NamedTuple):
    """What lu_ends works on: l, the table, sizes."""

    columns: Op
    table: Op
    batch: int
    m: int
    n: int
    facts: Facts

    @property
    def posts(self) -> int:
        """Words of the table a matrix: places, rows, exchanges, the verdict."""
        return 2 * self.m + min(self.m, self.n) + 1

    def launch(
        self, step: int, matrix: Op, places: tuple[int, int, int] | None = (0, 0, 0), first: int = 0
    ) -> Launch:
        """Step 0 puts `first` columns into l, 1 the lower triangle into the result, 1 and 2 the tail (`places`)."""
        m, n, least, facts = self.m, self.n, min(self.m, self.n), self.facts
        made = kernel_of("lu_ends", matrix.dtype.kind, "www", WG=facts.workgroup, STEP=step)
        words = [
            m,
            n,
            least,
            0,
            least * m,
            self.posts,
            self.batch,
            first,
            *(places or (0, 0, 0)),
            places is None,
        ]
        each = 1 if step == 2 else m * (least if step else first) + m + least + 1
        into = (self.columns, self.table, matrix)
        return launch(made, (), into, -(-each * self.batch // facts.workgroup), words, facts)


def factored(source: Op, result: Op, batch: int, m: int, n: int, facts: Facts) -> tuple[list[Launch], Ends]:
    """The launches up to the last panel: U is in the result, L and the order of rows in what Ends holds."""
    kind, least = result.dtype.kind, min(m, n)
    k = depth(kind, facts, True)
    if m >= 2048:  # a panel is one workgroup's work, and the rest of the GPU waits
        k = min(k, 8)
    l = temporary((batch, least, m), result.dtype)  # noqa: E741
    ends = Ends(l, temporary((batch, 2 * m + least + 1), uint32), batch, m, n, facts)
    posts, table = ends.posts, ends.table
    w = temporary((batch, m, n), result.dtype)
    made = [copied(source, w, facts), ends.launch(0, w, first=min(k, least))]
    subgroups = bool(facts.subgroups[0]) and not facts.software
    size = 16 if facts.software else min(MOST, threads(facts), max(32, 1 << (m - 1).bit_length()))
    subgroups = subgroups and size >= facts.subgroups[1]
    panel = kernel_of("lu_panel", kind, "www", subgroups, K=k, WG=size)
    where, columns = Walk(0, n, 1, m * n), Walk(0, 1, m, least * m)
    for j in range(0, least, k):
        width = min(k, least - j)
        words = [m, n, j, width, least * m, posts, m * n, batch, 2 * m, 2 * m + least, 0, 0]
        made.append(launch(panel, (), (l, table, result), batch, words, facts))
        if j + width < n:
            kept = min(j + width + k, least)
            block = Block(m, n, batch, j, width, j + width, 0, 1, kept, posts)
            made += update(kind, block, l, columns, (w, where), (result, where), facts, table)
    return made, ends
