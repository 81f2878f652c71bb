"""Sums of neighbours along an axis with one row of taps: launches of fir.wgsl and, with rates, of upfirdn.wgsl."""

from __future__ import annotations

from typing import NamedTuple

from ..graph import Op
from ..kernels.fir_functions import R, text
from ..launch import Launch
from ..region import Facts, kernel_for
from . import launch

HEAVY = 1 << 35  # products of one launch: a slow GPU takes about a tenth of a second
HEAVY_SOFTWARE = 1 << 28


class Fir(NamedTuple):
    """(outer, n, inner) -> (outer, m, inner)."""

    outer: int
    n: int
    inner: int
    m: int
    first: int  # what tap 0 of result 0 meets
    up: int = 1
    down: int = 1


def lower(op: Op, facts: Facts) -> list[Launch]:
    """args: samples, taps, of op.dtype's kind; real taps also of complex samples. extra: a Fir."""
    job = Fir(*op.extra)
    src, taps = op.args
    if op.dtype.kind == "c" and taps.dtype.kind != "c":  # pairs of real numbers
        job = job._replace(inner=job.inner * 2)
    count = taps.size
    rates = (job.up, job.down) != (1, 1)
    name = "upfirdn" if rates else "fir"
    wg = facts.workgroup
    made = kernel_for((name, taps.dtype.kind, wg), text, f"{name}_{taps.dtype.name}", wg)
    blocks = job.m if rates else -(-job.m // R)
    total = blocks * job.outer * job.inner
    work = max(1, -(-count // job.up) * (1 if rates else R))
    most = max(1, (HEAVY_SOFTWARE if facts.software else HEAVY) // work // wg) * wg
    words = [job.n, job.m, job.inner, job.outer, count, job.first]
    words += [job.up, job.down] if rates else [blocks]
    parts = []
    for at in range(0, total, most):
        own = [*words, at] + [0] * (-(len(words) + 1) % 4)
        parts.append(launch(made, (src, taps), (op,), -(-min(most, total - at) // wg), own, facts))
    return parts
