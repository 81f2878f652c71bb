"""The text of pool.wgsl for each function, dtype and form."""

from __future__ import annotations

import re
from typing import NamedTuple

from . import codegen, kernels
from .codegen_windows import encoded, reads, writes
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
    random: bool = (
        False  # where windows lie is decided by `samples`, RANK numbers for each of the leading axes
    )


_SAMPLES = "@group(0) @binding(1) var<storage, read> samples: array<u32>;\n"
# Windows begin at whole parts of multiples of a step that is none (word 4 of an axis), the last one at the end.
_SPAN = """fn span(axis: u32, o: u32) -> Span {
  let a = P[3u + 2u * axis];
  let u = bitcast<f32>(samples[plane * RANK + select(axis, 1u - axis, RANK == 2u)]);
  let step = bitcast<f32>(P[4u + 2u * axis].x);
  let start = i32((f32(o) + u) * step) - i32(u * step);
  return Span(select(start, i32(a.y - a.w), o + 1u == a.x), 0, i32(a.w), 1, a.w);
}"""


def text(sig: Form) -> tuple[str, str]:
    """(WGSL, access string)."""
    body = kernels.rewrite(
        kernels.read("pool"),
        {
            "V": codegen.SCALAR_TYPE[sig.source.kind], "WG": sig.workgroup, "RANK": sig.rank,
            "LANES": sig.workgroup if sig.shared else 1, "PER": sig.target.per_word,
        },
    )  # fmt: skip
    body = reads(body, sig.source)
    if sig.name == "argmax":
        places = "fn store(w: u32, word: u32, s: State) { dst[w] = word; dst[P[0].x + w] = s.place; }"
        body = kernels.replace_function(body, "store", places)
        kept = "v" if sig.source.kind == "u" else "bitcast<u32>(v)"
    else:
        kept = encoded(sig.target, rounds=sig.name != "max")
    body = writes(body, kept)
    body = kernels.replace_block(body, "function", pool_functions.text(sig.name, sig.source.kind))
    if sig.shared:
        body = kernels.replace_block(
            body, "split", "  let w = job;\n  let lane = l;\n"
        )  # uniform control flow
        body = kernels.replace_block(body, "own", "s = together(gathered(i, lane), l);\n")
    else:
        body = re.sub(r"^// lanes: begin.*?^// lanes: end\n", "", body, flags=re.M | re.S)
    if sig.random:
        body = body.replace("@binding(1)", "@binding(2)") + _SAMPLES
        body = kernels.replace_function(body, "span", _SPAN)
    return codegen.with_library(body), "rrw" if sig.random else "rw"
