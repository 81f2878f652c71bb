"""take, put and their kin, and a.at[..]: indexed reads and writes by function. What keys mean is in indexing.py."""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from .. import layout as lo
from ..array import Array, view
from ..dtypes import DType
from ..graph import Guard
from ..indexed import Indexed, Pick
from ..layout import Layout
from . import elementwise as ew
from .convert import as_value, from_host
from .creation import copy_of
from .indexing import (
    MODES,
    Target,
    _index_array,
    _part,
    _value,
    assign,
    counted_keys,
    gathered,
    rebind,
    resolve,
    setitem,
    updated,
)
from .manipulation import ravel, reshape

_FULL = slice(None)
# How an update combines x (there) and y (new), by the dtype's kind.
COMBINE: dict[str, dict[str, str]] = {
    "add": {"b": "x | y", "i": "x + y", "u": "x + y", "f": "x + y", "c": "x + y"},
    "multiply": {"b": "x & y", "i": "x * y", "u": "x * y", "f": "x * y"},
    "maximum": {"b": "x | y", "i": "max(x, y)", "u": "max(x, y)", "f": "maximum_f32(x, y)"},
    "minimum": {"b": "x & y", "i": "min(x, y)", "u": "min(x, y)", "f": "minimum_f32(x, y)"},
}


def _need(x: Any, where: str) -> Array:
    return x if isinstance(x, Array) else from_host(x, where)


def _mode(mode: str, where: str) -> str:
    if mode not in MODES:
        raise ValueError(f"{where}: mode must be one of {', '.join(MODES)}, not {mode!r}")
    return mode


def _integers(indices: Any, where: str) -> Any:
    """An index argument as an Array or NumPy array of integers."""
    part = _part(indices if not isinstance(indices, tuple) else list(indices))
    if isinstance(part, slice) or part is None or part is Ellipsis:
        raise TypeError(f"{where}: indices must be integers, not {indices!r}")
    if type(part) is int:
        return from_host(part, where)
    return part.astype("int32") if part.dtype == "bool" else part


def take(
    x: Any, indices: Any, /, axis: int | None = None, *, mode: str = "raise", out: Array | None = None
) -> Array:
    """Elements of x along an axis (of the flattened array for None): x.shape[:axis] + indices.shape + x.shape[axis+1:].

    mode: "raise" (IndexError at the read for indices on the GPU, at the call for host ones), "wrap" or "clip".
    """
    x = _need(x, "take")
    if axis is None:
        x, axis = ravel(x), 0
    if not x.ndim:
        x = reshape(x, (1,))
    at = lo.normalize_axis(axis, x.ndim, "take")
    keys = [_FULL] * at + [_integers(indices, "take")] + [_FULL] * (x.ndim - at - 1)
    got = gathered(x, resolve(x, keys, _mode(mode, "take")))
    return got if out is None else _into(out, got)


def _into(out: Array, got: Array) -> Array:
    if out.shape != got.shape:
        raise ValueError(f"out: its shape {out.shape} is not that of the result, {got.shape}")
    setitem(out, ..., got)
    return out


def take_along_axis(x: Any, indices: Any, /, axis: int | None = -1, *, mode: str = "raise") -> Array:
    """The element of each position whose index along an axis is given: out[i, j] = x[i, indices[i, j]] for axis 1.

    indices has x's number of axes; the other axes broadcast. axis None: of the flattened array.
    """
    x = _need(x, "take_along_axis")
    if axis is None:
        x, axis = ravel(x), 0
    return gathered(x, _along(x, indices, axis, mode, "take_along_axis"))


def _along(x: Array, indices: Any, axis: int, mode: str, where: str) -> Target:
    """One index for each position of a space, along one axis."""
    at = lo.normalize_axis(axis, x.ndim, where)
    index = _integers(indices, where)
    if index.ndim != x.ndim:
        raise ValueError(
            f"{where}: indices have {index.ndim} axes, the array {x.ndim}: {index.shape}, {x.shape}"
        )
    others = [tuple(1 if d == at else n for d, n in enumerate(s)) for s in (x.shape, index.shape)]
    space = list(lo.broadcast_shapes(*others, where=where))
    space[at] = index.shape[at]
    shape = tuple(space)
    flat = lo.broadcast_to(
        Layout(others[0], tuple(0 if d == at else s for d, s in enumerate(x._layout.strides)), x._layout.offset),
        tuple(1 if d == at else n for d, n in enumerate(shape)), where,
    )  # fmt: skip
    base = Layout(shape, tuple(0 if d == at else s for d, s in enumerate(flat.strides)), flat.offset)
    guards: list[Guard] = []
    array, layout = _index_array(index, x.shape[at], at, _mode(mode, where), guards, 0 not in shape)
    pick = Pick(x.shape[at], x._layout.strides[at], lo.broadcast_to(layout, shape, where))
    return Target(shape, Indexed(base, (pick,), mode), (array,), tuple(guards))


def put_along_axis(x: Array, indices: Any, values: Any, axis: int | None, mode: str = "raise") -> None:
    """Writes values to the positions that take_along_axis reads, in place; the last of duplicates wins."""
    if axis is None:
        put(x, indices, values, mode=mode)
        return
    assign(x, _along(x, indices, axis, mode, "put_along_axis"), values)


def put(x: Array, indices: Any, values: Any, /, mode: str = "raise") -> None:
    """x.flat[indices] = values in place; values repeat to as many as there are indices, the last of duplicates wins."""
    index = _integers(indices, "put")
    got = as_value(values, x.dtype, "put")
    if not index.size:
        return
    if not got.size:
        raise ValueError(f"put: no values for {index.size} indices")
    if got.size not in (1, index.size):
        got = take(ravel(got), _cycle(index.size, got.size), axis=0)
    index = index.reshape(-1) if not isinstance(index, Array) else ravel(index)
    got = ravel(got)
    flat = lo.reshape(x._layout, (x.size,))
    if flat is None:  # no view is flat: write to a flat copy and put that in place of all
        whole = ravel(x)
        assign(whole, resolve(whole, [index], _mode(mode, "put")), got)
        setitem(x, ..., reshape(whole, x.shape))
        return
    line = view(x, flat)
    assign(line, resolve(line, [index], _mode(mode, "put")), got)


def _cycle(n: int, period: int) -> Array:
    """0, 1, .. period-1 again and again, n of them."""
    from .creation import positions

    return ew.remainder(positions(n), period)


def putmask(x: Array, mask: Any, values: Any, /) -> None:
    """x.flat[k] = values[k % len(values)] wherever mask is true, in place."""
    flags, got = _need(mask, "putmask"), as_value(values, x.dtype, "putmask")
    if flags.shape != x.shape:
        raise ValueError(f"putmask: the mask's shape {flags.shape} is not that of the array, {x.shape}")
    if not x.size:
        return
    if got.size == 1:
        got = reshape(got, ())
    elif got.shape != x.shape:
        got = reshape(take(ravel(got), _cycle(x.size, got.size), axis=0), x.shape)
    setitem(x, ..., ew.where(flags, _cast(got, x.dtype), x))


def place(x: Array, mask: Any, values: Any, /) -> None:
    """The first N values, again and again, to the N positions where mask is true, in place."""
    from .scans import cumulative_sum

    flags, got = _need(mask, "place"), ravel(as_value(values, x.dtype, "place"))
    if flags.size != x.size:
        raise ValueError(f"place: mask and array must have the same size: {flags.shape}, {x.shape}")
    if not x.size:
        return
    if not got.size:
        raise ValueError("place: no values to place")
    turn = ew.subtract(cumulative_sum(ravel(ew.not_equal(flags, 0)).astype("int32"), axis=0), 1)  # type: ignore[attr-defined]
    chosen = take(got, ew.remainder(ew.maximum(turn, 0), got.size), axis=0)
    setitem(x, ..., ew.where(reshape(flags, x.shape), _cast(reshape(chosen, x.shape), x.dtype), x))


def copyto(dst: Array, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Copies src, broadcast, to dst in place, only where `where` is true."""
    from .dtype_functions import can_cast

    got = as_value(src, dst.dtype, "copyto")
    kinds = "biufc"
    weak = isinstance(src, (bool, int, float, complex)) and kinds.index(got.dtype.kind) <= kinds.index(
        dst.dtype.kind
    )
    weak |= type(src) is int and dst.dtype.kind == "u"
    if not weak and not can_cast(got.dtype, dst.dtype, casting):
        raise TypeError(f"copyto: cannot cast {got.dtype.name} to {dst.dtype.name} by the rule {casting!r}")
    setitem(dst, ..., _cast(got, dst.dtype) if where is True else ew.where(where, _cast(got, dst.dtype), dst))


def _cast(x: Array, dtype: DType) -> Array:
    from .creation import astype

    return astype(x, dtype, copy=False)


def compress(condition: Any, x: Any, /, axis: int | None = None) -> Array:
    """The slices of x along an axis (of the flattened array for None) whose condition is true. Reads how many where the
    condition is on the GPU."""
    x = _need(x, "compress")
    flags = condition if isinstance(condition, Array) else _host_flags(condition)
    if flags.ndim != 1:
        raise ValueError(f"compress: the condition must have one axis, its shape is {flags.shape}")
    if axis is None:
        x, axis = ravel(x), 0
    at = lo.normalize_axis(axis, x.ndim, "compress")
    n = flags.shape[0]
    if n > x.shape[at]:
        raise IndexError(f"compress: {n} conditions for an axis of size {x.shape[at]}")
    part = x[(_FULL,) * at + (slice(n),)]
    flags = ew.not_equal(flags, 0) if isinstance(flags, Array) else flags
    return part[(_FULL,) * at + (flags,)]  # type: ignore[no-any-return]


def extract(condition: Any, x: Any, /, *, size: int | None = None, fill_value: Any = 0) -> Array:
    """The elements of the flattened x where the flattened condition is true. Reads how many where the condition is on
    the GPU; with `size` it reads nothing: the first `size` of them, then fill_value."""
    flat = ravel(_need(x, "extract"))
    if size is None:
        flags: Any = condition if isinstance(condition, Array) else _host_flags(condition)
        return compress(flags.reshape(-1), flat)
    from .compaction import positions_bounded

    at = positions_bounded(ravel(_need(condition, "extract")), as_index(size), -1)
    return ew.where(
        ew.greater_equal(at, 0), take(flat, at, axis=0, mode="clip") if flat.size else 0, fill_value
    )


def _host_flags(condition: Any) -> Any:
    return _part(list(condition) if isinstance(condition, tuple) else condition) != 0


def index_add(x: Any, axis: int, index: Any, source: Any, *, alpha: float = 1) -> Array:
    """x with alpha * source added to its slices `index` along an axis; duplicates all count (torch.index_add)."""
    x = _need(x, "index_add")
    at = lo.normalize_axis(axis, x.ndim, "index_add")
    got = source if alpha == 1 else ew.multiply(source, alpha)
    return At(x)[(_FULL,) * at + (index,)].add(got)


class At:
    """x.at[key] of an array: functional updates. `x.at[key].add(v)` is a new array; duplicates in key all count."""

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Part:
        return Part(self._array, key)


class Part:
    """What x.at[key] names. Each method returns a new array, x stays as it is.

    Integers are exact and wrap; in which order floats are added is not said. complex64 can be set and added.
    """

    __slots__ = ("_array", "_key")

    def __init__(self, array: Array, key: Any) -> None:
        self._array, self._key = array, key

    def get(self, *, mode: str = "raise") -> Array:
        """x[key]."""
        x = self._array
        return gathered(x, resolve(x, counted_keys(x, self._key), _mode(mode, "at")))

    def set(self, values: Any, *, mode: str = "raise") -> Array:
        """x with x[key] = values; the last of duplicates wins."""
        return self._update(values, "", mode)

    def add(self, values: Any, *, mode: str = "raise") -> Array:
        """x with values added to x[key]."""
        return self._update(values, "add", mode)

    def subtract(self, values: Any, *, mode: str = "raise") -> Array:
        """x with values subtracted from x[key]."""
        got = _value(values, self._array.dtype, self._target(mode).shape, True)
        return self._update(ew.negative(got), "add", mode)

    def multiply(self, values: Any, *, mode: str = "raise") -> Array:
        """x with x[key] multiplied by values."""
        return self._update(values, "multiply", mode)

    def divide(self, values: Any, *, mode: str = "raise") -> Array:
        """x with x[key] divided by values (a product with their reciprocals)."""
        return self._update(ew.reciprocal(_need(values, "at").astype(self._array.dtype)), "multiply", mode)  # type: ignore[attr-defined]

    def max(self, values: Any, *, mode: str = "raise") -> Array:
        """x with the greater of x[key] and values; NaN if either is."""
        return self._update(values, "maximum", mode)

    def min(self, values: Any, *, mode: str = "raise") -> Array:
        """x with the lesser of x[key] and values; NaN if either is."""
        return self._update(values, "minimum", mode)

    mul = multiply

    def _target(self, mode: str) -> Target:
        x = self._array
        return resolve(x, counted_keys(x, self._key), _mode(mode, "at"))

    def _update(self, values: Any, name: str, mode: str) -> Array:
        x = self._array
        if x._layout != x._cell.op.layout:
            x = copy_of(x)
        made = Array(x.dtype, x._layout, x._cell)
        return accumulate(made, self._key, values, name, mode, keep=True)


def accumulate(x: Array, key: Any, values: Any, name: str, mode: str = "raise", keep: bool = False) -> Array:
    """x[key] combined with values by COMBINE[name] ("" assigns), every duplicate counting; in place unless `keep`."""
    expr = "" if not name else COMBINE[name].get(x.dtype.kind, "")
    if name and not expr:
        raise TypeError(f"at: {name} is not defined for {x.dtype.name}")
    target = resolve(x, counted_keys(x, key), _mode(mode, "at"))
    given = _value(values, x.dtype, target.shape, False)
    if 0 in target.shape:
        return copy_of(x) if keep else x
    op = updated(x._cell, target, given, expr, False, keep)
    if not keep:
        rebind(x, op)
        return x
    from ..array import fresh

    return fresh(op)
