"""Array = (dtype, layout, cell), and its readers. What operators do is in operators.py, functions are in ops/."""

from __future__ import annotations

from collections.abc import Generator
from operator import index as as_index
from typing import TYPE_CHECKING, Any
from weakref import ref

from . import engine, hosted, readers
from .dtypes import DType
from .engine import BIG, pending
from .graph import EW, Cell, Fn, Op, facts_of, serials
from .layout import Layout, Shape
from .layout import index as element

if TYPE_CHECKING:
    import numpy as np


class Array:
    """An n-dimensional array on the GPU: lazy, of one dtype, possibly a view of another.

    Nothing is computed before a read (`await a.numpy()`) or until much is pending. Made by `tg.asarray`, `tg.zeros` ...
    """

    __slots__ = ("__weakref__", "_cell", "_layout", "dtype")
    __array_priority__ = 1000

    if TYPE_CHECKING:  # operators.py binds it

        def __getitem__(self, key: Any) -> Array: ...

    def __init__(self, dtype: DType, layout: Layout, cell: Cell) -> None:
        self.dtype = dtype
        self._layout = layout
        self._cell = cell

    # --- facts ----------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """Sizes of the axes."""
        return self._layout.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._layout.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        n = 1
        for k in self._layout.shape:
            n *= k
        return n

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def device(self) -> str:
        """Always "webgpu": one device at a time (tg.device() describes it)."""
        return "webgpu"

    # --- readers --------------------------------------------------------------------------------------------------

    async def numpy(self) -> np.ndarray[Any, Any]:
        """A NumPy array with the values (a copy of its own); bfloat16 gives float32. `await a.numpy()`."""
        return readers.to_numpy(self.dtype, self.shape, *await self._memory())

    async def item(self, *index: Any) -> bool | int | float | complex:
        """An element as a Python scalar: the only one, or that at a flat position or an index. `await a.item()`."""
        one = self._element(index)
        memory = await engine.fetch_element(one._cell.op, one._layout)
        return readers.to_list(one.dtype, (), *memory)  # type: ignore[no-any-return]

    async def tolist(self) -> Any:
        """Nested lists of Python scalars (a scalar for 0-d). `await a.tolist()`."""
        return readers.to_list(self.dtype, self.shape, *await self._memory())

    async def tobytes(self) -> bytes:
        """The elements in row-major order as bytes (bool one byte, bfloat16 two). `await a.tobytes()`."""
        return readers.to_bytes(self.dtype, self.shape, *await self._memory())

    async def memoryview(self) -> memoryview:
        """A memoryview of the values, its own copy: float16 and bfloat16 as 16-bit words (format "H"), complex64 as
        float32 with a last axis of 2; an array without elements as shape (0,). `await a.memoryview()`."""
        return readers.to_memoryview(self.dtype, self.shape, *await self._memory())

    def to_js(self) -> Any:
        """A JavaScript promise of a typed array with the values in row-major order, for JavaScript that called Python.

        The work is submitted now, and no task of Python's and no memory of Python's is in between; where kernels must
        be compiled first it is an asyncio future, which JavaScript awaits as well. bool gives a Uint8Array, float16
        and bfloat16 their words in a Uint16Array, complex64 pairs in a Float32Array. An error rejects the promise.
        RuntimeError where there is no JavaScript.
        """
        kind, each = readers.typed(self.dtype)
        return engine.give(self._cell.op, self._layout, kind, each * self.size)

    async def _memory(self) -> tuple[bytearray, int]:
        return (await engine.fetch([(self._cell.op, self._layout)]))[0]

    def _element(self, index: tuple[Any, ...]) -> Array:
        if not index:
            self._check_scalar("item")
            return Array(self.dtype, Layout((), (), self._layout.offset), self._cell)
        if len(index) == 1 and isinstance(index[0], tuple):
            index = index[0]
        elif len(index) == 1 and len(self.shape) != 1:
            at, index = as_index(index[0]), ()
            if not -self.size <= at < self.size:
                raise IndexError(f"item: index {at} is out of bounds for an array of size {self.size}")
            at %= self.size
            for n in reversed(self.shape):
                at, k = divmod(at, n)
                index = (k, *index)
        index = tuple([as_index(k) for k in index])
        if len(index) != len(self.shape):
            raise ValueError(f"item: {len(index)} indices for an array of {len(self.shape)} axes")
        return view(self, element(self._layout, index, "item"))

    def _check_scalar(self, what: str) -> None:
        if self.size != 1:
            raise ValueError(f"{what}: an array of shape {self.shape} is no scalar")

    def _scalar(self, what: str, instead: str) -> Any:
        self._check_scalar(what.partition("(")[0])
        hosted.refuse(self)
        return engine.wait_for(self.item(), what, instead)

    def __float__(self) -> float:
        return float(self._scalar("float(a)", "float(await a.item())"))

    def __int__(self) -> int:
        return int(self._scalar("int(a)", "int(await a.item())"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex(a)", "complex(await a.item())"))

    def __index__(self) -> int:
        if self.dtype.kind not in "iu" or self.shape:
            raise TypeError(
                f"only 0-d integer arrays can be an index, not {self.dtype.name} of shape {self.shape}"
            )
        return int(self._scalar("an array as an index", "await a.item()"))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth value of an array of shape {self.shape} is ambiguous: use tg.any or tg.all"
            )
        return bool(self._scalar("bool(a)", "bool(await a.item())"))

    def __bytes__(self) -> bytes:
        return engine.wait_for(self.tobytes(), "bytes(a)", "await a.tobytes()")  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("a GPU array cannot become a NumPy array without a copy")
        hosted.refuse(self)
        out: np.ndarray[Any, Any] = engine.wait_for(self.numpy(), "np.asarray(a)", "await a.numpy()")
        return out if dtype is None else out.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d array")
        return self.shape[0]

    def __iter__(self) -> Generator[Array]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[k] for k in range(self.shape[0]))

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'tabgpu.Array'")


_new = object.__new__


def fresh(op: Op) -> Array:
    """A new Array that names an Op's whole value."""
    cell = _new(
        Cell
    )  # as Array(op.dtype, op.layout, Cell(op)), without the two calls: every operation comes here
    cell.op = op
    op.cell = ref(cell)
    array = _new(Array)
    array.dtype, array._layout, array._cell = op.dtype, op.layout, cell
    if op.kind >= EW:
        engine.note(op)
    return array


def named(op: Op) -> Array:
    """A new Array that names the whole of an Op that is computed."""
    cell = _new(Cell)
    cell.op = op
    op.cell = ref(cell)
    array = _new(Array)
    array.dtype = op.dtype
    array._layout = op.layout
    array._cell = cell
    return array


SAME = None, None  # the views of two operands that are read as they lie


def computed(
    fn: Fn, args: tuple[Any, ...], views: tuple[Layout | None, ...], shape: Shape, a: Op, b: Op | None
) -> Array:
    """fresh(Op(EW, fn, args, views, shape, fn.dtype)) for args of an Op `a` and perhaps `b`, written out: what most
    programs consist of is made here."""
    op = _new(Op)
    op.kind = EW
    op.fn = fn
    op.args = args
    op.views = views
    op.shape = shape
    op.dtype = dtype = fn.dtype
    op.extra = None
    if shape is a.shape:
        layout = a.layout
        size = a.size
    else:
        layout, size = facts_of(shape)
    op.layout = layout
    op.size = size
    op.serial = next(serials)
    op.buffer = None
    op.guards = ()
    op.uses = 0
    op._seen = 0
    op._uses = None
    depth = a.depth
    a.uses += 1
    if b is not None:
        b.uses += 1
        if b.depth > depth:  # noqa: PLR1730  # a call costs more
            depth = b.depth
    op.depth = depth = depth + 1
    cell = _new(Cell)
    cell.op = op
    op.cell = name = ref(cell)
    array = _new(Array)
    array.dtype = dtype
    array._layout = layout
    array._cell = cell
    pending.append(name)
    if depth >= engine.most or size > BIG or len(pending) >= engine.most:
        engine.noted(op)
    return array


def view(array: Array, layout: Layout) -> Array:
    """Another view of the same cell; assignments to one are seen by the other."""
    return Array(array.dtype, layout, array._cell)


def source(array: Array) -> tuple[Op, Layout | None]:
    """(Op, view) of an Array as an argument: view None if it is the whole value as it lies."""
    op = array._cell.op
    layout = array._layout
    return op, None if layout is op.layout or layout == op.layout else layout


async def fetch(*arrays: Array) -> tuple[Any, ...]:
    """The values of several arrays as NumPy arrays, in one submit and one read. `x, y = await tg.fetch(a, b)`.

    Where NumPy is not installed, memoryviews as `a.memoryview()` gives them."""
    for a in arrays:
        if not isinstance(a, Array):
            raise TypeError(f"fetch: expected tabgpu arrays, got {type(a).__name__}")
    got = await engine.fetch([(a._cell.op, a._layout) for a in arrays])
    try:
        return tuple([readers.to_numpy(a.dtype, a.shape, *at) for a, at in zip(arrays, got, strict=True)])
    except ModuleNotFoundError:
        return tuple(
            [readers.to_memoryview(a.dtype, a.shape, *at) for a, at in zip(arrays, got, strict=True)]
        )


async def synchronize() -> None:
    """Computes everything pending and waits until the GPU is idle; raises errors that no read has raised."""
    await engine.wait()
