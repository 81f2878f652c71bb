"""a.to_js(): values as JavaScript's typed arrays, awaited by JavaScript."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import numpy as np
import pytest
from faults import no_memory, opened, restored  # noqa: F401  # fixtures
from tab import create_proxy, run_js

import tabgpu as tg
from tabgpu import engine, giving
from tabgpu.errors import TracingError

TAB = sys.platform == "emscripten"
tab = pytest.mark.skipif(not TAB, reason="there is no JavaScript")
DTYPES = {
    "bool": "Uint8Array", "int8": "Int8Array", "uint8": "Uint8Array", "int16": "Int16Array", "uint16": "Uint16Array",
    "int32": "Int32Array", "uint32": "Uint32Array", "float32": "Float32Array", "complex64": "Float32Array",
}  # fmt: skip


async def given(array: Any) -> tuple[str, list[float]]:
    """What JavaScript gets: the class and the elements."""
    ask = create_proxy(lambda: array.to_js())
    look = run_js("""async (ask) => {
      try {
        const x = await ask();
        return [x.constructor.name, Array.from(x)];
      } catch (error) { return [error.type ?? error.name, []]; }
    }""")
    try:
        name, values = (await look(ask)).to_py()
        return name, values
    finally:
        ask.destroy()


@pytest.mark.skipif(TAB, reason="there is JavaScript")
def test_without_javascript() -> None:
    with pytest.raises(RuntimeError, match="to_js"):
        tg.ones(3).to_js()


@tab
@pytest.mark.parametrize("dtype", list(DTYPES))
@pytest.mark.parametrize("twice", [False, True])
async def test_every_dtype_and_layout(dtype: str, twice: bool) -> None:
    """The second time nothing is to be compiled, and JavaScript is given a promise of its own."""
    host = (np.arange(60) % 7).astype(dtype).reshape(3, 4, 5)
    for x, h in (
        (tg.asarray(host), host),
        (tg.asarray(host)[1:, ::-1, 1:4], host[1:, ::-1, 1:4]),
        (tg.permute_dims(tg.asarray(host), (2, 0, 1)), host.transpose(2, 0, 1)),
        (tg.asarray(host).reshape(-1)[3:10], host.reshape(-1)[3:10]),
        (tg.asarray(host)[1, 2, 3], host[1, 2, 3]),
        (tg.asarray(host)[:0], host[:0]),
    ):
        for _ in range(1 + twice):
            name, values = await given(x)
        want = np.ascontiguousarray(h).reshape(-1)
        want = want.view(np.float32) if dtype == "complex64" else want
        assert name == DTYPES[dtype] and values == want.tolist()
    await asyncio.sleep(0.02)
    assert not giving._held


@tab
async def test_halves_are_words() -> None:
    host = np.array([1.5, -2, np.inf], np.float16)
    assert await given(tg.asarray(host)) == ("Uint16Array", host.view(np.uint16).tolist())


@tab
async def test_lazy_work_is_one_submit_and_one_read() -> None:
    x = tg.asarray(np.arange(1000, dtype=np.float32))

    def f() -> Any:
        return (x * 2 + 1).sum()

    await given(f())
    counters = engine.device().counters
    before = counters.as_dict()
    assert await given(f()) == ("Float32Array", [1000000.0])
    after = counters.as_dict()
    assert after["submits"] - before["submits"] == 1 and after["reads"] - before["reads"] == 1
    assert after["pipelines"] == before["pipelines"]


@tab
async def test_what_is_given_is_what_it_was() -> None:
    """Whatever becomes of the array while its values are on their way, and of its memory."""
    host = np.arange(8 << 20, dtype=np.float32)  # 32 MB: more than is in flight at once
    x = tg.asarray(host)
    await tg.synchronize()
    promise = x.to_js()
    x[...] = 0
    del x
    y = tg.ones(8 << 20) * 3
    engine.flush()
    engine.device().submit()
    assert np.array_equal(np.asarray((await promise).to_py()), host)
    del y


@tab
async def test_errors_reject() -> None:
    singular = tg.linalg.inv(tg.zeros((3, 3)))
    for _ in range(2):
        assert (await given(singular))[0] == "LinAlgError"
    assert await given(tg.ones(2)) == ("Float32Array", [1, 1])


@tab
async def test_a_failed_submit_rejects() -> None:
    x = tg.asarray(np.ones(1 << 15, np.float32))
    await given(x + 1)
    engine.device().trim()
    with no_memory() as failed:
        y = x + 1  # a known kernel, and memory that is not there
        assert (await given(y))[0] == "OutOfMemoryError"
    assert failed[0] > 0
    assert (await given(x + 1))[1][:2] == [2, 2]
    await asyncio.sleep(0.02)
    assert not giving._held


@tab
async def test_refused_while_traced() -> None:
    with pytest.raises(TracingError, match="a read"):
        tg.jit(lambda x: x.to_js())(tg.ones(3))


@tab
async def test_a_lost_device(restored: None) -> None:  # noqa: F811
    x = tg.ones(3) + 1
    await given(x)
    engine.device().js.device.destroy()
    await asyncio.sleep(0.1)
    assert (await given(x))[0] == "DeviceLostError"
    await asyncio.sleep(0.02)
    assert not giving._held
