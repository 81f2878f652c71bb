"""Pending roots -> a plan or a remembered program -> the stream. When that happens, and who waits: engine.py."""

from __future__ import annotations

from .device import Device, size_class
from .errors import LimitError, OutOfMemoryError, TracingError
from .graph import LEAF, Op, nbytes_of
from .launch import Kernel, Launch
from .lower import lower
from .plan import Group, plan
from .program import LEAKED
from .programs import Programs, run
from .region import Facts


def programs(gpu: Device) -> Programs:
    """The programs of a device; to be cleared by whoever changes how work is planned."""
    if gpu.programs is None:
        gpu.programs = Programs(gpu, prepare)
    return gpu.programs  # type: ignore[no-any-return]


class Work:
    """What computes pending roots: a program that is known from before, or a plan."""

    def __init__(self, gpu: Device, roots: list[Op], merge: bool = False, learn: bool = True) -> None:
        self.gpu = gpu
        watch = gpu.recorder
        if watch is not None:
            watch.finding()
        self.program, self.digest = programs(gpu).find(roots, merge, learn)
        if watch is not None:
            watch.found()
        self.lowered = [] if self.program is not None else prepare(gpu, roots, merge)
        for _, launches in self.lowered:
            for launch in launches:
                if any(op.kind == LEAF and op.buffer is None for op in launch.reads):
                    raise TracingError(LEAKED)

    def missing(self) -> list[Kernel]:
        """Kernels that should be compiled first."""
        if self.program is not None:
            return list(self.program.missing(self.gpu))
        return self.gpu.missing([x for _, launches in self.lowered for x in launches])

    def run(self, send: bool = True) -> None:
        """Everything up to the submit, in one go; `send` False leaves a program's commands in the stream."""
        if self.gpu.recorder is not None:
            self.gpu.recorder.emitting()
        if self.program is not None and self.digest is not None:
            run(self.program, self.gpu, self.digest)
            if send:
                self.gpu.submit()
        else:
            execute(self.gpu, self.lowered)


def facts_of(gpu: Device) -> Facts:
    """What planning and lowering know of a device."""
    if gpu.facts is None:
        limits = gpu.limits
        threads = min(256, limits["maxComputeInvocationsPerWorkgroup"], limits["maxComputeWorkgroupSizeX"])
        workgroup = 1 << threads.bit_length() - 1
        groups = limits["maxComputeWorkgroupsPerDimension"]
        gpu.facts = Facts(
            workgroup, groups, gpu.binding_limit, gpu.software, limits, gpu.features, gpu.subgroups
        )
    return gpu.facts  # type: ignore[no-any-return]


def prepare(gpu: Device, roots: list[Op], merge: bool = False) -> list[tuple[Group, list[Launch]]]:
    """Plans and lowers without side effects on the device; raises what can be known before any GPU work."""
    facts = gpu.facts or facts_of(gpu)
    lowered = []
    watch = gpu.recorder
    planning, lowering = (plan, lower) if watch is None else (watch.planning, watch.lowering)
    for group in planning(roots, budget=gpu.limits["maxFusedBuffers"], fuse=gpu.config.fuse, merge=merge):
        launches = lowering(group, facts)
        if group.pre is not None:
            group.pre.parent = (
                None  # no cycle: what they hold dies with them, not at the next garbage collection
            )
        lowered.append((group, launches))
        for launch in launches:
            for op in launch.writes:
                n = nbytes_of(op)
                if n > gpu.buffer_limit:
                    raise LimitError(
                        f"{launch.kernel.label}: its result needs {n:,} bytes, maxBufferSize is {gpu.buffer_limit:,}"
                    )
            if gpu.generation > 1:  # there may be arrays of an older device
                for op in launch.reads:
                    if op.buffer is not None:
                        gpu.check_owner(op.buffer)
    if gpu.config.memory_limit is not None:
        _check_room(gpu, lowered, roots, gpu.config.memory_limit)
    return lowered


def _check_room(gpu: Device, lowered: list[tuple[Group, list[Launch]]], roots: list[Op], limit: int) -> None:
    """OutOfMemoryError if results and temporaries, each until its last use, will not fit under the limit."""
    last = {op: k for k, (_, launches) in enumerate(lowered) for launch in launches for op in launch.reads}
    kept = {*roots}
    asked = most = 0
    for k, (_, launches) in enumerate(lowered):
        adopted = {launch.writes[0] for launch in launches if launch.adopts is not None}
        for op in {op for launch in launches for op in launch.writes} - adopted:
            asked += size_class(max(nbytes_of(op), 16) + 15 & ~15)
            if last.get(op, -1) <= k:
                kept.add(op)
        most = max(most, asked)
        for op in {op for launch in launches for op in launch.reads}:
            if last[op] == k and op.buffer is None and op not in kept and not op.live():
                asked -= size_class(max(nbytes_of(op), 16) + 15 & ~15)
    if gpu.live_bytes + most > limit:
        raise OutOfMemoryError(
            f"{most:,} bytes asked for new results, {gpu.live_bytes:,} are live, memory_limit is {limit:,}"
        )


def execute(gpu: Device, lowered: list[tuple[Group, list[Launch]]]) -> None:
    """Allocates, emits and submits in one go; planned Ops let go of their inputs as soon as these are read."""
    if gpu.unsent:
        gpu.submit()  # so that what may fail here takes nothing else along
    try:
        lowered.reverse()
        while lowered:
            group, launches = lowered.pop()
            launches.reverse()
            while launches:
                gpu.append(launches.pop())
            guards = [g for op in group.members if op.guards for g in op.guards]
            if group.core is not None and group.core.guards:
                guards += group.core.guards
            if group.pre is not None:
                guards += [g for op in group.pre.members if op.guards for g in op.guards]
            if guards:
                for op in group.outs:
                    assert op.buffer is not None
                    op.buffer.guards = op.buffer.guards.union(guards)
            release(gpu, group)
    except BaseException as error:
        gpu.abandon(error)
        raise
    gpu.submit()


def release(gpu: Device, group: Group) -> None:
    """Drops the inputs of computed Ops, newest first, so that no chain is torn down recursively."""
    for op in reversed(group.members):
        if op.buffer is not None or not op.uses:
            _drop(op)
    gpu.counters.evaluated += len(group.members) * group.size
    gpu.counters.operations += len(group.members)
    if group.core is not None:
        gpu.counters.operations += 1
        _drop(group.core)
    if group.pre is not None:
        gpu.counters.operations += len(group.pre.members)
        for op in reversed(group.pre.members):
            if not op.uses:
                _drop(op)
        gpu.counters.evaluated += len(group.pre.members) * group.pre.size


def _drop(op: Op) -> None:
    for a in op.args:
        if type(a) is Op:
            a.uses -= 1
    op.args = op.views = ()
    op.depth = 0
