"""What other libraries ask of an array: the array API's protocol, DLPack, pickling. NumPy's dispatch is in dispatch.py.

DLPack and pickle carry host copies: WebGPU memory has no address that others could use.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any

from . import engine
from .array import Array
from .dtypes import ALL, DType, as_dtype, bfloat16, complex64, float32, int32
from .graph import Cell
from .ops.convert import from_host
from .ops.creation import copy_of
from .ops.dtype_functions import isdtype

VERSION = "2025.12"
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
DEVICE = "webgpu"
_CPU = 1  # DLPack's number of the host's memory


def array_namespace(self: Array, /, *, api_version: str | None = None) -> Any:
    """The module tabgpu. ValueError for a version of the array API that it does not know."""
    if api_version not in (None, *VERSIONS):
        raise ValueError(f"array API {api_version!r} is unknown to tabgpu; it has {', '.join(VERSIONS)}")
    return sys.modules[__package__]


class NamespaceInfo:
    """What `tg.__array_namespace_info__()` gives: the array API's inspection functions."""

    def capabilities(self) -> dict[str, bool | int | None]:
        """Boolean masks and shapes that depend on data work (plainly where Python can wait, else awaited)."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> str:
        """The device of new arrays."""
        return DEVICE

    def devices(self) -> tuple[str, ...]:
        """All devices; one is open at a time."""
        return (DEVICE,)

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The dtypes of new arrays by kind."""
        check_device(device)
        return {
            "real floating": float32, "complex floating": complex64, "integral": int32, "indexing": int32,
        }  # fmt: skip

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """The standard's dtypes that arrays can have, by name; kind: as in isdtype. (float16 and bfloat16 are ours.)"""
        check_device(device)
        return {
            name: d
            for name, d in ALL.items()
            if d.available and name not in ("float16", "bfloat16") and (kind is None or isdtype(d, kind))
        }


def array_namespace_info() -> NamespaceInfo:
    """The array API's inspection object: capabilities, devices, dtypes."""
    return NamespaceInfo()


def check_device(device: Any) -> None:
    """ValueError for a device that is not ours."""
    if device not in (None, DEVICE):
        raise ValueError(f'device {device!r} is unknown; the only one is "{DEVICE}"')


def to_device(self: Array, device: Any, /, *, stream: Any = None) -> Array:
    """The array itself, which is on "webgpu". ValueError for another device: the host has no tabgpu arrays."""
    if stream is not None:
        raise ValueError("to_device: WebGPU has no streams that could be named")
    if device == "cpu":
        raise ValueError('to_device: arrays live on "webgpu"; `await a.numpy()` gives a NumPy array')
    check_device(device)
    return self


# --- DLPack -----------------------------------------------------------------------------------------------------------


def dlpack_device(self: Array, /) -> tuple[int, int]:
    """(1, 0): what `__dlpack__` hands out is host memory."""
    return _CPU, 0


def dlpack(
    self: Array, /, *, stream: Any = None, max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None, copy: bool | None = None,
) -> Any:  # fmt: skip
    """A DLPack capsule with a copy of the values in host memory; needs NumPy, and a place where Python can wait.

    copy=False changes nothing: what is handed out is the memory that was read into, copied no further, and no alias
    of the array. BufferError for another dl_device than (1, 0), and for bfloat16 (use astype)."""
    if stream is not None:
        raise ValueError("__dlpack__: host memory has no stream")
    if dl_device is not None and (int(dl_device[0]), int(dl_device[1])) != (_CPU, 0):
        raise BufferError(f"__dlpack__: values can be handed out in host memory only, not on {dl_device}")
    if self.dtype is bfloat16:
        raise BufferError("__dlpack__: bfloat16 goes through NumPy, which has none: use .astype('float32')")
    host = engine.wait_for(self.numpy(), "__dlpack__", "np.from_dlpack(await a.numpy())")
    if max_version is None:
        return host.__dlpack__()
    try:
        return host.__dlpack__(max_version=max_version)
    except TypeError:  # NumPy before 2.1 makes capsules of the old kind only, which every version allows
        return host.__dlpack__()


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An Array with the values of an object with `__dlpack__` (a copy, for it is another memory).

    Of a tabgpu array the array itself, or a copy for copy=True. The dtype rules are those of asarray. copy=False raises
    BufferError for any other object.
    """
    check_device(device)
    if isinstance(x, Array):
        return copy_of(x) if copy else x
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(f"from_dlpack: {type(x).__name__} has no __dlpack__ and __dlpack_device__")
    if copy is False:
        raise BufferError("from_dlpack: host memory cannot be on the GPU without a copy")
    try:
        import numpy as np
    except ModuleNotFoundError:
        raise BufferError("from_dlpack needs NumPy, which is not installed") from None
    kind = x.__dlpack_device__()[0]
    return from_host(np.from_dlpack(x) if kind == _CPU else np.from_dlpack(x, device="cpu"), "from_dlpack")


# --- pickle -----------------------------------------------------------------------------------------------------------


def reduce(self: Array, protocol: Any = 2) -> Any:
    """What pickle keeps: dtype, shape and bytes (out of band from protocol 5). SyncError where Python cannot wait."""
    memory, at = engine.wait_for(self._memory(), "pickle", "pickle.dumps(await a.numpy())")
    data: Any = memoryview(memory)[at : at + self.nbytes]
    data = pickle.PickleBuffer(data) if protocol >= 5 else bytes(data)
    return restore, (self.dtype.name, self.shape, data)


def restore(dtype: str, shape: tuple[int, ...], data: Any) -> Array:
    """The array of a pickle, on the device that is open now."""
    known = as_dtype(dtype)
    op = engine.upload(memoryview(data).cast("B"), known, shape, "pickle")
    return Array(known, op.layout, Cell(op))


def array_round(self: Array, ndigits: int | None = None) -> Any:
    """`round(a)` and `round(a, 2)` round the elements; the dtype stays."""
    from .ops import elementwise

    return elementwise.round(self) if ndigits is None else elementwise.round(self, ndigits)


METHODS: dict[str, Any] = {
    "__array_namespace__": array_namespace, "to_device": to_device, "__dlpack__": dlpack,
    "__dlpack_device__": dlpack_device, "__reduce_ex__": reduce, "__round__": array_round,
}  # fmt: skip
for _name, _function in METHODS.items():
    setattr(Array, _name, _function)

__all__ = ["array_namespace_info", "from_dlpack"]
