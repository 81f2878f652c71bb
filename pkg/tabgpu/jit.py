"""tg.jit: a function traced once for each kind of arguments, then replayed with one copy of its commands.

What is an input, what a number and what only part of the kind: jit_arguments.py. The launches: traces.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import update_wrapper
from inspect import iscoroutinefunction
from typing import Any, NamedTuple

from . import engine, traces, watching
from .array import Array, named
from .dtypes import DType, as_dtype
from .graph import Cell, Op, facts_of
from .jit_arguments import Arguments, StandIns, static
from .layout import Layout, as_shape
from .ops.creation import zeros
from .ops.rows import _scalar as operand
from .traced import KINDS, Scalars

MAX_TRACES = 64  # kept by a function; above that, those not used for longest are dropped


class CacheInfo(NamedTuple):
    """What Jitted.cache_info() tells: calls that replayed a trace, calls that made one, traces kept."""

    hits: int
    traces: int
    size: int
    most: int


class ShapeDtype(NamedTuple):
    """A shape and a dtype in place of an array: `await tg.warmup(f, tg.ShapeDtype((256, 256), tg.float32))`."""

    shape: tuple[int, ...]
    dtype: Any = "float32"


class _Replay:
    """A trace with what only jit knows: when it holds, and the structure of its result."""

    __slots__ = ("free", "kinds", "observed", "result", "scalars", "simple", "trace", "used", "watch")

    def __init__(self, trace: traces.Trace, scalars: Scalars, watch: watching.Watch) -> None:
        self.trace, self.scalars, self.watch = trace, scalars, watch
        self.observed = [(k, scalars.values[k]) for k in sorted(scalars.observed)]
        parameters = scalars.parameters
        # Numbers that are operands of float32 need no conversion on the way.
        self.simple = (
            [number for number, _, _ in parameters]
            if not scalars.steps and all(dtype.name == "float32" for _, dtype, _ in parameters)
            else None
        )
        self.result: Any = None
        self.used = 0
        self.kinds: Any = None  # for the shortest way, as _kinds gives them; () if closed
        self.free = watch.empty()

    def holds(self, values: list[Any]) -> bool:
        for k, value in self.observed:
            if values[k] != value or repr(values[k]) != repr(value):
                return False
        return self.trace.holds() and self.watch.holds(self.trace)

    def words(self, values: list[Any]) -> list[Any] | None:
        """The scalars of the program; None where they cannot be what they were when it was traced."""
        if self.simple is not None:
            return [values[k] for k in self.simple]
        every = self.scalars.replay(values)
        if every is None:
            return None
        try:
            return [operand(every[k], dtype, where) for k, dtype, where in self.scalars.parameters]
        except OverflowError:
            return None

    def rebuilt(self, cells: list[Cell], given: Arguments, shape: Any) -> Any:
        """The result, in the structure that the function returned."""
        kind, what = shape
        if kind == "array":
            dtype, layout, at = what
            cell = cells[at]
            return Array(dtype, cell.op.layout if layout is None else layout, cell)
        if kind == "dict":
            made, items = what
            out = {name: self.rebuilt(cells, given, item) for name, item in items}
            if made is None:
                return out
            other = copy(made)  # a dict of another class, with whatever else it knows
            other.update(out)
            return other
        if kind == "sequence":
            made, items = what
            built = [self.rebuilt(cells, given, item) for item in items]
            return made(*built) if hasattr(made, "_fields") else made(built)
        if kind == "argument":
            return given.arrays[what]
        if kind == "number":
            every = self.scalars.replay(given.values)
            return None if every is None else every[what]
        return what


class Jitted:
    """What tg.jit makes of a function."""

    def __init__(self, function: Callable[..., Any], static_argnums: Any, static_argnames: Any) -> None:
        update_wrapper(self, function)
        self.function = function
        self._static = frozenset((static_argnums,) if isinstance(static_argnums, int) else static_argnums)
        self._static_names = frozenset(
            (static_argnames,) if isinstance(static_argnames, str) else static_argnames
        )
        self._found: dict[Any, list[_Replay]] = {}
        self._last: Any = None  # of these the one that __call__ tries by itself
        self._whole: set[Any] = set()
        self._gpu: Any = None
        self._programs: Any = None
        self._mark: Any = None
        self._hits = self._made = 0

    def __repr__(self) -> str:
        return f"<tabgpu.jit of {getattr(self.function, '__qualname__', self.function)!s}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a method: the instance is a static argument."""
        if instance is None:
            return self
        from functools import partial

        return partial(self, instance)

    def __call__(self, *args: Any, **options: Any) -> Any:
        gpu = self._gpu
        if (
            self._last is not None
            and gpu is engine.current()
            and not (options or self._gpu.lost)
            and self._programs.mark is self._mark
            and not engine.any_tracing()
        ):
            # The shortest way: arrays and numbers in, one array out, nothing to look up.
            replay = self._last
            if len(args) != len(replay.kinds):
                return self._call(args, options)
            ops: list[Op] = []
            values: list[Any] = []
            for x, (dtype, whole, layout) in zip(args, replay.kinds, strict=True):
                if type(x) is Array:
                    op, seen = x._cell.op, x._layout
                    if op.layout is not whole or op.dtype is not dtype:
                        break
                    if seen is not layout and seen != layout:
                        break
                    if op.buffer is None or op in ops:
                        break
                    ops.append(op)
                elif type(x) is dtype:
                    values.append(x)
                else:
                    break
            else:
                if replay.free or replay.watch.holds(replay.trace):
                    words = [values[k] for k in replay.simple] if replay.simple else ()
                    with engine.one_thread:
                        made = replay.trace.quick(ops, words)
                    if made is not None:
                        self._hits = replay.used = self._hits + 1
                        return named(made)
        return self._call(args, options)

    def _call(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if engine.tracing() is not None:
            return self.function(*args, **options)
        gpu = engine.device()
        gpu.check()
        given = self._arguments(args, options, False)
        key = tuple(given.key)
        if key in self._whole:
            given = self._arguments(args, options, True)
            key = (True, *given.key)
        with engine.one_thread:
            self._belong(gpu)
            if given.packed and any(r.trace.names_inputs() for r in self._found.get(key, ())):
                self._whole.add(key)  # a packed copy is not the array that was given
                given = self._arguments(args, options, True)
                key = (True, *given.key)
            replay, words = self._known(key, given)
            if replay is not None:
                self._hits += 1
                self._prefer(key, replay)
            else:
                replay, given = self._trace(key, given, args, options)
                words = replay.words(given.values)
            assert words is not None
            if not replay.trace.entangled(given.cells):
                return self._played(replay, given, words)
        return self.function(*args, **options)

    def _known(self, key: Any, given: Arguments) -> tuple[_Replay | None, list[Any] | None]:
        """A trace that holds for a call, and its scalars."""
        for replay in self._found.get(key, ()):
            if replay.holds(given.values):
                words = replay.words(given.values)
                if words is not None:
                    return replay, words
        return None, None

    def _belong(self, gpu: Any) -> None:
        """Traces are of one device, and of one way to plan."""
        programs = engine.programs(gpu)
        if gpu is not self._gpu or programs.mark is not self._mark:
            self.clear()
            self._gpu, self._programs, self._mark = gpu, programs, programs.mark

    def _arguments(self, args: Sequence[Any], options: dict[str, Any], whole: bool) -> Arguments:
        given = Arguments(whole)
        for k, x in enumerate(args):
            if k in self._static:
                static(given, x, f"argument {k}")
            else:
                given.add(x, f"argument {k}")
        for name in sorted(options):
            given.key.append(name)
            if name in self._static_names:
                static(given, options[name], name)
            else:
                given.add(options[name], name)
        cells = given.cells
        if len(cells) > 1 and len(set(cells)) < len(cells):  # one array given twice
            first: dict[Cell, int] = {}
            given.key.append(tuple([first.setdefault(cell, len(first)) for cell in cells]))
        return given

    def _played(self, replay: _Replay, given: Arguments, words: list[Any]) -> Any:
        replay.used = self._hits
        cells = given.cells
        out = replay.trace.play(list(dict.fromkeys(cells)) if len(cells) > 1 else cells, words)
        shape = replay.result
        if shape[0] == "array":
            dtype, layout, at = shape[1]
            cell = out[at]
            return Array(dtype, cell.op.layout if layout is None else layout, cell)
        return replay.rebuilt(out, given, shape)

    def _trace(
        self,
        key: Any,
        given: Arguments,
        args: Sequence[Any],
        options: dict[str, Any],
        fixed: frozenset[int] = frozenset(),
    ) -> tuple[_Replay, Arguments]:
        """Runs the function once with stand-ins, and keeps what it did."""
        gpu = engine.device()
        with engine.trace() as now:
            scalars = Scalars(given.values, set(fixed))
            stand = StandIns(given, scalars.arguments)
            watch = watching.Watch(self.function, given.objects)
            before = [x if k in self._static else stand.of(x) for k, x in enumerate(args)]
            named = {
                k: options[k] if k in self._static_names else stand.of(options[k]) for k in sorted(options)
            }
            result = self.function(*before, **named)
            stand.check()
            watch.leave()
            found: dict[Cell, int] = {}
            shape = _shape_of(result, {id(a): k for k, a in enumerate(stand.arrays)}, found)
            trace = traces.Trace(gpu, now, stand.cells, list(found))
        if given.packed and trace.names_inputs():  # a packed copy is not the array that was given
            self._whole.add(key)
            given = self._arguments(args, options, True)
            return self._trace((True, *given.key), given, args, options)
        replay = _Replay(trace, scalars, watch)
        replay.result = shape
        if (
            replay.words(given.values) is None
        ):  # a number that does not fit its operand: what the function says then
            return self._trace(key, given, args, options, frozenset(range(len(given.values))))
        self._made += 1
        self._keep(key, replay)
        return replay, given

    def _keep(self, key: Any, replay: _Replay) -> None:
        if sum(map(len, self._found.values())) >= MAX_TRACES:
            self._last = None
            oldest = min((r for some in self._found.values() for r in some), key=lambda r: r.used)
            for name, some in list(self._found.items()):
                if oldest in some:
                    some.remove(oldest)
                if not some:
                    del self._found[name]
        replay.used = self._hits
        self._found.setdefault(key, []).insert(0, replay)
        self._prefer(key, replay)

    def _prefer(self, key: Any, replay: _Replay) -> None:
        """Notes a trace for the shortest way, if that is open to it."""
        if replay.kinds is None:
            shape = replay.result
            plain = not (self._static or replay.observed or replay.simple is None) and replay.trace.one()
            kinds = _kinds(key) if plain and shape[0] == "array" and shape[1][1] is None else None
            replay.kinds = kinds if kinds is not None else ()
        if replay.kinds:
            self._last = replay

    async def warmup(self, *args: Any, **options: Any) -> None:
        """Traces for these arguments and compiles what the trace needs; runs nothing on the GPU."""
        gpu = engine.device()
        gpu.check()
        args = tuple([_stored(x) for x in args])
        options = {name: _stored(x) for name, x in options.items()}
        given = self._arguments(args, options, False)
        key = tuple(given.key)
        with engine.one_thread:
            self._belong(gpu)
            replay = next((r for r in self._found.get(key, ()) if r.holds(given.values)), None)
            if replay is None:
                replay, _ = self._trace(key, given, args, options)
        await gpu.compile(replay.trace.missing())

    @property
    def traces(self) -> int:
        """How often the function was traced."""
        return self._made

    def cache_info(self) -> CacheInfo:
        """Calls that replayed a trace, traces made, traces kept, and how many are kept at most."""
        return CacheInfo(self._hits, self._made, sum(map(len, self._found.values())), MAX_TRACES)

    def clear(self) -> None:
        """Forgets all traces, and with them what they captured."""
        self._found.clear()
        self._last = None
        self._whole.clear()


def _shape_of(result: Any, given: dict[int, int], cells: dict[Cell, int]) -> Any:
    """How a result is built up: (kind, what). Notes the cells it needs."""
    kind = type(result)
    if isinstance(result, Array):
        if id(result) in given:
            return "argument", given[id(result)]
        cell, layout = result._cell, result._layout
        at = cells.setdefault(cell, len(cells))
        return "array", (result.dtype, None if layout is cell.op.layout else layout, at)
    if kind in KINDS:
        return "number", result._number
    if isinstance(result, dict):
        return "dict", (
            None if kind is dict else copy(result),
            [(k, _shape_of(v, given, cells)) for k, v in result.items()],
        )
    if isinstance(result, (list, tuple)):
        return "sequence", (kind, [_shape_of(v, given, cells) for v in result])
    return "constant", result


def _kinds(key: Any) -> Any:
    """What a key consists of: (dtype, layout of the memory, that of the view) of arrays, (type, None, None) of numbers;
    None if there is anything else."""
    kinds: list[tuple[Any, Any, Any]] = []
    k = 0
    while k < len(key):
        part = key[k]
        if isinstance(part, DType):
            whole = facts_of(key[k + 1])[0]
            k += 2
            view = k < len(key) and isinstance(key[k], Layout)
            kinds.append((part, whole, key[k] if view else whole))
            k += view
        elif part in (int, float):
            kinds.append((part, None, None))
            k += 1
        else:
            return None
    return tuple(kinds)


def _stored(x: Any) -> Any:
    """An argument with an array in place of each ShapeDtype; it costs no memory."""
    if type(x) is ShapeDtype:
        return zeros(as_shape(x.shape, "warmup"), dtype=as_dtype(x.dtype))
    if isinstance(x, dict):
        return type(x)({name: _stored(value) for name, value in x.items()})
    if isinstance(x, (list, tuple)):
        items = [_stored(value) for value in x]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    return x


def jit(
    function: Callable[..., Any] | None = None, *, static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Any:  # fmt: skip
    """`f = tg.jit(f)` or `@tg.jit`: the function is run once for each kind of arguments and from then on replayed.

    A call costs one copy of the recorded commands, whatever the number of operations; they are submitted with the next
    read, or when there are many. The result equals the function's own.

    Arguments: arrays (NumPy's are uploaded), numbers, and lists, tuples and dicts of such. A trace is made for each
    combination of structure, shapes, dtypes and strides (of views; those that begin elsewhere than their memory are
    packed first). A number as an argument or in a dict does not cause a trace of its own as long as it is only an
    operand beside arrays or in arithmetic; where its value is looked at (a comparison, a shape, an index, range), and
    for bools, strings, None, numbers in lists and tuples, and all arguments named by static_argnums and
    static_argnames, there is a trace for each value.

    Python's own side effects (print, a counter) happen once a trace. An array from outside is used as it is at the
    call: after `w[...] = x` and, if the function names it as a global or an enclosing variable, after `w = x`; what is
    inside objects and containers should be an argument. `a[...] = x` on an argument changes the caller's array.
    Functions that other traced functions call become part of these.

    Raises TracingError (a TypeError) where the function reads values (float(a), a mask as an index), TypeError for
    arguments without a hash. Has `traces`, `cache_info()`, `clear()` and `await f.warmup(*args)`.
    """
    if function is None:
        return lambda f: jit(f, static_argnums=static_argnums, static_argnames=static_argnames)
    if not callable(function):
        raise TypeError(f"jit: {type(function).__name__} is no function")
    if iscoroutinefunction(function):
        raise TypeError("jit: a coroutine function waits for values, and a trace has none")
    return Jitted(function, static_argnums, static_argnames)


async def warmup(function: Callable[..., Any] | None = None, *args: Any, **options: Any) -> int:
    """Compiles ahead, so that later calls compile nothing; runs nothing on the GPU. How many kernels that took.

    `await tg.warmup(f, *args, **options)`: what f(*args, **options) needs; with tg.ShapeDtype(shape, dtype) in place of
    arrays if there are none yet. A function of tg.jit keeps the trace that is made for this. f must not read values.
    `await tg.warmup()`: what earlier pages needed on this adapter with this version of tabgpu (kept in IndexedDB, on
    the native host in a file; at most 512 kernels), and remembers what is compiled from now on.
    """
    before = engine.device().counters.pipelines
    if function is None:
        await engine.compile_known()
    else:
        made = function if isinstance(function, Jitted) else Jitted(function, (), ())
        await made.warmup(*args, **options)
    return int(engine.device().counters.pipelines - before)
