"""Settings of all test folders, on the host and in the tab. No fixtures live here."""

from __future__ import annotations

import importlib
import importlib.util


def pytest_configure() -> None:
    # By name, so that a tab that runs no property test need not load hypothesis.
    if importlib.util.find_spec("hypothesis") is not None:
        settings = importlib.import_module("hypothesis").settings
        # Without deadlines (a kernel's first compilation takes long) and the same examples every time.
        settings.register_profile("tabgpu", deadline=None, derandomize=True, database=None, max_examples=50)
        settings.load_profile("tabgpu")
