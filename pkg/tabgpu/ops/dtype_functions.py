"""finfo, iinfo, isdtype, result_type, can_cast: what is said of dtypes alone. The rules are in dtypes.py.

The 64-bit names are known to all of them, though no array can have such a dtype.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log10
from typing import Any

from ..array import Array
from ..dtypes import ALL, DType, as_dtype, bounds, complex64, complex128, float32, float64, promote

_WEAK = {bool: "b", int: "i", float: "f", complex: "c"}
# kind of the array API -> (kind letters, names of dtypes that the standard does not know and we count with them)
_KINDS = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
    "complex floating": "c", "numeric": "iufc",
}  # fmt: skip
# bits of the fraction, bits of the exponent
_FORMATS = {"float16": (10, 5), "bfloat16": (7, 8), "float32": (23, 8), "float64": (52, 11)}


@dataclass(frozen=True, repr=False)
class FloatInfo:
    """What a floating-point dtype can represent; of a complex dtype, what its parts can."""

    dtype: DType
    bits: int
    eps: float
    epsneg: float
    max: float
    min: float
    smallest_normal: float
    smallest_subnormal: float
    resolution: float
    precision: int
    nmant: int
    nexp: int
    maxexp: int
    minexp: int

    @property
    def tiny(self) -> float:
        """smallest_normal (NumPy's older name)."""
        return self.smallest_normal

    def __repr__(self) -> str:
        return f"finfo(resolution={self.resolution}, min={self.min}, max={self.max}, dtype={self.dtype.name})"


@dataclass(frozen=True, repr=False)
class IntegerInfo:
    """What an integer dtype can represent."""

    dtype: DType
    bits: int
    max: int
    min: int
    kind: str

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype.name})"


def dtype_of(x: Any, where: str) -> DType:
    """The dtype of an Array or of a host array, or of what names a dtype."""
    if isinstance(x, Array):
        return x.dtype
    if isinstance(x, DType):
        return x
    if not isinstance(x, type) and hasattr(x, "dtype"):  # NumPy's arrays and scalars
        x = x.dtype
    try:
        return as_dtype(x, checked=False)
    except TypeError:
        raise TypeError(
            f"{where}: {x!r} is neither an array nor one of the dtypes {', '.join(ALL)}"
        ) from None


def finfo(type: Any, /) -> FloatInfo:  # the array API's name of the argument
    """Machine limits of a floating-point dtype, or of an array's: bits, eps, max, min, smallest_normal, dtype ...

    Of complex64 those of float32. TypeError for other dtypes. Numbers are Python's.
    """
    found = dtype_of(type, "finfo")
    found = {complex64: float32, complex128: float64}.get(found, found)
    if found.kind != "f":
        raise TypeError(f"finfo: {found.name} is no floating-point dtype; iinfo tells about integers")
    fraction, exponent = _FORMATS[found.name]
    high = 1 << exponent - 1  # the first exponent that overflows
    eps, least = 2.0**-fraction, 2.0 ** (2 - high)
    most = (2.0 - eps) * 2.0 ** (high - 1)
    digits = int(fraction * log10(2))
    return FloatInfo(
        found, 8 * found.itemsize, eps, eps / 2, most, -most, least, least * eps, 10.0**-digits, digits, fraction,
        exponent, high, 2 - high,
    )  # fmt: skip


def iinfo(type: Any, /) -> IntegerInfo:  # the array API's name of the argument
    """The bits, max, min of an integer dtype, or of an array's. TypeError for other dtypes."""
    found = dtype_of(type, "iinfo")
    if found.kind not in "iu":
        raise TypeError(f"iinfo: {found.name} is no integer dtype; finfo tells about floats")
    low, high = bounds(found)
    return IntegerInfo(found, 8 * found.itemsize, high, low, found.kind)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind: a dtype, one of "bool", "signed integer", "unsigned integer", "integral",
    "real floating", "complex floating", "numeric", or a tuple of these (one of them has to hold)."""
    found = dtype_of(dtype, "isdtype")
    if isinstance(kind, tuple):
        return any(isdtype(found, k) for k in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return found.kind in _KINDS[kind]
    try:
        return found is as_dtype(kind, checked=False)
    except TypeError:
        known = ", ".join(_KINDS)
        raise ValueError(f"isdtype: kind {kind!r} is no dtype and none of {known}") from None


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype that an operation on these arrays, dtypes and Python scalars has; Python scalars are weak.

    TypeError where there is none of at most 32 bits (int32 with uint32). With a 64-bit name, NumPy's answer.
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type: at least one array or dtype is needed")
    operands: list[DType | str] = [
        weak if (weak := _WEAK.get(type(x))) is not None else dtype_of(x, "result_type")
        for x in arrays_and_dtypes
    ]
    strong = [d for d in operands if isinstance(d, DType)]
    if all(d.available for d in strong):
        return promote(*operands, where="result_type")
    best = strong[0]
    for d in strong[1:]:
        best = _pair(best, d)
    kind = max((d for d in operands if isinstance(d, str)), key="bifc".index, default="b")
    if kind == "c" and best.kind != "c":
        return complex128 if best.itemsize == 8 else complex64
    if kind == "f" and best.kind not in "fc":
        return float64
    return best


def _pair(a: DType, b: DType) -> DType:
    """NumPy's promotion of a pair where 64 bits are allowed."""
    for x, y in ((a, b), (b, a)):
        if _safe(x, y):
            return y
    if "c" in (a.kind, b.kind):
        return complex128
    if "f" in (a.kind, b.kind):
        return float64
    return float64 if ALL["uint64"] in (a, b) else ALL["int64"]


def can_cast(from_: Any, to: Any, /, casting: str = "safe") -> bool:
    """Whether values of a dtype (or of an array) may become another dtype.

    casting: "no" and "equiv" (the same dtype), "safe" (every value is kept, as the array API's promotion demands),
    "same_kind" (safe, or within a kind: float32 to float16, int32 to int8), "unsafe" (always). Python scalars have no
    dtype of their own: TypeError.
    """
    if type(from_) in _WEAK:
        raise TypeError("can_cast: Python scalars have no dtype; pass an array or a dtype")
    have, want = dtype_of(from_, "can_cast"), dtype_of(to, "can_cast")
    if casting in ("no", "equiv"):
        return have is want
    if casting == "unsafe":
        return True
    if casting not in ("safe", "same_kind"):
        raise ValueError(f"can_cast: casting {casting!r} is none of no, equiv, safe, same_kind, unsafe")
    if casting == "same_kind" and "buifc".index(have.kind) <= "buifc".index(want.kind):
        return True
    return _safe(have, want)


def _safe(a: DType, b: DType) -> bool:
    """Whether every value of `a` is one of `b`; integers may lose digits in a float of 64 bits, as NumPy has it."""
    if a is b or a.kind == "b":
        return True
    if b.kind == "b":
        return False
    if b.kind in "iu":
        if a.kind not in "iu" or (a.kind == "i" and b.kind == "u"):
            return False
        return a.itemsize < b.itemsize or (a.kind == b.kind and a.itemsize == b.itemsize)
    part = b if b.kind == "f" else float32 if b is complex64 else float64
    if a.kind in "iu":
        return part is float64 or 8 * a.itemsize - (a.kind == "i") <= _FORMATS[part.name][0] + 1
    if a.kind == "c":
        return b is complex128
    return all(m <= n for m, n in zip(_FORMATS[a.name], _FORMATS[part.name], strict=True))


__all__ = ["can_cast", "finfo", "iinfo", "isdtype", "result_type"]
