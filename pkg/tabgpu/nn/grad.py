"""Gradients of convolutions with respect to input and weight, as torch.nn.grad has them."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import BY_KIND
from ..ops.creation import astype, zeros
from . import conv_walks as walks
from .convolution import each, fitting, operands, padding_of, positions, taken, transposed_to

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def conv1d_input(
    input_size: Any,
    weight: Any,
    grad_output: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """The gradient of conv1d with respect to its input, as conv2d_input."""
    return _input("conv1d_input", 1, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Any,
    weight: Any,
    grad_output: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """The gradient of conv2d(input, weight, ..) with respect to an input of shape input_size (n, c, h, w), where
    grad_output (n, k, oh, ow) is the gradient with respect to its result. Other arguments and dtypes as conv2d.

    ValueError where the shapes are not those of one convolution.
    """
    return _input("conv2d_input", 2, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Any,
    weight: Any,
    grad_output: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """The gradient of conv3d with respect to its input, as conv2d_input."""
    return _input("conv3d_input", 3, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(
    input: Any,
    weight_size: Any,
    grad_output: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """The gradient of conv1d with respect to its weight, as conv2d_weight."""
    return _weight("conv1d_weight", 1, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_weight(
    input: Any,
    weight_size: Any,
    grad_output: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """The gradient of conv2d(input, weight, ..) with respect to a weight of shape weight_size (k, c / groups, r, s);
    otherwise as conv2d_input. Sums in float32 over all images and positions, in pieces that are added in order."""
    return _weight("conv2d_weight", 2, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_weight(
    input: Any,
    weight_size: Any,
    grad_output: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Array:
    """The gradient of conv3d with respect to its weight, as conv2d_weight."""
    return _weight("conv3d_weight", 3, input, weight_size, grad_output, stride, padding, dilation, groups)


def _checked(
    name: str, x: Any, w: Any, g: Any, stride: Any, padding: Any, dilation: Any, groups: Any
) -> tuple[Any, ...]:
    """(stride, padding, dilation, groups) of a convolution of shapes x and w whose result has shape g."""
    rank = len(x) - 2
    stride, dilation = (each(name, k, v, rank, 1) for k, v in (("stride", stride), ("dilation", dilation)))
    groups = fitting(name, x, w, groups)
    pads = padding_of(name, padding, x[2:], w[2:], stride, dilation)
    want = (x[0], w[0], *positions(name, x, w, stride, pads, dilation))
    if g != want:
        raise ValueError(f"{name}: grad_output of shape {g}: input {x} and weight {w} give {want}")
    return stride, pads, dilation, groups


def _input(name: str, rank: int, size: Any, w: Any, g: Any, *how: Any) -> Array:
    g, w, want = operands(name, g, w)
    shape = taken(name, size, rank)
    taken(name, w.shape, rank)
    how = _checked(name, shape, w.shape, g.shape, *how)
    return astype(transposed_to(shape, g, w, BY_KIND[want.kind], *how), want, copy=False)


def _weight(name: str, rank: int, x: Any, size: Any, g: Any, *how: Any) -> Array:
    x, g, want = operands(name, x, g)
    shape = taken(name, size, rank)
    taken(name, x.shape, rank)
    stride, pads, dilation, groups = _checked(name, x.shape, shape, g.shape, *how)
    dtype = BY_KIND[want.kind]
    if 0 in shape or 0 in x.shape or 0 in g.shape:
        return zeros(shape, dtype=want)
    made = walks.weights(x, g, shape, dtype, stride, pads, dilation, groups)
    return astype(made, want, copy=False)
