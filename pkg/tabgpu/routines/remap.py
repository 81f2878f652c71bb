"""remap: an array read through a map of its own on each axis; the kernel is kernels/remap.wgsl.

op.args is the source, op.extra (its view, a Map for each axis). What an axis does is counted on the host: NumPy's
coordinate c - before, in any period, becomes (c + shift) % period without negative numbers.
"""

from __future__ import annotations

from typing import Any

from ..dtypes import DType
from ..errors import LimitError
from ..graph import Op
from ..launch import Launch
from ..layout import Layout
from ..region import Facts, complex_bits
from . import kernel, launch
from .join import WORDS, element_bits


def lower(op: Op, facts: Facts) -> list[Launch]:
    """One launch."""
    seen, maps = op.extra
    axes = _merged(op.shape, seen, maps)
    size, per, dtype = op.size, op.dtype.per_word, op.dtype
    pairs = dtype.words == 2
    if pairs:
        axes = [(n, m, 2 * stride, how) for n, m, stride, how in axes] + [(2, 2, 1, ("wrap", 0))]
        size *= 2
    words: list[int] = [-(-size // per), size, len(axes), seen.offset * dtype.words]
    for n, m, stride, how in axes:
        words += (n, m, stride, *_numbers(how, m, dtype))
    if len(words) > WORDS:
        raise LimitError(f"{op.fn}: {len(axes)} axes are too many to be padded or rolled at once")
    made = kernel("remap", "rw", f"remap_{32 // per}{'_pairs' * pairs}", WG=facts.workgroup, PER=per, PAIRS=pairs)
    return [launch(made, op.args, (op,), -(-words[0] // facts.workgroup), words, facts)]


Axis = tuple[int, int, int, tuple[Any, ...]]


def _merged(shape: tuple[int, ...], seen: Layout, maps: tuple[Any, ...]) -> list[Axis]:
    """(size, source size, stride, map) by axis; neighbours that are only copied become one."""
    axes: list[Axis] = []
    for n, m, stride, how in zip(shape, seen.shape, seen.strides, maps, strict=True):
        plain = n == m and how == ("wrap", 0)
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
