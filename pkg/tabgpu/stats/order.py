"""What is made of sorted lines: ranks, the mode, spreads between percentiles, trimmed means."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..array import Array
from ..dtypes import bool_, float32, int32
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.along import back, last, widened
from ..ops.creation import astype, full, positions
from ..ops.joining import concat
from ..ops.manipulation import broadcast_to, flip, reshape
from ..ops.picking import pick, place
from ..ops.quantiles import median, nanmedian, nanpercentile, percentile
from ..ops.scans import cumulative_max, cumulative_min, cumulative_sum
from ..ops.sorting import order_of, sorted_rows
from .operands import along, dropped, policy, real, refuse_nan


class ModeResult(NamedTuple):
    """What mode gives."""

    mode: Array
    count: Array  # type: ignore[assignment]


def _begins(line: Array) -> Array:
    """bool: where a group of equal elements begins in sorted lines (NaN are equal)."""
    new, old = line[..., 1:], line[..., :-1]
    changed = ew.not_equal(new, old)
    if line.dtype.kind == "f":
        changed = ew.logical_and(changed, ew.logical_not(ew.logical_and(ew.isnan(new), ew.isnan(old))))
    return concat([full((*line.shape[:-1], 1), True, dtype=bool_), changed], axis=-1)


def ranked(rows: Array, method: str) -> Array:
    """Ranks from 1 along the last axis: float32 for "average", else int32."""
    n = rows.shape[-1]
    order = order_of(rows)
    count = ew.add(positions(n), 1)
    if method == "ordinal":
        return place(count, order)
    begins = _begins(pick(rows, order))
    if method == "dense":
        return place(cumulative_sum(begins, axis=-1), order)
    low = high = None
    if method != "max":
        low = cumulative_max(ew.where(begins, count, 0), axis=-1)
    if method != "min":
        ends = concat([begins[..., 1:], full((*rows.shape[:-1], 1), True, dtype=bool_)], axis=-1)
        high = flip(cumulative_min(flip(ew.where(ends, count, n), axis=-1), axis=-1), axis=-1)
    if low is None or high is None:
        return place(low if high is None else high, order)  # type: ignore[arg-type]
    return place(ew.multiply(astype(ew.add(low, high), float32), 0.5), order)


def rankdata(
    a: Any, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate"
) -> Array:
    """Ranks from 1 along an axis (of the flattened array for None, in one axis). Equal elements share their average
    rank (float32), or (int32) the "min" or "max" of theirs, count as one ("dense"), or keep their order ("ordinal").

    With "average" a NaN makes all ranks of its line NaN; otherwise NaN come last.
    """
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ValueError(f"rankdata: unknown method {method!r}")
    policy(nan_policy, "rankdata", "propagate", "raise")
    x = rd.prepared(a, "rankdata")
    if x.dtype.kind == "c":
        raise TypeError("rankdata: complex numbers have no order")
    x, k = along(x, axis, "rankdata")
    if not x.size:
        return full(x.shape, 0, dtype=float32 if method == "average" else int32)
    rows = last(x, k)
    got = ranked(rows, method)
    if method == "average" and x.dtype.kind == "f":
        got = ew.where(rd.any(ew.isnan(rows), axis=-1, keepdims=True), float("nan"), got)
    got = back(got, k)
    return refuse_nan(got, x, "rankdata") if nan_policy == "raise" and x.dtype.kind == "f" else got


def mode(a: Any, axis: Any = 0, nan_policy: str = "propagate", keepdims: bool = False) -> ModeResult:
    """(the commonest element along an axis, int32 how often it occurs); the least of several. All NaN count as one
    element; nan_policy 'omit' leaves them out. No elements: NaN (0 for integers) and 0."""
    policy(nan_policy, "mode")
    x = rd.prepared(a, "mode")
    if x.dtype.kind == "c":
        raise TypeError("mode: complex numbers have no order")
    rank, had = x.ndim, axis is not None
    x, k = along(x, axis, "mode")
    rows = last(x, k)
    n = rows.shape[-1]
    lead = (*rows.shape[:-1], 1)
    if not n or not x.size:
        value = full(lead, float("nan") if x.dtype.kind == "f" else 0, dtype=x.dtype)
        count = full(lead, 0, dtype=int32)
    else:
        line = sorted_rows(rows)
        begins = _begins(line)
        start = cumulative_max(ew.where(begins, positions(n), 0), axis=-1)
        length = ew.subtract(ew.add(positions(n), 1), start)
        if nan_policy == "omit" and x.dtype.kind == "f":
            length = ew.where(ew.isnan(line), 0, length)
        at = rd.argmax(length, axis=-1, keepdims=True)
        value, count = pick(line, at), pick(length, at)
    found = [dropped(back(v, k), k, keepdims, had, rank) for v in (value, count)]
    if nan_policy == "raise" and x.dtype.kind == "f":
        found = [refuse_nan(v, x, "mode") for v in found]
    return ModeResult(*found)


def iqr(
    x: Any, axis: Any = None, rng: tuple[float, float] = (25, 75), scale: Any = 1.0, nan_policy: str = "propagate",
    interpolation: str = "linear", keepdims: bool = False,
) -> Array:  # fmt: skip
    """The difference of two percentiles over axes (all for None), divided by scale ("normal": 1.349).

    rng: the percentiles, host values; interpolation: a method of tg.percentile.
    """
    policy(nan_policy, "iqr")
    if len(rng) != 2:
        raise TypeError(f"iqr: quantile range must be two element sequence, not {rng!r}")
    if isinstance(scale, str) and scale != "normal":
        raise ValueError(f"iqr: {scale!r} is not a valid scale")
    a = real(x, "iqr")
    f = percentile if nan_policy != "omit" and a.size else nanpercentile  # NaN for no elements
    both = f(a, sorted(rng), axis=axis, method=interpolation, keepdims=keepdims)
    got = ew.subtract(both[1], both[0])
    got = ew.divide(got, 1.3489795003921634 if scale == "normal" else float(scale)) if scale != 1.0 else got
    return refuse_nan(got, a, "iqr") if nan_policy == "raise" else got


def median_abs_deviation(
    x: Any, axis: Any = 0, center: Any = None, scale: Any = 1.0, nan_policy: str = "propagate", *,
    keepdims: bool = False,
) -> Array:  # fmt: skip
    """The median of the distances from the median along an axis (all for None), divided by scale ("normal": 0.674).

    center: another function of (x, axis, keepdims=) instead of the median.
    """
    policy(nan_policy, "median_abs_deviation")
    if isinstance(scale, str) and scale != "normal":
        raise ValueError(f"median_abs_deviation: {scale!r} is not a valid scale")
    a = real(x, "median_abs_deviation")
    middle = nanmedian if nan_policy == "omit" else median
    about = (middle if center is None else center)(a, axis=axis, keepdims=True)
    got = middle(ew.absolute(ew.subtract(a, about)), axis=axis, keepdims=keepdims)
    got = ew.divide(got, 0.6744897501960817 if scale == "normal" else float(scale)) if scale != 1.0 else got
    return refuse_nan(got, a, "median_abs_deviation") if nan_policy == "raise" else got


def trim_mean(
    a: Any, proportiontocut: float, axis: Any = 0, *, nan_policy: str = "propagate", keepdims: bool = False
) -> Array:
    """The mean along an axis without a proportion of the least and of the greatest elements. ValueError if that leaves
    nothing."""
    policy(nan_policy, "trim_mean", "propagate", "raise")
    x = real(a, "trim_mean")
    rank, had = x.ndim, axis is not None
    x, k = along(x, axis, "trim_mean")
    rows = last(x, k)
    n = rows.shape[-1]
    cut = int(proportiontocut * n)
    if cut and 2 * cut >= n:
        raise ValueError("trim_mean: proportion too big")
    line = sorted_rows(rows)
    got = rd.mean(line[..., cut : n - cut], axis=-1, keepdims=True)
    if n:
        end = line[..., -1:]
        got = ew.where(ew.isnan(end), end, got)
    got = dropped(back(got, k), k, keepdims, had, rank)
    return refuse_nan(got, x, "trim_mean") if nan_policy == "raise" else got


def percentileofscore(a: Any, score: Any, kind: str = "rank", nan_policy: str = "propagate") -> Array:
    """The percentage of the elements of a that lie below each score, float32 of score's shape: "strict" counts those
    below, "weak" equal ones too, "mean" their mean, "rank" their average rank. NaN where a or the score has a NaN."""
    from ..ops.searching import found
    from .operands import single

    policy(nan_policy, "percentileofscore", "propagate", "raise")
    if kind not in ("rank", "strict", "weak", "mean"):
        raise ValueError(f"percentileofscore: kind must be 'rank', 'strict', 'weak' or 'mean', not {kind!r}")
    x, s = single(a, "percentileofscore"), single(score, "percentileofscore")
    x = reshape(x, (x.size,))
    n = x.size
    if not n:
        return full(s.shape, float("nan"), dtype=float32)
    line = sorted_rows(x)
    flat = widened(reshape(s, (s.size,)))
    left, right = (astype(found(line, flat, side), float32) for side in (False, True))
    if kind == "rank":
        count = ew.add(ew.add(left, right), astype(ew.less(left, right), float32))
    else:
        count = ew.multiply(left, 2.0) if kind == "strict" else ew.multiply(right, 2.0)
        count = ew.add(left, right) if kind == "mean" else count
    got = reshape(ew.multiply(count, 50.0 / n), s.shape)
    lost = ew.logical_or(ew.isnan(s), broadcast_to(ew.isnan(line[-1]), s.shape))
    got = ew.where(lost, float("nan"), got)
    return refuse_nan(got, x, "percentileofscore") if nan_policy == "raise" else got
