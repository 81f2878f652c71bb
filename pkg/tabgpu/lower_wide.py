"""Buffers larger than one storage binding: launches over pieces whose windows fit, copies that gather the rest.

A piece of work is bound to the windows of its buffers that it touches. Where even a small piece touches too much (a
transposed operand), the operand is first gathered to row-major order, window by window; that can always be cut.
"""

from __future__ import annotations

from collections.abc import Iterable

from . import codegen, windows
from .codegen import Gather
from .errors import LimitError
from .graph import IOTA, SCALAR, Op, nbytes_of
from .launch import Kernel, Launch
from .layout import Layout, Shape, collapse, is_contiguous
from .region import U32, Facts, Numbering, grid, kernel_for
from .windows import TooWide

Span = tuple[int, int]  # lowest and highest element, or byte offset and bytes


def wide(ops: Iterable[Op], facts: Facts) -> bool:
    """Whether some buffer is too large for one binding."""
    return any(nbytes_of(op) + 16 > facts.binding for op in ops)


def window(op: Op, low: int, high: int) -> Span:
    """(byte offset, bytes) of a binding that holds elements low..high of an Op's buffer."""
    size = op.buffer.size if op.buffer else nbytes_of(op) + 15 & ~15
    return windows.window(low, high, op.dtype.itemsize, size)


def begin(op: Op, bound: Span) -> int:
    """The first element of a window."""
    return bound[0] // op.dtype.itemsize


def refused(label: str, ops: Iterable[Op], facts: Facts, where: object) -> LimitError:
    """The error for work that cannot be cut: both sizes."""
    most = max(nbytes_of(op) for op in ops)
    return LimitError(
        f"{label}: an operand of {most:,} bytes is used too widely ({where}) for the device's storage binding limit "
        f"of {facts.binding:,} bytes; make it contiguous or work on slices"
    )


class Walks:
    """How a region's accesses go through a space: collapsed sizes, and (offset, strides) of each access."""

    def __init__(self, numbers: Numbering, shape: Shape) -> None:
        self.numbers = numbers
        layouts = numbers.layouts()
        self.dims, strides = collapse(shape, [v.strides for v in layouts]) if layouts else ((), [])
        self.each = [(v.offset, s) for v, s in zip(layouts, strides, strict=True)]

    def spans(self, first: int, end: int) -> list[Span]:
        """The windows of all reads for elements first..end."""
        found = [windows.reach(self.dims, s, offset, first, end - 1) for offset, s in self.each]
        reached = union(self.numbers, found)
        return [window(op, *reached[op]) for op in self.numbers.reads]

    def words(self, bound: list[Span]) -> list[int]:
        """Sizes, then offset in the window and strides of each access."""
        begins = {op: begin(op, w) for op, w in zip(self.numbers.reads, bound, strict=True)}
        out = list(self.dims)
        for (op, _), (offset, strides) in zip(self.numbers.accesses, self.each, strict=True):
            out += [x & U32 for x in (offset - begins.get(op, 0), *strides)]
        return out


def union(numbers: Numbering, found: list[Span]) -> dict[Op, Span]:
    """The range of positions of each read, over all its accesses."""
    low: dict[Op, Span] = {}
    for (op, _), got in zip(numbers.accesses, found, strict=True):
        if op in numbers.reads:
            old = low.get(op, got)
            low[op] = min(got[0], old[0]), max(got[1], old[1])
    return low


def cut_elementwise(
    numbers: Numbering, walks: list[tuple[int, Shape]], dims: Shape, kernel: Kernel, words: list[int], outs: list[Op],
    facts: Facts, rank: int, each: int,
) -> list[Launch]:  # fmt: skip
    """An elementwise launch over ranges of elements, each with bindings that fit; TooWide if there are none."""
    reads = list(numbers.reads)

    def spans(a: int, b: int) -> list[Span]:
        reached = union(numbers, [windows.reach(dims, s, offset, a, b - 1) for offset, s in walks])
        return [window(op, *reached[op]) for op in reads] + [window(op, a, b - 1) for op in outs]

    def fits(a: int, b: int) -> bool:
        return all(n <= facts.binding for _, n in spans(a, b))

    launches = []
    for a, b in windows.pieces(0, words[1], 1024, fits):
        bound = spans(a, b)
        mine = list(words)
        mine[0], mine[1], mine[2] = a, b, begin(outs[0], bound[len(reads)])
        begins = {op: begin(op, w) for op, w in zip(reads, bound, strict=False)}
        at = 4 + max(rank, 0)
        for (op, _), (offset, _) in zip(numbers.accesses, walks, strict=True):
            mine[at] = offset - begins.get(op, 0) & U32
            at += 2 if rank < 0 else 1 + rank
        dispatch = grid(-(-(b - a) // each), facts.groups)
        launches.append(Launch(kernel, tuple(reads), tuple(outs), dispatch, mine, tuple(bound)))
    return launches


def spread(numbers: Numbering, shape: Shape, facts: Facts) -> tuple[list[Launch], Numbering]:
    """Gathers every access to a wide buffer that is not row-major over the space: (launches, the region on copies)."""
    launches: list[Launch] = []
    fresh = Numbering(numbers.group)
    fresh.nodes, fresh.scalars, fresh.index = numbers.nodes, numbers.scalars, numbers.index
    for k, (op, layout) in enumerate(numbers.accesses):
        seen = op.layout if layout is None else layout
        if op in numbers.reads and wide([op], facts) and not is_contiguous(seen):
            copy, made = gather(op, seen, shape, facts)
            launches += made
            op, layout = copy, None
        fresh.accesses[op, layout] = k
        if (op.kind != IOTA or op.buffer is not None) and op not in fresh.reads:
            fresh.reads[op] = len(fresh.reads)
    return launches, fresh


def gather(op: Op, layout: Layout, shape: Shape, facts: Facts) -> tuple[Op, list[Launch]]:
    """A row-major copy of a view of any strides: for each piece of it and each window of the source a launch."""
    copy = Op(SCALAR, None, (), (), shape, op.dtype)  # only a name for the memory: nothing computes it
    dims, (strides,) = collapse(shape, [layout.strides])
    itemsize = op.dtype.itemsize
    most = facts.binding // itemsize // 1024 * 1024 or facts.binding // itemsize // 64 * 64
    sig = Gather(op.dtype, len(dims), facts.workgroup)
    kernel = kernel_for(sig, codegen.gather, f"gather_{op.dtype.name}_rank{len(dims)}", facts.workgroup)
    launches = []
    for a in range(0, copy.size, most):
        b = min(a + most, copy.size)
        into = window(copy, a, b - 1)
        low, high = windows.reach(dims, strides, layout.offset, a, b - 1)
        for first in range(low // most * most, high + 1, most):
            source = window(op, first, min(first + most - 1, high))
            start = begin(op, source)
            words = [a, b, begin(copy, into), source[1] // itemsize, *dims]
            words += [x & U32 for x in (layout.offset - start, *strides)]
            dispatch = grid(-(-(b - a) // (4 * facts.workgroup)), facts.groups)
            launches.append(Launch(kernel, (op,), (copy,), dispatch, words, (source, into)))
    return copy, launches


__all__ = ["TooWide", "Walks", "cut_elementwise", "gather", "refused", "spread", "union", "wide", "window"]
