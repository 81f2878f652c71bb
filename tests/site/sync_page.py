"""Pages and workers of tests that run Python in Pyodide by themselves, with JSPI or without. No tests here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WORK = Path(__file__).resolve().parents[1] / "browser" / "sync_work.py"
# Pyodide looks for these when it starts.
NO_JSPI = "delete WebAssembly.Suspending; delete WebAssembly.promising; delete WebAssembly.SuspendError;"
START = """
const start = async (work) => {
  const { loadPyodide } = await import("./pyodide/pyodide.mjs");
  const pyodide = await loadPyodide();
  await pyodide.loadPackage(["tabgpu", "numpy"]);
  pyodide.FS.writeFile("/home/pyodide/sync_work.py", work);
  return pyodide;
};
"""
WORKER = (
    START
    + """
onmessage = async ({ data: [work, script] }) => {
  try {
    postMessage({ said: await (await start(work)).runPythonAsync(script) });
  } catch (error) {
    postMessage({ failed: String(error) });
  }
};
"""
)
PAGE = '<!doctype html><meta charset="utf-8"><title>sync</title><button id="go">go</button>'


def open_page(chromium: Any, serve: Any, folder: Path, *, jspi: bool) -> Any:
    """A page with a button, where `window.pyodide` has tabgpu and sync_work.py."""
    (folder / "index.html").write_text(PAGE)
    (folder / "worker.js").write_text(("" if jspi else NO_JSPI) + WORKER)
    server = serve(folder)
    page = chromium.new_page()
    page.set_default_timeout(120_000)
    page.on("console", lambda message: print("console:", message.text))
    if not jspi:
        page.add_init_script(NO_JSPI)
    page.goto(server.url + "/")
    return page


def run_in_page(page: Any, script: str) -> dict[str, Any]:
    """What a script gives as JSON; `window.pyodide` stays for more."""
    page.evaluate(f"async (work) => {{ {START} window.pyodide ??= await start(work); }}", WORK.read_text())
    said: dict[str, Any] = json.loads(page.evaluate("(s) => pyodide.runPythonAsync(s)", script))
    return said


def run_in_worker(page: Any, script: str) -> dict[str, Any]:
    """What a script gives as JSON in a new worker of the page."""
    text = page.evaluate(
        """async (message) => {
          const worker = new Worker("worker.js", { type: "module" });
          const said = new Promise((resolve, reject) => {
            worker.onmessage = ({ data }) => data.failed ? reject(new Error(data.failed)) : resolve(data.said);
            worker.onerror = (event) => reject(new Error(event.message));
          });
          worker.postMessage(message);
          try { return await said; } finally { worker.terminate(); }
        }""",
        [WORK.read_text(), script],
    )
    said: dict[str, Any] = json.loads(text)
    return said
