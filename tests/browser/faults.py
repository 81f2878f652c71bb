"""How tests make a device fail: loss, memory that is not there, kernels that do not compile. No tests here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tab import IN_TAB, run_js

import tabgpu as tg
from tabgpu import engine
from tabgpu.bridge import run_sync
from tabgpu.config import Config

PROMPT = 5.0  # seconds after which an await counts as hanging


async def soon(awaitable: Any, seconds: float = PROMPT) -> Any:
    """The result of what must not hang."""
    return await asyncio.wait_for(awaitable, seconds)


async def reopened(**options: Any) -> Any:
    """A new device."""
    return await soon(tg.init(**options), 60)


@pytest.fixture
def restored() -> Iterator[None]:
    """Afterwards the device is open and has the options it had before."""
    before = engine.current()
    config = before.config if before is not None else Config()
    yield
    run_sync(engine.open_new(config))


@pytest.fixture(autouse=True)
def opened() -> None:
    """Some device is open, and nothing of the test before is pending."""
    tg.device()
    tg.trim()
    while True:
        try:
            run_sync(tg.synchronize())
        except tg.errors.TabgpuError:
            continue  # an error that the test before left behind
        return


_NO_MEMORY = """
(device, label) => {
  // The buffers with this label are what a browser hands out when memory is exhausted: invalid ones, with a
  // GPUOutOfMemoryError for the scope around their making.
  const create = device.createBuffer, push = device.pushErrorScope, pop = device.popErrorScope;
  const scopes = [];
  let failed = 0;
  device.createBuffer = function (d) {
    if (!d.label.startsWith(label) || d.size < 65536) return create.call(this, d);
    push.call(this, "validation");
    const bad = create.call(this, { ...d, size: 2 ** 52, usage: d.usage });
    pop.call(this).catch(() => {});
    const scope = scopes.findLast((s) => s.filter === "out-of-memory");
    if (scope) scope.error = new GPUOutOfMemoryError("no memory for " + d.size + " bytes (a test said so)");
    failed += 1;
    return bad;
  };
  device.pushErrorScope = function (filter) { scopes.push({ filter }); push.call(this, filter); };
  device.popErrorScope = function () {
    const scope = scopes.pop(), real = pop.call(this);
    return scope?.error ? real.then(() => scope.error) : real;
  };
  return () => {
    delete device.createBuffer; delete device.pushErrorScope; delete device.popErrorScope;
    return failed;
  };
}
"""


def _no_native_memory(device: Any, label: str) -> Any:
    """The same for wgpu, which raises at once."""
    import wgpu

    create, failed = device.create_buffer, []

    def refuse(**given: Any) -> Any:
        if not given["label"].startswith(label) or given["size"] < 65536:
            return create(**given)
        failed.append(given["size"])
        raise wgpu.GPUOutOfMemoryError(f"no memory for {given['size']} bytes (a test said so)")

    def undo() -> int:
        del device.create_buffer
        return len(failed)

    device.create_buffer = refuse
    return undo


@contextmanager
def no_memory(label: str = "buffer") -> Iterator[list[int]]:
    """Allocations of 64 KiB and more fail as they do when the GPU's memory is exhausted; yields how many did."""
    failed: list[int] = []
    undo = (run_js(_NO_MEMORY) if IN_TAB else _no_native_memory)(tg.device().js, label)
    try:
        yield failed
    finally:
        failed.append(undo())


@contextmanager
def no_adapter() -> Iterator[None]:
    """The host offers no GPU at all."""
    if IN_TAB:
        undo = run_js("""() => {
          const real = GPU.prototype.requestAdapter;
          GPU.prototype.requestAdapter = async function () { return null; };
          return () => { GPU.prototype.requestAdapter = real; };
        }""")()
        try:
            yield
        finally:
            undo()
    else:
        import wgpu

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(wgpu.gpu, "enumerate_adapters_sync", list)
            yield


@contextmanager
def broken_kernels(monkeypatch: pytest.MonkeyPatch, *parts: str) -> Iterator[list[str]]:
    """Kernels made inside whose label or text contains one of `parts` do not compile; yields their labels."""
    from tabgpu import region

    made: list[str] = []
    real = region.Kernel

    def spoiled(label: str, code: str, access: str, workgroup: int) -> Any:
        if any(part in label or part in code for part in parts):
            made.append(label)
            code = code.replace(
                "@compute", "fn broken() -> u32 { let x: u32 = 1.5f; return x; }\n@compute", 1
            )
        return real(label, code, access, workgroup)

    known, recipes = dict(region.kernels), dict(region.recipes)
    monkeypatch.setattr(region, "Kernel", spoiled)
    region.kernels.clear()
    region.recipes.clear()
    try:
        yield made
    finally:
        monkeypatch.setattr(region, "Kernel", real)
        region.kernels.clear()
        region.kernels.update(known)
        region.recipes.clear()
        region.recipes.update(recipes)


def js_side() -> dict[str, int]:
    """Sizes of everything that the bridge keeps for the open device."""
    js = engine.device().js
    names = ("buffers", "groups", "mentions", "pipelines", "scopes", "layouts")
    if not IN_TAB:  # wgpu raises at once: no scopes
        return {name: len(getattr(js, name, ())) for name in (*names, "staging")}
    return {name: getattr(js, name).size for name in names} | {"staging": js.staging.length}
