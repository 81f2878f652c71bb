"""Opening the device and asking about it: init, device, memory, trim."""

from __future__ import annotations

from typing import Any

from . import engine
from .config import Config


class DeviceInfo:
    """What `tg.device()` tells: `info`, `name`, `features`, `limits`, `counters`, `software`, `lost`."""

    __slots__ = ("_device",)

    def __init__(self, device: engine.Device) -> None:
        self._device = device

    @property
    def name(self) -> str:
        """The adapter's vendor, architecture and description."""
        return self._device.name

    @property
    def info(self) -> dict[str, str]:
        """WebGPU's adapter info."""
        return dict(self._device.info)

    @property
    def features(self) -> frozenset[str]:
        """WebGPU features in use."""
        return self._device.features

    @property
    def limits(self) -> dict[str, int]:
        """WebGPU limits, as lowered by `init(limits=...)`, and `maxFusedBuffers`."""
        return dict(self._device.limits)

    @property
    def software(self) -> bool:
        """Whether the adapter computes on the CPU (SwiftShader)."""
        return self._device.software

    @property
    def lost(self) -> str:
        """Why the device is gone; empty while it works."""
        return self._device.lost or str(self._device.js.lostReason)

    @property
    def counters(self) -> Any:
        """launches, crossings, pipelines, submits, reads, bytes_read, bytes_uploaded, evaluated so far."""
        return self._device.counters

    @property
    def js(self) -> Any:
        """The JavaScript GPUDevice."""
        return self._device.js.device

    def __repr__(self) -> str:
        return repr(self._device)


async def init(
    *, limits: dict[str, int] | None = None, fuse: bool = True, pool_bytes: int | None = None,
    memory_limit: int | None = None, power_preference: str = "high-performance", device: Any = None,
) -> DeviceInfo:  # fmt: skip
    """Opens the GPU device; a second call closes the old one and opens another. `await tg.init()`.

    limits: WebGPU limits to lower (never raise), or `maxFusedBuffers`, the buffers a generated kernel may bind.
    fuse=False: every operation is a launch of its own. pool_bytes: free GPU memory kept for reuse (by
    default half of maxBufferSize, between 256 MiB and 2 GiB). memory_limit: bytes
    of live arrays above which OutOfMemoryError is raised. device: a page's own JavaScript GPUDevice to work on.
    What `tg.tune()` kept for this adapter is found and used. Raises NoAdapterError (what to enable) where there is no
    WebGPU. Optional where Python can suspend (JSPI).
    """
    config = Config(fuse, dict(limits or {}), pool_bytes, memory_limit, power_preference)
    return DeviceInfo(await engine.open_new(config, device))


def device() -> DeviceInfo:
    """The open device; NotInitializedError if there is none."""
    return DeviceInfo(engine.device())


def memory() -> dict[str, int]:
    """Bytes live, pooled and at the peak, and counters of launches, crossings, pipelines, submits, reads and bytes."""
    return engine.device().memory()


def trim() -> None:
    """Gives pooled GPU memory back."""
    engine.device().trim()
