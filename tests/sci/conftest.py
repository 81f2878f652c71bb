"""The scientific chapters beside SciPy and NumPy on CPython, on the native host: `./build.sh sci`.

A test draws the same numbers, whichever ran before it: module-level Generators are put back to where they began.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "browser")]
_begins: dict[int, object] = {}


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
    """Of the recorded calls of each function: how many ran, failed, are out and why."""
    there = sys.modules.get("test_recorded")
    if there is None or not (there.RUN or there.OUT):
        return
    terminalreporter.section("calls of SciPy and NumPy: run, out")
    for name in sorted({*there.RUN, *there.OUT, *there.FAILED}):
        why = "; ".join(f"{n} {reason}" for reason, n in there.OUT[name].most_common(4))
        failed = f", {there.FAILED[name]} FAILED" if there.FAILED[name] else ""
        terminalreporter.write_line(
            f"{name}: {there.RUN[name]} run, {there.OUT[name].total()} out{failed}"
            + (f" ({why})" if why else "")
        )
    out = sum(c.total() for c in there.OUT.values())
    terminalreporter.write_line(f"all: {there.RUN.total()} run, {out} out, {there.FAILED.total()} failed")


@pytest.fixture(autouse=True)
def seeded(request: pytest.FixtureRequest) -> Iterator[None]:
    for made in vars(request.module).values():
        if isinstance(made, np.random.Generator):
            state = _begins.setdefault(id(made), copy.deepcopy(made.bit_generator.state))
            made.bit_generator.state = copy.deepcopy(state)
    yield
