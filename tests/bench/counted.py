"""The programs that test_counter_table.py counts: each makes its operands and returns what is counted, small."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tabgpu as tg
from tabgpu import nn
from tabgpu.bridge import run_sync

Case = Callable[[], Callable[[], Any]]


def a(*shape: int, seed: int = 0) -> tg.Array:
    """float32 in [-1, 1), uploaded."""
    return tg.asarray(np.random.default_rng([seed, *shape]).uniform(-1, 1, shape).astype(np.float32))


def of(f: Callable[..., Any], *operands: Any) -> Callable[[], Any]:
    return lambda: f(*operands)


def chain() -> Callable[[], Any]:
    return of(lambda x, y, z: tg.tanh(x * y + z) * 0.5, a(64, 64), a(64, 64, seed=1), a(64, seed=2))


def chain_and_reduce() -> Callable[[], Any]:
    return of(
        lambda x, y, z: (tg.tanh(x * y + z) * 0.5).sum(axis=-1), a(64, 64), a(64, 64, seed=1), a(64, seed=2)
    )


def several_outputs() -> Callable[[], Any]:
    def run(x: tg.Array) -> Any:
        e = tg.exp(x)
        return run_sync(tg.fetch(e, e * 2.0, e + x))

    return of(run, a(64, 64))


def product() -> Callable[[], Any]:
    return of(lambda x, w, b: nn.relu(x @ w + b), a(48, 64), a(64, 80), a(80))


def sums() -> Callable[[], Any]:
    def run(x: tg.Array) -> Any:
        return run_sync(tg.fetch(x.sum(), x.sum(axis=0), x.sum(axis=1), tg.argmax(x, axis=1)))

    return of(run, a(512, 512))


def assign() -> Callable[[], Any]:
    x = a(64, 64)

    def run() -> Any:
        x[3:40, 1::2] = 5.0
        return x

    return run


def put() -> Callable[[], Any]:
    x, at = a(64, 64), tg.asarray(np.arange(64, dtype=np.int32)[:, None])

    def run() -> Any:
        tg.put_along_axis(x, at, 1.0, axis=1)
        return x

    return run


def mask() -> Callable[[], Any]:
    def run(x: tg.Array) -> Any:
        x[x < 0.0] = 0.0
        return x

    return of(run, a(64, 64))


def thousand() -> Callable[[], Any]:
    def run(x: tg.Array) -> Any:
        for _ in range(1000):
            x = x + 1.0
        return x

    return of(run, a(1024))


def mlp() -> Callable[[], Any]:
    """Two layers, mean of cross entropies, one step down the gradient."""
    x, hot = a(32, 32), tg.asarray(np.eye(10, dtype=np.float32)[np.arange(32) % 10])
    w, v = a(32, 48, seed=1), a(48, 10, seed=2)

    def run() -> Any:
        hidden = x @ w
        active = nn.relu(hidden)
        wrong = (nn.softmax(active @ v) - hot) * (1 / 32)
        back = (wrong @ v.T) * (hidden > 0.0).astype(tg.float32)
        return w - (x.T @ back) * 0.1, v - (active.T @ wrong) * 0.1

    return run


def k_means() -> Callable[[], Any]:
    points, centres = a(200, 8), a(16, 8, seed=1)

    def run() -> Any:
        apart = (centres * centres).sum(axis=1) - (points @ centres.T) * 2.0
        own = tg.equal(tg.argmin(apart, axis=1)[:, None], tg.arange(16)).astype(tg.float32)
        return (own.T @ points) / tg.maximum(own.sum(axis=0), 1.0)[:, None]

    return run


def power() -> Callable[[], Any]:
    m = a(64, 64)

    def run() -> Any:
        v = tg.ones((64,))
        for _ in range(10):
            v = m @ v
            v = v / tg.sqrt((v * v).sum())
        return v

    return run


def round_trip() -> Callable[[], Any]:
    host = np.arange(100_000, dtype=np.float32)
    return lambda: run_sync(tg.asarray(host).numpy())


def five() -> Callable[[], Any]:
    def run(x: tg.Array) -> Any:
        return run_sync(tg.fetch(x + 1.0, x.T * 2.0, x.sum(), x[3], tg.argmax(x)))

    return of(run, a(64, 80))


def jit_steps() -> Callable[[], Any]:
    """Ten steps of a traced function with another number each, after the two that trace and compile."""
    step = tg.jit(lambda x, rate: (x - rate * tg.tanh(x)) * (x * x).sum(axis=-1, keepdims=True))
    start = a(64, 64)
    run_sync(step(step(start, 0.5), 0.25).numpy())

    def run() -> Any:
        x = start
        for k in range(10):
            x = step(x, 1.0 / (k + 1))
        return x

    return run


CASES: dict[str, Case] = {
    "fused chain": chain,
    "chain and reduce": chain_and_reduce,
    "several outputs": several_outputs,
    "gemm and epilogue": product,
    "sums and argmax": sums,
    "softmax": lambda: of(nn.softmax, a(64, 256)),
    "softmax of one long line": lambda: of(nn.softmax, a(100_000)),
    "layer norm": lambda: of(nn.layer_norm, a(64, 256), 256, a(256), a(256, seed=1)),
    "sort": lambda: of(tg.sort, a(2500)),
    "argsort": lambda: of(tg.argsort, a(2500)),
    "cumsum": lambda: of(tg.cumsum, a(50_000)),
    "take": lambda: of(tg.take, a(500, 8), tg.asarray(np.arange(99, dtype=np.int32)), 0),
    "mask": mask,
    "setitem": assign,
    "put_along_axis": put,
    "concat": lambda: of(lambda x, y: tg.concat([x, y], axis=1), a(60, 33), a(60, 31)),
    "pad": lambda: of(lambda x: tg.pad(x, 3), a(60, 33)),
    "roll": lambda: of(lambda x: tg.roll(x, 5, axis=1), a(60, 33)),
    "transpose copy": lambda: of(lambda x: x.T.copy(), a(100, 60)),
    "astype": lambda: of(lambda x: x.astype(tg.float16), a(100, 60)),
    "fetch of five": five,
    "1,000 adds": thousand,
    "ten jit steps": jit_steps,
    "MLP step": mlp,
    "k-means step": k_means,
    "power iteration": power,
    "upload and read": round_trip,
}
