"""ctc_loss: what remains of a row of classes over time, without blanks and repeats, should be a target."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import float32, int32
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.convert import from_host
from ..ops.creation import astype, full, positions
from ..ops.guards import _BEYOND, guard
from ..ops.manipulation import reshape
from ..ops.routine import routine, stored
from ..ops.rowwise import floating
from ..ops.scans import cumulative_sum
from .losses import reduction_of

__all__ = ["ctc_loss"]
_NAME = "ctc_loss"


def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> Array:  # fmt: skip
    """-log of the probability of targets: log_probs (T, N, C), targets (N, S) or all in a row; or (T, C) and (S,).

    input_lengths and target_lengths: (N,) each, how much of log_probs and targets counts. 'mean' divides each loss by
    its target's length first. zero_infinity: 0 where no path through time spells the target. IndexError (at the read)
    for classes out of range, ValueError for lengths of the host beyond their arrays.
    """
    how = reduction_of(_NAME, reduction)
    x, t = floating(log_probs, _NAME, None), from_host(targets, _NAME)
    single = x.ndim == 2
    if x.ndim not in (2, 3) or t.ndim not in (1, 2) or t.dtype.kind not in "iu":
        raise ValueError(
            f"{_NAME}: log_probs {x.shape} and targets {t.dtype.name} {t.shape} are not (T, N, C) and integers "
            "(N, S) or (sum of lengths,), or (T, C) and (S,)"
        )
    logs = reshape(x, (x.shape[0], 1, x.shape[1])) if single else x
    steps, n, classes = logs.shape
    if not 0 <= blank < classes:
        raise ValueError(f"{_NAME}: blank {blank} is not one of the {classes} classes")
    if t.ndim == 2 and t.shape[0] != n:
        raise ValueError(f"{_NAME}: targets {t.shape} are not those of {n} batch items")
    most_input, inputs = _lengths(input_lengths, n, "input_lengths")
    most_target, lengths = _lengths(target_lengths, n, "target_lengths")
    room = t.shape[-1]
    if (most_input or 0) > steps or (most_target or 0) > room:
        raise ValueError(
            f"{_NAME}: lengths to {most_input} and {most_target} are beyond log_probs {x.shape} and targets {t.shape}"
        )
    longest = room if most_target is None else most_target
    t = astype(t, int32, copy=False)
    if t.ndim == 2:
        counted = ew.less(positions(room), lengths[:, None])
        starts = ew.multiply(positions(n), room)
        t = ew.where(counted, t, blank)
    else:
        starts = ew.subtract(cumulative_sum(lengths, axis=0, dtype=int32), lengths)
    if 0 in (steps, n):
        loss = full((n,), 0.0, dtype=float32)
    else:
        t = t if t.size else full((1,), blank, dtype=int32)
        args = [stored(astype(logs, float32, copy=False)), *[stored(a) for a in (t, starts, inputs, lengths)]]
        job = (steps, n, classes, 2 * longest + 1, blank)
        loss = routine("ctc", args, (n,), float32, job, steps * n * (2 * longest + 1))
        loss._cell.op.guards = (guard(_BEYOND(t, classes), _describe(classes)),)
    if zero_infinity:
        loss = ew.where(ew.isinf(loss), 0.0, loss)
    if how == "mean":
        loss = rd.mean(ew.divide(loss, astype(ew.maximum(lengths, 1), float32)))
    elif how == "sum":
        loss = rd.sum(loss)
    elif single:
        loss = reshape(loss, ())
    return astype(loss, x.dtype, copy=False)


def _describe(classes: int) -> Any:
    def describe(word: int) -> Exception:
        value = word - 0x100000000 if word > 0x7FFFFFFF else word - 1
        return IndexError(f"{_NAME}: target {value} is not one of the {classes} classes")

    return describe


def _lengths(given: Any, n: int, what: str) -> tuple[int | None, Array]:
    """The greatest length (None: on the GPU) and all of them as int32 (n,)."""
    a = from_host(given, _NAME)
    if a.size != n or a.dtype.kind not in "iu":
        raise ValueError(f"{_NAME}: {what} are {n} integers, not {a.dtype.name} {a.shape}")
    most = None
    if not isinstance(given, Array):
        import numpy as np

        host = np.asarray(given).reshape(-1)
        if n and host.min() < 0:
            raise ValueError(f"{_NAME}: {what} must not be negative: {host.min()}")
        most = int(host.max()) if n else 0
    return most, reshape(astype(a, int32, copy=False), (n,))
