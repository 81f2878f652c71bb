"""Resizing: one launch of resize.wgsl. Texts: codegen_resize.py; who counts the coordinates: nn/resizing.py."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ..codegen_resize import Form, text
from ..dtypes import float32, uint8, uint16, uint32
from ..graph import Op
from ..launch import Launch
from ..region import Facts, bits, kernel_for
from . import launch
from .join import element_bits
from .leads import by_leads

BY_SIZE = {1: uint8, 2: uint16, 4: uint32}


class Axis(NamedTuple):
    """One resized axis. ratio: (A, B, K, D) in whole numbers; else x = a (o + p) + q and two words more."""

    out: int
    size: int
    stride: int
    place: tuple[float, float, float]
    more: tuple[float, float] | int = 0  # of a filter; how to round
    ratio: tuple[int, int, int, int] | None = None


class Resize(NamedTuple):
    """op.extra of a resize."""

    channels: int
    offset: int
    strides: tuple[int, int]
    axes: tuple[Axis, ...]
    inside: bool = False  # whether only what lies inside has weight
    coefficient: float = -0.75
    fill: float | None = None  # of results whose place lies outside


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "resize.NAME", a name of kernels/resize_functions.py; op.extra: a Resize."""
    job = Resize(*op.extra)
    name = op.fn.partition(".")[2]
    dtype = BY_SIZE[op.dtype.itemsize] if name == "nearest" else op.dtype
    wg = facts.workgroup
    sig = Form(name, dtype, len(job.axes), wg)
    made = kernel_for(sig, text, f"resize_{name}_{dtype.name}", wg)
    flags = job.inside + 2 * (job.fill is not None)
    fill = element_bits(job.fill or 0, op.dtype if name == "nearest" else float32)
    words = [*job.strides, flags, bits(job.coefficient, "f"), fill]
    spans = []
    for axis in job.axes:
        a = Axis(*axis)
        spans.append((a.size, a.stride))
        words += (a.out, a.size, a.stride)
        if a.ratio is not None:
            words += a.ratio[0], a.ratio[1], 0, a.ratio[2], a.ratio[3]
            continue
        words += [bits(v, "f") for v in a.place]
        words += [a.more, 0] if isinstance(a.more, int) else [bits(v, "f") for v in a.more]

    def emit(offset: int, results: int) -> Launch:
        groups = -(-results // (dtype.per_word * wg))
        return launch(made, op.args, (op,), groups, [results, job.channels, offset, *words], facts)

    leads = op.size // prod(axis[0] for axis in job.axes)
    return by_leads(op, job.channels, leads, job.offset, job.strides, tuple(spans), emit, facts)
