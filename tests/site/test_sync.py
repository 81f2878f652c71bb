"""Reading without `await` in a worker, and from the click of a button: tests/browser/test_sync.py and a real event."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sync_page import open_page, run_in_page

from conftest import LIMIT, ROOT

CLICK = """
import asyncio, json
import sync_work as sw
import tabgpu as tg
from js import document
from pyodide.ffi.wrappers import add_event_listener, set_timeout
from tabgpu import engine

await tg.init()
a = tg.asarray(sw.H)
await a.numpy()
said = {}
finished = asyncio.get_running_loop().create_future()

def plain(event):
    said["plain"] = sw.outcomes(a)

def timer():
    said["timer"] = sw.outcomes(a)

async def awaits(event):
    try:
        said["awaited"] = await sw.awaited(a)
        said["can"] = engine.can_suspend()
        said["async"] = sw.outcomes(a)
        set_timeout(timer, 1)
        await asyncio.sleep(0.1)
    finally:
        finished.set_result(None)

button = document.getElementById("go")
add_event_listener(button, "click", plain)
add_event_listener(button, "click", awaits)
json.dumps({"here": sw.outcomes(a)})
"""


def refused(said: dict[str, str]) -> bool:
    return all(text.startswith("SyncError") and "await" in text for text in said.values())


def right(said: dict[str, str]) -> bool:
    return set(said.values()) == {"right"}


def click(page) -> dict:
    page.click("#go")
    return run_in_page(page, "await finished\njson.dumps(said)")


def test_in_a_worker(pyodide) -> None:
    """P02: page and worker alike."""
    line = [sys.executable, "-m", "tabgpu_command", "test", "--worker", "--pyodide", str(pyodide), "-q"]
    done = subprocess.run(
        [*line, "tests/browser/test_sync.py"], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def test_a_click(serve, chromium, tmp_path: Path) -> None:
    """P02: the handler that JavaScript calls is told what to write; the async one awaits, and reads where it can."""
    page = open_page(chromium, serve, tmp_path, jspi=True)
    try:
        assert right(run_in_page(page, CLICK)["here"])
        said = click(page)
    finally:
        page.close()
    assert refused(said["plain"]) and refused(said["timer"]), said
    assert said["awaited"] is True
    assert right(said["async"]) if said["can"] else refused(said["async"]), said
