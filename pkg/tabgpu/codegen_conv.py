"""WGSL of convolutions: conv.wgsl with its tile, its operands' loads and its epilogue filled in."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import kernels
from .codegen import SCALAR_TYPE, Region
from .codegen_product import _behind, _element, _loads, _whole

WORDS = 76  # of the kernel itself


class Conv(NamedTuple):
    """A convolution kernel with its epilogue."""

    kind: str
    forms: tuple[str, str]  # of A and B: "" for 32-bit words, else "f16" or "bf16"
    params: tuple[tuple[str, Any], ...]  # const lines, ALONE among them
    post: Region
    rank: int
    inputs: int  # bindings read by the epilogue


def convolution(sig: Conv) -> tuple[str, str]:
    """(WGSL, access string)."""
    from .kernels import conv_inner  # long texts: only when a convolution is asked for

    params = dict(sig.params)
    fours, span = params.pop("FOURS", False), params.pop("SPAN", None)
    text, head = kernels.read("conv"), ""
    bm, bn = params["BM"], params["BN"]
    if params["ALONE"]:
        block = conv_inner.alone(bm, bn, fours)
    elif span:
        from .kernels.conv_direct_inner import Span, direct

        head, block = direct(Span(*span))
        text = kernels.replace_block(text, "which", "  let t = wid.x + nwg.x * (wid.y + nwg.y * wid.z);\n")
    else:
        sizes = (bm, bn, *(params[x] for x in ("BK", "TM", "TN", "SLICES", "PAD")))
        block = conv_inner.tiled(*sizes)
        text = kernels.replace_block(text, "which", "  let t = wid.x + nwg.x * (wid.y + nwg.y * wid.z);\n")
    more, hooks, words = _behind(sig, params["N4"], 2, WORDS)
    more += head
    if params["N4"]:
        hooks["emit"] = f"fn emit(v: {SCALAR_TYPE[sig.kind]}, i: u32) {{\n}}"  # never called
    else:
        hooks["emit4"] = f"fn emit4(v: vec4<{SCALAR_TYPE[sig.kind]}>, i: u32) {{\n}}"
    a, b = sig.forms
    hooks |= _loads("a", "a", a, params["A_VEC"])
    if params["A_VEC"]:
        hooks["a_one"] = "fn a_one(i: u32) -> T {\n  return a_vec(i)[i % 4u];\n}"
    hooks["b_one"] = _loads("b", "b", b, False)["b_one"]
    lines = {"T": SCALAR_TYPE[sig.kind], "AE": _element(a, params["A_VEC"]), "PV": -(-words // 4)}
    text = kernels.rewrite(text, params | lines)
    if b:
        text = text.replace("var<storage, read> b: array<T>", "var<storage, read> b: array<u32>")
    text = kernels.replace_block(text, "unroll", block)
    return _whole(text, more, hooks, sig, 2, params["N4"])
