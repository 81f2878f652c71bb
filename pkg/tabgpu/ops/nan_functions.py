"""Reductions that ignore NaN, under NumPy's names. For dtypes without NaN they are the plain ones."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import as_dtype, float32, uint32
from ..layout import normalize_axes
from . import elementwise as ew
from . import reductions as rd
from .creation import astype, copy_of
from .guards import guard
from .rows import Row
from .statistics import variance
from .ufunc_arguments import as_mask, as_out, store_reduced, widened


def _numbers(x: Array) -> Array | None:
    """Where x is no NaN; None if its dtype has none."""
    return ew.logical_not(ew.isnan(x)) if x.dtype.kind in "fc" else None


def _both(a: Array | None, b: Array | None) -> Array | None:
    return b if a is None else a if b is None else ew.logical_and(a, b)


def nansum(
    x: Any, /, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> Array:  # fmt: skip
    """sum with NaN as 0."""
    return _filled("sum", x, axis, dtype, out, keepdims, initial, where, "nansum")


def nanprod(
    x: Any, /, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> Array:  # fmt: skip
    """prod with NaN as 1."""
    return _filled("prod", x, axis, dtype, out, keepdims, initial, where, "nanprod")


def _filled(
    name: str, x: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Any, label: str
) -> Array:  # fmt: skip
    x = rd.prepared(x, label)
    if x.dtype.kind in "fc":
        x = ew.where(ew.isnan(x), rd.neutral(name, x.dtype), x)
    return rd.reduce(name, x, axis, dtype, out, keepdims, initial, where, label)


def nanmax(
    x: Any,
    /,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Greatest element that is no NaN; NaN where all are. ValueError over a zero-size axis without initial."""
    return rd.reduce("fmax", x, axis, None, out, keepdims, initial, where, "nanmax")


def nanmin(
    x: Any,
    /,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Least element that is no NaN; NaN where all are."""
    return rd.reduce("fmin", x, axis, None, out, keepdims, initial, where, "nanmin")


def nanmean(
    x: Any, /, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Array:  # fmt: skip
    """Mean of the elements that are no NaN; NaN where all are."""
    x = rd.prepared(x, "nanmean")
    return rd.mean(x, axis, dtype, out, keepdims, where=_where(x, where, "nanmean"))


def _where(x: Array, where: Any, label: str) -> Any:
    """where= without the NaN of x."""
    mask = as_mask(where, label)
    if mask is not None:
        mask = widened(mask, x.shape, label)
    both = _both(_numbers(x), mask)
    return True if both is None else both


def nanvar(
    x: Any, /, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Array:  # fmt: skip
    """Variance of the elements that are no NaN; NaN where no more than ddof are."""
    return _nanvar("nanvar", x, axis, dtype, out, ddof, keepdims, where, mean, correction)


def nanstd(
    x: Any, /, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: float | None = None,
) -> Array:  # fmt: skip
    """Standard deviation of the elements that are no NaN; otherwise as nanvar."""
    return _nanvar("nanstd", x, axis, dtype, out, ddof, keepdims, where, mean, correction)


def _nanvar(
    name: str, x: Any, axis: Any, dtype: Any, out: Any, ddof: float, keepdims: bool, where: Any, mean: Any,
    correction: float | None,
) -> Array:  # fmt: skip
    x = rd.prepared(x, name)
    if correction is not None:
        if ddof:
            raise ValueError(f"{name}: give ddof or correction, not both")
        ddof = correction
    want = as_dtype(dtype) if dtype is not None else rd.real_dtype(x)
    if want.kind not in "fc":
        raise TypeError(f"{name}: dtype {want.name} is no floating dtype")
    mask = as_mask(_where(x, where, name), name)
    axes = normalize_axes(axis, x.ndim, name)
    got = variance(astype(x, want, copy=False), axes, keepdims, ddof, mask, mean, name)
    if mask is not None:  # NumPy: NaN, not inf, without a degree of freedom
        count = rd.count_of(x, axes, keepdims, mask, name)
        got = ew.where(ew.greater(astype(count, float32), float(ddof)), got, float("nan"))
    if name == "nanstd":
        got = ew.sqrt(got)
    return store_reduced(
        astype(got, float32 if want.kind == "c" else want, copy=False), as_out(out, name), name
    )


def nanargmax(x: Any, /, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """int32 position of the greatest element that is no NaN. ValueError, at the read, where all are NaN."""
    return _position(x, axis, out, keepdims, rd.KEY_MAX, "nanargmax")


def nanargmin(x: Any, /, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """int32 position of the least element that is no NaN; otherwise as nanargmax."""
    return _position(x, axis, out, keepdims, rd.KEY_MIN, "nanargmin")


def _position(x: Any, axis: Any, out: Any, keepdims: bool, key: Row, label: str) -> Array:
    x = rd.prepared(x, label)
    axes = rd.one_axis(x, axis, label)
    if x.dtype.kind != "f":
        return store_reduced(rd.position_of(key(x), axes, keepdims), as_out(out, label), label)
    missing = ew.isnan(x)
    found = copy_of(rd.position_of(ew.where(missing, 0, key(x)), axes, keepdims))
    if x.size:
        lost = rd.any(rd.all(missing, axes))
        found._cell.op.guards = (
            guard(astype(lost, uint32), lambda _: ValueError(f"{label}: all-NaN slice")),
        )
    return store_reduced(found, as_out(out, label), label)


__all__ = [
    "nanargmax", "nanargmin", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar",
]  # fmt: skip
