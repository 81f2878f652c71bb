"""Correlation of arrays with kernels over any axes: two at a time go to routines/stencil.py, more are sums of those."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from struct import pack, unpack

from ..array import Array, view
from ..dtypes import float32
from ..layout import contiguous, permute
from ..nn.spatial import operand
from ..ops import elementwise as ew
from ..ops.creation import astype, full, zeros_like
from ..ops.manipulation import getitem, permute_dims, reshape
from ..ops.routine import routine, stored
from .borders import extended


def stencil(
    x: Array, weights: Array, results: tuple[int, int], origin: tuple[int, int], modes: tuple[int, int], cval: float
) -> Array:  # fmt: skip
    """Images (.., h, w) of real numbers correlated with a 2-D kernel: float32 (.., *results).

    Result (y, x) sums weights[a, b] times element (y + a - origin[0], x + b - origin[1]); elements outside by mode
    (image.arguments.MODES), of a constant cval.
    """
    shape = (*x.shape[:-2], *results)
    if not prod(shape) or not weights.size or (0 in x.shape and not modes[0] and not modes[1]):
        return full(shape, 0.0, dtype=float32)
    if 0 in x.shape:
        raise ValueError(f"stencil: an array of shape {x.shape} has no border to repeat")
    at = operand(x, 2)
    kernel = weights.shape[0], weights.shape[1]
    extra = (
        *(at.channels, at.offset, at.strides, at.sizes, at.steps, kernel, results, origin, modes),
        unpack("<I", pack("<f", cval))[0],
    )
    args = [at.op, stored(astype(weights, float32, copy=False))]
    return routine("stencil", args, shape, float32, extra, prod(shape) * max(prod(kernel) // 8, 1))


def correlated(
    x: Array, weights: Array, axes: Sequence[int], starts: Sequence[int], modes: Sequence[int], cval: float
) -> Array:
    """float32 of x's shape: x correlated with real weights, one axis of them for each of `axes`. starts: how far before
    an element its window begins."""
    if not x.size:
        return zeros_like(x, dtype=float32)
    used = [k for k, n in enumerate(weights.shape) if n > 1 or starts[k]]
    axes, starts, modes = (
        [axes[k] for k in used],
        [starts[k] for k in used],
        [modes[k] for k in used],
    )
    weights = reshape(weights, [weights.shape[k] for k in used])
    if len(used) > 2:
        axis, n = axes[0], weights.shape[0]
        x = astype(x, float32, copy=False)  # cval need not be a value of x's dtype
        wide = extended(x, axis, starts[0], n - 1 - starts[0], modes[0], cval)
        total: Array | None = None
        for t in range(n):
            part = getitem(wide, (*[slice(None)] * axis, slice(t, t + x.shape[axis])))
            one = correlated(part, getitem(weights, t), axes[1:], starts[1:], modes[1:], cval)
            total = one if total is None else ew.add(total, one)
        assert total is not None
        return total
    if not used:
        return ew.multiply(astype(x, float32, copy=False), reshape(weights, ()))
    if len(used) == 1:
        return _line(x, weights, axes[0], starts[0], modes[0], cval)
    return _permuted(x, weights, tuple(axes), (starts[0], starts[1]), (modes[0], modes[1]), cval)


def _line(x: Array, weights: Array, axis: int, begin: int, mode: int, cval: float) -> Array:
    n = weights.size
    if x.ndim == 1:
        made = stencil(
            reshape(x, (1, -1)), reshape(weights, (1, n)), (1, x.size), (0, begin), (0, mode), cval
        )
        return reshape(made, x.shape)
    last = x.ndim - 1
    if axis == last:
        return _permuted(x, reshape(weights, (1, n)), (last - 1, last), (0, begin), (0, mode), cval)
    return _permuted(x, reshape(weights, (n, 1)), (axis, last), (begin, 0), (mode, 0), cval)


def _permuted(
    x: Array, weights: Array, axes: tuple[int, ...], starts: tuple[int, int], modes: tuple[int, int], cval: float
) -> Array:  # fmt: skip
    """Two axes of x made the last ones, and back: by strides, nothing is moved."""
    order = (*[k for k in range(x.ndim) if k not in axes], *axes)
    there = permute_dims(x, order)
    made = stencil(there, weights, (there.shape[-2], there.shape[-1]), starts, modes, cval)
    if order == tuple(range(x.ndim)):
        return made
    inverse = tuple(sorted(range(x.ndim), key=order.__getitem__))
    return view(made, permute(contiguous(made.shape), inverse))
