"""An oracle for tg.random: Philox4x32-10 in NumPy, the words of positions, and integers made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabgpu import random as tr


def philox(counter: list[Any], key: tuple[int, int]) -> list[Any]:
    """Philox4x32-10 over NumPy arrays of counters."""
    a, b, c, d = [np.asarray(x, np.uint64) for x in counter]
    mask, k0, k1 = np.uint64(0xFFFFFFFF), *key
    for _ in range(10):
        p, q = np.uint64(0xD2511F53) * a, np.uint64(0xCD9E8D57) * c
        a, b = (q >> np.uint64(32)) ^ b ^ np.uint64(k0), q & mask
        c, d = (p >> np.uint64(32)) ^ d ^ np.uint64(k1), p & mask
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return [a, b, c, d]


def words(n: int, key: tuple[int, int], start: int = 0, attempt: int = 0) -> Any:
    """The words of positions start, start + 1, .."""
    i = np.arange(start, start + n, dtype=np.uint64)
    blocks = philox([i >> np.uint64(2), np.full(n, attempt, np.uint64), 0 * i, 0 * i], key)
    return np.choose((i & np.uint64(3)).astype(np.intp), blocks).astype(np.uint32)


def below(n: int, key: tuple[int, int], span: int) -> Any:
    """Integers below span, by Lemire's method with as many attempts as it takes."""
    out, todo, attempt = np.zeros(n, np.uint64), np.ones(n, bool), 0
    while todo.any():
        product = words(n, key, 0, attempt).astype(np.uint64) * np.uint64(span)
        good = todo & ((product & np.uint64(0xFFFFFFFF)) >= np.uint64((2**32 - span) % span))
        out[good] = product[good] >> np.uint64(32)
        todo &= ~good
        attempt += 1
    return out


KEY = (0x12345678, 0x9ABCDEF0)
OURS = tr.Key(*KEY)
