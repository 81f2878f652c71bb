"""Normalisations with a channel axis: batch, instance and group norm, local response norm; and normalize."""

from __future__ import annotations

from math import prod
from typing import Any

from ..array import Array
from ..dtypes import float32
from ..layout import normalize_axes
from ..linalg import vector_norm
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.creation import astype, full
from ..ops.manipulation import broadcast_to, reshape
from ..ops.routine import routine
from ..ops.rowwise import floating, grouped_lines, number, unit_lines
from ..ops.statistics import var
from ..ops.taking import copyto
from ..traced import isinstance_of_traced
from .spatial import operand, per_axis

__all__ = ["batch_norm", "group_norm", "instance_norm", "local_response_norm", "normalize"]

LARGE = 1 << 18  # elements from which on a factor a channel has a launch of its own


def _vector(x: Any, channels: int, label: str, what: str) -> Array | None:
    """One real number a channel, or None."""
    if x is None:
        return None
    one: Array = rd.prepared(x, label)
    if one.shape != (channels,) or one.dtype.kind not in "fiub":
        raise ValueError(
            f"{label}: {what} must be {channels} real numbers, one a channel, not {one.dtype.name} of shape {one.shape}"
        )
    return one


def _channels(x: Any, label: str, least: int = 2) -> Array:
    x = floating(x, label, None)
    if x.ndim < least:
        raise ValueError(f"{label}: needs at least {least} axes (N, C, ..), the shape is {x.shape}")
    made: Array = x
    return made


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Array:
    """(x - mean) / sqrt(var + eps) * weight + bias for each channel of (N, C, ..).

    mean and var are running_mean and running_var, of shape (C,); training: those of x over all axes but C (var without
    Bessel's correction), and if running_mean and running_var are given, which must then be tabgpu arrays, they are
    assigned (1 - momentum) * running + momentum * batch, with the corrected var. float16 and bfloat16 keep their dtype
    and are computed in float32; integers give float32. ValueError where shapes do not fit, or training has one value a
    channel.
    """
    label = "batch_norm"
    x, eps = _channels(input, label), eps if isinstance_of_traced(eps) else number(label, "eps", eps)
    c = x.shape[1]
    kept = [
        _vector(v, c, label, w) for v, w in ((running_mean, "running_mean"), (running_var, "running_var"))
    ]
    affine = [_vector(v, c, label, w) for v, w in ((weight, "weight"), (bias, "bias"))]
    if not training:
        if kept[0] is None or kept[1] is None:
            raise ValueError(f"{label}: needs running_mean and running_var, or training=True")
        return _normalized(x, kept[0], kept[1], affine[0], affine[1], eps)
    count = prod(x.shape) // max(c, 1)
    if count == 1:
        raise ValueError(f"{label}: training needs more than one value a channel, the shape is {x.shape}")
    _check_running(running_mean, running_var, label)
    if not x.size:
        return x
    axes = (0, *range(2, x.ndim))
    wide = astype(x, float32, copy=False)
    mean = rd.mean(wide, axis=axes, keepdims=True)
    spread = var(wide, axis=axes, mean=mean)
    mean = reshape(mean, (c,))
    _update(running_mean, mean, momentum)
    _update(running_var, ew.multiply(spread, count / (count - 1)), momentum)
    return _normalized(x, mean, spread, affine[0], affine[1], eps)


def _check_running(mean: Any, variance: Any, label: str) -> None:
    for what, running in (("running_mean", mean), ("running_var", variance)):
        if running is not None and not isinstance(running, Array):
            raise TypeError(
                f"{label}: {what} is assigned to: it must be a tabgpu array, not {type(running).__name__}"
            )


def _update(running: Array | None, batch: Array, momentum: float) -> None:
    if running is not None:
        new = ew.add(ew.multiply(running, 1.0 - momentum), ew.multiply(batch, float(momentum)))
        copyto(running, astype(new, running.dtype, copy=False))


def _normalized(
    x: Array, mean: Array, variance: Array, weight: Array | None, bias: Array | None, eps: float
) -> Array:
    """One elementwise launch; of many elements two, the first of which makes a factor for each channel."""
    wide = (-1, *(1,) * (x.ndim - 2))

    def column(v: Array) -> Array:
        return reshape(astype(v, float32, copy=False), wide)

    if x.size >= LARGE:
        factor = ew.rsqrt(ew.add(astype(variance, float32, copy=False), eps))
        if weight is not None:
            factor = ew.multiply(factor, astype(weight, float32, copy=False))
        made = ew.multiply(ew.subtract(x, column(mean)), column(factor))
    else:
        # var + eps in x's shape, so that its root joins the launch
        spread = ew.add(broadcast_to(column(variance), x.shape), eps)
        made = ew.multiply(ew.subtract(x, column(mean)), ew.rsqrt(spread))
        if weight is not None:
            made = ew.multiply(made, column(weight))
    if bias is not None:
        made = ew.add(made, column(bias))
    return astype(made, x.dtype, copy=False)


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Array:
    """(x - mean) / sqrt(var + eps) * weight + bias, with mean and var over each of num_groups groups of neighbouring
    channels of each sample of (N, C, ..). weight and bias: one number a channel.

    dtypes as batch_norm. NaN for a group with NaN or infinities. ValueError where shapes do not fit.
    """
    label = "group_norm"
    x, eps = _channels(input, label), number(label, "eps", eps)
    (num_groups,) = per_axis(num_groups, 1, label, "num_groups", 1)
    c = x.shape[1]
    if c % num_groups:
        raise ValueError(f"{label}: {c} channels (of the shape {x.shape}) are not {num_groups} equal groups")
    affine = [_vector(v, c, label, w) for v, w in ((weight, "weight"), (bias, "bias"))]
    if not x.size:
        return x
    return grouped_lines("layer_norm", x, num_groups, affine[0], affine[1], eps)


def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Array:
    """(x - mean) / sqrt(var + eps) * weight + bias, with mean and var over the places of each channel of each sample.

    use_input_stats=False: running_mean and running_var instead. With both they are assigned as by batch_norm, from the
    means over samples. Otherwise as batch_norm.
    """
    label = "instance_norm"
    x, eps = _channels(input, label, 3 if use_input_stats else 2), number(label, "eps", eps)
    c = x.shape[1]
    if not use_input_stats:
        return batch_norm(x, running_mean, running_var, weight, bias, False, momentum, eps)
    count = prod(x.shape[2:])
    if count == 1:
        raise ValueError(f"{label}: needs more than one place a channel, the shape is {x.shape}")
    _check_running(running_mean, running_var, label)
    for v, w in ((running_mean, "running_mean"), (running_var, "running_var")):
        _vector(v, c, label, w)
    affine = [_vector(v, c, label, w) for v, w in ((weight, "weight"), (bias, "bias"))]
    if not x.size:
        return x
    if running_mean is not None or running_var is not None:
        axes = tuple(range(2, x.ndim))
        wide = astype(x, float32, copy=False)
        mean = rd.mean(wide, axis=axes, keepdims=True)
        spread = var(wide, axis=axes, mean=mean, ddof=1)
        _update(running_mean, rd.mean(reshape(mean, x.shape[:2]), axis=0), momentum)
        _update(running_var, rd.mean(spread, axis=0), momentum)
    return grouped_lines("layer_norm", x, c, affine[0], affine[1], eps)


def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Array:
    """x / (k + alpha * mean of x**2 over `size` neighbouring channels) ** beta, of (N, C, places ..). Channels that are
    not there are zeros; of an even size one more is before than behind. dtypes as batch_norm."""
    label = "local_response_norm"
    x = _channels(input, label, 3)
    (size,) = per_axis(size, 1, label, "size", 1)
    power, add, factor = (number(label, w, v) for w, v in (("beta", beta), ("k", k), ("alpha", alpha)))
    if not x.size:
        return x
    n, c, places = x.shape[0], x.shape[1], prod(x.shape[2:])
    at = operand(reshape(x, (n, c, places)), 2)
    first = (c, c, at.steps[0], size, 1, size // 2, 1, c)
    second = (places, places, at.steps[1], 1, 1, 0, 1, places)
    how = (False, False, 0.0, 1.0, (-power, add, factor / size))
    extra = (at.channels, at.offset, at.strides, (first, second), *how)
    return routine("pool.lrn", [at.op], x.shape, x.dtype, extra, x.size * min(size, c))


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Array:
    """x / max(its p-norm along dim, eps). dim: an axis, or several. Large x do not overflow where p is 2.

    dtypes as batch_norm. A line with infinities is 0 where x is finite, NaN elsewhere.
    """
    label = "normalize"
    x, eps = floating(input, label, None), number(label, "eps", eps)
    if p == 2 and isinstance(dim, int) and x.ndim:
        return unit_lines(label, x, dim, eps)
    axes = normalize_axes(dim, x.ndim, label)
    if not x.size:
        return full(x.shape, 0, dtype=x.dtype)
    wide = astype(x, float32, copy=False)
    length = vector_norm(wide, axis=axes, keepdims=True, ord=p)
    return astype(ew.divide(wide, ew.maximum(length, eps)), x.dtype, copy=False)
