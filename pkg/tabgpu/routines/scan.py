"""Running combinations along an axis: which passes of scan_tiles, scan_columns or scan_serial it takes."""

from __future__ import annotations

from typing import NamedTuple

from ..dtypes import DType
from ..graph import Op
from ..kernels.scan_forms import COMBINE, Form, text
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch, temporary

QUADS = 2  # quads a thread of scan_tiles, where rows are long enough
TILES = 32  # the most tiles that are added one after the other: more would cost accuracy
WORKGROUPS = 2048  # as many keep a GPU busy
GATHERED = 16  # totals that a thread of the last pass may add up
STRIP = 16  # neighbouring columns of a workgroup of scan_columns
DEPTH = 16  # rows a thread of it takes at once
JOBS = 512  # threads that keep a CPU adapter busy
SHORT = 1024  # what one thread of a CPU adapter may as well do alone


class Scan(NamedTuple):
    """What one scan does: its operand is (outer, n, inner), its result (outer, n + lead, inner)."""

    outer: int
    n: int
    reverse: bool = False  # from the last element to the first
    lead: bool = False  # whether an initial value stands before the first result
    inner: int = 1


class _Plan(NamedTuple):
    """How one scan is cut."""

    form: Form
    chunk: int  # elements
    chunks: int
    groups: int  # workgroups
    last: list[int]  # parameter words behind the bits of the initial value
    seven: int = 0  # parameter word 7
    gathered: int = 0  # up to so many chunks the last pass adds up the totals itself


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "scan.NAME", a name of COMBINE; op.extra the fields of a Scan."""
    job = Scan(*op.extra)
    name = op.fn.partition(".")[2]
    initial = COMBINE[name, op.dtype.kind][2]
    return _passes(name, op.args[0], op, job, job.n + job.lead, initial, facts)


def _passes(
    name: str, src: Op, dst: Op, job: Scan, out: int, initial: tuple[int, ...], facts: Facts
) -> list[Launch]:
    """The launches of one scan into `out` elements of the axis: one, or the chunks' totals, their scan and the rest."""
    identity = COMBINE[name, src.dtype.kind][1]
    cut = _serial if facts.software else _tiles if job.inner == 1 else _columns
    plan = cut(name, src.dtype, job, out, facts)
    words = [job.n, job.outer, plan.chunks, job.reverse, out, job.lead, plan.chunk, plan.seven]
    for bits in (identity, initial):
        words += (*bits, 0)[:2]
    words += plan.last

    def step(switch: str, reads: tuple[Op, Op], into: Op) -> Launch:
        form = plan.form._replace(switch=switch)
        if switch == "TOTALS":
            form = form._replace(quads_out=False)
        label = f"scan_{name}_{src.dtype.name}{'_' + switch.lower() if switch else ''}"
        return launch(
            kernel_for(form, text, label, facts.workgroup), reads, (into,), plan.groups, words, facts
        )

    if plan.chunks == 1:
        return [step("", (src, src), dst)]
    totals = temporary((job.outer, plan.chunks, job.inner), src.dtype)
    first = step("TOTALS", (src, src), totals)
    if plan.chunks <= plan.gathered:
        return [first, step("GATHER", (src, totals), dst)]
    carry = temporary((job.outer, plan.chunks, job.inner), src.dtype)
    between = Scan(job.outer, plan.chunks, lead=True, inner=job.inner)
    return [
        first,
        *_passes(name, totals, carry, between, plan.chunks, identity, facts),
        step("CARRY", (src, carry), dst),
    ]


def _tiles(name: str, dtype: DType, job: Scan, out: int, facts: Facts) -> _Plan:
    quads_in = job.outer == 1 or not job.n % 4
    pad = -job.n % 4 if quads_in and job.reverse else 0
    quads = (job.n + pad + 3) // 4
    each = QUADS // dtype.words if quads > 64 else 1
    lanes = min(facts.workgroup, 1 << (-(-quads // each) - 1).bit_length())
    tile = lanes * each * 4
    tiles = -(-(job.n + pad) // tile)
    chunk = _chunk(tiles, job.outer) if tiles > 1 else 1
    chunks = -(-tiles // chunk)
    params = (("WG", facts.workgroup), ("LANES", lanes), ("R", each))
    form = Form(
        "scan_tiles", name, dtype.kind, params, "", quads_in, quads_in and out == job.n and not job.lead
    )
    groups = -(-job.outer * chunks // (facts.workgroup // lanes))
    return _Plan(form, chunk * tile, chunks, groups, [], pad, GATHERED * lanes)


def _chunk(tiles: int, beside: int) -> int:
    """How many tiles follow each other in a workgroup: all, which reads once, unless the GPU would be idle."""
    if tiles <= 4 or (tiles <= TILES and beside >= WORKGROUPS // 8):
        return tiles
    return max(1, min(TILES, tiles * beside // WORKGROUPS))


def _columns(name: str, dtype: DType, job: Scan, out: int, facts: Facts) -> _Plan:
    wg = facts.workgroup
    wide = min(STRIP, wg)
    strips = -(-job.inner // wide)
    tile = wg // wide * DEPTH
    tiles = -(-job.n // tile)
    chunk = _chunk(tiles, job.outer * strips)
    chunks = -(-tiles // chunk)
    form = Form("scan_columns", name, dtype.kind, (("WG", wg), ("W", wide), ("R", DEPTH)), "")
    last = [strips, 0, 0, 0]
    return _Plan(
        form, chunk * tile, chunks, job.outer * chunks * strips, last, job.inner, GATHERED * wg // wide
    )


def _serial(name: str, dtype: DType, job: Scan, out: int, facts: Facts) -> _Plan:
    wg = min(64, facts.workgroup)
    beside = job.outer * job.inner
    chunks = 1
    if job.n > SHORT and beside < JOBS:
        chunks = min(-(-job.n // 32), JOBS // beside)
    chunk = -(-job.n // chunks)
    chunk = max(1, -(-chunk // 32) * 32 if chunks > 1 else job.n)
    chunks = -(-job.n // chunk)
    form = Form("scan_serial", name, dtype.kind, (("WG", wg),), "")
    return _Plan(form, chunk, chunks, -(-beside * chunks // wg), [], job.inner)
