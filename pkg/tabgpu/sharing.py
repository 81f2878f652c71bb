"""Buffers that a page and arrays share: `a.gpu_buffer()` for its own passes, `tg.from_gpu_buffer` for its own data."""

from __future__ import annotations

from array import array as words
from operator import index as as_index
from typing import Any

from . import engine
from .array import Array, named
from .device import Device, one_thread
from .dtypes import DType, as_dtype
from .graph import LEAF, Buffer, Cell, Op, leaf
from .layout import Layout, Shape, as_shape, contiguous
from .ops.creation import copy_of
from .tracing import refuse

STORAGE, COPY_SRC = 0x80, 0x04  # GPUBufferUsage
ALIGNED = 256  # what a storage binding's offset is a multiple of


class SharedBuffer(tuple[Any, int, Shape, DType]):
    """(buffer, offset, shape, dtype) of `a.gpu_buffer()`. As long as it is kept, the memory keeps these values."""

    _op: Op

    @property
    def buffer(self) -> Any:
        """The GPUBuffer: of usage STORAGE, COPY_SRC and COPY_DST."""
        return self[0]

    @property
    def offset(self) -> int:
        """Bytes before the first element, a multiple of 256."""
        return self[1]

    @property
    def shape(self) -> Shape:
        """Sizes of the axes; elements lie in row-major order."""
        return self[2]

    @property
    def dtype(self) -> DType:
        """bool is a byte an element, float16 and bfloat16 two, complex64 two float32."""
        return self[3]


def gpu_buffer(self: Array) -> SharedBuffer:
    """(GPUBuffer, byte offset, shape, dtype): where the elements lie on the GPU, row-major, for a page's own render
    or compute passes on the same device (`tg.init(device=...)`, or `tg.device().js`). Nothing is read and nothing
    waits: what the values depend on is submitted before this returns, and the page's submits come after it.

    Lifetime: the memory holds these values while the result is kept, whatever happens to the array (an assignment
    to it then takes other memory). When only the four parts are kept, it holds them while the array lives and is
    not assigned to; afterwards the memory is used again for other arrays. Do not write into it and do not destroy
    it. A view that is not one run of memory from a multiple of 256 bytes on is copied first. ValueError without
    elements.
    """
    refuse("a.gpu_buffer()")
    if not self.size:
        raise ValueError(f"gpu_buffer: an array of shape {self.shape} has no memory")
    gpu = engine.device()
    gpu.check()
    op, first = engine.packed(self._cell.op, self._layout)
    if first * op.dtype.itemsize % ALIGNED:
        op, first = copy_of(self)._cell.op, 0
    if op.buffer is None:
        engine.settle(gpu, [op])
    assert op.buffer is not None
    gpu.check_owner(op.buffer)
    gpu.raise_for(op.buffer)
    with one_thread:
        gpu.submit()
    shared = SharedBuffer(
        (gpu.js.buffers.get(op.buffer.id), first * op.dtype.itemsize, self.shape, self.dtype)
    )
    shared._op = op
    return shared


def from_gpu_buffer(
    buffer: Any, shape: Any, dtype: Any, offset: int = 0, *, copy: bool | None = None
) -> Array:
    """An array of what a page's own GPUBuffer holds from byte `offset` on, row-major; no host memory is involved.

    buffer: of the device that tabgpu works on (`tg.init(device=...)`, or made by `tg.device().js`), with usage STORAGE
    and COPY_SRC. copy=None shares it where its size is a multiple of 16 bytes and the offset one of an element, else
    copies on the GPU; False raises ValueError instead of copying, True always copies. A shared array sees what the page
    writes later as soon as work that was not submitted before reads it (`tg.synchronize()` submits); assigning to it
    takes memory of its own, and the page's buffer is never written to nor destroyed here. Keep it alive: a read of a
    destroyed buffer raises KernelError.

    ValueError for another usage, a misaligned offset and a range beyond the end, naming the sizes.
    """
    refuse("tg.from_gpu_buffer(...)")
    want = as_dtype(dtype)
    dims = as_shape(shape, "from_gpu_buffer")
    n = contiguous(dims)
    count = 1
    for k in dims:
        count *= k
    size, usage, offset = int(buffer.size), int(buffer.usage), as_index(offset)
    need = count * want.itemsize
    if usage & (STORAGE | COPY_SRC) != STORAGE | COPY_SRC:
        raise ValueError(
            f"from_gpu_buffer: usage 0x{usage:x} has not both STORAGE (0x80) and COPY_SRC (0x04)"
        )
    if offset < 0 or offset + need > size:
        raise ValueError(
            f"from_gpu_buffer: {dims} of {want.name} takes {need:,} bytes from {offset} on; the buffer has {size:,}"
        )
    if offset % want.itemsize:
        raise ValueError(
            f"from_gpu_buffer: offset {offset} is no multiple of {want.itemsize}, an element of {want.name}"
        )
    gpu = engine.device()
    gpu.check()
    shared = size % 16 == 0 and size <= gpu.binding_limit
    if copy is False and not shared:
        limit = (
            f"{size:,} bytes are no multiple of 16"
            if size % 16
            else f"more than a binding of {gpu.binding_limit:,}"
        )
        raise ValueError(f"from_gpu_buffer: the buffer cannot be shared without a copy: {limit}")
    if copy or not shared:
        return _copied(gpu, buffer, dims, want, offset, need)
    whole = leaf((size // want.itemsize,), want, _lent(gpu, buffer, size))
    return Array(want, Layout(dims, n.strides, offset // want.itemsize), Cell(whole))


def _lent(gpu: Device, buffer: Any, size: int) -> Buffer:
    """A Buffer whose memory is not ours: it has no size here, and its id is freed and never pooled."""
    with one_thread:
        gpu.submit()
        ident = next(gpu._ids)
        gpu.js.lend(ident, buffer)
    gpu.counters.crossings += 1
    made = Buffer(gpu, ident, size, 0)
    gpu.discard([made])
    return made


def _copied(gpu: Device, buffer: Any, dims: Shape, dtype: DType, offset: int, need: int) -> Array:
    """An array of its own memory, copied by the queue."""
    if offset % 4 or (offset + need + 3 & ~3) > int(buffer.size):
        raise ValueError(
            f"from_gpu_buffer: bytes {offset} to {offset + need} are no whole words of the buffer"
        )
    op = Op(LEAF, None, (), (), dims, dtype)
    with one_thread:
        gpu.submit()
        held, gpu._words = gpu._words, words("I")
        try:
            made = gpu.allocate(need, "from_gpu_buffer")
            fresh = gpu._words
        finally:
            gpu._words = held
        gpu.serial += 1
        made.serial = gpu.serial
        gpu.js.copyIn(gpu.serial, made.id, fresh[2] if fresh else 0, buffer, offset, need + 3 & ~3)
    gpu.counters.crossings += 1
    op.buffer = made
    return named(op)


Array.gpu_buffer = gpu_buffer  # type: ignore[attr-defined]
__all__ = ["SharedBuffer", "from_gpu_buffer"]
