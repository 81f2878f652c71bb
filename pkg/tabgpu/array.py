"""Array = (dtype, layout, cell), and its readers. What operators do is in operators.py, functions are in ops/."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any
from weakref import ref

from . import engine
from .dtypes import DType
from .graph import EW, Cell, Op
from .layout import Layout, Shape

if TYPE_CHECKING:
    import numpy as np


class Array:
    """An n-dimensional array on the GPU: lazy, of one dtype, possibly a view of another.

    Nothing is computed before a read (`await a.numpy()`) or until much is pending. Made by `tg.asarray`, `tg.zeros` ...
    """

    __slots__ = ("__weakref__", "_cell", "_layout", "dtype")
    __array_priority__ = 1000
    __array_ufunc__ = None  # NumPy's operators leave the work to ours

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
        """A NumPy array with the values (a copy of its own). `await a.numpy()`."""
        return (await fetch(self))[0]

    async def item(self) -> bool | int | float:
        """The only element as a Python scalar; ValueError if there is not exactly one. `await a.item()`."""
        self._check_scalar("item")
        return (await fetch(self))[0].item()  # type: ignore[no-any-return]

    async def tolist(self) -> Any:
        """Nested lists of Python scalars (a scalar for 0-d). `await a.tolist()`."""
        return (await fetch(self))[0].tolist()

    def _check_scalar(self, what: str) -> None:
        if self.size != 1:
            raise ValueError(f"{what}: an array of shape {self.shape} is no scalar")

    def _now(self, what: str, instead: str) -> np.ndarray[Any, Any]:
        return engine.wait_for(fetch(self), what, instead)[0]  # type: ignore[no-any-return]

    def __float__(self) -> float:
        self._check_scalar("float")
        return float(self._now("float(a)", "float(await a.item())").reshape(()))

    def __int__(self) -> int:
        self._check_scalar("int")
        return int(self._now("int(a)", "int(await a.item())").reshape(()))

    def __index__(self) -> int:
        if self.dtype.kind not in "iu" or self.shape:
            raise TypeError(
                f"only 0-d integer arrays can be an index, not {self.dtype.name} of shape {self.shape}"
            )
        return int(self._now("an array as an index", "await a.item()"))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth value of an array of shape {self.shape} is ambiguous: use tg.any or tg.all"
            )
        return bool(self._now("bool(a)", "bool(await a.item())").reshape(()))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("a GPU array cannot become a NumPy array without a copy")
        out = self._now("np.asarray(a)", "await a.numpy()")
        return out if dtype is None else out.astype(dtype, copy=False)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d array")
        return self.shape[0]

    def __iter__(self) -> Generator[Array]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[k] for k in range(self.shape[0]))  # type: ignore[index]

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'tabgpu.Array'")

    def __repr__(self) -> str:
        try:
            if self.size <= 1000 and engine.current() is not None and engine.can_suspend():
                text = repr(self._now("repr", "await a.numpy()"))
                return text.replace("array(", "tabgpu.array(", 1)
        except Exception as error:  # display never raises: say what is wrong instead
            return (
                f"<tabgpu.Array shape={self.shape} dtype={self.dtype.name}: {type(error).__name__}: {error}>"
            )
        return f"<tabgpu.Array shape={self.shape} dtype={self.dtype.name}; read it with `await a.numpy()`>"

    __str__ = __repr__


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


def view(array: Array, layout: Layout) -> Array:
    """Another view of the same cell; assignments to one are seen by the other."""
    return Array(array.dtype, layout, array._cell)


def source(array: Array) -> tuple[Op, Layout | None]:
    """(Op, view) of an Array as an argument: view None if it is the whole value as it lies."""
    op = array._cell.op
    layout = array._layout
    return op, None if layout is op.layout or layout == op.layout else layout


async def fetch(*arrays: Array) -> tuple[np.ndarray[Any, Any], ...]:
    """The values of several arrays as NumPy arrays, in one submit and one read. `x, y = await tg.fetch(a, b)`."""
    for a in arrays:
        if not isinstance(a, Array):
            raise TypeError(f"fetch: expected tabgpu arrays, got {type(a).__name__}")
    import numpy as np  # importing tabgpu needs no NumPy

    got = await engine.fetch([(a._cell.op, a._layout) for a in arrays])
    out = []
    for a, (memory, at) in zip(arrays, got, strict=True):
        kind = np.dtype(a.dtype.name)
        size = a.size
        data = np.frombuffer(memory, kind, size, at) if size else np.empty(0, kind)
        out.append(data.reshape(a.shape))
    return tuple(out)


async def synchronize() -> None:
    """Computes everything pending and waits until the GPU is idle; raises errors that no read has raised."""
    await engine.wait()
