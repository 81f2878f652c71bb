"""Errors of the handle interface: each says which call, which handle or argument, and both numbers."""

from __future__ import annotations

from ..errors import NotInitializedError, OutOfMemoryError, TabgpuError


class BackendError(TabgpuError):
    """Base of the errors of `tg.backend`. A lost device or a refused kernel raises tabgpu's own errors."""


class NotInitialized(BackendError, NotInitializedError):
    """`await backend.init()` was not called."""


class InvalidArgument(BackendError, ValueError):
    """A number, shape or name that the call cannot take: named, before any GPU work."""


class UnknownHandle(InvalidArgument):
    """No memory has this handle, and none had it."""


class DoubleFree(UnknownHandle):
    """The handle was freed before."""


class UndersizedBuffer(InvalidArgument):
    """A buffer holds fewer bytes than the call reads or writes."""


class AliasedOutput(InvalidArgument):
    """The output is also an input."""


class Overflow(InvalidArgument):
    """A number does not fit 32 bits without a sign."""


class Unsupported(BackendError, NotImplementedError):
    """The device or this interface does not have it."""


class OutOfMemory(BackendError, OutOfMemoryError):
    """More than one buffer of the device can hold, or than `memory_limit` allows."""
