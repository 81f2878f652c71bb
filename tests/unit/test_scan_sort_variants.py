"""Each variant of the kernels of scans, sorts, searches and counts: naga takes it, and there are finitely many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import corpus
import native
import numpy as np
import pytest

import tabgpu as tg
from tabgpu.bridge_native import for_naga
from tabgpu.graph import KERNEL
from tabgpu.launch import Kernel
from tabgpu.ops import picking, segments
from tabgpu.ops.compaction import positions_bounded

LENGTHS = (1, 3, 8, 9, 100, 300, 1024, 1025, 2048, 2049, 70_000)
KINDS = {"i": "int32", "u": "uint32", "f": "float32", "c": "complex64"}


def arrays(n: int) -> Iterator[tg.Array]:
    """Every routine of these files over n elements."""
    for kind, name in KINDS.items():
        x = tg.asarray(np.ones((2, n), name))
        yield from (
            tg.cumsum(x, 1),
            tg.cumprod(x, 1, reverse=True),
            tg.cumulative_sum(x, axis=1, include_initial=True),
        )
        order = tg.argsort(x)
        yield from (
            tg.sort(x),
            tg.sort(x, descending=True),
            order,
            picking.pick(x, order),
            picking.place(x, order),
        )
        if kind != "c":
            yield from (
                tg.cumulative_max(x, axis=1),
                tg.cumulative_min(x, axis=1),
                tg.searchsorted(x[0], x[1]),
            )
        if kind == "f":
            yield from (tg.logcumsumexp(x, axis=1), segments.total(x[0], tg.asarray(np.ones(n, np.int32)), 3))
        if kind == "i":
            yield from (segments.count(x[0], 7), segments.count(x[0], 5000), positions_bounded(x, 4, -1))


def kernels_of(open_gpu: Callable[..., Any], software: bool, threads: int, lengths: Any) -> dict[str, Kernel]:
    gpu = open_gpu(maxComputeInvocationsPerWorkgroup=threads, maxComputeWorkgroupSizeX=threads)
    gpu.software = software
    found: dict[str, Kernel] = {}
    for n in lengths:
        for x in arrays(n):
            for launch in corpus.launches(x) if x._cell.op.kind == KERNEL else ():
                found[launch.kernel.code] = launch.kernel
                assert len(launch.words) <= 1024 and min(launch.grid) > 0
                assert len(launch.kernel.access) == len(launch.reads) + len(launch.writes) <= 8
    return found


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize("threads", [128, 256])
def test_variants_compile(open_gpu: Callable[..., Any], software: bool, threads: int) -> None:
    native.device()
    found = kernels_of(open_gpu, software, threads, LENGTHS)
    for code, kernel in found.items():
        try:
            native.device().create_shader_module(label=kernel.label, code=for_naga(code))
        except Exception as error:  # wgpu's own class for validation errors
            raise AssertionError(f"{kernel.label}: {error}") from error


@pytest.mark.parametrize("software", [False, True])
def test_new_lengths_compile_nothing_new(open_gpu: Callable[..., Any], software: bool) -> None:
    """A variant for each power of two of threads a row, no more."""
    seen = kernels_of(open_gpu, software, 256, [*LENGTHS, 20, 33, 65, 150, 600])
    later = kernels_of(open_gpu, software, 256, [2, 7, 17, 40, 99, 222, 555, 1111, 5000, 12_345, 123_456])
    ours = ("scan", "sort", "search", "count", "fill_words", "pick", "compact")
    new = {k.label for code, k in later.items() if code not in seen and k.label.startswith(ours)}
    assert not new, f"compiled for new lengths: {sorted(new)}"
