"""Values as JavaScript's typed arrays: reads that a page awaits, not Python."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from . import bridge
from .errors import GPUInternalError

if TYPE_CHECKING:
    from .device import Device
    from .graph import Buffer

_numbers = count(1)
_held: dict[int, tuple[Device, Buffer]] = {}  # memory that is being read, and what it is read from
_finish: Any = None


def check() -> None:
    """RuntimeError where there is nobody to give to."""
    bridge.must_be_in_browser("a.to_js()")


def give(gpu: Device, buffer: Buffer, begin: int, kind: str, size: int) -> Any:
    """A promise of the typed array of that class and size that begins at a byte of a buffer; raises its errors."""
    global _finish
    gpu._send()
    gpu.check_owner(buffer)
    gpu.raise_for(buffer)
    lead = begin & 3
    counters = gpu.counters
    counters.crossings += 1
    counters.reads += 1
    if _finish is None:
        _finish = bridge.callback(finish)
    number = next(_numbers)
    _held[number] = gpu, buffer
    return gpu.js.give(buffer.id, begin - lead, kind, lead, size, number, gpu.serial, _finish).promise


def finish(number: int, serial: int, nbytes: int, report: str, lost: str) -> None:
    """A read of a number has ended; raises what is wrong with its values."""
    gpu, buffer = _held.pop(number)
    gpu.counters.bytes_read += nbytes
    if lost:
        gpu.lost = gpu.lost or str(gpu.js.lostReason)
        gpu.check()
        raise GPUInternalError(lost)
    read = gpu._absorb(report, serial)
    gpu.raise_for(buffer)
    if read in gpu._read_failed:
        raise gpu._read_failed.pop(read)


def copied(gpu: Device, memory: bytearray, begin: int, kind: str, size: int) -> Any:
    """A typed array with a copy of host memory."""
    return gpu.js.typed(memoryview(memory), begin, kind, size)
