"""Which kernel `tg.tune()` found fastest for products of a size: read from a text, valid for one adapter only.

The measuring is in tuning.py, the keeping in bridge.js and native_storage.py.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any
from zlib import crc32

from . import kernels
from .kernels import gemm_tiles

VERSION = 1
FILES = ("gemm", "gemv", "gemm_matrix")
KIND = {"float32": False, "float16": True}  # whether both operands are halves
LIMITS = ("maxComputeInvocationsPerWorkgroup", "maxComputeWorkgroupSizeX", "maxComputeWorkgroupStorageSize")
Key = tuple[object, ...]


def identity(gpu: Any) -> list[str]:
    """What a measurement holds for: the adapter and its driver, what it offers, this package and its kernels."""
    adapter = [
        f"{name}={gpu.info.get(name, '')}" for name in ("vendor", "architecture", "device", "description")
    ]
    offers = [
        "features=" + " ".join(sorted(gpu.features)),
        *(f"{name}={gpu.limits.get(name)}" for name in LIMITS),
    ]
    table = repr((gemm_tiles.PLANS, gemm_tiles.TABLE, *(kernels.read(name) for name in FILES)))
    package = f"tabgpu={getattr(sys.modules[__package__], '__version__', '')}"
    return [*adapter, *offers, package, f"plans={crc32(table.encode()):08x}", f"format={VERSION}"]


def text(who: list[str], choices: Mapping[Key, str]) -> str:
    """What is kept."""
    lines = {
        " ".join([next(name for name, halves in KIND.items() if halves is key[0]), *map(str, key[1:])]): plan
        for key, plan in choices.items()
    }
    return json.dumps({"identity": who, "choices": lines})


def read(kept: str, who: list[str]) -> dict[Key, str]:
    """The choices in a kept text; none if it is of another adapter or version, or no such text at all."""
    try:
        said = json.loads(kept) if kept else {}
        if said.get("identity") != who:
            return {}
        found: dict[Key, str] = {}
        for line, plan in said["choices"].items():
            kind, *sizes = line.split()
            if len(sizes) == 4 and plan.partition("/")[0] in gemm_tiles.PLANS:
                int(plan.partition("/")[2] or 1)
                found[(KIND[kind], *map(int, sizes))] = plan
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}
    return found


def adopt(choices: Mapping[Key, str]) -> None:
    """From now on these hold, and no others. Whoever remembers choices must forget them: recipes, programs."""
    gemm_tiles.overrides.clear()
    gemm_tiles.overrides.update(choices)


def load(gpu: Any) -> None:
    """A device was opened: what was kept for its like holds now."""
    adopt(read(gpu.tuning, identity(gpu)) if gpu.tuning else {})
