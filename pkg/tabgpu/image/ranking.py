"""Rank filters under scipy.ndimage's names: minima, maxima, medians, percentiles of the elements around each one."""

from __future__ import annotations

from math import prod
from typing import Any

from ..array import Array
from ..layout import normalize_axis
from ..ops.manipulation import flip, reshape
from .arguments import ascending, axes_of, each, finish, mode_of, prepared, scalar, start, whole
from .structures import counted, footprint_of
from .windows import extreme_line, neighbours

__all__ = [
    "maximum_filter", "maximum_filter1d", "median_filter", "minimum_filter", "minimum_filter1d", "percentile_filter",
    "rank_filter",
]  # fmt: skip
FEW = 27  # taps of a box that one launch takes at once


def real(x: Any, label: str) -> Array:
    """An operand whose elements have an order."""
    made = prepared(x, label)
    if made.dtype.kind == "c":
        raise TypeError(f"{label}: complex numbers have no order")
    return made


def extreme(
    name: str,
    x: Array,
    size: Any,
    footprint: Any,
    structure: Any,
    mode: Any,
    cval: Any,
    origin: Any,
    axes: Any,
    label: str,
    turned: bool = False,
) -> Array:
    """min or max over a box or a footprint, of elements less or plus a structure. turned: of what the turned window
    has (dilation)."""
    at = axes_of(axes, x.ndim, label)
    rank = len(at)
    value = scalar(cval, label, "cval")
    modes = [mode_of(m, label) for m in each(mode, rank, label, "mode")]
    origins = [whole(o, label, "origin") for o in each(origin, rank, label, "origin")]
    mask, heights = footprint_of(size, footprint, structure, rank, label)
    shaped = heights if mask is None else mask
    given = each(size, rank, label, "size") if shaped is None else list(shaped.shape)
    at, modes, origins, *sizes = ascending(at, modes, origins, *([given] if shaped is None else []))
    given = sizes[0] if sizes else given
    shape = [whole(n, label, "size") for n in given]
    if any(n < 1 for n in shape):
        raise ValueError(f"{label}: sizes {tuple(shape)} must be at least 1")
    if turned:
        origins = [-o - (1 - n % 2) for n, o in zip(shape, origins, strict=True)]
        mask, heights = (None if a is None else flip(a) for a in (mask, heights))
    starts = [start(n, o, label) for n, o in zip(shape, origins, strict=True)]
    if mask is None and heights is None and (prod(shape) > FEW or sum(n > 1 for n in shape) > 3):
        for k, n, s, m in zip(at, shape, starts, modes, strict=True):
            if n > 1 or s:
                x = extreme_line(name, x, n, k, s, m, value)
        return x
    full = [[1] * x.ndim, [0] * x.ndim, [0] * x.ndim]
    for k, parts in zip(at, zip(shape, starts, modes, strict=True), strict=True):
        for into, part in zip(full, parts, strict=True):
            into[k] = part
    if mask is not None or heights is not None:
        mask, heights = (None if a is None else spread(a, at, x.ndim) for a in (mask, heights))
    return neighbours(name, x, full[0], full[1], full[2], value, mask, heights)


def spread(a: Array, at: tuple[int, ...], rank: int) -> Array:
    """A footprint over some ascending axes as one over all."""
    sizes = [1] * rank
    for k, n in zip(at, a.shape, strict=True):
        sizes[k] = n
    return reshape(a, sizes)


def _filter(name: str, label: str, *given: Any) -> Array:
    input, size, footprint, output, mode, cval, origin, axes = given
    x = real(input, label)
    return finish(extreme(name, x, size, footprint, None, mode, cval, origin, axes, label), x, output, label)


def minimum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Array:  # fmt: skip
    """The least of the elements around each one: in a box of `size` (one or one an axis), or where footprint is True.

    mode, cval, origin, output, axes as correlate. Real numbers and bools of any dtype; NaN wins. TypeError for complex
    arrays, ValueError for sizes that do not fit.
    """
    return _filter("min", "minimum_filter", input, size, footprint, output, mode, cval, origin, axes)


def maximum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Array:  # fmt: skip
    """The greatest of the elements around each one; as minimum_filter."""
    return _filter("max", "maximum_filter", input, size, footprint, output, mode, cval, origin, axes)


def _line(name: str, label: str, *given: Any) -> Array:
    input, size, axis, output, mode, cval, origin = given
    x = real(input, label)
    axis, n = normalize_axis(axis, x.ndim, label), whole(size, label, "size")
    if n < 1:
        raise ValueError(f"{label}: size must be at least 1, not {n}")
    made = extreme_line(
        name, x, n, axis, start(n, origin, label), mode_of(mode, label), scalar(cval, label, "cval")
    )
    return finish(made, x, output, label)


def minimum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Array:  # fmt: skip
    """The least of `size` elements around each one along an axis; as minimum_filter."""
    return _line("min", "minimum_filter1d", input, size, axis, output, mode, cval, origin)


def maximum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Array:  # fmt: skip
    """The greatest of `size` elements around each one along an axis; as minimum_filter."""
    return _line("max", "maximum_filter1d", input, size, axis, output, mode, cval, origin)


def _ranked(input: Any, rank: Any, how: tuple[Any, ...], label: str) -> Array:
    size, footprint, output, mode, cval, origin, axes = how
    x = real(input, label)
    at = axes_of(axes, x.ndim, label)
    value = scalar(cval, label, "cval")
    modes = [mode_of(m, label) for m in each(mode, len(at), label, "mode")]
    at, modes, origins = ascending(at, modes, each(origin, len(at), label, "origin"))
    shape, mask, n = counted(size, footprint, len(at), label)
    k = rank(n)
    if not 0 <= k < n:
        raise ValueError(f"{label}: rank {k} is not one of a window of {n} elements")
    starts = [start(m, o, label) for m, o in zip(shape, origins, strict=True)]
    full = [[1] * x.ndim, [0] * x.ndim, [0] * x.ndim]
    for axis, parts in zip(at, zip(shape, starts, modes, strict=True), strict=True):
        for into, part in zip(full, parts, strict=True):
            into[axis] = part
    made = neighbours(
        "rank",
        x,
        full[0],
        full[1],
        full[2],
        value,
        None if mask is None else spread(mask, at, x.ndim),
        None,
        k,
    )
    return finish(made, x, output, label)


def rank_filter(
    input: Any, rank: int, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Array:  # fmt: skip
    """The element of a rank (0 the least, -1 the greatest) among those around each one; NaN ranks last.

    As minimum_filter; footprint is host data, of at most three axes of more than one element.
    """

    def which(n: int) -> int:
        k = whole(rank, "rank_filter", "rank")
        return k + n if k < 0 else k

    return _ranked(input, which, (size, footprint, output, mode, cval, origin, axes), "rank_filter")


def median_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Array:  # fmt: skip
    """The median of the elements around each one (of an even number of them the upper one); as rank_filter."""
    return _ranked(
        input, lambda n: n // 2, (size, footprint, output, mode, cval, origin, axes), "median_filter"
    )


def percentile_filter(
    input: Any, percentile: float, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Array:  # fmt: skip
    """The element at a percentile (0 to 100; negative ones count from 100) of those around each one; as rank_filter."""
    label = "percentile_filter"
    p = scalar(percentile, label, "percentile")
    p = p + 100 if p < 0 else p
    if not 0 <= p <= 100:
        raise ValueError(f"{label}: percentile {percentile} is not between -100 and 100")
    return _ranked(
        input, lambda n: n - 1 if p == 100 else int(n * p / 100), (size, footprint, output, mode, cval, origin, axes),
        label,
    )  # fmt: skip
