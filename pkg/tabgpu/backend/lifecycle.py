"""Opening, memory, queries: what a Backend does besides computing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from math import prod
from typing import Any

from .. import bridge, engine, runtime
from ..array import Array, named
from ..device import Device
from ..dtypes import as_dtype, uint8, uint32
from ..kernels import gemm_tiles
from ..layout import Layout
from ..ops.convert import from_host
from ..ops.creation import copy_of
from . import table
from .calls import Calls
from .errors import InvalidArgument, UndersizedBuffer, Unsupported

ENGINE = "webgpu"
_engines: dict[str, Callable[[], Any]] = {}


class Runtime:
    """The device that a Backend works on. Equal for all on one device, another after `tg.init()` opened a new one."""

    __slots__ = ("device",)

    def __init__(self, device: Device) -> None:
        self.device = device

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Runtime) and other.device is self.device

    def __hash__(self) -> int:
        return hash(id(self.device))

    def __repr__(self) -> str:
        return f"<runtime of {self.device!r}>"


class Lifecycle(Calls):
    """See the first line; `Backend` says what it all is."""

    # --- opening --------------------------------------------------------------------------------------------------

    def name(self) -> str:
        """The engine's name: webgpu."""
        return ENGINE

    def is_initialized(self) -> bool:
        """Whether `init` was called and its device works."""
        return self._gpu is not None and not self._gpu.lost

    async def init(self, **options: Any) -> None:
        """Works on the device that arrays use; opens it if there is none (with the options of `tg.init`). Again:
        nothing. NoAdapterError where there is no WebGPU."""
        if self.is_initialized() and self._gpu is engine.current():
            return
        gpu = engine.current()
        if gpu is None or gpu.lost or options:
            await runtime.init(**options)
            gpu = engine.current()
        self._gpu = gpu

    async def init_from_canvas(self, canvas_id: str) -> None:
        """As init: computing needs no canvas, so its id is not looked at."""
        await self.init()

    @staticmethod
    async def request_adapter(power_preference: str = "high-performance") -> Any:
        """WebGPU's adapter object (JavaScript's GPUAdapter, or wgpu's), for `from_adapter`; NoAdapterError."""
        return await bridge.request_adapter(power_preference)

    async def adopt_adapter(self, adapter: Any) -> None:
        """Opens a device of an adapter, with its own limits, as the device of arrays too: arrays and handles of the one
        before are gone. The device belongs to the caller: `backend.runtime().device.js.device.destroy()`."""
        await runtime.init(device=await bridge.device_of(adapter))
        self._gpu = engine.current()

    @staticmethod
    async def webgpu_available() -> bool:
        """Whether there is an adapter; opens nothing."""
        from ..errors import NoAdapterError

        try:
            await bridge.request_adapter("high-performance")
        except NoAdapterError:
            return False
        return True

    def runtime(self) -> Runtime:
        """What the backend works on, for `from_runtime` of another; `==` says whether two are the same."""
        return Runtime(self._device())

    runtime_identity = runtime

    # --- memory ---------------------------------------------------------------------------------------------------

    def alloc(self, nbytes: int) -> int:
        """A new handle of nbytes (in whole words of 4) that nothing was written to. OutOfMemory, InvalidArgument
        for 0."""
        return table.allocate(self._device(), nbytes)

    def free(self, handle: int) -> None:
        """Gives a handle's memory back; work that was recorded before still has it. UnknownHandle, DoubleFree."""
        self._device()
        table.release(handle)

    reclaim_buffer = free

    def copy_htod(self, dst: int, src: Any) -> None:
        """Copies host memory (bytes, a NumPy array, JavaScript's typed array) over the first bytes of a handle's; what
        lies behind stays."""
        self._device()
        table.upload(dst, src)

    async def copy_dtoh(self, dst: Any, src: int) -> Any:
        """Reads the first bytes of a handle's memory: as many as `dst`, writable host memory, has (it is returned),
        or, if dst is a number, so many, as bytes. Only these are moved. UndersizedBuffer for more than there
        are."""
        self._device()
        if isinstance(dst, int):
            return bytes(await table.download(src, 0, dst, "copy_dtoh"))
        held = memoryview(dst)
        if held.readonly or not held.c_contiguous:
            raise InvalidArgument("copy_dtoh: dst is no writable contiguous memory")
        held.cast("B")[:] = await table.download(src, 0, held.nbytes, "copy_dtoh")
        return dst

    copy_dtoh_async = copy_dtoh

    async def map_read(
        self, handle: int, offset: int = 0, nbytes: int | None = None, *, itemsize: int = 1
    ) -> memoryview:
        """The bytes of a span of a handle's memory, a copy of its own. offset and nbytes are multiples of itemsize."""
        self._device()
        n = self._span("map_read", handle, offset, nbytes, itemsize)
        return await table.download(handle, offset, n, "map_read")

    @asynccontextmanager
    async def map_write(
        self, handle: int, offset: int = 0, nbytes: int | None = None, *, itemsize: int = 1
    ) -> AsyncIterator[memoryview]:
        """`async with backend.map_write(h, offset, nbytes) as view:` zeroed host memory that replaces the span at
        the end of the block (not if it raises)."""
        self._device()
        n = self._span("map_write", handle, offset, nbytes, itemsize)
        data = bytearray(n)
        yield memoryview(data)
        memory = table.entry(handle, "map_write")
        if offset == 0:
            table.upload(handle, data)
            return
        words = offset % 4 == 0 and n % 4 == 0
        dtype, each = (uint32, 4) if words else (uint8, 1)
        value = named(engine.upload(data, dtype, (n // each,), "map_write"))
        memory.write(value, Layout((n // each,), (1,), offset // each))

    def _span(self, where: str, handle: int, offset: int, nbytes: int | None, itemsize: int) -> int:
        memory = table.entry(handle, where)
        table.u32(where, offset=offset, itemsize=itemsize)
        n = memory.size - offset if nbytes is None else nbytes
        if offset > memory.size or (nbytes is not None and (nbytes < 0 or offset + nbytes > memory.size)):
            raise UndersizedBuffer(
                f"{where}: {n:,} bytes from {offset:,} on of handle {handle}, which has {memory.size:,}"
            )
        if itemsize < 1 or offset % itemsize or n % itemsize:
            raise InvalidArgument(
                f"{where}: offset {offset} and {n} bytes are no multiples of itemsize {itemsize}"
            )
        return n

    async def synchronize(self) -> None:
        """Waits for all work and raises errors that nobody was told of."""
        self._device()
        await engine.wait()

    # --- tensors over handles -------------------------------------------------------------------------------------

    def allocate(self, dtype: Any, shape: Any) -> int:
        """A handle with room for an array of a shape."""
        want, dims = as_dtype(dtype), table.extents("allocate", "shape", shape)
        return self.alloc(max(1, prod(dims)) * want.itemsize)

    def upload_host_tensor(self, values: Any) -> int:
        """A handle with the elements of a host array, row-major, in their dtype (64-bit ones as tg.asarray has
        them)."""
        self._device()
        if isinstance(values, Array):
            raise InvalidArgument("upload_host_tensor: this is on the GPU already; use from_array")
        return self.from_array(from_host(values, "upload_host_tensor"))

    async def download_to_host(self, handle: int, dtype: Any, shape: Any) -> Any:
        """A NumPy array of what a handle holds."""
        return await self.as_array(handle, dtype, shape).numpy()

    def from_array(self, array: Array) -> int:
        """A handle with an array's elements, row-major: a copy, which costs nothing before one of both is written
        to."""
        gpu = self._device()
        handle = table.allocate(gpu, max(1, array.size) * array.dtype.itemsize)
        table.entry(handle, "from_array").write(copy_of(array))
        return handle

    def as_array(self, handle: int, dtype: Any, shape: Any) -> Array:
        """An array of what a handle holds now; later writes to the handle do not show in it."""
        self._device()
        want, dims = as_dtype(dtype), table.extents("as_array", "shape", shape)
        flat = table.reading("as_array", "handle", handle, prod(dims), want)
        return copy_of(table.shaped(flat, dims))

    # --- queries --------------------------------------------------------------------------------------------------

    def supports_f16(self) -> bool:
        """Whether gemm_f16 works: once there is a device, since halves are decoded where it lacks shader-f16."""
        return self.is_initialized()

    def capabilities(self) -> dict[str, Any]:
        """The adapter's own numbers: name, software, features, limits, matrix_units, subgroups, f16 (native)."""
        gpu = self._device()
        return {
            "name": gpu.name, "software": gpu.software, "features": sorted(gpu.features), "limits": dict(gpu.limits),
            "matrix_units": [f for f in sorted(gpu.features) if f.startswith("matrix-")], "subgroups": gpu.subgroups,
            "f16": "shader-f16" in gpu.features, "max_alloc": min(gpu.buffer_limit, gpu.binding_limit),
        }  # fmt: skip

    @staticmethod
    async def available_devices() -> list[dict[str, str]]:
        """What the browser offers, for each of its two power preferences, each adapter once."""
        found: list[dict[str, str]] = []
        for power in ("high-performance", "low-power"):
            about = bridge.about(await bridge.request_adapter(power))
            if about not in found:
                found.append(about)
        return found

    def recommended_tile_for(
        self, m: int, n: int, k: int, batch: int = 1, dtype: Any = "float32"
    ) -> tuple[int, int, int]:
        """(rows, columns, depth) of the block that a workgroup computes of a product of these sizes on this device; for
        few rows or columns, where it takes the whole depth, (1, 1, k)."""
        table.u32("recommended_tile_for", m=m, n=n, k=k, batch=batch)
        gpu = self._device()
        if not min(m, n, k, batch):
            raise InvalidArgument(f"recommended_tile_for: {m} x {k} times {k} x {n}, {batch} times, is empty")
        want = as_dtype(dtype)
        if want.kind != "f":
            raise Unsupported(f"recommended_tile_for: products of {want.name}; the backend's are of floats")
        half = want.name if want.itemsize == 2 else ""
        a, b = (gemm_tiles.Side((0, 0, 0, width, 1), 0, half) for width in (k, n))
        found = gemm_tiles.choose(
            m, n, k, batch, a, b, gpu.limits, gpu.software, features=gpu.features
        ).params
        return found.get("BM", 1), found.get("BN", 1), found.get("BK", k)

    def hardware_class(self) -> str:
        """gpu, or cpu where a software adapter computes."""
        return "cpu" if self._device().software else "gpu"


def register_engine(name: str, make: Callable[[], Any]) -> None:
    """Lets programs that choose engines by name find this one, or theirs; InvalidArgument for a name that is taken."""
    if not name or not callable(make):
        raise InvalidArgument(f"register_engine: {name!r} needs a name and a function that makes the engine")
    if name in _engines:
        raise InvalidArgument(f"register_engine: {name!r} is registered")
    _engines[name] = make


def engines() -> Mapping[str, Callable[[], Any]]:
    """What was registered, by name."""
    return dict(_engines)


__all__ = ["Lifecycle", "Runtime", "engines", "register_engine"]
