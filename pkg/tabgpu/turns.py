"""In which order stacks that wait without `await` go on: the youngest first, one at a time, as nested calls would.

Pyodide copies suspended C stacks out of each other's way and takes two that end at one address for the same (seen in
314.0.3: `evictStackUpTo` drops the other one unsaved, and the tab dies of "memory access out of bounds"). That takes an
older stack that goes on before a younger one, so none does. A stack here waits for the GPU only, never for another one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

_waiting: list[asyncio.Event] = []  # a stack each, the youngest last
_leaving: asyncio.Event | None = None  # has what it waited for, and does not run yet


def wait(run: Callable[[Any], Any], awaitable: Any) -> Any:
    """run(awaitable), which suspends this stack, in turn."""
    global _leaving
    mine = asyncio.Event()
    _waiting.append(mine)
    try:
        return run(_finish(awaitable, mine))
    finally:
        _waiting.remove(mine)
        if _leaving is mine:
            _leaving = None
        mine.set()
        if _waiting:
            _waiting[-1].set()


async def _finish(awaitable: Any, mine: asyncio.Event) -> Any:
    """The result of the awaitable, given when it is this stack's turn."""
    global _leaving
    try:
        return await awaitable
    finally:
        while mine in _waiting and (_waiting[-1] is not mine or _leaving is not None):
            mine.clear()
            await mine.wait()
        _leaving = mine if mine in _waiting else _leaving
