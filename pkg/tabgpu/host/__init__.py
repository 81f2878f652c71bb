"""The host side of tabgpu: the `tabgpu` command for CPython. Nothing here runs in the tab but host/tab/.

    tabgpu run SCRIPT [ARGS...]      run a script with top-level await in a headless tab
    tabgpu test [PYTEST ARGS...]     run pytest inside the tab
    tabgpu serve DIR                 serve pages, the wheel and Pyodide with the right MIME types
    tabgpu info                      adapter, features, limits, JSPI
    tabgpu pyodide DIR [PACKAGES...] make or complete a self-hosted Pyodide distribution

From a source tree: `.venv/bin/tabgpu test tests/browser/test_x.py -k name -x` (the wheel is made on the
fly from the tree, so there is no build step between an edit and a run).

What the tab sees:

* The working directory holds a copy of the script's folder (`run`) or of the test files, their folders and the
  project's pytest configuration (`test`), at the same relative paths as on the host; `--file PATH` adds more.
* Everything written under /out (or out/ of the working directory) is copied to ./out on the host at the end.
* `async def test_...` functions are awaited, synchronous ones may use `pyodide.ffi.run_sync`.
* Pyodide comes from `--pyodide DIR`, else $TABGPU_PYODIDE, else a distribution that is made once (host/dist.py).
* The browser is `--browser PATH`, else $TABGPU_BROWSER, else Playwright's Chromium, else an installed one.

Exit status: the script's or pytest's own; 120 no browser, 121 no WebGPU adapter, 122 the page crashed or could not
start, 123 nothing was submitted to the GPU (`--allow-no-gpu` accepts 121 and 123), 124 timeout, 130 interrupted.
"""
