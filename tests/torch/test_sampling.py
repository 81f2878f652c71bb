"""grid_sample and affine_grid of tabgpu.nn against PyTorch."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from test_pooling import draw

import tabgpu as tg
from tabgpu import nn


def places(shape: Any, seed: int) -> np.ndarray:
    """Inside, at the edges, far outside."""
    g = (draw(shape, seed) * 0.9).astype(np.float32)
    g.ravel()[::7] *= 3
    g.ravel()[::11] = 1
    g.ravel()[3::13] = -1
    return g


@pytest.mark.parametrize(
    "shape,out", [((2, 3, 6, 9), (5, 7)), ((1, 2, 1, 4), (3, 3)), ((2, 2, 4, 5, 6), (3, 4, 5))], ids=str
)
def test_grid_sample(shape: Any, out: Any) -> None:
    x, g = draw(shape, 1), places((shape[0], *out, len(out)), 2)
    t, a = (torch.tensor(x), torch.tensor(g)), (tg.asarray(x), tg.asarray(g))
    for mode, outside, aligned in product(
        ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)
    ):
        if mode == "bicubic" and len(out) == 3:
            continue
        theirs = F.grid_sample(*t, mode, outside, aligned).numpy()
        ours = np.asarray(nn.grid_sample(*a, mode, outside, aligned))
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=2e-5, err_msg=f"{mode} {outside} {aligned}")


@pytest.mark.parametrize("size", [(2, 3, 4, 6), (2, 1, 1, 5), (2, 3, 3, 4, 5)], ids=str)
def test_affine_grid(size: Any) -> None:
    rank = len(size) - 2
    theta = draw((2, rank, rank + 1), 3)
    for aligned in (False, True):
        theirs = F.affine_grid(torch.tensor(theta), size, aligned).numpy()
        ours = np.asarray(nn.affine_grid(tg.asarray(theta), size, aligned))
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_views_halves_and_refusals() -> None:
    x, g = draw((2, 6, 9, 3), 4), places((2, 4, 5, 2), 5)
    t, a = torch.tensor(x).permute(0, 3, 1, 2), tg.asarray(x).transpose(0, 3, 1, 2)
    theirs = F.grid_sample(t, torch.tensor(g), align_corners=False).numpy()
    np.testing.assert_allclose(np.asarray(nn.grid_sample(a, g)), theirs, atol=2e-5)
    half = nn.grid_sample(a.astype(tg.float16), g)
    assert half.dtype == tg.float16
    np.testing.assert_allclose(np.asarray(half.astype(tg.float32)), theirs, atol=6e-3)
    for bad in (g[:1], g[..., :1], g[0]):
        with pytest.raises(ValueError, match="do not go with"):
            nn.grid_sample(a, bad)
    with pytest.raises(ValueError, match="wrap"):
        nn.grid_sample(a, g, padding_mode="wrap")
    with pytest.raises(ValueError, match="do not go with"):
        nn.affine_grid(tg.ones((2, 2, 2)), (2, 1, 3, 3))
