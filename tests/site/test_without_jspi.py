"""A page where WebAssembly cannot suspend (Firefox and Safari today): everything works with await, nothing without."""

from __future__ import annotations

import json
from pathlib import Path

# Pyodide looks for these when it starts.
NO_JSPI = "delete WebAssembly.Suspending; delete WebAssembly.promising; delete WebAssembly.SuspendError;"

SCRIPT = """
import asyncio, json
import numpy as np
import tabgpu as tg
from pyodide.ffi import can_run_sync

said = {"can_run_sync": bool(can_run_sync())}

def error(name, work):
    try:
        said[name] = str(work())
    except Exception as e:
        said[name] = f"{type(e).__name__}: {e}"

error("early", lambda: tg.asarray(np.ones(3)))
await tg.init()
x = tg.asarray(np.arange(5.0))
for f in (float, bool, int, np.asarray):
    error(f.__name__, lambda: f(x.sum()))
said["repr"] = repr(x + 1)
said["numpy"] = (await (x + 1).numpy()).tolist()
said["item"] = await x.sum().item()
y = x
for _ in range(20_000):
    y = y + 1
said["chain"] = await y.tolist()
for _ in range(20_000):
    y = y * 2
del y

async def task(k):
    return await (x * k).sum().item()

said["tasks"] = await asyncio.gather(*(task(k) for k in range(20)))
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


def test_with_await_only(serve, chromium, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<!doctype html><title>no JSPI</title>")
    server = serve(tmp_path)
    page = chromium.new_page()
    page.set_default_timeout(120_000)
    try:
        page.add_init_script(NO_JSPI)
        page.goto(server.url + "/")
        text = page.evaluate(
            """async (script) => {
              const { loadPyodide } = await import("./pyodide/pyodide.mjs");
              const pyodide = await loadPyodide();
              await pyodide.loadPackage("tabgpu");
              return await pyodide.runPythonAsync(script);
            }""",
            SCRIPT,
        )
    finally:
        page.close()
    said = json.loads(text)
    assert said["can_run_sync"] is False
    assert said["early"].startswith("NotInitializedError") and "await tg.init()" in said["early"]
    for name, instead in (
        ("float", "float(await a.item())"), ("bool", "bool(await a.item())"), ("int", "int(await a.item())"),
        ("asarray", "await a.numpy()"),
    ):  # fmt: skip
        assert said[name].startswith("SyncError") and instead in said[name], said[name]
    assert "shape=(5,)" in said["repr"] and "await a.numpy()" in said["repr"]
    assert said["numpy"] == [1, 2, 3, 4, 5] and said["item"] == 10
    assert said["chain"] == [20000 + k for k in range(5)]
    assert said["tasks"] == [10.0 * k for k in range(20)]
    assert said["lost"] == "DeviceLostError" and said["again"] == [1, 1, 1]
