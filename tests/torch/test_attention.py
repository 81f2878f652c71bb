"""scaled_dot_product_attention against torch: swept shapes, masks, causal, scale, shared heads, dtypes, layouts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import tabgpu as tg
from tabgpu import nn

LEADS: list[tuple[Any, Any]] = [
    ((), ()),
    ((3,), (3,)),
    ((2, 4), (2, 4)),
    ((2, 4), (2, 2)),
    ((2, 4), (2, 1)),
    ((2, 1, 3), (2, 1, 3)),
]
SIZES = [
    (1, 1, 1, 1),
    (1, 37, 8, 8),
    (5, 5, 4, 12),
    (7, 3, 33, 5),
    (33, 40, 64, 64),
    (4, 300, 16, 20),
    (20, 70, 130, 96),
]


def tensors(lead: Any, other: Any, sizes: Any, seed: int = 0) -> list[torch.Tensor]:
    length, keys, dims, values = sizes
    g = torch.Generator().manual_seed(seed)
    shapes = [(*lead, length, dims), (*other, keys, dims), (*other, keys, values)]
    return [torch.randn(s, generator=g) for s in shapes]


def ours(x: torch.Tensor) -> tg.Array:
    if x.dtype is torch.bfloat16:
        return tg.asarray(x.float().numpy()).astype(tg.bfloat16)
    return tg.asarray(x.numpy())


def same(got: tg.Array, want: torch.Tensor, tolerance: float = 2e-5) -> None:
    value = np.asarray(got.astype(tg.float32))
    assert value.shape == tuple(want.shape) and got.dtype.name == str(want.dtype).removeprefix("torch.")
    assert np.allclose(value, want.float().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_against_torch(sizes: Any) -> None:
    length, keys = sizes[:2]
    for (lead, other), causal, scale in itertools.product(LEADS, (False, True), (None, 0.7)):
        grouped = lead != other
        q, k, v = tensors(lead, other, sizes)
        want = F.scaled_dot_product_attention(q, k, v, None, 0.0, causal, scale=scale, enable_gqa=grouped)
        same(
            nn.scaled_dot_product_attention(ours(q), ours(k), ours(v), None, 0.0, causal, scale, grouped),
            want,
        )


@pytest.mark.parametrize("sizes", SIZES[1:5], ids=str)
def test_masks_against_torch(sizes: Any) -> None:
    length, keys = sizes[:2]
    shapes = [
        (length, keys),
        (1, 1, length, keys),
        (2, 1, length, keys),
        (2, 4, length, keys),
        (2, 1, 1, keys),
        (1, keys),
    ]
    q, k, v = tensors((2, 4), (2, 4), sizes)
    g = torch.Generator().manual_seed(1)
    for shape in shapes:
        floats = torch.randn(shape, generator=g)
        bools = floats > -0.3
        bools[..., 0] = True
        for mask in (floats, bools, torch.where(bools, floats, -torch.inf)):
            want = F.scaled_dot_product_attention(q, k, v, mask)
            same(nn.scaled_dot_product_attention(ours(q), ours(k), ours(v), ours(mask)), want)
    hidden = torch.ones((length, keys), dtype=torch.bool)
    hidden[0] = False  # torch's answer for such a row is 0, or NaN in some of its kernels
    got = np.asarray(nn.scaled_dot_product_attention(ours(q), ours(k), ours(v), ours(hidden)))
    assert not got[..., 0, :].any() and np.isfinite(got).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_narrow_floats_against_torch(dtype: Any) -> None:
    """Nearer to the exact answer than half a unit and a little; torch itself may be further off."""
    for sizes in SIZES[1:6]:
        q, k, v = (x.to(dtype) for x in tensors((2, 4), (2, 2), sizes))
        want = F.scaled_dot_product_attention(
            q.double(), k.double(), v.double(), is_causal=True, enable_gqa=True
        )
        got = nn.scaled_dot_product_attention(ours(q), ours(k), ours(v), is_causal=True, enable_gqa=True)
        same(got, want.to(dtype), 2.0**-7 if dtype is torch.bfloat16 else 2.0**-10)


def test_layouts_against_torch() -> None:
    """Heads out of one projection, as transformers have them."""
    x = torch.randn((2, 30, 3, 4, 16), generator=torch.Generator().manual_seed(3))
    g = ours(x)
    q, k, v = (x[:, :, n].transpose(1, 2) for n in range(3))
    ga, gb, gc = (g[:, :, n].transpose(0, 2, 1, 3) for n in range(3))
    want = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(2, 30, 64)
    got = nn.scaled_dot_product_attention(ga, gb, gc, is_causal=True).transpose(0, 2, 1, 3).reshape(2, 30, 64)
    same(got, want)
    same(
        nn.scaled_dot_product_attention(ga.mT, gb.mT, gc.mT), F.scaled_dot_product_attention(q.mT, k.mT, v.mT)
    )


@pytest.mark.parametrize("wrong", ["heads", "dims", "mask", "dtype"])
def test_what_torch_refuses(wrong: str) -> None:
    q, k, v = tensors((2, 4), (2, 4), (5, 7, 8, 8))
    mask = None
    if wrong == "heads":
        k, v = k[:, :3], v[:, :3]
    elif wrong == "dims":
        k = k[..., :5]
    elif wrong == "mask":
        mask = torch.zeros((5, 6))
    else:
        k = k.half()
    with pytest.raises(RuntimeError):
        F.scaled_dot_product_attention(q, k, v, mask)
    with pytest.raises((ValueError, TypeError)):
        nn.scaled_dot_product_attention(*map(ours, (q, k, v)), None if mask is None else ours(mask))
