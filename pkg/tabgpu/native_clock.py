"""When launches began and ended on the native host: bridge.js's Clock on wgpu-native. What they mean: recorder.py."""

from __future__ import annotations

from array import array
from time import perf_counter_ns
from typing import Any

PAIRS = 2048  # launches a set of timestamp queries times: WebGPU allows 4,096 queries in one


class Clock:
    """By timestamp queries, a pass for each launch; without them by the host's clock, a submit and a wait each."""

    def __init__(self, wgpu: Any, device: Any, precise: bool) -> None:
        self.wgpu, self.device, self.precise = wgpu, device, precise
        self.count = 0
        self.sets: list[tuple[Any, list[int]]] = []  # queries and serials; the last one is being filled
        self.spare: list[Any] = []
        self.batches: list[tuple[list[int], Any]] = []  # serials and what was resolved, in order
        self.seen: list[int] = []
        self.period = _period(device) if precise else 1.0  # nanoseconds a tick

    def begin(self, encoder: Any, serial: int) -> Any:
        """The pass of one launch."""
        self.count += 1
        if not self.precise:
            return encoder.begin_compute_pass()
        if not self.sets or len(self.sets[-1][1]) == PAIRS:
            fresh = self.spare.pop() if self.spare else self._queries()
            self.sets.append((fresh, []))
        queries, serials = self.sets[-1]
        k = 2 * len(serials)
        serials.append(serial)
        writes = {
            "query_set": queries,
            "beginning_of_pass_write_index": k,
            "end_of_pass_write_index": k + 1,
        }
        return encoder.begin_compute_pass(timestamp_writes=writes)

    def _queries(self) -> Any:
        return self.device.create_query_set(label="times", type="timestamp", count=2 * PAIRS)

    def next(self, encoder: Any, serial: int, wait: Any) -> Any:
        """The encoder that goes on after a launch; without queries this one's launch runs to its end first."""
        if self.precise:
            return encoder
        begin = perf_counter_ns()
        self.device.queue.submit([encoder.finish()])
        wait()
        self.seen += (serial, begin, perf_counter_ns())
        return self.device.create_command_encoder()

    def submitted(self) -> None:
        """What is full is resolved, so that few sets of queries serve any number of submits."""
        while len(self.sets) > 1 or (self.sets and len(self.sets[0][1]) == PAIRS):
            self.resolve()

    def resolve(self) -> None:
        queries, serials = self.sets.pop(0)
        size, usage = 16 * len(serials), self.wgpu.BufferUsage
        make = self.device.create_buffer
        resolved = make(label="times", size=size, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)
        staging = make(label="times", size=size, usage=usage.COPY_DST | usage.MAP_READ)
        encoder = self.device.create_command_encoder(label="times")
        encoder.resolve_query_set(queries, 0, 2 * len(serials), resolved, 0)
        encoder.copy_buffer_to_buffer(resolved, 0, staging, 0, size)
        self.device.queue.submit([encoder.finish()])
        self.batches.append((serials, staging))
        self.spare.append(queries)

    async def take(self, settled: Any) -> array[int]:
        """(serial, begin, end) of what was timed so far; `settled(promise)` waits for a promise of wgpu."""
        while self.sets:
            self.resolve()
        batches, self.batches = self.batches, []
        found, self.seen = array("Q", self.seen), []
        self.count = 0
        for serials, staging in batches:
            await settled(staging.map_async(self.wgpu.MapMode.READ))
            ticks = staging.read_mapped().cast("Q")
            for k, serial in enumerate(serials):
                begin, end = ticks[2 * k], ticks[2 * k + 1]
                if self.period != 1:
                    begin, end = round(begin * self.period), round(end * self.period)
                found.extend((serial, begin, end))
            staging.destroy()
        return found

    def close(self) -> None:
        for queries in [*(q for q, _ in self.sets), *self.spare]:
            queries.destroy()
        for _, staging in self.batches:
            staging.destroy()


def _period(device: Any) -> float:
    """Nanoseconds of one tick of the GPU's clock, which wgpu-native hands out as it is."""
    try:
        from wgpu.backends.wgpu_native.extras import lib

        return float(lib.wgpuQueueGetTimestampPeriod(device.queue._internal)) or 1.0
    except (ImportError, AttributeError):
        return 1.0
