"""The greatest or least element of each line and its position, from one pass: reduce_arg.wgsl with both as results."""

from __future__ import annotations

import re
from typing import Any

from .. import kernels
from ..codegen_reduction import GENERAL, enabled, join_lanes
from ..dtypes import uint32
from ..graph import Op
from ..launch import Kernel, Launch
from ..lower_reduction import divide, workgroups
from ..region import Facts, kernel_for
from . import launch, temporary

# A u32 that orders as the element with bits w does (as in ops/reductions.py), the greatest first to win.
_KEY = {
    ("max", "f"): "rank_max_f32(bitcast<f32>({w}))", ("min", "f"): "rank_min_f32(bitcast<f32>({w}))",
    ("max", "i"): "({w} ^ 0x80000000u)", ("min", "i"): "({w} ^ 0x7fffffffu)",
    ("max", "u"): "{w}", ("min", "u"): "~{w}",
}  # fmt: skip
_DECLARE = "@group(0) @binding({}) var<storage, {}> {}: array<u32>;\n"


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "extremes.max" or ".min", op.extra (outer, n, inner): lines of n elements `inner` apart in op.args[0],
    which has 32-bit elements. The result: outer * inner elements as bits, then their positions."""
    outer, n, inner = op.extra
    src = op.args[0]
    name, kind, lines = op.fn.partition(".")[2], src.dtype.kind, outer * inner
    wg = facts.workgroup
    out_fast = inner >= 16
    chunks, chunk, lanes = divide(lines, n, GENERAL, out_fast, facts)
    sub = "subgroups" in facts.features

    def step(
        made: Kernel, reads: tuple[Op, ...], writes: tuple[Op, ...], length: int, piece: int, parts: int, few: int
    ) -> Launch:  # fmt: skip
        words = [
            lines,
            0,
            length,
            piece,
            parts,
            0,
            parts,
            0,
            0,
            1,
            0,
            0,
            inner,
            n,
            parts if len(reads) == 1 else chunks,
        ]
        return launch(made, reads, writes, workgroups(lines, parts, few, wg), words, facts)

    if chunks == 1:
        return [
            step(_kernel(name, kind, "whole", wg, lanes, out_fast, sub), (src,), (op,), n, chunk, 1, lanes)
        ]
    keys, places = (temporary((lines, chunks), uint32) for _ in range(2))
    first = step(
        _kernel(name, kind, "first", wg, lanes, out_fast, sub),
        (src,),
        (keys, places),
        n,
        chunk,
        chunks,
        lanes,
    )
    _, piece, few = divide(lines, chunks, GENERAL, False, facts, cut=False)
    last = _kernel(name, kind, "last", wg, few, False, sub)
    return [first, step(last, (src, keys, places), (op,), chunks, piece, 1, few)]


def _kernel(
    name: str, kind: str, phase: str, wg: int, lanes: int, out_fast: bool, sub: bool
) -> Kernel:  # fmt: skip
    key = ("extremes", name, kind, phase, wg, lanes, out_fast, sub and lanes > 1 and not out_fast)
    return kernel_for(
        key, _text, f"{name}_with_index_{kind}32" + ("_partial" if phase == "first" else ""), wg
    )


def _text(key: Any) -> tuple[str, str]:
    """(WGSL, access string). phase "whole": elements to results; "first": to a key and a position for each chunk;
    "last": these to results. Word 12 of the parameters is inner, 13 n, 14 the number of chunks."""
    _, name, kind, phase, wg, lanes, out_fast, sub = key
    names = ["src"] + (["keys_in", "places_in"] if phase == "last" else [])
    outs = ["keys_out", "positions_out"] if phase == "first" else ["dst"]
    text = kernels.rewrite(
        kernels.read("reduce_arg"), {"WG": wg, "LANES": lanes, "OUT_FAST": out_fast, "PV": 4}
    )
    text = re.sub(r"^(@group\(0\).*|var<private> row: u32;)\n", "", text, flags=re.M)
    begin = "row = (o / P[3].x) * P[3].y * P[3].x + o % P[3].x;"
    if phase == "last":
        begin += " part = o * P[3].z;"
        load = ", ".join(f"keys_in[part + r + {j}u]" for j in range(4))
        places = ", ".join(f"places_in[part + r + {j}u]" for j in range(4))
        hook = f"fn positions4(r: u32) -> vec4u {{ return vec4u({places}); }}"
        text = kernels.replace_function(text, "positions4", hook)
    else:
        words = [f"src[row + (r + {j}u) * P[3].x]" for j in range(4)]
        load = ", ".join(_KEY[name, kind].format(w=w) for w in words)
    text = kernels.replace_function(text, "begin", f"fn begin(o: u32) {{ {begin} }}")
    text = kernels.replace_function(text, "load4", f"fn load4(r: u32) -> vec4u {{ return vec4u({load}); }}")
    if phase != "first":
        body = "dst[i] = src[row + position * P[3].x]; dst[P[0].x + i] = position;"
        store = f"fn store(key: u32, position: u32, i: u32) {{ {body} }}"
        text = kernels.replace_function(text, "store", store)
    head = "".join(_DECLARE.format(k, "read", one) for k, one in enumerate(names))
    head += "".join(_DECLARE.format(len(names) + k, "read_write", one) for k, one in enumerate(outs))
    text = head + "var<private> row: u32;\nvar<private> part: u32;\n" + text
    text = join_lanes(text, True, False, lanes, sub)
    text = enabled(kernels.library(kernels.called(load)) + "\n" + text, sub)
    return text, "r" * len(names) + "w" * len(outs)
