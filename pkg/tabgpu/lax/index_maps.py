"""What gather, scatter and dynamic slices share: XLA's dimension numbers, checked, and windows as indexed reads.

The elements of a window lie at strides from its start, and starts are arrays of indices along axes: that is what the
indexed kernels walk (indexed.py), so each operation is one launch, with the copy of the operand before a write.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from operator import index as as_index
from typing import Any, NamedTuple

from ..array import Array, source, view
from ..dtypes import int32
from ..graph import IOTA, SCALAR
from ..indexed import Indexed, Pick
from ..layout import Layout, Shape
from ..layout import index as view_of
from ..ops import elementwise as ew
from ..ops.creation import astype, copy_of
from ..ops.indexing import Target
from ..ops.manipulation import reshape
from ..ops.rearranging import prepare

MOST = 5  # arrays of indices a kernel binds beside the array, the values, who writes and the result: 8 are promised


class GatherScatterMode(Enum):
    """What an index out of range does: CLIP moves the window inside, FILL_OR_DROP reads a fill value or writes nothing,
    PROMISE_IN_BOUNDS: there is none (they are clipped, or dropped)."""

    CLIP = 0
    FILL_OR_DROP = 1
    PROMISE_IN_BOUNDS = 2

    @classmethod
    def from_any(cls, mode: Any) -> GatherScatterMode | None:
        """A mode from itself or one of the names clip, fill, drop, promise_in_bounds; None stays."""
        if mode is None or isinstance(mode, cls):
            return mode
        found = {"clip": cls.CLIP, "fill": cls.FILL_OR_DROP, "drop": cls.FILL_OR_DROP}.get(mode)
        if found is None and mode == "promise_in_bounds":
            found = cls.PROMISE_IN_BOUNDS
        if found is None:
            raise ValueError(f"mode {mode!r} is none of clip, fill, drop, promise_in_bounds")
        return found


class GatherDimensionNumbers(NamedTuple):
    """offset_dims: axes of the result that walk through a window; collapsed_slice_dims: axes of the operand, of window
    size 1, that the result lacks; start_index_map: which axis of the operand each part of an index is for; batching
    dims: axes of the operand and of the indices that go together."""

    offset_dims: Sequence[int]
    collapsed_slice_dims: Sequence[int]
    start_index_map: Sequence[int]
    operand_batching_dims: Sequence[int] = ()
    start_indices_batching_dims: Sequence[int] = ()


class ScatterDimensionNumbers(NamedTuple):
    """update_window_dims: axes of the updates that walk through a window; inserted_window_dims: axes of the operand
    that the updates lack; scatter_dims_to_operand_dims: which axis each part of an index is for; batching dims: axes of
    the operand and of the indices that go together."""

    update_window_dims: Sequence[int]
    inserted_window_dims: Sequence[int]
    scatter_dims_to_operand_dims: Sequence[int]
    operand_batching_dims: Sequence[int] = ()
    scatter_indices_batching_dims: Sequence[int] = ()


class Numbers(NamedTuple):
    """Dimension numbers of either, under one name each."""

    window: tuple[int, ...]
    missing: tuple[int, ...]
    mapped: tuple[int, ...]
    batching: tuple[int, ...]
    index_batching: tuple[int, ...]


def numbers(given: Sequence[Any]) -> Numbers:
    """Dimension numbers as tuples of ints."""
    return Numbers(*(tuple(as_index(k) for k in part) for part in given))


def fail(where: str, text: str, *shapes: Shape) -> ValueError:
    """The error of dimension numbers that do not fit."""
    return ValueError(f"{where}: {text} (shapes {', '.join(map(str, shapes))})")


def index_array(given: Any, where: str, vector_dim: int | None = None) -> Array:
    """Indices as an Array of integers whose last axis holds the parts of an index."""
    index = prepare(given, where)
    if index.dtype.kind not in "iu":
        raise TypeError(f"{where}: indices must be integers, not {index.dtype.name}")
    if vector_dim is not None and vector_dim != index.ndim - 1:
        from ..ops.manipulation import moveaxis

        return (
            reshape(index, (*index.shape, 1)) if vector_dim == index.ndim else moveaxis(index, vector_dim, -1)
        )
    if not index.ndim:
        raise ValueError(f"{where}: indices need an axis that holds the parts of an index; shape is ()")
    return index


def check(where: str, dims: Numbers, operand: Shape, index: Shape, rank: int) -> tuple[int, ...]:
    """The operand's axes that windows keep; ValueError where dimension numbers contradict. rank: of the space."""
    given = (operand, index)
    lost = (*dims.missing, *dims.batching)
    kept = tuple(k for k in range(len(operand)) if k not in lost)
    for what, axes, limit in (
        ("window dims", dims.window, rank),
        ("collapsed or inserted dims", dims.missing, len(operand)),
        ("mapped dims", dims.mapped, len(operand)),
        ("operand batching dims", dims.batching, len(operand)),
        ("indices batching dims", dims.index_batching, len(index) - 1),
    ):
        if len(set(axes)) != len(axes) or any(not 0 <= k < limit for k in axes):
            raise fail(where, f"{what} {axes} are not distinct axes below {limit}", *given)
    for what, axes in (("window dims", dims.window), ("collapsed or inserted dims", dims.missing)):
        if list(axes) != sorted(axes):
            raise fail(where, f"{what} {axes} must be sorted", *given)
    if set(dims.missing) & set(dims.batching) or set(dims.mapped) & set(dims.batching):
        raise fail(where, f"batching dims {dims.batching} are collapsed, inserted or mapped too", *given)
    if len(kept) != len(dims.window):
        raise fail(
            where, f"{len(dims.window)} window dims for the {len(kept)} axes {kept} of a window", *given
        )
    if len(dims.mapped) != index[-1]:
        raise fail(where, f"{len(dims.mapped)} mapped dims for indices of {index[-1]} parts", *given)
    pairs = [(operand[a], index[b]) for a, b in zip(dims.batching, dims.index_batching, strict=False)]
    if len(dims.batching) != len(dims.index_batching) or any(n != m for n, m in pairs):
        raise fail(
            where, f"batching dims {dims.batching} and {dims.index_batching} do not go together", *given
        )
    return kept


def target(
    x: Array, index: Array, dims: Numbers, kept: tuple[int, ...], sizes: Shape, shape: Shape, mode: str,
    fill: tuple[int, int] = (0, 0),
) -> Target:  # fmt: skip
    """The elements of x (read where they lie) that each element of a space means. sizes: of a window, by x's axis."""
    base, at = [0] * len(shape), [0] * len(shape)
    window = dict(zip(dims.window, kept, strict=True))
    batch = [d for d in range(len(shape)) if d not in window]
    walks = x._layout.strides
    for d, k in window.items():
        base[d] = walks[k]
    for position, d in enumerate(batch):
        at[d] = index._layout.strides[position]
        if position in dims.index_batching:
            base[d] = walks[dims.batching[dims.index_batching.index(position)]]
    starts = [
        Start(
            view(
                index,
                Layout(shape, tuple(at), index._layout.offset + j * index._layout.strides[-1]),
            ),
            x.shape[k] - sizes[k] + 1,
            walks[k],
        )
        for j, k in enumerate(dims.mapped)
    ]
    return placed(Layout(shape, tuple(base), x._layout.offset), starts, mode, fill)


class Start(NamedTuple):
    """Starts along an axis: indices as the space reads them, how many there are to choose from, their distance."""

    at: Array
    n: int
    stride: int


def placed(base: Layout, starts: list[Start], mode: str, fill: tuple[int, int] = (0, 0)) -> Target:
    """A Target of a space whose elements lie at base, moved by starts."""
    if len(starts) > MOST:
        starts = [_flat(starts, mode)]
    picks, arrays = [], []
    for start in starts:
        op, seen = source(start.at)
        index = start.at
        if op.kind in (SCALAR, IOTA) and op.buffer is None:
            index = copy_of(index)
            op, seen = source(index)
        picks.append(Pick(start.n, start.stride, seen or op.layout))
        arrays.append(index)
    return Target(base.shape, Indexed(base, tuple(picks), mode, fill), tuple(arrays), ())


def _flat(starts: list[Start], mode: str) -> Start:
    """Many starts as one, of single elements: -1 where one is out of range and that matters."""
    total: Any = 0
    inside: Any = True
    for index, n, stride in starts:
        if index.dtype.kind == "u":
            index = ew.minimum(index, (1 << min(31, 8 * index.dtype.itemsize)) - 1)
        i = astype(index, int32, copy=False)
        near = ew.clip(i, 0, n - 1)
        if mode == "drop":
            inside = ew.logical_and(ew.equal(i, near), inside)
        total = ew.add(ew.multiply(near, stride), total)
    return Start(ew.where(inside, total, -1), 0x7FFFFFFF, 1)


def part(place: Target, key: Any) -> Target:
    """A Target for part of its space."""
    base = view_of(place.at.base, key)
    picks = tuple(p._replace(layout=view_of(p.layout, key)) for p in place.at.picks)
    return place._replace(shape=base.shape, at=place.at._replace(base=base, picks=picks))


def overlapping(dims: Numbers, sizes: Shape) -> bool:
    """Whether windows at different starts may hold the same element."""
    return any(sizes[k] > 1 for k in dims.mapped) or len(dims.mapped) > MOST


def expected(where: str, batch: Shape, dims: Numbers, window: Shape) -> Shape:
    """The shape of gathered windows: batch axes around the window's."""
    rank = len(batch) + len(dims.window)
    if any(not 0 <= d < rank for d in dims.window):
        raise ValueError(f"{where}: window dims {dims.window} are not axes of a result of {rank} axes")
    inner = dict(zip(dims.window, window, strict=True))
    outer = iter(batch)
    return tuple(inner[d] if d in inner else next(outer) for d in range(rank))


def whole(x: Array) -> Array:
    """x itself if it is all of its memory in order, else a copy: what a write begins with."""
    return x if x._layout == x._cell.op.layout else copy_of(x)
