"""The texts of fold.wgsl and sample.wgsl, and what pool.wgsl and resize.wgsl share with them: reads and writes."""

from __future__ import annotations

from . import codegen, kernels
from .dtypes import DType


def reads(body: str, dtype: DType, value: str = "V") -> str:
    """The text with its `load` reading elements of a dtype. value: the WGSL type of one."""
    one = codegen.load_one(0, dtype, "at").replace("b0[", "src[")
    return kernels.replace_function(body, "load", f"fn load(at: u32) -> {value} {{ return {one}; }}")


def writes(body: str, kept: str, value: str = "V") -> str:
    """The text with `bits` giving `kept`, the bits of v in a word."""
    return kernels.replace_function(body, "bits", f"fn bits(v: {value}) -> u32 {{ return {kept}; }}")


def encoded(dtype: DType, rounds: bool = True) -> str:
    """The bits of v in a word. rounds: narrow floats are rounded first."""
    return codegen.encode(dtype, f"{dtype.fit}(v)" if rounds and dtype.kind == "f" and dtype.fit else "v", 1)


def fold(sig: tuple[str, bool, DType, int, int]) -> tuple[str, str]:
    """(WGSL, access string)."""
    _, unfolds, dtype, rank, workgroup = sig
    body = kernels.rewrite(
        kernels.read("fold"),
        {
            "V": codegen.SCALAR_TYPE[dtype.kind], "WG": workgroup, "RANK": rank, "PER": dtype.per_word,
            "UNFOLD": unfolds,
        },
    )  # fmt: skip
    return codegen.with_library(writes(reads(body, dtype), encoded(dtype))), "rw"


def sample(sig: tuple[str, int, DType, int, int]) -> tuple[str, str]:
    """(WGSL, access string)."""
    _, taps, dtype, rank, workgroup = sig
    body = kernels.rewrite(
        kernels.read("sample"), {"WG": workgroup, "RANK": rank, "PER": dtype.per_word, "TAPS": taps}
    )
    return codegen.with_library(writes(reads(body, dtype, "f32"), encoded(dtype), "f32")), "rrw"
