"""The least, greatest or k-th element of windows: neighbours.wgsl. Texts: codegen_neighbours.py; users: image/."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ..codegen_neighbours import Form, text
from ..errors import LimitError
from ..graph import Op
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch
from .leads import by_leads
from .stencil import pieces

ROUNDS = 60000  # of all loops of a thread of Mesa's CPU driver
HEAVY = 1 << 35  # elements that one launch looks at: hundredths of a second
ALONE = 1 << 29  # the same of a CPU adapter
SIDES = ((3, 1), (5, 1), (3, 2), (5, 2), (3, 3))  # windows sorted in registers: side, axes


class Axis(NamedTuple):
    """One axis of a window."""

    size: int
    stride: int
    taps: int
    start: int
    mode: int


class Neighbours(NamedTuple):
    """op.extra."""

    channels: int
    offset: int
    strides: tuple[int, int]
    axes: tuple[Axis, ...]
    constant: int  # bits of what lies beyond borders of mode 0
    which: int = 0  # rank: 0 the least


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn: "neighbours.NAME", with "+" behind for heights. op.args: the array, then a uint32 word a tap (whether it
    counts) if not all do, then heights."""
    job = Neighbours(*op.extra)
    name, src = op.fn.partition(".")[2], op.args[0]
    axes = [Axis(*a) for a in job.axes]
    taps = [a.taps for a in axes]
    bits = 8 * src.dtype.itemsize if src.dtype.kind == "u" else 2 if src.dtype.kind == "b" else 32
    masked = len(op.args) > 1
    wg = 1 << (facts.workgroup.bit_length() - 1)
    side = 0
    if name == "rank" and not masked and (taps[0], len(taps)) in SIDES and len(set(taps)) == 1:
        side = (
            taps[0] if not facts.software or prod(taps) < 10 else 0
        )  # CPU adapters compile the others for a minute
    if facts.software and not side and prod(taps) * (bits // 2 if name == "rank" else 1) > ROUNDS:
        raise LimitError(
            f"{op.fn}: a window of {prod(taps)} elements takes more rounds than this CPU adapter makes"
        )
    sig = Form(name, src.dtype, len(axes), wg, masked, len(op.args) > 2, side)
    made = kernel_for(("neighbours", sig), lambda _: text(sig), f"neighbours_{name}_{src.dtype.name}", wg)
    tail = [*job.strides, job.constant, job.which, bits]
    for a in axes:
        tail += [*a, 0, 0, 0]

    def emit(offset: int, results: int) -> Launch:
        groups = -(-results // (op.dtype.per_word * wg))
        return launch(made, op.args, (op,), groups, [results, job.channels, offset, *tail], facts)

    spans = tuple([(a.size, a.stride) for a in axes])
    leads = op.size // prod(a.size for a in axes)
    made_of = by_leads(op, job.channels, leads, job.offset, job.strides, spans, emit, facts, whole=masked)
    work = op.size * prod(taps) * (bits // 2 if name == "rank" and not side else 1)
    most = ALONE if facts.software else HEAVY
    if work <= most:
        return made_of
    return [part for one in made_of for part in pieces(one, -(-work // most), 13, facts)]
