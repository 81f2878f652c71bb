"""a[key] and a[key] = x with NumPy's rules: views for basic keys, gathers and scatters for arrays, masks by counting.

A key becomes a view (integers, slices, newaxis) and picks (arrays of integers) along axes of that view. Masks on the
host become their positions; masks on the GPU need the count of their True elements, which is read where a result's
shape depends on it (`await tg.aio.getitem(a, key)` elsewhere) and never to assign.
"""

from __future__ import annotations

import sys
from operator import index as as_index
from typing import Any, NamedTuple
from weakref import ref

from .. import engine
from .. import layout as lo
from ..array import Array, fresh, source, view
from ..dtypes import bool_, check_scalar, int32
from ..graph import IOTA, KERNEL, SCALAR, Guard, Op
from ..indexed import Indexed, Pick, Update
from ..layout import Layout, Shape
from . import elementwise as ew
from .convert import as_value, from_host
from .creation import astype, copy_of, zeros
from .guards import index_guard

MODES = ("raise", "wrap", "clip")
_FULL = slice(None)


class _Unit(NamedTuple):
    """A mask without axes: indices of a new axis of size 1, as many as the mask is True (0 or 1)."""

    index: Any
    dtype: str = "int32"


class Target(NamedTuple):
    """What a key means: a space and where its elements lie; `arrays` are the indices of `at.picks`."""

    shape: Shape
    at: Indexed
    arrays: tuple[Array, ...]
    guards: tuple[Guard, ...]


def getitem(x: Array, key: Any) -> Array:
    """x[key]: a view for integers, slices, Ellipsis and None; a copy for arrays, lists and masks."""
    keys = _keys(x, key)
    if not _advanced(keys):
        return view(x, lo.index(x._layout, tuple(keys)))
    masks = [k for k in keys if _is_mask(k)]
    if masks:
        found = engine.wait_for(_resolve(x, keys), "indexing by a mask", "await tg.aio.getitem(a, mask)")
        return _gather(x, found)
    return _gather(x, keys)


async def getitem_async(x: Array, key: Any) -> Array:
    """x[key] where a mask's count may have to be awaited."""
    keys = _keys(x, key)
    return getitem(x, tuple(await _resolve(x, keys)))


def _keys(x: Array, key: Any) -> list[Any]:
    """The parts of a key, one or more axes each: None, Ellipsis gone, integers, slices, Arrays, host arrays."""
    parts = [_part(k) for k in (key if isinstance(key, tuple) else (key,))]
    used = sum(_axes_of(k) for k in parts)
    if sum(k is Ellipsis for k in parts) > 1:
        raise IndexError("index: an index can only have a single ellipsis ('...')")
    if used > x.ndim:
        raise IndexError(f"index: too many indices: array is {x.ndim}-dimensional, but {used} were indexed")
    if not any(k is Ellipsis for k in parts):
        parts.append(Ellipsis)
    at = next(k for k, part in enumerate(parts) if part is Ellipsis)
    return parts[:at] + [_FULL] * (x.ndim - used) + parts[at + 1 :]


def _axes_of(part: Any) -> int:
    if part is None or part is Ellipsis or isinstance(part, _Unit):
        return 0
    return part.ndim if _is_mask(part) or _is_host_mask(part) else 1


def _part(k: Any) -> Any:
    """One part of a key: itself if basic, else an Array or a NumPy array of integers or bools."""
    if k is None or k is Ellipsis:
        return k
    if isinstance(k, slice):
        return slice(*[v if v is None or type(v) is int else as_index(v) for v in (k.start, k.stop, k.step)])
    if type(k) is int:
        return k
    if isinstance(k, Array):
        if k.dtype.kind not in "biu":
            raise IndexError(
                f"index: arrays used as indices must be of integers or bools, not {k.dtype.name}"
            )
        return k
    if not isinstance(k, (bool, list, tuple)) and not hasattr(k, "dtype"):
        try:
            return as_index(k)
        except TypeError:
            raise IndexError(
                "only integers, slices, Ellipsis, None and arrays of integers or bools are indices, "
                f"not {type(k).__name__}"
            ) from None
    try:
        import numpy as np
    except ImportError:
        return _part(
            from_host(k, "index", None if k or isinstance(k, bool) else int32)
        )  # checked when it is read
    host = np.asarray(k)
    if host.size == 0 and host.dtype.kind == "f" and not isinstance(k, np.ndarray):
        host = host.astype(np.int32)
    if host.dtype.kind not in "biu":
        raise IndexError(f"index: arrays used as indices must be of integers or bools, not {host.dtype}")
    return as_index(host[()]) if host.ndim == 0 and host.dtype.kind != "b" else host


def _is_mask(part: Any) -> bool:
    return isinstance(part, Array) and part.dtype is bool_


def _is_host_mask(part: Any) -> bool:
    return not isinstance(part, (Array, slice, int)) and getattr(part, "dtype", None) == "bool"


def _advanced(keys: list[Any]) -> bool:
    return any(isinstance(k, Array) or hasattr(k, "dtype") for k in keys)


async def _resolve(x: Array, keys: list[Any]) -> list[Any]:
    """The key with each GPU mask as index arrays; reads how many elements are True."""
    from .compaction import positions_of

    out: list[Any] = []
    axis = 0
    for k in keys:
        if _is_mask(k):
            _check_mask(k.shape, x.shape[axis : axis + k.ndim], axis)
            out += _coordinates(await positions_of(k), k.shape) if k.ndim else [_Unit(await positions_of(k))]
        else:
            out.append(k)
        axis += _axes_of(k)
    return out


def counted_keys(x: Array, key: Any) -> list[Any]:
    """_keys with index arrays for each mask on the GPU, which reads how many elements are True."""
    keys = _keys(x, key)
    if any(_is_mask(k) for k in keys):
        keys = engine.wait_for(_resolve(x, keys), "at[mask]", "tg.where(mask, new, a)")
    return keys


def _check_mask(shape: Shape, sizes: Shape, axis: int) -> None:
    """IndexError unless a mask has the axes' sizes, or 0, which selects nothing."""
    for d, (n, m) in enumerate(zip(shape, sizes, strict=True)):
        if n not in (m, 0):
            raise IndexError(
                f"index: boolean index did not match the array along axis {axis + d}; size is {m} but the mask's is {n}"
            )


def _coordinates(flat: Array, shape: Shape) -> list[Array]:
    """Flat positions of a shape as one array of indices for each axis."""
    out: list[Array] = []
    for n in reversed(shape[1:]):
        out.insert(0, ew.remainder(flat, n))
        flat = ew.floor_divide(flat, n)
    return [flat, *out]


def resolve(x: Array, keys: list[Any], mode: str = "raise") -> Target:
    """What a key without GPU masks selects of x."""
    parts: list[Any] = []
    axis = 0
    for k in keys:
        if _is_host_mask(k):
            _check_mask(k.shape, x.shape[axis : axis + k.ndim], axis)
            flat = k.reshape(-1).nonzero()[0].astype("int32")
            parts += [a.astype("int32") for a in k.nonzero()] if k.ndim else [_Unit(flat * 0)]
        else:
            parts.append(k)
        axis += _axes_of(k)
    arrays = _advanced(parts)
    basic: list[Any] = []
    chosen: list[tuple[int, Any]] = []  # position in the view, index
    at_key: list[int] = []
    rank = 0
    for position, k in enumerate(parts):
        if hasattr(k, "dtype") or isinstance(k, Array) or (arrays and type(k) is int):
            unit = isinstance(k, _Unit)
            chosen.append((rank, k.index if unit else k))
            at_key.append(position)
            basic.append(None if unit else _FULL)
            rank += 1
        else:
            basic.append(k)
            rank += type(k) is not int
    seen = lo.index(x._layout, tuple(basic))
    shapes = [() if type(k) is int else k.shape for _, k in chosen]
    try:
        block = lo.broadcast_shapes(*shapes, where="index")
    except ValueError:
        text = " ".join(map(str, shapes))
        raise IndexError(
            f"index: indexing arrays could not be broadcast together with shapes {text}"
        ) from None
    others = [d for d in range(rank) if d not in {d for d, _ in chosen}]
    adjacent = not at_key or at_key[-1] - at_key[0] == len(at_key) - 1
    lead = sum(d < chosen[0][0] for d in others) if chosen and adjacent else 0 if chosen else len(others)
    before, after = others[:lead], others[lead:]
    shape = (*(seen.shape[d] for d in before), *block, *(seen.shape[d] for d in after))
    strides = (*(seen.strides[d] for d in before), *([0] * len(block)), *(seen.strides[d] for d in after))
    offset = seen.offset
    picks: list[Pick] = []
    indices: list[Array] = []
    guards: list[Guard] = []
    for d, k in chosen:
        n, stride = seen.shape[d], seen.strides[d]
        if type(k) is int:
            if not -n <= k < n:
                raise IndexError(f"index: index {k} is out of bounds for axis {d} with size {n}")
            offset += k % n * stride
            continue
        index, layout = _index_array(k, n, d, mode, guards, 0 not in shape)
        spread = lo.broadcast_to(layout, block, "index").strides
        layout = Layout(shape, (*([0] * len(before)), *spread, *([0] * len(after))), layout.offset)
        picks.append(Pick(n, stride, layout))
        indices.append(index)
    return Target(
        shape, Indexed(Layout(shape, strides, offset), tuple(picks), mode), tuple(indices), tuple(guards)
    )


def _index_array(
    k: Any, n: int, axis: int, mode: str, guards: list[Guard], checked: bool
) -> tuple[Array, Layout]:
    """An index array as stored memory and its layout. On the host it is checked here, on the GPU by a guard."""
    if not isinstance(k, Array):
        if mode == "raise" and k.size and checked:
            for extreme in (int(k.min()), int(k.max())):
                if not -n <= extreme < n:
                    raise IndexError(f"index: index {extreme} is out of bounds for axis {axis} with size {n}")
        k = from_host(k, "index")
    elif k.size and checked:
        if n == 0:
            raise IndexError(f"index: an index is out of bounds for axis {axis} with size 0")
        if mode == "raise":
            guards.append(index_guard(k, n, axis))
    op, seen = source(k)
    if op.kind in (SCALAR, IOTA) and op.buffer is None:
        k = copy_of(k)
        op, seen = source(k)
    return k, seen or op.layout


def _memory(x: Array) -> Op:
    """The stored Op behind an Array, whatever its view of it."""
    op = x._cell.op
    return source(copy_of(x))[0] if op.kind in (SCALAR, IOTA) and op.buffer is None else op


def _gather(x: Array, keys: list[Any], mode: str = "raise") -> Array:
    return gathered(x, resolve(x, keys, mode))


def gathered(x: Array, target: Target) -> Array:
    """The elements of x that a Target selects, as a new array."""
    if 0 in target.shape:
        return zeros(target.shape, dtype=x.dtype)
    op = x._cell.op
    at = target.at
    if op.kind in (SCALAR, IOTA) and op.buffer is None:
        x = copy_of(view(x, op.layout))  # all of it: at.base counts in its elements
        op = x._cell.op
    args = (op, *(a._cell.op for a in target.arrays))
    out = Op(KERNEL, "gather", args, (None,) * len(args), target.shape, x.dtype, at)
    out.guards = target.guards
    return fresh(out)


def setitem(self: Array, key: Any, value: Any) -> None:
    """self[key] = value. Functional underneath: a new value takes the array's name and that of its views, in place
    where nobody else has the old one; work recorded before keeps the old value. The value is cast to the dtype."""
    keys = _keys(self, key)
    masks = [k for k in keys if _is_mask(k)]
    if (
        masks
        and len(masks) == 1
        and all(k is masks[0] or (isinstance(k, slice) and k == _FULL) for k in keys)
    ):
        return _assign_masked(
            self, masks[0], sum(isinstance(k, slice) for k in keys[: keys.index(masks[0])]), value
        )
    if masks:
        keys = engine.wait_for(_resolve(self, keys), "assignment by this mask", "tg.where(mask, value, a)")
    assign(self, resolve(self, keys), value)
    return None


def assign(self: Array, target: Target, value: Any, expr: str = "", unique: bool = False) -> None:
    """Writes a value, broadcast, over what a Target selects of an array; `expr` combines x (there) and y (new)."""
    cell = self._cell
    whole = not target.arrays and not expr and target.at.base == cell.op.layout
    given = _value(value, self.dtype, target.shape, whole)
    if whole:
        if isinstance(given, Array) and given._cell is cell and given._layout == cell.op.layout:
            return
        made = copy_of(given if isinstance(given, Array) else from_host(given, "assignment", self.dtype))
        rebind(self, made._cell.op)
        return
    if 0 in target.shape:
        return
    own = isinstance(given, Array) and given._cell is cell and given._layout == target.at.base
    if own and not expr and not target.arrays:
        return  # what `a[key] += x` ends with
    rebind(self, updated(cell, target, given, expr, unique))


def updated(
    cell: Any, target: Target, given: Any, expr: str, unique: bool, keep: bool = False, overlap: bool = False
) -> Op:
    """The Op of a cell's value with an update; in place if only the cell has the old one (and `keep` is False)."""
    values: tuple[Op, ...] = ()
    how: Any = given
    if isinstance(given, Array):
        op, seen = source(given)
        if op.kind in (SCALAR, IOTA) and op.buffer is None:
            op, seen = source(copy_of(given))
        values, how = (op,), seen or op.layout
    indices = tuple(a._cell.op for a in target.arrays)
    old = cell.op
    mine = not keep and all(old is not other for other in (*values, *indices))
    if old.kind in (SCALAR, IOTA) and old.buffer is None:
        old, mine = source(copy_of(Array(old.dtype, old.layout, cell)))[0], True  # nobody else's
    elif mine:
        mine = sys.getrefcount(old) <= OWNED and not engine.foreign(
            old
        )  # the cell, this function's name, the call
    update = Update(target.shape, target.at, how, expr, mine, unique, overlap)
    args = (old, *values, *indices)
    out = Op(KERNEL, "scatter", args, (None,) * len(args), old.shape, old.dtype, update)
    out.guards = target.guards
    return out


OWNED = 3


def rebind(self: Array, op: Op) -> None:
    """Points an array's cell, and so its views, to a new value; ValueError where elements of a broadcast view share
    memory, as NumPy has it."""
    seen, cell = self._layout, self._cell
    if 0 in seen.strides and any(n > 1 and not s for n, s in zip(seen.shape, seen.strides, strict=True)):
        text = f"the destination, a broadcast view of shape {seen.shape}, is read-only; .copy() it first"
        raise ValueError(f"assignment: {text}")
    engine.touch(cell)
    cell.op = op
    op.cell = ref(cell)
    if op.buffer is None:
        engine.note(op)  # under its new name: what was noted before is gone


def _value(value: Any, dtype: Any, shape: Shape, whole: bool) -> Any:
    """The value to assign: a Python number of the dtype, or an Array broadcast to a shape."""
    kind = type(value)
    lossless = kind is not complex if dtype.kind != "c" else True
    if (
        kind in (bool, int, float, complex)
        and lossless
        and not whole
        and not (dtype.kind in "iu" and kind is float)
    ):
        check_scalar(value, dtype, "assignment")
        return value
    got = as_value(value, dtype, "assignment")
    if got.dtype is not dtype:
        got = astype(got, dtype)
    lead = got.ndim - len(shape)
    if lead > 0 and all(n == 1 for n in got.shape[:lead]):  # NumPy drops these
        got = view(got, lo.reshape(got._layout, got.shape[lead:]) or got._layout)
    try:
        return view(got, lo.broadcast_to(got._layout, shape, "assignment"))
    except ValueError:
        raise ValueError(
            f"assignment: could not broadcast the value's shape {got.shape} into the part's {shape}"
        ) from None


def _assign_masked(self: Array, mask: Array, axis: int, value: Any) -> None:
    """self[:, .., mask, ..] = value without a read: element by element, the k-th value for the k-th True."""
    from .guards import count_guard
    from .manipulation import ravel
    from .scans import cumulative_sum

    _check_mask(mask.shape, self.shape[axis : axis + mask.ndim], axis)
    rest = self.shape[axis + mask.ndim :]
    got = as_value(value, self.dtype, "assignment")
    if got.dtype is not self.dtype:
        got = astype(got, self.dtype)
    spread = view(
        mask,
        Layout(
            (*mask.shape, *([1] * len(rest))),
            (*mask._layout.strides, *([0] * len(rest))),
            mask._layout.offset,
        ),
    )
    at = got.ndim - 1 - len(rest)
    if 0 in mask.shape:  # perhaps where the array's axis is longer
        if at >= 0 and got.shape[at] > 1:
            text = (
                f"cannot assign {got.shape[at]} values to the 0 True elements of a mask of shape {mask.shape}"
            )
            raise ValueError(f"assignment: {text}")
        _value(got, self.dtype, (*self.shape[:axis], 0, *rest), False)
        return
    guards: tuple[Guard, ...] = ()
    if at >= 0 and got.shape[at] != 1:  # one value for each True
        counts = cumulative_sum(ravel(astype(mask, int32)), axis=0)
        guards = (count_guard(counts, got.shape[at], mask.shape),)
        turn = ew.subtract(counts, 1)
        if got.shape[at] == 0:
            got = zeros(self.shape, dtype=self.dtype)
        else:
            keys = [_FULL] * at + [view(turn, lo.contiguous(mask.shape))]
            got = _gather(got, [*keys, *[_FULL] * len(rest)], "clip")
    elif at >= 0:
        got = view(
            got,
            lo.reshape(got._layout, (*got.shape[:at], *([1] * mask.ndim), *got.shape[at + 1 :]))
            or got._layout,
        )
    new = ew.where(spread, got, self)
    if new.shape != self.shape:
        raise ValueError(f"assignment: could not broadcast the value's shape {got.shape} into {self.shape}")
    if guards:
        new._cell.op.guards = guards
    assign(self, Target(self.shape, Indexed(self._layout, (), "raise"), (), guards), new)
