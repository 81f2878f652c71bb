"""Handles and the memory behind them: numbers that are never used twice, each naming an array of untyped bytes.

The memory is that of arrays: a call reads a handle as an array of the dtype that it works in and writes its result over
the array's elements, in place where nobody else has the memory. So calls are as lazy as array functions.
"""

from __future__ import annotations

import sys
from itertools import count
from math import prod
from typing import Any

from .. import engine
from ..array import Array, named, view
from ..device import Device, one_thread
from ..dtypes import DType, uint8, uint32
from ..errors import LimitError, OutOfMemoryError
from ..graph import EW, leaf
from ..layout import Layout, Shape, contiguous, is_contiguous
from ..ops.creation import copy_of
from ..ops.indexing import setitem
from ..ops.manipulation import reshape
from .errors import (
    AliasedOutput,
    DoubleFree,
    InvalidArgument,
    OutOfMemory,
    Overflow,
    UndersizedBuffer,
    UnknownHandle,
)

U32 = 0xFFFFFFFF
_handles = count(1)


class Memory:
    """What a handle names. size: the bytes asked for; nbytes: in whole words; array: all of them, in some dtype."""

    __slots__ = ("array", "nbytes", "size")

    def __init__(self, size: int, array: Array) -> None:
        self.size, self.nbytes, self.array = size, -(-size // 4) * 4, array

    def typed(self, dtype: DType) -> Array:
        """All elements in a dtype: the array that this memory is from now on."""
        array = self.array
        if array.dtype is not dtype:
            op = array._cell.op
            if op.buffer is None:
                gpu = engine.device()
                engine.settle(gpu, [op])
            assert op.buffer is not None
            self.array = array = named(leaf((self.nbytes // dtype.itemsize,), dtype, op.buffer))
        return array

    def own(self, dtype: DType) -> Array:
        """The same, to be written to: nobody else has this memory in another dtype."""
        array = self.typed(dtype)
        buffer = array._cell.op.buffer
        if buffer is not None and sys.getrefcount(buffer) > ALONE:  # recorded work reads it
            self.array = array = copy_of(array)
        return array

    def holds(self, value: Array) -> None:
        """All of the memory is what a call just computed: no copy."""
        op = value._cell.op
        if op.kind < EW or op.uses or value._layout != op.layout:
            value = copy_of(value)
            op = value._cell.op
        self.array = view(value, Layout((op.size,), (1,), 0))

    def write(self, value: Array, layout: Layout | None = None) -> None:
        """The elements of a value over those of a layout (from the first on, if there is none), and no others."""
        dtype = value.dtype
        n = value.size
        if not n:
            return
        if n * dtype.itemsize == self.nbytes and (layout is None or is_contiguous(layout)):
            self.holds(value)
            return
        array = self.own(dtype)
        target = Layout((n,), (1,), 0) if layout is None else layout
        setitem(view(array, target), ..., reshape(value, target.shape))


class _Holder:
    __slots__ = ("buffer",)

    def __init__(self) -> None:
        self.buffer = object()


def _alone() -> int:
    """What getrefcount says of a buffer that one Op has, from a local name."""
    holder = _Holder()
    buffer = holder.buffer
    return sys.getrefcount(buffer)


ALONE = _alone()
table: dict[int, Memory] = {}
_last = 0


def allocate(gpu: Device, size: int) -> int:
    """A new handle of so many bytes, in whole words; what they hold is undefined."""
    global _last
    if type(size) is not int or size <= 0:
        raise InvalidArgument(f"alloc: a buffer has a positive number of bytes, not {size!r}")
    nbytes = -(-size // 4) * 4
    most = min(gpu.buffer_limit, gpu.limits["maxStorageBufferBindingSize"])
    if nbytes > most:
        raise OutOfMemory(f"alloc: {size:,} bytes; a buffer of this device has at most {most:,}")
    try:
        with one_thread:
            gpu.submit()  # the buffer is made by a submit of its own: nothing that fails takes it along
            buffer = gpu.allocate(nbytes, "alloc")
            buffer.serial = gpu.serial + 1 if gpu._words else 0
            gpu.submit()
    except (OutOfMemoryError, LimitError) as error:
        raise OutOfMemory(str(error)) from None
    handle = _last = next(_handles)
    table[handle] = Memory(size, named(leaf((nbytes // 4,), uint32, buffer)))
    return handle


def entry(handle: Any, where: str, what: str = "handle") -> Memory:
    """The memory behind a handle; UnknownHandle or DoubleFree."""
    found = table.get(handle) if type(handle) is int else None
    if found is None:
        if type(handle) is int and 0 < handle <= _last:
            raise DoubleFree(f"{where}: {what} {handle} was freed")
        raise UnknownHandle(f"{where}: {what} {handle!r} is no handle")
    return found


def release(handle: Any) -> None:
    """Frees a handle: its memory goes back to the pool when work that was recorded does not need it any more."""
    entry(handle, "free")
    del table[handle]


def u32(where: str, **numbers: Any) -> None:
    """Overflow or InvalidArgument unless all are integers of 32 bits without a sign."""
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidArgument(f"{where}: {name} is an integer, not {value!r}")
        if value < 0:
            raise InvalidArgument(f"{where}: {name} = {value} is negative")
        if value > U32:
            raise Overflow(f"{where}: {name} = {value} does not fit u32")


def extents(where: str, name: str, given: Any, rank: int | None = None) -> Shape:
    """A shape (or the numbers of another argument) as a tuple of u32s whose product is one too."""
    try:
        shape = tuple(given)
    except TypeError:
        raise InvalidArgument(f"{where}: {name} is a sequence of integers, not {given!r}") from None
    if rank is not None and len(shape) != rank:
        raise InvalidArgument(f"{where}: {name} has {rank} numbers, not {shape}")
    for k, value in enumerate(shape):
        u32(where, **{f"{name}[{k}]": value})
    if prod(shape) > U32:
        raise Overflow(f"{where}: {name} {shape} has {prod(shape)} elements, which do not fit u32")
    return shape


def reading(where: str, name: str, handle: Any, elements: int, dtype: DType) -> Array:
    """A handle as a flat array of a dtype that has so many elements; UndersizedBuffer."""
    memory = entry(handle, where, name)
    sized(where, name, handle, memory, elements, dtype)
    return memory.typed(dtype)


def sized(where: str, name: str, handle: Any, memory: Memory, elements: int, dtype: DType) -> None:
    """UndersizedBuffer unless a memory has room for so many elements."""
    need = elements * dtype.itemsize
    if need > memory.nbytes:
        raise UndersizedBuffer(
            f"{where}: {name} (handle {handle}) has {memory.size:,} bytes, {elements:,} of {dtype.name} take {need:,}"
        )


def apart(where: str, output: tuple[str, Any], **inputs: Any) -> None:
    """AliasedOutput if the output is one of the inputs."""
    for name, handle in inputs.items():
        if handle == output[1]:
            raise AliasedOutput(f"{where}: {output[0]} and {name} are both handle {handle}")


def shaped(array: Array, shape: Shape, strides: Shape | None = None) -> Array:
    """A flat array's first elements in a shape, or as strides say."""
    return view(array, contiguous(shape) if strides is None else Layout(shape, strides, 0))


def upload(handle: Any, data: Any) -> None:
    """Host bytes over the first ones of a memory."""
    memory = entry(handle, "copy_htod", "dst")
    held: Any = data
    if engine.typed_array(data):  # JavaScript's own
        n = int(data.byteLength)
    else:
        held = memoryview(data)
        if not held.c_contiguous:
            raise InvalidArgument("copy_htod: src is not contiguous memory")
        n, held = held.nbytes, held.cast("B") if held.nbytes else held
    if n > memory.size:
        raise UndersizedBuffer(f"copy_htod: {n:,} bytes for handle {handle}, which has {memory.size:,}")
    if not n:
        return
    if n == memory.size:
        memory.array = named(engine.upload(held, uint8, (n,), "copy_htod"))
    elif n % 4:
        memory.write(named(engine.upload(held, uint8, (n,), "copy_htod")))
    else:
        memory.write(named(engine.upload(held, uint32, (n // 4,), "copy_htod")))


async def download(handle: Any, first: int, n: int, where: str) -> memoryview:
    """Bytes of a memory, n of them: only these are read."""
    memory = entry(handle, where, "src")
    if first < 0 or n < 0 or first + n > memory.size:
        raise UndersizedBuffer(
            f"{where}: {n:,} bytes from {first:,} on of handle {handle}, which has {memory.size:,}"
        )
    if not n:
        return memoryview(b"")
    array = memory.array
    each = array.dtype.itemsize
    begin = first // each
    layout = Layout((-(-(first + n) // each) - begin,), (1,), begin)
    ((held, at),) = await engine.fetch([(array._cell.op, layout)])
    at += first - begin * each
    return memoryview(held)[at : at + n]
