"""Numerical derivatives and integrals of sampled functions: gradient, trapezoid."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import float32
from ..layout import normalize_axes, normalize_axis
from . import elementwise as ew
from . import reductions as rd
from .creation import astype
from .joining import concat
from .manipulation import getitem, reshape


def _floats(x: Any, where: str) -> Array:
    x = rd.prepared(x, where)
    return astype(x, float32) if x.dtype.kind in "biu" else x


def _cut(x: Array, axis: int, start: int | None, stop: int | None) -> Array:
    """A slice along one axis."""
    return getitem(x, (*(slice(None),) * axis, slice(start, stop)))


def trapezoid(y: Any, x: Any = None, /, dx: float = 1.0, axis: int = -1) -> Array:
    """The integral of samples y along an axis by the trapezoidal rule; float32 for integers.

    x: where the samples lie, in y's shape or 1-D along the axis; otherwise they are dx apart.
    """
    values = _floats(y, "trapezoid")
    k = normalize_axis(axis, values.ndim, "trapezoid")
    both = ew.add(_cut(values, k, 1, None), _cut(values, k, None, -1))
    if x is None:
        return rd.sum(ew.multiply(both, float(dx) / 2), k)
    points = _floats(x, "trapezoid")
    if points.ndim == 1:
        points = reshape(points, tuple([-1 if d == k else 1 for d in range(values.ndim)]))
    along = normalize_axis(axis, points.ndim, "trapezoid")
    steps = ew.subtract(_cut(points, along, 1, None), _cut(points, along, None, -1))
    return rd.sum(ew.multiply(ew.multiply(both, steps), 0.5), k)


def gradient(f: Any, /, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Central differences in the interior, one-sided ones (of first or second order) at the ends; float32 for integers.

    varargs: nothing (samples 1 apart), one distance for all axes, or for each axis a distance or 1-D coordinates. axis:
    along which (None: all). An Array for one axis, a tuple of them for several. ValueError for axes of fewer than
    edge_order + 1 samples.
    """
    f = _floats(f, "gradient")
    axes = normalize_axes(axis, f.ndim, "gradient")
    if isinstance(axis, (tuple, list)):  # in the order given
        axes = tuple([normalize_axis(k, f.ndim, "gradient") for k in axis])
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order must be 1 or 2, not {edge_order!r}")
    steps = list(varargs) or [1.0]
    if len(steps) == 1 and len(axes) != 1 and _scalar(steps[0]):
        steps = steps * len(axes)
    if len(steps) != len(axes):
        raise TypeError(f"gradient: {len(steps)} spacings for {len(axes)} axes")
    for k in axes:
        if f.shape[k] < edge_order + 1:
            raise ValueError(
                f"gradient: axis {k} of shape {f.shape} is too small: at least {edge_order + 1} elements are required"
            )
    found = [_along(f, k, h, edge_order) for k, h in zip(axes, steps, strict=True)]
    return found[0] if len(axes) == 1 else tuple(found)


def _scalar(x: Any) -> bool:
    return isinstance(x, (int, float)) or getattr(x, "shape", None) == ()


def _along(f: Array, k: int, h: Any, edge_order: int) -> Array:
    """The derivative along one axis."""

    def part(start: int | None, stop: int | None) -> Array:
        return _cut(f, k, start, stop)

    def mix(*terms: tuple[Any, Array]) -> Array:
        total = ew.multiply(terms[0][1], terms[0][0])
        for factor, x in terms[1:]:
            total = ew.add(total, ew.multiply(x, factor))
        return total

    ends = [part(0, 1), part(1, 2), part(-2, -1), part(-1, None)]
    if _scalar(h):
        h = float(h) if isinstance(h, (int, float)) else h
        middle = ew.divide(ew.subtract(part(2, None), part(None, -2)), h * 2)
        if edge_order == 1:
            left, right = (ew.divide(ew.subtract(b, a), h) for a, b in (ends[:2], ends[2:]))
        else:
            left = ew.divide(mix((-1.5, ends[0]), (2.0, ends[1]), (-0.5, part(2, 3))), h)
            right = ew.divide(mix((0.5, part(-3, -2)), (-2.0, ends[2]), (1.5, ends[3])), h)
        return concat((left, middle, right), axis=k)
    points = _floats(h, "gradient")
    if points.ndim != 1 or points.shape[0] != f.shape[k]:
        raise ValueError(
            f"gradient: coordinates of shape {points.shape} do not fit axis {k} of shape {f.shape}"
        )
    steps = ew.subtract(_cut(points, 0, 1, None), _cut(points, 0, None, -1))
    steps = reshape(steps, tuple([-1 if d == k else 1 for d in range(f.ndim)]))
    a, b = _cut(steps, k, None, -1), _cut(steps, k, 1, None)
    both = ew.add(a, b)
    middle = mix(
        (ew.negative(ew.divide(b, ew.multiply(a, both))), part(None, -2)),
        (ew.divide(ew.subtract(b, a), ew.multiply(a, b)), part(1, -1)),
        (ew.divide(a, ew.multiply(b, both)), part(2, None)),
    )
    if edge_order == 1:
        left = ew.divide(ew.subtract(ends[1], ends[0]), _cut(steps, k, 0, 1))
        right = ew.divide(ew.subtract(ends[3], ends[2]), _cut(steps, k, -1, None))
        return concat((left, middle, right), axis=k)
    a, b = _cut(steps, k, 0, 1), _cut(steps, k, 1, 2)
    both = ew.add(a, b)
    left = mix(
        (ew.negative(ew.divide(ew.add(a, both), ew.multiply(a, both))), ends[0]),
        (ew.divide(both, ew.multiply(a, b)), ends[1]),
        (ew.negative(ew.divide(a, ew.multiply(b, both))), part(2, 3)),
    )
    a, b = _cut(steps, k, -2, -1), _cut(steps, k, -1, None)
    both = ew.add(a, b)
    right = mix(
        (ew.divide(b, ew.multiply(a, both)), part(-3, -2)),
        (ew.negative(ew.divide(both, ew.multiply(a, b))), ends[2]),
        (ew.divide(ew.add(b, both), ew.multiply(b, both)), ends[3]),
    )
    return concat((left, middle, right), axis=k)


__all__ = ["gradient", "trapezoid"]
