"""Attention: which form of attention.wgsl a shape takes, and whether its keys are cut. Texts: codegen_attention.py."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..codegen_attention import Form, text
from ..dtypes import DType, float32
from ..graph import Op
from ..kernels.attention_inner import TILES
from ..launch import Kernel, Launch
from ..layout import Shape
from ..region import Facts, bits, kernel_for
from . import launch, temporary

FEW = 16  # rows up to which a thread takes a key, not a tile of rows
MOST_FEW = 8  # of them a workgroup
FEW_THREADS = 128
BUSY = 264  # workgroups that keep a large GPU busy
SPARSE = 96  # workgroups of tiles below which keys are cut: joining costs a launch
LEAST = 256  # keys of a chunk, at least
JOBS = 64  # threads that keep a CPU adapter busy
SERIAL = 4  # rows a thread of a CPU adapter, where reads are short texts
FOURS = 16  # vec4s of a value that it adds up at a time: compilers take long over larger arrays
ROUNDS = 60000  # Mesa's CPU driver ends the loops of a thread after 65,535
WIDEST = 256  # dimensions that tiles and few rows take


class Job(NamedTuple):
    """What attention works on; op.args: queries, keys, values, then the mask and the lengths, as far as there are."""

    sizes: Shape  # rows of a batch element, heads that share keys, keys, dimensions, dimensions of a value
    batch: Shape  # four sizes
    scale: float
    causal: int  # 0 no, 1 top-left, 2 bottom-right
    cap: float  # 0: none
    offsets: Shape  # of queries, keys, values, mask, lengths
    walks: tuple[Shape, ...]  # strides along the batch axes: of these five and the result
    steps: Shape  # words 48 to 59 of the kernel
    mask: str
    lengths: bool
    vector: bool
    four: bool


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.extra: the fields of a Job."""
    job = Job(*op.extra)
    block, rows = _block(job, op.args[0].dtype, facts)
    batch = job.batch[0] * job.batch[1] * job.batch[2] * job.batch[3]
    tiles = -(-job.sizes[0] // rows)
    chunk = _chunk(job, block, tiles * batch, op.args[0].dtype.itemsize == 4 and job.vector, facts)
    chunks = -(-job.sizes[2] // chunk)
    split = chunks > 1
    dtype = op.args[0].dtype
    form = Form(
        block, dtype, op.dtype, job.vector, job.four, job.mask, job.lengths, job.cap > 0, split, not facts.software
    )  # fmt: skip
    words = _words(job, tiles, chunks, chunk, facts)
    made = _kernel(form)
    if not split:
        return [launch(made, op.args, (op,), tiles * batch, words, facts)]
    quads = -(-job.sizes[4] // 4)
    parts = temporary((chunks, batch, job.sizes[0], 4 * quads + 4), float32)
    first = launch(made, op.args, (parts,), tiles * batch * chunks, words, facts)
    threads = min(64, facts.workgroup)
    merge = Form(
        ("merge", threads), dtype, op.dtype, False, job.four, "none", False, False, False, not facts.software
    )  # fmt: skip
    tiles = -(-job.sizes[0] * quads // threads)
    words = _words(job, tiles, 1, chunks, facts)
    return [first, launch(_kernel(merge), (parts,), (op,), tiles * batch, words, facts)]


def _kernel(form: Form) -> Kernel:
    """The kernel of a form, made once."""
    label = f"attention_{form.block[0]}_{form.source.name}" + ("_split" if form.split else "")
    return kernel_for(("attention", *form), lambda _: text(form), label, 0)


def _block(job: Job, source: DType, facts: Facts) -> tuple[tuple[Any, ...], int]:
    """A Form's block, and the rows of a workgroup."""
    rows, dims = job.sizes[0], max(job.sizes[3:])
    limit = min(facts.limits.get("maxComputeInvocationsPerWorkgroup", 256), facts.workgroup)
    room = facts.limits.get("maxComputeWorkgroupStorageSize", 16384)
    if dims <= WIDEST and not facts.software:
        wide = next(d for d in (32, 64, 128, 256) if d >= dims)
        threads = FEW_THREADS if limit >= FEW_THREADS else 64
        if rows <= FEW and limit >= 64 and room >= 16384:
            few = min(MOST_FEW, 1 << (rows - 1).bit_length())
            return ("few", few, threads, wide), few
        for tile in TILES:
            if tile.dims == wide and tile.threads <= limit and tile.memory <= room:
                return ("tiles", *tile), tile.bm
    cheap = job.vector and source.itemsize == 4
    each = SERIAL if cheap and rows >= SERIAL else 1
    threads = min(16, limit)
    return ("serial", threads, each, FOURS), threads * each


def _chunk(job: Job, block: tuple[Any, ...], groups: int, cheap: bool, facts: Facts) -> int:
    """Keys that a workgroup goes through: all, unless the device would be idle."""
    keys, name = job.sizes[2], block[0]
    if name == "serial":
        wanted, least = JOBS // max(1, min(groups * block[1], JOBS)), 64
    elif name == "few":
        wanted, least = -(-BUSY // groups), block[2]
    else:
        wanted, least = BUSY // groups if groups <= SPARSE else 1, LEAST
    pieces = max(1, min(wanted, keys // least))
    chunk = -(-keys // (pieces * least)) * least if pieces > 1 else keys
    return min(chunk, _rounds(job, block, cheap)) if name == "serial" and facts.software else chunk


def _rounds(job: Job, block: tuple[Any, ...], cheap: bool) -> int:
    """Keys that a serial thread goes through in ROUNDS rounds of all its loops."""
    passes, reads = -(-job.sizes[4] // (4 * block[3])), 0 if cheap else 16
    each: int = passes * (1 + block[2] + -(-job.sizes[3] // 4) * (1 + reads + (not cheap) * block[2]))
    return 16 * max(1, ROUNDS // (each + -(-job.sizes[4] // 4) * (1 + reads)))


def _words(job: Job, tiles: int, chunks: int, chunk: int, facts: Facts) -> list[int]:
    """The parameters."""
    rows, group, keys, dims, values = job.sizes
    factor = 1.0 if facts.software else 1.4426950408889634
    batch = job.batch[0] * job.batch[1] * job.batch[2] * job.batch[3]
    words = [rows, group, keys, dims, values, tiles, chunks, chunk]
    words += [bits(job.scale * factor, "f"), bits(factor, "f"), 0, job.causal]
    words += [batch, bits(2 / job.cap if job.cap else 0.0, "f"), bits(job.cap * factor, "f"), job.offsets[4]]
    words += [*job.batch[1:], -(-values // 4), *job.offsets[:4]]
    for walk in job.walks:
        words += walk
    return [*words, *job.steps]
