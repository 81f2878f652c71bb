"""Words, integers, uniform and normal numbers of a key: the function of a position and a key, whatever computes it."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import as_dtype, bool_, bounds, float32, int32, uint32
from ..graph import Fn
from ..layout import as_shape
from ..ops import elementwise as ew
from ..ops.convert import from_host
from ..ops.creation import astype, full
from ..traced import isinstance_of_traced, plain
from .applying import FLOATS, M, apply, drawn, floating, parameter, random_words, shape_of
from .keys import check_key, wide

_INTEGER = Fn(
    "random_integer",
    "draw_integer(x, y, z, w)",
    (int32, *[uint32] * 3),
    uint32,
    "draw_integer4(x, y, z, w)",
)
_CHANCE = Fn("random_chance", "random_chance(x, y)", (uint32, float32), bool_)
_NORMAL = Fn(
    "random_normal", "philox_normal(x, y, z)", (int32, uint32, uint32), float32, "philox_normal4(x, y, z)"
)
_OPEN = Fn("random_open", "random_open_f32(x)", (uint32,), float32)
_UNIT = {n: Fn("random_unit", f"random_unit_{s}(x)", (uint32,), as_dtype(n)) for n, s in FLOATS.items()}
_BETWEEN = {
    n: Fn("random_between", f"random_between_{s}(x, y, z)", (uint32, as_dtype(n), as_dtype(n)), as_dtype(n))
    for n, s in FLOATS.items()
}


def bits(key: Any, shape: Any = (), dtype: Any = uint32) -> Array:
    """Random bits: uint32, or the lower bits of such as uint16, uint8 (or their signed kin). The same everywhere.

    The word at row-major position i is word i % 4 of Philox4x32-10 with the counter (i // 4, 0, 0, 0).
    """
    check_key(key, "bits")
    want = as_dtype(dtype)
    if want.kind not in "iu":
        raise TypeError(f"bits: an integer dtype is needed, not {want.name}")
    return astype(random_words(key, as_shape(shape, "bits"), None, "bits"), want, copy=False)


def uniform(key: Any, shape: Any = (), dtype: Any = float32, low: Any = 0.0, high: Any = 1.0) -> Array:
    """Uniform floats in [low, high), the same bits everywhere. low and high may be arrays; shape None: theirs.

    [0, 1) in steps of 2**-24 (float16: 2**-11, bfloat16: 2**-8); otherwise low + u * (high - low), never high.
    high below low counts down from low. OverflowError where high - low is not finite: at the read for GPU arrays.
    """
    return uniform_from(key, shape, dtype, low, high, None, "uniform")


def uniform_from(
    key: Any, shape: Any, dtype: Any, low: Any, high: Any, start: int | None, where: str
) -> Array:
    check_key(key, where)
    want = floating(dtype, where)
    guards = _bounded(low, high, where)
    low, high = parameter(low, where, want), parameter(high, where, want)
    dims = shape_of(shape, where, low, high)
    drawn_words = random_words(key, dims, start, where)
    if 0 in dims:
        return full(dims, 0, dtype=want)
    simple = type(low) in (int, float) and type(high) in (int, float)
    if simple and low == 0 and high == 1:
        return apply(_UNIT[want.name], dims, drawn_words)
    made = apply(_BETWEEN[want.name], dims, drawn_words, low, high)
    made._cell.op.guards += guards
    return made


def _bounded(low: Any, high: Any, where: str) -> tuple[Any, ...]:
    """OverflowError where the host knows that high - low is not finite; Guards where the device does."""
    text = f"{where}: the distance from low to high is beyond float32"
    if isinstance(low, Array) or isinstance(high, Array):
        from ..ops.guards import guard

        first, last = parameter(low, where, float32), parameter(high, where, float32)
        lost = ew.logical_not(ew.isfinite(ew.subtract(last, first)))
        return (guard(astype(lost, uint32), lambda _: OverflowError(text)),)
    if isinstance_of_traced(low) or isinstance_of_traced(high):
        return ()
    if type(low) in (int, float) and type(high) in (int, float):
        near = abs(float(high) - float(low)) < 3.4e38
        text = f"{where}: the distance from {low} to {high} is beyond float32"
    else:
        import numpy as np

        with np.errstate(all="ignore"):
            near = (abs(np.subtract(high, low, dtype=float)) < 3.4e38).all()
    if not near:
        raise OverflowError(text)
    return ()


def open_unit(key: Any, shape: tuple[int, ...]) -> Array:
    """Uniform float32 of (0, 1), without both ends, for what takes their logarithm."""
    return apply(_OPEN, shape, random_words(key, shape, None, "open_unit"))


def normal(key: Any, shape: Any = (), dtype: Any = float32, mean: Any = 0.0, std: Any = 1.0) -> Array:
    """Normal floats z, two of each pair of random words (Box & Muller), within 8 ULP; then mean + std * z.

    mean and std may be arrays; shape None: theirs. |z| is at most 6.67. ValueError for std < 0: at the read for one on
    the GPU.
    """
    if type(std) in (int, float) or isinstance_of_traced(std):
        return normal_from(key, shape, dtype, mean, std, None, "normal")
    from .parameters import Parameters

    given = Parameters("normal")
    std = given.take("std", std, "not negative")
    return given.put(normal_from(key, shape, dtype, mean, std, None, "normal"))


def normal_from(
    key: Any, shape: Any, dtype: Any, mean: Any, std: Any, start: int | None, where: str
) -> Array:
    check_key(key, where)
    want = floating(dtype, where)
    if type(std) in (int, float) and not std >= 0:
        raise ValueError(f"{where}: the standard deviation must not be negative: {std}")
    mean, std = parameter(mean, where, float32), parameter(std, where, float32)
    dims = shape_of(shape, where, mean, std)
    if 0 in dims:
        return full(dims, 0, dtype=want)
    out = drawn(_NORMAL, key, dims, start, where)
    if not (type(std) in (int, float) and std == 1):
        out = ew.multiply(out, std)
    if not (type(mean) in (int, float) and mean == 0):
        out = ew.add(out, mean)
    return astype(out, want, copy=False)


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None) -> Array:
    """True with probability p (a number, or an array of float32): never for 0, always for 1. shape None: p's.

    ValueError for one outside [0, 1], at the read for one on the GPU.
    """
    if type(p) in (int, float) or isinstance_of_traced(p):
        if not isinstance_of_traced(p) and not 0 <= p <= 1:
            raise ValueError(f"bernoulli: a probability is from 0 to 1, not {p}")
        return _chance(key, p, shape)
    from .parameters import Parameters

    given = Parameters("bernoulli")
    return given.put(_chance(key, given.take("p", p, "from 0 to 1"), shape))


def _chance(key: Any, p: Any, shape: Any) -> Array:
    dims = shape_of(shape, "bernoulli", p)
    if 0 in dims:
        return full(dims, False, dtype=bool_)
    return apply(_CHANCE, dims, random_words(key, dims, None, "bernoulli"), p)


def integers(
    key: Any, low: Any, high: Any = None, shape: Any = None, dtype: Any = int32, endpoint: bool = False
) -> Array:
    """Integers from low to below high (or to it: endpoint), all equally likely, the same everywhere.

    high None: from 0 to below low. Bounds are integers, or arrays of such that broadcast; shape None: theirs.
    ValueError where high does not exceed low or a bound does not fit the dtype.
    """
    return integers_from(key, low, high, shape, dtype, endpoint, None, "integers")


def integers_from(
    key: Any, low: Any, high: Any, shape: Any, dtype: Any, endpoint: bool, start: int | None, where: str
) -> Array:
    check_key(key, where)
    want = as_dtype(dtype)
    if want.kind not in "iub":
        raise TypeError(f"{where}: an integer dtype is needed, not {want.name}")
    if high is None:
        low, high = 0, low
    least, most = (0, 1) if want.kind == "b" else bounds(want)
    for x in (low, high):
        if isinstance(x, Array) and x.dtype.kind not in "iu":
            raise TypeError(f"{where}: bounds are integers, not {x.dtype.name}")
    if isinstance(low, Array) or isinstance(high, Array):
        low, high = [from_host(plain(x), where) for x in (low, high)]
        last = high if endpoint else ew.subtract(high, 1)
        span = ew.add(ew.subtract(wide(last), wide(low)), 1)
        base, guard = low, _bounds_guard(low, high, last, endpoint, least, most, where)
    else:
        low, last, span = _host_bounds(plain(low), plain(high), endpoint, least, most, where)
        base, guard = low, None
    dims = shape_of(shape, where, *[x for x in (low, span) if isinstance(x, Array)])
    if 0 in dims:
        return full(dims, 0, dtype=want)
    out = drawn(_INTEGER, key, dims, start, where, span)
    out = astype(ew.add(out, wide(base) if isinstance(base, Array) else base & M), want, copy=False)
    if guard is not None:
        out._cell.op.guards = (guard,)
    return out


def _host_bounds(
    low: Any, high: Any, endpoint: bool, least: int, most: int, where: str
) -> tuple[Any, Any, Any]:
    """low, the last value and how many there are: numbers for numbers, else uint32 Arrays."""
    if isinstance(low, int) and isinstance(high, int):
        last = high if endpoint else high - 1
        if last < low:
            raise ValueError(
                f"{where}: there is no integer from {low} to {'' if endpoint else 'below '}{high}"
            )
        if low < least or last > most:
            raise ValueError(
                f"{where}: {low} to {last} does not fit the dtype, whose values are {least} to {most}"
            )
        return low, last, (last - low + 1) & M
    import numpy as np

    for x in (np.asarray(low), np.asarray(high)):
        if x.dtype.kind not in "iub":
            raise TypeError(f"{where}: bounds are integers, not {x.dtype}")
    first, final = np.broadcast_arrays(np.asarray(low, object), np.asarray(high, object) - (not endpoint))
    if first.size and (final < first).any():
        raise ValueError(f"{where}: some high does not exceed its low")
    if first.size and ((first < least).any() or (final > most).any()):
        raise ValueError(f"{where}: a bound does not fit the dtype, whose values are {least} to {most}")
    first, final = np.asarray(first, np.int64), np.asarray(final, np.int64)  # they fit now
    made = [from_host(x.astype(np.uint32), where) for x in (first, final, final - first + 1)]
    return made[0], made[1], made[2]


def _bounds_guard(
    low: Array, high: Array, last: Array, endpoint: bool, least: int, most: int, where: str
) -> Any:
    """ValueError at the read for bounds in the wrong order, or beyond the dtype."""
    from ..ops.guards import guard

    def describe(word: int) -> Exception:
        if word == 1:
            return ValueError(f"{where}: a bound does not fit the dtype, whose values are {least} to {most}")
        return ValueError(f"{where}: some high does not exceed its low")

    order = (ew.less if endpoint else ew.less_equal)(high, low)
    beyond = ew.logical_or(ew.less(low, least), ew.greater(last, most))
    return guard(astype(ew.where(order, 2, astype(beyond, int32)), uint32), describe)
