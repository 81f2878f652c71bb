"""What is random in networks: dropout in its forms, gumbel_softmax, rrelu.

Each takes a key of tg.random as `key=`, and decides by it and an element's position, in the kernel that uses it.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from .. import random
from ..array import Array
from ..dtypes import float32
from ..layout import normalize_axis
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.creation import astype, positions, zeros_like
from ..ops.manipulation import expand_dims, reshape
from ..ops.rowwise import floating
from .activations import leaky_relu
from .normalization import softmax

__all__ = [
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout", "gumbel_softmax",
    "rrelu",
]  # fmt: skip
_ALPHA = 1.7580993408473766  # the scale of selu times its alpha: what selu tends to on the left, negated


def _mask(x: Array, p: float, training: bool, key: Any, shape: tuple[int, ...], where: str) -> Array | None:
    """Where elements stay, broadcast from a shape; None where all do."""
    if not 0 <= p <= 1:
        raise ValueError(f"{where}: p is a probability from 0 to 1, not {p}")
    if not training or p == 0:
        return None
    return random.bernoulli(_needed(key, where), 1.0 - p, shape)


def _needed(key: Any, where: str) -> Any:
    if key is None:
        raise TypeError(f"{where}: it needs key=tg.random.key(seed), another one for each call")
    return key


def _dropped(x: Array, mask: Array | None, p: float) -> Array:
    if mask is None:
        return x
    if p == 1:
        return zeros_like(x)
    return ew.where(mask, ew.multiply(x, 1.0 / (1.0 - p)), 0.0)


def dropout(x: Any, p: float = 0.5, training: bool = True, *, key: Any = None) -> Array:
    """x with each element 0 with probability p, the others divided by 1 - p; x itself if not training.

    key: tg.random's; the same one drops the same elements. float32, float16 or bfloat16; integers give float32.
    """
    x = floating(x, "dropout", None)
    return _dropped(x, _mask(x, p, training, key, x.shape, "dropout"), p)


def _channels(x: Any, p: float, training: bool, key: Any, ranks: dict[int, int], where: str) -> Array:
    """ranks: how many leading axes have a decision of their own, by the number of axes."""
    x = floating(x, where, None)
    if x.ndim not in ranks:
        wanted = " or ".join(map(str, ranks))
        raise ValueError(f"{where}: expected {wanted} axes, not {x.ndim}: {x.shape}")
    shape = x.shape[: ranks[x.ndim]] + (1,) * (x.ndim - ranks[x.ndim])
    return _dropped(x, _mask(x, p, training, key, shape, where), p)


def dropout1d(x: Any, p: float = 0.5, training: bool = True, *, key: Any = None) -> Array:
    """dropout of whole channels of x: (N, C, L) or (C, L)."""
    return _channels(x, p, training, key, {2: 1, 3: 2}, "dropout1d")


def dropout2d(x: Any, p: float = 0.5, training: bool = True, *, key: Any = None) -> Array:
    """dropout of whole channels of x: (N, C, H, W); three axes are (N, C, L), as torch takes them."""
    return _channels(x, p, training, key, {3: 2, 4: 2}, "dropout2d")


def dropout3d(x: Any, p: float = 0.5, training: bool = True, *, key: Any = None) -> Array:
    """dropout of whole channels of x: (N, C, D, H, W) or (C, D, H, W)."""
    return _channels(x, p, training, key, {4: 1, 5: 2}, "dropout3d")


def _alpha(x: Array, mask: Array | None, p: float) -> Array:
    if mask is None:
        return x
    if p == 1:
        return zeros_like(x)
    a = 1.0 / sqrt((1.0 - p) * (1.0 + p * _ALPHA * _ALPHA))
    b = a * _ALPHA * p
    return astype(ew.where(mask, ew.add(ew.multiply(x, a), b), b - a * _ALPHA), x.dtype, copy=False)


def alpha_dropout(x: Any, p: float = 0.5, training: bool = False, *, key: Any = None) -> Array:
    """dropout that keeps mean and variance of what selu makes: dropped elements take its lowest value, and all are
    scaled and moved. x itself if not training."""
    x = floating(x, "alpha_dropout", None)
    return _alpha(x, _mask(x, p, training, key, x.shape, "alpha_dropout"), p)


def feature_alpha_dropout(x: Any, p: float = 0.5, training: bool = False, *, key: Any = None) -> Array:
    """alpha_dropout of whole channels of x: (N, C, ..)."""
    x = floating(x, "feature_alpha_dropout", None)
    if x.ndim < 2:
        raise ValueError(f"feature_alpha_dropout: expected at least 2 axes, (N, C, ..), not {x.shape}")
    shape = x.shape[:2] + (1,) * (x.ndim - 2)
    return _alpha(x, _mask(x, p, training, key, shape, "feature_alpha_dropout"), p)


def gumbel_softmax(
    logits: Any, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1, *, key: Any = None
) -> Array:
    """softmax((logits + g) / tau) along dim, g from the Gumbel distribution; hard: 1 at its greatest, 0 elsewhere.

    eps does nothing, as in torch.
    """
    x = floating(logits, "gumbel_softmax", None)
    axis = normalize_axis(dim, max(x.ndim, 1), "gumbel_softmax")
    noise = ew.negative(
        ew.log(ew.negative(ew.log(random.open_unit(_needed(key, "gumbel_softmax"), x.shape))))
    )
    soft = softmax(ew.divide(ew.add(astype(x, float32, copy=False), noise), tau), axis)
    if hard and x.ndim:
        at = expand_dims(rd.argmax(soft, axis=axis), axis)
        along = reshape(positions(x.shape[axis]), (-1,) + (1,) * (x.ndim - 1 - axis)) if x.size else at
        return astype(ew.equal(along, at), x.dtype)
    return astype(ew.greater(soft, 0.0) if hard else soft, x.dtype, copy=False)


def rrelu(
    x: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *, key: Any = None
) -> Array:
    """leaky_relu with a slope between lower and upper: drawn for each element if training, else their mean."""
    x = floating(x, "rrelu", None)
    if lower > upper:
        raise ValueError(f"rrelu: lower {lower} is above upper {upper}")
    if not training:
        return leaky_relu(x, (lower + upper) / 2)
    slopes = random.uniform(_needed(key, "rrelu"), x.shape, float32, lower, upper)
    return astype(leaky_relu(astype(x, float32, copy=False), slopes), x.dtype, copy=False)
