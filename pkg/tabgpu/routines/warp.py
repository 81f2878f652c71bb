"""Arrays sampled by splines at mapped places: one launch of warp.wgsl. Text: codegen_warp.py; users: image/."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ..codegen_warp import Form, text
from ..graph import Op
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch

PERIODS = 2  # outside: as in warp.wgsl


class Axis(NamedTuple):
    """One sampled axis. Places are multiples of 2^-32: at result 0, and what each axis of the result adds."""

    size: int
    stride: int
    outside: int
    border: int
    first: int = 0
    steps: tuple[int, int, int] = (0, 0, 0)


class Warp(NamedTuple):
    """op.extra."""

    channels: int
    offset: int
    strides: tuple[int, int]
    order: int
    constant: int  # bits
    results: tuple[int, ...]  # the result's own axes
    axes: tuple[Axis, ...]


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.args: the array, and float32 places (axes, results) if no map gives them. Result: float32."""
    job = Warp(*op.extra)
    axes = [Axis(*a) for a in job.axes]
    given = len(op.args) > 1
    wg = min(facts.workgroup, 256)
    sig = Form(job.order, len(axes), op.args[0].dtype, wg, given)
    made = kernel_for(("warp", sig), lambda _: text(sig), f"warp_{job.order}", wg)
    each = prod(job.results)
    sizes = (1, each, 1) if given else (*(1,) * (3 - len(job.results)), *job.results)
    words = [op.size, job.channels, job.offset, *job.strides, job.constant, each, 0, *sizes, 0]
    for a in axes:
        words += [a.size, a.stride, a.outside, a.border]
        for v in (a.first, *a.steps):
            words += [v & 0xFFFFFFFF, v >> 32]
    return [launch(made, op.args, (op,), -(-op.size // wg), words, facts)]
