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

LENGTHS = (1, 3, 8, 9, 100, 300, 1024, 1025, 2048, 2049, 70_000, 70_001, 300_000)
EVERY = sorted({n for e in range(1, 14) for n in (2**e, 2**e - 1)} | {*LENGTHS, 12_000, 25_000, 150_000})
KINDS = {"i": "int32", "u": "uint32", "f": "float32", "c": "complex64"}


def arrays(n: int) -> Iterator[tg.Array]:
    """Every routine of these files over n elements."""
    for kind, name in KINDS.items():
        x = tg.asarray(np.ones((2, n), name))
        yield from (
            tg.cumsum(x, 1),
            tg.cumprod(x, 1, reverse=True),
            tg.cumsum(x[0], reverse=True),
            tg.cumsum(tg.asarray(np.ones((n, 20), name)), 0),
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


# what chooses between forms: whether a CPU adapter, lanes of a subgroup
FORMS = {
    "software": (True, (0, 0)), "portable": (False, (0, 0)), "32 lanes": (False, (32, 32)),
    "16 to 64": (False, (16, 64)), "4 to 128": (False, (4, 128)),
}  # fmt: skip


def kernels_of(open_gpu: Callable[..., Any], form: str, threads: int, lengths: Any) -> dict[str, Kernel]:
    limits = {"maxComputeInvocationsPerWorkgroup": threads, "maxComputeWorkgroupSizeX": threads}
    gpu = open_gpu(**limits, maxComputeWorkgroupStorageSize=32768)
    gpu.software, gpu.subgroups = FORMS[form]
    gpu.features = frozenset({"subgroups"} if gpu.subgroups[0] else ())
    found: dict[str, Kernel] = {}
    for n in lengths:
        for x in arrays(n):
            for launch in corpus.launches(x) if x._cell.op.kind == KERNEL else ():
                found[launch.kernel.code] = launch.kernel
                assert len(launch.words) <= 1024 and min(launch.grid) > 0
                assert len(launch.kernel.access) == len(launch.reads) + len(launch.writes) <= 8
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("threads", [128, 256])
def test_variants_compile(open_gpu: Callable[..., Any], form: str, threads: int) -> None:
    native.device()
    found = kernels_of(open_gpu, form, threads, LENGTHS)
    for code, kernel in found.items():
        try:
            native.device().create_shader_module(label=kernel.label, code=for_naga(code))
        except Exception as error:  # wgpu's own class for validation errors
            raise AssertionError(f"{kernel.label}: {error}") from error
    used = {kernel.label for kernel in found.values()}
    assert ("radix_count" in used) == (form[0].isdigit()) and ("radix_serial_2" in used) == (
        form == "software"
    )


@pytest.mark.parametrize("form", FORMS)
def test_new_lengths_compile_nothing_new(open_gpu: Callable[..., Any], form: str) -> None:
    """A variant for each power of two of threads a row, no more."""
    seen = kernels_of(open_gpu, form, 256, EVERY)
    later = kernels_of(open_gpu, form, 256, [2, 7, 17, 40, 99, 222, 555, 1111, 5000, 12_345, 123_456])
    ours = ("scan", "sort", "radix", "search", "count", "fill_words", "pick", "compact")
    new = {k.label for code, k in later.items() if code not in seen and k.label.startswith(ours)}
    assert not new, f"compiled for new lengths: {sorted(new)}"
