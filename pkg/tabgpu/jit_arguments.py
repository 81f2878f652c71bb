"""The arguments of a traced function: what is part of their kind, what may change from call to call, and stand-ins."""

from __future__ import annotations

from copy import copy
from dataclasses import fields, is_dataclass
from typing import Any

from .array import Array
from .graph import LEAF, Cell, Op
from .layout import is_contiguous
from .ops.convert import from_host
from .ops.creation import copy_of


def _is_host_array(x: Any) -> bool:
    """NumPy's arrays and its floating scalars, and whatever is like them; integers and bools of NumPy are values."""
    if not (hasattr(x, "__array__") and hasattr(x, "dtype")):
        return False
    return hasattr(x, "__setitem__") or getattr(x.dtype, "kind", "f") in "fc"


class Arguments:
    """The arguments of one call: `key` is their kind, `arrays` and `values` what may differ from call to call.

    packed: whether some array is a copy of what was given.
    """

    __slots__ = ("arrays", "cells", "key", "objects", "packed", "values", "whole")

    def __init__(self, whole: bool) -> None:
        """whole: views are read where they lie, even at another first element in each call."""
        self.key: list[Any] = []
        self.arrays: list[Array] = []
        self.cells: list[Cell] = []
        self.values: list[Any] = []
        self.objects: list[Any] = []  # parts of the kind that may hold something themselves
        self.whole, self.packed = whole, False

    def add(self, x: Any, where: str, loose: bool = True) -> None:
        """One argument; `loose` numbers may change from call to call."""
        kind = type(x)
        key = self.key
        if kind is Array:
            cell = x._cell
            op, layout = cell.op, x._layout
            key += (x.dtype, op.shape)
            if layout is not op.layout and layout != op.layout:
                part = layout.offset or (x.size != op.size and is_contiguous(layout))
                if part and not self.whole:
                    x, self.packed = copy_of(x), True
                    cell, key[-1] = x._cell, x._layout.shape
                else:
                    key.append(layout)
            self.arrays.append(x)
            self.cells.append(cell)
        elif kind in (float, int, complex) and loose:
            key.append(kind)
            self.values.append(x)
        elif isinstance(x, dict):
            key += (kind, len(x), *x)
            for name, value in x.items():
                self.add(value, f"{where}[{name!r}]")
        elif isinstance(x, (list, tuple)):
            key += (kind, len(x))
            for k, value in enumerate(x):
                self.add(value, f"{where}[{k}]", False)
        elif isinstance(x, Array) or _is_host_array(x):
            self.add(from_host(x, where), where)
        else:
            try:
                hash(x)
            except TypeError:
                raise TypeError(
                    f"jit: {where} is a {kind.__name__}, which is no array, number, list, tuple or dict of such, and "
                    "cannot be part of a trace's key, since it has no hash"
                ) from None
            key += (kind, exactly(x))
            if not isinstance(x, (bool, int, float, complex, str, bytes, type(None))):
                self.objects.append(x)


class StandIns:
    """What a traced function gets instead of its arguments."""

    def __init__(self, given: Arguments, numbers: list[Any]) -> None:
        """numbers: open ones, in the order of given.values."""
        mine: dict[Cell, Cell] = {}
        self.arrays: list[Array] = []  # without memory, in the order of given.arrays
        for x in given.arrays:
            op, layout = x._cell.op, x._layout
            cell = mine.get(x._cell)
            if cell is None:
                cell = mine[x._cell] = Cell(Op(LEAF, None, (), (), op.shape, op.dtype))
            self.arrays.append(Array(x.dtype, cell.op.layout if layout == op.layout else layout, cell))
        self.cells = list(mine.values())
        self._next = iter(self.arrays)
        self._numbers = iter(numbers)
        self._containers: list[tuple[Any, list[Any]]] = []

    def of(self, x: Any, loose: bool = True) -> Any:
        """For one argument; in the order of Arguments.add."""
        kind = type(x)
        if kind is Array:
            return next(self._next)
        if kind in (float, int, complex) and loose:
            return next(self._numbers)
        if isinstance(x, dict):
            made = {} if kind is dict else copy(x)
            for name, value in x.items():
                made[name] = self.of(value)
            self._containers.append((made, list(made.items())))
            return made
        if isinstance(x, (list, tuple)):
            items = [self.of(value, False) for value in x]
            if kind is list:
                self._containers.append((items, list(items)))
                return items
            return kind(*items) if hasattr(kind, "_fields") else kind(items)
        return next(self._next) if isinstance(x, Array) or _is_host_array(x) else x

    def check(self) -> None:
        """TypeError if the function changed a dict or a list that it was given: nobody would see that."""
        for made, before in self._containers:
            now = list(made.items()) if isinstance(made, dict) else made
            if len(now) != len(before) or not all(map(_is, now, before)):
                raise TypeError(
                    f"jit: the function changes a {type(made).__name__} that it was given; return the new values, or "
                    "assign into the arrays (`a[...] = x`)"
                )


def _is(x: Any, y: Any) -> bool:
    return x is y or (type(x) is type(y) is tuple and len(x) == 2 and x[0] == y[0] and x[1] is y[1])


def exactly(x: Any) -> Any:
    """A key for a value that tells 1, 1.0 and True apart, and 0.0 and -0.0, also inside tuples and dataclasses."""
    kind = type(x)
    if kind in (float, complex):
        return repr(x)
    if isinstance(x, tuple):
        return tuple([(type(part), exactly(part)) for part in x])
    if is_dataclass(x) and not isinstance(x, type):
        parts = [getattr(x, f.name) for f in fields(x)]
        return x, tuple([(type(part), exactly(part)) for part in parts])
    return x


def static(given: Arguments, x: Any, where: str) -> None:
    try:
        hash(x)
    except TypeError:
        raise TypeError(f"jit: {where} is static, but a {type(x).__name__} has no hash") from None
    given.key += (type(x), exactly(x))
    given.objects.append(x)
