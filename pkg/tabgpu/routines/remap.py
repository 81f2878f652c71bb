"""remap: an array read through a map of its own on each axis; the text is codegen_move's, and for buffers larger than
a binding kernels/remap.wgsl.

op.args is the source, op.extra (its view, a Map for each axis). What an axis does is counted on the host: NumPy's
coordinate c - before, in any period, becomes (c + shift) % period without negative numbers.
"""

from __future__ import annotations

from math import prod
from typing import Any

from .. import codegen_move, lower_wide, windows
from ..dtypes import DType
from ..errors import LimitError
from ..graph import Op
from ..launch import Launch
from ..layout import Layout, is_contiguous
from ..lower_strided import quad
from ..region import Facts, complex_bits, kernel_for
from . import kernel, launch
from .join import COARSE, FOLD, WORDS, bits_of, bytes_of, element_bits


def lower(op: Op, facts: Facts) -> list[Launch]:
    """One launch; of buffers larger than a binding several, of a copy if need be."""
    seen, maps = op.extra
    source = op.args[0]
    try:
        return _lower(op, source, seen, maps, facts, COARSE)
    except windows.TooWide:
        launches: list[Launch] = []
        if lower_wide.wide([source], facts) and not is_contiguous(seen):
            source, launches = lower_wide.gather(source, seen, seen.shape, facts)
            seen = source.layout
    try:
        return launches + _lower(op, source, seen, maps, facts, 1)
    except windows.TooWide as error:
        raise lower_wide.refused("remap", [source, op], facts, error) from None


def _lower(op: Op, source: Op, seen: Layout, maps: tuple[Any, ...], facts: Facts, step: int) -> list[Launch]:
    axes = _merged(op.shape, seen, maps)
    size, per, dtype = op.size, op.dtype.per_word, op.dtype
    pairs = dtype.words == 2
    if pairs:
        axes = [(n, m, 2 * stride, how) for n, m, stride, how in axes] + [(2, 2, 1, PLAIN)]
        size *= 2
        if not lower_wide.wide([source, op], facts):
            return [_straight(op, source, axes, 2 * seen.offset, facts)]
    elif not lower_wide.wide([source, op], facts):
        return [_straight(op, source, axes, seen.offset, facts)]
    offset, itemsize = seen.offset * dtype.words, min(dtype.itemsize, 4)
    tail: list[int] = []
    for n, m, stride, how in axes:
        tail += (n, m, stride, *_numbers(how, m, dtype))
    if len(tail) + 8 > WORDS:
        raise LimitError(f"{op.fn}: {len(axes)} axes are too many to be padded or rolled at once")
    made = kernel(
        "remap",
        "rw",
        f"remap_{32 // per}{'_pairs' * pairs}",
        WG=facts.workgroup,
        PER=per,
        FOLD=FOLD,
        PAIRS=pairs,
    )

    def bound(a: int, b: int) -> tuple[lower_wide.Span, lower_wide.Span]:
        low, high = _reach(axes, offset, a, b - 1)
        return windows.window(low, high, itemsize, bytes_of(source)), windows.window(
            a, b - 1, itemsize, bytes_of(op)
        )

    def one(a: int, b: int, spans: tuple[lower_wide.Span, lower_wide.Span] | None) -> Launch:
        starts = (0, 0) if spans is None else (spans[0][0] // itemsize, spans[1][0] // itemsize)
        count = -(-b // per) - a // per
        words = [count, 0, len(axes), offset - starts[0], a // per, starts[1] // per, a, b, *tail]
        made_one = launch(made, (source,), (op,), -(-count // (FOLD * facts.workgroup)), words, facts)
        return made_one if spans is None else made_one._replace(windows=spans)

    if not lower_wide.wide([source, op], facts):
        return [one(0, size, None)]
    ranges = list(windows.pieces(0, size, step, lambda a, b: all(n <= facts.binding for _, n in bound(a, b))))
    return [one(a, b, bound(a, b)) for a, b in ranges]


Axis = tuple[int, int, int, tuple[Any, ...]]
PLAIN = ("wrap", 0)


def _straight(op: Op, source: Op, axes: list[Axis], offset: int, facts: Facts) -> Launch:
    """One launch over whole buffers."""
    constant = any(how[0] == "constant" for *_, how in axes)
    pairs = op.dtype.words == 2 and constant
    if op.dtype.words == 2 and not constant and len(axes) > 1 and axes[-2][3] == PLAIN and axes[-2][2] == 2:
        n, m, _, how = axes[-2]
        axes = [*axes[:-2], (2 * n, 2 * m, 1, how)]
    if not axes:
        axes = [(1, 1, 1, PLAIN)]
    modes: list[str] = []
    tail: list[int] = []
    for n, m, stride, how in axes:
        mode, before = how[:2]
        shift, period, more = before, 0, (0, 0, 0, 0)
        if (n, how) == (m, PLAIN):
            mode = "plain"
        elif mode == "constant":
            more = _numbers(how, m, op.dtype)[5:]  # type: ignore[assignment]
        elif mode != "edge":
            _, shift, period, turn, *_ = _numbers(how, m, op.dtype)
            mode = "wrap" if mode == "wrap" and n + shift <= 2 * m else "turn"
            more = (turn, 0, 0, 0)
        modes.append(mode)
        tail += (m, stride, shift, period, *more)
    sizes = [n for n, *_ in axes]
    n, m, _, _ = axes[-1]
    whole = not n & 3 and quad(offset, tuple(stride for _, _, stride, _ in axes), len(axes) - 1)
    if modes[-1] != "plain":
        whole = (
            whole and modes[-1] in ("constant", "wrap") and not (m & 3 or tail[-codegen_move.AXIS + 2] & 3)
        )
    words = [0, prod(sizes), 0, offset, *sizes, *tail]
    if len(words) > WORDS:
        raise LimitError(f"{op.fn}: {len(axes)} axes are too many to be padded or rolled at once")
    sig = codegen_move.Remap(bits_of(op.dtype), tuple(modes), whole, pairs, facts.workgroup)
    label = f"remap_{32 // op.dtype.per_word}_{'_'.join(modes)}"
    made = kernel_for(sig, codegen_move.remap, label, facts.workgroup)
    return launch(
        made, (source,), (op,), -(-prod(sizes) // (4 * op.dtype.per_word * facts.workgroup)), words, facts
    )


def _merged(shape: tuple[int, ...], seen: Layout, maps: tuple[Any, ...]) -> list[Axis]:
    """(size, source size, stride, map) by axis; neighbours that are only copied become one."""
    axes: list[Axis] = []
    for n, m, stride, how in zip(shape, seen.shape, seen.strides, maps, strict=True):
        plain = n == m and how == PLAIN
        if plain and n == 1:
            continue
        if plain and axes and axes[-1][3] == how and axes[-1][0] == axes[-1][1] and axes[-1][2] == n * stride:
            before = axes.pop()
            n = m = before[0] * n
        axes.append((n, m, stride, how))
    return axes


def _numbers(how: tuple[Any, ...], m: int, dtype: DType) -> tuple[int, ...]:
    """The parameter words of one axis behind its sizes and stride. how: (mode, before, constants)."""
    mode, before = how[:2]
    if mode == "constant":
        low, high = how[2]
        if dtype.words == 2:
            return (0, before, 0, 0, 0, *complex_bits(low), *complex_bits(high))
        return (0, before, 0, 0, 0, element_bits(low, dtype), 0, element_bits(high, dtype), 0)
    if mode == "edge":
        return (1, before, 0, 0, 0, 0, 0, 0, 0)
    period, turn = {"reflect": (2 * m - 2, 2 * m - 2), "symmetric": (2 * m, 2 * m - 1), "wrap": (m, m)}[mode]
    return (2, -before % period, period, turn, 0, 0, 0, 0, 0)


def _reach(axes: list[Axis], offset: int, first: int, last: int) -> tuple[int, int]:
    """The lowest and highest position of the source that elements first..last of the result may read."""
    low = high = offset
    inner, whole = prod(n for n, *_ in axes), False
    for n, m, stride, how in axes:
        inner //= n
        c0, c1 = (0, n - 1) if whole else (first // inner, last // inner)
        at = _interval(how, m, c0, c1)
        low += min(at[0] * stride, at[1] * stride)
        high += max(at[0] * stride, at[1] * stride)
        whole = whole or c0 != c1
        first -= 0 if whole else c0 * inner
        last -= 0 if whole else c1 * inner
    return low, high


def _interval(how: tuple[Any, ...], m: int, c0: int, c1: int) -> tuple[int, int]:
    """The coordinates of the source that coordinates c0..c1 of the result lie between."""
    mode, before = how[:2]
    if mode in ("constant", "edge"):
        return min(max(c0 - before, 0), m - 1), min(max(c1 - before, 0), m - 1)
    period = {"reflect": 2 * m - 2, "symmetric": 2 * m, "wrap": m}[mode]
    p0, p1 = (c0 - before) % period, (c1 - before) % period
    back = 2 * m - 2 if mode == "reflect" else 2 * m - 1
    if c1 - c0 >= period or (p1 < p0 and (p0 < m or p1 >= m)):
        return 0, m - 1
    if p1 < p0:  # down to 0 and up again
        return 0, max(back - p0, p1)
    if p1 < m:
        return p0, p1
    return (back - p1, back - p0) if p0 >= m else (min(p0, back - p1), m - 1)
