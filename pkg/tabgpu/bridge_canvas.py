"""The door to canvases: an array's buffer drawn by a render pass on the device that computed it. Used by showing.py."""

from __future__ import annotations

import sys
from typing import Any

_SCRIPT = """(() => {
  const contexts = new WeakMap(), pipelines = new WeakMap();
  const make = (where, width, height) => {
    if (typeof where === "string") {
      const found = globalThis.document?.querySelector(where);
      if (!found) throw new Error(`no element matches ${where}`);
      where = found;
    }
    if (where) return where;
    if (!globalThis.document) return new OffscreenCanvas(width, height);
    const canvas = document.createElement("canvas");
    canvas.width = width; canvas.height = height;
    document.body.append(canvas);
    return canvas;
  };
  const draw = (device, where, width, height, code, buffer, offset, size, words) => {
    const canvas = make(where, width, height), format = navigator.gpu.getPreferredCanvasFormat();
    let known = contexts.get(canvas);
    if (known?.device !== device) {
      const context = canvas.getContext("webgpu");
      if (!context) throw new Error("this canvas has another context than webgpu already");
      context.configure({ device, format, alphaMode: "premultiplied" });
      contexts.set(canvas, known = { device, context });
    }
    if (!pipelines.has(device)) pipelines.set(device, new Map());
    let pipeline = pipelines.get(device).get(code);
    if (!pipeline) {
      const module = device.createShaderModule({ code });
      pipeline = device.createRenderPipeline({ layout: "auto", vertex: { module, entryPoint: "corner" },
        fragment: { module, entryPoint: "colour", targets: [{ format }] } });
      pipelines.get(device).set(code, pipeline);
    }
    const values = Uint32Array.from(words);
    values[3] = canvas.width; values[4] = canvas.height;
    const numbers = device.createBuffer({ size: 32, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
    device.queue.writeBuffer(numbers, 0, values);
    const group = (n, resource) => device.createBindGroup({ layout: pipeline.getBindGroupLayout(n), entries:
      [{ binding: 0, resource }] });
    const encoder = device.createCommandEncoder(), view = known.context.getCurrentTexture().createView();
    const pass = encoder.beginRenderPass({ colorAttachments: [{ view, loadOp: "clear", storeOp: "store" }] });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group(0, { buffer, offset, size }));
    pass.setBindGroup(1, group(1, { buffer: numbers }));
    pass.draw(3);
    pass.end();
    device.queue.submit([encoder.finish()]);
    numbers.destroy();
    return canvas;
  };
  return { draw };
})()"""
_drawing: Any = None


def has_canvas() -> bool:
    """Whether there is something to draw on: a page, or a worker with OffscreenCanvas."""
    if sys.platform != "emscripten":
        return False
    import js

    return hasattr(js, "document") or hasattr(js, "OffscreenCanvas")


def draw(
    device: Any, where: Any, size: tuple[int, int], code: str, buffer: Any, span: tuple[int, int], words: Any
) -> Any:
    """The canvas that an image was drawn on: `where` (a canvas or a selector), else a new one of (width, height)."""
    global _drawing
    from pyodide.code import run_js
    from pyodide.ffi import to_js

    if _drawing is None:
        _drawing = run_js(_SCRIPT)
    return _drawing.draw(device, where, *size, code, buffer, *span, to_js(words))
