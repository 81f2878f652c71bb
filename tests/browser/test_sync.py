"""Reading without `await` wherever Python can wait, and errors that name the `await` elsewhere: in tasks, callbacks ...

The same file runs in the page and, by tests/site/test_sync.py, in a worker; there also without JSPI.
"""

from __future__ import annotations

import asyncio
import functools
import random
from typing import Any

import pytest
from faults import soon
from sync_work import WORK, H, all_refused, all_right, awaited, outcomes
from tab import create_once_callable, create_proxy, run_js

import tabgpu as tg
from tabgpu import engine

can_wait = pytest.mark.skipif(not engine.can_suspend(), reason="no JSPI")
js = pytest.mark.js


def fresh() -> Any:
    return tg.asarray(H + 1) - 1


@can_wait
@pytest.mark.parametrize("name", WORK)
def test_in_a_plain_function(name: str) -> None:
    """P01."""
    work, want, _ = WORK[name]
    assert work(fresh()) == want


@can_wait
async def test_in_a_coroutine_and_a_task() -> None:
    """P01, P02."""

    async def task() -> bool:
        await asyncio.sleep(0)
        return all_right(outcomes(fresh()))

    assert all_right(outcomes(fresh())) and await task()
    assert await soon(asyncio.ensure_future(task()), 20)


@can_wait
async def test_in_nested_tasks() -> None:
    """P02: a task that waits for tasks that wait, each also reading without await, three levels deep."""

    async def level(depth: int) -> float:
        a = fresh() * depth
        before = float(a.sum())
        inner = (
            await asyncio.gather(*(asyncio.ensure_future(level(depth - 1)) for _ in range(2)))
            if depth
            else []
        )
        return before + float(a[1]) + sum(inner)

    want = {0: 0.0}
    for depth in range(1, 4):
        want[depth] = 11.0 * depth + 2 * want[depth - 1]
    assert await soon(level(3), 20) == want[3]


@can_wait
@pytest.mark.parametrize("seed", range(4))
async def test_random_tasks(seed: int) -> None:
    """P02: tasks in tasks that read with and without await at any depth of the stack and in any order. Pyodide alone
    loses the stacks of some (tabgpu/blocking.py)."""

    def deep(a: Any, levels: int) -> float:
        return deep(a, levels - 1) if levels else float(a.sum())

    async def work(rng: random.Random, depth: int) -> tuple[float, float]:
        a, got, want = fresh() * depth, 0.0, 0.0
        for _ in range(rng.randrange(1, 5)):
            match rng.choice("abcdee"):
                case "a":
                    got += await a.sum().item()
                case "b":
                    got += sum(float(x) for x in sorted(a, key=float))
                case "c":
                    got += deep(a, rng.randrange(6))
                case "d":
                    await asyncio.sleep(0.001 * rng.randrange(3))
                    got += float(a.sum())
                case _ if depth:
                    inner = await asyncio.gather(*(work(rng, depth - 1) for _ in range(rng.randrange(1, 4))))
                    got += sum(x for x, _ in inner)
                    want += sum(y for _, y in inner) - 10 * depth
                case _:
                    continue
            want += 10 * depth
        return got, want

    rng = random.Random(seed)
    for got, want in await soon(asyncio.gather(*(work(rng, 3) for _ in range(5))), 60):
        assert got == want


@can_wait
async def test_other_work_waits_in_its_order() -> None:
    """While a stack waits no callback of asyncio runs; afterwards they do, in order, and none that was cancelled."""
    loop, order, a = asyncio.get_running_loop(), [], fresh()

    async def task(k: int) -> None:
        order.append(k)
        assert float(a[1]) == 1
        order.append(k)

    def note(k: int) -> None:
        order.append(k)

    loop.call_soon(note, 0)
    tasks = [asyncio.ensure_future(task(1)), asyncio.ensure_future(task(2))]
    late = loop.call_soon(note, 3)
    loop.call_later(0.001, note, 4)
    assert float(a.sum()) == 10 and order == []
    late.cancel()
    loop.call_soon(note, 5)
    await soon(asyncio.gather(*tasks), 20)
    await asyncio.sleep(0.05)
    assert [k for k in order if k != 4] == [0, 1, 1, 2, 2, 5] and 4 in order


@can_wait
async def test_several_at_once() -> None:
    """P02: reads of many tasks, with and without await, in any order; a failing one leaves the others."""
    a = fresh()

    async def plain(k: int) -> float:
        for _ in range(k % 4):
            await asyncio.sleep(0)
        return float((a * k).sum())

    async def waits(k: int) -> Any:
        return await (a * k).sum().item()

    async def fails(k: int) -> Any:
        return float(a * k)

    kinds = [plain, waits, fails]
    got = await soon(asyncio.gather(*(kinds[k % 3](k) for k in range(30)), return_exceptions=True), 30)
    for k, x in enumerate(got):
        assert isinstance(x, ValueError) if k % 3 == 2 else x == 10.0 * k, (k, x)


@can_wait
async def test_inside_c_code_and_generators() -> None:
    """P02: sort keys, reduce, generators, comprehensions, context managers, properties and a finaliser."""
    a = fresh()
    assert [float(x) for x in sorted(a, key=float, reverse=True)] == [4, 3, 2, 1, 0]
    assert float(functools.reduce(lambda x, y: x if x > y else y, list(a))) == 4
    assert list(map(float, filter(lambda x: x > 2, a))) == [3, 4]
    assert {float(x): int(x) for x in a} == {0.0: 0, 1.0: 1, 2.0: 2, 3.0: 3, 4.0: 4}
    seen: list[float] = []

    class Holder:
        @property
        def value(self) -> float:
            return float(a[2])

        def __enter__(self) -> float:
            return float(a[3])

        def __exit__(self, *_: Any) -> None:
            seen.append(float(a[4]))

    with Holder() as x:
        assert (x, Holder().value) == (3.0, 2.0)
    assert seen == [4.0]

    async def numbers() -> Any:
        for x in a:
            await asyncio.sleep(0)
            yield float(x)

    assert [x async for x in numbers()] == [0, 1, 2, 3, 4]


@can_wait
async def test_shapes_that_depend_on_data() -> None:
    """The plain form reads; the async form is awaited."""
    a = fresh()
    (plain,) = tg.nonzero(a > 1)
    (later,) = await tg.aio.nonzero(a > 1)
    assert (await plain.tolist()) == (await later.tolist()) == [2, 3, 4]
    assert (await a[a > 2].tolist()) == [3, 4]


def test_shapes_that_depend_on_data_where_python_cannot_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    a = fresh()
    monkeypatch.setattr(engine, "can_suspend", lambda: False)
    with pytest.raises(tg.SyncError, match=r"await tg\.aio\.nonzero"):
        tg.nonzero(a > 1)
    with pytest.raises(tg.SyncError, match="await"):
        a[a > 2]


@pytest.mark.parametrize("name", WORK)
def test_where_python_cannot_wait(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """P01: each error names the await to write."""
    a = fresh()
    monkeypatch.setattr(engine, "can_suspend", lambda: False)
    assert all_refused(outcomes(a, [name]))


async def test_with_await_anywhere() -> None:
    assert await soon(awaited(fresh()), 20)


# --- called by JavaScript ---------------------------------------------------------------------------------------------

CALLERS = {
    "an event": "(f) => { const t = new EventTarget(); t.addEventListener('x', f); t.dispatchEvent(new Event('x')); }",
    "a timer": "(f) => { setTimeout(f, 1); }",
    "a microtask": "(f) => { queueMicrotask(f); }",
    "a promise": "(f) => { Promise.resolve(1).then(f); }",
    "a message": "(f) => { const c = new MessageChannel(); c.port1.onmessage = f; c.port2.postMessage(1); }",
    "plain JavaScript": "(f) => { [1].forEach(() => f()); }",
}


async def called(caller: str, work: Any) -> Any:
    """What work() gives when JavaScript calls it."""
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def callback(*_: Any) -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    proxy = create_proxy(callback)
    try:
        run_js(CALLERS[caller])(proxy)
        return await soon(done, 20)
    finally:
        proxy.destroy()


@js
@pytest.mark.parametrize("caller", CALLERS)
async def test_callbacks_cannot_wait_and_say_so(caller: str) -> None:
    """P02: SyncError with the await to write, never "cannot stack switch", never a hang; work needs no waiting."""
    a = fresh()
    assert all_refused(await called(caller, lambda: outcomes(a)))
    made = await called(caller, lambda: a * 2 + 1)
    assert (await made.tolist()) == [1, 3, 5, 7, 9]


@js
@pytest.mark.parametrize("caller", CALLERS)
async def test_callbacks_may_start_tasks(caller: str) -> None:
    """P02: the async forms work from each of them."""
    a = fresh()
    task = await called(caller, lambda: asyncio.ensure_future(awaited(a)))
    assert await soon(task, 20)


@js
@pytest.mark.parametrize("caller", CALLERS)
async def test_async_callbacks(caller: str) -> None:
    """P02: an `async def` given to JavaScript awaits; without await it reads where Python can wait, or says what to
    write."""
    a = fresh()
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def handler(*_: Any) -> None:
        try:
            await awaited(a)
            done.set_result((engine.can_suspend(), outcomes(a)))
        except BaseException as error:
            done.set_exception(error)

    proxy = create_once_callable(handler)
    run_js(CALLERS[caller])(proxy)
    possible, said = await soon(done, 20)
    assert all_right(said) if possible else all_refused(said)


@js
async def test_a_loops_own_callbacks() -> None:
    """asyncio's call_soon and call_later, and what runs when a future is done: they read, or say what to write."""
    loop, a = asyncio.get_running_loop(), fresh()
    for plan in (
        lambda f: loop.call_soon(f), lambda f: loop.call_later(0.001, f),
        lambda f: asyncio.ensure_future(asyncio.sleep(0)).add_done_callback(lambda _: f()),
    ):  # fmt: skip
        done: asyncio.Future[Any] = loop.create_future()

        def callback(done: Any = done) -> None:
            try:
                done.set_result((engine.can_suspend(), outcomes(a)))
            except BaseException as error:
                done.set_exception(error)

        plan(callback)
        possible, said = await soon(done, 20)
        assert all_right(said) if possible else all_refused(said)


@js
def test_code_that_javascript_runs() -> None:
    """P02: pyodide.runPython from JavaScript is no coroutine."""
    import pyodide_js

    import __main__

    __main__.tabgpu_test = lambda: all_refused(outcomes(fresh()))
    try:
        assert run_js("(p) => p.runPython('tabgpu_test()')")(pyodide_js)
    finally:
        del __main__.tabgpu_test
