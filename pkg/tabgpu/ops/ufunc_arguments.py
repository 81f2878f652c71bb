"""out=, where=, dtype= and casting= of functions: what NumPy allows, and how a result gets into `out`."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import DType, as_dtype, bool_
from ..layout import Shape, broadcast_shapes, broadcast_to
from .dtype_functions import can_cast

_RANK = {"b": 0, "u": 1, "i": 2, "f": 3, "c": 4}
_KIND = {bool: "b", int: "i", float: "f", complex: "c"}
_IGNORED = ("order", "subok")  # they choose a memory layout and a subclass: arrays here have one of each


def as_mask(where: Any, name: str) -> Array | None:
    """where= as a bool Array; None where everything is selected. TypeError for other dtypes, as NumPy."""
    if where is True or where is None:
        return None
    from .convert import from_host

    mask = where if isinstance(where, Array) else from_host(where, name)
    if mask.dtype is not bool_:
        raise TypeError(f"{name}: where must be bool, not {mask.dtype.name}")
    return mask


def as_out(out: Any, name: str) -> Array | None:
    """out= as an Array, also from a tuple of one."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError(f"{name}: the out tuple must have exactly one entry, it has {len(out)}")
        out = out[0]
    if out is not None and not isinstance(out, Array):
        raise TypeError(f"{name}: out must be a tabgpu array, not {type(out).__name__}")
    return out


def store(
    value: Array, out: Array, name: str, mask: Array | None = None, casting: str = "same_kind"
) -> Array:  # fmt: skip
    """out with the value in it, where the mask says so. The value may be made from out: it keeps what it was."""
    from .creation import astype
    from .elementwise import where
    from .indexing import setitem

    if not can_cast(value.dtype, out.dtype, casting):
        raise TypeError(
            f"{name}: cannot cast the result from {value.dtype.name} to {out.dtype.name} with casting rule {casting!r}"
        )
    shape = value.shape if mask is None else broadcast_shapes(value.shape, mask.shape, where=name)
    if broadcast_shapes(shape, out.shape, where=name) != out.shape:
        raise ValueError(f"{name}: out has shape {out.shape}, the result {shape}")
    value = astype(value, out.dtype, copy=False)
    setitem(out, ..., value if mask is None else where(mask, value, out))
    return out


def store_reduced(value: Array, out: Array | None, name: str) -> Array:
    """The result of a reduction, in out if there is one: its shape must be the result's, its dtype may be any."""
    if out is None:
        return value
    if out.shape != value.shape:
        raise ValueError(f"{name}: out has shape {out.shape}, the result {value.shape}")
    return store(value, out, name, casting="unsafe")


def selected(value: Array, mask: Array | None, name: str) -> Array:
    """The value where a mask says so, zeros elsewhere (NumPy: whatever the memory held)."""
    if mask is None:
        return value
    from .creation import zeros
    from .elementwise import where

    broadcast_shapes(value.shape, mask.shape, where=name)
    return where(mask, value, zeros((), dtype=value.dtype))


def widened(mask: Array, shape: Shape, name: str) -> Array:
    """A mask of a reduction in the shape of what is reduced."""
    from ..array import view

    if len(mask.shape) > len(shape):
        raise ValueError(f"{name}: where of shape {mask.shape} has more axes than the array of shape {shape}")
    return view(mask, broadcast_to(mask._layout, shape, name))


def call(function: Any, operands: tuple[Any, ...], options: dict[str, Any]) -> Array:
    """A function of one result (a Row or a Composite) with options. function: has name, nin, out and is callable."""
    name, nin = function.name, function.nin
    options = dict(options)
    if len(operands) == nin + 1:
        if options.get("out") is not None:
            raise TypeError(f"{name}: cannot specify out as both a positional and a keyword argument")
        options["out"] = operands[nin]
        operands = operands[:nin]
    if len(operands) != nin:
        raise TypeError(f"{name}() takes {nin} operands, {len(operands)} were given")
    out, mask, casting, dtype = take(name, options)
    if dtype is not None:
        operands = operands if function.out is not None else cast_operands(name, operands, dtype, casting)
    value: Array = function(*operands)
    if dtype is not None and value.dtype is not dtype:
        raise TypeError(
            f"{name}: it does not compute in dtype {dtype.name} (here it gives {value.dtype.name})"
        )
    return selected(value, mask, name) if out is None else store(value, out, name, mask, casting)


def take(name: str, options: dict[str, Any]) -> tuple[Array | None, Array | None, str, DType | None]:
    """(out, mask, casting, dtype) of keyword options; TypeError for those that NumPy does not know."""
    out = as_out(options.pop("out", None), name)
    mask = as_mask(options.pop("where", True), name)
    casting = options.pop("casting", "same_kind")
    dtype = options.pop("dtype", None)
    for ignored in _IGNORED:
        options.pop(ignored, None)
    if options:
        raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(options))!r}")
    can_cast(bool_, bool_, casting)  # ValueError for an unknown rule
    return out, mask, casting, None if dtype is None else as_dtype(dtype)


def cast_operands(name: str, operands: tuple[Any, ...], dtype: DType, casting: str) -> tuple[Any, ...]:
    """Operands in the dtype to compute in; TypeError for those that the casting rule keeps out."""
    from .convert import from_host
    from .creation import astype, full

    cast = []
    for k, x in enumerate(operands):
        weak = _KIND.get(type(x))
        have = x if isinstance(x, Array) or weak else from_host(x, name)
        if weak:
            fits = (
                casting == "unsafe" or _RANK[weak] <= _RANK[dtype.kind] or (weak == "i" and dtype.kind == "u")
            )
        else:
            fits = can_cast(have.dtype, dtype, casting)
        if not fits:
            was = f"Python {type(x).__name__}" if weak else have.dtype.name
            raise TypeError(
                f"{name}: cannot cast operand {k} from {was} to {dtype.name} with casting rule {casting!r}"
            )
        cast.append(full((), have, dtype=dtype) if weak else astype(have, dtype, copy=False))
    return tuple(cast)


def delivered(name: str, value: Array, out: Any, options: dict[str, Any]) -> Array:
    """The value of a function with options of its own (clip, round), as `call` would hand it on."""
    from .creation import astype

    target, mask, casting, dtype = take(name, {**options, "out": out})
    if dtype is not None:
        if not can_cast(value.dtype, dtype, casting):
            raise TypeError(
                f"{name}: cannot cast from {value.dtype.name} to {dtype.name} with casting rule {casting!r}"
            )
        value = astype(value, dtype, copy=False)
    return selected(value, mask, name) if target is None else store(value, target, name, mask, casting)


def call_many(function: Any, operands: tuple[Any, ...], options: dict[str, Any]) -> tuple[Array, ...]:
    """As call, for a function of several results: out is a tuple of an Array or None for each."""
    name, nin, nout = function.name, function.nin, function.nout
    options = dict(options)
    outs = options.pop("out", None)
    operands, given = operands[:nin], operands[nin:]
    if given and outs is not None:
        raise TypeError(f"{name}: cannot specify out as both a positional and a keyword argument")
    if len(operands) != nin or len(given) > nout:
        raise TypeError(f"{name}() takes {nin} operands, {len(operands) + len(given)} were given")
    outs = (*given, *(None,) * (nout - len(given))) if outs is None else outs
    if not isinstance(outs, tuple) or len(outs) != nout:
        raise ValueError(f"{name}: out must be a tuple of {nout} entries, one for each result")
    _, mask, casting, dtype = take(name, options)
    if dtype is not None:
        operands = cast_operands(name, operands, dtype, casting)
    made = function.function(*operands)
    targets = [as_out(one, name) for one in outs]
    return tuple(
        selected(value, mask, name) if target is None else store(value, target, name, mask, casting)
        for value, target in zip(made, targets, strict=True)
    )
