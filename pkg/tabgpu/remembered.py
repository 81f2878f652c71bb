"""The kernels that earlier pages needed on this adapter: kept as texts, compiled at once by `await tg.warmup()`.

What is kept holds for one version of the package and one adapter, and is bounded. It is written when `tg.warmup()` is
called, and in a tab from then on a moment after something new was compiled.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from . import bridge
from .device import Device
from .launch import Kernel

NAME = "kernels"
MOST = 512  # kernels
MOST_TEXT = 4 << 20  # characters of all of them
PAUSE = 1.0  # seconds between a compilation and the writing


def _who(gpu: Device, version: str) -> str:
    return json.dumps([version, gpu.info, sorted(gpu.features)])


async def compile_known(gpu: Device, version: str) -> int:
    """Compiles what is remembered for this adapter, and remembers what is compiled from now on; how many were new."""
    texts = _texts(await bridge.recall(NAME), _who(gpu, version))
    have = {(k.code, k.access) for k in gpu.kernels()}
    fresh = [Kernel(*text) for text in texts if (text[1], text[2]) not in have]
    made = await gpu.warm(fresh)
    gpu.on_compiled = _Writer(gpu, version, texts) if gpu.on_compiled is None else gpu.on_compiled
    await gpu.on_compiled.write()
    return made


def _texts(kept: str, who: str) -> list[tuple[str, str, str, int]]:
    try:
        found = json.loads(kept or "{}")
        if found.get("for") != who:
            return []
        return [(str(a), str(b), str(c), int(d)) for a, b, c, d in found["kernels"]]
    except (ValueError, KeyError, TypeError, AttributeError):  # written by nobody of ours
        return []


class _Writer:
    """Called whenever a device has compiled something."""

    def __init__(self, gpu: Device, version: str, before: list[tuple[str, str, str, int]]) -> None:
        self.gpu, self.version, self.before = gpu, version, before
        self._waiting = False
        self._written = ""

    def __call__(self) -> None:
        if bridge.in_browser() and not self._waiting:
            self._waiting = True
            bridge.start(self._soon())

    async def _soon(self) -> None:
        await asyncio.sleep(PAUSE)
        self._waiting = False
        await self.write()

    async def write(self) -> bool:
        """Keeps the texts, those used last first."""
        used = sorted(self.gpu.kernels(), key=lambda k: -k.used)
        every: dict[tuple[str, str], tuple[str, str, str, int]] = {}
        for text in [*((k.label, k.code, k.access, k.workgroup) for k in used), *self.before]:
            every.setdefault((text[1], text[2]), text)
        room, chosen = MOST_TEXT, []
        for text in list(every.values())[:MOST]:
            room -= len(text[1])
            if room >= 0:
                chosen.append(text)
        kept: Any = {"for": _who(self.gpu, self.version), "kernels": chosen}
        said = json.dumps(kept)
        if said == self._written:
            return True
        self._written = said
        return await bridge.keep(NAME, said)
