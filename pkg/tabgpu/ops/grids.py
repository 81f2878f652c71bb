"""Grids of coordinates: meshgrid, indices, ix_, mgrid, ogrid, fromfunction. Coordinates are views until stored."""

from __future__ import annotations

from math import ceil
from typing import Any

from .. import layout as lo
from ..array import Array
from ..dtypes import as_dtype, bool_, float32, int32
from . import elementwise as ew
from .convert import from_host
from .creation import arange, astype, copy_of, positions, zeros
from .joining import stack
from .manipulation import broadcast_to, reshape
from .rearranging import prepare


def _along(x: Array, axis: int, rank: int) -> Array:
    """A 1-D array as a view along one of several axes."""
    return reshape(x, tuple(x.shape[0] if k == axis else 1 for k in range(rank)))


def meshgrid(
    *arrays: Any, indexing: str = "xy", sparse: bool = False, copy: bool = True
) -> tuple[Array, ...]:
    """Coordinates of a grid from 1-D coordinates by axis; "xy" has the first two axes exchanged. sparse: each only
    along its own axis. copy=False gives views of the arrays."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', not {indexing!r}")
    lines = [prepare(x, "meshgrid") for x in arrays]
    for x in lines:
        if x.ndim > 1:
            raise ValueError(f"meshgrid: coordinates must be 1-D, got shape {x.shape}")
    lines = [reshape(x, (1,)) if not x.ndim else x for x in lines]
    rank = len(lines)
    order = [1, 0, *range(2, rank)] if indexing == "xy" and rank > 1 else list(range(rank))
    made = [_along(x, order[k], rank) for k, x in enumerate(lines)]
    if not sparse:
        shape = lo.broadcast_shapes(*[x.shape for x in made], where="meshgrid")
        made = [broadcast_to(x, shape) for x in made]
    return tuple([copy_of(x) for x in made] if copy else made)


def indices(dimensions: Any, dtype: Any = int32, sparse: bool = False) -> Any:
    """The coordinates of every element: an array (rank, *dimensions), or with sparse a tuple of arrays by axis."""
    shape = lo.as_shape(dimensions, "indices")
    lines = [astype(_along(positions(n), k, len(shape)), dtype, copy=False) for k, n in enumerate(shape)]
    if sparse:
        return tuple(copy_of(x) for x in lines)
    if not lines or 0 in shape:
        return zeros((len(shape), *shape), dtype=dtype)
    return stack([broadcast_to(x, shape) for x in lines])


def ix_(*args: Any) -> tuple[Array, ...]:
    """1-D sequences as an open mesh, to index the cross product of them. Bools (host values, or an Array where Python
    can wait) become the positions of True."""
    made = []
    for k, one in enumerate(args):
        x = prepare(one, "ix_")
        if x.ndim != 1:
            raise ValueError(f"ix_: cross indices must be 1-D, got shape {x.shape}")
        if not x.size and not isinstance(one, Array):
            x = astype(x, int32, copy=False)
        if x.dtype is bool_:
            if isinstance(one, Array):
                from .searching import nonzero

                (x,) = nonzero(x)
            else:
                x = from_host([j for j, flag in enumerate(one) if flag], "ix_", int32)
        made.append(_along(x, k, len(args)))
    return tuple(made)


def fromfunction(function: Any, shape: Any, *, dtype: Any = float32, **options: Any) -> Any:
    """function(coordinates of axis 0, of axis 1, ..), called once with arrays of the given shape."""
    dims = lo.as_shape(shape, "fromfunction")
    want = as_dtype(dtype)
    lines = [astype(_along(positions(n), k, len(dims)), want, copy=False) for k, n in enumerate(dims)]
    return function(*[broadcast_to(x, dims) for x in lines], **options)


class Grid:
    """tg.mgrid and tg.ogrid: indexed by slices. A complex step is a number of points, the stop included."""

    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __repr__(self) -> str:
        return f"<tabgpu {'ogrid' if self.sparse else 'mgrid'}>"

    def __getitem__(self, key: Any) -> Any:
        """One slice: a 1-D array. Several: an array (rank, ..) of coordinates (mgrid), or a tuple by axis (ogrid)."""
        if isinstance(key, slice):
            return _line(key)
        lines = [_line(k) for k in key]
        if any(x.dtype is not int32 for x in lines):
            lines = [astype(x, float32, copy=False) for x in lines]
        rank = len(lines)
        open_ = [_along(x, k, rank) for k, x in enumerate(lines)]
        if self.sparse:
            return tuple(open_)
        shape = lo.broadcast_shapes(*[x.shape for x in open_], where="mgrid")
        if 0 in shape:
            return zeros((rank, *shape), dtype=lines[0].dtype)
        return stack([broadcast_to(x, shape) for x in open_])


def _line(key: slice) -> Array:
    start = 0 if key.start is None else key.start
    step = 1 if key.step is None else key.step
    if key.stop is None:
        raise ValueError("mgrid: a slice needs a stop")
    if isinstance(step, complex):
        n = int(abs(step))
        gap = (key.stop - start) / float(n - 1) if n > 1 else 0.0
        return ew.add(ew.multiply(astype(positions(n), float32), float(gap)), float(start))
    if all(isinstance(v, int) for v in (start, key.stop, step)):
        return arange(start, key.stop, step)
    n = max(ceil((key.stop - start) / step), 0)
    return ew.add(ew.multiply(astype(positions(n), float32), float(step)), float(start))


mgrid, ogrid = Grid(False), Grid(True)
