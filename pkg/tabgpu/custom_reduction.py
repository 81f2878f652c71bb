"""ReductionKernel: a reduction whose parts are a user's WGSL."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import isfinite
from typing import Any

from . import codegen_custom as text
from . import engine
from .array import Array, fresh, source
from .custom import VALUE, WGSL, ElementwiseKernel, Part, parts_of
from .diagnosing import Diagnostic, diagnose, probed
from .dtypes import BY_KIND, DType, as_dtype, bool_, float32, uint32
from .graph import REDUCE, Op, ReduceFn
from .layout import permute
from .ops import reductions
from .ops.creation import astype, full, ones
from .ops.ufunc_arguments import as_out, store_reduced
from .region import bits

_RANGE = {"i": (-(1 << 31), (1 << 31) - 1), "u": (0, (1 << 32) - 1)}  # narrow dtypes are reduced in 32 bits


class _Map(ElementwiseKernel):
    """The part of a reduction before it: an expression of one type."""

    def __init__(self, ins: str, dtype: DType | str, operation: str, name: str, preamble: str) -> None:
        super().__init__(ins, "float32 out_", "", name, preamble=preamble)
        text.balanced(operation, f"{name}: map")
        self.outs = (Part("out_", dtype, False),)
        self.operation, self.expression = operation, True
        self._indexed = text.uses(operation, "i") or text.uses(operation, "n")


class ReductionKernel:
    """A reduction whose three parts are WGSL: `tg.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a);',
    0, 'l2')`.

    map_expr: a value of the reduced type from the inputs (and `i`, `n`); reduce_expr: one value of two, `a` and
    `b`, in any order and grouping; post_map_expr: statements that assign the outputs from `a`. identity: the number
    that changes nothing. reduce_type: the dtype that is reduced, by default the first output's; one of complex64 is
    refused. Parameters, names and errors as in ElementwiseKernel. Map, reduction and what follows share one launch.
    """

    def __init__(
        self, in_params: str, out_params: str, map_expr: str, reduce_expr: str, post_map_expr: str, identity: Any,
        name: str = "reduce_kernel", *, reduce_type: Any = None, preamble: str = "", debug: bool = False,
    ) -> None:  # fmt: skip
        self.name = text.identifier(name, "the name", "ReductionKernel", words=True)
        outs = parts_of(out_params, name)
        if not outs:
            raise ValueError(f"{name}: a kernel has at least one output")
        self.kind: DType | str = outs[0].dtype
        if reduce_type is not None:
            letter = isinstance(reduce_type, str) and len(reduce_type) == 1
            self.kind = reduce_type if letter else WGSL.get(reduce_type) or as_dtype(reduce_type)
        self.map = _Map(in_params, self.kind, map_expr, name, preamble)
        kind = self.kind if isinstance(self.kind, str) else self.kind.name
        if any(part.name in ("a", "b") for part in (*outs, *self.map.ins)):
            raise ValueError(f"{name}: the names 'a' and 'b' are taken")
        self.post = ElementwiseKernel(f"{kind} a", out_params, post_map_expr, name, preamble=preamble)
        text.balanced(reduce_expr, f"{name}: reduce")
        self.reduce_expr, self.preamble, self.debug = reduce_expr, preamble, debug
        self.identity = float(identity) if isinstance(identity, str) else identity
        if type(self.identity) not in (bool, int, float):
            raise TypeError(f"{name}: identity is a number, not {identity!r}")
        self._made: dict[Any, ReduceFn] = {}

    def __repr__(self) -> str:
        return f"<tabgpu ReductionKernel {self.name}>"

    def __call__(self, *args: Any, axis: Any = None, keepdims: bool = False, out: Any = None) -> Any:
        """The outputs for arrays and scalars, reduced over axes (None: all). out: an array for the one output."""
        x, types = self._mapped(args)
        target = as_out(out, self.name)
        if target is not None and len(self.post.outs) > 1:
            raise TypeError(f"{self.name}: out is for kernels with one output")
        total = self._reduced(x, reductions.axes_of(axis, x.ndim, self.name), keepdims, types)
        for part in self.post.outs:
            if isinstance(part.dtype, str) and target is not None:
                types.setdefault(part.dtype, target.dtype)
        outs = [self.post._dtype(part, types) for part in self.post.outs]
        made = self.post._compute([total], types, outs, total.shape)
        if target is not None:
            return store_reduced(made[0], target, self.name)
        return made[0] if len(made) == 1 else tuple(made)

    def _mapped(self, args: Sequence[Any]) -> tuple[Array, dict[str, DType]]:
        if len(args) != len(self.map.ins):
            raise TypeError(f"{self.name}: {len(self.map.ins)} inputs wanted, {len(args)} given")
        given = [self.map._operand(part, x) for part, x in zip(self.map.ins, args, strict=True)]
        types = self.map._types(given, [])
        shape = self.map._shape(given, [], None)
        dtype = self.map._dtype(self.map.outs[0], types)
        self._function(dtype, types)
        return self.map._compute(given, types, [_wide(dtype)], shape)[0], types

    def _function(self, dtype: DType, types: dict[str, DType]) -> ReduceFn:
        """The reduction of a dtype, in the 32 bits it is computed in."""
        if dtype.kind == "c":
            raise TypeError(
                f"{self.name}: complex64 is not reduced by a kernel; reduce its parts (tg.real, tg.imag)"
            )
        names = tuple((letter, VALUE[d.kind]) for letter, d in sorted(types.items()))
        key = (dtype.kind, names)
        fn = self._made.get(key)
        if fn is None:
            stem = text.combining(self.name, VALUE[dtype.kind], self.reduce_expr, self.preamble, names)
            if dtype.kind in "biu" and not (isfinite(self.identity) and self.identity == int(self.identity)):
                raise TypeError(f"{self.name}: the identity {self.identity} is no {dtype.name}")
            low, high = _RANGE.get(dtype.kind, (self.identity, self.identity))
            if self.identity == self.identity and not low <= self.identity <= high:
                raise OverflowError(
                    f"{self.name}: the identity {self.identity} is out of bounds of {dtype.name}"
                )
            kind = "u" if dtype.kind == "b" else dtype.kind
            fn = self._made[key] = _reduction(self.name, kind, stem, bits(self.identity, dtype.kind))
        return fn

    def _reduced(self, x: Array, axes: tuple[int, ...], keepdims: bool, types: dict[str, DType]) -> Array:
        want = self.map._dtype(self.map.outs[0], types)
        fn = self._function(want, types)
        if not axes:
            return astype(x, want, copy=False)
        shape = reductions.reduced_shape(x.shape, axes, keepdims)
        if 0 in x.shape:
            return full(shape, bool(self.identity) if want is bool_ else self.identity, dtype=want)
        if x.dtype is bool_:
            x = astype(x, uint32)
        op, seen = source(x)
        whole = seen or op.layout
        moved = permute(whole, [*(k for k in range(x.ndim) if k not in axes), *axes])
        engine.weigh(x.size)
        kept = x.ndim - len(axes)
        same = seen is None and moved == whole
        total = fresh(Op(REDUCE, fn, (op,), (None if same else moved,), shape, fn.dtype, kept))
        return astype(total, want, copy=False)

    async def compile(self, **types: Any) -> list[Diagnostic]:
        """As ElementwiseKernel.compile, for each of the three parts."""
        known = {k: as_dtype(d) for k, d in types.items()}
        letters = {
            p.dtype for p in (*self.map.ins, *self.map.outs, *self.post.outs) if isinstance(p.dtype, str)
        }
        for letter in letters:
            known.setdefault(letter, float32)
        dtype = self.map._dtype(self.map.outs[0], known)
        stem = self._function(dtype, known).combine.partition("(")[0]
        found = await diagnose(self.name, text.text_of(stem))
        for part in (self.map, self.post):
            mine = {p.dtype for p in (*part.ins, *part.outs) if isinstance(p.dtype, str)}
            found += await part.compile(**{k: d for k, d in known.items() if k in mine})
        if self.debug and not any(d.kind == "error" for d in found):
            args = [ones((2, 2), dtype=self.map._dtype(p, known)) for p in self.map.ins]
            found += await probed(self.name, lambda: _list(self(*args, axis=1)))
        return found


@cache
def _reduction(name: str, kind: str, stem: str, identity: int) -> ReduceFn:
    """Made once, as custom.functions."""
    return ReduceFn(name, kind, f"{stem}(x, y)", identity, BY_KIND[kind])


def _wide(dtype: DType) -> DType:
    """The 32-bit dtype that a dtype is reduced in; bool as it is."""
    return dtype if dtype is bool_ else BY_KIND[dtype.kind]


def _list(made: Any) -> list[Array]:
    return list(made) if isinstance(made, tuple) else [made]


__all__ = ["ReductionKernel"]
