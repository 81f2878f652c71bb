"""Python numbers as arguments of a traced function: they stand for whatever number comes with a later call.

As operands beside arrays, and in arithmetic with each other, they stay open. Whatever else looks at their value
(a comparison, range, an index, a shape) gets it, and ties the trace to that value: `observed`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from .graph import Parameter

_ARITHMETIC = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow,
}  # fmt: skip
_OBSERVING = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "lshift": operator.lshift,
    "rshift": operator.rshift, "divmod": divmod,
}  # fmt: skip
_REFLECTED = ("and", "or", "xor", "lshift", "rshift", "divmod")
_UNARY: dict[str, Callable[[Any], Any]] = {
    "bool": bool, "int": int, "float": float, "complex": complex, "index": operator.index, "hash": hash, "repr": repr,
    "str": str, "trunc": math.trunc, "floor": math.floor, "ceil": math.ceil, "invert": operator.invert,
}  # fmt: skip


class Scalars:
    """The open numbers of one trace: its arguments first, then what is computed from them on the host."""

    def __init__(self, values: list[Any], fixed: set[int]) -> None:
        """fixed: arguments that are given to the function as what they are."""
        self.values = list(values)
        self.steps: list[tuple[Callable[..., Any], tuple[tuple[bool, Any], ...]]] = []
        self.roots: list[frozenset[int]] = [frozenset((k,)) for k in range(len(values))]
        self.observed = set(fixed)
        self.parameters: list[tuple[int, Any, str]] = []
        self.count = len(values)
        self.arguments = [v if k in fixed else TRACED[type(v)](self, k) for k, v in enumerate(values)]

    def derive(self, function: Callable[..., Any], *operands: Any) -> Any:
        """function(*operands), some of them open."""
        plain = [x._value if isinstance_of_traced(x) else x for x in operands]
        result = function(*plain)
        kind = TRACED.get(type(result))
        if kind is None:
            return function(*[x.observe() if isinstance_of_traced(x) else x for x in operands])
        self.steps.append(
            (function, tuple((True, x._number) if isinstance_of_traced(x) else (False, x) for x in operands))
        )
        self.values.append(result)
        self.roots.append(
            frozenset().union(*[self.roots[x._number] for x in operands if isinstance_of_traced(x)])
        )
        return kind(self, len(self.values) - 1)

    def replay(self, values: list[Any]) -> list[Any] | None:
        """All numbers for other arguments; None where one of them has another type now, or cannot be computed."""
        out = list(values)
        for k, (function, operands) in enumerate(self.steps, self.count):
            try:
                result = function(*[out[x] if is_open else x for is_open, x in operands])
            except Exception:
                return None
            if type(result) is not type(self.values[k]):
                return None
            out.append(result)
        return out


class Traced:
    """One open number. It says that it is an instance of the type it stands for."""

    __slots__ = ("_number", "_scalars")
    __array_ufunc__ = None
    kind: type = object

    def __init__(self, scalars: Scalars, number: int) -> None:
        self._scalars, self._number = scalars, number

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self.kind

    @property
    def _value(self) -> Any:
        return self._scalars.values[self._number]

    def observe(self) -> Any:
        """The number, to which the trace is tied from now on."""
        self._scalars.observed |= self._scalars.roots[self._number]
        return self._value

    def parameter(self, dtype: Any, where: str) -> Parameter:
        """As an operand of a kernel."""
        self._scalars.parameters.append((self._number, dtype, where))
        return Parameter(len(self._scalars.parameters) - 1)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.observe(), name)

    def __neg__(self) -> Any:
        return self._scalars.derive(operator.neg, self)

    def __pos__(self) -> Any:
        return self._scalars.derive(operator.pos, self)

    def __abs__(self) -> Any:
        return self._scalars.derive(abs, self)

    def __round__(self, *digits: int) -> Any:
        return round(self.observe(), *digits)

    def __format__(self, spec: str) -> str:
        return format(self.observe(), spec)

    def __reduce__(self) -> Any:
        return self.kind, (self.observe(),)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def isinstance_of_traced(x: Any) -> bool:
    """isinstance() would be told the type that is stood for."""
    return type(x) in KINDS


def plain(x: Any) -> Any:
    """The value of an open number; anything else as it is."""
    return x.observe() if type(x) in KINDS else x


def _arithmetic(function: Callable[[Any, Any], Any], swap: bool) -> Any:
    def method(self: Traced, other: Any) -> Any:
        if type(other) in TRACED or type(other) in KINDS:
            return self._scalars.derive(function, *((other, self) if swap else (self, other)))
        if hasattr(type(other), "_cell"):
            return NotImplemented  # an Array: its turn
        mine = self.observe()
        return function(other, mine) if swap else function(mine, other)

    return method


def _observing(function: Callable[[Any, Any], Any], swap: bool) -> Any:
    def method(self: Traced, other: Any) -> Any:
        if hasattr(type(other), "_cell"):
            return NotImplemented
        mine, other = self.observe(), plain(other)
        return function(other, mine) if swap else function(mine, other)

    return method


def _unary(function: Callable[[Any], Any]) -> Any:
    return lambda self: function(self.observe())


def _bind() -> None:
    for name, function in _ARITHMETIC.items():
        setattr(Traced, f"__{name}__", _arithmetic(function, False))
        setattr(Traced, f"__r{name}__", _arithmetic(function, True))
    for name, function in _OBSERVING.items():
        setattr(Traced, f"__{name}__", _observing(function, False))
        if name in _REFLECTED:
            setattr(Traced, f"__r{name}__", _observing(function, True))
    for name, one in _UNARY.items():
        setattr(Traced, f"__{name}__", _unary(one))


_bind()


class TracedInt(Traced):
    __slots__ = ()
    kind = int


class TracedFloat(Traced):
    __slots__ = ()
    kind = float


class TracedComplex(Traced):
    __slots__ = ()
    kind = complex


TRACED: dict[type, type[Traced]] = {int: TracedInt, float: TracedFloat, complex: TracedComplex}
KINDS = frozenset(TRACED.values())
