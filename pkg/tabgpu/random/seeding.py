"""Where seeds become keys: SeedSequence, and the bit generators Philox and Threefry, which are a key and a position."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import index as as_index
from typing import Any

from ..array import Array
from ..traced import isinstance_of_traced
from .applying import whole
from .keys import SEED, SPAWN, TURN, Key, ThreefryKey, chained, derived, derived_there, key, words_of

_M = 0xFFFFFFFF


def _words_of_int(n: int) -> list[int]:
    if n < 0:
        raise ValueError(f"SeedSequence: entropy must not be negative: {n}")
    found = [n & _M]
    while n := n >> 32:
        found.append(n & _M)
    return found


def _entropy_words(entropy: Any) -> list[int]:
    if whole(entropy):
        return _words_of_int(as_index(entropy))
    if isinstance(entropy, (str, bytes)) or not hasattr(entropy, "__len__"):
        raise TypeError(f"a seed is an integer or a sequence of integers, not {entropy!r}")
    return [w for part in entropy for w in _entropy_words(part)]


class SeedSequence:
    """numpy.random.SeedSequence: mixes integers of any size into words, and gives children that never meet.

    The same words as NumPy's. entropy: an integer, a sequence of integers, or None for the system's own randomness.
    """

    def __init__(
        self, entropy: Any = None, *, spawn_key: Any = (), pool_size: int = 4, n_children_spawned: int = 0
    ) -> None:
        if pool_size < 4:
            raise ValueError(f"SeedSequence: pool_size must be at least 4, not {pool_size}")
        if entropy is None:
            from secrets import randbits

            entropy = randbits(32 * pool_size)
        self.entropy, self.spawn_key, self.pool_size = entropy, tuple(spawn_key), pool_size
        self.n_children_spawned = n_children_spawned
        words = _entropy_words(entropy)
        if self.spawn_key:  # NumPy fills up short entropies, so that children differ from longer seeds
            words += [0] * (pool_size - len(words))
        words += _entropy_words(self.spawn_key)
        self.pool = _mixed(words, pool_size)

    def __repr__(self) -> str:
        more = f", spawn_key={self.spawn_key}" if self.spawn_key else ""
        return f"SeedSequence(entropy={self.entropy}{more})"

    def generate_state(self, n_words: int, dtype: Any = "uint32") -> Any:
        """n_words words as a NumPy array of uint32 or uint64."""
        import numpy as np

        want = np.dtype(dtype)
        if want not in (np.dtype("uint32"), np.dtype("uint64")):
            raise ValueError(f"generate_state: dtype must be uint32 or uint64, not {want}")
        made = self._words(n_words * want.itemsize // 4)
        return np.array(made, np.uint32).view(want)

    def _words(self, n: int) -> list[int]:
        hash_by, found = 0x8B51F9DD, []
        for k in range(n):
            value = self.pool[k % self.pool_size] ^ hash_by
            hash_by = hash_by * 0x58F38DED & _M
            value = value * hash_by & _M
            found.append(value ^ value >> 16)
        return found

    def spawn(self, n_children: int) -> list[SeedSequence]:
        """n_children sequences that are independent of this one, of each other and of earlier children."""
        first, n_children = self.n_children_spawned, as_index(n_children)
        if n_children < 0:
            raise ValueError(f"spawn: the number of children must not be negative: {n_children}")
        self.n_children_spawned = first + n_children
        return [
            SeedSequence(self.entropy, spawn_key=(*self.spawn_key, k), pool_size=self.pool_size)
            for k in range(first, first + n_children)
        ]


def _mixed(words: list[int], size: int) -> list[int]:
    """O'Neill's seed_seq (2015), as NumPy has it."""
    hash_by = 0x43B0D7E5

    def hashed(value: int) -> int:
        nonlocal hash_by
        value ^= hash_by
        hash_by = hash_by * 0x931E8875 & _M
        value = value * hash_by & _M
        return value ^ value >> 16

    def mix(x: int, y: int) -> int:
        value = (0xCA01F9DD * x - 0x4973F715 * y) & _M
        return value ^ value >> 16

    pool = [hashed(words[k] if k < len(words) else 0) for k in range(size)]
    for source in range(size):
        for target in range(size):
            if source != target:
                pool[target] = mix(pool[target], hashed(pool[source]))
    for word in words[size:]:
        for target in range(size):
            pool[target] = mix(pool[target], hashed(word))
    return pool


class BitGenerator:
    """A stream of 32-bit words: a key and a position. `Philox` and `Threefry` are such."""

    kind: type[Key] = Key
    impl = "philox4x32"
    __slots__ = ("_spawned", "key", "position", "seed_seq")

    def __init__(self, seed: Any = None, *, key: Any = None) -> None:
        """seed: an integer of any size, a sequence of integers, a SeedSequence (NumPy's too), or None: from the
        system's own randomness. key: the two words themselves."""
        self.seed_seq: Any = None
        if key is not None:
            if seed is not None:
                raise ValueError(f"{type(self).__name__}: give a seed or a key, not both")
            words_of(key, type(self).__name__)
            self.key = key if isinstance(key, Array) else self.kind(*key)
            if isinstance(key, Array) and self.kind is ThreefryKey:
                raise TypeError("Threefry: its key is on the host")
        else:
            self.key = self._key_of(seed)
        self.position = 0
        self._spawned = 0

    def _key_of(self, seed: Any) -> Any:
        if isinstance_of_traced(seed):
            return key(seed, self.impl)
        if not whole(seed):
            if hasattr(seed, "generate_state") and not isinstance(seed, SeedSequence):  # NumPy's
                self.seed_seq = seed
                return self.kind(*[int(w) for w in seed.generate_state(2)])
            self.seed_seq = made = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)
            return self.kind(*made._words(2))
        seed = as_index(seed)
        if seed < 0:
            raise ValueError(f"default_rng: a seed is not negative: {seed}")
        return chained(key(seed & ((1 << 64) - 1), self.impl), seed >> 64, SEED)

    def __repr__(self) -> str:
        return f"{type(self).__name__} at {self.position}"

    def take(self, n: int) -> tuple[Any, int]:
        """The key and the first position of n words. Each 2**32 of them have a key of their own; what would lie across
        two begins with the second."""
        start = self.position
        if (start & _M) + n > 1 << 32 and start & _M:
            start = (start | _M) + 1
        self.position = start + n
        return chained(self.key, start >> 32, TURN), start & _M

    @contextmanager
    def kept(self) -> Iterator[None]:
        """What raises takes no positions."""
        at = self.position
        try:
            yield
        except Exception:
            self.position = at
            raise

    def random_raw(self, size: Any = None, output: bool = True) -> Any:
        """uint32 words; None, having gone past them, for output=False."""
        from .applying import random_words, shape_of

        dims = shape_of(size, "random_raw")
        key, start = self.take(_count(dims))
        return random_words(key, dims, start, "random_raw") if output else None

    def advance(self, delta: int) -> BitGenerator:
        """Goes on by so many words (back, if negative) in no time. ValueError where that is before the first."""
        self.position = self._at(self.position + as_index(delta), "advance")
        return self

    def jumped(self, jumps: int = 1) -> BitGenerator:
        """A new one, jumps * 2**64 words further on: for as many streams that never meet."""
        made = self._copy()
        made.position = self._at(self.position + (as_index(jumps) << 64), "jumped")
        return made

    @staticmethod
    def _at(position: int, where: str) -> int:
        if position < 0:
            raise ValueError(f"{where}: there is no word before the first; this is {-position} before it")
        return position

    def spawn(self, n_children: int) -> list[BitGenerator]:
        """n_children new ones with keys of their own, independent of this stream and of earlier children."""
        first, n = self._spawned, as_index(n_children)
        if n < 0:
            raise ValueError(f"spawn: the number of children must not be negative: {n}")
        self._spawned = first + n
        there = isinstance(self.key, Array)
        make: Any = derived_there if there else derived
        return [type(self)(key=make(self.key, k, SPAWN)) for k in range(first, first + n)]

    def _copy(self) -> BitGenerator:
        made = type(self)(key=self.key)
        made.state = self.state
        return made

    @property
    def state(self) -> dict[str, Any]:
        """All that decides what comes next, as plain numbers; setting it goes back there."""
        words = self.key if isinstance(self.key, Array) else tuple(self.key)
        return {
            "bit_generator": type(self).__name__,
            "state": {"key": words, "position": self.position},
            "spawned": self._spawned,
        }

    @state.setter
    def state(self, value: dict[str, Any]) -> None:
        if not isinstance(value, dict) or value.get("bit_generator") != type(self).__name__:
            raise ValueError(f"state: it must be a dict of a {type(self).__name__}")
        words, position = value["state"]["key"], as_index(value["state"]["position"])
        if not isinstance(words, Array):
            words = self.kind(*[as_index(w) for w in words])
            if not all(0 <= w <= _M for w in words):
                raise ValueError("state: a key is two words of 32 bits")
        words_of(words, "state")
        if position < 0:
            raise ValueError(f"state: a position is not negative: {position}")
        self.key, self.position, self._spawned = words, position, as_index(value.get("spawned", 0))

    def __getstate__(self) -> dict[str, Any]:
        return self.state

    def __setstate__(self, value: dict[str, Any]) -> None:
        self.seed_seq = None
        self.state = value


class Philox(BitGenerator):
    """Words of Philox4x32-10: word i is word i % 4 of the block whose counter is (i // 4, 0, 0, 0)."""

    __slots__ = ()


class Threefry(BitGenerator):
    """Words of Threefry2x32-20: word i is word i % 2 of the block whose counter is (i // 4, i // 2 % 2)."""

    kind = ThreefryKey
    impl = "threefry2x32"
    __slots__ = ()


def _count(dims: tuple[int, ...]) -> int:
    n = 1
    for d in dims:
        n *= d
    return n
