"""Copies in another order or number: repeat, tile, roll, resize. What only needs strides is in manipulation.py."""

from __future__ import annotations

from math import prod
from operator import index as as_index
from typing import Any

from .. import engine
from .. import layout as lo
from ..array import Array, source, view
from ..dtypes import int32, uint32
from ..graph import IOTA, SCALAR
from . import elementwise, reductions
from .convert import from_host
from .creation import astype, copy_of, positions, zeros
from .guards import guard
from .manipulation import addressable, broadcast_to, expand_dims, ravel, reshape
from .routine import routine


def prepare(x: Any, where: str) -> Array:
    """An Array from one or from host values."""
    return x if isinstance(x, Array) else from_host(x, where)


def remap(x: Array, shape: lo.Shape, maps: tuple[Any, ...], where: str) -> Array:
    """x (not empty) read through a map an axis (routines/remap.py) into a new array of the given shape."""
    addressable(shape, where)
    op, seen = source(x)
    if op.kind in (SCALAR, IOTA) and op.buffer is None:
        op, seen = source(copy_of(x))
    return routine("remap", [op], shape, x.dtype, (seen or op.layout, maps))


KEEP = ("wrap", 0)


def roll(x: Any, /, shift: Any, axis: Any = None) -> Array:
    """Elements moved along axes by host integers, those pushed out coming back at the other end; without an axis, along
    the flattened array. One launch for any number of axes."""
    x = prepare(x, "roll")
    if axis is None:
        if isinstance(shift, (tuple, list)):
            shift = sum(as_index(s) for s in shift)
        return reshape(roll(ravel(x), as_index(shift), 0), x.shape)
    axes = [
        lo.normalize_axis(k, x.ndim, "roll") for k in (axis if isinstance(axis, (tuple, list)) else (axis,))
    ]
    shifts = [as_index(s) for s in (shift if isinstance(shift, (tuple, list)) else (shift,))]
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    if not shifts or not axes:
        return copy_of(x)
    count = max(len(shifts), len(axes))
    total = [0] * x.ndim
    for k, s in zip(axes * (count // len(axes)), shifts * (count // len(shifts)), strict=True):
        total[k] += s
    if not x.size:
        return copy_of(x)
    moves = [s % n for s, n in zip(total, x.shape, strict=True)]
    return remap(x, x.shape, tuple([("wrap", s) for s in moves]), "roll") if any(moves) else copy_of(x)


def tile(x: Any, /, repetitions: Any) -> Array:
    """The whole array repeated along each axis; more repetitions than axes add axes in front."""
    x = prepare(x, "tile")
    reps = lo.as_shape(repetitions, "tile")
    shape = (1,) * (len(reps) - x.ndim) + x.shape
    reps = (1,) * (len(shape) - len(reps)) + reps
    out = addressable(tuple(n * r for n, r in zip(shape, reps, strict=True)), "tile")
    if all(r == 1 for r in reps):
        return copy_of(reshape(x, shape))
    if 0 in out:
        return zeros(out, dtype=x.dtype)
    spread = expand_dims(reshape(x, shape), axis=tuple(range(0, 2 * len(shape), 2)))
    wide = tuple(k for pair in zip(reps, shape, strict=True) for k in pair)
    return reshape(copy_of(broadcast_to(spread, wide)), out)


def repeat(
    x: Any, repeats: Any, /, axis: int | None = None, *, total_repeat_length: int | None = None
) -> Array:
    """Each element repeated along an axis (of the flattened array without one).

    repeats: an integer, or one host integer for each element of the axis. An Array of repeats gives a shape that
    depends on data: with total_repeat_length it is known (the last element fills up what is missing, the rest is cut
    off); without, the plain form reads the sum where Python can wait, `await tg.aio.repeat(..)` does anywhere.
    """
    x = prepare(x, "repeat")
    if axis is None:
        x, axis = ravel(x), 0
    axis = lo.normalize_axis(axis, x.ndim, "repeat")
    n = x.shape[axis]
    if isinstance(repeats, Array):
        if total_repeat_length is None:
            total = _total(repeats, n)
            total_repeat_length = int(engine.wait_for(total.item(), "repeat", "await tg.aio.repeat(..)"))
        return repeat_to(x, repeats, axis, total_repeat_length)
    values = repeats.tolist() if hasattr(repeats, "tolist") else repeats
    counts = [as_index(r) for r in values] if isinstance(values, (list, tuple, range)) else [as_index(values)]
    if any(r < 0 for r in counts):
        raise ValueError(f"repeat: repeats must not be negative: {min(counts)}")
    if len(counts) not in (1, n):
        raise ValueError(
            f"repeat: {len(counts)} repeats for the {n} elements of axis {axis} of shape {x.shape}"
        )
    before, behind = x.shape[:axis], x.shape[axis + 1 :]
    if len(counts) == 1:
        out = addressable((*before, n * counts[0], *behind), "repeat")
        if 0 in out:
            return zeros(out, dtype=x.dtype)
        spread = broadcast_to(expand_dims(x, axis=axis + 1), (*before, n, counts[0], *behind))
        made = reshape(copy_of(spread), out)
    else:
        from .taking import take

        out = addressable((*before, sum(counts), *behind), "repeat")
        if 0 in out:
            return zeros(out, dtype=x.dtype)
        made = take(x, from_host([k for k, r in enumerate(counts) for _ in range(r)], "repeat"), axis=axis)
    if total_repeat_length is not None:
        made = _of_length(made, axis, as_index(total_repeat_length))
    return made


async def repeat_async(x: Any, repeats: Any, /, axis: int | None = None) -> Array:
    """repeat, for an Array of repeats: awaits their sum, which the shape depends on."""
    if not isinstance(repeats, Array):
        return repeat(x, repeats, axis=axis)
    x = prepare(x, "repeat")
    if axis is None:
        x, axis = ravel(x), 0
    axis = lo.normalize_axis(axis, x.ndim, "repeat")
    total = int(await _total(repeats, x.shape[axis]).item())  # type: ignore[arg-type]
    return repeat_to(x, repeats, axis, total)


def _total(repeats: Array, n: int) -> Array:
    return reductions.sum(broadcast_to(_checked(repeats, n), (n,)))


def _checked(repeats: Array, n: int) -> Array:
    if repeats.dtype.kind not in "iu" or repeats.ndim > 1 or repeats.shape not in ((), (1,), (n,)):
        raise ValueError(
            f"repeat: repeats must be {n} integers (or one), not {repeats.dtype.name} of shape {repeats.shape}"
        )
    return astype(repeats, int32, copy=False)


def repeat_to(x: Array, repeats: Array, axis: int, total: int) -> Array:
    """Element k of an axis repeats[k] times, cut or filled up to `total`. ValueError at the read for negative ones."""
    from .scans import cumulative_sum
    from .searching import searchsorted
    from .taking import take

    n = x.shape[axis]
    if not n or not total:
        shape = (*x.shape[:axis], total, *x.shape[axis + 1 :])
        if total:
            raise ValueError(
                f"repeat: total_repeat_length={total}, but axis {axis} of shape {x.shape} is empty"
            )
        return zeros(shape, dtype=x.dtype)
    given = _checked(repeats, n)
    counts = elementwise.maximum(broadcast_to(given, (n,)), 0)
    source_of = searchsorted(cumulative_sum(counts), copy_of(positions(as_index(total))), side="right")
    made = take(x, source_of, axis=axis, mode="clip")
    if repeats.dtype.kind == "i":
        wrong = guard(astype(elementwise.less(given, 0), uint32), _negative)
        made._cell.op.guards += (wrong,)
    return made


def _negative(word: int) -> Exception:
    return ValueError("repeat: repeats must not be negative")


def _of_length(x: Array, axis: int, n: int) -> Array:
    """x cut, or filled up with its last element, to n along an axis."""
    have = x.shape[axis]
    if n <= have:
        return view(x, lo.index(x._layout, (slice(None),) * axis + (slice(n),)))
    if not have:
        raise ValueError(f"repeat: total_repeat_length={n}, but there is nothing to repeat")
    shape = (*x.shape[:axis], n, *x.shape[axis + 1 :])
    return remap(x, shape, tuple(("edge", 0) if k == axis else KEEP for k in range(x.ndim)), "repeat")


def resize(a: Any, new_shape: Any) -> Array:
    """The elements over and over again, row-major, in another shape (of any size)."""
    x = prepare(a, "resize")
    shape = lo.as_shape(new_shape, "resize")
    size = prod(addressable(shape, "resize"))
    if not size or not x.size:
        return zeros(shape, dtype=x.dtype)
    return reshape(remap(ravel(x), (size,), (KEEP,), "resize"), shape)
