"""The device's books on the emulator: sizes, pool, limits, and that a failure in the middle spoils nothing else."""

from __future__ import annotations

import gc
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from emulator import read
from hypothesis import given
from hypothesis import strategies as st

import tabgpu as tg
from tabgpu import engine
from tabgpu.device import Device, size_class
from tabgpu.errors import DeviceLostError, LimitError, OutOfMemoryError, TabgpuError

Open = Callable[..., Device]


def balanced(gpu: Device) -> None:
    """Every byte on the bridge's side is live, pooled or about to be freed."""
    there = {i: b.nbytes for i, b in gpu.js.buffers.items()}
    pooled = {i for ids in gpu._pool.values() for i in ids}
    dying = set(gpu._to_free)
    assert not pooled & dying and len(gpu._to_free) == len(dying)
    assert pooled <= set(there)
    assert gpu.pooled_bytes == sum(there[i] for i in pooled)
    assert sum(there.values()) == gpu.live_bytes + gpu.pooled_bytes + sum(
        there[i] for i in dying if i in there
    )
    assert gpu.pooled_bytes <= gpu.pool_limit


@given(st.integers(1, 1 << 40))
def test_size_classes(n: int) -> None:
    got = size_class(n)
    assert got >= n and got % 256 == 0
    assert got <= max(256, n * 1.125) or n < 2048
    assert size_class(got) == got


@given(st.integers(1, 1 << 30), st.integers(0, 1 << 20))
def test_size_classes_grow(n: int, more: int) -> None:
    assert size_class(n + more) >= size_class(n)


def test_there_are_few_size_classes() -> None:
    assert len({size_class(n) for n in range(1, 1 << 16)}) < 80


@pytest.mark.parametrize("pool", [0, 4096, 1 << 20, 1 << 28])
def test_books_are_balanced(open_gpu: Open, pool: int) -> None:
    gpu, random = open_gpu(options={"pool_bytes": pool}), Random(pool)
    kept: list[tg.Array] = []
    for _ in range(400):
        what = random.randrange(5)
        if what < 2:
            kept.append(tg.asarray(np.zeros(random.choice([1, 60, 64, 65, 200, 3000, 9000]), np.float32)))
        elif what == 2 and kept:
            kept.append(tg.sin(random.choice(kept)) + 1)
        elif what == 3 and kept:
            read(random.choice(kept))
        while len(kept) > random.choice([3, 8, 20]):
            kept.pop(random.randrange(len(kept)))
        if not gpu._words:
            balanced(gpu)
    kept.clear()
    assert gpu.live_bytes == 0
    gpu.trim()
    balanced(gpu)
    assert not gpu.js.buffers and gpu.pooled_bytes == 0


def test_a_released_buffer_is_used_again(gpu: Device) -> None:
    for _ in range(50):
        a = tg.asarray(np.zeros(1000, np.float32))
        del a
    assert len(gpu.js.buffers) == 1


def test_memory_limit(open_gpu: Open) -> None:
    gpu = open_gpu(options={"memory_limit": 100_000})
    a = tg.asarray(np.ones(10_000, np.float32))
    with pytest.raises(OutOfMemoryError, match=r"80,000 bytes.*live.*100,000"):
        tg.asarray(np.ones(20_000, np.float32))
    u = tg.broadcast_to(a, (3, 10_000)) * 2
    before = gpu.counters.as_dict()
    with pytest.raises(MemoryError, match="100,000"):
        read(u)
    assert gpu.counters.as_dict() == before, "refused before any GPU work"
    del u
    np.testing.assert_array_equal(read(a + 1), np.full(10_000, 2))
    balanced(gpu)


def test_a_result_larger_than_a_buffer_is_refused_before_any_work(open_gpu: Open) -> None:
    gpu = open_gpu(maxBufferSize=65536, maxStorageBufferBindingSize=65536)
    a = tg.asarray(np.ones(200, np.float32))
    u = a[:, None] * a
    before = gpu.counters.as_dict()
    with pytest.raises(LimitError, match=r"160,000.*65,536"):
        read(u)
    assert gpu.counters.as_dict() == before
    with pytest.raises(LimitError, match=r"160,000.*65,536"):
        tg.asarray(np.ones((200, 200), np.float32))
    del u
    np.testing.assert_array_equal(read((a[:, None] * a).sum(axis=0)), np.full(200, 200))


def test_bindings_that_are_too_small_are_cut_or_refused(open_gpu: Open) -> None:
    open_gpu(maxStorageBufferBindingSize=65536)
    x = np.arange(100_000, dtype=np.int32)
    a = tg.asarray(x)
    np.testing.assert_array_equal(read(a * 2 + 1), x * 2 + 1)
    np.testing.assert_array_equal(read(a[::-1] * 3), x[::-1] * 3)
    b = tg.asarray(x)
    np.testing.assert_array_equal(read(a[::-1] - b), x[::-1] - x)
    np.testing.assert_array_equal(
        read(a[::-1] - a), x[::-1] - x
    )  # one buffer, read at both ends at once: gathered
    np.testing.assert_array_equal(read(a.reshape(100, 1000).T + 1), x.reshape(100, 1000).T + 1)
    np.testing.assert_array_equal(read((a > 500).reshape(100, 1000).T), (x > 500).reshape(100, 1000).T)
    with pytest.raises(LimitError, match=r"400,000.*65,536"):
        read(
            tg.ones((2, 5), dtype="int32") @ a.reshape(5, 20_000)
        )  # one row of the result is larger than a binding
    assert read(a.sum()) == x.sum(dtype=np.int32)
    np.testing.assert_array_equal(
        read(tg.max(a.reshape((100, 1000)), axis=1)), x.reshape(100, 1000).max(axis=1)
    )
    assert read(tg.argmax(a)) == 99_999
    np.testing.assert_array_equal(read(a > 500), x > 500)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_submit_that_breaks_spoils_only_its_own_results(gpu: Device, monkeypatch: Any, at: int) -> None:
    """Three launches of one plan; the bridge or the device fails at one of them."""
    a = tg.asarray(np.arange(6, dtype=np.float32))
    u, v, w = tg.exp(a), a.sum(), a[:, None] @ a[None, :]
    read(a + 1)
    append, calls = gpu.append, []

    def broken(launch: Any) -> None:
        calls.append(launch)
        if len(calls) == at + 1:
            raise RuntimeError("struck by lightning")
        append(launch)

    with monkeypatch.context() as patch:
        patch.setattr(gpu, "append", broken)
        with pytest.raises(RuntimeError):
            read(u, v, w)
    np.testing.assert_array_equal(read(a * 2), np.arange(6) * 2)
    for x, want in [(u, np.exp(np.arange(6))), (v, 15), (w, np.outer(np.arange(6), np.arange(6)))]:
        for _ in range(2):
            try:
                got = read(x)
            except TabgpuError as error:
                assert "lightning" in str(error), "the first error is the one that is told"
            else:
                np.testing.assert_allclose(got, want, rtol=1e-6)
    del u, v, w, x, a
    calls.clear()
    gc.collect()
    assert gpu.live_bytes == 0


def test_arrays_of_another_device_are_named(open_gpu: Open) -> None:
    open_gpu()
    a = tg.asarray(np.ones(3, np.float32))
    t = a + 1
    open_gpu()
    for x in (a, t, a * 2):
        with pytest.raises(DeviceLostError, match="device"):
            read(x)
    np.testing.assert_array_equal(read(tg.asarray(np.ones(3, np.float32)) + 1), [2, 2, 2])


def test_host_memory_may_change_after_the_call(gpu: Device) -> None:
    x = np.arange(5, dtype=np.int32)
    a = tg.asarray(x)
    u = a * 2
    x[:] = 0
    np.testing.assert_array_equal(read(u), np.arange(5) * 2)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 257])
@pytest.mark.parametrize("dtype", [np.bool_, np.int32])
def test_lengths_are_exact(gpu: Device, n: int, dtype: Any) -> None:
    x = (np.arange(n) % 3).astype(dtype)
    a = tg.asarray(x)
    np.testing.assert_array_equal(read(a), x)
    np.testing.assert_array_equal(read(a[1:]), x[1:])
    np.testing.assert_array_equal(read(a[::-1]), x[::-1])
    np.testing.assert_array_equal(read(tg.where(a == 0, a, a)), x)


def test_a_deep_chain_dies_without_recursion(gpu: Device, monkeypatch: Any) -> None:
    monkeypatch.setattr(engine, "most", 1 << 30)
    t = tg.asarray(np.zeros(3, np.float32))
    for _ in range(2000):
        t = t + 1
    np.testing.assert_array_equal(read(t), [2000] * 3)
    for _ in range(1000):
        t = t + 1
    del t
    engine.pending.clear()
    assert gpu.live_bytes == 0
