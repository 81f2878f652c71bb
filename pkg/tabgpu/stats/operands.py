"""What every function of tg.stats does with its operands: floats, axes, NaN policies."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import float32
from ..layout import Shape, normalize_axis
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.creation import astype
from ..ops.guards import guard
from ..ops.manipulation import ravel, reshape

POLICIES = ("propagate", "omit", "raise")


def real(x: Any, where: str) -> Array:
    """x as an Array of floats; TypeError for complex numbers."""
    x = rd.prepared(x, where)
    if x.dtype.kind == "c":
        raise TypeError(f"{where}: not defined for complex64")
    return x if x.dtype.kind == "f" else astype(x, float32)


def single(x: Any, where: str) -> Array:
    """x in float32."""
    return astype(real(x, where), float32, copy=False)


def along(x: Array, axis: Any, where: str) -> tuple[Array, int]:
    """(x, axis) with the axis normalised; None flattens."""
    if axis is None:
        return ravel(x), 0
    if not x.ndim:
        x = reshape(x, (1,))
    return x, normalize_axis(axis, x.ndim, where)


def policy(nan_policy: str, where: str, *allowed: str) -> str:
    """A checked NaN policy."""
    if nan_policy not in (allowed or POLICIES):
        raise ValueError(
            f"{where}: nan_policy must be one of {', '.join(allowed or POLICIES)}, not {nan_policy!r}"
        )
    return nan_policy


def refuse_nan(result: Array, x: Array, where: str) -> Array:
    """The result, which raises ValueError at its read if x has a NaN (nan_policy='raise')."""

    def describe(word: int) -> Exception:
        return ValueError(f"{where}: the input contains nan values")

    result._cell.op.guards = (*result._cell.op.guards, guard(astype(ew.isnan(x), "uint32"), describe))
    return result


def kept(shape: Shape, axis: int) -> Shape:
    """The shape with size 1 for an axis."""
    return (*shape[:axis], 1, *shape[axis + 1 :])


def dropped(x: Array, axis: int, keepdims: bool, had_axis: bool = True, rank: int = 1) -> Array:
    """A reduced array of shape `kept` without its axis, unless keepdims (all axes of size 1 where all were taken)."""
    if keepdims:
        return x if had_axis else reshape(x, (1,) * rank)
    return reshape(x, (*x.shape[:axis], *x.shape[axis + 1 :]))
