"""Colours under scikit-image's names: float32 between 0 and 1 for RGB, channels along any axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..array import Array
from ..dtypes import float32
from ..layout import normalize_axis
from ..ops import elementwise as ew
from ..ops.creation import astype
from ..ops.joining import stack
from ..ops.manipulation import getitem, moveaxis
from .arguments import prepared

__all__ = [
    "gray2rgb", "hsv2rgb", "lab2lch", "lab2rgb", "lab2xyz", "lch2lab", "rgb2gray", "rgb2hsv", "rgb2lab", "rgb2xyz",
    "rgb2ycbcr", "rgb2yiq", "rgb2yuv", "rgba2rgb", "xyz2lab", "xyz2rgb", "ycbcr2rgb", "yiq2rgb", "yuv2rgb",
]  # fmt: skip

Matrix = tuple[tuple[float, float, float], ...]
XYZ: Matrix = ((0.412453, 0.357580, 0.180423), (0.212671, 0.715160, 0.072169), (0.019334, 0.119193, 0.950227))
YUV: Matrix = (
    (0.299, 0.587, 0.114),
    (-0.14714119, -0.28886916, 0.43601035),
    (0.61497538, -0.51496512, -0.10001026),
)
YIQ: Matrix = (
    (0.299, 0.587, 0.114),
    (0.59590059, -0.27455667, -0.32134392),
    (0.21153661, -0.52273617, 0.31119955),
)
YCBCR: Matrix = ((65.481, 128.553, 24.966), (-37.797, -74.203, 112.0), (112.0, -93.786, -18.214))
WHITE = (0.95047, 1.0, 1.08883)  # D65, observer of 2 degrees


def as_float(x: Any, label: str) -> Array:
    """An image as float32: uint8 and uint16 divided by their greatest value, floats as they are."""
    made = prepared(x, label)
    kind = made.dtype.name
    if kind in ("uint8", "uint16"):
        return ew.divide(astype(made, float32), 255.0 if kind == "uint8" else 65535.0)
    if made.dtype.kind not in "fb":
        raise TypeError(f"{label}: images are floats, uint8, uint16 or bool, not {kind}")
    return astype(made, float32, copy=False)


def _channels(x: Any, axis: int, n: int, label: str) -> tuple[list[Array], int]:
    made = as_float(x, label)
    k = normalize_axis(axis, made.ndim, label)
    if made.shape[k] != n:
        raise ValueError(f"{label}: axis {axis} of shape {made.shape} has not {n} channels")
    last = moveaxis(made, k, -1)
    return [getitem(last, (..., j)) for j in range(n)], k


def _joined(parts: Sequence[Array], axis: int) -> Array:
    made = stack(list(parts), axis=-1)
    return made if axis == made.ndim - 1 else moveaxis(made, -1, axis)


def inverse(m: Matrix) -> Matrix:
    """Of a 3 x 3 matrix."""
    cofactor = [
        [
            m[(i + 1) % 3][(j + 1) % 3] * m[(i + 2) % 3][(j + 2) % 3]
            - m[(i + 1) % 3][(j + 2) % 3] * m[(i + 2) % 3][(j + 1) % 3]
            for j in range(3)
        ]
        for i in range(3)
    ]
    d = sum(m[0][j] * cofactor[0][j] for j in range(3))
    a, b, c = ([cofactor[j][i] / d for j in range(3)] for i in range(3))
    return (a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2])


def _times(m: Matrix, v: Sequence[Array]) -> list[Array]:
    return [
        ew.add(ew.add(ew.multiply(v[0], r[0]), ew.multiply(v[1], r[1])), ew.multiply(v[2], r[2])) for r in m
    ]


def _linear(m: Matrix, x: Any, axis: int, label: str) -> Array:
    v, k = _channels(x, axis, 3, label)
    return _joined(_times(m, v), k)


def rgb2gray(rgb: Any, *, channel_axis: int = -1) -> Array:
    """Luminance: 0.2125 red + 0.7154 green + 0.0721 blue. uint8 and uint16 are divided by their greatest value.
    ValueError without three channels."""
    v, _ = _channels(rgb, channel_axis, 3, "rgb2gray")
    return _times(((0.2125, 0.7154, 0.0721),), v)[0]


def gray2rgb(image: Any, *, channel_axis: int = -1) -> Array:
    """Three equal channels, in image's dtype."""
    x = prepared(image, "gray2rgb")
    return _joined([x, x, x], normalize_axis(channel_axis, x.ndim + 1, "gray2rgb"))


def rgba2rgb(rgba: Any, background: Sequence[float] = (1, 1, 1), *, channel_axis: int = -1) -> Array:
    """Colours over a background by their alpha, between 0 and 1."""
    (r, g, b, a), k = _channels(rgba, channel_axis, 4, "rgba2rgb")
    if len(background) != 3:
        raise ValueError(f"rgba2rgb: background {background!r} is no colour of three numbers")
    rest = ew.subtract(1.0, a)
    made = [
        ew.add(ew.multiply(v, a), ew.multiply(rest, float(p)))
        for v, p in zip((r, g, b), background, strict=True)
    ]
    return _joined([ew.clip(v, 0.0, 1.0) for v in made], k)


def _lit(v: Array) -> Array:
    """sRGB to linear light."""
    high = ew.power(ew.divide(ew.add(v, 0.055), 1.055), 2.4)
    return ew.where(ew.greater(v, 0.04045), high, ew.divide(v, 12.92))


def _screen(v: Array) -> Array:
    """Linear light to sRGB, clipped to 0 .. 1."""
    high = ew.subtract(ew.multiply(ew.power(ew.maximum(v, 0.0), 1 / 2.4), 1.055), 0.055)
    return ew.clip(ew.where(ew.greater(v, 0.0031308), high, ew.multiply(v, 12.92)), 0.0, 1.0)


def rgb2xyz(rgb: Any, *, channel_axis: int = -1) -> Array:
    """sRGB to CIE XYZ (D65). As rgb2gray."""
    v, k = _channels(rgb, channel_axis, 3, "rgb2xyz")
    return _joined(_times(XYZ, [_lit(c) for c in v]), k)


def xyz2rgb(xyz: Any, *, channel_axis: int = -1) -> Array:
    """CIE XYZ (D65) to sRGB, clipped to 0 .. 1."""
    v, k = _channels(xyz, channel_axis, 3, "xyz2rgb")
    return _joined([_screen(c) for c in _times(inverse(XYZ), v)], k)


def _to_lab(v: Sequence[Array]) -> list[Array]:
    f = []
    for c, w in zip(v, WHITE, strict=True):
        c = ew.divide(c, w)
        low = ew.add(ew.multiply(c, 7.787), 16 / 116)
        f.append(ew.where(ew.greater(c, 0.008856), ew.cbrt(c), low))
    x, y, z = f
    light = ew.subtract(ew.multiply(y, 116.0), 16.0)
    return [light, ew.multiply(ew.subtract(x, y), 500.0), ew.multiply(ew.subtract(y, z), 200.0)]


def _from_lab(v: Sequence[Array]) -> list[Array]:
    y = ew.divide(ew.add(v[0], 16.0), 116.0)
    x = ew.add(ew.divide(v[1], 500.0), y)
    z = ew.maximum(ew.subtract(y, ew.divide(v[2], 200.0)), 0.0)
    made = []
    for c, w in zip((x, y, z), WHITE, strict=True):
        cube = ew.multiply(ew.multiply(c, c), c)
        low = ew.divide(ew.subtract(c, 16 / 116), 7.787)
        made.append(ew.multiply(ew.where(ew.greater(c, 0.2068966), cube, low), w))
    return made


def xyz2lab(xyz: Any, *, channel_axis: int = -1) -> Array:
    """CIE XYZ to CIE L*a*b* (D65, 2 degrees)."""
    v, k = _channels(xyz, channel_axis, 3, "xyz2lab")
    return _joined(_to_lab(v), k)


def lab2xyz(lab: Any, *, channel_axis: int = -1) -> Array:
    """CIE L*a*b* to CIE XYZ (D65, 2 degrees); what would be below 0 along Z is 0."""
    v, k = _channels(lab, channel_axis, 3, "lab2xyz")
    return _joined(_from_lab(v), k)


def rgb2lab(rgb: Any, *, channel_axis: int = -1) -> Array:
    """sRGB to CIE L*a*b*. As rgb2gray."""
    v, k = _channels(rgb, channel_axis, 3, "rgb2lab")
    return _joined(_to_lab(_times(XYZ, [_lit(c) for c in v])), k)


def lab2rgb(lab: Any, *, channel_axis: int = -1) -> Array:
    """CIE L*a*b* to sRGB, clipped to 0 .. 1."""
    v, k = _channels(lab, channel_axis, 3, "lab2rgb")
    return _joined([_screen(c) for c in _times(inverse(XYZ), _from_lab(v))], k)


def lab2lch(lab: Any, *, channel_axis: int = -1) -> Array:
    """CIE L*a*b* with a* and b* as chroma and hue (radians from 0 to 2 pi)."""
    (light, a, b), k = _channels(lab, channel_axis, 3, "lab2lch")
    hue = ew.atan2(b, a)
    hue = ew.where(ew.less(hue, 0), ew.add(hue, 6.283185307179586), hue)
    return _joined([light, ew.hypot(a, b), hue], k)


def lch2lab(lch: Any, *, channel_axis: int = -1) -> Array:
    """lab2lch the other way."""
    (light, c, h), k = _channels(lch, channel_axis, 3, "lch2lab")
    return _joined([light, ew.multiply(c, ew.cos(h)), ew.multiply(c, ew.sin(h))], k)


def rgb2hsv(rgb: Any, *, channel_axis: int = -1) -> Array:
    """Hue, saturation and value between 0 and 1. As rgb2gray."""
    (r, g, b), k = _channels(rgb, channel_axis, 3, "rgb2hsv")
    top = ew.maximum(ew.maximum(r, g), b)
    range_ = ew.subtract(top, ew.minimum(ew.minimum(r, g), b))
    gray = ew.equal(range_, 0)
    d = ew.where(gray, 1.0, range_)
    hue = ew.divide(ew.subtract(g, b), d)
    hue = ew.where(ew.equal(g, top), ew.add(ew.divide(ew.subtract(b, r), d), 2.0), hue)
    hue = ew.where(ew.equal(b, top), ew.add(ew.divide(ew.subtract(r, g), d), 4.0), hue)
    hue = ew.remainder(ew.divide(hue, 6.0), 1.0)
    full = ew.divide(range_, ew.where(gray, 1.0, top))
    return _joined([ew.where(gray, 0.0, hue), ew.where(gray, 0.0, full), top], k)


def hsv2rgb(hsv: Any, *, channel_axis: int = -1) -> Array:
    """rgb2hsv the other way."""
    (h, s, v), k = _channels(hsv, channel_axis, 3, "hsv2rgb")
    six = ew.multiply(h, 6.0)
    sector = ew.floor(six)
    f = ew.subtract(six, sector)
    sector = ew.remainder(sector, 6.0)
    p = ew.multiply(v, ew.subtract(1.0, s))
    q = ew.multiply(v, ew.subtract(1.0, ew.multiply(f, s)))
    t = ew.multiply(v, ew.subtract(1.0, ew.multiply(ew.subtract(1.0, f), s)))
    made = []
    for six_of in ((v, q, p, p, t, v), (t, v, v, q, p, p), (p, p, t, v, v, q)):
        out = six_of[5]
        for n in range(4, -1, -1):
            out = ew.where(ew.equal(sector, float(n)), six_of[n], out)
        made.append(out)
    return _joined(made, k)


def rgb2ycbcr(rgb: Any, *, channel_axis: int = -1) -> Array:
    """Luma from 16 to 235, chroma about 128. As rgb2gray."""
    v, k = _channels(rgb, channel_axis, 3, "rgb2ycbcr")
    return _joined([ew.add(c, o) for c, o in zip(_times(YCBCR, v), (16.0, 128.0, 128.0), strict=True)], k)


def ycbcr2rgb(ycbcr: Any, *, channel_axis: int = -1) -> Array:
    """rgb2ycbcr the other way."""
    v, k = _channels(ycbcr, channel_axis, 3, "ycbcr2rgb")
    moved = [ew.subtract(c, o) for c, o in zip(v, (16.0, 128.0, 128.0), strict=True)]
    return _joined(_times(inverse(YCBCR), moved), k)


def rgb2yuv(rgb: Any, *, channel_axis: int = -1) -> Array:
    """Luma and differences of colour. As rgb2gray."""
    return _linear(YUV, rgb, channel_axis, "rgb2yuv")


def yuv2rgb(yuv: Any, *, channel_axis: int = -1) -> Array:
    """rgb2yuv the other way."""
    return _linear(inverse(YUV), yuv, channel_axis, "yuv2rgb")


def rgb2yiq(rgb: Any, *, channel_axis: int = -1) -> Array:
    """Luma, in phase and quadrature. As rgb2gray."""
    return _linear(YIQ, rgb, channel_axis, "rgb2yiq")


def yiq2rgb(yiq: Any, *, channel_axis: int = -1) -> Array:
    """rgb2yiq the other way."""
    return _linear(inverse(YIQ), yiq, channel_axis, "yiq2rgb")
