"""Integrals of samples under scipy.integrate's names: cumulative_trapezoid, simpson; trapezoid is the top level's."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.calculus import trapezoid
from ..ops.creation import astype, zeros
from ..ops.joining import concat
from ..ops.manipulation import reshape
from ..ops.scans import cumsum
from .samples import along, axis_of, cut, floats


def _steps(x: Any, dx: float, y: Array, axis: int, where: str) -> Any:
    """Distances of samples: a number, or an Array that broadcasts along the axis."""
    if x is None:
        return float(dx)
    points, _ = floats(x, where)
    if points.ndim == 1:
        if points.shape[0] != y.shape[axis]:
            raise ValueError(f"{where}: x of shape {points.shape} does not fit axis {axis} of y {y.shape}")
        points = along(points, axis, y.ndim)
    elif points.ndim != y.ndim:
        raise ValueError(f"{where}: x of shape {points.shape} and y of {y.shape}: one axis, or as many as y")
    return ew.subtract(cut(points, axis, 1, None), cut(points, axis, None, -1))


def cumulative_trapezoid(
    y: Any, x: Any = None, dx: float = 1.0, axis: int = -1, initial: Any = None
) -> Array:
    """Running integrals by the trapezoidal rule along an axis, one fewer than samples; initial=0: a 0 in front."""
    values, want = floats(y, "cumulative_trapezoid")
    k = axis_of(values, axis, "cumulative_trapezoid")
    if not values.shape[k]:
        raise ValueError(f"cumulative_trapezoid: y {values.shape} has no samples along axis {axis}")
    steps = _steps(x, dx, values, k, "cumulative_trapezoid")
    both = ew.add(cut(values, k, 1, None), cut(values, k, None, -1))
    made = cumsum(ew.multiply(ew.multiply(both, steps), 0.5), axis=k)
    if initial is not None:
        if initial != 0:
            raise ValueError(f"cumulative_trapezoid: initial must be None or 0, not {initial!r}")
        shape = (*made.shape[:k], 1, *made.shape[k + 1 :])
        made = concat([zeros(shape, dtype=made.dtype), made], axis=k)
    return astype(made, want if made.dtype.kind == want.kind else made.dtype, copy=False)


def simpson(y: Any, x: Any = None, *, dx: float = 1.0, axis: int = -1) -> Array:
    """The integral of samples along an axis by Simpson's rule; of an even number of them the last
    interval is Cartwright's."""
    values, want = floats(y, "simpson")
    k = axis_of(values, axis, "simpson")
    n = values.shape[k]
    if n < 1:
        raise ValueError(f"simpson: y {values.shape} has no samples along axis {axis}")
    if n == 1:
        return ew.multiply(reshape(values, (*values.shape[:k], *values.shape[k + 1 :])), 0.0)
    if n == 2:
        return trapezoid(values, x, dx, k) if x is not None else trapezoid(values, None, dx, k)
    steps = _steps(x, dx, values, k, "simpson")
    even = n % 2 == 0
    stop = n - 2 if even else n - 1  # intervals that pairs of them cover

    def sample(first: int) -> Array:
        return cut(values, k, first, first + stop - 1, 2)

    a, b, c = sample(0), sample(1), sample(2)
    if isinstance(steps, float):
        parts = ew.multiply(ew.add(ew.add(a, c), ew.multiply(b, 4.0)), steps / 3)
    else:
        h0, h1 = cut(steps, k, 0, stop, 2), cut(steps, k, 1, stop, 2)
        both, ratio = ew.add(h0, h1), ew.divide(h0, h1)
        wa = ew.subtract(2.0, ew.divide(1.0, ratio))
        wb = ew.divide(ew.multiply(both, both), ew.multiply(h0, h1))
        wc = ew.subtract(2.0, ratio)
        total = ew.add(ew.add(ew.multiply(a, wa), ew.multiply(b, wb)), ew.multiply(c, wc))
        parts = ew.multiply(total, ew.divide(both, 6.0))
    made = rd.sum(parts, k)
    if even:
        p: Any
        q: Any
        if isinstance(steps, float):
            p = q = steps
        else:
            p, q = (cut(steps, k, i, i + 1) for i in (n - 3, n - 2))
        f0, f1, f2 = (cut(values, k, i, i + 1) for i in (n - 3, n - 2, n - 1))
        alpha = (2 * q * q + 3 * p * q) / (6 * (q + p))
        beta = (q * q + 3 * p * q) / (6 * p)
        eta = q * q * q / (6 * p * (p + q))
        end = ew.subtract(ew.add(ew.multiply(f2, alpha), ew.multiply(f1, beta)), ew.multiply(f0, eta))
        made = ew.add(made, rd.sum(end, k))
    return astype(made, want if made.dtype.kind == want.kind else made.dtype, copy=False)


__all__ = ["cumulative_trapezoid", "simpson", "trapezoid"]
