"""Piecewise polynomials: PPoly, cubic splines (tridiagonal systems by cyclic reduction), PCHIP, Akima, Hermite."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import float32
from ..graph import Guard
from ..layout import Shape
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.along import prepared
from ..ops.creation import astype, full, zeros
from ..ops.joining import concat, stack
from ..ops.manipulation import reshape
from ..ops.routine import routine, stored
from ..ops.scans import cumulative_sum
from .knots import FILL, SKIP, by_parts, evaluated, guarded, knots_of, placed, rows_of, single


class PPoly:
    """A piecewise polynomial: c (k, m, ..) holds the coefficients of m pieces between the m + 1 increasing knots x, the
    highest power of (x - knot) first. extrapolate: True (the outer pieces), False (NaN), "periodic"."""

    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> None:
        knots, guards = knots_of(x, "PPoly")
        made = prepared(c, "PPoly")
        made = made if made.dtype.kind in "fc" else astype(made, float32)
        if made.ndim < 2 or made.shape[1] != knots.size - 1:
            raise ValueError(f"PPoly: c of shape {made.shape} does not fit {knots.size} knots")
        self._set(made, knots, extrapolate, axis, guards)

    def _set(
        self, c: Array, x: Array, extrapolate: Any, axis: int, guards: tuple[Guard, ...]
    ) -> None:  # fmt: skip
        if extrapolate not in (None, True, False, "periodic"):
            raise ValueError(f"PPoly: extrapolate must be True, False or 'periodic', not {extrapolate!r}")
        self.c, self.x, self.axis = c, x, axis
        self.extrapolate = True if extrapolate is None else extrapolate
        self._guards = guards

    @classmethod
    def _made(cls, c: Array, like: PPoly) -> PPoly:
        new = PPoly.__new__(PPoly)
        new._set(c, like.x, like.extrapolate, like.axis, like._guards)
        return new

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Array:
        """The values (nu: of the nu-th derivative) at x: the shape of c behind its first two axes, with x's at the
        axis."""
        if nu:
            return self.derivative(nu)(x, extrapolate=extrapolate)
        how = self.extrapolate if extrapolate is None else extrapolate
        at = single(x, type(self).__name__)
        flat = reshape(at, (at.size,))
        if how == "periodic":
            first = self.x[0]
            flat = ew.add(ew.remainder(ew.subtract(flat, first), ew.subtract(self.x[-1], first)), first)
        side = (SKIP, 0.0) if how else (FILL, float("nan"))
        k, _, *rest = self.c.shape
        columns = 1
        for n in rest:
            columns *= n
        got = by_parts(lambda v: evaluated("polynomial", self.x, v, flat, columns, k, side, side), self.c)
        return placed(guarded(got, self._guards) if got.size else got, at.shape, tuple(rest), self.axis)

    def derivative(self, nu: int = 1) -> PPoly:
        """The nu-th derivative as a PPoly (nu < 0: the antiderivative)."""
        if nu < 0:
            return self.antiderivative(-nu)
        c = self.c
        for _ in range(nu):
            k = c.shape[0]
            if k == 1:
                c = ew.multiply(c, 0.0)
                break
            powers = reshape(
                astype(ew.subtract(k - 1, _counting(k - 1)), float32), (k - 1,) + (1,) * (c.ndim - 1)
            )
            c = ew.multiply(c[:-1], powers)
        return self._made(c, self)

    def antiderivative(self, nu: int = 1) -> PPoly:
        """The nu-th antiderivative as a PPoly that is continuous and 0 at the first knot."""
        if nu < 0:
            return self.derivative(-nu)
        c = self.c
        for _ in range(nu):
            k = c.shape[0]
            powers = reshape(astype(ew.subtract(k, _counting(k)), float32), (k,) + (1,) * (c.ndim - 1))
            raised = ew.divide(c, powers)
            steps = _column(ew.subtract(self.x[1:], self.x[:-1]), c.ndim - 1)
            area = raised[0]
            for j in range(1, k):
                area = ew.add(ew.multiply(area, steps), raised[j])
            area = ew.multiply(area, steps)
            begin = ew.subtract(cumulative_sum(area, axis=0), area)
            c = concat([raised, reshape(begin, (1, *begin.shape))], axis=0)
        return self._made(c, self)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Array:
        """The integral from a to b (numbers)."""
        how = self.extrapolate if extrapolate is None else extrapolate
        if how == "periodic":
            raise ValueError("PPoly.integrate: not there for periodic functions; split the interval")
        whole = self.antiderivative()
        return ew.subtract(whole(b, extrapolate=how), whole(a, extrapolate=how))


def _counting(n: int) -> Array:
    from ..ops.creation import positions

    return positions(n)


def _column(x: Array, rank: int) -> Array:
    """A 1-D array along the first of `rank` axes."""
    return reshape(x, (x.size,) + (1,) * (rank - 1))


class CubicHermiteSpline(PPoly):
    """The cubics through y with slopes dydx at increasing knots x, along an axis."""

    def __init__(self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> None:
        where = type(self).__name__
        knots, guards = knots_of(x, where)
        table, rest, k = rows_of(y, knots.size, axis, where)
        slopes, _, _ = rows_of(dydx, knots.size, axis, where)
        if slopes.shape != table.shape:
            raise ValueError(f"{where}: y and dydx have different shapes")
        self._through(knots, table, slopes, rest, k, extrapolate, guards)

    def _through(
        self, knots: Array, y: Array, s: Array, rest: Shape, axis: int, extrapolate: Any, guards: tuple[Guard, ...]
    ) -> None:  # fmt: skip
        h = _column(ew.subtract(knots[1:], knots[:-1]), 2)
        m = ew.divide(ew.subtract(y[1:], y[:-1]), h)
        t = ew.divide(ew.subtract(ew.add(s[:-1], s[1:]), ew.multiply(m, 2.0)), h)
        second = ew.subtract(ew.divide(ew.subtract(m, s[:-1]), h), t)
        c = stack([ew.divide(t, h), second, s[:-1], y[:-1]], axis=0)
        self._set(reshape(c, (4, knots.size - 1, *rest)), knots, extrapolate, axis, guards)


ENDS = {"natural": (2, 0.0), "clamped": (1, 0.0)}


class CubicSpline(CubicHermiteSpline):
    """The cubic spline through y at increasing knots x, along an axis: twice continuously differentiable.

    bc_type: "not-a-knot", "natural", "clamped", "periodic", or one of these (but "periodic") or (order of a
    derivative, its value) for each end. With "periodic" y's ends are taken to be equal. The slopes solve a tridiagonal
    system by seven steps of cyclic reduction, whatever the number of knots: couplings square at each step.
    """

    def __init__(
        self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None
    ) -> None:  # fmt: skip
        knots, guards = knots_of(x, "CubicSpline")
        table, rest, k = rows_of(y, knots.size, axis, "CubicSpline")
        ends = [bc_type] * 2 if isinstance(bc_type, str) else list(bc_type)
        if len(ends) != 2 or (
            not isinstance(bc_type, str) and "periodic" in [e for e in ends if isinstance(e, str)]
        ):
            raise ValueError(
                f"CubicSpline: bc_type must be a name or a pair, without 'periodic': {bc_type!r}"
            )
        for e in ends:
            known = (
                e in ("not-a-knot", "natural", "clamped", "periodic")
                if isinstance(e, str)
                else e[0] in (1, 2)
            )
            if not known:
                raise ValueError(f"CubicSpline: unknown boundary condition {e!r}")
        periodic = bc_type == "periodic"
        if extrapolate is None:
            extrapolate = "periodic" if periodic else True

        def parts(v: Array) -> Array:
            return _periodic(knots, v) if periodic else _slopes(knots, v, ends, rest)

        slopes = by_parts(parts, table)
        self._through(knots, table, slopes, rest, k, extrapolate, guards)


def _solved(a: Array, b: Array, c: Array, d: Array, wraps: bool) -> Array:
    """x of a x[i - 1] + b x[i] + c x[i + 1] = d, for each column of d (n, m), in rows that b dominates."""
    n, m = d.shape
    bands = stack([a, b, c], axis=0)
    extra = (n, m, wraps)
    return routine(
        "interpolation.tridiagonal", [stored(bands), stored(d)], (n, m), float32, extra, 8 * d.size
    )


def _slopes(x: Array, y: Array, ends: list[Any], rest: Shape) -> Array:
    """The slopes of a spline that is not periodic."""
    n = x.size
    h = ew.subtract(x[1:], x[:-1])
    m = ew.divide(ew.subtract(y[1:], y[:-1]), _column(h, 2))
    given: list[Any] = [ENDS.get(e, e) if isinstance(e, str) else e for e in ends]
    loose = [g == "not-a-knot" for g in given]
    if n == 2:  # what has no third point is a line there
        given = [(1, None) if free else g for free, g in zip(loose, given, strict=True)]
        loose = [False, False]
    if n == 3 and all(loose):  # a parabola
        bend = ew.divide(ew.subtract(m[1:], m[:1]), ew.add(h[1:], h[:1]))
        first = ew.subtract(m[:1], ew.multiply(h[:1], bend))
        last = ew.add(m[1:], ew.multiply(h[1:], bend))
        return concat([first, ew.add(m[:1], ew.multiply(h[:1], bend)), last], axis=0)
    inner_b = ew.multiply(ew.add(h[1:], h[:-1]), 2.0)
    inner_d = ew.multiply(
        ew.add(ew.multiply(_column(h[1:], 2), m[:-1]), ew.multiply(_column(h[:-1], 2), m[1:])), 3.0
    )
    one, none = full((1,), 1.0, dtype=float32), zeros((1,), dtype=float32)
    rows: dict[str, list[Array]] = {"a": [h[1:]], "b": [inner_b], "c": [h[:-1]], "d": [inner_d]}
    behind: list[Any] = [None, None]
    for side, (free, end) in enumerate(zip(loose, given, strict=True)):
        # Quantities at this end, counted from it: spans p, q, slopes of secants u, v.
        p, q = (h[:1], h[1:2]) if side == 0 else (h[-1:], h[-2:-1])
        u, v = (m[:1], m[1:2]) if side == 0 else (m[-1:], m[-2:-1])
        near, outer = ("c", "a") if side == 0 else ("a", "c")
        if free:
            # s0 (q) + s1 (p + q) = r, which leaves the next equation with one neighbour.
            both = ew.add(p, q)
            r = ew.divide(
                ew.add(
                    ew.multiply(ew.multiply(ew.add(p, ew.multiply(both, 2.0)), q), u),
                    ew.multiply(ew.square(p), v),
                ),
                both,
            )
            behind[side] = (r, both, q)
            changed = {
                "b": ew.subtract(ew.multiply(both, 2.0), both), outer: none,
                "d": ew.subtract(inner_d[:1] if side == 0 else inner_d[-1:], r),
            }  # fmt: skip
            for name, row in changed.items():
                rows[name] = _replaced(rows[name], row, side)
            ends_row = {near: none, "b": one, outer: none, "d": ew.multiply(u, 0.0)}
        else:
            order, value = end
            if order == 1:
                target = u if value is None else _at_end(value, rest, u.shape)
                ends_row = {near: none, "b": one, outer: none, "d": target}
            else:
                sign = -0.5 if side == 0 else 0.5
                bend = ew.multiply(_at_end(value, rest, u.shape), ew.multiply(ew.square(p), sign))
                right = ew.add(ew.multiply(ew.multiply(u, p), 3.0), bend)
                ends_row = {near: p, "b": ew.multiply(p, 2.0), outer: none, "d": right}
        for name, row in ends_row.items():
            rows[name] = [row, *rows[name]] if side == 0 else [*rows[name], row]
    a, b, c, d = (concat([v for v in rows[name] if v.shape[0]], axis=0) for name in "abcd")
    s = _solved(a, b, c, d, False)
    for side, kept in enumerate(behind):
        if kept is not None:
            r, both, q = kept
            next_one = s[1:2] if side == 0 else s[-2:-1]
            end = ew.divide(ew.subtract(r, ew.multiply(both, next_one)), q)
            s = concat([end, s[1:]] if side == 0 else [s[:-1], end], axis=0)
    return s


def _replaced(parts: list[Array], value: Array, side: int) -> list[Array]:
    """The inner rows, of which those behind the first end's are the last part, with the first or last one replaced."""
    inner = parts[-1]
    return [*parts[:-1], *([value, inner[1:]] if side == 0 else [inner[:-1], value])]


def _at_end(value: Any, rest: Shape, shape: Shape) -> Array:
    """A derivative's value (a number, or an array of the rest's shape) as one row."""
    v = single(value, "CubicSpline")
    if v.ndim and v.shape != rest:
        raise ValueError(f"CubicSpline: a derivative of shape {v.shape} at an end, expected {rest}")
    return ew.add(reshape(v, (1, -1)), zeros(shape, dtype=float32))


def _periodic(x: Array, y: Array) -> Array:
    """The slopes of a periodic spline: a cyclic system of n - 1 equations."""
    h = ew.subtract(x[1:], x[:-1])
    m = ew.divide(ew.subtract(y[1:], y[:-1]), _column(h, 2))
    if x.size == 2:
        return ew.multiply(y, 0.0)
    before, above = concat([h[-1:], h[:-1]]), concat([m[-1:], m[:-1]], axis=0)
    b = ew.multiply(ew.add(h, before), 2.0)
    d = ew.multiply(ew.add(ew.multiply(_column(h, 2), above), ew.multiply(_column(before, 2), m)), 3.0)
    s = _solved(h, b, before, d, True)
    return concat([s, s[:1]], axis=0)


class PchipInterpolator(CubicHermiteSpline):
    """Cubics through y at increasing knots x that keep its monotonicity (F. Fritsch & J. Butland 1984), along an
    axis."""

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        knots, guards = knots_of(x, "PchipInterpolator")
        table, rest, k = rows_of(y, knots.size, axis, "PchipInterpolator")
        table = single(table, "PchipInterpolator")
        h = _column(ew.subtract(knots[1:], knots[:-1]), 2)
        m = ew.divide(ew.subtract(table[1:], table[:-1]), h)
        if knots.size == 2:
            slopes = concat([m, m], axis=0)
        else:
            slopes = concat(
                [
                    _pchip_end(h[0], h[1], m[0], m[1]),
                    _pchip_inner(h, m),
                    _pchip_end(h[-1], h[-2], m[-1], m[-2]),
                ]
            )
        self._through(knots, table, slopes, rest, k, extrapolate, guards)


def _pchip_inner(h: Array, m: Array) -> Array:
    """Weighted harmonic means of the secants on both sides, 0 where they differ in sign."""
    low, high = m[:-1], m[1:]
    p, q = ew.add(ew.multiply(h[1:], 2.0), h[:-1]), ew.add(h[1:], ew.multiply(h[:-1], 2.0))
    turns = ew.less_equal(ew.multiply(ew.sign(low), ew.sign(high)), 0.0)
    safe_low, safe_high = ew.where(turns, 1.0, low), ew.where(turns, 1.0, high)
    mean = ew.divide(ew.add(p, q), ew.add(ew.divide(p, safe_low), ew.divide(q, safe_high)))
    return ew.where(turns, 0.0, mean)


def _pchip_end(h0: Array, h1: Array, m0: Array, m1: Array) -> Array:
    """The one-sided parabola's slope, limited so that the shape stays."""
    both = ew.add(h0, h1)
    d = ew.divide(ew.subtract(ew.multiply(ew.add(ew.multiply(h0, 2.0), h1), m0), ew.multiply(h0, m1)), both)
    other = ew.not_equal(ew.sign(d), ew.sign(m0))
    steep = ew.logical_and(
        ew.not_equal(ew.sign(m0), ew.sign(m1)), ew.greater(ew.absolute(d), ew.multiply(ew.absolute(m0), 3.0))
    )
    got = ew.where(other, 0.0, ew.where(steep, ew.multiply(m0, 3.0), d))
    return reshape(got, (1, got.size))


def pchip_interpolate(xi: Any, yi: Any, x: Any, der: int = 0, axis: int = 0) -> Array:
    """PchipInterpolator(xi, yi, axis)(x, der)."""
    return PchipInterpolator(xi, yi, axis)(x, der)


class Akima1DInterpolator(CubicHermiteSpline):
    """Cubics through y at increasing knots x with slopes from two neighbours on each side (H. Akima 1970; method
    "makima": MATLAB's weights), along an axis. Outside: NaN unless extrapolate."""

    def __init__(
        self, x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None
    ) -> None:  # fmt: skip
        if method not in ("akima", "makima"):
            raise NotImplementedError(f"Akima1DInterpolator: method {method!r} is unsupported")
        knots, guards = knots_of(x, "Akima1DInterpolator")
        table, rest, k = rows_of(y, knots.size, axis, "Akima1DInterpolator")
        table = single(table, "Akima1DInterpolator")
        m = ew.divide(ew.subtract(table[1:], table[:-1]), _column(ew.subtract(knots[1:], knots[:-1]), 2))
        if knots.size == 2:
            slopes = concat([m, m], axis=0)
        else:
            first = [ew.subtract(ew.multiply(m[:1], 3.0), ew.multiply(m[1:2], 2.0))]
            first.append(ew.subtract(ew.multiply(m[:1], 2.0), m[1:2]))
            last = [ew.subtract(ew.multiply(m[-1:], 2.0), m[-2:-1])]
            last.append(ew.subtract(ew.multiply(m[-1:], 3.0), ew.multiply(m[-2:-1], 2.0)))
            line = concat([*first, m, *last], axis=0)
            step = ew.absolute(ew.subtract(line[1:], line[:-1]))
            if method == "makima":
                step = ew.add(step, ew.multiply(ew.absolute(ew.add(line[1:], line[:-1])), 0.5))
            f1, f2 = step[2:], step[:-2]
            total = ew.add(f1, f2)
            # Where all four secants agree pairwise there is no weight: their mean, by the greatest of all weights.
            flat = ew.less_equal(total, ew.multiply(rd.max(total), 1e-9))
            mean = ew.multiply(ew.add(line[3:], line[:-3]), 0.5)
            weighted = ew.divide(
                ew.add(ew.multiply(f1, line[1:-2]), ew.multiply(f2, line[2:-1])), ew.where(flat, 1.0, total)
            )
            slopes = ew.where(flat, mean, weighted)
            if method == "makima":
                slopes = ew.where(ew.equal(total, 0.0), 0.0, slopes)
        self._through(knots, table, slopes, rest, k, False if extrapolate is None else extrapolate, guards)
