"""RawKernel: a whole WGSL module of a user's, launched on arrays."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from . import codegen_raw, engine
from .array import Array, fresh
from .codegen_custom import identifier
from .custom import _room
from .diagnosing import Diagnostic, diagnose, probed
from .dtypes import DType, as_dtype, complex64, float16, float32, int32, uint32
from .errors import KernelError, LimitError
from .graph import IOTA, KERNEL, SCALAR, Op
from .layout import Shape, as_shape
from .ops.convert import from_host
from .ops.creation import copy_of, zeros
from .ops.indexing import OWNED, rebind, setitem
from .ops.routine import stored
from .ops.rows import _scalar as number_of
from .routines.custom import Run, Text

_DTYPE = {"f": float32, "i": int32, "u": uint32, "h": float16}
_FEATURE = {"f16": "shader-f16"}  # others have the name of their directive, with - for _
PROBED = 64  # elements of each array in a probe


class RawKernel:
    """A compute kernel written in WGSL: `k = tg.RawKernel(wgsl, "entry")`, then `y = k(grid, x, ((n,), "float32"),
    2.0)`.

    wgsl is a whole module. Its arrays are `var<storage, read>` and `var<storage, read_write>` buffers with @group
    and @binding of any numbers; one `var<uniform>`, a number, a vector or a structure of them, holds all scalars
    (f32, i32, u32). Elements are checked: f32 is float32, i32 int32, u32 uint32 or any dtype of one or two bytes,
    packed into words in little-endian order, vec2f float32 or complex64, f16 float16 (needs shader-f16); structures
    take any.

    A call is lazy and functional: values recorded before it keep what they were. `block` is the workgroup size of
    the text. Errors of the WGSL are raised at the read, with their line. debug=True: `compile` also runs it on tiny
    arrays.
    """

    def __init__(self, wgsl: str, name: str = "main", *, debug: bool = False) -> None:
        self.name = identifier(name, "the entry", "RawKernel")
        self.module = codegen_raw.module(wgsl, name)
        self.debug = debug
        self.block = self.module.block
        access = "".join("w" if one.written else "r" for one in self.module.storage)
        self._text = Text(name, self.module.code, access, self.block[0] * self.block[1] * self.block[2])

    def __repr__(self) -> str:
        return f"<tabgpu RawKernel {self.name}>"

    @property
    def code(self) -> str:
        """The WGSL as it is compiled."""
        return self.module.code

    def __call__(self, grid: Any, *args: Any) -> Any:
        """Runs the kernel on `grid` workgroups (a number or up to three) and gives what it writes: an array, or a
        tuple.

        args: one for each storage variable in the order of (@group, @binding), then one for each scalar (a tuple
        for a vector). For a read_write variable an array, which the kernel changes in place (the array and all its
        views then have the new value, whoever read the old one keeps it), or (shape, dtype) of a new one, whose
        content is undefined where the kernel does not write. ValueError, TypeError and LimitError name the
        argument, before any GPU work.
        """
        where, module = self.name, self.module
        arrays, numbers = args[: len(module.storage)], args[len(module.storage) :]
        if len(args) != len(module.storage) + len(module.scalars):
            names = [module.storage[module.order.index(k)].name for k in range(len(module.storage))]
            wanted = ", ".join([*names, *(name for name, _ in module.scalars)])
            raise TypeError(f"{where}: takes ({wanted}), {len(args)} arguments given")
        size = self._grid(grid)
        scalars = self._scalars(numbers)
        self._check_device()
        reads: list[Op] = []
        outs: list[Any] = []
        for place, one in zip(module.order, module.storage, strict=True):
            x = arrays[place]
            if one.written:
                outs.append(self._target(one, x))
                continue
            x = x if isinstance(x, Array) else from_host(x, where)
            self._check(one, x.dtype, x.shape)
            reads.append(stored(x))
        cells = [x._cell for x in outs if isinstance(x, Array)]
        if len(set(cells)) != len(cells):
            raise ValueError(f"{where}: two read_write variables have the same array")
        return self._run(size, reads, outs, scalars)

    def _run(self, size: tuple[int, int, int], reads: list[Op], outs: list[Any], scalars: list[Any]) -> Any:
        """Records the launch; gives what it writes, in the user's order."""
        pieces = [copy_of(x) if isinstance(x, Array) and _partial(x) else x for x in outs]
        found = [self._memory(x, reads) for x in pieces]  # (old value, how it is used, shape, dtype)
        sizes = [_count(shape) for _, _, shape, _ in found]
        primary = next((k for k, n in enumerate(sizes) if n), 0)
        if not any(sizes):
            made = [zeros(shape, dtype=dtype) for _, _, shape, dtype in found]
        else:
            rooms = [
                _room(shape, dtype, old, how)
                for k, (old, how, shape, dtype) in enumerate(found)
                if k != primary
            ]
            old, how, shape, dtype = found[primary]
            kinds = [kinds for _, kinds in self.module.scalars]
            words = tuple(0 if k < 0 else (self._slot(k, c), kinds[k][c]) for k, c in self.module.words)
            run = Run(self._text, len(reads), len(rooms), primary, how, size, words)
            args = (*reads, *rooms, *(() if old is None else (old,)), *scalars)
            op = Op(KERNEL, "custom.run", args, (), shape, dtype, run)
            ops = [Op(KERNEL, "custom.take", (op, room), (), room.shape, room.dtype) for room in rooms]
            ops.insert(primary, op)
            made = [self._name(x, op) for x, op in zip(pieces, ops, strict=True)]
        for given, piece, new in zip(outs, pieces, made, strict=True):
            if isinstance(given, Array) and piece is not given:
                setitem(given, ..., new)  # a view: its part of the array
        made = [x if isinstance(x, Array) else new for x, new in zip(outs, made, strict=True)]
        order = [k for k, one in zip(self.module.order, self.module.storage, strict=True) if one.written]
        made = [x for _, x in sorted(zip(order, made, strict=True), key=lambda pair: pair[0])]
        return made[0] if len(made) == 1 else tuple(made)

    def _slot(self, k: int, component: int) -> int:
        """The number of a scalar's component among all."""
        return sum(len(kinds) for _, kinds in self.module.scalars[:k]) + component

    def _memory(self, x: Any, reads: list[Op]) -> tuple[Op | None, str, Shape, DType]:
        if not isinstance(x, Array):
            return None, "", *x
        old = x._cell.op
        if old.kind in (SCALAR, IOTA) and old.buffer is None:
            return copy_of(x)._cell.op, "own", x.shape, x.dtype
        mine = all(old is not other for other in reads)
        # the cell and this function's name
        mine = mine and sys.getrefcount(old) <= OWNED and not engine.foreign(old)
        return old, "own" if mine else "copy", x._cell.op.shape, x.dtype

    def _name(self, x: Any, op: Op) -> Array:
        if not isinstance(x, Array):
            return fresh(op)
        rebind(x, op)
        return x

    # --- checks ---------------------------------------------------------------------------------------------------

    def _grid(self, grid: Any) -> tuple[int, int, int]:
        dims = as_shape(grid, self.name)
        if not 1 <= len(dims) <= 3:
            raise ValueError(f"{self.name}: grid has 1 to 3 numbers of workgroups, not {dims}")
        most = engine.device().limits["maxComputeWorkgroupsPerDimension"]
        if max(dims) > most:
            raise LimitError(
                f"{self.name}: a grid of {dims} workgroups; this device runs {most} along an axis"
            )
        x, y, z, *_ = (*dims, 1, 1)
        return x, y, z

    def _scalars(self, given: Sequence[Any]) -> list[Any]:
        flat: list[Any] = []
        for (name, kinds), value in zip(self.module.scalars, given, strict=True):
            try:
                parts = (value,) if len(kinds) == 1 else tuple(value)
            except TypeError:
                parts = (value,)
            if len(parts) != len(kinds):
                raise ValueError(
                    f"{self.name}: {name} is a vector of {len(kinds)}, {len(parts)} numbers given"
                )
            for part in parts:
                if isinstance(part, (bool, Array)) or not isinstance(part, (int, float)):
                    raise TypeError(f"{self.name}: {name} takes a Python number, not {type(part).__name__}")
                dtype = _DTYPE[kinds[0]]
                if dtype.kind in "iu" and isinstance(part, float):
                    raise TypeError(f"{self.name}: {name} is {dtype.name}, not float")
                flat.append(number_of(part, dtype, self.name))
        return flat

    def _target(self, one: codegen_raw.Storage, x: Any) -> Any:
        """An array, or (shape, dtype)."""
        if isinstance(x, Array):
            self._check(one, x.dtype, x.shape)
            return x
        if not isinstance(x, tuple) or len(x) != 2:
            wrong = type(x).__name__
            raise TypeError(
                f"{self.name}: {one.name} is written: give an array or (shape, dtype), not {wrong}"
            )
        shape, dtype = as_shape(x[0], self.name), as_dtype(x[1])
        self._check(one, dtype, shape)
        return shape, dtype

    def _check(self, one: codegen_raw.Storage, dtype: DType, shape: Shape) -> None:
        want = _DTYPE.get(one.kind)
        if want is None:
            return
        fine = dtype is want or (want is uint32 and dtype.itemsize < 4) or (
            one.kind == "f" and one.lanes == 2 and dtype is complex64
        )  # fmt: skip
        if not fine:
            raise TypeError(
                f"{self.name}: {one.name} is {one.declared}, which {dtype.name} of shape {shape} is not"
            )

    def _check_device(self) -> None:
        """LimitError or KernelError for what this device cannot run."""
        gpu = engine.device()
        most = gpu.limits["maxStorageBuffersPerShaderStage"]
        if len(self.module.storage) > most:
            raise LimitError(
                f"{self.name}: {len(self.module.storage)} storage buffers; this device binds {most}"
            )
        threads = self.block[0] * self.block[1] * self.block[2]
        limit = gpu.limits["maxComputeInvocationsPerWorkgroup"]
        if threads > limit:
            raise LimitError(
                f"{self.name}: a workgroup of {self.block} is {threads} threads; this device runs {limit}"
            )
        for axis, n in zip("XYZ", self.block, strict=True):
            limit = gpu.limits.get(f"maxComputeWorkgroupSize{axis}", n)
            if n > limit:
                raise LimitError(f"{self.name}: {n} threads along {axis}; this device runs {limit}")
        for name in self.module.enables:
            feature = _FEATURE.get(name, name.replace("_", "-"))
            if feature not in gpu.features:
                raise KernelError(
                    f"{self.name}: `enable {name};` needs {feature}, which this adapter does not have"
                )

    # --- looking at it --------------------------------------------------------------------------------------------

    async def compile(self) -> list[Diagnostic]:
        """What the compiler says of the text, nothing if all is well; each with its line. With debug=True the kernel is
        also run: one workgroup, arrays of 64 zeros, scalars 0."""
        self._check_device()
        found = await diagnose(self.name, self.module.code)
        gpu = engine.device()
        if not any(d.kind == "error" for d in found):
            try:
                missing = gpu.uncompiled([self._text.kernel])
                await gpu.compile(missing)
            except KernelError as error:
                found.append(Diagnostic("error", 0, str(error), "", self.name))
            else:
                if self.debug:
                    found += await probed(self.name, self._probe)
        return found

    def _probe(self) -> list[Array]:
        args: list[Any] = [None] * len(self.module.storage)
        for place, one in zip(self.module.order, self.module.storage, strict=True):
            args[place] = zeros((PROBED,), dtype=_DTYPE.get(one.kind, uint32))
        for _, kinds in self.module.scalars:
            args.append(0 if len(kinds) == 1 else (0,) * len(kinds))
        made = self(1, *args)
        return list(made) if isinstance(made, tuple) else [made]


def _partial(x: Array) -> bool:
    """Whether an array is not all of its memory as it lies."""
    return x._layout != x._cell.op.layout


def _count(shape: Shape) -> int:
    n = 1
    for k in shape:
        n *= k
    return n
