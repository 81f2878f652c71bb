"""Copies by whole vec4s and by single elements: rows taken, joins, pads, rolls, parts assigned; launches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import DTYPES, launches, numbered, on_gpu, same

import tabgpu as tg

WIDTHS = ("bool", "int16", "float32", "complex64")
ROWS = (4, 8, 12, 3, 5, 10, 1)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.limits
async def test_rows_taken(dtype: str) -> None:
    """Rows of whole vec4s and of any length, of views that begin anywhere, by one index array and by two."""
    made, wanted, labels = [], [], []
    rng = np.random.default_rng(4)
    for m in ROWS:
        x = numbered((9, 6, m), dtype)
        g = on_gpu(x, dtype)
        i, j = rng.integers(-9, 9, 7), rng.integers(-6, 6, 7)
        views: list[Any] = [lambda a: a, lambda a: a[1:], lambda a: a[:, ::-1], lambda a: a[..., ::-1]]
        if m > 4:
            views += [lambda a: a[..., 1:], lambda a: a[..., :4], lambda a: a[..., 1:5]]
        for k, view in enumerate(views):
            a, b = view(g), view(x)
            n = b.shape[0]
            made += [tg.take(a, i % n, axis=0), tg.take(a, j % 6, axis=1), a[i % n, j], a[:, j]]
            wanted += [np.take(b, i % n, axis=0), np.take(b, j % 6, axis=1), b[i % n, j], b[:, j]]
            labels += [f"{m} view {k} {what}" for what in ("axis 0", "axis 1", "pairs", "columns")]
    await same(made, wanted, labels)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.limits
async def test_joins_that_begin_anywhere(dtype: str) -> None:
    made, wanted, labels = [], [], []
    for m in (4, 8, 5):
        for n in (4, 6, 3):
            x = numbered((2, 5, m + n), dtype)
            g = on_gpu(x, dtype)
            for axis in range(3):
                cut = (slice(None),) * axis
                size = x.shape[axis]
                for at in (1, size // 2, size - 1):
                    low, high = (*cut, slice(0, at)), (*cut, slice(at, None))
                    some = [(high, low), (low, high, low), (high, high)]
                    for k, pieces in enumerate(some):
                        made.append(tg.concat([g[p] for p in pieces], axis=axis))
                        wanted.append(np.concatenate([x[p] for p in pieces], axis=axis))
                        labels.append(f"{m} {n} axis {axis} at {at} {k}")
            made.append(tg.concat([g, tg.full_like(g, 1), g[:1]]))
            wanted.append(np.concatenate([x, np.full_like(x, 1), x[:1]]))
            labels.append("constant")
    await same(made, wanted, labels)


@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.limits
async def test_pads_and_rolls_that_begin_anywhere(dtype: str) -> None:
    made, wanted, labels = [], [], []
    for shape in ((5, 8), (3, 12), (4, 7), (2, 3, 4)):
        x = numbered(shape, dtype)
        g = on_gpu(x, dtype)
        for by in (1, 4, -4, 8, 3, -13):
            for axis in (0, -1, None):
                made.append(tg.roll(g, by, axis=axis))
                wanted.append(np.roll(x, by, axis=axis))
                labels.append(f"roll {shape} {by} {axis}")
        for before, behind in ((4, 4), (0, 4), (1, 3), (8, 0)):
            width = [(1, 0)] * (len(shape) - 1) + [(before, behind)]
            for mode in ("constant", "edge", "wrap", "reflect", "symmetric"):
                made += [tg.pad(g, width, mode=mode), tg.pad(g.T, width[::-1], mode=mode)]
                wanted += [np.pad(x, width, mode=mode), np.pad(x.T, width[::-1], mode=mode)]
                labels += [f"pad {shape} {before} {behind} {mode}", f"pad T {shape} {before} {behind} {mode}"]
    await same(made, wanted, labels)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.limits
async def test_parts_assigned(dtype: str) -> None:
    """Any slices, of rows that hold whole vec4s or not, by arrays and by numbers."""
    made, wanted, labels = [], [], []
    keys: list[Any] = [
        np.s_[1:], np.s_[:, :4], np.s_[:, 1:-1], np.s_[::2, ::3], np.s_[::-1, ::-1], np.s_[1:2, 3:4], np.s_[:0],
    ]  # fmt: skip
    for shape in ((5, 8), (4, 7), (1, 12)):
        for k, key in enumerate(keys):
            for constant in (False, True):
                x = numbered(shape, dtype)
                g = on_gpu(x, dtype)
                value = numbered(x[key].shape, dtype, 50)
                x = x.copy()
                x[key] = 1 if constant else value
                g[key] = 1 if constant else on_gpu(value, dtype)
                made.append(g)
                wanted.append(x)
                labels.append(f"{shape} key {k} {constant}")
    await same(made, wanted, labels)


async def test_many_pieces() -> None:
    """More than one text takes: on CPU adapters some at a time where that is cheaper."""
    x = numbered((3, 400), "int32")
    g = tg.asarray(x)
    parts = [(k * 7 % 390, k % 9 + 1) for k in range(60)]
    got = tg.concat([g[:, a : a + n] for a, n in parts], axis=1)
    want = np.concatenate([x[:, a : a + n] for a, n in parts], axis=1)
    y = numbered((64, 64), "int32")
    h = tg.asarray(y)
    long = [h[k:] for k in range(30)]
    await same([got, tg.concat(long)], [want, np.concatenate([y[k:] for k in range(30)])])


async def test_moves_are_one_launch_and_compile_nothing_new() -> None:
    def moves(n: int) -> list[tg.Array]:
        g, h = tg.asarray(numbered((n, 8 * n))), tg.asarray(numbered((n, 8 * n), start=9))
        return [
            tg.concat([g, h]), tg.concat([g, h], axis=1), tg.pad(g, 1), tg.roll(g, 2, axis=0),
            tg.take(g, tg.asarray(np.arange(n, dtype=np.int32)), axis=0),
        ]  # fmt: skip

    for array in moves(5):
        await array.numpy()
    pipelines = tg.memory()["pipelines"]
    for n in (3, 16, 37):
        for k, array in enumerate(moves(n)):
            before = launches()
            await array.numpy()
            assert launches() - before <= 1 + (k == 4), (
                n,
                k,
            )  # indices are looked at by a launch of their own
    assert tg.memory()["pipelines"] == pipelines
