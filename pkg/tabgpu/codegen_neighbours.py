"""The text of neighbours.wgsl for each function, dtype and form."""

from __future__ import annotations

from typing import NamedTuple

from . import codegen, kernels
from .codegen_windows import encoded, writes
from .dtypes import DType
from .kernels import neighbours_functions as functions


class Form(NamedTuple):
    """Everything a text depends on."""

    name: str  # min, max, rank
    dtype: DType
    rank: int
    workgroup: int
    masked: bool  # a buffer says which taps count
    raised: bool  # and another what is added to them
    side: int = 0  # rank: the window is a square or cube of this side, sorted in registers


_MASK = "@group(0) @binding(1) var<storage, read> mask: array<u32>;\n"
_HEIGHTS = "@group(0) @binding(2) var<storage, read> heights: array<{V}>;\n"


def text(sig: Form) -> tuple[str, str]:
    """(WGSL, access string)."""
    dtype = sig.dtype
    kind = "u" if dtype.kind == "b" else dtype.kind
    if sig.raised and kind == "u" and dtype.per_word > 1:
        kind = "i"  # sums of either sign are compared, and wrap when they are stored
    v = codegen.SCALAR_TYPE[kind]
    body = kernels.rewrite(
        kernels.read("neighbours"), {"V": v, "WG": sig.workgroup, "RANK": sig.rank, "PER": dtype.per_word}
    )
    one = codegen.load_one(0, dtype, "at").replace("b0[", "src[")
    one = f"select(0u, 1u, {one})" if dtype.kind == "b" else f"V({one})"
    body = kernels.replace_function(body, "load", f"fn load(at: u32) -> V {{ return {one}; }}")
    kept = encoded(dtype, rounds=sig.raised) if dtype.kind in "fi" else "bitcast<u32>(v)"
    body = writes(body, kept)
    body = kernels.replace_function(
        body, "constant", f"fn constant() -> V {{ return bitcast<{v}>(P[1].y); }}"
    )
    body = kernels.replace_function(
        body, "key", f"fn key(v: V) -> u32 {{ return {functions.key(sig.name, kind)}; }}"
    )
    body = kernels.replace_function(
        body, "unkey", f"fn unkey(k: u32) -> V {{ return {functions.UNKEYS[kind]}; }}"
    )
    access, more = "rw", ""
    if sig.masked:
        access, more = "rrw", _MASK
        body = kernels.replace_function(
            body, "wanted", "fn wanted(tap: u32) -> bool { return mask[tap] != 0u; }"
        )
    if sig.raised:
        access, more = "rrrw", more + _HEIGHTS.format(V=v)
        sign = "-" if sig.name == "min" else "+"
        body = kernels.replace_function(
            body, "raised", f"fn raised(v: V, tap: u32) -> V {{ return v {sign} heights[tap]; }}"
        )
    body = body.replace(
        "@binding(1) var<storage, read_write>", f"@binding({len(access) - 1}) var<storage, read_write>"
    )
    if sig.name == "rank":
        made = functions.network(sig.side, sig.rank) if sig.side else functions.BITS
        body = kernels.replace_block(body, "function", made)
        if sig.side:
            body = kernels.replace_function(body, "walk", "")
    return codegen.with_library(body + more), access
