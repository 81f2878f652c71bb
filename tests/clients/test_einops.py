"""einops.array_api: einops' functions for arrays of any library. Tolerance: 2e-5 (same.TOL) unless said otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from data import RNG
from einops import array_api
from same import same

A = RNG.standard_normal((2, 3, 4, 6)).astype(np.float32)
PATTERNS = [
    ("b h w c -> b c h w", {}),
    ("b h w c -> (b h) w c", {}),
    ("b h w c -> b (c w h)", {}),
    ("b (h x) w c -> x b h w c", {"x": 3}),
    ("b h w (c x) -> b h w x c", {"x": 2}),
    ("b h w c -> h 1 w (b c)", {}),
]


def test_rearrange() -> None:
    for pattern, sizes in PATTERNS:
        same(lambda a, p=pattern, s=sizes: array_api.rearrange(a, p, **s), A)
    same(lambda a: array_api.rearrange([a, a], "n b h w c -> b n h w c"), A)


@pytest.mark.parametrize("how", ["mean", "sum", "max", "min", "prod"])
def test_reduce(how: str) -> None:
    same(lambda a: array_api.reduce(a, "b h (w x) c -> b h w", how, x=2), A, tol=1e-4)
    same(lambda a: array_api.reduce(a, "b h w c ->", how), A, tol=1e-4)


def test_repeat_and_pack() -> None:
    same(lambda a: array_api.repeat(a, "b h w c -> b (h x) w c", x=2), A)
    same(lambda a: array_api.repeat(a, "b h w c -> b h w c x", x=3), A)
    same(lambda a: array_api.pack([a, a[..., 0]], "b h w *"), A)
    same(lambda a: array_api.unpack(a, [[2], [3, 1], []], "b h w *")[1], A)
    assert isinstance(array_api.asnumpy(A), np.ndarray)
