"""interpolate, and resize beneath it: arrays sampled at evenly spaced places along up to three axes, in one launch."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, inf, lcm
from struct import pack, unpack
from typing import Any

from .. import engine
from ..array import Array
from ..layout import normalize_axis
from ..ops import reductions as rd
from ..ops.creation import full
from ..ops.manipulation import addressable, moveaxis
from ..ops.routine import routine
from ..ops.rowwise import number
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .spatial import operand, per_axis

__all__ = ["interpolate"]

ROUND = ("floor", "ceil", "prefer_floor", "prefer_ceil")
REACH = {"linear": 1, "cubic": 2}
Place = tuple[Any, Any, Any]


def resize(
    x: Any,
    sizes: Any,
    axes: Any = None,
    *,
    mode: str = "linear",
    places: Sequence[Place] | None = None,
    rounding: str = "floor",
    cubic_coeff_a: float = -0.75,
    antialias: bool = False,
    exclude_outside: bool = False,
    extrapolation_value: float | None = None,
) -> Array:
    """x with new `sizes` of `axes` (one to three of them; the last ones by default).

    mode: "nearest", "linear" or "cubic" (of cubic_coeff_a). places: (a, p, q) for each axis: result o stands at
    x = a * (o + p) + q in elements of the source (half pixels by default: (in / out, 0.5, -0.5)). rounding, for
    nearest: "floor", "ceil", or to the nearest with halves "prefer_floor" or "prefer_ceil"; in exact arithmetic where
    places are ints and Fractions, in float32 where one is a float. antialias: filters as wide as the elements of the
    result. What lies outside is the edge's, or has no weight (exclude_outside), or makes the whole result
    extrapolation_value. nearest takes any dtype but complex64, the others real floats, computed in float32.
    """
    label = "resize"
    x = rd.prepared(x, label)
    if mode not in ("nearest", *REACH) or rounding not in ROUND:
        raise ValueError(f"{label}: mode {mode!r} or rounding {rounding!r} is not known")
    if antialias and mode == "nearest":
        raise ValueError(f"{label}: nearest has no antialias")
    sizes = tuple(sizes) if isinstance(sizes, Sequence) else (sizes,)
    rank = len(sizes)
    last = tuple(range(x.ndim - rank, x.ndim))
    at = last if axes is None else tuple([normalize_axis(k, x.ndim, label) for k in axes])
    if len(set(at)) != rank or not 1 <= rank <= min(3, x.ndim):
        raise ValueError(f"{label}: sizes {sizes} for axes {at}; one to three can be resized at once")
    outs = per_axis(sizes, rank, label, "sizes")
    _check_dtype(x, mode, label)
    if at != last:
        x = moveaxis(x, at, last)
    addressable((*x.shape[:-rank], *outs), label)
    if 0 in x.shape[-rank:] and 0 not in outs:
        raise ValueError(f"{label}: nothing to sample in axes {at} of shape {x.shape}")
    if places is None:
        places = [
            (Fraction(n, max(o, 1)), Fraction(1, 2), Fraction(-1, 2))
            for n, o in zip(x.shape[-rank:], outs, strict=True)
        ]
    made = _launch(
        x, outs, mode, places, ROUND.index(rounding), cubic_coeff_a, antialias, exclude_outside, extrapolation_value
    )  # fmt: skip
    return made if at == last else moveaxis(made, last, at)


def _check_dtype(x: Array, mode: str, label: str) -> None:
    if x.dtype.kind == "c" or (mode != "nearest" and x.dtype.kind != "f"):
        raise TypeError(f"{label}: {mode} does not take {x.dtype.name}")


def _launch(
    x: Array,
    outs: tuple[int, ...],
    mode: str,
    places: Sequence[Place],
    rounding: int,
    coefficient: float = -0.75,
    antialias: bool = False,
    inside: bool = False,
    fill: float | None = None,
) -> Array:
    shape = (*x.shape[: -len(outs)], *outs)
    if 0 in shape:
        return full(shape, 0, dtype=x.dtype)
    at = operand(x, len(outs))
    axes: list[tuple[Any, ...]] = []
    for out, size, stride, (a, p, q) in zip(outs, at.sizes, at.steps, places, strict=True):
        place = float(a), float(p), float(q)
        if antialias:
            wide = max(abs(place[0]), 1.0)
            axes.append((out, size, stride, place, (1.0 / wide, REACH[mode] * wide)))
        elif mode == "nearest":
            ratio = None if fill is not None else _ratio(a, p, q, out, rounding)
            axes.append((out, size, stride, place, rounding, ratio))
        else:
            axes.append((out, size, stride, place))
    extra = (at.channels, at.offset, at.strides, tuple(axes), inside, float(coefficient), fill)
    if antialias:
        engine.weigh(x.size * 4)
    return routine(f"resize.{mode}{'_filter' * antialias}", [at.op], shape, x.dtype, extra)


def _ratio(a: Any, p: Any, q: Any, out: int, rounding: int) -> tuple[int, int, int, int] | None:
    """(A, B, K, D): the element is (A o + B) // D - K. None for floats and what needs more than 32 bits."""
    if any(isinstance(v, float) for v in (a, p, q)):
        return None
    slope = Fraction(a)
    start = slope * Fraction(p) + Fraction(q)
    d = 2 * lcm(slope.denominator, start.denominator)
    rise, base = int(slope * d), int(start * d)
    base += (0, d - 1, d // 2 - 1, d // 2)[rounding]
    below = max(0, -(base // d))
    base += below * d
    if rise < 0 or rise * (out - 1) + base >= 1 << 32 or d >= 1 << 32:
        return None
    return rise, base, below, d


def _f32(value: float) -> float:
    return float(unpack("<f", pack("<f", value))[0])


def _scale(size: int, out: int, align_corners: bool, factor: float | None) -> float:
    """torch's step from one result to the next, in float32."""
    if align_corners:
        return _f32((size - 1) / (out - 1)) if out > 1 else 0.0
    return _f32(1.0 / factor) if factor is not None and factor > 0 else _f32(size / out)


_RANKS = {"linear": (3,), "bilinear": (4,), "bicubic": (4,), "trilinear": (5,)}


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Array:
    """(N, C, spatial axes) with new sizes: `size`, or scale_factor times the old (an int or float, or one an axis).

    mode: nearest, nearest-exact or area over 1 to 3 axes, linear over 1, bilinear and bicubic over 2, trilinear over 3.
    align_corners: the corner elements keep their values. recompute_scale_factor: steps follow from the rounded sizes,
    not from scale_factor. antialias: bilinear and bicubic average over all that an element of the result covers.
    nearest and nearest-exact take any dtype but complex64 and count as torch, in float32; others take real floats,
    computed in float32. ValueError for arguments that contradict each other, NotImplementedError for a mode that does
    not take the shape.
    """
    label = "interpolate"
    x = rd.prepared(input, label)
    if mode in ("nearest", "nearest-exact", "area"):
        if align_corners is not None:
            raise ValueError(f"{label}: align_corners does not go with mode {mode!r}")
    elif mode not in _RANKS:
        raise NotImplementedError(f"{label}: mode {mode!r} is not known")
    if x.ndim not in _RANKS.get(mode, (3, 4, 5)):
        raise NotImplementedError(f"{label}: {mode} does not take the shape {x.shape}")
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(f"{label}: antialias needs mode 'bilinear' or 'bicubic', not {mode!r}")
    rank = x.ndim - 2
    sizes = x.shape[2:]
    if (size is None) == (scale_factor is None):
        raise ValueError(f"{label}: give size or scale_factor, one of them")
    factors: list[float | None] = [None] * rank
    if size is not None:
        if recompute_scale_factor:
            raise ValueError(f"{label}: recompute_scale_factor does not go with size")
        if isinstance(size, Sequence) and len(size) != rank:
            raise ValueError(f"{label}: size {size!r} for the spatial axes {sizes}")
        outs = per_axis(size, rank, label, "size", 1)
    else:
        given = list(scale_factor) if isinstance(scale_factor, Sequence) else [scale_factor] * rank
        if len(given) != rank:
            raise ValueError(f"{label}: scale_factor {scale_factor!r} for the spatial axes {sizes}")
        grown = [n * number(label, "scale_factor", s) for n, s in zip(sizes, given, strict=True)]
        if not all(1 <= g < inf for g in grown):
            raise ValueError(f"{label}: {sizes} by {scale_factor!r} has no elements, or no end")
        outs = tuple([floor(g) for g in grown])
        if not recompute_scale_factor and mode != "area":
            factors = [float(s) for s in given]
    if 0 in x.shape[1:]:
        raise ValueError(f"{label}: channels and spatial axes must not be empty, the shape is {x.shape}")
    addressable((*x.shape[:2], *outs), label)
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[rank - 1](x, outs)
    kind = {"nearest": "nearest", "nearest-exact": "nearest", "bicubic": "cubic"}.get(mode, "linear")
    _check_dtype(x, kind, label)
    places: list[Place] = []
    flat = mode == "nearest" and rank == 2
    for n, o, factor in zip(sizes, outs, factors, strict=True):
        # As torch: these keep an axis whose size stays (flat: double one that doubles), whatever the factor.
        if (o == n and (flat or antialias or kind == "linear")) or (o == 2 * n and flat):
            factor = None
        step = _scale(n, o, bool(align_corners), factor)
        if mode == "nearest" or (align_corners and not antialias):
            places.append((step, 0.0, 0.0))
        else:
            places.append((step, 0.5, 0.0 if mode == "nearest-exact" else -0.5))
    if antialias:
        return _launch(x, outs, kind, places, 0, -0.5, True, True)
    return _launch(x, outs, kind, places, 0)
