"""Triangular systems by blocks of rows, one launch each; and rows of matrices in another order."""

from __future__ import annotations

from math import prod

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
    w = temporary(op.shape, op.dtype)
    first = copied(op.args[1], w, facts)
    return [first, *substitution(op.args[0], walk, w, op, op.shape, bits, backward, facts)]


def substitution(
    triangles: Op, walk: Walk, w: Op, x: Op, shape: Shape, bits: int, backward: bool, facts: Facts
) -> list[Launch]:
    """The solutions of shape (batch, n, columns) go to x; w, the right-hand sides, is written over."""
    batch, n, columns = shape
    kind = x.dtype.kind
    k = depth(kind, facts)
    made: list[Launch] = []
    rows = Walk(0, columns, 1, n * columns)
    if backward:
        walk = Walk(walk.offset + (n - 1) * (walk.row + walk.column), -walk.row, -walk.column, walk.batch)
        rows = Walk((n - 1) * columns, -columns, 1, n * columns)
    for j in range(0, n, k):
        width = min(k, n - j)
        block = Block(n, columns, batch, j, width, 0, j + width, bits)
        made += update(kind, block, triangles, walk, (w, rows), (x, rows), facts)
    return made


def _rows(op: Op, facts: Facts) -> Launch:
    """op.args: matrices, the order; op.extra: batches of orders, whether rows go to those places."""
    orders, back = op.extra
    return permutation(op.args[0], op.args[1], op, op.shape, facts, 0, op.shape[-2] * (orders > 1), back)


def permutation(
    source: Op | None, order: Op, result: Op, shape: Shape, facts: Facts, first: int, step: int, back: int = 0
) -> Launch:
    """Rows (of an identity without a source) in an order that begins at word `first`, `step` words from matrix to
    matrix."""
    each = result.dtype.itemsize // 4
    words = each * prod(shape)
    rows = shape[-2] if source is None or source.size == prod(shape) else 0
    made = kernel("permute_rows", "rrw", WG=facts.workgroup)
    what = [shape[-2], shape[-1] * each, words, step, back, first, rows, 0 if source else each]
    return launch(made, (source or order, order), (result,), -(-words // facts.workgroup), what, facts)
