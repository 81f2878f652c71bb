"""join: pieces behind one another along an axis become one array.

op.args are the distinct buffers; op.extra is (axis, pieces), a piece (index into args, view, size along the axis), or
(value, None, size) for a constant. Few pieces have a text of their own (codegen_move). Many, and those of buffers
larger than a binding, go through join.wgsl, as many pieces a launch as buffers and parameter words allow.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

from .. import codegen_move, lower_wide, windows
from ..dtypes import DType, uint8, uint16, uint32
from ..graph import Op, nbytes_of
from ..launch import Launch
from ..layout import Layout, collapse, is_contiguous
from ..lower_strided import quad
from ..region import Facts, bits, kernel_for
from . import kernel, launch, temporary

SLOTS = 7  # buffers a launch reads: WebGPU promises 8 bindings
WORDS = 1000  # parameter words
FOLD = 8  # words a thread
FEW = 7  # pieces that get a text of their own
SMALL = 1 << 14  # elements whose way through join.wgsl costs a CPU adapter less than several launches
COARSE = (
    1024  # elements between which work on wide buffers is cut, before views that lie too far apart are copied
)


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


Pieces = tuple[tuple[Any, Layout | None, int], ...]


def lower(op: Op, facts: Facts) -> list[Launch]:
    """One launch for each run of pieces that fits; of buffers larger than a binding several, of copies if need be."""
    axis, pieces = op.extra
    if (
        facts.software
        and len(pieces) > FEW
        and op.size > SMALL
        and not lower_wide.wide([*op.args, op], facts)
    ):
        return _by_stages(op, axis, pieces, facts)
    try:
        return _lower(op, op.args, axis, pieces, facts, COARSE)
    except windows.TooWide:
        args, copies, launches = list(op.args), [], []
        for which, view, extent in pieces:
            if view is not None and lower_wide.wide([op.args[which]], facts) and not is_contiguous(view):
                copy, made = lower_wide.gather(op.args[which], view, view.shape, facts)
                launches += made
                which, view = len(args), copy.layout
                args.append(copy)
            copies.append((which, view, extent))
    try:
        return launches + _lower(op, args, axis, tuple(copies), facts, 1)
    except windows.TooWide as error:
        raise lower_wide.refused("join", [*op.args, op], facts, error) from None


def _lower(op: Op, args: Sequence[Op], axis: int, pieces: Pieces, facts: Facts, step: int) -> list[Launch]:
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
    walks = [(*o, s, *i) for o, s, i in zip(outer, steps, inner, strict=True)]
    if len(pieces) <= FEW and not lower_wide.wide([*args, op], facts):
        return [_straight(op, args, pieces, dims, len(before), unit, walks, offsets, facts)]
    join = Join(op, dims, len(before))
    out: list[Launch] = []
    for run in _runs(args, pieces, op.dtype, unit, walks, offsets):
        whole = not lower_wide.wide([*run.ops, op], facts)
        out += [join.launch(run, facts)] if whole else join.cut(run, facts, step)
    return out


def bits_of(dtype: DType) -> DType:
    """The unsigned dtype whose elements are copied: of complex64 the words."""
    return {1: uint8, 2: uint16}.get(dtype.itemsize, uint32)


def _straight(
    op: Op, args: Sequence[Op], pieces: Pieces, dims: tuple[int, ...], axis: int, unit: int,
    walks: list[tuple[int, ...]], offsets: list[int], facts: Facts,
) -> Launch:  # fmt: skip
    """Few pieces in one launch."""
    views = iter(zip(walks, offsets, strict=True))
    reads: dict[Op, int] = {}
    end, last, words = 0, axis == len(dims) - 1, [0, prod(dims), 0, 0, *dims]
    slots, whole = [], not dims[-1] & 3
    for which, view, extent in pieces:
        start, end = end, end + extent * unit
        whole = whole and not (last and end & 3)
        if view is None:
            slots.append(-1)
            words += (end, element_bits(which, op.dtype))
            continue
        walk, offset = next(views)
        slots.append(reads.setdefault(args[which], len(reads)))
        whole = whole and quad(offset, walk, len(dims) - 1)
        words += (end, offset - start * walk[axis], *walk)
    sig = codegen_move.Join(bits_of(op.dtype), len(dims), axis, tuple(slots), whole, facts.workgroup)
    label = f"join_{32 // op.dtype.per_word}_{len(slots)}_rank{len(dims)}"
    made = kernel_for(sig, codegen_move.join, label, facts.workgroup)
    return launch(
        made, tuple(reads), (op,), -(-prod(dims) // (4 * op.dtype.per_word * facts.workgroup)), words, facts
    )


def _by_stages(op: Op, axis: int, pieces: Pieces, facts: Facts) -> list[Launch]:
    """Many pieces, few at a time: CPU adapters are slow at the loops of join.wgsl."""
    launches: list[Launch] = []
    args, left = list(op.args), list(pieces)
    while len(left) > FEW:
        joined: list[tuple[Any, Layout | None, int]] = []
        for k in range(0, len(left), FEW):
            some = left[k : k + FEW]
            if len(some) == 1 or all(view is None for _, view, _ in some):
                joined += some
                continue
            extent = sum(n for _, _, n in some)
            part = temporary((*op.shape[:axis], extent, *op.shape[axis + 1 :]), op.dtype)
            launches += _lower(part, args, axis, tuple(some), facts, COARSE)
            joined.append((len(args), part.layout, extent))
            args.append(part)
        if len(joined) == len(left):
            break
        left = joined
    return launches + _lower(op, args, axis, tuple(left), facts, COARSE)


class Piece(NamedTuple):
    """What a kernel must know of one piece: its buffer's slot, where it lies along the axis, how it is walked."""

    slot: int
    end: int
    start: int
    offset: int
    strides: tuple[int, ...]


class Run(NamedTuple):
    """The pieces of one launch, and the buffers of their slots."""

    ops: list[Op]
    pieces: list[Piece]


def _runs(
    args: Sequence[Op],
    given: Pieces,
    dtype: DType,
    unit: int,
    walks: list[tuple[int, ...]],
    offsets: list[int],
) -> Iterator[Run]:
    """Consecutive pieces, as many as slots and parameter words allow."""
    rank = len(walks[0])
    most = (WORDS - 16 - rank) // (4 + rank)
    views, place = iter(zip(walks, offsets, strict=True)), 0
    slots: dict[Op, int] = {}
    pieces: list[Piece] = []
    for which, view, extent in given:
        end = place + extent * unit
        new = view is not None and args[which] not in slots
        if len(pieces) == most or (new and len(slots) == SLOTS):
            yield Run(list(slots) or [args[0]], pieces)
            slots, pieces = {}, []
        if view is None:
            pieces.append(Piece(SLOTS, end, place, element_bits(which, dtype), (0,) * rank))
        else:
            walk, offset = next(views)
            pieces.append(Piece(slots.setdefault(args[which], len(slots)), end, place, offset, walk))
        place = end
    yield Run(list(slots) or [args[0]], pieces)


class Join:
    """A join in collapsed axes, of elements of at most a word."""

    def __init__(self, op: Op, dims: tuple[int, ...], axis: int) -> None:
        self.op, self.dims, self.axis = op, dims, axis
        self.size, self.inner, self.per = prod(dims), prod(dims[axis + 1 :]), op.dtype.per_word
        self.itemsize = min(op.dtype.itemsize, 4)

    def launch(
        self,
        run: Run,
        facts: Facts,
        part: tuple[int, int] | None = None,
        bound: list[lower_wide.Span] | None = None,
    ) -> Launch:
        """One launch: all of a run, or what of it lies in elements [part), with the windows of its buffers and the
        result."""
        per, rank, pieces = self.per, len(self.dims), run.pieces
        row = self.dims[self.axis] * self.inner
        if part is None:
            begin, length, count = _words(
                pieces[0].start * self.inner, pieces[-1].end * self.inner, row, self.size, self.axis == 0, per
            )
        else:
            begin, count = part[0] // per, -(-part[1] // per) - part[0] // per
            length = count
        starts = [0] * (len(run.ops) + 1) if bound is None else [b // self.itemsize for b, _ in bound]
        head = (begin, count, 0, rank, self.axis, len(pieces), 4 + rank)
        words = [*head, pieces[0].start, pieces[-1].end, length, row // per, starts[-1] // per]
        words += (*(part or (0, self.size)), 0, 0, *self.dims)
        for p in pieces:
            words += (
                p.slot,
                p.end,
                p.start,
                p.offset - (starts[p.slot] if p.slot < SLOTS else 0),
                *p.strides,
            )
        reads = run.ops + run.ops[:1] * (SLOTS - len(run.ops))
        made = kernel("join", "r" * SLOTS + "w", f"join_{32 // per}", WG=facts.workgroup, PER=per, FOLD=FOLD)
        one = launch(made, tuple(reads), (self.op,), -(-count // (FOLD * facts.workgroup)), words, facts)
        if bound is None:
            return one
        return one._replace(windows=(*bound[:-1], *bound[:1] * (SLOTS - len(run.ops)), bound[-1]))

    def cut(self, run: Run, facts: Facts, step: int) -> list[Launch]:
        """A run over buffers larger than a binding: ranges of elements whose windows fit."""

        def fits(a: int, b: int) -> bool:
            return all(n <= facts.binding for _, n in self.windows(run, a, b))

        first, end = 0, self.size
        if self.axis == 0:
            first, end = run.pieces[0].start * self.inner, run.pieces[-1].end * self.inner
        ranges = list(windows.pieces(first, end, step, fits))
        return [self.launch(run, facts, part, self.windows(run, *part)) for part in ranges]

    def windows(self, run: Run, a: int, b: int) -> list[lower_wide.Span]:
        """What of each buffer, and of the result, elements [a, b) touch."""
        reached: dict[int, tuple[int, int]] = {}
        for p in run.pieces:
            if p.slot == SLOTS or (self.axis == 0 and (p.end * self.inner <= a or p.start * self.inner >= b)):
                continue
            own = (*self.dims[: self.axis], p.end - p.start, *self.dims[self.axis + 1 :])
            all_of = windows.reach(own, p.strides, p.offset, 0, prod(own) - 1)
            here = windows.reach(self.dims, p.strides, p.offset - p.start * p.strides[self.axis], a, b - 1)
            low, high = max(all_of[0], here[0]), min(all_of[1], here[1])
            if low <= high:
                old = reached.get(p.slot, (low, high))
                reached[p.slot] = min(low, old[0]), max(high, old[1])
        spans = [(*reached.get(k, (0, 0)), op) for k, op in enumerate(run.ops)]
        return [
            windows.window(x, y, self.itemsize, bytes_of(op)) for x, y, op in [*spans, (a, b - 1, self.op)]
        ]


def bytes_of(op: Op) -> int:
    """The size of an Op's buffer, also of one that is not there yet."""
    return op.buffer.size if op.buffer else nbytes_of(op) + 15 & ~15


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
