"""grid_sample and affine_grid of tabgpu.nn against float64. Runs in the tab."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from resized import keys

import tabgpu as tg
from tabgpu import nn


def draw(shape: Any, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng([seed, 11]).standard_normal(shape)).astype(np.float32)


def settled(x: float, n: int, outside: str, aligned: bool) -> float:
    if outside == "reflection":
        low, span = (0.0, n - 1.0) if aligned else (-0.5, float(n))
        if not span:
            return 0.0
        flips, extra = divmod(abs(x - low), span)
        x = low + (span - extra if flips % 2 else extra)
    return x if outside == "zeros" else min(max(x, 0.0), n - 1.0)


def taps(g: float, n: int, mode: str, outside: str, aligned: bool) -> list[tuple[int, float]]:
    """(element, weight) along one axis; elements outside are left out."""
    x = (g + 1) / 2 * (n - 1) if aligned else ((g + 1) * n - 1) / 2
    if mode == "bicubic":
        first = int(np.floor(x)) - 1
        found = [(i, keys(i - x, -0.75)) for i in range(first, first + 4)]
        if outside != "zeros":
            found = [(int(settled(i, n, outside, aligned)), w) for i, w in found]
    else:
        x = settled(x, n, outside, aligned)
        if mode == "nearest":
            found = [(int(np.rint(x)), 1.0)]
        else:
            k = int(np.floor(x))
            found = [(k, 1 - (x - k)), (k + 1, x - k)]
    return [(i, w) for i, w in found if 0 <= i < n]


def sampled(x: np.ndarray, grid: np.ndarray, mode: str, outside: str, aligned: bool) -> np.ndarray:
    wide, sizes = x.astype(np.float64), x.shape[2:]
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for spot in np.ndindex(*grid.shape[:-1]):
        ways = [taps(float(g), n, mode, outside, aligned) for g, n in zip(grid[spot][::-1], sizes)]
        for picks in product(*ways):
            weight = np.prod([w for _, w in picks])
            out[(spot[0], slice(None), *spot[1:])] += (
                weight * wide[(spot[0], slice(None), *[i for i, _ in picks])]
            )
    return out


def places(shape: Any, seed: int) -> np.ndarray:
    g = (draw(shape, seed) * 0.9).astype(np.float32)
    g.ravel()[::7] *= 3
    return g


@pytest.mark.limits
@pytest.mark.parametrize(
    "shape,out", [((2, 3, 6, 9), (5, 7)), ((1, 2, 1, 4), (3, 3)), ((1, 2, 3, 4, 5), (2, 3, 4))], ids=str
)
async def test_grid_sample(shape: Any, out: Any) -> None:
    x, g = draw(shape, 1), places((shape[0], *out, len(out)), 2)
    a, b = tg.asarray(x), tg.asarray(g)
    for mode, outside, aligned in product(
        ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)
    ):
        if mode == "bicubic" and len(out) == 3:
            continue
        got = await nn.grid_sample(a, b, mode, outside, aligned).numpy()
        want = sampled(x, g, mode, outside, aligned)
        assert got.shape == want.shape and np.allclose(got, want, atol=1e-4), (mode, outside, aligned)


async def test_views_dtypes_and_launches() -> None:
    x, g = draw((2, 6, 9, 3), 4), places((2, 4, 5, 2), 5)
    a, b = tg.asarray(x).transpose(0, 3, 1, 2), tg.asarray(g)
    want = sampled(x.transpose(0, 3, 1, 2), g, "bilinear", "zeros", False)
    await tg.synchronize()
    before = tg.device().counters.launches
    assert np.allclose(await nn.grid_sample(a, b).numpy(), want, atol=1e-5)
    assert tg.device().counters.launches - before == 1
    half = nn.grid_sample(a.astype(tg.float16), b)
    assert half.dtype == tg.float16
    assert np.allclose(await half.astype(tg.float32).numpy(), want, atol=6e-3)
    same = await nn.grid_sample(a, np.broadcast_to(g[:1], g.shape)).numpy()
    assert np.allclose(same[0], want[0], atol=1e-5)


async def test_places_that_are_no_places() -> None:
    """NaN and infinities: outside."""
    x = np.arange(1, 13, dtype=np.float32).reshape(1, 1, 3, 4)
    g = np.array([[np.nan, 0], [np.inf, 0], [0, -np.inf], [1e30, -1e30]], np.float32).reshape(1, 1, 4, 2)
    assert (await nn.grid_sample(tg.asarray(x), tg.asarray(g)).numpy() == 0).all()
    edge = await nn.grid_sample(tg.asarray(x), tg.asarray(g[:, :, 1:]), "nearest", "border", True).numpy()
    assert edge[0, 0, 0, 0] == 8 and edge[0, 0, 0, 2] == 4


@pytest.mark.parametrize("size", [(2, 3, 4, 6), (2, 1, 1, 5), (2, 3, 3, 4, 5)], ids=str)
async def test_affine_grid(size: Any) -> None:
    rank = len(size) - 2
    theta = draw((2, rank, rank + 1), 3)
    for aligned in (False, True):
        lines = [(np.arange(n) * 2 - (n - 1)) / (max(n - 1, 1) if aligned else n) for n in size[2:]]
        base = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(size[2:])], -1)
        want = np.einsum("...k,njk->n...j", base, theta)
        got = nn.affine_grid(tg.asarray(theta), size, aligned)
        assert np.allclose(await got.numpy(), want, atol=1e-6)
        still = np.eye(rank, rank + 1, dtype=np.float32)[None].repeat(2, 0)
        x = draw(size, 4)
        same = nn.grid_sample(tg.asarray(x), nn.affine_grid(still, size, aligned), align_corners=aligned)
        assert np.allclose(await same.numpy(), x, atol=1e-5)


async def test_empty_and_wrong() -> None:
    g = tg.ones((1, 2, 4, 4))
    assert nn.grid_sample(g, tg.zeros((1, 0, 3, 2))).shape == (1, 2, 0, 3)
    for call, text in [
        (lambda: nn.grid_sample(g, tg.zeros((2, 3, 3, 2))), r"\(2, 3, 3, 2\) do not go with.*\(1, 2, 4, 4\)"),
        (lambda: nn.grid_sample(g, tg.zeros((1, 3, 3, 3))), "do not go with"),
        (lambda: nn.grid_sample(g, tg.zeros((1, 3, 3, 2)), "cubic"), "cubic"),
        (lambda: nn.grid_sample(g, tg.zeros((1, 3, 3, 2)), padding_mode="wrap"), "wrap"),
        (
            lambda: nn.grid_sample(tg.ones((1, 1, 2, 2, 2)), tg.zeros((1, 2, 2, 2, 3)), "bicubic"),
            "bicubic takes",
        ),
        (lambda: nn.grid_sample(tg.ones((1, 1, 0, 2)), tg.zeros((1, 2, 2, 2))), "must not be empty"),
        (lambda: nn.affine_grid(tg.ones((2, 2, 2)), (2, 1, 3, 3)), "do not go with the size"),
        (lambda: nn.affine_grid(tg.ones((2, 2, 3), tg.int32), (2, 1, 3, 3)), "int32"),
    ]:
        with pytest.raises(ValueError, match=text):
            call()
