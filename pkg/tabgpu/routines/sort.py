"""Stable sorts along rows: one launch for rows that fit a workgroup, and rounds of merges for longer ones."""

from __future__ import annotations

from typing import NamedTuple

from ..dtypes import uint32
from ..graph import Op
from ..launch import Launch
from ..region import Facts
from . import kernel, launch, temporary

SLOTS = 4  # elements a thread


class Sort(NamedTuple):
    """What one sort does: its operand and result are (rows, n)."""

    rows: int
    n: int
    descending: bool = False
    nan_greatest: bool = False  # NaN first when descending, as torch; else last either way round


def key_form(kind: str, descending: bool = False, nan_greatest: bool = False) -> list[int]:
    """The three words of kernels/lib/sorting that say how bits become keys."""
    is_float = 0 if kind != "f" else 2 if nan_greatest else 1
    return [0x80000000 if kind == "i" else 0, 0xFFFFFFFF if descending else 0, is_float]


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "sort.values" or "sort.positions" (int32, in each row), op.extra the fields of a Sort."""
    job = Sort(*op.extra)
    (source,) = op.args
    places = op.fn == "sort.positions"
    wg = facts.workgroup
    tile = wg * SLOTS
    span = min(tile, max(SLOTS, 1 << (job.n - 1).bit_length()))
    segments = -(-job.n // span)
    form = key_form(source.dtype.kind, job.descending, job.nan_greatest)
    name = "positions" if places else "values"
    label = f"{name}_{source.dtype.name}"
    block = kernel("sort_block", "rww", f"sort_{label}", WG=wg, POSITIONS=places)
    merge = kernel("sort_merge", "rrww", f"sort_merge_{label}", WG=wg, POSITIONS=places)
    unused = temporary((1,), uint32)

    def room(keys: bool) -> Op:
        return temporary((job.rows, job.n), uint32) if keys else unused

    width = span
    done = segments == 1
    payload = op if done else room(True)
    keys = room(places and not done)
    words = [job.n, job.rows, span, segments, *form, places and not done]
    groups = -(-job.rows * segments // (tile // span))
    made = [launch(block, (source,), (keys, payload), groups, words, facts)]
    while width < job.n:
        done = 2 * width >= job.n
        reads = (keys if places else payload, payload)
        payload = op if done else room(True)
        keys = room(places and not done)
        words = [job.n, segments, width, 0, *form, places and not done]
        made.append(launch(merge, reads, (keys, payload), job.rows * segments, words, facts))
        width *= 2
    return made
