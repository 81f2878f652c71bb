"""Filters of images in float64 by NumPy alone: what tests of tg.image compare with in the tab. No tests."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
PADS = {
    "reflect": "symmetric",
    "nearest": "edge",
    "mirror": "reflect",
    "wrap": "wrap",
    "constant": "constant",
}


def surrounded(x: Any, widths: Any, mode: str, cval: float = 0.0) -> Any:
    """x padded as a border mode says."""
    options = {"constant_values": cval} if mode == "constant" else {}
    return np.pad(x, widths, mode=PADS[mode], **options)


def windows(x: Any, shape: Any, mode: str, cval: float = 0.0, origin: Any = 0) -> Any:
    """All windows of a shape around the elements: x.shape + (elements of a window,)."""
    origins = [origin] * x.ndim if isinstance(origin, int) else origin
    starts = [n // 2 + o for n, o in zip(shape, origins, strict=True)]
    wide = surrounded(x, [(s, n - 1 - s) for s, n in zip(starts, shape, strict=True)], mode, cval)
    parts = [
        wide[tuple(slice(a, a + n) for a, n in zip(at, x.shape, strict=True))]
        for at in product(*[range(n) for n in shape])
    ]
    return np.stack(parts, axis=-1)


def correlated(x: Any, w: Any, mode: str = "reflect", cval: float = 0.0, origin: Any = 0) -> Any:
    """scipy.ndimage.correlate in float64."""
    x = np.asarray(x, np.complex128 if np.iscomplexobj(x) else np.float64)
    return windows(x, np.shape(w), mode, cval, origin) @ np.ravel(w)


def draw(shape: Any, seed: int = 0) -> Any:
    return np.random.default_rng([seed, 11]).standard_normal(shape).astype(np.float32)


def folded(i: Any, n: int, mode: str) -> Any:
    """Which element an index beyond the ends means; -1 for the constant."""
    i = np.asarray(i)
    if mode == "constant":
        return np.where((i >= 0) & (i < n), i, -1)
    if mode == "nearest":
        return np.clip(i, 0, n - 1)
    if mode == "wrap":
        return i % n
    period = 2 * n if mode == "reflect" else max(2 * n - 2, 1)
    m = i % period
    return np.where(m < n, m, period - m - (mode == "reflect"))


def bspline(order: int, u: Any) -> Any:
    """The centred B-spline, by its recurrence."""
    if order == 0:
        return ((u >= -0.5) & (u < 0.5)).astype(float)
    h = (order + 1) / 2
    return ((u + h) * bspline(order - 1, u + 0.5) + (h - u) * bspline(order - 1, u - 0.5)) / order


# Of scipy.ndimage's modes with an exact filter: how taps and how samples go on.
SPLINES = {
    "reflect": "reflect",
    "mirror": "mirror",
    "grid-wrap": "wrap",
    "constant": "mirror",
    "wrap": "mirror",
}


def coefficients(x: Any, order: int, axis: int, mode: str) -> Any:
    """Solved from the samples of the spline."""
    if order < 2:
        return x
    n = x.shape[axis]
    system = np.zeros((n, n))
    for k in range(-(order // 2), order // 2 + 1):
        np.add.at(
            system, (np.arange(n), folded(np.arange(n) + k, n, SPLINES[mode])), bspline(order, np.float64(k))
        )
    return np.moveaxis(np.linalg.solve(system, np.moveaxis(x, axis, 0).reshape(n, -1)).reshape(
        np.moveaxis(x, axis, 0).shape), 0, axis)  # fmt: skip


def sampled(x: Any, places: Any, order: int, mode: str, cval: float = 0.0, prefilter: bool = True) -> Any:
    """scipy.ndimage.map_coordinates in float64."""
    made = np.asarray(x, np.float64)
    for axis in range(made.ndim if prefilter else 0):
        made = coefficients(made, order, axis, mode)
    places = np.array(places, np.float64)
    outside = np.zeros(places.shape[1:], bool)
    taps = []
    for c, n in zip(places, made.shape, strict=True):
        beyond = (c < 0) | (c > n - 1)
        if mode == "constant":
            outside |= beyond
        if mode == "wrap":
            c = np.where(beyond, c % (n - 1), c)
        first = np.floor(c + (0.5 if order % 2 == 0 else 0)).astype(int) - order // 2
        taps.append(
            [(folded(first + k, n, SPLINES[mode]), bspline(order, c - first - k)) for k in range(order + 1)]
        )
    total = np.zeros(places.shape[1:])
    for each in product(*taps):
        total += made[tuple(t[0] for t in each)] * np.prod([t[1] for t in each], axis=0)
    return np.where(outside, cval, total)
