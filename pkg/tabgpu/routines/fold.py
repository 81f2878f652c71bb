"""Windows as columns and back: one launch of fold.wgsl, whose text is codegen_windows'. Users: nn/folding.py."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ..codegen_windows import fold
from ..graph import Op
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch
from .join import bits_of
from .leads import by_leads


class Axis(NamedTuple):
    """One axis that windows go along. stride: of the array that is unfolded."""

    windows: int
    size: int
    stride: int
    taps: int
    step: int
    before: int
    dilation: int


class Fold(NamedTuple):
    """op.extra. stride: of the columns that are folded, along windows."""

    channels: int
    offset: int
    strides: tuple[int, int]
    axes: tuple[Axis, ...]
    stride: int = 0


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "fold.unfold" (bits of any dtype of one word or less) or "fold.fold"; op.extra: a Fold."""
    job = Fold(*op.extra)
    unfolds = op.fn == "fold.unfold"
    dtype = bits_of(op.dtype) if unfolds else op.dtype
    axes = [Axis(*a) for a in job.axes]
    sig = ("fold", unfolds, dtype, len(axes), facts.workgroup)
    made = kernel_for(sig, fold, f"{op.fn[5:]}_{dtype.name}", facts.workgroup)
    taps, windows = prod(a.taps for a in axes), prod(a.windows for a in axes)
    tail = [*job.strides, taps, windows, job.stride]
    for a in axes:
        tail += (*a, 0)

    def emit(offset: int, results: int) -> Launch:
        groups = -(-results // (dtype.per_word * facts.workgroup))
        return launch(made, op.args, (op,), groups, [results, job.channels, offset, *tail], facts)

    if unfolds:
        spans, each = tuple([(a.size, a.stride) for a in axes]), taps * windows
    else:
        spans, each = ((windows, job.stride),), prod(a.size for a in axes)
    rows = 1 if unfolds else taps
    return by_leads(op, job.channels, op.size // each, job.offset, job.strides, spans, emit, facts, rows=rows)
