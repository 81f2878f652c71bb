"""a.gpu_buffer() and tg.from_gpu_buffer: memory that a page's own passes and arrays share, without a read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import DTYPES, launches, numbered, on_gpu, same
from tab import IN_TAB, run_js

import tabgpu as tg

STORAGE, COPY_SRC, COPY_DST = 0x80, 0x04, 0x08
USUAL = STORAGE | COPY_SRC | COPY_DST

if IN_TAB:
    _make = run_js("""(device, size, usage) => device.createBuffer({ label: "the page's", size, usage })""")
    _write = run_js("(device, buffer, at, data) => device.queue.writeBuffer(buffer, at, data)")
    _read = run_js("""async (device, buffer, at, n) => {
      const staging = device.createBuffer({ size: n, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
      const encoder = device.createCommandEncoder();
      encoder.copyBufferToBuffer(buffer, at, staging, 0, n);
      device.queue.submit([encoder.finish()]);
      await staging.mapAsync(GPUMapMode.READ);
      return new Uint8Array(staging.getMappedRange().slice(0));
    }""")


def page_buffer(size: int, usage: int = USUAL) -> Any:
    """A buffer that is not ours."""
    device = tg.device().js
    return (
        _make(device, size, usage)
        if IN_TAB
        else device.create_buffer(label="its own", size=size, usage=usage)
    )


def write(buffer: Any, values: Any, at: int = 0) -> None:
    device, data = tg.device().js, np.ascontiguousarray(values)
    if IN_TAB:
        from pyodide.ffi import to_js

        _write(device, buffer, at, to_js(memoryview(data.view(np.uint8).reshape(-1))))
    else:
        device.queue.write_buffer(buffer, at, data)


async def read(buffer: Any, at: int, n: int) -> bytes:
    """What the page sees, with the page's own means."""
    n = -(-n // 4) * 4
    if IN_TAB:
        return bytes((await _read(tg.device().js, buffer, at, n)).to_py())
    return bytes(tg.device().js.queue.read_buffer(buffer, at, n))


async def test_every_dtype_lies_where_it_is_said_to() -> None:
    for dtype in DTYPES:
        x = numbered((3, 5), dtype)
        a = on_gpu(x, dtype)
        reads = tg.memory()["reads"]
        buffer, offset, shape, kind = a.gpu_buffer()
        assert (offset, shape, kind.name) == (0, (3, 5), dtype)
        assert tg.memory()["reads"] == reads
        assert (await read(buffer, offset, a.nbytes))[: a.nbytes] == await a.tobytes()


async def test_pending_work_is_submitted_and_nothing_is_read() -> None:
    x = numbered((300,), "float32")
    a = tg.asarray(x)
    before = tg.memory()
    shared = (a * 2 + 1).gpu_buffer()
    after = tg.memory()
    assert after["reads"] == before["reads"] and after["launches"] == before["launches"] + 1
    assert (
        np.frombuffer(await read(shared.buffer, shared.offset, 1200), "float32").tolist()
        == (2 * x + 1).tolist()
    )


async def test_views_begin_at_a_multiple_of_256_bytes() -> None:
    x = numbered((8, 64), "float32")
    a = tg.asarray(x)
    count = launches()
    rows = a[2:5].gpu_buffer()
    assert rows.offset == 512 and rows.buffer.size >= 2048 and launches() == count
    views = (
        (a[1:, :3], x[1:, :3]),
        (a.T, x.T),
        (a[0, 5:9], x[0, 5:9]),
        (tg.arange(7), np.arange(7, dtype="int32")),
    )
    for view, host in views:
        shared = view.gpu_buffer()
        assert shared.offset % 256 == 0 and shared.shape == host.shape
        assert await read(shared.buffer, shared.offset, host.nbytes) == host.tobytes()
    with pytest.raises(ValueError, match=r"shape \(0, 3\) has no memory"):
        tg.zeros((0, 3)).gpu_buffer()


async def test_what_is_shared_stays_as_it_was() -> None:
    """Its memory is neither assigned to nor used again while the result is kept."""
    a = tg.asarray(np.arange(1000, dtype="float32"))
    shared = a.gpu_buffer()
    a[3] = -1
    a += 1
    del a
    others = [tg.asarray(np.full(1000, k, "float32")) * 2 for k in range(5)]
    await tg.fetch(*others)
    assert (await read(shared.buffer, 0, 4000)) == np.arange(1000, dtype="float32").tobytes()


async def test_a_page_s_buffer_becomes_an_array() -> None:
    buffer = page_buffer(256)
    data = np.arange(64, dtype="float32")
    write(buffer, data)
    before = tg.memory()
    a = tg.from_gpu_buffer(buffer, (4, 8), "float32", 32)
    assert tg.memory()["launches"] == before["launches"] and tg.memory()["live_bytes"] == before["live_bytes"]
    await same([a, a * 2, a[1:, ::2].T], [data[8:40].reshape(4, 8), data[8:40].reshape(4, 8) * 2,
                                          data[8:40].reshape(4, 8)[1:, ::2].T])  # fmt: skip
    write(buffer, -data)  # a shared array sees it
    await same([a + 0], [-data[8:40].reshape(4, 8)])


async def test_packed_dtypes_of_a_page_s_buffer() -> None:
    data = np.arange(64, dtype="uint8")
    buffer = page_buffer(64)
    write(buffer, data)
    half = data[6:26].view("float16")
    c = data[8:40].view("complex64")
    await same(
        [
            tg.from_gpu_buffer(buffer, 7, "uint8", 5),
            tg.from_gpu_buffer(buffer, (2, 5), tg.float16, 6),
            tg.from_gpu_buffer(buffer, 4, "complex64", 8),
        ],
        [data[5:12], half.reshape(2, 5), c],
    )


async def test_assignment_leaves_the_page_s_buffer_alone() -> None:
    buffer = page_buffer(64)
    write(buffer, np.zeros(16, "float32"))
    a = tg.from_gpu_buffer(buffer, 16, "float32")
    a[2:4] = 5
    want = np.zeros(16, "float32")
    want[2:4] = 5
    await same([a], [want])
    k = tg.RawKernel("@group(0) @binding(0) var<storage, read_write> v: array<f32>;\n"
                     "@compute @workgroup_size(1) fn main() { v[0] = 9.0; }")  # fmt: skip
    b = tg.from_gpu_buffer(buffer, 16, "float32")
    k(1, b)
    assert await b[0].item() == 9
    assert not any(await read(buffer, 0, 64))


async def test_the_page_s_buffer_is_never_destroyed_or_pooled() -> None:
    buffer = page_buffer(4096)
    write(buffer, np.full(1024, 7, "float32"))
    pooled, live = tg.memory()["pooled_bytes"], tg.memory()["live_bytes"]
    for _ in range(3):
        a = tg.from_gpu_buffer(buffer, 1024, "float32")
        await a.numpy()
        del a
    tg.trim()
    await tg.synchronize()
    assert tg.memory()["live_bytes"] == live and tg.memory()["pooled_bytes"] <= pooled
    assert await read(buffer, 0, 4096) == np.full(1024, 7, "float32").tobytes()


async def test_copies_on_the_gpu() -> None:
    """G05: sizes that are no multiples of 4 or 16 bytes."""
    buffer = page_buffer(20)
    data = np.arange(5, dtype="float32")
    write(buffer, data)
    a = tg.from_gpu_buffer(buffer, 5, "float32")  # 20 bytes: copied
    b = tg.from_gpu_buffer(buffer, 3, "uint8", 4)
    write(buffer, -data)
    await same([a, b], [data, data.view("uint8")[4:7]])
    big = page_buffer(64)
    write(big, np.ones(16, "float32"))
    c = tg.from_gpu_buffer(big, 16, "float32", copy=True)
    write(big, np.zeros(16, "float32"))
    c[0] = 3
    await same([c], [np.array([3.0] + [1.0] * 15, "float32")])


def test_what_cannot_be_shared_is_refused() -> None:
    buffer = page_buffer(64)
    for shape, dtype, offset, says in (
        (17, "float32", 0, "17,?. of float32 takes 68 bytes from 0 on; the buffer has 64"),
        (1, "float32", 64, "takes 4 bytes from 64 on"),
        (1, "float32", -4, "from -4 on"),
        (1, "float32", 2, "offset 2 is no multiple of 4"),
    ):
        with pytest.raises(ValueError, match=says):
            tg.from_gpu_buffer(buffer, shape, dtype, offset)
    with pytest.raises(TypeError):
        tg.from_gpu_buffer(buffer, 1, "float32", 4.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has not both STORAGE"):
        tg.from_gpu_buffer(page_buffer(64, COPY_SRC | COPY_DST), 4, "float32")
    with pytest.raises(ValueError, match="cannot be shared without a copy: 20 bytes are no multiple of 16"):
        tg.from_gpu_buffer(page_buffer(20), 5, "float32", copy=False)
    with pytest.raises(TypeError, match="no 64-bit types"):
        tg.from_gpu_buffer(buffer, 4, "float64")


def test_no_trace_shares_anything() -> None:
    buffer = page_buffer(64)
    for f in (lambda x: x.gpu_buffer()[0], lambda x: x + tg.from_gpu_buffer(buffer, 4, "float32")):
        with pytest.raises(tg.TracingError):
            tg.jit(f)(tg.ones(4))
