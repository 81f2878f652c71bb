"""A JavaScript promise that a task awaits, without a detour: the task goes on in the turn in which the promise settles.

Pyodide's own way (a future, a callback of the event loop, a call that may suspend) takes two more turns of the page's
event loop, 0.1 to 0.3 ms. While a stack waits (see blocking.py) it is taken here too, since it can be held back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextvars import Context
from itertools import count
from typing import Any

from . import blocking

_numbers = count(1)
_waiting: dict[int, Wake] = {}


class Wake:
    """What a task sees as a future: done once, awaited once, by number on the other side."""

    _asyncio_future_blocking = False

    def __init__(self, begin: Callable[[int], Any]) -> None:
        """begin(number) is called when somebody awaits, and sees to it that tell(number, ...) is."""
        self._begin = begin
        self._loop: Any = None
        self._number = 0
        self._callback: Callable[[Any], Any] | None = None
        self._context: Context | None = None
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None

    def __await__(self) -> Generator[Any, None, Any]:
        self._loop = asyncio.get_running_loop()
        self._number = next(_numbers)
        _waiting[self._number] = self
        try:
            self._begin(self._number)
            if not self._done:
                self._asyncio_future_blocking = True
                yield self
        finally:
            _waiting.pop(self._number, None)
        return self.result()

    # --- what asyncio's tasks ask of a future ---

    def get_loop(self) -> Any:
        return self._loop

    def add_done_callback(self, callback: Callable[[Any], Any], *, context: Context | None = None) -> None:
        self._callback, self._context = callback, context

    def done(self) -> bool:
        return self._done

    def result(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._value

    def cancel(self, msg: Any = None) -> bool:
        """The task is cancelled: it goes on at its loop's next turn, and what the promise says is nobody's."""
        if self._done:
            return False
        self._done = True
        self._error = asyncio.CancelledError() if msg is None else asyncio.CancelledError(msg)
        self._later()
        return True

    def _later(self) -> None:
        if self._callback is not None:
            self._loop.call_soon(self._callback, self, context=self._context)

    def _settle(self, value: Any, failed: bool) -> None:
        if self._done:
            return
        self._done = True
        if failed:
            self._error = value if isinstance(value, BaseException) else RuntimeError(str(value))
        else:
            self._value = value
        callback, context = self._callback, self._context
        if callback is None or context is None or blocking.busy():
            self._later()
            return
        try:
            context.run(callback, self)
        except RuntimeError:  # another task is in the middle of a step, or in this context: not now
            self._later()
        except (SystemExit, KeyboardInterrupt) as error:  # of the task's own: the loop knows what to do
            self._loop.call_soon(_again, error)


def _again(error: BaseException) -> None:
    raise error


def tell(number: int, value: Any, failed: bool) -> None:
    """The promise of a number settled."""
    wake = _waiting.pop(number, None)
    if wake is not None:
        wake._settle(value, failed)
