"""Footprints and structuring elements: host data, small, whose shape and symmetry decide what is launched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..array import Array
from ..ops.convert import from_host
from .arguments import each, prepared, whole

if TYPE_CHECKING:
    import numpy as np

__all__ = ["generate_binary_structure", "iterate_structure"]


def host(value: Any, label: str) -> np.ndarray[Any, Any]:
    """A structure as bools in NumPy."""
    import numpy

    if isinstance(value, Array):
        raise TypeError(
            f"{label}: a structure is host data here (a NumPy array or lists), not an array on the GPU"
        )
    made: np.ndarray[Any, Any] = numpy.asarray(value) != 0
    return made


def footprint_of(
    size: Any, footprint: Any, structure: Any, rank: int, label: str
) -> tuple[Array | None, Array | None]:
    """(mask, heights): which elements of a window count and what is added to them; None, None for a box of `size`."""
    if footprint is None and structure is None and size is None:
        raise ValueError(f"{label}: give size, footprint or structure")
    mask = heights = None
    if footprint is not None:
        if isinstance(footprint, Array):
            mask = footprint
        else:
            flags = host(footprint, label)
            if not flags.any():
                raise ValueError(f"{label}: the footprint of shape {flags.shape} has no True element")
            mask = from_host(flags, label)
    if structure is not None:
        heights = prepared(structure, label)
        if mask is not None and mask.shape != heights.shape:
            raise ValueError(f"{label}: footprint {mask.shape} and structure {heights.shape} differ in shape")
    for a in (mask, heights):
        if a is not None and a.ndim != rank:
            raise ValueError(f"{label}: a footprint of shape {a.shape} has not one axis for each of {rank}")
    return mask, heights


def counted(size: Any, footprint: Any, rank: int, label: str) -> tuple[list[int], Array | None, int]:
    """(shape, mask or None for all, elements) of a window."""
    if footprint is None:
        if size is None:
            raise ValueError(f"{label}: give size or footprint")
        shape = [whole(n, label, "size") for n in each(size, rank, label, "size")]
        count = 1
        for n in shape:
            if n < 1:
                raise ValueError(f"{label}: sizes {tuple(shape)} must be at least 1")
            count *= n
        return shape, None, count
    flags = host(footprint, label)
    if flags.ndim != rank or not flags.any():
        raise ValueError(
            f"{label}: a footprint of shape {flags.shape} has not one axis for each of {rank}, or nothing True"
        )
    all_of_it = bool(flags.all())
    return list(flags.shape), None if all_of_it else from_host(flags, label), int(flags.sum())


def generate_binary_structure(rank: int, connectivity: int) -> np.ndarray[Any, Any]:
    """A bool NumPy array of 3 elements along each of `rank` axes: True where at most `connectivity` of the places
    differ from the centre's."""
    import numpy

    n, reach = whole(rank, "generate_binary_structure", "rank"), max(int(connectivity), 1)
    if n < 1:
        return numpy.array(True)
    far = numpy.abs(numpy.indices([3] * n) - 1).sum(0)
    made: np.ndarray[Any, Any] = far <= reach
    return made


def iterate_structure(structure: Any, iterations: int, origin: Any = None) -> Any:
    """A structure dilated with itself iterations - 1 times, a NumPy array; with origin, (it, the origin times
    iterations). Fewer than two iterations give a copy."""
    import numpy

    flags = host(structure, "iterate_structure")
    count = whole(iterations, "iterate_structure", "iterations")
    if count < 2:
        return flags.copy()
    steps = count - 1
    shape = [n + steps * (n - 1) for n in flags.shape]
    out = numpy.zeros(shape, bool)
    out[tuple([slice(steps * (n // 2), steps * (n // 2) + n) for n in flags.shape])] = flags
    for _ in range(steps):
        grown = numpy.zeros_like(out)
        for at in numpy.argwhere(flags):
            move = [int(a) - n // 2 for a, n in zip(at, flags.shape, strict=True)]
            to = tuple([slice(max(m, 0), n + min(m, 0)) for m, n in zip(move, shape, strict=True)])
            of = tuple([slice(max(-m, 0), n + min(-m, 0)) for m, n in zip(move, shape, strict=True)])
            grown[to] |= out[of]
        out = grown
    if origin is None:
        return out
    return out, [count * o for o in each(origin, flags.ndim, "iterate_structure", "origin")]
