"""Reductions, windows, running reductions and sorts under jax.lax's names: results keep the operand's dtype, and an
axis without elements gives the identity."""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from .. import layout as lo
from ..array import Array, view
from ..dtypes import as_dtype, bool_, int32
from ..ops import reductions, scans, sorting
from ..ops.creation import astype, full
from ..ops.rearranging import prepare
from ..ops.taking import take_along_axis
from .arithmetic import named
from .shapes import pad

Axes = tuple[int, ...]


def _reduced(name: str, operand: Any, axes: Any, where: str, initial: Any = None) -> Array:
    x = prepare(operand, where)
    over = lo.normalize_axes(tuple(as_index(k) for k in axes), x.ndim, where)
    if name in ("and", "or", "xor") and x.dtype.kind not in "biu":
        raise TypeError(f"{where}: takes integers and bools, not {x.dtype.name}")
    if name in ("max", "min") and x.dtype.kind == "c":
        raise TypeError(f"{where}: complex numbers have no order")
    return _accumulated(name, x, over, where, initial)


def _accumulated(name: str, x: Array, over: Axes, where: str, initial: Any = None) -> Array:
    """A reduction of TABLE over normalised axes, in x's dtype; the identity for no elements."""
    if x.dtype is bool_:
        name = {"and": "min", "or": "max", "prod": "min", "sum": "max"}.get(name, name)
    if initial is None and name in ("max", "min") and 0 in [x.shape[k] for k in over]:
        shape = reductions.reduced_shape(x.shape, over, False)
        return full(
            shape, name == "min" if x.dtype is bool_ else reductions.neutral(name, x.dtype), dtype=x.dtype
        )
    wide = int32 if x.dtype is bool_ else x.dtype
    begin = None if initial is None else reductions.start(initial, wide, where)
    got = reductions.accumulated(name, x, over, False, where, None, begin)
    return astype(got, x.dtype, copy=False)


def reduce_sum(operand: Any, axes: Any) -> Array:
    """Sums over axes in the operand's dtype (integers wrap in it; of bools it is `or`)."""
    return _reduced("sum", operand, axes, "reduce_sum")


def reduce_prod(operand: Any, axes: Any) -> Array:
    """Products over axes in the operand's dtype."""
    return _reduced("prod", operand, axes, "reduce_prod")


def reduce_max(operand: Any, axes: Any) -> Array:
    """Greatest elements over axes, NaN if there is one; the least value of the dtype for no elements."""
    return _reduced("max", operand, axes, "reduce_max")


def reduce_min(operand: Any, axes: Any) -> Array:
    """Least elements over axes, NaN if there is one; the greatest value of the dtype for no elements."""
    return _reduced("min", operand, axes, "reduce_min")


def reduce_and(operand: Any, axes: Any) -> Array:
    """Bitwise (of bools: logical) and over axes."""
    return _reduced("and", operand, axes, "reduce_and")


def reduce_or(operand: Any, axes: Any) -> Array:
    """Bitwise (of bools: logical) or over axes."""
    return _reduced("or", operand, axes, "reduce_or")


def reduce_xor(operand: Any, axes: Any) -> Array:
    """Bitwise exclusive or over axes; of bools whether an odd number is true."""
    return _reduced("xor", operand, axes, "reduce_xor")


def reduce(operands: Any, init_values: Any, computation: Any, dimensions: Any) -> Array:
    """init_values and the elements over axes, combined by add, mul, max, min, and, or, xor: a name, or the function of
    tg.lax. One operand; init is a number or a 0-d array. Python functions are not compiled: TypeError."""
    return _reduced(named(computation, "reduce"), operands, dimensions, "reduce", init_values)


def _arg(function: Any, operand: Any, axis: int, index_dtype: Any) -> Array:
    made: Array = function(prepare(operand, function.__name__), axis=as_index(axis))
    return astype(made, as_dtype(index_dtype), copy=False)


def argmax(operand: Any, axis: int, index_dtype: Any = "int32") -> Array:
    """The first position of the greatest element along an axis (of the first NaN, if there is one)."""
    return _arg(reductions.argmax, operand, axis, index_dtype)


def argmin(operand: Any, axis: int, index_dtype: Any = "int32") -> Array:
    """The first position of the least element along an axis (of the first NaN, if there is one)."""
    return _arg(reductions.argmin, operand, axis, index_dtype)


# --- running reductions -----------------------------------------------------------------------------------------


def _running(function: Any, operand: Any, axis: int, reverse: bool) -> Array:
    x = prepare(operand, function.__name__)
    return astype(function(x, axis=as_index(axis), reverse=bool(reverse)), x.dtype, copy=False)


def cumsum(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Running sums along an axis in the operand's dtype."""
    return _running(scans.cumulative_sum, operand, axis, reverse)


def cumprod(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Running products along an axis in the operand's dtype."""
    return _running(scans.cumulative_prod, operand, axis, reverse)


def cummax(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Running maxima along an axis."""
    return _running(scans.cumulative_max, operand, axis, reverse)


def cummin(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """Running minima along an axis."""
    return _running(scans.cumulative_min, operand, axis, reverse)


def cumlogsumexp(operand: Any, axis: int = 0, reverse: bool = False) -> Array:
    """log of the running sums of exp along an axis."""
    return _running(scans.logcumsumexp, operand, axis, reverse)


# --- windows ----------------------------------------------------------------------------------------------------


def padtype_to_pads(
    in_shape: Any, window_shape: Any, window_strides: Any, padding: str
) -> list[tuple[int, int]]:
    """(low, high) for each axis of "VALID" (none) or "SAME" (ceil(n / stride) windows, the odd one behind)."""
    if padding.upper() == "VALID":
        return [(0, 0)] * len(in_shape)
    if padding.upper() != "SAME":
        raise ValueError(f"padding is VALID, SAME or pairs, not {padding!r}")
    made = []
    for n, w, s in zip(in_shape, window_shape, window_strides, strict=True):
        need = max((-(-n // s) - 1) * s + w - n, 0)
        made.append((need // 2, need - need // 2))
    return made


def reduce_window(
    operand: Any, init_value: Any, computation: Any, window_dimensions: Any, window_strides: Any = None,
    padding: Any = "VALID", base_dilation: Any = None, window_dilation: Any = None,
) -> Array:  # fmt: skip
    """init_value and the elements of each window, combined by add, mul, max, min, and, or, xor (a name, or the function
    of tg.lax). Any number of axes.

    padding: VALID, SAME, or (low, high) for each axis, also negative; padded elements and what base_dilation puts
    between elements are init_value, a number. One launch over a view; padding is one more.
    """
    x, name = prepare(operand, "reduce_window"), named(computation, "reduce_window")
    ones = (1,) * x.ndim
    sizes, steps, gaps, holes = (
        ones if given is None else tuple(as_index(k) for k in given)
        for given in (window_dimensions, window_strides, base_dilation, window_dilation)
    )
    if any(len(v) != x.ndim or min(v, default=1) < 1 for v in (sizes, steps, gaps, holes)):
        raise ValueError(
            f"reduce_window: window {sizes}, strides {steps}, dilations {gaps} and {holes} need a number of at least 1 "
            f"for each axis of shape {x.shape}"
        )
    dilated = [max(0, (n - 1) * g + 1) if n else 0 for n, g in zip(x.shape, gaps, strict=True)]
    reach = [(w - 1) * h + 1 for w, h in zip(sizes, holes, strict=True)]
    pads = padtype_to_pads(dilated, reach, steps, padding) if isinstance(padding, str) else padding
    config = [(as_index(a), as_index(b), g - 1) for (a, b), g in zip(pads, gaps, strict=True)]
    if any(c != (0, 0, 0) for c in config):
        x = pad(x, init_value, config)
    counts = [
        max(0, (n - r) // s + 1) if n >= r else 0 for n, r, s in zip(x.shape, reach, steps, strict=True)
    ]
    seen = x._layout
    moved = tuple(s * step for s, step in zip(seen.strides, steps, strict=True))
    within = tuple(s * h for s, h in zip(seen.strides, holes, strict=True))
    windows = view(x, lo.Layout((*counts, *sizes), (*moved, *within), seen.offset))
    if 0 in counts:
        return full(tuple(counts), 0, dtype=x.dtype)
    return _accumulated(name, windows, tuple(range(x.ndim, 2 * x.ndim)), "reduce_window", init_value)


# --- order ------------------------------------------------------------------------------------------------------


def sort(operand: Any, dimension: int = -1, is_stable: bool = True, num_keys: int = 1) -> Any:
    """Sorted along an axis, ascending, NaN last, always stable. A tuple of arrays of one shape is ordered by its first
    num_keys, the first of them before the others."""
    if not isinstance(operand, (tuple, list)):
        return sorting.sort(prepare(operand, "sort"), axis=as_index(dimension))
    given = [prepare(x, "sort") for x in operand]
    if not 1 <= as_index(num_keys) <= len(given):
        raise ValueError(f"sort: num_keys = {num_keys} for {len(given)} operands")
    if any(x.shape != given[0].shape for x in given):
        raise ValueError(f"sort: operands of different shapes: {', '.join(str(x.shape) for x in given)}")
    order = sorting.lexsort(given[: as_index(num_keys)][::-1], axis=as_index(dimension))
    return tuple([take_along_axis(x, order, axis=as_index(dimension), mode="clip") for x in given])


def top_k(operand: Any, k: int, *, axis: int = -1) -> tuple[Array, Array]:
    """(values, int32 positions) of the k greatest along an axis, in order; NaN is greatest; the first of equals."""
    return sorting.topk(operand, k, axis, nan_greatest=True)
