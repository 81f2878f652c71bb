"""One open device: buffer ids and pool, pipelines, the command stream, counters, limits and errors."""

from __future__ import annotations

import json
from array import array
from functools import lru_cache
from itertools import count
from threading import RLock
from time import perf_counter
from typing import Any

from . import bridge
from .config import OWN_LIMITS, Config
from .errors import (
    DeviceLostError,
    GPUInternalError,
    LimitError,
    OutOfMemoryError,
    TabgpuError,
    TracingError,
)
from .faults import Faults, again
from .graph import NO_GUARDS, Buffer, Guard, Op, nbytes_of
from .launch import Launch
from .pipelines import Pipelines

can_suspend, run_sync, start, join = bridge.can_suspend, bridge.run_sync, bridge.start, bridge.join
typed_array, blank = bridge.typed_array, bridge.blank
ALLOC, FREE, DISPATCH, BASE = 1, 2, 3, 5
READ_CHUNK = 64 << 20
_generations = count(1)
one_thread = (
    RLock()
)  # held from planning to submit, and by uploads: on the native host several threads may compute


async def open_device(config: Config, given: Any = None) -> Device:
    """A new device on the page's adapter (or on a JavaScript GPUDevice that the page made)."""
    wanted = {k: v for k, v in config.limits.items() if k not in OWN_LIMITS}
    opened, about = await bridge.open_device(wanted, config.power_preference, given)
    try:
        return Device(opened, about, config)
    except ValueError:
        opened.close()
        raise


class Counters:
    """What the device did since it was opened; tests assert on these."""

    __slots__ = (
        "bytes_read",
        "bytes_uploaded",
        "crossings",
        "evaluated",
        "launches",
        "operations",
        "pipelines",
        "reads",
        "submits",
    )

    def __init__(self) -> None:
        self.launches = self.crossings = self.pipelines = self.submits = self.reads = 0
        self.bytes_uploaded = self.bytes_read = self.evaluated = self.operations = 0

    def as_dict(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__slots__}


@lru_cache(4096)
def size_class(nbytes: int) -> int:
    """The allocation size for a request: at most 12.5 % more, in steps of 256 bytes."""
    step = 1 << max(8, (nbytes - 1).bit_length() - 4)
    return max(step, -(-nbytes // step) * step)


class Device(Faults, Pipelines):
    """An adapter's device behind the bridge. All sizes in bytes."""

    def __init__(self, opened: Any, about: dict[str, Any], config: Config) -> None:
        Faults.__init__(self)
        Pipelines.__init__(self)
        self.js = opened
        self.config = config
        self.generation = next(_generations)
        self.info = {k: about[k] for k in ("vendor", "architecture", "device", "description")}
        self.fallback: bool = about["fallback"]
        self.features = frozenset(about["features"])
        self.subgroups: tuple[int, int] = (0, 0)  # lanes, least and most
        if "subgroups" in self.features:
            self.subgroups = about["subgroups"][0], about["subgroups"][1]
        self.limits: dict[str, int] = {k: int(v) for k, v in about["limits"].items()}
        for name, value in config.limits.items():
            if name in OWN_LIMITS:
                self.limits[name] = value
            elif name not in self.limits:
                raise ValueError(
                    f"init: {name!r} is no WebGPU limit; known: {', '.join([*self.limits, *OWN_LIMITS])}"
                )
            else:  # also holds what a device cannot be asked to lower
                self.limits[name] = min(self.limits[name], value)
        self.limits.setdefault("maxFusedBuffers", self.limits["maxStorageBuffersPerShaderStage"])
        self.limits["maxFusedBuffers"] = min(
            self.limits["maxFusedBuffers"], self.limits["maxStorageBuffersPerShaderStage"]
        )
        self.binding_limit = min(self.limits["maxStorageBufferBindingSize"] & ~255, (1 << 32) - 256)
        self.buffer_limit = self.limits["maxBufferSize"] & ~255
        by_default = min(2 << 30, max(256 << 20, self.buffer_limit // 2))
        self.pool_limit = by_default if config.pool_bytes is None else config.pool_bytes
        self.software = self.fallback or "swiftshader" in json.dumps(self.info).lower()
        self.lost = ""
        self.facts: Any = None  # the planner's digest of the limits
        self.programs: Any = None  # what was planned before
        self.recorder: Any = None  # listens while somebody profiles
        self.pool_hits = self.pool_misses = 0
        self.seconds = {"upload": 0.0, "read": 0.0, "compile": 0.0}  # of the host
        self.tuning: str = about.get("tuning", "")  # what `tg.tune()` kept, here or elsewhere
        self.counters = Counters()
        self.serial = 0
        self._ids = count(1)
        self._pool: dict[int, list[int]] = {}
        self._recent: dict[int, None] = {}  # size classes, the one used last at the end
        self._to_free: list[int] = []
        self._spoiled: set[int] = set()
        self._words = array("I")  # commands that were not submitted yet
        self._params = array("I")
        self._base = 0  # what the commands' parameter offsets count from, bytes
        self.unsent = 0  # launches among them
        self.weight = 0  # what they cost, in elements, where somebody said so
        self.step = max(64, self.limits["minUniformBufferOffsetAlignment"] // 4)
        self._stream = array("I")
        self._reads_words = bridge.in_browser()
        self._closed = False
        self.live_bytes = self.peak_bytes = self.pooled_bytes = 0

    @property
    def name(self) -> str:
        parts = dict.fromkeys(p for p in self.info.values() if p)
        return " ".join(parts) or "unnamed adapter"

    def __repr__(self) -> str:
        state = f"lost: {self.lost}" if self.lost else "open"
        return f"<tabgpu device {self.generation}: {self.name}, {state}>"

    # --- memory -------------------------------------------------------------------------------------------------

    def allocate(self, nbytes: int, what: str) -> Buffer:
        """A Buffer of at least nbytes; a new one is made by the submit that comes next."""
        asked = size_class(max(nbytes, 16) + 15 & ~15)
        if asked > min(self.binding_limit, self.buffer_limit):
            asked = nbytes + 15 & ~15
        if asked > self.buffer_limit:
            raise LimitError(
                f"{what}: needs {nbytes:,} bytes, the device's maxBufferSize is {self.buffer_limit:,}"
            )
        limit = self.config.memory_limit
        if limit is not None and self.live_bytes + asked > limit:
            raise OutOfMemoryError(
                f"{what}: asked for {nbytes:,} bytes, {self.live_bytes:,} are live, memory_limit is {limit:,}"
            )
        free = self._pool.get(asked)
        ident = free.pop() if free else 0  # in one go: a garbage collection may release and evict at any time
        if ident:
            self._recent.pop(asked, None)
            self._recent[asked] = None
            self.pooled_bytes -= asked
            self.pool_hits += 1
        else:
            self.pool_misses += 1
            ident = next(self._ids)
            self._words.extend((ALLOC, ident, asked))
            self._fresh.setdefault(self.serial + 1, {})[ident] = asked
        self.live_bytes += asked
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)
        return Buffer(self, ident, nbytes, asked)

    def take(self, nbytes: int, asked: int, what: str) -> Buffer:
        """allocate() of what is a size class already, quickly where the pool has it."""
        free = self._pool.get(asked)
        ident = free.pop() if free and self.config.memory_limit is None else 0
        if not ident:
            return self.allocate(nbytes, what)
        recent = self._recent
        if next(reversed(recent), None) != asked:
            recent.pop(asked, None)
            recent[asked] = None
        self.pool_hits += 1
        self.pooled_bytes -= asked
        self.live_bytes = live = self.live_bytes + asked
        if live > self.peak_bytes:  # noqa: PLR1730  # a call costs more
            self.peak_bytes = live
        return Buffer(self, ident, nbytes, asked)

    def release(self, ident: int, size: int) -> None:
        """A Buffer died (any time, also inside garbage collection: only lists are touched)."""
        self.live_bytes -= size
        if self.lost:
            return
        if ident in self._spoiled or size > self.pool_limit:
            self._to_free.append(ident)
            return
        self.pooled_bytes += size
        self._pool.setdefault(size, []).append(ident)
        self._recent.pop(size, None)
        self._recent[size] = None
        if self.pooled_bytes > self.pool_limit:
            self._evict()

    def discard(self, buffers: list[Buffer]) -> None:
        """These go back to the device, not to the pool, once nobody holds them."""
        self._spoiled.update(b.id for b in buffers)

    def _evict(self) -> None:
        """Frees pooled memory down to the limit, sizes not used for long first."""
        for size in list(self._recent):
            ids = self._pool.get(size, [])
            while ids and self.pooled_bytes > self.pool_limit:
                self._to_free.append(ids.pop())
                self.pooled_bytes -= size
            if self.pooled_bytes <= self.pool_limit:
                return

    def trim(self) -> None:
        """Gives the pool's memory back to the device."""
        pool, self._pool, self.pooled_bytes = self._pool, {}, 0
        for ids in pool.values():
            self._to_free += ids
        with one_thread:
            self.submit()
        self.js.trim()
        self.counters.crossings += 1

    def memory(self) -> dict[str, int]:
        return {
            "live_bytes": self.live_bytes, "pooled_bytes": self.pooled_bytes, "peak_bytes": self.peak_bytes,
            "pool_limit": self.pool_limit, **self.counters.as_dict(),
        }  # fmt: skip

    # --- work ---------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """DeviceLostError if this device is gone."""
        if self.lost:
            raise DeviceLostError(f"{self!r}; `await tg.init()` opens a new one")

    def check_owner(self, buffer: Buffer) -> None:
        if buffer.device is not self:
            raise DeviceLostError(
                f"an array of {buffer.device!r} cannot be used on {self!r}: read it before, or make it anew"
            )

    def upload(self, memory: Any, nbytes: int, what: str) -> Buffer:
        """A Buffer with a copy of the host memory (a contiguous bytes-like object), one crossing."""
        self.check()
        with one_thread:
            self.submit()  # what waits in the stream may still read memory that is free by now
            held, self._words = self._words, array("I")
            try:
                buffer = self.allocate(nbytes, what)
                made = self._words
            finally:
                self._words = held
            self.serial += 1
            buffer.serial = self.serial
            begin = perf_counter()
            try:
                self.js.upload(self.serial, buffer.id, made[2] if made else 0, memory)
            except BaseException:
                self._spoiled.add(buffer.id)
                raise
        self.counters.crossings += 1
        self.counters.bytes_uploaded += nbytes
        self.seconds["upload"] += perf_counter() - begin
        return buffer

    def extend(self, words: array[int], params: array[int], launches: int) -> None:
        """Adds a program's commands, whose first two words are BASE and where its parameters begin."""
        self._base = words[1] = 4 * len(self._params)
        self._words += words
        self._params += params
        self.unsent += launches
        self.counters.launches += launches

    def append(self, launch: Launch) -> None:
        """Adds one launch to the stream, allocating what it writes."""
        kernel = launch.kernel
        if not kernel.access:  # nothing to run, but memory to have
            for op in launch.writes:
                if launch.adopts is not None:  # or to go on with
                    self._adopt(launch.adopts, op)
                else:
                    op.buffer = self.allocate(nbytes_of(op), kernel.label)
            return
        ident = self._pipelines.get(kernel) or self.pipeline(kernel)
        kernel.used = self.serial
        serial, confirmed = self.serial + 1, self.confirmed
        bindings: list[int] = []
        windows = launch.windows
        guards = NO_GUARDS
        if launch.adopts is not None:
            guards = self._adopt(launch.adopts, launch.writes[0])
        k = 0
        for op in launch.reads:
            buffer = op.buffer
            if buffer is None:
                raise TracingError(f"{kernel.label} reads a value that was not computed")
            if buffer.device is not self:
                self.check_owner(buffer)
            if buffer.serial > confirmed or buffer.serial in self.failed:
                self.depends_on(buffer.serial)
            if buffer.guards is not guards:
                guards = guards | buffer.guards if guards else buffer.guards
            bindings += (buffer.id, *windows[k]) if windows else (buffer.id, 0, 0)
            k += 1
        for op in launch.writes:
            buffer = op.buffer
            if buffer is None:
                buffer = op.buffer = self.allocate(nbytes_of(op), kernel.label)
            buffer.serial = serial
            buffer.guards = buffer.guards | guards if buffer.guards else guards
            bindings += (buffer.id, *windows[k]) if windows else (buffer.id, 0, 0)
            k += 1
        params = self._params
        head = (DISPATCH, ident, *launch.grid, 4 * len(params) - self._base, k)
        self._words.extend((*head, *bindings))
        params.extend(launch.words)
        params.frombytes(bytes(4 * (-len(params) % self.step)))
        self.unsent += 1
        self.counters.launches += 1
        if self.recorder is not None:
            self.recorder.launched(launch)

    def _adopt(self, old: Op, new: Op) -> frozenset[Guard]:
        """Gives one value's memory to the value that replaces it in place."""
        buffer = old.buffer
        assert buffer is not None and new.buffer is None
        self.check_owner(buffer)
        if buffer.serial > self.confirmed or buffer.serial in self.failed:
            self.depends_on(buffer.serial)
        new.buffer = buffer
        return buffer.guards

    def submit(self) -> None:
        """Sends the stream, if there is one: one crossing, one encoder, one submit."""
        words = self._words
        if self._to_free:
            free, self._to_free = self._to_free, []
            for ident in free:
                words.extend((FREE, ident))
            self._spoiled.difference_update(free)
        if not words or self.lost:
            self._clear()
            return
        self.serial += 1
        self._sources.discard(self.serial)
        if self._sources:
            self._reads_from[self.serial], self._sources = self._sources, set()
        commands = len(words)
        words += self._params
        n = len(words)
        if n > len(
            self._stream
        ):  # JavaScript holds on to this memory, so that a submit hands over numbers only
            self._stream = array("I", bytes(4 * max(8192, 2 * n)))
            self.js.attach(memoryview(self._stream))
        self._stream[:n] = words
        self._clear()
        try:
            self.js.submit(self.serial, commands, n, self.serial in self._fresh)
        except Exception as error:  # JavaScript's: nothing of the submit ran
            self._fail(self.serial, GPUInternalError(f"submit {self.serial} was refused: {error}"))
        self.counters.crossings += 1
        self.counters.submits += 1
        self._bound()

    def _send(self) -> None:
        """What programs left in the stream."""
        if self.unsent:
            with one_thread:
                self.submit()

    def _clear(self) -> None:
        self._words, self._params = array("I"), array("I")
        self._base = self.unsent = self.weight = 0

    def abandon(self, error: BaseException) -> None:
        """Forgets a stream that could not be finished: what it should have written has failed, ids were never made."""
        self.serial += 1
        self.failed[self.serial] = (
            error if isinstance(error, TabgpuError) else GPUInternalError(f"interrupted: {error!r}")
        )
        self._spoiled.update(self._fresh.pop(self.serial, {}))
        self._sources.clear()
        self._clear()

    # --- waiting ------------------------------------------------------------------------------------------------

    async def guard(self, promise: Any) -> Any:
        """Awaits what the bridge promised; a lost device becomes DeviceLostError."""
        try:
            return await promise
        except bridge.js_exception() as error:
            reason = str(self.js.lostReason)
            if reason:
                self.lost = self.lost or reason
                self.check()
            raise GPUInternalError(str(error)) from None

    async def read(self, ranges: list[tuple[Buffer, int, int]], target: Any) -> None:
        """Copies (buffer, byte offset, bytes) ranges, all multiples of 4, packed into target; raises their errors."""
        self.check()
        self._send()
        request = array("I")
        total = 0
        for buffer, offset, n in ranges:
            self.check_owner(buffer)
            self.raise_for(buffer)
            request.extend((buffer.id, offset, n))
            total += n
        self.counters.crossings += 1
        self.counters.reads += 1
        self.counters.bytes_read += total
        serial = self.serial
        begin = perf_counter()
        if total == 4 and self._reads_words:  # a scalar: no memory to hand over
            answer = await self.guard(bridge.ask(self.js, "readWord", buffer.id, offset))
            report = answer if isinstance(answer, str) else ""
            word = json.loads(report).get("word", 0) if report else answer
            target[:4] = int(word).to_bytes(4, "little")
        else:
            memory = memoryview(target).cast("B")
            report = await self.guard(bridge.ask(self.js, "read", memoryview(request), memory, READ_CHUNK))
        self.seconds["read"] += perf_counter() - begin
        number = self._absorb(report, serial)
        for buffer, _, _ in ranges:
            self.raise_for(buffer)
        if number in self._read_failed:
            raise self._read_failed.pop(number)

    async def wait(self) -> None:
        """Until all work in the stream is done; raises errors that nobody has been told of."""
        self.check()
        self._send()
        serial = self.serial
        self.counters.crossings += 1
        report = await self.guard(bridge.ask(self.js, "wait"))
        self._absorb(report, serial)
        if self._unseen:
            raise again(self._unseen.pop(0))

    def close(self) -> None:
        """Destroys the device; its arrays raise DeviceLostError from now on."""
        self.lost = self.lost or "closed"
        if not self._closed:
            self._closed = True
            self.js.close()
