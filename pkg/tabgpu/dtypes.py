"""Every dtype (storage, WGSL type) and the only promotion function. Nothing here knows arrays or devices."""

from __future__ import annotations

from math import frexp as _frexp
from math import isfinite
from typing import Any, Final

from .config import options


class DType:
    """One element type. `kind` is the compute class: b bool, i signed, u unsigned, f real, c complex.

    Storage is in 32-bit words: `per_word` elements share one word (4 for 1-byte types, 2 for 2-byte types, else 1),
    or one element takes `words` words (2 for complex64). Kernels compute with 32-bit values (`wgsl`); `fit` names the
    WGSL function that makes such a value one of this type (wraps integers, rounds floats), "" where all are.
    `available` says whether arrays of it can be made.
    """

    __slots__ = ("available", "fit", "itemsize", "kind", "name", "per_word", "wgsl", "words")

    def __init__(self, name: str, kind: str, itemsize: int, wgsl: str, fit: str = "") -> None:
        self.name, self.kind, self.itemsize, self.wgsl, self.fit = name, kind, itemsize, wgsl, fit
        self.available = bool(wgsl)
        self.per_word = max(1, 4 // itemsize)
        self.words = max(1, itemsize // 4)

    def __repr__(self) -> str:
        return f"tabgpu.{self.name}"

    __str__ = __repr__

    def __reduce__(self) -> str:
        return {"bool": "bool_"}.get(self.name, self.name)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, DType):
            return False
        try:
            return as_dtype(other, checked=False) is self
        except (TypeError, ValueError, SyntaxError):  # NumPy's for "016" is a SyntaxError
            return False

    __hash__ = object.__hash__  # identity: dtypes are single objects, and keys of every lookup


bool_: Final = DType("bool", "b", 1, "bool")
int8: Final = DType("int8", "i", 1, "i32", "wrap_i8")
int16: Final = DType("int16", "i", 2, "i32", "wrap_i16")
int32: Final = DType("int32", "i", 4, "i32")
uint8: Final = DType("uint8", "u", 1, "u32", "wrap_u8")
uint16: Final = DType("uint16", "u", 2, "u32", "wrap_u16")
uint32: Final = DType("uint32", "u", 4, "u32")
float16: Final = DType("float16", "f", 2, "f32", "round_f16")
bfloat16: Final = DType("bfloat16", "f", 2, "f32", "round_bf16")
float32: Final = DType("float32", "f", 4, "f32")
complex64: Final = DType("complex64", "c", 8, "vec2f")
# Names only: WebGPU has no 64-bit types (docs/differences.md).
int64: Final = DType("int64", "i", 8, "")
uint64: Final = DType("uint64", "u", 8, "")
float64: Final = DType("float64", "f", 8, "")
complex128: Final = DType("complex128", "c", 16, "")

ALL: Final[dict[str, DType]] = {
    d.name: d
    for d in (
        bool_,
        int8,
        int16,
        int32,
        int64,
        uint8,
        uint16,
        uint32,
        uint64,
        float16,
        bfloat16,
        float32,
        float64,
        complex64,
        complex128,
    )
}
BY_KIND: Final[dict[str, DType]] = {"b": bool_, "i": int32, "u": uint32, "f": float32, "c": complex64}
_PYTHON: Final[dict[type, DType]] = {bool: bool_, int: int32, float: float32, complex: complex64}
_RANK: Final = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def as_dtype(spec: Any, *, checked: bool = True) -> DType:
    """The DType for a DType, a name, a Python type or a NumPy dtype; TypeError if unknown or (checked) unavailable."""
    if isinstance(spec, DType):
        found: DType | None = spec
    elif isinstance(spec, type) and spec in _PYTHON:
        found = _PYTHON[spec]
    elif isinstance(spec, str) and spec in ALL:
        found = ALL[spec]
    else:
        found = ALL.get(_numpy_name(spec))
    if found is None:
        raise TypeError(f"dtype {spec!r} is not known to tabgpu; it has {', '.join(ALL)}")
    if checked and not found.available:
        if not options.narrow64:
            raise TypeError(
                f"dtype {found.name}: WebGPU has no 64-bit types; use the 32-bit twin, or "
                "tg.config.set(narrow64=True) where a library asks for it (docs/differences.md)"
            )
        return BY_KIND[found.kind]
    return found


def _numpy_name(spec: Any) -> str:
    """The name of anything NumPy would take as a dtype ('<f4', np.float32, np.dtype('bool')); '' if it would not."""
    if spec is None or isinstance(spec, (list, tuple, dict)):  # NumPy's default; records
        return ""
    try:
        import numpy as np  # only reached for foreign specs, so that importing tabgpu needs no NumPy

        return str(np.dtype(spec).name)
    except (ImportError, TypeError, ValueError):
        return ""


_cache: dict[tuple[object, ...], DType] = {}


def promote(*operands: DType | str, where: str = "result_type") -> DType:
    """The one promotion function. Operands are DTypes, or the kind letter (b, i, f, c) of a weak Python scalar.

    The array API's table for up to 32 bits, and beyond it: an integer of 8 bits keeps a 16-bit float, any other integer
    with a float gives float32; float16 with bfloat16 gives float32; uint32 with a signed integer raises TypeError. A
    weak scalar only lifts the kind (int8 array + 1.5 is float32, uint32 + 1 is uint32, float16 + 1j is complex64).
    """
    got = _cache.get(operands)
    if got is None:
        got = _cache[operands] = _promote(operands, where)
    return got


def _promote(operands: tuple[DType | str, ...], where: str) -> DType:
    best: DType | None = None
    for d in operands:
        if isinstance(d, DType):
            best = d if best is None else _pair(best, d, where)
    weak = max((o for o in operands if isinstance(o, str)), key=lambda k: _RANK[k], default="b")
    if best is None or _RANK[weak] > _RANK[best.kind]:
        return BY_KIND[weak]
    return best


def _pair(a: DType, b: DType, where: str) -> DType:
    if a is b:
        return a
    if _RANK[a.kind] > _RANK[b.kind] or (a.kind == "u" and b.kind == "i"):
        a, b = b, a
    if a.kind == "b" or b.kind == "c":
        return b
    if a.kind == b.kind:
        if a.itemsize == b.itemsize:
            return float32 if a.itemsize < 4 else float64  # float16 with bfloat16
        return a if a.itemsize > b.itemsize else b
    if b.kind == "f":
        return b if a.itemsize == 1 or b.itemsize > 4 else float32
    if a.itemsize > b.itemsize:  # signed, and wider than the unsigned one
        return a
    if b.itemsize >= 4:
        raise TypeError(
            f"{where}: {a.name} with {b.name} has no common 32-bit type; use .astype('int32') or .astype('uint32')"
        )
    return int16 if b.itemsize == 1 else int32


def bounds(dtype: DType) -> tuple[int, int]:
    """The least and the greatest value of an integer dtype."""
    bits = 8 * dtype.itemsize
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype.kind == "i" else (0, (1 << bits) - 1)


def check_scalar(value: Any, dtype: DType, where: str) -> None:
    """OverflowError if a Python integer does not fit an integer dtype (NumPy 2's rule); floats never overflow here."""
    if dtype.kind in "iu" and isinstance(value, int):
        low, high = bounds(dtype)
        if not low <= value <= high:
            raise OverflowError(f"{where}: Python integer {value} out of bounds for {dtype.name}")


def nearest(value: float, dtype: DType) -> float:
    """A Python number as the nearest value of a real floating dtype of 16 bits (halves to even, inf beyond)."""
    import struct

    value = float(value)
    if dtype is float16:
        try:
            return float(struct.unpack("<e", struct.pack("<e", value))[0])
        except OverflowError:
            return value * float("inf")
    if not isfinite(value):
        return value
    exponent = _frexp(value)[1]
    step = 2.0 ** (max(exponent, -125) - 8)  # 8 significant bits, the smallest exponent of float32
    rounded = round(value / step) * step
    return rounded if abs(rounded) < 2.0**128 else value * float("inf")
