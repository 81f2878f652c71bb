"""tg.show by its pixels: a canvas in a page and an OffscreenCanvas in a worker, drawn from the array's memory; PNGs."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from test_draw import LIMIT, painting  # noqa: F401  # a fixture: a browser whose canvases work

SETUP = """
import numpy as np
import tabgpu as tg
await tg.init()
y, x = np.mgrid[:48, :64].astype(np.float32)
pictures = {
    "gray": x / 63,
    "bytes": (y * 5).astype(np.uint8),
    "colour": np.stack([x / 63, y / 47, (x + y) % 2], -1).astype(np.float32),
    "alpha": np.stack([x * 4, y * 5, 0 * x + 200, 0 * x + 128], -1).astype(np.uint8),
    "half": ((x + y) / 120).astype(np.float16),
    "turned": np.ascontiguousarray(x.T / 63),
    "levels": (x * 100 - 500).astype(np.int32),
}
def arrays(name):
    a = tg.asarray(pictures[name])
    return a.T if name == "turned" else a
def draw(name, canvas=None):
    options = {"vmin": -500, "vmax": 5800} if name == "levels" else {}
    before = tg.memory()["reads"]
    shown = tg.show(arrays(name), canvas, **options)
    assert tg.memory()["reads"] == before
    return shown.canvas
"""
# The pixels that the task drew, as RGBA: a texture is gone behind it.
PIXELS = """
const configure = GPUCanvasContext.prototype.configure;
let device, format;
GPUCanvasContext.prototype.configure = function (options) {
  ({ device, format } = options);
  configure.call(this, { ...options, usage: GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.COPY_SRC });
};
const pixels = async (canvas) => {
  const [w, h] = [canvas.width, canvas.height], size = 256 * h;
  const buffer = device.createBuffer({ size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
  const encoder = device.createCommandEncoder();
  const texture = canvas.getContext("webgpu").getCurrentTexture();
  encoder.copyTextureToBuffer({ texture }, { buffer, bytesPerRow: 256 }, [w, h]);
  device.queue.submit([encoder.finish()]);
  await buffer.mapAsync(GPUMapMode.READ);
  const bytes = new Uint8Array(buffer.getMappedRange().slice(0)), made = [];
  for (let y = 0; y < h; y++) for (let x = 0; x < w; x++) {
    const p = [...bytes.subarray(256 * y + 4 * x, 256 * y + 4 * x + 4)];
    made.push(format === "bgra8unorm" ? [p[2], p[1], p[0], p[3]] : p);
  }
  return made;
};
const start = async () => {
  const { loadPyodide } = await import("/pyodide/pyodide.mjs");
  const python = await loadPyodide();
  await python.loadPackage(["numpy", "tabgpu"]);
  await python.runPythonAsync(SETUP);
  return python;
};
"""
PAGE = """<!doctype html><meta charset="utf-8"><title>tg.show</title>
<canvas id="small" width="32" height="24"></canvas><pre id="out">loading</pre>
<script type="module">
  import * as kit from "./kit.js";
  try {
    const python = await kit.start();
    window.drawn = (name, where) => kit.pixels(python.globals.get("draw")(name, where ?? undefined));
    window.python = python;
    window.inWorker = (name) => new Promise((done, failed) => {
      const worker = new Worker("./worker.js", { type: "module" });
      worker.onmessage = ({ data }) => {
        worker.terminate();
        data.error ? failed(new Error(data.error)) : done(data.made);
      };
      worker.postMessage(name);
    });
    out.textContent = "ready";
  } catch (error) { out.textContent = String(error); }
</script>"""
WORKER = """import * as kit from "./kit.js";
onmessage = async ({ data }) => {
  try {
    const python = await kit.start(), canvas = python.globals.get("draw")(data);
    const made = await kit.pixels(canvas);
    postMessage({ made: [canvas.constructor.name, made] });
  } catch (error) { postMessage({ error: String(error) }); }
};"""


def wanted(name: str) -> np.ndarray:
    """RGBA of each picture, as a canvas holds it (colours times alpha)."""
    y, x = np.mgrid[:48, :64].astype(np.float64)
    one = np.ones_like(x)
    gray = lambda v: np.stack([v, v, v, one], -1)
    made = {
        "gray": gray(x / 63), "bytes": gray(y * 5 / 255), "half": gray((x + y) / 120), "turned": gray(x / 63),
        "levels": gray(x / 63), "colour": np.stack([x / 63, y / 47, (x + y) % 2, one], -1),
        "alpha": np.stack([x * 4, y * 5, 200 * one, 255 * one], -1) / 255 * (128 / 255),
    }[name]  # fmt: skip
    return np.rint(made * 255).reshape(-1, 4)


@pytest.fixture
def page(painting, serve, tmp_path):  # noqa: F811
    kit = PIXELS.replace("SETUP", "`" + SETUP + "`") + "export { pixels, start };"
    for file, text in (("index.html", PAGE), ("kit.js", kit), ("worker.js", WORKER)):
        (tmp_path / file).write_text(text, "utf-8")
    server = serve(tmp_path)
    server.documents = {path: (lambda data=make(): data) for path, make in server.documents.items()}
    made = painting.new_page()
    made.set_default_timeout(LIMIT)
    made.goto(f"{server.url}/")
    made.wait_for_function("document.getElementById('out').textContent !== 'loading'")
    assert made.inner_text("#out") == "ready"
    yield made
    made.close()


def test_pictures_in_a_page_and_a_worker(page) -> None:
    """Every dtype and number of channels; a canvas of the page, of another size, by selector; the next frame."""
    for name in ("gray", "bytes", "colour", "alpha", "half", "turned", "levels"):
        got = np.array(page.evaluate("(name) => window.drawn(name)", name))
        assert np.abs(got - wanted(name)).max() <= 1, name
    assert page.evaluate("document.querySelectorAll('canvas').length") == 8
    for name in ("colour", "bytes"):
        got = np.array(page.evaluate("(name) => window.drawn(name, '#small')", name)).reshape(24, 32, 4)
        assert np.abs(got - wanted(name).reshape(48, 64, 4)[::2, ::2]).max() <= 1
    assert page.evaluate("document.querySelectorAll('canvas').length") == 8
    kind, made = page.evaluate("(name) => window.inWorker(name)", "colour")
    assert kind == "OffscreenCanvas" and np.abs(np.array(made) - wanted("colour")).max() <= 1
    code = "(await tg.show(arrays('colour'), '#small').png()).hex()"
    data = bytes.fromhex(page.evaluate("(code) => window.python.runPythonAsync(code)", code))
    assert np.abs(unpacked(data) - wanted("colour")[:, :3]).max() <= 1
    code = """
try:
  tg.show(arrays('gray'), '#nowhere')
except Exception as error:
  said = str(error)
said"""
    said = page.evaluate("(code) => window.python.runPythonAsync(code)", code)
    assert "#nowhere" in said


def unpacked(data: bytes) -> np.ndarray:
    """The colours of a PNG whose lines are not filtered."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body = 8, b""
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at : at + 8])
        part = data[at + 8 : at + 8 + n]
        assert zlib.crc32(kind + part) == struct.unpack(">I", data[at + 8 + n : at + 12 + n])[0]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", part[:10])
            assert (depth, colour) == (8, 2)
        if kind == b"IDAT":
            body += part
        at += 12 + n
    lines = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, 1 + 3 * width)
    assert (lines[:, 0] == 0).all()
    return lines[:, 1:].reshape(-1, 3).astype(np.float64)
