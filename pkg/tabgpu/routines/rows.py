"""Softmax and its kin, layer and rms normalisation: which passes of rows.wgsl a shape takes. Texts: codegen_rows.py."""

from __future__ import annotations

from typing import NamedTuple

from ..codegen_rows import Form, text
from ..dtypes import uint32
from ..graph import Op
from ..kernels.rows_functions import PLANES
from ..launch import Kernel, Launch
from ..lower_reduction import workgroups
from ..region import Facts, kernel_for
from . import launch, temporary

MERGE = 64  # chunks a line above which a pass of its own joins their statistics
THREADS = 1024  # that a CPU adapter should have to do
LONGEST = 65536  # elements of a line that one of its threads takes at most
WORTH = 32768  # elements from which on it pays there to cut lines


def form(sig: Form) -> Kernel:
    """The kernel of a form, made once."""
    label = f"{sig.name}_{sig.source.name}_{sig.phase}" + ("_across" if sig.across else "")
    return kernel_for(("rows", *sig), lambda _: text(sig), label, 0)


class Lines(NamedTuple):
    """What one launch works on: lines of n elements, `inner` of them side by side, in a strided operand."""

    outer: int
    n: int
    inner: int
    offset: int
    strides: tuple[int, int, int]  # of the operand, along outer, n, inner
    across: bool  # whether neighbouring threads walk across lines, where lines lie side by side
    vector: bool  # whether four neighbours are one aligned quad, in the operand and in the result
    eps: int = 0  # bits
    weight: bool = False  # op.args[1]: n float32 factors
    bias: bool = False  # the last of op.args: n float32 terms
    # Where weight and bias have one element a channel: lines a batch, channels a line, elements a channel.
    groups: tuple[int, int, int] | None = None


class Shape(NamedTuple):
    """How a line is shared out."""

    workgroup: int
    lanes: int
    items: int  # quads a thread keeps; 0: it loops
    across: bool
    chunk: int
    chunks: int


def share(lines: int, n: int, across: bool, facts: Facts) -> Shape:
    """The shape for lines of n elements."""
    wg = facts.workgroup
    each = 1 if across else 4  # elements of a line in a quad
    quads = -(-lines // 4) if across else lines
    if facts.software:
        chunks = max(1, min(THREADS // quads, n // 256)) if lines * n > WORTH else 1
        chunks = max(chunks, -(-n // LONGEST))
        chunk = -(-n // (4 * chunks)) * 4
        return Shape(min(wg, 64), 1, 0, across, chunk, -(-n // chunk))
    steps = -(-n // each)
    if across:
        lanes = 8 if steps <= 64 else 32
        most = lanes * 8
        if steps > most:
            return Shape(wg, lanes, 8, True, most, -(-n // most))
        return Shape(wg, lanes, _items(steps, lanes), True, n, 1)
    half = min(wg, 128)  # a workgroup of few threads with more each does better (docs/performance.md)
    ways = ((wg, 8, 1), (wg, 32, 4), (half, half, 8), (wg, wg, 16))
    fits = next((way[:2] for way in ways if steps <= way[1] * way[2]), None)
    if fits is None or (steps > wg * 4 and lines < 128):
        items = 4 if lines * steps < 1 << 20 else 8
        chunk = 4 * wg * items
        return Shape(wg, wg, items, False, chunk, -(-n // chunk))
    return Shape(*fits, _items(steps, fits[1]), False, 4 * steps, 1)


def _items(steps: int, lanes: int) -> int:
    """The next power of two of quads a thread."""
    return 1 << (-(-steps // lanes) - 1).bit_length()


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "rows.NAME", a name of rows_functions.TABLE; op.extra: Lines; op.args: x, then weight and bias."""
    job, name = Lines(*op.extra), op.fn.partition(".")[2]
    lines = job.outer * job.inner
    by = share(lines, job.n, job.across, facts)
    many = by.chunks > 1
    x, extras = op.args[0], op.args[1:]
    value = name == "logsumexp"
    sg = by.lanes == by.workgroup and not by.across and "subgroups" in facts.features

    def step(
        phase: str, reads: tuple[Op, ...], write: Op, chunks: int, jobs: int, shape: Shape, elements: int
    ) -> Launch:
        kernel = form(
            Form(
                name, phase, shape.workgroup, shape.lanes, shape.items, shape.across, job.vector,
                x.dtype, write.dtype if phase in ("whole", "apply") else uint32, job.weight, job.bias, sg,
                not facts.software, job.groups is not None and phase in ("whole", "apply"),
            )
        )  # fmt: skip
        words = [
            lines,
            job.n,
            job.inner,
            elements,
            jobs,
            job.eps,
            job.offset,
            *job.strides,
            chunks,
            job.n if chunks == 1 else by.chunk,
            *(job.groups or ()),
        ]
        own = -(-lines // 4) if shape.across else lines
        groups = workgroups(own, jobs, shape.lanes, shape.workgroup)
        return launch(kernel, reads, (write,), groups, words, facts)

    if not many:
        return [step("value" if value else "whole", (x, *extras), op, 1, 1, by, by.chunk)]
    planes = PLANES[name]
    parts = temporary((planes, by.chunks, lines), uint32)
    made = [step("partial", (x,), parts, by.chunks, by.chunks, by, by.chunk)]
    chunks = by.chunks
    if value or chunks > MERGE:
        merged = op if value else temporary((planes, 1, lines), uint32)
        wide = by._replace(lanes=32, items=1) if by.across and not facts.software else by
        made.append(step("merge_value" if value else "merge", (parts,), merged, chunks, 1, wide, job.n))
        parts, chunks = merged, 1
    if not value:
        made.append(step("apply", (x, parts, *extras), op, chunks, by.chunks, by, by.chunk))
    return made
