"""Geometry under scipy.ndimage's names: affine maps, rotations, shifts, zooms, and places that an array gives."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, prod, radians, sin
from typing import Any

from ..array import Array
from ..dtypes import float32
from ..layout import normalize_axis
from ..ops import elementwise as ew
from ..ops.creation import astype, copy_of, full
from .arguments import each, prepared, scalar
from .splines import ONE, mapped, order_of, rounded, sampled, spread

__all__ = ["affine_transform", "map_coordinates", "rotate", "shift", "zoom"]


def _parts(x: Array, cval: Any, f: Callable[[Array, float], Array]) -> Array:
    """f of real arrays, of a complex one by parts."""
    if x.dtype.kind != "c":
        return f(x, scalar(cval, "cval", "cval"))
    c = complex(cval)
    return ew.add(f(ew.real(x), c.real), ew.multiply(f(ew.imag(x), c.imag), 1j))


def _numbers(value: Any, label: str, what: str) -> Any:
    """Host numbers as nested lists of floats."""
    if isinstance(value, Array):
        raise TypeError(
            f"{label}: {what} is host data here (a NumPy array or lists), not an array on the GPU"
        )
    value = value.tolist() if hasattr(value, "tolist") else value
    if hasattr(value, "__len__") and not isinstance(value, str):
        return [_numbers(v, label, what) for v in value]
    return scalar(value, label, what)


def _along_axes(
    x: Array, results: list[int], firsts: list[Any], steps: list[Any], order: int, mode: Any, cval: Any,
    prefilter: bool, label: str,
) -> Array:  # fmt: skip
    """Each axis mapped by itself; those that stay as they are have no part in it."""
    smooths = order > 1 and not prefilter
    used = [
        k for k in range(x.ndim)
        if smooths or results[k] != x.shape[k] or firsts[k] != 0 or steps[k] not in (1.0, ONE)
    ]  # fmt: skip
    if not used:
        return copy_of(x)

    def through(y: Array, c: float) -> Array:
        for at in range(0, len(used), 3):
            axes = used[at : at + 3]
            rows = [[steps[k] if j == k else 0 for j in axes] for k in axes]
            outs = [results[k] for k in axes]
            y = mapped(y, axes, outs, [firsts[k] for k in axes], rows, order, mode, c, prefilter, label)
        return y

    return _parts(x, cval, through)


def _nothing(x: Array, shape: Any, cval: Any) -> Array | None:
    """The result of an empty array."""
    if not prod(shape):
        return full(shape, 0, dtype=x.dtype)
    if not x.size:
        return full(shape, cval, dtype=x.dtype)
    return None


def shift(
    input: Any, shift: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0,
    prefilter: bool = True,
) -> Array:  # fmt: skip
    """input moved by `shift` elements, one number or one an axis, by splines of an order (0 to 5).

    mode: constant (cval for what comes from outside the first and last element), nearest, reflect, mirror, wrap
    (periods of size - 1), grid-constant (elements of cval outside), grid-mirror, grid-wrap. prefilter=False: input
    has the coefficients of spline_filter already. Computed in float32 at places exact to 2^-32 of an element (what
    is within 2^-16 of an end lies on it); the result has input's dtype (integers rounded) or what `output` says.
    Complex by parts.
    """
    label = "shift"
    n, x = order_of(order, label), spread(input, label)
    moves = [-scalar(v, label, "shift") for v in each(shift, x.ndim, label, "shift")]
    empty = _nothing(x, x.shape, cval)
    made = empty if empty is not None else _along_axes(
        x, list(x.shape), moves, [1.0] * x.ndim, n, mode, cval, prefilter, label
    )  # fmt: skip
    return rounded(made, x, output, label)


def zoom(
    input: Any, zoom: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0,
    prefilter: bool = True, *, grid_mode: bool = False,
) -> Array:  # fmt: skip
    """input with round(size * zoom) elements an axis: zoom is one number or one an axis. First and last elements keep
    their places; with grid_mode the edges of the elements do. Other arguments as shift."""
    label = "zoom"
    n, x = order_of(order, label), spread(input, label)
    outs = [
        round(s * scalar(v, label, "zoom"))
        for s, v in zip(x.shape, each(zoom, x.ndim, label, "zoom"), strict=True)
    ]
    if min(outs) < 0:
        raise ValueError(f"{label}: zoom {zoom!r} gives no shape")
    empty = _nothing(x, outs, cval)
    if empty is not None:
        return rounded(empty, x, output, label)
    firsts, steps = [], []
    for s, o in zip(x.shape, outs, strict=True):
        num, den = (s, o) if grid_mode else (s - 1, o - 1)
        step = (2 * num * ONE + den) // (2 * den) if den else ONE  # multiples of 2^-32, rounded once
        steps.append(step)
        firsts.append(((num - den) * ONE) // (2 * den) if grid_mode else 0)
    made = _along_axes(x, outs, firsts, steps, n, mode, cval, prefilter, label)
    return rounded(made, x, output, label)


def affine_transform(
    input: Any, matrix: Any, offset: Any = 0.0, output_shape: Any = None, output: Any = None, order: int = 3,
    mode: str = "constant", cval: Any = 0.0, prefilter: bool = True,
) -> Array:  # fmt: skip
    """The result at o is input at matrix @ o + offset. matrix: host numbers, one an axis, a matrix of (axes of input,
    axes of the result), or a homogeneous one; at most three axes each, but for a diagonal. output_shape: input's by
    default. Other arguments as shift. ValueError for shapes that do not fit."""
    label = "affine_transform"
    n, x = order_of(order, label), spread(input, label)
    m = _numbers(matrix, label, "matrix")
    shifts = each(_numbers(offset, label, "offset"), x.ndim, label, "offset")
    if output_shape is None:
        output_shape = output.shape if isinstance(output, Array) else x.shape
    outs = [int(v) for v in output_shape]
    flat = not isinstance(m, list) or not m or not isinstance(m[0], list)
    if not isinstance(m, list):
        raise ValueError(f"{label}: matrix {matrix!r} is no matrix")
    if not flat and len(m) in (x.ndim, x.ndim + 1) and all(len(row) == x.ndim + 1 for row in m):
        if len(m) > x.ndim and m[-1] != [0.0] * x.ndim + [1.0]:
            raise ValueError(f"{label}: the last row of a homogeneous matrix is 0 .. 0 1, not {m[-1]}")
        shifts, m = [row[-1] for row in m[: x.ndim]], [row[:-1] for row in m[: x.ndim]]
    if len(m) != x.ndim or (len(outs) != x.ndim if flat else any(len(row) != len(outs) for row in m)):
        raise ValueError(f"{label}: a matrix {matrix!r} maps no result of {len(outs)} axes to {x.ndim}")
    empty = _nothing(x, outs, cval)
    if empty is not None:
        return rounded(empty, x, output, label)
    if flat:
        made = _along_axes(x, outs, shifts, m, n, mode, cval, prefilter, label)
        return rounded(made, x, output, label)
    if max(x.ndim, len(outs)) > 3:
        raise ValueError(f"{label}: matrices take up to three axes, not {x.shape} to {tuple(outs)}")
    axes = range(x.ndim)
    made = _parts(x, cval, lambda y, c: mapped(y, axes, outs, shifts, m, n, mode, c, prefilter, label))
    return rounded(made, x, output, label)


def rotate(
    input: Any, angle: float, axes: Any = (1, 0), reshape: bool = True, output: Any = None, order: int = 3,
    mode: str = "constant", cval: Any = 0.0, prefilter: bool = True,
) -> Array:  # fmt: skip
    """input turned by `angle` degrees in the plane of two axes. reshape: the result has room for all of input. Other
    arguments as shift."""
    label = "rotate"
    n, x = order_of(order, label), prepared(input, label)
    if x.ndim < 2 or len(axes) != 2:
        raise ValueError(f"{label}: needs two axes, not {axes!r} of shape {x.shape}")
    a, b = sorted(normalize_axis(k, x.ndim, label) for k in axes)
    if a == b:
        raise ValueError(f"{label}: axes {axes!r} are one axis")
    turns = scalar(angle, label, "angle") % 360
    quarter = {0: (1.0, 0.0), 90: (0.0, 1.0), 180: (-1.0, 0.0), 270: (0.0, -1.0)}
    exact = quarter.get(int(turns)) if turns % 90 == 0 else None
    c, s = exact or (cos(radians(turns)), sin(radians(turns)))
    h, w = x.shape[a], x.shape[b]
    outs = [h, w]
    if reshape:
        corners = [(0, 0), (0, w), (h, 0), (h, w)]
        ys, xs = [c * p + s * q for p, q in corners], [-s * p + c * q for p, q in corners]
        outs = [int(max(v) - min(v) + 0.5) for v in (ys, xs)]
    cy, cx = (outs[0] - 1) / 2, (outs[1] - 1) / 2
    offset = [(h - 1) / 2 - (c * cy + s * cx), (w - 1) / 2 - (-s * cy + c * cx)]
    shape = [outs[0] if k == a else outs[1] if k == b else v for k, v in enumerate(x.shape)]
    empty = _nothing(x, shape, cval)
    if empty is not None:
        return rounded(empty, x, output, label)
    rows = [[c, s], [-s, c]]
    made = _parts(x, cval, lambda y, v: mapped(y, (a, b), outs, offset, rows, n, mode, v, prefilter, label))
    return rounded(made, x, output, label)


def map_coordinates(
    input: Any, coordinates: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0,
    prefilter: bool = True,
) -> Array:  # fmt: skip
    """input (of one to three axes) at float32 coordinates (axes, ...): a result of their trailing shape. NaN lies
    outside. Other arguments as shift."""
    label = "map_coordinates"
    n, x, places = order_of(order, label), spread(input, label), prepared(coordinates, label)
    if places.dtype.kind == "c":
        raise TypeError(f"{label}: coordinates are real, not complex")
    if places.ndim < 2 or places.shape[0] != x.ndim:
        raise ValueError(
            f"{label}: coordinates of shape {places.shape} do not go with an array of shape {x.shape}"
        )
    if x.ndim > 3:
        raise ValueError(f"{label}: takes up to three axes, not {x.shape}")
    empty = _nothing(x, places.shape[1:], cval)
    if empty is not None:
        return rounded(empty, x, output, label)
    wide = astype(places, float32, copy=False)
    made = _parts(x, cval, lambda y, c: sampled(y, wide, n, mode, c, prefilter, label))
    return rounded(made, x, output, label)
