"""Images correlated with a small kernel: stencil.wgsl and its kin. Texts: codegen_stencil.py."""

from __future__ import annotations

from typing import NamedTuple

from ..codegen_stencil import Form, text
from ..graph import Op
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch
from .leads import by_leads

HEAVY = 1 << 38  # multiplications of one launch: hundredths of a second
ALONE = 1 << 31  # the same of a CPU adapter


class Stencil(NamedTuple):
    """op.extra. Result (y, x) of an image sums kernel (a, b) times element (y + a - origin[0], x + b - origin[1])."""

    channels: int  # size of the second leading axis
    offset: int
    strides: tuple[int, int]  # of the leading axes
    sizes: tuple[int, int]  # of an image
    steps: tuple[int, int]  # strides of its rows and columns
    kernel: tuple[int, int]
    results: tuple[int, int]
    origin: tuple[int, int]
    modes: tuple[int, int]  # kernels/lib/border.wgsl
    constant: int  # bits of the float32 beyond borders of mode 0


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.args: the array and the float32 kernel; op.extra: a Stencil; the result is (leads, *results) float32."""
    job = Stencil(*op.extra)
    rows, columns = job.results
    leads = op.size // (rows * columns)
    room = facts.limits.get("maxComputeWorkgroupStorageSize", 16384)
    lines = job.kernel[0] == 1 and rows == job.sizes[0] and not job.origin[0]
    # On an NVIDIA H200 tiles of 128 rows reach 18.6 TFLOP/s, of 32 rows 15.9, of 64 rows 12.0.
    tall = not lines and room >= 49152 and facts.workgroup >= 256
    high = 128 if tall else 64 if lines and room >= 32768 and facts.workgroup >= 128 else 32
    if facts.software:
        form = Form("serial", op.args[0].dtype, 64)
    elif job.kernel[1] == 1 and not job.origin[1] and columns == job.sizes[1] and columns > 1:
        form = Form("columns", op.args[0].dtype, min(facts.workgroup, 256))
    else:
        form = Form("lines" if lines else "square", op.args[0].dtype, 2 * high, columns % 4 == 0)
    made = kernel_for(("stencil", form), lambda _: text(form), f"stencil_{form.name}", form.workgroup)
    tiles = -(-columns // 64)
    words = [*job.sizes, *job.kernel, *job.results, *job.origin]

    def emit(offset: int, results: int) -> Launch:
        images = results // (rows * columns)
        if form.name == "serial":
            shape = -(-columns // 4), images * rows
            groups = -(-shape[0] * shape[1] // form.workgroup)
        elif form.name == "columns":
            shape = -(-rows // 8), images
            groups = -(-shape[0] * images * columns // form.workgroup)
        elif lines:
            shape = images * rows, tiles
            groups = -(-shape[0] * tiles // high)
        else:
            shape = -(-rows // high), tiles
            groups = shape[0] * tiles * images
        where = [job.channels, offset, *job.strides, *job.steps, *job.modes]
        return launch(made, op.args, (op,), groups, [*words, *where, job.constant, 0, *shape, groups], facts)

    spans = ((job.sizes[0], job.steps[0]), (job.sizes[1], job.steps[1]))
    whole = by_leads(op, job.channels, leads, job.offset, job.strides, spans, emit, facts)
    whole = [one if one.windows is None else one._replace(windows=_with_kernel(one.windows)) for one in whole]
    most = ALONE if facts.software else HEAVY
    work = op.size * job.kernel[0] * job.kernel[1]
    if work <= most:
        return whole
    return [part for one in whole for part in pieces(one, -(-work // most), 17, facts)]


def _with_kernel(spans: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    return spans[0], (0, 0), spans[1]


def pieces(one: Launch, count: int, word: int, facts: Facts) -> list[Launch]:
    """A launch as several: each holds the GPU for a part of a second. word: the parameter for the first workgroup."""
    groups = one.grid[0] * one.grid[1] * one.grid[2]
    each = max(-(-groups // count), 1)
    made = []
    for first in range(0, groups, each):
        words = [*one.words]
        words[word] = first
        part = launch(one.kernel, one.reads, one.writes, min(each, groups - first), words, facts)
        made.append(part._replace(windows=one.windows))
    return made
