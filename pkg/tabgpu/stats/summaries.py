"""Moments in one read, and what is made of them: skewness, kurtosis, scores, generalised means."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from ..array import Array, view
from ..dtypes import float32
from ..layout import contiguous, normalize_axes
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops import statistics as st
from ..ops.creation import astype, full
from ..ops.manipulation import moveaxis, reshape
from ..ops.nan_functions import nanmax, nanmin
from ..ops.routine import routine, stored, whole
from .operands import along, policy, real, refuse_nan, single


class Moments(NamedTuple):
    """What moments gives."""

    count: Array  # type: ignore[assignment]
    mean: Array
    variance: Array
    skewness: Array
    kurtosis: Array
    mean_square: Array


class DescribeResult(NamedTuple):
    """What describe gives."""

    nobs: Any
    minmax: tuple[Array, Array]
    mean: Array
    variance: Array
    skewness: Array
    kurtosis: Array


def planes(x: Array, axes: tuple[int, ...], omit: bool = False) -> list[Array]:
    """Count, mean, central sums of the powers 2, 3, 4 of float32 elements over normalised axes, and the unit (a power
    of two) that these sums count distances in: one read of x. Nothing at all gives a count of 0 and NaN."""
    kept = [k for k in range(x.ndim) if k not in axes]
    shape = tuple([x.shape[k] for k in kept])
    n = 1
    for k in axes:
        n *= x.shape[k]
    size = 1
    for m in shape:
        size *= m
    if not n or not size:
        return [full(shape, v, dtype=float32) for v in (0.0, *[float("nan")] * 4, 1.0)]
    inner = 1
    first, run = (axes[0], len(axes)) if axes else (x.ndim, 0)
    if axes == tuple(range(first, first + run)) and whole(x):  # neighbouring axes are read where they are
        for m in x.shape[first + run :]:
            inner *= m
    else:
        x = reshape(moveaxis(x, axes, tuple(range(x.ndim - run, x.ndim))), (*shape, n))
    extra = (size // inner, n, inner, int(omit))
    made = routine("moments", [stored(x)], (6, *shape), float32, extra, x.size)
    strides = contiguous(shape)
    return [view(made, strides._replace(offset=k * size)) for k in range(6)]


def squared(m2: Array, unit: Array) -> Array:
    """A sum of squares in x's own units."""
    return ew.multiply(ew.multiply(m2, unit), unit)


def moments(a: Any, axis: Any = None, *, nan_policy: str = "propagate") -> Moments:
    """(count, mean, variance, skewness, kurtosis, mean_square) over axes (all for None; a tuple: several), float32.

    All of them come from one read of a: means of blocks and the sums about them are merged, so that neither a large
    mean nor many elements cost accuracy. The variance is that of the population (divided by count), the kurtosis
    Fisher's. nan_policy 'omit' leaves NaN out.
    """
    x = single(a, "moments")
    omit = policy(nan_policy, "moments") == "omit"
    n, mean, *sums, unit = planes(x, normalize_axes(axis, x.ndim, "moments"), omit)
    second, third, fourth = (ew.divide(m, n) for m in sums)
    skewness, kurt = _shape_of(mean, second, third, fourth, unit)
    variance = squared(second, unit)
    square = ew.multiply(mean, mean)
    square = ew.where(ew.isinf(mean), square, ew.add(variance, square))
    out = Moments(n, mean, variance, skewness, kurt, square)
    return Moments(*[refuse_nan(v, x, "moments") for v in out]) if nan_policy == "raise" else out


def _shape_of(mean: Array, m2: Array, m3: Array, m4: Array, unit: Array) -> tuple[Array, Array]:
    """Skewness and Fisher's kurtosis; NaN for what is constant but for rounding."""
    flat = ew.less_equal(m2, ew.square(ew.divide(ew.multiply(mean, 2.0**-23), unit)))
    safe = ew.where(flat, float("nan"), m2)
    root = ew.sqrt(safe)
    skewness = ew.divide(ew.divide(ew.divide(m3, root), root), root)
    return skewness, ew.subtract(ew.divide(ew.divide(m4, safe), safe), 3.0)


def _parts(a: Any, axis: Any, nan_policy: str, where: str) -> tuple[Array, list[Array], tuple[int, ...]]:
    """(float32 operand, [count, mean, mean powers 2, 3, 4 in a unit, that unit] over an axis, normalised axes)."""
    x = single(a, where)
    policy(nan_policy, where)
    axes = normalize_axes(axis if axis is None or isinstance(axis, tuple) else (axis,), x.ndim, where)
    n, mean, *sums, unit = planes(x, axes, nan_policy == "omit")
    return x, [n, mean, *[ew.divide(s, n) for s in sums], unit], axes


def _finish(
    got: Array, x: Array, axes: tuple[int, ...], keepdims: bool, nan_policy: str, where: str
) -> Array:
    if keepdims:
        got = reshape(got, rd.reduced_shape(x.shape, axes, True))
    return refuse_nan(got, x, where) if nan_policy == "raise" else got


def skew(
    a: Any, axis: Any = 0, bias: bool = True, nan_policy: str = "propagate", *, keepdims: bool = False
) -> Array:
    """The third central moment over the standard deviation cubed along an axis, float32; bias=False: corrected for the
    number of elements. NaN for what is constant."""
    x, (n, *parts), axes = _parts(a, axis, nan_policy, "skew")
    got, _ = _shape_of(*parts)
    if not bias:
        factor = ew.divide(ew.sqrt(ew.multiply(n, ew.subtract(n, 1.0))), ew.subtract(n, 2.0))
        got = ew.where(ew.greater(n, 2.0), ew.multiply(got, factor), got)
    return _finish(got, x, axes, keepdims, nan_policy, "skew")


def kurtosis(
    a: Any, axis: Any = 0, fisher: bool = True, bias: bool = True, nan_policy: str = "propagate", *,
    keepdims: bool = False,
) -> Array:  # fmt: skip
    """The fourth central moment over the variance squared along an axis, less 3 (fisher=False: not), float32;
    bias=False: corrected for the number of elements. NaN for what is constant."""
    x, (n, *parts), axes = _parts(a, axis, nan_policy, "kurtosis")
    _, got = _shape_of(*parts)
    if not bias:
        whole_ = ew.add(got, 3.0)
        less = ew.subtract(n, 1.0)
        top = ew.subtract(
            ew.multiply(ew.multiply(ew.add(n, 1.0), less), whole_), ew.multiply(ew.square(less), 3.0)
        )
        fixed = ew.divide(top, ew.multiply(ew.subtract(n, 2.0), ew.subtract(n, 3.0)))
        got = ew.where(ew.greater(n, 3.0), fixed, got)
    if not fisher:
        got = ew.add(got, 3.0)
    return _finish(got, x, axes, keepdims, nan_policy, "kurtosis")


def describe(
    a: Any, axis: Any = 0, ddof: int = 1, bias: bool = True, nan_policy: str = "propagate"
) -> DescribeResult:
    """(nobs, (min, max), mean, variance, skewness, kurtosis) along an axis (all for None), float32. nobs is an int,
    with nan_policy 'omit' an array. ValueError for no elements."""
    x = single(a, "describe")
    if not x.size:
        raise ValueError("describe: the input must not be empty")
    _, (n, mean, m2, _, _, unit), axes = _parts(x, axis, nan_policy, "describe")
    omit = nan_policy == "omit"
    ends = (nanmin(x, axes), nanmax(x, axes)) if omit else (rd.min(x, axes), rd.max(x, axes))
    variance = squared(ew.divide(ew.multiply(m2, n), ew.subtract(n, float(ddof))), unit)
    options: dict[str, Any] = {"axis": axes, "bias": bias, "nan_policy": nan_policy}
    count: Any = astype(n, "int32") if omit else rd.count_of(x, axes, False, None, "describe")
    return DescribeResult(count, ends, mean, variance, skew(x, **options), kurtosis(x, **options))


def moment(
    a: Any, order: Any = 1, axis: Any = 0, nan_policy: str = "propagate", *, center: Any = None, keepdims: bool = False
) -> Array:  # fmt: skip
    """The mean of (a - center)**order along an axis, float32; center: the mean by default. Several orders (whole
    numbers) give a leading axis."""
    from ..ops.joining import stack

    x = single(a, "moment")
    policy(nan_policy, "moment")
    if isinstance(order, (list, tuple)):
        options: dict[str, Any] = {
            "axis": axis,
            "nan_policy": nan_policy,
            "center": center,
            "keepdims": keepdims,
        }
        return stack([moment(x, k, **options) for k in order])
    if int(order) != order:
        raise ValueError(f"moment: all elements of order must be integral, not {order!r}")
    axes = normalize_axes(axis, x.ndim, "moment")
    mask: Any = ew.logical_not(ew.isnan(x)) if nan_policy == "omit" else True
    mean = rd.mean(x, axes, keepdims=True, where=mask) if center is None else center
    apart = ew.subtract(x, mean)
    if order == 1 and center is None:
        apart = ew.multiply(apart, 0.0)
    powers = ew.power(apart, int(order)) if order != 2 else ew.square(apart)
    got = rd.mean(powers, axes, keepdims=keepdims, where=mask)
    return refuse_nan(got, x, "moment") if nan_policy == "raise" else got


def sem(
    a: Any, axis: Any = 0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False
) -> Array:
    """The standard error of the mean along an axis: the deviation over the root of the number of elements."""
    x, (n, _, m2, _, _, unit), axes = _parts(a, axis, nan_policy, "sem")
    got = ew.multiply(ew.sqrt(ew.divide(m2, ew.maximum(ew.subtract(n, float(ddof)), 0.0))), unit)
    return _finish(got, x, axes, keepdims, nan_policy, "sem")


def variation(
    a: Any, axis: Any = 0, nan_policy: str = "propagate", ddof: int = 0, *, keepdims: bool = False
) -> Array:
    """The standard deviation over the mean along an axis."""
    x, (n, mean, m2, _, _, unit), axes = _parts(a, axis, nan_policy, "variation")
    left = ew.subtract(n, float(ddof))
    deviation = ew.sqrt(ew.divide(ew.multiply(m2, n), ew.maximum(left, 0.0)))
    got = ew.divide(ew.multiply(deviation, unit), mean)
    return _finish(got, x, axes, keepdims, nan_policy, "variation")


def zmap(scores: Any, compare: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate") -> Array:
    """How many standard deviations of `compare` scores lie from its mean, along an axis; NaN where it is constant."""
    x, y = real(compare, "zmap"), real(scores, "zmap")
    policy(nan_policy, "zmap")
    axes = normalize_axes(axis, x.ndim, "zmap")
    mask: Any = ew.logical_not(ew.isnan(x)) if nan_policy == "omit" else True
    low = rd.min(x, axes, keepdims=True, where=mask, initial=inf)
    high = rd.max(x, axes, keepdims=True, where=mask, initial=-inf)
    if x.dtype is y.dtype is float32:  # squares neither overflow nor vanish
        unit = st.unit_near(ew.maximum(ew.absolute(low), ew.absolute(high)))
        x, y = ew.divide(x, unit), ew.divide(y, unit)
    mean = rd.mean(x, axes, keepdims=True, where=mask)
    deviation = st.std(x, axes, ddof=ddof, keepdims=True, where=mask)
    got = ew.divide(ew.subtract(y, mean), ew.where(ew.equal(low, high), float("nan"), deviation))
    return refuse_nan(got, x, "zmap") if nan_policy == "raise" else got


def zscore(a: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate") -> Array:
    """How many standard deviations each element lies from the mean along an axis; NaN where all are equal."""
    x = real(a, "zscore")
    return zmap(x, x, axis, ddof, nan_policy)


# --- generalised means ---
def _mean_of(
    x: Array, given: Array, axis: Any, weights: Any, nan_policy: str, keepdims: bool, where: str
) -> Array:  # fmt: skip
    """The (weighted) mean along an axis of x, which was made from `given`, whose NaN are left out by policy."""
    policy(nan_policy, where)
    x, k = along(x, axis, where)
    given, _ = along(given, axis, where)
    if weights is None:
        mask: Any = ew.logical_not(ew.isnan(given)) if nan_policy == "omit" else True
        got = rd.mean(x, k, keepdims=keepdims, where=mask)
    else:
        w = real(weights, where)
        if axis is None:
            w = reshape(w, (w.size,))
        if nan_policy == "omit":
            lost = ew.isnan(given)
            w = ew.where(lost, 0.0, w if w.shape == x.shape else reshape(w, _line(w.size, k, x.ndim)))
            x = ew.where(lost, 0.0, x)
        got = st.average(x, k, w, keepdims=keepdims)
    return refuse_nan(got, given, where) if nan_policy == "raise" else got


def _line(n: int, axis: int, rank: int) -> tuple[int, ...]:
    return tuple([n if k == axis else 1 for k in range(rank)])


def gmean(
    a: Any, axis: Any = 0, dtype: Any = None, weights: Any = None, nan_policy: str = "propagate", *,
    keepdims: bool = False,
) -> Array:  # fmt: skip
    """The geometric mean along an axis, exp of the mean of logarithms; NaN with a negative element, 0 with a zero."""
    x = real(a, "gmean")
    x = x if dtype is None else astype(x, dtype)
    return ew.exp(_mean_of(ew.log(x), x, axis, weights, nan_policy, keepdims, "gmean"))


def hmean(
    a: Any, axis: Any = 0, dtype: Any = None, *, weights: Any = None, nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:  # fmt: skip
    """The harmonic mean along an axis of elements that are not negative (NaN otherwise); 0 with a zero."""
    return _power_mean(a, -1.0, axis, dtype, weights, nan_policy, keepdims, "hmean")


def pmean(
    a: Any, p: float, *, axis: Any = 0, dtype: Any = None, weights: Any = None, nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:  # fmt: skip
    """The mean of a**p, to the power 1 / p (the geometric mean for p = 0), of elements that are not negative (NaN
    otherwise). Elements are divided by the greatest first, so that powers do not overflow."""
    if not isinstance(p, (int, float)):
        raise ValueError(f"pmean: the power must be a number, not {type(p).__name__}")
    if p == 0:
        return gmean(a, axis, dtype, weights, nan_policy, keepdims=keepdims)
    return _power_mean(a, float(p), axis, dtype, weights, nan_policy, keepdims, "pmean")


def _power_mean(
    a: Any, p: float, axis: Any, dtype: Any, weights: Any, nan_policy: str, keepdims: bool, where: str
) -> Array:  # fmt: skip
    x = real(a, where)
    x = x if dtype is None else astype(x, dtype)
    x, k = along(x, axis, where)
    if not x.shape[k]:
        return rd.mean(x, k, keepdims=keepdims)
    given, x = x, ew.where(ew.less(x, 0.0), float("nan"), x)
    if p == -1:
        return ew.reciprocal(_mean_of(ew.reciprocal(x), given, k, weights, nan_policy, keepdims, where))
    top = nanmax(x, k, keepdims=True) if p > 0 else nanmin(x, k, keepdims=True)
    safe = ew.where(ew.logical_and(ew.greater(top, 0.0), ew.isfinite(top)), top, 1.0)
    mean = _mean_of(ew.float_power(ew.divide(x, safe), p), given, k, weights, nan_policy, True, where)
    got = ew.multiply(ew.float_power(mean, 1.0 / p), safe)
    got = astype(got, x.dtype, copy=False)
    return got if keepdims else reshape(got, (*got.shape[:k], *got.shape[k + 1 :]))
