"""Indexed writes: the old array (in place where nobody else has it), then the update's elements over it.

args: (old array, value unless it is a constant, indices ..). Assignments through arrays of indices first find out which
update of an element is the last.
"""

from __future__ import annotations

from math import prod

from .. import codegen_index as text
from ..codegen_index import Claim, Scatter
from ..dtypes import uint32
from ..graph import Op
from ..indexed import Indexed, Update
from ..launch import Launch
from ..layout import Layout, contiguous
from ..region import U32, Facts, bits, complex_bits, kernel_for
from . import kernel, launch, temporary
from .gather import walk


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.extra: an Update."""
    update: Update = op.extra
    old, *rest = op.args
    constant = not isinstance(update.value, Layout)
    values, indices = ((), rest) if constant else (rest[:1], rest[1:])
    launches = [] if update.in_place else [copied(old, op, facts)]
    claims: tuple[Op, ...] = ()
    claimed: list[int] = []
    picks = tuple(a.dtype for a in indices)
    more = [] if constant else [update.value]
    if picks and not update.expr and not update.unique:
        cells, order, steps, size = _claims(update) if not update.overlap else _whole(update, op)
        claims = (temporary((size,), uint32),)
        launches += _claim(update, indices, claims[0], cells, order, steps, facts)
        more = [cells, order, *more]
    dims, words, strides = walk(update.at, update.shape, *more)  # type: ignore[arg-type]
    if claims:
        claimed = [0, *strides[0], 0, *strides[1], *steps]
        strides = strides[2:]
    sig = Scatter(
        op.dtype, picks, update.at.mode, len(dims), facts.workgroup, update.expr, constant, bool(claims)
    )
    name = "assign" if not update.expr else "update"
    made = kernel_for(
        sig, text.scatter, f"{name}_{op.dtype.name}_{len(picks)}_rank{len(dims)}", facts.workgroup
    )
    if isinstance(update.value, Layout):
        tail = [update.value.offset, *strides[0]]
    else:
        tail = list(_words(update.value, op))
    size = prod(update.shape)
    words = [0, size, *words, *(w & U32 for w in claimed), *(w & U32 for w in tail)]
    reads = (*values, *indices, *claims)
    each = 4 if text.runs(sig) else 1
    final = launch(made, tuple(reads), (op,), -(-size // (each * facts.workgroup)), words, facts)
    return [*launches, final._replace(adopts=old) if update.in_place else final]


def _words(value: complex, op: Op) -> tuple[int, int]:
    """A Python number as the two words of a constant value: bits of its dtype."""
    if op.dtype.kind == "c":
        return complex_bits(value)
    if op.dtype.kind == "f" and op.dtype.per_word == 2:
        import struct

        code = "<e" if op.dtype.name == "float16" else "<f"
        try:
            packed = struct.pack(code, value)
        except OverflowError:
            packed = struct.pack(code, value.real * float("inf"))
        return int.from_bytes(packed[-2:], "little"), 0
    return bits(value, op.dtype.kind), 0


def copied(old: Op, new: Op, facts: Facts) -> Launch:
    words = -(-old.size * old.dtype.itemsize // 4)
    made = kernel("copy_words", "rw", WG=facts.workgroup)
    return launch(made, (old,), (new,), -(-words // (4 * facts.workgroup)), [words], facts)


def _claims(update: Update) -> tuple[Layout, Layout, list[int], int]:
    """(cells, order, steps of the picks, number of cells): layouts over the space that give each written element a cell
    of its own, apart from the axes on which no index depends, and each update of it a turn."""
    rank = len(update.shape)
    moving = [d for d in range(rank) if any(p.layout.strides[d] for p in update.at.picks)]
    cell, turn, size, turns = [0] * rank, [0] * rank, 1, 1
    for d in reversed(moving):
        turn[d] = turns
        turns *= update.shape[d]
        if update.at.base.strides[d]:
            cell[d] = size
            size *= update.shape[d]
    steps = []
    for pick in reversed(update.at.picks):
        steps.append(size)
        size *= pick.n
    return Layout(update.shape, tuple(cell)), Layout(update.shape, tuple(turn)), steps[::-1], size


def _whole(update: Update, op: Op) -> tuple[Layout, Layout, list[int], int]:
    """The same where windows of different indices overlap: each element of the array is a cell."""
    cells = Layout(update.shape, update.at.base.strides)
    return cells, contiguous(update.shape), [p.stride for p in update.at.picks], op.size


def _claim(
    update: Update,
    indices: list[Op],
    claims: Op,
    cells: Layout,
    order: Layout,
    steps: list[int],
    facts: Facts,
) -> list[Launch]:
    """Zeros, then the greatest turn of each cell."""
    zero = kernel("fill_words", "w", WG=facts.workgroup)
    clear = launch(zero, (), (claims,), -(-claims.size // (4 * facts.workgroup)), [claims.size, 0], facts)
    shape = tuple(n if order.strides[d] else 1 for d, n in enumerate(update.shape))
    picks = tuple(p._replace(stride=s) for p, s in zip(update.at.picks, steps, strict=True))
    at = Indexed(cells, picks, update.at.mode)
    # Sizes of one merge away, and turns are positions in this space: its axes must not be merged by their strides.
    dims, words, _ = walk(at, shape, contiguous(shape))
    sig = Claim(tuple(a.dtype for a in indices), update.at.mode, len(dims), facts.workgroup)
    made = kernel_for(sig, text.claim, f"claim_{len(picks)}_rank{len(dims)}", facts.workgroup)
    size = prod(shape)
    made_launch = launch(
        made, tuple(indices), (claims,), -(-size // facts.workgroup), [0, size, *words], facts
    )
    return [clear, made_launch]
