"""join: pieces behind one another along an axis become one array; the kernel is kernels/join.wgsl.

op.args are the distinct buffers; op.extra is (axis, pieces), a piece (index into args, view, size along the axis), or
(value, None, size) for a constant. As many pieces a launch as buffers and parameter words allow.
"""

from __future__ import annotations

import struct
from math import prod
from typing import Any

from ..dtypes import DType
from ..graph import Op
from ..launch import Launch
from ..layout import Layout, collapse
from ..region import Facts, bits
from . import kernel, launch

SLOTS = 7  # buffers a launch reads: WebGPU promises 8 bindings
WORDS = 1000  # parameter words


def element_bits(value: Any, dtype: DType) -> int:
    """A host number as the bits of one packed element (not complex)."""
    if dtype.kind != "f":
        return bits(value, dtype.kind) & (1 << 8 * dtype.itemsize) - 1
    if dtype.name == "float16":
        try:
            return int.from_bytes(struct.pack("<e", value), "little")
        except OverflowError:
            return 0x7C00 if value > 0 else 0xFC00
    return bits(float(value), "f") >> 32 - 8 * dtype.itemsize


def lower(op: Op, facts: Facts) -> list[Launch]:
    """One launch for each run of pieces that fits."""
    axis, pieces = op.extra
    views = [view for _, view, _ in pieces if view is not None]
    shape, strides = op.shape, [view.strides for view in views]
    offsets = [view.offset for view in views]
    if op.dtype.words == 2:  # elements of two words are two elements of one
        shape = (*shape, 2)
        strides = [(*(2 * s for s in walk), 1) for walk in strides]
        offsets = [2 * o for o in offsets]
    before, outer = collapse(shape[:axis], [s[:axis] for s in strides])
    behind, inner = collapse(shape[axis + 1 :], [s[axis + 1 :] for s in strides])
    steps, unit = [s[axis] for s in strides], 1
    if len(behind) == 1 and all(s == behind[0] * w[0] for s, w in zip(steps, inner, strict=True)):
        unit, steps = behind[0], [w[0] for w in inner]
        behind, inner = (), [()] * len(inner)
    dims = (*before, shape[axis] * unit, *behind)
    walks = [
        Layout((), (*o, s, *i), offset) for o, s, i, offset in zip(outer, steps, inner, offsets, strict=True)
    ]
    return _launches(op, dims, len(before), unit, walks, facts)


def _launches(
    op: Op, dims: tuple[int, ...], axis: int, unit: int, walks: list[Layout], facts: Facts
) -> list[Launch]:
    pieces, rank, per = op.extra[1], len(dims), op.dtype.per_word
    made = kernel("join", "r" * SLOTS + "w", f"join_{32 // per}", WG=facts.workgroup, PER=per)
    out: list[Launch] = []
    each, size, inner = 4 + rank, prod(dims), prod(dims[axis + 1 :])
    step = iter(walks)
    place, k = 0, 0
    while k < len(pieces):
        slots: dict[Op, int] = {}
        words: list[int] = []
        first = place
        while k < len(pieces) and 12 + rank + len(words) + each <= WORDS:
            which, view, extent = pieces[k]
            if view is not None and op.args[which] not in slots and len(slots) == SLOTS:
                break
            end = place + extent * unit
            if view is None:
                words += (SLOTS, end, place, element_bits(which, op.dtype), *(0,) * rank)
            else:
                walk = next(step)
                slot = slots.setdefault(op.args[which], len(slots))
                words += (slot, end, place, walk.offset, *walk.strides)
            place, k = end, k + 1
        begin, run, count = _words(first * inner, place * inner, dims[axis] * inner, size, axis == 0, per)
        head = [
            begin,
            count,
            size,
            rank,
            axis,
            len(words) // each,
            each,
            first,
            place,
            run,
            dims[axis] * inner // per,
            0,
        ]
        bound = list(slots) or [op.args[0]]
        bound += bound[:1] * (SLOTS - len(bound))
        groups = -(-count // facts.workgroup)
        out.append(launch(made, tuple(bound), (op,), groups, [*head, *dims, *words], facts))
    return out


def _words(low: int, high: int, row: int, size: int, single: bool, per: int) -> tuple[int, int, int]:
    """(first word, words of a run, words) that elements [low, high) of each row lie in, without the rest where words do
    not straddle; everything otherwise."""
    if single:
        first, last = low // per, -(-high // per)
        return first, max(last - first, 1), last - first
    if low % per or high % per or row % per:
        whole = -(-size // per)
        return 0, whole, whole
    run = (high - low) // per
    return low // per, run, size // row * run
