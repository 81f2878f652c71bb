"""Sampling at places of another array: one launch of sample.wgsl, whose text is codegen_windows'."""

from __future__ import annotations

from typing import NamedTuple

from ..codegen_windows import sample
from ..graph import Op
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch

TAPS = {"nearest": 1, "bilinear": 2, "bicubic": 4}
OUTSIDE = ("zeros", "border", "reflection")


class Sample(NamedTuple):
    """op.extra. sizes and steps: of the sampled axes."""

    channels: int
    offset: int
    strides: tuple[int, int]
    places: int  # a sample
    outside: int
    aligned: bool
    sizes: tuple[int, ...]
    steps: tuple[int, ...]


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "sample.MODE"; op.args: the array and its float32 places; op.extra: a Sample."""
    job = Sample(*op.extra)
    mode = op.fn.partition(".")[2]
    sig = ("sample", TAPS[mode], op.dtype, len(job.sizes), facts.workgroup)
    made = kernel_for(sig, sample, f"grid_sample_{mode}_{op.dtype.name}", facts.workgroup)
    words = [op.size, job.channels, job.offset, *job.strides, job.places, job.outside, int(job.aligned)]
    for n, step in zip(job.sizes, job.steps, strict=True):
        words += (n, step, 0, 0)
    return [launch(made, op.args, (op,), -(-op.size // (op.dtype.per_word * facts.workgroup)), words, facts)]
