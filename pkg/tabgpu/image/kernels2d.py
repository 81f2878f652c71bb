"""fspecial: small kernels by name, computed on the host from their few numbers."""

from __future__ import annotations

from collections.abc import Callable
from math import asin, ceil, cos, exp, floor, radians, sin, sqrt
from typing import Any

from ..array import Array
from ..dtypes import float32
from ..ops.creation import asarray
from .arguments import scalar, whole

__all__ = ["fspecial"]

Rows = list[list[float]]


def _sizes(size: Any) -> tuple[int, int]:
    pair = size if hasattr(size, "__len__") else (size, size)
    if len(pair) != 2:
        raise ValueError(f"fspecial: size {size!r} is not one integer or two")
    h, w = (whole(n, "fspecial", "size") for n in pair)
    if min(h, w) < 1:
        raise ValueError(f"fspecial: size {size!r} must be at least 1")
    return h, w


def _grid(h: int, w: int, f: Callable[[float, float], float]) -> Rows:
    return [[f(y - (h - 1) / 2, x - (w - 1) / 2) for x in range(w)] for y in range(h)]


def _unit(rows: Rows) -> Rows:
    total = sum(map(sum, rows))
    return [[v / total for v in row] for row in rows]


def average(size: Any = 3) -> Rows:
    h, w = _sizes(size)
    return [[1 / (h * w)] * w for _ in range(h)]


def gaussian(size: Any = 3, sigma: float = 0.5) -> Rows:
    s = scalar(sigma, "fspecial", "sigma")
    if not 0 < s < float("inf"):
        raise ValueError(f"fspecial: sigma must be above 0, not {sigma!r}")
    h, w = _sizes(size)
    near = ((h - 1) % 2 / 2) ** 2 + (
        (w - 1) % 2 / 2
    ) ** 2  # of the elements next to the centre: sums do not vanish
    return _unit(_grid(h, w, lambda y, x: exp((near - y * y - x * x) / (2 * s * s))))


def laplacian(alpha: float = 0.2) -> Rows:
    a = scalar(alpha, "fspecial", "alpha")
    if not 0 <= a <= 1:
        raise ValueError(f"fspecial: alpha must be from 0 to 1, not {alpha!r}")
    corner, side, middle = a / (a + 1), (1 - a) / (a + 1), -4 / (a + 1)
    return [[corner, side, corner], [side, middle, side], [corner, side, corner]]


def log(size: Any = 5, sigma: float = 0.5) -> Rows:
    bell = gaussian(size, sigma)
    h, w, s = len(bell), len(bell[0]), float(sigma)
    factor = _grid(h, w, lambda y, x: (y * y + x * x - 2 * s * s) / s**4)
    made = [[a * b for a, b in zip(p, q, strict=True)] for p, q in zip(bell, factor, strict=True)]
    mean = sum(map(sum, made)) / (h * w)
    return [[v - mean for v in row] for row in made]


def prewitt() -> Rows:
    return [[1.0] * 3, [0.0] * 3, [-1.0] * 3]


def sobel() -> Rows:
    return [[1.0, 2.0, 1.0], [0.0] * 3, [-1.0, -2.0, -1.0]]


def unsharp(alpha: float = 0.2) -> Rows:
    rows = [[-v for v in row] for row in laplacian(alpha)]
    rows[1][1] += 1
    return rows


def _covered(x: float, y: float, r: float) -> float:
    """The area of a disk about the origin within 0 .. x and 0 .. y."""
    x, y = min(x, r), min(y, r)

    def under(t: float) -> float:
        return float(t * sqrt(max(r * r - t * t, 0.0)) + r * r * asin(min(t / r, 1.0))) / 2

    bend = min(sqrt(max(r * r - y * y, 0.0)), x)  # up to here the disk is higher than y
    return float(bend * y + under(x) - under(bend))


def disk(radius: float = 5) -> Rows:
    r = scalar(radius, "fspecial", "radius")
    if not 0 < r < 1024:
        raise ValueError(f"fspecial: radius must be above 0 and below 1024, not {radius!r}")
    reach = max(ceil(r - 0.5), 0)

    def share(y: float, x: float) -> float:
        spans = []
        for v in (abs(y), abs(x)):
            spans.append((0.0, 0.5, 2.0) if v == 0 else (v - 0.5, v + 0.5, 1.0))
        (y0, y1, fy), (x0, x1, fx) = spans
        area = _covered(x1, y1, r) - _covered(x0, y1, r) - _covered(x1, y0, r) + _covered(x0, y0, r)
        return max(area, 0.0) * fy * fx

    return _unit(_grid(2 * reach + 1, 2 * reach + 1, share))


def motion(length: float = 9, theta: float = 0) -> Rows:
    n = max(scalar(length, "fspecial", "length"), 1.0)
    if n > 4096:
        raise ValueError(f"fspecial: a motion of {length!r} elements is too long")
    angle = radians(scalar(theta, "fspecial", "theta") % 180)
    c, s, half = cos(angle), sin(angle), (n - 1) / 2
    reach = [max(floor(half * abs(v) + 1 - 1e-9), 0) for v in (s, c)]

    def near(y: float, x: float) -> float:
        """1 less the distance to the segment; rows go down."""
        along = max(min(x * c - y * s, half), -half)
        return max(1 - sqrt((x - along * c) ** 2 + (y + along * s) ** 2), 0.0)

    return _unit(_grid(2 * reach[0] + 1, 2 * reach[1] + 1, near))


KINDS: dict[str, Callable[..., Rows]] = {
    f.__name__: f for f in (average, gaussian, laplacian, log, prewitt, sobel, unsharp, disk, motion)
}


def fspecial(kind: str, *parameters: Any) -> Array:
    """A float32 kernel for correlate by MATLAB's name.

    average(size=3), gaussian(size=3, sigma=0.5), laplacian(alpha=0.2), log(size=5, sigma=0.5), prewitt, sobel,
    unsharp(alpha=0.2), disk(radius=5) (the area of each element that the disk covers), motion(length=9, theta=0)
    (degrees against the clock). size is one integer or (rows, columns). ValueError for other kinds and numbers.
    """
    if kind not in KINDS:
        raise ValueError(f"fspecial: kind {kind!r} is none of {', '.join(KINDS)}")
    try:
        rows = KINDS[kind](*parameters)
    except TypeError as error:
        raise TypeError(f"fspecial: {kind} takes other parameters than {parameters}: {error}") from None
    return asarray(rows, dtype=float32)
