"""Op (a value of the lazy graph), Fn (what it computes), Cell (a name for it), Buffer (an id with a finaliser)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any
from weakref import ref

from .dtypes import DType
from .layout import Layout, Shape, contiguous

# kinds of Op
LEAF, SCALAR, IOTA, EW, REDUCE, MATMUL, KERNEL = range(7)

serials = count(1)
_fn_idents = count(1)


def next_serial() -> int:
    """A serial that is greater than all Ops' so far."""
    return next(serials)


def is_operators(expr: str) -> bool:
    """Whether a WGSL expression calls nothing (so that it also holds for vec4 operands)."""
    return not re.search(r"[\w>]\(", expr)


class Fn:
    """An elementwise function for one combination of operand dtypes: a scalar WGSL expression over x, y, z, w.

    `operands` are the dtypes that the operands have in the kernel (scalars among them are made such on the host),
    `kinds` their compute kinds, `dtype` the result's; `cheap` says that computing it again costs no more than reading
    it back. `four`: an expression for four elements at once, where that costs less than four times one.
    """

    __slots__ = ("cheap", "dtype", "expr", "four", "ident", "kinds", "name", "operands", "vector", "weight")

    def __init__(
        self, name: str, expr: str, operands: tuple[DType, ...], dtype: DType, four: str = ""
    ) -> None:
        self.name, self.expr, self.operands, self.dtype, self.four = name, expr, operands, dtype, four
        self.kinds = "".join(d.kind for d in operands)
        self.vector = is_operators(expr) and not re.search(r"&&|[|][|]|\d", expr)
        if (
            "c" in self.kinds + dtype.kind
        ):  # four complex values are a matrix, which WGSL can add and scale only
            self.vector = expr in ("x", "x + y", "x - y")
        self.weight = 0  # what compiling it costs, in additions; 0: not known yet (kernels.weight)
        self.cheap = is_operators(expr) or name.startswith("cast_")
        self.ident = next(_fn_idents)


@cache
def copy_fn(dtype: DType) -> Fn:
    """The function that copies (and so packs) values of a dtype."""
    return Fn(f"copy_{dtype.name}", "x", (dtype,), dtype)


class ReduceFn:
    """A reduction: combine(a, b) over T with an identity; `arg` ones carry the position instead of the value."""

    __slots__ = ("arg", "combine", "dtype", "ident", "identity", "kind", "name")

    def __init__(
        self, name: str, kind: str, combine: str, identity: int, dtype: DType, arg: bool = False
    ) -> None:
        self.name, self.kind, self.combine, self.identity = name, kind, combine, identity
        self.dtype, self.arg = dtype, arg
        self.ident = next(_fn_idents)


class Parameter:
    """A scalar operand whose value comes with each call of a traced function: number `index` of its values."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class Guard:
    """A condition on device data that a result depends on, found out at the first read of such a result.

    `cell` names a 0-d uint32 value: 0 if all is well, else what `describe` makes an exception of.
    """

    __slots__ = ("cell", "describe", "error")

    def __init__(self, cell: Cell, describe: Callable[[int], Exception]) -> None:
        self.cell: Cell | None = cell
        self.describe = describe
        self.error: Exception | None = None

    def settle(self, word: int) -> None:
        """Takes the verdict; the memory behind it is not needed any more."""
        self.cell = None
        if word:
            self.error = self.describe(word)


NO_GUARDS: frozenset[Guard] = frozenset()


class Buffer:
    """GPU memory of one Op. When it dies its id goes back to the device's pool: safe, since the queue keeps order."""

    __slots__ = ("device", "guards", "id", "nbytes", "serial", "size")

    def __init__(self, device: Any, ident: int, nbytes: int, size: int) -> None:
        self.device, self.id, self.nbytes, self.size = device, ident, nbytes, size
        self.guards = NO_GUARDS
        self.serial = 0  # the submit that wrote it

    def __del__(self) -> None:
        self.device.release(self.id, self.size)


class Op:
    """An immutable value: `fn` applied to `args`, each seen through its view (None: as it is).

    `args` are Ops or, for weak scalars, Python numbers. Once `buffer` is set the args are dropped. `uses` counts the
    Ops that were built on it. `_seen` and `_uses` are the planner's notes of one walk.
    """

    __slots__ = (
        "_seen", "_uses", "args", "buffer", "cell", "depth", "dtype", "extra", "fn", "guards", "kind",
        "layout", "serial", "shape", "size", "uses", "views",
    )  # fmt: skip

    def __init__(
        self, kind: int, fn: Any, args: tuple[Any, ...], views: tuple[Layout | None, ...], shape: Shape, dtype: DType,
        extra: Any = None,
    ) -> None:  # fmt: skip
        self.kind = kind
        self.fn = fn
        self.args = args
        self.views = views
        self.shape = shape
        self.dtype = dtype
        self.extra = extra
        layout, size = facts_of(shape)
        self.layout: Layout = layout
        self.size: int = size
        self.serial = next(serials)
        self.buffer: Buffer | None = None
        self.cell: Any = None
        self.guards: tuple[Guard, ...] = ()
        self.uses: int = 0
        self._seen = 0
        self._uses: Any = None
        depth: int = 0
        for a in args:
            if type(a) is Op:
                a.uses += 1
                depth = max(depth, a.depth)
        self.depth: int = depth + 1 if kind >= EW else 0

    def live(self) -> bool:
        """Whether some Array still names this value."""
        cell = self.cell and self.cell()
        return cell is not None and cell.op is self


class Cell:
    """What Arrays share: an array and its views point to one Cell; assignment points the Cell to a new Op."""

    __slots__ = ("__weakref__", "op")

    def __init__(self, op: Op) -> None:
        self.op = op
        op.cell = ref(self)


shapes: dict[Shape, tuple[Layout, int]] = {}


def leaf(shape: Shape, dtype: DType, buffer: Buffer) -> Op:
    """An Op of memory that is there: Op(LEAF, None, (), (), shape, dtype) without the calls."""
    op = object.__new__(Op)
    op.kind = LEAF
    op.fn = op.extra = op.cell = op._uses = None
    op.args = op.views = op.guards = ()
    op.shape = shape
    op.dtype = dtype
    op.layout, op.size = facts_of(shape)
    op.serial = next(serials)
    op.buffer = buffer
    op.uses = op._seen = op.depth = 0
    return op


def facts_of(shape: Shape) -> tuple[Layout, int]:
    """The row-major layout of a shape, one object for each shape, and its size."""
    found = shapes.get(shape)
    if found is not None:
        return found
    if len(shapes) > 65536:
        shapes.clear()
    size = 1
    for n in shape:
        size *= n
    shapes[shape] = found = (contiguous(shape), size)
    return found


def nbytes_of(op: Op) -> int:
    """Bytes of the packed elements, without padding."""
    return op.size * op.dtype.itemsize
