"""The Programs of a device, by what the graphs look like that they compute. A graph seen twice gets one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import region
from .device import Device
from .digest import Digest, digest, slots_of
from .graph import Op
from .program import Program
from .work import work

MAX_PROGRAMS = 512
MAX_SEEN = 8192
LARGE = (
    256 << 20
)  # bytes of results: memory counts more there than planning, and a plan frees what it can on the way


class Programs:
    """prepare: plans and lowers roots."""

    def __init__(self, gpu: Device, prepare: Callable[..., Any]) -> None:
        self.gpu, self.prepare = gpu, prepare
        self.mark = object()  # another one whenever work is planned in another way: traces hold for one
        self._known: dict[Any, Program] = {}
        self.hits = self.learned = 0
        self._seen: dict[int, bool] = {}  # hash of a key: whether its graph may become a program

    def find(self, roots: list[Op], merge: bool, learn: bool) -> tuple[Program | None, Digest | None]:
        """The program that computes pending roots, if their graph was seen before (`learn`: is made then)."""
        if self.gpu.config.memory_limit is not None:  # room is reckoned launch by launch
            return None, None
        found = digest(roots, merge)
        try:
            program = self._known.get(found.key)
        except TypeError:  # an unhashable parameter
            return None, None
        if program is not None:
            self.hits += 1
            return program, found
        if not learn:
            return None, None
        short = hash(found.key)
        if not self._seen.get(short):
            if len(self._seen) >= MAX_SEEN:
                self._seen.clear()
            self._seen.setdefault(short, True)
            return None, None
        program = self._made(found, roots, merge)
        if program is None:
            self._seen[short] = False
            return None, None
        if len(self._known) >= MAX_PROGRAMS:
            by_age = sorted(self._known, key=lambda key: self._known[key].used)
            for key in by_age[: MAX_PROGRAMS // 4]:
                del self._known[key]
        self._known[found.key] = program
        self.learned += 1
        program.used = self.gpu.serial
        return program, found

    def _made(self, found: Digest, roots: list[Op], merge: bool) -> Program | None:
        region.slots = slots_of(found)
        try:
            lowered = self.prepare(self.gpu, roots, merge)
        finally:
            region.slots = None
        return made(self.gpu, lowered, found.inputs, found.stored, found.guarded)

    @property
    def kept(self) -> int:
        """How many there are."""
        return len(self._known)

    def clear(self) -> None:
        """Forgets all programs, since work is planned in another way now."""
        self._known.clear()
        self.mark = object()


def made(
    gpu: Device, lowered: list[Any], inputs: list[Op], outputs: list[Op], guarded: list[Op], most: int = LARGE
) -> Program | None:
    """The program of a plan; None if it needs too much memory."""
    parts, notes, evaluated = [], [], 0
    for group, launches in lowered:
        members = list(group.members)
        evaluated += len(members) * group.size
        if group.pre is not None:
            evaluated += len(group.pre.members) * group.pre.size
            members += group.pre.members
        if group.core is not None:
            members.append(group.core)
        parts.append((members, launches))
        done = zip(launches, work(group, launches), strict=True)
        notes += [(x.kernel.label, *counted) for x, counted in done if x.kernel.access]
    try:
        program = Program(gpu.step, parts, inputs, outputs, guarded)
    except ValueError:
        return None
    if program.need > most:
        return None
    program.notes, program.evaluated = notes, evaluated
    program.operations = sum(len(members) for members, _ in parts)
    return program


def run(program: Program, gpu: Device, found: Digest) -> None:
    """Plays a program for the graph it was found for; the Ops let go of their inputs."""
    guards = [op.guards for op in found.guarded]
    for op, buffer in zip(found.stored, program.play(gpu, found.inputs, found.values, guards), strict=True):
        op.buffer = buffer
        op.depth = 0
    for op in reversed(found.ops):  # newest first, so that no chain is torn down recursively
        op.args = op.views = ()
