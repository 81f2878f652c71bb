"""Recursive filters along an axis: how columns are cut in chunks, and the launches of iir.wgsl and iir_carry.wgsl.

Two reads and one write of the samples: what each chunk leaves, what is carried between (a tree of groups), the filter.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ..dtypes import float32
from ..graph import Op
from ..kernels.iir_functions import ORDERS, SECTIONS, Form, carry_text, text
from ..launch import Launch
from ..region import Facts, bits, kernel_for
from . import launch, temporary

JOBS = 1 << 18  # threads that keep a large GPU busy
JOBS_SOFTWARE = 64
LEAST = 16  # samples of a chunk
LEAST_SOFTWARE = 1024
GROUP = 32  # chunks that one thread of iir_carry takes
SEGMENT = 1 << 15  # samples that one thread may walk in a launch
GREATEST = 1e12  # powers of the matrix above this are an unstable filter's: it is walked from end to end

Matrix = tuple[tuple[float, ...], ...]


class Filter(NamedTuple):
    """A filter of (outer, n, inner); op's memory is the results, then the states if `final`."""

    outer: int
    n: int
    inner: int
    reverse: bool
    final: bool
    begun: bool  # args[1] holds states (outer, states, inner)
    sections: bool
    coefficients: tuple[float, ...]  # b0 .. bn a1 .. an, or b0 b1 b2 a1 a2 a section
    moves: Matrix  # how states move in one step without input


def lower(op: Op, facts: Facts) -> list[Launch]:
    """args: samples, states at the beginning (anything, if there are none)."""
    job = Filter(*op.extra)
    src, first = op.args
    if op.dtype.kind == "c":  # pairs of real numbers
        job = job._replace(inner=job.inner * 2)
    columns = job.outer * job.inner
    most, least = (JOBS_SOFTWARE, LEAST_SOFTWARE) if facts.software else (JOBS, LEAST)
    chunks = max(1, min(-(-most // columns), job.n // least))
    length = min(-(-job.n // chunks) + 3 & ~3, SEGMENT)
    chunks = -(-job.n // length)
    powers = _powers(job.moves, length, chunks) if chunks > 1 else ()
    if powers is None:
        return _walk(op, job, src, first, facts)
    if chunks == 1:
        return [_run(op, job, src, first, job.begun, 1, length, (0, job.n), False, facts)]
    many = len(job.moves)
    left = temporary((job.outer, many, chunks, job.inner), float32)
    ends = _run(left, job, src, src, False, chunks, length, (0, job.n), True, facts)
    before = temporary((job.outer, many, chunks, job.inner), float32)
    made = [ends, *_carried(left, before, first, job, chunks, powers, facts)]
    return [*made, _run(op, job, src, before, True, chunks, length, (0, job.n), False, facts)]


def _walk(op: Op, job: Filter, src: Op, first: Op, facts: Facts) -> list[Launch]:
    """One thread a column, a segment a launch; what a segment leaves is of another launch (ENDS)."""
    made, begun = [], job.begun
    for at in range(0, job.n, SEGMENT):
        part = (at, min(at + SEGMENT, job.n))
        made.append(_run(op, job, src, first, begun, 1, SEGMENT, part, False, facts))
        if part[1] < job.n:
            left = temporary((job.outer, len(job.moves), 1, job.inner), float32)
            made.append(_run(left, job, src, first, begun, 1, SEGMENT, part, True, facts))
            first, begun = left, True
    return made


def filled(many: int, sections: bool) -> int:
    """The least number of sections or states that there is a kernel for."""
    return next(k for k in (SECTIONS if sections else ORDERS) if k >= many)


def _run(
    into: Op, job: Filter, src: Op, carry: Op, begun: bool, chunks: int, length: int, part: tuple[int, int],
    ends: bool, facts: Facts,
) -> Launch:  # fmt: skip
    """One launch of iir."""
    many = len(job.moves)
    count = filled(many // 2 if job.sections else many, job.sections)
    form = Form(job.sections, count, ends, min(64, facts.workgroup))
    label = f"iir_{'sos' if job.sections else 'df'}{count}{'_ends' if ends else ''}"
    made = kernel_for(form, text, label, form.threads)
    given = job.coefficients
    if job.sections:
        numbers = given + (1.0, 0.0, 0.0, 0.0, 0.0) * (count - many // 2)
    else:
        pad = (0.0,) * (count - many)
        numbers = (*given[: many + 1], *pad, *given[many + 1 :], *pad)
    last = job.final and part[1] == job.n
    size = job.outer * job.n * job.inner
    words = [job.n, job.outer, chunks, job.inner, length, job.reverse, *part, many, begun, last, size]
    words += [bits(x, "f") for x in numbers]
    words += [0] * (-len(words) % 4)
    groups = -(-job.outer * chunks * job.inner // form.threads)
    return launch(made, (src, carry), (into,), groups, words, facts)


def _carried(
    left: Op, before: Op, first: Op, job: Filter, chunks: int, powers: tuple[Matrix, ...], facts: Facts
) -> list[Launch]:
    """The launches that make the states before each chunk from what chunks leave."""
    many = len(job.moves)
    wg = min(64, facts.workgroup)
    count = 2 * filled(many // 2, True) if job.sections else filled(many, False)
    quads = -(-count // 4)
    rows = [0.0] * (count * quads * 4)
    for i, row in enumerate(powers[0]):
        rows[i * quads * 4 : i * quads * 4 + many] = row
    numbers = [bits(x, "f") for x in rows]

    def step(up: bool, groups: int, each: int, carry: Op, begun: bool, into: Op) -> Launch:
        made = kernel_for(
            ("iir_carry", count, up, wg), carry_text, f"iir_carry{count}{'_up' if up else ''}", wg
        )
        words = [chunks, job.outer, groups, job.inner, each, begun, many, 0, *numbers]
        return launch(made, (left, carry), (into,), -(-job.outer * groups * job.inner // wg), words, facts)

    if chunks <= GROUP:
        return [step(False, 1, chunks, first, job.begun, before)]
    groups = -(-chunks // GROUP)
    shape = (job.outer, many, groups, job.inner)
    totals, starts = temporary(shape, float32), temporary(shape, float32)
    return [
        step(True, groups, GROUP, left, False, totals),
        *_carried(totals, starts, first, job, groups, powers[1:], facts),
        step(False, groups, GROUP, starts, True, before),
    ]


@lru_cache(256)
def _powers(moves: Matrix, length: int, chunks: int) -> tuple[Matrix, ...] | None:
    """The matrix over a chunk, over a group of chunks, over a group of these ..; None if one is too great."""
    import numpy as np

    with np.errstate(all="ignore"):
        power = np.linalg.matrix_power(np.array(moves), length)
        made = []
        while True:
            if not np.abs(power).max() < GREATEST:
                return None
            made.append(tuple([tuple([float(x) for x in row]) for row in power]))
            if chunks <= GROUP:
                return tuple(made)
            power = np.linalg.matrix_power(power, GROUP)
            chunks = -(-chunks // GROUP)
