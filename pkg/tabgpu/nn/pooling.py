"""Pooling over 1 to 3 spatial axes: max, average, power average, adaptive; the way back from a max pooling."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod
from typing import Any

from .. import engine
from ..array import Array
from ..dtypes import BY_KIND, float32, int32, uint32
from ..errors import LimitError
from ..graph import Op
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.creation import astype, full, zeros
from ..ops.extremes import float_of_bits
from ..ops.manipulation import getitem, reshape
from ..ops.routine import routine
from ..ops.rowwise import floating
from .spatial import operand, per_axis, prepared

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
    "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "lp_pool3d",
    "max_pool1d", "max_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip

Ints = Any  # an int, or one for each axis


def pooled_size(
    size: int, taps: int, step: int, pads: tuple[int, int], dilation: int, ceil_mode: bool
) -> int:
    """How many windows an axis has. ceil_mode: also one that goes over the end, if it begins before it."""
    room = size + sum(pads) - dilation * (taps - 1) - 1
    if not ceil_mode:
        return room // step + 1
    out = -(-room // step) + 1
    return out - ((out - 1) * step >= size + pads[0])


def pool(
    name: str,
    x: Array,
    rank: int,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    pads: Sequence[tuple[int, int]],
    dilation: tuple[int, ...],
    ceil_mode: bool,
    label: str,
    *,
    padded: bool = False,
    divisor: float = 0.0,
    times: float = 1.0,
    numbers: tuple[float, ...] = (),
) -> Any:
    """Windows of the last `rank` axes (1 to 3) of any array, padded by pads = ((before, behind), ..) with what changes
    nothing. name: max, argmax (values and places in the flattened axes), avg, lp1, lp2, lp, lpabs (sums of |x| ** p:
    numbers p and 1 / p). A mean's divisor is what counts (padded: the padding does), or `divisor`; times `times`."""
    sizes = x.shape[-rank:]
    outs = []
    for n, k, s, p, d in zip(sizes, kernel, stride, pads, dilation, strict=True):
        outs.append(pooled_size(n, k, s, p, d, ceil_mode))
    if any(n <= 0 for n in outs):
        raise ValueError(
            f"{label}: a kernel of {kernel} (dilation {dilation}) is larger than {sizes} padded by {tuple(pads)}"
        )
    axes = [
        (k, s, p[0], d, n + p[1]) for n, k, s, p, d in zip(sizes, kernel, stride, pads, dilation, strict=True)
    ]
    return launched(name, x, tuple(outs), axes, (False, padded, float(divisor), float(times), numbers))


def launched(
    name: str,
    x: Array,
    outs: tuple[int, ...],
    axes: Sequence[tuple[int, ...]],
    how: tuple[Any, ...],
    *more: Op,
) -> Any:
    """One pool over the last axes: `axes` and `how` are what routines.pool.Axis and Pool say behind what x decides."""
    rank = len(outs)
    shape = (*x.shape[:-rank], *outs)
    both = name == "argmax"
    if 0 in shape:
        made = full(shape, 0, dtype=x.dtype)
        return (made, full(shape, 0, dtype=int32)) if both else made
    at = operand(x, rank)
    spans = tuple([(o, n, s, *a) for o, n, s, a in zip(outs, at.sizes, at.steps, axes, strict=True)])
    extra = (at.channels, at.offset, at.strides, spans, *how)
    work = prod(shape) * prod(a[0] for a in axes)
    if not both:
        return routine(f"pool.{name}", [at.op, *more], shape, x.dtype, extra, work)
    found = routine("pool.argmax", [at.op, *more], (2, *shape), uint32, extra, work)
    bits = getitem(found, 0)
    wide = BY_KIND[x.dtype.kind]
    values = float_of_bits(bits) if wide is float32 else astype(bits, wide, copy=False)
    return astype(values, x.dtype, copy=False), astype(getitem(found, 1), int32)


def _arguments(
    x: Array, rank: int, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, label: str
) -> tuple[tuple[int, ...], tuple[int, ...], list[tuple[int, int]], tuple[int, ...]]:
    kernel = per_axis(kernel_size, rank, label, "kernel_size", 1)
    steps = kernel if stride is None or stride == () else per_axis(stride, rank, label, "stride", 1)
    pads = per_axis(padding, rank, label, "padding")
    holes = per_axis(dilation, rank, label, "dilation", 1)
    if any(p > k // 2 for k, p in zip(kernel, pads, strict=True)):
        raise ValueError(f"{label}: padding {pads} is more than half of the kernel {kernel}")
    if 0 in x.shape[x.ndim - rank - 1 :]:
        raise ValueError(f"{label}: channels and spatial axes must not be empty, the shape is {x.shape}")
    return kernel, steps, [(p, p) for p in pads], holes


def comparable(x: Array, label: str) -> Array:
    if x.dtype.kind not in "fiu":
        raise TypeError(f"{label}: needs real floats or integers, not {x.dtype.name}")
    return x


def _max(
    rank: int, x: Any, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool, indices: bool
) -> Any:  # fmt: skip
    label = f"max_pool{rank}d"
    x = comparable(prepared(x, rank, label), label)
    given = _arguments(x, rank, kernel_size, stride, padding, dilation, label)
    return pool("argmax" if indices else "max", x, rank, *given, bool(ceil_mode), label)


def max_pool1d(
    input: Any, kernel_size: Ints, stride: Ints = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """The greatest element of each window of (N, C, L) or (C, L), and with return_indices where it lies.

    kernel_size, stride (kernel_size by default), padding (at most half a window, as -inf), dilation: an int or one an
    axis. ceil_mode: windows may go over the end. NaN wins. Real floats and integers keep their dtype; indices are int32
    places in the flattened spatial axes: the first of equals, the last of NaNs, -1 of a window that dilation puts in
    the padding. ValueError for sizes that do not fit.
    """
    return _max(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input: Any, kernel_size: Ints, stride: Ints = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """max_pool1d over the two last axes of (N, C, H, W) or (C, H, W)."""
    return _max(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Any, kernel_size: Ints, stride: Ints = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """max_pool1d over the three last axes of (N, C, D, H, W) or (C, D, H, W)."""
    return _max(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _avg(
    rank: int, x: Any, kernel_size: Ints, stride: Ints, padding: Ints, ceil_mode: bool, padded: bool, divisor: Any
) -> Array:  # fmt: skip
    label = f"avg_pool{rank}d"
    x = floating(prepared(x, rank, label), label, None)
    given = _arguments(x, rank, kernel_size, stride, padding, 1, label)
    if divisor is not None and not divisor:
        raise ValueError(f"{label}: divisor_override must not be 0")
    made: Array = pool(
        "avg", x, rank, *given, bool(ceil_mode), label, padded=bool(padded), divisor=divisor or 0
    )
    return made


def avg_pool1d(
    input: Any, kernel_size: Ints, stride: Ints = None, padding: Ints = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Array:  # fmt: skip
    """The mean of each window of (N, C, L) or (C, L). Arguments as max_pool1d.

    count_include_pad: whether padding counts, as zeros (not what a window of ceil_mode has behind it). float32, float16
    and bfloat16 keep their dtype and are summed in float32; integers give float32.
    """
    return _avg(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: Any, kernel_size: Ints, stride: Ints = None, padding: Ints = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Array:  # fmt: skip
    """avg_pool1d over the two last axes of (N, C, H, W) or (C, H, W). divisor_override: what sums are divided by."""
    return _avg(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Any, kernel_size: Ints, stride: Ints = None, padding: Ints = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Array:  # fmt: skip
    """avg_pool2d over the three last axes of (N, C, D, H, W) or (C, D, H, W)."""
    return _avg(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _lp(rank: int, x: Any, norm_type: float, kernel_size: Ints, stride: Ints, ceil_mode: bool) -> Array:
    label, p = f"lp_pool{rank}d", float(norm_type)
    if not p:
        raise ValueError(f"{label}: norm_type must not be 0")
    x = floating(prepared(x, rank, label), label, None)
    given = _arguments(x, rank, kernel_size, stride, 0, 1, label)
    if p in (inf, -inf):
        sign = ew.abs(x) if p > 0 else ew.negative(ew.abs(x))
        most: Array = pool("max", sign, rank, *given, bool(ceil_mode), label)
        return most if p > 0 else ew.negative(most)
    name = {1.0: "lp1", 2.0: "lp2"}.get(p, "lp")
    times = prod(given[0])
    made: Array = pool(
        name, x, rank, *given, bool(ceil_mode), label, padded=True, times=times, numbers=(p, 1 / p)
    )
    return made


def lp_pool1d(
    input: Any, norm_type: float, kernel_size: Ints, stride: Ints = None, ceil_mode: bool = False
) -> Array:
    """sum(x ** norm_type) ** (1 / norm_type) over each window of (N, C, L) or (C, L); inf: the greatest |x|.

    As torch: powers of x, not of |x|, and the mean of what a window of ceil_mode has, times kernel_size. dtypes as
    avg_pool1d.
    """
    return _lp(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Any, norm_type: float, kernel_size: Ints, stride: Ints = None, ceil_mode: bool = False
) -> Array:
    """lp_pool1d over the two last axes of (N, C, H, W) or (C, H, W)."""
    return _lp(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Any, norm_type: float, kernel_size: Ints, stride: Ints = None, ceil_mode: bool = False
) -> Array:
    """lp_pool1d over the three last axes of (N, C, D, H, W) or (C, D, H, W)."""
    return _lp(3, input, norm_type, kernel_size, stride, ceil_mode)


def _adaptive(name: str, rank: int, x: Array, output_size: Ints, label: str) -> Any:
    sizes = x.shape[-rank:]
    wanted = tuple(output_size) if isinstance(output_size, Sequence) else (output_size,) * rank
    if len(wanted) == 1:
        wanted *= rank
    if len(wanted) != rank:
        raise ValueError(f"{label}: output_size must be an int or {rank} of them, not {output_size!r}")
    outs = per_axis(
        [n if o is None else o for n, o in zip(sizes, wanted, strict=True)], rank, label, "output_size"
    )
    if 0 in x.shape[x.ndim - rank - 1 :]:
        raise ValueError(f"{label}: channels and spatial axes must not be empty, the shape is {x.shape}")
    if any((o + 1) * n >= 1 << 32 for o, n in zip(outs, sizes, strict=True)):
        raise LimitError(f"{label}: {sizes} to {outs}: a size times the other must be below 2**32")
    if outs == (1,) * rank and name != "argmax":
        axes = tuple(range(x.ndim - rank, x.ndim))
        whole = rd.max if name == "max" else rd.mean
        made: Array = whole(x, axis=axes, keepdims=True)
        return made
    axes_of = [(-(-n // max(o, 1)), 1, 0, 1, n) for n, o in zip(sizes, outs, strict=True)]
    return launched(name, x, outs, axes_of, (True, False, 0.0, 1.0, ()))


def _adaptive_avg(rank: int, x: Any, output_size: Ints) -> Array:
    label = f"adaptive_avg_pool{rank}d"
    made: Array = _adaptive("avg", rank, floating(prepared(x, rank, label), label, None), output_size, label)
    return made


def _adaptive_max(rank: int, x: Any, output_size: Ints, indices: bool) -> Any:
    label = f"adaptive_max_pool{rank}d"
    x = comparable(prepared(x, rank, label), label)
    return _adaptive("argmax" if indices else "max", rank, x, output_size, label)


def adaptive_avg_pool1d(input: Any, output_size: Ints) -> Array:
    """Means of output_size windows over (N, C, L) or (C, L): window o from floor(o L / out) to ceil((o + 1) L / out).

    output_size: an int or one an axis; None keeps a size. dtypes as avg_pool1d.
    """
    return _adaptive_avg(1, input, output_size)


def adaptive_avg_pool2d(input: Any, output_size: Ints) -> Array:
    """adaptive_avg_pool1d over the two last axes of (N, C, H, W) or (C, H, W)."""
    return _adaptive_avg(2, input, output_size)


def adaptive_avg_pool3d(input: Any, output_size: Ints) -> Array:
    """adaptive_avg_pool1d over the three last axes of (N, C, D, H, W) or (C, D, H, W)."""
    return _adaptive_avg(3, input, output_size)


def adaptive_max_pool1d(input: Any, output_size: Ints, return_indices: bool = False) -> Any:
    """The greatest elements of the windows of adaptive_avg_pool1d; return_indices and dtypes as max_pool1d."""
    return _adaptive_max(1, input, output_size, return_indices)


def adaptive_max_pool2d(input: Any, output_size: Ints, return_indices: bool = False) -> Any:
    """adaptive_max_pool1d over the two last axes of (N, C, H, W) or (C, H, W)."""
    return _adaptive_max(2, input, output_size, return_indices)


def adaptive_max_pool3d(input: Any, output_size: Ints, return_indices: bool = False) -> Any:
    """adaptive_max_pool1d over the three last axes of (N, C, D, H, W) or (C, D, H, W)."""
    return _adaptive_max(3, input, output_size, return_indices)


def _unpool(
    rank: int, x: Any, indices: Any, kernel_size: Ints, stride: Ints, padding: Ints, output_size: Any
) -> Array:
    label = f"max_unpool{rank}d"
    x, places = prepared(x, rank, label), rd.prepared(indices, label)
    if places.shape != x.shape or places.dtype.kind not in "iu":
        raise ValueError(
            f"{label}: indices must be integers of shape {x.shape}, not {places.dtype.name} of shape {places.shape}"
        )
    kernel, steps, pads, _ = _arguments(x, rank, kernel_size, stride, padding, 1, label)
    usual = [
        (n - 1) * s + k - 2 * p[0] for n, s, k, p in zip(x.shape[-rank:], steps, kernel, pads, strict=True)
    ]
    sizes = tuple(usual)
    if output_size is not None:
        sizes = tuple(output_size)[-rank:] if len(output_size) == rank + 2 else tuple(output_size)
        if len(sizes) != rank or any(abs(n - u) >= s for n, u, s in zip(sizes, usual, steps, strict=True)):
            raise ValueError(
                f"{label}: output_size {tuple(output_size)} is a stride or more from {tuple(usual)}"
            )
    lead = x.shape[:-rank]
    out = zeros((*lead, prod(sizes)), x.dtype)
    if x.size:
        from ..ops.taking import put_along_axis

        flat = (*lead, prod(x.shape[-rank:]))
        put_along_axis(out, reshape(places, flat), reshape(x, flat), -1)
        engine.weigh(out.size)
    return reshape(out, (*lead, *sizes))


def max_unpool1d(
    input: Any,
    indices: Any,
    kernel_size: Ints,
    stride: Ints = None,
    padding: Ints = 0,
    output_size: Any = None,
) -> Array:
    """Zeros of the shape that max_pool1d made input of, with its elements where indices say (the last of duplicates).

    output_size: where several shapes would have given input's, the spatial one, or all of it. IndexError, at the read,
    for indices outside.
    """
    return _unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Any,
    indices: Any,
    kernel_size: Ints,
    stride: Ints = None,
    padding: Ints = 0,
    output_size: Any = None,
) -> Array:
    """max_unpool1d over the two last axes of (N, C, H, W) or (C, H, W)."""
    return _unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Any,
    indices: Any,
    kernel_size: Ints,
    stride: Ints = None,
    padding: Ints = 0,
    output_size: Any = None,
) -> Array:
    """max_unpool1d over the three last axes of (N, C, D, H, W) or (C, D, H, W)."""
    return _unpool(3, input, indices, kernel_size, stride, padding, output_size)
