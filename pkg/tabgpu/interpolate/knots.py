"""What interpolators share: knots in order, tables of rows at knots, values by piecewise.wgsl, complex numbers by
parts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from struct import pack, unpack
from typing import Any

from ..array import Array
from ..dtypes import float32
from ..graph import Guard
from ..layout import Shape, normalize_axis
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.along import prepared
from ..ops.creation import astype, full
from ..ops.guards import guard
from ..ops.manipulation import moveaxis, reshape
from ..ops.routine import routine, stored

SKIP, FILL, ENDS = 0, 1, 2  # what stands beyond the knots: the outer pieces, a number, the outer rows


def single(x: Any, where: str) -> Array:
    """A real operand in float32."""
    x = prepared(x, where)
    if x.dtype.kind == "c":
        raise TypeError(f"{where}: not defined for complex64")
    return astype(x, float32, copy=False)


def knots_of(x: Any, where: str, least: int = 2) -> tuple[Array, tuple[Guard, ...]]:
    """(1-D float32 knots, guards): ValueError unless they increase, at the call for host values, else at the read."""
    k = single(x, where)
    if k.ndim != 1 or k.size < least:
        raise ValueError(f"{where}: x must be 1-D with at least {least} elements, its shape is {k.shape}")
    message = f"{where}: x must be strictly increasing"
    if not isinstance(x, Array):
        given = [float(v) for v in x]
        if any(not b > a for a, b in pairwise(given)):
            raise ValueError(message)
    if k.size < 2:
        return k, ()

    def describe(word: int) -> Exception:
        return ValueError(f"{message} (in float32)")

    steps = ew.logical_not(ew.greater(k[1:], k[:-1]))
    return k, (guard(astype(steps, "uint32"), describe),)


def guarded(x: Array, guards: tuple[Guard, ...]) -> Array:
    """x, pending, whose reads raise what guards say."""
    if guards:
        x._cell.op.guards = (*x._cell.op.guards, *guards)
    return x


def rows_of(y: Any, n: int, axis: int, where: str) -> tuple[Array, Shape, int]:
    """(values as (n, rest), the shape of the rest, the axis): the axis of n elements first."""
    v = prepared(y, where)
    v = v if v.dtype.kind in "fc" else astype(v, float32)
    k = normalize_axis(axis, v.ndim, where)
    if v.shape[k] != n:
        raise ValueError(f"{where}: y has {v.shape[k]} elements along axis {axis}, x has {n}")
    v = moveaxis(v, k, 0)
    rest = v.shape[1:]
    size = 1
    for m in rest:
        size *= m
    return reshape(v, (n, size)), rest, k


def by_parts(function: Callable[[Array], Array], table: Array) -> Array:
    """A real function of a table, or of the two parts of a complex one."""
    if table.dtype.kind != "c":
        return function(astype(table, float32, copy=False))
    return ew.complex_of(function(ew.real(table)), function(ew.imag(table)))


def bits(value: float) -> int:
    return int(unpack("<I", pack("<f", value))[0])


def evaluated(
    kind: str, knots: Array, table: Array, points: Array, columns: int, coefficients: int = 1,
    left: tuple[int, float] = (SKIP, 0.0), right: tuple[int, float] = (SKIP, 0.0),
) -> Array:  # fmt: skip
    """(points, columns) values of piecewise.wgsl; left and right: what stands there, and the number of FILL."""
    if not points.size or not columns:
        return full((points.size, columns), 0.0, dtype=float32)
    extra = (
        kind, knots.size, points.size, columns, coefficients, left[0], right[0], bits(left[1]), bits(right[1]),
    )  # fmt: skip
    args = [stored(knots), stored(table), stored(points)]
    work = points.size * columns * max(coefficients, 4)
    return routine("interpolation.piecewise", args, (points.size, columns), float32, extra, work)


def placed(values: Array, points: Shape, rest: Shape, axis: int) -> Array:
    """(points, rest) values with the shape of the points where the axis was."""
    made = reshape(values, (*points, *rest))
    if not axis or not rest:
        return made
    rank = len(points)
    return moveaxis(made, tuple(range(rank)), tuple(range(axis, axis + rank)))


def bounds_guard(x: Array, low: Array, high: Array, where: str) -> Guard:
    """ValueError if an element of x lies outside [low, high]."""

    def describe(word: int) -> Exception:
        side = "below" if word == 1 else "above"
        return ValueError(f"{where}: a value in x_new is {side} the interpolation range.")

    code = ew.add(astype(ew.less(x, low), "uint32"), ew.multiply(astype(ew.greater(x, high), "uint32"), 2))
    return guard(rd.max(code, initial=0), describe)
