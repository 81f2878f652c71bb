"""What a function reads besides its arguments: globals and enclosing variables, seen again before each replay.

Followed through the functions it names, as far as these are not a library's. What lies inside containers and objects is
not watched.
"""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from .array import Array

MOST = 256
LIBRARIES = ("tabgpu", "numpy", "math", "scipy", "functools", "itertools", "operator")
_VALUES = (bool, int, float, complex, str, bytes, type(None), tuple)


class Watch:
    """The variables that hold arrays or plain values, and what they held."""

    __slots__ = ("_globals", "_nonlocals", "_opaque")

    def __init__(self, function: Callable[..., Any]) -> None:
        self._globals: list[tuple[dict[str, Any], str, Any]] = []
        self._nonlocals: list[tuple[Any, Any]] = []
        self._opaque = False  # whether arrays may also come from what is not watched
        self._look(function, set())

    def _look(self, function: Any, seen: set[int]) -> None:
        function = getattr(function, "__wrapped__", function)
        if isinstance(function, ModuleType):
            ours = function.__name__.partition(".")[0] in LIBRARIES
            self._opaque |= not ours and any(isinstance(x, Array) for x in vars(function).values())
            return
        if isinstance(function, (type, BuiltinFunctionType)) or type(function).__module__.startswith(
            "tabgpu."
        ):
            return
        if not isinstance(function, FunctionType) or len(seen) > MOST:
            self._opaque = True
            return
        if id(function) in seen:
            return
        self._opaque |= any(not isinstance(x, _VALUES) for x in function.__defaults__ or ())
        self._opaque |= bool(function.__kwdefaults__)
        if function.__module__ and function.__module__.partition(".")[0] in LIBRARIES:
            return
        seen.add(id(function))
        for cell in function.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:  # assigned later
                continue
            if isinstance(value, (Array, *_VALUES)):
                self._nonlocals.append((cell, value))
            else:
                self._look(value, seen)
        space = function.__globals__
        for name in _names(function.__code__):
            if name in space:
                value = space[name]
                if isinstance(value, (Array, *_VALUES)):
                    self._globals.append((space, name, value))
                else:
                    self._look(value, seen)

    def holds(self, trace: Any) -> bool:
        """Whether all are the same as they were, or other arrays of the same kind, which the trace then reads."""
        for k, (space, name, value) in enumerate(self._globals):
            now = space.get(name)
            if now is not value:
                if not self._same(now, value, trace):
                    return False
                self._globals[k] = (space, name, now)
        for k, (cell, value) in enumerate(self._nonlocals):
            try:
                now = cell.cell_contents
            except ValueError:
                return False
            if now is not value:
                if not self._same(now, value, trace):
                    return False
                self._nonlocals[k] = (cell, now)
        return True

    def _same(self, now: Any, then: Any, trace: Any) -> bool:
        if type(now) is not type(then):
            return False
        if not isinstance(now, Array):
            return bool(now == then) and repr(now) == repr(then)
        if self._opaque or now._layout != then._layout or now.dtype is not then.dtype:
            return False
        every = [value for *_, value in (*self._globals, *self._nonlocals) if isinstance(value, Array)]
        if sum(value._cell is then._cell for value in every) > 1:
            return False
        return bool(trace.exchange(then._cell, now._cell))


def _names(code: CodeType) -> set[str]:
    """The global names of a function and of those inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names
