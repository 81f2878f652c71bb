"""The makers of elementwise functions: a row of a table gives a function with NumPy's dtype and broadcasting rules."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..array import SAME, Array, computed, fresh
from ..dtypes import ALL, BY_KIND, DType, check_scalar, float32, nearest, promote
from ..graph import EW, Fn, Op
from ..layout import Layout, broadcast_shapes, broadcast_to
from ..traced import KINDS, TracedComplex, TracedFloat, TracedInt
from .convert import constant, from_host
from .ufunc_arguments import call
from .ufunc_methods import UfuncMethods

ROWS: dict[str, Row] = {}
_WEAK = {
    bool: "b", int: "i", float: "f", complex: "c",
    TracedInt: "i", TracedFloat: "f", TracedComplex: "c",
}  # fmt: skip
_FLOAT_OF = {"b": "f", "i": "f", "u": "f"}
_INT_OF = {"b": "i"}


class Row(UfuncMethods):
    """An elementwise function of `nin` operands; each may be an Array, a Python scalar or what asarray takes.

    exprs: WGSL by kind letter, or by dtype name where a narrow type needs its own. exact: results of a narrow type are
    values of it already, without wrapping or rounding. out: the result's kind letter or dtype name, also by kind. like:
    the NumPy or SciPy name that tests compare with; ulp: the greatest error, in units in the last place of float32,
    against float64; domain: where random test inputs lie.
    """

    def __init__(
        self, name: str, nin: int, exprs: dict[str, str], like: str, doc: str, out: str | dict[str, str] | None,
        promoted: str | None, ulp: float, domain: tuple[float, float] | None, operand_kinds: str | None, exact: bool,
    ) -> None:  # fmt: skip
        self.__name__ = self.__qualname__ = self.name = name
        self.nin, self.exprs, self.like, self.out, self.promoted = nin, exprs, like, out, promoted
        self.ulp, self.domain, self.exact = ulp, domain, exact
        self.operand_kinds = operand_kinds
        self.__doc__ = doc
        self.__module__ = "tabgpu"
        self._fns: dict[tuple[DType, ...], Fn] = {}
        self.plain: dict[tuple[Any, ...], Fn] = {}
        self._resolved: dict[tuple[Any, ...], tuple[Fn, tuple[Row | None, ...] | None]] = {}

    def __repr__(self) -> str:
        return f"<tabgpu function {self.name}>"

    @property
    def __signature__(self) -> Any:
        """What inspect.signature says: the array API's positional operands, and the keywords of __call__."""
        from inspect import Parameter, Signature, signature

        names = ("x",) if self.nin == 1 else [f"x{i + 1}" for i in range(self.nin)]
        first = [Parameter(n, Parameter.POSITIONAL_ONLY) for n in names]
        options = signature(Row.__call__).parameters.values()
        return Signature([*first, *(p for p in options if p.kind >= Parameter.KEYWORD_ONLY)])

    def __call__(self, *operands: Any, **options: Any) -> Array:
        if options:  # out=, where=, dtype=, casting=
            return call(self, operands, options)
        if (
            len(operands) == 2
        ):  # the shortest way for the most common calls: nothing to cast, broadcast or check
            x, y = operands
            if type(x) is Array:
                op, layout = x._cell.op, x._layout
                seen = None if layout is op.layout else layout
                if type(y) is Array:
                    fn = self.plain.get((x.dtype, y.dtype))
                    if fn is not None and y._layout.shape == layout.shape:
                        op2, layout2 = y._cell.op, y._layout
                        seen2 = None if layout2 is op2.layout else layout2
                        views = SAME if seen is None is seen2 else (seen, seen2)
                        return computed(fn, (op, op2), views, layout.shape, op, op2)
                else:
                    fn = self.plain.get((x.dtype, type(y)))
                    if fn is not None:
                        return computed(
                            fn, (op, y), SAME if seen is None else (seen, None), layout.shape, op, None
                        )
        return self._general(operands)

    def _general(self, operands: tuple[Any, ...]) -> Array:
        """Any operands: conversion, promotion, casts, broadcasting."""
        if len(operands) != self.nin:
            return call(self, operands, {})  # out by position, or an error
        key = tuple([x.dtype if type(x) is Array else _WEAK.get(type(x)) for x in operands])
        found = self._resolved.get(key)
        if found is None:
            if None in key:
                return self(
                    *[from_host(x, self.name) if w is None else x for x, w in zip(operands, key, strict=True)]
                )
            if not any(isinstance(k, DType) for k in key):
                first = float(operands[0]) if "f" in key and self.operand_kinds is None else operands[0]
                return self(from_host(first, self.name), *operands[1:])
            fn, needed = self._resolve(key)
            found = self._resolved[key] = (fn, needed if any(needed) else None)
            if (
                not any(needed)
                and (fn.operands[-1] is float32 or Array is type(operands[-1]))
                and KINDS.isdisjoint(map(type, operands))
            ):
                self.plain[tuple([x.dtype if type(x) is Array else type(x) for x in operands])] = fn
        fn, casts = found
        if casts is not None:
            operands = tuple(
                [x if cast is None else cast(x) for x, cast in zip(operands, casts, strict=True)]
            )
        args: list[Any] = []
        views: list[Layout | None] = []
        shape = None
        same = True
        for x in operands:
            if type(x) is Array:
                op, layout = x._cell.op, x._layout
                args.append(op)
                views.append(None if layout is op.layout else layout)
                if shape is None:
                    shape = layout.shape
                elif shape != layout.shape:
                    same = False
            else:
                try:
                    args.append(_scalar(x, fn.operands[len(args)], self.name))
                except OverflowError:
                    if self.name not in _BEYOND:
                        raise
                    return self._beyond(operands, len(args), x)
                views.append(None)
        if not same:
            layouts = tuple(
                [(v or a.layout) if type(a) is Op else None for a, v in zip(args, views, strict=True)]
            )
            shape, spread = _spread(layouts, self.name)
            views = [v if to is layout else to for v, layout, to in zip(views, layouts, spread, strict=True)]
        op = Op(EW, fn, tuple(args), tuple(views), shape, fn.dtype)  # type: ignore[arg-type]
        return fresh(op)

    def _beyond(self, operands: tuple[Any, ...], at: int, value: int) -> Array:
        """A comparison with a Python integer that no element can equal: the same answer everywhere, as in NumPy."""
        above, below = _BEYOND[self.name]
        answer = above if (value > 0) == (at == 1) else below
        return constant(answer, BY_KIND["b"], operands[1 - at]._layout.shape)

    def _resolve(self, key: tuple[Any, ...]) -> tuple[Fn, tuple[Row | None, ...]]:
        """The function for operand dtypes, and the casts its operands need."""
        if self.operand_kinds is not None:  # operands of fixed, different kinds (where, ldexp)
            return self._resolve_fixed(key)
        dtype = self._admit(promote(*key, where=self.name), key)
        operands = (dtype,) * self.nin
        return self._fn(dtype, operands), tuple(self._cast(k, dtype) for k in key)

    def _resolve_fixed(self, key: tuple[Any, ...]) -> tuple[Fn, tuple[Row | None, ...]]:
        """operand_kinds holds a letter for a fixed operand and '*' for those promoted together."""
        pattern = self.operand_kinds or ""
        for k, p in zip(key, pattern, strict=True):
            if p in "iu" and (k.kind if isinstance(k, DType) else k) in "fc":
                raise TypeError(f"{self.name}: an operand must be integers, not floats; use .astype('int32')")
        free = [k for k, p in zip(key, pattern, strict=True) if p == "*"]
        if free:
            dtype = self._admit(promote(*free, where=self.name), key)
        else:  # the first operand says which of its kind it is
            first = next(iter(self.exprs))
            dtype = key[0] if isinstance(key[0], DType) and key[0].kind == first else BY_KIND[first]
        operands = tuple(dtype if p in ("*", dtype.kind) else BY_KIND[p] for p in pattern)
        return self._fn(dtype, operands), tuple(self._cast(k, d) for k, d in zip(key, operands, strict=True))

    def _admit(self, dtype: DType, key: tuple[Any, ...]) -> DType:
        """The dtype to compute in; TypeError if the function is not defined for it."""
        if dtype.kind not in self.exprs:
            lifted = {"float": _FLOAT_OF, "int": _INT_OF}.get(self.promoted or "", {}).get(dtype.kind)
            if lifted is None or lifted not in self.exprs:
                names = ", ".join(k.name if isinstance(k, DType) else f"Python {_NAME[k]}" for k in key)
                takes = ", ".join(_TAKES[k] for k in self.exprs if k in _TAKES)
                raise TypeError(f"{self.name}: not defined for {names}; it takes {takes}")
            return BY_KIND[lifted]
        return dtype

    def _fn(self, dtype: DType, operands: tuple[DType, ...]) -> Fn:
        fn = self._fns.get(operands)
        if fn is None:
            out = self.out.get(dtype.kind) if isinstance(self.out, dict) else self.out
            result = dtype if out in (None, dtype.kind) else BY_KIND.get(out) or ALL[out]
            expr = self.exprs.get(dtype.name) or self.exprs[dtype.kind]
            if (
                result is dtype
                and dtype.fit
                and not self.exact
                and expr != "x"
                and dtype.name not in self.exprs
            ):
                expr = f"{dtype.fit}({expr})"
            fn = self._fns[operands] = Fn(self.name, expr, operands, result)
        return fn

    @staticmethod
    def _cast(have: DType | str, want: DType) -> Row | None:
        """What makes a stored operand a value that the kernel computes with; a narrow one of the same kind is that."""
        if isinstance(have, str) or have.kind == want.kind:
            return None
        return CASTS[want.kind]


def _scalar(value: Any, dtype: DType, where: str) -> Any:
    """A Python number as an operand of a dtype."""
    if type(value) in KINDS:
        _scalar(value._value, dtype, where)  # refused as the number itself would be
        return value.parameter(dtype, where)
    if dtype.kind in "iu":
        if type(value) is int:
            check_scalar(value, dtype, where)
    elif dtype.kind == "c":
        return complex(value)
    elif dtype.per_word == 2:
        return nearest(value, dtype)
    return value


_TAKES = {"b": "bool", "i": "signed integers", "u": "unsigned integers", "f": "floats", "c": "complex64"}
# x compared with a number above, and one below all values of x's dtype.
_BEYOND = {
    "equal": (False, False), "not_equal": (True, True), "less": (True, False), "less_equal": (True, False),
    "greater": (False, True), "greater_equal": (False, True),
}  # fmt: skip
_NAME = {"b": "bool", "i": "int", "f": "float", "c": "complex"}


@lru_cache(4096)
def _spread(
    layouts: tuple[Layout | None, ...], where: str
) -> tuple[tuple[int, ...], tuple[Layout | None, ...]]:
    """The shape that layouts broadcast to, and each of them in it (itself if it has it; None: a number)."""
    shape = broadcast_shapes(*[a.shape for a in layouts if a is not None], where=where)
    return shape, tuple([None if a is None else broadcast_to(a, shape, where) for a in layouts])


def elementwise(
    name: str, nin: int, exprs: dict[str, str], *, like: str, doc: str, out: str | dict[str, str] | None = None,
    promote: str | None = None, ulp: float = 0, domain: tuple[float, float] | None = None,
    operand_kinds: str | None = None, exact: bool = False,
) -> Row:  # fmt: skip
    """See Row. promote: "float" (ints and bools become float32), "int" (bool becomes int32) or None (TypeError)."""
    row = Row(name, nin, exprs, like, doc, out, promote, ulp, domain, operand_kinds, exact)
    if name in ROWS:
        raise ValueError(f"rows: {name} is there already")
    ROWS[name] = row
    return row


def unary(name: str, exprs: dict[str, str], **options: Any) -> Row:
    """A row of one operand."""
    return elementwise(name, 1, exprs, **options)


def binary(name: str, exprs: dict[str, str], **options: Any) -> Row:
    """A row of two operands."""
    return elementwise(name, 2, exprs, **options)


def ternary(name: str, exprs: dict[str, str], **options: Any) -> Row:
    """A row of three operands."""
    return elementwise(name, 3, exprs, **options)


def _cast_row(name: str, exprs: dict[str, str], doc: str) -> Row:
    return unary(f"cast_{name}", exprs, out=name, like=f"numpy.{name}", doc=doc)


_INT = {"b": "select(0i, 1i, x)", "i": "x", "u": "bitcast<i32>(x)", "f": "f32_to_i32(x)"}
_UINT = {"b": "select(0u, 1u, x)", "i": "bitcast<u32>(x)", "u": "x", "f": "f32_to_u32(x)"}
_REAL = {"b": "select(0.0f, 1.0f, x)", "i": "i32_to_f32(x)", "u": "u32_to_f32(x)", "f": "x"}


def _fitted(exprs: dict[str, str], name: str, saturate: str) -> dict[str, str]:
    """The conversions to a narrow type: integers wrap, floats saturate (integers) or round (floats)."""
    fit = ALL[name].fit
    return {
        k: x if k == "b" else saturate if k == "f" and saturate else f"{fit}({x})" for k, x in exprs.items()
    }


_WRAPS = "toward zero, saturating, NaN to 0; other integers wrap."
CASTS = {
    "bool": _cast_row("bool", {"b": "x", "i": "x != 0i", "u": "x != 0u", "f": "f32_to_bool(x)", "c": "c64_to_bool(x)"},
                      "To bool: whether an element is not zero (NaN is true)."),
    "int32": _cast_row("int32", _INT, f"To int32: {_WRAPS}"),
    "uint32": _cast_row("uint32", _UINT, f"To uint32: {_WRAPS}"),
    "float32": _cast_row("float32", _REAL, "To float32, rounding to nearest."),
    "int8": _cast_row("int8", _fitted(_INT, "int8", "clamp(f32_to_i32(x), -128, 127)"), f"To int8: {_WRAPS}"),
    "int16": _cast_row("int16", _fitted(_INT, "int16", "clamp(f32_to_i32(x), -32768, 32767)"), f"To int16: {_WRAPS}"),
    "uint8": _cast_row("uint8", _fitted(_UINT, "uint8", "min(f32_to_u32(x), 255u)"), f"To uint8: {_WRAPS}"),
    "uint16": _cast_row("uint16", _fitted(_UINT, "uint16", "min(f32_to_u32(x), 65535u)"), f"To uint16: {_WRAPS}"),
    "float16": _cast_row("float16", _fitted(_REAL, "float16", ""), "To float16, rounding to nearest; inf from 65520."),
    "bfloat16": _cast_row("bfloat16", _fitted(_REAL, "bfloat16", ""), "To bfloat16, rounding to nearest."),
    "complex64": _cast_row("complex64", {k: f"vec2f({x}, 0.0f)" for k, x in _REAL.items()} | {"c": "x"},
                           "To complex64, the imaginary part 0."),
}  # fmt: skip
CASTS |= {kind: CASTS[dtype.name] for kind, dtype in BY_KIND.items()}
