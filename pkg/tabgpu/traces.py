"""One trace of a function: its launches as a Program, where the Program's inputs come from, where its results go.

Nothing here knows Arrays or argument structures: inputs and results are Cells. Those are jit.py's matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple
from weakref import ref

from . import engine
from .device import Device
from .engine import settle
from .executing import prepare
from .graph import EW, IOTA, LEAF, SCALAR, Cell, Guard, Op, leaf
from .launch import Kernel
from .programs import made
from .tracing import Tracing

SEND_LAUNCHES = 128  # launches in the stream that are submitted without waiting for a read
SEND_WORK = (
    1 << 26
)  # the same for elements (or multiply-adds / 1024): a submit costs more than the GPU's work on 16 Mi


class Source(NamedTuple):
    """What a cell names after a call: an input's cell, a cell from outside, a result, or a copy of an Op without
    memory of its own making (a constant, a range, an upload)."""

    kind: str  # "input", "cell", "made", "op"
    what: Any


class Trace:
    """See the first line."""

    def __init__(self, gpu: Device, now: Tracing, inputs: list[Cell], results: list[Cell]) -> None:
        """Of the operations noted since `now`: inputs are cells of leaves without memory, results what is asked for."""
        self.gpu = gpu
        touched = now.touched
        leaves = {touched.get(cell, cell.op): k for k, cell in enumerate(inputs)}
        own = {cell: k for k, cell in enumerate(inputs)}
        outputs: dict[Op, int] = {}

        def source(cell: Cell, op: Op) -> Source:
            if op.buffer is None and op.kind >= EW:
                return Source("made", outputs.setdefault(op, len(outputs)))
            return Source("op", op)

        self.results: list[Source] = []
        for cell in results:
            before = touched.get(cell, cell.op)
            if cell in own:
                self.results.append(Source("input", own[cell]))
            elif before in leaves or before.serial > now.first:
                self.results.append(source(cell, cell.op))
            else:
                self.results.append(Source("cell", cell))
        self.assigned: list[tuple[Source, Source]] = []
        for cell, before in touched.items():
            if cell in own:
                self.assigned.append((Source("input", own[cell]), source(cell, cell.op)))
            elif before.serial <= now.first:
                self.assigned.append((Source("cell", cell), source(cell, cell.op)))
        order, captured, fixed = _reached(outputs, leaves, now)
        self.captured: list[Cell | Op] = []
        for op in captured:
            self.captured.append(_cell_of(op, touched) or op)
        self.fixed = [(cell, op) for op in fixed if (cell := _cell_of(op, touched)) is not None]
        guarded = [op for op in order if op.guards]
        self.guards = [
            [(guard, outputs.get(guard.cell.op, -1) if guard.cell else -1) for guard in op.guards]
            for op in guarded
        ]
        self.facts = [(op.shape, op.dtype) for op in outputs]
        self.weight = now.work
        self.program: Any = None
        if outputs:
            lowered = prepare(gpu, list(outputs))
            self.program = made(gpu, lowered, [*leaves, *captured], list(outputs), guarded, 1 << 62)
            assert self.program is not None
        for op in reversed(order):  # newest first, so that no chain is torn down recursively
            op.args = op.views = ()
            op.kind, op.depth, op.guards = LEAF, 0, ()  # whoever still names it has no values

    def missing(self) -> list[Kernel]:
        """Kernels that have no pipeline yet."""
        return [] if self.program is None else list(self.program.missing(self.gpu))

    def names_inputs(self) -> bool:
        """Whether a result shares an input's memory, or an input is assigned to."""
        return any(s.kind == "input" for s in (*self.results, *(target for target, _ in self.assigned)))

    def entangled(self, cells: Sequence[Cell]) -> bool:
        """Whether something is assigned to and an argument is also an array from outside: two names for what the trace
        takes for two arrays."""
        if not self.assigned:
            return False
        outside = [*self.captured, *(t.what for t, _ in self.assigned), *(s.what for s in self.results)]
        return any(cell is one for cell in cells for one in outside)

    def holds(self) -> bool:
        """Whether constants from outside are still what they were."""
        return all(cell.op is op for cell, op in self.fixed)

    def exchange(self, then: Cell, now: Cell) -> bool:
        """Reads another cell from outside from now on, if that is all the difference."""
        if then.op.shape != now.op.shape or now in self.captured:
            return False
        if any(cell is then for cell, _ in self.fixed) or any(s.what is then for s in self.results):
            return False
        if any(now is s.what for s in self.results):
            return False
        if any(one in (target.what, source.what) for target, source in self.assigned for one in (then, now)):
            return False
        self.captured = [now if one is then else one for one in self.captured]
        return True

    def one(self) -> bool:
        """Whether a call makes one result and does nothing else."""
        if self.guards or self.assigned or self.fixed or self.program is None:
            return False
        return len(self.facts) == 1 and [s.kind for s in self.results] == ["made"]

    def quick(self, ops: list[Op], values: Sequence[Any]) -> Op | None:
        """play() where `one` says that there is one result, with the inputs' Ops; None if some captured one has no
        memory yet."""
        for one in self.captured:
            op: Any = one.op if type(one) is Cell else one
            if op.buffer is None:
                return None
            ops.append(op)
        buffer = self.program.play(self.gpu, ops, values, ())[0]
        shape, dtype = self.facts[0]
        self._sent()
        return leaf(shape, dtype, buffer)

    def _sent(self) -> None:
        """The GPU gets its work when there is some; the rest waits for a read."""
        gpu = self.gpu
        gpu.weight = weight = gpu.weight + self.weight
        if gpu.unsent >= SEND_LAUNCHES or weight >= SEND_WORK:
            gpu.submit()

    def play(self, cells: Sequence[Cell], values: Sequence[Any]) -> list[Cell]:
        """The cells of the results, for these inputs and scalars."""
        gpu = self.gpu
        made: list[Op] = []
        if self.program is not None:
            ops = [cell.op for cell in cells]
            for one in self.captured:
                ops.append(one.op if type(one) is Cell else one)  # type: ignore[arg-type]
            for op in ops:
                if op.buffer is None:
                    settle(gpu, [op for op in ops if op.buffer is None])
                    break
            guards: list[list[Guard]] = []
            fresh: list[tuple[Guard, int]] = []
            for some in self.guards:
                mine = []
                for guard, at in some:
                    if at >= 0:
                        guard = Guard(guard.cell, guard.describe)  # type: ignore[arg-type]
                        fresh.append((guard, at))
                    mine.append(guard)
                guards.append(mine)
            buffers = self.program.play(gpu, ops, values, guards)
            for buffer, (shape, dtype) in zip(buffers, self.facts, strict=True):
                made.append(leaf(shape, dtype, buffer))
            for guard, at in fresh:
                guard.cell = Cell(made[at])
            self._sent()
        for target, source in self.assigned:
            cell = cells[target.what] if target.kind == "input" else target.what
            cell.op = op = made[source.what] if source.kind == "made" else _copy(source.what)
            op.cell = ref(cell)
        out: list[Cell] = []
        for kind, what in self.results:
            if kind == "made":
                out.append(Cell(made[what]))
            elif kind == "input":
                out.append(cells[what])
            elif kind == "cell":
                out.append(what)
            else:
                out.append(Cell(_copy(what)))
        return out


def _copy(op: Op) -> Op:
    """The same constant, range or memory under another name."""
    other = Op(op.kind, op.fn, (), (), op.shape, op.dtype, op.extra)
    other.buffer = op.buffer
    return other


def _cell_of(op: Op, touched: dict[Any, Op]) -> Any:
    """The cell that named an Op from outside when the function began."""
    cell = op.cell and op.cell()
    return cell if cell is not None and touched.get(cell, cell.op) is op else None


def _reached(
    outputs: dict[Op, int], leaves: dict[Op, int], now: Tracing
) -> tuple[list[Op], list[Op], list[Op]]:
    """(all pending Ops behind the outputs, oldest first; memory from outside; constants from outside). Verdicts of
    guards become outputs too."""
    order = list(outputs)
    found = set(order)
    captured: dict[Op, None] = {}
    fixed: dict[Op, None] = {}
    for op in order:  # grows on the way
        for guard in op.guards:
            if guard.cell is not None:
                check = guard.cell.op
                if check.buffer is None and check.kind >= EW:
                    outputs.setdefault(check, len(outputs))
                    if check not in found:
                        found.add(check)
                        order.append(check)
        for a in op.args:
            if type(a) is not Op or a in leaves or a in found:
                continue
            if a.buffer is None and a.kind >= EW:
                if a.serial <= now.first:  # it could not be computed before
                    engine.work(engine.device(), [a])
                    captured[a] = None
                else:
                    found.add(a)
                    order.append(a)
            elif a.buffer is not None or a.kind == LEAF:
                captured[a] = None
            elif a.kind in (SCALAR, IOTA) and a.serial <= now.first:
                fixed[a] = None
    order.sort(key=attrgetter("serial"))
    return order, list(captured), list(fixed)
