"""Shapes, slices and copies under jax.lax's names: views where strides can say it, one launch where they cannot."""

from __future__ import annotations

import builtins
from math import prod
from operator import index as as_index
from typing import Any

from .. import layout as lo
from ..array import Array, view
from ..dtypes import as_dtype, bool_, float32, uint32
from ..ops import elementwise as ew
from ..ops import manipulation as views
from ..ops import triangles
from ..ops.creation import astype, full, positions
from ..ops.joining import concat
from ..ops.manipulation import addressable, moveaxis
from ..ops.padding import pad as pad_constant
from ..ops.rearranging import prepare
from .arithmetic import BITS

_slice = builtins.slice


def slice(operand: Any, start_indices: Any, limit_indices: Any, strides: Any = None) -> Array:  # lax's name
    """The view from start to limit (not included) in positive steps, an entry an axis; all within the operand."""
    x = prepare(operand, "slice")
    starts, limits = ([as_index(k) for k in given] for given in (start_indices, limit_indices))
    steps = [1] * x.ndim if strides is None else [as_index(k) for k in strides]
    if not len(starts) == len(limits) == len(steps) == x.ndim:
        raise ValueError(
            f"slice: {len(starts)} starts, {len(limits)} limits, {len(steps)} strides for shape {x.shape}"
        )
    for start, limit, step, n in zip(starts, limits, steps, x.shape, strict=True):
        if not 0 <= start <= limit <= n or step < 1:
            raise ValueError(
                f"slice: starts {tuple(starts)}, limits {tuple(limits)}, strides {tuple(steps)} do not lie within "
                f"shape {x.shape}, ascending"
            )
    picks = zip(starts, limits, steps, strict=True)
    return views.getitem(x, tuple([_slice(a, b, s) for a, b, s in picks]))


def slice_in_dim(
    operand: Any, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0
) -> Array:
    """The view of part of one axis; negative positions count from the end, None is the end, as in Python."""
    x = prepare(operand, "slice_in_dim")
    at = lo.normalize_axis(axis, x.ndim, "slice_in_dim")
    start, limit, _ = _slice(start_index, limit_index).indices(x.shape[at])
    starts, limits, steps = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[at], limits[at], steps[at] = start, max(start, limit), as_index(stride)
    return slice(x, starts, limits, steps)


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """The view of one slice; IndexError out of range, negative ones count from the end."""
    x = prepare(operand, "index_in_dim")
    at = lo.normalize_axis(axis, x.ndim, "index_in_dim")
    key = (*[_slice(None)] * at, as_index(index))
    made = views.getitem(x, key)
    return views.expand_dims(made, axis=at) if keepdims else made


def concatenate(operands: Any, dimension: int) -> Array:
    """Arrays of one dtype behind one another along an axis."""
    given = [prepare(x, "concatenate") for x in operands]
    if not given:
        raise ValueError("concatenate: no operands")
    if len({x.dtype for x in given}) > 1:
        raise TypeError(f"concatenate: operands of one dtype, not {', '.join(x.dtype.name for x in given)}")
    return concat(given, axis=dimension)


def pad(operand: Any, padding_value: Any, padding_config: Any) -> Array:
    """padding_value before, behind and between elements: (low, high, interior) for each axis; negative low and high cut
    off, counted after the interior. One launch; two for a padding_value on the GPU (a 0-d Array)."""
    x = prepare(operand, "pad")
    config = [tuple(as_index(k) for k in axis) for axis in padding_config]
    if len(config) != x.ndim or any(len(axis) != 3 or axis[2] < 0 for axis in config):
        raise ValueError(
            f"pad: needs (low, high, interior >= 0) for each axis of {x.shape}, not {padding_config}"
        )
    shape = tuple(
        low + max(0, n + (n - 1) * k) + high for n, (low, high, k) in zip(x.shape, config, strict=True)
    )
    if min(shape, default=0) < 0:
        raise ValueError(f"pad: {padding_config} leaves sizes {shape} of shape {x.shape}")
    addressable(shape, "pad")
    if isinstance(padding_value, Array):
        if padding_value.ndim:
            raise ValueError(f"pad: padding_value is a scalar, its shape is {padding_value.shape}")
        zero: Any = False if x.dtype is bool_ else 0
        return ew.where(_inside(x.shape, shape, config), pad(x, zero, config), astype(padding_value, x.dtype))
    value = padding_value.item() if hasattr(padding_value, "item") else padding_value
    if not x.size or 0 in shape:
        return full(shape, value, dtype=x.dtype)
    # An axis with an interior is one of blocks: an element and what follows it.
    blocks: list[int] = []
    widths: list[tuple[int, int]] = []
    merged: list[int] = []
    keys: list[Any] = []
    for n, (low, high, k) in zip(x.shape, config, strict=True):
        front = max(low, 0)
        tail = max(0, -(-(high - k + front % (k + 1)) // (k + 1)))
        blocks.append(n)
        widths.append((front // (k + 1), tail))
        size = (front // (k + 1) + n + tail) * (k + 1)
        if k:
            blocks.append(1)
            widths.append((front % (k + 1), k - front % (k + 1)))
        merged.append(size)
        start = front - low
        keys.append(_slice(start, start + low + n + (n - 1) * k + high))
    made = pad_constant(views.reshape(x, tuple(blocks)), widths, constant_values=value)
    return views.getitem(views.reshape(made, tuple(merged)), tuple(keys))


def _inside(old: lo.Shape, shape: lo.Shape, config: Any) -> Any:
    """Which elements of a padded array are the operand's; without memory until something stores it."""
    inside: Any = True
    for d, (n, (low, _, k)) in enumerate(zip(old, config, strict=True)):
        at = ew.subtract(positions(shape[d]), low)
        own = ew.logical_and(ew.greater_equal(at, 0), ew.less(at, max(0, n + (n - 1) * k)))
        if k:
            own = ew.logical_and(own, ew.equal(ew.remainder(at, k + 1), 0))
        inside = ew.logical_and(views.reshape(own, (-1,) + (1,) * (len(shape) - d - 1)), inside)
    return inside


def rev(operand: Any, dimensions: Any) -> Array:
    """A view with axes reversed."""
    return views.flip(prepare(operand, "rev"), axis=tuple(dimensions))


def broadcast(operand: Any, sizes: Any) -> Array:
    """A view with new leading axes of the given sizes."""
    x = prepare(operand, "broadcast")
    return views.broadcast_to(x, (*lo.as_shape(sizes, "broadcast"), *x.shape))


def broadcast_in_dim(operand: Any, shape: Any, broadcast_dimensions: Any) -> Array:
    """A view of the given shape in which axis i of the operand is axis broadcast_dimensions[i]; all else repeats it.

    Sizes must be equal or 1; the dimensions ascending.
    """
    x, target = prepare(operand, "broadcast_in_dim"), lo.as_shape(shape, "broadcast_in_dim")
    at = [as_index(k) for k in broadcast_dimensions]
    fits = len(at) == x.ndim and all(0 <= k < len(target) for k in at) and at == sorted(set(at))
    if not fits or any(n not in (1, target[k]) for n, k in zip(x.shape, at, strict=True)):
        raise ValueError(
            f"broadcast_in_dim: shape {x.shape} does not broadcast to {target} by dimensions {tuple(at)}"
        )
    sizes, steps = [1] * len(target), [0] * len(target)
    for n, s, k in zip(x.shape, x._layout.strides, at, strict=True):
        sizes[k], steps[k] = n, s
    return view(x, lo.broadcast_to(lo.Layout(tuple(sizes), tuple(steps), x._layout.offset), target))


def iota(dtype: Any, size: int) -> Array:
    """0, 1, .. size - 1."""
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(dtype: Any, shape: Any, dimension: int) -> Array:
    """0, 1, .. along one axis, repeated along the others; it takes no memory until something stores it."""
    target = lo.as_shape(shape, "broadcasted_iota")
    at = lo.normalize_axis(dimension, len(target), "broadcasted_iota")
    line = astype(positions(target[at]), as_dtype(dtype), copy=False)
    return broadcast_in_dim(line, target, (at,))


def reshape(operand: Any, new_sizes: Any, dimensions: Any = None) -> Array:
    """The elements, row-major (of the axes in the order `dimensions`), in another shape; a view where possible. First
    axis first, as in Fortran: tg.reshape(order="F")."""
    x = prepare(operand, "reshape")
    return views.reshape(x if dimensions is None else views.permute_dims(x, dimensions), tuple(new_sizes))


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """Neighbouring axes as one."""
    x = prepare(operand, "collapse")
    low, high, _ = _slice(start_dimension, stop_dimension).indices(x.ndim)
    if low >= high:
        raise ValueError(f"collapse: no axes from {start_dimension} to {stop_dimension} of shape {x.shape}")
    return views.reshape(x, (*x.shape[:low], prod(x.shape[low:high]), *x.shape[high:]))


def transpose(operand: Any, permutation: Any) -> Array:
    """A view with the axes in another order. ValueError for what is no permutation."""
    return views.permute_dims(prepare(operand, "transpose"), tuple(permutation))


def squeeze(array: Any, dimensions: Any) -> Array:
    """A view without the given size-1 axes."""
    return views.squeeze(prepare(array, "squeeze"), axis=tuple(dimensions))


def expand_dims(array: Any, dimensions: Any) -> Array:
    """A view with size-1 axes at the given positions of the result."""
    return views.expand_dims(prepare(array, "expand_dims"), axis=tuple(dimensions))


def full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Array:
    """One value in the shape and dtype of x, or in those given."""
    of = prepare(x, "full_like")
    return full(of.shape if shape is None else shape, fill_value, dtype=of.dtype if dtype is None else dtype)


# --- diagonals and triangles ------------------------------------------------------------------------------------


def extract_diagonal(operand: Any, axis1: int = 0, axis2: int = 1, offset: int = 0) -> Array:
    """The diagonal of two axes as a view; it becomes the last axis (numpy.diagonal)."""
    return triangles.diagonal(prepare(operand, "extract_diagonal"), offset, axis1, axis2)


def embed_diagonal(operand: Any, axis1: int = -2, axis2: int = -1, offset: int = 0) -> Array:
    """The last axis as the diagonal of two axes of the result, zeros beside it (torch.diag_embed). One launch."""
    x = prepare(operand, "embed_diagonal")
    if not x.ndim:
        raise ValueError("embed_diagonal: needs at least 1 axis, shape is ()")
    a, b = (lo.normalize_axis(k, x.ndim + 1, "embed_diagonal") for k in (axis1, axis2))
    if a == b:
        raise ValueError(f"embed_diagonal: axis1 and axis2 are both {axis1}")
    k = as_index(offset)
    n = x.shape[-1] + abs(k)
    shape = addressable((*x.shape[:-1], n, n), "embed_diagonal")
    zero: Any = False if x.dtype is bool_ else 0
    if not x.size:
        return moveaxis(full(shape, zero, dtype=x.dtype), (-2, -1), (a, b))
    wide = (*x.shape[:-1], n)
    seen = x._layout
    # Row i (k > 0) or column j (k <= 0) of the diagonal reads element i or j; those behind the last read it again.
    if k:
        line = pad_constant(x, [(0, 0)] * (x.ndim - 1) + [(0, abs(k))], constant_values=zero)
        seen = line._layout
        x = line
    strides = (
        (*seen.strides[:-1], seen.strides[-1], 0) if k > 0 else (*seen.strides[:-1], 0, seen.strides[-1])
    )
    spread = view(x, lo.Layout((*wide, n), strides, seen.offset))
    on = ew.equal(ew.add(views.expand_dims(positions(n), axis=1), k), positions(n))
    return moveaxis(ew.where(on, spread, zero), (-2, -1), (a, b))


# --- dtypes -----------------------------------------------------------------------------------------------------


def convert_element_type(operand: Any, new_dtype: Any) -> Array:
    """The values in another dtype, whatever is lost: floats truncate and saturate, integers wrap, of complex numbers
    the real part stays, bool is whether not 0."""
    x, want = prepare(operand, "convert_element_type"), as_dtype(new_dtype)
    if x.dtype.kind == "c" and want.kind in "iuf":
        x = ew.real(x)
    return astype(x, want, copy=False)


def convert(operand: Any, new_dtype: Any) -> Array:
    """The values in another dtype that holds all of them; TypeError where one could be lost (int32 to float32, float32
    to float16, complex64 to float32 ..)."""
    from ..ops.dtype_functions import can_cast

    x, want = prepare(operand, "convert"), as_dtype(new_dtype)
    if not can_cast(x.dtype, want, "safe"):
        raise TypeError(f"convert: {want.name} does not hold all of {x.dtype.name}; use convert_element_type")
    return astype(x, want, copy=False)


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Array:
    """The same bits as another dtype: one launch that copies words.

    To a narrower dtype the result has a last axis of as many as fit; to a wider one the operand's last axis must be
    that. bool is refused: not all bits are values of it.
    """
    from ..ops.routine import routine, stored

    x, want = prepare(operand, "bitcast_convert_type"), as_dtype(new_dtype)
    if bool_ in (x.dtype, want):
        if x.dtype is want:
            return x
        raise TypeError(f"bitcast_convert_type: {x.dtype.name} to {want.name}: bool has no bits of its own")
    have, need = x.dtype.itemsize, want.itemsize
    shape = x.shape
    if have > need:
        shape = (*shape, have // need)
    elif have < need:
        if not shape or shape[-1] != need // have:
            raise ValueError(
                f"bitcast_convert_type: {x.dtype.name} {shape} to {want.name} needs a last axis of {need // have}"
            )
        shape = shape[:-1]
    if not x.size:
        return full(shape, 0, dtype=want)
    return routine("bitcast", [stored(x)], shape, want)


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Array:
    """float32 values rounded (to nearest, halves to even) to those of a format with so many bits; what is too large
    becomes inf, what would be denormal there 0. One launch."""
    x = prepare(operand, "reduce_precision")
    if x.dtype.kind != "f":
        raise TypeError(f"reduce_precision: takes floats, not {x.dtype.name}")
    e, m = as_index(exponent_bits), as_index(mantissa_bits)
    if e < 1 or m < 0:
        raise ValueError(f"reduce_precision: {e} exponent bits and {m} mantissa bits")
    bits = BITS["uint32"](astype(x, float32, copy=False))
    sign = ew.bitwise_and(bits, 1 << 31)
    size = ew.bitwise_and(bits, 0x7FFFFFFF)
    rounded = size
    if m < 23:
        drop = 23 - m
        odd = ew.bitwise_and(ew.right_shift(size, drop), 1)
        rounded = ew.bitwise_and(ew.add(ew.add(size, (1 << drop - 1) - 1), odd), (1 << 31) - (1 << drop))
    if e < 8:
        bias = (1 << e - 1) - 1
        top = (127 + bias + 1) << 23
        rounded = ew.where(ew.greater_equal(rounded, top), 0x7F800000, rounded)
        rounded = ew.where(ew.less(rounded, (127 - bias + 1) << 23), 0, rounded)
    rounded = ew.where(ew.greater(size, 0x7F800000), size, rounded)  # NaN stays
    made: Array = BITS["float32"](astype(ew.bitwise_or(rounded, sign), uint32, copy=False))
    return astype(made, x.dtype, copy=False)
