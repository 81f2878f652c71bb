"""The scientific chapters beside SciPy and NumPy on CPython, on the native host: `./build.sh sci`.

A test draws the same numbers, whichever ran before it: module-level Generators are put back to where they began.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import sys
from collections import Counter
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
    found: dict[str, tuple[int, Counter[str], int]] = {}
    for report in [r for some in ("passed", "failed") for r in terminalreporter.stats.get(some, [])]:
        for key, (name, run, out, failed) in report.user_properties:
            if key == "calls" and report.when == "call":
                ran, why, wrong = found.get(name, (0, Counter(), 0))
                found[name] = ran + run, why + Counter(out), wrong + failed
    if not found:
        return
    terminalreporter.section("calls of SciPy and NumPy: run, out")
    for name, (run, out, failed) in sorted(found.items()):
        why = "; ".join(f"{n} {reason}" for reason, n in out.most_common(4))
        terminalreporter.write_line(
            f"{name}: {run} run, {out.total()} out"
            + f", {failed} FAILED" * bool(failed)
            + f" ({why})" * bool(why)
        )
    ran, out_, wrong = (sum(x) for x in zip(*[(r, o.total(), f) for r, o, f in found.values()], strict=True))
    terminalreporter.write_line(f"all: {ran} run, {out_} out, {wrong} failed")


@pytest.fixture(autouse=True)
def seeded(request: pytest.FixtureRequest) -> Iterator[None]:
    for made in vars(request.module).values():
        if isinstance(made, np.random.Generator):
            state = _begins.setdefault(id(made), copy.deepcopy(made.bit_generator.state))
            made.bit_generator.state = copy.deepcopy(state)
    yield
