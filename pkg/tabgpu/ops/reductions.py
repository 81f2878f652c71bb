"""Reductions over any set of axes: one row each. Sums are pairwise trees, so they keep the error of a tree."""

from __future__ import annotations

from typing import Any

from .. import engine
from ..array import Array, fresh, source
from ..dtypes import BY_KIND, as_dtype, bool_, float32, int32
from ..graph import REDUCE, Op, ReduceFn
from ..layout import normalize_axes, permute
from . import elementwise as ew
from .convert import from_host
from .creation import astype, copy_of, full
from .rows import Row, unary

_INF = 0x7F800000
_IDENTITY = {
    "sum": {"f": 0x80000000, "i": 0, "u": 0},  # -0, so that a sum of -0 stays -0
    "prod": {"f": 0x3F800000, "i": 1, "u": 1},
    "max": {"f": _INF | 0x80000000, "i": 0x80000000, "u": 0},
    "min": {"f": _INF, "i": 0x7FFFFFFF, "u": 0xFFFFFFFF},
}
_COMBINE = {
    "sum": {"f": "x + y", "i": "x + y", "u": "x + y"},
    "prod": {"f": "x * y", "i": "x * y", "u": "x * y"},
    "max": {"f": "maximum_f32(x, y)", "i": "max(x, y)", "u": "max(x, y)"},
    "min": {"f": "minimum_f32(x, y)", "i": "min(x, y)", "u": "min(x, y)"},
}
TABLE: dict[tuple[str, str], ReduceFn] = {
    (name, kind): ReduceFn(name, kind, expr, _IDENTITY[name][kind], BY_KIND[kind])
    for name, row in _COMBINE.items()
    for kind, expr in row.items()
}
_ARG = ReduceFn("argmax", "u", "", 0, int32, arg=True)

# Order-preserving u32 keys: NaN above all, -0 equal to +0.
_KEY_MAX = unary("key_max", {"f": "key_max_f32(x)", "i": "bitcast<u32>(x) ^ 0x80000000u", "u": "x"}, out="u",
                 promote="int", like="", doc="A u32 that orders as x does, NaN greatest.")  # fmt: skip
_KEY_MIN = unary("key_min", {"f": "key_min_f32(x)", "i": "bitcast<u32>(x) ^ 0x7fffffffu", "u": "~x"}, out="u",
                 promote="int", like="", doc="A u32 that orders against x, NaN greatest.")  # fmt: skip


def _prepare(x: Any, where: str) -> Array:
    return x if isinstance(x, Array) else from_host(x, where)


def _reduce(x: Array, axes: tuple[int, ...], keepdims: bool, fn: ReduceFn) -> Array:
    """One reduction over normalised axes (at least one). keepdims: the value itself has the size-1 axes, so that what
    follows in that shape joins the launch."""
    rank = x.ndim
    kept = [k for k in range(rank) if k not in axes]
    shape = _reduced(x.shape, axes, keepdims)
    op, seen = source(x)
    whole = seen or op.layout
    moved = permute(whole, [*kept, *axes])
    same = seen is None and moved == whole
    engine.weigh(x.size)
    return fresh(Op(REDUCE, fn, (op,), (None if same else moved,), shape, fn.dtype, len(kept)))


def _reduced(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    """The shape after a reduction over normalised axes."""
    if keepdims:
        return tuple([1 if k in axes else n for k, n in enumerate(shape)])
    return tuple([n for k, n in enumerate(shape) if k not in axes])


def _numeric(x: Array) -> Array:
    """bool as int32."""
    return astype(x, int32) if x.dtype is bool_ else x


def _finish(x: Array, axis: Any, keepdims: bool, name: str, dtype: Any, where: str) -> Array:
    if dtype is not None:
        x = astype(x, as_dtype(dtype), copy=False)
    x = _numeric(x)
    axes = normalize_axes(axis, x.ndim, where)
    if not axes:
        return copy_of(x)
    if _zero(x, axes):
        return _empty_axis(x, axes, keepdims, name, where)
    return _reduce(x, axes, keepdims, TABLE[name, x.dtype.kind])


def _empty_axis(x: Array, axes: tuple[int, ...], keepdims: bool, name: str, where: str) -> Array:
    """Reducing nothing: the identity where there is one, as NumPy."""
    if name in ("max", "min"):
        raise ValueError(
            f"{where}: zero-size axis {axes if len(axes) > 1 else axes[0]} of shape {x.shape} has no {name}imum"
        )
    return full(_reduced(x.shape, axes, keepdims), 1 if name == "prod" else 0, dtype=x.dtype)


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:  # NumPy's name
    """Sum over axes (all by default). float32 sums are pairwise; integers wrap; bool counts as int32. Empty: 0."""
    return _finish(_prepare(x, "sum"), axis, keepdims, "sum", dtype, "sum")


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Product over axes (all by default). Integers wrap; bool counts as int32. Empty: 1."""
    return _finish(_prepare(x, "prod"), axis, keepdims, "prod", dtype, "prod")


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Array:  # NumPy's name
    """Greatest element over axes; NaN if there is one. ValueError over a zero-size axis."""
    x = _prepare(x, "max")
    out = _finish(x, axis, keepdims, "max", None, "max")
    return astype(out, bool_) if x.dtype is bool_ else out


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Array:  # NumPy's name
    """Least element over axes; NaN if there is one. ValueError over a zero-size axis."""
    x = _prepare(x, "min")
    out = _finish(x, axis, keepdims, "min", None, "min")
    return astype(out, bool_) if x.dtype is bool_ else out


amax, amin = max, min


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Arithmetic mean over axes, float32; integers are converted first. Empty: NaN."""
    x = astype(_prepare(x, "mean"), float32, copy=False)
    count = 1
    for k in normalize_axes(axis, x.ndim, "mean"):
        count *= x.shape[k]
    return ew.divide(_finish(x, axis, keepdims, "sum", None, "mean"), float(count))


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Array:  # NumPy's name
    """Whether some element is not zero (NaN counts, -0 does not). Empty: False."""
    return _truth(x, axis, keepdims, "max", "any")


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Array:  # NumPy's name
    """Whether every element is not zero. Empty: True."""
    return _truth(x, axis, keepdims, "min", "all")


def _truth(x: Any, axis: Any, keepdims: bool, name: str, where: str) -> Array:
    flags = astype(_prepare(x, where), bool_, copy=False)
    axes = normalize_axes(axis, flags.ndim, where)
    if not axes:
        return copy_of(flags)
    if _zero(flags, axes):
        return full(_reduced(flags.shape, axes, keepdims), name == "min", dtype=bool_)
    return astype(_reduce(astype(flags, int32), axes, keepdims, TABLE[name, "i"]), bool_)


def _zero(x: Array, axes: tuple[int, ...]) -> bool:
    return 0 in [x.shape[k] for k in axes]


def argmax(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """int32 position of the greatest element along an axis (of the flattened array for None): the first of equals, the
    first NaN if there is one. ValueError for a zero-size axis."""
    return _arg(x, axis, keepdims, _KEY_MAX, "argmax")


def argmin(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """int32 position of the least element; otherwise as argmax."""
    return _arg(x, axis, keepdims, _KEY_MIN, "argmin")


def _arg(x: Any, axis: Any, keepdims: bool, key: Row, where: str) -> Array:
    x = _prepare(x, where)
    if isinstance(axis, (tuple, list)):
        raise TypeError(f"{where}: axis must be an integer or None, not {axis!r}")
    axes = normalize_axes(axis, x.ndim, where)
    if _zero(x, axes):
        raise ValueError(f"{where}: attempt to get {where} of an empty sequence, shape {x.shape}")
    if not axes or 0 in x.shape:
        return full(_reduced(x.shape, axes, keepdims), 0, dtype=int32)
    return _reduce(key(x), axes, keepdims, _ARG)


__all__ = ["all", "amax", "amin", "any", "argmax", "argmin", "max", "mean", "min", "prod", "sum"]
