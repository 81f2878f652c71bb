"""Resizing in float64, axis by axis: what interpolate and resize are tested against."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np


def half_pixel(n: int, out: int) -> tuple[Fraction, ...]:
    """Places a (o + p) + q."""
    return Fraction(n, out), Fraction(1, 2), Fraction(-1, 2)


def corners(n: int, out: int) -> tuple[Fraction, ...]:
    return Fraction(n - 1, max(out - 1, 1)), Fraction(0), Fraction(0)


def keys(t: float, a: float) -> float:
    t = abs(t)
    if t < 1:
        return ((a + 2) * t - (a + 3)) * t * t + 1
    return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a if t < 2 else 0.0


def weights(
    n: int,
    out: int,
    place: Sequence[Any],
    mode: str,
    a: float = -0.75,
    wide: bool = False,
    inside: bool = False,
) -> np.ndarray:
    """The matrix (out, n) that one axis is multiplied by."""
    made = np.zeros((out, n))
    scale, p, q = (float(v) for v in place)
    reach = {"linear": 1, "cubic": 2}[mode]
    stretch = max(scale, 1.0) if wide else 1.0
    for o in range(out):
        x = scale * (o + p) + q
        for i in range(floor(x - reach * stretch), ceil(x + reach * stretch) + 1):
            t = (i - x) / stretch
            w = keys(t, a) if mode == "cubic" else max(0.0, 1 - abs(t))
            if not inside or 0 <= i < n:
                made[o, min(max(i, 0), n - 1)] += w
        made[o] /= made[o].sum()
    return made


def resized(x: np.ndarray, matrices: Sequence[np.ndarray]) -> np.ndarray:
    """The last axes, each multiplied by a matrix."""
    x = x.astype(np.float64)
    for k, m in enumerate(matrices):
        axis = x.ndim - len(matrices) + k
        x = np.moveaxis(np.tensordot(m, x, (1, axis)), 0, axis)
    return x


def nearest(n: int, out: int, place: Sequence[Fraction], rounding: str) -> np.ndarray:
    """Positions in exact arithmetic."""
    a, p, q = place
    half = Fraction(1, 2)
    of = {
        "floor": floor,
        "ceil": ceil,
        "prefer_floor": lambda x: ceil(x - half),
        "prefer_ceil": lambda x: floor(x + half),
    }[rounding]
    return np.clip([of(a * (o + p) + q) for o in range(out)], 0, n - 1)
