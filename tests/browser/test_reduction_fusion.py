"""What a reduction takes into its launch, and how often it compiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reduced import draw

import tabgpu as tg

# --- fusion -------------------------------------------------------------------------------------------------


async def launches_of(*values: Any) -> tuple[Any, int]:
    before = tg.device().counters.launches
    got = await tg.fetch(*values)
    return got, tg.device().counters.launches - before


@pytest.mark.parametrize("shape", [(7, 33), (64, 64), (3, 1000)], ids=str)
async def test_prologue_and_epilogue_are_one_launch(shape: tuple[int, ...]) -> None:
    x, y = draw("f", shape), draw("f", shape, 1)
    a, b = tg.asarray(x), tg.asarray(y)
    row = tg.asarray(y[0])
    wx, wy = x.astype(np.float64), y.astype(np.float64)
    (got,), launches = await launches_of((tg.tanh(a * b + row) * 0.5).sum(axis=-1))
    assert launches == 1 and np.abs(got - (np.tanh(wx * wy + wy[0]) * 0.5).sum(axis=-1)).max() < 1e-4
    (got,), launches = await launches_of(tg.sqrt((a * a).mean(axis=1, keepdims=True) + 1.0) * 3.0)
    assert launches == 1 and np.abs(got - np.sqrt((wx * wx).mean(axis=1, keepdims=True) + 1) * 3).max() < 1e-5
    (got,), launches = await launches_of(tg.exp(a.T[::-1]).max(axis=0) - tg.asarray(y[:, 0]))
    assert launches == 1 and np.abs(got - (np.exp(wx.T[::-1]).max(axis=0) - wy[:, 0])).max() < 1e-5
    (got,), launches = await launches_of(tg.argmin(tg.abs(a - b), axis=0) * 2 + 1)
    assert launches == 1 and np.array_equal(got, np.argmin(np.abs(x - y), axis=0) * 2 + 1)
    (got,), launches = await launches_of((a > b).sum(axis=1))
    assert launches == 1 and np.array_equal(got, (x > y).sum(axis=1))
    (got,), launches = await launches_of(tg.all(a < b + 10.0, axis=1))
    assert launches <= 2 and got.dtype == bool and got.all()


async def test_scalars_and_shapes_compile_nothing_new() -> None:
    a = tg.asarray(draw("f", (20, 333)))
    await (tg.exp(a * 0.25) * 0.5).sum(axis=1).numpy()
    before = tg.device().counters.pipelines
    got = await tg.fetch(*[(tg.exp(a * (0.25 + k / 1000)) * (0.5 * k)).sum(axis=1) for k in range(100)])
    assert tg.device().counters.pipelines == before
    want = (np.exp(draw("f", (20, 333)).astype(np.float64) * 0.349) * 49.5).sum(axis=1)
    assert np.abs(got[99] / want - 1).max() < 1e-5


async def test_reductions_of_reductions() -> None:
    x = draw("f", (6, 7, 8))
    g = tg.asarray(x)
    e = tg.exp(g - g.max(axis=-1, keepdims=True))
    soft = await (e / e.sum(axis=-1, keepdims=True)).numpy()
    wide = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    assert np.abs(soft - wide / wide.sum(axis=-1, keepdims=True)).max() < 1e-6
    deviation = await ((g - g.mean(axis=(0, 2), keepdims=True)) ** 2).mean(axis=(0, 2)).numpy()
    assert np.abs(deviation - x.astype(np.float64).var(axis=(0, 2))).max() < 1e-6
    assert await g.sum(axis=0).max(axis=1).argmin().item() == x.sum(axis=0).max(axis=1).argmin()


async def test_shared_input_is_computed_once() -> None:
    x = draw("f", (50, 60))
    t = tg.exp(tg.asarray(x))
    low, high, total = await tg.fetch(t.min(axis=1), t.max(axis=1), t.sum(axis=1))
    want = np.exp(x.astype(np.float64))
    for got, f in ((low, "min"), (high, "max"), (total, "sum")):
        assert np.abs(got / getattr(want, f)(axis=1) - 1).max() < 1e-6
