"""Packed bytes of an array as host values: NumPy arrays, Python scalars and lists, bytes, memoryviews.

Only `to_numpy` needs NumPy; the others know how each dtype is packed. Nothing here waits or touches a device.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from .dtypes import DType, bfloat16, complex64, float16

if TYPE_CHECKING:
    import numpy as np

# What memoryview can cast to. float16 and bfloat16 are there as their 16-bit words, complex64 as pairs of floats.
_CODES: dict[str, Any] = {
    "bool": "?", "int8": "b", "int16": "h", "int32": "i", "uint8": "B", "uint16": "H", "uint32": "I",
    "float16": "H", "bfloat16": "H", "float32": "f", "complex64": "f",
}  # fmt: skip


# JavaScript's classes for them, in the same sense.
_CLASSES = {
    "?": "Uint8Array", "b": "Int8Array", "h": "Int16Array", "i": "Int32Array", "B": "Uint8Array", "H": "Uint16Array",
    "I": "Uint32Array", "f": "Float32Array",
}  # fmt: skip


def typed(dtype: DType) -> tuple[str, int]:
    """(class of JavaScript's typed array, elements of it for one of ours)."""
    return _CLASSES[_CODES[dtype.name]], 2 if dtype is complex64 else 1


def count(shape: tuple[int, ...]) -> int:
    """Elements of a shape."""
    n = 1
    for k in shape:
        n *= k
    return n


def to_numpy(dtype: DType, shape: tuple[int, ...], memory: bytearray, at: int) -> np.ndarray[Any, Any]:
    """A NumPy array on the memory; bfloat16, which NumPy has not, as float32 in new memory."""
    try:
        import numpy as np  # importing tabgpu needs no NumPy
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "numpy() needs NumPy, which is not installed; `await a.tolist()`, `await a.tobytes()` and "
            "`await a.memoryview()` need nothing",
            name="numpy",
        ) from None
    size = count(shape)
    kind = np.dtype("uint16" if dtype is bfloat16 else dtype.name)
    flat = np.frombuffer(memory, kind, size, at) if size else np.empty(0, kind)
    if dtype is bfloat16:
        flat = (flat.astype(np.uint32) << 16).view(np.float32)
    return flat.reshape(shape)


def to_bytes(dtype: DType, shape: tuple[int, ...], memory: bytearray, at: int) -> bytes:
    """The elements in row-major order, little-endian, as NumPy's tobytes."""
    return bytes(memoryview(memory)[at : at + count(shape) * dtype.itemsize])


def to_memoryview(dtype: DType, shape: tuple[int, ...], memory: bytearray, at: int) -> memoryview[Any]:
    """A writable memoryview of that shape; float16 and bfloat16 as 16-bit words, complex64 with a last axis of 2.

    A memoryview cannot have a shape with a 0 in it: such an array gives one of shape (0,).
    """
    flat: memoryview[Any] = memoryview(memory)[at : at + count(shape) * dtype.itemsize].cast("B")
    flat = flat.cast(_CODES[dtype.name])
    if dtype is complex64:
        shape = (*shape, 2)
    return flat if len(shape) == 1 or 0 in shape else flat.cast("B").cast(_CODES[dtype.name], shape)


def to_list(dtype: DType, shape: tuple[int, ...], memory: bytearray, at: int) -> Any:
    """Nested lists of Python scalars; a scalar for no axes."""
    values = _scalars(dtype, count(shape), memory, at)
    if not shape:
        return values[0]
    for n in reversed(shape[1:]):
        outer = len(values) // n if n else 0
        values = [values[k * n : k * n + n] for k in range(outer)]
    return values if 0 not in shape[1:] else _empty(shape)


def _scalars(dtype: DType, size: int, memory: bytearray, at: int) -> list[Any]:
    part = memoryview(memory)[at : at + size * dtype.itemsize]
    if dtype is float16:
        return list(struct.unpack(f"<{size}e", part))
    if dtype is bfloat16:  # the upper half of a float32
        words = b"".join([b"\0\0" + part[k : k + 2] for k in range(0, 2 * size, 2)])
        return list(struct.unpack(f"<{size}f", words))
    flat: list[Any] = part.cast(_CODES[dtype.name]).tolist()
    if dtype is complex64:
        return [complex(re, im) for re, im in zip(flat[::2], flat[1::2], strict=True)]
    return flat


def _empty(shape: tuple[int, ...]) -> list[Any]:
    """Lists of a shape with a 0 in it."""
    return [_empty(shape[1:]) for _ in range(shape[0])] if len(shape) > 1 else []
