"""What NumPy asks of any array-like (ndim, shape, size, isscalar), copies by name, and flat positions as indices."""

from __future__ import annotations

from math import prod
from operator import index as as_index
from typing import Any

from .. import layout as lo
from ..array import Array
from ..dtypes import as_dtype
from ..dtypes import promote as _promote
from ..layout import Shape
from . import elementwise as ew
from .convert import from_host
from .creation import asarray, astype, copy_of
from .guards import position_guard


def ndim(x: Any, /) -> int:
    """Number of axes of an array or of what asarray takes."""
    return _known(x).ndim


def shape(x: Any, /) -> Shape:
    """Sizes of the axes."""
    return _known(x).shape


def size(x: Any, /, axis: int | None = None) -> int:
    """Number of elements, or the size of one axis."""
    dims = shape(x)
    return prod(dims) if axis is None else dims[lo.normalize_axis(axis, len(dims), "size")]


def _known(x: Any) -> Array:
    return x if isinstance(x, Array) else from_host(x, "shape")


def copy(x: Any, /) -> Array:
    """A new array with the same values, of its own memory."""
    return copy_of(x) if isinstance(x, Array) else asarray(x)


def ascontiguousarray(x: Any, /, dtype: Any = None) -> Array:
    """x itself if its elements lie row-major without gaps and it has axes, else a copy that does."""
    got = asarray(x, dtype=dtype)
    got = got if got.ndim else got.reshape((1,))  # type: ignore[attr-defined]
    return got if lo.is_contiguous(got._layout) else copy_of(got)


def isscalar(x: Any, /) -> bool:
    """Whether x is a Python or NumPy scalar (an array without axes is none)."""
    plain = isinstance(x, (bool, int, float, complex, str, bytes))
    return plain or any(c.__name__ == "generic" and c.__module__ == "numpy" for c in type(x).__mro__)


def promote_types(a: Any, b: Any, /) -> Any:
    """The dtype that holds the values of two dtypes; TypeError if there is none of 32 bits."""
    return _promote(as_dtype(a), as_dtype(b), where="promote_types")


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Array, ...]:
    """Flat positions in an array of a shape as one array of indices for each axis. A position out of range raises
    ValueError: at the call on the host, at the read that depends on the result on the GPU."""
    dims = lo.as_shape(shape, "unravel_index")
    flat = indices if isinstance(indices, Array) else from_host(indices, "unravel_index")
    if flat.dtype.kind not in "iu":
        raise TypeError(f"unravel_index: positions must be integers, not {flat.dtype.name}")
    total = prod(dims)
    if not isinstance(indices, Array):
        _checked(indices, total, "raise", "unravel_index")
    out: list[Array] = []
    left = (
        flat if flat.dtype.itemsize == 4 else astype(flat, "int32")
    )  # the axes may be longer than it counts
    for n in reversed(dims) if order == "C" else dims:
        out.append(ew.remainder(left, n))
        left = ew.floor_divide(left, n)
    if isinstance(indices, Array) and flat.size:
        for axis in out:
            axis._cell.op.guards = (position_guard(flat, total),)
    return tuple(reversed(out)) if order == "C" else tuple(out)


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "raise", order: str = "C") -> Array:
    """One array of indices for each axis as flat positions. mode "wrap" or "clip" brings them into range; "raise" is
    ValueError, at the read for indices on the GPU."""
    sizes = lo.as_shape(dims, "ravel_multi_index")
    if len(multi_index) != len(sizes):
        raise ValueError(f"ravel_multi_index: {len(multi_index)} arrays of indices for {len(sizes)} axes")
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"ravel_multi_index: mode must be raise, wrap or clip, not {mode!r}")
    flat: Any = 0
    guards = []
    axes = list(zip(multi_index, sizes, strict=True))
    for k, n in axes if order == "C" else reversed(axes):
        one = k if isinstance(k, Array) else _checked(k, n, mode)
        if mode == "raise" and isinstance(k, Array) and k.size:
            guards.append(position_guard(k, n))
        one = one if one.dtype.itemsize == 4 else astype(one, "int32")
        if mode == "wrap":
            one = ew.remainder(one, n)
        elif mode == "clip":
            one = ew.clip(one, 0, as_index(n) - 1)
        flat = ew.add(ew.multiply(flat, n), one)
    if guards:
        flat._cell.op.guards = tuple(guards)
    return flat  # type: ignore[no-any-return]


def _checked(indices: Any, n: int, mode: str, where: str = "ravel_multi_index") -> Array:
    got = from_host(indices, where)
    values = [indices] if isinstance(indices, int) else indices
    if mode == "raise" and got.size and (min(_flat(values)) < 0 or max(_flat(values)) >= n):
        raise ValueError(f"{where}: an index is out of bounds for an axis of size {n}")
    return got


def _flat(values: Any) -> list[int]:
    return [x for v in values for x in (_flat(v) if hasattr(v, "__len__") else [int(v)])]


def asanyarray(x: Any, /, dtype: Any = None) -> Array:
    """asarray: there are no subclasses to pass through."""
    return asarray(x, dtype=dtype)


__all__ = [
    "asanyarray", "ascontiguousarray", "copy", "isscalar", "ndim", "promote_types", "ravel_multi_index", "shape",
    "size", "unravel_index",
]  # fmt: skip
