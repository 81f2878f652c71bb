"""Functions between neighbouring points: tg.interp, and interp1d with SciPy's kinds."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import float32
from ..graph import Guard
from ..ops import elementwise as ew
from ..ops.along import prepared
from ..ops.convert import from_host
from ..ops.creation import astype
from ..ops.joining import concat
from ..ops.manipulation import broadcast_to, reshape
from ..ops.picking import pick
from ..ops.sorting import order_of
from .knots import (
    ENDS,
    FILL,
    SKIP,
    bounds_guard,
    by_parts,
    evaluated,
    guarded,
    knots_of,
    placed,
    rows_of,
    single,
)

KINDS = ("linear", "slinear", "nearest", "nearest-up", "zero", "previous", "next", "cubic")


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None
) -> Array:
    """The line through (xp, fp) at x: of x's shape, float32, or complex64 for complex fp. One launch: a binary search
    each.

    xp: 1-D, increasing (not checked, as NumPy). left, right: numbers for x below xp[0] and above xp[-1], by default
    fp's ends. period: of x; xp need not be sorted then, and left and right do not count. NaN gives NaN.
    """
    at, knots = single(x, "interp"), single(xp, "interp")
    values = prepared(fp, "interp")
    values = values if values.dtype.kind == "c" else astype(values, float32, copy=False)
    if knots.ndim != 1 or values.ndim != 1:
        raise ValueError(
            f"interp: data points must be 1-D sequences, got shapes {knots.shape} and {values.shape}"
        )
    if not knots.size:
        raise ValueError("interp: array of sample points is empty")
    if knots.size != values.size:
        raise ValueError(f"interp: fp and xp are not of the same length: {values.size} and {knots.size}")
    if period is not None:
        if period == 0:
            raise ValueError("interp: period must be a non-zero value")
        span = abs(float(period))
        left = right = None
        at, knots = ew.remainder(at, span), ew.remainder(knots, span)
        order = order_of(knots)
        knots, values = pick(knots, order), pick(values, order)
        knots = concat([ew.subtract(knots[-1:], span), knots, ew.add(knots[:1], span)])
        values = concat([values[-1:], values, values[:1]])
    n, shape = knots.size, at.shape

    def part(table: Array, which: int) -> Array:
        sides = []
        for given in (left, right):
            if given is None:
                sides.append((ENDS, 0.0))
            else:
                number = complex(given)
                sides.append((FILL, number.imag if which else number.real))
        return reshape(evaluated("linear", knots, reshape(table, (n, 1)), at, 1, 1, *sides), shape)

    if values.dtype.kind == "c":
        return ew.complex_of(part(ew.real(values), 0), part(ew.imag(values), 1))
    return part(values, 0)


class interp1d:  # SciPy's name
    """A function through points: interp1d(x, y)(x_new).

    x: 1-D, sorted first unless assume_sorted; y: values along an axis (the last one). kind: "linear", "nearest" (halves
    down), "nearest-up", "previous" (or "zero"), "next", "cubic" (not-a-knot). fill_value: a number for outside, a pair
    for below and above, or "extrapolate". bounds_error: a value outside raises ValueError at the read; by default
    unless fill_value is given.
    """

    def __init__(
        self, x: Any, y: Any, kind: str = "linear", axis: int = -1, copy: bool = True, bounds_error: bool | None = None,
        fill_value: Any = None, assume_sorted: bool = False,
    ) -> None:  # fmt: skip
        if kind not in KINDS:
            raise ValueError(f"interp1d: kind must be one of {', '.join(KINDS)}, not {kind!r}")
        values = prepared(y, "interp1d")
        if not values.ndim:
            raise ValueError("interp1d: the y array must have at least one dimension.")
        knots = single(x, "interp1d")
        if knots.ndim != 1 or not knots.size:
            raise ValueError(
                f"interp1d: the x array must have exactly one dimension, its shape is {knots.shape}"
            )
        self.kind = kind
        self._extrapolate = isinstance(fill_value, str)
        if self._extrapolate and fill_value != "extrapolate":
            raise ValueError(f"interp1d: fill_value {fill_value!r}")
        if self._extrapolate and bounds_error:
            raise ValueError("interp1d: cannot extrapolate and raise at the same time.")
        self._bounds_error = (fill_value is None) if bounds_error is None else bool(bounds_error)
        fill = float("nan") if fill_value is None or self._extrapolate else fill_value
        low, high = fill if isinstance(fill, (tuple, list)) and len(fill) == 2 else (fill, fill)
        self._fills = low, high
        table, self._rest, self._axis = rows_of(values, knots.size, axis, "interp1d")
        if not assume_sorted:
            order = order_of(knots)
            knots = pick(knots, order)
            table = pick(table.T, order).T  # type: ignore[attr-defined]
        self._spline: Any = None
        self._guards: tuple[Guard, ...] = ()
        if kind == "cubic":
            from .splines import CubicSpline

            if knots.size < 4:
                raise ValueError(
                    "interp1d: the number of derivatives at boundaries does not match: 4 points at least"
                )
            self._spline = CubicSpline(knots, table)
        elif knots.size > 1:
            self._guards = knots_of(knots, "interp1d")[1] if kind != "zero" else ()
        self.x, self._table = knots, table

    def __call__(self, x: Any) -> Array:
        """The values at x, of y's shape with x's in the place of the axis."""
        at = single(x, "interp1d")
        n, columns = self.x.size, self._table.shape[1]
        flat = reshape(at, (at.size,))
        if self._spline is not None:
            got = self._spline(flat)
        else:
            kind = {"slinear": "linear", "zero": "previous"}.get(self.kind, self.kind)
            nothing = (FILL, float("nan"))  # before the first one, behind the last one
            sides = tuple(nothing if self.kind == k else (SKIP, 0.0) for k in ("previous", "next"))
            table = self._table
            got = by_parts(
                lambda v: evaluated(kind, self.x, reshape(v, (n, columns)), flat, columns, 1, *sides), table
            )
            got = guarded(got, self._guards) if got.size else got
        if not self._extrapolate:
            line = reshape(flat, (flat.size, 1))
            for side, outside in zip(
                self._fills, (ew.less(line, self.x[0]), ew.greater(line, self.x[-1])), strict=True
            ):
                got = ew.where(outside, self._filled(side, got), got)
        if self._bounds_error and flat.size and got.size:
            got = guarded(got, (bounds_guard(flat, self.x[0], self.x[-1], "interp1d"),))
        return placed(got, at.shape, self._rest, self._axis)

    def _filled(self, value: Any, like: Array) -> Any:
        if isinstance(value, (int, float, complex)):
            return float(value) if not isinstance(value, complex) else value
        given = prepared(value, "interp1d") if isinstance(value, Array) else from_host(value, "interp1d")
        given = broadcast_to(given, self._rest)
        return astype(reshape(given, (1, like.shape[1])), like.dtype, copy=False)
