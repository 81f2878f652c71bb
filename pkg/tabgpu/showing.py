"""tg.show: an array as a picture: drawn where it lies on a canvas, or a PNG where there is none."""

from __future__ import annotations

import struct
import sys
import zlib
from functools import cache
from math import prod
from typing import Any

from . import bridge_canvas, codegen_stencil, engine, kernels
from .array import Array
from .codegen import with_library
from .dtypes import ALL, float32, uint8
from .graph import Cell
from .ops import elementwise as ew
from .ops import reductions as rd
from .ops.creation import astype
from .ops.manipulation import reshape
from .sharing import gpu_buffer
from .tracing import refuse

__all__ = ["Picture", "show"]


class Picture:
    """What tg.show gives: `canvas` (or None), `width` and `height` of the array, `await picture.png()`."""

    def __init__(self, x: Array, dark: float, scale: float, canvas: Any) -> None:
        self._values = Array(
            x.dtype, x._layout, Cell(x._cell.op)
        )  # as they are now, whatever is assigned to x
        self._dark, self._scale, self.canvas = dark, scale, canvas
        self.height, self.width = x.shape[:2]

    async def png(self) -> bytes:
        """The picture as a PNG file: one byte a channel is read."""
        made = _bytes(self._values, self._dark, self._scale)
        return _png(await made.tobytes(), made.shape)

    def _repr_png_(self) -> bytes | None:
        """For notebooks, where Python can wait."""
        if self.canvas is not None or not engine.can_suspend():
            return None
        made: bytes = engine.wait_for(self.png(), "show", "await picture.png()")
        return made

    def __repr__(self) -> str:
        where = "no canvas here: `await picture.png()`" if self.canvas is None else "on its canvas"
        return f"<tabgpu picture of {self.width} x {self.height}, {where}>"


def show(a: Any, canvas: Any = None, *, vmin: Any = None, vmax: Any = None) -> Picture:
    """An array as a picture: (height, width) in gray, or (height, width, 1, 3 or 4) with alpha as the fourth channel.

    canvas: a canvas or OffscreenCanvas of JavaScript, or a selector of one in the page. Without it a page gets a new
    canvas at its end, a worker an OffscreenCanvas (`picture.canvas.transferToImageBitmap()` gives it to the page), a
    notebook's kernel and CPython a PNG. A canvas is drawn by a render pass from the array's own memory: nothing is read
    and nothing waits; drawing again on the same canvas makes the next frame. A canvas of another size takes the
    nearest elements.

    vmin, vmax: numbers or 0-d arrays that are dark and bright; by default 0 and 1, of integers 0 and their greatest
    value. NaN is dark. ValueError for other shapes, TypeError for complex arrays.

    Chromium without a GPU loses its device with the first frame, unless it is started with --enable-features=Vulkan
    --use-vulkan=swiftshader --use-angle=vulkan --disable-vulkan-surface.
    """
    refuse("tg.show(...)")
    x: Array = rd.prepared(a, "show")
    if x.ndim not in (2, 3) or (x.ndim == 3 and x.shape[2] not in (1, 3, 4)) or not x.size:
        raise ValueError(
            f"show: a picture is (height, width) or (height, width, 1, 3 or 4), not an array of shape {x.shape}"
        )
    if x.dtype.kind == "c":
        raise TypeError("show: complex numbers have no brightness; show their absolute values")
    if any(isinstance(v, Array) and v.shape for v in (vmin, vmax)):
        raise ValueError("show: vmin and vmax are numbers or arrays without axes")
    if isinstance(vmin, Array) or isinstance(vmax, Array):
        low = 0.0 if vmin is None else vmin
        high = _brightest(x) if vmax is None else vmax
        x = ew.divide(ew.subtract(astype(x, float32), low), ew.subtract(high, low))
        vmin = vmax = None
    dark = 0.0 if vmin is None else float(vmin)
    bright = _brightest(x) if vmax is None else float(vmax)
    if not dark < bright:
        raise ValueError(f"show: vmin {dark} is not below vmax {bright}")
    scale = 1.0 / (bright - dark)
    if canvas is None and (not bridge_canvas.has_canvas() or _notebook()):
        return Picture(x, dark, scale, None)
    gpu = engine.device()
    shared = gpu_buffer(x)  # kept until the pass that reads it is submitted
    limit = gpu.binding_limit
    size = prod(x.shape) * x.dtype.itemsize + 3 & ~3
    if size > limit:
        raise ValueError(
            f"show: {size:,} bytes are more than a binding of {limit:,}; show a part or a smaller dtype"
        )
    rows, columns = x.shape[:2]
    words = [
        rows,
        columns,
        1 if x.ndim == 2 else x.shape[2],
        0,
        0,
        *struct.unpack("<II", struct.pack("<ff", dark, scale)),
        0,
    ]
    made = bridge_canvas.draw(
        gpu.js.device,
        canvas,
        (columns, rows),
        _code(x.dtype.name),
        shared.buffer,
        (shared.offset, size),
        words,
    )
    return Picture(x, dark, scale, made)


def _brightest(x: Array) -> float:
    if x.dtype.kind in "fb":
        return 1.0
    return float((1 << 8 * x.dtype.itemsize - (x.dtype.kind == "i")) - 1)


@cache
def _code(dtype: str) -> str:
    return with_library(codegen_stencil.load(kernels.read("show"), ALL[dtype]))


def _notebook() -> bool:
    """Whether IPython shows what a cell gives."""
    found = sys.modules.get("IPython")
    return found is not None and found.get_ipython() is not None


def _bytes(x: Array, dark: float, scale: float) -> Array:
    """(height, width, channels) uint8."""
    part = ew.clip(ew.multiply(ew.subtract(astype(x, float32), dark), scale), 0.0, 1.0)
    made = astype(ew.floor(ew.add(ew.multiply(part, 255.0), 0.5)), uint8)
    return made if x.ndim == 3 else reshape(made, (*x.shape, 1))


def _png(data: bytes, shape: tuple[int, ...]) -> bytes:
    height, width, channels = shape
    step = width * channels
    lines = b"".join(b"\0" + data[k * step : (k + 1) * step] for k in range(height))
    kind = {1: 0, 3: 2, 4: 6}[channels]

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(lines))
        + chunk(b"IEND", b"")
    )
