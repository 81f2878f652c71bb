"""Draws the result of digits.py: a confusion matrix and some misread digits. Any canvas will do, page or worker."""

from __future__ import annotations

from typing import Any

import js
import numpy as np

CELL = 46  # pixels a cell of the matrix
LEFT, TOP = 76, 96
SHOWN = 12  # misread digits, 3 in a row
TILE = 112
WIDTH, HEIGHT = LEFT + 10 * CELL + 64 + 3 * (TILE + 18) + 14, TOP + 10 * CELL + 40
SPLIT = (
    LEFT + 10 * CELL + 32
) / WIDTH  # where the matrix ends: narrow screens show the misread digits below it
INK, SOFT, PAPER, WRONG = "#1c2733", "#6b7785", "#ffffff", "#c2410c"


class Canvas:
    """A 2D canvas outside the page, at twice the size for sharp screens."""

    def __init__(self, width: int, height: int) -> None:
        self.canvas = js.OffscreenCanvas.new(2 * width, 2 * height)
        self.context = self.canvas.getContext("2d")
        self.context.scale(2, 2)
        self.context.textBaseline = "middle"
        self.box(0, 0, width, height, PAPER)

    def box(self, x: float, y: float, width: float, height: float, color: str) -> None:
        self.context.fillStyle = color
        self.context.fillRect(x, y, width, height)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: int = 14,
        color: str = INK,
        align: str = "center",
        bold: bool = False,
    ) -> None:
        self.context.fillStyle, self.context.textAlign = color, align
        self.context.font = f"{'600 ' if bold else ''}{size}px system-ui, sans-serif"
        self.context.fillText(text, x, y)

    async def png(self) -> bytes:
        blob = await self.canvas.convertToBlob()
        return (await blob.arrayBuffer()).to_bytes()


def shade(part: float, low: tuple[int, int, int], high: tuple[int, int, int]) -> str:
    """A colour between two."""
    return "rgb({}, {}, {})".format(*(round(a + part * (b - a)) for a, b in zip(low, high, strict=True)))


def matrix(canvas: Canvas, counts: np.ndarray) -> None:
    """Rows: the true digit; columns: what was read. The diagonal is right."""
    canvas.text(LEFT + 5 * CELL, TOP - 48, "read as", size=14, color=SOFT)
    canvas.text(LEFT - 62, TOP - 22, "true", size=14, color=SOFT, align="left")
    largest = max(counts.max(), 1)
    for i in range(10):
        canvas.text(LEFT + (i + 0.5) * CELL, TOP - 22, str(i), size=16, bold=True)
        canvas.text(LEFT - 30, TOP + (i + 0.5) * CELL, str(i), size=16, bold=True)
        for j in range(10):
            n = int(counts[i, j])
            right = i == j
            part = n / largest if right else min(1.0, 0.25 + n / 8) if n else 0.0
            color = shade(part, (238, 242, 246), (15, 98, 190) if right else (234, 88, 12))
            canvas.box(LEFT + j * CELL + 1, TOP + i * CELL + 1, CELL - 2, CELL - 2, color)
            if n:
                ink = PAPER if right and part > 0.4 else INK
                canvas.text(LEFT + (j + 0.5) * CELL, TOP + (i + 0.5) * CELL, str(n), size=14, color=ink)


def digit(canvas: Canvas, x: float, y: float, image: np.ndarray, caption: str) -> None:
    """One 8 x 8 image, dark on light, with a line below."""
    step = (TILE - 24) / 8
    for row in range(8):
        for column in range(8):
            color = shade(float(image[8 * row + column]) / 16, (238, 242, 246), (28, 39, 51))
            canvas.box(x + column * step, y + row * step, step + 0.5, step + 0.5, color)
    canvas.text(x + 4 * step, y + TILE - 10, caption, size=14, color=WRONG)


async def draw(images: np.ndarray, truth: Any, predicted: Any) -> bytes:
    """The picture as a PNG file."""
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (truth, predicted), 1)
    wrong = np.flatnonzero(truth != predicted)
    canvas = Canvas(WIDTH, HEIGHT)
    head = f"{len(truth) - len(wrong)} of {len(truth)} digits read right"
    canvas.text(LEFT, 26, head, size=20, align="left", bold=True)
    matrix(canvas, counts)
    left = LEFT + 10 * CELL + 64
    title = f"{min(SHOWN, len(wrong))} of {len(wrong)} misread" if len(wrong) else "none misread"
    canvas.text(left, 26, title, size=20, align="left", bold=True)
    canvas.text(left, TOP - 40, "true → read", size=14, color=SOFT, align="left")
    for k, which in enumerate(wrong[:SHOWN]):
        x, y = left + k % 3 * (TILE + 18), TOP - 18 + k // 3 * (TILE + 14)
        digit(canvas, x, y, images[which], f"{truth[which]} → {predicted[which]}")
    return await canvas.png()
