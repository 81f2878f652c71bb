"""Windows of any rank around elements: extremes and ranks of what a footprint has, by routines/neighbours.py."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from struct import pack, unpack
from typing import Any

from ..array import Array, view
from ..dtypes import BY_KIND, int32, uint32
from ..layout import contiguous, permute
from ..nn.spatial import operand
from ..ops import elementwise as ew
from ..ops.creation import astype, copy_of
from ..ops.manipulation import getitem, permute_dims, ravel
from ..ops.routine import routine, stored
from .borders import extended

LONG = 32  # taps of a line from which on extremes are taken in steps that double


def constant_bits(value: float, x: Array) -> int:
    """What lies beyond borders, as the bits of a value of x's kind."""
    kind = x.dtype.kind
    if kind == "f":
        return int(unpack("<I", pack("<f", value))[0])
    if kind == "b":
        return int(bool(value))
    return int(value) & 0xFFFFFFFF


def neighbours(
    name: str,
    x: Array,
    shape: Sequence[int],
    starts: Sequence[int],
    modes: Sequence[int],
    cval: float,
    mask: Array | None = None,
    heights: Array | None = None,
    which: int = 0,
) -> Array:
    """x of real numbers or bools: min, max or rank (`which`) of a window of `shape` over x's last axes.

    starts: how far before an element its window begins. mask: which elements of a window count, of its shape; heights:
    what is added to them (max) or taken away (min). At most three axes have more than one element.
    """
    if not x.size:
        return copy_of(x)
    first = x.ndim - len(shape)
    used = [k for k, n in enumerate(shape) if n > 1 or starts[k]] or [len(shape) - 1]
    if len(used) > 3:
        if name == "rank":
            raise ValueError(f"rank filters take footprints of up to three axes, not of shape {tuple(shape)}")
        return _by_slices(name, x, shape, starts, modes, cval, mask, heights, used[0])
    axes = [first + k for k in used]
    order = (*[k for k in range(x.ndim) if k not in axes], *axes)
    at = operand(permute_dims(x, order), len(axes))
    spans = tuple(
        [(n, s, shape[k], starts[k], modes[k]) for n, s, k in zip(at.sizes, at.steps, used, strict=True)]
    )
    extra = (at.channels, at.offset, at.strides, spans, constant_bits(cval, x), which)
    args = [at.op]
    if mask is not None or heights is not None:
        flags = mask if mask is not None else ew.equal(heights, heights)
        args.append(stored(astype(ravel(flags), uint32, copy=False)))
    if heights is not None:
        wide = int32 if x.dtype.kind == "u" and x.dtype.per_word > 1 else BY_KIND[x.dtype.kind]
        args.append(stored(astype(ravel(heights), wide, copy=False)))
    made = tuple([x.shape[k] for k in order])
    out = routine(f"neighbours.{name}", args, made, x.dtype, extra, x.size * max(prod(shape) // 4, 1))
    inverse = tuple(sorted(range(x.ndim), key=order.__getitem__))
    return out if inverse == tuple(range(x.ndim)) else view(out, permute(contiguous(made), inverse))


def _by_slices(
    name: str,
    x: Array,
    shape: Sequence[int],
    starts: Sequence[int],
    modes: Sequence[int],
    cval: float,
    mask: Array | None,
    heights: Array | None,
    k: int,
) -> Array:
    """One axis of the window taken away: the extreme of what each of its places gives."""
    axis = x.ndim - len(shape) + k
    wide = extended(x, axis, starts[k], shape[k] - 1 - starts[k], modes[k], cval)
    best = ew.maximum if name == "max" else ew.minimum
    total: Array | None = None
    left = [n if i != k else 1 for i, n in enumerate(shape)]
    begins = [s if i != k else 0 for i, s in enumerate(starts)]
    for t in range(shape[k]):
        cut = (*[slice(None)] * k, slice(t, t + 1))
        parts = [None if a is None else getitem(a, cut) for a in (mask, heights)]
        line = getitem(wide, (*[slice(None)] * axis, slice(t, t + x.shape[axis])))
        one = neighbours(name, line, left, begins, modes, cval, parts[0], parts[1])
        if parts[0] is not None:  # a place without any tap has no say
            some = ew.greater(_any(parts[0]), 0)
            one = one if total is None else ew.where(some, best(total, one), total)
            total = one
            continue
        total = one if total is None else best(total, one)
    assert total is not None
    return total


def _any(mask: Array) -> Array:
    from ..ops.reductions import max as greatest

    made: Array = greatest(astype(mask, uint32, copy=False))
    return made


def extreme_line(name: str, x: Array, size: int, axis: int, begin: int, mode: int, cval: float) -> Array:
    """min or max of `size` elements along one axis."""
    shape = [1] * x.ndim
    shape[axis] = size
    if size <= LONG:
        starts, modes = [0] * x.ndim, [0] * x.ndim
        starts[axis], modes[axis] = begin, mode
        return neighbours(name, x, shape, starts, modes, cval)
    if not x.size:
        return copy_of(x)
    best = ew.maximum if name == "max" else ew.minimum
    wide = extended(x, axis, begin, size - 1 - begin, mode, cval)
    lead = (slice(None),) * axis
    done = 1
    while done < size:  # windows of `done` elements: two of them are one of up to twice as many
        step = min(done, size - done)
        n = wide.shape[axis] - step
        wide = best(getitem(wide, (*lead, slice(0, n))), getitem(wide, (*lead, slice(step, None))))
        done += step
    return wide


__all__ = ["Any", "extreme_line", "neighbours"]
