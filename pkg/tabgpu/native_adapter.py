"""Which adapter the native host computes on, and what to do where there is none."""

from __future__ import annotations

import json
import os
from typing import Any

from .errors import NoAdapterError

PACKAGE = (
    "Outside of a browser tabgpu runs on wgpu: `pip install 'tabgpu[native]'`; `tabgpu run script.py` "
    "starts a browser tab instead"
)
DRIVER = (
    "wgpu needs a driver for Vulkan, Metal or Direct3D 12. Without a GPU, Debian's mesa-vulkan-drivers (llvmpipe) "
    "compute on the CPU; TABGPU_ADAPTER=name chooses one of several adapters"
)


def adapter(power: str) -> Any:
    """The adapter to use: a GPU rather than a CPU, Vulkan, Metal and Direct3D 12 rather than OpenGL."""
    try:
        import wgpu
    except ImportError:
        raise NoAdapterError(PACKAGE) from None
    if "XDG_RUNTIME_DIR" not in os.environ:  # Mesa's layer that orders devices would complain of it
        os.environ.setdefault("NODEVICE_SELECT", "1")
    try:
        from wgpu.backends.wgpu_native.extras import set_instance_extras

        set_instance_extras(backends=["Primary"])  # without OpenGL
    except Exception:
        pass  # wgpu is in use already
    try:
        found = wgpu.gpu.enumerate_adapters_sync()
    except Exception as error:
        raise NoAdapterError(f"wgpu offers no adapter: {error}. {DRIVER}") from None
    name = os.environ.get("TABGPU_ADAPTER", "").lower()
    fitting = [a for a in found if name in json.dumps(dict(a.info)).lower()]
    if not fitting:
        said = ", ".join(a.info["device"] for a in found) or "none at all"
        raise NoAdapterError(f"wgpu offers no adapter{f' {name!r}' if name else ''}, but {said}. {DRIVER}")
    order = ["DiscreteGPU", "IntegratedGPU", "Unknown", "CPU"]
    if power != "high-performance":
        order[:2] = order[1::-1]

    def rank(a: Any) -> tuple[int, bool]:
        kind = a.info["adapter_type"]
        return order.index(kind if kind in order else "Unknown"), "GL" in a.info["backend_type"]

    return min(fitting, key=rank)
