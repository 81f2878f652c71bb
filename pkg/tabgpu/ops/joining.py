"""Arrays joined into one: concat, stack and NumPy's spellings of them, append, insert, delete, block.

All come down to pieces behind one another along an axis, read through any strides by one kernel (routines/join.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import index as as_index
from typing import Any

from .. import layout as lo
from ..array import Array, source
from ..dtypes import DType, as_dtype, promote
from ..graph import IOTA, SCALAR, Op
from .convert import as_value, from_host
from .creation import astype, copy_of, zeros
from .manipulation import (
    addressable,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_to,
    expand_dims,
    moveaxis,
    ravel,
)  # fmt: skip
from .routine import routine


def listed(arrays: Any, where: str) -> list[Array]:
    """A sequence of arrays, from arrays and host values; an Array is taken apart along its first axis."""
    if isinstance(arrays, Array) and not arrays.ndim:
        raise TypeError(f"{where}: expected a sequence of arrays, got a 0-d array")
    if not isinstance(arrays, (Array, Iterable)):
        raise TypeError(f"{where}: expected a sequence of arrays, got {type(arrays).__name__}")
    got = [x if isinstance(x, Array) else from_host(x, where) for x in arrays]
    if not got:
        raise ValueError(f"{where}: need at least one array")
    return got


def _common(arrays: Sequence[Array], dtype: Any, casting: str, where: str) -> list[Array]:
    """All in one dtype: the given one, or what they promote to."""
    want = promote(*[a.dtype for a in arrays], where=where) if dtype is None else as_dtype(dtype)
    for a in arrays:
        check_casting(a.dtype, want, casting, where)
    return [astype(a, want, copy=False) for a in arrays]


_KINDS = "biufc"


def check_casting(have: DType, want: DType, casting: str, where: str) -> None:
    """TypeError where NumPy's casting rule forbids it."""
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(
            f"{where}: casting must be 'no', 'equiv', 'safe', 'same_kind' or 'unsafe', not {casting!r}"
        )
    low, high = _KINDS.index(have.kind), _KINDS.index(want.kind)
    fine = (
        have is want or casting == "unsafe" or (casting == "same_kind" and low <= high + (want.kind == "i"))
    )
    if not fine and casting == "safe":
        try:
            fine = promote(have, want) is want
        except TypeError:
            fine = False
    if not fine:
        raise TypeError(f"{where}: cannot cast {have.name} to {want.name} by the rule {casting!r}")


def deliver(made: Array, out: Array | None, where: str, casting: str = "same_kind") -> Array:
    """A result, written into `out` where one was given."""
    if out is None:
        return made
    if not isinstance(out, Array):
        raise TypeError(f"{where}: out must be a tabgpu array, not {type(out).__name__}")
    if out.shape != made.shape:
        raise ValueError(f"{where}: out has the shape {out.shape}, the result {made.shape}")
    check_casting(made.dtype, out.dtype, casting, where)
    out[...] = made  # type: ignore[index]
    return out


def join(arrays: Sequence[Array], axis: int, where: str) -> Array:
    """Arrays of one dtype behind one another along a normalised axis; they agree in all other sizes."""
    first = arrays[0]
    total = sum(a.shape[axis] for a in arrays)
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    addressable(shape, where)
    parts = [a for a in arrays if a.size]
    if not parts:
        return zeros(shape, dtype=first.dtype)
    if len(parts) == 1:
        return copy_of(parts[0])
    args: dict[Op, int] = {}
    pieces: list[tuple[Any, lo.Layout | None, int]] = []
    for a in parts:
        op, seen = source(a)
        if op.kind in (SCALAR, IOTA) and op.buffer is None:
            if op.kind == SCALAR and op.dtype.kind != "c" and (args or a is not parts[-1]):
                pieces.append((op.extra, None, a.shape[axis]))
                continue
            op, seen = source(copy_of(a))
        pieces.append((args.setdefault(op, len(args)), seen or op.layout, a.shape[axis]))
    return routine("join", list(args), shape, first.dtype, (axis, tuple(pieces)))


def concat(
    arrays: Any, /, axis: int | None = 0, out: Array | None = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Array:  # fmt: skip
    """Arrays behind one another along an existing axis (axis=None: all flattened). Dtypes promote, or dtype= says.

    ValueError where the other sizes differ. One launch joins up to 7 arrays of any strides.
    """
    return _concat(listed(arrays, "concat"), axis, out, dtype, casting, "concat")


concatenate = concat


def _concat(
    arrays: Sequence[Array], axis: int | None, out: Any = None, dtype: Any = None, casting: str = "same_kind",
    where: str = "concat",
) -> Array:  # fmt: skip
    if out is not None and dtype is not None:
        raise TypeError(f"{where}: give out or dtype, not both")
    if axis is None:
        arrays, axis = [ravel(a) for a in arrays], 0
    rank = arrays[0].ndim
    if not rank:
        raise ValueError(f"{where}: zero-dimensional arrays cannot be concatenated; use stack")
    axis = lo.normalize_axis(axis, rank, where)
    shape = arrays[0].shape
    for a in arrays[1:]:
        if a.ndim != rank or any(
            n != m for k, (n, m) in enumerate(zip(a.shape, shape, strict=True)) if k != axis
        ):
            named = ", ".join(str(x.shape) for x in arrays[:8])
            raise ValueError(f"{where}: shapes must agree in all axes but {axis}: {named}")
    parts = _common(arrays, dtype if out is None else out.dtype, casting, where)
    return deliver(join(parts, axis, where), out, where)


def stack(
    arrays: Any, /, axis: int = 0, out: Array | None = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Array:  # fmt: skip
    """Arrays of one shape along a new axis."""
    got = listed(arrays, "stack")
    if any(a.shape != got[0].shape for a in got):
        raise ValueError(
            f"stack: all arrays must have one shape, not {', '.join(str(a.shape) for a in got[:8])}"
        )
    axis = lo.normalize_axis(axis, got[0].ndim + 1, "stack")
    return _concat([expand_dims(a, axis=axis) for a in got], axis, out, dtype, casting, "stack")


def hstack(tup: Any, /, *, dtype: Any = None, casting: str = "same_kind") -> Array:
    """Side by side: along axis 1, 1-D arrays along axis 0."""
    got = [atleast_1d(a) for a in listed(tup, "hstack")]
    return _concat(got, 0 if got[0].ndim == 1 else 1, None, dtype, casting, "hstack")


def vstack(tup: Any, /, *, dtype: Any = None, casting: str = "same_kind") -> Array:
    """On top of one another: along axis 0, 1-D arrays are rows."""
    return _concat([atleast_2d(a) for a in listed(tup, "vstack")], 0, None, dtype, casting, "vstack")


row_stack = vstack


def dstack(tup: Any, /) -> Array:
    """Along the third axis, which arrays of fewer axes get."""
    return _concat([atleast_3d(a) for a in listed(tup, "dstack")], 2, where="dstack")


def column_stack(tup: Any, /) -> Array:
    """1-D arrays as columns, 2-D arrays side by side."""
    got = [a if a.ndim > 1 else expand_dims(ravel(a), axis=1) for a in listed(tup, "column_stack")]
    return _concat(got, 1, where="column_stack")


def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """values behind arr along an axis; both flattened without one."""
    return _concat(listed([arr, values], "append"), axis, where="append")


def block(arrays: Any, /) -> Array:
    """Nested lists of blocks: innermost lists are joined along the last axis, the next along the one before it."""
    depth = _depth(arrays, "block")
    leaves: list[Array] = []
    tree = _leaves(arrays, leaves)
    rank = max(depth, *(a.ndim for a in leaves))
    dtype = promote(*[a.dtype for a in leaves], where="block")

    def build(node: Any, level: int) -> Array:
        if isinstance(node, list):
            parts = [build(x, level + 1) for x in node]
            return parts[0] if len(parts) == 1 else _concat(parts, rank - depth + level, where="block")
        a = astype(leaves[node], dtype, copy=False)
        return expand_dims(a, axis=tuple(range(rank - a.ndim)))

    made = build(tree, 0)
    return copy_of(made) if not isinstance(tree, list) or len(leaves) == 1 else made


def _depth(node: Any, where: str) -> int:
    """How deep lists are nested; ValueError where branches differ, TypeError for tuples, as NumPy."""
    if isinstance(node, tuple):
        raise TypeError(f"{where}: blocks are nested lists, not tuples")
    if not isinstance(node, list):
        return 0
    if not node:
        raise ValueError(f"{where}: a list of blocks is empty")
    depths = {_depth(x, where) for x in node}
    if len(depths) > 1:
        raise ValueError(f"{where}: lists are nested to different depths: {sorted(depths)}")
    return depths.pop() + 1


def _leaves(node: Any, found: list[Array]) -> Any:
    if isinstance(node, list):
        return [_leaves(x, found) for x in node]
    found.append(node if isinstance(node, Array) else from_host(node, "block"))
    return len(found) - 1


def _positions(obj: Any, n: int, where: str, last: int | None = None) -> list[int]:
    """Host indices as positions up to `last` (n - 1): an integer, a slice, a sequence of integers or of n bools."""
    last = n - 1 if last is None else last
    if isinstance(obj, Array):
        raise TypeError(f"{where}: the result's shape depends on the indices; give host values (or a mask)")
    if isinstance(obj, slice):
        return list(range(*obj.indices(n)))
    values = obj.tolist() if hasattr(obj, "tolist") else obj
    several = list(values) if isinstance(values, (list, tuple, range)) else [values]
    if several and all(isinstance(v, bool) for v in several):
        if len(several) != n:
            raise ValueError(f"{where}: a mask of {len(several)} values for an axis of size {n}")
        return [k for k, v in enumerate(several) if v]
    got = [as_index(v) for v in several]
    for v in got:
        if not -n <= v <= last:
            raise IndexError(f"{where}: index {v} is out of bounds for an axis of size {n}")
    return [v + n if v < 0 else v for v in got]


def _section(x: Array, axis: int, start: int, stop: int, step: int = 1) -> Array:
    return x[(slice(None),) * axis + (slice(start, stop, step),)]


def delete(arr: Any, obj: Any, axis: int | None = None) -> Array:
    """arr without some positions along an axis (of the flattened array without one). obj is a host value: an integer,
    a slice, a sequence of integers or a mask of bools. IndexError if one is out of bounds."""
    (x,) = listed([arr], "delete")
    if axis is None:
        x, axis = ravel(x), 0
    axis = lo.normalize_axis(axis, x.ndim, "delete")
    n = x.shape[axis]
    gone = sorted(set(_positions(obj, n, "delete")))
    edges = [-1, *gone, n]
    kept = [(a + 1, b) for a, b in pairwise(edges) if b > a + 1]
    if not kept:
        return zeros((*x.shape[:axis], 0, *x.shape[axis + 1 :]), dtype=x.dtype)
    if len(kept) > MANY:
        return _picked(x, [k for a, b in kept for k in range(a, b)], axis, "delete")
    return join([_section(x, axis, a, b) for a, b in kept], axis, "delete")


MANY = 100  # pieces of one array; above that a gather is cheaper


def _picked(x: Array, positions: list[int], axis: int, where: str) -> Array:
    from .taking import take

    return take(x, from_host(positions, where), axis=axis)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """arr with values put in before the given positions along an axis (of the flattened array without one). obj is a
    host value: an integer, a slice, a sequence of integers or a mask. values broadcast to what is inserted."""
    (x,) = listed([arr], "insert")
    if axis is None:
        x, axis = ravel(x), 0
    axis = lo.normalize_axis(axis, x.ndim, "insert")
    n = x.shape[axis]
    at = _positions(obj, n, "insert", last=n)
    new = astype(as_value(values, x.dtype, "insert"), x.dtype, copy=False)
    count = len(at)
    if count == 1:  # the values may be several entries of the axis
        new = expand_dims(new, axis=tuple(range(x.ndim - new.ndim)))
        if not isinstance(obj, (slice, list, tuple, range)) and not getattr(obj, "shape", ()):
            new = moveaxis(new, 0, axis)
        count = new.shape[axis]
    new = broadcast_to(new, (*x.shape[:axis], count, *x.shape[axis + 1 :]))
    if len(at) == 1:
        parts = [_section(x, axis, 0, at[0]), new, _section(x, axis, at[0], n)]
        return join(parts, axis, "insert")
    order = sorted(range(count), key=lambda j: at[j])
    if count > MANY:
        places, done = [], 0
        for k in order:
            places += [*range(done, at[k]), n + k]
            done = at[k]
        return _picked(join([x, new], axis, "insert"), [*places, *range(done, n)], axis, "insert")
    parts, done = [], 0
    for k in order:
        parts += [_section(x, axis, done, at[k]), _section(new, axis, k, k + 1)]
        done = at[k]
    return join([*parts, _section(x, axis, done, n)], axis, "insert")
