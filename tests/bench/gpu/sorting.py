"""Times of sorts, scans and counts on a GPU by the native host: `PYTHONPATH=pkg python tests/bench/gpu/sorting.py`.

Each result is checked against NumPy first. A figure is the best of 5 blocks of K calls and one wait, divided by K.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tabgpu as tg


def measure(label: str, call: Callable[[], Any], calls: int) -> None:
    np.asarray(call().ravel()[:1])
    best = float("inf")
    for _ in range(5):
        asyncio.run(tg.synchronize())
        begin = time.perf_counter()
        made = [call() for _ in range(calls)]
        asyncio.run(tg.synchronize())
        best = min(best, (time.perf_counter() - begin) / calls)
        del made
    print(f"{label:40} {best * 1e3:8.3f} ms", flush=True)


def main() -> None:
    print(tg.device())
    rng = np.random.default_rng(0)
    for n in (1 << 16, 1 << 20, 1 << 24):
        x, k = rng.normal(size=n).astype(np.float32), rng.integers(0, 1 << 31, n).astype(np.uint32)
        g, h = tg.asarray(x), tg.asarray(k)
        assert np.array_equal(np.asarray(tg.sort(g)), np.sort(x))
        assert np.array_equal(np.asarray(tg.argsort(h)), np.argsort(k, kind="stable"))
        top = np.asarray(tg.topk(g, 10)[1])
        assert np.array_equal(top, np.argsort(-x, kind="stable")[:10])
        assert np.abs(np.asarray(tg.cumsum(g)) - np.cumsum(x.astype(np.float64))).max() < 1e-4 * np.sqrt(n)
        rows, flags = g.reshape(-1, 1024), g > 0
        measure(f"copy {n}", lambda g=g: g + 0.0, 8)
        measure(f"cumsum {n}", lambda g=g: tg.cumsum(g), 8)
        measure(f"cumsum of rows of 1024, {n}", lambda rows=rows: tg.cumsum(rows, 1), 8)
        measure(f"cumsum of columns of {n // 1024}, {n}", lambda rows=rows: tg.cumsum(rows, 0), 8)
        measure(f"sort {n}", lambda g=g: tg.sort(g), 5)
        measure(f"argsort {n}", lambda g=g: tg.argsort(g), 5)
        measure(f"sort of rows of 1024, {n}", lambda rows=rows: tg.sort(rows), 5)
        measure(f"sort of bytes, {n}", lambda b=(h % 256).astype(tg.uint8): tg.sort(b), 5)
        measure(f"topk of 10, {n}", lambda g=g: tg.topk(g, 10)[1], 5)
        measure(f"searchsorted of {min(n, 1 << 20)} in {n}", lambda h=h: tg.searchsorted(h, h[: 1 << 20]), 8)
        measure(f"bincount, 1000 bins, {n}", lambda h=h: tg.bincount(h % 1000, length=1000), 8)
        measure(f"flatnonzero(size=n/2), {n}", lambda f=flags, n=n: tg.flatnonzero(f, size=n // 2), 8)
        measure(f"unique(size=1000), {n}", lambda h=h: tg.unique(h, size=1000), 5)
        measure(f"median {n}", lambda g=g: tg.median(g), 5)


if __name__ == "__main__":
    main()
