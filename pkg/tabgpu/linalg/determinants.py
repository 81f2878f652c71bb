"""Determinants, from LU factors; a product of the diagonal that neither overflows nor vanishes on the way."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..array import Array
from ..dtypes import float32
from ..ops import elementwise as ew
from ..ops import reductions
from ..ops.creation import astype, full, ones, positions
from ..ops.manipulation import reshape
from ..ops.padding import pad
from ..ops.triangles import diagonal
from .direct import Factors, lu_factors
from .stacks import matrices

__all__ = ["det", "slogdet"]

TOGETHER = 32  # factors between two looks at the exponent: their product is at least 2**-32


class SlogdetResult(NamedTuple):
    """What slogdet returns."""

    sign: Array
    logabsdet: Array


def _parity(found: Factors) -> Array:
    """1 or -1 for an even or odd number of exchanges."""
    moved = ew.not_equal(found.pivots, positions(found.pivots.shape[-1]))
    odd = ew.remainder(reductions.sum(astype(moved, "int32"), axis=-1), 2)
    return ew.subtract(1.0, ew.multiply(astype(odd, float32), 2.0))


def _scaled(x: Array) -> tuple[Array, Array]:
    """x as a number whose greater part is 0.5 to 1, and an exponent."""
    if x.dtype.kind != "c":
        return ew.frexp(x)  # type: ignore[no-any-return]
    real, imag = ew.real(x), ew.imag(x)
    exponent = ew.frexp(ew.maximum(ew.abs(real), ew.abs(imag)))[1]
    less = ew.negative(exponent)
    return ew.complex_of(ew.ldexp(real, less), ew.ldexp(imag, less)), exponent


def _product(x: Array) -> Array:
    """The product of the last axis."""
    total = None
    while True:
        x, exponent = _scaled(x)
        part = reductions.sum(exponent, axis=-1)
        total = part if total is None else ew.add(total, part)
        n = x.shape[-1]
        if n == 1:
            break
        rest = -n % min(n, TOGETHER)
        if rest:
            x = pad(x, [(0, 0)] * (x.ndim - 1) + [(0, rest)], constant_values=1)
        x = reductions.prod(reshape(x, (*x.shape[:-1], -1, min(n, TOGETHER))), axis=-1)
    x = x[..., 0]
    if x.dtype.kind != "c":
        return ew.ldexp(x, total)
    return ew.complex_of(ew.ldexp(ew.real(x), total), ew.ldexp(ew.imag(x), total))


def det(a: Any, /) -> Array:
    """The determinants of matrices (.., n, n), float32 or complex64; 0 for a singular matrix, 1 for one of 0 x 0."""
    x = matrices(a, "det", square=True)
    if not x.size:
        return ones(x.shape[:-2], x.dtype)
    found = lu_factors(x)
    return ew.multiply(_product(diagonal(found.packed, 0, -2, -1)), _parity(found))


def slogdet(a: Any, /) -> SlogdetResult:
    """(sign, logabsdet) of matrices (.., n, n): det(a) = sign * exp(logabsdet), which overflows later than det does.

    sign: 1, -1 or 0, of complex matrices a number of magnitude 1, or 0; logabsdet: float32, -inf for a singular matrix.
    """
    x = matrices(a, "slogdet", square=True)
    if not x.size:
        return SlogdetResult(ones(x.shape[:-2], x.dtype), full(x.shape[:-2], 0.0))
    found = lu_factors(x)
    factors = diagonal(found.packed, 0, -2, -1)
    sign = reductions.prod(ew.sign(factors), axis=-1)
    if x.dtype.kind == "c":  # as many roundings as factors: back to magnitude 1
        sign = ew.sign(sign)
    logs = reductions.sum(ew.log(ew.abs(factors)), axis=-1)
    return SlogdetResult(ew.multiply(sign, _parity(found)), logs)
