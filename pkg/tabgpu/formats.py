"""GGML's block formats of quantised weights as numbers. Their decoders: kernels/blocks.wgsl."""

from __future__ import annotations

from typing import NamedTuple


class Format(NamedTuple):
    """One format: weights and bytes of a block, how quads share words (blocks.wgsl), whether weights have minima.

    Of floats, whose blocks are single numbers, 16 count as a block: what kernels read at once.
    """

    name: str
    block: int
    nbytes: int
    planes: int
    run: int
    minima: bool


FORMATS = {
    f.name: f
    for f in (
        Format("f32", 16, 64, 1, 4, False),
        Format("f16", 16, 32, 1, 4, False),
        Format("bf16", 16, 32, 1, 4, False),
        Format("q8_0", 32, 34, 1, 8, False),
        Format("q4_0", 32, 18, 2, 4, False),
        Format("q4_1", 32, 20, 2, 4, True),
        Format("q5_0", 32, 22, 2, 4, False),
        Format("q5_1", 32, 24, 2, 4, True),
        Format("q2_k", 256, 84, 4, 8, True),
        Format("q3_k", 256, 110, 4, 8, False),
        Format("q4_k", 256, 144, 2, 8, True),
        Format("q5_k", 256, 176, 2, 8, True),
        Format("q6_k", 256, 210, 4, 8, False),
    )
}
