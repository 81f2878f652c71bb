"""What the chapters of tg.signal share: operands, host coefficients, axes, extensions at the ends, rows of windows."""

from __future__ import annotations

from math import prod
from operator import index as as_index
from typing import Any

from ..array import Array, view
from ..dtypes import BY_KIND, DType, float32
from ..layout import Layout, normalize_axis
from ..ops import elementwise as ew
from ..ops.along import prepared
from ..ops.creation import astype, zeros
from ..ops.joining import concat
from ..ops.manipulation import getitem, reshape
from ..ops.routine import routine, stored


def floats(x: Any, where: str) -> tuple[Array, DType]:
    """(x in float32 or complex64, the dtype of results: x's own, float32 for integers and bools)."""
    x = prepared(x, where)
    want = x.dtype if x.dtype.kind in "fc" else float32
    return astype(x, BY_KIND[want.kind], copy=False), want


def on_host(x: Any, what: str, where: str) -> Any:
    """x; TypeError for an array of the GPU, which NumPy would read on the spot."""
    if isinstance(x, Array):
        raise TypeError(
            f"{where}: {what} are numbers of the host that choose the kernel: give a list or a NumPy array "
            f"(`await {what}.numpy()` reads them)"
        )
    return x


def host(x: Any, what: str, where: str) -> Any:
    """Coefficients as a 1-D NumPy array, float64 or complex128; TypeError for arrays of the GPU."""
    import numpy as np

    got = np.atleast_1d(np.asarray(on_host(x, what, where)))
    if got.dtype.kind not in "biufc":
        raise TypeError(f"{where}: {what} of dtype {got.dtype}")
    return got.astype(np.complex128 if got.dtype.kind == "c" else np.float64)


def axis_of(x: Array, axis: Any, where: str) -> int:
    """A normalised axis of an array that has one."""
    if not x.ndim:
        raise ValueError(f"{where}: needs an array of at least one dimension")
    return normalize_axis(axis, x.ndim, where)


def whole_number(value: Any, what: str, where: str, least: int = 1) -> int:
    """An int of at least `least`."""
    n = as_index(value)
    if n < least:
        raise ValueError(f"{where}: {what} must be at least {least}, it is {n}")
    return n


def cut(x: Array, axis: int, start: int | None, stop: int | None, step: int | None = None) -> Array:
    """A slice along one axis."""
    return getitem(x, (*(slice(None),) * axis, slice(start, stop, step)))


def along(values: Array, axis: int, ndim: int) -> Array:
    """A 1-D array shaped to broadcast along an axis of ndim."""
    return reshape(values, tuple([-1 if k == axis else 1 for k in range(ndim)]))


def ends(n: int, before: int, behind: int) -> tuple[int, int]:
    """Samples beside n of an axis, where more than all n are cut off at an end: zeros behind or before them instead."""
    total = max(0, n + before + behind)
    if before < -n:
        return -n, total
    return (total, -n) if behind < -n else (before, behind)


def zeros_beside(x: Array, axis: int, before: int, behind: int) -> Array:
    """x with zeros before and behind it along an axis; negative numbers cut."""
    n = x.shape[axis]
    before, behind = ends(n, before, behind)
    if before < 0 or behind < 0:
        x = cut(x, axis, max(0, -before), max(0, -before, n - max(0, -behind)))
    parts = [x]
    for count, at in ((before, 0), (behind, 1)):
        if count > 0:
            nothing = zeros((*x.shape[:axis], count, *x.shape[axis + 1 :]), dtype=x.dtype)
            parts.insert(0 if at == 0 else len(parts), nothing)
    return concat(parts, axis=axis) if len(parts) > 1 else x


def extended(x: Array, axis: int, count: int, kind: str, where: str) -> Array:
    """x with `count` samples more at both ends of an axis: "odd" (turned around it), "even", "constant", "zero"."""
    n = x.shape[axis]
    if count < 1:
        return x
    if kind == "zero":
        return zeros_beside(x, axis, count, count)
    if kind in ("odd", "even") and count > n - 1:
        raise ValueError(f"{where}: {count} samples beside an axis of {n}: at most {n - 1}")
    first, last = cut(x, axis, 0, 1), cut(x, axis, n - 1, n)
    if kind == "constant":
        ones = zeros((*x.shape[:axis], count, *x.shape[axis + 1 :]), dtype=x.dtype)
        return concat([ew.add(ones, first), x, ew.add(ones, last)], axis=axis)
    left = cut(x, axis, count, 0, -1)
    right = cut(x, axis, n - 2, n - 2 - count if n - 2 - count >= 0 else None, -1)
    if kind == "odd":
        left = ew.subtract(ew.multiply(first, 2.0), left)
        right = ew.subtract(ew.multiply(last, 2.0), right)
    return concat([left, x, right], axis=axis)


def frames(x: Array, length: int, step: int) -> Array:
    """A view (.., windows, length) of windows along the last axis, `step` apart: overlapping ones share memory."""
    at = x._layout
    n = at.shape[-1]
    many = max(0, (n - length) // step + 1)
    stride = at.strides[-1]
    shape = (*at.shape[:-1], many, length)
    return view(x, Layout(shape, (*at.strides[:-1], stride * step, stride), at.offset))


def taps_along(
    x: Array, taps: Array, axis: int, first: int, m: int, up: int = 1, down: int = 1
) -> Array:  # fmt: skip
    """Sums along an axis: y[j] = sum of taps[t] * x[(j * down + first - t) / up], j < m; both of one dtype, or complex
    samples with real taps. float32, int32, uint32 or complex64."""
    shape = (*x.shape[:axis], m, *x.shape[axis + 1 :])
    if 0 in shape or not x.size or not taps.size:
        return zeros(shape, dtype=x.dtype)
    if taps.size > LONGEST * up:
        made = None
        for k in range(0, taps.size, LONGEST * up):
            one = taps_along(x, taps[k : k + LONGEST * up], axis, first - k, m, up, down)
            made = one if made is None else ew.add(made, one)
        assert made is not None
        return made
    outer, inner = prod(x.shape[:axis]), prod(x.shape[axis + 1 :])
    extra = (outer, x.shape[axis], inner, m, first, up, down)
    work = prod(shape) * -(-taps.size // up) // 16
    return routine("fir", [stored(x), stored(taps)], shape, x.dtype, extra, work)


LONGEST = 1 << 15  # taps of one launch: some CPU drivers end loops after 65,535 rounds
