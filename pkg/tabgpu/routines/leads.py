"""Work whose results depend on one place of the leading axes each, cut along them for buffers beyond a binding."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from .. import windows
from ..graph import Op
from ..launch import Launch
from ..lower_wide import Span, begin, refused, wide, window
from ..region import Facts

Emit = Callable[[int, int], Launch]  # of (offset in the bound window, results): one launch


def by_leads(
    op: Op, channels: int, leads: int, offset: int, strides: tuple[int, int], spans: tuple[tuple[int, int], ...],
    emit: Emit, facts: Facts, whole: bool = False, rows: int = 1,
) -> list[Launch]:  # fmt: skip
    """One launch, or several over ranges of leads.

    leads: of the result; the source has `rows` for each, in (leads * rows / channels, channels) with `strides`. spans:
    (size, stride) of what a row has behind its first element. whole: this work cannot be cut.
    """
    source = op.args[0]
    if not wide([source, op], facts):
        return [emit(offset, op.size)]
    outer = max(leads * rows // channels, 1)
    units, step = (leads, rows * strides[1]) if outer == 1 else (outer, strides[0])
    each, inner = op.size // units, rows if outer == 1 else channels
    low = high = offset
    for n, s in (*spans, (inner, strides[1])):
        low += min(0, (n - 1) * s)
        high += max(0, (n - 1) * s)

    def bound(a: int, b: int) -> tuple[Span, Span]:
        at = sorted((a * step, (b - 1) * step))
        return window(source, low + at[0], high + at[1]), window(op, a * each, b * each - 1)

    def fits(a: int, b: int) -> bool:
        return all(n <= facts.binding for _, n in bound(a, b))

    try:
        if whole:
            raise windows.TooWide("all of it at once")
        aligned = windows.ALIGN // gcd(windows.ALIGN, each * op.dtype.itemsize)
        ranges = list(windows.pieces(0, units, aligned, fits))
    except windows.TooWide as error:
        raise refused(op.fn, [source, op], facts, error) from None
    made = []
    for a, b in ranges:
        both = bound(a, b)
        one = emit(offset + a * step - begin(source, both[0]), (b - a) * each)
        made.append(one._replace(windows=both))
    return made
