"""The same tests in the tab (`tabgpu test`) and on the native host (plain pytest). No oracles here.

`--limits` runs those marked `limits` on a device with its limits forced down.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tabgpu.bridge import run_sync

NATIVE = sys.platform != "emscripten"

# What the weakest device we promise to serve offers; hand-written kernels may use WebGPU's guaranteed 8 buffers.
FORCED = {
    "maxFusedBuffers": 4,
    "maxStorageBuffersPerShaderStage": 8,
    "maxComputeWorkgroupsPerDimension": 100,
    "maxComputeWorkgroupStorageSize": 16384,
    "maxComputeInvocationsPerWorkgroup": 128,
    "maxComputeWorkgroupSizeX": 128,
    "maxComputeWorkgroupSizeY": 128,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--limits", action="store_true", help="only tests marked `limits`, with forced limits")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--limits"):
        chosen = [item for item in items if item.get_closest_marker("limits")]
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen
    if NATIVE:
        for item in items:
            if item.get_closest_marker("js"):
                item.add_marker(pytest.mark.skip(reason="needs JavaScript: a tab's own objects or events"))


if NATIVE:  # in the tab tabgpu's own harness awaits async tests
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

    def pytest_report_header() -> str:
        import tabgpu as tg

        return f"native host: {tg.device()!r}"


@pytest.fixture(scope="session", autouse=True)
def forced_limits(request: pytest.FixtureRequest) -> Iterator[None]:
    """Opens the device with FORCED under --limits; each test then works on that device."""
    if request.config.getoption("--limits"):
        import tabgpu as tg

        run_sync(tg.init(limits=FORCED))
        assert tg.device().limits["maxFusedBuffers"] == 4
        assert tg.device().limits["maxComputeInvocationsPerWorkgroup"] == 128
    yield
