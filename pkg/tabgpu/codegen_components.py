"""The texts of components.wgsl and distance.wgsl: their phases, and how they read what decides."""

from __future__ import annotations

from . import codegen, kernels
from .dtypes import DType

PHASES = ("begin", "join", "settle")


def components(sig: tuple[str, str, DType, int]) -> tuple[str, str]:
    """(WGSL, access string) of (name, phase, dtype, workgroup)."""
    _, phase, dtype, workgroup = sig
    body = kernels.rewrite(kernels.read("components"), {"WG": workgroup})
    one = codegen.load_one(0, dtype, "at").replace("b0[", "src[")
    body = kernels.replace_function(body, "there", f"fn there(at: u32) -> bool {{ return {one}; }}")
    body = kernels.replace_block(body, "phase", f"  {phase}(id);\n")
    return codegen.with_library(body), "rw"


METRICS = {"euclidean": ("d * d", "a + c"), "taxicab": ("d", "a + c"), "chessboard": ("d", "max(a, c)")}
"""How far d elements along an axis are, and how that joins what the other axes cost."""


def distance(sig: tuple[str, str, bool, int]) -> tuple[str, str]:
    """(WGSL, access string) of (name, metric, whether costs are float32 with a spacing, workgroup)."""
    _, metric, floats, workgroup = sig
    body = kernels.rewrite(kernels.read("distance"), {"WG": workgroup, "C": "f32" if floats else "u32"})
    along, joined = METRICS[metric]
    if floats:
        along = "f32(d) * f32(d) * bitcast<f32>(P[0].w)"
        body = kernels.replace_function(
            body, "none", "fn none(c: C) -> bool { return bitcast<u32>(c) == 0x7f7fffffu; }"
        )
    body = kernels.replace_function(body, "along", f"fn along(d: u32) -> C {{ return {along}; }}")
    body = kernels.replace_function(body, "joined", f"fn joined(a: C, c: C) -> C {{ return {joined}; }}")
    return codegen.with_library(body), "rw"
