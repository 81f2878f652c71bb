"""Running sums, products, maxima and minima along an axis, and differences: trees in passes, with their small error."""

from __future__ import annotations

from math import prod
from operator import index as as_index
from typing import Any

from ..array import Array
from ..dtypes import as_dtype, bool_, float32, int32, uint32
from ..layout import normalize_axis
from . import elementwise as ew
from .along import back, last, pick_axis, prepared, widened
from .creation import astype, full, zeros_like
from .manipulation import broadcast_to, permute_dims, ravel
from .routine import routine, stored, whole
from .ufunc_arguments import as_out, store_reduced

COLUMNS = 16  # so many neighbouring columns are scanned where they lie; fewer are made rows first


def _scan(name: str, x: Array, axis: int, reverse: bool, lead: bool) -> Array:
    """One scan along a normalised axis, in whole words, x's dtype kind."""
    n, reverse, lead = x.shape[axis], bool(reverse), bool(lead)
    if not x.size:
        shape = (*x.shape[:axis], n + lead, *x.shape[axis + 1 :])
        if lead:  # only initial values are left
            return full(shape, 1 if name == "prod" else 0, dtype=x.dtype)
        return zeros_like(x)
    if not whole(x):
        order = sorted(range(x.ndim), key=lambda k: -x._layout.strides[k])
        there = permute_dims(x, order)
        if whole(there):  # axes of whole memory in another order: no copy
            done = _scan(name, there, order.index(axis), reverse, lead)
            return permute_dims(done, [order.index(k) for k in range(x.ndim)])
    inner = prod(x.shape[axis + 1 :])
    if inner < COLUMNS:
        rows = last(x, axis)
        extra = (rows.size // n, n, reverse, lead)
        shape = (*rows.shape[:-1], n + lead)
        return back(routine(f"scan.{name}", [stored(rows)], shape, x.dtype, extra), axis)
    shape = (*x.shape[:axis], n + lead, *x.shape[axis + 1 :])
    return routine(
        f"scan.{name}", [stored(x)], shape, x.dtype, (x.size // (n * inner), n, reverse, lead, inner)
    )


def _cumulative(
    name: str, x: Array, axis: Any, dtype: Any, where: str, reverse: bool = False, lead: bool = False
) -> Array:
    """Sums and products: NumPy's result dtypes."""
    if dtype is None:
        small = x.dtype.kind in "bi"
        want = int32 if small else uint32 if x.dtype.kind == "u" else x.dtype
    else:
        want = as_dtype(dtype)
        if want.kind == "b":
            raise TypeError(f"{where}: dtype bool cannot hold {name}s; use maximum.accumulate")
    x, k = pick_axis(x, axis, where)
    wide = widened(astype(x, want, copy=False))
    return astype(_scan(name, wide, k, reverse, lead), want, copy=False)


def _one_axis(x: Array, axis: Any, where: str) -> Any:
    """The array API's rule: an axis may be left out for one-dimensional arrays only."""
    if axis is None and x.ndim > 1:
        raise ValueError(f"{where}: axis is needed for an array of shape {x.shape}")
    return axis


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False, reverse: bool = False
) -> Array:  # fmt: skip
    """Sums of all elements up to each one along an axis (needed if there are several), itself included.

    Integers wrap and become int32 or uint32, bool becomes int32; floats and complex keep their dtype (float16 and
    bfloat16 are rounded once). include_initial: one more element in front, 0. reverse: from the last element on.
    """
    x = prepared(x, "cumulative_sum")
    axis = _one_axis(x, axis, "cumulative_sum")
    return _cumulative("sum", x, axis, dtype, "cumulative_sum", reverse, include_initial)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False, reverse: bool = False
) -> Array:  # fmt: skip
    """Products of all elements up to each one along an axis; otherwise as cumulative_sum, the initial value is 1."""
    x = prepared(x, "cumulative_prod")
    axis = _one_axis(x, axis, "cumulative_prod")
    return _cumulative("prod", x, axis, dtype, "cumulative_prod", reverse, include_initial)


def cumsum(
    a: Any, /, axis: int | None = None, dtype: Any = None, out: Any = None, *, reverse: bool = False
) -> Array:
    """Running sums along an axis, of the flattened array for None; dtypes as cumulative_sum."""
    target = as_out(out, "cumsum")
    return store_reduced(
        _cumulative("sum", prepared(a, "cumsum"), axis, dtype, "cumsum", reverse), target, "cumsum"
    )


def cumprod(
    a: Any, /, axis: int | None = None, dtype: Any = None, out: Any = None, *, reverse: bool = False
) -> Array:
    """Running products along an axis, of the flattened array for None; dtypes as cumulative_sum."""
    target = as_out(out, "cumprod")
    return store_reduced(
        _cumulative("prod", prepared(a, "cumprod"), axis, dtype, "cumprod", reverse), target, "cumprod"
    )


def _without_nan(x: Array, value: float) -> Array:
    return ew.where(ew.isnan(x), value, x) if x.dtype.kind in "fc" else x


def nancumsum(a: Any, /, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """cumsum with NaN as 0."""
    target = as_out(out, "nancumsum")
    got = _cumulative("sum", _without_nan(prepared(a, "nancumsum"), 0.0), axis, dtype, "nancumsum")
    return store_reduced(got, target, "nancumsum")


def nancumprod(a: Any, /, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """cumprod with NaN as 1."""
    target = as_out(out, "nancumprod")
    got = _cumulative("prod", _without_nan(prepared(a, "nancumprod"), 1.0), axis, dtype, "nancumprod")
    return store_reduced(got, target, "nancumprod")


def _extreme(name: str, x: Any, axis: Any, reverse: bool, where: str) -> Array:
    x = prepared(x, where)
    if x.dtype.kind == "c":
        raise TypeError(f"{where}: complex numbers have no order")
    y, k = pick_axis(x, _one_axis(x, axis, where), where)
    return astype(_scan(name, widened(y), k, reverse, False), x.dtype, copy=False)


def cumulative_max(x: Any, /, *, axis: int | None = None, reverse: bool = False) -> Array:
    """The greatest element so far along an axis (needed if there are several), in x's dtype; NaN from the first NaN on.

    reverse: from the last element on. What numpy.maximum.accumulate gives.
    """
    return _extreme("max", x, axis, reverse, "cumulative_max")


def cumulative_min(x: Any, /, *, axis: int | None = None, reverse: bool = False) -> Array:
    """The least element so far along an axis; otherwise as cumulative_max."""
    return _extreme("min", x, axis, reverse, "cumulative_min")


def logcumsumexp(x: Any, /, *, axis: int | None = None, reverse: bool = False) -> Array:
    """log of the running sums of exp(x) along an axis, without overflow; float32, or x's own dtype if it is float."""
    x = prepared(x, "logcumsumexp")
    if x.dtype.kind == "c":
        raise TypeError("logcumsumexp: not defined for complex64")
    want = x.dtype if x.dtype.kind == "f" else float32
    y, k = pick_axis(x, _one_axis(x, axis, "logcumsumexp"), "logcumsumexp")
    return astype(_scan("logaddexp", astype(y, float32, copy=False), k, reverse, False), want, copy=False)


def diff(
    a: Any, /, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None
) -> Array:  # fmt: skip
    """n-th differences of neighbours along an axis: x[i + 1] - x[i], not_equal for bool; the axis is n shorter.

    prepend, append: arrays (or scalars) put before and behind first, as in numpy.diff. Unsigned integers wrap.
    """
    x = prepared(a, "diff")
    n = as_index(n)
    if n < 0:
        raise ValueError(f"diff: order must not be negative, it is {n}")
    if not x.ndim:
        raise ValueError("diff: needs an array of at least one dimension")
    k = normalize_axis(axis, x.ndim, "diff")
    if n == 0:
        return x
    x = _joined(x, k, prepend, append, "diff")
    step = ew.not_equal if x.dtype is bool_ else ew.subtract
    x = last(x, k)
    for _ in range(n):
        x = step(x[..., 1:], x[..., :-1])
    return back(x, k)


def _joined(x: Array, axis: int, prepend: Any, append: Any, where: str) -> Array:
    """x with other arrays before and behind it along an axis; scalars are one slice."""
    if prepend is None and append is None:
        return x
    from .joining import concat

    parts = []
    for part in (prepend, x, append):
        if part is None:
            continue
        part = prepared(part, where)
        if not part.ndim:
            part = broadcast_to(part, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
        parts.append(part)
    return concat(parts, axis=axis)


def ediff1d(ary: Any, /, to_end: Any = None, to_begin: Any = None) -> Array:
    """Differences of neighbours of the flattened array, with other values (cast to its dtype) before and behind."""
    x = ravel(prepared(ary, "ediff1d"))
    out = ew.subtract(x[1:], x[:-1])
    ends = [None if e is None else astype(ravel(prepared(e, "ediff1d")), x.dtype) for e in (to_begin, to_end)]
    return _joined(out, 0, ends[0], ends[1], "ediff1d")


__all__ = [
    "cumprod", "cumsum", "cumulative_max", "cumulative_min", "cumulative_prod", "cumulative_sum", "diff", "ediff1d",
    "logcumsumexp", "nancumprod", "nancumsum",
]  # fmt: skip
