"""Typed options: those of a device, which `await tg.init(...)` sets, and those of the process, which `set` sets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields

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


@dataclass
class Options:
    """What `tg.config.set(...)` sets, for the whole process. TABGPU_NARROW64=1 in the environment sets it at import.

    narrow64: a 64-bit dtype that is asked for by name (`dtype=xp.float64`, `astype(xp.int64)`) means its 32-bit
    twin, as in JAX, instead of TypeError. Libraries such as scikit-learn compute in the widest float that has a name.
    """

    narrow64: bool = os.environ.get("TABGPU_NARROW64", "") not in ("", "0")


options = Options()


def set(**changes: bool) -> None:
    """Set options by name: `tg.config.set(narrow64=True)`. TypeError for an unknown name or another type of value."""
    for name, value in changes.items():
        known = [f.name for f in fields(Options)]
        if name not in known:
            raise TypeError(f"config: there is no option {name!r}; the options are {', '.join(known)}")
        if not isinstance(value, bool):
            raise TypeError(f"config: {name} is True or False, not {value!r}")
    for name, value in changes.items():
        setattr(options, name, value)


@contextmanager
def using(**changes: bool) -> Iterator[None]:
    """`with tg.config.using(narrow64=True):` sets options for a block; tasks that run meanwhile see them too."""
    before = {f.name: getattr(options, f.name) for f in fields(Options)}
    set(**changes)
    try:
        yield
    finally:
        set(**before)
