"""The public exceptions. What is raised where: docs/architecture.md, "Errors"."""

from __future__ import annotations

import sys


class TabgpuError(Exception):
    """Base of every error that is tabgpu's own (bad arguments raise TypeError, ValueError, IndexError as in NumPy)."""


class NotInitializedError(TabgpuError, RuntimeError):
    """No device is open: write `await tg.init()` first."""


class NoAdapterError(TabgpuError, RuntimeError):
    """The browser offers no WebGPU adapter; the message says which setting or flag to look at."""


class SyncError(TabgpuError, RuntimeError):
    """A synchronous read where Python cannot suspend; the message says which `await` to write."""


class TracingError(SyncError, TypeError):
    """A function that tg.jit traces reads a value; the message says what to do instead."""


class DeviceLostError(TabgpuError, RuntimeError):
    """The GPU device was lost, or an array belongs to a device that is closed; `await tg.init()` opens a new one."""


class KernelError(TabgpuError, RuntimeError):
    """A kernel was refused (shader compilation or validation); names the kernel's label and the WGSL line."""


class GPUInternalError(TabgpuError, RuntimeError):
    """The driver failed while running a submit."""


class OutOfMemoryError(TabgpuError, MemoryError):
    """GPU memory is exhausted; names the bytes asked, live and the limit."""


class LimitError(TabgpuError, ValueError):
    """An array is larger than the device allows for this operation; refused before any GPU work."""


class AxisError(ValueError, IndexError):
    """An axis is out of range for the array (NumPy's class of the same name has the same bases)."""


class LinAlgError(ValueError):
    """What linear algebra cannot do: shapes that are no matrices; at the read, singular ones, no convergence, NaN.

    Where NumPy is loaded, an instance is one of numpy.linalg.LinAlgError too, so that who catches that one catches it.
    """

    def __new__(cls, *args: object) -> LinAlgError:
        theirs = getattr(sys.modules.get("numpy.linalg"), "LinAlgError", None)
        if theirs is None or issubclass(cls, theirs):
            return super().__new__(cls, *args)
        if cls not in _both:
            about = {"__module__": cls.__module__, "__doc__": cls.__doc__}
            _both[cls] = type(cls.__name__, (cls, theirs), about)
        return super().__new__(_both[cls], *args)

    def __reduce__(self) -> tuple[type[LinAlgError], tuple[object, ...]]:
        return LinAlgError, self.args


_both: dict[object, type[LinAlgError]] = {}
