"""Which class and forms an elementwise launch over strided operands has, and its parameter words. No buffers here.

*Rows*: the result is walked four neighbours at a time. *Tiled*: an operand's neighbours lie along another axis than the
result's, so square tiles of the two axes go through workgroup memory (on a CPU adapter straight from the caches).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from . import codegen_strided
from .codegen import Elementwise, Region, as_bits
from .codegen_strided import ONE, QUAD, STEP, TURNED, TURNED_STEP, Tiled, threads
from .dtypes import DType
from .layout import Shape
from .region import U32, Facts, Numbering, Recipe, grid, kernel_for

if TYPE_CHECKING:
    from .codegen_shifted import Shifted

LEAST = 16  # elements along both axes of a tile, below which rows are as good
CACHED = 1 << 22  # elements up to which the caches of a CPU hold what rows leave unread of a line


def formed(numbers: Numbering, outs: tuple[tuple[int, DType], ...], forms: Sequence[int]) -> Region:
    """The region with the form of each access."""
    region = numbers.region(outs)
    accesses = tuple((b, dtype, form) for (b, dtype, _), form in zip(region.accesses, forms, strict=True))
    return as_bits(region._replace(accesses=accesses))


def quad(offset: int, strides: Shape, along: int) -> bool:
    """Whether four neighbours along an axis are always one aligned load."""
    return (
        strides[along] == 1 and not offset & 3 and not any(s & 3 for d, s in enumerate(strides) if d != along)
    )


def row_major(dims: Shape) -> Shape:
    return tuple(prod(dims[d + 1 :]) for d in range(len(dims)))


def form(offset: int, strides: Shape) -> int:
    """Of an access along the last axis, where whole fours lie in a row."""
    return QUAD if quad(offset, strides, len(strides) - 1) else STEP if strides[-1] else ONE


def rows(
    numbers: Numbering, outs: tuple[tuple[int, DType], ...], dims: Shape, walks: list[tuple[int, Shape]], facts: Facts
) -> tuple[Elementwise, list[int]]:  # fmt: skip
    """(signature, words from the fifth on but scalars) of the rows class; walks: offset and strides by access."""
    even = len(dims) <= 1 or not dims[-1] & 3
    whole = row_major(dims)
    forms, words = [], list(dims)
    for (op, _), (offset, strides) in zip(numbers.accesses, walks, strict=True):
        words += [x & U32 for x in (offset, *strides)]
        if op not in numbers.reads:
            forms.append(STEP)
        elif even:
            forms.append(form(offset, strides))
        elif not any(strides):
            forms.append(ONE)
        else:
            forms.append(QUAD if strides == whole and not offset & 3 else STEP)
    region = formed(numbers, outs, forms)
    return Elementwise(region, len(dims), len(numbers.reads), facts.workgroup, even), words


def other_axis(numbers: Numbering, dims: Shape, walks: list[tuple[int, Shape]]) -> int:
    """The axis along which most of the operands have their neighbours that do not have them along the last; else -1."""
    if len(dims) < 2 or dims[-1] < LEAST:
        return -1
    votes: dict[int, int] = {}
    for (op, _), (_, strides) in zip(numbers.accesses, walks, strict=True):
        if op in numbers.reads and abs(strides[-1]) > 1:
            for d, (n, s) in enumerate(zip(dims[:-1], strides, strict=False)):
                if s == 1 and n >= LEAST:
                    votes[d] = votes.get(d, 0) + 1
    return max(votes, key=lambda d: (votes[d], dims[d])) if votes else -1


def tiles(
    names: str, numbers: Numbering, outs: tuple[tuple[int, DType], ...], dims: Shape, walks: list[tuple[int, Shape]],
    facts: Facts,
) -> Recipe | None:  # fmt: skip
    """The recipe of the tiled class, or None where rows are the better way."""
    found = tiled(numbers, outs, dims, walks, facts)
    if found is None:
        return None
    sig, dispatch, words = found
    make: Any = codegen_strided.tiled
    if not isinstance(sig, Tiled):
        from .codegen_shifted import shifted as make
    label = f"{names}_tiled{sig.tile}_rank{sig.rank + 2}"
    return Recipe(kernel_for(sig, make, label, threads(sig.tile)), dispatch, words)


def tiled(
    numbers: Numbering, outs: tuple[tuple[int, DType], ...], dims: Shape, walks: list[tuple[int, Shape]], facts: Facts
) -> tuple[Tiled | Shifted, tuple[int, int, int], list[int]] | None:  # fmt: skip
    """(signature, grid, words but scalars) of the tiled class, or None where rows are the better way."""
    axis, last = other_axis(numbers, dims, walks), len(dims) - 1
    down = bool(dims[-1] & 3) if dims else False
    if axis < 0:
        return None
    if facts.software and prod(dims) <= CACHED:
        return None
    turned = [
        op in numbers.reads and abs(strides[-1]) > 1 and strides[axis] == 1
        for (op, _), (_, strides) in zip(numbers.accesses, walks, strict=True)
    ]
    room = 0 if facts.software else facts.limits.get("maxComputeWorkgroupStorageSize", 16384)
    need = sum(op.dtype.itemsize for (op, _), t in zip(numbers.accesses, turned, strict=True) if t)
    packed = down and any(dtype.per_word > 1 for _, dtype in outs)
    complexes = any(op.dtype.kind == "c" for (op, _), t in zip(numbers.accesses, turned, strict=True) if t)
    if packed and (facts.software or complexes):
        return None
    tile = 64 if facts.workgroup >= threads(64) and (need <= 4 or facts.software) else 32
    if packed:
        return shifted(numbers, outs, dims, walks, facts, axis, turned, tile)
    across, height = -(-dims[-1] // tile), -(-dims[axis] // tile)
    others = [d for d in range(last) if d != axis]
    steps = row_major(dims)
    groups = across * height * prod(dims[d] for d in others)
    words = [0, groups, dims[axis], dims[-1], height, across, steps[axis], 0]
    words += [dims[d] for d in others] + [steps[d] for d in others]
    forms = []
    for (op, _), (offset, strides), turn in zip(numbers.accesses, walks, turned, strict=True):
        words += [x & U32 for x in (offset, *(strides[d] for d in others), strides[axis], strides[-1])]
        room -= op.dtype.itemsize * tile * tile if turn else 0
        if turn and room >= 0:
            forms.append(TURNED if quad(offset, strides, axis) else TURNED_STEP)
        else:
            forms.append(STEP if down or op not in numbers.reads else form(offset, strides))
    sig = Tiled(formed(numbers, outs, forms), len(others), len(numbers.reads), tile, down)
    return sig, grid(groups, facts.groups), words


def shifted(
    numbers: Numbering, outs: tuple[tuple[int, DType], ...], dims: Shape, walks: list[tuple[int, Shape]], facts: Facts,
    axis: int, turned: list[bool], tile: int,
) -> tuple[Shifted, tuple[int, int, int], list[int]]:  # fmt: skip
    """The same for packed results whose rows begin inside words."""
    from .codegen_shifted import Shifted

    others, steps = [d for d in range(len(dims) - 1) if d != axis], row_major(dims)
    across, height = -(-dims[-1] // (tile - 4)), -(-dims[axis] // tile)
    groups = across * height * prod(dims[d] for d in others)
    words = [0, groups, dims[axis], dims[-1], height, across, steps[axis], 0]
    words += [*(dims[d] for d in others), *(steps[d] for d in others), *dims]
    forms, room = [], facts.limits.get("maxComputeWorkgroupStorageSize", 16384)
    for (op, _), (offset, strides), turn in zip(numbers.accesses, walks, turned, strict=True):
        mine = (offset, *(strides[d] for d in others), strides[axis], strides[-1], *strides)
        words += [x & U32 for x in mine]
        room -= op.dtype.itemsize * tile * tile if turn else 0
        fits = turn and room >= 0
        forms.append(STEP if not fits else TURNED if quad(offset, strides, axis) else TURNED_STEP)
    sig = Shifted(formed(numbers, outs, forms), len(others), len(numbers.reads), tile)
    return sig, grid(groups, facts.groups), words


__all__ = ["other_axis", "rows", "tiles"]
