"""The text of resize.wgsl for each mode, dtype and number of axes."""

from __future__ import annotations

from typing import NamedTuple

from . import codegen, kernels
from .codegen_windows import encoded, reads, writes
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
    body = writes(reads(body, dtype), encoded(dtype))
    body = kernels.replace_block(body, "mode", resize_functions.text(sig.name, sig.rank))
    return codegen.with_library(body), "rw"
