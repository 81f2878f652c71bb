"""Peaks of a line: find_peaks, prominences, widths, relative extremes. Their number is read; not with a bound."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

from ..array import Array
from ..dtypes import float32, int32, uint32
from ..layout import normalize_axis
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.along import prepared, widened
from ..ops.compaction import placed, running_count, total_of
from ..ops.creation import astype, full, positions, zeros
from ..ops.extremes import float_of_bits
from ..ops.joining import concat
from ..ops.manipulation import reshape
from ..ops.picking import pick
from ..ops.routine import routine, stored
from ..ops.scans import cumulative_min
from ..ops.searching import nonzero_async
from ..ops.sorting import argsort
from ..ops.waiting import plain
from .samples import cut

BLOCK = 256  # as in routines/peaks.py
TOP = 0xFFFFFFFF


def _line(x: Any, where: str) -> Array:
    line = prepared(x, where)
    if line.ndim != 1:
        raise ValueError(f"{where}: x has shape {line.shape}: it needs one axis")
    if line.dtype.kind not in "iuf":
        raise TypeError(f"{where}: {line.dtype.name} has no order: integers and real floats have")
    return line


def _bounds(interval: Any, x: Array, what: str) -> tuple[Any, Any]:
    """(least, most) of a condition: numbers, arrays as long as x, or None."""
    if interval is None:
        return None, None
    pair = interval
    if isinstance(interval, (tuple, list)) and len(interval) == 2:
        pair = tuple(interval)
    elif not isinstance(interval, Array) and getattr(interval, "shape", None) == (2,):
        pair = (interval[0], interval[1])
    else:
        pair = (interval, None)
    made: list[Any] = []
    for one in pair:
        if one is None or isinstance(one, (int, float)):
            made.append(one)
            continue
        array = prepared(one, "find_peaks")
        if array.ndim and array.shape != x.shape:
            raise ValueError(
                f"find_peaks: {what} of shape {array.shape} must be a number or as long as x {x.shape}"
            )
        made.append(array)
    return made[0], made[1]


def _within(value: Array, bounds: tuple[Any, Any], at: Array) -> Array | None:
    """Where least <= value <= most; arrays are taken at positions. None: everywhere."""
    found: Array | None = None
    for bound, test in zip(bounds, (ew.greater_equal, ew.less_equal), strict=True):
        if bound is None:
            continue
        limit = pick(bound, at) if isinstance(bound, Array) and bound.ndim else bound
        one = test(value, limit)
        found = one if found is None else ew.logical_and(found, one)
    return found


def _shifted(x: Array, fill: Any) -> tuple[Array, Array]:
    """(the elements before, those behind), with a fill at the ends."""
    end = full((1,), fill, dtype=x.dtype)
    return concat([end, x[:-1]]), concat([x[1:], end])


class _Candidates:
    """Local maxima of a line as masks over all of it: where plateaus begin, and where they end."""

    def __init__(self, x: Array) -> None:
        n = x.shape[0]
        self.x, self.keys = x, rd.KEY_MAX(widened(x))
        before, behind = _shifted(self.keys, TOP)
        here = positions(n)
        ends = ew.where(ew.not_equal(self.keys, behind), here, n - 1)
        self.left, self.right = here, cumulative_min(ends, axis=0, reverse=True)
        self.beyond = pick(self.keys, ew.add(self.right, 1), TOP)
        rises, falls = ew.less(before, self.keys), ew.less(self.beyond, self.keys)
        self.mask = ew.logical_and(rises, falls)
        if x.dtype.kind == "f":
            self.mask = ew.logical_and(self.mask, ew.logical_not(ew.isnan(x)))

    def middles(self) -> Array:
        return ew.floor_divide(ew.add(self.left, self.right), 2)

    def thresholds(self) -> tuple[Array, Array]:
        """How far the middle of each plateau rises above its neighbours."""
        values = astype(self.x, float32, copy=False)
        at = self.middles()
        mine = pick(values, at)
        return tuple(  # type: ignore[return-value]
            ew.subtract(mine, pick(values, ew.add(at, side))) for side in (-1, 1)
        )

    def keep(self, where: Array | None) -> None:
        if where is not None:
            self.mask = ew.logical_and(self.mask, where)


async def find_peaks_async(
    x: Any, height: Any = None, threshold: Any = None, distance: float | None = None, prominence: Any = None,
    width: Any = None, wlen: float | None = None, rel_height: float = 0.5, plateau_size: Any = None, *,
    size: int | None = None, fill_value: int = -1,
) -> tuple[Array, dict[str, Array]]:  # fmt: skip
    """(positions of peaks, int32, and their properties) of a line, as scipy.signal.find_peaks.

    height, threshold, prominence, width, plateau_size: the least, or (least, most), numbers or arrays as long as x.
    A plateau counts by its middle. distance: samples between peaks, at least 1; the highest stay. wlen: samples that
    prominences look at. Numbers of
    peaks are read: `await tg.aio.find_peaks(x)`, or plainly where Python can wait. With size= nothing is: the first
    `size` peaks, then fill_value; properties there mean nothing. NaN is no peak, and ends one.
    """
    line = _line(x, "find_peaks")
    if distance is not None and distance < 1:
        raise ValueError(f"find_peaks: distance must be at least 1, it is {distance}")
    reach = _reach(wlen, "find_peaks")
    bound = None if size is None else max(int(size), 0)
    asked = {"plateau_size": plateau_size, "height": height, "threshold": threshold}
    limits = {name: _bounds(value, line, name) for name, value in asked.items()}
    later = {
        name: _bounds(value, line, name) for name, value in (("prominence", prominence), ("width", width))
    }
    if line.shape[0] < 3:  # no peaks
        line = zeros((3,), dtype=line.dtype)
    n = line.shape[0]
    found = _Candidates(line)
    values = astype(line, float32, copy=False)
    middles = found.middles()
    if plateau_size is not None:
        found.keep(_within(ew.add(ew.subtract(found.right, found.left), 1), limits["plateau_size"], middles))
    if height is not None:
        found.keep(_within(line, limits["height"], middles))
    if threshold is not None:
        low, high = found.thresholds()
        found.keep(_within(ew.minimum(low, high), (limits["threshold"][0], None), middles))
        found.keep(_within(ew.maximum(low, high), (None, limits["threshold"][1]), middles))
    counts = running_count(found.mask)
    chosen = distance is not None or prominence is not None or width is not None
    many = await total_of(counts) if bound is None else bound if not chosen else (n - 1) // 2
    left = placed(counts, many, -1)
    right = pick(found.right, left, -1)
    peaks = ew.where(ew.less(left, 0), -1, ew.floor_divide(ew.add(left, right), 2))
    made: dict[str, Array] = {}
    if plateau_size is not None:
        made |= {
            "plateau_sizes": ew.add(ew.subtract(right, left), 1),
            "left_edges": left,
            "right_edges": right,
        }
    if height is not None:
        made["peak_heights"] = pick(line, peaks)
    if threshold is not None:
        made |= dict(
            zip(("left_thresholds", "right_thresholds"), (pick(t, left) for t in (low, high)), strict=True)
        )
    if chosen and many:
        alive = ew.greater_equal(peaks, 0)
        if distance is not None:
            alive = _apart(peaks, pick(found.keys, peaks), alive, ceil(distance))
        if prominence is not None or width is not None:
            data = _prominences(values, found.keys, peaks, reach)
            made |= dict(zip(("prominences", "left_bases", "right_bases"), data, strict=True))
            keep = _within(data[0], later["prominence"], peaks) if prominence is not None else None
            alive = alive if keep is None else ew.logical_and(alive, keep)
        if width is not None:
            four = _widths(values, peaks, data, rel_height)
            made |= dict(zip(("widths", "width_heights", "left_ips", "right_ips"), four, strict=True))
            keep = _within(four[0], later["width"], peaks)
            alive = alive if keep is None else ew.logical_and(alive, keep)
        counts = running_count(alive)
        order = placed(counts, await total_of(counts) if bound is None else bound, -1)
        peaks = pick(peaks, order, -1)
        made = {name: pick(value, order) for name, value in made.items()}
    elif chosen:
        names = (
            ["prominences", "left_bases", "right_bases"]
            if prominence is not None or width is not None
            else []
        ) + (["widths", "width_heights", "left_ips", "right_ips"] if width is not None else [])
        made |= {name: zeros((many,), dtype=int32 if name.endswith("bases") else float32) for name in names}
    if bound is not None and fill_value != -1:
        peaks = ew.where(ew.less(peaks, 0), int(fill_value), peaks)
    return peaks, made


find_peaks = plain(find_peaks_async)


def _reach(wlen: float | None, where: str) -> int:
    """The furthest step from a peak to a side."""
    if wlen is None:
        return TOP
    if not wlen > 1:
        raise ValueError(f"{where}: wlen must be larger than 1, it is {wlen}")
    return ceil(wlen) // 2


def _blocks(x: Array, reduce: Callable[..., Array]) -> Array:
    """A reduction of each whole block; something, if there is none."""
    whole = x.shape[0] // BLOCK
    return reduce(reshape(x[: whole * BLOCK], (whole, BLOCK)), 1) if whole else x[:1]


def _prominences(values: Array, keys: Array, peaks: Array, reach: int) -> tuple[Array, Array, Array]:
    args = [values, keys, _blocks(keys, rd.max), _blocks(keys, rd.min), peaks]
    order = [args[1], args[0], *args[2:]]
    made = routine("peaks.prominence", [stored(a) for a in order], (3, peaks.shape[0]), uint32, reach)
    return float_of_bits(made[0]), astype(made[1], int32), astype(made[2], int32)


def _widths(
    values: Array, peaks: Array, data: tuple[Array, Array, Array], rel_height: float
) -> tuple[Array, ...]:  # fmt: skip
    if rel_height < 0:
        raise ValueError(f"peak_widths: rel_height must not be negative, it is {rel_height}")
    args = [values, _blocks(values, rd.min), peaks, *data]
    made = routine("peaks.width", [stored(a) for a in args], (4, peaks.shape[0]), float32, float(rel_height))
    return tuple([made[k] for k in range(4)])


def _apart(peaks: Array, keys: Array, alive: Array, distance: int) -> Array:
    """Which peaks stay."""
    args = [peaks, keys, argsort(keys), astype(alive, uint32)]
    made = routine("peaks.distance", [stored(a) for a in args], peaks.shape, uint32, distance)
    return ew.equal(made, 1)


def _given(x: Any, peaks: Any, where: str) -> tuple[Array, Array]:
    line, at = _line(x, where), prepared(peaks, where)
    if at.ndim != 1 or (at.dtype.kind not in "iu" and at.size):
        raise ValueError(f"{where}: peaks of {at.dtype.name} {at.shape}: one axis of positions")
    return line, astype(at, int32, copy=False)


def peak_prominences(x: Any, peaks: Any, wlen: float | None = None) -> tuple[Array, Array, Array]:
    """(prominences, left and right bases) of the peaks at given positions: how far each rises above the higher of the
    valleys beside it. wlen: samples that are looked at, half of them at each side. Reads nothing."""
    line, at = _given(x, peaks, "peak_prominences")
    reach = _reach(wlen, "peak_prominences")
    if not at.size or not line.size:
        return zeros((0,)), zeros((0,), dtype=int32), zeros((0,), dtype=int32)
    return _prominences(astype(line, float32, copy=False), rd.KEY_MAX(widened(line)), at, reach)


def peak_widths(
    x: Any, peaks: Any, rel_height: float = 0.5, prominence_data: Any = None, wlen: float | None = None
) -> tuple[Array, ...]:
    """(widths, heights they are taken at, left and right crossings) of the peaks at given positions, at rel_height of
    their prominences down. prominence_data: what peak_prominences gave. float32: a crossing far from the beginning is
    rounded, a width is not. Reads nothing."""
    line, at = _given(x, peaks, "peak_widths")
    if rel_height < 0:
        raise ValueError(f"peak_widths: rel_height must not be negative, it is {rel_height}")
    if not at.size or not line.size:
        return tuple([zeros((0,)) for _ in range(4)])
    if prominence_data is None:
        data = peak_prominences(line, at, wlen)
    else:
        parts = [prepared(p, "peak_widths") for p in prominence_data]
        if len(parts) != 3 or any(p.shape != at.shape for p in parts):
            raise ValueError("peak_widths: prominence_data must be three arrays as long as peaks")
        data = tuple([astype(p, t, copy=False) for p, t in zip(parts, (float32, int32, int32), strict=True)])  # type: ignore[assignment]
    return _widths(astype(line, float32, copy=False), at, data, rel_height)


def _extreme_mask(
    data: Any, comparator: Callable[..., Any], axis: int, order: int, mode: str, where: str
) -> Array:
    x = prepared(data, where)
    if not isinstance(order, int) or order < 1:
        raise ValueError(f"{where}: order must be an int of at least 1, not {order!r}")
    if mode not in ("clip", "wrap"):
        raise ValueError(f"{where}: mode {mode!r}: 'clip' or 'wrap'")
    k = normalize_axis(axis, x.ndim, where)
    n = x.shape[k]
    found: Array | None = None
    for shift in range(1, order + 1):
        for side in (shift, -shift):
            if mode == "wrap":
                s = side % max(n, 1)
                other = concat([cut(x, k, s, None), cut(x, k, 0, s)], axis=k) if s else x
            elif abs(side) >= n:
                other = cut(x, k, n - 1, n) if side > 0 else cut(x, k, 0, 1)
            else:
                ends = [cut(x, k, n - 1, n)] * shift if side > 0 else [cut(x, k, 0, 1)] * shift
                other = concat(
                    [cut(x, k, side, None), *ends] if side > 0 else [*ends, cut(x, k, 0, side)], axis=k
                )
            one = comparator(x, other)
            found = one if found is None else ew.logical_and(found, one)
    assert found is not None
    return found


async def argrelextrema_async(
    data: Any, comparator: Callable[..., Any], axis: int = 0, order: int = 1, mode: str = "clip", *,
    size: int | None = None, fill_value: Any = None,
) -> tuple[Array, ...]:  # fmt: skip
    """Positions (one int32 array an axis) of the elements that compare true with `order` neighbours at each side.

    comparator: np.greater, tg.less ..; mode at the ends: "clip" or "wrap". Their number is read, as nonzero's; with
    size= nothing is.
    """
    mask = _extreme_mask(data, comparator, axis, order, mode, "argrelextrema")
    return await nonzero_async(mask, size=size, fill_value=fill_value)


async def argrelmax_async(
    data: Any, axis: int = 0, order: int = 1, mode: str = "clip", *, size: int | None = None, fill_value: Any = None
) -> tuple[Array, ...]:  # fmt: skip
    """argrelextrema with greater."""
    return await argrelextrema_async(data, ew.greater, axis, order, mode, size=size, fill_value=fill_value)


async def argrelmin_async(
    data: Any, axis: int = 0, order: int = 1, mode: str = "clip", *, size: int | None = None, fill_value: Any = None
) -> tuple[Array, ...]:  # fmt: skip
    """argrelextrema with less."""
    return await argrelextrema_async(data, ew.less, axis, order, mode, size=size, fill_value=fill_value)


argrelextrema = plain(argrelextrema_async)
argrelmax = plain(argrelmax_async)
argrelmin = plain(argrelmin_async)
