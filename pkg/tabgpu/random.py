"""Random numbers from counters: a key and a position give a word (Philox4x32-10), whatever launch computes it.

Functions take a key and keep no state: the same key gives the same values on every adapter and host, so a program makes
as many keys as it needs (`split`, `fold_in`). `default_rng` is NumPy's Generator on top: a key and a position that goes
on. Values are made inside the kernel that uses them; a new seed compiles nothing. A function under tg.jit takes a seed
or a step as a number, or a key as an array (`tg.asarray(key, dtype="uint32")`): a Key itself would be traced anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index as as_index
from typing import Any, NamedTuple

from .array import Array, fresh, source, view
from .dtypes import DType, as_dtype, bool_, bounds, float32, int32, uint32
from .graph import EW, Fn, Op
from .layout import as_shape, broadcast_shapes, broadcast_to
from .layout import reshape as reshaped
from .ops import elementwise as ew
from .ops.convert import from_host
from .ops.creation import astype, full, positions
from .ops.rows import _scalar
from .traced import isinstance_of_traced, plain

__all__ = [
    "Generator", "Key", "bernoulli", "bits", "default_rng", "fold_in", "integers", "key", "normal", "split",
    "uniform",
]  # fmt: skip

_M = 0xFFFFFFFF
_WORD = Fn("philox_word", "philox_word(x, y, z)", (int32, uint32, uint32), uint32, "philox_word4(x, y, z)")
_KEY = Fn("philox_key", "philox_key_word(x, y, z, w)", (uint32,) * 4, uint32)
_INTEGER = Fn(
    "random_integer",
    "draw_integer(x, y, z, w)",
    (int32, *[uint32] * 3),
    uint32,
    "draw_integer4(x, y, z, w)",
)
_CHANCE = Fn("random_chance", "random_chance(x, y)", (uint32, float32), bool_)
_NORMAL = Fn("random_normal", "random_normal(x)", (uint32,), float32)
_OPEN = Fn("random_open", "random_open_f32(x)", (uint32,), float32)
_SUFFIX = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
_UNIT = {n: Fn("random_unit", f"random_unit_{s}(x)", (uint32,), as_dtype(n)) for n, s in _SUFFIX.items()}
_BETWEEN = {
    n: Fn("random_between", f"random_between_{s}(x, y, z)", (uint32, as_dtype(n), as_dtype(n)), as_dtype(n))
    for n, s in _SUFFIX.items()
}


class Key(NamedTuple):
    """What a stream of random numbers starts from: 64 bits, as two words."""

    k0: int
    k1: int


def philox4x32(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """A block of Philox4x32-10 on the host: four words."""
    a, b, c, d = counter
    k0, k1 = key
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ k0, q & _M, (p >> 32) ^ d ^ k1, p & _M
        k0, k1 = (k0 + 0x9E3779B9) & _M, (k1 + 0xBB67AE85) & _M
    return a, b, c, d


def _host(function: Callable[..., Any], *numbers: Any) -> Any:
    """function(*numbers); while a function is traced, its open numbers stay open."""
    for x in numbers:
        if isinstance_of_traced(x):
            return x._scalars.derive(function, *numbers)
    return function(*numbers)


def _key_word(k0: int, k1: int, i: int, stream: int, which: int) -> int:
    """Word 0 or 1 of a block that no values are made of: stream 1 splits, 2 folds in."""
    return philox4x32((i & _M, (i >> 32) & _M, 0, stream), (k0, k1))[which]


def _lower(number: int) -> int:
    return number & _M


def _seed_word(seed: int, which: int) -> int:
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"key: a seed is an integer from 0 to 2**64 - 1, not {seed}")
    return (seed >> 32 * which) & _M


def key(seed: int) -> Key:
    """The key of a seed: an integer from 0 to 2**64 - 1. ValueError beyond, TypeError for what is no integer."""
    if not isinstance_of_traced(seed):
        seed = as_index(seed)
    return Key(_host(_seed_word, seed, 0), _host(_seed_word, seed, 1))


def _words(key: Any, where: str) -> tuple[Any, Any]:
    """The two words of a key: Python integers, or 0-d uint32 Arrays."""
    if isinstance(key, Array):
        if key.dtype is not uint32 or key.shape != (2,):
            raise TypeError(
                f"{where}: a key on the GPU is a uint32 array of shape (2,), not {key.dtype.name} {key.shape}"
            )
        return key[0], key[1]
    if isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, int) for k in key):
        return key
    raise TypeError(f"{where}: the first argument is a key (tg.random.key(seed)), not {type(key).__name__}")


def _apply(fn: Fn, shape: tuple[int, ...], *operands: Any) -> Array:
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


def split(key: Any, num: int = 2) -> Any:
    """num new keys, independent of each other and of what the old one gives (use that one for nothing else).

    A tuple of Keys; for a key on the GPU a uint32 array of shape (num, 2).
    """
    k0, k1 = _words(key, "split")
    num = as_index(num)
    if num < 0:
        raise ValueError(f"split: the number of keys must not be negative: {num}")
    if not isinstance(key, Array):
        return tuple([Key(*[_host(_key_word, k0, k1, i, 1, which) for which in (0, 1)]) for i in range(num)])
    rows = astype(positions(num), uint32)
    return _apply(_KEY, (num, 2), rows[:, None], k0, k1, astype(positions(2), uint32))


def fold_in(key: Any, data: Any) -> Any:
    """A new key from a key and an integer, such as a step or a layer: 64 bits of it count on the host, 32 on the GPU.

    data may be a 0-d integer Array; then, or for a key on the GPU, the result is a uint32 array of shape (2,).
    """
    k0, k1 = _words(key, "fold_in")
    if isinstance(data, Array):
        if data.ndim or data.dtype.kind not in "iu":
            raise TypeError(f"fold_in: data is one integer, not {data.dtype.name} of shape {data.shape}")
        data = _wide(data)
    elif not isinstance_of_traced(data):
        data = as_index(data)
    if isinstance(key, Array) or isinstance(data, Array):
        data = data if isinstance(data, Array) else _host(_lower, data)
        return _apply(_KEY, (2,), data, k0, k1, astype(ew.add(positions(2), 2), uint32))
    return Key(*[_host(_key_word, k0, k1, data, 2, which) for which in (0, 1)])


def _counter(shape: tuple[int, ...], start: int | None) -> Array:
    """int32 (bits of a u32) start, start + 1, .. in a shape; None is 0 for good, in a shorter kernel."""
    line = positions(math.prod(shape))
    lay = reshaped(line._layout, shape)
    assert lay is not None, "a line takes any shape"
    grid = view(line, lay)
    return grid if start is None else ew.add(grid, start - (1 << 32) * (start >> 31))


def _bits(key: Any, shape: tuple[int, ...], start: int | None, where: str) -> Array:
    if 0 in shape:
        return full(shape, 0, dtype=uint32)
    return _apply(_WORD, shape, _counter(shape, start), *_words(key, where))


def bits(key: Any, shape: Any = (), dtype: Any = uint32) -> Array:
    """Random bits: uint32, or the lower bits of such as uint16, uint8 (or their signed kin). The same everywhere.

    The word at row-major position i is word i % 4 of Philox4x32-10 with the counter (i // 4, 0, 0, 0).
    """
    want = as_dtype(dtype)
    if want.kind not in "iu":
        raise TypeError(f"bits: an integer dtype is needed, not {want.name}")
    return astype(_bits(key, as_shape(shape, "bits"), None, "bits"), want, copy=False)


def _floating(dtype: Any, where: str) -> DType:
    want = as_dtype(dtype)
    if want.name not in _SUFFIX:
        raise TypeError(f"{where}: float32, float16 or bfloat16 is needed, not {want.name}")
    return want


def _shape(shape: Any, where: str, *given: Any) -> tuple[int, ...]:
    """A shape, or (None) that of the parameters together, to which they have to broadcast anyway."""
    own = broadcast_shapes((), *[x.shape for x in given if isinstance(x, Array)], where=where)
    if shape is None:
        return own
    want = as_shape(shape, where)
    if broadcast_shapes(want, own, where=where) != want:
        raise ValueError(f"{where}: parameters of shape {own} do not broadcast to the shape {want}")
    return want


def _parameter(x: Any, where: str, dtype: Any = None) -> Any:
    """A distribution's parameter: a Python number as it is, anything else an Array of a dtype."""
    if type(x) in (int, float) or isinstance_of_traced(x):
        return x
    got = from_host(x, where)
    return got if dtype is None else astype(got, dtype, copy=False)


def uniform(key: Any, shape: Any = (), dtype: Any = float32, low: Any = 0.0, high: Any = 1.0) -> Array:
    """Uniform floats in [low, high), the same bits everywhere. low and high may be arrays; shape None: theirs.

    [0, 1) in steps of 2**-24 (float16: 2**-11, bfloat16: 2**-8); otherwise low + u * (high - low), never high.
    high below low counts down from low. OverflowError where high - low does.
    """
    return _uniform(key, shape, dtype, low, high, None, "uniform")


def _uniform(key: Any, shape: Any, dtype: Any, low: Any, high: Any, start: int | None, where: str) -> Array:
    want = _floating(dtype, where)
    low, high = _parameter(low, where, want), _parameter(high, where, want)
    dims = _shape(shape, where, low, high)
    words = _bits(key, dims, start, where)
    if 0 in dims:
        return full(dims, 0, dtype=want)
    simple = type(low) in (int, float) and type(high) in (int, float)
    if simple and low == 0 and high == 1:
        return _apply(_UNIT[want.name], dims, words)
    if simple and not abs(float(high) - float(low)) < 3.4e38:
        raise OverflowError(f"{where}: the distance from {low} to {high} is beyond float32")
    return _apply(_BETWEEN[want.name], dims, words, low, high)


def open_unit(key: Any, shape: tuple[int, ...]) -> Array:
    """Uniform float32 of (0, 1), without both ends, for what takes their logarithm."""
    return _apply(_OPEN, shape, _bits(key, shape, None, "open_unit"))


def normal(key: Any, shape: Any = (), dtype: Any = float32, mean: Any = 0.0, std: Any = 1.0) -> Array:
    """Normal floats: the quantile of (w + 1/2) / 2**32 for each random word w, within 8 ULP; then mean + std * z.

    mean and std may be arrays; shape None: theirs. The values reach from -6.34 to 6.34. ValueError for std < 0.
    """
    return _normal(key, shape, dtype, mean, std, None, "normal")


def _normal(key: Any, shape: Any, dtype: Any, mean: Any, std: Any, start: int | None, where: str) -> Array:
    want = _floating(dtype, where)
    if type(std) in (int, float) and not std >= 0:
        raise ValueError(f"{where}: the standard deviation must not be negative: {std}")
    mean, std = _parameter(mean, where, float32), _parameter(std, where, float32)
    dims = _shape(shape, where, mean, std)
    if 0 in dims:
        return full(dims, 0, dtype=want)
    out = _apply(_NORMAL, dims, _bits(key, dims, start, where))
    if not (type(std) in (int, float) and std == 1):
        out = ew.multiply(out, std)
    if not (type(mean) in (int, float) and mean == 0):
        out = ew.add(out, mean)
    return astype(out, want, copy=False)


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None) -> Array:
    """True with probability p (a number, or an array of float32): never for 0, always for 1. shape None: p's.

    ValueError for a number outside [0, 1].
    """
    if type(p) in (int, float) and not 0 <= p <= 1:
        raise ValueError(f"bernoulli: a probability is from 0 to 1, not {p}")
    p = _parameter(p, "bernoulli", float32)
    dims = _shape(shape, "bernoulli", p)
    if 0 in dims:
        return full(dims, False, dtype=bool_)
    return _apply(_CHANCE, dims, _bits(key, dims, None, "bernoulli"), p)


def integers(
    key: Any, low: Any, high: Any = None, shape: Any = None, dtype: Any = int32, endpoint: bool = False
) -> Array:
    """Integers from low to below high (or to it: endpoint), all equally likely, the same everywhere.

    high None: from 0 to below low. Bounds are integers, or arrays of such that broadcast; shape None: theirs.
    ValueError where high does not exceed low or a bound does not fit the dtype.
    """
    return _integers(key, low, high, shape, dtype, endpoint, None, "integers")


def _integers(
    key: Any, low: Any, high: Any, shape: Any, dtype: Any, endpoint: bool, start: int | None, where: str
) -> Array:
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
        span = ew.add(ew.subtract(_wide(last), _wide(low)), 1)
        base, guard = low, _order_guard(low, last, where)
    else:
        low, last, span = _host_bounds(plain(low), plain(high), endpoint, least, most, where)
        base, guard = low, None
    dims = _shape(shape, where, *[x for x in (low, span) if isinstance(x, Array)])
    if 0 in dims:
        return full(dims, 0, dtype=want)
    out = _apply(_INTEGER, dims, _counter(dims, start), *_words(key, where), span)
    out = astype(ew.add(out, _wide(base) if isinstance(base, Array) else base & _M), want, copy=False)
    if guard is not None:
        out._cell.op.guards = (guard,)
    return out


def _wide(x: Array) -> Array:
    """uint32 by bits."""
    return astype(astype(x, int32, copy=False) if x.dtype.kind == "i" else x, uint32, copy=False)


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
        return low, last, (last - low + 1) & _M
    import numpy as np

    for x in (np.asarray(low), np.asarray(high)):
        if x.dtype.kind not in "iub":
            raise TypeError(f"{where}: bounds are integers, not {x.dtype}")
    first, final = np.broadcast_arrays(np.asarray(low, object), np.asarray(high, object) - (not endpoint))
    if first.size and (final < first).any():
        raise ValueError(f"{where}: some high does not exceed its low")
    if first.size and ((first < least).any() or (final > most).any()):
        raise ValueError(f"{where}: a bound does not fit the dtype, whose values are {least} to {most}")
    made = [from_host(np.asarray(x & _M, np.uint32), where) for x in (first, final, final - first + 1)]
    return made[0], made[1], made[2]


def _order_guard(low: Array, last: Array, where: str) -> Any:
    from .ops.guards import guard

    def describe(word: int) -> Exception:
        return ValueError(f"{where}: some high does not exceed its low")

    return guard(astype(ew.less(last, low), uint32), describe)


class Generator:
    """NumPy's Generator as far as it is there: each method takes the next words of one stream.

    Two draws of 5 are one draw of 10. A key and a position are all its state, so copies go on alike.
    """

    __slots__ = ("_key", "_position")

    def __init__(self, key: Any) -> None:
        _words(key, "Generator")
        self._key, self._position = key, 0

    def __repr__(self) -> str:
        return f"Generator(Philox4x32-10) at {self._position}"

    def _take(self, shape: tuple[int, ...]) -> tuple[Any, int]:
        """The key and the first position of so many words. Each 2**32 of them have a key of their own; what would lie
        across two begins with the second."""
        n = math.prod(shape)
        start = self._position
        if (start & _M) + n > 1 << 32 and start & _M:
            start = (start | _M) + 1
        self._position = start + n
        turn = start >> 32
        return (self._key if not turn else fold_in(self._key, turn)), start & _M

    def random(self, size: Any = None, dtype: Any = float32) -> Array:
        """Uniform floats in [0, 1)."""
        return self.uniform(0.0, 1.0, size, dtype)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None, dtype: Any = float32) -> Array:
        """Uniform floats in [low, high)."""
        low, high = _parameter(low, "uniform"), _parameter(high, "uniform")
        dims = _shape(size, "uniform", low, high)
        key, start = self._take(dims)
        return _uniform(key, dims, dtype, low, high, start, "uniform")

    def standard_normal(self, size: Any = None, dtype: Any = float32) -> Array:
        """Normal floats of mean 0 and standard deviation 1."""
        return self.normal(0.0, 1.0, size, dtype)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: Any = float32) -> Array:
        """Normal floats: loc + scale * z."""
        loc, scale = _parameter(loc, "normal"), _parameter(scale, "normal")
        dims = _shape(size, "normal", loc, scale)
        key, start = self._take(dims)
        return _normal(key, dims, dtype, loc, scale, start, "normal")

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = int32, endpoint: bool = False
    ) -> Array:
        """Integers from low to below high (or to it: endpoint), all equally likely."""
        low, high = [x if isinstance(x, int) or x is None else from_host(x, "integers") for x in (low, high)]
        dims = _shape(size, "integers", low, high)
        key, start = self._take(dims)
        return _integers(key, low, high, dims, dtype, endpoint, start, "integers")


def default_rng(seed: Any = None) -> Generator:
    """A Generator from a seed (an integer, of any size), a key, or a Generator (itself). None: from the system's own
    randomness, so that each call differs."""
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, (Array, tuple)):
        return Generator(seed)
    if seed is None:
        from secrets import randbits

        seed = randbits(64)
    if isinstance_of_traced(seed):
        return Generator(key(seed))
    seed = as_index(seed)
    if seed < 0:
        raise ValueError(f"default_rng: a seed is not negative: {seed}")
    made = key(seed & ((1 << 64) - 1))
    while seed := seed >> 64:
        made = fold_in(made, seed & ((1 << 64) - 1))
    return Generator(made)
