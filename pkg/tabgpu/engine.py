"""The seam between what arrays mean and how they are computed: upload, note (which may flush), fetch, wait."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import giving, tuned
from .config import Config
from .device import Device, blank, can_suspend, join, one_thread, open_device, run_sync, start, typed_array
from .dtypes import DType
from .errors import NotInitializedError, SyncError, TabgpuError, TracingError
from .executing import Work, execute, facts_of, prepare, programs
from .graph import EW, IOTA, LEAF, SCALAR, Guard, Op, copy_fn, nbytes_of
from .launch import Kernel
from .layout import Layout, Shape, is_contiguous
from .program import LEAKED
from .tracing import Tracing, any_tracing, begin, end, foreign, refuse, touch, tracing

MAX_PENDING = 256  # operations before the graph is flushed by itself
MAX_DEPTH = 256  # a chain that is dropped is torn down recursively: 2,000 deep would overflow the tab's stack
UNFUSED = 128  # both where each is a launch: the GPU computes them while the next ones are made
MAX_WORK = 1 << 28  # elements (or multiply-adds / 1024) before a flush: the GPU starts, and no submit is long
RECENT = 8  # the newest operations stay pending: they may be the middle of an expression
BIG = 1 << 20

_device: Device | None = None
_opening: tuple[Config, Any, Any] | None = None
pending: list[Any] = []  # of cells, by weak references; always this list
most = MAX_PENDING  # of the open device: pending operations, and depth
_work = 0


@contextmanager
def trace() -> Iterator[Tracing]:
    """Runs a block whose operations are only noted. What was pending is computed before; what was assigned to is as it
    was after it."""
    global _work
    with one_thread:
        flush()
        _work = 0
        now = begin()
        try:
            yield now
        finally:
            now.work += _work
            _work = 0
            end(now)
            pending.clear()


def device() -> Device:
    """The open device; opens one where Python can suspend, NotInitializedError elsewhere."""
    if _device is None:
        if can_suspend():
            return run_sync(_first())  # type: ignore[no-any-return]
        raise NotInitializedError("no GPU device is open: write `await tg.init()` first")
    return _device


def current() -> Device | None:
    """The open device, if any."""
    return _device


async def open_new(config: Config, given: Any = None) -> Device:
    """Opens a device and closes the one before; calls for the same made while it is opening share it."""
    global _opening
    while _opening is not None:
        wanted, on, task = _opening
        if wanted == config and on is given:
            return await join(task)  # type: ignore[no-any-return]
        try:
            await join(task)
        except Exception:
            pass  # told to those who asked for that device
    task = start(_open(config, given))
    _opening = config, given, task
    return await join(task)  # type: ignore[no-any-return]


async def _open(config: Config, given: Any) -> Device:
    global _device, _opening, most
    try:
        fresh = await open_device(config, given)
        tuned.load(fresh)
        old, _device = _device, fresh
        most = MAX_PENDING if config.fuse else UNFUSED
        pending.clear()
        if old is not None:
            old.close()
        return fresh
    finally:
        _opening = None


async def _first() -> Device:
    """The device that is opening, or one with default options."""
    return await (open_new(Config()) if _opening is None else join(_opening[2]))


def upload(memory: Any, dtype: DType, shape: Shape, what: str) -> Op:
    """A leaf with a copy of host memory: packed elements of dtype in row-major order."""
    op = Op(LEAF, None, (), (), shape, dtype)
    op.buffer = device().upload(memory, nbytes_of(op), what)
    return op


def note(op: Op) -> None:
    """Remembers a new pending Op; flushes by itself when the graph gets long, deep or heavy."""
    pending.append(op.cell)
    noted(op)


def noted(op: Op) -> None:
    """The second half of `note`, which most Ops do not need."""
    global _work
    now = tracing()
    if now is not None and op.depth >= most:
        now.deep.append(op)
        return
    if op.size > BIG:
        _work += op.size
    if op.depth >= most:
        flush(0)
    elif len(pending) >= most or _work >= MAX_WORK:
        flush(RECENT)


def weigh(work: int) -> None:
    """Adds the work of an operation that costs more than its size (a product, a long reduction)."""
    global _work
    _work += work


def flush(recent: int = 0, send: bool = True) -> None:
    """Computes what is pending and still named by an Array, but the most recent operations; waits for nothing.

    send: False may leave commands in the stream, for the next submit.
    """
    global _work
    now = tracing()
    if now is not None:
        now.work += _work
        _work = 0
        return
    _work = 0
    keep = len(pending) - recent
    cells, pending[:] = pending[:keep], pending[keep:]
    roots = [c.op for ref in cells if (c := ref()) is not None and c.op.buffer is None and c.op.kind >= EW]
    if not roots:
        return
    gpu = device()
    gpu.check()
    try:
        with one_thread:
            work(gpu, roots, send)
    except TabgpuError:
        if max(root.depth for root in roots) > 4 * MAX_DEPTH:
            raise  # work on top of what cannot be computed does not get shorter
        if len(roots) == 1:
            return  # its own read raises the error again
        for root in roots:
            try:
                with one_thread:
                    work(gpu, [root])
            except TabgpuError:
                continue


def work(gpu: Device, roots: list[Op], send: bool = True) -> None:
    """Computes roots here and now, whatever has to be compiled for it."""
    roots = [root for root in roots if root.buffer is None]
    if roots:
        Work(gpu, roots).run(send)


def settle(gpu: Device, ops: list[Op]) -> None:
    """Gives Ops memory, pending ones and constants: what is named by an Array is computed with them."""
    flush(send=False)
    for op in ops:
        if op.buffer is None and op.kind in (SCALAR, IOTA):
            copy = Op(EW, copy_fn(op.dtype), (op,), (None,), op.shape, op.dtype)
            work(gpu, [copy], False)
            op.buffer = copy.buffer
    work(gpu, ops, False)


def packed(op: Op, layout: Layout) -> tuple[Op, int]:
    """(Op, first element) of a row-major run that holds a view's elements; a new pending copy if there is none yet."""
    if (op.kind in (SCALAR, IOTA) and op.buffer is None) or not is_contiguous(layout):
        return Op(
            EW, copy_fn(op.dtype), (op,), (None if layout is op.layout else layout,), layout.shape, op.dtype
        ), 0
    return op, layout.offset


async def fetch(views: list[tuple[Op, Layout]]) -> list[tuple[bytearray, int]]:
    """Computes and reads several views in one submit and one read: (host memory, first byte) for each."""
    refuse("a read")
    gpu = device()
    gpu.check()
    targets = [packed(op, layout) for op, layout in views]
    await compute([op for op, _ in targets if op.size], merge=True)
    guards = await _open_guards([op for op, _ in targets])
    ranges, places, total = [], [], 0
    for (op, first), (_, layout) in zip(targets, views, strict=True):
        size = 1
        for n in layout.shape:
            size *= n
        if not size:
            places.append(total)
            continue
        begin = first * op.dtype.itemsize
        lead = begin & 3
        n = lead + size * op.dtype.itemsize + 3 & ~3
        assert op.buffer is not None
        ranges.append((op.buffer, begin - lead, n))
        places.append(total + lead)
        total += n
    for _, check in guards:
        assert check.buffer is not None
        ranges.append((check.buffer, 0, 4))
    memory = blank(total + 4 * len(guards))
    if ranges:
        await gpu.read(ranges, memory)
    for k, (guard, _) in enumerate(guards):
        guard.settle(int.from_bytes(memory[total + 4 * k : total + 4 * k + 4], "little"))
    for op, _ in targets:
        _raise_for(op)
    return [(memory, at) for at in places]


async def fetch_element(op: Op, layout: Layout) -> tuple[bytearray, int]:
    """fetch() of a view of one element; the shortest way where its value is on the GPU already."""
    with one_thread:  # behind a submit that another thread makes
        gpu, buffer = _device, op.buffer
    if gpu is None or buffer is None or buffer.guards or any_tracing():
        return (await fetch([(op, layout)]))[0]
    begin = layout.offset * op.dtype.itemsize
    lead = begin & 3
    n = lead + op.dtype.itemsize + 3 & ~3
    memory = bytearray(n)
    await gpu.read([(buffer, begin - lead, n)], memory)
    return memory, lead


async def _open_guards(ops: list[Op]) -> list[tuple[Guard, Op]]:
    """The conditions on device data that computed values depend on and nobody knows yet, computed."""
    found: dict[Guard, Op] = {}
    for op in ops:
        _raise_for(op)
        for guard in op.buffer.guards if op.buffer is not None else ():
            if guard.cell is not None:
                found[guard] = guard.cell.op
    if found:
        await compute(list(found.values()))
    return list(found.items())


def _raise_for(op: Op) -> None:
    """The error of a condition that a value depends on, if one is known not to hold."""
    for guard in op.buffer.guards if op.buffer is not None else ():
        if guard.error is not None:
            raise type(guard.error)(*guard.error.args)


def _attempt(gpu: Device, ops: list[Op], merge: bool, learn: bool) -> tuple[list[Kernel], list[Op]]:
    """Computes Ops, if nothing has to be compiled for it: (kernels that are missing, Ops that are not computed)."""
    roots = [op for op in ops if op.buffer is None]
    if not roots:
        return [], []
    if any(op.kind == LEAF for op in roots):
        raise TracingError(LEAKED)
    for op in ops:
        if op.buffer is not None:
            gpu.check_owner(op.buffer)
    job = Work(gpu, roots, merge, learn)
    missing = job.missing()
    if missing:
        return missing, roots
    job.run()
    pending[:] = [ref for ref in pending if (c := ref()) is not None and c.op.buffer is None]
    return [], []


async def compute(ops: list[Op], merge: bool = False) -> None:
    """Computes Ops: missing kernels are compiled first, all at once; plan, emit and submit are one synchronous step."""
    gpu = device()
    learn = True
    while True:
        with one_thread:
            missing, roots = _attempt(gpu, ops, merge, learn)
            if not missing:
                return
            learn = False  # the same once more
            for op in roots:  # stored by whoever computes it meanwhile, even if no Array names it any more
                op.uses += 1
        try:
            await gpu.compile(missing)
        finally:
            for op in roots:
                op.uses -= 1
        gpu.check()


def give(op: Op, layout: Layout, kind: str, size: int) -> Any:
    """A JavaScript promise of a typed array of that class with `size` elements of a view; what awaits it is not Python.

    Where kernels are missing or conditions on device data are open, an asyncio future of the same.
    """
    giving.check()
    refuse("a read")
    gpu = device()
    gpu.check()
    target, first = packed(op, layout)
    if target.size:
        with one_thread:
            missing, _ = _attempt(gpu, [target], True, True)
            buffer = target.buffer
        if not missing and buffer is not None and not buffer.guards:
            return giving.give(gpu, buffer, first * target.dtype.itemsize, kind, size)
    return start(_give_later(gpu, op, layout, kind, size))


async def _give_later(gpu: Device, op: Op, layout: Layout, kind: str, size: int) -> Any:
    memory, at = (await fetch([(op, layout)]))[0]
    return giving.copied(gpu, memory, at, kind, size)


async def wait() -> None:
    """Computes everything pending and waits until the device is idle; raises errors nobody has seen."""
    gpu = device()
    gpu.check()
    cells = list(pending)
    roots = [c.op for ref in cells if (c := ref()) is not None and c.op.buffer is None and c.op.kind >= EW]
    pending.clear()
    if roots:
        await compute(roots)
    await gpu.wait()


async def compile_known() -> None:
    """Compiles what earlier pages needed on this adapter, and remembers what is compiled from now on."""
    from .remembered import compile_known as compile_remembered  # rarely needed

    gpu = device()
    gpu.check()
    await compile_remembered(gpu, getattr(sys.modules[__package__ or ""], "__version__", ""))


async def fetch_range(url: str, first: int, end: int, into: Any) -> tuple[Any, int | None, bool, Any]:
    """Bytes of a URL; see fetching.py."""
    from .fetching import fetch_range as fetch_from  # rarely needed

    return await fetch_from(device().js, url, first, end, into)


def wait_for(awaitable: Any, what: str, instead: str) -> Any:
    """The result of an awaitable without `await`, where Python can suspend; SyncError with what to write elsewhere."""
    if tracing() is not None:
        awaitable.close()
        refuse(what)
    if can_suspend():
        return run_sync(awaitable)
    awaitable.close()
    raise SyncError(f"{what} needs the value now, and Python cannot wait here: write `{instead}`")


__all__ = [
    "Device",
    "any_tracing",
    "can_suspend",
    "device",
    "execute",
    "facts_of",
    "fetch",
    "fetch_element",
    "foreign",
    "give",
    "note",
    "one_thread",
    "prepare",
    "programs",
    "touch",
    "tracing",
    "typed_array",
    "upload",
    "wait",
]
