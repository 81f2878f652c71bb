"""A device of the native host, for unit tests whose WGSL must really compile and run; skips where there is none."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tabgpu import bridge_native
from tabgpu.errors import NoAdapterError
from vulkan import borrow_a_driver


@cache
def device() -> Any:
    """A wgpu.GPUDevice with the adapter's own limits."""
    borrow_a_driver()
    try:
        return bridge_native.open_device({}, "high-performance", None).device
    except NoAdapterError as error:
        pytest.skip(str(error))


class Bridge(bridge_native.Bridge):
    """The native host's bridge on the tests' device; a fault is raised at once."""

    def __init__(self) -> None:
        super().__init__(device())

    def submit(self, serial: int, commands: int, n: int, allocates: bool) -> None:
        super().submit(serial, commands, n, allocates)
        assert not self.faults, self.faults[0]["message"]
