"""Runs in the tab, not on the host: the user's script or pytest, with the arguments of the host. No public API."""

from __future__ import annotations

import ast
import inspect
import json
import linecache
import os
import sys
import traceback
from types import ModuleType, TracebackType
from typing import Any

import _tabgpu_host  # registered by runner.mjs


def exit_status(code: object) -> int:
    """What the interpreter does with the argument of SystemExit."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def strip(tb: TracebackType | None) -> TracebackType | None:
    """The traceback from the user's first line on."""
    while tb is not None and tb.tb_frame.f_code.co_filename == "<tabgpu harness>":
        tb = tb.tb_next
    return tb


async def device_is_there() -> bool:
    """Whether the open device, if there is one, has not been lost: a script that reads nothing would not notice."""
    engine: Any = sys.modules.get("tabgpu.engine")
    gpu = engine and engine.current()
    if not gpu or gpu.lost == "closed":
        return True
    try:
        await gpu.wait()
    except Exception as e:
        if type(e).__name__ == "DeviceLostError":
            print(f"tabgpu: the device was lost during the run: {e}", file=sys.stderr)
            return False
    return True


async def run_script(job: dict[str, Any]) -> int:
    """Execute the script as __main__ with top-level await; the exit status, as the interpreter would give it."""
    path = job["script"]
    with open(path, encoding="utf-8") as f:
        source = f.read()
    main = ModuleType("__main__")
    main.__file__ = path
    sys.modules["__main__"] = main
    sys.argv = [path, *job["args"]]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    linecache.updatecache(path)
    try:
        code = compile(source, path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, main.__dict__)
        if inspect.iscoroutine(result):
            await result
        return 0 if await device_is_there() else 1
    except SystemExit as e:
        return exit_status(e.code)
    except BaseException as e:
        e.__traceback__ = strip(e.__traceback__)
        traceback.print_exception(e)
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


class Plugin:
    """pytest in the tab: awaits async tests and says in the summary what the GPU did."""

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool | None:
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        from pyodide.ffi import run_sync

        names = pyfuncitem._fixtureinfo.argnames
        run_sync(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
        return True

    def pytest_report_header(self) -> str:
        return f"tab: {job_['adapter']}, {'worker' if job_['worker'] else 'page'}"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        text = f"WebGPU: {job_['adapter']}, {_tabgpu_host.submits()} submits"
        tabgpu = sys.modules.get("tabgpu")
        try:
            text += f", {tabgpu.device().counters.launches} launches"  # type: ignore[union-attr]
        except Exception:
            pass  # tabgpu was not imported or never opened a device; the submits say enough
        terminalreporter.write_line(text)


def run_pytest(job: dict[str, Any]) -> int:
    import pytest

    sys.path.insert(0, os.getcwd())
    return int(
        pytest.main(["-p", "no:cacheprovider", "-p", "no:faulthandler", *job["args"]], plugins=[Plugin()])
    )


job_ = json.loads(_tabgpu_host.job)


async def main() -> int:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, write_through=True)  # type: ignore[union-attr]
    os.makedirs("/out", exist_ok=True)
    os.chdir(job_["root"])
    if not os.path.exists("out"):
        os.symlink("/out", "out")
    if job_["mode"] == "test":
        return run_pytest(job_)
    return await run_script(job_)
