"""interpolate of tabgpu.nn against PyTorch: every mode, sizes and scale factors, values and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from test_pooling import agree, both, draw

import tabgpu as tg
from tabgpu import nn

FACTORS = (2, 0.5, 1.5, 2.3, 0.7, 1 / 3, 3, 1.1, 2.9, 0.9, 1.0)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_hz_84_nearest_elements(mode: str) -> None:
    """HZ-84, V08: the same elements as torch's, for every size and factor, also where float32 rounds."""
    for n in (1, 2, 3, 5, 7, 8, 13, 37, 100, 214, 220, 227, 235, 255):
        x = np.arange(n, dtype=np.float32)[None, None]
        for out in {*range(1, 40), 2 * n, max(1, n // 2), 3 * n, n + 1, max(1, n - 1), 299, 511}:
            theirs, ours = both("interpolate", x, out, mode=mode)
            assert np.array_equal(theirs, ours), (n, out)
        for factor in FACTORS:
            theirs, ours = both("interpolate", x, None, factor, mode)
            assert isinstance(theirs, str) == isinstance(ours, str) and np.array_equal(theirs, ours), (
                n,
                factor,
            )


def test_hz_85_nearest_planes_and_volumes() -> None:
    for shape, sizes in (
        ((2, 3, 7, 9), ((14, 18), (3, 20), 5)),
        ((1, 2, 4, 5, 6), ((8, 10, 12), (3, 9, 7), 5)),
    ):
        x = draw(shape)
        for mode in ("nearest", "nearest-exact"):
            for size in sizes:
                theirs, ours = both("interpolate", x, size, mode=mode)
                assert np.array_equal(theirs, ours), (shape, size)
            for factor in (2, 0.6, 1.7):
                theirs, ours = both("interpolate", x, None, factor, mode)
                assert np.array_equal(theirs, ours), (shape, factor)
                theirs, ours = both("interpolate", x, None, factor, mode, recompute_scale_factor=True)
                assert np.array_equal(theirs, ours), (shape, factor)


WAYS: list[dict[str, Any]] = [
    *({"size": n} for n in (1, 2, 5, 14, 30)),
    *({"scale_factor": f} for f in (2, 0.5, 1.7, 0.3, 3.3)),
    *({"scale_factor": f, "recompute_scale_factor": True} for f in (1.7, 0.6)),
]


@pytest.mark.parametrize("mode", ["linear", "bilinear", "bicubic", "trilinear"])
def test_hz_86_weighted_modes(mode: str) -> None:
    """HZ-86 and its kin: align_corners, optional scales, antialias."""
    shape = {"linear": (2, 3, 11), "trilinear": (1, 2, 5, 6, 7)}.get(mode, (2, 3, 9, 14))
    x = draw(shape, 1)
    for way in WAYS:
        for aligned in (None, False, True):
            for wide in (False, True) if mode[:2] == "bi" else (False,):
                what = (way, aligned, wide)
                agree(
                    *both("interpolate", x, mode=mode, align_corners=aligned, antialias=wide, **way),
                    what,
                    1e-5,
                    4e-6,
                )


def test_factors_that_leave_or_double_a_size() -> None:
    """An axis whose size a factor leaves as it is (1.3 times 3 is 3), or doubles, beside one that it changes."""
    for sizes, factors in (
        ((3, 5), (1.3, 2.1)),
        ((5, 4), (2.1, 1.2)),
        ((4, 2), (0.6, 1.4)),
        ((2, 6), (1.4, 1.1)),
    ):
        for rank, modes in (
            (1, ("nearest", "nearest-exact", "linear")),
            (2, ("nearest", "nearest-exact", "bilinear", "bicubic")),
            (3, ("nearest", "nearest-exact", "trilinear")),
        ):
            x = draw((2, 3, *(sizes * 2)[:rank]), 3)
            for mode in modes:
                for wide in (False, True) if mode[:2] == "bi" else (False,):
                    way = {"scale_factor": (factors * 2)[:rank], "mode": mode, "antialias": wide}
                    agree(*both("interpolate", x, **way), (x.shape, way), 1e-5, 4e-6)


@pytest.mark.parametrize("shape", [(1, 2, 11), (2, 3, 9, 14), (1, 2, 5, 6, 7)], ids=str)
def test_area(shape: Any) -> None:
    x = draw(shape, 2)
    for way in WAYS:
        agree(*both("interpolate", x, mode="area", **way), way)


def test_large_planes() -> None:
    """Places near the far edge, where float32 is coarsest."""
    x = draw((1, 1, 3, 4001), 3)
    for size in ((3, 1777), (5, 9001), (2, 4003)):
        for mode in ("bilinear", "bicubic"):
            agree(*both("interpolate", x, size, mode=mode), (size, mode), 1e-3, 4e-3)
        theirs, ours = both("interpolate", x, size)
        assert np.array_equal(theirs, ours)


def test_dtypes() -> None:
    rng = np.random.default_rng(4)
    for name in ("uint8",):
        x = rng.integers(0, 255, (1, 2, 5, 7), name)
        theirs, ours = both("interpolate", x, (9, 4))
        assert np.array_equal(theirs, ours) and ours.dtype == x.dtype
    x = draw((1, 2, 5, 7), 5)
    for name in ("float16", "bfloat16"):
        t, g = torch.tensor(x).to(getattr(torch, name)), tg.asarray(x).astype(name)
        for mode in ("nearest", "bilinear", "bicubic"):
            theirs = F.interpolate(t, (9, 4), mode=mode).float().numpy()
            ours = np.asarray(nn.interpolate(g, (9, 4), mode=mode).astype(tg.float32))
            step = 2.0 ** -(8 if name == "bfloat16" else 11)
            np.testing.assert_allclose(ours, theirs, rtol=2 * step, atol=2 * step * np.abs(x).max())


def test_refusals() -> None:
    """What torch refuses, tabgpu refuses."""
    x = draw((1, 2, 6, 6))
    for options in (
        {},
        {"size": 3, "scale_factor": 2},
        {"size": (3, 3, 3)},
        {"size": 3, "align_corners": False},
        {"size": 3, "recompute_scale_factor": True},
        {"size": 3, "antialias": True},
        {"scale_factor": 0.01},
        {"scale_factor": (2, 2, 2)},
    ):
        theirs, ours = both("interpolate", x, **options)
        assert isinstance(theirs, str) and isinstance(ours, str), options
    for shape, mode in (((1, 2, 6), "bilinear"), ((1, 2, 6, 6), "linear"), ((1, 2, 6, 6), "trilinear")):
        for module, make in ((F, torch.tensor), (nn, tg.asarray)):
            with pytest.raises(NotImplementedError):
                module.interpolate(make(draw(shape)), 3, mode=mode)
