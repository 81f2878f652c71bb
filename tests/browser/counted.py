"""An oracle for tg.random: Philox4x32-10 in NumPy, the words of positions, integers and normal numbers of them."""

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


def polar(w: Any) -> Any:
    """Normal numbers of pairs of words, as kernels/lib/random_polar has them, in float64."""
    a, v = w[0::2], w[1::2]
    lower = ~a & (a - np.uint32(1))  # ones where zeros end the word
    k = np.unpackbits(lower.view(np.uint8).reshape(-1, 4), axis=1).sum(axis=1)
    r = np.sqrt(2 * (k * np.log(2) - np.log1p(-a.astype(np.float64) * 2.0**-33)))
    angle = (v << np.uint32(2)).view(np.int32) * (np.pi / 2**33)
    c, s = r * np.cos(angle), r * np.sin(angle)
    c = np.where(v >= 1 << 31, -c, c)
    turned = v & np.uint32(1 << 30) != 0
    return np.stack([np.where(turned, s, c), np.where(turned, c, s)], axis=1).ravel()


KEY = (0x12345678, 0x9ABCDEF0)
OURS = tr.Key(*KEY)
