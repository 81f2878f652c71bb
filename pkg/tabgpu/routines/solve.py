"""Systems of linear equations: small ones in a launch for all of them, others by LU factors and two substitutions."""

from __future__ import annotations

from ..graph import Op
from ..launch import Launch
from ..region import Facts
from . import temporary
from .elimination import Walk, eliminated, small
from .lu import factored
from .triangular import permutation, substitution


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.args: matrices, right-hand sides (none: inverses); op.extra: how many of both there are (one stands for all),
    n, columns. The result: solutions, then a verdict for each: 0, or the number of the first zero pivot."""
    several, many, n, columns = op.extra
    batch, end = max(several, many), max(several, many) * n * columns
    kind, matrices = op.dtype.kind, op.args[0]
    right = op.args[1] if len(op.args) == 2 else None
    step, other = n * n * (several > 1), n * columns * (many > 1)
    if small(n, columns, kind, facts)[0] and (several > 1 or many == 1):
        both = (matrices, step), (right or matrices, other)
        return eliminated(op, 1 if right else 2, *both, n, columns, batch, (end, end, end), facts)
    factors = temporary((several, n, n), op.dtype)
    made, ends = factored(matrices, factors, several, n, n, facts)
    made += [ends.launch(1, factors, None), ends.launch(2, op, (end, end, end))]
    shape = (batch, n, columns)
    w, x = temporary(shape, op.dtype), temporary(shape, op.dtype)
    made.append(permutation(right, ends.table, w, shape, facts, n, ends.posts * (several > 1)))
    walk = Walk(0, n, 1, step)
    made += substitution(factors, walk, w, x, shape, 1, False, facts)
    return made + substitution(factors, walk, x, op, shape, 0, True, facts)
