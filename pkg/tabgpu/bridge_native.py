"""The verbs of bridge.js on wgpu-native, for CPython on a desktop. How calls wait there is in native_waiting.py."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

from . import native_waiting
from .errors import NoAdapterError
from .native_adapter import DRIVER, adapter

ALLOC, FREE, DISPATCH, BASE = 1, 2, 3, 5
WINDOW = 4096
MAX_BIND_GROUPS = 8192
MAX_STAGING = 4
MAX_STAGED = 64 << 20  # bytes
PATIENCE = 0.2  # seconds after which a wait looks whether the device is still there
FEATURES = {"shader-f16": "shader-f16", "subgroup": "subgroups", "timestamp-query": "timestamp-query"}
STORAGE = {"r": "read-only-storage", "w": "storage"}


class HostError(RuntimeError):
    """What a promise of bridge.js would be rejected with."""


def camel(name: str) -> str:
    first, *rest = name.split("-")
    return first + "".join(part.capitalize() for part in rest)


def open_device(limits: dict[str, int], power: str, given: Any) -> Bridge:
    """A Bridge on a new device with the adapter's own limits (lowered by `limits`), or on a given wgpu.GPUDevice."""
    if given is not None:
        return Bridge(given)
    return Bridge(device_of(adapter(power), limits))


def device_of(chosen: Any, limits: dict[str, int]) -> Any:
    """A device with an adapter's own limits, lowered by `limits`."""
    wanted = {}
    for name, value in chosen.limits.items():
        asked = limits.get(camel(name)) if name.startswith("max") else None
        wanted[name] = value if asked is None else min(value, asked)
    features = [name for name in FEATURES if name in chosen.features]
    try:
        return chosen.request_device_sync(label="tabgpu", required_limits=wanted, required_features=features)
    except Exception as error:
        raise NoAdapterError(f"the adapter gave no device: {error}. {DRIVER}") from None


class Bridge:
    """What bridge.js offers to device.py. wgpu raises where WebGPU has error scopes: faults are kept the same way."""

    def __init__(self, device: Any) -> None:
        import wgpu

        self.wgpu, self.device = wgpu, device
        self.buffers: dict[int, Any] = {}  # None: it could not be allocated
        self.lent: set[int] = set()  # which of these are somebody else's
        self.pipelines: dict[int, tuple[str, Any, Any]] = {}  # label, pipeline or None, layout of group 0
        self.layouts: dict[str, Any] = {}
        self.groups: dict[tuple[int, ...], Any] = {}
        self.groups_made = 0
        self.mentions: dict[int, set[tuple[int, ...]]] = {}  # the bind groups that mention a buffer
        self.broken: dict[int, str] = {}
        self.faults: list[dict[str, Any]] = []
        self.faults_so_far = self.reads = 0
        self.staging: list[Any] = []
        self.stream: Any = None
        self.uniform: Any = None
        self.window: Any = None
        self.clock: Any = None  # while somebody measures
        self._lost = ""
        kind = {"type": "uniform", "has_dynamic_offset": True, "min_binding_size": WINDOW}
        self.window_layout = self._layout("parameters", [kind])

    def describe(self) -> str:
        info, given = self.device.adapter.info, self.device
        about = {k: info.get(k, "") for k in ("vendor", "architecture", "device", "description")}
        limits = {camel(k): v for k, v in given.limits.items()}
        features = sorted(FEATURES[f] for f in given.features if f in FEATURES)
        sizes = [info.get(f"stackgroup_{m}_size") or d for m, d in (("min", 4), ("max", 128))]  # wgpu's name
        about["subgroups"] = sizes
        return json.dumps(
            about | {"fallback": info["adapter_type"] == "CPU", "features": features, "limits": limits}
        )

    # faults

    def fault(self, serial: int, kind: str, message: str) -> None:
        self.faults_so_far += 1
        self.faults.append({"number": self.faults_so_far, "serial": serial, "kind": kind, "message": message})

    def heard(self, number: int) -> None:
        self.faults = [f for f in self.faults if f["number"] > number]

    def scoped(self, serial: int, work: Callable[[], Any]) -> Any:
        """What work() gives, or None and a fault of submit `serial`."""
        try:
            return work()
        except self.wgpu.GPUError as error:
            text = str(error)
            if self._noticed_loss(text):
                return None
            kind = "internal" if isinstance(error, self.wgpu.GPUInternalError) else "validation"
            self.fault(
                serial, "out-of-memory" if isinstance(error, self.wgpu.GPUOutOfMemoryError) else kind, text
            )
            return None

    # loss: wgpu tells nobody of it, so that whoever waits asks now and then

    @property
    def lostReason(self) -> str:
        """Why the device is lost; empty while it works."""
        if not self._lost:
            try:
                self.device.create_buffer(size=16, usage=self.wgpu.BufferUsage.COPY_DST).destroy()
            except self.wgpu.GPUError as error:
                self._noticed_loss(str(error))
        return self._lost

    def _noticed_loss(self, text: str) -> bool:
        if "device is lost" in text.lower():
            self._lost = self._lost or f"unknown: {text.splitlines()[-1].strip()}"
        return bool(self._lost)

    def alive(self) -> None:
        if self._lost:
            raise HostError(f"lost {self._lost}")

    def _look(self, done: asyncio.Future[None]) -> None:
        if done.done():
            return
        if self.lostReason:
            done.set_exception(HostError(f"lost {self._lost}"))
        else:
            done.get_loop().call_later(PATIENCE, self._look, done)

    async def settled(self, promise: Any) -> None:
        """Waits for a promise of wgpu: blocking where a coroutine is driven by hand, else the event loop goes on."""
        if native_waiting.driving():
            while not promise._thread_event.wait(PATIENCE) and not self.lostReason:
                pass
            self.alive()
            promise.sync_wait()
            return
        loop = asyncio.get_running_loop()
        done = loop.create_future()

        def tell(error: Exception | None = None) -> None:
            if not done.done():
                done.set_exception(HostError(str(error))) if error else done.set_result(None)

        promise.then(lambda _: tell(), tell)
        loop.call_later(PATIENCE, self._look, done)
        await done

    def report(self, serial: int) -> str:
        self.alive()
        if not self.faults:
            return ""
        broken = [(self.pipelines[k][0], text) for k, text in self.broken.items()]
        return json.dumps({"faults": self.faults, "read": serial, "broken": broken})

    # memory

    def alloc(self, serial: int, ident: int, nbytes: int) -> None:
        usage = self.wgpu.BufferUsage
        flags = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
        label = f"buffer {ident}"
        make = self.device.create_buffer
        self.buffers[ident] = self.scoped(serial, lambda: make(label=label, size=nbytes, usage=flags))

    def held(self, ident: int) -> Any:
        buffer = self.buffers[ident]
        if buffer is None:
            raise self.wgpu.GPUValidationError(f'Invalid Buffer "buffer {ident}"')
        return buffer

    def free(self, ident: int) -> None:
        for key in self.mentions.pop(ident, ()):
            self.groups.pop(key, None)
        buffer = self.buffers.pop(ident, None)
        if buffer is not None and ident not in self.lent:
            buffer.destroy()
        self.lent.discard(ident)

    def lend(self, ident: int, buffer: Any) -> None:
        """Somebody's own buffer under an id of ours: it is never destroyed here."""
        self.buffers[ident] = buffer
        self.lent.add(ident)

    def copyIn(self, serial: int, ident: int, nbytes: int, source: Any, offset: int, size: int) -> None:
        """Copies bytes of such a buffer to one of ours (made here if nbytes is given)."""
        if nbytes:
            self.alloc(serial, ident, nbytes)

        def copy() -> None:
            encoder = self.device.create_command_encoder(label="copy")
            encoder.copy_buffer_to_buffer(source, offset, self.held(ident), 0, size)
            self.device.queue.submit([encoder.finish()])

        self.scoped(serial, copy)

    def upload(self, serial: int, ident: int, nbytes: int, memory: Any) -> None:
        if nbytes:
            self.alloc(serial, ident, nbytes)
        data = memoryview(memory)
        whole, rest = data.nbytes & ~3, data.nbytes & 3

        def write() -> None:
            if whole:
                self.device.queue.write_buffer(self.held(ident), 0, data, 0, whole)
            if rest:
                tail = bytes(data.cast("B")[whole:]) + bytes(4 - rest)
                self.device.queue.write_buffer(self.held(ident), whole, tail)

        self.scoped(serial, write)

    # pipelines

    def _layout(self, label: str, kinds: list[dict[str, Any]]) -> Any:
        stage = self.wgpu.ShaderStage.COMPUTE
        entries = [{"binding": k, "visibility": stage, "buffer": kind} for k, kind in enumerate(kinds)]
        return self.device.create_bind_group_layout(label=label, entries=entries)

    def pipeline(self, ident: int, label: str, code: str, access: str) -> None:
        """Makes a pipeline; what is wrong with it is kept in `broken` and spoils the submits that use it."""
        device = self.device
        self.pipelines[ident] = label, None, None
        try:
            layout = self.layouts.get(access)
            if layout is None:
                layout = self.layouts[access] = self._layout(access, [{"type": STORAGE[c]} for c in access])
            whole = device.create_pipeline_layout(bind_group_layouts=[layout, self.window_layout])
            module = device.create_shader_module(label=label, code=for_naga(code))
            compute = {"module": module, "entry_point": "main"}
            made = device.create_compute_pipeline(label=label, layout=whole, compute=compute)
            self.pipelines[ident] = label, made, layout
        except self.wgpu.GPUError as error:
            if not self._noticed_loss(str(error)):
                self.broken[ident] = explain(label, code, str(error))

    async def pipelineAsync(self, ident: int, label: str, code: str, access: str) -> str:
        """As pipeline (wgpu-native compiles synchronously only); "" or what is wrong with the kernel."""
        self.alive()
        self.pipeline(ident, label, code, access)
        self.alive()
        message = self.broken.pop(ident, "")
        if message:
            del self.pipelines[ident]
        return message

    async def diagnose(self, label: str, code: str) -> str:
        """What naga says of a module, as JSON: [kind, line, message] ..."""
        self.alive()
        try:
            self.device.create_shader_module(label=label, code=for_naga(code))
        except self.wgpu.GPUError as error:
            self._noticed_loss(str(error))
            self.alive()
            number, said = complaint(str(error))
            return json.dumps([["error", number, said]])
        return "[]"

    # work

    def drop(self, ident: int) -> None:
        """Forgets a pipeline that is not used any more."""
        self.pipelines.pop(ident, None)
        self.broken.pop(ident, None)
        for key in [key for key in self.groups if key[0] == ident]:
            del self.groups[key]
            for buffer in key[1::3]:
                self.mentions.get(buffer, set()).discard(key)

    def attach(self, memory: memoryview) -> None:
        self.stream = memory

    def submit(self, serial: int, commands: int, n: int, allocates: bool) -> None:
        """Runs the stream in one encoder and one submit; after the first thing that is wrong, only its memory."""
        words = self.stream[:n].tolist()
        freed, dispatches, at, base = [], [], 0, 0
        while at < commands:
            verb = words[at]
            if verb == DISPATCH:
                words[at + 5] += base
                dispatches.append(at)
                at += 7 + 3 * words[at + 6]
            elif verb == BASE:
                base = words[at + 1]
                at += 2
            elif verb == ALLOC:
                self.alloc(serial, words[at + 1], words[at + 2])
                at += 3
            elif verb == FREE:
                freed.append(words[at + 1])
                at += 2
            else:
                raise HostError(f"bad command {verb} at {at}")
        if dispatches:
            self.scoped(serial, lambda: self._run(serial, words, dispatches, self.stream[commands:n]))
        for ident in freed:
            self.free(ident)

    def _run(self, serial: int, words: list[int], dispatches: list[int], params: memoryview) -> None:
        device, queue = self.device, self.device.queue
        if params:
            self._parameters(params.nbytes + WINDOW)
            queue.write_buffer(self.uniform, 0, params)
        clock: Any = self.clock
        compute: Any = None
        encoder = device.create_command_encoder(label=f"submit {serial}")
        if clock is None:
            compute = encoder.begin_compute_pass()
        bound = 0
        for at in dispatches:
            ident, x, y, z, offset, n = words[at + 1 : at + 7]
            label, pipeline, layout = self.pipelines[ident]
            if pipeline is None:
                raise self.wgpu.GPUValidationError(f'Invalid ComputePipeline "{label}"')
            if clock is not None:
                if compute is not None:
                    compute.end()
                    encoder = clock.next(encoder, serial, self._idle)
                compute, bound = clock.begin(encoder, serial), 0
            if bound != ident:
                compute.set_pipeline(pipeline)
                bound = ident
            key = (ident, *words[at + 7 : at + 7 + 3 * n])
            compute.set_bind_group(0, self.groups.get(key) or self._group(key, layout))
            compute.set_bind_group(1, self.window, [offset])
            compute.dispatch_workgroups(x, y, z)
        compute.end()
        if clock is not None:
            encoder = clock.next(encoder, serial, self._idle)
        queue.submit([encoder.finish()])
        if clock is not None:
            clock.submitted()

    def _parameters(self, need: int) -> None:
        if self.uniform is None or self.uniform.size < need:
            if self.uniform is not None:
                self.uniform.destroy()
            size = max(1 << 16, 1 << (need - 1).bit_length())
            usage = self.wgpu.BufferUsage.UNIFORM | self.wgpu.BufferUsage.COPY_DST
            self.uniform = self.device.create_buffer(label="parameters", size=size, usage=usage)
            resource = {"buffer": self.uniform, "offset": 0, "size": WINDOW}
            entries = [{"binding": 0, "resource": resource}]
            self.window = self.device.create_bind_group(layout=self.window_layout, entries=entries)

    def _group(self, key: tuple[int, ...], layout: Any) -> Any:
        entries = []
        for k in range(1, len(key), 3):
            buffer = self.held(key[k])
            resource = {
                "buffer": buffer,
                "offset": key[k + 1],
                "size": key[k + 2] or buffer.size - key[k + 1],
            }
            entries.append({"binding": k // 3, "resource": resource})
        group = self.device.create_bind_group(layout=layout, entries=entries)
        if len(self.groups) >= MAX_BIND_GROUPS:
            oldest = next(iter(self.groups))
            del self.groups[oldest]
            for ident in oldest[1::3]:
                self.mentions.get(ident, set()).discard(oldest)
        self.groups[key] = group
        self.groups_made += 1
        for ident in key[1::3]:
            self.mentions.setdefault(ident, set()).add(key)
        return group

    # reads

    async def read(self, request: memoryview, target: memoryview, chunk: int) -> str:
        """Copies byte ranges of buffers, packed, into host memory, in bounded chunks; the faults so far, or ""."""
        self.reads += 1
        serial, words = -self.reads, list(request)
        parts: list[tuple[int, int, int]] = []  # buffer, begin, bytes: of one batch
        at = room = 0
        for ident, begin, left in zip(words[::3], words[1::3], words[2::3], strict=True):
            while left:
                n = min(left, chunk - room)
                parts.append((ident, begin, n))
                begin, left, room = begin + n, left - n, room + n
                if room == chunk:
                    await self._fetch(serial, parts, target[at : at + room])
                    parts, at, room = [], at + room, 0
        if parts:
            await self._fetch(serial, parts, target[at : at + room])
        return self.report(serial)

    async def _fetch(self, serial: int, parts: list[tuple[int, int, int]], target: memoryview) -> None:
        self.alive()
        total = target.nbytes
        staging = self.scoped(serial, lambda: self._copy(parts, total))
        if staging is None:
            return
        try:
            await self.settled(staging.map_async(self.wgpu.MapMode.READ, 0, total))
            target[:] = staging.read_mapped(0, total, copy=False)
            staging.unmap()
        except BaseException as error:  # cancelled, too: a buffer that may be mapped must not be used again
            staging.destroy()
            if isinstance(error, Exception):
                self._noticed_loss(str(error))
                raise HostError(str(error)) from None
            raise
        if (
            parts
            and len(self.staging) < MAX_STAGING
            and sum(b.size for b in self.staging) + staging.size <= MAX_STAGED
        ):
            self.staging.append(staging)
        else:
            staging.destroy()

    def _copy(self, parts: list[tuple[int, int, int]], total: int) -> Any:
        """A staging buffer that receives the parts of a batch."""
        fits = [k for k, b in enumerate(self.staging) if total <= b.size <= 4 * total + 65536]
        if fits:
            staging = self.staging.pop(fits[0])
        else:
            usage = self.wgpu.BufferUsage.MAP_READ | self.wgpu.BufferUsage.COPY_DST
            size = max(4096, 1 << (total - 1).bit_length())
            staging = self.device.create_buffer(label="staging", size=size, usage=usage)
        encoder, at = self.device.create_command_encoder(label="read"), 0
        for ident, begin, n in parts:
            encoder.copy_buffer_to_buffer(self.held(ident), begin, staging, at, n)
            at += n
        if not parts:
            encoder.clear_buffer(staging, 0, total)
        self.device.queue.submit([encoder.finish()])
        return staging

    async def wait(self) -> str:
        """Until the queue is empty: the last in it clears a buffer, which is then mapped."""
        await self._fetch(0, [], memoryview(bytearray(4)))
        return self.report(0)

    # time

    def timing(self, on: bool, precise: bool) -> str:
        """Times each launch from now on ("gpu": by timestamp queries, "host"), or no more ("")."""
        if self.clock is not None:
            self.clock.close()
        self.clock = None
        if on:
            from .native_clock import Clock

            self.clock = Clock(self.wgpu, self.device, precise and "timestamp-query" in self.device.features)
        return "" if self.clock is None else "gpu" if self.clock.precise else "host"

    def stats(self) -> str:
        """What is kept here, as JSON."""
        kept = {
            "bindGroups": len(self.groups),
            "bindGroupsMade": self.groups_made,
            "pipelines": len(self.pipelines),
        }
        return json.dumps(kept | {"staging": sum(b.size for b in self.staging)})

    def timed(self) -> int:
        """How many launches `timings` will tell of."""
        return 0 if self.clock is None else int(self.clock.count)

    async def timings(self, target: memoryview) -> None:
        """(serial, begin, end), u64 each, ns, of the launches timed so far, which are forgotten."""
        self.alive()
        try:
            found = memoryview(await self.clock.take(self.settled)).cast("B")
        except self.wgpu.GPUError as error:
            self._noticed_loss(str(error))
            raise HostError(str(error)) from None
        n = min(found.nbytes, target.nbytes)
        target[:n] = found[:n]

    def _idle(self) -> None:
        """Waits, blocking, until the queue is empty (wgpu 0.32's own call for that fails)."""
        staging = self._copy([], 4)
        promise = staging.map_async(self.wgpu.MapMode.READ, 0, 4)
        while not promise._thread_event.wait(PATIENCE) and not self.lostReason:
            pass
        staging.destroy()

    def trim(self) -> None:
        """Gives back the memory kept for reads."""
        while self.staging:
            self.staging.pop().destroy()

    def close(self) -> None:
        """Frees all memory and lets go of the device: a given one is its owner's to go on with."""
        self._lost = self._lost or "destroyed: closed"
        self.trim()
        for ident, buffer in [*self.buffers.items(), (0, self.uniform)]:
            if buffer is not None and ident not in self.lent:
                buffer.destroy()
        for kept in (self.buffers, self.pipelines, self.layouts, self.groups, self.mentions):
            kept.clear()
        self.device = self.window_layout = self.window = self.uniform = self.stream = None


def for_naga(code: str) -> str:
    """A text without the line that WGSL wants in front of subgroup functions, and naga refuses."""
    return code.replace("enable subgroups;", "", 1)


def explain(label: str, code: str, message: str) -> str:
    """What naga has against a kernel, with its label and the WGSL line."""
    number, said = complaint(message)
    if not number:
        return f"kernel {label}: {said}"
    lines = code.split("\n")
    for mark in range(number - 1, -1, -1):
        if lines[mark].startswith("//@"):  # lines of a user's (codegen_custom)
            if len(lines[mark]) > 4:
                text = lines[number - 1].rpartition("//= ")[2].strip()
                return f"kernel {lines[mark][4:]}, line {number - 1 - mark} of its WGSL: {said} | {text}"
            break
    return f"kernel {label}, WGSL line {number}: {said} | {lines[number - 1].strip()}"


def complaint(message: str) -> tuple[int, str]:
    """(line, text) of naga's message with its notes, in one line; line 0 where it names none. The line is what naga
    points at with ^^^, which lies inside of what it begins with."""
    found = re.search(r"error: (.*)\s*┌─ .*:(\d+):\d+", message)
    if found is None:
        return 0, " ".join(message.split())
    inside = re.findall(r"^ *(\d+) │[^\n]*\n *│[ │]*\^", message, re.MULTILINE)
    notes = (x.strip() for x in re.findall(r"^ *= (.*)$", message, re.MULTILINE))
    return int(inside[-1] if inside else found[2]), "; ".join([found[1].strip(), *notes])
