"""nn.pad, affine_grid and grid_sample against plain loops in float64. (All modes against PyTorch: tests/torch.)"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import nn

R = np.random.default_rng(41)


def f32(*shape: int) -> Any:
    return R.standard_normal(shape).astype(np.float32)


async def test_pad() -> None:
    """From the last axis on; negative widths crop; modes under torch's names."""
    x = f32(2, 4, 5)
    there = tg.asarray(x)
    cases: list[tuple[tuple[int, ...], str, Any]] = [
        ((1, 2), "constant", np.pad(x, ((0, 0), (0, 0), (1, 2)))),
        ((-1, 2, 1, -2), "constant", np.pad(x[:, :2, 1:], ((0, 0), (1, 0), (0, 2)))),
        ((2, 1, 3, 0), "reflect", np.pad(x, ((0, 0), (3, 0), (2, 1)), mode="reflect")),
        ((3, -3), "reflect", np.pad(x, ((0, 0), (0, 0), (3, 0)), mode="reflect")[..., :5]),
        ((7, 1, 0, 6), "replicate", np.pad(x, ((0, 0), (0, 6), (7, 1)), mode="edge")),
        ((5, 2, 1, 4), "circular", np.pad(x, ((0, 0), (1, 4), (5, 2)), mode="wrap")),
        ((0, 0, 1, 0, 0, 2), "constant", np.pad(x, ((0, 2), (1, 0), (0, 0)))),
        ((), "constant", x),
    ]
    got = await tg.fetch(*[nn.pad(there, pad, mode) for pad, mode, _ in cases])
    for one, (pad, mode, want) in zip(got, cases, strict=True):
        assert one.shape == want.shape and (one == want).all(), (pad, mode)
    five, text = await tg.fetch(
        nn.pad(there, (1, 1), value=5.0), nn.pad(tg.asarray([True, False]), (1, 0), value=True)
    )
    assert (five[..., 0] == 5).all() and text.dtype == bool and text.tolist() == [True, True, False]
    bad: list[tuple[tuple[int, ...], str]] = [
        ((5, 0), "reflect"),
        ((6, 0), "circular"),
        ((-3, -3), "constant"),
    ]
    for pad, mode in [*bad, ((1,), "constant"), ((1, 1), "edge")]:
        with pytest.raises(ValueError, match="pad:"):
            nn.pad(there, pad, mode)
    with pytest.raises(ValueError, match="value"):
        nn.pad(there, (1, 1), "reflect", 1.0)


def sampled(x: Any, grid: Any, nearest: bool, padding: str, corners: bool) -> Any:
    """(N, C, H, W) at (N, Ho, Wo, 2), one place after the other."""
    n, c, h, w = x.shape
    out = np.zeros((n, c, *grid.shape[1:3]))

    def moved(at: float, size: int) -> float:
        if padding == "reflection":
            low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
            while high > low and not low <= at <= high:
                at = 2 * low - at if at < low else 2 * high - at
        return at if padding == "zeros" else min(max(at, 0.0), size - 1.0)

    for b, i, j in np.ndindex(n, *grid.shape[1:3]):
        xy = [float(v) for v in grid[b, i, j]]
        px, py = (
            (v + 1) / 2 * (s - 1) if corners else ((v + 1) * s - 1) / 2
            for v, s in zip(xy, (w, h), strict=True)
        )
        px, py = moved(px, w), moved(py, h)
        ty, tx = py - np.floor(py), px - np.floor(px)
        corner = [(int(py - ty) + u, int(px - tx) + v, u, v) for u, v in itertools.product((0, 1), repeat=2)]
        taps = [(y, z, abs(1 - u - ty) * abs(1 - v - tx)) for y, z, u, v in corner]
        taps = [(round(py), round(px), 1.0)] if nearest else taps
        for y, z, weight in taps:
            if 0 <= y < h and 0 <= z < w:
                out[b, :, i, j] += weight * x[b, :, y, z].astype(np.float64)
    return out


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
async def test_grid_sample(padding: str, corners: bool) -> None:
    x, grid = f32(2, 3, 5, 4), f32(2, 3, 6, 2)
    a, b = await tg.fetch(
        nn.grid_sample(x, grid, padding_mode=padding, align_corners=corners),
        nn.grid_sample(tg.asarray(x), tg.asarray(grid), "nearest", padding, corners),
    )
    np.testing.assert_allclose(a, sampled(x, grid, False, padding, corners), atol=1e-5)
    np.testing.assert_allclose(b, sampled(x, grid, True, padding, corners), atol=1e-6)


async def test_the_identity_of_affine_grid_samples_the_image() -> None:
    x = f32(2, 3, 5, 4)
    theta = np.tile(np.float32([[[1, 0, 0], [0, 1, 0]]]), (2, 1, 1))
    for corners in (False, True):
        grid = nn.affine_grid(theta, x.shape, corners)
        for mode in ("bilinear", "nearest", "bicubic"):
            got = await nn.grid_sample(x, grid, mode, align_corners=corners).numpy()
            np.testing.assert_allclose(got, x, atol=2e-5)
    half = await nn.grid_sample(tg.asarray(x).astype("float16"), grid).numpy()
    empty = await nn.grid_sample(x, np.zeros((2, 0, 3, 2), np.float32)).numpy()
    assert half.dtype == np.float16 and empty.shape == (2, 3, 0, 3)
    with pytest.raises(ValueError, match="grid_sample: input"):
        nn.grid_sample(x, np.zeros((1, 4, 4, 2), np.float32))
    with pytest.raises(ValueError, match="mode"):
        nn.grid_sample(x, np.zeros((2, 4, 4, 2), np.float32), "cubic")
    with pytest.raises(ValueError, match="affine_grid"):
        nn.affine_grid(theta, (3, 1, 4, 4))
