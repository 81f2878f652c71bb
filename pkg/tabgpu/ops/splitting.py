"""Arrays taken apart: split and its kin, unstack. All give views."""

from __future__ import annotations

from itertools import pairwise
from operator import index as as_index
from typing import Any

from .. import layout as lo
from ..array import Array, view
from .convert import from_host


def _prepare(x: Any, where: str) -> Array:
    return x if isinstance(x, Array) else from_host(x, where)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The views x[0], x[1], .. along an axis."""
    x = _prepare(x, "unstack")
    if not x.ndim:
        raise ValueError("unstack: a 0-d array has no axis")
    axis = lo.normalize_axis(axis, x.ndim, "unstack")
    before = (slice(None),) * axis
    return tuple([view(x, lo.index(x._layout, (*before, k))) for k in range(x.shape[axis])])


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Views of consecutive parts along an axis: as many as asked for (the first ones longer by one where the axis does
    not divide), or cut before given positions."""
    return _split(_prepare(ary, "array_split"), indices_or_sections, axis, "array_split")


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """As array_split; ValueError where the axis does not divide."""
    return _split(_prepare(ary, "split"), indices_or_sections, axis, "split")


def _split(x: Array, sections: Any, axis: int, where: str) -> list[Array]:
    if not x.ndim:
        raise ValueError(f"{where}: a 0-d array has no axis to cut")
    axis = lo.normalize_axis(axis, x.ndim, where)
    n = x.shape[axis]
    if isinstance(sections, (list, tuple, range)) or getattr(sections, "shape", ()) != ():
        cuts = [as_index(k) for k in (sections.tolist() if hasattr(sections, "tolist") else sections)]
        edges = [0, *cuts, n]
    else:
        count = as_index(sections)
        if count <= 0:
            raise ValueError(f"{where}: the number of parts must be positive, not {count}")
        if where != "array_split" and n % count:
            raise ValueError(
                f"{where}: axis {axis} of shape {x.shape} does not divide into {count} equal parts"
            )
        each, more = divmod(n, count)
        edges = [k * each + min(k, more) for k in range(count + 1)]
    before = (slice(None),) * axis
    pairs = pairwise(edges)
    return [view(x, lo.index(x._layout, (*before, slice(a, b)))) for a, b in pairs]


def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """split along axis 1 (axis 0 of 1-D arrays)."""
    x = _prepare(ary, "hsplit")
    if not x.ndim:
        raise ValueError("hsplit: needs at least 1 axis")
    return _split(x, indices_or_sections, 1 if x.ndim > 1 else 0, "hsplit")


def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """split along axis 0 of an array of at least 2 axes."""
    x = _prepare(ary, "vsplit")
    if x.ndim < 2:
        raise ValueError(f"vsplit: needs at least 2 axes, shape is {x.shape}")
    return _split(x, indices_or_sections, 0, "vsplit")


def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """split along axis 2 of an array of at least 3 axes."""
    x = _prepare(ary, "dsplit")
    if x.ndim < 3:
        raise ValueError(f"dsplit: needs at least 3 axes, shape is {x.shape}")
    return _split(x, indices_or_sections, 2, "dsplit")
