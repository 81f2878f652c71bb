"""Segmented bindings: which part of a buffer a range of elements touches, and how to cut work that is too wide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from .layout import Shape

ALIGN = 256  # bytes: no device wants storage offsets in larger steps


class TooWide(ValueError):
    """The smallest piece of some work still touches more than a binding holds."""


def reach(shape: Shape, strides: Shape, offset: int, first: int, last: int) -> tuple[int, int]:
    """The lowest and highest position that elements first..last (row-major, inclusive) of a strided space may touch."""
    low = high = offset
    inner = prod(shape)
    for axis, (n, s) in enumerate(zip(shape, strides, strict=True)):
        inner //= n
        c0, c1 = first // inner, last // inner
        low += min(c0 * s, c1 * s)
        high += max(c0 * s, c1 * s)
        if c0 != c1:  # the axes below may take any coordinate
            for m, t in zip(shape[axis + 1 :], strides[axis + 1 :], strict=True):
                low += min(0, (m - 1) * t)
                high += max(0, (m - 1) * t)
            break
        first -= c0 * inner
        last -= c0 * inner
    return low, high


def window(low: int, high: int, itemsize: int, size: int) -> tuple[int, int]:
    """(byte offset, bytes) of an aligned binding that holds elements low..high of a buffer of `size` bytes."""
    begin = low * itemsize // ALIGN * ALIGN
    end = min(size, -(-((high + 1) * itemsize) // 16) * 16)
    return begin, end - begin


def pieces(first: int, end: int, step: int, fits: Callable[[int, int], bool]) -> Iterator[tuple[int, int]]:
    """[first, end) in ranges that fit, cut at multiples of `step`; TooWide if a smallest range does not fit."""
    stack = [(first, end)]
    while stack:
        a, b = stack.pop()
        if fits(a, b):
            yield a, b
            continue
        middle = a + (b - a) // 2 // step * step
        if middle == a:
            raise TooWide(f"elements {a} to {b}")
        stack += [(middle, b), (a, middle)]
