"""Losses whose targets are classes: by number (cross_entropy, nll_loss, the margin losses) or as probabilities.

Names, arguments and formulas of torch.nn.functional. A class number out of range raises IndexError: at the call for
host values, at the read for those on the GPU.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ..array import Array
from ..dtypes import float32, int32
from ..graph import Guard
from ..layout import Shape
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.convert import from_host
from ..ops.creation import astype, full, positions
from ..ops.guards import _BEYOND, guard
from ..ops.manipulation import reshape
from ..ops.rowwise import floating
from ..ops.scans import cumulative_min
from ..ops.taking import take, take_along_axis
from .linear import linear
from .losses import reduced, reduction_of
from .normalization import log_softmax

__all__ = ["cross_entropy", "linear_cross_entropy", "multi_margin_loss", "multilabel_margin_loss", "nll_loss"]


class Classes:
    """Class numbers, checked: `at` (0 where ignored), `counted` (None: all count), and a guard for those on the GPU."""

    def __init__(self, target: Any, shape: Shape, classes: int, where: str, ignore: int | None) -> None:
        t = from_host(target, where)
        if t.dtype.kind not in "iu":
            raise TypeError(f"{where}: classes are integers, not {t.dtype.name}")
        if t.shape != shape:
            raise ValueError(f"{where}: target of shape {t.shape}, but input needs {shape}")
        wide = astype(t, int32, copy=False)
        self.counted = None if ignore is None else ew.not_equal(wide, ignore)
        self.at = wide if self.counted is None else ew.where(self.counted, wide, 0)
        self.guard: Guard | None = None
        if not isinstance(target, Array):
            _check_host(target, classes, where, ignore)
        elif t.size:
            self.guard = guard(_BEYOND(self.at, classes), _describe(classes, where))

    def of(self, x: Array, axis: int) -> Array:
        """The element of each target's class along an axis, which goes."""
        index = reshape(self.at, (*self.at.shape[:axis], 1, *self.at.shape[axis:]))
        return reshape(self.check(take_along_axis(x, index, axis, mode="clip")), self.at.shape)

    def check(self, got: Array) -> Array:
        """Makes a result that was looked up raise the error of a class that is none."""
        if self.guard is not None:
            got._cell.op.guards = (*got._cell.op.guards, self.guard)
        return got

    def weights(self, weight: Array | None) -> Array:
        """What each target weighs: 1 or that of its class, 0 where it is ignored."""
        if weight is not None:
            w = take(weight, self.at, axis=0, mode="clip")
            return w if self.counted is None else ew.where(self.counted, w, 0.0)
        if self.counted is None:
            return full(self.at.shape, 1.0, dtype=float32)
        return astype(self.counted, float32)


def _describe(classes: int, where: str) -> Any:
    def describe(word: int) -> Exception:
        value = word - 0x100000000 if word > 0x7FFFFFFF else word - 1
        return IndexError(f"{where}: target {value} is not one of the {classes} classes")

    return describe


def _check_host(target: Any, classes: int, where: str, ignore: int | None) -> None:
    import numpy as np

    host = np.asarray(target)
    wrong = (host < 0) | (host >= classes)
    if ignore is not None:
        wrong &= host != ignore
    if wrong.any():
        raise IndexError(f"{where}: target {host[wrong].flat[0]} is not one of the {classes} classes")


def _logits(input: Any, where: str) -> tuple[Any, Array, int]:
    """dtype of the result, input in float32, its axis of classes."""
    x = floating(input, where, None)
    if not x.ndim:
        raise ValueError(f"{where}: input of shape {x.shape} has no axis of classes")
    return x.dtype, astype(x, float32, copy=False), min(x.ndim - 1, 1)


def _class_weight(weight: Any, classes: int, where: str) -> Array | None:
    if weight is None:
        return None
    w = astype(floating(weight, where, None), float32, copy=False)
    if w.shape != (classes,):
        raise ValueError(f"{where}: weight of shape {w.shape} does not have the {classes} classes of input")
    return w


def _total(loss: Array, how: str, weights: Array) -> Array:
    """none, sum, or the sum over the sum of weights."""
    if how == "none":
        return loss
    return rd.sum(loss) if how == "sum" else ew.divide(rd.sum(loss), rd.sum(weights))


def _nll(logs: Array, classes: Classes, axis: int, weight: Array | None, how: str) -> Array:
    weights = classes.weights(weight)
    loss = ew.negative(classes.of(logs, axis))
    if weight is not None:
        loss = ew.multiply(loss, weights)
    if classes.counted is not None:
        loss = ew.where(classes.counted, loss, 0.0)
    return _total(loss, how, weights)


def nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
    reduction: str = "mean",
) -> Array:  # fmt: skip
    """-weight[target] * input[target]: input (N, C, ..) of logarithms with target (N, ..), or (C,) with ().

    Targets that are ignore_index count for nothing. The mean is divided by the weights of the targets (NaN if none
    counts). weight (C,).
    """
    how = reduction_of("nll_loss", reduction, size_average, reduce)
    dtype, x, axis = _logits(input, "nll_loss")
    number = x.shape[axis]
    classes = Classes(target, (*x.shape[:axis], *x.shape[axis + 1 :]), number, "nll_loss", ignore_index)
    out = _nll(x, classes, axis, _class_weight(weight, number, "nll_loss"), how)
    return astype(out, dtype, copy=False)


def cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> Array:  # fmt: skip
    """nll_loss of log_softmax(input): input (N, C, ..) or (C,); target classes (N, ..), or shares of input's shape.

    label_smoothing (0 to 1) mixes the target with equal probabilities. ignore_index is for classes. The mean over
    probabilities is divided by the number of targets.
    """
    name = "cross_entropy"
    how = reduction_of(name, reduction, size_average, reduce)
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"{name}: label_smoothing is from 0 to 1, not {label_smoothing}")
    dtype, x, axis = _logits(input, name)
    number = x.shape[axis]
    w = _class_weight(weight, number, name)
    logs = log_softmax(x, axis)
    spread = None if w is None else reshape(w, (number,) + (1,) * (x.ndim - axis - 1))
    given = from_host(target, name)
    if given.shape == x.shape and given.dtype.kind == "f":
        if ignore_index >= 0:
            raise ValueError(f"{name}: ignore_index {ignore_index} is for targets that are classes")
        t = astype(given, float32, copy=False)
        if label_smoothing:
            t = ew.add(ew.multiply(t, 1.0 - label_smoothing), label_smoothing / number)
        product = ew.multiply(logs, t if spread is None else ew.multiply(t, spread))
        if how == "none":
            return astype(ew.negative(rd.sum(product, axis=axis)), dtype, copy=False)
        total = ew.negative(rd.sum(product))
        out = ew.divide(total, float(x.size // max(number, 1))) if how == "mean" else total
        return astype(out, dtype, copy=False)
    kept = target if not isinstance(target, Array) else given
    classes = Classes(kept, (*x.shape[:axis], *x.shape[axis + 1 :]), number, name, ignore_index)
    out = _nll(logs, classes, axis, w, how)
    if label_smoothing:
        each = ew.negative(rd.sum(logs if spread is None else ew.multiply(logs, spread), axis=axis))
        if classes.counted is not None:
            each = ew.where(classes.counted, each, 0.0)
        smooth = _total(each, how, classes.weights(w))
        out = ew.add(ew.multiply(out, 1.0 - label_smoothing), ew.multiply(smooth, label_smoothing / number))
    return astype(out, dtype, copy=False)


def linear_cross_entropy(
    input: Any, linear_weight: Any, target: Any, *, linear_bias: Any = None, weight: Any = None,
    reduction: str = "mean", ignore_index: int | None = None, label_smoothing: float = 0.0,
) -> Array:  # fmt: skip
    """cross_entropy(linear(input, linear_weight, linear_bias), target, ..): input (N, in) or (in,), weight (C, in).

    linear_weight (C, .., in) and linear_bias (C, ..) make logits (N, C, ..). ignore_index None is -100.
    """
    w = rd.prepared(linear_weight, "linear_cross_entropy")
    if w.ndim < 2:
        raise ValueError(f"linear_cross_entropy: linear_weight of shape {w.shape} is not (C, .., in)")
    x, many = rd.prepared(input, "linear_cross_entropy"), w.shape[:-1]
    bias = None if linear_bias is None else reshape(rd.prepared(linear_bias, "linear_cross_entropy"), (-1,))
    logits = linear(x, reshape(w, (prod(many), w.shape[-1])), bias)
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(
        reshape(logits, (*x.shape[:-1], *many)),
        target,
        weight,
        None,
        ignored,
        None,
        reduction,
        label_smoothing,
    )


def _lines(input: Any, where: str) -> tuple[Any, Array, Shape]:
    """dtype of the result, input in float32 as (N, C), and the shape of a result for each line."""
    x = floating(input, where, None)
    if x.ndim not in (1, 2):
        raise ValueError(f"{where}: input is (N, C) or (C,), not {x.shape}")
    lines = reshape(astype(x, float32, copy=False), (1, *x.shape)[-2:])
    return x.dtype, lines, x.shape[:-1]


def multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> Array:  # fmt: skip
    """sum over the other classes j of max(0, margin - x[target] + x[j]) ** p * weight[target] / C; p is 1 or 2.

    input (N, C) with target (N,), or (C,) with ().
    """
    name = "multi_margin_loss"
    how = reduction_of(name, reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError(f"{name}: p is 1 or 2, not {p}")
    dtype, x, shape = _lines(input, name)
    n, number = x.shape
    classes = Classes(target, shape, number, name, None)
    classes.at = reshape(classes.at, (n,))
    over = ew.maximum(ew.add(ew.subtract(x, classes.of(x, 1)[:, None]), margin), 0.0)
    over = ew.square(over) if p == 2 else over
    others = ew.not_equal(positions(number), classes.at[:, None])
    loss = ew.divide(rd.sum(ew.where(others, over, 0.0), axis=1), float(number))
    if weight is not None:
        loss = ew.multiply(loss, classes.weights(_class_weight(weight, number, name)))
    return reduced(reshape(loss, shape), how, dtype)


def multilabel_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Array:  # fmt: skip
    """sum over target classes j and others k of max(0, 1 - (x[j] - x[k])) / C: input and target (N, C), or (C,).

    A line of target holds class numbers up to the first -1.
    """
    name = "multilabel_margin_loss"
    how = reduction_of(name, reduction, size_average, reduce)
    dtype, x, shape = _lines(input, name)
    n, number = x.shape
    given = from_host(target, name)
    if given.shape != (*shape, number):
        raise ValueError(f"{name}: target of shape {given.shape} does not have input's {(*shape, number)}")
    classes = Classes(target, given.shape, number, name, -1)
    ids = reshape(astype(given, int32, copy=False), (n, number))
    counts = ew.greater_equal(cumulative_min(ids, axis=1), 0)
    classes.at = ew.where(counts, ids, 0)
    mine = take_along_axis(x, classes.at, 1, mode="clip")
    classes.check(mine)
    named = ew.logical_and(ew.equal(ids[:, :, None], positions(number)), counts[:, :, None])
    is_target = rd.any(named, axis=1)
    over = ew.maximum(ew.add(ew.subtract(x[:, None, :], mine[:, :, None]), 1.0), 0.0)
    pairs = ew.logical_and(counts[:, :, None], ew.logical_not(is_target)[:, None, :])
    loss = ew.divide(rd.sum(ew.where(pairs, over, 0.0), axis=(1, 2)), float(max(number, 1)))
    return reduced(reshape(loss, shape), how, dtype)
