"""Kernels of Fourier transforms that the package can make."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tabgpu import codegen_fft as texts
from tabgpu.codegen_fft_block import LONG, PLANS, Block, block


def fourier() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access): each radix and length, each way to read and to write."""
    for radix in (1, 16, *texts.RADICES):
        yield f"fft radix {radix}", *texts.stage(("fft_stage", radix, "complex", "complex", False, 256))
    for load in texts.LOADS:
        for store in {"complex", load, "pair"} & {*texts.STORES}:
            yield f"fft {load} {store}", *texts.stage(("fft_stage", 3, load, store, True, 64))
            yield f"fft block {load} {store}", *block(Block("fft_block", 8, 64, load, store, True))
            some = (load if load in ("filter", "product") else texts.CHIRP + load, texts.CHIRP + store)
            yield f"fft chirp {load} {store}", *texts.stage(("fft_stage", 3, *some, True, 64))
        yield f"fft real {load}", *texts.real(("fft_real", load == "pair", load, 64))
    for n in PLANS:
        for twiddles in (False, True):
            lines = max(1, 2048 // n)
            yield (
                f"fft block {n}",
                *block(Block("fft_block", n, min(lines, 128), "complex", "complex", twiddles)),
            )
            yield f"fft block {n}", *block(Block("fft_block", n, min(lines, 128), "plain", "plain", twiddles))
    for n, lines in itertools.product(LONG, (1, 2, 4, 8)):
        for load, store in (
            ("plain", "plain"),
            ("complex", "complex"),
            ("pair", "complex"),
            ("real", "plain"),
        ):
            key = Block("fft_block", n, lines, load, store, True, 32, lines > 2, True)
            yield f"fft block {n} {lines} {load} {store}", *block(key)
    yield "fft mixed", *texts.mixed(("fft_mixed", 256, 2048, "complex", "complex"))
    yield "fft mixed", *texts.mixed(("fft_mixed", 128, 1024, "hermitian", "real"))
