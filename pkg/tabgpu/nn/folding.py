"""Windows laid out as columns, columns added up again, and channels moved into space and back."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..array import Array
from ..ops import reductions as rd
from ..ops.creation import full
from ..ops.manipulation import addressable, permute_dims, reshape
from ..ops.routine import routine
from .pooling import pooled_size
from .spatial import operand, per_axis, prepared

__all__ = ["channel_shuffle", "fold", "pixel_shuffle", "pixel_unshuffle", "unfold"]

Ints = Any  # an int, or one for each axis


def _windows(
    sizes: Sequence[int], kernel: Sequence[int], dilation: Sequence[int], pads: Sequence[tuple[int, int]],
    stride: Sequence[int], label: str,
) -> tuple[int, ...]:  # fmt: skip
    outs = [
        pooled_size(n, k, s, p, d, False)
        for n, k, s, p, d in zip(sizes, kernel, stride, pads, dilation, strict=True)
    ]
    if any(o <= 0 for o in outs):
        raise ValueError(
            f"{label}: a kernel of {tuple(kernel)} (dilation {tuple(dilation)}) is larger than {tuple(sizes)} "
            f"padded by {tuple(pads)}"
        )
    return tuple(outs)


def _given(
    kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints, label: str
) -> tuple[tuple[int, ...], tuple[int, ...], list[tuple[int, int]], tuple[int, ...]]:
    kernel = per_axis(kernel_size, 2, label, "kernel_size", 1)
    holes = per_axis(dilation, 2, label, "dilation", 1)
    pads = [(p, p) for p in per_axis(padding, 2, label, "padding")]
    return kernel, holes, pads, per_axis(stride, 2, label, "stride", 1)


def columns(
    x: Array,
    kernel: tuple[int, ...],
    dilation: tuple[int, ...],
    pads: Sequence[tuple[int, int]],
    stride: tuple[int, ...],
    label: str,
) -> Array:
    """(.., C, spatial axes) as (.., C * taps, windows), over one to three axes."""
    rank = len(kernel)
    outs = _windows(x.shape[-rank:], kernel, dilation, pads, stride, label)
    shape = addressable((*x.shape[: -rank - 1], x.shape[-rank - 1] * prod(kernel), prod(outs)), label)
    if 0 in shape:
        return full(shape, 0, dtype=x.dtype)
    at = operand(x, rank)
    before = [p[0] for p in pads]
    axes = tuple(zip(outs, at.sizes, at.steps, kernel, stride, before, dilation, strict=True))
    return routine("fold.unfold", [at.op], shape, x.dtype, (at.channels, at.offset, at.strides, axes))


def overlapped(
    x: Array,
    sizes: tuple[int, ...],
    kernel: tuple[int, ...],
    dilation: tuple[int, ...],
    pads: Sequence[tuple[int, int]],
    stride: tuple[int, ...],
    label: str,
) -> Array:
    """(.., C * taps, windows) added up to (.., C, *sizes), over one to three axes."""
    outs = _windows(sizes, kernel, dilation, pads, stride, label)
    taps, windows = prod(kernel), prod(outs)
    if x.shape[-1] != windows or x.shape[-2] % taps:
        raise ValueError(
            f"{label}: {tuple(sizes)} by a kernel of {tuple(kernel)} has columns of a multiple of {taps} elements "
            f"and {windows} of them; the shape is {x.shape}"
        )
    shape = (*x.shape[:-2], x.shape[-2] // taps, *sizes)
    if 0 in shape:
        return full(shape, 0, dtype=x.dtype)
    at = operand(x, 1)
    before = [p[0] for p in pads]
    axes = tuple(zip(outs, sizes, (0,) * len(sizes), kernel, stride, before, dilation, strict=True))
    extra = (at.channels, at.offset, at.strides, axes, at.steps[0])
    return routine("fold.fold", [at.op], shape, x.dtype, extra, prod(shape) * taps)


def unfold(input: Any, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> Array:
    """The windows of (N, C, H, W) as columns: (N, C * taps, windows); of (C, H, W) likewise.

    kernel_size, dilation, padding (by zeros), stride: an int or two. Any dtype but complex64. ValueError for a kernel
    larger than the padded array.
    """
    x = prepared(input, 2, "unfold")
    if x.dtype.kind == "c":
        raise TypeError("unfold: does not take complex64")
    return columns(x, *_given(kernel_size, dilation, padding, stride, "unfold"), "unfold")


def fold(
    input: Any, output_size: Ints, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
) -> Array:
    """Columns (N, C * taps, windows), as unfold makes them, added up to (N, C, *output_size); without N likewise.

    Real floats and integers; float16 and bfloat16 are added in float32. ValueError for columns that do not fit.
    """
    x = prepared(input, 1, "fold")
    if x.dtype.kind not in "fiu":
        raise TypeError(f"fold: needs real floats or integers, not {x.dtype.name}")
    sizes = per_axis(output_size, 2, "fold", "output_size", 1)
    return overlapped(x, sizes, *_given(kernel_size, dilation, padding, stride, "fold"), "fold")


def pixel_shuffle(input: Any, upscale_factor: int) -> Array:
    """(.., C * r * r, H, W) as (.., C, H * r, W * r): channels become places."""
    x, r = rd.prepared(input, "pixel_shuffle"), upscale_factor
    if x.ndim < 3 or r < 1 or x.shape[-3] % (r * r):
        raise ValueError(f"pixel_shuffle: the shape {x.shape} has not (.., C * {r} * {r}, H, W)")
    *lead, c, h, w = x.shape
    k = len(lead)
    apart = reshape(x, (*lead, c // (r * r), r, r, h, w))
    turned = permute_dims(apart, (*range(k), k, k + 3, k + 1, k + 4, k + 2))
    return reshape(turned, (*lead, c // (r * r), h * r, w * r))


def pixel_unshuffle(input: Any, downscale_factor: int) -> Array:
    """(.., C, H * r, W * r) as (.., C * r * r, H, W): the way back from pixel_shuffle."""
    x, r = rd.prepared(input, "pixel_unshuffle"), downscale_factor
    if x.ndim < 3 or r < 1 or x.shape[-2] % r or x.shape[-1] % r:
        raise ValueError(f"pixel_unshuffle: the shape {x.shape} has not (.., C, H * {r}, W * {r})")
    *lead, c, h, w = x.shape
    k = len(lead)
    apart = reshape(x, (*lead, c, h // r, r, w // r, r))
    turned = permute_dims(apart, (*range(k), k, k + 2, k + 4, k + 1, k + 3))
    return reshape(turned, (*lead, c * r * r, h // r, w // r))


def channel_shuffle(input: Any, groups: int) -> Array:
    """(N, C, ..) with its channels, as (groups, C / groups), transposed."""
    x = rd.prepared(input, "channel_shuffle")
    if x.ndim < 3 or groups < 1 or x.shape[1] % groups:
        raise ValueError(f"channel_shuffle: the shape {x.shape} has not (N, {groups} * C, ..)")
    n, c, *rest = x.shape
    apart = reshape(x, (n, groups, c // groups, *rest))
    return reshape(permute_dims(apart, (0, 2, 1, *range(3, 3 + len(rest)))), x.shape)
