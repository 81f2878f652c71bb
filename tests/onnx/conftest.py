"""Asynchronous tests on the host, and a line an operator at the end. `./build.sh onnx`."""

from __future__ import annotations

import asyncio
import inspect
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parents[1])]

if sys.platform != "emscripten":  # in the tab tabgpu's own harness awaits async tests
    _runner = asyncio.Runner()

    def pytest_configure() -> None:
        from vulkan import borrow_a_driver

        borrow_a_driver()

    def pytest_unconfigure() -> None:
        _runner.close()

    def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
        """Awaits async tests, all in one event loop."""
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        arguments: dict[str, Any] = {k: pyfuncitem.funcargs[k] for k in pyfuncitem._fixtureinfo.argnames}
        _runner.run(pyfuncitem.obj(**arguments))
        return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many cases of each operator passed, did not, and are out."""
    nodes = sys.modules.get("test_nodes")
    passed, failed = (
        [r.nodeid for r in terminalreporter.stats.get(k, []) if "test_node[" in r.nodeid]
        for k in ("passed", "failed")
    )
    if nodes is None or not passed + failed:
        return
    terminalreporter.section("ONNX node tests: run, out")
    for op in nodes.OPERATORS:
        good, bad = (sum(f"[{op}-" in name for name in names) for names in (passed, failed))
        out = sum(case["op"] == op for case in nodes.OUT)
        terminalreporter.write_line(f"{op}: {good + bad} run, {out} out" + (f", {bad} FAILED" if bad else ""))
    terminalreporter.write_line(
        f"all: {len(passed) + len(failed)} run, {len(nodes.OUT)} out, {len(failed)} failed"
    )
