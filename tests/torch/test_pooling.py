"""Pools, unpools and columns of tabgpu.nn against PyTorch: shapes, arguments, values, places, errors."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import tabgpu as tg
from tabgpu import nn

SHAPES: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((2, 3, 29), (4, 8), (1, 1, 1)),
    2: ((2, 3, 13, 17), (3, 8, 5), (1, 2, 1, 9)),
    3: ((2, 3, 7, 9, 11), (2, 4, 5, 6)),
}


def draw(shape: Any, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, 21]).standard_normal(shape).astype(np.float32)


def both(name: str, x: np.ndarray, *args: Any, **options: Any) -> tuple[Any, Any]:
    """(torch's, ours) of one call, or the word `error` for each that refuses it."""
    made = []
    for module, operand in ((F, torch.tensor(x)), (nn, tg.asarray(x))):
        try:
            out = getattr(module, name)(operand, *args, **options)
        except (RuntimeError, ValueError, IndexError, TypeError, ArithmeticError):
            made.append("error")
            continue
        made.append([np.asarray(o) for o in out] if isinstance(out, tuple) else np.asarray(out))
    return made[0], made[1]


def agree(theirs: Any, ours: Any, what: Any, rtol: float = 2e-6, atol: float = 1e-6) -> None:
    if isinstance(theirs, str) or isinstance(ours, str):
        assert isinstance(theirs, str) and isinstance(ours, str), what
        return
    assert theirs.shape == ours.shape, what
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol, err_msg=str(what))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_max_pools(rank: int) -> None:
    """HZ-83 and its kin: also what is refused."""
    for shape in SHAPES[rank]:
        x = draw(shape)
        for k, s, p, d, c in product((1, 2, 5), (None, 1, 3), (0, 1, 2), (1, 2), (False, True)):
            theirs, ours = both(f"max_pool{rank}d", x, k, s, p, d, c, True)
            what = (shape, k, s, p, d, c)
            if isinstance(theirs, str):
                agree(theirs, ours, what)
                continue
            assert np.array_equal(theirs[0], ours[0]), what
            inside = np.isfinite(
                ours[0]
            )  # of windows that lie in the padding torch's places are outside, ours -1
            assert np.array_equal(np.where(inside, theirs[1], -1), ours[1]), what


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_average_pools(rank: int) -> None:
    """HZ-82 and its kin: also what is refused."""
    for shape in SHAPES[rank]:
        x = draw(shape, 1)
        for k, s, p, c, inner in product((1, 2, 4), (None, 3), (0, 1, 2), (False, True), (False, True)):
            what = (shape, k, s, p, c, inner)
            agree(*both(f"avg_pool{rank}d", x, k, s, p, c, inner), what)
            if rank > 1:
                agree(*both(f"avg_pool{rank}d", x, k, s, p, c, inner, 7), what)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_power_pools(rank: int) -> None:
    for shape in SHAPES[rank]:
        x = np.abs(draw(shape, 2))
        for q, k, s, c in product((1, 2, 3, float("inf"), -float("inf")), (2, 3), (None, 1), (False, True)):
            agree(*both(f"lp_pool{rank}d", x, q, k, s, c), (shape, q, k, s, c), rtol=1e-5)
    signed = both("lp_pool1d", draw((2, 3, 12), 3), 3, 2)
    np.testing.assert_allclose(signed[1], signed[0], rtol=1e-5, equal_nan=True)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_adaptive_pools(rank: int) -> None:
    for shape in SHAPES[rank]:
        x = draw(shape, 4)
        for out in (1, 2, 3, 5, 8, 30):
            theirs, ours = both(f"adaptive_max_pool{rank}d", x, out, True)
            assert np.array_equal(theirs[0], ours[0]) and np.array_equal(theirs[1], ours[1]), (shape, out)
            agree(*both(f"adaptive_avg_pool{rank}d", x, out), (shape, out))
    if rank > 1:
        kept = (None,) * (rank - 1) + (3,)
        agree(*both(f"adaptive_avg_pool{rank}d", draw(SHAPES[rank][0]), kept), kept)


def test_fractional_pools() -> None:
    """Windows where the same random numbers put torch's."""
    rng = np.random.default_rng(11)
    for trial in range(40):
        rank = 2 + trial % 2
        sizes = tuple(int(v) for v in rng.integers(6, 14, rank))
        k = tuple(int(v) for v in rng.integers(1, 4, rank))
        out = tuple(int(rng.integers(1, n - a + 1)) for n, a in zip(sizes, k, strict=True))
        x, u = draw((2, 3, *sizes), trial), rng.random((2, 3, rank)).astype(np.float32)
        name = f"fractional_max_pool{rank}d"
        theirs = getattr(F, name)(torch.tensor(x), k, out, None, True, torch.tensor(u))
        ours = getattr(nn, name)(x, k, out, None, True, u)
        for a, b in zip(theirs, ours, strict=True):
            assert np.array_equal(a.numpy(), np.asarray(b)), (sizes, k, out)


def test_v10_values_that_are_not_finite() -> None:
    """V10: NaN, infinities and signed zeros, in the middle and at the border, with padding."""
    rng = np.random.default_rng(5)
    for trial in range(20):
        x = rng.choice(np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 3e38]), (2, 2, 6, 7))
        for k, s, p in ((2, None, 1), (3, 1, 1), (3, 2, 0)):
            theirs, ours = both("max_pool2d", x, k, s, p, return_indices=True)
            assert np.array_equal(theirs[0], ours[0], equal_nan=True) and np.array_equal(theirs[1], ours[1])
            zero = theirs[0] == 0
            assert np.array_equal(np.signbit(theirs[0][zero]), np.signbit(ours[0][zero]))
            x1 = np.where(np.abs(x) > 1e38, np.float32(np.inf), x)  # sums that do not overflow on the way
            for inner in (True, False):
                theirs, ours = both("avg_pool2d", x1, k, s, p, False, inner)
                np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7, equal_nan=True)
    low = np.full((1, 1, 5, 5), -np.inf, np.float32)
    theirs, ours = both("max_pool2d", low, 3, 2, 1, return_indices=True)
    assert np.array_equal(theirs[0], ours[0]) and np.array_equal(theirs[1], ours[1])


def test_integers_and_halves() -> None:
    rng = np.random.default_rng(6)
    for name in ("int8", "uint8", "int16", "int32"):
        info = np.iinfo(name)
        x = rng.integers(info.min, info.max, (2, 2, 7, 6), name, endpoint=True)
        theirs, ours = both("max_pool2d", x, 3, 2, 1, return_indices=True)
        assert ours[0].dtype == x.dtype
        assert np.array_equal(theirs[0], ours[0]) and np.array_equal(theirs[1], ours[1])
    x = draw((2, 3, 9, 9), 7)
    for name in ("float16", "bfloat16"):
        t, g = torch.tensor(x).to(getattr(torch, name)), tg.asarray(x).astype(name)
        for call in (lambda m, v: m.max_pool2d(v, 3, 2, 1), lambda m, v: m.avg_pool2d(v, 3, 2, 1)):
            theirs, ours = call(F, t).float().numpy(), np.asarray(call(nn, g).astype(tg.float32))
            np.testing.assert_allclose(ours, theirs, rtol=0 if "max" in name else 2.0**-7, atol=1e-3)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_way_back(rank: int) -> None:
    for shape in SHAPES[rank][:2]:
        x = draw(shape, 8)
        for k, s in ((2, None), (3, 3)):
            v, i = getattr(F, f"max_pool{rank}d")(torch.tensor(x), k, s, return_indices=True)
            theirs = getattr(F, f"max_unpool{rank}d")(v, i, k, s, output_size=x.shape[-rank:])
            given = tg.asarray(v.numpy()), tg.asarray(i.numpy().astype(np.int32))
            ours = getattr(nn, f"max_unpool{rank}d")(*given, k, s, output_size=x.shape[-rank:])
            assert np.array_equal(np.asarray(ours), theirs.numpy())


def test_columns() -> None:
    for shape in ((2, 3, 9, 11), (3, 8, 7)):
        x = draw(shape, 9)
        for k, d, p, s in product((1, 3, (2, 3)), (1, 2), (0, 2, (1, 0)), (1, 3)):
            theirs, ours = both("unfold", x, k, d, p, s)
            assert np.array_equal(theirs, ours), (k, d, p, s)
            agree(*both("fold", theirs, shape[-2:], k, d, p, s), (k, d, p, s))


def test_shuffles() -> None:
    x = draw((2, 8, 4, 6), 10)
    for name, factor in (
        ("pixel_shuffle", 2),
        ("pixel_unshuffle", 2),
        ("channel_shuffle", 4),
        ("channel_shuffle", 2),
    ):
        theirs, ours = both(name, x, factor)
        assert np.array_equal(theirs, ours), name
