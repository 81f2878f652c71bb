"""The async contract: concurrent, cancelled and nested reads, with and without a Python that can wait."""

from __future__ import annotations

import asyncio
import gc
import random
import sys
from typing import Any

import numpy as np
import pytest
from faults import broken_kernels, js_side, no_memory, opened, reopened, restored, soon  # noqa: F401  # fixtures
from tab import create_once_callable, create_proxy, run_js

import tabgpu as tg
from tabgpu import engine
from tabgpu.errors import KernelError, NotInitializedError, OutOfMemoryError, SyncError

N = 1000
HOST = np.arange(N, dtype=np.float32)


# --- concurrency ----------------------------------------------------------------------------------------------------


async def test_twenty_gathered_tasks() -> None:
    x = tg.asarray(HOST)

    async def work(k: int) -> tuple[float, np.ndarray]:
        y = x * k + 1
        first = await (y.sum() / N).item()
        await asyncio.sleep(0)
        z = tg.where(y > k, y, -y)
        return first, await z.numpy()

    got = await soon(asyncio.gather(*(work(k) for k in range(20))), 60)
    for k, (mean, z) in enumerate(got):
        y = HOST * np.float32(k) + 1
        assert mean == pytest.approx(float(y.mean(dtype=np.float64)), rel=1e-6)
        np.testing.assert_array_equal(z, np.where(y > k, y, -y))


async def test_tasks_that_need_the_same_new_kernels_compile_them_once() -> None:
    x = tg.asarray(HOST[:10])

    def make(k: int) -> tg.Array:
        return tg.arctan(tg.cbrt(tg.log1p(x + k)) - tg.exp2(x * 0.125))

    before = tg.device().counters.pipelines
    got = await soon(asyncio.gather(*(make(k).numpy() for k in range(20))), 60)
    assert tg.device().counters.pipelines == before + 1
    for k, y in enumerate(got):
        v = HOST[:10].astype(np.float64)
        np.testing.assert_allclose(
            y, np.arctan(np.cbrt(np.log1p(v + k)) - np.exp2(v * 0.125)), rtol=2e-5, atol=1e-6
        )


async def test_a_flush_while_the_same_kernel_compiles() -> None:
    x = tg.asarray(HOST[:10])

    def make() -> tg.Array:
        return tg.arcsinh(tg.tan(x * 0.25) - tg.expm1(x * 0.0625))

    task = asyncio.ensure_future(make().numpy())
    await asyncio.sleep(0)
    y = make()
    engine.flush()
    a, b = await soon(asyncio.gather(task, y.numpy()), 60)
    np.testing.assert_array_equal(a, b)


async def test_concurrent_reads_of_one_array() -> None:
    """P10."""
    y = tg.asarray(HOST) * 2 + 1
    before = tg.device().counters.evaluated
    got = await soon(asyncio.gather(*(y.numpy() for _ in range(8))))
    for x in got:
        np.testing.assert_array_equal(x, HOST * 2 + 1)
    assert len({x.ctypes.data for x in got}) == 8  # each its own copy
    assert tg.device().counters.evaluated - before == 2 * N, "computed more than once"


async def test_deleting_an_array_while_it_is_read() -> None:
    """P10: its memory is not used for something else before the read is over."""
    for _ in range(5):
        y = tg.asarray(HOST) + 3
        task = asyncio.ensure_future(y.numpy())
        await asyncio.sleep(0)
        del y
        noise = [tg.asarray(HOST) * k for k in range(8)]
        await tg.fetch(*noise)
        np.testing.assert_array_equal(await soon(task), HOST + 3)


async def test_assigning_to_an_array_while_its_kernel_compiles() -> None:
    """The value that is being read is computed by the flush of what was built on it, and must still be stored."""
    x = tg.asarray(HOST)
    y = tg.sqrt(x * 1.5 + 2) - tg.cbrt(x)
    task = asyncio.ensure_future(y.numpy())
    waiting = asyncio.ensure_future(tg.synchronize())
    await asyncio.sleep(0)
    y *= 2
    engine.flush()
    want = np.sqrt(HOST * 1.5 + 2) - np.cbrt(HOST)
    np.testing.assert_allclose(await soon(task), want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(await soon(y.numpy()), want * 2, rtol=1e-5, atol=1e-6)
    await soon(waiting)


async def test_a_long_read_while_others_work() -> None:
    n = 20 << 20  # 80 MiB: two chunks
    y = tg.arange(n) + 1
    task = asyncio.ensure_future(y.numpy())
    del y
    for k in range(10):
        assert (await (tg.asarray(HOST) * k).sum().item()) == pytest.approx(float(HOST.sum()) * k, rel=1e-5)
    got = await soon(task, 60)
    assert got[0] == 1 and got[-1] == n and int(got.sum(dtype=np.int64)) == n * (n + 1) // 2
    tg.trim()


async def test_host_memory_may_change_after_the_call() -> None:
    """P11: uploads copy at the call, and are in order with what reads them."""
    host = HOST.copy()
    x = tg.asarray(host)
    y = x + 1
    host[:] = -1
    z = tg.asarray(host) + y
    np.testing.assert_array_equal(await y.numpy(), HOST + 1)
    np.testing.assert_array_equal(await z.numpy(), HOST)


async def test_results_are_the_callers_own() -> None:
    x = tg.asarray(HOST)
    a = await x.numpy()
    a[:] = 7
    np.testing.assert_array_equal(await x.numpy(), HOST)


async def test_fetch_keeps_order_and_takes_repeats() -> None:
    x = tg.asarray(HOST)
    a, b, c, d = await tg.fetch(x[:3], tg.zeros((0, 2)), x[:3], x[5] > 1)
    assert a.tolist() == c.tolist() == [0, 1, 2] and b.shape == (0, 2) and d.shape == () and bool(d)
    assert await tg.fetch() == ()
    with pytest.raises(TypeError, match="ndarray"):
        await tg.fetch(HOST)


@pytest.mark.parametrize("seed, reopens", [(1, False), (2, False), (3, True)])
async def test_random_tasks(seed: int, reopens: bool, restored: None) -> None:
    """Ten tasks that build, read, cancel, flush and drop at random; with `reopens` also init. Values are right."""
    rng = random.Random(seed)

    def fresh() -> tuple[tg.Array, np.ndarray]:
        host = np.arange(rng.choice([1, 3, 7, 64, 300, 5000]), dtype=np.int32) + rng.randrange(100)
        return tg.asarray(host), host

    async def step(pairs: list[tuple[tg.Array, np.ndarray]], first: bool) -> None:
        a, host = rng.choice(pairs)
        c = rng.randrange(1, 9)
        match rng.choice("aaaabbcdefghijkl"):
            case "a":
                pairs.append((a * c + 1, host * np.int32(c) + np.int32(1)))
            case "b":
                pairs.append((a[::-1] ^ c, host[::-1] ^ np.int32(c)))
            case "c":
                pairs.append((a + a[::-1], host + host[::-1]))
            case "d":
                pairs.append((a.sum() + a, host.sum(dtype=np.int32) + host))
            case "e" | "f":
                np.testing.assert_array_equal(await soon(a.numpy(), 20), host)
            case "g":
                task = asyncio.ensure_future(a.numpy())
                for _ in range(rng.randrange(4)):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            case "h":
                engine.flush()
            case "i":
                await soon(tg.synchronize(), 20)
            case "j":
                tg.trim()
            case "k" if first and reopens and rng.random() < 0.4:
                await reopened(fuse=rng.random() < 0.5)
            case _:
                pairs.append(fresh())
        while len(pairs) > 12:
            pairs.pop(rng.randrange(len(pairs)))

    async def work(first: bool) -> int:
        pairs, right = [fresh()], 0
        for _ in range(100):
            try:
                await step(pairs, first)
            except tg.DeviceLostError:
                assert reopens
                pairs[:] = [fresh()]
        for a, host in pairs:
            try:
                np.testing.assert_array_equal(await soon(a.numpy(), 20), host)
                right += 1
            except tg.DeviceLostError:
                assert reopens
        return right

    right = await asyncio.gather(*(work(k == 0) for k in range(10)))
    assert sum(right) > (8 if reopens else 20)
    await soon(tg.synchronize(), 20)
    gc.collect()
    assert tg.memory()["live_bytes"] == 0 and js_side()["scopes"] == 0


# --- cancelling -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5])
async def test_a_cancelled_read(turns: int) -> None:
    x = tg.asarray(HOST)
    await (x + 1).numpy()
    gc.collect()
    live = tg.memory()["live_bytes"]
    for k in range(20):
        task = asyncio.ensure_future((x + k).numpy())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        (got,) = await soon(asyncio.gather(task, return_exceptions=True))
        assert isinstance(got, asyncio.CancelledError) or got[0] == k
        np.testing.assert_array_equal(await soon((x * k).numpy()), HOST * k)
    del task, got
    await tg.synchronize()
    gc.collect()
    assert tg.memory()["live_bytes"] == live
    side = js_side()
    assert side["staging"] <= 8 and side["scopes"] == 0


async def test_a_read_cancelled_while_its_kernel_compiles() -> None:
    x = tg.asarray(HOST[:10])

    def make() -> tg.Array:
        return tg.arccosh(tg.log2(x + 5) + 2) * tg.hypot(x, 3.0)

    task = asyncio.ensure_future(make().numpy())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    v = HOST[:10].astype(np.float64)
    np.testing.assert_allclose(
        await soon(make().numpy()), np.arccosh(np.log2(v + 5) + 2) * np.hypot(v, 3), rtol=1e-5
    )


async def test_a_read_that_times_out() -> None:
    n = 20 << 20
    y = tg.arange(n) * 3
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(y.numpy(), 1e-4)
    assert (await soon(y[-2:].numpy(), 60)).tolist() == [3 * n - 6, 3 * n - 3]
    got = await soon(y.numpy(), 60)
    assert got[n // 2] == 3 * (n // 2)
    del y, got
    tg.trim()
    await tg.synchronize()
    assert js_side()["staging"] == 0


async def test_a_fault_told_to_a_cancelled_read_is_not_lost() -> None:
    tg.trim()
    x = tg.asarray(np.ones(1 << 16, np.float32))
    small = x[:4]
    with no_memory():
        bad = x * 2
        engine.flush()
        task = asyncio.ensure_future(small.numpy())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0.05)
    assert (await soon(small.numpy())).tolist() == [1] * 4
    with pytest.raises(OutOfMemoryError):
        await soon(bad.numpy())
    await tg.synchronize()


async def test_a_cancelled_synchronize() -> None:
    x = tg.asarray(HOST) + 1
    task = asyncio.ensure_future(tg.synchronize())
    await asyncio.sleep(0)
    task.cancel()
    await soon(tg.synchronize())
    np.testing.assert_array_equal(await x.numpy(), HOST + 1)


# --- waiting without await ------------------------------------------------------------------------------------------

SYNCHRONOUS: dict[str, tuple[Any, str]] = {
    "float": (float, "float(await a.item())"),
    "int": (int, "int(await a.item())"),
    "bool": (bool, "bool(await a.item())"),
    "asarray": (np.asarray, "await a.numpy()"),
}  # fmt: skip
can_wait = pytest.mark.skipif(not engine.can_suspend(), reason="no JSPI")


@can_wait
@pytest.mark.parametrize("name", SYNCHRONOUS)
async def test_reads_in_a_task_of_its_own(name: str) -> None:
    """P01, P02."""
    what, _ = SYNCHRONOUS[name]
    a = tg.asarray(3.0) + 1

    async def task() -> Any:
        await asyncio.sleep(0)
        return what(a)

    assert await soon(asyncio.ensure_future(task())) == what(4.0)
    got = await soon(asyncio.gather(*(task() for _ in range(5))))
    assert [float(x) for x in got] == [float(what(4.0))] * 5


@can_wait
def test_reads_inside_a_sort_key_and_an_if() -> None:
    """P02."""
    a = [tg.asarray(float(v)) * 2 for v in (3, 1, 2)]
    assert [float(x) for x in sorted(a, key=lambda x: float(x))] == [2, 4, 6]
    assert [float(x) for x in sorted(a, key=float, reverse=True)] == [6, 4, 2]
    assert "yes" == ("yes" if a[0] > a[1] else "no")
    assert list(range(3))[tg.asarray(1)] == 1


@pytest.mark.parametrize("name", SYNCHRONOUS)
def test_reads_where_python_cannot_wait_name_the_await(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """P01."""
    what, instead = SYNCHRONOUS[name]
    a = tg.asarray(3.0) + 1
    monkeypatch.setattr(engine, "can_suspend", lambda: False)
    with pytest.raises(SyncError) as caught:
        what(a)
    assert instead in str(caught.value)
    assert isinstance(caught.value, RuntimeError)
    for text in (repr(a), str(a), f"{a}"):  # P13
        assert "shape=()" in text and "float32" in text and "await a.numpy()" in text


def test_an_index_where_python_cannot_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    a = tg.asarray(1)
    monkeypatch.setattr(engine, "can_suspend", lambda: False)
    with pytest.raises(SyncError, match=r"await a\.item\(\)"):
        [1, 2, 3][a]


def test_no_device_where_python_cannot_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "can_suspend", lambda: False)
    monkeypatch.setattr(engine, "_device", None)
    with pytest.raises(NotInitializedError, match=r"await tg\.init\(\)"):
        tg.asarray(HOST)
    assert "shape=(3,)" in repr(tg.ones(3))


def in_callback(work: Any) -> Any:
    """What work() gives or raises when an event calls it, outside of any coroutine."""
    done: list[Any] = []

    def listener(*_: Any) -> None:
        try:
            done.append(work())
        except BaseException as error:
            done.append(error)

    proxy = create_proxy(listener)
    try:
        run_js("""(f) => {
          const target = new EventTarget();
          target.addEventListener("tick", f);
          target.dispatchEvent(new Event("tick"));
        }""")(proxy)
    finally:
        proxy.destroy()
    return done[0]


@pytest.mark.js
def test_an_event_callback_cannot_wait_and_says_so() -> None:
    """P02: a clear error instead of "cannot stack switch"."""
    a = tg.asarray(HOST)
    got = in_callback(lambda: float(a.sum()))
    assert isinstance(got, SyncError), got
    assert "await a.item()" in str(got)
    text = in_callback(lambda: repr(a))
    assert "await a.numpy()" in text
    made = in_callback(lambda: a + 1)  # work needs no waiting
    assert isinstance(made, tg.Array)


@pytest.mark.js
async def test_an_event_callback_may_start_a_task() -> None:
    """P02: the async form works there."""
    a = tg.asarray(HOST)
    task = in_callback(lambda: asyncio.ensure_future((a + 1).numpy()))
    np.testing.assert_array_equal(await soon(task), HOST + 1)


@pytest.mark.js
async def test_an_async_event_handler() -> None:
    a = tg.asarray(HOST)
    done: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    async def handler(*_: Any) -> None:
        done.set_result(await (a * 2).sum().item())

    run_js("(f) => { setTimeout(f, 1); }")(create_once_callable(handler))
    assert await soon(done) == pytest.approx(float(HOST.sum()) * 2, rel=1e-6)


@pytest.mark.js
def test_code_run_by_javascript_cannot_wait_and_says_so() -> None:
    """P02: pyodide.runPython, called from JavaScript, is no coroutine."""
    import pyodide_js

    import __main__

    __main__.tabgpu_test = tg.asarray(2.0) * 3
    code = "try:\\n  said = float(tabgpu_test)\\nexcept Exception as e:\\n  said = e\\nrepr(said)"
    try:
        said = run_js(f'(pyodide) => pyodide.runPython("{code}")')(pyodide_js)
    finally:
        del __main__.tabgpu_test
    assert said.startswith("SyncError") and "float(await a.item())" in said, said


# --- the world around -----------------------------------------------------------------------------------------------


@pytest.mark.js
def test_the_page_or_the_worker() -> None:
    """P05: nothing asks for window or document."""
    in_worker = run_js("() => typeof WorkerGlobalScope !== 'undefined'")()
    assert bool(run_js("() => typeof document === 'undefined'")()) == bool(in_worker)
    assert float((tg.ones(4) * 2).sum()) == 8 if engine.can_suspend() else True


def test_importing_needs_no_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """P16."""
    held = {k: v for k, v in sys.modules.items() if k.split(".")[0] in ("tabgpu", "numpy")}
    for name in held:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numpy", None)
    try:
        import tabgpu as again

        assert again is not tg
        x = again.ones((2, 3)) * 2 + again.arange(3)
        assert x.shape == (2, 3)
    finally:
        for name in [k for k in sys.modules if k.split(".")[0] in ("tabgpu", "numpy")]:
            del sys.modules[name]
        sys.modules.update(held)


async def test_an_error_in_one_task_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tg.asarray(HOST)
    with broken_kernels(monkeypatch, "sinh"):

        async def bad() -> Any:
            return await tg.sinh(x * 0.01).numpy()

        async def good(k: int) -> Any:
            return await (x - k).numpy()

        got = await soon(
            asyncio.gather(bad(), *(good(k) for k in range(5)), bad(), return_exceptions=True), 30
        )
    assert isinstance(got[0], KernelError) and isinstance(got[-1], KernelError)
    for k in range(5):
        np.testing.assert_array_equal(got[1 + k], HOST - k)


async def test_init_between_two_steps_of_a_task(restored: None) -> None:
    x = tg.asarray(HOST)

    async def work() -> Any:
        y = x + 1
        await asyncio.sleep(0)
        return await y.numpy()

    task = asyncio.ensure_future(work())
    await reopened()
    (got,) = await soon(asyncio.gather(task, return_exceptions=True))
    assert isinstance(got, tg.DeviceLostError) or got[0] == 1


@pytest.mark.skipif(sys.platform != "emscripten", reason="a browser looks at its queue now and then only")
async def test_the_browser_is_asked_while_work_is_awaited() -> None:
    """While something is awaited or was just submitted, not when all is done."""
    side = run_js("""(bridge) => {
      const { prompt } = bridge, ask = prompt.ask;
      let n = 0;
      prompt.ask = () => { n++; ask.call(prompt); };
      return { count: () => n, end: () => { delete prompt.ask; } };
    }""")(engine.device().js)
    try:
        x = tg.ones((256, 256))
        await tg.synchronize()
        await asyncio.sleep(0.05)
        before = side.count()
        await asyncio.sleep(0.05)
        assert side.count() == before, "nothing is awaited"
        y = x
        for _ in range(10):
            y = y @ x / 256
        assert await y[0, 0].item() == 1
        assert 1 < side.count() - before < 1000
        await asyncio.sleep(0.05)
        before = side.count()
        z = y @ x
        engine.flush()
        engine.device().submit()  # nobody of ours waits
        await asyncio.sleep(0.05)
        assert side.count() > before
        before = side.count()
        await asyncio.sleep(0.05)
        assert side.count() == before
        del z
    finally:
        side.end()
