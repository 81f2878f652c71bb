"""Morphology under scipy.ndimage's names: binary by steps of extremes of footprints, grey by extremes of windows."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import as_dtype, bool_
from ..layout import Shape
from ..ops import elementwise as ew
from ..ops.convert import from_host
from ..ops.creation import astype, copy_of, full
from ..ops.manipulation import flip
from .arguments import ascending, axes_of, each, finish, start, whole
from .ranking import extreme, real, spread
from .structures import generate_binary_structure, host
from .windows import neighbours

__all__ = [
    "binary_closing", "binary_dilation", "binary_erosion", "binary_fill_holes", "binary_hit_or_miss", "binary_opening",
    "binary_propagation", "black_tophat", "grey_closing", "grey_dilation", "grey_erosion", "grey_opening",
    "morphological_gradient", "morphological_laplace", "white_tophat",
]  # fmt: skip


def flags_of(x: Any, label: str) -> Array:
    """Where an operand is not 0."""
    made = real(x, label)
    return made if made.dtype is bool_ else ew.not_equal(made, 0)


def structure_of(structure: Any, rank: int, label: str) -> Any:
    """A structure over `rank` axes, host data or an Array; by default of direct neighbours."""
    if structure is None:
        return generate_binary_structure(rank, 1)
    made = structure if isinstance(structure, Array) else host(structure, label)
    if made.ndim != rank:
        raise ValueError(f"{label}: a structure of shape {made.shape} has not one axis for each of {rank}")
    if 0 in made.shape:
        raise ValueError(f"{label}: a structure of shape {made.shape} is empty")
    return made


def given(made: Array, output: Any, label: str) -> Array:
    """A bool result as `output` says."""
    if isinstance(output, Array):
        return finish(made, made, output, label)
    return made if output is None else astype(made, as_dtype(output), copy=False)


def step(
    x: Array, structure: Any, axes: Shape, border: Any, origin: Any, dilates: bool, label: str
) -> Array:  # fmt: skip
    """One erosion or dilation of bools."""
    shape = tuple(structure.shape)
    origins = [whole(o, label, "origin") for o in each(origin, len(axes), label, "origin")]
    axes, origins = ascending(axes, origins)
    mask = structure if isinstance(structure, Array) else from_host(structure, label)
    mask = ew.not_equal(mask, 0) if mask.dtype is not bool_ else mask
    if dilates:
        origins = [-o - (1 - n % 2) for n, o in zip(shape, origins, strict=True)]
        mask = flip(mask)
    full_shape, starts = [1] * x.ndim, [0] * x.ndim
    for k, n, o in zip(axes, shape, origins, strict=True):
        full_shape[k], starts[k] = n, start(n, o, label)
    mask = spread(mask, axes, x.ndim)
    return neighbours(
        "max" if dilates else "min", x, full_shape, starts, [0] * x.ndim, int(bool(border)), mask
    )


def _iterated(
    input: Any, structure: Any, iterations: Any, mask: Any, output: Any, border: Any, origin: Any, axes: Any,
    dilates: bool, label: str,
) -> Array:  # fmt: skip
    x = flags_of(input, label)
    at = axes_of(axes, x.ndim, label)
    s = structure_of(structure, len(at), label)
    count = whole(iterations, label, "iterations")
    kept = None if mask is None else flags_of(mask, label)
    if kept is not None and kept.shape != x.shape:
        raise ValueError(f"{label}: mask {kept.shape} and input {x.shape} differ in shape")
    if not x.size:
        return given(copy_of(x), output, label)
    if count < 1:
        from .flooding import until_stable

        return given(
            until_stable(x, s, kept, border, origin, tuple(sorted(at)), dilates, label), output, label
        )
    for _ in range(count):
        made = step(x, s, at, border, origin, dilates, label)
        x = made if kept is None else ew.where(kept, made, x)
    return given(x, output, label)


def binary_erosion(
    input: Any, structure: Any = None, iterations: int = 1, mask: Any = None, output: Any = None,
    border_value: int = 0, origin: Any = 0, brute_force: bool = False, *, axes: Any = None,
) -> Array:  # fmt: skip
    """bool: where all elements of the structure, laid around the place, are not 0.

    structure: flags with one axis for each of `axes` (all by default), by default those of direct neighbours;
    iterations: how often, below 1 until nothing changes (then the structure is symmetric host data of at most 3 places
    an axis); mask: only places where it is True change; border_value: what lies outside. brute_force has no meaning
    here. ValueError for shapes that do not fit.
    """
    return _iterated(
        input, structure, iterations, mask, output, border_value, origin, axes, False, "binary_erosion"
    )


def binary_dilation(
    input: Any, structure: Any = None, iterations: int = 1, mask: Any = None, output: Any = None,
    border_value: int = 0, origin: Any = 0, brute_force: bool = False, *, axes: Any = None,
) -> Array:  # fmt: skip
    """bool: the union of structures laid around the places that are not 0. Arguments as binary_erosion."""
    return _iterated(
        input, structure, iterations, mask, output, border_value, origin, axes, True, "binary_dilation"
    )


def binary_opening(
    input: Any, structure: Any = None, iterations: int = 1, output: Any = None, origin: Any = 0, mask: Any = None,
    border_value: int = 0, brute_force: bool = False, *, axes: Any = None,
) -> Array:  # fmt: skip
    """binary_erosion, then binary_dilation."""
    made = binary_erosion(input, structure, iterations, mask, None, border_value, origin, axes=axes)
    return binary_dilation(made, structure, iterations, mask, output, border_value, origin, axes=axes)


def binary_closing(
    input: Any, structure: Any = None, iterations: int = 1, output: Any = None, origin: Any = 0, mask: Any = None,
    border_value: int = 0, brute_force: bool = False, *, axes: Any = None,
) -> Array:  # fmt: skip
    """binary_dilation, then binary_erosion."""
    made = binary_dilation(input, structure, iterations, mask, None, border_value, origin, axes=axes)
    return binary_erosion(made, structure, iterations, mask, output, border_value, origin, axes=axes)


def binary_hit_or_miss(
    input: Any, structure1: Any = None, structure2: Any = None, output: Any = None, origin1: Any = 0,
    origin2: Any = None, *, axes: Any = None,
) -> Array:  # fmt: skip
    """bool: where structure1 hits and structure2 (all of structure1's box without it by default) misses."""
    label = "binary_hit_or_miss"
    x = flags_of(input, label)
    at = axes_of(axes, x.ndim, label)
    first = structure_of(structure1, len(at), label)
    if structure2 is None:
        second = ew.logical_not(ew.not_equal(first, 0)) if isinstance(first, Array) else ~first
    else:
        second = structure_of(structure2, len(at), label)
    if not x.size:
        return given(copy_of(x), output, label)
    hit = step(x, first, at, 0, origin1, False, label)
    other = origin1 if origin2 is None else origin2
    miss = step(ew.logical_not(x), second, at, 1, other, False, label)
    return given(ew.logical_and(hit, miss), output, label)


def binary_propagation(
    input: Any, structure: Any = None, mask: Any = None, output: Any = None, border_value: int = 0, origin: Any = 0, *,
    axes: Any = None,
) -> Array:  # fmt: skip
    """binary_dilation within a mask until nothing changes."""
    return binary_dilation(input, structure, -1, mask, output, border_value, origin, axes=axes)


def binary_fill_holes(
    input: Any, structure: Any = None, output: Any = None, origin: Any = 0, *, axes: Any = None
) -> Array:
    """bool: input, and all that cannot be reached from outside it. structure says what is connected."""
    label = "binary_fill_holes"
    x = flags_of(input, label)
    nothing = full(x.shape, False, dtype=bool_)
    reached = binary_dilation(nothing, structure, -1, ew.logical_not(x), None, 1, origin, axes=axes)
    return given(ew.logical_not(reached), output, label)


def _grey(
    name: str, input: Any, size: Any, footprint: Any, structure: Any, output: Any, mode: Any, cval: Any, origin: Any,
    axes: Any, label: str,
) -> Array:  # fmt: skip
    x = real(input, label)
    if x.dtype is bool_ and structure is not None:
        raise TypeError(f"{label}: a structure's heights go with numbers, not with bool")
    turned = name == "max"
    made = extreme(name, x, size, footprint, structure, mode, cval, origin, axes, label, turned)
    return finish(made, x, output, label)


def grey_erosion(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Array:  # fmt: skip
    """The least of the elements around each one less the structure's: in a box of `size`, where footprint is True, or
    of structure's shape. Other arguments as minimum_filter."""
    return _grey("min", input, size, footprint, structure, output, mode, cval, origin, axes, "grey_erosion")


def grey_dilation(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Array:  # fmt: skip
    """The greatest of the elements around each one (of a window turned around) plus the structure's; as
    grey_erosion."""
    return _grey("max", input, size, footprint, structure, output, mode, cval, origin, axes, "grey_dilation")


def grey_opening(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Array:  # fmt: skip
    """grey_erosion, then grey_dilation."""
    made = grey_erosion(input, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return grey_dilation(made, size, footprint, structure, output, mode, cval, origin, axes=axes)


def grey_closing(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Array:  # fmt: skip
    """grey_dilation, then grey_erosion."""
    made = grey_dilation(input, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return grey_erosion(made, size, footprint, structure, output, mode, cval, origin, axes=axes)


def _less(a: Array, b: Array, x: Array, output: Any, label: str) -> Array:
    """a - b; of bools where they differ."""
    return finish(ew.bitwise_xor(a, b) if x.dtype is bool_ else ew.subtract(a, b), x, output, label)


def white_tophat(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Array:  # fmt: skip
    """input less its grey_opening."""
    x = real(input, "white_tophat")
    opened = grey_opening(x, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return _less(x, opened, x, output, "white_tophat")


def black_tophat(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Array:  # fmt: skip
    """grey_closing less input."""
    x = real(input, "black_tophat")
    closed = grey_closing(x, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return _less(closed, x, x, output, "black_tophat")


def morphological_gradient(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Array:  # fmt: skip
    """grey_dilation less grey_erosion."""
    x = real(input, "morphological_gradient")
    high = grey_dilation(x, size, footprint, structure, None, mode, cval, origin, axes=axes)
    low = grey_erosion(x, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return _less(high, low, x, output, "morphological_gradient")


def morphological_laplace(
    input: Any, size: Any = None, footprint: Any = None, structure: Any = None, output: Any = None,
    mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Array:  # fmt: skip
    """grey_dilation plus grey_erosion, less input twice. TypeError for bools."""
    label = "morphological_laplace"
    x = real(input, label)
    if x.dtype is bool_:
        raise TypeError(f"{label}: needs numbers, not bool")
    high = grey_dilation(x, size, footprint, structure, None, mode, cval, origin, axes=axes)
    low = grey_erosion(x, size, footprint, structure, None, mode, cval, origin, axes=axes)
    return finish(ew.subtract(ew.subtract(ew.add(high, low), x), x), x, output, label)
