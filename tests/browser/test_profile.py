"""tg.profile(): what it counts, that times are real, and that it leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faults import no_memory, opened, restored, soon  # noqa: F401  # opened, restored: fixtures
from tab import IN_TAB

import tabgpu as tg
from tabgpu import bridge, ceilings, engine, profiling, recorder
from tabgpu.errors import DeviceLostError, OutOfMemoryError, SyncError

WAYS = pytest.mark.parametrize("timestamps", [True, False], ids=["timestamps", "host clock"])


async def stored(*shape: int) -> tg.Array:
    """Values that are on the GPU already."""
    a = tg.asarray(np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 17)
    await tg.synchronize()
    return a


def row(p: profiling.Profile, label: str) -> dict[str, Any]:
    """The only row whose kernel's label begins so."""
    (found,) = [r for r in p.rows if r["kernel"].startswith(label)]
    return found


def nobody_listens() -> bool:
    gpu = engine.device()
    return gpu.recorder is None and not isinstance(gpu.js, recorder.Watched) and not gpu.js.timed()


def own(p: profiling.Profile) -> float:
    return sum(r["time"] or 0.0 for r in p.rows)


# --- what is counted ------------------------------------------------------------------------------------------------


@pytest.mark.limits
async def test_work_of_elementwise_products_and_reductions() -> None:
    a, b, m = await stored(1000), await stored(1000), await stored(48, 32)
    async with tg.profile(ceilings=False) as p:
        c = tg.sin(a) * 2 + b
        await tg.synchronize()
        d = m.T @ m
        await tg.synchronize()
        e = m.sum(axis=0)
    assert p.totals["launches"] == p.totals["timed"] == 3
    chain = row(p, "sin_multiply_add")
    assert (chain["launches"], chain["bytes"], chain["operations"]) == (1, 12_000, 3000)
    product = row(p, "gemm")
    assert product["bytes"] == 4 * (48 * 32 + 32 * 32)  # both operands are the same memory
    assert product["operations"] == 2 * 32 * 32 * 48
    total = row(p, "sum")
    assert (total["bytes"], total["operations"]) == (4 * (48 * 32 + 32), 48 * 32)
    assert (c.shape, d.shape, e.shape) == ((1000,), (32, 32), (32,))


async def test_views_count_what_they_reach() -> None:
    m, line = await stored(64, 64), await stored(64)
    async with tg.profile(ceilings=False) as p:
        kept = [m[:, ::2] + 1]
        await tg.synchronize()
        kept.append(m * line)  # a broadcast operand is read once
        await tg.synchronize()
        kept.append(m.T + m)  # two views of the same memory, which is no larger than it is
    halves = [r for r in p.rows if r["kernel"].startswith("add")]
    assert sum(r["bytes"] for r in halves) == 2 * 4 * 64 * 32 + 2 * 4 * 64 * 64
    assert row(p, "multiply")["bytes"] == 4 * (2 * 64 * 64 + 64)
    del kept


async def test_indexed_reads_and_writes_count_their_elements() -> None:
    table = await stored(5000)
    where = tg.asarray(np.array([1, 7, 4000], np.int32))
    await tg.synchronize()
    async with tg.profile(ceilings=False) as p:
        taken = table[where]
        await tg.synchronize()
        table[2:6] = 5
        await tg.synchronize()
    assert taken.shape == (3,)
    assert row(p, "gather")["bytes"] == 3 * 4 * 3
    assert row(p, "assign")["bytes"] == 4 * 4


async def test_totals_are_the_counters_of_the_block() -> None:
    a = await stored(100)

    async def block() -> np.ndarray:
        got = await (a * 3).numpy()
        tg.asarray(np.zeros(50, np.float32))
        return got

    await block()
    before = engine.device().counters.as_dict()
    await block()
    after = engine.device().counters.as_dict()
    async with tg.profile(ceilings=False) as p:
        got = await block()
    for name, value in after.items():
        assert p.totals[name] == value - before[name], name
    assert (p.totals["reads"], p.totals["bytes_read"], p.totals["bytes_uploaded"]) == (1, 400, 200)
    assert got[1] == 3
    assert p.totals["adapter"] == tg.device().name


async def test_profiling_changes_no_counter_of_the_work() -> None:
    a = await stored(100)

    async def work() -> dict[str, int]:
        before = engine.device().counters.as_dict()
        y = tg.exp(a)
        await tg.synchronize()
        z = (y @ y) + 1
        await z.numpy()
        return {k: v - before[k] for k, v in engine.device().counters.as_dict().items()}

    await work()
    bare = await work()
    for timestamps in (True, False):
        async with tg.profile(timestamps=timestamps, ceilings=False):
            assert await work() == bare


async def test_what_was_pending_before_is_not_counted_and_what_is_pending_after_is() -> None:
    a = await stored(100)
    earlier = tg.cos(a)
    async with tg.profile(ceilings=False) as p:
        later = tg.sinh(a)
    assert [r["kernel"].split("_")[0] for r in p.rows] == ["sinh"]
    del earlier, later


async def test_an_empty_block() -> None:
    async with tg.profile(ceilings=False) as p:
        pass
    assert p.rows == [] and p.totals["launches"] == 0 and p.totals["gpu"] == 0
    assert "0 launches" in str(p) and "<table>" in p._repr_html_()
    assert [e for e in json.loads(p.trace_json())["traceEvents"] if e.get("cat") == "gpu"] == []


async def test_host_time_has_its_parts() -> None:
    a = await stored(100)
    async with tg.profile(ceilings=False) as p:
        await (tg.tan(a) + 0.125).numpy()
    said = p.totals
    parts = ("find", "plan", "lower", "emit", "submit", "read")
    assert all(0 <= said[kind] <= said["wall"] for kind in parts)  # browsers round the host's clock, too
    assert {"plan", "lower", "emit", "submit", "read"} <= {s.kind for s in p._spans}
    assert 0 < said["read"] and 0 < sum(said[kind] for kind in parts) <= said["wall"]
    if said["pipelines"]:
        assert said["compile"] > 0
    again = tg.profile(ceilings=False)
    async with again:
        await (tg.tan(a) + 0.25).numpy()
    assert again.totals["pipelines"] == 0 and again.totals["compile"] == 0


@WAYS
async def test_calls_of_a_jitted_function_are_counted_as_what_they_replay(timestamps: bool) -> None:
    a, b = await stored(40, 40), await stored(40, 40)

    @tg.jit
    def step(x: tg.Array, y: tg.Array) -> tg.Array:
        return tg.tanh(x @ y + 1).sum(axis=0)

    await step(a, b).numpy()
    async with tg.profile(timestamps=timestamps, ceilings=False) as p:
        kept = [step(a, b) for _ in range(5)]
    found = {r["kernel"].split("_")[0]: (r["launches"], r["operations"]) for r in p.rows}
    product = next(v for k, v in found.items() if k.startswith("gem"))
    assert product[0] == 5 and product[1] >= 5 * 2 * 40**3
    assert sum(n for n, _ in found.values()) == p.totals["launches"] == p.totals["timed"]
    assert own(p) <= p.totals["wall"]
    del kept


async def test_programs_are_counted_as_what_they_replace() -> None:
    a = await stored(640)
    seen = []
    for k in range(4):  # a graph seen before is played from memory
        async with tg.profile(ceilings=False) as p:
            await ((a * 2).sum() + k).numpy()
        (only,) = p.rows
        seen.append((only["kernel"], only["launches"], only["bytes"], only["operations"]))
        assert p.totals["timed"] == 1
    assert len(set(seen)) == 1 and seen[0][2:] == (640 * 4 + 4, 2 * 640 + 1)


# --- times ----------------------------------------------------------------------------------------------------------


@WAYS
@pytest.mark.limits
async def test_kernel_times_add_up_to_at_most_the_wall_time(timestamps: bool) -> None:
    """G25: with timestamp queries and without."""
    a = await stored(200_000)
    async with tg.profile(timestamps=timestamps, ceilings=False) as p:
        for k in range(5):
            x = tg.exp(a * 1e-3) + k
            await x.sum().numpy()
    said = p.totals
    assert said["clock"] == ("gpu" if timestamps and "timestamp-query" in tg.device().features else "host")
    assert said["timed"] == said["launches"] > 0
    assert 0 < own(p) <= said["wall"]
    assert own(p) == pytest.approx(said["gpu"])
    assert sum(r["share"] for r in p.rows) == pytest.approx(1)
    assert nobody_listens()


async def without_the_feature() -> Any:
    """A device that has no timestamp-query, made as a page would make it."""
    if IN_TAB:
        from tab import run_js

        return await run_js("async () => (await navigator.gpu.requestAdapter()).requestDevice()")()
    from tabgpu.native_adapter import adapter

    return adapter("high-performance").request_device_sync()


async def test_an_adapter_without_timestamp_queries(restored: None) -> None:
    """G25: the feature is missing."""
    await tg.init(device=await without_the_feature())
    assert "timestamp-query" not in tg.device().features
    a = tg.ones((1000,))
    async with tg.profile(ceilings=False) as p:
        b = tg.sqrt(a)
        got = await (b * 2).numpy()
    assert got.tolist() == [2.0] * 1000
    assert p.totals["clock"] == "host" and p.totals["timed"] == p.totals["launches"] > 0
    assert 0 < own(p) <= p.totals["wall"]
    assert "as the host saw it" in str(p)


async def test_many_launches_in_one_block() -> None:
    """More than one set of queries holds."""
    a = await stored(16)
    few = await stored(4)
    async with tg.profile(ceilings=False) as p:
        for _ in range(9):
            for _ in range(240):
                a = tg.cumsum(a)  # never merged with its like
            await tg.synchronize()
        kept = tg.exp(few)
    assert p.totals["launches"] == p.totals["timed"] == 2161
    assert own(p) <= p.totals["wall"]
    del kept


async def test_a_clock_that_is_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """G25: Chromium rounds timestamps to 65,536 ns; equal ones are no time, and no rate is made of them."""
    step = 65_536 << 12  # longer than the kernels here take anywhere

    async def rounded(self: Any, target: memoryview) -> None:
        await self._inner.timings(target)
        words = target.cast("Q")
        for k in range(len(words)):
            if k % 3:
                words[k] -= words[k] % step

    a = await stored(1000)
    monkeypatch.setattr(recorder.Watched, "timings", rounded, raising=False)
    async with tg.profile(ceilings=False) as p:
        for _ in range(4):
            await tg.exp(a).numpy()
    said = p.totals
    assert said["timed"] == 4 and own(p) <= said["wall"]
    (only,) = p.rows
    assert only["time"] is not None and only["time"] <= said["wall"]
    if not only["time"]:
        assert only["bytes_per_second"] is None and only["of_copy"] is None
    if said["clock"] == "gpu":
        assert round(said["resolution"] * 1e9) % step == 0  # seconds are a float
        assert "timestamps are rounded" in str(p) and "--enable-webgpu-developer-features" in p._repr_html_()


async def test_launches_that_overlap_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = 1_000_000

    async def overlapping(self: Any, target: memoryview) -> None:
        await self._inner.timings(target)
        words = target.cast("Q")
        for k in range(len(words) // 3):
            words[3 * k + 1], words[3 * k + 2] = begin, begin + 100 + k  # all at once

    a = await stored(10)
    monkeypatch.setattr(recorder.Watched, "timings", overlapping, raising=False)
    async with tg.profile(ceilings=False) as p:
        for k in range(5):
            await tg.exp(a).numpy()
    assert own(p) == pytest.approx(104e-9)


# --- reports --------------------------------------------------------------------------------------------------------


async def test_a_text_table() -> None:
    a = await stored(1000)
    async with tg.profile() as p:
        await tg.log1p(a).numpy()
    text = str(p)
    lines = text.splitlines()
    assert "1 launches" in text and tg.device().name in lines[0]
    assert "ceilings of this GPU: copy" in text and "GB/s" in text
    head = next(k for k, line in enumerate(lines) if line.startswith("kernel "))
    assert lines[head].split()[:2] == ["kernel", "launches"]
    assert lines[head + 1].startswith("log1p") and len(lines) == head + 2
    assert "print it for a table" in repr(p)


async def test_html_is_escaped() -> None:
    a = await stored(10)
    async with tg.profile(ceilings=False) as p:
        await tg.exp(a).numpy()
    assert p._launches is not None
    p._launches[0].label = "<img src=x onerror=alert(1)>"
    p._totals["adapter"] = "<script>alert(2)</script>"
    p._totals["note"] = "\"'<b>"
    shown = p._repr_html_()
    assert "<img" not in shown and "<script" not in shown and "<b>" not in shown
    assert "&lt;img src=x onerror=alert(1)&gt;" in shown and "&lt;script&gt;" in shown
    json.loads(p.trace_json())


async def test_a_trace_for_perfetto(tmp_path: Path) -> None:
    a = await stored(20_000)
    async with tg.profile(ceilings=False) as p:
        for k in range(3):
            await (tg.exp(a) + k).sum().numpy()
    p.trace(tmp_path / "file.json")
    events = json.loads((tmp_path / "file.json").read_text("utf-8"))["traceEvents"]
    whole = [e for e in events if e["ph"] == "X"]
    assert all(e["dur"] >= 0 and {"name", "ts", "pid", "tid"} <= set(e) for e in whole)
    gpu = [e for e in whole if e["cat"] == "gpu"]
    assert len(gpu) == p.totals["timed"]
    assert min(e["ts"] for e in gpu) >= min(e["ts"] for e in whole if e["cat"] == "submit") - 1000
    assert {"plan", "lower", "emit", "submit", "read"} <= {e["cat"] for e in whole}
    tracks = {e["tid"] for e in whole}
    named = {e["tid"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    assert tracks <= named
    for track in tracks:  # events of a track lie beside or inside one another
        open_until: list[float] = []
        for e in sorted((e for e in whole if e["tid"] == track), key=lambda e: (e["ts"], -e["dur"])):
            while open_until and open_until[-1] <= e["ts"] + 1e-6:
                open_until.pop()
            assert not open_until or e["ts"] + e["dur"] <= open_until[-1] + 1e-3, (track, e)
            open_until.append(e["ts"] + e["dur"])


async def test_a_profile_that_is_not_finished_says_so() -> None:
    p = tg.profile(ceilings=False)
    assert "not begun" in repr(p)
    with pytest.raises(RuntimeError, match="not finished"):
        _ = p.rows
    async with p:
        assert "running" in repr(p) and str(p) == repr(p) and p._repr_html_() == ""
        with pytest.raises(RuntimeError, match="not finished"):
            _ = p.totals
        with pytest.raises(RuntimeError, match="running already"):
            await p.__aenter__()
    assert p.rows == []
    a = await stored(10)
    async with p:  # again: from the start
        await tg.exp(a).numpy()
    assert p.totals["launches"] == 1


# --- ceilings -------------------------------------------------------------------------------------------------------


@pytest.mark.limits
async def test_ceilings_are_measured_once_and_leave_no_trace() -> None:
    a = await stored(1000)
    async with tg.profile() as p:
        await tg.exp(a).numpy()
    first = ceilings.known(engine.device())
    assert first is not None and first.copy > 0 and first.fma > 0
    assert (p.totals["copy"], p.totals["fma"]) == tuple(first)
    (only,) = p.rows
    if only["time"]:
        assert only["of_copy"] == pytest.approx(only["bytes_per_second"] / first.copy)
    before, live = engine.device().counters.as_dict(), engine.device().live_bytes
    async with tg.profile() as p:
        pass
    assert ceilings.known(engine.device()) is first
    ceilings._known.clear()
    await ceilings.measure(engine.device())
    after = engine.device().counters.as_dict()
    for counts in (before, after):
        counts.pop("crossings")  # of the profiles' own waits
    assert after == before
    assert engine.device().live_bytes == live


async def test_the_copy_kernel_copies() -> None:
    gpu = engine.device()
    one, moved = ceilings._copy(gpu, engine.facts_of(gpu))
    n = int(moved) // 2
    values = np.arange(n // 4, dtype=np.uint32)
    one.reads[0].buffer = gpu.upload(values, n, "test")
    gpu.append(one)
    gpu.submit()
    memory = bytearray(n)
    assert one.writes[0].buffer is not None
    await gpu.read([(one.writes[0].buffer, 0, n)], memory)
    assert np.array_equal(np.frombuffer(memory, np.uint32), values)


async def test_the_multiply_add_kernel_adds_as_often_as_it_says() -> None:
    gpu = engine.device()
    one, operations = ceilings._add(gpu, engine.facts_of(gpu))
    threads = one.writes[0].size // 4
    rounds = one.words[0]
    assert operations == 2 * 4 * 32 * rounds * threads
    gpu.append(one)
    gpu.submit()
    memory = bytearray(16 * threads)
    assert one.writes[0].buffer is not None
    await gpu.read([(one.writes[0].buffer, 0, 16 * threads)], memory)
    got = np.frombuffer(memory, np.float32).reshape(threads, 4)
    chains = np.arange(threads)[:, None] + np.arange(8.0)
    m, c, steps = float(np.float32(0.999)), float(np.float32(0.001)), 4 * rounds
    wanted = chains * m**steps + c * (1 - m**steps) / (1 - m)
    assert np.allclose(got, wanted.sum(axis=1)[:, None], rtol=1e-4)


# --- several, errors, loss ------------------------------------------------------------------------------------------


async def test_profiles_inside_one_another() -> None:
    a = await stored(100)
    async with tg.profile(ceilings=False) as outer:
        await tg.exp(a).numpy()
        async with tg.profile(timestamps=False, ceilings=False) as inner:
            await tg.sin(a).numpy()
            await tg.sin(a).numpy()
        assert not nobody_listens()
        await tg.cos(a).numpy()
    assert [(r["kernel"].split("_")[0], r["launches"]) for r in inner.rows] == [("sin", 2)]
    assert sorted((r["kernel"].split("_")[0], r["launches"]) for r in outer.rows) == [
        ("cos", 1),
        ("exp", 1),
        ("sin", 2),
    ]
    assert inner.totals["clock"] == outer.totals["clock"]  # as the outer one began
    assert own(inner) <= inner.totals["wall"] <= outer.totals["wall"]
    assert nobody_listens()


async def test_profiles_that_overlap() -> None:
    a = await stored(100)
    first, second = tg.profile(ceilings=False), tg.profile(ceilings=False)
    await first.__aenter__()
    await tg.exp(a).numpy()
    await second.__aenter__()
    await tg.sin(a).numpy()
    await first.__aexit__(None, None, None)
    await tg.cos(a).numpy()
    await second.__aexit__(None, None, None)

    def names(p: profiling.Profile) -> list[str]:
        return sorted(r["kernel"].split("_")[0] for r in p.rows)

    assert names(first) == ["exp", "sin"] and names(second) == ["cos", "sin"]
    assert first.totals["timed"] == second.totals["timed"] == 2
    assert nobody_listens()


async def test_profiles_of_tasks_that_end_together() -> None:
    a = await stored(100)

    async def task(k: int) -> profiling.Profile:
        async with tg.profile(ceilings=False) as p:
            await (tg.exp(a) + k).numpy()
        return p

    found = await asyncio.gather(*[task(k) for k in range(6)])
    for p in found:
        assert p.totals["launches"] >= 1 and p.totals["timed"] == p.totals["launches"]
    assert nobody_listens()


async def test_an_exception_inside() -> None:
    a = await stored(100)
    with pytest.raises(ZeroDivisionError):
        async with tg.profile() as p:
            await tg.exp(a).numpy()
            _ = 1 // 0
    assert p.totals["launches"] == p.totals["timed"] == 1
    assert nobody_listens()


async def test_a_refused_call_inside() -> None:
    a = await stored(100)
    with pytest.raises(ValueError):
        async with tg.profile(ceilings=False) as p:
            await tg.exp(a).numpy()
            _ = a + tg.ones((3,))
    assert p.totals["launches"] == 1 and nobody_listens()


async def test_memory_that_runs_out_inside(restored: None) -> None:
    a = await stored(100)
    kept: list[tg.Array] = []
    with pytest.raises(OutOfMemoryError):
        async with tg.profile(ceilings=False) as p:
            await tg.exp(a).numpy()
            with no_memory():
                kept.append(tg.broadcast_to(a, (1000, 100)) + 1)
                await kept[0].numpy()
    assert p.totals["launches"] >= 1 and "exp" in str(p)
    assert nobody_listens()
    async with tg.profile(ceilings=False) as p:
        await tg.exp(a).numpy()
    assert p.totals["timed"] == 1


@WAYS
async def test_loss_inside(restored: None, timestamps: bool) -> None:
    a = await stored(100)
    with pytest.raises(DeviceLostError):
        async with tg.profile(timestamps=timestamps) as p:
            await tg.exp(a).numpy()
            tg.device().js.destroy()
            await soon(tg.synchronize())
    assert p.totals["launches"] == 1 and "lost" in p.totals["note"] and "lost" in str(p)
    assert engine.device().recorder is None
    p._repr_html_()
    json.loads(p.trace_json())


async def test_loss_that_only_the_end_notices(restored: None) -> None:
    a = await stored(100)
    with pytest.raises(DeviceLostError):
        async with tg.profile() as p:
            kept = tg.exp(a)
            tg.device().js.destroy()
    assert "lost" in p.totals["note"] and engine.device().recorder is None
    del kept


async def test_a_new_device_inside(restored: None) -> None:
    a = await stored(100)
    async with tg.profile(ceilings=False) as p:
        await tg.exp(a).numpy()
        await tg.init()
        await tg.sin(tg.ones((3,))).numpy()
    assert [r["kernel"].split("_")[0] for r in p.rows] == ["exp"]
    assert "lost (closed)" in p.totals["note"]
    assert nobody_listens()


async def test_a_plain_with_block_where_python_cannot_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "can_suspend", lambda: False)
    with pytest.raises(SyncError, match=r"async with tg\.profile"), tg.profile():
        pass
    assert nobody_listens()


async def test_a_plain_with_block() -> None:
    if not bridge.can_suspend():
        pytest.skip("Python cannot wait here")
    a = await stored(100)
    with tg.profile(ceilings=False) as p:
        b = tg.exp(a)
    assert p.totals["launches"] == p.totals["timed"] == 1
    with pytest.raises(KeyError), tg.profile(ceilings=False):
        raise KeyError
    assert nobody_listens()
    del b
