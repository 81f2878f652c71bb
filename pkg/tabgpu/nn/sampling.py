"""Arrays sampled at places of another: grid_sample, and affine_grid, which makes such places."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import float32
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.creation import arange, astype, full
from ..ops.manipulation import getitem, reshape
from ..ops.routine import routine, stored
from ..ops.rowwise import floating
from .spatial import operand

__all__ = ["affine_grid", "grid_sample"]

OUTSIDE = ("zeros", "border", "reflection")


def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Array:
    """(N, C, H, W) sampled at the places of grid (N, h, w, 2): (N, C, h, w). (N, C, D, H, W) at (N, d, h, w, 3) too.

    Places are (x, y) or (x, y, z) from -1 to 1: from edge to edge, or with align_corners from the centre of the first
    element to that of the last. mode: bilinear, nearest, bicubic (of four axes). padding_mode: zeros, border or
    reflection for what lies outside; NaN lies outside. float32, float16 and bfloat16 keep their dtype and are computed
    in float32. ValueError for shapes and modes that do not fit.
    """
    label = "grid_sample"
    x, g = floating(input, label, None), floating(grid, label, float32)
    rank = x.ndim - 2
    if rank not in (2, 3) or g.ndim != x.ndim or g.shape[0] != x.shape[0] or g.shape[-1] != rank:
        raise ValueError(f"{label}: places of shape {g.shape} do not go with an array of shape {x.shape}")
    if mode not in ("bilinear", "nearest", "bicubic") or padding_mode not in OUTSIDE:
        raise ValueError(f"{label}: mode {mode!r} or padding_mode {padding_mode!r} is not known")
    if mode == "bicubic" and rank == 3:
        raise ValueError(f"{label}: bicubic takes (N, C, H, W), not the shape {x.shape}")
    if 0 in x.shape[1:]:
        raise ValueError(f"{label}: channels and spatial axes must not be empty, the shape is {x.shape}")
    shape = (*x.shape[:2], *g.shape[1:-1])
    if 0 in shape:
        return full(shape, 0, dtype=x.dtype)
    at = operand(x, rank, apart=True)
    places = 1
    for n in shape[2:]:
        places *= n
    outside = OUTSIDE.index(padding_mode)
    extra = (at.channels, at.offset, at.strides, places, outside, bool(align_corners), at.sizes, at.steps)
    return routine(f"sample.{mode}", [at.op, stored(g)], shape, x.dtype, extra)


def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Array:
    """The places (N, h, w, 2) for grid_sample of affine maps theta (N, 2, 3), for a result of size (N, C, h, w); for
    (N, 3, 4) and (N, C, d, h, w) (N, d, h, w, 3). Of theta's dtype. ValueError where shapes do not fit."""
    label, size = "affine_grid", tuple(size)
    t: Array = rd.prepared(theta, label)
    rank = len(size) - 2
    if rank not in (2, 3) or t.shape != (size[0], rank, rank + 1) or t.dtype.kind != "f" or min(size) < 1:
        raise ValueError(
            f"{label}: maps of {t.dtype.name} and shape {t.shape} do not go with the size {size}"
        )
    wide = astype(t, float32, copy=False)

    def column(k: int) -> Array:
        return reshape(getitem(wide, (..., k)), (size[0], *(1,) * rank, rank))

    made = column(rank)
    for k in range(rank):  # x is along the last axis
        n = size[-1 - k]
        steps = astype(arange(n), float32)
        if align_corners:
            place = ew.multiply(ew.subtract(ew.multiply(steps, 2.0), float(n - 1)), 1.0 / max(n - 1, 1))
        else:
            place = ew.multiply(ew.subtract(ew.multiply(steps, 2.0), float(n - 1)), 1.0 / n)
        made = ew.add(made, ew.multiply(column(k), reshape(place, (n, *(1,) * (k + 1)))))
    return astype(made, t.dtype, copy=False)
