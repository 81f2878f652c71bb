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
