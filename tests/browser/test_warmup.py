"""await tg.warmup(): after it the first call compiles nothing; what earlier pages needed; pipelines are bounded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from faults import broken_kernels, restored, soon

import tabgpu as tg
from tabgpu import bridge, engine, pipelines, region
from tabgpu.bridge import run_sync
from tabgpu.remembered import NAME

__all__ = ["restored"]


def f32(*shape: int) -> Any:
    return np.random.default_rng(3).uniform(-2, 2, shape).astype(np.float32)


def pipelines_so_far() -> int:
    return int(tg.device().counters.pipelines)


def step(w: Any, x: Any, lr: Any) -> Any:
    h = tg.tanh(x @ w)
    return w - lr * (x.T @ h), (h * h).sum(axis=1)


@pytest.fixture
def kept(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A place of its own for what outlives a page."""
    monkeypatch.setenv("TABGPU_CACHE", str(tmp_path))
    yield
    run_sync(bridge.keep(NAME, ""))


async def anew() -> None:
    """A device without pipelines, and a process without kernels, as in a fresh page."""
    await soon(tg.init())
    region.kernels.clear()
    region.recipes.clear()


@pytest.mark.parametrize("jitted", [True, False])
async def test_the_first_call_compiles_nothing(jitted: bool, restored: None) -> None:
    await anew()
    f = tg.jit(step) if jitted else step
    before = tg.device().counters.launches
    shapes = tg.ShapeDtype((5, 4)), tg.ShapeDtype((3, 5), tg.float32)
    made = await soon(tg.warmup(f, *shapes, 0.5), 120)
    after = pipelines_so_far()
    assert made > 0 and tg.device().counters.launches == before, "nothing ran"
    assert await soon(tg.warmup(f, *shapes, 0.5), 120) == 0
    w, x = tg.asarray(f32(5, 4)), tg.asarray(f32(3, 5))
    new, loss = await soon(tg.fetch(*f(w, x, 0.25)), 60)
    assert pipelines_so_far() == after
    h = np.tanh(f32(3, 5) @ f32(5, 4))
    np.testing.assert_allclose(new, f32(5, 4) - 0.25 * f32(3, 5).T @ h, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(loss, (h * h).sum(axis=1), rtol=1e-4)
    if jitted:
        assert f.cache_info()[:2] == (1, 1)


async def test_structures_and_what_cannot_be_warmed() -> None:
    f = tg.jit(lambda p, n: p["w"] * n + p["b"])
    await soon(tg.warmup(f, {"w": tg.ShapeDtype((3,)), "b": tg.ShapeDtype((3,))}, 2.0), 60)
    before, ones = pipelines_so_far(), np.ones(3, np.float32)
    np.testing.assert_allclose(
        await soon(f({"w": tg.asarray(ones), "b": tg.asarray(ones)}, 4.0).numpy()), [5, 5, 5]
    )
    assert pipelines_so_far() == before
    with pytest.raises(TypeError, match="traced"):
        await soon(tg.warmup(lambda x: float(x.sum()), tg.ones(3)))
    with pytest.raises(ValueError, match="shapes"):
        await soon(tg.warmup(lambda a, b: a + b, tg.ShapeDtype((3,)), tg.ShapeDtype((4,))))


async def test_what_an_earlier_page_needed(kept: None, restored: None) -> None:
    await anew()
    x = tg.asarray(f32(6, 7))
    want = await soon((tg.cosh(x) + x).sum(axis=0).numpy(), 60)
    assert await soon(tg.warmup(), 60) == 0, "all of it is there"
    await anew()
    made = await soon(tg.warmup(), 60)
    before = pipelines_so_far()
    assert made >= 1 and before == made
    x = tg.asarray(f32(6, 7))
    np.testing.assert_array_equal(await soon((tg.cosh(x) + x).sum(axis=0).numpy(), 60), want)
    assert pipelines_so_far() == before
    assert await soon(tg.warmup(), 60) == 0


async def test_of_another_adapter_or_version_nothing_is_taken(
    kept: None, restored: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    await anew()
    x = tg.asarray(f32(4))
    await soon((tg.sinh(x) * 3).numpy(), 60)
    await soon(tg.warmup(), 60)
    with monkeypatch.context() as patch:
        patch.setattr(tg, "__version__", "0.0.0")
        await anew()
        assert await soon(tg.warmup(), 60) == 0
    for nonsense in ("{", "[]", '{"for": 3}', '{"kernels": [[1]]}'):
        await bridge.keep(NAME, nonsense)
        await anew()
        assert await soon(tg.warmup(), 60) == 0


async def test_texts_that_do_not_compile_are_left_out(kept: None, restored: None) -> None:
    await anew()
    x = tg.asarray(f32(4))
    await soon((tg.sinh(x) * 3).numpy(), 60)
    await soon(tg.warmup(), 60)
    said = json.loads(await bridge.recall(NAME))
    said["kernels"].append(["bad", "fn broken( {", "rw", 64])
    await bridge.keep(NAME, json.dumps(said))
    await anew()
    await soon(tg.warmup(), 60)
    before = pipelines_so_far()
    x = tg.asarray(f32(4))
    np.testing.assert_allclose(await soon((tg.sinh(x) * 3).numpy(), 60), np.sinh(f32(4)) * 3, rtol=1e-5)
    assert pipelines_so_far() == before
    await soon(tg.synchronize())


async def test_pipelines_are_bounded_and_come_back(restored: None, monkeypatch: pytest.MonkeyPatch) -> None:
    await anew()
    monkeypatch.setattr(pipelines, "MAX_PIPELINES", 8)
    gpu = engine.device()
    f = tg.jit(lambda x: tg.exp(x) - 1)
    x = tg.asarray(f32(5))
    ops = [
        tg.sin,
        tg.cos,
        tg.tan,
        tg.sqrt,
        tg.exp,
        tg.log1p,
        tg.tanh,
        tg.floor,
        tg.ceil,
        tg.sign,
        tg.cbrt,
        tg.square,
    ]
    for k in range(3):
        np.testing.assert_allclose(await soon(f(x).numpy(), 60), np.exp(f32(5)) - 1, rtol=1e-5)
        for op in ops:
            y = tg.abs(x) + k
            got = await soon((op(y) * 2).numpy(), 60)
            np.testing.assert_allclose(
                got, getattr(np, op.__name__)(np.abs(f32(5)) + k) * 2, rtol=1e-4, atol=1e-5
            )
        assert len(gpu.kernels()) <= 9
    assert gpu.epoch > 0


async def test_a_kernel_that_does_not_compile_is_told_of(
    restored: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    await anew()
    with broken_kernels(monkeypatch, "arctan"):
        f = tg.jit(lambda x: tg.arctan(x) * 2)
        for _ in range(2):
            with pytest.raises(tg.errors.KernelError, match="WGSL line"):
                await soon(tg.warmup(f, tg.ShapeDtype((3,))), 60)
        with pytest.raises(tg.errors.KernelError, match="arctan"):
            await soon(f(tg.asarray(f32(3))).numpy(), 60)
    await soon((tg.asarray(f32(3)) + 1).numpy())
