"""Sampling at places of another array: one launch of sample.wgsl, whose load and bits are written here."""

from __future__ import annotations

from typing import NamedTuple

from .. import codegen, kernels
from ..dtypes import DType
from ..graph import Op
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch

TAPS = {"nearest": 1, "bilinear": 2, "bicubic": 4}
OUTSIDE = ("zeros", "border", "reflection")


class Sample(NamedTuple):
    """op.extra. sizes and steps: of the sampled axes."""

    channels: int
    offset: int
    strides: tuple[int, int]
    places: int  # a sample
    outside: int
    aligned: bool
    sizes: tuple[int, ...]
    steps: tuple[int, ...]


def text(sig: tuple[str, int, DType, int, int]) -> tuple[str, str]:
    """(WGSL, access string)."""
    _, taps, dtype, rank, workgroup = sig
    body = kernels.rewrite(
        kernels.read("sample"), {"WG": workgroup, "RANK": rank, "PER": dtype.per_word, "TAPS": taps}
    )
    value = codegen.load_one(0, dtype, "at").replace("b0[", "src[")
    kept = codegen.encode(dtype, f"{dtype.fit}(v)" if dtype.fit else "v", 1)
    body = kernels.replace_function(body, "load", f"fn load(at: u32) -> f32 {{ return {value}; }}")
    body = kernels.replace_function(body, "bits", f"fn bits(v: f32) -> u32 {{ return {kept}; }}")
    return codegen.with_library(body), "rrw"


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "sample.MODE"; op.args: the array and its float32 places; op.extra: a Sample."""
    job = Sample(*op.extra)
    mode = op.fn.partition(".")[2]
    sig = ("sample", TAPS[mode], op.dtype, len(job.sizes), facts.workgroup)
    made = kernel_for(sig, text, f"grid_sample_{mode}_{op.dtype.name}", facts.workgroup)
    words = [op.size, job.channels, job.offset, *job.strides, job.places, job.outside, int(job.aligned)]
    for n, step in zip(job.sizes, job.steps, strict=True):
        words += (n, step, 0, 0)
    return [launch(made, op.args, (op,), -(-op.size // (op.dtype.per_word * facts.workgroup)), words, facts)]
