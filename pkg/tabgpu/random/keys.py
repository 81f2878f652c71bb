"""Keys of counter-based generators: blocks on the host (Philox4x32-10, Threefry2x32-20), keys from seeds and keys."""

from __future__ import annotations

from collections.abc import Callable
from operator import index as as_index
from typing import Any, NamedTuple

from ..array import Array
from ..dtypes import uint32
from ..graph import Fn
from ..ops import elementwise as ew
from ..ops.creation import astype, positions
from ..traced import isinstance_of_traced
from .applying import apply

_M = 0xFFFFFFFF
_KEY = Fn("philox_key", "philox_key_word(x, y, z, w)", (uint32,) * 4, uint32)
SPLIT, FOLD, SPAWN, TURN, SEED = 1, 2, 5, 6, 7
"""The last word of counters whose blocks make keys; 0 is for values, 3 and 4 for draws (kernels/lib/random_draws)."""


class Key(NamedTuple):
    """What a stream of random numbers starts from: 64 bits, as two words. Its words are those of Philox4x32-10."""

    k0: int
    k1: int


class ThreefryKey(Key):
    """A Key whose words are those of Threefry2x32-20; so are those of keys made from it."""

    __slots__ = ()


def philox4x32(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """A block of Philox4x32-10 on the host: four words."""
    a, b, c, d = counter
    k0, k1 = key
    for _ in range(10):
        p, q = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (q >> 32) ^ b ^ k0, q & _M, (p >> 32) ^ d ^ k1, p & _M
        k0, k1 = (k0 + 0x9E3779B9) & _M, (k1 + 0xBB67AE85) & _M
    return a, b, c, d


def threefry2x32(counter: tuple[int, int], key: tuple[int, int]) -> tuple[int, int]:
    """A block of Threefry2x32-20 on the host: two words."""
    k0, k1 = key
    words = (k0, k1, 0x1BD11BDA ^ k0 ^ k1)
    a, b = (counter[0] + k0) & _M, (counter[1] + k1) & _M
    for n in range(20):
        a = (a + b) & _M
        by = (13, 15, 26, 6, 17, 29, 16, 24)[n % 8]
        b = ((b << by | b >> 32 - by) & _M) ^ a
        if n % 4 == 3:
            turn = n // 4 + 1
            a, b = (a + words[turn % 3]) & _M, (b + words[(turn + 1) % 3] + turn) & _M
    return a, b


def threefry_block(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, ...]:
    """Four words for one of Philox's counters: of the second word 15 bits, of the third 12, of the fourth 4 count."""
    x, y, z, w = counter
    upper = (w & 15) << 28 | (z & 0xFFF) << 16 | (y & 0x7FFF) << 1
    return threefry2x32((x, upper), key) + threefry2x32((x, upper | 1), key)


def host(function: Callable[..., Any], *numbers: Any) -> Any:
    """function(*numbers); while a function is traced, its open numbers stay open."""
    for x in numbers:
        if isinstance_of_traced(x):
            return x._scalars.derive(function, *numbers)
    return function(*numbers)


def _key_word(k0: int, k1: int, i: int, stream: int, which: int, threefry: bool) -> int:
    """Word 0 or 1 of a block that no values are made of."""
    upper = (i >> 32) & _M
    if not threefry:
        return philox4x32((i & _M, upper, 0, stream), (k0, k1))[which]
    if upper:  # Threefry's counter has no room for it
        k0, k1 = threefry_block((upper, 0, 1, stream), (k0, k1))[:2]
    return threefry_block((i & _M, 0, 0, stream), (k0, k1))[which]


def derived(key: Any, i: Any, stream: int) -> Key:
    """The i-th key that a key gives, on the host."""
    k0, k1 = key
    threefry = isinstance(key, ThreefryKey)
    made = [host(_key_word, k0, k1, i, stream, which, threefry) for which in (0, 1)]
    return (ThreefryKey if threefry else Key)(*made)


def chained(key: Any, number: int, stream: int) -> Any:
    """A key for each number from 1 on, whatever its size, the same for a key on the host or on the GPU."""
    make: Any = derived_there if isinstance(key, Array) else derived
    while number:
        key, number = make(key, number & _M, stream), number >> 32
    return key


def derived_there(key: Array, i: Any, stream: int) -> Array:
    """(.., 2) keys for the numbers i (an Array or one number below 2**32), on the GPU."""
    lanes = astype(ew.add(positions(2), 2 * (stream - 1)), uint32)
    shape = (*i.shape, 2) if isinstance(i, Array) else (2,)
    rows = i[..., None] if isinstance(i, Array) and i.ndim else i
    return apply(_KEY, shape, rows, *words_of(key, "key"), lanes)


def _lower(number: int) -> int:
    return number & _M


def _seed_word(seed: int, which: int) -> int:
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"key: a seed is an integer from 0 to 2**64 - 1, not {seed}")
    return (seed >> 32 * which) & _M


def key(seed: int, impl: str = "philox4x32") -> Key:
    """The key of a seed: an integer from 0 to 2**64 - 1. ValueError beyond, TypeError for what is no integer.

    impl: "philox4x32" (10 rounds) or "threefry2x32" (20 rounds), which makes all words that come from the key.
    """
    if impl not in ("philox4x32", "threefry2x32"):
        raise ValueError(f"key: impl must be 'philox4x32' or 'threefry2x32', not {impl!r}")
    if not isinstance_of_traced(seed):
        seed = as_index(seed)
    kind = Key if impl == "philox4x32" else ThreefryKey
    return kind(host(_seed_word, seed, 0), host(_seed_word, seed, 1))


def check_key(key: Any, where: str) -> None:
    """TypeError for what cannot be a key, before anything else is said of a call in NumPy's manner."""
    if not isinstance(key, (Array, tuple)):
        raise TypeError(
            f"{where}: the first argument is a key (tg.random.key(seed)), not {type(key).__name__}; numpy.random's "
            f"functions are methods of tg.random.default_rng(seed)"
        )


def words_of(key: Any, where: str) -> tuple[Any, Any]:
    """The two words of a key: Python integers, or 0-d uint32 Arrays."""
    if isinstance(key, Array):
        if key.dtype is not uint32 or key.shape != (2,):
            raise TypeError(
                f"{where}: a key on the GPU is a uint32 array of shape (2,), not {key.dtype.name} {key.shape}"
            )
        return key[0], key[1]
    if isinstance(key, tuple) and len(key) == 2 and all(isinstance(k, int) for k in key):
        if any(not isinstance_of_traced(k) and not 0 <= k <= _M for k in key):
            raise ValueError(f"{where}: a key is two words of 32 bits, not {tuple(key)}")
        return key
    check_key(key, where)
    raise TypeError(f"{where}: a key is two words (tg.random.key(seed)), not {key!r}")


def split(key: Any, num: int = 2) -> Any:
    """num new keys, independent of each other and of what the old one gives (use that one for nothing else).

    A tuple of Keys; for a key on the GPU a uint32 array of shape (num, 2).
    """
    words_of(key, "split")
    num = as_index(num)
    if num < 0:
        raise ValueError(f"split: the number of keys must not be negative: {num}")
    if not isinstance(key, Array):
        return tuple([derived(key, i, SPLIT) for i in range(num)])
    return derived_there(key, astype(positions(num), uint32), SPLIT)


def fold_in(key: Any, data: Any) -> Any:
    """A new key from a key and an integer, such as a step or a layer: 64 bits of it count on the host, 32 on the GPU.

    data may be a 0-d integer Array; then, or for a key on the GPU, the result is a uint32 array of shape (2,).
    """
    k0, k1 = words_of(key, "fold_in")
    if isinstance(data, Array):
        if data.ndim or data.dtype.kind not in "iu":
            raise TypeError(f"fold_in: data is one integer, not {data.dtype.name} of shape {data.shape}")
        data = wide(data)
    elif not isinstance_of_traced(data):
        data = as_index(data)
    if isinstance(key, Array):
        return derived_there(key, data if isinstance(data, Array) else host(_lower, data), FOLD)
    if isinstance(data, Array):
        if isinstance(key, ThreefryKey):
            raise TypeError("fold_in: data on the GPU needs a key of philox4x32")
        lanes = astype(ew.add(positions(2), 2 * (FOLD - 1)), uint32)
        return apply(_KEY, (2,), data, k0, k1, lanes)
    return derived(key, data, FOLD)


def wide(x: Array) -> Array:
    """uint32 by bits."""
    from ..dtypes import int32

    return astype(astype(x, int32, copy=False) if x.dtype.kind == "i" else x, uint32, copy=False)
