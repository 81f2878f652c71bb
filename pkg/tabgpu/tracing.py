"""Whether a function is being traced, and what it assigned to so far. What a trace becomes: traces.py."""

from __future__ import annotations

from threading import get_ident
from typing import Any

from .errors import TracingError
from .graph import LEAF, Op, next_serial

_now: Tracing | None = None


class Tracing:
    """A traced function is running: nothing is computed meanwhile. Its thread holds `one_thread`."""

    def __init__(self) -> None:
        self.thread = get_ident()
        self.first = next_serial()
        self.touched: dict[Any, Op] = {}  # cells that were assigned to, and what they named before
        self.work = 0
        self.deep: list[Op] = []  # far from what they are made of


def tracing() -> Tracing | None:
    """The trace that runs in this thread."""
    return _now if _now is not None and _now.thread == get_ident() else None


def any_tracing() -> bool:
    """Whether a trace runs in any thread."""
    return _now is not None


def touch(cell: Any) -> None:
    """A cell is about to name another value."""
    now = tracing()
    if now is not None:
        now.touched.setdefault(cell, cell.op)


def foreign(op: Op) -> bool:
    """Whether this value's memory cannot be taken over: it is a page's own buffer (of no size here), or a traced
    function runs and it comes from outside, or stands for an argument or an upload, which others may name at a
    replay."""
    if op.buffer is not None and not op.buffer.size:
        return True
    now = tracing()
    return now is not None and (op.serial <= now.first or op.kind == LEAF)


def refuse(what: str) -> None:
    """TracingError if the function that runs is being traced: there are no values to read."""
    if tracing() is not None:
        raise TracingError(
            f"{what} needs values, and a function is being traced, which has none: compute it outside of the function, "
            "use tg.where for a choice and size= or length= for a bound, or call the function without tg.jit"
        )


def begin() -> Tracing:
    """A trace begins in this thread."""
    global _now
    _now = Tracing()
    return _now


def end(now: Tracing) -> None:
    """The trace is over; what was assigned to is as it was before."""
    global _now
    _now = None
    for cell, op in now.touched.items():
        cell.op = op
    for op in reversed(now.deep):  # no long chain is torn down recursively
        op.args = op.views = ()
