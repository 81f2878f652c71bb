"""Readers in the tab: numpy, item, tolist, fetch; exact lengths, views, ownership of results, errors."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu.bridge import can_suspend

DTYPES = (np.bool_, np.int32, np.uint32, np.float32)


def draw(dtype: Any, shape: tuple[int, ...]) -> Any:
    rng = np.random.default_rng([3, *shape])
    return (rng.integers(0, 2, shape) if dtype is np.bool_ else rng.integers(0, 1000, shape)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
async def test_each_length_exactly(dtype: Any) -> None:
    """Stored, computed and seen through an offset: no byte more, none of a neighbour."""
    base = draw(dtype, (1030,))
    g = tg.asarray(base)
    for n in [*range(20), 63, 64, 65, 255, 256, 257, 1023, 1024, 1025]:
        whole, computed, tail = await tg.fetch(tg.asarray(base[:n]), tg.logical_not(g[:n]), g[5 : 5 + n])
        assert whole.dtype == tail.dtype == np.dtype(dtype) and whole.nbytes == n * np.dtype(dtype).itemsize
        assert whole.tobytes() == base[:n].tobytes() and tail.tobytes() == base[5 : 5 + n].tobytes(), n
        assert computed.dtype == np.bool_ and computed.tobytes() == (base[:n] == 0).tobytes(), n


async def test_results_are_numpys_own() -> None:
    """Writable, C-contiguous, aligned, native; changes of one touch neither another nor the GPU."""
    g = tg.asarray(np.arange(12, dtype=np.float32)).reshape(3, 4)
    flags = tg.asarray(np.array([True, False, True]))
    reads = await tg.fetch(g, g.T, flags, g[::-1, 1], g, flags[1:], g[:, 2:])
    for a in reads:
        assert type(a) is np.ndarray and a.flags.writeable and a.flags.c_contiguous and a.flags.aligned
        assert a.dtype.isnative
    kept = [a.copy() for a in reads]
    reads[0][...] = -1
    reads[2][...] = False
    for a, b in zip(reads[3:], kept[3:], strict=True):
        assert np.array_equal(a, b)
    again = await g.numpy()
    assert np.array_equal(again, kept[0]) and again is not reads[0]


async def test_views_of_views() -> None:
    x = np.arange(2 * 3 * 5 * 7, dtype=np.int32).reshape(2, 3, 5, 7)
    g = tg.asarray(x)
    cases = [
        lambda a: a[1], lambda a: a[:, 1, ::2], lambda a: a[..., ::-3], lambda a: a[1, 2, 3, 4],
        lambda a: a[0, :, 4:1:-2, 1:6:2],
        lambda a: a[:, None, 1], lambda a: a[1:1], lambda a: a[:, :, 3:2], lambda a: a.T[2:5][::-1],
        lambda a: a[-1, -1, -1],
        lambda a: a.reshape(6, 35)[::5, 1:], lambda a: a[:, 0].reshape(-1)[3:9],
        lambda a: a.swapaxes(1, 3)[0, ::-1, 1],
    ]  # fmt: skip
    for case, got in zip(cases, await tg.fetch(*[f(g) for f in cases]), strict=True):
        want = case(x)
        assert got.shape == want.shape and np.array_equal(got, want)
    for case in cases:
        assert (await case(g).tolist()) == case(x).tolist()


async def test_a_contiguous_view_moves_only_its_bytes() -> None:
    g = tg.asarray(np.arange(1_000_000, dtype=np.float32))
    before = tg.memory()["bytes_read"]
    assert (await g[1000:1010].numpy()).tolist() == list(range(1000, 1010))
    assert tg.memory()["bytes_read"] - before == 40
    before = tg.memory()["bytes_read"]
    assert (await g[5:400_000:100_000].tolist()) == [5, 100_005, 200_005, 300_005]
    assert tg.memory()["bytes_read"] - before == 16


async def test_item() -> None:
    cases: list[tuple[Any, type]] = [
        (True, bool),
        (False, bool),
        (-7, int),
        (2.5, float),
        (float("inf"), float),
    ]
    for value, kind in cases:
        for shape in ((), (1,), (1, 1)):
            got = await tg.full(shape, value).item()
            assert type(got) is kind and got == value
    assert await tg.asarray(np.uint32(2**32 - 1)).item() == 2**32 - 1
    assert np.isnan(await tg.asarray(float("nan")).item())
    assert await tg.asarray(np.arange(9, dtype=np.int32))[3:4].item() == 3
    for shape in ((0,), (2,), (1, 2)):
        with pytest.raises(ValueError, match="scalar"):
            await tg.ones(shape).item()


async def test_tolist() -> None:
    for x in (
        draw(np.float32, (2, 3)),
        draw(np.bool_, (3,)),
        draw(np.int32, ()),
        draw(np.uint32, (2, 0)),
        draw(np.int32, (0,)),
    ):
        got = await tg.asarray(x).tolist()
        assert got == x.tolist() and type(got) is type(x.tolist())


async def test_fetch_of_several() -> None:
    x = draw(np.float32, (40,))
    a, b = tg.asarray(x), tg.exp(tg.asarray(x) * 0.001)
    before = tg.memory()
    got = await tg.fetch(
        a, b, a + b, b.sum(), a[:0], b[3], tg.zeros((2, 0)), tg.arange(3), a, tg.full(2, True)
    )
    after = tg.memory()
    assert type(got) is tuple and [g.shape for g in got] == [
        (40,),
        (40,),
        (40,),
        (),
        (0,),
        (),
        (2, 0),
        (3,),
        (40,),
        (2,),
    ]
    assert after["reads"] - before["reads"] == 1
    e = np.exp(x.astype(np.float64) * 0.001)
    assert (
        np.array_equal(got[0], x)
        and np.abs(got[2] - (x + e)).max() < 1e-3
        and abs(got[3] / e.sum() - 1) < 1e-6
    )
    assert got[5] == got[1][3] and got[7].tolist() == [0, 1, 2] and got[9].tolist() == [True, True]
    assert await tg.fetch() == ()
    with pytest.raises(TypeError, match="ndarray"):
        await tg.fetch(a, x)
    with pytest.raises(TypeError):
        await tg.fetch([a, b])


async def test_no_bytes() -> None:
    before = tg.memory()["bytes_read"]
    for shape in ((0,), (3, 0), (0, 5, 2)):
        for dtype in DTYPES:
            got = await (tg.zeros(shape, dtype=dtype).astype(tg.float32) + 1).numpy()
            assert got.shape == shape and got.dtype == np.float32
            assert await tg.asarray(np.empty(shape, dtype)).tolist() == np.empty(shape).tolist()
    assert tg.memory()["bytes_read"] == before


async def test_concurrent_reads_and_deletion() -> None:
    x = draw(np.float32, (500,))
    a = tg.asarray(x) * 2.0
    both = await asyncio.gather(a.numpy(), a.numpy(), (a + 1.0).numpy(), a[::-1].numpy())
    assert np.array_equal(both[0], x * 2) and np.array_equal(both[1], x * 2)
    assert np.array_equal(both[2], x * 2 + 1) and np.array_equal(both[3], x[::-1] * 2)
    pending = asyncio.ensure_future((a * 0.5).numpy())
    del a
    assert np.array_equal(await pending, x)
    many = await asyncio.gather(*[(tg.asarray(x[:k]) + k).numpy() for k in range(20)])
    assert all(np.array_equal(g, x[:k] + np.float32(k)) for k, g in enumerate(many))


async def test_synchronize() -> None:
    t = tg.exp(tg.ones(10))
    await tg.synchronize()
    launches = tg.memory()["launches"]
    assert np.allclose(await t.numpy(), np.e) and tg.memory()["launches"] == launches


async def test_protocols_where_python_can_suspend() -> None:
    if not can_suspend():
        pytest.skip("this stack cannot suspend")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    g = tg.asarray(x)
    assert (
        float(g[1, 2]) == 5.0
        and int(g[1, 1]) == 4
        and bool(g[0, 1])
        and not bool(g[0, 0])
        and complex(g[1, 0]) == 3
    )
    assert np.array_equal(np.asarray(g), x) and np.array_equal(np.array(g, dtype=np.float64), x)
    assert [float(v) for row in g for v in row] == list(range(6)) and len(g) == 2
    assert [10, 11, 12][tg.asarray(1)] == 11 and f"{float(g.sum()):.1f}" == "15.0"
    with pytest.raises(ValueError, match="copy"):
        np.asarray(g, copy=False)
    assert repr(g).startswith("array([[0., 1., 2.],") and "5." in str(g)
