"""Choices between arrays, and functions applied along axes: select, choose, piecewise, apply_along_axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import layout as lo
from ..array import Array
from ..dtypes import bool_, int32, uint32
from . import elementwise as ew
from .convert import from_host
from .creation import astype, copy_of, zeros_like
from .guards import guard
from .joining import check_casting, deliver, stack
from .manipulation import broadcast_to, moveaxis, reshape
from .rearranging import prepare


def _operand(x: Any, where: str) -> Any:
    """An Array, or a Python scalar as it is (it is weak)."""
    return x if isinstance(x, (Array, bool, int, float, complex)) else from_host(x, where)


def _conditions(given: Sequence[Any], where: str) -> list[Array]:
    made = [prepare(c, where) for c in given]
    for c in made:
        if c.dtype is not bool_:
            raise TypeError(f"{where}: conditions must be bool, not {c.dtype.name}")
    return made


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """Of each element, the choice whose condition is the first to hold; `default` where none does."""
    if len(condlist) != len(choicelist):
        raise ValueError(f"select: {len(condlist)} conditions for {len(choicelist)} choices")
    if not len(condlist):
        raise ValueError("select: there are no conditions")
    made = _operand(default, "select")
    for condition, choice in reversed(
        list(zip(_conditions(condlist, "select"), [_operand(c, "select") for c in choicelist], strict=True))
    ):
        made = ew.where(condition, choice, made)
    return made  # type: ignore[no-any-return]


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Array:
    """Of each element, the one of choices[a]. mode says what an `a` outside does: "wrap", "clip", or "raise" ValueError
    at the read."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"choose: mode must be 'raise', 'wrap' or 'clip', not {mode!r}")
    index = prepare(a, "choose")
    if index.dtype.kind not in "biu":
        raise TypeError(f"choose: the index must be integers, not {index.dtype.name}")
    options = [prepare(c, "choose") for c in choices]
    n = len(options)
    if not n:
        raise ValueError("choose: there are no choices")
    sure = index.dtype is bool_ and n > 1
    index = astype(index, int32, copy=False)
    guards: tuple[Any, ...] = ()
    if mode == "raise" and not sure:
        outside = ew.greater_equal(astype(index, uint32), n)
        guards = (guard(astype(outside, uint32), lambda word: _invalid(n)),) if index.size else ()
    elif not sure:
        index = ew.remainder(index, n) if mode == "wrap" else ew.clip(index, 0, n - 1)
    made = options[-1]
    for k in range(n - 2, -1, -1):
        made = ew.where(ew.equal(index, k), options[k], made)
    shape = lo.broadcast_shapes(index.shape, *[c.shape for c in options], where="choose")
    made = copy_of(broadcast_to(made, shape))
    made._cell.op.guards = guards
    return deliver(made, out, "choose")


def _invalid(n: int) -> Exception:
    return ValueError(f"choose: invalid entry in choice array: an index is not from 0 to {n - 1}")


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **options: Any) -> Array:
    """Of each element, the function (or constant) whose condition is the last to hold; with one more than conditions,
    the last one where none does. A function gets the whole of x, and its result is cast to x's dtype."""
    x = prepare(x, "piecewise")
    several = isinstance(condlist, (list, tuple)) and condlist and not isinstance(condlist[0], (bool, int))
    given = (
        list(condlist) if several or (isinstance(condlist, Array) and condlist.ndim > x.ndim) else [condlist]
    )
    conditions = [astype(prepare(c, "piecewise"), bool_, copy=False) for c in given]
    if len(funclist) == len(conditions) + 1:
        other = conditions[0]
        for c in conditions[1:]:
            other = ew.logical_or(other, c)
        conditions.append(ew.logical_not(other))
    elif len(funclist) != len(conditions):
        raise ValueError(
            f"piecewise: with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} "
            f"functions are expected, not {len(funclist)}"
        )
    made = zeros_like(x)
    for condition, f in zip(conditions, funclist, strict=True):
        value = f(x, *args, **options) if callable(f) else f
        value = prepare(value, "piecewise")
        check_casting(value.dtype, x.dtype, "unsafe", "piecewise")
        made = ew.where(condition, astype(value, x.dtype, copy=False), made)
    return made


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **options: Any) -> Array:
    """func1d of every 1-D slice along an axis, called once a slice; its results (all of one shape) take the axis'
    place. Prefer functions that take axis=: those are one launch."""
    x = prepare(arr, "apply_along_axis")
    if not x.ndim:
        raise ValueError("apply_along_axis: needs at least 1 axis")
    axis = lo.normalize_axis(axis, x.ndim, "apply_along_axis")
    last = moveaxis(x, axis, -1)
    outer = last.shape[:-1]
    rows = reshape(last, (-1, last.shape[-1])) if last.size else None
    if rows is None or not rows.shape[0]:
        raise ValueError(f"apply_along_axis: cannot apply along an empty array, shape {x.shape}")
    results = [prepare(func1d(rows[k], *args, **options), "apply_along_axis") for k in range(rows.shape[0])]
    made = stack(results)
    inner = made.shape[1:]
    made = reshape(made, outer + inner)
    for k in range(len(inner)):
        made = moveaxis(made, len(outer) + k, axis + k)
    return made


def apply_over_axes(func: Any, a: Any, axes: Any) -> Array:
    """func(a, axis) for one axis after the other; axes that it removes are put back with size 1."""
    x = prepare(a, "apply_over_axes")
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        axis = lo.normalize_axis(axis, x.ndim, "apply_over_axes")
        made = func(x, axis=axis)
        if made.ndim != x.ndim:
            made = reshape(made, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
        x = made
    return x
