"""softmax, log_softmax, layer_norm and rms_norm: one read and one write of what fits a workgroup (routines/rows.py)."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..ops.rowwise import affine_lines, lines_along

__all__ = ["layer_norm", "log_softmax", "rms_norm", "softmax"]


def softmax(x: Any, dim: int | None = None, dtype: Any = None, *, axis: int | None = None) -> Array:
    """exp(x) / sum(exp(x)) along one axis (dim as torch, axis as NumPy; the last one by default), of x's shape.

    float32, float16 and bfloat16 keep their dtype and are computed in float32; integers and bools give float32. dtype:
    to convert to before. NaN for a line with NaN or +inf or with -inf alone. TypeError for complex64.
    """
    return lines_along("softmax", x, dim, axis, dtype)


def log_softmax(x: Any, dim: int | None = None, dtype: Any = None, *, axis: int | None = None) -> Array:
    """log(softmax(x)) along one axis, without the loss of small ones; otherwise as softmax."""
    return lines_along("log_softmax", x, dim, axis, dtype)


def layer_norm(
    x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Array:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last axes, whose sizes normalized_shape gives (an int or a
    sequence). weight and bias have that shape. The variance is the mean of squared distances, taken after the mean.

    dtypes as softmax. NaN for a line with NaN or infinities. ValueError where shapes do not fit.
    """
    return affine_lines("layer_norm", x, normalized_shape, weight, bias, eps)


def rms_norm(x: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Array:
    """x / sqrt(mean(x**2) + eps) * weight over the last axes. eps: that of x's dtype by default, as torch.

    Large x do not overflow. A line with infinities is 0 where x is finite, NaN elsewhere. Otherwise as layer_norm.
    """
    return affine_lines("rms_norm", x, normalized_shape, weight, None, eps)
