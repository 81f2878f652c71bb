"""web/examples/draw: a page with a device and a render pass of its own draws an array from the array's buffer."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from conftest import ROOT
from tabgpu.host import browser as host_browser

LIMIT = 120_000  # ms

# Without a GPU, Chromium's GPU process dies of a WebGPU canvas unless all of it draws with SwiftShader's Vulkan.
SOFTWARE = [
    "--enable-features=Vulkan",
    "--use-vulkan=swiftshader",
    "--use-angle=vulkan",
    "--disable-vulkan-surface",
]
# The picture at time t: its texture is copied to a buffer in the task that drew it.
COPIED = """
  const configure = GPUCanvasContext.prototype.configure;
  GPUCanvasContext.prototype.configure = function (options) {
    window.device = options.device;
    window.format = options.format;
    configure.call(this, { ...options, usage: GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.COPY_SRC });
  };
"""
PIXELS = """async (t) => {
  const size = 256 * 256 * 4;
  const buffer = device.createBuffer({ size, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
  window.draw(t);
  const texture = document.getElementById("picture").getContext("webgpu").getCurrentTexture();
  const encoder = device.createCommandEncoder();
  encoder.copyTextureToBuffer({ texture }, { buffer, bytesPerRow: 1024 }, [256, 256]);
  device.queue.submit([encoder.finish()]);
  await buffer.mapAsync(GPUMapMode.READ);
  const bytes = [...new Uint8Array(buffer.getMappedRange())];
  if (format === "bgra8unorm") for (let k = 0; k < size; k += 4) [bytes[k], bytes[k + 2]] = [bytes[k + 2], bytes[k]];
  return bytes;
}"""


def wanted(x: int, y: int, t: float) -> tuple[float, float, float]:
    """The colour that the page's formula gives a pixel."""
    u, v = (2 * k / 255 - 1 for k in (x, y))
    height = math.cos(20 * math.hypot(u, v) - t) * 0.5 + 0.5
    return 255 * height, 255 * height * height, 255 * (1 - height)


@pytest.fixture
def painting(chromium) -> Iterator[object]:
    """A browser whose canvases work."""
    if host_browser.maybe_hardware():
        yield chromium
        return
    browser = chromium.browser_type.launch(
        executable_path=host_browser.find_browser(None, playwright=False),
        args=host_browser.flags("swiftshader", SOFTWARE),
        chromium_sandbox=False,
    )
    yield browser
    browser.close()


def test_a_page_draws_an_array_without_a_read(painting, serve) -> None:
    page = painting.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: said.type in ("error", "warning") and errors.append(said.text))
    page.set_default_timeout(LIMIT)
    page.add_init_script(COPIED)
    server = serve(ROOT / "web")
    # Made once: the wheel and its hash are fetched apart, and an edit of the tree in between would part them.
    server.documents = {path: (lambda data=make(): data) for path, make in server.documents.items()}
    page.goto(f"{server.url}/examples/draw/")
    page.wait_for_function("document.getElementById('out').textContent !== 'loading Python ...'")
    said = page.inner_text("#out")
    assert said == "drawing", said
    for t in (0.0, 2.5):
        data = page.evaluate(PIXELS, t)
        for x, y in ((0, 0), (128, 128), (255, 10), (37, 200), (200, 37), (90, 91)):
            got = data[4 * (256 * y + x) :][:4]
            assert got[3] == 255
            assert all(abs(a - b) <= 2 for a, b in zip(got, wanted(x, y, t), strict=False)), (x, y, t, got)
    assert page.evaluate("window.reads()") == 0
    assert not [text for text in errors if "404" not in text]  # a page without an icon
    page.close()
