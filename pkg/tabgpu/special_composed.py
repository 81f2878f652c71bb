"""Functions of scipy.special made of several rows of special.py: transformations, losses, distribution functions.

Plain expressions, which fusion makes one kernel; softmax is the row kernel of nn.
"""

from __future__ import annotations

from math import log, pi
from typing import Any

from .array import Array
from .dtypes import float32
from .ops import elementwise as ew
from .ops.convert import from_host
from .ops.creation import astype, full

_HALF = 0.5


def _real(x: Any, where: str) -> Array:
    """An operand as an array of floats."""
    x = x if type(x) is Array else from_host(x, where)
    if x.dtype.kind == "c":
        raise TypeError(f"{where}: not defined for complex64")
    return x if x.dtype.kind == "f" else astype(x, float32)


def _nan_outside(inside: Array, r: Array) -> Array:
    return ew.where(inside, r, float("nan"))


def boxcox(x: Any, lmbda: Any) -> Array:
    """(x**lmbda - 1) / lmbda, log(x) for lmbda 0; NaN for x < 0."""
    x, power = _real(x, "boxcox"), _real(lmbda, "boxcox")
    return _power_transform(ew.log(x), power)


def boxcox1p(x: Any, lmbda: Any) -> Array:
    """boxcox of 1 + x, without cancellation for small x."""
    x, power = _real(x, "boxcox1p"), _real(lmbda, "boxcox1p")
    return _power_transform(ew.log1p(x), power)


def _power_transform(logarithm: Array, power: Array) -> Array:
    flat = ew.less(ew.absolute(power), 1e-30)  # a denormal one divides badly
    return ew.where(
        flat, logarithm, ew.divide(ew.expm1(ew.multiply(power, logarithm)), ew.where(flat, 1.0, power))
    )


def inv_boxcox(y: Any, lmbda: Any) -> Array:
    """The x for which boxcox(x, lmbda) is y."""
    return ew.exp(_inverse_transform(y, lmbda, "inv_boxcox"))


def inv_boxcox1p(y: Any, lmbda: Any) -> Array:
    """The x for which boxcox1p(x, lmbda) is y."""
    return ew.expm1(_inverse_transform(y, lmbda, "inv_boxcox1p"))


def _inverse_transform(y: Any, lmbda: Any, where: str) -> Array:
    y, power = _real(y, where), _real(lmbda, where)
    flat = ew.less(ew.absolute(power), 1e-30)
    return ew.where(flat, y, ew.divide(ew.log1p(ew.multiply(power, y)), ew.where(flat, 1.0, power)))


def huber(delta: Any, r: Any) -> Array:
    """r**2 / 2 for |r| <= delta, delta (|r| - delta / 2) beyond; inf for negative delta."""
    d, r = _real(delta, "huber"), _real(r, "huber")
    size = ew.absolute(r)
    near = ew.multiply(ew.multiply(r, r), _HALF)
    far = ew.multiply(d, ew.subtract(size, ew.multiply(d, _HALF)))
    return ew.where(ew.less(d, 0.0), float("inf"), ew.where(ew.less_equal(size, d), near, far))


def pseudo_huber(delta: Any, r: Any) -> Array:
    """delta**2 (sqrt(1 + (r / delta)**2) - 1), without cancellation; 0 for delta 0, inf below."""
    d, r = _real(delta, "pseudo_huber"), _real(r, "pseudo_huber")
    safe = ew.where(ew.greater(d, 0.0), d, 1.0)
    v = ew.divide(r, safe)
    root = ew.sqrt(ew.add(ew.multiply(v, v), 1.0))
    value = ew.multiply(ew.multiply(safe, r), ew.divide(v, ew.add(root, 1.0)))
    at_zero = ew.where(ew.logical_or(ew.equal(d, 0.0), ew.equal(r, 0.0)), 0.0, value)
    return ew.where(ew.less(d, 0.0), float("inf"), at_zero)


def multigammaln(a: Any, d: int) -> Array:
    """The logarithm of the multivariate gamma function of integer dimension d; ValueError unless d is positive."""
    from .special import gammaln

    if int(d) != d or d < 1:
        raise ValueError(f"multigammaln: d must be a positive integer, not {d!r}")
    a = _real(a, "multigammaln")
    total: Any = d * (d - 1) * 0.25 * log(pi)
    for k in range(int(d)):
        total = ew.add(gammaln(ew.subtract(a, k / 2)), total)
    return total  # type: ignore[no-any-return]


def softmax(x: Any, axis: Any = None) -> Array:
    """exp(x) / sum(exp(x)) over an axis (all for None, as SciPy), of x's shape; otherwise as nn.softmax."""
    return _rowwise("softmax", x, axis)


def log_softmax(x: Any, axis: Any = None) -> Array:
    """log(softmax(x)), without the loss of small ones."""
    return _rowwise("log_softmax", x, axis)


def _rowwise(name: str, x: Any, axis: Any) -> Array:
    from .ops.manipulation import ravel, reshape
    from .ops.rowwise import lines_along

    x = x if type(x) is Array else from_host(x, name)
    if axis is None:
        return reshape(lines_along(name, ravel(x), None, 0, None), x.shape)
    return lines_along(name, x, None, axis, None)


# --- distribution functions: SciPy's argument orders ---
def chdtr(v: Any, x: Any) -> Array:
    """The chi-square distribution function of x with v degrees of freedom; NaN for negative operands."""
    return _gamma_tail(ew.multiply(_real(v, "chdtr"), _HALF), ew.multiply(_real(x, "chdtr"), _HALF), False)


def chdtrc(v: Any, x: Any) -> Array:
    """1 - chdtr(v, x), without cancellation."""
    return _gamma_tail(ew.multiply(_real(v, "chdtrc"), _HALF), ew.multiply(_real(x, "chdtrc"), _HALF), True)


def _gamma_tail(a: Array, x: Array, upper: bool) -> Array:
    from .special import gammainc, gammaincc

    return (gammaincc if upper else gammainc)(a, x)


def gdtr(a: Any, b: Any, x: Any) -> Array:
    """The gamma distribution function of x with rate a and shape b; NaN for x < 0."""
    x = _real(x, "gdtr")
    return _nan_outside(ew.greater_equal(x, 0.0), _gamma_tail(_real(b, "gdtr"), ew.multiply(a, x), False))


def gdtrc(a: Any, b: Any, x: Any) -> Array:
    """1 - gdtr(a, b, x)."""
    x = _real(x, "gdtrc")
    return _nan_outside(ew.greater_equal(x, 0.0), _gamma_tail(_real(b, "gdtrc"), ew.multiply(a, x), True))


def pdtr(k: Any, m: Any) -> Array:
    """Poisson's distribution function: k or fewer events where m are expected."""
    return _gamma_tail(ew.add(ew.floor(_real(k, "pdtr")), 1.0), _real(m, "pdtr"), True)


def pdtrc(k: Any, m: Any) -> Array:
    """1 - pdtr(k, m)."""
    return _gamma_tail(ew.add(ew.floor(_real(k, "pdtrc")), 1.0), _real(m, "pdtrc"), False)


def fdtr(dfn: Any, dfd: Any, x: Any) -> Array:
    """The F distribution function of x with dfn and dfd degrees of freedom; NaN for x < 0."""
    return _f_tail(dfn, dfd, x, "fdtr")


def fdtrc(dfn: Any, dfd: Any, x: Any) -> Array:
    """1 - fdtr(dfn, dfd, x), without cancellation."""
    return _f_tail(dfn, dfd, x, "fdtrc")


def _f_tail(dfn: Any, dfd: Any, x: Any, where: str) -> Array:
    from .special import betainc

    n, m, x = (_real(v, where) for v in (dfn, dfd, x))
    a, b = ew.multiply(n, _HALF), ew.multiply(m, _HALF)
    w = ew.multiply(n, x)
    whole = ew.add(m, w)
    far = ew.isinf(w)
    if where == "fdtr":
        return betainc(a, b, ew.where(far, 1.0, ew.divide(w, whole)))
    return betainc(b, a, ew.where(far, 0.0, ew.divide(m, whole)))


def bdtr(k: Any, n: Any, p: Any) -> Array:
    """The binomial distribution function: k or fewer of n events of probability p; NaN for k < 0."""
    return _binomial(k, n, p, False, "bdtr")


def bdtrc(k: Any, n: Any, p: Any) -> Array:
    """1 - bdtr(k, n, p), without cancellation."""
    return _binomial(k, n, p, True, "bdtrc")


def _binomial(k: Any, n: Any, p: Any, upper: bool, where: str) -> Array:
    from .special import betainc, betaincc

    k, n, p = ew.floor(_real(k, where)), _real(n, where), _real(p, where)
    bad = ew.logical_or(ew.greater(k, n), ew.logical_or(ew.less(p, 0.0), ew.greater(p, 1.0)))
    inside = ew.logical_and(ew.greater_equal(k, 0.0), ew.less(k, n))
    a, b = ew.where(inside, ew.add(k, 1.0), 1.0), ew.where(inside, ew.subtract(n, k), 1.0)
    value = betainc(a, b, p) if upper else betaincc(a, b, p)
    ends = astype(ew.less(k, 0.0), float32) if upper else ew.where(ew.less(k, 0.0), float("nan"), 1.0)
    return _nan_outside(ew.logical_not(ew.logical_or(bad, ew.isnan(k))), ew.where(inside, value, ends))


def kolmogorov(y: Any) -> Array:
    """The probability that Kolmogorov's limiting statistic exceeds y: five terms of its series."""
    y = _real(y, "kolmogorov")
    low = ew.maximum(y, 0.02)
    square = ew.multiply(low, low)
    near: Any = full((), 0.0)
    far: Any = full((), 0.0)
    for k in range(5):
        j = 2 * k + 1
        near = ew.add(near, ew.exp(ew.divide(-(j * j) * pi * pi / 8, square)))
        term = ew.exp(ew.multiply(square, -2.0 * (k + 1) ** 2))
        far = ew.add(far, term) if k % 2 == 0 else ew.subtract(far, term)
    below = ew.subtract(1.0, ew.multiply(ew.divide(near, low), (2 * pi) ** 0.5))
    got = ew.where(ew.less(low, 1.0), below, ew.multiply(far, 2.0))
    return ew.where(ew.less_equal(y, 0.02), ew.where(ew.isnan(y), y, 1.0), got)


__all__ = [
    "bdtr", "bdtrc", "boxcox", "boxcox1p", "chdtr", "chdtrc", "fdtr", "fdtrc", "gdtr", "gdtrc", "huber", "inv_boxcox",
    "inv_boxcox1p", "kolmogorov", "log_softmax", "multigammaln", "pdtr", "pdtrc", "pseudo_huber", "softmax",
]  # fmt: skip
