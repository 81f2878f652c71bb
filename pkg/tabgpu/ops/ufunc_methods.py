"""What functions have besides being called: reduce, accumulate, outer, at, as NumPy's ufuncs; Composite, a function
made of rows that has them too."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from ..array import Array
from ..dtypes import bool_
from .ufunc_arguments import call, call_many

_REDUCE = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "fmax": "fmax", "fmin": "fmin",
    "logical_and": "all", "logical_or": "any", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor",
    "gcd": "gcd", "lcm": "lcm",
}  # fmt: skip
_AFTER_FIRST = {"subtract": "sum", "divide": "prod"}  # x[0] - x[1] - x[2] is x[0] - (x[1] + x[2])
_ACCUMULATE = {
    "add": "cumulative_sum", "multiply": "cumulative_prod", "maximum": "cumulative_max", "minimum": "cumulative_min",
    "logaddexp": "logcumsumexp",
}  # fmt: skip
_AT = {"add": "add", "subtract": "subtract", "multiply": "multiply", "maximum": "max", "minimum": "min"}
_IDENTITY: dict[str, int] = {
    "add": 0, "multiply": 1, "logical_and": 1, "logical_or": 0, "logical_xor": 0, "bitwise_and": -1, "bitwise_or": 0,
    "bitwise_xor": 0, "gcd": 0, "hypot": 0,
}  # fmt: skip


def prepared(x: Any, where: str) -> Array:
    """An operand as an Array."""
    from .convert import from_host

    return x if isinstance(x, Array) else from_host(x, where)


class UfuncMethods:
    """The methods of NumPy's ufuncs, for functions with `name`, `nin` and one result."""

    name: str
    nin: int
    nout = 1

    @property
    def nargs(self) -> int:
        """Number of operands and results."""
        return self.nin + self.nout

    @property
    def identity(self) -> int | None:
        """What changes nothing as an operand, if there is such a number."""
        return _IDENTITY.get(self.name)

    def _pair(self, what: str) -> None:
        if self.nin != 2:
            raise ValueError(f"{self.name}.{what}: only functions of two operands have it")

    def _refuse(self, what: str, have: Any) -> TypeError:
        names = ", ".join(sorted(have))
        return TypeError(f"{self.name}.{what} is not supported; {what} works for {names}")

    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
        initial: Any = None, where: Any = True,
    ) -> Array:  # fmt: skip
        """The function between all elements along axes (the first by default; None: all), as in NumPy.

        In one parallel tree, so only functions that are associative have it. ValueError over a zero-size axis without
        an identity.
        """
        from . import reductions
        from .creation import astype
        from .elementwise import where as ew_where
        from .ufunc_arguments import as_mask, as_out, store_reduced

        self._pair("reduce")
        name = _REDUCE.get(self.name)
        if self.name == "logical_xor":  # whether an odd number is true
            name, array = "xor", astype(prepared(array, "logical_xor.reduce"), bool_, copy=False)
        if name is not None:
            return reductions.reduce(
                name, array, axis, dtype, out, keepdims, initial, where, f"{self.name}.reduce"
            )
        if self.name == "logaddexp" and initial is None and dtype is None:
            from .statistics import logsumexp

            x = prepared(array, "logaddexp.reduce")
            mask = as_mask(where, "logaddexp.reduce")
            x = x if mask is None else ew_where(mask, x, float("-inf"))
            return store_reduced(
                logsumexp(x, axis, keepdims=keepdims), as_out(out, self.name), "logaddexp.reduce"
            )
        if self.name not in _AFTER_FIRST:
            raise self._refuse("reduce", (*_REDUCE, *_AFTER_FIRST, "logical_xor", "logaddexp"))
        return reductions.reduce_after_first(
            self, _AFTER_FIRST[self.name], array, axis, dtype, out, keepdims, initial, where
        )

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Array:
        """The results of reduce over each leading part along an axis, in the shape of the array."""
        from importlib import import_module

        from .ufunc_arguments import as_out, store_reduced

        self._pair("accumulate")
        if self.name not in _ACCUMULATE:
            raise self._refuse("accumulate", _ACCUMULATE)
        name = f"{self.name}.accumulate"
        x = prepared(array, name)
        if not x.ndim:
            raise TypeError(f"{name}: cannot accumulate on a scalar")
        scans: Any = import_module("tabgpu")
        function = getattr(scans, _ACCUMULATE[self.name])
        options = {} if dtype is None else {"dtype": dtype}
        return store_reduced(function(x, axis=axis, **options), as_out(out, name), name)

    def outer(self, a: Any, b: Any, /, **options: Any) -> Array:
        """The function of all pairs: element [i.., j..] is f(a[i..], b[j..])."""
        from .manipulation import reshape

        self._pair("outer")
        x, y = prepared(a, f"{self.name}.outer"), prepared(b, f"{self.name}.outer")
        tall = reshape(x, (*x.shape, *(1,) * y.ndim))
        return self(tall, y, **options)  # type: ignore[operator,no-any-return]  # whoever has these methods is called

    def at(self, a: Any, indices: Any, b: Any = None, /) -> None:
        """a[indices] = f(a[indices], b) in place, where every duplicate among the indices counts."""
        from .dtype_functions import can_cast, result_type
        from .indexing import setitem
        from .taking import At

        self._pair("at")
        name = _AT.get(self.name)
        if name is None:
            raise self._refuse("at", _AT)
        if not isinstance(a, Array):
            raise TypeError(f"{self.name}.at: it works in place on a tabgpu array, not on {type(a).__name__}")
        if b is None:
            raise ValueError(f"{self.name}.at: a second operand is needed")
        b = b if isinstance(b, (bool, int, float, complex)) else prepared(b, f"{self.name}.at")
        dtype = result_type(a, b)
        if not can_cast(dtype, a.dtype, "same_kind"):
            raise TypeError(
                f"{self.name}.at: cannot cast from {dtype.name} to {a.dtype.name} with rule 'same_kind'"
            )
        setitem(a, ..., getattr(At(a)[indices], name)(b))

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Array:
        """Not here: TypeError."""
        raise TypeError(f"{self.name}.reduceat is not supported; use tg.add.accumulate or slices")


class Composite(UfuncMethods):
    """A function made of rows, with out=, where=, dtype=, casting= and the methods. `out`: as Row's."""

    out = None

    def __init__(self, function: Callable[..., Any], nin: int, nout: int) -> None:
        update_wrapper(self, function)
        self.function, self.name, self.nin, self.nout = function, function.__name__, nin, nout

    def __repr__(self) -> str:
        return f"<tabgpu function {self.name}>"

    def __call__(self, *operands: Any, **options: Any) -> Any:
        if not options and len(operands) == self.nin:
            return self.function(*operands)
        return (call if self.nout == 1 else call_many)(self, operands, options)


def composite(nin: int, nout: int = 1) -> Callable[[Callable[..., Any]], Any]:
    """A decorator: the function of `nin` operands as a Composite."""
    return lambda function: Composite(function, nin, nout)
