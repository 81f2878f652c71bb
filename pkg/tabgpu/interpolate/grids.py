"""Values on rectilinear grids at any points, and the values of nearest points: one launch each."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import float32, int32, uint32
from ..ops import elementwise as ew
from ..ops.along import prepared
from ..ops.creation import astype, full
from ..ops.joining import concat, stack
from ..ops.manipulation import broadcast_arrays, reshape
from ..ops.routine import routine, stored
from ..ops.taking import take
from .knots import bits, bounds_guard, guarded, knots_of, single

METHODS = ("linear", "nearest")


class RegularGridInterpolator:
    """A function through values on a rectilinear grid of up to eight axes: RegularGridInterpolator(points, values)(xi).

    points: the increasing coordinates of each axis; values (axes.., trailing). method: "linear" or "nearest" (halves
    down). bounds_error: a point outside raises ValueError at the read; otherwise it has the fill_value, None
    extrapolates.
    """

    def __init__(
        self,
        points: Any,
        values: Any,
        method: str = "linear",
        bounds_error: bool = True,
        fill_value: Any = float("nan"),
    ) -> None:
        _check(method, "RegularGridInterpolator")
        table = prepared(values, "RegularGridInterpolator")
        self.values = table if table.dtype.kind in "fc" else astype(table, float32)
        pairs = [knots_of(p, "RegularGridInterpolator", 1) for p in points]
        self.grid = tuple(k for k, _ in pairs)
        self._guards = tuple(g for _, some in pairs for g in some)
        if not 1 <= len(self.grid) <= 8:
            raise ValueError(
                f"RegularGridInterpolator: there are 1 to 8 axes of points, not {len(self.grid)}"
            )
        sizes = tuple(k.size for k in self.grid)
        if table.shape[: len(sizes)] != sizes:
            raise ValueError(
                f"RegularGridInterpolator: points of sizes {sizes} do not fit values {table.shape}"
            )
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value

    def __call__(self, xi: Any, method: str | None = None) -> Array:
        """The values at points xi (.., axes), or a tuple of their coordinates: of shape xi.shape[:-1] + trailing."""
        how = self.method if method is None else method
        _check(how, "RegularGridInterpolator")
        axes = len(self.grid)
        at = points_of(xi, axes, "RegularGridInterpolator")
        lead, trailing = at.shape[:-1], self.values.shape[axes:]
        count = at.size // axes if at.size else 0
        columns = 1
        for n in trailing:
            columns *= n
        if not count or not columns:
            return full((*lead, *trailing), 0.0, dtype=self.values.dtype)
        at = reshape(at, (count, axes))
        filled = not self.bounds_error and self.fill_value is not None
        number = complex(self.fill_value) if filled else 0j
        knots = stored(concat(list(self.grid)))
        sizes = tuple(k.size for k in self.grid)

        def part(v: Array, fill: float) -> Array:
            extra = (count, columns, int(how == "nearest"), int(filled), bits(fill), *sizes)
            work = count * columns * 2**axes
            return routine(
                "interpolation.grid", [knots, stored(v), stored(at)], (count, columns), float32, extra, work
            )

        if self.values.dtype.kind == "c":
            got = ew.complex_of(
                part(ew.real(self.values), number.real), part(ew.imag(self.values), number.imag)
            )
        else:
            got = part(astype(self.values, float32, copy=False), number.real)
        guards = list(self._guards)
        if self.bounds_error:
            guards += [
                bounds_guard(at[:, d], k[0], k[-1], f"RegularGridInterpolator: dimension {d}")
                for d, k in enumerate(self.grid)
            ]
        return reshape(guarded(got, tuple(guards)), (*lead, *trailing))


def _check(method: str, where: str) -> None:
    if method not in METHODS:
        raise ValueError(f"{where}: method {method!r} is not defined; it is 'linear' or 'nearest'")


def points_of(xi: Any, axes: int, where: str) -> Array:
    """Points (.., axes) in float32; a tuple holds the coordinates of each axis, broadcast."""
    if isinstance(xi, tuple):
        parts = broadcast_arrays(*[single(v, where) for v in xi])
        at = stack(list(parts), axis=-1)
    else:
        at = single(xi, where)
        if axes == 1 and (at.ndim < 1 or at.shape[-1] != 1):
            at = reshape(at, (*at.shape, 1))
        elif at.ndim == 1 and axes > 1:
            at = reshape(at, (1, at.size))
    if at.shape[-1] != axes:
        raise ValueError(
            f"{where}: the requested sample points xi have dimension {at.shape[-1]}, expected {axes}"
        )
    return at


def interpn(
    points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True,
    fill_value: Any = float("nan"),
) -> Array:  # fmt: skip
    """RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)."""
    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)


class NearestNDInterpolator:
    """The value of the nearest of points x (n, axes): NearestNDInterpolator(x, y)(xi); the first of equals.

    All distances are computed, which suits up to some 100,000 points. rescale: each axis to [0, 1] first.
    """

    def __init__(self, x: Any, y: Any, rescale: bool = False) -> None:
        at = single(x, "NearestNDInterpolator")
        at = reshape(at, (at.size, 1)) if at.ndim == 1 else at
        if at.ndim != 2 or not at.shape[0]:
            raise ValueError(f"NearestNDInterpolator: points of shape (n, axes), got {at.shape}")
        self.values = prepared(y, "NearestNDInterpolator")
        if not self.values.ndim or self.values.shape[0] != at.shape[0]:
            raise ValueError(
                f"NearestNDInterpolator: {at.shape[0]} points, values of shape {self.values.shape}"
            )
        self._low: Any = None
        if rescale:
            from ..ops import reductions as rd

            low, high = rd.min(at, 0), rd.max(at, 0)
            self._low, self._size = low, ew.where(ew.greater(high, low), ew.subtract(high, low), 1.0)
            at = ew.divide(ew.subtract(at, low), self._size)
        self.points = at

    def __call__(self, *args: Any) -> Array:
        """The values at points (.., axes), or at coordinates given one by one."""
        n, axes = self.points.shape
        at = points_of(args[0] if len(args) == 1 else tuple(args), axes, "NearestNDInterpolator")
        lead = at.shape[:-1]
        if self._low is not None:
            at = ew.divide(ew.subtract(at, self._low), self._size)
        q = at.size // axes
        if not q:
            return full((*lead, *self.values.shape[1:]), 0, dtype=self.values.dtype)
        args_ = [stored(self.points), stored(reshape(at, (q, axes)))]
        best = routine("interpolation.nearest", args_, (q, 2), uint32, (n, q, axes), q * n // 8)
        return take(self.values, reshape(astype(best[:, 1], int32), lead), axis=0)


def griddata(
    points: Any,
    values: Any,
    xi: Any,
    method: str = "linear",
    fill_value: float = float("nan"),
    rescale: bool = False,
) -> Array:
    """Scattered values at other points: method "nearest" in any number of axes, "linear" of points on one axis.

    points (n, axes) or (n,) or a tuple of coordinates; values (n, ..); xi as for NearestNDInterpolator. Linear in two
    axes and more needs a triangulation: ValueError (values on a grid: RegularGridInterpolator).
    """
    where = "griddata"
    if isinstance(points, tuple):
        points = stack(list(broadcast_arrays(*[single(p, where) for p in points])), axis=-1)
    at = single(points, where)
    axes = 1 if at.ndim < 2 else at.shape[-1]
    if method == "nearest":
        return NearestNDInterpolator(at, values, rescale)(xi)
    if method != "linear" or axes != 1:
        raise ValueError(
            f"griddata: method {method!r} of {axes} axes is not there: 'nearest', or 'linear' of one axis; values on a "
            "grid: RegularGridInterpolator"
        )
    from .lines import interp1d

    given = xi[0] if isinstance(xi, tuple) else xi
    line = reshape(at, (at.size,))
    return interp1d(line, values, axis=0, bounds_error=False, fill_value=fill_value)(given)
