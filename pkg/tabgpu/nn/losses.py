"""Losses between values of one shape: elementwise in float32, reduced in the same launch (of classes: class_losses.py).

Names, arguments and formulas of torch.nn.functional. reduction: 'mean', 'sum' or 'none'; size_average and reduce are
its old spelling. Operands broadcast where torch lets them; a result has the dtype that its operands promote to
(float32 for integers). Where torch looks at values to refuse them (input outside [0, 1]), results are NaN or what the
formula gives: nothing is read.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi
from typing import Any

from ..array import Array
from ..dtypes import DType, float32, promote
from ..layout import broadcast_shapes
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.creation import astype
from ..ops.manipulation import reshape
from ..ops.rows import ternary
from ..ops.rowwise import floating
from ..special import log_expit, xlogy
from .activations import softplus
from .linear import cosine_similarity, pairwise_distance

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "gaussian_nll_loss",
    "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "margin_ranking_loss", "mse_loss",
    "multilabel_soft_margin_loss", "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip


def reduction_of(where: str, reduction: str, size_average: Any = None, reduce: Any = None) -> str:
    """The reduction's name, also from the arguments that were there before it."""
    if size_average is not None or reduce is not None:
        return "none" if reduce is False else "sum" if size_average is False else "mean"
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{where}: reduction is 'mean', 'sum' or 'none', not {reduction!r}")
    return reduction


def reduced(loss: Array, reduction: str, dtype: DType) -> Array:
    """The loss as a whole, or of each element; of a dtype."""
    got = loss if reduction == "none" else rd.mean(loss) if reduction == "mean" else rd.sum(loss)
    return astype(got, dtype, copy=False)


def operands(where: str, *given: Any, same: bool = False) -> tuple[DType, list[Array]]:
    """The result's dtype, and operands in float32. same: their shapes have to be equal, not only to broadcast."""
    arrays = [floating(x, where, None) for x in given]
    shapes = [x.shape for x in arrays]
    if same and len(set(shapes)) > 1:
        raise ValueError(f"{where}: shapes {', '.join(map(str, shapes))} are not the same")
    broadcast_shapes(*shapes, where=where)
    dtype = promote(*[x.dtype for x in arrays], where=where)
    return dtype, [astype(x, float32, copy=False) for x in arrays]


def _weighted(where: str, loss: Array, shape: tuple[int, ...], weight: Any) -> tuple[Array, Array]:
    w = astype(floating(weight, where, None), float32, copy=False)
    if w.shape != shape:
        raise ValueError(f"{where}: weight of shape {w.shape} does not have input's {shape}")
    return ew.multiply(loss, w), w


def _regression(
    where: str, function: Callable[[Array], Array], input: Any, target: Any, reduction: str, weight: Any = None,
    share: bool = True,
) -> Array:  # fmt: skip
    """A function of input - target. share: a weighted mean is divided by the sum of weights, else by the number."""
    dtype, (x, t) = operands(where, input, target)
    loss = function(ew.subtract(x, t))
    if weight is None:
        return reduced(loss, reduction, dtype)
    loss, w = _weighted(where, loss, x.shape, weight)
    if reduction == "mean" and share:
        return astype(ew.divide(rd.sum(loss), rd.sum(w)), dtype, copy=False)
    return reduced(loss, reduction, dtype)


def mse_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", weight: Any = None
) -> Array:  # fmt: skip
    """(input - target) ** 2. weight, of input's shape: the mean is divided by its sum."""
    how = reduction_of("mse_loss", reduction, size_average, reduce)
    return _regression("mse_loss", ew.square, input, target, how, weight)


def l1_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", weight: Any = None
) -> Array:  # fmt: skip
    """|input - target|. weight as in mse_loss."""
    how = reduction_of("l1_loss", reduction, size_average, reduce)
    return _regression("l1_loss", ew.abs, input, target, how, weight)


_BENT = ternary("bent_loss", {"f": "bent_loss_f32(x, y, z)"}, promote="float", ulp=3, domain=(0.1, 10.0), like="",
                doc="z x**2 / 2 within [-y, y], z y (|x| - y / 2) beyond.")  # fmt: skip


def smooth_l1_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", beta: float = 1.0
) -> Array:  # fmt: skip
    """d ** 2 / (2 beta) where |d| < beta, else |d| - beta / 2; d = input - target. beta 0: |d|."""
    how = reduction_of("smooth_l1_loss", reduction, size_average, reduce)
    if beta < 0:
        raise ValueError(f"smooth_l1_loss: beta must not be negative, it is {beta}")
    if beta == 0:
        return _regression("smooth_l1_loss", ew.abs, input, target, how)
    return _regression("smooth_l1_loss", lambda d: _BENT(d, beta, 1.0 / beta), input, target, how)


def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Array:
    """d ** 2 / 2 where |d| <= delta, else delta (|d| - delta / 2); d = input - target. weight, of input's shape."""
    how = reduction_of("huber_loss", reduction)
    if delta <= 0:
        raise ValueError(f"huber_loss: delta must be positive, it is {delta}")
    return _regression("huber_loss", lambda d: _BENT(d, delta, 1.0), input, target, how, weight, False)


def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Array:  # fmt: skip
    """-(target log(input) + (1 - target) log(1 - input)), logarithms at least -100; NaN for input outside [0, 1].

    input and target of one shape, weight broadcasts to it.
    """
    how = reduction_of("binary_cross_entropy", reduction, size_average, reduce)
    dtype, (x, t) = operands("binary_cross_entropy", input, target, same=True)
    yes, no = ew.maximum(ew.log(x), -100.0), ew.maximum(ew.log1p(ew.negative(x)), -100.0)
    loss = ew.subtract(ew.multiply(ew.subtract(t, 1.0), no), ew.multiply(t, yes))
    return reduced(_scaled("binary_cross_entropy", loss, weight), how, dtype)


def _scaled(where: str, loss: Array, weight: Any) -> Array:
    """The loss times a weight that broadcasts to it."""
    if weight is None:
        return loss
    w = astype(floating(weight, where, None), float32, copy=False)
    if broadcast_shapes(loss.shape, w.shape, where=where) != loss.shape:
        raise ValueError(f"{where}: weight of shape {w.shape} does not broadcast to {loss.shape}")
    return ew.multiply(loss, w)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", pos_weight: Any = None,
) -> Array:  # fmt: skip
    """binary_cross_entropy of sigmoid(input), without overflow: (1 - target) input - (1 + (pos_weight - 1) target)
    logsigmoid(input). input and target of one shape, weight and pos_weight broadcast to it."""
    name = "binary_cross_entropy_with_logits"
    how = reduction_of(name, reduction, size_average, reduce)
    dtype, (x, t) = operands(name, input, target, same=True)
    tail = log_expit(x)
    if pos_weight is not None:
        more = ew.subtract(astype(floating(pos_weight, name, None), float32, copy=False), 1.0)
        tail = ew.multiply(ew.add(_scaled(name, t, more), 1.0), tail)
    loss = ew.subtract(ew.multiply(ew.subtract(1.0, t), x), tail)
    return reduced(_scaled(name, loss, weight), how, dtype)


def kl_div(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    log_target: bool = False,
) -> Array:  # fmt: skip
    """target (log(target) - input), input being logarithms; exp(target) (target - input) with log_target.

    reduction also 'batchmean': the sum over the size of the first axis.
    """
    batch = reduction == "batchmean" and size_average is None and reduce is None
    how = "sum" if batch else reduction_of("kl_div", reduction, size_average, reduce)
    dtype, (x, t) = operands("kl_div", input, target)
    if log_target:
        loss = ew.multiply(ew.exp(t), ew.subtract(t, x))
    else:
        loss = ew.subtract(xlogy(t, t), ew.multiply(t, x))
    out = reduced(loss, how, dtype)
    return ew.divide(out, float(x.shape[0])) if batch and x.ndim else out


def poisson_nll_loss(
    input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: Any = None, eps: float = 1e-8,
    reduce: Any = None, reduction: str = "mean",
) -> Array:  # fmt: skip
    """exp(input) - target input, or input - target log(input + eps) without log_input; full adds Stirling's formula for
    log(target!) where target > 1."""
    how = reduction_of("poisson_nll_loss", reduction, size_average, reduce)
    dtype, (x, t) = operands("poisson_nll_loss", input, target)
    if log_input:
        loss = ew.subtract(ew.exp(x), ew.multiply(t, x))
    else:
        loss = ew.subtract(x, ew.multiply(t, ew.log(ew.add(x, eps))))
    if full:
        stirling = ew.add(ew.subtract(xlogy(t, t), t), ew.multiply(ew.log(ew.multiply(t, 2 * pi)), 0.5))
        loss = ew.add(loss, ew.where(ew.greater(t, 1.0), stirling, 0.0))
    return reduced(loss, how, dtype)


def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Array:  # fmt: skip
    """(log(v) + (input - target) ** 2 / v) / 2 with v = max(var, eps); full adds log(2 pi) / 2.

    var: a number, or of input's shape, or of that shape with one axis 1 or without the last one.
    """
    name = "gaussian_nll_loss"
    how = reduction_of(name, reduction)
    if isinstance(var, (int, float)) and var < 0:
        raise ValueError(f"{name}: var must not be negative, it is {var}")
    v = floating(var, name, None)
    shape = floating(input, name, None).shape
    if not isinstance(var, (int, float)) and v.shape != shape:
        if v.shape == shape[:-1]:
            v = reshape(v, (*v.shape, 1))
        elif v.ndim != len(shape) or [b for a, b in zip(shape, v.shape, strict=True) if a != b] != [1]:
            raise ValueError(f"{name}: var of shape {v.shape} does not fit input's {shape}")
    dtype, (x, t, v) = operands(name, input, target, v)
    v = ew.maximum(v, eps)
    loss = ew.multiply(ew.add(ew.log(v), ew.divide(ew.square(ew.subtract(x, t)), v)), 0.5)
    return reduced(ew.add(loss, 0.5 * log(2 * pi)) if full else loss, how, dtype)


def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Array:  # fmt: skip
    """input where target is 1, max(0, margin - input) where it is -1."""
    how = reduction_of("hinge_embedding_loss", reduction, size_average, reduce)
    dtype, (x, t) = operands("hinge_embedding_loss", input, target)
    far = ew.where(ew.equal(t, 1.0), 0.0, ew.maximum(ew.subtract(margin, x), 0.0))
    return reduced(ew.add(far, ew.where(ew.equal(t, -1.0), 0.0, x)), how, dtype)


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Array:  # fmt: skip
    """max(0, -target (input1 - input2) + margin), target 1 or -1."""
    how = reduction_of("margin_ranking_loss", reduction, size_average, reduce)
    dtype, (a, b, t) = operands("margin_ranking_loss", input1, input2, target)
    loss = ew.maximum(ew.subtract(margin, ew.multiply(t, ew.subtract(a, b))), 0.0)
    return reduced(loss, how, dtype)


def soft_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Array:  # fmt: skip
    """log(1 + exp(-target input)), target 1 or -1."""
    how = reduction_of("soft_margin_loss", reduction, size_average, reduce)
    dtype, (x, t) = operands("soft_margin_loss", input, target)
    return reduced(ew.negative(log_expit(ew.multiply(t, x))), how, dtype)


def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Array:  # fmt: skip
    """The mean over the last axis (classes) of -(target logsigmoid(input) + (1 - target) logsigmoid(-input)).

    weight broadcasts over the classes.
    """
    name = "multilabel_soft_margin_loss"
    how = reduction_of(name, reduction, size_average, reduce)
    dtype, (x, t) = operands(name, input, target)
    if not x.ndim:
        raise ValueError(f"{name}: input of shape {x.shape} has no axis of classes")
    loss = ew.subtract(softplus(x, 1.0, float("inf")), ew.multiply(t, x))
    return reduced(rd.mean(_scaled(name, loss, weight), axis=-1), how, dtype)


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Array:  # fmt: skip
    """1 - cos where target is 1, max(0, cos - margin) where it is -1: inputs (N, d) and target (N,), or (d,) and ()."""
    name = "cosine_embedding_loss"
    how = reduction_of(name, reduction, size_average, reduce)
    dtype, (a, b, t) = operands(name, input1, input2, floating(target, name, None)[..., None])
    t = t[..., 0]
    if a.ndim not in (1, 2) or a.shape != b.shape or t.shape != a.shape[:-1]:
        raise ValueError(
            f"{name}: inputs {a.shape}, {b.shape} and target {t.shape} are not (N, d), (N, d) and (N,)"
        )
    near = cosine_similarity(a, b, -1)
    far = ew.where(ew.equal(t, -1.0), ew.maximum(ew.subtract(near, margin), 0.0), 0.0)
    return reduced(ew.where(ew.equal(t, 1.0), ew.subtract(1.0, near), far), how, dtype)


def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6,
    swap: bool = False, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Array:  # fmt: skip
    """max(0, margin + |anchor - positive| - |anchor - negative|), p-norms along the last axis as pairwise_distance.

    swap: the lesser of the distances from anchor and from positive to negative.
    """
    how = reduction_of("triplet_margin_loss", reduction, size_average, reduce)
    return _triplet(
        "triplet_margin_loss",
        anchor,
        positive,
        negative,
        margin,
        lambda a, b: pairwise_distance(a, b, p, eps),
        swap,
        how,
    )


def triplet_margin_with_distance_loss(
    anchor: Any, positive: Any, negative: Any, *, distance_function: Callable[[Array, Array], Array] | None = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Array:  # fmt: skip
    """triplet_margin_loss with a distance of your own (pairwise_distance by default)."""
    name = "triplet_margin_with_distance_loss"
    return _triplet(
        name, anchor, positive, negative, margin, distance_function or pairwise_distance, swap,
        reduction_of(name, reduction),
    )  # fmt: skip


def _triplet(
    where: str, anchor: Any, positive: Any, negative: Any, margin: float, distance: Callable[[Array, Array], Array],
    swap: bool, how: str,
) -> Array:  # fmt: skip
    if margin <= 0:
        raise ValueError(f"{where}: margin must be positive, it is {margin}")
    dtype, (a, b, c) = operands(where, anchor, positive, negative)
    if not a.ndim == b.ndim == c.ndim:
        raise ValueError(f"{where}: {a.shape}, {b.shape} and {c.shape} have different numbers of axes")
    far = distance(a, c)
    if swap:
        far = ew.minimum(far, distance(b, c))
    return reduced(ew.maximum(ew.add(ew.subtract(distance(a, b), far), margin), 0.0), how, dtype)
