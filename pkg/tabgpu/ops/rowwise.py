"""Arrays as lines along one axis, for the row kernels of routines/rows.py: which axes, views and dtypes they take."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack, unpack
from typing import Any

from ..array import Array, source, view
from ..dtypes import as_dtype, float32
from ..graph import IOTA, SCALAR, Op
from ..layout import Layout, Shape, collapse, contiguous, normalize_axis, permute
from . import reductions as rd
from .creation import astype, copy_of, full
from .dtype_functions import finfo
from .manipulation import reshape
from .routine import routine, stored


def lines_along(name: str, x: Any, dim: int | None, axis: int | None, dtype: Any) -> Array:
    """softmax or log_softmax along one axis."""
    if dim is not None and axis is not None:
        raise TypeError(f"{name}: give dim or axis, not both")
    x = floating(x, name, dtype)
    if x.ndim == 0:
        normalize_axis(-1 if axis is None and dim is None else dim if axis is None else axis, 1, name)
        return reshape(lines_along(name, reshape(x, (1,)), -1, None, None), ())
    k = normalize_axis(-1 if axis is None and dim is None else dim if axis is None else axis, x.ndim, name)
    return _elements(name, x, (k,), (), 0.0)


def affine_lines(
    name: str, x: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float | None
) -> Array:
    """layer_norm or rms_norm over the last axes."""
    x = floating(x, name, None)
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not shape or x.shape[-len(shape) :] != shape:
        raise ValueError(f"{name}: normalized_shape {shape} is not how the shape {x.shape} ends")
    extras = []
    for what, given in (("weight", weight), ("bias", bias)):
        if given is None:
            continue
        one = rd.prepared(given, name)
        if one.shape != shape:
            raise ValueError(f"{name}: {what} of shape {one.shape} does not have normalized_shape {shape}")
        if one.dtype.kind not in "fiub":
            raise TypeError(f"{name}: {what} must be real, not {one.dtype.name}")
        extras.append(astype(one, float32, copy=False))
    eps = float(finfo(x.dtype).eps) if eps is None else number(name, "eps", eps)
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    flags = weight is not None, bias is not None
    return _elements(
        name, x, axes, [(f, e) for f, e in zip((k for k in (0, 1) if flags[k]), extras, strict=True)], eps
    )


def grouped_lines(
    name: str, x: Array, groups: int, weight: Array | None, bias: Array | None, eps: float
) -> Array:
    """layer_norm of floats (N, C, ..) over the channels and places of each group; weight and bias: one a channel."""
    lines = x.shape[0] * groups
    n = x.size // lines
    parts = [None if e is None else stored(astype(e, float32, copy=False)) for e in (weight, bias)]
    each = x.shape[1] // groups
    job = (
        *(lines, n, 1, 0, (n, 1, 0), False, not n % 4, unpack("<I", pack("<f", eps))[0]),
        *(weight is not None, bias is not None, (groups, each, n // each)),
    )
    want = x.dtype if not n % 4 else float32
    args = [stored(x), *[e for e in parts if e is not None]]
    return astype(routine(f"rows.{name}", args, x.shape, want, job), x.dtype, copy=False)


def number(name: str, what: str, value: Any) -> float:
    """A real number as an argument."""
    try:
        return float(value)
    except (TypeError, ValueError):
        if isinstance(value, Array):
            raise
        raise TypeError(f"{name}: {what} must be a number, not {value!r}") from None


def unit_lines(name: str, x: Array, axis: int, eps: float) -> Array:
    """x / max(its length along one axis, eps)."""
    return _elements(name, x, (normalize_axis(axis, x.ndim, name),), (), eps)


def log_of_sums(x: Array, axes: Shape, keepdims: bool) -> Array | None:
    """logsumexp of float32 over axes; None where they are not one line in memory's order."""
    shape = rd.reduced_shape(x.shape, axes, keepdims)
    found = as_lines(x, axes)
    if found is None:
        return None
    op, job, order = found
    if order != tuple(range(x.ndim)):
        return None
    return reshape(routine("rows.logsumexp", [op], (job[0] * job[2],), float32, job, x.size), shape)


def floating(x: Any, name: str, dtype: Any) -> Array:
    """The operand in float32, float16 or bfloat16."""
    x = rd.prepared(x, name)
    want = rd.real_dtype(x) if dtype is None else as_dtype(dtype)
    if want.kind != "f":
        raise TypeError(f"{name}: needs real floats, not {want.name}")
    return astype(x, want, copy=False)


def _elements(name: str, x: Array, axes: Shape, extras: Sequence[tuple[int, Array]], eps: float) -> Array:
    if 0 in x.shape:
        return full(x.shape, 0, dtype=x.dtype)
    found = as_lines(x, axes)
    if found is None:
        x = copy_of(x)
        found = as_lines(x, axes)
        assert found is not None, "a copy is contiguous"
    op, job, order = found
    kinds = [k for k, _ in extras]
    job = (*job, unpack("<I", pack("<f", eps))[0], 0 in kinds, 1 in kinds)
    narrow = x.dtype is not float32
    want = x.dtype if job[6] or not narrow else float32
    made = tuple([x.shape[k] for k in order])
    out = routine(f"rows.{name}", [op, *[stored(e) for _, e in extras]], made, want, job)
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    if inverse != tuple(range(len(order))):
        out = view(out, permute(contiguous(made), inverse))
    return astype(out, x.dtype, copy=False)


def as_lines(x: Array, axes: Shape) -> tuple[Op, tuple[Any, ...], Shape] | None:
    """(stored operand, fields of routines.rows.Lines up to `vector`, order of the axes as they lie in memory), or None
    where the axes to go along, those before and those behind them are not evenly spaced each."""
    op, seen = source(x)
    lay: Layout = seen or op.layout
    if op.kind in (SCALAR, IOTA) and op.buffer is None:
        return None
    # the result lies as the operand does: axes by falling strides, those to go along together
    rank = x.ndim
    order = sorted(range(rank), key=lambda k: (-abs(lay.strides[k]), k))
    line = [k for k in order if k in axes]
    if tuple(line) != axes or any(lay.shape[k] > 1 and lay.strides[k] == 0 for k in range(rank)):
        order, line = list(range(rank)), list(axes)
    at = order.index(line[0])
    if order[at : at + len(line)] != line:
        return None
    groups = []
    for part in (order[:at], line, order[at + len(line) :]):
        dims, walks = collapse(tuple([lay.shape[k] for k in part]), [tuple([lay.strides[k] for k in part])])
        if len(dims) > 1:
            return None
        groups.append((dims[0], walks[0][0]) if dims else (1, 0))
    sizes = [g[0] for g in groups]
    strides = tuple([g[1] for g in groups])
    across = sizes[2] >= 16
    vector = _vector(sizes, strides, lay.offset, across)
    return op, (*sizes, lay.offset, strides, across, vector), tuple(order)


def _vector(sizes: list[int], strides: Shape, offset: int, across: bool) -> bool:
    """Whether four neighbours along the kernel's fast axis are one aligned quad in the operand and in the result."""
    outer, n, inner = sizes
    if not across and inner != 1:
        return False
    fast, other = (2, (n, strides[1])) if across else (1, (1, 0))
    aligned = all(size == 1 or stride % 4 == 0 for size, stride in ((outer, strides[0]), other))
    return not sizes[fast] % 4 and strides[fast] == 1 and not offset % 4 and aligned


__all__ = [
    "affine_lines",
    "as_lines",
    "floating",
    "grouped_lines",
    "lines_along",
    "log_of_sums",
    "unit_lines",
]
