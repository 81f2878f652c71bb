"""Tests in the tab: `--limits` runs those marked `limits` on a device with its limits forced down. No oracles here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

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


@pytest.fixture(scope="session", autouse=True)
def forced_limits(request: pytest.FixtureRequest) -> Iterator[None]:
    """Opens the device with FORCED under --limits; each test then works on that device."""
    if request.config.getoption("--limits"):
        from pyodide.ffi import run_sync

        import tabgpu as tg

        run_sync(tg.init(limits=FORCED))
        assert tg.device().limits["maxFusedBuffers"] == 4
        assert tg.device().limits["maxComputeInvocationsPerWorkgroup"] == 128
    yield
