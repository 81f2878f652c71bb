"""tg.tune() in a page: what it found is there after a reload, in a fresh Pyodide; pages without storage work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sync_page import open_page, run_in_page

# A small product, two kernels to choose from (as a GPU would; this adapter may be a CPU), made-up times.
TUNE = """
import json
import tabgpu as tg
from tabgpu import engine, tuning
from tabgpu.kernels import gemm_tiles

await tg.init()
gpu = engine.device()
before = len(gemm_tiles.overrides)
gpu.software, gpu.facts = False, None
gemm_tiles.candidates = lambda *args, **more: ["t16x16", "t16x16/2"]
gemm_tiles._default = lambda *args: (gemm_tiles.PLANS["t16x16"], 1)
async def best(gpu, trial, k, idle, best):
    return {"t16x16": 1.0, "t16x16/2": 0.5}[trial.name]
tuning._best = best
found = await tg.tune(seconds=200, sizes=[(20, 20, 200)], dtypes=["float32"])
json.dumps({"before": before, "kept": found["kept"], "classes": found["classes"],
            "choices": [list(x) for x in found["choices"].values()],
            "held": {str(k): v for k, v in gemm_tiles.overrides.items()}})
"""
LATER = """
import json
import tabgpu as tg
from tabgpu.kernels import gemm_tiles

await tg.init()
held = {str(k): v for k, v in gemm_tiles.overrides.items()}
total = await (tg.ones((20, 200)) @ tg.ones((200, 20))).sum().item()
json.dumps({"held": held, "total": total})
"""
RESET = """
import json
import tabgpu as tg

json.dumps(await tg.tune(reset=True))
"""
OTHER = """
import json
from tabgpu import bridge, engine, tuned

await __import__("tabgpu").init()
gpu = engine.device()
kept = json.loads(gpu.tuning)
kept["identity"][0] = "vendor=another"
json.dumps({"kept": await bridge.keep(bridge.TUNING, json.dumps(kept))})
"""
HELD = {"(False, 5, 5, 8, 0)": "t16x16/2"}
DENIED = """Object.defineProperty(globalThis, "indexedDB", {
  configurable: true, get() { throw new DOMException("denied", "SecurityError"); } });"""
BROKEN = """IDBFactory.prototype.open = function () {
  const request = new EventTarget();
  request.error = new DOMException("broken", "UnknownError");
  setTimeout(() => request.onerror?.(new Event("error")));
  return request;
};"""
SILENT = "IDBFactory.prototype.open = function () { return new EventTarget(); };"


def test_a_tuning_survives_a_reload(chromium: Any, serve: Any, tmp_path: Path) -> None:
    page = open_page(chromium, serve, tmp_path, jspi=True)
    said = run_in_page(page, TUNE)
    assert said == {"before": 0, "kept": True, "classes": 1, "choices": [["t16x16/2", 2.0]], "held": HELD}
    page.reload()
    assert run_in_page(page, LATER) == {"held": HELD, "total": 80000.0}
    page.reload()
    assert run_in_page(page, OTHER) == {"kept": True}
    page.reload()
    assert run_in_page(page, LATER) == {"held": {}, "total": 80000.0}  # of another adapter
    assert run_in_page(page, TUNE)["held"] == HELD  # measured anew for this one
    said = run_in_page(page, RESET)
    assert said["kept"] is True and said["choices"] == {}
    page.reload()
    assert run_in_page(page, LATER) == {"held": {}, "total": 80000.0}
    page.close()


def test_pages_without_storage_tune_for_themselves(chromium: Any, serve: Any, tmp_path: Path) -> None:
    for k, spoil in enumerate([DENIED, BROKEN, SILENT]):
        folder = tmp_path / str(k)
        folder.mkdir()
        (folder / "index.html").write_text("<!doctype html><title>tune</title>")
        page = chromium.new_page()
        page.set_default_timeout(120_000)
        page.add_init_script(spoil)
        said = []
        page.on(
            "console", lambda message, said=said: (print("console:", message.text), said.append(message.text))
        )
        page.goto(serve(folder).url + "/")
        found = run_in_page(page, TUNE)
        assert (found["kept"], found["held"]) == (False, HELD)
        assert not [text for text in said if "denied" in text or "broken" in text]  # nobody is bothered
        if spoil is DENIED:
            page.reload()
            assert run_in_page(page, LATER) == {"held": {}, "total": 80000.0}
        page.close()
