"""The makers of elementwise functions: a row of a table gives a function with NumPy's dtype and broadcasting rules."""

from __future__ import annotations

from typing import Any

from ..array import Array, fresh
from ..dtypes import BY_KIND, DType, check_scalar, promote
from ..graph import EW, Fn, Op
from ..layout import Layout, broadcast_shapes, broadcast_to
from .convert import from_host

ROWS: dict[str, Row] = {}
_WEAK = {bool: "b", int: "i", float: "f", complex: "c"}
_FLOAT_OF = {"b": "f", "i": "f", "u": "f", "f": "f"}
_INT_OF = {"b": "i"}


class Row:
    """An elementwise function of `nin` operands; each may be an Array, a Python scalar or what asarray takes.

    exprs: WGSL by kind letter. like: the NumPy or SciPy name that tests compare with; ulp: the greatest error, in units
    in the last place of float32, against float64; domain: where random test inputs lie.
    """

    def __init__(
        self, name: str, nin: int, exprs: dict[str, str], like: str, doc: str, out: str | dict[str, str] | None,
        promoted: str | None, ulp: float, domain: tuple[float, float] | None, operand_kinds: str | None,
    ) -> None:  # fmt: skip
        self.__name__ = self.__qualname__ = self.name = name
        self.nin, self.exprs, self.like, self.out, self.promoted = nin, exprs, like, out, promoted
        self.ulp, self.domain = ulp, domain
        self.operand_kinds = operand_kinds
        self.__doc__ = doc
        self.__module__ = "tabgpu"
        self._fns: dict[str, Fn] = {}
        self.plain: dict[tuple[Any, ...], Fn] = {}
        self._resolved: dict[tuple[Any, ...], tuple[Fn, tuple[Row | None, ...] | None]] = {}

    def __repr__(self) -> str:
        return f"<tabgpu function {self.name}>"

    def __call__(self, *operands: Any) -> Array:
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
                        return fresh(Op(EW, fn, (op, op2), (seen, seen2), layout.shape, fn.dtype))
                else:
                    fn = self.plain.get((x.dtype, type(y)))
                    if fn is not None:
                        return fresh(Op(EW, fn, (op, y), (seen, None), layout.shape, fn.dtype))
        return self._general(operands)

    def _general(self, operands: tuple[Any, ...]) -> Array:
        """Any operands: conversion, promotion, casts, broadcasting."""
        if len(operands) != self.nin:
            raise TypeError(f"{self.name}() takes {self.nin} operands, {len(operands)} were given")
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
            if not any(needed) and (fn.kinds[-1] == "f" or Array is type(operands[-1])):
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
                if type(x) is int and fn.kinds[len(args)] in "iu":
                    check_scalar(x, BY_KIND[fn.kinds[len(args)]], self.name)
                args.append(x)
                views.append(None)
        if not same:
            shape = broadcast_shapes(
                *[a._layout.shape for a in operands if type(a) is Array], where=self.name
            )
            views = [
                None if type(a) is not Op else _broadcast(a, v, shape, self.name)
                for a, v in zip(args, views, strict=True)
            ]
        op = Op(EW, fn, tuple(args), tuple(views), shape, fn.dtype)  # type: ignore[arg-type]
        return fresh(op)

    def _resolve(self, key: tuple[Any, ...]) -> tuple[Fn, tuple[Row | None, ...]]:
        """The function for operand dtypes, and the casts its operands need."""
        if self.operand_kinds is not None:  # operands of fixed, different kinds (where, ldexp)
            return self._resolve_fixed(key)
        kind = promote(*key, where=self.name).kind
        kind = self._admit(kind, key)
        return self._fn(kind, kind * self.nin), tuple(self._cast(k, kind) for k in key)

    def _resolve_fixed(self, key: tuple[Any, ...]) -> tuple[Fn, tuple[Row | None, ...]]:
        """operand_kinds holds a letter for a fixed operand and '*' for those promoted together."""
        pattern = self.operand_kinds or ""
        for k, p in zip(key, pattern, strict=True):
            if p in "iu" and (k.kind if isinstance(k, DType) else k) == "f":
                raise TypeError(f"{self.name}: an operand must be integers, not floats; use .astype('int32')")
        free = [k for k, p in zip(key, pattern, strict=True) if p == "*"]
        kind = self._admit(promote(*free, where=self.name).kind, key) if free else next(iter(self.exprs))
        kinds = "".join(kind if p == "*" else p for p in pattern)
        return self._fn(kind, kinds), tuple(self._cast(k, want) for k, want in zip(key, kinds, strict=True))

    def _admit(self, kind: str, key: tuple[Any, ...]) -> str:
        if kind not in self.exprs:
            lifted = {"float": _FLOAT_OF, "int": _INT_OF}.get(self.promoted or "", {}).get(kind)
            if lifted is None or lifted not in self.exprs:
                names = ", ".join(k.name if isinstance(k, DType) else f"Python {_NAME[k]}" for k in key)
                takes = ", ".join(BY_KIND[k].name for k in self.exprs)
                raise TypeError(f"{self.name}: not defined for {names}; it takes {takes}")
            return lifted
        return kind

    def _fn(self, kind: str, kinds: str) -> Fn:
        fn = self._fns.get(kinds)
        if fn is None:
            out = self.out.get(kind, kind) if isinstance(self.out, dict) else self.out or kind
            fn = self._fns[kinds] = Fn(self.name, self.exprs[kind], kinds, BY_KIND[out])
        return fn

    @staticmethod
    def _cast(have: DType | str, want: str) -> Row | None:
        if isinstance(have, str) or have.kind == want:
            return None
        return CASTS[want]


_NAME = {"b": "bool", "i": "int", "f": "float", "c": "complex"}


def _broadcast(op: Op, layout: Layout | None, shape: tuple[int, ...], where: str) -> Layout | None:
    whole = layout or op.layout
    return layout if whole.shape == shape else broadcast_to(whole, shape, where)


def elementwise(
    name: str, nin: int, exprs: dict[str, str], *, like: str, doc: str, out: str | dict[str, str] | None = None,
    promote: str | None = None, ulp: float = 0, domain: tuple[float, float] | None = None,
    operand_kinds: str | None = None,
) -> Row:  # fmt: skip
    """See Row. promote: "float" (ints and bools become float32), "int" (bool becomes int32) or None (TypeError)."""
    row = Row(name, nin, exprs, like, doc, out, promote, ulp, domain, operand_kinds)
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


CASTS = {
    "b": unary("cast_bool", {"b": "x", "i": "x != 0i", "u": "x != 0u", "f": "f32_to_bool(x)"}, out="b",
               like="numpy.bool_", doc="To bool: whether an element is not zero (NaN is true)."),
    "i": unary("cast_int32", {"b": "select(0i, 1i, x)", "i": "x", "u": "bitcast<i32>(x)", "f": "f32_to_i32(x)"},
               out="i", like="numpy.int32", doc="To int32: toward zero, saturating, NaN to 0; uint32 wraps."),
    "u": unary("cast_uint32", {"b": "select(0u, 1u, x)", "i": "bitcast<u32>(x)", "u": "x", "f": "f32_to_u32(x)"},
               out="u", like="numpy.uint32", doc="To uint32: toward zero, saturating, NaN to 0; int32 wraps."),
    "f": unary("cast_float32", {"b": "select(0.0f, 1.0f, x)", "i": "i32_to_f32(x)", "u": "u32_to_f32(x)", "f": "x"},
               out="f", like="numpy.float32", doc="To float32, rounding to nearest."),
}  # fmt: skip
