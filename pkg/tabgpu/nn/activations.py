"""Activation functions: elementwise, float32 (ints stay ints where torch keeps them), saturating without NaN at +-inf.

Parameters may be Python scalars, which compile nothing new, or arrays, which broadcast. There is no `inplace`: arrays
are lazy, and `x = nn.relu(x)` costs no copy.
"""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..ops.convert import from_host
from ..ops.elementwise import multiply, negative, tanh
from ..ops.manipulation import reshape
from ..ops.rows import binary, ternary, unary
from ..ops.rowwise import floating
from ..special import expit, log_expit
from .normalization import softmax

# fmt: off
__all__ = [
    "affine", "celu", "elu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
    "logsigmoid", "mish", "prelu", "relu", "relu6", "selu", "sigmoid", "silu", "silu_mul", "softmin", "softplus",
    "softshrink", "softsign", "tanh", "tanhshrink", "threshold",
]
_TORCH = "torch.nn.functional."

# --- rows ---
relu = unary("relu", {"i": "max(x, 0i)", "u": "x", "f": "relu_f32(x)"}, like=_TORCH + "relu", doc="max(x, 0).")
relu6 = unary("relu6", {"i": "clamp(x, 0i, 6i)", "u": "min(x, 6u)", "f": "relu6_f32(x)"}, like=_TORCH + "relu6",
              domain=(-10.0, 10.0), doc="min(max(x, 0), 6).")
selu = unary("selu", {"f": "selu_f32(x)"}, promote="float", ulp=3, domain=(-20.0, 20.0), like=_TORCH + "selu",
             doc="scale * (x or alpha * (exp(x) - 1)) with the constants of self-normalizing networks.")
silu = unary("silu", {"f": "silu_f32(x)"}, promote="float", ulp=6, domain=(-90.0, 20.0), like=_TORCH + "silu",
             doc="x * sigmoid(x); -0 at -inf.")
mish = unary("mish", {"f": "mish_f32(x)"}, promote="float", ulp=8, domain=(-90.0, 20.0), like=_TORCH + "mish",
             doc="x * tanh(softplus(x)); -0 at -inf.")
softsign = unary("softsign", {"f": "softsign_f32(x)"}, promote="float", ulp=4, like=_TORCH + "softsign",
                 doc="x / (1 + |x|); +-1 at +-inf.")
tanhshrink = unary("tanhshrink", {"f": "tanhshrink_f32(x)"}, promote="float", ulp=6, domain=(-10.0, 10.0),
                   like=_TORCH + "tanhshrink", doc="x - tanh(x), without cancellation near 0.")
hardsigmoid = unary("hardsigmoid", {"f": "hardsigmoid_f32(x)"}, promote="float", ulp=2, domain=(-5.0, 5.0),
                    like=_TORCH + "hardsigmoid", doc="min(max(x + 3, 0), 6) / 6.")
hardswish = unary("hardswish", {"f": "hardswish_f32(x)"}, promote="float", ulp=4, domain=(-5.0, 5.0),
                  like=_TORCH + "hardswish", doc="x * hardsigmoid(x); -0 at -inf.")
gelu_erf = unary("gelu_erf", {"f": "gelu_f32(x)"}, promote="float", ulp=10, domain=(-13.0, 10.0), like=_TORCH + "gelu",
                 doc="x * ndtr(x); -0 at -inf.")
gelu_tanh = unary("gelu_tanh", {"f": "gelu_tanh_f32(x)"}, promote="float", ulp=24, domain=(-3.0, 10.0),
                  like=_TORCH + "gelu",
                  doc="0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). Below -3 the error grows, to 400 ULP at -9.5.")
leaky_relu_row = binary("leaky_relu", {"f": "leaky_relu_f32(x, y)"}, promote="float", ulp=1,
                        like=_TORCH + "leaky_relu", doc="x above 0, y * x below.")
elu_row = binary("elu", {"f": "elu_f32(x, y)"}, promote="float", ulp=3, domain=(-20.0, 20.0), like=_TORCH + "elu",
                 doc="x above 0, y * (exp(x) - 1) below.")
celu_row = binary("celu", {"f": "celu_f32(x, y)"}, promote="float", ulp=6, domain=(0.1, 20.0), like=_TORCH + "celu",
                  doc="x above 0, y * (exp(x / y) - 1) below.")
hardshrink_row = binary("hardshrink", {"f": "hardshrink_f32(x, y)"}, promote="float", like=_TORCH + "hardshrink",
                        doc="x, but 0 within [-y, y].")
softshrink_row = binary("softshrink", {"f": "softshrink_f32(x, y)"}, promote="float", ulp=1,
                        like=_TORCH + "softshrink", doc="x moved by y towards 0, but 0 within [-y, y].")
silu_mul_row = binary("silu_mul", {"f": "silu_mul_f32(x, y)"}, promote="float", ulp=7, domain=(-50.0, 20.0),
                      like="tabgpu.nn.silu_mul", doc="x * sigmoid(x) * y.")
hardtanh_row = ternary("hardtanh", {"f": "hardtanh_f32(x, y, z)"}, promote="float", like=_TORCH + "hardtanh",
                       doc="min(max(x, y), z).")
threshold_row = ternary("threshold", {"i": "select(z, x, x > y)", "u": "select(z, x, x > y)",
                                      "f": "threshold_f32(x, y, z)"}, like=_TORCH + "threshold",
                        doc="x above y, else z.")
softplus_row = ternary("softplus_torch", {"f": "softplus_torch_f32(x, y, z)"}, promote="float", ulp=5,
                       domain=(0.5, 20.0), like=_TORCH + "softplus", doc="log(1 + exp(y * x)) / y; x where y * x > z.")
affine_row = ternary("affine", {"i": "x * y + z", "u": "x * y + z", "f": "fma(x, y, z)"}, promote="int", ulp=1,
                     like="tabgpu.nn.affine", doc="x * y + z.")
# fmt: on
sigmoid, logsigmoid = expit, log_expit


def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Array:
    """x above 0, negative_slope * x below."""
    return leaky_relu_row(x, negative_slope)


def prelu(x: Any, weight: Any) -> Array:
    """leaky_relu with a learned slope: weight holds one, or one for each channel (axis 1) of x."""
    x, weight = from_host(x, "prelu"), from_host(weight, "prelu")
    channels = x.shape[1] if x.ndim > 1 else 1
    if weight.ndim > 1 or weight.size not in (1, channels):
        raise ValueError(
            f"prelu: weight of shape {weight.shape} is neither one value nor {channels}, one for each channel"
        )
    if weight.size == 1:
        return leaky_relu_row(x, reshape(weight, ()))
    return leaky_relu_row(x, reshape(weight, (channels,) + (1,) * (x.ndim - 2)))


def elu(x: Any, alpha: Any = 1.0) -> Array:
    """x above 0, alpha * (exp(x) - 1) below."""
    return elu_row(x, alpha)


def celu(x: Any, alpha: Any = 1.0) -> Array:
    """x above 0, alpha * (exp(x / alpha) - 1) below."""
    if isinstance(alpha, (int, float)) and alpha == 0:
        raise ValueError("celu: alpha must not be 0")
    return celu_row(x, alpha)


def gelu(x: Any, approximate: str = "none") -> Array:
    """x times the normal distribution function at x: exact ('none'), or by the usual formula with tanh ('tanh')."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate is 'none' or 'tanh', not {approximate!r}")
    return gelu_erf(x) if approximate == "none" else gelu_tanh(x)


def hardtanh(x: Any, min_val: Any = -1.0, max_val: Any = 1.0) -> Array:
    """x limited to [min_val, max_val]; NaN stays."""
    return hardtanh_row(x, min_val, max_val)


def hardshrink(x: Any, lambd: Any = 0.5) -> Array:
    """x, but 0 within [-lambd, lambd]."""
    return hardshrink_row(x, lambd)


def softshrink(x: Any, lambd: Any = 0.5) -> Array:
    """x moved by lambd towards 0, but 0 within [-lambd, lambd]."""
    if isinstance(lambd, (int, float)) and lambd < 0:
        raise ValueError(f"softshrink: lambd must not be negative, it is {lambd}")
    return softshrink_row(x, lambd)


def threshold(x: Any, threshold: Any, value: Any) -> Array:
    """x where it is above threshold, else value; NaN stays."""
    return threshold_row(x, threshold, value)


def softplus(x: Any, beta: Any = 1.0, threshold: Any = 20.0) -> Array:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""
    return softplus_row(x, beta, threshold)


def silu_mul(x: Any, y: Any) -> Array:
    """silu(x) * y: the gate of SwiGLU, in one kernel."""
    return silu_mul_row(x, y)


def affine(x: Any, mul: Any, add: Any) -> Array:
    """x * mul + add, rounded once where the adapter has a fused multiply-add. Integers wrap."""
    return affine_row(x, mul, add)


def glu(x: Any, dim: int = -1) -> Array:
    """a * sigmoid(b), where a and b are the halves of x along dim."""
    x = from_host(x, "glu")
    if not -x.ndim <= dim < x.ndim:
        raise IndexError(f"glu: dim {dim} is out of range for an array of {x.ndim} dimensions")
    size = x.shape[dim]
    if size % 2:
        raise ValueError(f"glu: axis {dim} has odd size {size} and cannot be halved")
    before = (slice(None),) * (dim % x.ndim)
    half = size // 2
    return multiply(x[(*before, slice(0, half))], expit(x[(*before, slice(half, size))]))


def softmin(x: Any, dim: int | None = None, dtype: Any = None) -> Array:
    """softmax(-x) along one axis (the last one by default)."""
    return softmax(negative(floating(x, "softmin", dtype)), dim)
