"""WGSL that copies elements as bits, four neighbours a thread: pieces behind one another, an array with axes mapped.

Whole: four neighbours of the result are four neighbours of one source, loaded at once; else they are looked up one by
one. What is too large for these texts, or has too many pieces, goes through kernels/join.wgsl and remap.wgsl.
"""

from __future__ import annotations

from typing import NamedTuple

from .codegen import (
    address,
    bindings,
    element_type,
    load_bits,
    locator,
    parameters,
    walking,
    with_library,
    word,
)
from .codegen_strided import successor
from .dtypes import DType

SIZES = 4  # word of the result's sizes


class Join(NamedTuple):
    """pieces: by piece the binding it is read from, or -1 for a constant. dtype: an unsigned one of the width."""

    dtype: DType
    rank: int
    axis: int
    pieces: tuple[int, ...]
    whole: bool
    workgroup: int


class Remap(NamedTuple):
    """modes: by axis `plain`, `constant`, `edge`, `wrap` (once around), `turn` (any period, back from the turn on).
    pairs: the last axis is the two words of a complex number, and constants have two."""

    dtype: DType
    modes: tuple[str, ...]
    whole: bool
    pairs: bool
    workgroup: int


def main(
    dtype: DType, rank: int, whole: bool, workgroup: int, functions: str, inputs: int, words: int
) -> str:
    """A module around `fn element(p) -> u32` or, whole, `fn four(p)` of the vector that four elements are bound as."""
    kind = element_type(dtype)
    sorts = [(f"b{k}", kind if whole else "u32") for k in range(inputs)] + [("w0", kind)]
    lines = ["let p0 = locate(i);"]
    after = ""
    if whole:
        value = "four(p0)"
    else:
        after = successor("locate", rank, SIZES)
        for j in range(4):
            lines += [f"let p{j} = locate_next(p{j - 1});"] if j else []
            lines.append(f"let e{j} = element(p{j});")
        value = packed(dtype, "vec4u(e0, e1, e2, e3)")
    lines.append(f"w0[(i - {word(2)}) >> 2u] = {value};")
    body = "\n  ".join(lines)
    return with_library(
        bindings(sorts) + parameters(words) + locator("locate", rank, SIZES) + after + functions
        + walking(workgroup, dtype.per_word, body)
    )  # fmt: skip


def packed(dtype: DType, bits: str) -> str:
    """Four elements, a word each, as they are bound."""
    return {4: f"pack_bytes({bits})", 2: f"pack_halves({bits})"}.get(dtype.per_word, bits)


def head(dtype: DType, whole: bool) -> str:
    return f"fn four(p: Locate) -> {element_type(dtype)} {{" if whole else "fn element(p: Locate) -> u32 {"


def loaded(dtype: DType, binding: int, whole: bool) -> str:
    """What lies at address d of a source."""
    return f"b{binding}[d >> 2u]" if whole else load_bits(binding, dtype, "d")


def join(sig: Join) -> tuple[str, str]:
    """(WGSL, access string). Words: 0 first element, 1 end, 2 where the window begins, 4 sizes; of each piece: its end
    along the axis, offset (or the constant's bits) and strides, of which a constant has none."""
    rank, at, lines = sig.rank, SIZES + sig.rank, []
    for k, binding in enumerate(sig.pieces):
        if binding < 0:
            value = packed(sig.dtype, f"vec4u({word(at + 1)})") if sig.whole else word(at + 1)
            lines.append(f"return {value};")
        else:
            lines += [
                f"let d = {address('p', rank, word(at + 1), at + 2)};",
                f"return {loaded(sig.dtype, binding, sig.whole)};",
            ]
        if k < len(sig.pieces) - 1:
            width = 1 if binding < 0 else 2
            lines[-width:] = [
                f"if (p.m{sig.axis} < {word(at)}) {{",
                *(f"  {x}" for x in lines[-width:]),
                "}",
            ]
        at += 2 if binding < 0 else 2 + rank
    body = "\n  ".join(lines)
    functions = f"{head(sig.dtype, sig.whole)}\n  {body}\n}}\n"
    inputs = max(sig.pieces) + 1
    return main(sig.dtype, rank, sig.whole, sig.workgroup, functions, inputs, at), "r" * inputs + "w"


AXIS = (
    4 + 4
)  # words of an axis: size of the source, stride, shift, period; constants before (2) and behind (2)


def remap(sig: Remap) -> tuple[str, str]:
    """(WGSL, access string). Words: 0 first element, 1 end, 2 where the window begins, 3 offset, 4 sizes; of each axis:
    the source's size, stride, shift, period; the constants before and behind (`turn`: where coordinates turn)."""
    rank = len(sig.modes)
    at = SIZES + rank
    constants = "constant" in sig.modes
    lines = [f"var d = {word(3)};"]
    if constants:
        lines += ["var filled = false;", "var own = 0u;"]
    for k in reversed(range(rank)):  # of two constants that meet in a corner the later axis' stands
        words = at + AXIS * k
        size, stride, shift, period = (word(words + j) for j in range(4))
        c, mode = f"p.m{k}", sig.modes[k]
        if mode == "constant":
            odd = f"p.m{rank - 1} == 1u"
            low, high = word(words + 4), word(words + 6)
            if sig.pairs:
                low = f"select({low}, {word(words + 5)}, {odd})"
                high = f"select({high}, {word(words + 7)}, {odd})"
            lines += [
                f"let c{k} = {c} - {shift};",
                f"if (c{k} < {size}) {{ d += c{k} * {stride}; }}",
                f"else if (!filled) {{ filled = true; own = select({high}, {low}, {c} < {shift}); }}",
            ]
            continue
        if mode == "edge":
            lines.append(f"let c{k} = select(min({c} - {shift}, {size} - 1u), 0u, {c} < {shift});")
        elif mode == "wrap":
            lines.append(f"let t{k} = {c} + {shift};")
            lines.append(f"let c{k} = select(t{k}, t{k} - {period}, t{k} >= {period});")
        elif mode == "turn":
            lines.append(f"let t{k} = ({c} + {shift}) % {period};")
            lines.append(f"let c{k} = select(t{k}, {word(words + 4)} - t{k}, t{k} >= {size});")
        else:
            lines.append(f"let c{k} = {c};")
        lines.append(f"d += c{k} * {stride};")
    if constants:
        own = packed(sig.dtype, "vec4u(own)") if sig.whole else "own"
        lines.append(f"if (filled) {{ return {own}; }}")
    lines.append(f"return {loaded(sig.dtype, 0, sig.whole)};")
    body = "\n  ".join(lines)
    functions = f"{head(sig.dtype, sig.whole)}\n  {body}\n}}\n"
    return main(sig.dtype, rank, sig.whole, sig.workgroup, functions, 1, at + AXIS * rank), "rw"
