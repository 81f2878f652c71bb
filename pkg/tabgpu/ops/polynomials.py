"""NumPy's polynomials with the highest degree first: polyval, polyfit, roots and kin. Lowest first: tg.polynomial."""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from ..array import Array, view
from ..dtypes import BY_KIND, complex64, float32, promote
from ..layout import Layout, broadcast_shapes
from . import elementwise as ew
from . import reductions as rd
from .along import prepared
from .creation import astype, full, positions, zeros
from .joining import concat
from .manipulation import broadcast_to, flip, ravel, reshape
from .products import matmul
from .routine import routine, stored

__all__ = [
    "poly", "polyadd", "polyder", "polyder_product", "polyder_quotient", "polydiv", "polyfit", "polyint", "polymul",
    "polysub", "polyval", "roots",
]  # fmt: skip


def coefficients(p: Any, where: str, least: int = 1) -> Array:
    """A polynomial: 1-D, at least one coefficient (or none), float32 or complex64."""
    x = prepared(p, where)
    if x.ndim > 1:
        raise ValueError(f"{where}: a polynomial has one axis of coefficients, got shape {x.shape}")
    if x.size < least:
        raise ValueError(f"{where}: a polynomial needs at least one coefficient")
    return ravel(astype(x, BY_KIND["c" if x.dtype.kind == "c" else "f"], copy=False))


def both(a: Any, b: Any, where: str) -> tuple[Array, Array]:
    """Two polynomials of one dtype."""
    x, y = coefficients(a, where), coefficients(b, where)
    want = promote(x.dtype, y.dtype, where=where)
    return astype(x, want, copy=False), astype(y, want, copy=False)


def evaluated(c: Array, x: Array, descending: bool, tensor: bool = True) -> Array:
    """Values of polynomials c (degrees, ..) at x in one launch: of shape c.shape[1:] + x.shape, or (tensor=False) of
    both broadcast."""
    kind = BY_KIND["c" if "c" in (c.dtype.kind, x.dtype.kind) else "f"]
    c, x = astype(c, kind, copy=False), astype(x, kind, copy=False)
    k = c.shape[0]
    if tensor or c.ndim == 1:
        shape = (*c.shape[1:], *x.shape)
        paired = False
    else:
        shape = broadcast_shapes(c.shape[1:], x.shape, where="polyval")
        lead = (1,) * (len(shape) - c.ndim + 1)
        c = broadcast_to(reshape(c, (k, *lead, *c.shape[1:])), (k, *shape))
        x, paired = broadcast_to(x, shape), True
    if not k or 0 in shape:
        return zeros(shape, dtype=kind)
    extra = (k, c.size // k, max(x.size, 1), int(descending), int(paired))
    return routine("polynomials.horner", [stored(c), stored(x)], shape, kind, extra, x.size * k)


def polyval(p: Any, x: Any, *, mu: Any = None) -> Array:
    """The polynomial p (highest degree first) at x, of x's shape: Horner's rule, one launch. float32 or complex64.

    p: 1-D; no coefficients give 0. mu: a pair (mean, scale): x is taken as (x - mean) / scale, as polyfit(center=True)
    has it.
    """
    c, at = prepared(p, "polyval"), prepared(x, "polyval")
    if c.ndim != 1:
        c = coefficients(c, "polyval")
    at = at if at.dtype.kind in "fc" else astype(at, float32)
    if mu is not None:
        at = ew.divide(ew.subtract(at, mu[0]), mu[1])
    return evaluated(c, at, True)


def polyadd(a1: Any, a2: Any) -> Array:
    """The sum of two polynomials, as long as the longer one."""
    return _summed(ew.add, a1, a2, "polyadd")


def polysub(a1: Any, a2: Any) -> Array:
    """The difference of two polynomials, as long as the longer one."""
    return _summed(ew.subtract, a1, a2, "polysub")


def _summed(function: Any, a: Any, b: Any, where: str) -> Array:
    x, y = both(a, b, where)
    n = max(x.size, y.size)
    return function(lengthened(x, n), lengthened(y, n))  # type: ignore[no-any-return]


def lengthened(x: Array, n: int, behind: bool = False) -> Array:
    """x with zeros before (or behind) it, n numbers in all."""
    if x.size == n:
        return x
    more = zeros((n - x.size,), dtype=x.dtype)
    return concat([x, more] if behind else [more, x])


def multiplied(x: Array, y: Array) -> Array:
    """The product of two polynomials, x.size + y.size - 1 coefficients: a matrix of shifted copies of the longer one,
    which is a view, times the shorter one."""
    if y.size > x.size:
        x, y = y, x
    n, m = x.size, y.size
    if m == 1:
        return ew.multiply(x, y)
    none = zeros((m - 1,), dtype=x.dtype)
    line = concat([none, x, none])
    shifted = view(line, Layout((n + m - 1, m), (1, -1), m - 1))
    return matmul(shifted, y)


def polymul(a1: Any, a2: Any) -> Array:
    """The product of two polynomials: the sums of their lengths, less one. Large ones: tg.signal.fftconvolve."""
    return multiplied(*both(a1, a2, "polymul"))


def polydiv(u: Any, v: Any) -> tuple[Array, Array]:
    """(quotient, remainder) of polynomials by long division in one launch. The remainder has v.size - 1 coefficients
    (at least one): leading zeros stay, since to find them is a read."""
    x, y = both(u, v, "polydiv")
    n, m = x.size, y.size
    if n < m:
        return zeros((1,), dtype=x.dtype), x
    made = routine("polynomials.divide", [stored(x), stored(y)], (n,), x.dtype, (n, m), n * m)
    if m == 1:
        return made, zeros((1,), dtype=x.dtype)
    return made[: n - m + 1], made[n - m + 1 :]


def _times(m: int, where: str) -> int:
    m = as_index(m)
    if m < 0:
        raise ValueError(f"{where}: order must be positive, not {m}")
    return m


def polyder(p: Any, m: int = 1) -> Array:
    """The m-th derivative of a polynomial: p.size - m coefficients, none for higher m (NumPy too)."""
    m = _times(m, "polyder")
    x = coefficients(p, "polyder", 0)
    for _ in range(m):
        n = x.size
        if n <= 1:
            return zeros((0,), dtype=x.dtype)
        x = ew.multiply(x[:-1], astype(flip(ew.add(positions(n - 1), 1)), float32))
    return x


def polyint(p: Any, m: int = 1, k: Any = None) -> Array:
    """The m-th antiderivative of a polynomial; k: the constants, one or m of them, the first one's first."""
    m = _times(m, "polyint")
    x = coefficients(p, "polyint", 0)
    constants = zeros((m,)) if k is None else ravel(prepared(k, "polyint"))
    if constants.size == 1 and m > 1:
        constants = broadcast_to(constants, (m,))
    if constants.size < m:
        raise ValueError(f"polyint: k must be a scalar or a rank-1 array of length 1 or >= {m}")
    for j in range(m):
        n = x.size
        divided = ew.divide(x, astype(flip(ew.add(positions(n), 1)), float32))
        want = promote(divided.dtype, constants.dtype, "f", where="polyint")
        x = concat([astype(divided, want, copy=False), astype(constants[j : j + 1], want)])
    return x


def polyder_product(p: Any, q: Any) -> Array:
    """The derivative of p * q, p.size + q.size - 2 coefficients (at least one): p'q + pq'."""
    x, y = both(p, q, "polyder_product")
    return _at_least_one(polyder(multiplied(x, y)))


def polyder_quotient(u: Any, v: Any) -> tuple[Array, Array]:
    """(numerator, denominator) of the derivative of u / v: u'v - uv', right-aligned whatever the lengths, and v * v."""
    x, y = both(u, v, "polyder_quotient")
    first = multiplied(_at_least_one(polyder(x)), y)
    second = multiplied(x, _at_least_one(polyder(y)))
    return _summed(ew.subtract, first, second, "polyder_quotient"), multiplied(y, y)


def _at_least_one(x: Array) -> Array:
    return x if x.size else zeros((1,), dtype=x.dtype)


def poly(seq_of_zeros: Any) -> Array:
    """The coefficients of the polynomial with given roots (1-D), or the characteristic one of a square matrix, the
    first of them 1: one launch behind the eigenvalues. NumPy makes the result real where roots come in conjugate
    pairs; here it has the dtype of the roots."""
    x = prepared(seq_of_zeros, "poly")
    if x.ndim == 2 and x.shape[0] == x.shape[1] and x.size:
        from ..linalg import eigvals

        real = x.dtype.kind != "c"
        made = product_of(eigvals(astype(x, BY_KIND["c" if x.dtype.kind == "c" else "f"], copy=False)))
        return ew.real(made) if real else made
    if x.ndim > 1:
        raise ValueError(f"poly: input must be 1d or non-empty square 2d array, not of shape {x.shape}")
    return product_of(astype(ravel(x), BY_KIND["c" if x.dtype.kind == "c" else "f"], copy=False))


def product_of(x: Array) -> Array:
    """The coefficients, highest degree first, of the product of (t - x_k)."""
    if not x.size:
        return full((1,), 1.0, dtype=x.dtype)
    return routine("polynomials.from_roots", [stored(x)], (x.size + 1,), x.dtype, None, x.size**2)


def roots(p: Any) -> Array:
    """The roots of a polynomial, complex64, p.size - 1 of them in no order: all at once by Aberth's iteration, in one
    launch (above 512: eigenvalues of the companion matrix).

    Each is as near as evaluating p in float32 tells. With real coefficients those on the real axis have no imaginary
    part. Leading zeros give roots at infinity (NumPy cuts them off, which is a read), trailing ones roots at 0.
    """
    x = coefficients(p, "roots")
    n = x.size - 1
    if not n:
        return zeros((0,), dtype=complex64)
    if n > 512:
        from ..linalg import companion, eigvals

        return astype(eigvals(companion(x)), complex64, copy=False)
    real = x.dtype.kind != "c"
    size = rd.max(ew.absolute(x))
    scaled = ew.multiply(x, ew.divide(1e15, ew.maximum(size, 1e-20)))  # small ones stay normal
    return routine(
        "polynomials.aberth", [stored(astype(scaled, complex64))], (n,), complex64, real, 60 * n * n
    )


def polyfit(
    x: Any, y: Any, deg: Any, rcond: float | None = None, full: bool = False, w: Any = None, cov: Any = False, *,
    center: bool = False,
) -> Any:  # fmt: skip
    """The polynomial of degree deg that fits y (m,) or (m, k) at x (m,) in the sense of least squares: deg + 1
    coefficients, highest degree first, (deg + 1,) or (deg + 1, k).

    From singular values of the Vandermonde matrix with columns of length 1, so no condition number is squared. rcond:
    those up to rcond times the greatest count as 0 (None: m times eps). w: weights of the residuals, (m,). full=True:
    also (residuals, rank, singular values, rcond). cov=True or "unscaled": also the covariance matrix. center=True: x
    is taken as (x - mean) / deviation, which high degrees need in float32; the result then ends with that pair, for
    polyval(mu=). ValueError and TypeError as NumPy's.
    """
    order = as_index(deg)
    if order < 0:
        raise ValueError("polyfit: expected deg >= 0")
    at, values = prepared(x, "polyfit"), prepared(y, "polyfit")
    if at.ndim != 1 or not at.size:
        raise TypeError(f"polyfit: expected a non-empty 1D vector for x, its shape is {at.shape}")
    if values.ndim not in (1, 2) or values.shape[0] != at.size:
        raise TypeError(f"polyfit: y of shape {values.shape} does not fit x of shape {at.shape}")
    at, values = (astype(v, BY_KIND["c" if v.dtype.kind == "c" else "f"], copy=False) for v in (at, values))
    mu = None
    if center:
        from .statistics import std

        mu = (rd.mean(at), std(at, ddof=1))
        at = ew.divide(ew.subtract(at, mu[0]), mu[1])
    found = least_squares(_powers(at, order + 1), values, rcond, w, full, cov, "polyfit")
    if mu is None:
        return found
    return (*found, mu) if isinstance(found, tuple) else (found, mu)


def _powers(x: Array, n: int) -> Array:
    """(x.size, n): powers n - 1 .. 0, by multiplications."""
    from .joining import stack

    columns = [full(x.shape, 1.0, dtype=x.dtype)]
    for _ in range(n - 1):
        columns.append(ew.multiply(columns[-1], x))
    return stack(columns[::-1], axis=1)


def least_squares(
    matrix: Array, values: Array, rcond: float | None, w: Any, full: bool, cov: Any, where: str
) -> Any:  # fmt: skip
    """What polyfit gives, from its Vandermonde matrix (m, n)."""
    from ..linalg import lstsq, pinv

    m, n = matrix.shape
    if w is not None:
        weights = astype(prepared(w, where), float32)
        if weights.ndim != 1 or weights.size != m:
            raise TypeError(f"{where}: expected a 1-d array of {m} weights, got shape {weights.shape}")
        matrix = ew.multiply(matrix, reshape(weights, (m, 1)))
        values = ew.multiply(values, reshape(weights, (m,) + (1,) * (values.ndim - 1)))
    rcond = m * 2.0**-23 if rcond is None else float(rcond)
    sizes = ew.sqrt(rd.sum(ew.square(ew.absolute(matrix)), axis=0))
    scale = ew.where(ew.equal(sizes, 0.0), 1.0, sizes)
    scaled = ew.divide(matrix, scale)
    solved = lstsq(scaled, values, rcond)
    found = ew.divide(solved.x, scale if values.ndim == 1 else reshape(scale, (n, 1)))
    if full:
        return found, solved.residuals, solved.rank, solved.s, rcond
    if not cov:
        return found
    inverse = pinv(scaled, rcond)
    covariance = ew.divide(matmul(inverse, ew.conjugate(inverse).T), reshape(scale, (n, 1)))  # type: ignore[attr-defined]
    covariance = ew.divide(covariance, scale)
    if cov != "unscaled":
        if m <= n:
            raise ValueError(
                f"{where}: the number of data points must exceed order to scale the covariance matrix"
            )
        factor = ew.divide(solved.residuals, float(m - n))
        covariance = (
            ew.multiply(reshape(covariance, (n, n, 1)), factor)
            if values.ndim == 2
            else ew.multiply(covariance, factor)
        )
    return found, covariance
