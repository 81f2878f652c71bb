"""What functions of stacks of matrices share: which dtypes they compute in, scales by powers of two, guards, sizes."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from .. import engine
from ..array import Array
from ..dtypes import float32, uint32
from ..errors import LinAlgError
from ..graph import Guard
from ..ops import elementwise as ew
from ..ops import reductions
from ..ops.creation import astype
from ..ops.guards import guard
from ..ops.joining import concat
from ..ops.manipulation import getitem, reshape
from ..ops.rearranging import prepare


def matrices(x: Any, where: str, square: bool = False) -> Array:
    """x as float32 (also integers, bools and 16-bit floats) or complex64. LinAlgError unless it is matrices."""
    a = prepare(x, where)
    if a.ndim < 2:
        raise LinAlgError(f"{where}: takes matrices or stacks of them, shape is {a.shape}")
    if square and a.shape[-1] != a.shape[-2]:
        raise LinAlgError(f"{where}: the last 2 axes must be square, shape is {a.shape}")
    return a if a.dtype.kind == "c" else astype(a, float32, copy=False)


def flat(x: Array) -> Array:
    """(.., m, n) as (matrices, m, n)."""
    return reshape(x, (prod(x.shape[:-2]), *x.shape[-2:]))


def in_pieces(x: Array, bytes_each: int, run: Callable[[Array], Array]) -> Array:
    """run(x) of (matrices, ..), in as many pieces as keep buffers of so many bytes a matrix within a binding."""
    most = max(1, engine.device().binding_limit // (bytes_each + 1) - 1)
    count = x.shape[0]
    if count <= most:
        return run(x)
    return concat([run(getitem(x, slice(at, at + most))) for at in range(0, count, most)], axis=0)


def squares(x: Array) -> Array:
    """|x|**2, real."""
    if x.dtype.kind != "c":
        return ew.square(x)
    return ew.add(ew.square(ew.real(x)), ew.square(ew.imag(x)))


def scales(x: Array, axis: Any) -> tuple[Array, Array]:
    """(powers of two that bring the greatest |element| along axes to 1 .. 2, their inverses), real, axes kept."""
    most = reductions.max(ew.abs(x), axis=axis, keepdims=True)
    _, exponent = ew.frexp(most)
    exponent = ew.where(ew.equal(most, 0), 0, ew.clip(ew.subtract(exponent, 1), -120, 120))
    return ew.ldexp(1.0, ew.negative(exponent)), ew.ldexp(1.0, exponent)


def finite(x: Array) -> Array:
    """Whether all elements of each matrix are finite: (.., 1, 1)."""
    return reductions.all(ew.isfinite(x), axis=(-2, -1), keepdims=True)


def finite_guard(x: Array, where: str, what: str) -> Guard:
    """LinAlgError where an element is not finite, as the iteration does not converge then."""
    lost = astype(ew.logical_not(ew.isfinite(x)), uint32)
    return guard(
        lost, lambda _: LinAlgError(f"{where}: {what} did not converge: an element is NaN or infinite")
    )


def guarded(x: Array, guards: tuple[Guard, ...]) -> Array:
    """x, whose reads raise what the guards find."""
    x._cell.op.guards += guards
    return x
