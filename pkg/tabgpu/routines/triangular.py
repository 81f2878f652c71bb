"""Triangular systems by blocks of rows, one launch each; and rows of matrices in another order."""

from __future__ import annotations

from ..graph import Op
from ..launch import Launch
from ..layout import Shape
from ..region import Facts
from . import kernel, launch, temporary
from .elimination import Block, Walk, depth, update
from .scatter import copied


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn: "triangular" (solves), "triangular.rows" (permute_rows), "triangular.order" (pivot_order)."""
    part = op.fn.partition(".")[2]
    if part == "rows":
        return [_rows(op, facts)]
    if part == "order":
        rows, pivots, batch = op.extra
        made = kernel("pivot_order", "rw", WG=min(64, facts.workgroup))
        groups = -(-batch // min(64, facts.workgroup))
        return [launch(made, op.args, (op,), groups, [rows, pivots, batch, 0], facts)]
    return _solve(op, facts)


def _solve(op: Op, facts: Facts) -> list[Launch]:
    """op.args: triangles, right-hand sides (batch, n, columns); op.extra: the Walk of the triangles' elements, bits as
    Block's, whether the last row is solved first."""
    walk, bits, backward = Walk(*op.extra[0]), op.extra[1], op.extra[2]
    batch, n, columns = op.shape
    kind = op.dtype.kind
    k = depth(kind, facts)
    w = temporary(op.shape, op.dtype)
    made = [copied(op.args[1], w, facts)]
    rows = Walk(0, columns, 1, n * columns)
    if backward:
        walk = Walk(walk.offset + (n - 1) * (walk.row + walk.column), -walk.row, -walk.column, walk.batch)
        rows = Walk((n - 1) * columns, -columns, 1, n * columns)
    for j in range(0, n, k):
        width = min(k, n - j)
        block = Block(n, columns, batch, j, width, 0, j + width, bits)
        made.append(update(kind, block, op.args[0], walk, (w, rows), (op, rows), facts))
    return made


def _rows(op: Op, facts: Facts) -> Launch:
    """op.args: matrices, the order; op.extra: batches of orders, whether rows go to those places."""
    shape: Shape = op.shape
    words = op.size * op.dtype.itemsize // 4
    row = shape[-1] * op.dtype.itemsize // 4
    made = kernel("permute_rows", "rrw", WG=facts.workgroup)
    orders, back = op.extra
    groups = -(-words // facts.workgroup)
    return launch(made, op.args, (op,), groups, [shape[-2], row, words, orders, back, 0, 0, 0], facts)
