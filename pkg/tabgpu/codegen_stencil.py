"""The texts of stencil.wgsl, stencil_columns.wgsl and stencil_serial.wgsl."""

from __future__ import annotations

import re
from typing import NamedTuple

from . import codegen, kernels
from .dtypes import DType
from .kernels.stencil_inner import rows

LINES = 32  # columns of a kernel of one row that a pass takes
SQUARE = 16  # rows and columns of another


class Form(NamedTuple):
    """Everything a text depends on."""

    name: str  # square, lines, columns, serial
    source: DType
    workgroup: int
    vector: bool = False  # results are stored four at a time: rows are multiples of four (square, lines)


def load(body: str, dtype: DType) -> str:
    """The text with its `load` reading elements of a real dtype as f32."""
    one = codegen.load_one(0, dtype, "at").replace("b0[", "src[")
    if dtype.kind in "iu":
        one = f"f32({one})"
    if dtype.kind == "b":
        one = f"select(0.0f, 1.0f, {one})"
    return kernels.replace_function(body, "load", f"fn load(at: u32) -> f32 {{ return {one}; }}")


_PUT = "fn put(at: u32, x: u32, v: vec4f) { if (x < P[1].y) { dst[at >> 2u] = v; } }"


def text(sig: Form) -> tuple[str, str]:
    """(WGSL, access string)."""
    if sig.name in ("columns", "serial"):
        body = kernels.rewrite(kernels.read(f"stencil_{sig.name}"), {"WG": sig.workgroup})
        return codegen.with_library(load(body, sig.source)), "rrw"
    lines = sig.name == "lines"
    wide = LINES if lines else SQUARE
    params = {
        "BY": sig.workgroup // 8, "RH": 1 if lines else SQUARE, "RW": wide, "PITCH": 16 + wide // 4, "LINES": lines,
    }  # fmt: skip
    body = kernels.rewrite(kernels.read("stencil"), dict(params))
    body = kernels.replace_block(load(body, sig.source), "rows", rows(wide // 4))
    # Only what the form calls: naga compiles the rest as well.
    drop = "put_row" if lines else "put_line"
    body = re.sub(rf"^ +{drop}\(.*\n", "", kernels.replace_function(body, drop, ""), flags=re.M)
    if sig.vector:
        body = body.replace("read_write> dst: array<f32>", "read_write> dst: array<vec4f>")
        body = kernels.replace_function(body, "put", _PUT)
    return codegen.with_library(body), "rrw"
