"""gather and scatter with XLA's dimension numbers, and slices whose starts are on the GPU. One launch each, a write
after the copy of the operand. Out of range: reads are clamped, scattered updates dropped; negatives never wrap."""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from ..array import Array, fresh, view
from ..dtypes import DType
from ..layout import Layout, Shape, as_shape, normalize_axis
from ..layout import index as view_of
from ..ops.creation import astype, copy_of, zeros
from ..ops.dtype_functions import iinfo
from ..ops.indexing import gathered, updated
from ..ops.manipulation import addressable, expand_dims, reshape
from ..ops.rearranging import prepare
from ..ops.taking import COMBINE
from .index_maps import (
    MOST,
    GatherScatterMode,
    Numbers,
    Start,
    check,
    expected,
    fail,
    index_array,
    numbers,
    overlapping,
    part,
    placed,
    target,
    whole,
)

_DROP = GatherScatterMode.FILL_OR_DROP
_LAST, _ALL = slice(-1, None), slice(None)


def gather(
    operand: Any, start_indices: Any, dimension_numbers: Any, slice_sizes: Any, *, unique_indices: bool = False,
    indices_are_sorted: bool = False, mode: Any = None, fill_value: Any = None, index_vector_dim: int | None = None,
) -> Array:  # fmt: skip
    """Windows of slice_sizes at start_indices of the operand, XLA's gather; one launch.

    start_indices: (.., parts of an index), integers; index_vector_dim: another axis of the parts (its rank: one part,
    no axis). mode: "clip" (default: windows are moved inside), "fill" (a window that is not inside is fill_value: NaN,
    the least signed or the greatest unsigned integer, True), "promise_in_bounds". Negative indices do not wrap.
    """
    x, index = prepare(operand, "gather"), index_array(start_indices, "gather", index_vector_dim)
    dims, sizes = numbers(dimension_numbers), as_shape(slice_sizes, "gather")
    if len(sizes) != x.ndim or any(s > n for s, n in zip(sizes, x.shape, strict=False)):
        raise fail("gather", f"slice_sizes {sizes} do not fit", x.shape, index.shape)
    rank = index.ndim - 1 + len(dims.window)
    kept = check("gather", dims, x.shape, index.shape, rank)
    if any(sizes[k] > 1 for k in (*dims.missing, *dims.batching)):
        raise fail("gather", f"collapsed and batching dims need slice size 1, not {sizes}", x.shape)
    shape = expected("gather", index.shape[:-1], dims, tuple(sizes[k] for k in kept))
    addressable(shape, "gather")
    how = GatherScatterMode.from_any(mode)
    if len(dims.mapped) > MOST:
        x = whole(x)
    if 0 in shape:
        return zeros(shape, dtype=x.dtype)
    drop = how is _DROP
    words = _words(_missing(x.dtype) if fill_value is None else fill_value, x.dtype) if drop else (0, 0)
    return gathered(x, target(x, index, dims, kept, sizes, shape, "drop" if drop else "clip", words))


def _missing(dtype: DType) -> Any:
    """What a read out of range gives."""
    if dtype.kind in "fc":
        return float("nan")
    if dtype.kind == "b":
        return True
    info = iinfo(dtype)
    return info.min if dtype.kind == "i" else info.max


def _words(value: Any, dtype: DType) -> tuple[int, int]:
    """A Python number as the words of one element."""
    import struct

    if dtype.kind == "c":
        value = complex(value)
        one, two = struct.unpack("<II", struct.pack("<ff", value.real, value.imag))
        return one, two
    if dtype.kind == "f":
        if dtype.name == "float16":
            return int.from_bytes(struct.pack("<e", value), "little"), 0
        word = int.from_bytes(struct.pack("<f", value), "little")
        return (word if dtype.per_word == 1 else word >> 16), 0
    return int(value) & (1 << 8 * dtype.itemsize) - 1, 0


def scatter(
    operand: Any, scatter_indices: Any, updates: Any, dimension_numbers: Any, *, indices_are_sorted: bool = False,
    unique_indices: bool = False, mode: Any = None, index_vector_dim: int | None = None,
) -> Array:  # fmt: skip
    """The operand with windows at scatter_indices set to the updates; the last of those for an element wins.

    mode: "drop" (default: a window that is not inside is not written at all), "clip" (it is moved inside),
    "promise_in_bounds". unique_indices: that no element is written twice, which saves a pass.
    """
    return _scatter(
        "", operand, scatter_indices, updates, dimension_numbers, unique_indices, mode, index_vector_dim
    )


def scatter_add(
    operand: Any, scatter_indices: Any, updates: Any, dimension_numbers: Any, *, indices_are_sorted: bool = False,
    unique_indices: bool = False, mode: Any = None, index_vector_dim: int | None = None,
) -> Array:  # fmt: skip
    """The operand with the updates added to windows at scatter_indices; every duplicate counts, floats in any order."""
    return _scatter(
        "add", operand, scatter_indices, updates, dimension_numbers, unique_indices, mode, index_vector_dim
    )


def scatter_sub(
    operand: Any, scatter_indices: Any, updates: Any, dimension_numbers: Any, *, indices_are_sorted: bool = False,
    unique_indices: bool = False, mode: Any = None, index_vector_dim: int | None = None,
) -> Array:  # fmt: skip
    """As scatter_add, subtracted."""
    return _scatter("subtract", operand, scatter_indices, updates, dimension_numbers, unique_indices, mode,
                    index_vector_dim)  # fmt: skip


def scatter_mul(
    operand: Any, scatter_indices: Any, updates: Any, dimension_numbers: Any, *, indices_are_sorted: bool = False,
    unique_indices: bool = False, mode: Any = None, index_vector_dim: int | None = None,
) -> Array:  # fmt: skip
    """As scatter_add, multiplied. TypeError for complex64, of which no product is one atomic step."""
    return _scatter("multiply", operand, scatter_indices, updates, dimension_numbers, unique_indices, mode,
                    index_vector_dim)  # fmt: skip


def scatter_min(
    operand: Any, scatter_indices: Any, updates: Any, dimension_numbers: Any, *, indices_are_sorted: bool = False,
    unique_indices: bool = False, mode: Any = None, index_vector_dim: int | None = None,
) -> Array:  # fmt: skip
    """As scatter_add, the lesser of both; NaN if either is."""
    return _scatter("minimum", operand, scatter_indices, updates, dimension_numbers, unique_indices, mode,
                    index_vector_dim)  # fmt: skip


def scatter_max(
    operand: Any, scatter_indices: Any, updates: Any, dimension_numbers: Any, *, indices_are_sorted: bool = False,
    unique_indices: bool = False, mode: Any = None, index_vector_dim: int | None = None,
) -> Array:  # fmt: skip
    """As scatter_add, the greater of both; NaN if either is."""
    return _scatter("maximum", operand, scatter_indices, updates, dimension_numbers, unique_indices, mode,
                    index_vector_dim)  # fmt: skip


def _scatter(
    name: str, operand: Any, indices: Any, updates: Any, dimension_numbers: Any, unique: bool, mode: Any,
    vector_dim: int | None,
) -> Array:  # fmt: skip
    where = f"scatter_{name}".rstrip("_")
    x, index = prepare(operand, where), index_array(indices, where, vector_dim)
    new = prepare(updates, where)
    dims = numbers(dimension_numbers)
    kept = check(where, dims, x.shape, index.shape, new.ndim)
    sizes = [1] * x.ndim
    if any(d >= new.ndim for d in dims.window):
        raise fail(
            where, f"window dims {dims.window} are not axes of the updates", x.shape, index.shape, new.shape
        )
    for d, k in zip(dims.window, kept, strict=True):
        sizes[k] = new.shape[d]
    shape = expected(where, index.shape[:-1], dims, tuple(sizes[k] for k in kept))
    if shape != new.shape or any(s > n for s, n in zip(sizes, x.shape, strict=True)):
        raise fail(
            where, f"updates must have shape {shape} and fit the operand", x.shape, index.shape, new.shape
        )
    how = GatherScatterMode.from_any(mode) or _DROP
    at = "clip" if how is GatherScatterMode.CLIP else "drop"
    if name == "subtract":
        from ..ops.elementwise import negative

        name, new = "add", negative(new)
    return written(x, new, dims, kept, tuple(sizes), index, at, name, unique)


def written(
    x: Array, new: Array, dims: Numbers, kept: tuple[int, ...], sizes: Shape, index: Array, mode: str, name: str,
    unique: bool,
) -> Array:  # fmt: skip
    """A copy of x with updates in it."""
    expr = "" if not name else COMBINE[name].get(x.dtype.kind, "")
    if name and not expr:
        raise TypeError(f"scatter: {name} is not defined for {x.dtype.name}")
    if not new.size:
        return copy_of(x)
    x = whole(x)
    place = target(x, index, dims, kept, sizes, new.shape, mode)
    new = astype(new, x.dtype, copy=False)
    if not name:  # of updates along axes that no index depends on, the last is the one that counts
        still = [
            not (s or any(p.layout.strides[d] for p in place.at.picks))
            for d, s in enumerate(place.at.base.strides)
        ]
        key = tuple(_LAST if same else _ALL for same in still)
        new, place = view(new, view_of(new._layout, key)), part(place, key)
    made = Array(x.dtype, x._layout, x._cell)
    return fresh(updated(made._cell, place, new, expr, unique, True, overlapping(dims, sizes)))


# --- slices with starts on the GPU ------------------------------------------------------------------------------


def _starts(given: Any, rank: int, where: str) -> list[Any]:
    """A start for each axis: host integers, or 0-d Arrays of integers."""
    if isinstance(given, Array):
        if given.shape != (rank,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"{where}: starts are {rank} integers, not {given.dtype.name} of shape {given.shape}"
            )
        return [view(given, view_of(given._layout, k)) for k in range(rank)]
    starts = list(given)
    if len(starts) != rank:
        raise ValueError(f"{where}: {len(starts)} starts for {rank} axes")
    for start in starts:
        if isinstance(start, Array) and (start.ndim or start.dtype.kind not in "iu"):
            raise ValueError(f"{where}: a start is an integer, not {start.dtype.name} of shape {start.shape}")
    return [s if isinstance(s, Array) else as_index(s) for s in starts]


def _moved(x: Array, starts: list[Any], sizes: Shape) -> tuple[Layout, list[Start]]:
    """The block of the given sizes at the clamped starts: what is known here, and what moves it."""
    offset, moving = x._layout.offset, []
    for start, n, size, stride in zip(starts, x.shape, sizes, x._layout.strides, strict=True):
        if isinstance(start, Array):
            still = view(start, Layout(sizes, (0,) * len(sizes), start._layout.offset))
            moving.append(Start(still, n - size + 1, stride))
        else:
            offset += min(max(start, 0), n - size) * stride
    return Layout(sizes, x._layout.strides, offset), moving


def dynamic_slice(operand: Any, start_indices: Any, slice_sizes: Any) -> Array:
    """A block of slice_sizes at start_indices, which are clamped so that it fits; negative ones do not wrap.

    start_indices: one integer an axis, on the host or 0-d Arrays, or an Array of them. One launch; a view if all are on
    the host.
    """
    x, sizes = prepare(operand, "dynamic_slice"), as_shape(slice_sizes, "dynamic_slice")
    starts = _starts(start_indices, x.ndim, "dynamic_slice")
    if len(sizes) != x.ndim or any(s > n for s, n in zip(sizes, x.shape, strict=False)):
        raise ValueError(f"dynamic_slice: slice_sizes {sizes} do not fit the operand's shape {x.shape}")
    if 0 in sizes:
        return zeros(sizes, dtype=x.dtype)
    if x.ndim > MOST:
        x = whole(x)
    base, moving = _moved(x, starts, sizes)
    return gathered(x, placed(base, moving, "clip")) if moving else view(x, base)


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any) -> Array:
    """A copy of the operand with update at start_indices, which are clamped so that it fits. `a[i:j] = x` writes in
    place."""
    x, new = prepare(operand, "dynamic_update_slice"), prepare(update, "dynamic_update_slice")
    starts = _starts(start_indices, x.ndim, "dynamic_update_slice")
    if new.ndim != x.ndim or any(s > n for s, n in zip(new.shape, x.shape, strict=False)):
        raise ValueError(f"dynamic_update_slice: update of shape {new.shape} does not fit into {x.shape}")
    if not new.size:
        return copy_of(x)
    x = whole(x)
    base, moving = _moved(x, starts, new.shape)
    made = Array(x.dtype, x._layout, x._cell)
    place = placed(base, moving, "clip")
    return fresh(updated(made._cell, place, astype(new, x.dtype, copy=False), "", True, True))


def _one(x: Array, axis: int, start: Any, where: str) -> tuple[int, list[Any]]:
    at = normalize_axis(axis, x.ndim, where)
    return at, [start if k == at else 0 for k in range(x.ndim)]


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0) -> Array:
    """dynamic_slice along one axis."""
    x = prepare(operand, "dynamic_slice_in_dim")
    at, starts = _one(x, axis, start_index, "dynamic_slice_in_dim")
    return dynamic_slice(
        x, starts, tuple(as_index(slice_size) if k == at else n for k, n in enumerate(x.shape))
    )


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Array:
    """The slice at a (clamped) index along one axis."""
    x = prepare(operand, "dynamic_index_in_dim")
    made = dynamic_slice_in_dim(x, index, 1, axis)
    if keepdims:
        return made
    at = normalize_axis(axis, x.ndim, "dynamic_index_in_dim")
    return reshape(made, (*made.shape[:at], *made.shape[at + 1 :]))


def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: int) -> Array:
    """dynamic_update_slice along one axis."""
    x = prepare(operand, "dynamic_update_slice_in_dim")
    _, starts = _one(x, axis, start_index, "dynamic_update_slice_in_dim")
    return dynamic_update_slice(x, update, starts)


def dynamic_update_index_in_dim(operand: Any, update: Any, index: Any, axis: int) -> Array:
    """The operand with one slice along an axis replaced; the update may lack that axis."""
    x, new = prepare(operand, "dynamic_update_index_in_dim"), prepare(update, "dynamic_update_index_in_dim")
    at = normalize_axis(axis, x.ndim, "dynamic_update_index_in_dim")
    if new.ndim == x.ndim - 1:
        new = expand_dims(new, axis=at)
    return dynamic_update_slice_in_dim(x, new, index, at)
