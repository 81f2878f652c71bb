"""How fast this GPU copies memory and multiplies and adds, by two bare kernels: what a profile compares with."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from time import perf_counter_ns
from typing import NamedTuple
from weakref import WeakKeyDictionary

from .device import Counters, Device
from .dtypes import float32
from .engine import facts_of
from .graph import Op
from .launch import Launch
from .recorder import timings
from .region import Facts, bits
from .routines import kernel, launch, temporary

ENOUGH = 20_000_000  # ns that a timed block takes at least
LONGEST = 200_000_000  # ns after which nothing is tried again
MOST = 4096  # launches in a block
TIMED = 256  # of them by timestamps
ROUNDS = 5
COARSE = 20_000  # ns: a clock that counts in such steps is rounded
OPERATIONS = 256  # of ceiling_fma, a thread and round

_known: WeakKeyDictionary[Device, Ceilings] = WeakKeyDictionary()


class Ceilings(NamedTuple):
    """Bytes read and written in a second of copying, and float32 operations (two a multiply-add) in a second."""

    copy: float
    fma: float


def known(gpu: Device) -> Ceilings | None:
    """What was measured on this device, if it was."""
    return _known.get(gpu)


async def measure(gpu: Device) -> Ceilings:
    """Measures once a device (0.2 s on a GPU). Its launches do not show in the device's counters."""
    found = _known.get(gpu)
    if found is None:
        peak = gpu.peak_bytes
        facts = facts_of(gpu)
        jobs = [_copy(gpu, facts), _add(gpu, facts)]
        try:
            missing = gpu.missing([one for one, _ in jobs])
            await gpu.compile(missing)
            gpu.counters.pipelines -= len(missing)
            gpu.counters.crossings -= len(missing)
            copy, fma = [await _rate(gpu, one, each) for one, each in jobs]
            found = Ceilings(copy, fma)
        finally:
            for one, _ in jobs:  # their memory is of no size that others ask for
                gpu.discard([op.buffer for op in one.reads + one.writes if op.buffer is not None])
            gpu.peak_bytes = peak
        _known[gpu] = found
    return found


def _copy(gpu: Device, facts: Facts) -> tuple[Launch, float]:
    """A copy, and its bytes. Larger than any cache of a GPU, where the device allows that."""
    most = 8 << 20 if gpu.software else 256 << 20
    n = min(most, (gpu.binding_limit - 256) & ~15, gpu.buffer_limit // 4 & ~15)
    if gpu.config.memory_limit is not None:
        n = max(64, min(n, (gpu.config.memory_limit - gpu.live_bytes) // 4 & ~15))
    made = kernel("ceiling_copy", "rw")
    source, target = temporary((n // 4,), float32), temporary((n // 4,), float32)
    source.buffer = gpu.allocate(n, "profile")
    groups = -(-n // (16 * 64))
    return launch(made, (source,), (target,), groups, [n // 16], facts), 2.0 * n


def _add(gpu: Device, facts: Facts) -> tuple[Launch, float]:
    """Multiply-adds, and how many operations they are."""
    groups, rounds = (64, 16) if gpu.software else (16384, 64)
    made = kernel("ceiling_fma", "w")
    target: Op = temporary((groups * 64 * 4,), float32)
    words = [rounds, bits(0.999, "f"), bits(0.001, "f")]
    return launch(made, (), (target,), groups, words, facts), float(OPERATIONS) * rounds * groups * 64


async def _rate(gpu: Device, one: Launch, each: float) -> float:
    """Work in a second: the best of some blocks. By timestamps, so that what lies between launches does not count."""
    await block(gpu, [one])  # first use: memory is cleared, the kernel loaded
    k, took = 1, await block(gpu, [one])
    while took < ENOUGH and k < MOST:
        k = min(MOST, max(2 * k, min(10 * k, int(1.3 * k * ENOUGH / took))))
        took = await block(gpu, [one], k)
    rounds = ROUNDS if took < LONGEST else 1
    if gpu.recorder is None and str(gpu.js.timing(True, True)) == "gpu":
        try:
            known = [ns for _ in range(rounds) if (ns := await _timed(gpu, one, min(k, TIMED)))]
        finally:
            if gpu.recorder is None:  # nobody began to profile meanwhile
                gpu.js.timing(False, False)
        if known:
            return each / (min(known) / 1e9)
    took = min([took, *[await block(gpu, [one], k) for _ in range(rounds)]])
    idle = min([await block(gpu, [one], 0) for _ in range(rounds)])
    return each * k / (max(took - idle, took // 2) / 1e9)


async def _timed(gpu: Device, one: Launch, k: int) -> float:
    """Nanoseconds of a launch by timestamps: the median of k, or their mean if the clock is rounded; 0: not known."""
    await block(gpu, [one], k)
    serial = gpu.serial
    spans = [(begin, end) for at, begin, end in await timings(gpu) if at == serial and 0 < begin <= end]
    if len(spans) < k:
        return 0.0
    if gcd(*(x for span in spans for x in span)) >= COARSE:
        return (max(end for _, end in spans) - min(begin for begin, _ in spans)) / k
    return float(sorted(end - begin for begin, end in spans)[k // 2])


async def block(gpu: Device, launches: Sequence[Launch], k: int = 1) -> int:
    """Nanoseconds for k times some launches, in one submit, and a wait. Errors of others stay theirs.

    These launches do not show in the device's counters.
    """
    counters, gpu.counters = gpu.counters, Counters()
    try:
        for _ in range(k):
            for one in launches:
                gpu.append(one)
        begin = perf_counter_ns()
        gpu.submit()
    finally:
        gpu.counters = counters
    await gpu.guard(gpu.js.wait())
    return perf_counter_ns() - begin
