"""tg.interpolate: functions through given points, under the names of scipy.interpolate. All lazy, in float32."""

from __future__ import annotations

from .grids import NearestNDInterpolator, RegularGridInterpolator, griddata, interpn
from .lines import interp1d
from .splines import (
    Akima1DInterpolator,
    CubicHermiteSpline,
    CubicSpline,
    PchipInterpolator,
    PPoly,
    pchip_interpolate,
)

pchip = PchipInterpolator  # SciPy has both names

__all__ = [
    "Akima1DInterpolator", "CubicHermiteSpline", "CubicSpline", "NearestNDInterpolator", "PPoly", "PchipInterpolator",
    "RegularGridInterpolator", "griddata", "interp1d", "interpn", "pchip", "pchip_interpolate",
]  # fmt: skip
