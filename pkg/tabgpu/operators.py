"""What + - * / @ [] and the methods of Array do: one visible table, bound to functions of ops/."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import engine
from .array import SAME, Array, computed
from .late import Late
from .ops import creation, elementwise, manipulation, products, reductions
from .ops.indexing import getitem, setitem
from .ops.rows import Row
from .traced import KINDS

BINARY = {
    "add": elementwise.add, "sub": elementwise.subtract, "mul": elementwise.multiply, "truediv": elementwise.divide,
    "floordiv": elementwise.floor_divide, "mod": elementwise.remainder, "pow": elementwise.power,
    "and": elementwise.bitwise_and, "or": elementwise.bitwise_or, "xor": elementwise.bitwise_xor,
    "lshift": elementwise.left_shift, "rshift": elementwise.right_shift, "matmul": products.matmul,
}  # fmt: skip
PAIRS = {"divmod": elementwise.divmod}  # give two arrays, and have no form in place
COMPARE = {
    "eq": elementwise.equal, "ne": elementwise.not_equal, "lt": elementwise.less, "le": elementwise.less_equal,
    "gt": elementwise.greater, "ge": elementwise.greater_equal,
}  # fmt: skip
UNARY = {
    "neg": elementwise.negative, "pos": elementwise.positive, "abs": elementwise.absolute,
    "invert": elementwise.bitwise_not,
}  # fmt: skip
METHODS = {
    "astype": creation.astype, "copy": creation.copy_of, "ravel": manipulation.ravel,
    "flatten": manipulation.flatten, "squeeze": manipulation.squeeze, "swapaxes": manipulation.swapaxes,
    "sum": reductions.sum, "prod": reductions.prod, "max": reductions.max, "min": reductions.min,
    "mean": reductions.mean, "any": reductions.any, "all": reductions.all, "argmax": reductions.argmax,
    "argmin": reductions.argmin, "clip": elementwise.clip, "round": elementwise.round,
}  # fmt: skip
LATE_METHODS = {  # the chapter of ops/ with a function of that name
    "var": "statistics", "std": "statistics", "ptp": "statistics", "dot": "contractions", "repeat": "rearranging",
    "diagonal": "triangles", "trace": "triangles", "choose": "choosing", "cumsum": "scans", "cumprod": "scans",
    "take": "taking", "put": "taking", "compress": "taking", "argsort": "sorting", "argpartition": "sorting",
    "searchsorted": "searching", "nonzero": "searching",
}  # fmt: skip


_PLAIN = frozenset((Array, float, int, bool, *KINDS))


def _operand(x: Any) -> bool:
    return type(x) in _PLAIN or isinstance(x, (complex, list, tuple)) or hasattr(x, "__array__")


def _bind() -> None:
    for name, function in BINARY.items():
        setattr(Array, f"__{name}__", _forward(function))
        setattr(Array, f"__r{name}__", _reflected(function))
        setattr(Array, f"__i{name}__", _in_place(function, name))
    for name, function in PAIRS.items():
        setattr(Array, f"__{name}__", _forward(function))
        setattr(Array, f"__r{name}__", _reflected(function))
    for name, function in COMPARE.items():
        setattr(Array, f"__{name}__", _forward(function))
    for name, function in UNARY.items():
        setattr(Array, f"__{name}__", _method(function))
    for name, method in METHODS.items():
        setattr(Array, name, _method(method))
    for name, chapter in LATE_METHODS.items():
        setattr(Array, name, Late(name, _loader(name, chapter)))


def _loader(name: str, chapter: str) -> Any:
    def load() -> None:
        setattr(Array, name, _method(getattr(import_module(f".ops.{chapter}", __package__), name)))

    return load


def _forward(function: Any) -> Any:
    plain = function.plain if isinstance(function, Row) else {}

    def operator(self: Array, other: Any) -> Any:
        fn = plain.get((self.dtype, type(other)))
        if fn is not None:  # an array and a scalar that need no conversion: as the function itself would do
            op, layout = self._cell.op, self._layout
            seen = None if layout is op.layout else layout
            return computed(fn, (op, other), SAME if seen is None else (seen, None), layout.shape, op, None)
        return function(self, other) if type(other) in _PLAIN or _operand(other) else NotImplemented

    return operator


def _reflected(function: Any) -> Any:
    def operator(self: Array, other: Any) -> Any:
        return function(other, self) if type(other) in _PLAIN or _operand(other) else NotImplemented

    return operator


def _in_place(function: Any, name: str) -> Any:
    def operator(self: Array, other: Any) -> Any:
        if type(other) not in _PLAIN and not _operand(other):
            return NotImplemented
        out = function(self, other)
        if out.shape != self.shape:
            raise ValueError(
                f"i{name}: the result's shape {out.shape} is not that of the array, {self.shape}"
            )
        if out.dtype is not self.dtype:
            raise TypeError(
                f"i{name}: the result's dtype {out.dtype.name} does not fit the array's {self.dtype.name}"
            )
        setitem(self, ..., out)
        return self

    return operator


def _method(function: Any) -> Any:
    def method(self: Array, *args: Any, **options: Any) -> Any:
        return function(self, *args, **options)

    method.__doc__ = function.__doc__
    method.__name__ = getattr(function, "__name__", "method")
    return method


def _reshape(self: Array, *shape: Any, order: str = "C", copy: bool | None = None) -> Array:
    """A view (or copy) in another shape: a.reshape(2, 3) or a.reshape((2, 3))."""
    return manipulation.reshape(self, shape[0] if len(shape) == 1 else shape, order=order, copy=copy)


def _sort(self: Array, axis: int = -1, **options: Any) -> None:
    """Sorts the array in place: `a.sort()`. Arguments and order as tg.sort; all views see it."""
    from .ops import sorting

    setitem(self, ..., sorting.sort(self, axis=axis, **options))


def _partition(self: Array, kth: Any, axis: int = -1, **options: Any) -> None:
    """Partitions the array in place, as tg.partition."""
    from .ops import sorting

    setitem(self, ..., sorting.partition(self, kth, axis=axis, **options))


def _transpose(self: Array, *axes: Any) -> Array:
    """Axes reversed, or in the given order: a.transpose(), a.transpose(1, 0), a.transpose((1, 0))."""
    if not axes or axes == (None,):
        return manipulation.transpose(self)
    return manipulation.transpose(
        self, axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
    )


def _flatten(self: Array, order: str = "C") -> Array:
    """A copy with one axis."""
    return manipulation.reshape(self, (-1,), order=order, copy=True)


def _contains(self: Array, value: Any) -> bool:
    """Whether some element equals a value: `3 in a`."""
    found = reductions.any(elementwise.equal(self, value))
    return bool(engine.wait_for(found.item(), "value in a", "bool(await a.item())"))


def _at(self: Array) -> Any:
    """Functional updates: `x.at[key].add(v)` is a new array (ops/taking.py)."""
    from .ops.taking import At

    return At(self)


def _deepcopy(self: Array, memo: Any) -> Array:
    return creation.copy_of(self)


setattr(Array, "__getitem__", getitem)  # noqa: B010  # mypy allows no assignment to a method
setattr(Array, "__setitem__", setitem)  # noqa: B010
setattr(Array, "__contains__", _contains)  # noqa: B010
Array.at = property(_at)  # type: ignore[attr-defined]
setattr(Array, "__copy__", creation.copy_of)  # noqa: B010
setattr(Array, "__deepcopy__", _deepcopy)  # noqa: B010
Array.flatten = _flatten  # type: ignore[attr-defined]
Array.sort = _sort  # type: ignore[attr-defined]
Array.partition = _partition  # type: ignore[attr-defined]
Array.reshape = _reshape  # type: ignore[attr-defined]
Array.transpose = _transpose  # type: ignore[attr-defined]
Array.T = property(manipulation.transpose, doc="The array with its axes reversed, a view.")  # type: ignore[attr-defined]
Array.mT = property(manipulation.matrix_transpose, doc="The last two axes swapped, a view.")  # type: ignore[attr-defined]
_bind()
