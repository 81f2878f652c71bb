"""Elementwise functions of positions, words and parameters: what all of tg.random is made of."""

from __future__ import annotations

import math
import re
from functools import cache
from typing import Any

from ..array import Array, fresh, source, view
from ..dtypes import DType, as_dtype, int32, uint32
from ..graph import EW, Fn, Op
from ..layout import as_shape, broadcast_shapes, broadcast_to
from ..layout import reshape as reshaped
from ..ops import elementwise as ew
from ..ops.convert import from_host
from ..ops.creation import astype, positions
from ..ops.indexing import setitem
from ..ops.rows import _scalar
from ..traced import isinstance_of_traced

M = 0xFFFFFFFF
NAMES = ("x", "y", "z", "w", "x_4", "x_5", "x_6", "x_7")
_WORD = Fn("philox_word", "philox_word(x, y, z)", (int32, uint32, uint32), uint32, "philox_word4(x, y, z)")
_OURS = re.compile(r"\b((?:philox|draw)_\w+)\(")
FLOATS = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}


def function(name: str, kinds: str, dtype: DType, four: bool = False) -> Fn:
    """The Fn of a WGSL function, whose operands are floats f, integers i and words u; NAME4 takes four."""
    from ..dtypes import BY_KIND

    given = ", ".join(NAMES[: len(kinds)])
    return Fn(
        name,
        f"{name}({given})",
        tuple([BY_KIND[k] for k in kinds]),
        dtype,
        f"{name}4({given})" if four else "",
    )


@cache
def threefry(fn: Fn) -> Fn:
    """The same function of Threefry's words (kernels/threefry_functions.py)."""
    expr, four = [_OURS.sub(r"\1_threefry(", text) for text in (fn.expr, fn.four)]
    return Fn(f"{fn.name}_threefry", expr, fn.operands, fn.dtype, four)


def apply(fn: Fn, shape: tuple[int, ...], *operands: Any) -> Array:
    """An elementwise function over a shape; operands are Arrays, which broadcast, or Python numbers."""
    args: list[Any] = []
    views = []
    for x, dtype in zip(operands, fn.operands, strict=True):
        if isinstance(x, Array):
            op, seen = source(x)
            args.append(op)
            lay = seen or op.layout
            views.append(seen if lay.shape == shape else broadcast_to(lay, shape, fn.name))
        else:
            args.append(_scalar(x, dtype, fn.name))
            views.append(None)
    return fresh(Op(EW, fn, tuple(args), tuple(views), shape, fn.dtype))


def counter(shape: tuple[int, ...], start: int | None) -> Array:
    """int32 (bits of a u32) start, start + 1, .. in a shape; None is 0 for good, in a shorter kernel."""
    line = positions(math.prod(shape))
    lay = reshaped(line._layout, shape)
    assert lay is not None, "a line takes any shape"
    grid = view(line, lay)
    return grid if start is None else ew.add(grid, start - (1 << 32) * (start >> 31))


def drawn(fn: Fn, key: Any, shape: tuple[int, ...], start: int | None, where: str, *parameters: Any) -> Array:
    """fn(position, key, parameters) over a shape that is not empty."""
    from .keys import ThreefryKey, words_of

    if isinstance(key, ThreefryKey):
        fn = threefry(fn)
    return apply(fn, shape, counter(shape, start), *words_of(key, where), *parameters)


def random_words(key: Any, shape: tuple[int, ...], start: int | None, where: str) -> Array:
    """uint32 words of the positions from start on."""
    if 0 in shape:
        from ..ops.creation import full

        return full(shape, 0, dtype=uint32)
    return drawn(_WORD, key, shape, start, where)


def floating(dtype: Any, where: str) -> DType:
    want = as_dtype(dtype)
    if want.name not in FLOATS:
        raise TypeError(f"{where}: float32, float16 or bfloat16 is needed, not {want.name}")
    return want


def shape_of(shape: Any, where: str, *given: Any) -> tuple[int, ...]:
    """A shape, or (None) that of the parameters together, to which they have to broadcast anyway."""
    own = broadcast_shapes(
        (), *[x.shape for x in given if not isinstance_of_traced(x) and hasattr(x, "shape")], where=where
    )
    if shape is None:
        return own
    want = as_shape(shape, where)
    if broadcast_shapes(want, own, where=where) != want:
        raise ValueError(f"{where}: parameters of shape {own} do not broadcast to the shape {want}")
    return want


def whole(x: Any) -> bool:
    """Whether x is one integer of the host."""
    return hasattr(x, "__index__") and not isinstance(x, Array) and getattr(x, "shape", ()) == ()


def parameter(x: Any, where: str, dtype: Any = None) -> Any:
    """A distribution's parameter: a Python number as it is, anything else an Array of a dtype."""
    if type(x) in (int, float) or isinstance_of_traced(x):
        return x
    got = from_host(x, where)
    return got if dtype is None else astype(got, dtype, copy=False)


def host_array(x: Any) -> Any:
    """What is neither a number, None nor an Array as NumPy has it."""
    if x is None or isinstance(x, (int, Array)) or type(x) is float or isinstance_of_traced(x):
        return x
    import numpy as np

    return np.asarray(x)


def sized(size: Any, out: Array | None, where: str) -> Any:
    """The size that out= says, where size does not."""
    if out is None:
        return size
    if size is not None and shape_of(size, where) != out.shape:
        raise ValueError(f"{where}: out has shape {out.shape}, size is {size}")
    return out.shape


def into(out: Array | None, made: Array) -> Array:
    """made, or out with made in it."""
    if out is None:
        return made
    if not isinstance(out, Array):
        raise TypeError(f"out: an Array of tabgpu is needed, not {type(out).__name__}")
    if out.dtype is not made.dtype:
        raise TypeError(f"out: it has dtype {out.dtype.name}, the result {made.dtype.name}")
    setitem(out, ..., made)
    return out
