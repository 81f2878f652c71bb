"""Elementwise calls, reductions and rows over handles; what they compute are the functions of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..array import Array
from ..dtypes import float32, int32, uint32
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.convert import from_host
from ..ops.creation import full
from ..ops.indexing import setitem
from . import table
from .calls import Calls
from .errors import InvalidArgument

UNARY = ("relu", "sigmoid", "tanh", "exp", "log", "sqrt", "abs", "neg")
BINARY = {
    "add": ew.add,
    "sub": ew.subtract,
    "mul": ew.multiply,
    "div": ew.divide,
    "max": ew.maximum,
    "min": ew.minimum,
}
REDUCE = ("sum", "max", "min", "mean")
_EMPTY = {"sum": 0.0, "max": float("-inf"), "min": float("inf"), "mean": float("nan")}


def _named(where: str, what: str, name: Any, known: Any) -> str:
    if not isinstance(name, str) or name.lower() not in known:
        raise InvalidArgument(f"{where}: {what} {name!r} is none of {', '.join(known)}")
    return name.lower()


class Compute(Calls):
    """All is float32 and row-major."""

    def reduce(self, op: str, input: int, output: int, shape: Sequence[int], axis: int) -> None:
        """sum, max, min or mean along an axis, from 0 on; the output has the other axes. Over no elements: 0, -inf,
        inf, NaN. NaN passes through."""
        where = "reduce"
        name = _named(where, "op", op, REDUCE)
        self._device()
        dims = table.extents(where, "shape", shape)
        self._axis(where, dims, axis)
        table.apart(where, ("output", output), input=input)
        x = self._at(where, "input", input, dims)
        rest = (*dims[:axis], *dims[axis + 1 :])
        target = table.reading(where, "output", output, prod(rest), float32)
        if not prod(rest):
            return
        made = full(rest, _EMPTY[name]) if not dims[axis] else getattr(rd, name)(x, axis=axis)
        self._put(where, output, made, target)

    def unary(self, op: str, input: int, output: int, n: int) -> None:
        """A function of the first n elements, into those of output: relu, sigmoid, tanh, exp, log, sqrt, abs, neg."""
        from .. import nn, special

        where = "unary"
        name = _named(where, "op", op, UNARY)
        self._device()
        table.u32(where, n=n)
        table.apart(where, ("output", output), input=input)
        x = self._at(where, "input", input, (n,))
        target = table.reading(where, "output", output, n, float32)
        if not n:
            return
        functions = {"relu": nn.relu, "sigmoid": special.expit, "neg": ew.negative}
        function = functions.get(name) or getattr(ew, name)
        self._put(where, output, function(x), target)

    def binary(self, op: str, a: int, b: int, output: int, n: int) -> None:
        """A function of the first n elements of two: add, sub, mul, div, max, min. a and b may be one handle."""
        where = "binary"
        name = _named(where, "op", op, BINARY)
        self._device()
        table.u32(where, n=n)
        table.apart(where, ("output", output), a=a, b=b)
        x, y = self._at(where, "a", a, (n,)), self._at(where, "b", b, (n,))
        target = table.reading(where, "output", output, n, float32)
        if n:
            self._put(where, output, BINARY[name](x, y), target)

    # --- rows -----------------------------------------------------------------------------------------------------

    def gather(
        self, input: int, rows: int, columns: int, indices: Any, output: int, count: int | None = None
    ) -> None:
        """Rows of a matrix, those that indices name, into output (count, columns). indices: integers, or a handle of
        `count` u32s, of which one that is no row raises IndexError at the read that depends on it."""
        where = "gather"
        x, at, n = self._rows(where, input, "input", rows, columns, indices, count)
        table.apart(
            where, ("output", output), input=input, **({"indices": indices} if type(indices) is int else {})
        )
        target = table.reading(where, "output", output, n * columns, float32)
        if n and columns:
            from ..ops.taking import take

            self._put(where, output, take(x, at, axis=0), target)

    def scatter(
        self, output: int, rows: int, columns: int, indices: Any, updates: int, count: int | None = None
    ) -> None:
        """Writes the rows of updates (count, columns) over those of a matrix that indices name, as in gather; other
        rows stay, the last of equals stands."""
        where = "scatter"
        matrix, at, n = self._rows(where, output, "output", rows, columns, indices, count)
        named = {"indices": indices} if type(indices) is int else {}
        table.apart(where, ("output", output), updates=updates, **named)
        new = self._at(where, "updates", updates, (n, columns))
        if n and columns:
            setitem(table.shaped(table.entry(output, where).own(float32), matrix.shape), at, new)

    def _rows(
        self, where: str, handle: int, name: str, rows: int, columns: int, indices: Any, count: int | None
    ) -> tuple[Array, Any, int]:
        """(the matrix, its row numbers, how many)."""
        self._device()
        table.u32(where, rows=rows, columns=columns)
        if type(indices) is int:
            if count is None:
                raise InvalidArgument(f"{where}: count is missing: how many u32s handle {indices} has")
            table.u32(where, count=count)
            at: Any = table.shaped(table.reading(where, "indices", indices, count, uint32), (count,))
            n = count
        else:
            at = [int(k) for k in indices]
            n = len(at)
            if count not in (None, n):
                raise InvalidArgument(f"{where}: count is {count}, there are {n} indices")
            wrong = [k for k in at if not 0 <= k < rows]
            if wrong:
                raise InvalidArgument(f"{where}: index {wrong[0]} is no row of {rows}")
            at = from_host(at, where, int32)
        return self._at(where, name, handle, (rows, columns)), at, n
