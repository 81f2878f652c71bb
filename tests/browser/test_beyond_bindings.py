"""Pools, resizes and columns of buffers larger than a storage binding: cut along the leading axes, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import engine, nn


@pytest.fixture(autouse=True)
def small_bindings() -> Iterator[None]:
    gpu = engine.device()
    facts = engine.facts_of(gpu)
    gpu.facts, gpu.programs = replace(facts, binding=1 << 16), None
    try:
        yield
    finally:
        gpu.facts, gpu.programs = facts, None


def draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def pooled(x: np.ndarray) -> np.ndarray:
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))


VIEWS = {
    "contiguous": lambda a: a,
    "reversed": lambda a: a[::-1, ::-1, ::-1],
    "every other channel": lambda a: a[:, ::2],
    "channels last": lambda a: a.transpose(0, 3, 2, 1),
}


@pytest.mark.parametrize("how", VIEWS)
@pytest.mark.parametrize("name", ["float32", "float16", "int8"])
async def test_along_leading_axes(how: str, name: str) -> None:
    x = (draw(40, 16, 16, 16) * 10).astype(np.float16 if name == "float16" else name)
    a, g = VIEWS[how](x), VIEWS[how](tg.asarray(x))
    want = pooled(np.ascontiguousarray(a))
    before = tg.device().counters.launches
    assert np.array_equal(await nn.max_pool2d(g, 2).numpy(), want)
    assert tg.device().counters.launches - before > 1
    up = await nn.interpolate(g, scale_factor=2).numpy()
    assert np.array_equal(up, a.repeat(2, 2).repeat(2, 3))
    columns = nn.unfold(g, 2, stride=2)
    assert np.array_equal(await nn.fold(columns, (16, 16), 2, stride=2).numpy(), a)


async def test_weights_and_columns() -> None:
    x = draw(30, 9, 16, 16)
    g = tg.asarray(x)
    mean = x.reshape(30, 9, 8, 2, 8, 2).mean((3, 5), dtype=np.float64)
    assert np.allclose(await nn.avg_pool2d(g, 2).numpy(), mean, atol=1e-6)
    assert np.allclose(await nn.interpolate(g, 8, mode="bilinear").numpy(), mean, atol=1e-6)
    turned = draw(16, 30, 36)  # columns of 9 channels as a view
    got = await nn.fold(tg.asarray(turned).transpose(1, 2, 0), (8, 8), 2, stride=2).numpy()
    apart = turned.transpose(1, 2, 0).reshape(30, 9, 2, 2, 4, 4)
    assert np.array_equal(got, apart.transpose(0, 1, 4, 2, 5, 3).reshape(30, 9, 8, 8))


async def test_what_cannot_be_cut() -> None:
    """Refused with both sizes, before any GPU work."""
    one = tg.asarray(draw(1, 1, 200, 200))
    many = tg.asarray(draw(40, 16, 8, 8))
    for call in (
        lambda: nn.max_pool2d(one, 2),
        lambda: nn.interpolate(one, 30),
        lambda: nn.max_pool2d(many, 2, return_indices=True)[0],
        lambda: nn.grid_sample(many, tg.zeros((40, 2, 2, 2))),
    ):
        with pytest.raises(tg.errors.LimitError, match=r"1\d\d,\d{3} bytes.*65,536"):
            await call().numpy()
