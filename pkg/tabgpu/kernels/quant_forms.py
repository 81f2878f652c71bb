"""Texts of the kernels for quantised weights: the decoder of a format, from blocks.wgsl, put into each."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ..formats import FORMATS
from . import called, enabled, library, read, replace_block, replace_function, rewrite


def _block(text: str, name: str) -> str:
    found = re.search(rf"^// {name}: begin\n(.*?)^// {name}: end", text, re.M | re.S)
    assert found is not None, name
    return found.group(1)


@cache
def decoder(name: str) -> str:
    """WGSL of one format: QBLOCK ... and scale, quad, quad_place, quad_part over a function `word`."""
    f = FORMATS[name]
    text = read("blocks")
    own = re.sub(rf"\b{name}_(scale|quad)\b", r"\1", _block(text, name))
    head = f"const QBLOCK = {f.block}u;\nconst QBYTES = {f.nbytes}u;\nconst QPLANES = {f.planes}u;\n"
    head += f"const QRUN = {f.run}u;\nconst MINIMA = {str(f.minima).lower()};\n"
    more = _block(text, "six_bits") if "six_bits" in own else ""
    return head + _block(text, "common") + more + own


def product_hook(binding: str, role: str) -> str:
    """What a product needs to read a quantised operand: `word` over a binding of words, and `ROLE_quant`, four weights
    from the i-th on."""
    return (
        f"fn word(i: u32) -> u32 {{ return {binding}[i]; }}\n"
        f"fn {role}_quant(i: u32) -> vec4f {{\n"
        "  let j = quad_part(i % QBLOCK / 4u);\n  let s = scale(i / QBLOCK * QBYTES, j.x, j.y);\n"
        "  return vec4f(s.x) * quad(i / QBLOCK * QBYTES, j.x, j.y) - vec4f(s.y);\n}\n"
    )


def _whole(text: str) -> str:
    return enabled(library(called(text)) + "\n" + text)


def _without_ids(text: str, binding: int, hook: str, body: str) -> str:
    """The kernel without its binding of ids."""
    text = re.sub(r"^@group\(0\) @binding\(\d\) var<storage, read> ids.*\n", "", text, flags=re.M)
    text = text.replace(f"@binding({binding + 1})", f"@binding({binding})")
    return replace_function(text, hook, body)


def dequantize(name: str, gather: bool, wg: int) -> tuple[str, str]:
    """(WGSL, access string) of quant_dequantize for a format."""
    text = rewrite(
        replace_block(read("quant_dequantize"), "format", decoder(name)), {"WG": wg, "GATHER": gather}
    )
    if not gather:
        text = _without_ids(text, 1, "row_of", "fn row_of(r: u32) -> u32 { return r; }")
    return _whole(text), "rrw" if gather else "rw"


def matvec(name: str, bank: bool, params: dict[str, Any]) -> tuple[str, str]:
    """(WGSL, access string) of quant_matvec for a format. STAGE in params: of quant_matvec_blocks."""
    file = "quant_matvec_blocks" if "STAGE" in params else "quant_matvec"
    text = rewrite(replace_block(read(file), "format", decoder(name)), {"BANK": bank, **params})
    if params["LANES"] == 1:
        text = re.sub(r"^  if \(LANES > 1u\) \{\n.*?^  \}\n", "", text, flags=re.M | re.S)
        text = re.sub(r"^var<workgroup>.*\n", "", text, flags=re.M)
    if not bank:
        text = _without_ids(text, 2, "matrix_of", "fn matrix_of(s: u32) -> u32 { return 0u; }")
    return _whole(text), "rrrw" if bank else "rrw"


# What of quant_encode.wgsl a format takes, and TOP, LEVELS, PART there.
ENCODERS: dict[str, tuple[tuple[str, ...], float, float, int]] = {
    "q8_0": (("simple", "q8_0"), 127, 0, 32),
    "q4_0": (("simple", "q4_0"), 15, 0, 32),
    "q5_0": (("simple", "q4_0"), 31, 0, 32),
    "q4_1": (("simple", "q4_1"), 15, 0, 32),
    "q5_1": (("simple", "q4_1"), 31, 0, 32),
    "q2_k": (("fit_minima", "q2_k"), 3, 15, 16),
    "q4_k": (("fit_minima", "q4_k"), 15, 63, 32),
    "q5_k": (("fit_minima", "q5_k"), 31, 63, 32),
    "q3_k": (("fit_signed", "q3_k"), 4, 31, 16),
    "q6_k": (("fit_signed", "q6_k"), 32, 127, 16),
}


def encode(name: str, wg: int) -> tuple[str, str]:
    """(WGSL, access string) of quant_encode for a format."""
    f = FORMATS[name]
    parts, top, levels, part = ENCODERS[name]
    whole = read("quant_encode")
    body = whole[: whole.index("// alone: begin")]
    for section in (*parts, "main"):
        body += re.sub(rf"\b{section}_(fit|code|byte_of)\b", r"\1", _block(whole, section))
    params = {"WG": wg, "EACH": encoded_together(name), "QBLOCK": f.block, "QBYTES": f.nbytes, "PART": part}
    return _whole(rewrite(body, {**params, "TOP": f"{float(top)}f", "LEVELS": f"{float(levels)}f"})), "rw"


def encoded_together(name: str) -> int:
    """Blocks that a thread encodes: whole words."""
    return 1 if FORMATS[name].nbytes % 4 == 0 else 2
