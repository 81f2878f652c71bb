"""The native host: waiting with and without event loops, opening a device, what is told of faults. Needs a driver."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import native
import numpy as np
import pytest

import tabgpu as tg
from tabgpu import bridge, engine, native_adapter
from tabgpu.errors import DeviceLostError, NoAdapterError, SyncError

SEEN = 30.0  # seconds after which a wait counts as a deadlock
BODIES = ["test_readers.py", "test_operators.py"]
names = iter(range(10**9))


@pytest.fixture(autouse=True)
def opened() -> Iterator[None]:
    """A device of the test's own on the native host, not yet open."""
    native.device()
    engine.pending.clear()
    engine._work = 0
    engine._device = engine._opening = None
    yield
    if engine._device is not None:
        engine._device.close()
    engine.pending.clear()
    engine._device = engine._opening = None


def fresh(x: Any) -> Any:
    """An expression whose kernel nobody has compiled on this device."""
    for _ in range(2 + next(names) % 29):
        x = tg.sqrt(x * x + 1)
    return x


def value(steps: Any) -> Any:
    """What a coroutine gives, in an event loop that must not hang."""
    return asyncio.run(asyncio.wait_for(steps, SEEN))


# --- waiting ------------------------------------------------------------------------------------------------------


def test_a_script_needs_nothing_but_the_import() -> None:
    code = "import tabgpu as tg; x = tg.arange(5) * 2; print(int(x.sum()), x.shape, [int(v) for v in x])"
    got = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(tg.__file__).parents[1],
    )
    assert got.stdout == "20 (5,) [0, 2, 4, 6, 8]\n", got.stderr
    assert got.stderr == ""


def test_reads_without_a_loop() -> None:
    x = tg.asarray(np.arange(6, dtype=np.float32))
    assert float(x.sum()) == 15 and np.asarray(x).tolist() == list(range(6))
    assert bridge.can_suspend() and "5." in repr(x)


def test_what_waits_for_others_can_be_run_without_a_loop() -> None:
    async def work() -> list[float]:
        await asyncio.sleep(0.01)
        return await asyncio.gather(*(fresh(tg.ones(2) * k).sum().item() for k in range(3)))

    assert bridge.run_sync(work())[0] == pytest.approx(float(fresh(tg.zeros(2)).sum()), abs=3)


def test_a_read_inside_a_running_loop() -> None:
    async def cell() -> tuple[float, float]:
        x = tg.asarray(np.ones(3, np.float32))
        return float(fresh(x)[0] * 0 + 1), await (x + 1).sum().item()

    assert value(cell()) == (1.0, 6.0)


@pytest.mark.parametrize("order", ["waits first", "blocks first"])
def test_one_task_blocks_for_the_kernel_that_another_awaits(order: str) -> None:
    x = tg.asarray(np.ones(3, np.float32))

    async def waits(y: Any) -> float:
        return float((await y.numpy())[0])

    async def blocks(y: Any) -> float:
        return float(y[0])

    async def both() -> list[float]:
        y = fresh(x)
        pair = [waits(y), blocks(y)] if order == "waits first" else [blocks(y), waits(y)]
        return await asyncio.gather(*pair, waits(y * 1), blocks(y * 1))

    got = value(both())
    assert len(set(got)) == 1 and got[0] > 1


def test_many_tasks_that_block_and_await() -> None:
    x = tg.asarray(np.ones(100, np.float32))

    async def task(k: int) -> float:
        total = 0.0
        for step in range(3):
            y = fresh(x * k)
            total += float(y[0]) if (k + step) % 2 else float((await y.numpy())[0])
            await asyncio.sleep(0)
        return total

    async def everything() -> list[float]:
        return await asyncio.gather(*(task(k) for k in range(12)))

    assert len(value(everything())) == 12


def test_a_task_blocks_while_another_opens_the_device() -> None:
    async def both() -> tuple[Any, float]:
        opening = asyncio.ensure_future(tg.init())
        await asyncio.sleep(0)
        got = float((tg.ones(3) * 2).sum())
        return await opening, got

    info, got = value(both())
    assert got == 6 and info._device is engine.current()


def test_two_inits_share_a_device_and_one_may_be_cancelled() -> None:
    async def work() -> Any:
        tasks = [asyncio.ensure_future(tg.init()) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, second, third = value(work())
    assert isinstance(first, asyncio.CancelledError)
    assert second._device is third._device is engine.current()


def test_cancelled_before_the_kernel_is_made() -> None:
    async def work() -> float:
        y = fresh(tg.asarray(np.ones(3, np.float32)))
        task = asyncio.ensure_future(y.numpy())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return float(y[0])

    assert value(work()) > 1


def test_loops_come_and_go() -> None:
    """What one loop left unfinished does not hold up the next."""
    x = tg.asarray(np.ones(3, np.float32))
    y = fresh(x)

    async def gives_up() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(y.numpy(), 0)

    for _ in range(3):
        value(gives_up())
    assert float(y[0]) == value(y[0].item()) > 1


def test_waiting_for_another_task_by_hand_is_refused() -> None:
    async def work() -> None:
        with pytest.raises(SyncError, match="await"):
            bridge.run_sync(asyncio.sleep(0.01))
        assert float(tg.ones(2).sum()) == 2

    value(work())


def test_another_thread() -> None:
    got: list[Any] = []
    x = fresh(tg.asarray(np.ones(3, np.float32)))

    async def main() -> float:
        return await asyncio.to_thread(lambda: float(x[0]))

    got.append(value(main()))
    thread = threading.Thread(target=lambda: got.append(float(x[0])))
    thread.start()
    thread.join(SEEN)
    assert len(got) == 2 and got[0] == got[1] > 1


def test_others_go_on_while_a_read_waits() -> None:
    async def work() -> int:
        y = tg.arange(1 << 22) * 3
        await (y[:4]).numpy()
        reading, turns = asyncio.ensure_future(y.numpy()), 0
        while not reading.done():
            turns += 1
            await asyncio.sleep(0)
        assert reading.result()[-1] == 3 * ((1 << 22) - 1)
        return turns

    assert value(work()) > 2


# --- devices ------------------------------------------------------------------------------------------------------


def test_a_device_of_the_caller_s_own_is_left_alone() -> None:
    own = native_adapter.adapter("high-performance").request_device_sync(label="mine")

    async def work() -> float:
        device = await tg.init(device=own)
        assert device.js is own
        got = float((tg.asarray(np.ones(3, np.float32)) + 1).sum())
        await tg.init()
        return got

    assert value(work()) == 6
    own.create_buffer(size=16, usage=8).destroy()  # still works
    assert float(tg.ones(3).sum()) == 3


def test_the_device_is_lost_while_reads_wait() -> None:
    async def work() -> list[Any]:
        x = tg.asarray(np.ones(1 << 20, np.float32))
        waiting = [asyncio.ensure_future((x + k).numpy()) for k in range(5)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        tg.device().js.destroy()
        with pytest.raises(DeviceLostError):
            float(x[0])
        got = await asyncio.gather(*waiting, return_exceptions=True)
        await tg.init()
        assert float(tg.ones(3).sum()) == 3
        return got

    got = value(work())
    assert all(isinstance(e, DeviceLostError) for e in got), got


@pytest.mark.parametrize("turns", [1, 2, 3, 4])
def test_another_device_is_opened_meanwhile(turns: int) -> None:
    async def work() -> list[Any]:
        x = tg.asarray(np.ones(1 << 16, np.float32))
        y = x + 1
        await y.numpy()
        waiting = [
            asyncio.ensure_future(w)
            for w in (fresh(x).numpy(), y.numpy(), (y * 2)[:3].numpy(), tg.synchronize())
        ]
        for _ in range(turns):
            await asyncio.sleep(0)
        await tg.init(fuse=False)
        assert float(tg.ones(3).sum()) == 3
        return await asyncio.gather(*waiting, return_exceptions=True)

    got = value(work())
    assert all(isinstance(e, DeviceLostError | np.ndarray | None) for e in got), got
    assert isinstance(got[0], DeviceLostError) or turns > 2


def test_limits_are_lowered() -> None:
    value(tg.init(limits={"maxComputeInvocationsPerWorkgroup": 128, "maxComputeWorkgroupSizeX": 128}))
    device = tg.device()
    assert device.limits["maxComputeInvocationsPerWorkgroup"] == 128
    assert device.js.limits["max-compute-invocations-per-workgroup"] == 128
    assert int(tg.arange(100_000).max()) == 99_999


def test_where_there_is_no_wgpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wgpu", None)
    with pytest.raises(NoAdapterError, match=r"pip install 'tabgpu\[native\]'"):
        tg.asarray([1.0])


def test_where_there_is_no_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABGPU_ADAPTER", "no such thing")
    with pytest.raises(NoAdapterError, match=r"'no such thing', but "):
        tg.asarray([1.0])
    monkeypatch.delenv("TABGPU_ADAPTER")
    assert float(tg.ones(2).sum()) == 2


def test_the_best_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    import wgpu

    class Adapter:
        def __init__(self, name: str, kind: str, backend: str) -> None:
            self.info = {"device": name, "adapter_type": kind, "backend_type": backend}

    cpu, big, gl, small = (
        Adapter("llvmpipe", "CPU", "Vulkan"), Adapter("big", "DiscreteGPU", "Vulkan"),
        Adapter("big gl", "DiscreteGPU", "OpenGL"), Adapter("small", "IntegratedGPU", "Vulkan"),
    )  # fmt: skip
    for offered, power, want in (
        ([cpu, gl, small, big], "high-performance", big), ([cpu, big, small], "low-power", small),
        ([gl, big], "high-performance", big), ([cpu], "high-performance", cpu),
        ([cpu, small], "high-performance", small),
    ):  # fmt: skip
        monkeypatch.setattr(wgpu.gpu, "enumerate_adapters_sync", lambda offered=offered: offered)
        assert native_adapter.adapter(power) is want


# --- faults -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line,words",
    [
        ("fn broken() -> u32 { let x: u32 = 1.5f; return x; }", "u32"),
        ("fn broken() -> u32 { return nobody(1u); }", "nobody"),
        ("fn broken() -> u32 { return 1u + ; }", "expression"),
        ("fn broken() -> u32 { return 1.5f; }", "return"),
    ],
)
def test_the_line_that_naga_refuses(line: str, words: str) -> None:
    made = native.Bridge()
    code = f"// a comment\n{line}\n@compute @workgroup_size(1) fn main() {{ let y = broken(); }}"
    said = value(made.pipelineAsync(1, "label_of_it", code, ""))
    assert (
        said.startswith("kernel label_of_it, WGSL line 2: ") and said.endswith(f" | {line}") and words in said
    )
    assert not made.pipelines


def test_a_pipeline_that_does_not_fit_its_bindings_is_explained_in_one_line() -> None:
    made = native.Bridge()
    code = (
        "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"
        "@compute @workgroup_size(1) fn main() { o[0] = 1u; }"
    )
    said = value(made.pipelineAsync(1, "label_of_it", code, ""))
    assert said.startswith("kernel label_of_it: ") and "\n" not in said and "layout" in said


def test_memory_that_is_refused_spoils_its_submit_only(monkeypatch: pytest.MonkeyPatch) -> None:
    import wgpu

    x = tg.asarray(np.ones(100_000, np.float32))
    fine = float(x[:10].sum())
    real = tg.device().js.create_buffer

    def refuse(**given: Any) -> Any:
        if given["label"].startswith("buffer"):
            raise wgpu.GPUOutOfMemoryError("not today")
        return real(**given)

    monkeypatch.setattr(tg.device().js, "create_buffer", refuse)
    bad = x * 2
    with pytest.raises(tg.OutOfMemoryError, match="not today"):
        float(bad[0])
    monkeypatch.undo()
    assert float((x * 2)[0]) == 2 and float(x[:10].sum()) == fine


# --- a sample of the tests that run in the tab --------------------------------------------------------------------


@pytest.mark.parametrize("file", BODIES)
def test_bodies_of_the_browser_tests(file: str) -> None:
    path = Path(__file__).parents[1] / "browser" / file
    got = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow and not big", path],
        capture_output=True, text=True, timeout=300, cwd=path.parents[2],
    )  # fmt: skip
    assert got.returncode == 0, got.stdout[-4000:]
    assert " passed" in got.stdout
