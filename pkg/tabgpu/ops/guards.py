"""Conditions on device data that raise at the read which depends on them: out-of-range indices, counts that differ."""

from __future__ import annotations

from ..array import Array
from ..graph import Guard
from ..layout import Shape
from .rows import binary, unary

_FAULT = binary(
    "index_fault", {"i": "index_fault_i32(x, y)", "u": "index_fault_u32(x, y)"}, out="uint32", like="",
    doc="0 where x is an index of an axis of y elements, else a word that tells x.",
)  # fmt: skip
_BEYOND = binary(
    "position_fault", {"i": "select(0u, bitcast<u32>(x + select(1, 0, x < 0)), (x < 0) | (x >= y))"},
    out="uint32", like="", doc="0 where 0 <= x < y, else a word that tells x.",
)  # fmt: skip
_NEGATIVE = unary(
    "negative_fault", {"i": "select(0u, bitcast<u32>(x), x < 0i)"}, out="uint32", like="",
    doc="0 unless x is negative, then its bits.",
)  # fmt: skip
_DIFFERS = binary("differs", {"i": "bitcast<u32>(x ^ y)"}, out="uint32", like="", doc="0 where x equals y.")


def guard(check: Array, describe: object) -> Guard:
    """A Guard on a uint32 array: not 0 anywhere makes `describe(greatest value)` the error."""
    from . import reductions

    if check.ndim:
        check = reductions.max(check, initial=0)
    return Guard(check._cell, describe)  # type: ignore[arg-type]


def index_guard(index: Array, n: int, axis: int) -> Guard:
    """IndexError if an index lies outside [-n, n); it names the greatest that does."""
    from .creation import astype

    signed = index.dtype.kind == "i"
    wide = astype(index, "int32" if signed else "uint32", copy=False)

    def describe(word: int) -> Exception:
        value = (
            (word ^ 0x80000000) - (0x100000000 if (word ^ 0x80000000) > 0x7FFFFFFF else 0) if signed else word
        )
        return IndexError(f"index: index {value} is out of bounds for axis {axis} with size {n}")

    return guard(_FAULT(wide, n), describe)


def position_guard(positions: Array, n: int) -> Guard:
    """ValueError if a position lies outside [0, n)."""
    from .creation import astype

    def describe(word: int) -> Exception:
        value = word - 0x100000000 if word > 0x7FFFFFFF else word - 1
        return ValueError(f"index {value} is out of bounds for an array of size {n}")

    return guard(_BEYOND(astype(positions, "int32", copy=False), n), describe)


def count_guard(counts: Array, wanted: int, shape: Shape) -> Guard:
    """ValueError unless the last of running counts is `wanted`."""

    def describe(word: int) -> Exception:
        return ValueError(
            f"assignment: cannot assign {wanted} values to the {wanted ^ word} True elements of a mask of shape {shape}"
        )

    if not counts.size and wanted:
        raise describe(wanted)
    return guard(_DIFFERS(counts[-1:], wanted), describe)


def negative_power_guard(exponent: Array) -> Guard:
    """ValueError if an exponent of integers is negative; it names the one nearest to 0."""

    def describe(word: int) -> Exception:
        return ValueError(f"power: integers to negative integer powers are not allowed: {word - 0x100000000}")

    return guard(_NEGATIVE(exponent), describe)
