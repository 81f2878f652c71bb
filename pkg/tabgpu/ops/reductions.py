"""Reductions over any set of axes: one row each. Sums are pairwise trees, so they keep the error of a tree.

What is made of them (mean of parts, variance, NaN forms) is in statistics.py and nan_functions.py.
"""

from __future__ import annotations

from typing import Any

from .. import engine
from ..array import Array, fresh, source
from ..dtypes import BY_KIND, DType, as_dtype, bool_, check_scalar, float32, int32
from ..graph import REDUCE, Op, ReduceFn
from ..layout import Shape, normalize_axes, permute
from . import elementwise as ew
from .convert import from_host
from .creation import astype, copy_of, full
from .rows import Row, unary
from .ufunc_arguments import as_mask, as_out, store_reduced, widened

_INF = 0x7F800000
_NAN = 0x7FC00000
_IDENTITY = {
    "sum": {"f": 0x80000000, "i": 0, "u": 0},  # -0, so that a sum of -0 stays -0
    "prod": {"f": 0x3F800000, "i": 1, "u": 1},
    "max": {"f": _INF | 0x80000000, "i": 0x80000000, "u": 0},
    "min": {"f": _INF, "i": 0x7FFFFFFF, "u": 0xFFFFFFFF},
    "fmax": {"f": _NAN, "i": 0x80000000, "u": 0},
    "fmin": {"f": _NAN, "i": 0x7FFFFFFF, "u": 0xFFFFFFFF},
    "and": {"i": 0xFFFFFFFF, "u": 0xFFFFFFFF},
    "or": {"i": 0, "u": 0},
    "xor": {"i": 0, "u": 0},
    "gcd": {"i": 0, "u": 0},
    "lcm": {"i": 1, "u": 1},
}
_COMBINE = {
    "sum": {"f": "x + y", "i": "x + y", "u": "x + y"},
    "prod": {"f": "x * y", "i": "x * y", "u": "x * y"},
    "max": {"f": "maximum_f32(x, y)", "i": "max(x, y)", "u": "max(x, y)"},
    "min": {"f": "minimum_f32(x, y)", "i": "min(x, y)", "u": "min(x, y)"},
    "fmax": {"f": "fmax_f32(x, y)", "i": "max(x, y)", "u": "max(x, y)"},
    "fmin": {"f": "fmin_f32(x, y)", "i": "min(x, y)", "u": "min(x, y)"},
    "and": {"i": "x & y", "u": "x & y"},
    "or": {"i": "x | y", "u": "x | y"},
    "xor": {"i": "x ^ y", "u": "x ^ y"},
    "gcd": {"i": "gcd_i32(x, y)", "u": "gcd_u32(x, y)"},
    "lcm": {"i": "lcm_i32(x, y)", "u": "lcm_u32(x, y)"},
}
TABLE: dict[tuple[str, str], ReduceFn] = {
    (name, kind): ReduceFn(name, kind, expr, _IDENTITY[name][kind], BY_KIND[kind])
    for name, row in _COMBINE.items()
    for kind, expr in row.items()
}
_PAIR: dict[str, Any] = {  # the same of two operands, for `initial`
    "sum": ew.add, "prod": ew.multiply, "max": ew.maximum, "min": ew.minimum, "fmax": ew.fmax, "fmin": ew.fmin,
    "and": ew.bitwise_and, "or": ew.bitwise_or, "xor": ew.bitwise_xor, "gcd": ew.gcd, "lcm": ew.lcm,
}  # fmt: skip
_NEUTRAL: dict[str, Any] = {"sum": 0, "prod": 1, "and": -1, "or": 0, "xor": 0, "gcd": 0, "lcm": 1}
_NO_IDENTITY = {"max": "maximum", "min": "minimum", "fmax": "maximum", "fmin": "minimum"}
_ARG = ReduceFn("argmax", "u", "", 0, int32, arg=True)

# Order-preserving u32 keys: NaN above all, -0 equal to +0.
KEY_MAX = unary("key_max", {"f": "rank_max_f32(x)", "i": "bitcast<u32>(x) ^ 0x80000000u", "u": "x"}, out="u",
                promote="int", like="", doc="A u32 that orders as x does, NaN greatest.")  # fmt: skip
KEY_MIN = unary("key_min", {"f": "rank_min_f32(x)", "i": "bitcast<u32>(x) ^ 0x7fffffffu", "u": "~x"}, out="u",
                promote="int", like="", doc="A u32 that orders against x, NaN greatest.")  # fmt: skip


def prepared(x: Any, where: str) -> Array:
    """An operand as an Array."""
    return x if isinstance(x, Array) else from_host(x, where)


def _launch(x: Array, axes: tuple[int, ...], keepdims: bool, fn: ReduceFn) -> Array:
    """One reduction over normalised axes (at least one). keepdims: the value itself has the size-1 axes, so that what
    follows in that shape joins the launch."""
    rank = x.ndim
    kept = [k for k in range(rank) if k not in axes]
    shape = reduced_shape(x.shape, axes, keepdims)
    op, seen = source(x)
    whole = seen or op.layout
    moved = permute(whole, [*kept, *axes])
    same = seen is None and moved == whole
    engine.weigh(x.size)
    return fresh(Op(REDUCE, fn, (op,), (None if same else moved,), shape, fn.dtype, len(kept)))


def axes_of(axis: Any, rank: int, label: str) -> tuple[int, ...]:
    """Normalised axes of a reduction. As NumPy: 0 and -1 mean none where there are none."""
    if not rank and type(axis) is int and axis in (0, -1):
        return ()
    return normalize_axes(axis, rank, label)


def reduced_shape(shape: Shape, axes: tuple[int, ...], keepdims: bool) -> Shape:
    """The shape after a reduction over normalised axes."""
    if keepdims:
        return tuple([1 if k in axes else n for k, n in enumerate(shape)])
    return tuple([n for k, n in enumerate(shape) if k not in axes])


def _zero(x: Array, axes: tuple[int, ...]) -> bool:
    return 0 in [x.shape[k] for k in axes]


def accumulated(
    name: str, x: Array, axes: tuple[int, ...], keepdims: bool, label: str, mask: Array | None = None,
    initial: Any = None,
) -> Array:  # fmt: skip
    """One of TABLE over normalised axes, in the 32-bit dtype it is computed in (float32 for a sum of float16).

    mask: what counts (None: all). initial: one more operand.
    """
    if x.dtype.kind == "c":
        from .complex_reductions import accumulated as of_complex

        return of_complex(name, x, axes, keepdims, label, mask, initial)
    if x.dtype is bool_:
        x = astype(x, int32)
    if mask is not None:
        x = ew.where(widened(mask, x.shape, label), x, neutral(name, x.dtype))
    fn = TABLE.get((name, x.dtype.kind))
    if fn is None:
        raise TypeError(f"{label}: not defined for {x.dtype.name}")
    if not axes:
        out = copy_of(astype(x, fn.dtype, copy=False))
    elif _zero(x, axes):
        shape = reduced_shape(x.shape, axes, keepdims)
        if initial is not None:
            return full(shape, initial, dtype=fn.dtype)
        if name in _NO_IDENTITY:
            raise ValueError(
                f"{label}: zero-size axis {axes if len(axes) > 1 else axes[0]} of shape {x.shape} "
                f"has no {_NO_IDENTITY[name]}"
            )
        return full(shape, neutral(name, fn.dtype), dtype=fn.dtype)
    else:
        out = _launch(x, axes, keepdims, fn)
    return out if initial is None else _PAIR[name](out, initial)


def neutral(name: str, dtype: DType) -> Any:
    """The number that changes nothing, as a Python scalar that fits the dtype."""
    if name not in _NO_IDENTITY:
        value = _NEUTRAL[name]
        if dtype.kind in "fc":
            return float(value)
        return (1 << 8 * dtype.itemsize) - 1 if value < 0 and dtype.kind == "u" else value
    lowest = name.endswith("max")
    if dtype.kind == "f":
        return float("nan") if name[0] == "f" else float("-inf" if lowest else "inf")
    bits = 8 * dtype.itemsize - (dtype.kind == "i")
    low = -(1 << bits) if dtype.kind == "i" else 0
    return low if lowest else (1 << bits) - 1


def start(initial: Any, dtype: DType, label: str) -> Any:
    """initial= as a Python scalar of the result's dtype, or a 0-d Array; None stays."""
    if initial is None:
        return None
    if not isinstance(initial, (Array, bool, int, float, complex)):
        if getattr(initial, "shape", None) != () or not hasattr(initial, "item"):
            raise ValueError(f"{label}: initial must be a scalar, not {type(initial).__name__}")
        initial = initial.item()  # a NumPy scalar
    if isinstance(initial, Array):
        if initial.shape:
            raise ValueError(f"{label}: initial must be a scalar, its shape is {initial.shape}")
        return astype(initial, BY_KIND.get(dtype.kind, dtype), copy=False)
    if dtype.kind in "iu":
        initial = int(initial)
        check_scalar(initial, dtype, label)
    elif dtype.kind == "f":
        initial = float(initial)
    return initial


def reduce(
    name: str, x: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Any, label: str
) -> Array:  # fmt: skip
    """A reduction of TABLE, or "any" and "all", with all the arguments that NumPy's have."""
    if name in ("any", "all"):
        return _truth(x, axis, out, keepdims, where, "max" if name == "any" else "min", label)
    x = prepared(x, label)
    target, mask = as_out(out, label), as_mask(where, label)
    if dtype is None and target is not None and target.dtype is not bool_ and target.dtype is not x.dtype:
        dtype = target.dtype  # as NumPy: what is computed in
    if dtype is not None:
        x = astype(x, as_dtype(dtype), copy=False)
    extremum = name in _NO_IDENTITY
    if mask is not None and initial is None and extremum:
        raise ValueError(f"{label}: a {_NO_IDENTITY[name]} has no identity: where needs initial")
    want = x.dtype
    if dtype is None and name in ("sum", "prod") and want.kind in "biu":
        want = BY_KIND["i" if want.kind == "b" else want.kind]
    axes = axes_of(axis, x.ndim, label)
    got = accumulated(name, x, axes, bool(keepdims), label, mask, start(initial, want, label))
    return store_reduced(astype(got, want, copy=False), target, label)


def reduce_after_first(
    function: Any, name: str, x: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Any
) -> Array:  # fmt: skip
    """x[0] - x[1] - x[2] .. along one axis: the function of the first element and a reduction of the others."""
    from .manipulation import expand_dims, moveaxis

    label = f"{function.name}.reduce"
    x = prepared(x, label)
    if dtype is not None:
        x = astype(x, as_dtype(dtype), copy=False)
    axes = axes_of(axis, x.ndim, label)
    if len(axes) > 1 or where is not True:
        raise ValueError(f"{label}: an operation without an identity takes one axis and no where")
    if axes:
        if not x.shape[axes[0]] and initial is None:
            raise ValueError(f"{label}: zero-size axis {axes[0]} of shape {x.shape}, and no identity")
        x = moveaxis(x, axes[0], 0)
    rest = x[1:] if axes and initial is None else x
    first = start(initial, x.dtype, label) if initial is not None else x[0] if axes else x
    got = function(first, reduce(name, rest, 0, x.dtype, None, False, None, True, label) if axes else 0)
    if keepdims and axes:
        got = expand_dims(got, axis=axes[0])
    return store_reduced(got, as_out(out, label), label)


def sum(  # NumPy's name
    x: Any, /, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> Array:  # fmt: skip
    """Sum over axes (None: all; a tuple: several; (): none). Empty: 0.

    Integers narrower than 32 bits and bools count as int32 or uint32, and wrap; float16 and bfloat16 are added in
    float32 and rounded once; complex64 stays. Float sums are pairwise. dtype: to convert to before. out: an array that
    takes the result (and whose dtype is computed in); initial: a number to add; where: bools that select what counts.
    """
    return reduce("sum", x, axis, dtype, out, keepdims, initial, where, "sum")


def prod(
    x: Any, /, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> Array:  # fmt: skip
    """Product over axes; dtypes and arguments as sum. Empty: 1."""
    return reduce("prod", x, axis, dtype, out, keepdims, initial, where, "prod")


def max(  # NumPy's name
    x: Any,
    /,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Greatest element over axes; NaN if there is one. ValueError over a zero-size axis, or with where, unless initial
    is given. Complex numbers have no order: TypeError."""
    return reduce("max", x, axis, None, out, keepdims, initial, where, "max")


def min(  # NumPy's name
    x: Any,
    /,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Least element over axes; NaN if there is one; otherwise as max."""
    return reduce("min", x, axis, None, out, keepdims, initial, where, "min")


amax, amin = max, min


def count_of(x: Array, axes: tuple[int, ...], keepdims: bool, mask: Array | None, label: str) -> Any:
    """How many elements a reduction takes: a Python int, or an int32 Array where a mask selects."""
    if mask is not None:
        flags = astype(widened(mask, x.shape, label), int32)
        return accumulated("sum", flags, axes, keepdims, label)
    count = 1
    for k in axes:
        count *= x.shape[k]
    return count


def real_dtype(x: Array) -> DType:
    """What means and deviations of x are given in: float32 for integers and bools."""
    return float32 if x.dtype.kind in "biu" else x.dtype


def mean(
    x: Any, /, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> Array:  # fmt: skip
    """Arithmetic mean over axes: float32 for integers and bools, else of x's dtype (computed in float32 at least).
    Empty: NaN. Arguments as sum."""
    x = prepared(x, "mean")
    target, mask = as_out(out, "mean"), as_mask(where, "mean")
    want = real_dtype(x) if dtype is None else as_dtype(dtype)
    axes = normalize_axes(axis, x.ndim, "mean")
    total = accumulated("sum", astype(x, want, copy=False), axes, keepdims, "mean", mask)
    count = count_of(x, axes, keepdims, mask, "mean")
    got = ew.divide(total, float(count) if isinstance(count, int) else astype(count, float32))
    return store_reduced(astype(got, want, copy=False), target, "mean")


def any(x: Any, /, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Array:
    """Whether some element is not zero (NaN counts, -0 does not), as bool. Empty: False."""
    return _truth(x, axis, out, keepdims, where, "max", "any")


def all(x: Any, /, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Array:
    """Whether every element is not zero, as bool. Empty: True."""
    return _truth(x, axis, out, keepdims, where, "min", "all")


def _truth(x: Any, axis: Any, out: Any, keepdims: bool, where: Any, name: str, label: str) -> Array:
    flags = astype(prepared(x, label), bool_, copy=False)
    target, mask = as_out(out, label), as_mask(where, label)
    axes = axes_of(axis, flags.ndim, label)
    if mask is not None:
        flags = ew.where(widened(mask, flags.shape, label), flags, name == "min")
    if not axes:
        got = copy_of(flags)
    elif _zero(flags, axes):
        got = full(reduced_shape(flags.shape, axes, keepdims), name == "min", dtype=bool_)
    else:
        got = astype(_launch(astype(flags, int32), axes, keepdims, TABLE[name, "i"]), bool_)
    return store_reduced(got, target, label)


def argmax(x: Any, /, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """int32 position of the greatest element along an axis (of the flattened array for None): the first of equals, the
    first NaN if there is one. ValueError for a zero-size axis; complex numbers raise TypeError."""
    return _arg(x, axis, out, keepdims, KEY_MAX, "argmax")


def argmin(x: Any, /, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """int32 position of the least element; otherwise as argmax."""
    return _arg(x, axis, out, keepdims, KEY_MIN, "argmin")


def _arg(x: Any, axis: Any, out: Any, keepdims: bool, key: Row, label: str) -> Array:
    x = prepared(x, label)
    target = as_out(out, label)
    if target is not None and target.dtype is not int32:
        raise TypeError(f"{label}: out must be int32, not {target.dtype.name}")
    axes = one_axis(x, axis, label)
    return store_reduced(position_of(key(x), axes, keepdims), target, label)


def one_axis(x: Array, axis: Any, label: str) -> tuple[int, ...]:
    """The axes of a search: one, or all of them for None; ValueError where there is nothing to find."""
    if isinstance(axis, (tuple, list)):
        raise TypeError(f"{label}: axis must be an integer or None, not {axis!r}")
    if x.dtype.kind == "c":
        raise TypeError(f"{label}: complex numbers have no order")
    axes = axes_of(axis, x.ndim, label)
    if _zero(x, axes):
        raise ValueError(f"{label}: attempt to get {label} of an empty sequence, shape {x.shape}")
    return axes


def position_of(keys: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """The int32 position of the greatest u32 key along axes."""
    if not axes or 0 in keys.shape:
        return full(reduced_shape(keys.shape, axes, keepdims), 0, dtype=int32)
    return _launch(keys, axes, keepdims, _ARG)


__all__ = ["all", "amax", "amin", "any", "argmax", "argmin", "max", "mean", "min", "prod", "sum"]
