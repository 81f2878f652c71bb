"""Functions whose shape of the result depends on data: the plain form of a coroutine NAME_async (tg.aio.NAME)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from .. import engine

P = ParamSpec("P")
R = TypeVar("R")
BOUNDS = ("size", "length")  # options with which nothing is read


def plain(function: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, R]:
    """The form without `await`: reads where Python can wait (else SyncError names the async form), not with a bound."""
    name = function.__name__.removesuffix("_async")

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        steps = function(*args, **options)
        if all(options.get(bound) is None for bound in BOUNDS):
            return engine.wait_for(steps, name, f"await tg.aio.{name}(...)")  # type: ignore[no-any-return]
        try:
            steps.send(None)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        steps.close()
        raise RuntimeError(f"{name}: a bounded form that reads")

    call.__name__ = call.__qualname__ = name
    return call
