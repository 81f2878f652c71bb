"""Cholesky factorisations: two launches a panel, cholesky_panel.wgsl and the update of what is right of it."""

from __future__ import annotations

from ..graph import Op
from ..launch import Launch
from ..region import Facts
from . import kernel, launch, temporary
from .elimination import Block, Walk, depth, kernel_of, threads, update
from .scatter import copied


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.args: matrices (batch, n, n), of which the lower triangles are read; op.extra: batch, n. The result: the
    factors, zero above the diagonal, then a number a matrix: 0, or the first k whose leading block is not positive
    definite."""
    batch, n = op.extra
    kind, source = op.dtype.kind, op.args[0]
    k = depth(kind, facts)
    words = op.size * op.dtype.itemsize // 4
    clear = kernel("fill_words", "w", WG=facts.workgroup)
    made = [launch(clear, (), (op,), -(-words // (4 * facts.workgroup)), [words, 0], facts)]
    size = k if n <= k else min(64 if facts.software else 128, threads(facts))
    panel = kernel_of("cholesky_panel", kind, "rw", K=k, NT=size)
    w = source
    if n > k:
        w = temporary(source.shape, op.dtype)
        made.append(copied(source, w, facts))
    walk = Walk(0, n, 1, n * n)
    for j in range(0, n, k):
        width = min(k, n - j)
        groups = max(1, -(-(n - j - k) // (size - k))) if size > k else 1
        words_ = [n, j, width, groups, n, n * n, n, n * n, batch * n * n, batch, 0, 0]
        made.append(launch(panel, (w,), (op,), groups * batch, words_, facts))
        if j + width < n:
            block = Block(n, n, batch, j, width, j + width, j + width)
            made.extend(update(kind, block, op, walk, (w, walk), None, facts))
    return made
