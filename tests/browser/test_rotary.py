"""nn.rotary_embedding against the formula in float64: both ways to pair, both forms of tables, parts, positions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import nn

R = np.random.default_rng(3)


def f32(*shape: int) -> Any:
    return R.standard_normal(shape).astype(np.float32)


def tables(*shape: int) -> Any:
    angle = R.uniform(-3, 3, shape)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def reference(x: Any, cos: Any, sin: Any, interleaved: bool = False) -> Any:
    """x (b, h, t, d), tables (t, d/2) or (b, t, d/2)."""
    x, cos, sin = (np.asarray(a, np.float64) for a in (x, cos, sin))
    if cos.ndim == 3:
        cos, sin = cos[:, None], sin[:, None]
    half = x.shape[-1] // 2
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    y, z = a * cos - b * sin, a * sin + b * cos
    return np.stack([y, z], axis=-1).reshape(x.shape) if interleaved else np.concatenate([y, z], axis=-1)


def close(got: Any, want: Any, eps: float = 3e-7) -> None:
    assert got.shape == want.shape
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=eps, atol=eps * 4)


@pytest.mark.limits
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize(
    "b,h,t,d", [(1, 1, 1, 2), (2, 3, 5, 8), (2, 4, 7, 64), (3, 2, 9, 6), (1, 2, 130, 128)]
)
async def test_hz_14_rope(b: int, h: int, t: int, d: int, interleaved: bool) -> None:
    """HZ-14 rope: x (b, h, t, d) with tables (t, d/2) for all and (b, t, d/2), one for each batch."""
    x = f32(b, h, t, d)
    shared, own = tables(t, d // 2), tables(b, t, d // 2)
    got = await tg.fetch(
        nn.rotary_embedding(x, *shared, interleaved), nn.rotary_embedding(tg.asarray(x), *own, interleaved)
    )
    close(got[0], reference(x, *shared, interleaved))
    close(got[1], reference(x, *own, interleaved))


@pytest.mark.parametrize("interleaved", [False, True])
async def test_offset_positions_and_a_part(interleaved: bool) -> None:
    """A cache's position, rows by number, only the first elements, and other places for the axis of positions."""
    x, (cos, sin) = f32(2, 3, 4, 12), tables(20, 6)
    ids = R.integers(0, 20, (2, 4))
    part = tables(4, 4)
    rope = nn.rotary_embedding
    got = await tg.fetch(
        rope(x, cos, sin, interleaved, 7),
        rope(x, cos, sin, interleaved, position_ids=tg.asarray(ids)),
        rope(x, cos, sin, interleaved, position_ids=[3, 1, 19, 0]),
        rope(x, *part, interleaved, rotary_dim=8),
        rope(x.transpose(0, 2, 1, 3), cos, sin, interleaved, seq_dim=1),
        rope(x[0, 0], cos, sin, interleaved, 16),
        rope(x, f32(4, 0), f32(4, 0), interleaved, rotary_dim=0),
    )
    close(got[0], reference(x, cos[7:11], sin[7:11], interleaved))
    close(got[1], reference(x, cos[ids], sin[ids], interleaved))
    rows = [3, 1, 19, 0]
    close(got[2], reference(x, cos[rows], sin[rows], interleaved))
    close(got[3][..., :8], reference(x[..., :8], *part, interleaved))
    assert (got[3][..., 8:] == x[..., 8:]).all() and (got[6] == x).all()
    close(got[4], reference(x, cos[:4], sin[:4], interleaved).transpose(0, 2, 1, 3))
    close(got[5], reference(x[:1, :1], cos[16:], sin[16:], interleaved)[0, 0])


async def test_views_dtypes_and_empties() -> None:
    x, (cos, sin) = f32(4, 3, 10, 16), tables(5, 4)
    base = tg.asarray(x)
    got = await tg.fetch(
        nn.rotary_embedding(base[::-2, :, 1::2, 8:], cos, sin),
        nn.rotary_embedding(base.astype("float16")[:, :, :5, :8], cos, sin, True),
        nn.rotary_embedding(base.astype("bfloat16")[:, :, :5, :8], cos, sin),
        nn.rotary_embedding(tg.zeros((2, 0, 8)), cos, sin),
        nn.rotary_embedding(np.zeros((0, 2, 5, 8), np.float32), cos, sin),
    )
    close(got[0], reference(x[::-2, :, 1::2, 8:], cos, sin))
    half = x.astype(np.float16)[:, :, :5, :8]
    assert got[1].dtype == np.float16
    close(got[1], reference(half, cos, sin, True), 2.0**-10)
    close(got[2], reference(x[:, :, :5, :8], cos, sin), 2.0**-6)
    assert got[3].shape == (2, 0, 8) and got[4].shape == (0, 2, 5, 8)


async def test_one_launch_and_few_pipelines() -> None:
    """All tables and sizes: one kernel for each way to pair and each form of the tables."""

    def run(b: int, h: int, t: int, d: int, interleaved: bool, own: bool) -> Any:
        x, c = tg.ones((b, h, t, d)) * 2, tg.ones((b, t, d // 2) if own else (t, d // 2)) * 3
        return x, c, nn.rotary_embedding(x, c, c, interleaved)

    cases = itertools.product((False, True), (False, True))
    sizes = [
        (2, 3, 5, 8),
        (1, 2, 70, 128),
        (3, 1, 9, 10),
        (2, 5, 6, 64),
        (4, 4, 4, 4),
        (1, 1, 1, 2),
        (2, 2, 130, 32),
    ]
    before = tg.memory()["pipelines"]
    for interleaved, own in cases:
        for b, h, t, d in sizes:
            await run(b, h, t, d, interleaved, own)[2].numpy()
    assert tg.memory()["pipelines"] - before <= 60
    before = tg.memory()["pipelines"]
    for interleaved, own in itertools.product((False, True), (False, True)):
        for k in range(30):
            await run(2 + k % 3, 3 + k % 5, 4 + k, 8 + 8 * (k % 7), interleaved, own)[2].numpy()
    assert tg.memory()["pipelines"] - before <= 8
    x, c, _ = run(2, 3, 5, 8, False, False)
    await tg.fetch(x, c)
    launches = tg.memory()["launches"]
    await nn.rotary_embedding(x, c, c).numpy()
    assert tg.memory()["launches"] - launches == 1


async def test_errors_name_shapes() -> None:
    x, (cos, sin) = f32(2, 3, 4, 8), tables(4, 4)
    rope = nn.rotary_embedding
    with pytest.raises(ValueError, match="even"):
        rope(f32(2, 3, 4, 7), cos, sin)
    with pytest.raises(ValueError, match="even"):
        rope(x, cos, sin, rotary_dim=5)
    with pytest.raises(ValueError, match=r"\(4, 3\)"):
        rope(x, cos[:, :3], sin[:, :3])
    with pytest.raises(ValueError, match="beyond"):
        rope(x, cos, sin, offset=1)
    with pytest.raises(ValueError, match="3 batches"):
        rope(x, *tables(3, 4, 4))
    with pytest.raises(ValueError, match="position_ids"):
        rope(x, cos, sin, position_ids=[1, 2])
    with pytest.raises(ValueError, match="no axis"):
        rope(f32(8), cos, sin)
    with pytest.raises(IndexError):
        rope(x, cos, sin, position_ids=[0, 1, 2, 4])
    with pytest.raises(IndexError):
        await rope(x, cos, sin, position_ids=tg.asarray([0, 1, 2, 4])).numpy()
