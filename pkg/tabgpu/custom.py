"""ElementwiseKernel: a function of arrays whose body is a user's WGSL. Also custom_reduction.py, custom_raw.py."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from . import codegen_custom as text
from . import engine
from .array import Array, fresh, source
from .diagnosing import Diagnostic, diagnose, probed
from .dtypes import DType, as_dtype, bool_, complex64, float32, int32, uint32
from .errors import LimitError
from .graph import EW, IOTA, KERNEL, SCALAR, Fn, Op
from .layout import Layout, Shape, as_shape, broadcast_shapes, broadcast_to, contiguous
from .ops.convert import from_host
from .ops.creation import copy_of, full, ones
from .ops.routine import stored
from .ops.rows import _scalar as number_of
from .ops.ufunc_arguments import as_out, store
from .routines.custom import Run
from .traced import KINDS

WGSL = {"f32": float32, "i32": int32, "u32": uint32, "vec2f": complex64}
VALUE = {"b": "bool", "i": "i32", "u": "u32", "f": "f32", "c": "vec2f"}
_PYTHON = {bool: "b", int: "i", float: "f", complex: "c"}
_ORDER = "biufc"
_DEFAULT = {"b": bool_, "i": int32, "f": float32, "c": complex64}


class Part(NamedTuple):
    """One parameter: its name, its dtype or the letter that stands for one, and whether it is raw."""

    name: str
    dtype: DType | str
    raw: bool


def parts_of(params: str, where: str) -> tuple[Part, ...]:
    """The parameters of 'float32 x, raw T y'."""
    found: list[Part] = []
    for one in params.split(",") if params.strip() else ():
        words = one.split()
        raw = words[:1] == ["raw"]
        if len(words) != 2 + raw:
            raise ValueError(f"{where}: a parameter is written 'DTYPE NAME' or 'raw DTYPE NAME', not {one!r}")
        kind, name = words[raw:]
        text.identifier(name, "the parameter", where)
        if name in ("i", "n") or any(name == part.name for part in found):
            raise ValueError(f"{where}: the name {name!r} is taken")
        dtype: DType | str = kind if len(kind) == 1 and kind.isalpha() and kind.isascii() else ""
        if not dtype:
            try:
                dtype = WGSL[kind] if kind in WGSL else as_dtype(kind)
            except TypeError as error:
                raise TypeError(f"{where}: parameter {name}: {error}") from None
        found.append(Part(name, dtype, raw))
    return tuple(found)


class ElementwiseKernel:
    """A function of arrays whose body is WGSL: `k = tg.ElementwiseKernel('float32 x, T y', 'T z', 'z = x +
    T(y);')`.

    in_params, out_params: 'DTYPE NAME, ..' as CuPy writes them. DTYPE is one of tabgpu's (f32, i32, u32 and vec2f
    are names too); a single letter stands for the dtype of what is given, and is a type in the body. Values of
    narrow dtypes are f32, i32 or u32 in the body and are rounded or wrapped when they leave it; complex64 is a
    vec2f. `i` is the position (u32) in row-major order and `n` the number of elements. A `raw` parameter is a whole
    array: `x[k]` (also k = any u32 or i32 expression) is its k-th element in row-major order, `x.size` how many it
    has.

    operation: statements that assign to the outputs; preamble: functions, structs and constants for it, and
    functions of tabgpu's own library may be called. The kernel is a pure function: lazy, broadcast, over any
    strides, and fused with what stands around it (but for raw parameters, which take a launch of their own). Errors
    of the WGSL are raised at the read with the line in `operation`. debug=True: `compile` also runs it on tiny
    arguments.
    """

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel", *, preamble: str = "",
        debug: bool = False,
    ) -> None:  # fmt: skip
        self.name = text.identifier(name, "the name", "ElementwiseKernel", words=True)
        where = self.name
        self.ins, self.outs = parts_of(in_params, where), parts_of(out_params, where)
        if not self.outs:
            raise ValueError(f"{where}: a kernel has at least one output")
        for part in self.outs:
            if part.raw:
                raise ValueError(
                    f"{where}: output {part.name} cannot be raw; tg.RawKernel writes where it likes"
                )
            if any(part.name == other.name for other in self.ins):
                raise ValueError(f"{where}: {part.name!r} is an input and an output")
        text.balanced(operation, f"{where}: operation")
        text.balanced(preamble, f"{where}: preamble")
        body = text.bare(operation).rstrip()
        self.operation = (
            operation
            if not body or body[-1] in ";}"
            else operation[: len(body)] + ";" + operation[len(body) :]
        )
        self.preamble, self.debug = preamble, debug
        self.expression = False
        self._indexed = text.uses(operation, "i") or text.uses(operation, "n")
        self._made: dict[tuple[Any, ...], list[Fn]] = {}

    def __repr__(self) -> str:
        return f"<tabgpu {type(self).__name__} {self.name}>"

    def __call__(self, *args: Any, size: Any = None) -> Any:
        """The outputs for arrays and scalars, one for each input: an array, or a tuple of several. Arrays for the
        outputs may follow, which then hold them. size: the shape where no input that is not raw has one.

        TypeError for another dtype than the parameter's, ValueError for shapes that do not broadcast, LimitError
        for more arrays than a launch can bind.
        """
        where = self.name
        if len(args) not in (len(self.ins), len(self.ins) + len(self.outs)):
            raise TypeError(
                f"{where}: {len(self.ins)} inputs (and {len(self.outs)} outputs) wanted, {len(args)} given"
            )
        given = [self._operand(part, x) for part, x in zip(self.ins, args, strict=False)]
        targets = [as_out(x, where) for x in args[len(self.ins) :]]
        types = self._types(given, targets)
        shape = self._shape(given, targets, size)
        outs = [self._dtype(part, types) for part in self.outs]
        made = self._compute(given, types, outs, shape)
        for value, out in zip(made, targets, strict=False):
            assert out is not None
            if out.dtype is not value.dtype:
                raise TypeError(f"{where}: an output is {out.dtype.name}, its parameter {value.dtype.name}")
            store(value, out, where)
        found = targets or made
        return found[0] if len(found) == 1 else tuple(found)

    def _operand(self, part: Part, x: Any) -> Any:
        """An Array or a Python number."""
        if isinstance(x, Array):
            return x
        if type(x) in _PYTHON or type(x) in KINDS:
            if part.raw:
                raise TypeError(f"{self.name}: {part.name} is raw: it takes an array, not {type(x).__name__}")
            return x
        return from_host(x, self.name)

    def _types(self, given: Sequence[Any], targets: Sequence[Any]) -> dict[str, DType]:
        """What the letters stand for; TypeError where an array has another dtype than its parameter."""
        types: dict[str, DType] = {}
        weak: dict[str, str] = {}
        arrays = [*zip(self.ins, given, strict=True), *zip(self.outs, targets, strict=False)]
        for part, x in arrays:
            if not isinstance(x, Array):
                if isinstance(part.dtype, str):
                    kind = next(k for t, k in _PYTHON.items() if isinstance(x, t))
                    weak[part.dtype] = max(weak.get(part.dtype, "b"), kind, key=_ORDER.index)
                continue
            want = types.setdefault(part.dtype, x.dtype) if isinstance(part.dtype, str) else part.dtype
            if want is not x.dtype:
                what = f"{part.dtype} = {want.name}" if isinstance(part.dtype, str) else want.name
                raise TypeError(
                    f"{self.name}: {part.name} is {what}, not {x.dtype.name}; use .astype({want.name!r})"
                )
        for letter, kind in weak.items():
            types.setdefault(letter, _DEFAULT[kind])
        return types

    def _dtype(self, part: Part, types: dict[str, DType]) -> DType:
        if isinstance(part.dtype, DType):
            return part.dtype
        if part.dtype not in types:
            raise TypeError(
                f"{self.name}: nothing says what {part.dtype} of {part.name} is; give the output array"
            )
        return types[part.dtype]

    def _shape(self, given: Sequence[Any], targets: Sequence[Any], size: Any) -> Shape:
        plain = [
            x.shape for part, x in zip(self.ins, given, strict=True) if isinstance(x, Array) and not part.raw
        ]
        if size is not None:
            if plain:
                raise ValueError(
                    f"{self.name}: size is for kernels whose inputs have no shape; these have {plain}"
                )
            return as_shape(size, self.name)
        plain = plain or [out.shape for out in targets]
        if not plain and any(part.raw for part in self.ins):
            raise ValueError(f"{self.name}: all inputs are raw or scalars: give size=")
        return broadcast_shapes(*plain, where=self.name)

    def _stem(self, given: tuple[DType, ...], types: dict[str, DType], outs: Sequence[DType]) -> str:
        ins = [(part.name, VALUE[d.kind]) for part, d in zip(self.ins, given, strict=True) if not part.raw]
        raws = [(part.name, VALUE[d.kind]) for part, d in zip(self.ins, given, strict=True) if part.raw]
        names = tuple((letter, VALUE[d.kind]) for letter, d in sorted(types.items()))
        results = tuple((part.name, VALUE[d.kind]) for part, d in zip(self.outs, outs, strict=True))
        return text.unit(
            text.Body(
                self.name,
                tuple(ins),
                results,
                self.operation,
                self.preamble,
                names,
                tuple(raws),
                self.expression,
            )
        )

    def _functions(
        self, given: tuple[DType, ...], types: dict[str, DType], outs: Sequence[DType]
    ) -> list[Fn]:
        """One Fn for each output."""
        key = (given, tuple(sorted((k, d.name) for k, d in types.items())), tuple(outs))
        made = self._made.get(key)
        if made is None:
            weight = 1 + round(((len(self.operation) + len(self.preamble)) / 910) ** 2)
            stem = self._stem(given, types, outs)
            made = self._made[key] = functions(self.name, stem, given, tuple(outs), self._indexed, weight)
        return made

    def _compute(
        self, given: Sequence[Any], types: dict[str, DType], outs: Sequence[DType], shape: Shape
    ) -> list[Array]:
        dtypes = tuple(
            x.dtype if isinstance(x, Array) else self._dtype(part, types)
            for part, x in zip(self.ins, given, strict=True)
        )
        arrays = [x for x in given if isinstance(x, Array)]
        scalars = {}
        for k, (part, x) in enumerate(zip(self.ins, given, strict=True)):
            if isinstance(x, Array):
                continue
            if not _fits(x, dtypes[k]):
                raise TypeError(f"{self.name}: {part.name} is {dtypes[k].name}, not {type(x).__name__}")
            scalars[k] = number_of(x, dtypes[k], self.name)
        gpu = engine.current()
        limits = {} if gpu is None else gpu.limits
        raw = any(part.raw for part in self.ins)
        most = limits.get("maxStorageBuffersPerShaderStage", 8)
        if raw or len({x._cell for x in arrays}) + len(outs) > limits.get("maxFusedBuffers", 8):
            if len(arrays) + len(outs) > most:
                raise LimitError(
                    f"{self.name}: {len(arrays)} arrays in and {len(outs)} out; a launch of this device binds {most}"
                )
            return self._alone(given, dtypes, types, outs, shape, scalars)
        args: list[Any] = []
        views: list[Layout | None] = []
        for k, x in enumerate(given):
            if k in scalars:
                args.append(scalars[k])
                views.append(None)
                continue
            op, seen = source(x)
            layout = broadcast_to(seen or op.layout, shape, self.name)
            args.append(op)
            views.append(None if layout == op.layout else layout)
        size = contiguous(shape)
        n = 1
        for k in shape:
            n *= k
        if self._indexed:
            place = Op(IOTA, None, (), (), (n,), int32)
            args += [place, n]
            views += [size, None]
        call = object() if len(outs) > 1 else None
        functions = self._functions(dtypes, types, outs)
        return [fresh(Op(EW, fn, tuple(args), tuple(views), shape, fn.dtype, call)) for fn in functions]

    def _alone(
        self, given: Sequence[Any], dtypes: tuple[DType, ...], types: dict[str, DType], outs: Sequence[DType],
        shape: Shape, scalars: dict[int, Any],
    ) -> list[Array]:  # fmt: skip
        """The outputs from a launch of their own."""
        n = 1
        for k in shape:
            n *= k
        if not n:
            return [full(shape, 0, dtype=d) for d in outs]
        sig = self._whole(dtypes, types, outs, set(scalars))
        strided, raws, layouts, sizes = [], [], [], []
        for part, x in zip(self.ins, given, strict=True):
            if part.raw:
                raws.append(stored(x))
                sizes.append(x.size)
            elif isinstance(x, Array):
                op = x._cell.op
                if op.kind in (SCALAR, IOTA) and op.buffer is None:
                    x = copy_of(x)
                    op = x._cell.op
                strided.append(op)
                layouts.append(broadcast_to(x._layout, shape, self.name))
        words = [*sizes, n, *((j, dtypes[k].kind) for j, k in enumerate(scalars))]
        reads = [*strided, *raws]
        rooms = [_room(shape, d) for d in outs[1:]]
        run = Run(sig, len(reads), len(rooms), 0, "", None, tuple(words), tuple(layouts))
        args = (*reads, *rooms, *scalars.values())
        first = Op(KERNEL, "custom.run", args, (), shape, outs[0], run)
        made = [fresh(first)]
        for room in rooms:
            made.append(fresh(Op(KERNEL, "custom.take", (first, room), (), shape, room.dtype)))
        return made

    def _whole(
        self, dtypes: tuple[DType, ...], types: dict[str, DType], outs: Sequence[DType], scalars: set[int]
    ) -> text.Whole:
        stem = self._stem(dtypes, types, outs)
        ins = [
            ("s" if k in scalars else "a", d)
            for k, (part, d) in enumerate(zip(self.ins, dtypes, strict=True))
            if not part.raw
        ]
        raws = [(part.name, d) for part, d in zip(self.ins, dtypes, strict=True) if part.raw]
        named = [(part.name, d) for part, d in zip(self.outs, outs, strict=True)]
        return text.Whole(stem, tuple(ins), tuple(raws), tuple(named), 1, 64)

    # --- looking at it --------------------------------------------------------------------------------------------

    async def compile(self, **types: Any) -> list[Diagnostic]:
        """What the compiler says of the kernel, nothing if all is well; each with the line of the user's text.
        types: what letters stand for (`T='int32'`), float32 by default. With debug=True it is also run on tiny
        arguments."""
        letters = {part.dtype for part in (*self.ins, *self.outs) if isinstance(part.dtype, str)}
        unknown = set(types) - letters
        if unknown:
            raise TypeError(f"{self.name}: there is no {', '.join(sorted(unknown))} among {sorted(letters)}")
        known = {k: as_dtype(types.get(k, float32)) for k in sorted(letters)}
        dtypes = tuple(self._dtype(part, known) for part in self.ins)
        outs = [self._dtype(part, known) for part in self.outs]
        if any(part.raw for part in self.ins):
            code = text.whole(self._whole(dtypes, known, outs, set()))[0]
        else:
            code = text.text_of(self._stem(dtypes, known, outs))
        found = await diagnose(self.name, code)
        if self.debug and not any(d.kind == "error" for d in found):
            args = [ones((4,), dtype=d) for d in dtypes]
            sized = {} if any(not part.raw for part in self.ins) else {"size": 4}
            found += await probed(self.name, lambda: self._probe(args, known, outs, sized))
        return found

    def _probe(
        self, args: list[Array], types: dict[str, DType], outs: Sequence[DType], sized: Any
    ) -> list[Array]:
        return self._compute(args, types, outs, self._shape(args, [], sized.get("size")))


@cache
def functions(
    name: str, stem: str, given: tuple[DType, ...], outs: tuple[DType, ...], indexed: bool, weight: int
) -> list[Fn]:
    """An Fn for each output of a unit: made once, so that kernels of one text share what is planned and compiled."""
    names = [*"xyzw", *(f"x_{k}" for k in range(4, len(given) + 2))]
    place = f"u32({names[len(given)]}), {names[len(given) + 1]}" if indexed else "0u, 0u"
    call = ", ".join([*names[: len(given)], place])
    made = []
    for k, dtype in enumerate(outs):
        expr = f"{stem}_{k}({call})" if len(outs) > 1 else f"{stem}({call})"
        operands = (*given, int32, uint32) if indexed else given
        fn = Fn(name, f"{dtype.fit}({expr})" if dtype.fit else expr, operands, dtype)
        fn.weight = weight
        made.append(fn)
    return made


def _room(shape: Shape, dtype: DType, old: Op | None = None, how: str = "") -> Op:
    """Memory for a result: new, or an old value's (how: "copy" or "own")."""
    return Op(KERNEL, "custom.room", () if old is None else (old,), (), shape, dtype, how)


def _fits(value: Any, dtype: DType) -> bool:
    """Whether a Python number may be an argument of a dtype: one of its kind or of a lower one."""
    kind = next(k for t, k in _PYTHON.items() if isinstance(value, t))
    return _ORDER.index(kind) <= _ORDER.index(dtype.kind) or (kind == "i" and dtype.kind == "u")


__all__ = ["ElementwiseKernel"]
