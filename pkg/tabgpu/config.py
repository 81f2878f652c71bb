"""Typed options of a device; `await tg.init(...)` sets them."""

from __future__ import annotations

from dataclasses import dataclass, field

# Names of our own beside WebGPU's limits; all of them may only lower what the device has.
OWN_LIMITS = ("maxFusedBuffers",)


@dataclass(frozen=True)
class Config:
    """What `init` was told.

    fuse: False puts every operation in a launch of its own. limits: WebGPU limit names (and `maxFusedBuffers`, storage
    buffers a generated kernel may use) with lower values. pool_bytes: free GPU memory kept for reuse (None: half of
    maxBufferSize, between 256 MiB and 2 GiB). memory_limit:
    bytes of live arrays after which allocation raises OutOfMemoryError (None: only the device's own answer).
    """

    fuse: bool = True
    limits: dict[str, int] = field(default_factory=dict)
    pool_bytes: int | None = None
    memory_limit: int | None = None
    power_preference: str = "high-performance"

    def __post_init__(self) -> None:
        """Refuses what could only fail later, far from the call."""
        for name, value in self.limits.items():
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"init: limits: {name} must be a positive integer, not {value!r}")
        for name in ("pool_bytes", "memory_limit"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 0):
                raise ValueError(f"init: {name} must be None or a number of bytes, not {value!r}")
