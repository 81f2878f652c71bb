"""Waiting without `await`: while one stack waits for the GPU, asyncio's other work in the tab waits too, as in a call
that blocks. JavaScript goes on.

So no two stacks of ours are suspended at a time. Pyodide (seen in 314.0.3) does not survive that: it takes two
suspended C stacks that end at one address for the same (`evictStackUpTo`), and beyond ten it deletes Python thread
states that are in use (`restoreThreadState`); the tab dies of "memory access out of bounds".
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from typing import Any
from weakref import WeakSet

# True in the context of what reads are made of: it goes on while a stack waits.
_inside: ContextVar[bool] = ContextVar("tabgpu_inside", default=False)
_blocked = 0  # stacks that wait; more than one only if a read itself waits (for the device to open)
_Held = tuple[Any, Callable[..., Any], tuple[Any, ...], Context]  # handle, callback, arguments, context
_held: deque[_Held] = deque()  # what asyncio wanted to run meanwhile, in its order
_draining = False
_gated: WeakSet[Any] = WeakSet()  # event loops


def _context() -> Context:
    context = copy_context()
    context.run(_inside.set, True)
    return context


def spawn(coroutine: Any) -> asyncio.Task[Any]:
    """A task that a stack may wait for: it runs while others are held back."""
    return _context().run(asyncio.ensure_future, coroutine)


def busy() -> bool:
    """Whether a stack waits, or what was held back meanwhile has not all run."""
    return bool(_blocked or _held or _draining)


def wait(run: Callable[[Any], Any], awaitable: Any) -> Any:
    """run(awaitable), which suspends this stack and gives the result."""
    global _blocked
    loop = asyncio.get_event_loop()
    _gate(loop)
    _blocked += 1
    try:
        return _context().run(run, awaitable)
    finally:
        _blocked -= 1
        _release(loop)


def _gate(loop: Any) -> None:
    """From now on the loop's callbacks (all go through call_later) are held back while a stack waits."""
    if loop in _gated:
        return
    _gated.add(loop)
    later = loop.call_later

    def call_later(delay: float, callback: Any, *args: Any, context: Context | None = None) -> Any:
        context = context or copy_context()
        if context.get(_inside):
            return later(delay, callback, *args, context=context)

        def run(*args: Any) -> None:
            if busy():
                _held.append((handle, callback, args, context))
            else:
                callback(*args)

        handle = later(delay, run, *args, context=context)
        return handle

    loop.call_later = call_later
    loop.tabgpu_call_later = later


def _release(loop: Any) -> None:
    """Starts to run what was held back, one callback after the other."""
    global _draining
    if _blocked or _draining or not _held:
        return
    _draining = True
    entry = _held.popleft()
    handle, callback, args, context = entry

    def run() -> None:
        global _draining
        _draining = False
        if _blocked:  # by the callback before; whoever blocks releases
            _held.appendleft(entry)
            return
        _release(loop)
        if not handle.cancelled():
            callback(*args)

    loop.tabgpu_call_later(0, run, context=context)
