"""The elementwise functions: the rows of elementwise_rows.py, and those made of several rows, one kernel by fusion.

Those about complex numbers alone are in complex_functions.py.
"""

# ruff: noqa: F405  # the rows come by the star
from __future__ import annotations

from operator import index as as_index
from typing import Any

from ..array import Array
from ..dtypes import ALL, BY_KIND, DType
from ..dtypes import bounds as _bounds
from ..traced import plain
from .convert import from_host
from .dtype_functions import finfo
from .elementwise_rows import *  # noqa: F403
from .elementwise_rows import _clip, _power, _where
from .guards import negative_power_guard
from .rows import CASTS
from .ufunc_arguments import delivered, store
from .ufunc_methods import composite

_NOT_PUBLIC = {
    "Any", "Array", "DType", "as_index", "binary", "composite", "delivered", "elementwise", "finfo", "from_host",
    "negative_power_guard", "plain", "store", "ternary", "unary",
}  # fmt: skip


@composite(2)
def power(x: Any, y: Any) -> Array:
    """x ** y with C99's table of special values. Integers wrap.

    ValueError for a negative exponent of integers: at the call for a Python int, at the read that depends on the result
    for one inside an array. x ** 2 of floats is x * x.
    """
    y = plain(y)
    if type(x) not in (Array, bool, int, float, complex):
        x = from_host(x, "power")
    if type(y) in (int, float):
        kind = x.dtype.kind if type(x) is Array else "i" if type(x) in (bool, int) else ""
        if type(y) is int and y < 0 and kind and kind in "biu":
            what = x.dtype.name if type(x) is Array else x
            raise ValueError(f"power: {what} ** {y}: integers to negative integer powers are not allowed")
        if y == 2 and kind and kind in "fc":
            return square(x)
        return _power(x, y)
    y = y if isinstance(y, (Array, complex)) else from_host(y, "power")
    out = _power(x, y)
    if out.dtype.kind == "i" and out.size and y.dtype.kind == "i":
        out._cell.op.guards = (negative_power_guard(y),)
    return out


@composite(2, 2)
def divmod(x: Any, y: Any) -> tuple[Array, Array]:
    """(x // y, x % y)."""
    return floor_divide(x, y), remainder(x, y)


@composite(1, 2)
def modf(x: Any) -> tuple[Array, Array]:
    """(fraction, integer part), both of x's dtype and with its sign."""
    return modf_fraction(x), modf_integer(x)


@composite(1, 2)
def frexp(x: Any) -> tuple[Array, Array]:
    """(m, e), of x's dtype and int32, with x = m * 2**e and 0.5 <= |m| < 1; 0, inf and NaN give (x, 0)."""
    return frexp_mantissa(x), frexp_exponent(x)


def where(condition: Any, x: Any, y: Any) -> Array:
    """x where the condition is true (not zero), else y; all broadcast. NaN, -0 and denormals come through unchanged."""
    return _where(condition, x, y)


def clip(x: Any, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Array:
    """x limited to [min, max], either of which may be None; NaN anywhere gives NaN; max wins where min > max.

    a_min and a_max are NumPy's other names; out, where, dtype, casting: as for every function.
    """
    min, max = options.pop("a_min", min), options.pop("a_max", max)
    if type(x) is Array and x.dtype.kind in "iu":  # Python integers that limit nothing need not fit the dtype
        low, high = _bounds(x.dtype)
        min, max = (
            None if type(min) is int and min <= low else min,
            None if type(max) is int and max >= high else max,
        )
    if min is None and max is None:
        got = _where(True, x, x)  # a copy, whatever the dtype
    elif min is None:
        got = minimum(x, max)
    else:
        got = maximum(x, min) if max is None else _clip(x, min, max)
    return got if out is None and not options else delivered("clip", got, out, options)


def nan_to_num(
    x: Any, copy: bool = True, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Array:
    """x with NaN, inf and -inf replaced (in each part of complex x); posinf and neginf default to the largest numbers
    of x's dtype. Integers stay. copy=False: the result becomes x itself."""
    if not copy and type(x) is Array:
        return store(nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf), x, "nan_to_num")
    x = x if type(x) is Array else from_host(x, "nan_to_num")
    if x.dtype.kind not in "fc":
        return _where(True, x, x)  # a copy
    if x.dtype.kind == "c":
        parts = [nan_to_num(part(x), nan=nan, posinf=posinf, neginf=neginf) for part in (real, imag)]
        return complex_of(*parts)
    big = finfo(x.dtype).max
    low = _where(isneginf(x), -big if neginf is None else neginf, x)
    return _where(isnan(x), nan, _where(isposinf(x), big if posinf is None else posinf, low))


def round(x: Any, decimals: int = 0, out: Any = None) -> Array:
    """x rounded to a number of decimals, halves to even, complex x by parts. Integers only change for negative ones."""
    if out is not None:
        return delivered("round", round(x, decimals), out, {})
    decimals = as_index(decimals)
    x = x if type(x) is Array else from_host(x, "round")
    if x.dtype.kind in "biu":
        return positive(x) if decimals >= 0 and x.dtype.kind != "b" else _round_integers(x, -decimals)
    if decimals == 0:
        return rint(x)
    if x.dtype.kind == "c":
        return complex_of(round(real(x), decimals), round(imag(x), decimals))
    if x.dtype.itemsize < 4:  # in float32: 10**decimals may be too much for the dtype
        return CASTS[x.dtype.name](round(CASTS["f"](x), decimals))
    if decimals > 0:
        return divide(rint(multiply(x, 10.0**decimals)), 10.0**decimals)
    return multiply(rint(divide(x, 10.0**-decimals)), 10.0**-decimals)


def _round_integers(x: Array, digits: int) -> Array:
    """To a multiple of 10**digits, halves to the even multiple; bools become int32. Narrow ones wrap in the end."""
    whole = CASTS["u" if x.dtype.kind == "u" else "i"](x)
    if digits > 9:
        whole = multiply(whole, 0)
    elif digits > 0:
        unit = 10**digits
        q = floor_divide(whole, unit)
        twice = multiply(subtract(whole, multiply(q, unit)), 2)
        up = logical_or(greater(twice, unit), logical_and(equal(twice, unit), equal(remainder(q, 2), 1)))
        whole = multiply(add(q, up), unit)
    return whole if x.dtype.kind == "b" or x.dtype.itemsize == 4 else CASTS[x.dtype.name](whole)


def isclose(x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Array:
    """Whether |x - y| <= atol + rtol * |y|; equal infinities are close, NaN only with equal_nan. Integers
    are subtracted exactly, before they become float32."""
    x, y = (v if type(v) is Array else from_host(v, "isclose") for v in (x, y))
    if x.dtype.kind in "biu" and y.dtype.kind in "biu":
        return less_equal(_gap(x, y), add(atol, multiply(rtol, absolute(CASTS["f"](y)))))
    near = less_equal(absolute(subtract(x, y)), add(atol, multiply(rtol, absolute(y))))
    close = logical_or(logical_and(near, isfinite(y)), equal(x, y))
    return logical_or(close, logical_and(isnan(x), isnan(y))) if equal_nan else close


def _gap(x: Array, y: Array) -> Array:
    """|x - y| of integers as unsigned ones, in which it always fits."""
    if x.dtype.kind == "b":
        x = CASTS["u"](x)
    high, low = maximum(x, y), minimum(x, y)
    gap: DType = BY_KIND["u"] if high.dtype.itemsize == 4 else ALL["u" + high.dtype.name.removeprefix("u")]
    return CASTS[gap.name](subtract(high, low))


pow, around = power, round
__all__ = sorted(  # noqa: PLE0605
    {
        name
        for name, value in globals().items()
        if callable(value) and name[0] != "_" and name not in _NOT_PUBLIC
    }
)
