"""Connected components: their roots, labels, and dilations and erosions that go on until nothing changes."""

from __future__ import annotations

from math import prod
from typing import Any

from ..array import Array
from ..dtypes import as_dtype, bool_, int32, uint32
from ..layout import Shape
from ..ops import elementwise as ew
from ..ops.creation import astype, full, positions, zeros
from ..ops.manipulation import getitem, ravel, reshape
from ..ops.picking import pick
from ..ops.routine import routine, stored
from ..ops.scans import cumsum
from ..ops.taking import At
from .arguments import cast, each, whole
from .ranking import real
from .structures import generate_binary_structure, host

__all__ = ["label"]

AXES, NEIGHBOURS = 8, 250  # routines/components.py


def roots(x: Array, structure: Any, axes: Shape, label: str) -> Array:
    """int32 of x's shape: the first place of each True element's component, -1 where False. structure: NumPy bools,
    symmetric, over axes."""
    import numpy

    s = structure
    if not numpy.array_equal(s, numpy.flip(s)) or any(n % 2 == 0 for n in s.shape):
        raise ValueError(f"{label}: a structure of shape {s.shape} must be symmetric about its centre")
    offsets = []
    for at in numpy.argwhere(s):
        d = [0] * x.ndim
        for k, a, n in zip(axes, at, s.shape, strict=True):
            d[k] = int(a) - n // 2
        if tuple(d) < (0,) * x.ndim:
            offsets.append(tuple(d))
    if (
        x.ndim > AXES
        or len(offsets) > NEIGHBOURS
        or max((max(map(abs, d)) for d in offsets), default=0) > 127
    ):
        raise ValueError(
            f"{label}: at most {AXES} axes and {NEIGHBOURS} neighbours, not {x.shape}, {s.shape}"
        )
    sizes = x.shape or (1,)
    made = routine("components", [stored(x)], x.shape, uint32, (sizes, tuple(offsets)), x.size * 8)
    return _signed(made)


def _signed(x: Array) -> Array:
    """uint32 words as int32: all ones are -1."""
    return ew.where(ew.equal(x, 0xFFFFFFFF), -1, astype(x, int32))


def label(input: Any, structure: Any = None, output: Any = None) -> Any:
    """(labels, number): elements that are not 0 and connected get one number from 1 on, in the order of their first
    elements; the others 0.

    structure: which of the 3 places along each axis are neighbours, host data, symmetric; by default those that differ
    along one axis. labels are int32 or of the dtype `output`; where that is an Array it takes them, and the number
    alone is returned. The number is a 0-d int32 array: nothing is read. ValueError for structures that do not fit.
    """
    name = "label"
    x = real(input, name)
    x = x if x.dtype is bool_ else ew.not_equal(x, 0)
    s = generate_binary_structure(x.ndim, 1) if structure is None else host(structure, name)
    if s.shape != (3,) * x.ndim:
        raise ValueError(
            f"{name}: a structure of shape {s.shape} has not 3 places along each axis of {x.shape}"
        )
    if not x.size:
        made, count = zeros(x.shape, int32), full((), 0, dtype=int32)
    else:
        first = ravel(roots(x, s, tuple(range(x.ndim)), name))
        order = cumsum(ew.equal(first, positions(x.size)))
        made = reshape(pick(order, first, 0), x.shape)
        count = getitem(order, -1)
    if isinstance(output, Array):
        if output.shape != x.shape:
            raise ValueError(f"{name}: output has the shape {output.shape}, input {x.shape}")
        output[...] = cast(made, output.dtype)  # type: ignore[index]
        return count
    return (made if output is None else astype(made, as_dtype(output), copy=False)), count


def until_stable(
    x: Array, structure: Any, mask: Array | None, border: Any, origin: Any, axes: Shape, dilates: bool, label: str
) -> Array:  # fmt: skip
    """Bools dilated or eroded within a mask until nothing changes: by components of what may change."""
    from .morphology import step

    s = host(structure, label)
    if any(whole(o, label, "origin") for o in each(origin, len(axes), label, "origin")):
        raise ValueError(f"{label}: iterations below 1 go with no origin")
    if not s[tuple([n // 2 for n in s.shape])]:
        raise ValueError(f"{label}: iterations below 1 need a structure whose centre is True")
    if not dilates:
        grown = until_stable(ew.logical_not(x), s, mask, not border, origin, axes, True, label)
        return ew.logical_not(grown)
    nodes = full(x.shape, True, dtype=bool_) if mask is None else ew.logical_or(mask, x)
    seeds = x
    if border:
        edge = step(x, s, axes, 1, 0, True, label)
        seeds = ew.logical_or(x, edge if mask is None else ew.logical_and(mask, edge))
    first = ravel(roots(nodes, s, axes, label))
    size = prod(x.shape)
    reached = zeros((size + 1,), int32)
    marked = At(reached)[ew.where(ravel(seeds), first, size)].max(1, mode="clip")
    there = ew.greater(pick(getitem(marked, slice(0, size)), first, 0), 0)
    return ew.logical_or(x, reshape(there, x.shape))
