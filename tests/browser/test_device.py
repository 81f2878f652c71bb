"""Robustness: loss, memory that runs out, leaks, big arrays and reads."""

from __future__ import annotations

import asyncio
import gc
import json

import numpy as np
import pytest
from faults import (  # noqa: F401  # opened, restored: fixtures
    js_side,
    no_adapter,
    no_memory,
    opened,
    reopened,
    restored,
    soon,
)  # fmt: skip
from tab import IN_TAB, run_js

import tabgpu as tg
from tabgpu import engine
from tabgpu.errors import DeviceLostError, LimitError, OutOfMemoryError

MIB = 1 << 20
GONE = "destroyed" if IN_TAB else "device is lost"


# --- loss -----------------------------------------------------------------------------------------------------------


async def test_loss_with_a_read_pending(restored: None) -> None:
    """G13."""
    x = tg.asarray(np.arange(1000, dtype=np.float32))
    y = x * 2
    waiting = asyncio.ensure_future(tg.fetch(y))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    tg.device().js.destroy()
    with pytest.raises(DeviceLostError, match=GONE):
        await soon(waiting)
    with pytest.raises(DeviceLostError, match=r"device \d+.*lost.*await tg\.init\(\)"):
        await soon(x.numpy())
    assert GONE in tg.device().lost


async def test_loss_before_a_read(restored: None) -> None:
    x = tg.asarray(np.arange(1000, dtype=np.float32))
    tg.device().js.destroy()
    with pytest.raises(DeviceLostError):
        await soon((x + 1).numpy())
    with pytest.raises(DeviceLostError):
        await soon(tg.synchronize())


async def test_loss_before_synchronize(restored: None) -> None:
    x = tg.asarray(np.arange(1000, dtype=np.float32))
    y = x + 1
    tg.device().js.destroy()
    with pytest.raises(DeviceLostError):
        await soon(tg.synchronize())
    with pytest.raises(DeviceLostError):
        await soon(y.numpy())


async def test_loss_while_kernels_compile(restored: None) -> None:
    x = tg.asarray(np.ones(10, np.float32))
    waiting = asyncio.ensure_future((tg.sinh(x) * tg.cosh(x) - tg.arcsinh(x)).numpy())
    await asyncio.sleep(0)
    tg.device().js.destroy()
    with pytest.raises(DeviceLostError):
        await soon(waiting)


async def test_many_reads_pending_at_a_loss(restored: None) -> None:
    x = tg.asarray(np.ones(100, np.float32))
    waiting = [asyncio.ensure_future((x + k).numpy()) for k in range(20)]
    await asyncio.sleep(0)
    tg.device().js.destroy()
    got = await soon(asyncio.gather(*waiting, return_exceptions=True))
    assert all(isinstance(e, DeviceLostError) for e in got), got


async def test_arrays_of_a_lost_device_name_both_devices(restored: None) -> None:
    x = tg.asarray(np.arange(4, dtype=np.float32))
    pending = x + 1
    old = engine.device().generation
    tg.device().js.destroy()
    await reopened()
    new = engine.device().generation
    both = rf"device {old}\b.*device {new}\b"
    with pytest.raises(DeviceLostError, match=both):
        await soon(x.numpy())
    with pytest.raises(DeviceLostError, match=both):
        await soon(pending.numpy())
    fresh = tg.asarray(np.ones(4, np.float32))
    doubled = fresh * 2
    with pytest.raises(DeviceLostError, match=both):
        await soon((doubled + x).numpy())
    with pytest.raises(DeviceLostError, match=both):
        await soon(tg.fetch(fresh, x))
    assert (await soon(doubled.numpy())).tolist() == [2.0] * 4
    assert (await soon((fresh + 1).sum().item())) == 8.0


async def test_init_closes_the_device_before(restored: None) -> None:
    x = tg.asarray(np.arange(4, dtype=np.float32))
    y = x + 1
    waiting = asyncio.ensure_future(x.numpy())
    await asyncio.sleep(0)
    await reopened()
    (got,) = await soon(asyncio.gather(waiting, return_exceptions=True))
    assert isinstance(got, DeviceLostError) or got.tolist() == [0, 1, 2, 3]  # it may have come first
    with pytest.raises(DeviceLostError):
        await soon(y.numpy())
    assert (await tg.ones(3).numpy()).tolist() == [1, 1, 1]


async def test_pending_work_without_data_survives_init(restored: None) -> None:
    y = tg.arange(5) * 2 + tg.ones(5)
    await reopened()
    assert (await y.numpy()).tolist() == [1, 3, 5, 7, 9]


async def test_pending_work_of_an_old_device_does_not_stop_new_work(restored: None) -> None:
    x = tg.asarray(np.arange(4, dtype=np.float32))
    old = [x + k for k in range(100)]
    await reopened()
    y = tg.asarray(np.zeros(4, np.float32))
    for _ in range(300):
        y = y + 1
    assert (await y.numpy()).tolist() == [300] * 4
    del old


async def test_a_lost_array_shows_itself(restored: None) -> None:
    """P13."""
    x = tg.asarray(np.arange(4, dtype=np.float32))
    pending = x + 1
    tg.device().js.destroy()
    for text in (repr(x), repr(pending), str(x)):
        assert "shape=(4,)" in text and len(text) < 1000
    await reopened()
    for text in (repr(x), repr(pending), str(x)):
        assert "shape=(4,)" in text and "DeviceLostError" in text


async def test_two_inits_at_once_give_one_device(restored: None) -> None:
    """P17."""
    before = engine.device().generation
    a, b, c = await soon(asyncio.gather(tg.init(), tg.init(), tg.init()), 60)
    assert a._device is b._device is c._device
    assert engine.device().generation == before + 1
    import importlib
    import sys

    again = importlib.import_module("tabgpu")
    assert again is tg is sys.modules["tabgpu"]
    assert again.device()._device is a._device


async def test_inits_with_different_options_are_not_mixed_up(restored: None) -> None:
    a, b = await soon(asyncio.gather(tg.init(), tg.init(fuse=False)), 60)
    assert a._device.config.fuse and not b._device.config.fuse
    assert engine.device() is b._device


async def test_a_cancelled_init_does_not_cancel_the_other(restored: None) -> None:
    first = asyncio.ensure_future(tg.init())
    second = asyncio.ensure_future(tg.init())
    await asyncio.sleep(0)
    first.cancel()
    device = await soon(second, 60)
    assert device._device is engine.device()
    assert (await tg.ones(2).numpy()).tolist() == [1, 1]


@pytest.mark.js
async def test_a_device_lost_during_init(restored: None) -> None:
    undo = run_js("""() => {
      const real = GPUAdapter.prototype.requestDevice;
      GPUAdapter.prototype.requestDevice = async function (d) {
        const device = await real.call(this, d);
        device.destroy();
        return device;
      };
      return () => { GPUAdapter.prototype.requestDevice = real; };
    }""")()
    try:
        with pytest.raises(DeviceLostError):
            await reopened()
            await soon((tg.ones(3) + 1).numpy())
    finally:
        undo()
    await reopened()
    assert (await (tg.ones(3) + 1).numpy()).tolist() == [2, 2, 2]


async def test_failed_init_leaves_the_old_device(restored: None) -> None:
    x = tg.asarray(np.ones(3, np.float32))
    with pytest.raises(ValueError, match="maxFoo"):
        await tg.init(limits={"maxFoo": 3})
    with (
        no_adapter(),
        pytest.raises(tg.NoAdapterError, match="enable-unsafe-webgpu" if IN_TAB else "llvmpipe"),
    ):
        await tg.init()
    assert (await (x + 1).numpy()).tolist() == [2, 2, 2]


@pytest.mark.js
async def test_a_page_s_own_device_is_left_alone(restored: None) -> None:
    own = await run_js("""async () => {
      const device = await (await navigator.gpu.requestAdapter()).requestDevice({ label: "the page's" });
      device.wasLost = false;
      device.lost.then(() => { device.wasLost = true; });
      return device;
    }""")()
    device = await soon(tg.init(device=own), 60)
    assert device.js.label == "the page's"
    assert (await (tg.asarray(np.ones(3, np.float32)) + 1).numpy()).tolist() == [2, 2, 2]
    await reopened()
    await asyncio.sleep(0.05)
    assert not own.wasLost
    own.destroy()
    assert (await (tg.ones(3) + 1).numpy()).tolist() == [2, 2, 2]


async def test_loss_is_told_without_a_read(restored: None) -> None:
    tg.device().js.destroy()
    await asyncio.sleep(0.05)
    assert GONE in tg.device().lost


async def test_a_submit_that_javascript_refuses() -> None:
    """An inconsistency of ours must not become a wrong value, a hang or an error somewhere else."""
    x, other = tg.asarray(np.ones(300, np.float32)), tg.asarray(np.ones(300, np.float32))
    await tg.synchronize()
    buffers = engine.device().js.buffers
    (buffers.delete if IN_TAB else buffers.pop)(x._cell.op.buffer.id)
    bad = x * 3
    engine.flush()
    fine = other * 2
    with pytest.raises(tg.GPUInternalError, match="submit"):
        await soon(bad.numpy())
    assert (await soon(fine.sum().item())) == 600
    await soon(tg.synchronize())
    assert (await soon((other + 1).sum().item())) == 600


# --- memory ---------------------------------------------------------------------------------------------------------


async def test_too_large_for_the_device_is_refused_before_any_work() -> None:
    device = tg.device()
    limit = device.limits["maxBufferSize"]
    row = tg.asarray(np.ones(1 << 16, np.float32))
    n = limit // (4 << 16) + 1
    before = device.counters.as_dict()
    huge = tg.broadcast_to(row, (n, 1 << 16)) + 1
    with pytest.raises(LimitError, match=rf"{n * (4 << 16):,}.*{limit & ~255:,}"):
        await huge.numpy()
    with pytest.raises(LimitError):
        await huge.numpy()
    assert device.counters.as_dict() == before


async def test_a_chain_after_a_refused_array_ends() -> None:
    """The same error at an operation, not quadratic work, once a graph that cannot be computed gets long."""
    limit = tg.device().limits["maxBufferSize"]
    x = tg.broadcast_to(tg.asarray(np.ones(1 << 16, np.float32)), (limit // (4 << 16) + 1, 1 << 16))

    def build() -> None:
        nonlocal x
        keep = []
        for _ in range(5000):
            x = x + 1
            keep.append(x)

    with pytest.raises(LimitError):
        build()
    del x
    assert (await tg.ones(2).numpy()).tolist() == [1, 1]


async def test_memory_limit(restored: None) -> None:
    await reopened(memory_limit=17 * MIB)
    x = tg.asarray(np.ones(2 * MIB, np.float32))  # 8 MiB
    y = x + 1
    z = x + 2
    before = tg.device().counters.as_dict()
    with pytest.raises(OutOfMemoryError, match=r"16,777,216.*8,388,608.*17,825,792") as caught:
        await tg.fetch(y, z)
    assert isinstance(caught.value, MemoryError)
    del caught  # its traceback holds the arrays
    assert tg.device().counters.as_dict() == before
    with pytest.raises(OutOfMemoryError, match=r"12,000,000.*8,388,608.*17,825,792"):
        tg.asarray(np.ones(3_000_000, np.float32))
    assert float(await y.sum().item()) == 2 * 2 * MIB
    assert (await y[:3].numpy()).tolist() == [2, 2, 2]
    del y
    assert (await z[:3].numpy()).tolist() == [3, 3, 3]
    del x, z
    for _ in range(3):  # what lies in the pool is not live, but what comes out of it is
        a = tg.asarray(np.ones(2 * MIB, np.float32))
        b = tg.asarray(np.ones(2 * MIB - 300_000, np.float32))
        with pytest.raises(OutOfMemoryError):
            tg.asarray(np.ones(2 * MIB, np.float32))
        assert tg.memory()["live_bytes"] <= 17 * MIB
        del a, b


async def test_memory_limit_counts_what_lives_at_once(restored: None) -> None:
    """Ten steps in ten launches need room for two arrays, not for ten."""
    await reopened(memory_limit=4 * MIB, fuse=False)
    x = tg.asarray(np.ones(MIB // 4, np.float32))  # 1 MiB
    y = x
    for _ in range(10):
        y = y + 1
    assert (await y[:2].numpy()).tolist() == [11, 11]


async def test_gpu_out_of_memory_poisons_what_was_written_and_nothing_else() -> None:
    """G14."""
    n = 65536
    good = tg.asarray(np.arange(n, dtype=np.float32))
    other = tg.asarray(np.arange(100, dtype=np.float32)) + 1
    await tg.synchronize()
    tg.trim()
    with no_memory() as failed:
        bad = good * 2
        with pytest.raises(OutOfMemoryError, match=r"262,144 bytes.*live") as caught:
            await soon(bad.numpy())
        assert isinstance(caught.value, MemoryError)
        late = bad + 1  # of a failed value: also with memory there again
    assert failed[0] >= 1
    for _ in range(2):
        with pytest.raises(OutOfMemoryError):
            await soon(bad.numpy())
    with pytest.raises(OutOfMemoryError):
        await soon((late * 2).numpy())
    again = good * 2
    np.testing.assert_array_equal(await again.numpy(), np.arange(n) * 2.0)
    np.testing.assert_array_equal(await other.numpy(), np.arange(100) + 1.0)
    spoiled = {bad._cell.op.buffer.id}
    del bad, late
    tg.trim()
    more = [good + k for k in range(4)]
    got = await tg.fetch(*more)
    for k, x in enumerate(got):
        np.testing.assert_array_equal(x, np.arange(n) + np.float32(k))
    assert not spoiled & {x._cell.op.buffer.id for x in more}
    await tg.synchronize()  # the failure was raised by reads: nothing is left


async def test_gpu_out_of_memory_in_an_upload() -> None:
    tg.trim()
    values = np.arange(1 << 18, dtype=np.int32)
    with no_memory():
        x = tg.asarray(values)
        y = x + 1
        with pytest.raises(OutOfMemoryError, match="1,048,576 bytes"):
            await soon(y.numpy())
    with pytest.raises(OutOfMemoryError):
        await soon(x[:1].numpy())
    with pytest.raises(OutOfMemoryError):
        await soon(tg.fetch(x, tg.ones(3)))
    np.testing.assert_array_equal(await tg.asarray(values).numpy(), values)
    await tg.synchronize()


async def test_gpu_out_of_memory_seen_only_by_synchronize() -> None:
    tg.trim()
    good = tg.asarray(np.arange(65536, dtype=np.float32))
    with no_memory():
        bad = good * 3
        with pytest.raises(OutOfMemoryError):
            await soon(tg.synchronize())
    await tg.synchronize()
    with pytest.raises(OutOfMemoryError):
        await soon(bad.numpy())


async def test_memory_of_a_failed_allocation_reused_before_anyone_knows() -> None:
    """The spoiled buffer dies, its id is taken from the pool at once, and only then somebody waits."""
    tg.trim()
    good = tg.asarray(np.arange(65536, dtype=np.float32))
    with no_memory():
        bad = good * 3
        engine.flush()
        del bad
        second = good * 5
        engine.flush()
    with pytest.raises(OutOfMemoryError):
        await soon(second.numpy())
    np.testing.assert_array_equal(await (good * 5).numpy(), np.arange(65536) * 5.0)


async def test_no_memory_for_the_staging_buffer_of_a_read() -> None:
    x = tg.asarray(np.arange(1 << 20, dtype=np.int32))
    await tg.synchronize()
    tg.trim()
    with no_memory("staging"), pytest.raises(OutOfMemoryError):
        await soon(x.numpy())
    np.testing.assert_array_equal(await x.numpy(), np.arange(1 << 20))
    await tg.synchronize()


@pytest.mark.js
async def test_uncaptured_errors_come_up_at_synchronize() -> None:
    device = tg.device().js
    run_js("(d) => { d.createBuffer({ size: 4, usage: 1 << 20 }); }")(device)
    await asyncio.sleep(0.05)
    assert (await tg.ones(2).numpy()).tolist() == [1, 1]
    with pytest.raises(tg.KernelError, match=r"(?i)usage"):
        await tg.synchronize()
    await tg.synchronize()


# --- leaks ----------------------------------------------------------------------------------------------------------


async def test_2000_steps_with_changing_shapes_leave_nothing(restored: None) -> None:
    """G10, G19."""
    await reopened(pool_bytes=4 * MIB)
    base = tg.asarray(np.ones((64, 64), np.float32))
    x = base

    async def steps(first: int, last: int) -> None:
        nonlocal x
        for k in range(first, last):
            rows, cols = 8 + k % 57, 8 + k * 7 % 53
            x = tg.broadcast_to(x.mean(), (rows, cols)) * 0.5 + base[:rows, :cols]
            if k % 50 == 0:
                await x[0, 0].item()
            assert tg.memory()["pooled_bytes"] <= 4 * MIB

    await steps(0, 500)
    gc.collect()
    before, js_before = tg.memory(), js_side()
    await steps(500, 2000)
    gc.collect()
    after, js_after = tg.memory(), js_side()
    assert abs(after["live_bytes"] - before["live_bytes"]) <= 256 << 10
    assert after["pooled_bytes"] <= 4 * MIB
    assert js_after["buffers"] <= js_before["buffers"] + 64
    assert js_after["groups"] <= 4096 and js_after["pipelines"] == js_before["pipelines"]
    assert js_after["scopes"] <= 64
    assert (await x[:1, :1].numpy()).shape == (1, 1)
    tg.trim()
    await tg.synchronize()
    assert tg.memory()["pooled_bytes"] == 0
    x = base = None
    gc.collect()
    tg.trim()
    await tg.synchronize()
    end = js_side()
    assert tg.memory()["live_bytes"] == 0
    assert end["buffers"] == 0 and end["groups"] == 0 and end["mentions"] == 0 and end["staging"] == 0


async def test_growing_lengths_reuse_size_classes() -> None:
    tg.trim()
    x = tg.asarray(np.ones(3000, np.float32))
    y = None
    made = set()
    for n in range(1000, 3000, 5):
        y = x[:n] * 2
        await y[:1].item()
        made.add(y._cell.op.buffer.id)
    assert len(made) <= 40, f"{len(made)} buffers for 400 lengths"


async def test_an_exception_in_the_middle_of_a_graph_leaks_nothing() -> None:
    await tg.synchronize()
    base = tg.asarray(np.ones((100, 100), np.float32))
    await base.sum().item()
    gc.collect()
    before = tg.memory()["live_bytes"]

    def work(k: int) -> None:
        a = base * k
        b = a @ base + a
        c = b.sum(axis=0)
        engine.flush()
        c @ tg.ones((7, k + 1))  # (100,) @ (7, k+1)

    for k in range(50):
        with pytest.raises(ValueError):
            work(k)
    gc.collect()
    assert tg.memory()["live_bytes"] == before
    assert float(await base.sum().item()) == 10000


@pytest.mark.parametrize("ending", ["read", "dropped"])
@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("in_place", [False, True])
async def test_chain_of_20000_operations(ending: str, fuse: bool, in_place: bool, restored: None) -> None:
    """P08."""
    await reopened(fuse=fuse)
    x = tg.asarray(np.zeros(16, np.float32))
    await tg.synchronize()
    before = js_side()
    for _ in range(20_000):
        if in_place:
            x += 1
        else:
            x = x + 1
    if ending == "read":
        assert (await x.numpy()).tolist() == [20000] * 16
    del x
    await tg.synchronize()
    after = js_side()
    assert after["buffers"] <= before["buffers"] + 300
    assert after["groups"] <= 4096 and after["scopes"] <= 2


async def test_an_unevaluated_wide_graph_can_be_dropped() -> None:
    x = tg.asarray(np.zeros(16, np.float32))
    keep = [x]
    for k in range(20_000):
        keep.append(keep[-1] + keep[k // 2])
    del keep
    assert (await (x + 1).numpy()).tolist() == [1] * 16


LIBRARY = {
    "elementwise": lambda x, i, b: tg.where(b, tg.exp(x) / (x * x + 1), tg.maximum(x, 0.5)),
    "integers": lambda x, i, b: (i // 3 ^ i << 1) % 7,
    "bools": lambda x, i, b: ~b & (x > 0.3) | tg.isnan(x),
    "sum": lambda x, i, b: x.sum(axis=0) + x.mean(),
    "var": lambda x, i, b: ((x - x.mean(axis=1, keepdims=True)) ** 2).sum(axis=1),
    "softmax": lambda x, i, b: tg.exp(x - x.max(axis=1, keepdims=True)) / tg.exp(x).sum(axis=1, keepdims=True),
    "argmax": lambda x, i, b: x.argmax(axis=1) + i.argmin(),
    "any": lambda x, i, b: b.any(axis=0) & b.all(),
    "matmul": lambda x, i, b: tg.tanh(x @ x.T + 1)[0] @ x,
    "views": lambda x, i, b: tg.expand_dims(tg.flip(x.T[::2, 1:]), axis=0).reshape(-1) * 2,
    "broadcast": lambda x, i, b: tg.broadcast_to(x[0], (20, 30)) + x,
    "creation": lambda x, i, b: tg.eye(5) + tg.arange(5) * tg.linspace(0, 1, 5) + tg.full((5, 5), 2.0),
    "astype": lambda x, i, b: tg.astype(tg.astype(x, "int32"), "bool") ^ b,
    "nn": lambda x, i, b: tg.nn.gelu(x) + tg.nn.relu(x),
    "special": lambda x, i, b: tg.special.erf(x) + tg.special.gammaln(x + 2),
}  # fmt: skip


@pytest.mark.parametrize("name", LIBRARY)
async def test_functions_hold_on_to_nothing(name: str) -> None:
    """G11: live bytes return to what they were, without the garbage collector."""
    host = np.random.default_rng(1).random((20, 30)).astype(np.float32)
    x, i, b = tg.asarray(host), tg.asarray((host * 100).astype(np.int32)), tg.asarray(host > 0.5)

    async def steps(n: int) -> None:
        for _ in range(n):
            await LIBRARY[name](x, i, b).numpy()
            LIBRARY[name](x, i, b)  # never read

    await steps(2)
    await tg.synchronize()
    gc.collect()
    before = tg.memory()["live_bytes"]
    gc.disable()
    try:
        await steps(23)
        await tg.synchronize()
        assert tg.memory()["live_bytes"] == before
    finally:
        gc.enable()


async def test_in_place_arithmetic_reads_before_it_writes() -> None:
    """B05: no kernel reads and writes one buffer, whatever overlaps."""
    want = np.arange(1000, dtype=np.int32)
    got = tg.asarray(want)
    for x in (got, want):
        x += x
        x *= x + 1
        y = x
        y -= y[::-1]  # x is y
    np.testing.assert_array_equal(await got.numpy(), want)
    await tg.synchronize()  # computes what was assigned, too
    before = tg.device().counters.launches
    await got.numpy()
    assert tg.device().counters.launches == before
    for _ in range(5):
        got, want = got + got[::-1] * 3, want + want[::-1] * 3
    np.testing.assert_array_equal(await got.numpy(), want)


@pytest.mark.js
async def test_proxies_stay_flat() -> None:
    """P08: no JavaScript reference and no Python proxy is left behind by uploads, flushes and reads."""
    import pyodide_js

    x = tg.asarray(np.ones(100, np.float32))
    trace = run_js("""(pyodide) => {
      pyodide._module.enable_pyproxy_allocation_tracing();
      return () => [pyodide._module._hiwire_num_refs(), pyodide._module.pyproxy_alloc_map.size];
    }""")(pyodide_js)

    async def steps(n: int) -> tuple[dict[str, int], list[int], int]:
        for k in range(n):
            y = tg.asarray(np.full(100, k, np.float32)) + x
            await y.numpy()
            await asyncio.gather(y.numpy(), (y * 2).sum().item())
        del y
        gc.collect()
        await asyncio.sleep(0.01)
        return js_side(), trace().to_py(), tg.memory()["pooled_bytes"]

    try:
        await steps(50)
        js_before, refs_before, pooled_before = await steps(50)
        js_after, refs_after, pooled_after = await steps(200)
    finally:
        run_js("(pyodide) => pyodide._module.disable_pyproxy_allocation_tracing()")(pyodide_js)
    assert all(js_after[name] <= js_before[name] + 8 for name in js_before), (js_before, js_after)
    assert all(b <= a + 8 for a, b in zip(refs_before, refs_after, strict=True)), (refs_before, refs_after)
    assert pooled_after <= pooled_before + 4096


# --- sizes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4_194_241, 16_776_961 + 256])
async def test_more_than_65535_workgroups(n: int) -> None:
    """G01."""
    tg.trim()
    values = (np.arange(n, dtype=np.int32) % 1021).astype(np.int32)
    x = tg.asarray(values)
    got = await (x * 3 + 1).numpy()
    assert np.array_equal(got, values * 3 + 1)
    del got
    assert await x.sum().item() == int(values.sum(dtype=np.int32))
    assert await x.max().item() == 1020
    assert await x.argmax().item() == 1020
    assert await (x == 7).sum().item() == int((values == 7).sum())
    del x
    tg.trim()


async def test_a_large_z_dimension() -> None:
    """G02."""
    x = np.arange(16384 * 110, dtype=np.int32).reshape(16384, 1, 110)
    a = tg.asarray(x)
    np.testing.assert_array_equal(await tg.asarray(a, copy=True).numpy(), x)
    np.testing.assert_array_equal(await tg.permute_dims(a, (2, 1, 0)).numpy(), x.transpose(2, 1, 0))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7, 8, 9, 255, 257])
async def test_bools_of_any_length(n: int) -> None:
    """G05, G07."""
    values = np.random.default_rng(n).integers(0, 2, n).astype(bool)
    x = tg.asarray(values)
    for got, want in (
        (x, values), (~x, ~values), (x[::-1], values[::-1]), (x[1:], values[1:]), (x[::2], values[::2]),
        (x & x[::-1], values & values[::-1]), (x[:-1], values[:-1]),
    ):  # fmt: skip
        out = await got.numpy()
        assert out.dtype == np.bool_ and out.shape == want.shape
        assert out.tobytes() == want.tobytes()
    assert await x.any().item() == values.any() and await x.all().item() == values.all()
    assert await x.sum().item() == values.sum()


async def test_empty_arrays_launch_nothing() -> None:
    """G07."""
    device = tg.device()
    x = tg.zeros((0, 3))
    before = device.counters.launches
    assert (await (x + 1).numpy()).shape == (0, 3)
    assert (await (x * 2 + x).sum(axis=1).numpy()).shape == (0,)
    assert (await (x == 0).numpy()).dtype == np.bool_
    assert device.counters.launches == before
    assert (await x.sum(axis=0).numpy()).tolist() == [0, 0, 0]
    assert (await (tg.zeros((2, 0)) @ tg.zeros((0, 3))).numpy()).tolist() == [[0] * 3] * 2
    with pytest.raises(ValueError, match="empty|zero-size"):
        x.max(axis=0)


@pytest.mark.big
async def test_a_read_of_300_mb_comes_whole() -> None:
    """G08."""
    tg.trim()
    n = 75_000_017
    limit = tg.device().limits["maxStorageBufferBindingSize"]
    x = tg.asarray(np.arange(n, dtype=np.uint32)) if limit < 4 * n else tg.arange(n, dtype=tg.uint32)
    got = await x.numpy()
    assert got.shape == (n,) and got.dtype == np.uint32
    step = 1 << 20
    for at in range(0, n, step):
        assert np.array_equal(got[at : at + step], np.arange(at, min(n, at + step), dtype=np.uint32)), at
    del x, got
    tg.trim()
    await tg.synchronize()
    assert js_side()["staging"] == 0


async def test_a_view_reads_only_its_bytes() -> None:
    values = np.arange(100_000, dtype=np.int32)
    x = tg.asarray(values)
    await tg.synchronize()
    device = tg.device()
    for view, want, most in (
        (x[500:510], values[500:510], 40),
        (x.reshape(100, 1000)[7], values.reshape(100, 1000)[7], 4000),
        (x[99_999:], values[99_999:], 4),
        (x[:0], values[:0], 0),
        (x[::1000], values[::1000], 400),
        (x.reshape(100, 1000)[:, 3], values.reshape(100, 1000)[:, 3], 400),
    ):
        before = device.counters.bytes_read
        np.testing.assert_array_equal(await view.numpy(), want)
        assert device.counters.bytes_read - before == most
    before = device.counters.reads
    await tg.fetch(x[:4], x[8:12], x[100:104])
    assert device.counters.reads - before == 1


async def test_bool_views_read_only_their_words() -> None:
    values = np.arange(1000) % 3 == 0
    x = tg.asarray(values)
    await tg.synchronize()
    before = tg.device().counters.bytes_read
    assert (await x[501:506].numpy()).tolist() == values[501:506].tolist()
    assert tg.device().counters.bytes_read - before == 8


# --- what the device says --------------------------------------------------------------------------------------------


@pytest.mark.js
def test_options_reach_javascript() -> None:
    """P07: limits and labels arrive as JavaScript objects, not as Maps."""
    device = tg.device()
    assert device.js.label == "tabgpu"
    assert device.js.limits.maxStorageBuffersPerShaderStage >= 8
    assert json.loads(json.dumps(device.info)) == device.info
    assert isinstance(device.features, frozenset)


async def test_scalars_and_seeds_compile_nothing() -> None:
    """G23."""
    x = tg.asarray(np.ones(100, np.float32))
    await (x * 2.5 + 1.5).numpy()
    device = tg.device()
    before = device.counters.pipelines
    y = [x * (k + 0.5) + k / 3 for k in range(1000)]
    assert (await y[999].numpy())[0] == np.float32(999.5) + np.float32(333.0)
    assert device.counters.pipelines == before


@pytest.mark.parametrize("order", [0, 1])
async def test_kernels_do_not_collide(order: int) -> None:
    """G22: one operation, several dtypes, shape classes and constants, in both orders."""
    cases = [
        (np.float32, (8,), 2), (np.int32, (8,), 2), (np.uint32, (8,), 2), (np.float32, (3, 5), 2),
        (np.int32, (3, 5), 3), (np.float32, (8,), 3),
    ]  # fmt: skip
    for dtype, shape, scalar in cases[::-1] if order else cases:
        values = (np.arange(np.prod(shape)).reshape(shape) + 3).astype(dtype)
        got = await (tg.asarray(values).T * scalar - 1).numpy()
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, values.T * dtype(scalar) - dtype(1))
        got = await tg.where(tg.asarray(values) > 5, tg.asarray(values), scalar).sum(axis=-1).numpy()
        np.testing.assert_array_equal(
            got, np.where(values > 5, values, dtype(scalar)).sum(axis=-1).astype(dtype)
        )
