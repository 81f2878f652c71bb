"""Options of the benches. They run in the tab; test_counter_table.py on the native host as well."""

from __future__ import annotations

import sys

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-counters", action="store_true", help="leave counters.json as measured in out/, and pass"
    )


if sys.platform != "emscripten":

    def pytest_configure() -> None:
        from vulkan import borrow_a_driver

        borrow_a_driver()
