"""What an indexed read or write means, as data: made in ops/indexing.py, carried out by routines/gather and scatter."""

from __future__ import annotations

from typing import NamedTuple

from .layout import Layout, Shape


class Pick(NamedTuple):
    """An array of indices along an axis of n elements `stride` apart; `layout` is how the space reads it."""

    n: int
    stride: int
    layout: Layout


class Indexed(NamedTuple):
    """Where the elements of a space lie in the indexed array: base, moved by the picks. mode: raise, wrap, clip, drop
    with what to read where an index is out of range (`fill`, the words of an element)."""

    base: Layout
    picks: tuple[Pick, ...]
    mode: str
    fill: tuple[int, int] = (0, 0)


class Update(NamedTuple):
    """What is written where. shape: the space of the update; value: how it reads the values, or a Python number. expr:
    WGSL that combines x (there) and y (new), "" to assign; unique: no element is written twice; overlap: different
    indices may mean one element."""

    shape: Shape
    at: Indexed
    value: Layout | complex
    expr: str
    in_place: bool
    unique: bool
    overlap: bool = False
