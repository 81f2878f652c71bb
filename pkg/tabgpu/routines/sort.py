"""Stable sorts along rows: one launch for rows that fit a workgroup, a radix sort or rounds of merges for others."""

from __future__ import annotations

from typing import NamedTuple

from .. import kernels
from ..dtypes import uint32
from ..graph import Op
from ..launch import Kernel, Launch
from ..region import Facts, kernel_for
from . import kernel, launch, radix, temporary

SLOTS = 4  # elements a thread
RUN = 32  # elements a thread merges on a CPU adapter, where it works for itself


class Sort(NamedTuple):
    """What one sort does: its operand and result are (rows, n)."""

    rows: int
    n: int
    descending: bool = False
    nan_greatest: bool = False  # NaN first when descending, as torch; else last either way round
    dtype: str = ""  # what the elements were before they were widened to words


def key_form(kind: str, descending: bool = False, nan_greatest: bool = False) -> list[int]:
    """The three words of kernels/lib/sorting that say how bits become keys."""
    is_float = 0 if kind != "f" else 2 if nan_greatest else 1
    return [0x80000000 if kind == "i" else 0, 0xFFFFFFFF if descending else 0, is_float]


# Of narrow dtypes: the bits of keys that differ, and which of them to flip
NARROW = {
    "bool": ((0, 1), 0), "uint8": ((0, 8), 0), "int8": ((0, 8), 0x80), "uint16": ((0, 16), 0),
    "int16": ((0, 16), 0x8000), "float16": ((13, 32), 0), "bfloat16": ((16, 32), 0),
}  # fmt: skip


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "sort.values" or "sort.positions" (int32, in each row), op.extra the fields of a Sort."""
    job = Sort(*op.extra)
    (source,) = op.args
    places = op.fn == "sort.positions"
    form = key_form(source.dtype.kind, job.descending, job.nan_greatest)
    if radix.suits(job.rows, job.n, facts):
        bits, form[0] = NARROW.get(job.dtype, ((0, 32), form[0]))
        return radix.lower(source, op, radix.Keys(job.rows, job.n, form, bits), places, facts)
    wg = facts.workgroup
    tile = wg * SLOTS
    span = SLOTS if facts.software else min(tile, max(SLOTS, 1 << (job.n - 1).bit_length()))
    segments = -(-job.n // span)
    words = [job.n, job.rows, span, segments, *form, segments > 1]
    groups = -(-job.rows * segments // (tile // span))
    keys, payload = _room(op, job, segments == 1)
    made = [launch(_block(wg, places, span == SLOTS), (source,), (keys, payload), groups, words, facts)]
    pieces = -(-job.n // (RUN if facts.software else tile))
    merge = (
        kernel("sort_serial", "rrww", WG=wg, RUN=RUN)
        if facts.software
        else kernel("sort_merge", "rrww", WG=wg)
    )
    groups = -(-job.rows * pieces // wg) if facts.software else job.rows * pieces
    while span < job.n:
        reads, last = (keys, payload), 2 * span >= job.n
        keys, payload = _room(op, job, last)
        words = [job.n, pieces, span, job.rows * pieces, not last, 0, 0, 0]
        made.append(launch(merge, reads, (keys, payload), groups, words, facts))
        span *= 2
    return made


def _room(op: Op, job: Sort, last: bool) -> tuple[Op, Op]:
    """Where a launch puts (keys, payload): the last one wants no keys, and its payload is the result."""
    if last:
        return temporary((1,), uint32), op
    return temporary((job.rows, job.n), uint32), temporary((job.rows, job.n), uint32)


def _block(wg: int, places: bool, alone: bool) -> Kernel:
    """sort_block; alone: its threads work for themselves."""
    label = f"sort_{'positions' if places else 'values'}{'_4' if alone else ''}"
    return kernel_for(("sort_block", wg, places, alone), _block_text, label, wg)


def _block_text(key: tuple[str, int, bool, bool]) -> tuple[str, str]:
    name, wg, places, alone = key
    text = kernels.specialise(name, WG=wg, POSITIONS=places)
    for block in ("memory", "rounds") if alone else ():
        text = kernels.replace_block(text, block, "")
    return text, "rww"
