"""Defects that the checklists found in the other systems, not inherited; what concerns one row is in its test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import nn


def draw(shape: Any, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, 5]).standard_normal(shape).astype(np.float32)


def counted(*names: str) -> list[int]:
    return [int(tg.memory()[name]) for name in names]


X, W, Q = draw((2, 3, 9, 11)), draw((4, 3, 3, 3), 1), draw((1, 2, 17, 8), 2)
CALLS: dict[str, Any] = {
    "sum": lambda x: tg.sum(x, axis=2),
    "sum of nothing": lambda x: tg.sum(x[:, :, :0], axis=2),
    "product of nothing": lambda x: x[0, 0, :, :0] @ x[0, 0, :0, :],
    "product": lambda x: x.reshape(6, 99) @ x.reshape(6, 99).T,
    "convolution": lambda x: nn.conv2d(x, tg.asarray(W), padding=1),
    "transposed convolution": lambda x: nn.conv_transpose2d(x, tg.asarray(W.swapaxes(0, 1).copy()), stride=2),
    "attention": lambda x: nn.scaled_dot_product_attention(*[tg.asarray(Q)] * 3, is_causal=True),
    "pool": lambda x: nn.avg_pool2d(x, 3, ceil_mode=True),
    "softmax": lambda x: nn.softmax(x, -1),
    "cumsum": lambda x: tg.cumsum(x, axis=-1),
    "sort": lambda x: tg.sort(x, axis=-1),
    "update": lambda x: tg.zeros(7).at[tg.asarray([1, 5, 5])].add(x[0, 0, 0, :3]),
    "pad": lambda x: tg.pad(x, 1),
    "diagonal": lambda x: tg.diag(x[0, 0, 0]),
    "take": lambda x: tg.take(x, tg.asarray([2, 0]), axis=1),
}


@pytest.mark.limits
@pytest.mark.parametrize("name", CALLS)
async def test_memory_of_earlier_arrays_does_not_show(name: str) -> None:
    """oxicuda 5.2 (attention added to what the output held), 5.3 (length from the buffer, reductions of nothing)."""
    want = await CALLS[name](tg.asarray(X)).numpy()
    await tg.synchronize()
    for n in (1, 5, 64, 300, 700, 1500, 4000):  # every size class that the call may take, full of NaN
        for _ in range(4):
            await (tg.zeros(n) + np.float32(np.nan)).numpy()
    assert counted("pooled_bytes")[0] > 0
    np.testing.assert_array_equal(await CALLS[name](tg.asarray(X)).numpy(), want)


@pytest.mark.parametrize("n", (65_536, 65_537, 100_003, 1_000_000))
async def test_long_sums_take_every_partial(n: int) -> None:
    """oxicuda 5.3: a second pass that reads 256 partials only is wrong above 65,536 elements."""
    x = np.arange(n, dtype=np.int64) % 7
    i, f = tg.asarray(x.astype(np.int32)), tg.asarray(x.astype(np.float32))
    total, mean, top = await tg.fetch(tg.sum(i), tg.mean(f), tg.max(i * 0 + tg.arange(n)))
    assert total == x.sum() and top == n - 1
    assert mean == pytest.approx(x.mean(), rel=1e-6)


@pytest.mark.limits
@pytest.mark.parametrize("n", (1, 3, 63, 64, 65, 255, 256, 257, 1000))
async def test_neighbours_in_the_buffer_stay(n: int) -> None:
    """oxicuda 2c: the element count came from the buffer, so that what lies behind the operand was written too."""
    for dtype in ("float32", "uint8", "float16"):
        host = (np.arange(n + 600) % 100).astype(dtype)
        whole = tg.asarray(host)
        part = whole[7 : 7 + n]
        tg.negative(part, out=part) if dtype != "uint8" else tg.add(part, 1, out=part)
        want = host.copy()
        want[7 : 7 + n] = -want[7 : 7 + n] if dtype != "uint8" else want[7 : 7 + n] + 1
        np.testing.assert_array_equal(await whole.numpy(), want)


async def test_nothing_is_read_or_uploaded_in_between() -> None:
    """oxicuda 1.9 (1-D mean finished on the host), hanzo 5.2 (u32 views, clones, fills and casts through the host)."""
    x, ids = tg.asarray(draw((6, 5))), tg.asarray(np.array([4, 0, 2, 2], np.uint32))
    mask = x > 0
    before = counted("reads", "bytes_read", "bytes_uploaded")
    made = [
        tg.mean(x.reshape(-1)), tg.mean(x, axis=0), tg.take(x, ids, axis=0), tg.take_along_axis(x, ids[None, :1], 1),
        x.at[ids].add(1.0), tg.index_add(x, 0, ids, x[:4]), tg.where(mask, x, 0), tg.asarray(ids[::-1]).copy(),
        ids.astype("float32"), x.astype("float16"), x.astype("uint32"), tg.copy(x.T), tg.zeros((3, 3)),
        nn.softmax(x, -1), nn.rms_norm(x, 5), tg.concat([x, x]), tg.pad(x, 2), nn.avg_pool1d(x[None], 2),
    ]  # fmt: skip
    made[-1][...] = 0.5
    await tg.synchronize()
    assert counted("reads", "bytes_read", "bytes_uploaded") == before
    await tg.fetch(*made)


async def test_chained_products_on_the_same_arrays() -> None:
    """oxicuda 4: 30 products in a row with another alpha each and one read; 8 negations without a wait."""
    a, host = tg.asarray(draw((16, 16)) / 4), draw((16, 16)) / 4
    got, want = tg.eye(16), np.eye(16)
    await tg.synchronize()
    submits = counted("submits")[0]
    for k in range(30):
        alpha = 1 + k / 100
        got, want = tg.linalg.blas.gemm(alpha, a, got), np.float32(alpha) * (host.astype(np.float64) @ want)
    x = tg.asarray(host)
    for _ in range(8):
        x = tg.negative(x)
    made, same = await tg.fetch(got, x)
    assert counted("submits")[0] - submits <= 3
    np.testing.assert_allclose(made, want, rtol=1e-4, atol=1e-5 * np.abs(want).max())
    np.testing.assert_array_equal(same, host)


async def test_shapes_of_indexing_and_movement_compile_nothing() -> None:
    """tenferro 1.6 and 5.2: shapes, strides and axes were constants of its kernels; each new one compiled."""

    def calls(m: int, n: int) -> list[tg.Array]:
        x = tg.asarray(draw((m, n)))
        i = tg.asarray(np.arange(m) % max(m // 2, 1))
        return [
            tg.take(x, i, axis=0), tg.take_along_axis(x, i[:, None], 1 if m <= n else 0) if m <= n else x + 1,
            x.at[i].add(1.0), tg.copy(x.T), tg.pad(x, ((m % 3, 1), (2, n % 4))), tg.concat([x, x[:1]]),
            tg.roll(x, (1, n % 5), (0, 1)), nn.softmax(x, -1),
        ]  # fmt: skip

    sizes = [(3, 8), (5, 9), (33, 70), (70, 33), (64, 64), (130, 131), (257, 300), (4, 1001)]
    for m, n in sizes:
        for made in calls(m, n):
            await made.numpy()
    before = tg.device().counters.pipelines
    rng = np.random.default_rng(3)
    for _ in range(40):
        for made in calls(int(rng.integers(2, 300)), int(rng.integers(2, 300))):
            await made.numpy()
    assert tg.device().counters.pipelines - before <= 12
