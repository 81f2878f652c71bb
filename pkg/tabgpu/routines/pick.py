"""Gathers along rows by positions, and scatters to positions that are all different: one launch of pick.wgsl."""

from __future__ import annotations

from typing import NamedTuple

from ..graph import Op
from ..launch import Launch
from ..region import Facts
from . import kernel, launch


class Pick(NamedTuple):
    """How rows lie: `n` elements a row of the source, `out` of the result, `m` indices a row."""

    rows: int
    n: int
    out: int
    m: int
    shared: bool  # whether all rows have the same indices
    fill: tuple[int, ...] = (0, 0)  # bits of what positions past the end give


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "pick.gather" or "pick.scatter"; args: values, int32 positions."""
    job = Pick(*op.extra)
    wg = facts.workgroup
    scatter = op.fn == "pick.scatter"
    made = kernel("pick", "rrw", op.fn.replace(".", "_"), WG=wg, SCATTER=scatter)
    total = job.rows * job.m
    words = [job.n, job.out, job.m, total, 0 if job.shared else job.m, op.dtype.words, *(*job.fill, 0, 0)[:2]]
    return [launch(made, op.args, (op,), -(-total // wg), words, facts)]
