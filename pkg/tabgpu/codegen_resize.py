"""The text of resize.wgsl for each mode, dtype and number of axes."""

from __future__ import annotations

from typing import NamedTuple

from . import codegen, kernels
from .dtypes import DType
from .kernels import resize_functions


class Form(NamedTuple):
    """Everything a text depends on."""

    name: str  # of resize_functions.NAMES
    dtype: DType  # nearest: the unsigned integer of the elements' width
    rank: int
    workgroup: int


def text(sig: Form) -> tuple[str, str]:
    """(WGSL, access string)."""
    dtype = sig.dtype
    body = kernels.rewrite(
        kernels.read("resize"),
        {
            "V": codegen.SCALAR_TYPE[dtype.kind], "WG": sig.workgroup, "RANK": sig.rank, "PER": dtype.per_word,
        },
    )  # fmt: skip
    value = codegen.load_one(0, dtype, "at").replace("b0[", "src[")
    body = kernels.replace_function(body, "load", f"fn load(at: u32) -> V {{ return {value}; }}")
    kept = codegen.encode(dtype, f"{dtype.fit}(v)" if dtype.kind == "f" and dtype.fit else "v", 1)
    body = kernels.replace_function(body, "bits", f"fn bits(v: V) -> u32 {{ return {kept}; }}")
    body = kernels.replace_block(body, "mode", resize_functions.text(sig.name, sig.rank))
    return codegen.with_library(body), "rw"
