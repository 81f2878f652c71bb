"""Splines: the filter that makes samples coefficients, and arrays evaluated at mapped places of any of their axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import log, prod, sqrt
from struct import pack, unpack
from typing import Any

from ..array import Array, view
from ..dtypes import as_dtype, bool_, float32, int32
from ..layout import contiguous, normalize_axis, permute
from ..nn.spatial import operand
from ..ops import elementwise as ew
from ..ops.convert import from_host
from ..ops.creation import astype, copy_of, full
from ..ops.manipulation import permute_dims
from ..ops.routine import routine, stored
from .arguments import MODES, finish, mode_of, prepared, whole
from .borders import extended
from .stencils import correlated

__all__ = ["spline_filter", "spline_filter1d"]

ONE = 1 << 32  # a whole element
ROOM = 12  # elements added where a border has no exact filter
POLES = {
    2: (sqrt(8) - 3,),
    3: (sqrt(3) - 2,),
    4: (sqrt(664 - sqrt(438976)) + sqrt(304) - 19, sqrt(664 + sqrt(438976)) - sqrt(304) - 19),
    5: (sqrt(67.5 - sqrt(4436.25)) + sqrt(26.25) - 6.5, sqrt(67.5 + sqrt(4436.25)) - sqrt(26.25) - 6.5),
}
# Of each mode: what lies outside and the border of taps (kernels/warp.wgsl), the filter's border, whether to add ROOM.
BORDERS = {
    "constant": (0, 3, 3, False),
    "wrap": (2, 3, 3, False),
    "mirror": (1, 3, 3, False),
    "nearest": (1, 1, 2, True),
    "reflect": (1, 2, 2, False),
    "grid-mirror": (1, 2, 2, False),
    "grid-wrap": (1, 4, 4, False),
    "grid-constant": (1, 0, 3, True),
}


@cache
def coefficients(order: int) -> tuple[float, ...]:
    """The inverse of a spline's samples as a symmetric filter: each pole's two-sided powers, to 2^-28."""
    made = [1.0]
    for z in POLES[order]:
        reach = int(28 * log(2) / -log(-z)) + 1
        one = [(1 - z) / (1 + z) * z ** abs(k) for k in range(-reach, reach + 1)]
        made = [
            sum(made[j] * one[k - j] for j in range(len(made)) if 0 <= k - j < len(one))
            for k in range(len(made) + len(one) - 1)
        ]
    return tuple(made)


def order_of(order: Any, label: str, least: int = 0) -> int:
    """A spline's order."""
    n = whole(order, label, "order")
    if not least <= n <= 5:
        raise ValueError(f"{label}: splines have an order from {least} to 5, not {n}")
    return n


def border_of(mode: Any, label: str) -> tuple[int, int, int, bool]:
    """What a mode means here."""
    mode_of(mode, label)
    return BORDERS[mode]


def filtered(x: Array, order: int, axes: Sequence[int], border: int, label: str) -> Array:
    """float32 coefficients of real x along axes."""
    if order < 2:
        return x
    weights = coefficients(order)
    for axis in axes:
        taps = from_host(list(weights), label)
        x = correlated(x, taps, [axis], [len(weights) // 2], [border], 0.0)
    return x


def rounded(made: Array, like: Array, output: Any, label: str) -> Array:
    """float32 values as `output` says; integers are the nearest ones, halves away from 0."""
    dtype = output.dtype if isinstance(output, Array) else like.dtype if output is None else as_dtype(output)
    if dtype.kind in "iu":
        made = astype(ew.trunc(ew.add(made, ew.where(ew.greater(made, 0), 0.5, -0.5))), dtype)
    elif dtype is bool_:
        made = astype(astype(ew.trunc(made), int32), bool_)
    return finish(made, like, output, label)


def spread(x: Any, label: str) -> Array:
    """An operand with at least one axis."""
    made = prepared(x, label)
    if not made.ndim:
        raise ValueError(f"{label}: needs an array with axes, not a 0-d one")
    return made


def mapped(
    x: Array,
    axes: Sequence[int],
    results: Sequence[int],
    firsts: Sequence[float],
    steps: Sequence[Sequence[float]],
    order: int,
    mode: Any,
    cval: float,
    prefilter: bool,
    label: str,
) -> Array:
    """x of real numbers with `results` places for each of at most three ascending axes: result o lies at
    firsts[a] + sum(steps[a][b] * o[b]). In elements, times 2^32 and rounded where they are ints. Then float32."""
    outside, taps, border, room = border_of(mode, label)
    shape = list(x.shape)
    pads = 0
    if prefilter and order > 1:
        if room:
            pads = ROOM
            for axis in axes:
                x = extended(x, axis, ROOM, ROOM, MODES[mode], cval)
        x = filtered(x, order, axes, border, label)
    lead = [k for k in range(x.ndim) if k not in axes]
    into = [*[shape[k] for k in lead], *results]
    if not prod(into):
        made = full(into, 0.0, dtype=float32)
    else:
        at = operand(permute_dims(x, (*lead, *axes)), len(axes))
        q = len(results)
        whole_steps = [(*(0,) * (3 - q), *[fixed(v) for v in row]) for row in steps]
        begins = [fixed(v) + pads * ONE for v in firsts]
        spans = tuple(
            [
                (n, s, outside, taps, f, w)
                for n, s, f, w in zip(at.sizes, at.steps, begins, whole_steps, strict=True)
            ]
        )
        extra = (at.channels, at.offset, at.strides, order, bits_of(cval), tuple(results), spans)
        work = prod(into) * (order + 1) ** len(axes)
        made = routine("warp", [at.op], tuple(into), float32, extra, work)
    if len(results) != len(axes) or not lead:
        return made
    inverse = tuple(sorted(range(x.ndim), key=(*lead, *axes).__getitem__))
    return view(made, permute(contiguous(made.shape), inverse))


def sampled(
    x: Array, places: Array, order: int, mode: Any, cval: float, prefilter: bool, label: str
) -> Array:  # fmt: skip
    """x of one to three axes at float32 places (axes, ...)."""
    outside, taps, border, room = border_of(mode, label)
    pads = 0
    if prefilter and order > 1:
        if room:
            pads = ROOM
            for axis in range(x.ndim):
                x = extended(x, axis, ROOM, ROOM, MODES[mode], cval)
        x = filtered(x, order, range(x.ndim), border, label)
    at = operand(x, x.ndim)
    results = places.shape[1:]
    spans = tuple(
        [(n, s, outside, taps, pads * ONE, (0, 0, 0)) for n, s in zip(at.sizes, at.steps, strict=True)]
    )
    extra = (at.channels, at.offset, at.strides, order, bits_of(cval), (prod(results),), spans)
    return routine(
        "warp", [at.op, stored(places)], results, float32, extra, prod(results) * (order + 1) ** x.ndim
    )


def bits_of(value: float) -> int:
    """float32 bits."""
    return int(unpack("<I", pack("<f", value))[0])


def fixed(value: float) -> int:
    """Elements as multiples of 2^-32; ints are such multiples already."""
    made = value if isinstance(value, int) else round(value * ONE)
    if not -(1 << 62) < made < 1 << 62:
        raise ValueError(f"places of {value} elements are out of range")
    return made


def spline_filter1d(
    input: Any, order: int = 3, axis: int = -1, output: Any = float32, mode: str = "mirror"
) -> Array:
    """The coefficients of the spline of an order (0 to 5) through the elements, along one axis; float32 by default.

    mode: how the array goes on: mirror, reflect or wrap and their grid-* names; constant means mirror, nearest reflect.
    """
    label = "spline_filter1d"
    n = order_of(order, label)
    x = prepared(input, label)
    border = border_of(mode, label)[2]
    if x.dtype.kind == "c":
        parts = [spline_filter1d(v, n, axis, float32, mode) for v in (ew.real(x), ew.imag(x))]
        return finish(
            ew.add(parts[0], ew.multiply(parts[1], 1j)), x, None if output is float32 else output, label
        )
    if n < 2 or not x.ndim:
        return finish(copy_of(x), x, output, label)
    made = filtered(x, n, [normalize_axis(axis, x.ndim, label)], border, label)
    return finish(made, x, output, label)


def spline_filter(input: Any, order: int = 3, output: Any = float32, mode: str = "mirror") -> Array:
    """spline_filter1d along every axis, of orders 2 to 5."""
    label = "spline_filter"
    n = order_of(order, label, 2)
    x = prepared(input, label)
    made = x
    for axis in range(x.ndim):
        made = spline_filter1d(made, n, axis, float32, mode)
    return finish(made, x, None if x.dtype.kind == "c" and output is float32 else output, label)
