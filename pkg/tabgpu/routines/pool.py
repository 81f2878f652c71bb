"""Pooling and sums over windows: one launch of pool.wgsl. Texts: codegen_pool.py; users: nn/pooling.py."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ..codegen_pool import Form, text
from ..dtypes import uint32
from ..graph import Op
from ..launch import Launch
from ..lower_wide import wide
from ..region import Facts, bits, kernel_for
from . import launch
from .leads import by_leads

SHARED = 1024  # elements of a window from which on a workgroup shares it
LONGEST = 32768  # the same of a CPU adapter, whose loops may be bounded
FEW = 1 << 14  # results from which on there are threads enough


class Axis(NamedTuple):
    """One pooled axis."""

    out: int
    size: int
    stride: int
    taps: int
    step: int = 1
    before: int = 0
    dilation: int = 1
    end: int = 0  # the size with the padding behind


class Pool(NamedTuple):
    """op.extra of a pool."""

    channels: int  # size of the second leading axis
    offset: int
    strides: tuple[int, int]  # of the leading axes
    axes: tuple[Axis, ...]
    adaptive: bool = False
    padded: bool = False  # whether padding counts in a mean
    divisor: float = 0.0  # what a sum is divided by; 0: by what counts
    times: float = 1.0  # and multiplied by
    numbers: tuple[float, ...] = ()  # of the function


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "pool.NAME", a name of kernels/pool_functions.py; op.extra: a Pool. argmax: (2, results) words.
    op.args: the array, and samples where they decide where windows lie (then `step` of an Axis has float32 bits)."""
    job = Pool(*op.extra)
    name, src = op.fn.partition(".")[2], op.args[0]
    both = name == "argmax"
    outs = op.size // 2 if both else op.size
    axes = [Axis(*a) for a in job.axes]
    window = prod(-(-a.size // a.out) if job.adaptive else min(a.taps, a.size) for a in axes)
    shared = window >= (LONGEST if facts.software else SHARED) and outs < FEW
    target = uint32 if both else op.dtype
    wg = 1 << (facts.workgroup.bit_length() - 1)
    random = len(op.args) > 1
    sig = Form(name, src.dtype, target, len(axes), wg, shared, random)
    made = kernel_for(sig, text, f"pool_{name}_{src.dtype.name}", wg)
    lowest = {"f": 0xFF800000, "i": -1 << 8 * src.dtype.itemsize - 1, "u": 0}[src.dtype.kind]
    numbers = [lowest] if name in ("max", "argmax") else [bits(v, "f") for v in job.numbers]
    tail = [
        *job.strides,
        job.adaptive + 2 * job.padded,
        bits(job.divisor, "f") if job.divisor else 0,
        bits(job.times, "f"),
        *(*numbers, 0, 0, 0, 0)[:4],
    ]
    for a in axes:
        tail += a

    def emit(offset: int, results: int) -> Launch:
        held = -(-results // target.per_word)
        groups = held if shared else -(-held // wg)
        return launch(made, op.args, (op,), groups, [results, job.channels, offset, *tail], facts)

    if both and not wide([src, op], facts):
        return [emit(job.offset, outs)]
    spans = tuple([(a.size, a.stride) for a in axes])
    leads = outs // prod(a.out for a in axes)
    return by_leads(
        op, job.channels, leads, job.offset, job.strides, spans, emit, facts, whole=both or random
    )
