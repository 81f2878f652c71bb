"""What functions need to hand work to a hand-written kernel (routines/): operands as stored memory, and the new Op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import engine
from ..array import Array, fresh, source
from ..dtypes import DType
from ..graph import IOTA, KERNEL, SCALAR, Op
from ..layout import Shape, is_contiguous
from .creation import copy_of


def stored(x: Array) -> Op:
    """An Op that holds x row-major from its first element on (its own shape may be another); views, constants and
    ranges are copied."""
    op = x._cell.op
    return op if whole(x) else source(copy_of(x))[0]


def whole(x: Array) -> bool:
    """Whether x is all of its memory in row-major order, so that `stored` copies nothing."""
    op, seen = source(x)
    if op.kind in (SCALAR, IOTA) and op.buffer is None:
        return False
    return seen is None or (not seen.offset and x.size == op.size and is_contiguous(seen))


def routine(
    name: str, args: Sequence[Op], shape: Shape, dtype: DType, extra: Any = None, work: int = 0
) -> Array:
    """A pending Array that routines/NAME computes from args (see `stored`). extra: hashable parameters. work: what it
    costs in elements, where that is more than the size of the result."""
    out = fresh(Op(KERNEL, name, tuple(args), (None,) * len(args), shape, dtype, extra))
    if work:
        engine.weigh(work)
    return out
