"""pad, in all of NumPy's modes: one launch where elements are only copied (routines/remap.py), else axis by axis."""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from .. import layout as lo
from ..array import Array, view
from ..dtypes import BY_KIND, check_scalar, float32, uint32
from . import elementwise as ew
from . import reductions
from .creation import astype, copy_of, full, positions, zeros
from .joining import join
from .manipulation import addressable, broadcast_to, flip, reshape
from .rearranging import KEEP, prepare, remap

_OPTIONS = {
    "constant": "constant_values", "empty": "", "edge": "", "wrap": "", "linear_ramp": "end_values",
    "maximum": "stat_length", "minimum": "stat_length", "mean": "stat_length", "median": "stat_length",
    "reflect": "reflect_type", "symmetric": "reflect_type",
}  # fmt: skip


def pad(array: Any, pad_width: Any, mode: str = "constant", **options: Any) -> Array:
    """array with more elements before and behind it on each axis, NumPy's modes and options.

    pad_width: n, (before, behind), one pair an axis, or {axis: n or pair}. Modes: constant (constant_values=0), empty,
    edge, wrap, reflect and symmetric (reflect_type="even" or "odd"), linear_ramp (end_values=0), maximum, minimum, mean
    and median (stat_length=None). Functions as modes are refused: they would edit host memory row by row.
    """
    x = prepare(array, "pad")
    if callable(mode):
        raise TypeError("pad: a function as mode edits host memory; compute the border and use concat")
    if mode not in _OPTIONS:
        raise ValueError(f"pad: mode {mode!r} is not supported; modes are {', '.join(_OPTIONS)}")
    wrong = set(options) - {_OPTIONS[mode]}
    if wrong:
        raise ValueError(f"pad: unsupported keyword arguments for mode {mode!r}: {sorted(wrong)}")
    widths = _widths(pad_width, x.ndim)
    shape = addressable(tuple(n + a + b for n, (a, b) in zip(x.shape, widths, strict=True)), "pad")
    if not any(a or b for a, b in widths):
        return copy_of(x)
    if mode in ("constant", "empty"):
        return _constant(x, widths, shape, options.get("constant_values", 0))
    for k, (n, (a, b)) in enumerate(zip(x.shape, widths, strict=True)):
        if n == 0 and (a or b):
            raise ValueError(
                f"pad: can't extend empty axis {k} of shape {x.shape} using modes other than 'constant' or 'empty'"
            )
    if not x.size:
        return zeros(shape, dtype=x.dtype)
    kind = options.get("reflect_type", "even")
    if mode in ("edge", "wrap") or (mode in ("reflect", "symmetric") and kind != "odd"):
        return remap(x, shape, tuple([_map(mode, n, w) for n, w in zip(x.shape, widths, strict=True)]), "pad")
    if mode in ("reflect", "symmetric"):
        sides: Any = _odd
        given: Any = [mode] * x.ndim
    elif mode == "linear_ramp":
        sides, given = _ramps, _pairs(options.get("end_values", 0), x.ndim)
    else:
        sides, given = _stats, [(mode, *p) for p in _lengths(options.get("stat_length"), x.ndim)]
    for axis, (a, b) in enumerate(widths):
        if a or b:
            x = sides(x, axis, a, b, given[axis])
    return x


# --- arguments ----------------------------------------------------------------------------------------------


def _widths(given: Any, rank: int) -> list[tuple[int, int]]:
    """(before, behind) by axis from any of the forms of pad_width."""
    if isinstance(given, dict):
        pairs: list[Any] = [(0, 0)] * rank
        for axis, width in given.items():
            pairs[lo.normalize_axis(axis, rank, "pad")] = (
                width if isinstance(width, (tuple, list)) else (width, width)
            )
        given = pairs
    try:
        got = [(as_index(a), as_index(b)) for a, b in _pairs(given, rank)]
    except TypeError:
        raise TypeError(f"pad: pad_width must be integers, not {given!r}") from None
    if any(n < 0 for pair in got for n in pair):
        raise ValueError(f"pad: widths must not be negative: {given!r}")
    return got


def _pairs(given: Any, rank: int) -> list[tuple[Any, Any]]:
    """A pair an axis, from a scalar, (before, behind), ((before, behind),), ((both,), ..) or one pair an axis."""
    given = given.tolist() if hasattr(given, "tolist") and not isinstance(given, Array) else given
    if not isinstance(given, (tuple, list)):
        return [(given, given)] * rank
    if not rank and not given:
        return []
    rows = [r.tolist() if hasattr(r, "tolist") and not isinstance(r, Array) else r for r in given]
    if all(not isinstance(r, (tuple, list)) for r in rows):
        if len(rows) in (1, 2):
            return [(rows[0], rows[-1])] * rank
        raise ValueError(f"pad: {given!r} does not broadcast to {rank} pairs")
    if any(not isinstance(r, (tuple, list)) or len(r) not in (1, 2) for r in rows) or len(rows) not in (
        1,
        rank,
    ):
        raise ValueError(f"pad: {given!r} does not broadcast to {rank} pairs")
    pairs = [(r[0], r[-1]) for r in rows]
    return pairs * rank if len(pairs) == 1 else pairs


def _lengths(given: Any, rank: int) -> list[tuple[int | None, int | None]]:
    pairs = [
        (None if a is None else as_index(a), None if b is None else as_index(b))
        for a, b in _pairs(given, rank)
    ]
    if any(n is not None and n < 0 for pair in pairs for n in pair):
        raise ValueError(f"pad: stat_length must not be negative: {given!r}")
    return pairs


# --- copies -------------------------------------------------------------------------------------------------


def _map(mode: str, n: int, width: tuple[int, int]) -> tuple[Any, ...]:
    if width == (0, 0):
        return KEEP
    return ("edge" if n == 1 and mode == "reflect" else mode, width[0])


def _constant(x: Array, widths: list[tuple[int, int]], shape: lo.Shape, values: Any) -> Array:
    pairs = _pairs(values, x.ndim)
    if not x.size or any(isinstance(v, Array) for pair in pairs for v in pair):
        for axis, (a, b) in enumerate(widths):
            before, behind = (
                full((*x.shape[:axis], n, *x.shape[axis + 1 :]), _value(v, x), dtype=x.dtype)
                for n, v in zip((a, b), pairs[axis], strict=True)
            )
            x = join([before, x, behind], axis, "pad") if a or b else x
        return x
    maps = [
        KEEP if w == (0, 0) else ("constant", w[0], tuple(_value(v, x) for v in pair))
        for w, pair in zip(widths, pairs, strict=True)
    ]
    return remap(x, shape, tuple(maps), "pad")


def _value(value: Any, x: Array) -> Any:
    """A constant as x's dtype has it: floats truncate into integers, integers must fit."""
    if isinstance(value, Array):
        return astype(value, x.dtype, copy=False)
    value = value.item() if hasattr(value, "item") else value
    if x.dtype.kind in "iu":
        value = int(value)
        check_scalar(value, x.dtype, "pad")
    elif x.dtype.kind == "f":
        value = float(value)
    elif x.dtype.kind == "b":
        value = bool(value)
    return value


# --- axis by axis -------------------------------------------------------------------------------------------


def _cut(x: Array, axis: int, start: int, stop: int) -> Array:
    return view(x, lo.index(x._layout, (slice(None),) * axis + (slice(start, stop),)))


def _odd(x: Array, axis: int, before: int, behind: int, mode: str) -> Array:
    """Reflected about the value at the edge: 2 * edge - x; in as many steps as NumPy takes."""
    first = x.shape[axis]
    if first == 1:
        return remap(
            x, tuple(n + before + behind if k == axis else n for k, n in enumerate(x.shape)),
            tuple(("edge", before) if k == axis else KEEP for k in range(x.ndim)), "pad",
        )  # fmt: skip
    skip = 0 if mode == "symmetric" else 1
    while before or behind:
        n = x.shape[axis]
        most = n // first * first if mode == "symmetric" else (n - 1) // (first - 1) * (first - 1)
        a, b = min(most, before), min(most, behind)
        left = ew.subtract(
            ew.multiply(_cut(x, axis, 0, 1), 2), flip(_cut(x, axis, skip, skip + a), axis=axis)
        )
        right = ew.subtract(
            ew.multiply(_cut(x, axis, n - 1, n), 2), flip(_cut(x, axis, n - skip - b, n - skip), axis=axis)
        )
        x = join([left, x, right], axis, "pad")
        before, behind = before - a, behind - b
    return x


def _ramps(x: Array, axis: int, before: int, behind: int, ends: tuple[Any, Any]) -> Array:
    """From the end values (reached) towards the edges (not reached)."""
    n = x.shape[axis]
    left = _ramp(_cut(x, axis, 0, 1), axis, before, ends[0])
    right = flip(_ramp(_cut(x, axis, n - 1, n), axis, behind, ends[1]), axis=axis)
    return join([left, x, right], axis, "pad")


def _ramp(edge: Array, axis: int, n: int, end: Any) -> Array:
    shape = (*edge.shape[:axis], n, *edge.shape[axis + 1 :])
    if not n:
        return zeros(shape, dtype=edge.dtype)
    k = reshape(positions(n), (n,) + (1,) * (edge.ndim - axis - 1))
    end = _value(end, edge)
    if edge.dtype.kind in "iu":
        return _whole_ramp(edge, k, n, int(end), shape)
    if edge.dtype.kind == "b":
        edge, end = astype(edge, float32), float(end)
        return astype(_ramp(edge, axis, n, end), "bool")
    part = ew.divide(astype(k, float32), float(n))
    step = ew.multiply(ew.subtract(edge, end), part)
    return astype(broadcast_to(ew.add(step, end), shape), edge.dtype, copy=False)


def _whole_ramp(edge: Array, k: Array, n: int, end: int, shape: lo.Shape) -> Array:
    """floor(end + (edge - end) * k / n) in exact u32 arithmetic: quotient and remainder apart."""
    wide = astype(astype(edge, BY_KIND[edge.dtype.kind], copy=False), uint32, copy=False)
    bias = end & 0xFFFFFFFF
    rising = ew.greater_equal(edge, end)
    gap = ew.where(rising, ew.subtract(wide, bias), ew.subtract(bias, wide))
    j = astype(k, uint32)
    whole, rest = ew.floor_divide(gap, n), ew.remainder(gap, n)
    if n > 65536:
        raise OverflowError(f"pad: a linear_ramp of integers is at most 65,536 long, not {n}")
    product = ew.multiply(rest, j)
    up = ew.add(ew.multiply(whole, j), ew.floor_divide(product, n))
    down = ew.add(ew.multiply(whole, j), ew.floor_divide(ew.add(product, n - 1), n))
    moved = ew.where(rising, ew.add(up, bias), ew.subtract(bias, down))
    return astype(broadcast_to(moved, shape), edge.dtype, copy=False)


def _stats(x: Array, axis: int, before: int, behind: int, how: tuple[str, int | None, int | None]) -> Array:
    """Borders of one value: a statistic of what lies at the edge."""
    mode, n = how[0], x.shape[axis]
    lengths = [n if k is None else min(k, n) for k in how[1:]]
    if 0 in lengths and mode in ("maximum", "minimum"):
        raise ValueError("pad: stat_length of 0 yields no value for padding")
    sides: list[Array] = []
    for k, width, part in zip(lengths, (before, behind), ((0, lengths[0]), (n - lengths[1], n)), strict=True):
        if k == n and sides and lengths[0] == n:
            value = _cut(sides[0], axis, 0, 1) if before else _stat(x, axis, mode)
        else:
            value = _stat(_cut(x, axis, *part), axis, mode)
        shape = (*x.shape[:axis], width, *x.shape[axis + 1 :])
        sides.append(broadcast_to(value, shape) if width else zeros(shape, dtype=x.dtype))
    return join([sides[0], x, sides[1]], axis, "pad")


def _stat(part: Array, axis: int, mode: str) -> Array:
    if mode in ("maximum", "minimum"):
        found = (reductions.max if mode == "maximum" else reductions.min)(part, axis=axis, keepdims=True)
        return astype(found, part.dtype, copy=False)
    if mode == "mean":
        found = reductions.mean(part, axis=axis, keepdims=True)
    else:
        from .quantiles import median

        found = median(part, axis=axis, keepdims=True)
    if part.dtype.kind in "iu":
        found = ew.rint(found)
    return astype(found, part.dtype, copy=False)


__all__ = ["pad"]
