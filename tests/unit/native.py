"""wgpu-native (naga) as the second implementation of WebGPU: finds an adapter, also the one in a Chromium folder."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tabgpu.host.browser import find_browser


def _borrow_swiftshader() -> None:
    """Chromium brings a Vulkan loader and SwiftShader; where the machine has no driver, these are as good."""
    try:
        folder = Path(find_browser(None)).resolve().parent
    except Exception:  # no browser here: the machine's own drivers must do
        return
    icd, loader = folder / "vk_swiftshader_icd.json", folder / "libvulkan.so.1"
    if icd.exists() and loader.exists() and "VK_DRIVER_FILES" not in os.environ:
        os.environ["VK_DRIVER_FILES"] = os.environ["VK_ICD_FILENAMES"] = str(icd)
        ctypes.CDLL(str(loader), mode=ctypes.RTLD_GLOBAL)


@cache
def adapter() -> Any:
    """An adapter of wgpu-native; the test is skipped where there is none."""
    _borrow_swiftshader()
    wgpu = pytest.importorskip("wgpu")
    try:
        found = wgpu.gpu.enumerate_adapters_sync()
    except Exception as error:
        pytest.skip(f"wgpu finds no adapter: {error}")
    if not found:
        pytest.skip("wgpu finds no adapter")
    return min(found, key=lambda a: a.info["backend_type"] != "Vulkan")


@cache
def device() -> Any:
    """A device with the adapter's own limits."""
    a = adapter()
    names = ("max-compute-workgroup-storage-size", "max-storage-buffers-per-shader-stage")
    return a.request_device_sync(required_limits={n: a.limits[n] for n in names if n in a.limits})


class Bridge:
    """What bridge.js offers, on wgpu-native: the generated WGSL really runs."""

    lostReason = ""

    def __init__(self) -> None:
        import wgpu

        self.gpu = device()
        self.storage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
        self.params = wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST
        self.compute = wgpu.ShaderStage.COMPUTE
        self.buffers: dict[int, Any] = {}
        self.pipelines: dict[int, tuple[Any, Any]] = {}
        self.ran: list[str] = []
        window = {"type": "uniform", "has_dynamic_offset": True, "min_binding_size": 4096}
        entry = {"binding": 0, "visibility": self.compute, "buffer": window}
        self.window = self.gpu.create_bind_group_layout(entries=[entry])

    def alloc(self, ident: int, nbytes: int) -> None:
        self.buffers[ident] = self.gpu.create_buffer(size=nbytes, usage=self.storage)

    def upload(self, serial: int, ident: int, nbytes: int, memory: Any) -> None:
        if nbytes:
            self.alloc(ident, nbytes)
        data = bytes(memory)
        if data:
            self.gpu.queue.write_buffer(self.buffers[ident], 0, data + bytes(-len(data) % 4))

    def pipeline(self, ident: int, label: str, code: str, access: str) -> None:
        types = {"r": "read-only-storage", "w": "storage"}
        entries = [
            {"binding": k, "visibility": self.compute, "buffer": {"type": types[c]}}
            for k, c in enumerate(access)
        ]
        layout = self.gpu.create_bind_group_layout(entries=entries)
        whole = self.gpu.create_pipeline_layout(bind_group_layouts=[layout, self.window])
        module = self.gpu.create_shader_module(label=label, code=code)
        compute = {"module": module, "entry_point": "main"}
        self.pipelines[ident] = self.gpu.create_compute_pipeline(layout=whole, compute=compute), layout

    async def pipelineAsync(self, *args: Any) -> str:
        self.pipeline(*args)
        return ""

    def attach(self, memory: Any) -> None:
        self.stream = memory

    def submit(self, serial: int, commands: int, n: int, allocates: bool) -> None:
        words = list(self.stream[:n])
        block = bytes(self.stream[commands:n])
        uniform = self.gpu.create_buffer(size=len(block) + 4096, usage=self.params)
        if block:
            self.gpu.queue.write_buffer(uniform, 0, block)
        place = {"buffer": uniform, "offset": 0, "size": 4096}
        window = self.gpu.create_bind_group(layout=self.window, entries=[{"binding": 0, "resource": place}])
        encoder, freed, at = self.gpu.create_command_encoder(), [], 0
        while at < commands:
            if words[at] == 1:
                self.alloc(words[at + 1], words[at + 2])
                at += 3
            elif words[at] == 2:
                freed.append(self.buffers.pop(words[at + 1]))
                at += 2
            else:
                assert words[at] == 3
                ident, x, y, z, offset, n_bound = words[at + 1 : at + 7]
                pipeline, layout = self.pipelines[ident]
                entries = []
                for k in range(n_bound):
                    buffer, begin, size = words[at + 7 + 3 * k : at + 10 + 3 * k]
                    held = self.buffers[buffer]
                    resource = {"buffer": held, "offset": begin, "size": size or held.size - begin}
                    entries.append({"binding": k, "resource": resource})
                compute = encoder.begin_compute_pass()
                compute.set_pipeline(pipeline)
                compute.set_bind_group(0, self.gpu.create_bind_group(layout=layout, entries=entries))
                compute.set_bind_group(1, window, [offset])
                compute.dispatch_workgroups(x, y, z)
                compute.end()
                self.ran.append(str(ident))
                at += 7 + 3 * n_bound
        self.gpu.queue.submit([encoder.finish()])

    async def read(self, request: Any, target: Any, chunk: int) -> str:
        words, at = list(request), 0
        for ident, begin, n in zip(words[::3], words[1::3], words[2::3], strict=True):
            target[at : at + n] = self.gpu.queue.read_buffer(self.buffers[ident], begin, n)
            at += n
        return ""

    async def wait(self) -> str:
        return ""

    def trim(self) -> None:
        pass

    def close(self) -> None:
        self.buffers.clear()
