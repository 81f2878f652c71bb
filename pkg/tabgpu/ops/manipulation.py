"""Views: broadcasting, axes, basic slicing, reshape, flips. A copy is made only where strides cannot say it."""

from __future__ import annotations

from math import prod
from typing import Any

from .. import layout as lo
from ..array import Array, view
from ..errors import AxisError
from .convert import from_host
from .creation import copy_of


def _need(x: Any, where: str) -> Array:
    if not isinstance(x, Array):
        raise TypeError(f"{where}: expected a tabgpu array, got {type(x).__name__}; use tg.asarray")
    return x


MAX_SIZE = (1 << 32) - (1 << 16)  # element positions are u32


def addressable(shape: lo.Shape, where: str) -> lo.Shape:
    """The shape of a new array; OverflowError if it has more elements than kernels can address."""
    size = prod(shape)
    if size > MAX_SIZE:
        raise OverflowError(f"{where}: {shape} has {size:,} elements; at most {MAX_SIZE:,} are addressable")
    return shape


def broadcast_to(x: Array, /, shape: Any) -> Array:
    """A view of x repeated along size-1 and new leading axes."""
    _need(x, "broadcast_to")
    return view(x, lo.broadcast_to(x._layout, lo.as_shape(shape, "broadcast_to")))


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Views of all arrays with their common shape."""
    shape = lo.broadcast_shapes(
        *[_need(a, "broadcast_arrays").shape for a in arrays], where="broadcast_arrays"
    )
    return tuple([broadcast_to(a, shape) for a in arrays])


def broadcast_shapes(*shapes: Any) -> lo.Shape:
    """The shape that shapes broadcast to."""
    return lo.broadcast_shapes(
        *[lo.as_shape(s, "broadcast_shapes") for s in shapes], where="broadcast_shapes"
    )


def permute_dims(x: Array, /, axes: Any) -> Array:
    """A view with the axes in another order."""
    seen = lo.permute(_need(x, "permute_dims")._layout, axes)
    return x if seen == x._layout else view(x, seen)  # the same layout object joins the launch of what made x


def transpose(x: Array, /, axes: Any = None) -> Array:
    """A view with the axes reversed, or in the given order."""
    order = tuple(reversed(range(_need(x, "transpose").ndim))) if axes is None else axes
    return view(x, lo.permute(x._layout, order, "transpose"))


def matrix_transpose(x: Array, /) -> Array:
    """A view with the last two axes swapped."""
    if _need(x, "matrix_transpose").ndim < 2:
        raise ValueError(f"matrix_transpose: needs at least 2 axes, shape is {x.shape}")
    return swapaxes(x, -1, -2)


def swapaxes(x: Array, /, axis1: int, axis2: int) -> Array:
    """A view with two axes exchanged."""
    order = list(range(_need(x, "swapaxes").ndim))
    a, b = lo.normalize_axis(axis1, x.ndim, "swapaxes"), lo.normalize_axis(axis2, x.ndim, "swapaxes")
    order[a], order[b] = order[b], order[a]
    return view(x, lo.permute(x._layout, order))


def rollaxis(x: Array, axis: int, start: int = 0, /) -> Array:
    """A view with one axis moved before the position `start` (NumPy's older spelling of moveaxis)."""
    rank = _need(x, "rollaxis").ndim
    axis = lo.normalize_axis(axis, rank, "rollaxis")
    if not -rank <= start <= rank:
        raise AxisError(f"rollaxis: start {start} is out of bounds for an array of dimension {rank}")
    start = start + rank if start < 0 else start
    return moveaxis(x, axis, start - 1 if axis < start else start)


def moveaxis(x: Array, source: Any, destination: Any, /) -> Array:
    """A view with some axes moved to other positions, the rest in order."""
    rank = _need(x, "moveaxis").ndim
    listed = [s if isinstance(s, (tuple, list)) else (s,) for s in (source, destination)]
    src, dst = ([lo.normalize_axis(k, rank, "moveaxis") for k in s] for s in listed)
    if len(src) != len(dst) or len(set(src)) != len(src) or len(set(dst)) != len(dst):
        raise ValueError(
            f"moveaxis: source {source} and destination {destination} must be as many distinct axes"
        )
    order = [k for k in range(rank) if k not in src]
    for d, s in sorted(zip(dst, src, strict=True)):
        order.insert(d, s)
    return view(x, lo.permute(x._layout, order))


def flip(x: Array, /, axis: Any = None) -> Array:
    """A view with axes reversed (all of them for None)."""
    return view(_need(x, "flip"), lo.flip(x._layout, lo.normalize_axes(axis, x.ndim, "flip")))


def fliplr(x: Array, /) -> Array:
    """flip along axis 1."""
    return flip(x, axis=1)


def flipud(x: Array, /) -> Array:
    """flip along axis 0."""
    return flip(x, axis=0)


def rot90(m: Array, /, k: int = 1, axes: Any = (0, 1)) -> Array:
    """A view turned by k quarter turns from the first of two axes towards the second."""
    a, b = (lo.normalize_axis(n, _need(m, "rot90").ndim, "rot90") for n in _pair_of(axes, "rot90"))
    if a == b:
        raise ValueError(f"rot90: axes must be different, not {axes}")
    turned = (m, flip(swapaxes(m, a, b), axis=a), flip(m, axis=(a, b)), swapaxes(flip(m, axis=a), a, b))
    return turned[int(k) % 4]


def _pair_of(axes: Any, where: str) -> tuple[Any, Any]:
    if len(axes) != 2:
        raise ValueError(f"{where}: needs two axes, not {axes}")
    return axes[0], axes[1]


def expand_dims(x: Array, /, axis: Any = 0) -> Array:
    """A view with size-1 axes inserted at the given positions of the result."""
    return view(_need(x, "expand_dims"), lo.expand_dims(x._layout, axis))


def squeeze(x: Array, /, axis: Any = None) -> Array:
    """A view without the given size-1 axes (all of them for None)."""
    return view(_need(x, "squeeze"), lo.squeeze(x._layout, axis))


def reshape(x: Array, /, shape: Any, *, order: str = "C", copy: bool | None = None) -> Array:
    """The same elements in another shape: a view where strides allow. One size may be -1. order "F": first axis first.

    copy=True always copies; copy=False raises ValueError where a view is impossible.
    """
    _need(x, "reshape")
    if order not in ("C", "F"):
        raise ValueError(f"reshape: order must be 'C' or 'F', not {order!r}")
    target = lo.resolve_shape(x.size, shape, x.shape)
    if order == "F":
        return transpose(reshape(transpose(x), tuple(reversed(target)), copy=copy))
    seen = lo.reshape(x._layout, target)
    if seen is None:
        if copy is False:
            raise ValueError(
                f"reshape: {x.shape} to {target} needs a copy, since the array is a strided view"
            )
        whole = copy_of(x)
        return view(whole, lo.contiguous(target))
    return copy_of(view(x, seen)) if copy else view(x, seen)


def ravel(x: Array, /, order: str = "C") -> Array:
    """reshape to one axis."""
    return reshape(x, (-1,), order=order)


def flatten(x: Array, /, order: str = "C") -> Array:
    """A copy with one axis."""
    return reshape(x, (-1,), order=order, copy=True)


def _each(arrays: tuple[Any, ...], grow: Any, where: str) -> Any:
    """grow(array) for one array, a tuple of them for several; host values are converted."""
    made = tuple([grow(x if isinstance(x, Array) else from_host(x, where)) for x in arrays])
    return made[0] if len(made) == 1 else made


def atleast_1d(*arrays: Any) -> Any:
    """Views with at least one axis."""
    return _each(arrays, lambda x: x if x.ndim else reshape(x, (1,)), "atleast_1d")


def atleast_2d(*arrays: Any) -> Any:
    """Views with at least two axes, new ones in front."""
    return _each(
        arrays, lambda x: x if x.ndim > 1 else expand_dims(x, axis=tuple(range(2 - x.ndim))), "atleast_2d"
    )


def atleast_3d(*arrays: Any) -> Any:
    """Views with at least three axes: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1)."""
    new = {0: (0, 1, 2), 1: (0, 2), 2: (2,)}
    return _each(arrays, lambda x: x if x.ndim > 2 else expand_dims(x, axis=new[x.ndim]), "atleast_3d")


def getitem(x: Array, key: Any) -> Array:
    """The view by integers, slices, Ellipsis and None, for this package; `a[key]` is in indexing.py."""
    return view(x, lo.index(x._layout, key))
