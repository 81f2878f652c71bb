"""What a traced function reads besides its arguments: globals, enclosing variables, attributes, containers, seen again
before each replay.

Followed through the functions, containers and objects that it names, as far as these are not a library's, up to a
number of places. Arrays and plain values are compared by what they are, the rest only followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from .array import Array

MOST = 256  # places
_SCALARS = (bool, int, float, complex, str, bytes, type(None))
_LIBRARIES = (
    "tabgpu", "numpy", "scipy", "math", "cmath", "functools", "itertools", "operator", "collections", "typing",
    "random", "builtins",
)  # fmt: skip
_GONE = object()


class Watch:
    """Places that hold arrays or plain values, and what they held."""

    __slots__ = ("_cells", "_items", "_seen", "_sizes", "opaque")

    def __init__(self, function: Callable[..., Any], objects: Iterable[Any] = ()) -> None:
        """objects: arguments that are no arrays or numbers."""
        self._items: list[tuple[Any, Any, Any]] = []  # dict or list, key, value
        self._cells: list[tuple[Any, Any]] = []  # an enclosing variable, value
        self._sizes: list[tuple[Any, int]] = []
        self._seen: set[int] = set()
        self.opaque = False  # whether arrays may also come from what is not watched
        for one in (function, *objects):
            self._follow(one)
        self._seen.clear()

    def _follow(self, x: Any) -> None:
        if isinstance(x, (*_SCALARS, Array, type, BuiltinFunctionType)) or id(x) in self._seen:
            return
        if len(self._seen) > MOST or len(self._items) > MOST:
            self.opaque = True
            return
        self._seen.add(id(x))
        inner = getattr(x, "__wrapped__", None)
        if inner is not None:
            self._follow(inner)
        elif isinstance(x, FunctionType):
            self._function(x)
        elif isinstance(x, MethodType):
            self._follow(x.__func__)
            self._follow(x.__self__)
        elif isinstance(x, ModuleType):
            if x.__name__.partition(".")[0] not in _LIBRARIES:
                self.opaque |= any(isinstance(v, Array) for v in vars(x).values())
        elif isinstance(x, (tuple, frozenset, set)):
            self.opaque |= isinstance(x, set)
            for v in x:
                self._follow(v)
        elif isinstance(x, dict):
            self._container(x, x.items())
        elif isinstance(x, list):
            self._container(x, enumerate(x))
        elif type(x).__module__.partition(".")[0] in _LIBRARIES and not hasattr(x, "__dict__"):
            pass  # an array of NumPy, a dtype, a function of a table
        elif type(x).__module__.partition(".")[0] == "tabgpu":
            pass
        else:
            self.opaque |= not hasattr(x, "__dict__")
            self._held(getattr(x, "__dict__", {}), list(getattr(x, "__dict__", {})))

    def _container(self, x: Any, items: Iterable[tuple[Any, Any]]) -> None:
        self._sizes.append((x, len(x)))
        if len(x) > MOST:
            self.opaque = True
            return
        for key, value in items:
            self._item(x, key, value)

    def _held(self, space: dict[str, Any], names: Iterable[str]) -> None:
        for name in names:
            if name in space:
                self._item(space, name, space[name])

    def _item(self, x: Any, key: Any, value: Any) -> None:
        if not isinstance(value, (ModuleType, type, BuiltinFunctionType)):
            self._items.append((x, key, value))
        self._follow(value)

    def _function(self, x: FunctionType) -> None:
        if (x.__module__ or "").partition(".")[0] in _LIBRARIES:
            return
        for cell in x.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:  # assigned later
                self.opaque = True
                continue
            self._cells.append((cell, value))
            self._follow(value)
        self._follow(x.__defaults__ or ())
        self._follow(x.__kwdefaults__ or {})
        self._held(x.__globals__, _names(x.__code__))

    def empty(self) -> bool:
        """Whether there is nothing to see again."""
        return not (self._items or self._cells or self._sizes)

    def leave(self) -> None:
        """After the function ran: what it changed itself is its side effect, and not watched."""
        changed = {id(x) for x, n in self._sizes if len(x) != n}
        kept = [i for i in self._items if id(i[0]) not in changed and _now(i[0], i[1]) is i[2]]
        cells = [(cell, value) for cell, value in self._cells if cell.cell_contents is value]
        self.opaque |= len(kept) < len(self._items) or len(cells) < len(self._cells) or bool(changed)
        self._items, self._cells = kept, cells
        self._sizes = [(x, n) for x, n in self._sizes if id(x) not in changed]

    def holds(self, trace: Any) -> bool:
        """Whether all are the same as they were, or other arrays of the same kind, which the trace then reads."""
        for x, n in self._sizes:
            if len(x) != n:
                return False
        for k, (x, key, value) in enumerate(self._items):
            now = _now(x, key)
            if now is not value:
                if not self._same(now, value, trace):
                    return False
                self._items[k] = (x, key, now)
        for k, (cell, value) in enumerate(self._cells):
            try:
                now = cell.cell_contents
            except ValueError:
                return False
            if now is not value:
                if not self._same(now, value, trace):
                    return False
                self._cells[k] = (cell, now)
        return True

    def _same(self, now: Any, then: Any, trace: Any) -> bool:
        if not isinstance(now, Array) or not isinstance(then, Array):
            return _plain(now) and _plain(then) and type(now) is type(then) and repr(now) == repr(then)
        if self.opaque or now._layout != then._layout or now.dtype is not then.dtype:
            return False
        every = [value for *_, value in (*self._items, *self._cells) if isinstance(value, Array)]
        if sum(value._cell is then._cell for value in every) > 1:
            return False
        return bool(trace.exchange(then._cell, now._cell))


def _now(x: Any, key: Any) -> Any:
    return x.get(key, _GONE) if isinstance(x, dict) else x[key] if key < len(x) else _GONE


def _plain(x: Any) -> bool:
    return all(map(_plain, x)) if type(x) is tuple else isinstance(x, _SCALARS)


def _names(code: CodeType) -> set[str]:
    """The global names of a function and of those inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names
