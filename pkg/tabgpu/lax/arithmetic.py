"""Elementwise functions whose XLA meaning is not NumPy's: division and remainder towards zero, rounding by name, bits,
shifts. The others are tg's rows under lax's names (lax/__init__.py); operands broadcast and promote as everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from operator import index as as_index
from typing import Any

from ..array import Array
from ..dtypes import bool_
from ..ops import elementwise as ew
from ..ops.rearranging import prepare
from ..ops.rows import binary, unary

_LAX = "jax.lax."


def _bits(expr: str, outer: str = "{}") -> dict[str, str]:
    """A function of an integer's bits, of each width: {x} is them, {bits} how many. outer: of signed results."""
    made = {"u": expr.format(x="x", bits=32), "i": outer.format(expr.format(x="bitcast<u32>(x)", bits=32))}
    for bits in (8, 16):
        made[f"uint{bits}"] = expr.format(x="x", bits=bits)
        wide = f"(bitcast<u32>(x) & {(1 << bits) - 1}u)"
        made[f"int{bits}"] = outer.format(expr.format(x=wide, bits=bits))
    return made


# fmt: off
population_count = unary("population_count", _bits("countOneBits({x})", "bitcast<i32>({})"),
                         like=_LAX + "population_count", doc="Number of 1 bits, in x's dtype.", exact=True)
clz = unary("clz", _bits("(countLeadingZeros({x}) + {bits}u - 32u)", "bitcast<i32>({})"), like=_LAX + "clz",
            doc="Number of 0 bits above the highest 1 bit, in x's dtype; its width for 0.", exact=True)
shift_right_logical = binary(
    "shift_right_logical", {
        "u": "right_shift_u32(x, y)",
        "i": "bitcast<i32>(right_shift_u32(bitcast<u32>(x), bitcast<u32>(y)))",
        "int8": "wrap_i8(bitcast<i32>(right_shift_u32(bitcast<u32>(x) & 255u, bitcast<u32>(y))))",
        "int16": "wrap_i16(bitcast<i32>(right_shift_u32(bitcast<u32>(x) & 65535u, bitcast<u32>(y))))",
    }, like=_LAX + "shift_right_logical",
    doc="x >> y, zeros coming in, also of signed x; 0 for counts outside its width.")
shift_right_arithmetic = binary(
    "shift_right_arithmetic", {
        "i": "right_shift_i32(x, y)",
        "u": "bitcast<u32>(right_shift_i32(bitcast<i32>(x), bitcast<i32>(y)))",
        "uint8": "wrap_u8(bitcast<u32>(right_shift_i32(wrap_i8(bitcast<i32>(x)), bitcast<i32>(y))))",
        "uint16": "wrap_u16(bitcast<u32>(right_shift_i32(wrap_i16(bitcast<i32>(x)), bitcast<i32>(y))))",
    }, like=_LAX + "shift_right_arithmetic",
    doc="x >> y, the highest bit coming in, also of unsigned x.", exact=True)
div = binary("div_toward_zero", {"i": "divide_toward_zero_i32(x, y)", "u": "floor_divide_u32(x, y)",
                                 "f": "div_f32(x, y)", "c": "divide_c64(x, y)"}, ulp=1, like=_LAX + "div",
             doc="x / y; of integers towards zero: x / 0 is 0 and -2**31 / -1 wraps.")
BITS = {
    "uint32": unary("bits_u32", {"f": "bitcast<u32>(x)", "i": "bitcast<u32>(x)", "u": "x"}, out="u", like="",
                    doc="The 32 bits of float32 or int32 as uint32."),
    "float32": unary("bits_f32", {"u": "bitcast<f32>(x)"}, out="f", like="", doc="32 bits as float32."),
}
# fmt: on
rem = ew.fmod


class RoundingMethod(Enum):
    """Where halves go: AWAY_FROM_ZERO, or TO_NEAREST_EVEN."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def round(x: Any, rounding_method: Any = RoundingMethod.AWAY_FROM_ZERO) -> Array:  # lax's name
    """The nearest integer as a float, halves away from zero (lax's default) or to the even one."""
    x = prepare(x, "round")
    if x.dtype.kind != "f":
        raise TypeError(f"round: takes floats, not {x.dtype.name}")
    if RoundingMethod(rounding_method) is RoundingMethod.TO_NEAREST_EVEN:
        return ew.rint(x)
    whole = ew.trunc(x)
    far = ew.greater_equal(ew.absolute(ew.subtract(x, whole)), 0.5)
    return ew.where(far, ew.add(whole, ew.copysign(1.0, x)), whole)


def integer_pow(x: Any, y: int) -> Array:
    """x ** y for a host integer y; negative ones of floats and complex numbers only."""
    made: Array = ew.power(x, as_index(y))
    return made


def select(pred: Any, on_true: Any, on_false: Any) -> Array:
    """on_true where pred is true (not zero), else on_false."""
    return ew.where(pred, on_true, on_false)


def select_n(which: Any, *cases: Any) -> Array:
    """cases[which], element by element: which is bool (two cases: False, True) or int32, clamped to the cases."""
    if not cases:
        raise ValueError("select_n: no cases")
    index = prepare(which, "select_n")
    if index.dtype.kind not in "bi" or (index.dtype is bool_ and len(cases) > 2):
        raise TypeError(
            f"select_n: which is bool for 2 cases or int32, not {index.dtype.name} for {len(cases)}"
        )
    made = cases[0]
    for k, case in enumerate(cases[1:], 1):
        made = ew.where(index if index.dtype is bool_ else ew.greater_equal(index, k), case, made)
    return prepare(made, "select_n")


def clamp(min: Any, x: Any, max: Any) -> Array:  # lax's names
    """minimum(maximum(x, min), max); bounds are scalars or broadcast."""
    return ew.clip(x, min, max)


def named(computation: Any, where: str) -> str:
    """A monoid by its name (add, mul, max, min, and, or, xor) or by its function in tg.lax: a reduction's name."""
    key = computation if isinstance(computation, str) else getattr(computation, "name", None)
    found = MONOIDS.get(key) if isinstance(key, str) else None
    if found is None:
        raise TypeError(
            f"{where}: computation is one of add, mul, max, min, and, or, xor (a name, or the function of tg.lax), "
            f"not {computation!r}: Python functions are not compiled"
        )
    return found


MONOIDS = {
    "add": "sum", "mul": "prod", "multiply": "prod", "max": "max", "maximum": "max", "min": "min", "minimum": "min",
    "and": "and", "bitwise_and": "and", "logical_and": "and", "or": "or", "bitwise_or": "or", "logical_or": "or",
    "xor": "xor", "bitwise_xor": "xor", "logical_xor": "xor",
}  # fmt: skip
__all__: Sequence[str] = [
    "RoundingMethod", "clamp", "clz", "div", "integer_pow", "population_count", "rem", "round", "select", "select_n",
    "shift_right_arithmetic", "shift_right_logical",
]  # fmt: skip
