"""Reductions of narrow integers, 16-bit floats and complex numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reduced import draw

import tabgpu as tg

# --- other dtypes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
async def test_narrow_integers(dtype: str) -> None:
    info = np.iinfo(dtype)
    x = np.random.default_rng(9).integers(info.min, info.max, (5, 700), endpoint=True).astype(dtype)
    g = tg.asarray(x)
    wide = np.int32 if info.min else np.uint32
    for axis in (None, 0, 1, ()):
        for name in ("sum", "prod"):
            got = await getattr(tg, name)(g, axis=axis).numpy()
            assert got.dtype == wide and np.array_equal(got, getattr(np, name)(x, axis=axis, dtype=wide))
            same = await getattr(tg, name)(g, axis=axis, dtype=dtype).numpy()
            assert same.dtype == dtype and np.array_equal(same, getattr(np, name)(x, axis=axis, dtype=dtype))
    for axis in (None, 0, 1):
        for name in ("max", "min", "argmax", "argmin", "any"):
            got = await getattr(tg, name)(g, axis=axis).numpy()
            assert np.array_equal(got, getattr(np, name)(x, axis=axis)), name
            assert got.dtype == (dtype if name in ("max", "min") else np.int32 if name != "any" else bool)
        assert np.allclose(await g.mean(axis=axis).numpy(), x.mean(axis=axis), rtol=1e-6, atol=1e-3)
    low = await tg.min(g, axis=1, where=x > 0, initial=int(info.max)).numpy()
    assert np.array_equal(low, np.min(x, axis=1, where=x > 0, initial=info.max))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
async def test_narrow_floats(dtype: str) -> None:
    """R10: added in float32 and rounded once."""
    ones = tg.ones(100_000, dtype=dtype)
    assert await ones.mean().item() == 1.0 and ones.mean().dtype == ones.sum().dtype == dtype
    stored = tg.full((3, 30_000), 0.5, dtype=dtype) + tg.zeros((3, 1), dtype=dtype)
    got = await tg.fetch(stored.sum(axis=1).astype(tg.float32), stored.mean(axis=1).astype(tg.float32))
    assert (got[0] == (15_000 if dtype == "float16" else 14976)).all() and (got[1] == 0.5).all()
    assert await ones.sum().item() == (math.inf if dtype == "float16" else 99_840)
    x = (draw("f", (4, 100)) * 3).astype(np.float16)
    g = tg.asarray(x).astype(dtype)
    x = await g.astype(tg.float32).numpy()
    names = ("sum", "mean", "max", "min", "prod")
    for name, a in zip(names, [getattr(tg, n)(g, axis=0) for n in names], strict=True):
        want = tg.asarray(getattr(np, name)(x.astype(np.float64), axis=0)).astype(dtype)
        assert a.dtype == dtype
        assert np.array_equal(await a.astype(tg.float32).numpy(), await want.astype(tg.float32).numpy()), name
    assert np.array_equal(await tg.argmax(g, axis=1).numpy(), x.argmax(axis=1))
    assert await tg.max(tg.asarray([-math.inf, -math.inf]).astype(dtype)).item() == -math.inf


async def test_complex() -> None:
    rng = np.random.default_rng(12)
    x = (rng.standard_normal((5, 6, 7)) + 1j * rng.standard_normal((5, 6, 7))).astype(np.complex64)
    g, wide = tg.asarray(x), x.astype(np.complex128)
    mask = rng.random((6, 7)) < 0.5
    names = ("sum", "prod", "mean", "any", "all")
    for axis, keep in ((None, False), (1, True), ((0, -1), False), ((), False)):
        results = await tg.fetch(*[getattr(tg, name)(g, axis=axis, keepdims=keep) for name in names])
        for name, got in zip(names, results, strict=True):
            want = getattr(np, name)(wide, axis=axis, keepdims=keep)
            assert got.shape == want.shape and got.dtype == (bool if name[0] == "a" else np.complex64)
            assert np.allclose(got, want, rtol=1e-4, atol=1e-5), (name, axis)
    for name, first in (("sum", 2j), ("prod", 1 - 1j)):
        got = await getattr(tg, name)(g, axis=1, where=mask, initial=first).numpy()
        want = getattr(np, name)(wide, axis=1, where=mask, initial=first)
        assert np.allclose(got, want, rtol=1e-4, atol=1e-5), name
    for n in (1, 2, 3, 7, 257):
        line = np.exp(1j * rng.random(n) * 7).astype(np.complex64)
        assert abs(await tg.prod(tg.asarray(line)).item() - line.astype(np.complex128).prod()) < 1e-5
    empty = tg.zeros((0, 2), dtype=tg.complex64)
    assert await tg.sum(empty, axis=0).tolist() == [0, 0] and await tg.prod(empty, axis=0).tolist() == [1, 1]
    assert await tg.any(tg.asarray([0j, 1j])).item() and not await tg.all(tg.asarray([0j, 1j])).item()
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(TypeError, match="order"):
            getattr(tg, name)(g)
