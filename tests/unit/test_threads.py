"""The native host: several threads record, compute and read on one device. Needs a driver."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import native
import numpy as np

import tabgpu as tg
from tabgpu import engine


def test_threads_compute_what_they_asked_for() -> None:
    """Found by scikit-learn's n_jobs=2: plans of two threads were mixed, and the values with them."""
    native.device()
    engine.pending.clear()
    engine._work = 0
    engine._device = engine._opening = None
    host = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    points = tg.asarray(host)
    points.sum().__float__()

    def work(thread: int) -> list[tuple[float, float]]:
        pairs = []
        for n in range(40):
            i, j = (n + thread) % 5, (2 * n + thread) % 5
            got = float(tg.exp(-tg.sum((points[i] - points[j]) ** 2)))
            pairs.append((got, float(np.exp(-((host[i] - host[j]) ** 2).sum()))))
        return pairs

    try:
        with ThreadPoolExecutor(4) as pool:
            pairs = np.array([pair for found in pool.map(work, range(4)) for pair in found])
        np.testing.assert_allclose(pairs[:, 0], pairs[:, 1], rtol=1e-4)
    finally:
        engine.device().close()
        engine.pending.clear()
        engine._device = engine._opening = None


def test_threads_trace_and_replay() -> None:
    """Some trace (each its own kinds) while others compute and replay."""
    native.device()
    engine.pending.clear()
    engine._work = 0
    engine._device = engine._opening = None
    engine.device()
    shared = tg.jit(lambda x, s: tg.exp(x * 0.1) * s + x.sum())

    def work(thread: int) -> list[tuple[float, float]]:
        pairs = []
        for n in range(30):
            host = np.arange(1 + (n * (thread + 1)) % 7, dtype=np.float32) + thread
            x, s = tg.asarray(host), float(n)
            f = shared if thread % 2 else tg.jit(lambda x, s: tg.exp(x * 0.1) * s + x.sum())
            got = f(x, s) if thread != 2 else tg.exp(x * 0.1) * s + x.sum()
            pairs.append((float(got[-1]), float(np.exp(host[-1] * 0.1) * s + host.sum())))
        return pairs

    try:
        with ThreadPoolExecutor(4) as pool:
            pairs = np.array([pair for found in pool.map(work, range(4)) for pair in found])
        np.testing.assert_allclose(pairs[:, 0], pairs[:, 1], rtol=1e-4)
        assert shared.traces == 7
    finally:
        engine.device().close()
        engine.pending.clear()
        engine._device = engine._opening = None
