"""Fixtures of the tests that need no browser: a device that computes in NumPy (emulator.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import emulator
import pytest

from tabgpu import engine
from tabgpu.config import Config
from tabgpu.device import Device


@pytest.fixture
def open_gpu() -> Iterator[Callable[..., Device]]:
    """open_gpu(fuse=.., limits..) -> a device that is now the open one; may be called again."""

    def start(
        *, fuse: bool = True, fused: int | None = None, options: dict[str, int] | None = None, **limits: int
    ) -> Device:
        own = {} if fused is None else {"maxFusedBuffers": fused}
        gpu = emulator.device(Config(fuse, own, **(options or {})), **limits)
        engine.pending.clear()
        engine._work = 0
        engine._device = gpu
        return gpu

    yield start
    engine.pending.clear()
    engine._device = None


@pytest.fixture
def gpu(open_gpu: Callable[..., Device]) -> Device:
    """A device with the limits that every WebGPU adapter has."""
    return open_gpu()
