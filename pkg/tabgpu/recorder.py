"""What a device does while somebody profiles it: each launch with its work and times, and where the host's time goes.

A Recorder stands between the device and the bridge for as long as a profile is open, and is not there otherwise:
`device.recorder` is None, and that is all the rest pays. What is made of it is in profile.py.
"""

from __future__ import annotations

from array import array
from math import gcd
from time import perf_counter_ns
from typing import Any, NamedTuple

from .device import Device, join, start
from .launch import Launch
from .lower import lower
from .plan import Group, plan
from .region import Facts
from .work import work


class Span(NamedTuple):
    """Time of the host: find, plan, lower, emit, submit, upload, compile, read or wait. Nanoseconds."""

    kind: str
    begin: int
    end: int
    detail: str


class Timed:
    """One launch: what it was asked to do, and when the GPU did it (its own clock; equal if nobody knows)."""

    __slots__ = ("begin", "bytes", "end", "label", "operations", "sent", "serial", "took")

    def __init__(self, serial: int, label: str, nbytes: int, operations: int) -> None:
        self.serial, self.label, self.bytes, self.operations = serial, label, nbytes, operations
        self.sent = 0  # host time of its submit
        self.begin = self.end = self.took = 0


class Recorder:
    """Listens to one device. Several profiles may share it; each looks at its own part of the lists."""

    def __init__(self, gpu: Device, precise: bool) -> None:
        self.gpu = gpu
        self.users = 0
        self.launches: list[Timed] = []
        self.spans: list[Span] = []
        self.clock = ""
        self._precise = precise
        self._told = 0  # launches whose times are known
        self._upto = 0  # when the last of these ended, on the GPU's clock
        self.resolution = 0  # nanoseconds that the clock counts in, as far as its answers show; 0: none yet
        self._collecting: Any = None
        self._works: dict[int, tuple[Launch, int, int]] = {}
        self._stream: list[Timed] = []  # launches not submitted yet
        self._emitting = 0
        self._finding = 0, 0

    def attach(self) -> None:
        gpu = self.gpu
        self.clock = str(gpu.js.timing(True, self._precise))
        gpu.js = Watched(gpu.js, self)
        gpu.recorder = self

    def detach(self) -> None:
        gpu = self.gpu
        gpu.recorder = None
        if isinstance(gpu.js, Watched):
            gpu.js = gpu.js._inner
        if not gpu.lost:
            gpu.js.timing(False, False)

    def span(self, kind: str, begin: int, detail: str = "") -> None:
        self.spans.append(Span(kind, begin, perf_counter_ns(), detail))

    # what the engine and the device tell

    def finding(self) -> None:
        """A known program is about to be looked for."""
        self._finding = perf_counter_ns(), len(self.spans)

    def found(self) -> None:
        """It was looked for. Where it was made there were planning and lowering, which count as such."""
        begin, spans = self._finding
        if len(self.spans) == spans:
            self.span("find", begin)

    def emitting(self) -> None:
        """Launches are about to be put in the stream."""
        if not self._stream:
            self._emitting = perf_counter_ns()

    def planning(self, roots: Any, **options: Any) -> list[Group]:
        """plan(), timed."""
        begin = perf_counter_ns()
        try:
            return plan(roots, **options)
        finally:
            self.span("plan", begin)

    def lowering(self, group: Group, facts: Facts) -> list[Launch]:
        """lower(), timed; notes what the launches will do."""
        begin = perf_counter_ns()
        launches = lower(group, facts)
        self.span("lower", begin)
        for launch, (nbytes, operations) in zip(launches, work(group, launches), strict=True):
            self._works[id(launch)] = launch, nbytes, operations  # the launch too: its id stays its own
        return launches

    def launched(self, launch: Launch) -> None:
        """A launch was put in the stream."""
        _, nbytes, operations = self._works.pop(id(launch), (launch, 0, 0))
        self.note(launch.kernel.label, nbytes, operations)

    def note(self, label: str, nbytes: int, operations: int) -> None:
        """A launch that is known by these facts was put in the stream."""
        serial = self.gpu.serial + 1
        if not self._stream or self._stream[0].serial != serial:  # what was abandoned is not submitted
            self._stream = []
            self._emitting = self._emitting or perf_counter_ns()
        self._stream.append(Timed(serial, label, nbytes, operations))

    def submitting(self, serial: int) -> None:
        """The stream is about to go to the bridge."""
        self._works.clear()
        stream, self._stream = self._stream, []
        now = perf_counter_ns()
        if stream and stream[0].serial == serial:
            self.spans.append(Span("emit", self._emitting, now, ""))
            self._emitting = 0
            for timed in stream:
                timed.sent = now
            self.launches += stream

    # times

    async def collect(self) -> None:
        """Asks for the times of all launches so far; the queue should be idle. One at a time."""
        while self._collecting is not None:
            await join(self._collecting)
        mine = self._collecting = start(self._ask())
        try:
            await join(mine)
        finally:
            if self._collecting is mine:
                self._collecting = None

    async def _ask(self) -> None:
        """The task that others wait for takes its own mark away: to await what is done gives nobody else a turn."""
        try:
            await self._collect()
        finally:
            self._collecting = None

    async def _collect(self) -> None:
        times: dict[int, list[tuple[int, int]]] = {}
        for serial, begin, end in await timings(self.gpu):
            times.setdefault(serial, []).append((begin, end))
        if not times:
            return
        waiting: dict[int, list[Timed]] = {}
        for timed in self.launches[self._told :]:
            waiting.setdefault(timed.serial, []).append(timed)
        self._told = len(self.launches)
        for serial, group in waiting.items():
            answers = times.get(serial, ())
            if len(answers) != len(group):
                continue  # that submit was refused halfway
            for timed, (begin, end) in zip(group, answers, strict=True):
                if not begin or end < begin:  # not written
                    continue
                self.resolution = gcd(self.resolution, begin, end)
                timed.begin, timed.end = begin, end
                # Launches may overlap: each counts from where the one before it ended, so that the sum is real time.
                timed.took = max(0, end - max(begin, self._upto))
                self._upto = max(self._upto, end)

    def offset(self) -> int:
        """What to add to the GPU's clock to get the host's: so that no launch began before it was sent."""
        return max((t.sent - t.begin for t in self.launches if t.begin), default=0)


async def timings(gpu: Device) -> list[tuple[int, int, int]]:
    """(submit, begin, end) of the launches that the bridge timed since it was asked last."""
    n = int(gpu.js.timed())
    if not n:
        return []
    memory = array("Q", bytes(24 * n))
    await gpu.guard(gpu.js.timings(memoryview(memory).cast("B")))
    return list(zip(memory[::3], memory[1::3], memory[2::3], strict=True))


class Watched:
    """The bridge, with the time that calls take and what was on its way."""

    def __init__(self, inner: Any, recorder: Recorder) -> None:
        self._inner, self._recorder = inner, recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def submit(self, serial: int, *rest: Any) -> None:
        self._recorder.submitting(serial)
        begin = perf_counter_ns()
        try:
            self._inner.submit(serial, *rest)
        finally:
            self._recorder.span("submit", begin)

    def upload(self, serial: int, ident: int, nbytes: int, memory: Any) -> None:
        begin = perf_counter_ns()
        try:
            self._inner.upload(serial, ident, nbytes, memory)
        finally:
            self._recorder.span("upload", begin)

    def pipeline(self, ident: int, label: str, code: str, access: str) -> None:
        begin = perf_counter_ns()
        try:
            self._inner.pipeline(ident, label, code, access)
        finally:
            self._recorder.span("compile", begin, label)

    def pipelineAsync(self, ident: int, label: str, code: str, access: str) -> Any:
        begin = perf_counter_ns()
        return self._until(self._inner.pipelineAsync(ident, label, code, access), "compile", begin, label)

    def read(self, *given: Any) -> Any:
        begin = perf_counter_ns()
        return self._until(self._inner.read(*given), "read", begin, "")

    def readWord(self, *given: Any) -> Any:
        begin = perf_counter_ns()
        return self._until(self._inner.readWord(*given), "read", begin, "")

    def wait(self) -> Any:
        begin = perf_counter_ns()
        return self._until(self._inner.wait(), "wait", begin, "")

    async def _until(self, promise: Any, kind: str, begin: int, detail: str) -> Any:
        try:
            return await promise
        finally:
            self._recorder.span(kind, begin, detail)
