"""Correlation coefficients with their p-values, and the line of least squares."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..array import Array
from ..dtypes import float32, int32
from ..layout import broadcast_shapes
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.creation import astype
from ..ops.manipulation import broadcast_to, reshape, swapaxes
from ..ops.statistics import corrcoef, unit_near
from ..special import ndtr, stdtr
from .operands import along, policy, refuse_nan, single
from .order import ranked

SIDES = ("two-sided", "less", "greater")


class PearsonRResult(NamedTuple):
    """What pearsonr gives."""

    statistic: Array
    pvalue: Array


class SignificanceResult(NamedTuple):
    """What spearmanr and kendalltau give."""

    statistic: Array
    pvalue: Array


class LinregressResult(NamedTuple):
    """What linregress gives."""

    slope: Array
    intercept: Array
    rvalue: Array
    pvalue: Array
    stderr: Array
    intercept_stderr: Array


def check_side(alternative: str, where: str) -> None:
    if alternative not in SIDES:
        raise ValueError(f"{where}: alternative must be one of {', '.join(SIDES)}, not {alternative!r}")


def of_t(df: Any, t: Array, alternative: str) -> Array:
    """The p-value of Student's t."""
    if alternative == "less":
        return stdtr(df, t)
    if alternative == "greater":
        return stdtr(df, ew.negative(t))
    return ew.multiply(stdtr(df, ew.negative(ew.absolute(t))), 2.0)


def of_z(z: Array, alternative: str) -> Array:
    """The p-value of a standard normal statistic."""
    if alternative == "less":
        return ndtr(z)
    if alternative == "greater":
        return ndtr(ew.negative(z))
    return ew.multiply(ndtr(ew.negative(ew.absolute(z))), 2.0)


def _of_r(r: Array, n: int, alternative: str) -> Array:
    """The p-value of a correlation of n pairs; (1 - r) (1 + r) does not cancel."""
    t = ew.multiply(r, ew.sqrt(ew.divide(float(n - 2), ew.multiply(ew.subtract(1.0, r), ew.add(r, 1.0)))))
    return of_t(float(n - 2), t, alternative)


def _pair(x: Any, y: Any, axis: Any, where: str) -> tuple[Array, Array, int, int]:
    """(x, y, axis, elements): both in float32, broadcast, at least two elements."""
    a, b = single(x, where), single(y, where)
    if axis is None:
        a, b = reshape(a, (a.size,)), reshape(b, (b.size,))
    shape = broadcast_shapes(a.shape, b.shape, where=where)
    a, b = broadcast_to(a, shape), broadcast_to(b, shape)
    a, k = along(a, 0 if axis is None else axis, where)
    b, _ = along(b, 0 if axis is None else axis, where)
    return a, b, k, a.shape[k]


def pearsonr(x: Any, y: Any, *, alternative: str = "two-sided", axis: Any = 0) -> PearsonRResult:
    """(Pearson's correlation coefficient, p-value) of x and y along an axis, float32; NaN where one is constant.

    Both are centred and scaled before they are multiplied. ValueError for fewer than two elements.
    """
    check_side(alternative, "pearsonr")
    a, b, k, n = _pair(x, y, axis, "pearsonr")
    if n < 2:
        raise ValueError("pearsonr: x and y must have length at least 2")
    parts = []
    for v in (a, b):
        apart = ew.subtract(v, rd.mean(v, k, keepdims=True))
        top = rd.max(ew.absolute(apart), k, keepdims=True)
        flat = ew.equal(rd.min(v, k, keepdims=True), rd.max(v, k, keepdims=True))
        parts.append(ew.divide(apart, ew.where(flat, float("nan"), top)))
    u, v = parts
    product = rd.sum(ew.multiply(u, v), k)
    size = ew.multiply(ew.sqrt(rd.sum(ew.square(u), k)), ew.sqrt(rd.sum(ew.square(v), k)))
    r = ew.clip(ew.divide(product, size), -1.0, 1.0)
    if n == 2:
        r = ew.rint(r)
        p = ew.add(ew.multiply(r, 0.0), 1.0)
        return PearsonRResult(r, p)
    return PearsonRResult(r, _of_r(r, n, alternative))


def spearmanr(
    a: Any, b: Any = None, axis: int | None = 0, nan_policy: str = "propagate", alternative: str = "two-sided"
) -> SignificanceResult:
    """(Spearman's rank correlation, p-value) of variables along the other axis (axis=0: in columns): numbers for two
    variables, otherwise matrices. b: more variables. NaN where a variable is constant or has a NaN."""
    from ..ops.joining import concat

    check_side(alternative, "spearmanr")
    policy(nan_policy, "spearmanr", "propagate", "raise")
    given = [single(v, "spearmanr") for v in (a, b) if v is not None]
    if axis is None:
        given = [reshape(v, (v.size,)) for v in given]
    if any(v.ndim > 2 for v in given) or axis not in (0, 1, -1, None):
        raise ValueError("spearmanr: only handles 1-D or 2-D arrays, along one of their axes")
    turned = axis == 0
    lines = [reshape(v, (1, v.size)) if v.ndim < 2 else swapaxes(v, 0, 1) if turned else v for v in given]
    if any(v.shape[1] != lines[0].shape[1] for v in lines):
        raise ValueError(f"spearmanr: different numbers of observations: {[v.shape[1] for v in lines]}")
    x = lines[0] if len(lines) == 1 else concat(lines, axis=0)
    if x.shape[0] < 2:
        raise ValueError("spearmanr: needs at least 2 variables to compare")
    n = x.shape[1]
    ranks = ranked(x, "average") if n else x
    ranks = ew.where(rd.any(ew.isnan(x), axis=1, keepdims=True), float("nan"), ranks)
    r = corrcoef(ranks)
    if r.shape[0] == 2:
        r = r[0, 1]
    found = [r, _of_r(r, n, alternative)]
    if nan_policy == "raise":
        found = [refuse_nan(v, x, "spearmanr") for v in found]
    return SignificanceResult(*found)


def kendalltau(
    x: Any, y: Any, *, nan_policy: str = "propagate", method: str = "asymptotic", variant: str = "b",
    alternative: str = "two-sided",
) -> SignificanceResult:  # fmt: skip
    """(Kendall's tau-b, p-value by the normal approximation) of two samples, float32: all pairs are compared, in one
    reduction each, so up to some 10,000 elements. ValueError above 46,340, for other methods and variants."""
    check_side(alternative, "kendalltau")
    policy(nan_policy, "kendalltau", "propagate", "raise")
    if method not in ("asymptotic", "auto") or variant != "b":
        raise ValueError("kendalltau: only method='asymptotic' and variant='b' are there")
    a, b = (reshape(v, (v.size,)) for v in (single(x, "kendalltau"), single(y, "kendalltau")))
    n = a.size
    if b.size != n:
        raise ValueError(f"kendalltau: x and y must have the same size, not {n} and {b.size}")
    if n > 46340:
        raise ValueError(f"kendalltau: {n} elements are too many for counts of pairs in 32 bits")
    if n < 2:
        lost = ew.multiply(rd.sum(a), float("nan"))
        return SignificanceResult(lost, lost)
    s, t = (astype(ew.sign(ew.subtract(reshape(v, (n, 1)), v)), int32) for v in (a, b))
    both = astype(rd.sum(ew.multiply(s, t)), float32)
    untied = [astype(rd.sum(ew.multiply(v, v)), float32) for v in (s, t)]
    tau = ew.divide(ew.divide(both, ew.sqrt(untied[0])), ew.sqrt(untied[1]))
    # Ties: groups of t elements count t (t - 1) .., which is the sum of (t - 1) .. over their elements.
    groups = [astype(rd.sum(astype(ew.equal(v, 0), int32), axis=1), float32) for v in (s, t)]
    pairs, triples, halves = [], [], []
    for g in groups:
        less = ew.subtract(g, 1.0)
        pairs.append(rd.sum(less))
        triples.append(rd.sum(ew.multiply(less, ew.subtract(g, 2.0))))
        halves.append(rd.sum(ew.multiply(less, ew.add(ew.multiply(g, 2.0), 5.0))))
    m = float(n) * (n - 1)
    variance = ew.divide(ew.subtract(ew.subtract(m * (2 * n + 5), halves[0]), halves[1]), 18.0)
    variance = ew.add(variance, ew.divide(ew.multiply(pairs[0], pairs[1]), 2 * m))
    if n > 2:
        variance = ew.add(variance, ew.divide(ew.multiply(triples[0], triples[1]), 9 * m * (n - 2)))
    p = of_z(ew.divide(ew.multiply(both, 0.5), ew.sqrt(variance)), alternative)
    lost = rd.any(ew.logical_or(ew.isnan(a), ew.isnan(b)))
    found = [ew.where(lost, float("nan"), v) for v in (tau, p)]
    if nan_policy == "raise":
        found = [refuse_nan(refuse_nan(v, a, "kendalltau"), b, "kendalltau") for v in found]
    return SignificanceResult(*found)


def linregress(x: Any, y: Any, alternative: str = "two-sided", *, axis: Any = 0) -> LinregressResult:
    """The line of least squares of y over x along an axis: (slope, intercept, rvalue, pvalue, stderr,
    intercept_stderr), float32; centred sums. NaN where x is constant (SciPy: ValueError). ValueError for fewer than
    two elements."""
    check_side(alternative, "linregress")
    a, b, k, n = _pair(x, y, axis, "linregress")
    if n < 2:
        raise ValueError("linregress: inputs must have at least 2 elements")
    ua, ub = (unit_near(rd.max(ew.absolute(v), k, keepdims=True)) for v in (a, b))
    a, b = ew.divide(a, ua), ew.divide(b, ub)
    mx, my = rd.mean(a, k, keepdims=True), rd.mean(b, k, keepdims=True)
    u, v = ew.subtract(a, mx), ew.subtract(b, my)
    sxx, syy = rd.sum(ew.square(u), k), rd.sum(ew.square(v), k)
    sxy = rd.sum(ew.multiply(u, v), k)
    flat = reshape(ew.equal(rd.min(a, k, keepdims=True), rd.max(a, k, keepdims=True)), sxx.shape)
    sxx = ew.where(flat, float("nan"), sxx)
    slope = ew.divide(sxy, sxx)
    meanx, meany = reshape(mx, sxx.shape), reshape(my, sxx.shape)
    intercept = ew.subtract(meany, ew.multiply(slope, meanx))
    size = ew.multiply(ew.sqrt(sxx), ew.sqrt(syy))
    r = ew.where(ew.equal(syy, 0.0), 0.0, ew.clip(ew.divide(sxy, size), -1.0, 1.0))
    ua, ub = reshape(ua, sxx.shape), reshape(ub, sxx.shape)
    tilt, height = ew.divide(ew.multiply(slope, ub), ua), ew.multiply(intercept, ub)
    if n == 2:
        zero = ew.multiply(slope, 0.0)
        p = ew.where(ew.equal(syy, 0.0), 1.0, zero)
        return LinregressResult(tilt, height, r, p, zero, zero)
    line = reshape(slope, mx.shape)
    rest = rd.sum(ew.square(ew.subtract(v, ew.multiply(line, u))), k)
    stderr = ew.sqrt(ew.divide(ew.divide(rest, sxx), float(n - 2)))
    spread = ew.add(ew.divide(sxx, float(n)), ew.square(meanx))
    p = ew.where(ew.equal(syy, 0.0), 1.0, _of_r(r, n, alternative))
    other = ew.multiply(ew.multiply(stderr, ew.sqrt(spread)), ub)
    return LinregressResult(tilt, height, r, p, ew.divide(ew.multiply(stderr, ub), ua), other)
