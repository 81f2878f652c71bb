"""wgpu-native (naga) as the second implementation of WebGPU: finds an adapter, also the one in a Chromium folder."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tabgpu.host.browser import find_browser


def _borrow_swiftshader() -> None:
    """Chromium brings a Vulkan loader and SwiftShader; where the machine has no driver, these are as good."""
    try:
        folder = Path(find_browser(None)).resolve().parent
    except Exception:  # no browser here: the machine's own drivers must do
        return
    icd, loader = folder / "vk_swiftshader_icd.json", folder / "libvulkan.so.1"
    if icd.exists() and loader.exists() and "VK_DRIVER_FILES" not in os.environ:
        os.environ["VK_DRIVER_FILES"] = os.environ["VK_ICD_FILENAMES"] = str(icd)
        ctypes.CDLL(str(loader), mode=ctypes.RTLD_GLOBAL)


@cache
def adapter() -> Any:
    """An adapter of wgpu-native; the test is skipped where there is none."""
    _borrow_swiftshader()
    wgpu = pytest.importorskip("wgpu")
    try:
        found = wgpu.gpu.enumerate_adapters_sync()
    except Exception as error:
        pytest.skip(f"wgpu finds no adapter: {error}")
    if not found:
        pytest.skip("wgpu finds no adapter")
    return min(found, key=lambda a: a.info["backend_type"] != "Vulkan")


@cache
def device() -> Any:
    """A device with the adapter's own limits."""
    a = adapter()
    names = ("max-compute-workgroup-storage-size", "max-storage-buffers-per-shader-stage")
    return a.request_device_sync(required_limits={n: a.limits[n] for n in names if n in a.limits})
