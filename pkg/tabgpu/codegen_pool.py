"""The text of pool.wgsl for each function, dtype and form."""

from __future__ import annotations

import re
from typing import NamedTuple

from . import codegen, kernels
from .dtypes import DType
from .kernels import pool_functions


class Form(NamedTuple):
    """Everything a text depends on."""

    name: str  # of pool_functions.NAMES
    source: DType
    target: DType  # argmax: any of 32 bits, the values' bits and then places
    rank: int
    workgroup: int
    shared: bool  # a workgroup for each result


def text(sig: Form) -> tuple[str, str]:
    """(WGSL, access string)."""
    body = kernels.rewrite(
        kernels.read("pool"),
        {
            "V": codegen.SCALAR_TYPE[sig.source.kind], "WG": sig.workgroup, "RANK": sig.rank,
            "LANES": sig.workgroup if sig.shared else 1, "PER": sig.target.per_word,
        },
    )  # fmt: skip
    value = codegen.load_one(0, sig.source, "at").replace("b0[", "src[")
    body = kernels.replace_function(body, "load", f"fn load(at: u32) -> V {{ return {value}; }}")
    if sig.name == "argmax":
        places = "fn store(w: u32, word: u32, s: State) { dst[w] = word; dst[P[0].x + w] = s.place; }"
        body = kernels.replace_function(body, "store", places)
        kept = "v" if sig.source.kind == "u" else "bitcast<u32>(v)"
    else:
        rounds = sig.target.kind == "f" and sig.target.fit and sig.name != "max"
        kept = codegen.encode(sig.target, f"{sig.target.fit}(v)" if rounds else "v", 1)
    body = kernels.replace_function(body, "bits", f"fn bits(v: V) -> u32 {{ return {kept}; }}")
    body = kernels.replace_block(body, "function", pool_functions.text(sig.name, sig.source.kind))
    if sig.shared:
        body = kernels.replace_block(
            body, "split", "  let w = job;\n  let lane = l;\n"
        )  # uniform control flow
        body = kernels.replace_block(body, "own", "s = together(gathered(i, lane), l);\n")
    else:
        body = re.sub(r"^// lanes: begin.*?^// lanes: end\n", "", body, flags=re.M | re.S)
    return codegen.with_library(body), "rw"
