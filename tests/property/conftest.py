"""Generated cases against NumPy on the native host: `./build.sh property`; `--cases N` for each test (default 40)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "browser")]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cases", type=int, default=40, help="generated cases for each test")


def pytest_configure(config: pytest.Config) -> None:
    from vulkan import borrow_a_driver

    borrow_a_driver()
    quiet = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    settings.register_profile(
        "cases", max_examples=config.getoption("--cases"), deadline=None, suppress_health_check=quiet
    )
    settings.load_profile("cases")
