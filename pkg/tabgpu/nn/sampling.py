"""pad, affine_grid and grid_sample of torch.nn.functional: what is read lies beside, around or anywhere in an image."""

from __future__ import annotations

from functools import reduce
from itertools import product
from math import prod
from operator import index as as_index
from typing import Any

from ..array import Array
from ..dtypes import float32, int32
from ..layout import as_shape
from ..ops import elementwise as ew
from ..ops.creation import astype, positions, zeros
from ..ops.manipulation import reshape
from ..ops.padding import pad as pad_axes
from ..ops.reductions import prepared
from ..ops.rowwise import floating
from ..ops.taking import take_along_axis

__all__ = ["affine_grid", "grid_sample", "pad"]
_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(input: Any, pad: Any, mode: str = "constant", value: Any = None) -> Array:
    """input with pad = (before, after) of its last axis, then of the one before it, and so on; negative widths crop.

    mode: 'constant' (value, 0 by default), 'reflect' (each width below the axis), 'replicate', 'circular' (at most it).
    """
    x = prepared(input, "pad")
    widths = [as_index(w) for w in pad]
    if mode not in _MODES:
        raise ValueError(f"pad: mode is one of {', '.join(_MODES)}, not {mode!r}")
    if len(widths) % 2 or len(widths) > 2 * x.ndim:
        raise ValueError(f"pad: {len(widths)} widths are not pairs for the {x.ndim} axes of {x.shape}")
    if mode != "constant" and value:
        raise ValueError(f"pad: a value, {value}, is for mode 'constant', not {mode!r}")
    kept, grown = [slice(None)] * x.ndim, {}
    first = mode in ("constant", "circular")  # whether cropping comes first: the others see what is cropped
    for k in range(len(widths) // 2):
        axis, (low, high) = x.ndim - 1 - k, widths[2 * k : 2 * k + 2]
        size, more = x.shape[axis], (max(low, 0), max(high, 0))
        left = size + min(low, 0) + min(high, 0)
        most = {"reflect": size - 1, "circular": left, "replicate": max(more) if size else 0}.get(
            mode, max(more)
        )
        if min(left, size + low + high) < 0 or max(more) > max(most, 0):
            raise ValueError(
                f"pad: {mode} by {low} and {high} is more than axis {axis} of {x.shape} can give"
            )
        kept[axis] = slice(max(-low, 0), size - max(-high, 0) + (0 if first else sum(more)))
        if max(more):
            grown[axis] = more
    x = x[tuple(kept)] if first else x  # type: ignore[index]
    options = {"constant_values": 0 if value is None else value} if mode == "constant" else {}
    x = pad_axes(x, grown, mode=_MODES[mode], **options) if grown else astype(x, x.dtype)
    return x if first else x[tuple(kept)]  # type: ignore[index]


def affine_grid(theta: Any, size: Any, align_corners: bool = False) -> Array:
    """The grid for grid_sample of affine maps: theta (N, 2, 3) and size (N, C, H, W) give (N, H, W, 2); (N, 3, 4) and
    (N, C, D, H, W) give (N, D, H, W, 3). Coordinates are (x, y[, z]) from -1 to 1, which are the outermost pixels'
    centres (align_corners) or edges."""
    t = floating(theta, "affine_grid", None)
    dims = as_shape(size, "affine_grid")
    rank = len(dims) - 2
    if rank not in (2, 3) or t.shape != (dims[0], rank, rank + 1):
        raise ValueError(
            f"affine_grid: theta {t.shape} and size {dims} are not (N, 2, 3) and 4 sizes or (N, 3, 4) and 5"
        )
    wide = astype(t, float32, copy=False)
    space = (1,) * rank
    column = [reshape(wide[:, :, k], (dims[0], *space, rank)) for k in range(rank + 1)]  # type: ignore[index]
    out = column[rank]
    for k in range(rank):  # the first coordinate is that of the last axis
        n = dims[-1 - k]
        steps = max(n - 1, 1) if align_corners else n
        at = ew.add(ew.multiply(astype(positions(n), float32), 2.0), 0.0 if align_corners else 1.0)
        line = ew.subtract(ew.divide(at, float(steps)), 1.0) if n > 1 or not align_corners else zeros((1,))
        shape = [1] * (rank + 2)
        shape[rank - k] = n
        out = ew.add(out, ew.multiply(reshape(line, tuple(shape)), column[k]))
    return astype(out, t.dtype, copy=False)


def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Array:  # fmt: skip
    """input (N, C, H, W) at the places of grid (N, Ho, Wo, 2), of shape (N, C, Ho, Wo); or one more axis and (.., 3).

    grid holds (x, y[, z]), -1 to 1 as in affine_grid. mode: 'bilinear' (also of volumes), 'nearest' (halves to even),
    'bicubic' (4-d, a = -0.75). What lies outside is 0 ('zeros'), the nearest pixel ('border'), or mirrored at the
    border ('reflection'). Computed in float32, of input's dtype.
    """
    name = "grid_sample"
    x, g = floating(input, name, None), floating(grid, name, None)
    rank = x.ndim - 2
    if rank not in (2, 3) or g.ndim != x.ndim or g.shape[-1] != rank or g.shape[0] != x.shape[0]:
        raise ValueError(
            f"{name}: input {x.shape} and grid {g.shape} are not (N, C, H, W) and (N, Ho, Wo, 2), or 5-d"
        )
    if mode not in ("bilinear", "nearest", "bicubic") or (mode == "bicubic" and rank == 3):
        raise ValueError(f"{name}: mode {mode!r} is not 'bilinear', 'nearest' or, for 4-d input, 'bicubic'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"{name}: padding_mode is 'zeros', 'border' or 'reflection', not {padding_mode!r}")
    sizes, places = x.shape[2:], g.shape[1:-1]
    out_shape = (*x.shape[:2], *places)
    if 0 in out_shape:
        return zeros(out_shape, dtype=x.dtype)
    if 0 in x.shape:
        raise ValueError(f"{name}: input {x.shape} has no pixels")
    wide, corners = astype(x, float32, copy=False), bool(align_corners)
    flat = reshape(wide, (*x.shape[:2], prod(sizes)))
    g = reshape(astype(g, float32, copy=False), (x.shape[0], prod(places), rank))
    axes = []
    for k, n in enumerate(sizes):
        u = g[:, :, rank - 1 - k]  # type: ignore[index]
        at = ew.multiply(ew.add(u, 1.0), (n - 1) / 2 if corners else n / 2)
        at = at if corners else ew.subtract(at, 0.5)
        axes.append(_taps(at, n, mode, padding_mode, corners))
    total: Array | None = None
    for taps in product(*axes):
        index = taps[0][0]
        for (i, _), n in zip(taps[1:], sizes[1:], strict=True):
            index = ew.add(ew.multiply(index, n), i)
        weight = reduce(ew.multiply, [w for _, w in taps])
        part = ew.multiply(take_along_axis(flat, index[:, None, :], 2, mode="clip"), weight[:, None, :])  # type: ignore[index]
        total = part if total is None else ew.add(total, part)
    assert total is not None, "an axis has taps"
    return astype(reshape(total, out_shape), x.dtype, copy=False)


def _taps(at: Array, n: int, mode: str, padding: str, corners: bool) -> list[tuple[Array, Array]]:
    """What is read along one axis of n pixels at float places: (index, weight), 1, 2 or 4 of them."""
    if mode == "bicubic":
        base = ew.floor(at)
        t = ew.subtract(at, base)
        found = []
        for k in range(4):
            place = ew.add(base, float(k - 1))
            found.append(_tap(_inside(place, n, padding, corners), n, _cubic(t, k)))
        return found
    at = _inside(at, n, padding, corners)
    if mode == "nearest":
        return [_tap(ew.rint(at), n, None)]
    base = ew.floor(at)
    t = ew.subtract(at, base)
    return [_tap(base, n, ew.subtract(1.0, t)), _tap(ew.add(base, 1.0), n, t)]


def _tap(place: Array, n: int, weight: Array | None) -> tuple[Array, Array]:
    """A whole place as an index, and its weight: 0 outside."""
    inside = ew.logical_and(ew.greater_equal(place, 0.0), ew.less_equal(place, float(n - 1)))
    return astype(ew.clip(place, 0.0, float(n - 1)), int32), ew.where(
        inside, 1.0 if weight is None else weight, 0.0
    )


def _inside(at: Array, n: int, padding: str, corners: bool) -> Array:
    """A place moved into the axis, as the padding says."""
    if padding == "zeros":
        return at
    if padding == "reflection":
        low, span = (0.0, float(n - 1)) if corners else (-0.5, float(n))
        if not span:
            return ew.multiply(at, 0.0)
        far = ew.abs(ew.subtract(at, low))
        extra, turns = ew.fmod(far, span), ew.floor(ew.divide(far, span))
        odd = ew.equal(ew.fmod(turns, 2.0), 1.0)
        at = ew.add(ew.where(odd, ew.subtract(span, extra), extra), low)
    return ew.clip(at, 0.0, float(n - 1))


def _cubic(t: Array, k: int) -> Array:
    """The weight of the k-th of four neighbours at a fraction t behind the second (Keys, a = -0.75)."""
    a = -0.75
    d = ew.abs(ew.subtract(t, float(k - 1)))
    if k in (1, 2):
        return ew.add(ew.multiply(ew.multiply(ew.subtract(ew.multiply(d, a + 2), a + 3), d), d), 1.0)
    inner = ew.add(ew.multiply(ew.subtract(ew.multiply(d, a), 5 * a), d), 8 * a)
    return ew.subtract(ew.multiply(inner, d), 4 * a)
