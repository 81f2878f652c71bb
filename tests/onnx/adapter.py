"""ONNX operators in tabgpu's functions: one function an operator, its parameters named as ONNX's attributes.

Inputs that are shapes, axes and the like (HOST) are read on the host, as a runtime does with constants; all others are
arrays on the GPU. 64-bit values are narrowed to 32 bits; WideError says that a case needs all 64.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from operator import and_
from typing import Any

import numpy as np

import tabgpu as tg
from tabgpu import nn
from tabgpu.nn.pooling import pool
from tabgpu.nn.resizing import resize

# fmt: off
HOST = {"CumProd": [1], "CumSum": [1], "Pad": [1, 3], "Resize": [1, 2, 3], "TopK": [1], "Trilu": [1]}
NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32"}
UPDATES = {"none": "set", "add": "add", "mul": "multiply", "max": "max", "min": "min"}

class WideError(Exception):
    """A value of the case needs 64 bits."""

def narrow(tensor: tuple[str, Any]) -> tuple[str, Any]:
    """(dtype, NumPy array) in 32 bits; float64 is rounded."""
    dtype, x = tensor
    if dtype in ("int64", "uint64") and x.size:
        limits = np.iinfo(NARROW[dtype])
        if x.max() > limits.max or x.min() < limits.min:
            raise WideError(f"{dtype} values from {x.min()} to {x.max()}")
    return NARROW.get(dtype, dtype), x.astype(NARROW.get(dtype, x.dtype))

def run(op: str, attrs: dict[str, Any], inputs: list[Any]) -> tuple[Any, ...]:
    """The results of a node in ONNX's order."""
    host = HOST.get(op, ())
    given = [x if x is None else narrow(x) for x in inputs]
    arrays = [x and (x[1] if k in host else tg.asarray(x[1]).astype(x[0])) for k, x in enumerate(given)]
    made = (globals().get(op) or SAME[op])(*arrays, **attrs)
    return made if isinstance(made, tuple) else (made,)

# Operators that are one call. Their parameters are as in ONNX, below too, and are not annotated.
SAME: dict[str, Any] = {
    "Celu": nn.celu, "Elu": nn.elu, "Erf": tg.special.erf, "Gelu": nn.gelu, "HardSwish": nn.hardswish,
    "MatMul": tg.matmul, "Mish": nn.mish, "Relu": nn.relu, "Sigmoid": nn.sigmoid, "Softplus": nn.softplus,
    "Softsign": nn.softsign, "Tanh": nn.tanh,
    "PRelu": nn.leaky_relu,  # the slope broadcasts from the right; nn.prelu's is one a channel
    "Clip": lambda x, low=None, high=None: tg.copy(x) if low is high is None else tg.clip(x, low, high),
    "CumProd": lambda x, axis, **options: CumSum(x, axis, f=tg.cumprod, first=1, **options),
    "Einsum": lambda *x, equation: tg.einsum(equation, *x),
    "Gather": lambda x, indices, axis=0: tg.take(x, indices, axis=axis),
    "Gemm": lambda a, b, c=0.0, alpha=1.0, beta=1.0, transA=0, transB=0: (
        tg.linalg.blas.gemm(alpha, a, b, beta, c, transA, transB)),
    "GlobalAveragePool": lambda x: spatial("adaptive_avg_pool", x)(x, 1),
    "GlobalMaxPool": lambda x: spatial("adaptive_max_pool", x)(x, 1),
    "GroupNormalization": lambda x, w, b, num_groups, epsilon=1e-5: nn.group_norm(x, num_groups, w, b, epsilon),
    "HardSigmoid": lambda x, alpha=0.2, beta=0.5: tg.clip(nn.affine(x, alpha, beta), 0, 1),
    "GridSample": lambda x, grid, mode="linear", padding_mode="zeros", align_corners=0: nn.grid_sample(
        x, grid, {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode), padding_mode, bool(align_corners)),
    "Hardmax": lambda x, axis=-1: (
        (tg.expand_dims(tg.argmax(x, axis=axis), axis) == steps(x.shape, axis)).astype(x.dtype)),
    "InstanceNormalization": lambda x, w, b, epsilon=1e-5: nn.instance_norm(x, weight=w, bias=b, eps=epsilon),
    "LRN": lambda x, size, alpha=1e-4, beta=0.75, bias=1.0: nn.local_response_norm(x, size, alpha, beta, bias),
    "LpNormalization": lambda x, axis=-1, p=2: nn.normalize(x, p, axis),
    "NegativeLogLikelihoodLoss": lambda x, target, w=None, **how: nn.nll_loss(x, target, w, **how),
    "SoftmaxCrossEntropyLoss": lambda x, target, w=None, **how: (
        nn.cross_entropy(x, target, w, **how), nn.log_softmax(x, 1)),
    "LeakyRelu": lambda x, alpha=0.01: nn.leaky_relu(x, alpha),
    "LogSoftmax": lambda x, axis=-1: nn.log_softmax(x, axis),
    "RMSNormalization": lambda x, w, axis=-1, epsilon=1e-5: nn.rms_norm(x, x.shape[axis:], w, epsilon),
    "Scatter": lambda *inputs, **options: ScatterElements(*inputs, **options),
    "Selu": lambda x, alpha=None, gamma=1.0: nn.selu(x) if alpha is None else gamma * nn.elu(x, alpha),
    "Shrink": lambda x, lambd=0.5, bias=0.0: (nn.softshrink if bias == lambd else nn.hardshrink)(x, lambd),
    "Softmax": lambda x, axis=-1: nn.softmax(x, axis),
    "SwiGLU": lambda a, b, alpha=1.0: nn.silu_mul(a, b) if alpha == 1 else a * nn.sigmoid(alpha * a) * b,
    "Swish": lambda x, alpha=1.0: nn.silu(x) if alpha == 1 else x * nn.sigmoid(alpha * x),
    "ThresholdedRelu": lambda x, alpha=1.0: nn.threshold(x, alpha, 0),
    "TopK": lambda x, k, axis=-1, largest=1, sorted=1: tg.topk(x, int(k[0]), axis, largest=bool(largest)),
    "Trilu": lambda x, k=0, upper=1: (tg.triu if upper else tg.tril)(x, int(k)),
}

def steps(shape, axis):
    """0, 1, .. along one axis of a shape, as broadcasts against it."""
    behind = (-axis if axis < 0 else len(shape) - axis) - 1
    return np.arange(shape[axis], dtype=np.int32).reshape((-1,) + (1,) * behind)

# --- positions ---
def GatherElements(x, indices, axis=0):
    part = [slice(n) for n in indices.shape]
    part[axis] = slice(None)
    return tg.take_along_axis(x[tuple(part)], indices, axis)

def GatherND(x, indices, batch_dims=0):
    batch = (steps(indices.shape[:-1], k) for k in range(batch_dims))
    return x[(*batch, *(indices[..., k] for k in range(indices.shape[-1])))]

def ScatterND(x, indices, updates, reduction="none"):
    return getattr(x.at[tuple(indices[..., k] for k in range(indices.shape[-1]))], UPDATES[reduction])(updates)

def ScatterElements(x, indices, updates, axis=0, reduction="none"):
    key = [steps(indices.shape, k) for k in range(x.ndim)]
    key[axis] = indices
    return getattr(x.at[tuple(key)], UPDATES[reduction])(updates)

def TensorScatter(cache, update, starts, axis=-2, mode="linear"):
    at = tg.reshape(starts, (-1,) + (1,) * (cache.ndim - 1)) + steps(update.shape, axis)
    at = at % cache.shape[axis] if mode == "circular" else at
    return ScatterElements(cache, tg.broadcast_to(at, update.shape), update, axis)

def CumSum(x, axis, exclusive=0, reverse=0, f=tg.cumsum, first=0):
    out = f(x, axis=int(axis), reverse=bool(reverse))
    if not exclusive:
        return out
    key = [slice(None)] * x.ndim
    key[axis] = slice(1, None) if reverse else slice(-1)
    return tg.pad(out[tuple(key)], {int(axis) % x.ndim: (1 - reverse, reverse)}, constant_values=first)

def Pad(x, pads, value=None, axes=None, mode="constant"):
    axes = range(x.ndim) if axes is None else axes
    width = {int(a) % x.ndim: (int(b), int(e)) for a, b, e in zip(axes, *np.split(pads, 2), strict=True)}
    key = [slice(-min(b, 0), n + min(e, 0)) for k, n in enumerate(x.shape) for b, e in [width.get(k, (0, 0))]]
    options = {"constant_values": value} if value is not None and mode == "constant" else {}
    return tg.pad(x[tuple(key)], {a: (max(b, 0), max(e, 0)) for a, (b, e) in width.items()}, mode, **options)

# --- norms ---
def LayerNormalization(x, w, b=None, axis=-1, epsilon=1e-5):
    axes = tuple(range(axis % x.ndim, x.ndim))
    mean, var = tg.mean(x, axis=axes, keepdims=True), tg.var(x, axis=axes, keepdims=True)
    return nn.layer_norm(x, x.shape[axis:], w, b, epsilon), mean, tg.rsqrt(var + epsilon)

def BatchNormalization(x, w, b, mean, var, epsilon=1e-5, momentum=0.9, training_mode=0):
    if not training_mode:
        return nn.batch_norm(x, mean, var, w, b, eps=epsilon)
    axes = (0, *range(2, x.ndim))  # ONNX's running variance is the biased one; torch's is not
    new = [old * momentum + f(x, axis=axes) * (1 - momentum) for old, f in ((mean, tg.mean), (var, tg.var))]
    return nn.batch_norm(x, None, None, w, b, training=True, eps=epsilon), *new

# --- windows ---
def spatial(name, x):
    return getattr(nn, f"{name}{x.ndim - 2}d")

def Conv(x, w, b=None, auto_pad="", dilations=None, group=1, kernel_shape=None, pads=None, strides=None):
    n = x.ndim - 2
    pads = auto_pad.lower() if auto_pad not in ("", "NOTSET") else list(zip(pads[:n], pads[n:])) if pads else 0
    return spatial("conv", x)(x, w, b, strides or 1, pads, dilations or 1, group)

def ConvTranspose(x, w, b=None, auto_pad="", dilations=None, group=1, kernel_shape=None, output_padding=None,
                  output_shape=None, pads=None, strides=None):
    n = x.ndim - 2
    strides, rest = strides or [1] * n, (output_padding or 0, group, dilations or 1)
    f, pads = spatial("conv_transpose", x), pads or [0] * 2 * n
    if auto_pad.startswith("SAME"):
        output_shape = [m * s for m, s in zip(x.shape[2:], strides)]
    if not output_shape:
        return f(x, w, b, strides, list(zip(pads[:n], pads[n:])), *rest)
    whole = f(x, w, b, strides, 0, *rest)
    cut = [m - o for m, o in zip(whole.shape[2:], output_shape)]  # less of it behind unless SAME_UPPER
    cut = [(c // 2, c - c // 2) if auto_pad == "SAME_UPPER" else (c - c // 2, c // 2) for c in cut]
    whole = tg.pad(whole, {k + 2: (max(-a, 0), max(-e, 0)) for k, (a, e) in enumerate(cut)})
    return whole[(..., *(slice(max(a, 0), m - max(e, 0)) for m, (a, e) in zip(whole.shape[2:], cut)))]

def windows(x, kernel, auto_pad="", ceil_mode=0, dilations=None, pads=None, strides=None):
    """(arguments of pool, whether torch has such padding)."""
    n, sizes = len(kernel), x.shape[2:]
    strides, dilations, pads = strides or [1] * n, dilations or [1] * n, pads or [0] * 2 * n
    pad = list(zip(pads[:n], pads[n:]))
    if auto_pad.startswith("SAME"):
        reach = [(-(-m // s) - 1) * s + (k - 1) * d + 1 - m for m, k, s, d in zip(sizes, kernel, strides, dilations)]
        odd = [(max(r, 0) // 2, max(r, 0) - max(r, 0) // 2) for r in reach]
        pad = odd if auto_pad == "SAME_UPPER" else [(e, a) for a, e in odd]
    return (kernel, strides, pad, dilations, bool(ceil_mode)), all(a == e <= k // 2 for (a, e), k in zip(pad, kernel))

def AveragePool(x, kernel_shape, count_include_pad=0, **how):
    given, fits = windows(x, kernel_shape, **how)
    kernel, strides, pad, dilations, ceil = given
    if fits and max(dilations) == 1:
        return spatial("avg_pool", x)(x, kernel, strides, [a for a, _ in pad], ceil, bool(count_include_pad))
    return pool("avg", x, len(kernel), *given, "AveragePool", padded=bool(count_include_pad))

def LpPool(x, kernel_shape, p=2, **how):
    given, _ = windows(x, kernel_shape, **how)
    kernel, strides, pad, dilations, ceil = given
    if max(dilations) == 1 and not any(map(any, pad)):
        return spatial("lp_pool", x)(tg.abs(x), p, kernel, strides, ceil)
    options = {"padded": True, "times": float(np.prod(kernel)), "numbers": (float(p), 1 / p)}
    return pool("lpabs", x, len(kernel), *given, "LpPool", **options)

def MaxPool(x, kernel_shape, storage_order=0, **how):
    given, fits = windows(x, kernel_shape, **how)
    kernel, strides, pad, dilations, ceil = given
    if fits:
        y, at = spatial("max_pool", x)(x, kernel, strides, [a for a, _ in pad], dilations, ceil, return_indices=True)
    else:
        y, at = pool("argmax", x, len(kernel), *given, "MaxPool")
    if storage_order:
        at = at % x.shape[-1] * x.shape[-2] + at // x.shape[-1]
    plane = int(np.prod(x.shape[2:]))  # ONNX counts through the whole array
    return y, at + (steps(y.shape, 0) * x.shape[1] + steps(y.shape, 1)) * plane

# --- resizing ---
def place(how, n, size, ratio, roi):
    """(a, p, q): result o stands at a * (o + p) + q in elements of the source."""
    if how == "align_corners":
        return (n - 1) / (n * ratio - 1) if n * ratio != 1 else 0, 0, 0
    if how == "tf_crop_and_resize":
        begin, end = (float(r) * (n - 1) for r in roi)
        return ((end - begin) / (size - 1), 0, begin) if size > 1 else (0, 0, (begin + end) / 2)
    if how == "asymmetric":
        return 1 / ratio, 0, 0
    if how == "pytorch_half_pixel" and size == 1:
        return 0, 0, 0
    middle = Fraction(n, 2) * (1 - size / (n * ratio)) if how == "half_pixel_symmetric" else 0
    return 1 / ratio, Fraction(1, 2), middle - Fraction(1, 2)

def Resize(x, roi=None, scales=None, sizes=None, mode="nearest", axes=None, coordinate_transformation_mode="half_pixel",
           nearest_mode="round_prefer_floor", cubic_coeff_a=-0.75, exclude_outside=0, antialias=0,
           extrapolation_value=0.0, keep_aspect_ratio_policy="stretch"):
    axes, how = list(axes or range(x.ndim)), coordinate_transformation_mode
    old, named = [x.shape[a] for a in axes], scales is None
    ratios = [Fraction(int(m), n) for m, n in zip(sizes, old)] if named else [Fraction(float(s)) for s in scales]
    if keep_aspect_ratio_policy != "stretch":
        ratios = [min(ratios) if keep_aspect_ratio_policy == "not_larger" else max(ratios)] * len(axes)
    new = [int(n * r + Fraction(1, 2) if named else n * r) for n, r in zip(old, ratios)]
    done = [k for k, r in enumerate(ratios) if r != 1 or how[0] == "t" and (roi[k], roi[k + len(axes)]) != (0, 1)]
    done.sort(key=lambda k: axes[k])
    at, outs = [axes[k] for k in done], [new[k] for k in done]
    if how == "half_pixel" and mode != "nearest" and at == [2, 3] and x.ndim == 4 and not (
            antialias or exclude_outside or keep_aspect_ratio_policy != "stretch"):  # what torch can say
        given = {"size": outs} if named else {"scale_factor": [float(ratios[k]) for k in done]}
        return nn.interpolate(x, **given, mode={"linear": "bilinear", "cubic": "bicubic"}[mode], align_corners=False)
    places = [place(how, old[k], new[k], ratios[k], roi is not None and (roi[k], roi[k + len(axes)])) for k in done]
    return resize(x, outs, at, mode=mode, places=places, rounding=nearest_mode.removeprefix("round_"),
                  cubic_coeff_a=cubic_coeff_a, antialias=bool(antialias), exclude_outside=bool(exclude_outside),
                  extrapolation_value=extrapolation_value if how[0] == "t" else None)

# --- attention ---
def apart(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2) if x.ndim == 3 else x

def RotaryEmbedding(x, cos, sin, ids=None, interleaved=0, num_heads=0, rotary_embedding_dim=0):
    y = nn.rotary_embedding(apart(x, num_heads), cos, sin, bool(interleaved), position_ids=ids,
                            rotary_dim=rotary_embedding_dim or None)
    return y if x.ndim == 4 else y.swapaxes(1, 2).reshape(*x.shape)

def masked(mask, seen):
    """A mask of bools or numbers with what must be seen besides."""
    if not seen:
        return mask
    seen = reduce(and_, seen)
    return seen if mask is None else seen & mask if mask.dtype == "bool" else tg.where(seen, mask, -np.inf)

def Attention(q, k, v, mask=None, past_key=None, past_value=None, nonpad=None, scale=None, is_causal=0,
              q_num_heads=None, kv_num_heads=None, softcap=0.0, softmax_precision=None, qk_matmul_output_mode=0,
              left_window_size=-1, right_window_size=-1):
    rank, q, k, v = q.ndim, apart(q, q_num_heads), apart(k, kv_num_heads), apart(v, kv_num_heads)
    if past_key is not None:
        k, v = tg.concat([past_key, k], axis=2), tg.concat([past_value, v], axis=2)
    scale, keys = q.shape[-1] ** -0.5 if scale is None else scale, steps(k.shape, 2).ravel()
    known = None if nonpad is None else nonpad.reshape(-1, 1, 1, 1)
    offset = known - q.shape[2] if known is not None else 0 if past_key is None else past_key.shape[2]
    ahead = tg.asarray(keys - steps((q.shape[2], 1), 0)) - offset
    right_window_size = 0 if is_causal else right_window_size
    seen = [ahead <= right_window_size] if right_window_size >= 0 else []
    seen += [ahead >= -left_window_size] if left_window_size >= 0 else []
    if mask is not None:
        none = False if mask.dtype == "bool" else -np.inf
        mask = tg.pad(mask, {mask.ndim - 1: (0, k.shape[2] - mask.shape[-1])}, constant_values=none)
    causal = "top_left" if past_key is None and nonpad is None else "bottom_right"
    if is_causal and left_window_size < 0 and (past_key is None or k.shape[2] - q.shape[2] == past_key.shape[2]):
        rest, how = mask, {"causal": causal}
    else:
        rest, how = masked(mask, seen), {}
    y = nn.scaled_dot_product_attention(
        q, k, v, rest, scale=scale, enable_gqa=q.shape[1] != k.shape[1], kv_length=nonpad, softcap=softcap, **how)
    y = y if rank == 4 else y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], -1)
    raw = q @ tg.repeat(k, q.shape[1] // k.shape[1], axis=1).mT * scale  # computed only if it is an output
    soft = softcap * tg.tanh(raw / softcap) if softcap else raw
    mask = masked(mask, seen if nonpad is None else [*seen, tg.asarray(keys) < known])
    biased = soft if mask is None else tg.where(mask, soft, -np.inf) if mask.dtype == "bool" else soft + mask
    share = tg.where(tg.max(biased, axis=-1, keepdims=True) == -np.inf, 0, nn.softmax(biased, -1))
    return y, k, v, (raw, soft, biased, share)[qk_matmul_output_mode]
