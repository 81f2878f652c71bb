"""Where the machine has no Vulkan driver, Chromium's own SwiftShader is one for wgpu-native. Not used in the tab."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

PLACES = ("/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d")


def borrow_a_driver() -> None:
    """To be called before wgpu is asked for adapters; does nothing where a driver is installed or chosen."""
    if sys.platform != "linux" or {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"} & os.environ.keys():
        return
    if any(any(Path(place).glob("*.json")) for place in PLACES):
        return
    try:
        from tabgpu.host.browser import find_browser

        folder = Path(find_browser(None)).resolve().parent
        if folder == Path("/usr/bin"):  # Debian's is a script
            folder = Path("/usr/lib/chromium")
    except Exception:  # no browser here: nothing to borrow
        return
    icd, loader = folder / "vk_swiftshader_icd.json", folder / "libvulkan.so.1"
    if icd.exists() and loader.exists():
        os.environ["VK_DRIVER_FILES"] = os.environ["VK_ICD_FILENAMES"] = str(icd)
        ctypes.CDLL(str(loader), mode=ctypes.RTLD_GLOBAL)
