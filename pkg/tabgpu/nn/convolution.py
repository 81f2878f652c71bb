"""Convolutions of 1 to 3 axes and their transposes: arguments, shapes and dtypes; their products: conv_walks.py."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from ..array import Array
from ..dtypes import BY_KIND, DType, promote
from ..layout import Shape
from ..ops import elementwise as ew
from ..ops.creation import astype, zeros
from ..ops.manipulation import addressable, expand_dims, reshape
from ..ops.reductions import prepared
from . import conv_walks as walks

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """Cross-correlation over one axis, as conv2d: input (n, c, w) or (c, w), weight (k, c / groups, s)."""
    return _conv("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """Cross-correlation: input (n, c, h, w) or (c, h, w), weight (k, c / groups, r, s), bias (k,) -> (n, k, oh, ow).

    stride, dilation: an int or one an axis. padding: an int or one an axis; a pair (before, after) an axis; "valid"
    (none); "same" (stride 1: as many positions as the input has, an odd rest behind, as torch); "same_upper" or
    "same_lower" (any stride: ceil(size / stride) positions, an odd rest behind or before, as ONNX and XLA). Padding
    is zeros that no weight meets: NaN and infinite weights do not reach what lies outside.

    float32, float16 and bfloat16 are summed in float32 and rounded once; integers wrap. What follows elementwise joins
    the launch; views of input are read in place. TypeError for bool and complex64, ValueError where shapes do not fit,
    LimitError where an operand is larger than a binding.
    """
    return _conv("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """Cross-correlation over three axes, as conv2d: input (n, c, d, h, w) or (c, d, h, w), 5 axes of weight."""
    return _conv("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Array:
    """The transpose of conv1d, as conv_transpose2d."""
    return _transpose(
        "conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Array:
    """The transpose of conv2d: input (n, c, h, w) or (c, h, w), weight (c, k / groups, r, s), bias (k,) -> (n, k, oh,
    ow) with oh = (h - 1) * stride - padding before and after + dilation * (r - 1) + output_padding + 1.

    output_padding: rows that the other direction drops, fewer than stride or dilation. padding: an int, one an axis, or
    a pair an axis. Otherwise as conv2d. No zeros are put in between: a position meets the taps that reach it.
    """
    return _transpose(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Array:
    """The transpose of conv3d, as conv_transpose2d."""
    return _transpose(
        "conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def _conv(
    name: str, rank: int, x: Any, w: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any
) -> Array:
    x, w, want = operands(name, x, w)
    one = _batch(name, x, w, rank)
    x = expand_dims(x, axis=0) if one else x
    stride, dilation = (
        each(name, what, v, rank, 1) for what, v in (("stride", stride), ("dilation", dilation))
    )
    groups = fitting(name, x.shape, w.shape, groups)
    if 0 in w.shape[2:]:
        raise ValueError(f"{name}: weight of shape {w.shape} has no taps")
    pads = padding_of(name, padding, x.shape[2:], w.shape[2:], stride, dilation)
    out = positions(name, x.shape, w.shape, stride, pads, dilation)
    kernels = w.shape[0]
    shape = addressable((kernels, *out) if one else (x.shape[0], kernels, *out), name)
    term = _bias(name, bias, kernels, rank, x.dtype if x.dtype is want else BY_KIND[want.kind])
    if 0 in shape or not x.shape[1]:
        made = zeros(shape, dtype=BY_KIND[want.kind])
    else:
        made = walks.forward(x, w, shape, BY_KIND[want.kind], stride, pads, dilation, groups)
    return astype(made if term is None else ew.add(made, term), want, copy=False)


def _transpose(
    name: str, rank: int, x: Any, w: Any, bias: Any, stride: Any, padding: Any, more: Any, groups: Any, dilation: Any
) -> Array:  # fmt: skip
    x, w, want = operands(name, x, w)
    one = _batch(name, x, w, rank)
    x = expand_dims(x, axis=0) if one else x
    stride, dilation = (
        each(name, what, v, rank, 1) for what, v in (("stride", stride), ("dilation", dilation))
    )
    groups = whole(name, "groups", groups)
    if groups < 1 or x.shape[1] % groups or w.shape[0] != x.shape[1]:
        raise ValueError(
            f"{name}: input {x.shape} and weight {w.shape}: {x.shape[1]} channels in, {w.shape[0]} in the weight, "
            f"groups {groups}"
        )
    if isinstance(padding, str):
        raise ValueError(f"{name}: padding {padding!r}: give numbers")
    pads = padding_of(name, padding, x.shape[2:], w.shape[2:], stride, dilation)
    extra = each(name, "output_padding", more, rank, 0)
    if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise ValueError(
            f"{name}: output_padding {extra} is not below stride {stride} or dilation {dilation}"
        )
    out = tuple(
        (n - 1) * s - low - high + d * (t - 1) + e + 1
        for n, s, (low, high), d, t, e in zip(
            x.shape[2:], stride, pads, dilation, w.shape[2:], extra, strict=True
        )
    )
    if min(out) < 1 or 0 in w.shape[2:]:
        raise ValueError(f"{name}: input {x.shape} and weight {w.shape} give positions {out}")
    kernels = w.shape[1] * groups
    shape = addressable((kernels, *out) if one else (x.shape[0], kernels, *out), name)
    term = _bias(name, bias, kernels, rank, BY_KIND[want.kind])
    made = transposed_to(shape, x, w, BY_KIND[want.kind], stride, pads, dilation, groups)
    return astype(made if term is None else ew.add(made, term), want, copy=False)


def transposed_to(
    shape: Shape, x: Array, w: Array, dtype: DType, stride: Shape, pads: walks.Pairs, dilation: Shape, groups: int
) -> Array:  # fmt: skip
    """The transpose with a result of a given shape; zeros where there is nothing to add."""
    if 0 in shape or 0 in x.shape:
        return zeros(shape, dtype=dtype)
    return walks.transposed(x, w, shape, dtype, stride, pads, dilation, groups)


def operands(name: str, x: Any, w: Any) -> tuple[Array, Array, DType]:
    """Two operands as a kernel takes them, and the dtype of the result."""
    x, w = prepared(x, name), prepared(w, name)
    want = promote(x.dtype, w.dtype, where=name)
    if "b" in (x.dtype.kind, w.dtype.kind) or want.kind not in "fiu":
        raise TypeError(f"{name}: needs integers or real floats, not {x.dtype.name} and {w.dtype.name}")
    if want.kind == "f" and x.dtype is w.dtype:
        return x, w, want
    computed = BY_KIND[want.kind]
    return astype(x, computed, copy=False), astype(w, computed, copy=False), want


def _batch(name: str, x: Array, w: Array, rank: int) -> bool:
    """Whether an input is one image without a batch axis."""
    if x.ndim not in (rank + 1, rank + 2) or w.ndim != rank + 2:
        raise ValueError(
            f"{name}: input {x.shape} and weight {w.shape}: {rank + 2} axes each (or an image alone)"
        )
    return x.ndim == rank + 1


def _bias(name: str, bias: Any, kernels: int, rank: int, dtype: DType) -> Array | None:
    if bias is None:
        return None
    bias = prepared(bias, name)
    if bias.shape != (kernels,):
        raise ValueError(f"{name}: bias of shape {bias.shape}: {kernels} channels out")
    if bias.dtype.kind not in "fiu" or (bias.dtype.kind == "f" and dtype.kind != "f"):
        raise TypeError(f"{name}: a bias of {bias.dtype.name} does not fit {dtype.name}")
    return reshape(astype(bias, BY_KIND[dtype.kind], copy=False), (kernels, *[1] * rank))


def whole(name: str, what: str, value: Any) -> int:
    """An int argument."""
    try:
        return int(index(value))
    except TypeError:
        raise TypeError(f"{name}: {what} must be an int, not {value!r}") from None


def each(name: str, what: str, value: Any, rank: int, least: int) -> Shape:
    """An int, or a sequence of one int or one an axis, as one an axis."""
    values = (
        [whole(name, what, v) for v in value] if isinstance(value, Sequence) else [whole(name, what, value)]
    )
    if len(values) not in (1, rank) or min(values) < least:
        raise ValueError(f"{name}: {what} {value!r}: at least {least}, one for all axes or {rank}")
    return tuple(values * rank if len(values) == 1 else values)


def fitting(name: str, x: Shape, w: Shape, groups: Any) -> int:
    """The groups, if channels fit them."""
    many = whole(name, "groups", groups)
    if many < 1 or w[0] % many or x[1] != w[1] * many:
        raise ValueError(
            f"{name}: input {x} and weight {w}: {x[1]} channels in, {w[1]} in the weight x {many} groups; {w[0]} out"
        )
    return many


def padding_of(
    name: str, padding: Any, sizes: Shape, taps: Shape, stride: Shape, dilation: Shape
) -> list[tuple[int, int]]:
    """Padding before and after, an axis each."""
    rank = len(sizes)
    if not isinstance(padding, str):
        if isinstance(padding, Sequence) and any(isinstance(p, Sequence) for p in padding):
            given = [each(name, "padding", p, 2, 0) for p in padding]
            if len(given) != rank:
                raise ValueError(f"{name}: padding {padding!r}: {rank} pairs")
            return [(low, high) for low, high in given]
        return [(p, p) for p in each(name, "padding", padding, rank, 0)]
    if padding == "valid":
        return [(0, 0)] * rank
    if padding not in ("same", "same_upper", "same_lower"):
        raise ValueError(
            f'{name}: padding {padding!r}: "valid", "same", "same_upper", "same_lower" or numbers'
        )
    if padding == "same" and max(stride) > 1:
        raise ValueError(f'{name}: padding "same" with stride {stride}: use "same_upper" or "same_lower"')
    pairs = []
    for n, t, s, d in zip(sizes, taps, stride, dilation, strict=True):
        total = max((-(-n // s) - 1) * s + d * (t - 1) + 1 - n, 0) if n else 0
        small, large = total // 2, total - total // 2
        pairs.append((large, small) if padding == "same_lower" else (small, large))
    return pairs


def positions(name: str, x: Shape, w: Shape, stride: Shape, pads: walks.Pairs, dilation: Shape) -> Shape:
    """Output positions, an axis each."""
    out = tuple(
        (n + low + high - d * (t - 1) - 1) // s + 1
        for n, t, s, (low, high), d in zip(x[2:], w[2:], stride, pads, dilation, strict=True)
    )
    if min(out) < 1:
        raise ValueError(
            f"{name}: input {x} with padding {list(pads)} is smaller than weight {w} with dilation {dilation}"
        )
    return out


def taken(name: str, shape: Any, rank: int) -> Shape:
    """A shape argument of rank + 2 sizes."""
    found = tuple(whole(name, "a size", n) for n in shape)
    if len(found) != rank + 2 or min(found) < 0:
        raise ValueError(f"{name}: a shape of {rank + 2} sizes, not {found}")
    return found
