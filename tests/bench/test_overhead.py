"""Microseconds an operation costs in the tab: fused, cut, and in a bare WebGPU loop of the same page.

Prints the numbers; asserts only three times what docs/performance.md promises, and takes the least of many short
rounds, so that a busy machine does not fail it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from pyodide.code import run_js
from pyodide.ffi import run_sync

import tabgpu as tg

OPS = 512
ROUNDS = 40

BARE = """
async (device, ops) => {
  const code = `
    @group(0) @binding(0) var<storage, read> a: array<vec4f>;
    @group(0) @binding(1) var<storage, read_write> b: array<vec4f>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { b[id.x] = a[id.x] + 1.0; }`;
  const module = device.createShaderModule({ code });
  const pipeline = device.createComputePipeline({ layout: "auto", compute: { module } });
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
  const [x, y] = [1024, 1024].map((size) => device.createBuffer({ size, usage }));
  const groups = [[x, y], [y, x]].map((pair) => device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: pair.map((buffer, binding) => ({ binding, resource: { buffer } })),
  }));
  const start = performance.now();
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  for (let k = 0; k < ops; k++) {
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, groups[k & 1]);
    pass.dispatchWorkgroups(1);
  }
  pass.end();
  device.queue.submit([encoder.finish()]);
  await device.queue.onSubmittedWorkDone();
  const took = performance.now() - start;
  x.destroy();
  y.destroy();
  return took * 1000 / ops;
}
"""


def best(measure: Callable[[], float]) -> float:
    """The least of several rounds: what it costs when nothing else runs."""
    gc.collect()
    return min(measure() for _ in range(ROUNDS))


def bare() -> float:
    loop = run_js(BARE)
    return best(lambda: run_sync(loop(tg.device().js, OPS)))


def added(y: Any) -> Any:
    for _ in range(OPS):
        y = y + 1
    return y


def chain(make: Callable[[Any], Any] = added) -> float:
    """Dependent small operations, built and read: microseconds each."""
    x = tg.asarray(np.zeros(256, np.float32))

    def measure() -> float:
        start = perf_counter()
        got = run_sync(make(x).numpy())
        took = perf_counter() - start
        assert got[255] == OPS
        return took * 1e6 / OPS

    return best(measure)


@pytest.fixture
def report(capsys: Any) -> Callable[[str], None]:
    def show(line: str) -> None:
        with capsys.disabled():
            print(f"\n{line}", flush=True)

    return show


def test_fused(report: Any) -> None:
    cost = chain()
    report(f"fused: {cost:.1f} us an operation")
    assert cost <= 24


def test_unfused(report: Any) -> None:
    run_sync(tg.init(fuse=False))
    try:
        floor = bare()
        cost = chain()
    finally:
        run_sync(tg.init())
    report(f"fuse=False: {cost:.1f} us an operation; a bare WebGPU loop {floor:.1f}")
    assert cost <= floor + 45


def test_traced(report: Any) -> None:
    """The same in one call of a function of tg.jit."""
    cost = chain(tg.jit(added))
    report(f"fused in tg.jit: {cost:.2f} us an operation")
    assert cost <= 12
    run_sync(tg.init(fuse=False))
    try:
        floor = bare()
        cost = chain(tg.jit(added))
    finally:
        run_sync(tg.init())
    report(f"fuse=False in tg.jit: {cost:.1f} us an operation; a bare WebGPU loop {floor:.1f}")
    assert cost <= floor + 20


@pytest.mark.parametrize("traced", [False, True])
def test_one_operation_again_and_again(report: Any, traced: bool) -> None:
    """What the host spends on a small operation, without waiting for the GPU."""
    m, v = tg.asarray(np.zeros((32, 32), np.float32)), tg.asarray(np.zeros(256, np.float32))
    made: dict[str, tuple[Callable[..., Any], Any]] = {
        "a + b": (lambda a: a + a, v),
        "tanh(a * a + a) * 0.5": (lambda a: tg.tanh(a * a + a) * 0.5, v),
        "a.sum()": (lambda a: a.sum(), v),
        "a @ b": (lambda a: a @ a, m),
    }
    for name, (function, x) in made.items():
        f = tg.jit(function) if traced else function
        run_sync(f(x).numpy())

        def measure(f: Any = f, x: Any = x) -> float:
            run_sync(tg.synchronize())
            start = perf_counter()
            kept = [f(x) for _ in range(120)]
            took = perf_counter() - start
            run_sync(kept[-1].numpy())
            return took * 1e6 / 120

        report(f"{name}, {'tg.jit' if traced else 'eager'}: {best(measure):.1f} us")


def test_many_results(report: Any) -> None:
    """Values that all stay alive: each is stored, none is computed twice."""
    x = tg.asarray(np.zeros(256, np.float32))

    def measure() -> float:
        start = perf_counter()
        kept = [x]
        for _ in range(OPS):
            kept.append(kept[-1] + 1)
        got = run_sync(kept[-1].numpy())
        took = perf_counter() - start
        assert got[0] == OPS
        return took * 1e6 / OPS

    report(f"kept: {best(measure):.1f} us an operation")


def test_views_and_metadata(report: Any) -> None:
    x = tg.asarray(np.zeros((16, 16), np.float32))

    def measure() -> float:
        start = perf_counter()
        for _ in range(OPS):
            x.T[1:, ::2]
        return (perf_counter() - start) * 1e6 / OPS

    report(f"a transposed and a sliced view: {best(measure):.1f} us")
