"""Uploads and reads by the piece: sizes around the pieces, memory that is kept and given back, faults, words."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from faults import js_side, no_memory, restored, soon  # noqa: F401  # restored: a fixture
from tab import IN_TAB, run_js

import tabgpu as tg
from tabgpu import engine
from tabgpu.errors import OutOfMemoryError

MIB = 1 << 20
SIZES = [
    1,
    3,
    MIB // 2 - 1,
    MIB // 2,
    MIB - 4,
    MIB,
    MIB + 1,
    4 * MIB,
    4 * MIB + 7,
    17 * MIB + 5,
    33 * MIB + 3,
]
in_tab = pytest.mark.skipif(not IN_TAB, reason="the pieces are bridge.js's")


def noise(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, n, np.uint8)


def lift() -> list[tuple[int, int]]:
    """(made, ready) of the large and the small pieces for uploads."""
    return [(k.made, k.ready.length) for k in engine.device().js.lift.kinds]


@pytest.mark.parametrize("nbytes", SIZES)
async def test_sizes_around_the_pieces(nbytes: int) -> None:
    """Twice: the first upload of a size finds no pieces, the second does."""
    for seed in range(3):
        host = noise(nbytes, seed)
        array = tg.asarray(host)
        np.testing.assert_array_equal(await array.numpy(), host)
        np.testing.assert_array_equal(await array[nbytes // 3 :].numpy(), host[nbytes // 3 :])


async def test_many_uploads_without_a_turn_of_the_event_loop() -> None:
    """More than there are pieces; the values are those at the call."""
    host = np.arange(5 * MIB // 4, dtype=np.int32)
    await tg.synchronize()
    made = []
    for k in range(8):
        host[0] = k
        made.append(tg.asarray(host))
    for k, array in enumerate(made):
        got = await array.numpy()
        assert got[0] == k
        np.testing.assert_array_equal(got[1:], host[1:])


async def test_reads_of_several_arrays_cross_the_pieces() -> None:
    hosts = [noise(n, n) for n in (3 * MIB + 1, 5, 2 * MIB, 9 * MIB + 2)]
    got = await tg.fetch(*[tg.asarray(h) for h in hosts])
    for have, want in zip(got, hosts, strict=True):
        np.testing.assert_array_equal(have, want)


async def test_reads_at_once() -> None:
    """Each has its own staging memory."""
    hosts = [noise(n, n) for n in (3 * MIB, 4, 2 * MIB, 6 * MIB)]
    arrays = [tg.asarray(h) for h in hosts]
    for have, want in zip(await asyncio.gather(*[a.numpy() for a in arrays]), hosts, strict=True):
        np.testing.assert_array_equal(have, want)


async def test_reads_are_bounded() -> None:
    """What stays for the next read is 64 MiB at most, and trim gives it back."""
    big = tg.asarray(noise(40 * MIB, 1))
    await asyncio.gather(*[big.numpy() for _ in range(3)])
    assert js_side()["staging"] <= 8
    tg.trim()
    assert js_side()["staging"] == 0


@in_tab
async def test_upload_memory_grows_with_need_and_goes_when_idle() -> None:
    tg.trim()
    assert lift() == [(0, 0), (0, 0)]
    host = noise(24 * MIB, 2)
    for _ in range(4):
        tg.asarray(host)
        await tg.synchronize()
    (large, ready), _ = lift()
    assert 4 <= ready <= large <= 24
    run_js("(lift) => { clearTimeout(lift.timer); lift.trim(); }")(
        engine.device().js.lift
    )  # as its timer does
    assert lift() == [(0, 0), (0, 0)]
    np.testing.assert_array_equal(await tg.asarray(host).numpy(), host)


@in_tab
async def test_no_memory_for_uploads_pieces() -> None:
    """Then uploads go without them."""
    tg.trim()
    host = noise(12 * MIB, 3)
    with no_memory("uploads"):
        for _ in range(3):
            np.testing.assert_array_equal(await soon(tg.asarray(host).numpy()), host)
    await tg.synchronize()
    np.testing.assert_array_equal(await tg.asarray(host).numpy(), host)


async def test_scalars() -> None:
    """One word, read the short way in a tab."""
    values: list[tuple[Any, Any]] = [
        (np.float32(-0.0), -0.0), (np.float32("nan"), float("nan")), (np.int32(-(2**31)), -(2**31)),
        (np.uint32(2**32 - 1), 2**32 - 1), (np.int8(-7), -7), (np.float16(1.5), 1.5), (np.bool_(True), True),
        (np.complex64(1 - 2j), 1 - 2j),
    ]  # fmt: skip
    for host, want in values:
        got = await tg.asarray(host).item()
        assert type(got) is type(want)
        assert str(got) == str(want)
    line = tg.asarray(np.arange(9, dtype=np.int16))
    assert [await line[k].item() for k in range(9)] == list(range(9))
    assert await asyncio.gather(*[(line[k] * 2).item() for k in range(9)]) == list(range(0, 18, 2))


async def test_a_scalar_of_a_lost_device(restored: None) -> None:  # noqa: F811
    x = tg.asarray(np.float32(3.0))
    await tg.synchronize()
    waiting = asyncio.ensure_future(x.item())
    await asyncio.sleep(0)
    tg.device().js.destroy()
    with pytest.raises(tg.DeviceLostError):
        await soon(waiting)


async def test_a_scalar_of_a_failed_submit() -> None:
    """The read that is told of a fault raises it, and the next one is well."""
    good = tg.asarray(np.arange(65536, dtype=np.float32))
    tg.trim()
    with no_memory():
        bad = good * 3
        engine.flush()
    with pytest.raises(OutOfMemoryError):
        await soon(bad[5].item())
    assert await good[5].item() == 5.0
