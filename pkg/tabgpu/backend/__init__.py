"""`tg.backend`: GPU memory as opaque handles and calls that write into it, for code that was written that way.

    backend = tg.backend.Backend()
    await backend.init()
    a = backend.alloc(24); backend.copy_htod(a, np.arange(6, dtype="float32"))
    ...
    backend.gemm(NO_TRANS, NO_TRANS, 2, 2, 3, 1.0, a, 3, b, 2, 0.0, c, 2)
    out = await backend.copy_dtoh(bytearray(16), c)

All is row-major. Handles are numbers that are never used again, from one table for the whole process, on the device of
arrays. Calls are lazy and in order; none waits but copy_dtoh, map_read and synchronize.
"""

from __future__ import annotations

from .compute import Compute
from .errors import (
    AliasedOutput,
    BackendError,
    DoubleFree,
    InvalidArgument,
    NotInitialized,
    OutOfMemory,
    Overflow,
    UndersizedBuffer,
    UnknownHandle,
    Unsupported,
)
from .lifecycle import Lifecycle, Runtime, engines, register_engine
from .networks import Networks
from .products import Products

NO_TRANS, TRANS, CONJ_TRANS = "N", "T", "C"


class Backend(Lifecycle, Products, Networks, Compute):
    """The handle interface. `Backend()` is not initialised; every call but the queries raises NotInitialized before
    `await backend.init()`. Several Backends share the device and the handles."""

    @classmethod
    def from_runtime(cls, runtime: Runtime) -> Backend:
        """A Backend on what another works on."""
        made = cls()
        made._gpu = runtime.device
        return made

    @classmethod
    async def from_adapter(cls, adapter: object) -> Backend:
        """A Backend on a new device of an adapter (see adopt_adapter)."""
        made = cls()
        await made.adopt_adapter(adapter)
        return made

    def __repr__(self) -> str:
        return (
            f"<tabgpu backend {self.name()}, {'initialised' if self.is_initialized() else 'not initialised'}>"
        )


_shared: list[Backend] = []


def default() -> Backend:
    """One Backend for all who ask for it."""
    if not _shared:
        _shared.append(Backend())
    return _shared[0]


__all__ = [
    "CONJ_TRANS", "NO_TRANS", "TRANS", "AliasedOutput", "Backend", "BackendError", "DoubleFree", "InvalidArgument",
    "NotInitialized", "OutOfMemory", "Overflow", "Runtime", "UndersizedBuffer", "UnknownHandle", "Unsupported",
    "default", "engines", "register_engine",
]  # fmt: skip
