"""tg.backend: opening, memory, copies and queries (OX-24 to OX-35, OX-42; TF-06 to TF-12, TF-57 to TF-60)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import launches, same
from faults import opened, restored  # noqa: F401  # fixtures
from handles import RNG, B, get, numbers, put, ready
from tab import IN_TAB, run_js

import tabgpu as tg

# --- memory and life -----------------------------------------------------------------------------------------------


async def test_ox_24_ox_25_new_and_init() -> None:
    """OX-24, OX-25: a new backend has no device, names itself, initialises once, and shares device and handles."""
    backend = B.Backend()
    assert backend.name() == "webgpu" and not backend.is_initialized() and "not initialised" in repr(backend)
    for call in (lambda: backend.alloc(4), lambda: backend.free(1), lambda: backend.copy_htod(1, b"1234"),
                 lambda: backend.gemm("N", "N", 1, 1, 1, 1.0, 1, 1, 2, 1, 0.0, 3, 1),
                 lambda: backend.unary("abs", 1, 2, 1),
                 lambda: backend.capabilities()):  # fmt: skip
        with pytest.raises(B.NotInitialized, match="await backend.init"):
            call()
    for wait in (lambda: backend.copy_dtoh(4, 1), lambda: backend.synchronize()):
        with pytest.raises(tg.NotInitializedError):
            await wait()
    await backend.init()
    gpu = tg.device()
    await backend.init()
    assert backend.is_initialized() and repr(tg.device()) == repr(gpu)
    other = await ready()
    h = put(backend, np.float32([4, 5]))
    assert (await get(other, h, 2)).tolist() == [4, 5]
    assert B.default() is B.default()


async def test_ox_27_alloc() -> None:
    """OX-27: whole words, no nothing, no more than a binding holds; counted as an array's memory is."""
    backend = await ready()
    for wrong in (0, -4, 2.5, True):
        with pytest.raises(B.InvalidArgument, match="positive number of bytes"):
            backend.alloc(wrong)
    most = backend.capabilities()["limits"]["maxStorageBufferBindingSize"]
    with pytest.raises(B.OutOfMemory, match="at most") as caught:
        backend.alloc(max(most, tg.device().limits["maxBufferSize"]) + 4)
    assert isinstance(caught.value, MemoryError)
    live = tg.memory()["live_bytes"]
    h = backend.alloc(1 << 20)
    assert tg.memory()["live_bytes"] >= live + (1 << 20)
    backend.free(h)
    assert tg.memory()["live_bytes"] == live


async def test_ox_27_a_memory_limit_holds_for_handles(restored: None) -> None:  # noqa: F811
    """OX-27: what `init(memory_limit=)` says."""
    await tg.init(memory_limit=1 << 16)
    backend = await ready()
    with pytest.raises(B.OutOfMemory, match="memory_limit is 65,536"):
        backend.alloc(1 << 17)


async def test_ox_28_free() -> None:
    """OX-28: handles are never used again; unknown ones and double frees are told apart; recorded work goes on."""
    backend = await ready()
    a, b = put(backend, np.float32([1, 2])), backend.alloc(8)
    backend.unary("neg", a, b, 2)
    backend.free(a)
    assert (await get(backend, b, 2)).tolist() == [-1, -2]
    c = backend.alloc(8)
    assert c > b > a and backend.alloc(8) != c
    with pytest.raises(B.DoubleFree, match=f"handle {a} was freed"):
        backend.free(a)
    with pytest.raises(B.DoubleFree, match=f"copy_htod: dst {a} was freed"):
        backend.copy_htod(a, b"")
    for unknown in (0, -1, 1 << 60, "a", None, 1.0, True):
        with pytest.raises(B.UnknownHandle, match="is no handle"):
            backend.free(unknown)
    with pytest.raises(B.UnknownHandle, match="binary: b 1152921504606846976 is no handle"):
        backend.binary("add", b, 1 << 60, c, 1)


async def test_ox_28_many_lives_leave_nothing_behind() -> None:
    """OX-28: 200 rounds of alloc, work and free keep no memory and few bind groups."""
    import json

    backend = await ready()
    js = tg.engine.device().js

    async def one() -> None:
        a, b = backend.alloc(64), backend.alloc(64)
        backend.unary("abs", a, b, 16)
        await backend.synchronize()
        backend.free(a)
        backend.free(b)

    await one()
    await one()
    live, before = tg.memory()["live_bytes"], json.loads(str(js.stats()))
    for _ in range(200):
        await one()
    after = json.loads(str(js.stats()))
    assert tg.memory()["live_bytes"] == live
    assert after["bindGroups"] - before["bindGroups"] <= 8 and after["pipelines"] == before["pipelines"]


async def test_ox_29_ox_30_ox_31_copies() -> None:
    """OX-29, OX-30, OX-31 and G05: any number of bytes, prefixes, empty copies; only what is asked moves."""
    backend = await ready()
    for n in (1, 2, 3, 5, 6, 7, 64, 1001):
        data = RNG.integers(0, 256, n).astype("uint8")
        h = backend.alloc(n)
        backend.copy_htod(h, data)
        moved = tg.memory()["bytes_read"]
        assert await backend.copy_dtoh(n, h) == data.tobytes()
        assert tg.memory()["bytes_read"] - moved <= n + 3
        part = bytearray(max(1, n // 2))
        assert await backend.copy_dtoh_async(part, h) is part and bytes(part) == data.tobytes()[: len(part)]
        backend.copy_htod(h, b"")
        assert await backend.copy_dtoh(0, h) == b"" and await backend.copy_dtoh(bytearray(), h) == bytearray()
        with pytest.raises(
            B.UndersizedBuffer, match=rf"copy_htod: {n + 1:,} bytes for handle {h}, which has {n:,}"
        ):
            backend.copy_htod(h, bytes(n + 1))
        with pytest.raises(B.UndersizedBuffer, match=f"copy_dtoh: {n + 1:,} bytes from 0 on"):
            await backend.copy_dtoh(n + 1, h)
    data = np.arange(20, dtype="uint8")
    h = put(backend, data)
    for part in (np.uint8([200]), np.uint8([1, 2, 3, 4]), np.uint8([9] * 7)):  # prefixes: the rest stays
        backend.copy_htod(h, part)
        data[: part.size] = part
        assert (await get(backend, h, 20, "uint8")).tolist() == data.tolist()
    with pytest.raises(B.UnknownHandle):
        backend.copy_htod(1 << 60, b"")
    with pytest.raises(B.InvalidArgument, match="not contiguous"):
        backend.copy_htod(h, np.zeros((4, 4), "uint8")[:, ::2])
    with pytest.raises(B.InvalidArgument, match="no writable contiguous"):
        await backend.copy_dtoh(b"1234", h)


@pytest.mark.js
async def test_ox_29_a_typed_array_of_javascript() -> None:
    """OX-29: uploaded without a copy in Python's memory, whole and as a prefix."""
    backend = await ready()
    h = backend.alloc(16)
    backend.copy_htod(h, run_js("Float32Array.of(1, 2, 3, 4)"))
    backend.copy_htod(h, run_js("Uint16Array.of(0, 0x4100, 7).subarray(0, 2)"))
    assert (await get(backend, h, 4)).tolist() == [8, 2, 3, 4]
    with pytest.raises(B.UndersizedBuffer, match="20 bytes"):
        backend.copy_htod(h, run_js("new Int32Array(5)"))


async def test_one_handle_in_several_dtypes() -> None:
    """Memory has no dtype: bytes written as one are read as another, recorded work keeps what it saw."""
    backend = await ready()
    h = put(backend, np.float32([1, -2, 3, 4]))
    out = backend.alloc(16)
    backend.unary("neg", h, out, 4)  # recorded, not run
    backend.copy_htod(h, np.uint16([0x3C00, 0x4000, 0x4200]))
    assert (await get(backend, out, 4)).tolist() == [-1, 2, -3, -4]
    assert (await get(backend, h, 3, "float16")).tolist() == [1, 2, 3]
    seen = backend.as_array(h, "uint32", (4,))
    backend.binary("add", out, out, h, 3)
    await same([seen], [np.array([0x40003C00, 0xC0004200, 0x40400000, 0x40800000], "uint32")])
    assert (await get(backend, h, 4)).tolist() == [-2, 4, -6, 4]


async def test_no_call_is_traced() -> None:
    """A function that tg.jit runs with stand-ins must not leave them in a handle."""
    backend = await ready()
    h = put(backend, np.ones(4, "float32"))

    def f(x: Any) -> Any:
        backend.scatter(h, 1, 4, [0], h + 1)
        return x

    with pytest.raises(tg.TracingError, match="a call of tg.backend"):
        tg.jit(f)(tg.ones(4))
    assert (await get(backend, h, 4)).tolist() == [1.0] * 4


async def test_ox_32_synchronize() -> None:
    """OX-32: waits, and raises what nobody was told of."""
    backend = await ready()
    a, b = put(backend, np.ones(8, "float32")), backend.alloc(32)
    before = tg.memory()
    for _ in range(8):
        backend.unary("neg", a, b, 8)
        a, b = b, a
    await backend.synchronize()
    after = tg.memory()
    assert after["launches"] > before["launches"] and after["reads"] == before["reads"]
    assert (await get(backend, a, 8)).tolist() == [1.0] * 8
    wrong = tg.ElementwiseKernel("float32 x", "float32 z", "z = nothing;", "wrong")(tg.ones(2))
    with pytest.raises(tg.KernelError, match="nothing"):
        await backend.synchronize()
    del wrong


async def test_ox_33_adapter_and_device_by_hand(restored: None) -> None:  # noqa: F811
    """OX-33, P07: an adapter of one's own becomes the device of handles and of arrays; options arrive as an object."""
    adapter = await B.Backend.request_adapter("low-power")
    assert adapter.limits is not None
    old = await ready()
    h = put(old, np.ones(3, "float32"))
    backend = await B.Backend.from_adapter(await B.Backend.request_adapter())
    assert backend.is_initialized() and tg.device().js.label == "tabgpu"
    offered = adapter.limits.maxBufferSize if IN_TAB else adapter.limits["max-buffer-size"]
    assert (
        backend.capabilities()["limits"]["maxBufferSize"] == offered
    )  # asked for, by an object and not by a Map
    k = put(backend, np.float32([1, 2]))
    assert (await get(backend, k, 2)).tolist() == [1, 2]
    assert (await (tg.ones(2) + 1).numpy()).tolist() == [2, 2]
    with pytest.raises(tg.DeviceLostError):
        await get(backend, h, 3)
    with pytest.raises(tg.DeviceLostError):
        old.alloc(4)
    assert not old.is_initialized()
    await old.init()
    assert old.is_initialized() and old.runtime() == backend.runtime()


async def test_ox_34_init_from_canvas() -> None:
    """OX-34: the id of a canvas is taken and not looked at."""
    backend = B.Backend()
    await backend.init_from_canvas("no-such-canvas")
    assert backend.is_initialized()


def test_ox_35_all_methods_are_there() -> None:
    """OX-35: the fifteen methods, batched_gemm among them, are the class's own, none inherited from a default."""
    for name in ("name", "init", "is_initialized", "gemm", "batched_gemm", "conv2d_forward", "attention", "reduce",
                 "unary", "binary", "synchronize", "alloc", "free", "copy_htod", "copy_dtoh"):  # fmt: skip
        assert getattr(B.Backend, name).__doc__, name


async def test_ox_26_ox_42_queries() -> None:
    """OX-26, OX-42: real numbers of the adapter, devices, the tile that a product takes."""
    backend = await ready()
    about = backend.capabilities()
    assert about["limits"] == tg.device().limits and about["name"] == tg.device().name
    assert about["f16"] == ("shader-f16" in tg.device().features)
    assert backend.supports_f16() and backend.hardware_class() == ("cpu" if about["software"] else "gpu")
    devices = await backend.available_devices()
    assert devices and all(set(d) == {"vendor", "architecture", "device", "description"} for d in devices)
    for sizes in ((1024, 1024, 1024), (64, 64, 64), (3, 1000, 7)):
        rows, columns, depth = backend.recommended_tile_for(*sizes)
        assert 1 <= rows <= 256 and 1 <= columns <= 256 and depth >= 1
    assert backend.recommended_tile_for(2048, 2048, 512)[0] >= backend.recommended_tile_for(16, 16, 512)[0]
    with pytest.raises(B.InvalidArgument, match="is empty"):
        backend.recommended_tile_for(0, 4, 4)
    with pytest.raises(B.Unsupported, match="products of complex64"):
        backend.recommended_tile_for(4, 4, 4, dtype="complex64")


# --- tenferro's rows --------------------------------------------------------------------------------------------------


async def test_tf_06_tf_07_tf_09_tensors_over_handles() -> None:
    """TF-06, TF-07, TF-09: upload, download and allocate with dtype and shape, bool as bytes, empty tensors."""
    backend = await ready()
    for x in (numbers(3, 4), RNG.integers(-5, 5, (2, 5)).astype("int32"), np.array([[True, False, True]]),
              np.zeros((0, 3), "float32"), (numbers(4) + 1j).astype("complex64")):  # fmt: skip
        h = backend.upload_host_tensor(x)
        back = await backend.download_to_host(h, x.dtype.name, x.shape)
        assert back.dtype == x.dtype and np.array_equal(back, x)
    h = backend.allocate("int16", (3, 5))
    backend.copy_htod(h, np.arange(15, dtype="int16"))
    assert (await backend.download_to_host(h, "int16", (3, 5))).tolist() == np.arange(15).reshape(
        3, 5
    ).tolist()
    with pytest.raises(B.InvalidArgument, match="use from_array"):
        backend.upload_host_tensor(tg.ones(3))
    x = tg.asarray(numbers(4, 4))
    h = backend.from_array(x.T)
    assert np.array_equal(await get(backend, h, (4, 4)), (await x.numpy()).T)


async def test_tf_08_synchronize_is_one_round_trip() -> None:
    """TF-08: queued work is submitted and waited for in two crossings."""
    backend = await ready()
    a, b = backend.alloc(64), backend.alloc(64)
    backend.unary("abs", a, b, 16)
    await backend.synchronize()
    backend.unary("abs", a, b, 16)
    before = tg.memory()["crossings"]
    await backend.synchronize()
    assert tg.memory()["crossings"] - before <= 2


async def test_tf_10_map_read_and_map_write() -> None:
    """TF-10: spans with offsets, checked; a written span begins as zeros and replaces exactly itself."""
    backend = await ready()
    data = np.arange(20, dtype="float32")
    h = put(backend, data)
    view = await backend.map_read(h, 16, 24, itemsize=4)
    assert np.frombuffer(view, "float32").tolist() == data[4:10].tolist()
    assert len(await backend.map_read(h)) == 80 and len(await backend.map_read(h, 80)) == 0
    async with backend.map_write(h, 8, 12, itemsize=4) as span:
        assert bytes(span) == bytes(12)
        span[4:8] = np.float32([7]).tobytes()
    data[2:5] = (0, 7, 0)
    assert (await get(backend, h, 20)).tolist() == data.tolist()
    async with backend.map_write(h, 1, 3) as span:
        span[:] = b"abc"
    raw = bytearray(data.tobytes())
    raw[1:4] = b"abc"
    assert await backend.copy_dtoh(80, h) == bytes(raw)
    async with backend.map_write(h) as span:
        span[:] = bytes(range(80))
    assert await backend.copy_dtoh(80, h) == bytes(range(80))
    with pytest.raises(ZeroDivisionError):
        async with backend.map_write(h) as span:
            raise ZeroDivisionError
    assert await backend.copy_dtoh(80, h) == bytes(range(80))
    for span, says in (
        ((76, 8), "8 bytes from 76 on"),
        ((84, None), "from 84 on"),
        ((-4, 4), "offset = -4 is negative"),
    ):
        with pytest.raises(B.InvalidArgument, match=says):
            await backend.map_read(h, *span)
    with pytest.raises(B.InvalidArgument, match="no multiples of itemsize 4"):
        await backend.map_read(h, 2, 4, itemsize=4)


async def test_tf_11_tf_12_runtimes_and_engines() -> None:
    """TF-11, TF-12: a runtime is handed on, identities compare, engines are registered by name."""
    backend = await ready()
    clone = B.Backend.from_runtime(backend.runtime())
    assert clone.is_initialized() and clone.runtime_identity() == backend.runtime_identity()
    assert len({clone.runtime(), backend.runtime()}) == 1 and backend.runtime() != object()
    assert await B.Backend.webgpu_available()
    name = f"webgpu-{len(B.engines())}"
    B.register_engine(name, B.default)
    assert B.engines()[name]() is B.default()
    with pytest.raises(B.InvalidArgument, match="is registered"):
        B.register_engine(name, B.default)
    assert backend.name() == "webgpu" and backend.hardware_class() in ("gpu", "cpu")


async def test_tf_57_tf_58_calls_are_fused() -> None:
    """TF-57, TF-58: a chain of calls whose middle handles are freed is one launch; so is a broadcast multiply."""
    backend = await ready()
    a, b = put(backend, numbers(64)), put(backend, numbers(64))
    out = backend.alloc(256)

    async def chain() -> int:
        s, t = backend.alloc(256), backend.alloc(256)
        await backend.synchronize()
        before = launches()
        backend.binary("add", a, b, s, 64)
        backend.unary("tanh", s, t, 64)
        backend.binary("mul", t, a, out, 64)
        backend.free(s)
        backend.free(t)
        await backend.synchronize()
        return launches() - before

    assert [await chain() for _ in range(2)] == [1, 1]
    x, y = await get(backend, a, 64), await get(backend, b, 64)
    assert np.allclose(await get(backend, out, 64), np.tanh(x + y) * x, atol=1e-6)
    rows, column = tg.asarray(numbers(8, 8)), tg.asarray(numbers(8))
    await tg.synchronize()
    before = launches()
    await (rows * column * 2 + 1).numpy()
    assert launches() - before == 1


async def test_tf_59_reclaim_buffer() -> None:
    """TF-59: memory of a freed handle is used for the next, and `tg.trim` gives it back to the device."""
    backend = await ready()
    size = 3 << 16
    h = backend.alloc(size)
    await backend.synchronize()
    pooled = tg.memory()["pooled_bytes"]
    backend.reclaim_buffer(h)
    assert tg.memory()["pooled_bytes"] >= pooled + size
    hits = tg.engine.device().pool_hits
    backend.free(backend.alloc(size))
    assert tg.engine.device().pool_hits == hits + 1
    tg.trim()
    assert tg.memory()["pooled_bytes"] == 0


async def test_tf_60_a_product_seen_before_is_not_planned_again() -> None:
    """TF-60: instead of a cache slot: the same product of other handles plays the program that is known."""
    backend = await ready()
    programs = tg.engine.programs(tg.engine.device())

    async def once() -> None:
        a, b, c = put(backend, numbers(6, 6)), put(backend, numbers(6, 6)), backend.alloc(144)
        backend.gemm("N", "N", 6, 6, 6, 1.0, a, 6, b, 6, 0.0, c, 6)
        await backend.synchronize()

    for _ in range(3):
        await once()
    hits, pipelines = programs.hits, tg.memory()["pipelines"]
    for _ in range(4):
        await once()
    assert programs.hits - hits == 4 and tg.memory()["pipelines"] == pipelines
