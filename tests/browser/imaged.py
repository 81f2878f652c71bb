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
