"""tg.polynomial: numpy.polynomial.polynomial's functions, the lowest degree first. Highest first: tg.polyval and kin.

Coefficients are float32 or complex64, along the first axis. Nothing is trimmed: a result's length does not depend on
values.
"""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from ..array import Array
from ..dtypes import BY_KIND, float32
from ..layout import normalize_axis
from ..ops import elementwise as ew
from ..ops.along import prepared
from ..ops.convert import from_host
from ..ops.creation import astype, full, positions, zeros
from ..ops.joining import concat, stack
from ..ops.manipulation import broadcast_arrays, flip, moveaxis, ravel, reshape
from ..ops.polynomials import (
    both,
    coefficients,
    evaluated,
    least_squares,
    lengthened,
    multiplied,
    product_of,
    roots,
)
from ..ops.polynomials import polydiv as _divided

__all__ = [
    "polyadd", "polycompanion", "polyder", "polydiv", "polyfit", "polyfromroots", "polygrid2d", "polygrid3d", "polyint",
    "polyline", "polymul", "polymulx", "polypow", "polyroots", "polysub", "polyval", "polyval2d", "polyval3d",
    "polyvalfromroots", "polyvander", "polyvander2d", "polyvander3d",
]  # fmt: skip


def _floats(x: Any, where: str) -> Array:
    x = prepared(x, where)
    return astype(x, BY_KIND["c" if x.dtype.kind == "c" else "f"], copy=False)


def _stacked(c: Any, where: str) -> Array:
    """Coefficients along the first axis, at least one."""
    x = _floats(c, where)
    x = ravel(x) if x.ndim < 1 else x
    if not x.shape[0]:
        raise ValueError(f"{where}: a polynomial needs at least one coefficient")
    return x


def polyline(off: float, scl: float) -> Array:
    """The coefficients of off + scl x, (2,); (1,) for scl 0."""
    return from_host([off, scl] if scl != 0 else [off], "polyline", float32)


def polyadd(c1: Any, c2: Any) -> Array:
    """The sum of two polynomials."""
    return _aligned(ew.add, c1, c2, "polyadd")


def polysub(c1: Any, c2: Any) -> Array:
    """The difference of two polynomials."""
    return _aligned(ew.subtract, c1, c2, "polysub")


def _aligned(function: Any, c1: Any, c2: Any, where: str) -> Array:
    x, y = both(c1, c2, where)
    n = max(x.size, y.size)
    return function(lengthened(x, n, behind=True), lengthened(y, n, behind=True))  # type: ignore[no-any-return]


def polymulx(c: Any) -> Array:
    """c times x."""
    x = coefficients(c, "polymulx")
    return concat([zeros((1,), dtype=x.dtype), x])


def polymul(c1: Any, c2: Any) -> Array:
    """The product of two polynomials."""
    return multiplied(*both(c1, c2, "polymul"))


def polydiv(c1: Any, c2: Any) -> tuple[Array, Array]:
    """(quotient, remainder) by long division; the remainder has c2.size - 1 coefficients (at least one)."""
    x, y = both(c1, c2, "polydiv")
    quotient, remainder = _divided(flip(x), flip(y))
    return flip(quotient), flip(remainder)


def polypow(c: Any, pow: int, maxpower: int | None = None) -> Array:  # NumPy's name
    """c to a whole power, by squaring. ValueError for negative powers and those above maxpower."""
    power = as_index(pow)
    if power < 0:
        raise ValueError("polypow: power must be a non-negative integer")
    if maxpower is not None and power > maxpower:
        raise ValueError("polypow: power is too large")
    base = coefficients(c, "polypow")
    got = full((1,), 1.0, dtype=base.dtype)
    while power:
        if power & 1:
            got = multiplied(got, base)
        power >>= 1
        base = multiplied(base, base) if power else base
    return got


def polyval(x: Any, c: Any, tensor: bool = True) -> Array:
    """The polynomials c (degrees, ..) at x: of shape c.shape[1:] + x.shape, or (tensor=False) of c.shape[1:] and
    x.shape broadcast. Horner's rule, one launch."""
    at = prepared(x, "polyval")
    at = at if at.dtype.kind in "fc" else astype(at, float32)
    return evaluated(_stacked(c, "polyval"), at, False, tensor)


def _at_points(c: Any, points: tuple[Any, ...], where: str) -> Array:
    given = broadcast_arrays(*[_floats(p, where) for p in points])
    got = _stacked(c, where)
    got = evaluated(got, given[0], False)
    for p in given[1:]:
        got = evaluated(got if got.ndim else ravel(got), p, False, tensor=False)
    return got


def polyval2d(x: Any, y: Any, c: Any) -> Array:
    """The polynomials c (degrees of x, of y, ..) at the points (x, y): c.shape[2:] + x.shape."""
    return _at_points(c, (x, y), "polyval2d")


def polyval3d(x: Any, y: Any, z: Any, c: Any) -> Array:
    """The polynomials c (degrees of x, of y, of z, ..) at the points (x, y, z): c.shape[3:] + x.shape."""
    return _at_points(c, (x, y, z), "polyval3d")


def polygrid2d(x: Any, y: Any, c: Any) -> Array:
    """The polynomials c (degrees of x, of y, ..) at all pairs of x and y: c.shape[2:] + x.shape + y.shape."""
    return polyval(y, polyval(x, c))


def polygrid3d(x: Any, y: Any, z: Any, c: Any) -> Array:
    """The polynomials c (degrees of x, of y, of z, ..) at all triples: c.shape[3:] + x.shape + y.shape + z.shape."""
    return polyval(z, polyval(y, polyval(x, c)))


def polyvalfromroots(x: Any, r: Any, tensor: bool = True) -> Array:
    """The products of (x - r[k]) over the first axis of r: of shape r.shape[1:] + x.shape, or (tensor=False) of both
    broadcast."""
    from ..ops.reductions import prod

    at, zero = _floats(x, "polyvalfromroots"), _floats(r, "polyvalfromroots")
    zero = ravel(zero) if not zero.ndim else zero
    if tensor:
        zero = reshape(zero, zero.shape + (1,) * at.ndim)
    return prod(ew.subtract(at, zero), axis=0)


def polyder(c: Any, m: int = 1, scl: float = 1, axis: int = 0) -> Array:
    """The m-th derivative along an axis of coefficients, times scl each time (chain rule of x -> scl x); at least one
    coefficient: 0 for higher m."""
    m = as_index(m)
    if m < 0:
        raise ValueError(f"polyder: the order of derivation must be non-negative, not {m}")
    x = _stacked(c, "polyder")
    k = normalize_axis(axis, x.ndim, "polyder")
    x = moveaxis(x, k, 0)
    if m >= x.shape[0]:
        return moveaxis(ew.multiply(x[:1], 0.0), 0, k)
    for _ in range(m):
        n = x.shape[0] - 1
        degrees = astype(reshape(ew.add(positions(n), 1), (n,) + (1,) * (x.ndim - 1)), float32)
        x = ew.multiply(x[1:], ew.multiply(degrees, float(scl)) if scl != 1 else degrees)
    return moveaxis(x, 0, k)


def polyint(c: Any, m: int = 1, k: Any = (), lbnd: float = 0, scl: float = 1, axis: int = 0) -> Array:
    """The m-th antiderivative along an axis of coefficients, times scl each time. k: the values of the antiderivatives
    at lbnd, one or up to m numbers (the first one's first)."""
    m = as_index(m)
    if m < 0:
        raise ValueError(f"polyint: the order of integration must be non-negative, not {m}")
    constants = list(k) if isinstance(k, (list, tuple)) else [k]
    if len(constants) > m:
        raise ValueError("polyint: too many integration constants")
    x = _stacked(c, "polyint")
    at = normalize_axis(axis, x.ndim, "polyint")
    x = moveaxis(x, at, 0)
    constants += [0] * (m - len(constants))
    for value in constants:
        n = x.shape[0]
        degrees = astype(reshape(ew.add(positions(n), 1), (n,) + (1,) * (x.ndim - 1)), float32)
        raised = ew.divide(ew.multiply(x, float(scl)) if scl != 1 else x, degrees)
        x = concat([ew.multiply(x[:1], 0.0), raised], axis=0)
        start = polyval(from_host([float(lbnd)], "polyint", float32), x)[..., 0] if lbnd != 0 else 0.0
        first = ew.add(x[:1], ew.subtract(value, start))
        x = concat([astype(first, x.dtype, copy=False), x[1:]], axis=0)
    return moveaxis(x, 0, at)


def polyfromroots(roots: Any) -> Array:
    """The coefficients of the product of (x - r) over roots, the last of them 1."""
    r = _floats(roots, "polyfromroots")
    return flip(product_of(ravel(r)))


def polyroots(c: Any) -> Array:
    """The roots, complex64, as tg.roots; trailing zeros give roots at infinity (NumPy cuts them off, which is a
    read)."""
    return roots(flip(coefficients(c, "polyroots")))


def polycompanion(c: Any) -> Array:
    """The companion matrix (n, n) of a polynomial of degree n of at least 1, as NumPy's."""
    x = coefficients(c, "polycompanion")
    n = x.size - 1
    if n < 1:
        raise ValueError("polycompanion: the series must have a maximum degree of at least 1.")
    rows, columns = reshape(positions(n), (n, 1)), positions(n)
    ones = astype(ew.equal(rows, ew.add(columns, 1)), x.dtype)
    last = ew.multiply(reshape(ew.divide(x[:-1], x[-1]), (n, 1)), astype(ew.equal(columns, n - 1), float32))
    return ew.subtract(ones, last)


def polyvander(x: Any, deg: int) -> Array:
    """The powers 0 .. deg of x along a new last axis, by multiplications."""
    order = as_index(deg)
    if order < 0:
        raise ValueError("polyvander: deg must be non-negative")
    at = _floats(x, "polyvander")
    at = ravel(at) if not at.ndim else at
    columns = [full(at.shape, 1.0, dtype=at.dtype)]
    for _ in range(order):
        columns.append(ew.multiply(columns[-1], at))
    return stack(columns, axis=-1)


def _products_of_powers(points: tuple[Any, ...], deg: Any, where: str) -> Array:
    orders = [as_index(d) for d in deg]
    if len(orders) != len(points):
        raise ValueError(f"{where}: expected {len(points)} degrees, got {len(orders)}")
    given = broadcast_arrays(*[_floats(p, where) for p in points])
    made: Array | None = None
    for p, d in zip(given, orders, strict=True):
        one = polyvander(p, d)
        if made is None:
            made = one
        else:
            both_ = ew.multiply(reshape(made, (*made.shape, 1)), reshape(one, (*one.shape[:-1], 1, d + 1)))
            made = reshape(both_, (*both_.shape[:-2], both_.shape[-2] * (d + 1)))
    assert made is not None
    return made


def polyvander2d(x: Any, y: Any, deg: Any) -> Array:
    """x**i * y**j for i <= deg[0], j <= deg[1] along a new last axis, j changing first."""
    return _products_of_powers((x, y), deg, "polyvander2d")


def polyvander3d(x: Any, y: Any, z: Any, deg: Any) -> Array:
    """x**i * y**j * z**k for i <= deg[0] .. along a new last axis, k changing first."""
    return _products_of_powers((x, y, z), deg, "polyvander3d")


def polyfit(x: Any, y: Any, deg: Any, rcond: float | None = None, full: bool = False, w: Any = None) -> Any:
    """The polynomial of least squares, lowest degree first, as tg.polyfit. deg: the highest degree, or a list of the
    degrees that have terms. full=True: (coefficients, [residuals, rank, singular values, rcond])."""
    degrees = (
        sorted(as_index(d) for d in deg) if isinstance(deg, (list, tuple)) else list(range(as_index(deg) + 1))
    )
    if not degrees or degrees[0] < 0:
        raise ValueError("polyfit: expected deg >= 0")
    at, values = _floats(x, "polyfit"), _floats(y, "polyfit")
    if at.ndim != 1 or not at.size:
        raise TypeError(f"polyfit: expected a non-empty 1D vector for x, its shape is {at.shape}")
    if values.ndim not in (1, 2) or values.shape[0] != at.size:
        raise TypeError(f"polyfit: y of shape {values.shape} does not fit x of shape {at.shape}")
    powers = polyvander(at, degrees[-1])
    if len(degrees) <= degrees[-1]:
        powers = stack([powers[:, d] for d in degrees], axis=1)
    found = least_squares(powers, values, rcond, w, full, False, "polyfit")
    c = found[0] if full else found
    if len(degrees) <= degrees[-1]:
        none = ew.multiply(c[0], 0.0)
        c = stack([c[degrees.index(d)] if d in degrees else none for d in range(degrees[-1] + 1)], axis=0)
    return (c, list(found[1:])) if full else c
