"""A page and a worker where WebAssembly cannot suspend (Firefox and Safari today): all works with await, nothing
without, and each error says which await to write."""

from __future__ import annotations

from pathlib import Path

from sync_page import open_page, run_in_page, run_in_worker
from test_sync import CLICK, click, refused

SCRIPT = """
import asyncio, json
import numpy as np
import sync_work as sw
import tabgpu as tg
from pyodide.ffi import can_run_sync

said = {"can_run_sync": bool(can_run_sync())}

try:
    tg.asarray(np.ones(3))
except Exception as e:
    said["early"] = f"{type(e).__name__}: {e}"
await tg.init()
x = tg.asarray(sw.H)
said["work"] = sw.outcomes(x)
said["named"] = sw.all_refused(said["work"])
said["repr"] = repr(x + 1)
said["numpy"] = (await (x + 1).numpy()).tolist()
said["awaited"] = await sw.awaited(x)
y = x
for _ in range(20_000):
    y = y + 1
said["chain"] = await y.tolist()
for _ in range(20_000):
    y = y * 2
del y

async def task(k):
    inner = sw.outcomes(x)
    assert sw.all_refused(inner)
    return await (x * k).sum().item()

async def nested(depth):
    return sum(await asyncio.gather(*(nested(depth - 1) for _ in range(2)))) if depth else await task(1)

said["tasks"] = await asyncio.gather(*(task(k) for k in range(20)))
said["nested"] = await nested(3)
waiting = asyncio.ensure_future(x.numpy())
await asyncio.sleep(0)
tg.device().js.destroy()
try:
    await asyncio.wait_for(waiting, 5)
except Exception as e:
    said["lost"] = type(e).__name__
await tg.init()
said["again"] = await tg.ones(3).tolist()
json.dumps(said)
"""


def check(said: dict) -> None:
    assert said["can_run_sync"] is False
    assert said["early"].startswith("NotInitializedError") and "await tg.init()" in said["early"]
    assert refused(said["work"]) and said["named"] is True
    assert "shape=(5,)" in said["repr"] and "await a.numpy()" in said["repr"]
    assert said["numpy"] == [1, 2, 3, 4, 5] and said["awaited"] is True
    assert said["chain"] == [20000 + k for k in range(5)]
    assert said["tasks"] == [10.0 * k for k in range(20)] and said["nested"] == 80
    assert said["lost"] == "DeviceLostError" and said["again"] == [1, 1, 1]


def test_with_await_only(serve, chromium, tmp_path: Path) -> None:
    page = open_page(chromium, serve, tmp_path, jspi=False)
    try:
        check(run_in_page(page, SCRIPT))
        assert refused(run_in_page(page, CLICK)["here"])
        said = click(page)
    finally:
        page.close()
    assert refused(said["plain"]) and refused(said["timer"]) and refused(said["async"]), said
    assert said["awaited"] is True and said["can"] is False


def test_in_a_worker(serve, chromium, tmp_path: Path) -> None:
    page = open_page(chromium, serve, tmp_path, jspi=False)
    try:
        check(run_in_worker(page, SCRIPT))
    finally:
        page.close()
