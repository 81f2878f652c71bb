"""Convolutions, transposes and gradients beside torch on the CPU in float64: random arguments, all kinds of padding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch.nn import grad

import tabgpu as tg
from tabgpu import nn

EPS = 2.0**-24


def draw(rng: Any, *shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


def wide(a: Any) -> torch.Tensor:
    return torch.from_numpy(np.asarray(a, np.float64))


def near(got: Any, want: torch.Tensor, size: torch.Tensor, terms: int, label: Any) -> None:
    got = np.asarray(got)
    assert got.shape == tuple(want.shape), (label, got.shape, want.shape)
    bound = 2 * (terms + 2) * EPS * size.numpy() + 1e-37
    assert (np.abs(got - want.numpy()) <= bound).all(), label


class Case:
    """Random sizes and arguments of a rank."""

    def __init__(self, rank: int, seed: int) -> None:
        rng = self.rng = np.random.default_rng([rank, seed])

        def some(low: int, high: int) -> Any:
            return tuple(int(n) for n in rng.integers(low, high, rank))

        self.groups = int(rng.integers(1, 4))
        self.c, self.k = (int(n) * self.groups for n in rng.integers(1, 7, 2))
        if seed % 5 == 0:  # depthwise
            self.groups, self.k = self.c, self.c * 2
        if seed % 7 == 0:  # enough channels for a tile
            self.groups, self.c, self.k = 1, 20, 36
        self.taps, self.stride, self.dilation = some(1, 4), some(1, 4), some(1, 4)
        self.padding = some(0, 3)
        self.sizes = tuple(
            int(n) + d * (t - 1) for n, d, t in zip(some(1, 9), self.dilation, self.taps, strict=True)
        )
        self.images = int(rng.integers(1, 4))

    @property
    def how(self) -> tuple[Any, ...]:
        return self.stride, self.padding, self.dilation, self.groups


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_forward_and_gradients(rank: int, seed: int) -> None:
    """OX-04, OX-40, OX-41, HZ-77, HZ-79: conv and both of torch.nn.grad's functions."""
    case = Case(rank, seed)
    x = draw(case.rng, case.images, case.c, *case.sizes)
    w = draw(case.rng, case.k, case.c // case.groups, *case.taps)
    b = draw(case.rng, case.k)
    ours, theirs = getattr(nn, f"conv{rank}d"), getattr(F, f"conv{rank}d")
    want = theirs(wide(x), wide(w), wide(b), *case.how)
    size = theirs(wide(abs(x)), wide(abs(w)), wide(abs(b)), *case.how)
    label = (x.shape, w.shape, case.how)
    near(ours(tg.asarray(x), tg.asarray(w), tg.asarray(b), *case.how), want, size, w[0].size, label)
    g = draw(case.rng, *want.shape)
    gx, gw, gg = (tg.asarray(a) for a in (x, w, g))
    back = getattr(grad, f"conv{rank}d_input")
    got = getattr(nn.grad, f"conv{rank}d_input")(x.shape, gw, gg, *case.how)
    want, size = (back(x.shape, wide(f(w)), wide(f(g)), *case.how) for f in (np.array, abs))
    near(got, want, size, case.k * w[0, 0].size, label)
    back = getattr(grad, f"conv{rank}d_weight")
    got = getattr(nn.grad, f"conv{rank}d_weight")(gx, w.shape, gg, *case.how)
    want, size = (back(wide(f(x)), w.shape, wide(f(g)), *case.how) for f in (np.array, abs))
    near(got, want, size, g.size // case.k, label)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_transposed(rank: int, seed: int) -> None:
    """HZ-78, HZ-80: conv_transpose with output_padding."""
    case = Case(rank, seed)
    x = draw(case.rng, case.images, case.k, *(n % 7 + 1 for n in case.sizes))
    w = draw(case.rng, case.k, case.c // case.groups, *case.taps)
    b = draw(case.rng, case.c)
    extra = tuple(
        int(case.rng.integers(0, max(s, d))) for s, d in zip(case.stride, case.dilation, strict=True)
    )
    how = (case.stride, case.padding, extra, case.groups, case.dilation)
    ours, theirs = getattr(nn, f"conv_transpose{rank}d"), getattr(F, f"conv_transpose{rank}d")
    try:
        want, size = (theirs(wide(f(x)), wide(f(w)), wide(f(b)), *how) for f in (np.array, abs))
    except RuntimeError:  # no positions
        with pytest.raises(ValueError, match="conv_transpose"):
            ours(tg.asarray(x), tg.asarray(w), tg.asarray(b), *how)
        return
    near(ours(tg.asarray(x), tg.asarray(w), tg.asarray(b), *how), want, size, case.k * w[0, 0].size, how)


@pytest.mark.parametrize("padding", ["same", "valid"])
def test_named_padding(padding: str) -> None:
    rng = np.random.default_rng(3)
    for taps, dilation in ((1, 1), (2, 1), (3, 2), (4, 3), (5, 1)):
        x, w = draw(rng, 2, 3, 13, 14), draw(rng, 4, 3, taps, taps)
        how: Any = (1, padding, dilation)
        want, size = (F.conv2d(wide(f(x)), wide(f(w)), None, *how) for f in (np.array, abs))
        near(nn.conv2d(tg.asarray(x), tg.asarray(w), None, *how), want, size, w[0].size, how)


def test_one_image_and_errors_as_torch() -> None:
    """What torch takes without a batch, and arguments that both refuse."""
    rng = np.random.default_rng(4)
    x, w = draw(rng, 3, 9, 8), draw(rng, 4, 3, 3, 3)
    want, size = (F.conv2d(wide(f(x)), wide(f(w)), None, 2, 1) for f in (np.array, abs))
    near(nn.conv2d(tg.asarray(x), tg.asarray(w), None, 2, 1), want, size, 27, "one")
    refused: list[tuple[Any, ...]] = [
        (None, 0), (None, 1, -1), (None, 1, 0, 0), (None, 1, 0, 1, 2), (None, 1, 0, 9), (None, 2, "same"),
        (np.ones(3, np.float32),), (None, (1, 1, 1)),
    ]  # fmt: skip
    for bias, *how in refused:
        given = None if bias is None else torch.from_numpy(bias)
        with pytest.raises((RuntimeError, ValueError)):
            F.conv2d(torch.from_numpy(x[None]), torch.from_numpy(w), given, *how)
        with pytest.raises(ValueError, match="conv2d"):
            nn.conv2d(tg.asarray(x[None]), tg.asarray(w), None if bias is None else tg.asarray(bias), *how)
