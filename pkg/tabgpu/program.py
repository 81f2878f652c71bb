"""A Program: launches written out as command words once, and appended to the stream with other buffers and scalars.

Made of a plan whose scalars are Slots. Temporaries share memory as far as their lives allow; it comes from the pool
with each play and goes back at its end, which is safe since the queue keeps order.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from .device import ALLOC, BASE, DISPATCH, Device, size_class
from .errors import TracingError
from .graph import NO_GUARDS, Buffer, Guard, Op, nbytes_of
from .launch import Kernel, Launch, Slot
from .region import bits, complex_bits

LEAKED = "an array was made while a function was traced, and has no values: return it from the function"
Part = tuple[Sequence[Op], list[Launch]]  # launches, and the Ops whose guards hold for what they write last
assert ALLOC < DISPATCH < BASE


class _Memory:
    """One buffer of a program while it is made: several Ops, if one takes over another's."""

    __slots__ = ("first", "input", "label", "last", "nbytes", "output", "places", "slot")

    def __init__(self, nbytes: int, first: int, label: str, given: int = -1) -> None:
        self.nbytes, self.first, self.last, self.label = nbytes, first, first, label
        self.input = given
        self.output = False
        self.places: list[int] = []


class Program:
    """See the first line. inputs: Ops with buffers (others may be among them), outputs: what buffers are made for."""

    __slots__ = (
        "__weakref__",
        "_adopted",
        "_bits",
        "_depends",
        "_epoch",
        "_floats",
        "_ids",
        "_made",
        "_params",
        "_pipelines",
        "_places",
        "_reads",
        "_scalars",
        "_temporary",
        "_words",
        "evaluated",
        "kernels",
        "launches",
        "need",
        "notes",
        "operations",
        "used",
    )  # fmt: skip

    def __init__(
        self, step: int, lowered: Iterable[Part], inputs: list[Op], outputs: list[Op], guarded: list[Op]
    ) -> None:
        """step: words between two blocks of parameters. ValueError for what is no program (an output nobody writes)."""
        memory: dict[Op, _Memory] = {op: _Memory(0, -1, "", k) for k, op in enumerate(inputs)}
        depends: dict[Op, frozenset[int]] = {op: frozenset((k,)) for k, op in enumerate(inputs)}
        mine = {op: -1 - k for k, op in enumerate(guarded)}  # guards of their own, below 0
        words = array("I", (BASE, 0))
        params = array("I")
        blocks: dict[tuple[Any, ...], int] = {}
        scalars: dict[tuple[int, str, int], list[int]] = {}
        self._pipelines: list[tuple[int, Kernel]] = []
        every: list[_Memory] = list(memory.values())
        count = 0
        for members, launches in lowered:
            written: set[Op] = set()
            for launch in launches:
                kernel = launch.kernel
                if launch.adopts is not None:
                    taken = memory[launch.writes[0]] = memory[launch.adopts]
                    taken.last = count
                    depends[launch.writes[0]] = depends[launch.adopts]
                needs = frozenset[int]().union(*[depends[op] for op in launch.reads])
                for op in launch.writes:
                    if op not in memory:
                        memory[op] = made = _Memory(nbytes_of(op), count, kernel.label)
                        every.append(made)
                    depends[op] = depends.get(op, frozenset()) | needs
                written.update(launch.writes)
                if not kernel.access:
                    continue
                block = tuple(launch.words)
                at = blocks.get(block)
                if at is None:
                    at = blocks[block] = len(params)
                    word: Any
                    for k, word in enumerate(block):
                        if type(word) is Slot:
                            scalars.setdefault((word.index, word.kind, word.part), []).append(at + k)
                            params.append(0)
                        else:
                            params.append(word)
                    params.frombytes(bytes(4 * (-len(params) % step)))
                self._pipelines.append((len(words) + 1, kernel))
                bound = (*launch.reads, *launch.writes)
                words.extend((DISPATCH, 0, *launch.grid, 4 * at, len(bound)))
                windows = launch.windows or ((0, 0),) * len(bound)
                for op, window in zip(bound, windows, strict=True):
                    memory[op].last = count
                    memory[op].places.append(len(words))
                    words.extend((0, *window))
                count += 1
            own = frozenset([mine[op] for op in members if op in mine])
            if own:
                for op in written:
                    depends[op] |= own
        for op in outputs:
            if op not in memory:
                raise ValueError("an output that no launch writes")
            memory[op].output = True
        self._lay_out(every, [memory[op] for op in outputs], [depends[op] for op in outputs])
        self._words, self._params = words, params
        self._scalars = [(*key, places) for key, places in sorted(scalars.items())]
        kinds = [key[1] for key in sorted(scalars)]
        self._floats = all(kind == "f" for kind in kinds) and [k[0] for k in self._scalars] == [
            *range(len(kinds))
        ]
        self._bits = array("I", bytes(4 * len(kinds)))
        self._epoch = -1
        self.kernels = list(dict.fromkeys(kernel for _, kernel in self._pipelines))
        self.launches = count
        self.used = 0
        self.evaluated = self.operations = 0
        self.notes: list[tuple[str, int, int]] = []

    def _lay_out(self, every: list[_Memory], outputs: list[_Memory], depends: list[frozenset[int]]) -> None:
        """Gives each memory a number: inputs that are read, then what is made for outputs, then temporaries."""
        read = [m for m in every if m.input >= 0 and m.places]
        self._reads = [m.input for m in read]
        shared: list[list[_Memory]] = []  # those that follow each other in one buffer
        free: dict[int, list[int]] = {}
        live: list[tuple[float, int, int]] = []  # last launch, size, which of `shared`
        for m in sorted((m for m in every if m.input < 0), key=lambda m: m.first):
            size = size_class(max(m.nbytes, 16) + 15 & ~15)
            for entry in [entry for entry in live if entry[0] < m.first]:
                live.remove(entry)
                free.setdefault(entry[1], []).append(entry[2])
            if free.get(size):
                k = free[size].pop()
                shared[k].append(m)
            else:
                k = len(shared)
                shared.append([m])
            live.append((float("inf") if m.output else m.last, size, k))
        kept = [some for some in shared if some[-1].output]
        passing = [some for some in shared if not some[-1].output]
        number = {some[-1]: k for k, some in enumerate(kept)}
        self._made = [_needs(some) for some in kept]
        self._temporary = [_needs(some) for some in passing]
        # Which of these each output is; outputs that take over an input's memory count from -1 downwards.
        which = [-1 - m.input if m.input >= 0 else number[m] for m in outputs]
        self._adopted = None if which == [*range(len(kept))] else which
        self._depends = depends
        self._places = [m.places for m in read]
        self._places += [[at for m in some for at in m.places] for some in kept + passing]
        self._ids = [0] * len(self._places)
        self.need = sum(asked for _, asked, _ in self._made + self._temporary)

    def missing(self, gpu: Device) -> list[Kernel]:
        """The kernels that have no pipeline yet."""
        return [] if self._epoch == gpu.epoch else gpu.uncompiled(self.kernels)

    def _link(self, gpu: Device) -> None:
        """Looks up the pipelines; makes those that are missing."""
        words = self._words
        for at, kernel in self._pipelines:
            words[at] = gpu.pipeline(kernel)
        self._epoch = gpu.epoch
        gpu.users.add(self)

    def play(
        self, gpu: Device, inputs: Sequence[Op], values: Sequence[Any], guards: Sequence[Iterable[Guard]]
    ) -> list[Buffer]:
        """Appends the launches to the stream; gives the outputs' buffers. guards: of each of `guarded`."""
        if self._epoch != gpu.epoch:
            self._link(gpu)
        confirmed, failed = gpu.confirmed, gpu.failed
        inherited = bool(guards)
        ids = []
        for k in self._reads:
            buffer = inputs[k].buffer
            if buffer is None:
                raise TracingError(LEAKED)
            if buffer.device is not gpu:
                gpu.check_owner(buffer)
            if buffer.serial > confirmed or (failed and buffer.serial in failed):
                gpu.depends_on(buffer.serial)
            if buffer.guards:
                inherited = True
            ids.append(buffer.id)
        take = gpu.take
        serial = self.used = gpu.serial + 1
        outputs = []
        for nbytes, asked, label in self._made:
            buffer = take(nbytes, asked, label)
            buffer.serial = serial
            ids.append(buffer.id)
            outputs.append(buffer)
        held = []
        for nbytes, asked, label in self._temporary:
            buffer = take(nbytes, asked, label)
            ids.append(buffer.id)
            held.append(buffer)
        if ids != self._ids:
            words = self._words
            for new, old, places in zip(ids, self._ids, self._places, strict=True):
                if new != old:
                    for at in places:
                        words[at] = new
            self._ids = ids
        if self._scalars:
            self._set(values)
        if self._adopted is not None:
            outputs = [
                self._adopt(inputs[-1 - k].buffer, serial) if k < 0 else outputs[k] for k in self._adopted
            ]
        if inherited:
            self._inherit(inputs, guards, outputs)
        gpu.extend(self._words, self._params, self.launches)
        gpu.counters.evaluated += self.evaluated
        gpu.counters.operations += self.operations
        if gpu.recorder is not None:
            for note in self.notes:
                gpu.recorder.note(*note)
        return outputs

    @staticmethod
    def _adopt(buffer: Buffer | None, serial: int) -> Buffer:
        """An input's memory, which an output takes over."""
        assert buffer is not None
        buffer.serial = serial
        return buffer

    def _set(self, values: Sequence[Any]) -> None:
        """Writes the scalars that changed into the parameters."""
        new: array[int] | None = None
        if self._floats:
            try:
                new = array("I", array("f", values[: len(self._bits)]).tobytes())  # the rest nobody uses
            except OverflowError:
                pass
        if new is None:
            new = array("I", [_word(values[index], kind, part) for index, kind, part, _ in self._scalars])
        old = self._bits
        if new != old:
            params = self._params
            for word, was, (_, _, _, places) in zip(new, old, self._scalars, strict=True):
                if word != was:
                    for at in places:
                        params[at] = word
            self._bits = new

    def _inherit(
        self, inputs: Sequence[Op], guards: Sequence[Iterable[Guard]], outputs: list[Buffer]
    ) -> None:
        """The conditions that each output depends on."""
        for buffer, depends in zip(outputs, self._depends, strict=True):
            found = set(buffer.guards)
            for k in depends:
                if k < 0:
                    found.update(guards[-1 - k])
                else:
                    source = inputs[k].buffer
                    if source is not None:
                        found |= source.guards
            buffer.guards = frozenset(found) if found else NO_GUARDS


def _needs(some: list[_Memory]) -> tuple[int, int, str]:
    """(bytes, size class, for what) of one buffer."""
    nbytes = max(m.nbytes for m in some)
    return nbytes, size_class(max(nbytes, 16) + 15 & ~15), some[-1].label


def _word(value: Any, kind: str, part: int) -> int:
    return complex_bits(value)[part] if kind == "c" else bits(value, kind)
