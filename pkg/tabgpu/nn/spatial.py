"""What functions over spatial axes share: arguments for one or all axes, operands read through their strides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..array import Array, source
from ..graph import IOTA, SCALAR, Op
from ..layout import Layout, Shape, collapse
from ..ops import reductions as rd
from ..ops.creation import copy_of


class Operand(NamedTuple):
    """An array as (outer, channels, the spatial axes), where each axis is evenly spaced in memory."""

    op: Op
    outer: int
    channels: int
    offset: int
    strides: tuple[int, int]  # of the two leading axes
    sizes: Shape  # of the spatial axes
    steps: tuple[int, ...]  # their strides


def per_axis(value: Any, rank: int, label: str, what: str, least: int = 0) -> tuple[int, ...]:
    """An int for all axes, or a sequence with one each."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        found = tuple(value)
        if len(found) == 1:
            found *= rank
    else:
        found = (value,) * rank
    try:
        found = tuple([v.__index__() for v in found])
    except AttributeError:
        raise TypeError(f"{label}: {what} must be an int or {rank} of them, not {value!r}") from None
    if len(found) != rank:
        raise ValueError(f"{label}: {what} must be an int or {rank} of them, not {value!r}")
    if any(v < least for v in found):
        raise ValueError(f"{label}: {what} must be at least {least}, not {value!r}")
    return found


def prepared(x: Any, rank: int, label: str, batched: bool = False) -> Array:
    """An operand of `rank` spatial axes behind (N, C), or (unless batched) behind C alone, none of them empty."""
    made: Array = rd.prepared(x, label)
    if made.ndim != rank + 2 and (batched or made.ndim != rank + 1):
        wanted = f"{rank + 2}-D" if batched else f"{rank + 1}-D or {rank + 2}-D"
        raise ValueError(f"{label}: needs a {wanted} array, not one of shape {made.shape}")
    return made


def operand(x: Array, rank: int, apart: bool = False) -> Operand:
    """x read where it lies; copied if more than two strides lead to its spatial axes. apart: the two leading axes stay
    what they are, even if one stride would do."""
    for _ in range(2):
        op, seen = source(x)
        if not (op.kind in (SCALAR, IOTA) and op.buffer is None):
            lay: Layout = seen or op.layout
            lead = x.ndim - rank
            if apart:
                dims, walks = lay.shape[:lead], lay.strides[:lead]
            else:
                dims, (walks,) = collapse(lay.shape[:lead], [lay.strides[:lead]])
            if len(dims) <= 2:
                (outer, channels), steps = ((1, 1, *dims)[-2:], (0, 0, *walks)[-2:])
                strides = steps[0], steps[1]
                return Operand(op, outer, channels, lay.offset, strides, lay.shape[lead:], lay.strides[lead:])
        x = copy_of(x)
    raise AssertionError("a copy is contiguous")
