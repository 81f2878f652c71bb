"""Pure integer algebra on (shape, strides, offset), strides counted in elements. No arrays, no devices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from operator import index as as_index
from typing import Any, NamedTuple

from .errors import AxisError

Shape = tuple[int, ...]


class Layout(NamedTuple):
    """Where a view's elements lie in its buffer: (i, j, ..) is at offset + i*strides[0] + j*strides[1] .."""

    shape: Shape
    strides: Shape
    offset: int = 0


@lru_cache(4096)
def contiguous(shape: Shape) -> Layout:
    """The row-major layout of a shape."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return Layout(shape, tuple(reversed(strides)), 0)


def is_contiguous(a: Layout) -> bool:
    """Row-major without gaps, whatever the strides of size-1 axes say; any offset."""
    step = 1
    for n, s in zip(reversed(a.shape), reversed(a.strides), strict=True):
        if n == 0:
            return True
        if n != 1:
            if s != step:
                return False
            step *= n
    return True


def as_shape(shape: Any, where: str) -> Shape:
    """A tuple of non-negative ints from an int or a sequence."""
    try:
        dims: Shape = (as_index(shape),)
    except TypeError:
        try:
            dims = tuple(as_index(n) for n in shape)
        except TypeError:
            raise TypeError(
                f"{where}: shape must be an integer or a sequence of integers, not {shape!r}"
            ) from None
    if any(n < 0 for n in dims):
        raise ValueError(f"{where}: negative dimensions are not allowed: {dims}")
    return dims


@lru_cache(4096)
def broadcast_shapes(*shapes: Shape, where: str = "broadcast") -> Shape:
    """NumPy's broadcast shape; ValueError naming all shapes."""
    rank = max((len(s) for s in shapes), default=0)
    out = [1] * rank
    for s in shapes:
        for k, n in enumerate(s, rank - len(s)):
            if n != 1:
                if out[k] not in (1, n):
                    named = " with ".join(str(x) for x in shapes)
                    raise ValueError(f"{where}: shapes do not broadcast: {named}")
                out[k] = n
    return tuple(out)


def broadcast_to(a: Layout, shape: Shape, where: str = "broadcast_to") -> Layout:
    """The view of `a` with another shape, size-1 and missing axes repeated by stride 0."""
    if a.shape == shape:
        return a
    extra = len(shape) - len(a.shape)
    if extra < 0 or any(n not in (1, m) for n, m in zip(a.shape, shape[extra:], strict=True)):
        raise ValueError(f"{where}: shape {a.shape} does not broadcast to {shape}")
    tail = (0 if n == 1 != m else s for n, s, m in zip(a.shape, a.strides, shape[extra:], strict=True))
    return Layout(shape, (0,) * extra + tuple(tail), a.offset)


def normalize_axis(axis: Any, rank: int, where: str) -> int:
    """A Python index in [0, rank); AxisError naming both."""
    try:
        k = as_index(axis)
    except TypeError:
        raise TypeError(f"{where}: axis must be an integer, not {axis!r}") from None
    if not -rank <= k < rank:
        raise AxisError(f"{where}: axis {k} is out of bounds for an array of dimension {rank}")
    return k % rank


def normalize_axes(axes: Any, rank: int, where: str) -> Shape:
    """A sorted tuple of distinct axes from None (all), an int or a sequence."""
    if axes is None:
        return tuple(range(rank))
    if isinstance(axes, (tuple, list)):
        got = [normalize_axis(a, rank, where) for a in axes]
        if len(set(got)) != len(got):
            raise ValueError(f"{where}: duplicate value in axis {tuple(axes)}")
        return tuple(sorted(got))
    return (normalize_axis(axes, rank, where),)


def permute(a: Layout, axes: Sequence[int], where: str = "permute_dims") -> Layout:
    """Axes in another order."""
    rank = len(a.shape)
    order = [normalize_axis(k, rank, where) for k in axes]
    if sorted(order) != list(range(rank)):
        raise ValueError(f"{where}: axes {tuple(axes)} do not permute the {rank} axes of shape {a.shape}")
    return Layout(tuple(a.shape[k] for k in order), tuple(a.strides[k] for k in order), a.offset)


def flip(a: Layout, axes: Shape) -> Layout:
    """The given (normalised) axes reversed."""
    offset, strides = a.offset, list(a.strides)
    for k in axes:
        offset += max(a.shape[k] - 1, 0) * strides[k]
        strides[k] = -strides[k]
    return Layout(a.shape, tuple(strides), offset)


def expand_dims(a: Layout, axes: Any, where: str = "expand_dims") -> Layout:
    """Size-1 axes inserted at the given positions of the result."""
    wanted = axes if isinstance(axes, (tuple, list)) else (axes,)
    rank = len(a.shape) + len(wanted)
    at = normalize_axes(tuple(wanted), rank, where)
    shape, strides = iter(a.shape), iter(a.strides)
    new = [(1, 0) if k in at else (next(shape), next(strides)) for k in range(rank)]
    return Layout(tuple(n for n, _ in new), tuple(s for _, s in new), a.offset)


def squeeze(a: Layout, axes: Any, where: str = "squeeze") -> Layout:
    """Size-1 axes removed (all of them for None)."""
    if axes is None:
        gone: Shape = tuple(k for k, n in enumerate(a.shape) if n == 1)
    else:
        gone = normalize_axes(axes, len(a.shape), where)
        if any(a.shape[k] != 1 for k in gone):
            raise ValueError(f"{where}: axis {axes} of shape {a.shape} has a size other than 1")
    keep = [k for k in range(len(a.shape)) if k not in gone]
    return Layout(tuple(a.shape[k] for k in keep), tuple(a.strides[k] for k in keep), a.offset)


def index(a: Layout, key: Any, where: str = "index") -> Layout:
    """Basic indexing: integers, slices of any step, Ellipsis, None (NumPy's views)."""
    keys = key if isinstance(key, tuple) else (key,)
    used = sum(1 for k in keys if k is not None and k is not Ellipsis)
    if sum(1 for k in keys if k is Ellipsis) > 1:
        raise IndexError(f"{where}: an index can only have a single ellipsis ('...')")
    rank = len(a.shape)
    if used > rank:
        raise IndexError(f"{where}: too many indices: array is {rank}-dimensional, but {used} were indexed")
    if not any(k is Ellipsis for k in keys):
        keys = (*keys, Ellipsis)
    shape: list[int] = []
    strides: list[int] = []
    offset, axis = a.offset, 0
    for k in keys:
        if k is None:
            shape.append(1)
            strides.append(0)
        elif k is Ellipsis:
            stop = axis + rank - used
            shape += a.shape[axis:stop]
            strides += a.strides[axis:stop]
            axis = stop
        elif isinstance(k, slice):
            n, s = a.shape[axis], a.strides[axis]
            start, end, step = k.indices(n)
            count = len(range(start, end, step))
            offset += start * s if count else 0
            shape.append(count)
            strides.append(s * step)
            axis += 1
        else:
            n = a.shape[axis]
            i = as_index(k)
            if not -n <= i < n:
                raise IndexError(f"{where}: index {i} is out of bounds for axis {axis} with size {n}")
            offset += (i % n) * a.strides[axis]
            axis += 1
    return Layout(tuple(shape), tuple(strides), offset)


def resolve_shape(size: int, shape: Any, old: Shape, where: str = "reshape") -> Shape:
    """The target of a reshape, one -1 allowed; ValueError naming both shapes."""
    dims = [as_index(n) for n in shape] if isinstance(shape, (tuple, list)) else [as_index(shape)]
    if dims.count(-1) == 1:
        rest = prod(n for n in dims if n != -1)
        if rest == 0 or size % rest:
            raise ValueError(f"{where}: cannot reshape {old} of size {size} into {tuple(dims)}")
        dims[dims.index(-1)] = size // rest
    if any(n < 0 for n in dims) or prod(dims) != size:
        raise ValueError(f"{where}: cannot reshape {old} of size {size} into {tuple(dims)}")
    return tuple(dims)


def reshape(a: Layout, shape: Shape) -> Layout | None:
    """The same elements in another shape as a view, or None where the strides do not allow it."""
    if a.shape == shape:
        return a
    if 0 in shape:
        return Layout(shape, contiguous(shape).strides, a.offset)
    blocks = [(n, s) for n, s in zip(a.shape, a.strides, strict=True) if n != 1]
    strides, k = [0] * len(shape), 0
    i = 0
    while i < len(blocks):
        size, stop = blocks[i][0], i + 1
        start, got = k, 1
        while (k < len(shape) and got < size) or (stop < len(blocks) and got != size):
            if got < size:
                got *= shape[k]
                k += 1
            else:
                size *= blocks[stop][0]
                stop += 1
        if got != size:
            return None
        if any(blocks[j][1] != blocks[j + 1][1] * blocks[j + 1][0] for j in range(i, stop - 1)):
            return None
        step = blocks[stop - 1][1]
        for j in range(k - 1, start - 1, -1):
            strides[j] = step
            step *= shape[j]
        i = stop
    return Layout(shape, tuple(strides), a.offset)


def collapse(shape: Shape, strides: Sequence[Shape]) -> tuple[Shape, list[Shape]]:
    """Merge neighbouring axes that every operand walks through evenly, and drop size-1 axes; order is kept."""
    if len(shape) == 1 and shape[0] != 1:
        return shape, list(strides)
    dims: list[int] = []
    walks: list[list[int]] = [[] for _ in strides]
    for k, n in enumerate(shape):
        if n == 1:
            continue
        if dims and all(w[-1] == s[k] * n for w, s in zip(walks, strides, strict=True)):
            dims[-1] *= n
            for w, s in zip(walks, strides, strict=True):
                w[-1] = s[k]
        else:
            dims.append(n)
            for w, s in zip(walks, strides, strict=True):
                w.append(s[k])
    return tuple(dims), [tuple(w) for w in walks]


@lru_cache(8192)
def compose(outer: Layout, inner: Layout) -> Layout | None:
    """The layout that reads `inner` through `outer`, a view of the contiguous array of its shape; None if none does.

    Each axis of the view must walk along one axis of `inner` and stay inside it.
    """
    base = inner.shape
    if outer.shape == base and outer.offset == 0 and is_contiguous(outer):
        return inner
    if 0 in outer.shape or 0 in base:
        return None
    (merged,), rows = collapse_one(base, inner.strides)
    if merged is not None:  # inner is evenly spaced: any view of it is a view of a line
        return Layout(outer.shape, tuple(s * rows for s in outer.strides), inner.offset + outer.offset * rows)
    steps = contiguous(base).strides
    at, rest = [], outer.offset
    for s in steps:
        at.append(rest // s)
        rest %= s
    low, high = list(at), list(at)
    strides: list[int] = []
    for n, s in zip(outer.shape, outer.strides, strict=True):
        if n == 1 or s == 0:
            strides.append(0)
            continue
        for k, step in enumerate(steps):
            if base[k] == 1 or s % step:
                continue
            q = s // step
            lo, hi = low[k] + min(0, q * (n - 1)), high[k] + max(0, q * (n - 1))
            if lo >= 0 and hi < base[k]:
                low[k], high[k] = lo, hi
                strides.append(q * inner.strides[k])
                break
        else:
            return None
    return Layout(
        outer.shape, tuple(strides), inner.offset + sum(c * s for c, s in zip(at, inner.strides, strict=True))
    )


def collapse_one(shape: Shape, strides: Shape) -> tuple[tuple[int | None], int]:
    """((size,), step) if the axes form one evenly spaced line, else ((None,), 0)."""
    dims, walks = collapse(shape, [strides])
    if len(dims) <= 1:
        return (dims[0] if dims else 1,), (walks[0][0] if dims else 0)
    return (None,), 0
