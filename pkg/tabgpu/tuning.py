"""`await tg.tune()`: measures which kernel is fastest for products of a size on this GPU, and remembers it.

What is remembered, and for whom it holds, is in tuned.py; the kernels to choose from are in kernels/gemm_tiles.py.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from time import perf_counter
from typing import Any, NamedTuple

from . import bridge, engine, region, tuned
from .ceilings import block
from .config import Config
from .device import Device
from .dtypes import float16, float32
from .errors import GPUInternalError, KernelError, LimitError, OutOfMemoryError
from .graph import LEAF, Op, nbytes_of
from .kernels import gemm_tiles
from .launch import Launch
from .lower import lower
from .plan import plan
from .routines import kernel, launch

SPAN = 3e-3  # seconds that a timed block takes at least
MOST = 256  # products in a block
ROUNDS = 3
GAIN = 0.95  # another plan must take at most so much of the default's time
HOPELESS = 1.5  # after one block: this many times the best time so far
MEMORY = 512 << 20  # bytes that the operands and the result of a product may have
SAMPLE = 1024  # elements of the first and the last of a result that are compared
TOLERANCE = {"float32": 1e-3, "float16": 2e-2}  # of the largest element
PROBLEMS = (KernelError, LimitError, OutOfMemoryError, GPUInternalError)

_running = False


class Case(NamedTuple):
    """One class of products, by an example."""

    dtype: str
    m: int
    n: int
    k: int
    batch: int

    @property
    def key(self) -> tuple[object, ...]:
        return (tuned.KIND[self.dtype], *gemm_tiles.size_class(self.m, self.n, self.k, self.batch))

    @property
    def name(self) -> str:
        many = f"{self.batch} x " if self.batch > 1 else ""
        return f"{many}({self.m}, {self.k}) @ ({self.k}, {self.n}) {self.dtype}"


async def tune(
    *,
    seconds: float = 10.0,
    sizes: Iterable[Sequence[int]] | None = None,
    dtypes: Sequence[str] = ("float32", "float16"),
    progress: Callable[[float, str], Any] | None = None,
    reset: bool = False,
) -> dict[str, Any]:
    """Measures which kernel computes products fastest on this GPU, and remembers it: `await tg.tune()`.

    The table that chooses by default was made for no GPU in particular. For each class of sizes (m, n, k and the batch
    by powers of two) all kernels that fit are timed, common sizes first, until `seconds` are over. sizes: (m, n, k) or
    (m, n, k, batch) of the products that matter to you, (m, k) @ (k, n) each, instead of those. dtypes: of operands,
    "float32" and "float16". progress: called as progress(fraction, text) after each class; what it returns is awaited
    if it can be.

    What was found holds at once, and after a reload: a tab keeps it in IndexedDB, the native host in a file in the
    user's cache folder (TABGPU_CACHE names another, or "off"). `tg.init()` finds it there, if adapter, driver, features
    and version of tabgpu are the same; else it is ignored, and the next tune replaces it. Results differ by rounding
    only; a kernel whose result is off is never taken. reset=True measures nothing and forgets all.

    Returns a dict: adapter; seconds; classes, how many were measured; choices, {product: (kernel, times as fast as the
    default's)} where another kernel than the default won; kept, whether it will be there after a reload. On an adapter
    that computes on the CPU nothing is measured: there is nothing to choose.
    Raises ValueError for sizes that are none, RuntimeError while another tune is running.
    """
    global _running
    if seconds <= 0:
        raise ValueError(f"tune: seconds must be above 0, not {seconds!r}")
    unknown = [name for name in dtypes if name not in tuned.KIND]
    if unknown:
        raise ValueError(f"tune: dtypes are float32 and float16, not {unknown[0]!r}")
    cases = list(_cases(None if sizes is None else list(sizes), dtypes))
    if _running:
        raise RuntimeError("tune: another call is measuring; it would disturb this one")
    _running = True
    try:
        if engine.current() is None:
            await engine.open_new(Config())
        await engine.wait()
        gpu = engine.device()
        if reset:
            kept = await bridge.keep(bridge.TUNING, "")
            _hold(gpu, {})
            return _report(gpu, 0.0, 0, {}, kept)
        told, gpu.on_compiled = (
            gpu.on_compiled,
            None,
        )  # kernels that are only tried need not be there next time
        try:
            return await _tune(gpu, cases, seconds, progress)
        finally:
            gpu.on_compiled = told
    finally:
        _running = False


async def _tune(gpu: Device, cases: list[Case], seconds: float, progress: Any) -> dict[str, Any]:
    begin = perf_counter()
    who = tuned.identity(gpu)
    choices = tuned.read(gpu.tuning, who)
    won: dict[str, tuple[str, float]] = {}
    done = 0
    for at, case in enumerate([] if gpu.software else cases, 1):
        if perf_counter() - begin > seconds:
            break
        text = "too large, or no time left"
        try:
            found = await _measure(gpu, case, begin + seconds)
        except PROBLEMS as problem:
            if gpu.lost:
                raise
            found, text = None, f"not measured: {problem}"
        if found is not None:
            done += 1
            text = "the default"
            choices.pop(case.key, None)
            name, gain = found
            if name:
                choices[case.key] = name
                won[case.name] = found
                text = f"{name}, {gain:.2f} times as fast as the default"
        if progress is not None:
            share = max((perf_counter() - begin) / seconds, at / len(cases))
            answer = progress(min(1.0, share), f"{case.name}: {text}")
            if hasattr(answer, "__await__"):
                await answer
    kept = False
    if done:
        gpu.tuning = tuned.text(who, choices)
        kept = await bridge.keep(bridge.TUNING, gpu.tuning)
    _hold(gpu, choices)
    return _report(gpu, perf_counter() - begin, done, won, kept)


def _report(
    gpu: Device, took: float, done: int, won: dict[str, tuple[str, float]], kept: bool
) -> dict[str, Any]:
    return {"adapter": gpu.name, "seconds": took, "classes": done, "choices": won, "kept": kept}


def _hold(gpu: Device, choices: dict[tuple[object, ...], str]) -> None:
    """These choices are used from now on."""
    tuned.adopt(choices)
    if not choices:
        gpu.tuning = ""
    region.recipes.clear()
    if gpu.programs is not None:
        gpu.programs.clear()


def _cases(sizes: list[Sequence[int]] | None, dtypes: Sequence[str]) -> Iterator[Case]:
    """What to measure, in this order; one of each class."""
    seen: set[tuple[object, ...]] = set()
    for dtype, size in _ordered(sizes, dtypes):
        whole = [*size, 1][:4]
        if len(size) not in (3, 4) or any(not isinstance(x, int) or x < 1 for x in whole):
            raise ValueError(f"tune: sizes are (m, n, k) or (m, n, k, batch), not {tuple(size)!r}")
        case = Case(dtype, *whole)
        if case.key not in seen:
            seen.add(case.key)
            yield case


def _ordered(sizes: list[Sequence[int]] | None, dtypes: Sequence[str]) -> Iterator[tuple[str, Sequence[int]]]:
    if sizes is not None:
        for size in sizes:
            for dtype in dtypes:
                yield dtype, size
        return
    cubes = [(n, n, n) for n in (1024, 512, 2048, 256, 4096, 128, 64)]
    odd: list[Sequence[int]] = []
    for n in (4096, 1024):
        odd += [(1, n, n), (n, 1, n), (4, n, n), (16, n, n), (n, 16, n), (64, n, n), (n, n, 64)]
    odd += [(128, 128, 16384), (256, 256, 8192), (64, 64, 65536), (1024, 1024, 128), (1024, 1024, 8192)]
    odd += [
        (128, 128, 128, 64),
        (64, 64, 64, 512),
        (512, 512, 64, 64),
        (512, 64, 512, 64),
        (256, 256, 256, 16),
    ]
    for some in (cubes, odd):
        for dtype in dtypes:
            for size in some:
                yield dtype, size
    every = [e for e in product((6, 7, 8, 9, 10, 11, 12), repeat=3) if sum(e) <= 33]
    for m, n, k in sorted(every, key=lambda e: (max(e) - min(e), sum(e))):
        for dtype in dtypes:
            yield dtype, (1 << m, 1 << n, 1 << k)


class _Trial(NamedTuple):
    """A plan's launches for one product."""

    name: str
    launches: list[Launch]


async def _measure(gpu: Device, case: Case, deadline: float) -> tuple[str, float] | None:
    """(name of the plan that beats the default, or "", how many times as fast); None if there is no time or room."""
    dtype = float32 if case.dtype == "float32" else float16
    a, out, trials = _trials(gpu, case, dtype)
    if not trials:
        return None
    first = trials.pop(0)
    count = min(nbytes_of(a), nbytes_of(out)) // 16
    # Over the result before each trial, so that what a plan leaves out shows.
    other = launch(
        kernel("ceiling_copy", "rw"), (a,), (out,), -(-count // 64) or 1, [count], engine.facts_of(gpu)
    )
    await gpu.compile(gpu.missing([other, *first.launches]))
    await block(gpu, first.launches)
    single = await block(gpu, first.launches)
    if perf_counter() + single / 1e9 * (3 + len(trials)) > deadline:
        return None
    expected = await _sample(gpu, out)
    idle = min([await block(gpu, [], 0) for _ in range(3)])
    k = max(1, min(MOST, int(SPAN / max(1e-6, (single - idle) / 1e9)) + 1))
    best = default = await _best(gpu, first, k, idle, float("inf"))
    name = ""
    if bridge.in_browser():  # which compiles several at a time
        try:
            await gpu.compile(gpu.missing([one for trial in trials for one in trial.launches]))
        except PROBLEMS:
            gpu.check()  # the trial that is to blame meets its problem again
    while trials and perf_counter() < deadline:
        trial = trials.pop(0)
        try:
            await gpu.compile(gpu.missing(trial.launches))
            await block(gpu, [other, *trial.launches])
            if not _alike(expected, await _sample(gpu, out), TOLERANCE[case.dtype]):
                continue
            took = await _best(gpu, trial, k, idle, best)
        except PROBLEMS:
            if gpu.lost:
                raise
            continue
        if took < best and took < GAIN * default:
            best, name = took, trial.name
    return name, default / best


def _trials(gpu: Device, case: Case, dtype: Any) -> tuple[Op, Op, list[_Trial]]:
    """An operand, the result, and what each plan would launch for it, the default first; nothing has run yet."""
    from .ops.creation import arange, astype
    from .ops.elementwise import multiply, sin
    from .ops.manipulation import reshape
    from .ops.products import matmul

    batch = (case.batch,) if case.batch > 1 else ()
    shapes = (*batch, case.m, case.k), (*batch, case.k, case.n), (*batch, case.m, case.n)
    most = min(gpu.binding_limit, gpu.buffer_limit) - 256
    sizes = [4 * prod(shape) for shape in shapes]
    if sum(sizes) > MEMORY or max(sizes) > most:
        none = Op(LEAF, None, (), (), (), dtype)
        return none, none, []
    facts = engine.facts_of(gpu)
    operands = [
        astype(reshape(sin(multiply(arange(prod(shape), dtype=float32), 0.7 + k)), shape), dtype)
        for k, shape in enumerate(shapes[:2])
    ]
    engine.flush()
    whole = matmul(*operands)
    out = whole._cell.op
    names = gemm_tiles.candidates(
        case.m, case.n, case.k, case.batch, gpu.limits,
        features=gpu.features, halves=tuned.KIND[case.dtype],
    )  # fmt: skip
    before = dict(gemm_tiles.overrides)
    trials: list[_Trial] = []
    seen: set[tuple[Any, ...]] = set()
    try:
        gemm_tiles.overrides.pop(case.key, None)
        for at, name in enumerate(names):
            if at:  # the first is the default
                gemm_tiles.overrides[case.key] = name
            groups = plan([out], budget=gpu.limits["maxFusedBuffers"], fuse=True)
            own = replace(facts)  # so that nothing remembers what is tried here
            launches = [one for group in groups for one in lower(group, own)]
            what = tuple((x.kernel, x.grid, tuple(x.words)) for x in launches)
            if what not in seen:
                seen.add(what)
                trials.append(_Trial(name, launches))
    finally:
        gemm_tiles.overrides.clear()
        gemm_tiles.overrides.update(before)
    return operands[0]._cell.op, out, trials


async def _best(gpu: Device, trial: _Trial, k: int, idle: int, best: float) -> float:
    """Seconds of one product: the least of some blocks, or of one if that is far behind."""
    least = float("inf")
    for _ in range(ROUNDS):
        took = await block(gpu, trial.launches, k)
        least = min(least, max(took - idle, took // 4) / 1e9 / k)
        if least > HOPELESS * best:
            break
    return least


async def _sample(gpu: Device, out: Op) -> list[float]:
    """The first and the last elements of a result."""
    assert out.buffer is not None
    n, each = out.size, out.dtype.itemsize
    some = min(n, SAMPLE)
    ranges = []
    for begin in (0, n - some):
        low = begin * each & ~3
        ranges.append((out.buffer, low, ((begin + some) * each + 3 & ~3) - low))
    memory = bytearray(sum(size for _, _, size in ranges))
    counters = gpu.counters.as_dict()
    await gpu.read(ranges, memory)
    for name in ("reads", "bytes_read", "crossings"):
        setattr(gpu.counters, name, counters[name])
    code = "f" if each == 4 else "e"
    return [x for (x,) in struct.iter_unpack(f"<{code}", memory)]


def _alike(expected: list[float], got: list[float], tolerance: float) -> bool:
    most = tolerance * max(abs(x) for x in expected)
    return all(abs(x - y) <= most for x, y in zip(expected, got, strict=True))
