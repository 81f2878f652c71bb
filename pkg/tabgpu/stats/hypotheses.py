"""Tests of hypotheses: t, one-way analysis of variance, chi-square, Kolmogorov and Smirnov; entropy."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any, NamedTuple

from ..array import Array
from ..dtypes import float32
from ..layout import broadcast_shapes
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.creation import astype, positions
from ..ops.joining import concat
from ..ops.manipulation import broadcast_to, reshape
from ..ops.searching import found
from ..ops.sorting import sorted_rows
from ..special import chdtrc, entr, fdtrc, kolmogorov, rel_entr
from .operands import along, dropped, policy, refuse_nan, single
from .relations import check_side, of_t
from .summaries import planes, squared


class TtestResult(NamedTuple):
    """What the t tests give."""

    statistic: Array
    pvalue: Array
    df: Any


class TestResult(NamedTuple):
    """A statistic and its p-value."""

    statistic: Array
    pvalue: Array


def _spread(a: Any, axis: Any, nan_policy: str, where: str) -> tuple[Array, Array, Array, tuple[int, ...]]:
    """(count, mean, sum of squares about it) along an axis, and the shape with that axis of size 1."""
    x = single(a, where)
    policy(nan_policy, where)
    x, k = along(x, axis, where)
    n, mean, m2, _, _, unit = planes(x, (k,), nan_policy == "omit")
    if nan_policy == "raise":
        mean = refuse_nan(mean, x, where)
    return n, mean, squared(m2, unit), (*x.shape[:k], 1, *x.shape[k + 1 :])


def _result(t: Array, df: Any, shape: tuple[int, ...], keepdims: bool, alternative: str) -> TtestResult:
    p = of_t(df, t, alternative)
    if keepdims:
        t, p = reshape(t, shape), reshape(p, shape)
    return TtestResult(t, p, df)


def ttest_1samp(
    a: Any, popmean: Any, axis: Any = 0, nan_policy: str = "propagate", alternative: str = "two-sided", *,
    keepdims: bool = False,
) -> TtestResult:  # fmt: skip
    """(t, p-value, degrees of freedom) of the mean of a along an axis against popmean, float32."""
    check_side(alternative, "ttest_1samp")
    n, mean, m2, shape = _spread(a, axis, nan_policy, "ttest_1samp")
    df = ew.subtract(n, 1.0)
    goal = single(popmean, "ttest_1samp")
    goal = reshape(goal, mean.shape) if goal.ndim and goal.size == mean.size else goal
    t = ew.divide(ew.subtract(mean, goal), ew.sqrt(ew.divide(ew.divide(m2, df), n)))
    return _result(t, df, shape, keepdims, alternative)


def ttest_rel(
    a: Any, b: Any, axis: Any = 0, nan_policy: str = "propagate", alternative: str = "two-sided", *,
    keepdims: bool = False,
) -> TtestResult:  # fmt: skip
    """(t, p-value, degrees of freedom) of the differences of two related samples along an axis."""
    x, y = single(a, "ttest_rel"), single(b, "ttest_rel")
    if x.shape != y.shape:
        raise ValueError(f"ttest_rel: unequal shapes {x.shape} and {y.shape}")
    return ttest_1samp(ew.subtract(x, y), 0.0, axis, nan_policy, alternative, keepdims=keepdims)


def ttest_ind(
    a: Any, b: Any, *, axis: Any = 0, equal_var: bool = True, nan_policy: str = "propagate",
    alternative: str = "two-sided", keepdims: bool = False,
) -> TtestResult:  # fmt: skip
    """(t, p-value, degrees of freedom) of the means of two independent samples along an axis; equal_var=False is
    Welch's test."""
    check_side(alternative, "ttest_ind")
    n, mean, m2, shape = _spread(a, axis, nan_policy, "ttest_ind")
    m, other, o2, _ = _spread(b, axis, nan_policy, "ttest_ind")
    if equal_var:
        df = ew.subtract(ew.add(n, m), 2.0)
        pooled = ew.divide(ew.add(m2, o2), df)
        error = ew.multiply(pooled, ew.add(ew.divide(1.0, n), ew.divide(1.0, m)))
    else:
        u = ew.divide(ew.divide(m2, ew.subtract(n, 1.0)), n)
        v = ew.divide(ew.divide(o2, ew.subtract(m, 1.0)), m)
        error = ew.add(u, v)
        # With shares of the error, so that squares of small variances do not vanish.
        p, q = ew.divide(u, error), ew.divide(v, error)
        df = ew.add(
            ew.divide(ew.square(p), ew.subtract(n, 1.0)), ew.divide(ew.square(q), ew.subtract(m, 1.0))
        )
        df = ew.where(ew.isnan(df), 1.0, ew.divide(1.0, df))
    t = ew.divide(ew.subtract(mean, other), ew.sqrt(error))
    return _result(t, df, shape, keepdims, alternative)


def f_oneway(*samples: Any, axis: Any = 0) -> TestResult:
    """(F, p-value) of equal means of several samples along an axis. ValueError for fewer than two samples."""
    if len(samples) < 2:
        raise TypeError(f"f_oneway: at least two samples are required; got {len(samples)}")
    parts = [_spread(s, axis, "propagate", "f_oneway") for s in samples]
    sizes = [single(s, "f_oneway") for s in samples]
    lengths = [x.size if axis is None else x.shape[axis] for x in sizes]
    total, groups = sum(lengths), len(samples)
    grand: Any = 0.0
    for (_, mean, _, _), n in zip(parts, lengths, strict=True):
        grand = ew.add(ew.multiply(mean, n / total), grand)
    between: Any = 0.0
    within: Any = 0.0
    for (_, mean, m2, _), n in zip(parts, lengths, strict=True):
        between = ew.add(ew.multiply(ew.square(ew.subtract(mean, grand)), float(n)), between)
        within = ew.add(m2, within)
    dfn, dfd = float(groups - 1), float(total - groups)
    f = ew.divide(ew.divide(between, dfn), ew.divide(within, dfd))
    return TestResult(f, fdtrc(dfn, dfd, f))


def chisquare(f_obs: Any, f_exp: Any = None, ddof: int = 0, axis: Any = 0) -> TestResult:
    """(chi-square statistic, p-value) of observed frequencies against expected ones (their mean by default) along an
    axis. That both sums agree is not checked: nothing is read."""
    x = single(f_obs, "chisquare")
    if f_exp is None:
        x, k = along(x, axis, "chisquare")
        want = rd.mean(x, k, keepdims=True)
    else:
        want = single(f_exp, "chisquare")
        shape = broadcast_shapes(x.shape, want.shape, where="chisquare")
        x, want = broadcast_to(x, shape), broadcast_to(want, shape)
        if axis is None:
            want = reshape(want, (want.size,))
        x, k = along(x, axis, "chisquare")
    n = x.shape[k]
    statistic = rd.sum(ew.divide(ew.square(ew.subtract(x, want)), want), k)
    return TestResult(statistic, chdtrc(float(n - 1 - ddof), statistic))


def _greatest(above: Array, below: Array, alternative: str) -> Array:
    """D+, D- or the greater of both, from the differences at each element."""
    parts = {"greater": (above,), "less": (below,)}.get(alternative, (above, below))
    tops = [rd.max(p) for p in parts]
    return tops[0] if len(tops) == 1 else ew.maximum(*tops)


def _limited(p: Array) -> Array:
    return ew.clip(p, 0.0, 1.0)


def ks_1samp(
    x: Any, cdf: Callable[[Array], Array], args: tuple[Any, ...] = (), alternative: str = "two-sided",
    method: str = "asymp",
) -> TestResult:  # fmt: skip
    """(D, asymptotic p-value) of a sample against a distribution function of arrays, such as tg.stats.norm.cdf."""
    check_side(alternative, "ks_1samp")
    if method != "asymp":
        raise ValueError(f"ks_1samp: method must be 'asymp', not {method!r}")
    a = single(x, "ks_1samp")
    line = sorted_rows(reshape(a, (a.size,)))
    n = line.size
    if not n:
        raise ValueError("ks_1samp: the sample must not be empty")
    values = cdf(line, *args)
    k = astype(positions(n), float32)
    above = ew.subtract(ew.divide(ew.add(k, 1.0), float(n)), values)
    d = _greatest(above, ew.subtract(values, ew.divide(k, float(n))), alternative)
    if alternative == "two-sided":
        return TestResult(d, _limited(kolmogorov(ew.multiply(d, n**0.5))))
    return TestResult(
        d, _limited(ew.exp(ew.divide(ew.square(ew.add(ew.multiply(d, 6.0 * n), 1.0)), -18.0 * n)))
    )


def ks_2samp(data1: Any, data2: Any, alternative: str = "two-sided", method: str = "asymp") -> TestResult:
    """(D, asymptotic p-value) of two samples, 1-D; two-sided by M. Stephens' (1970) approximation."""
    check_side(alternative, "ks_2samp")
    if method != "asymp":
        raise ValueError(f"ks_2samp: method must be 'asymp', not {method!r}")
    a, b = (single(v, "ks_2samp") for v in (data1, data2))
    a, b = sorted_rows(reshape(a, (a.size,))), sorted_rows(reshape(b, (b.size,)))
    n, m = a.size, b.size
    if not n or not m:
        raise ValueError("ks_2samp: data passed to ks_2samp must not be empty")
    both = concat([a, b])
    f, g = (ew.divide(astype(found(v, both, True), float32), float(v.size)) for v in (a, b))
    d = _greatest(ew.subtract(f, g), ew.subtract(g, f), alternative)
    lost = ew.logical_or(ew.isnan(a[-1]), ew.isnan(b[-1]))
    d = ew.where(lost, float("nan"), d)
    size = n * m / (n + m)
    if alternative == "two-sided":
        return TestResult(d, _limited(kolmogorov(ew.multiply(d, size**0.5 + 0.12 + 0.11 / size**0.5))))
    z = ew.multiply(d, size**0.5)
    more = 2 * (n + m + min(n, m)) / (n * m * (n + m)) ** 0.5 / 3
    return TestResult(d, _limited(ew.exp(ew.multiply(z, ew.subtract(ew.multiply(z, -2.0), more)))))


def entropy(
    pk: Any, qk: Any = None, base: float | None = None, axis: Any = 0, *, nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Array:  # fmt: skip
    """Shannon's entropy of a distribution along an axis, or with qk the relative entropy of both, float32. Both are
    divided by their sums. base: of the logarithm (e by default)."""
    if base is not None and base <= 0:
        raise ValueError("entropy: `base` must be a positive number or `None`.")
    policy(nan_policy, "entropy", "propagate", "raise")
    p = single(pk, "entropy")
    rank, had = p.ndim, axis is not None
    if qk is None:
        p, k = along(p, axis, "entropy")
        terms = entr(ew.divide(p, rd.sum(p, k, keepdims=True)))
    else:
        q = single(qk, "entropy")
        shape = broadcast_shapes(p.shape, q.shape, where="entropy")
        p, k = along(broadcast_to(p, shape), axis, "entropy")
        q, _ = along(broadcast_to(q, shape), axis, "entropy")
        terms = rel_entr(ew.divide(p, rd.sum(p, k, keepdims=True)), ew.divide(q, rd.sum(q, k, keepdims=True)))
    got = rd.sum(terms, k, keepdims=True)
    got = ew.divide(got, log(base)) if base is not None else got
    got = dropped(got, k, keepdims, had, rank)
    return refuse_nan(got, p, "entropy") if nan_policy == "raise" else got
