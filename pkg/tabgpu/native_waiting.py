"""How a synchronous call waits on the native host, with or without a running event loop. No GPU here."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Awaitable, Generator
from typing import Any

from .errors import SyncError


class _Thread(threading.local):
    driving = 0  # coroutines run by hand on this thread: a verb must not suspend them
    loop: asyncio.AbstractEventLoop | None = None


_thread = _Thread()
_one_at_a_time = threading.RLock()  # reads of several threads: the device is one


def drive(steps: Generator[Any, Any, Any]) -> Any:
    """Runs a coroutine to its end without an event loop: verbs block instead of suspending it."""
    _thread.driving += 1
    try:
        while True:
            if steps.send(None) is not None:  # a future, which needs the loop that stands still meanwhile
                raise SyncError("inside a running event loop nothing waits for its other tasks but `await`")
    except StopIteration as done:
        return done.value
    finally:
        _thread.driving -= 1
        steps.close()


def run_sync(awaitable: Awaitable[Any]) -> Any:
    """Waits here: by hand inside a running event loop (also a notebook's), on a loop of this thread's own elsewhere."""
    if _in_a_loop():
        return drive(awaitable.__await__())
    if _thread.loop is None:
        _thread.loop = asyncio.new_event_loop()
        atexit.register(_thread.loop.close)
    with _one_at_a_time:
        return _thread.loop.run_until_complete(_whole(awaitable))


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _whole(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


class Shared:
    """A coroutine that several may await, on any loop or none: the first to come runs it to its end, in one go.

    In an event loop others may come first, so that callers in several tasks find each other.
    """

    def __init__(self, coroutine: Any) -> None:
        self._coroutine = coroutine
        self._value: Any = None
        self._error: Exception | None = None

    def __await__(self) -> Generator[Any, Any, Any]:
        if not _thread.driving:
            yield
        if self._coroutine is not None:
            coroutine, self._coroutine = self._coroutine, None
            try:
                self._value = drive(coroutine.__await__())
            except Exception as error:
                self._error = error
        if self._error is not None:
            raise self._error
        return self._value

    def __del__(self) -> None:
        if self._coroutine is not None:
            self._coroutine.close()


def driving() -> bool:
    """Whether a coroutine is run by hand on this thread, so that nothing may suspend it."""
    return _thread.driving > 0
