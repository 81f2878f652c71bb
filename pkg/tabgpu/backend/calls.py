"""What all calls of a Backend share: the device, handles as float32 arrays, results into handles."""

from __future__ import annotations

from math import prod
from typing import Any

from ..array import Array
from ..device import Device
from ..dtypes import float32
from ..layout import Shape
from ..ops.manipulation import reshape
from ..tracing import refuse
from . import table
from .errors import InvalidArgument, NotInitialized


class Calls:
    """See the first line."""

    _gpu: Device | None = None

    def _device(self) -> Device:
        """The open device; NotInitialized, or DeviceLostError."""
        if self._gpu is None:
            raise NotInitialized("no device: write `await backend.init()` first")
        self._gpu.check()
        refuse("a call of tg.backend")  # handles would name what has no values
        return self._gpu

    def _at(self, where: str, name: str, handle: int, shape: Shape) -> Array:
        return table.shaped(table.reading(where, name, handle, prod(shape), float32), shape)

    def _put(self, where: str, handle: int, made: Array, target: Array | None) -> None:
        """The values of a call into the first elements of a handle's memory."""
        n = made.size
        table.entry(handle, where).write(made if made.ndim else reshape(made, (1,)), None)
        assert target is None or target.size >= n

    def _axis(self, where: str, dims: Shape, axis: int) -> None:
        table.u32(where, axis=axis)
        if axis >= len(dims):
            raise InvalidArgument(f"{where}: axis {axis} of a shape {dims} of {len(dims)} axes")

    def _along(self, where: str, input: int, output: int, shape: Any, axis: int) -> tuple[Shape, Array]:
        self._device()
        dims = table.extents(where, "shape", shape)
        self._axis(where, dims, axis)
        table.apart(where, ("output", output), input=input)
        x = self._at(where, "input", input, dims)
        table.reading(where, "output", output, prod(dims), float32)
        return dims, x
