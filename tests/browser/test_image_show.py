"""tg.show without a canvas: its PNG, its arguments. Pixels of canvases: tests/site/test_show.py. Runs in the tab."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import bridge_canvas


@pytest.fixture(autouse=True)
def no_canvas(monkeypatch: Any) -> None:
    monkeypatch.setattr(bridge_canvas, "has_canvas", lambda: False)


def unpacked(data: bytes) -> Any:
    """(height, width, channels) of a PNG whose lines are not filtered."""
    width, height, _, kind = struct.unpack(">IIBB", data[16:26])
    at = data.index(b"IDAT")
    (n,) = struct.unpack(">I", data[at - 4 : at])
    channels = {0: 1, 2: 3, 6: 4}[kind]
    lines = np.frombuffer(zlib.decompress(data[at + 4 : at + 4 + n]), np.uint8).reshape(height, -1)
    assert (lines[:, 0] == 0).all()
    return lines[:, 1:].reshape(height, width, channels)


async def test_png_of_each_kind() -> None:
    rng = np.random.default_rng(1)
    for shape in ((5, 7), (4, 3, 1), (6, 5, 3), (2, 9, 4), (1, 1)):
        x = rng.random(shape).astype(np.float32) * 1.4 - 0.2
        picture = tg.show(tg.asarray(x))
        assert picture.canvas is None and (picture.height, picture.width) == shape[:2]
        want = np.floor(np.clip(x, 0, 1) * np.float32(255) + np.float32(0.5)).astype(np.uint8)
        assert np.array_equal(unpacked(await picture.png()), want.reshape(*shape[:2], -1))
    levels = rng.integers(0, 256, (6, 8, 3)).astype(np.uint8)
    assert np.array_equal(unpacked(await tg.show(tg.asarray(levels)).png()), levels)
    assert np.array_equal(unpacked(await tg.show(tg.asarray(levels)[::-1, ::2]).png()), levels[::-1, ::2])
    flags = rng.random((5, 6)) > 0.5
    assert np.array_equal(unpacked(await tg.show(tg.asarray(flags)).png())[..., 0], flags * 255)


async def test_ranges() -> None:
    """vmin and vmax as numbers, and as arrays, for which nothing is read."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4) * 10 - 30
    g = tg.asarray(x)
    want = np.rint((x - x.min()) / (x.max() - x.min()) * 255)
    for picture in (tg.show(g, vmin=-30, vmax=80), tg.show(g, vmin=tg.min(g), vmax=tg.max(g))):
        assert np.abs(unpacked(await picture.png())[..., 0] - want).max() <= 1


async def test_a_picture_keeps_what_it_showed() -> None:
    g = tg.zeros((3, 3))
    picture = tg.show(g)
    g[...] = 1.0
    assert (unpacked(await picture.png()) == 0).all() and "3 x 3" in repr(picture)


def test_bad_pictures() -> None:
    for a, options, error, said in (
        (tg.zeros((3,)), {}, ValueError, "(3,)"),
        (tg.zeros((3, 3, 2)), {}, ValueError, "(3, 3, 2)"),
        (tg.zeros((0, 3)), {}, ValueError, "(0, 3)"),
        (tg.zeros((3, 3), dtype="complex64"), {}, TypeError, "complex"),
        (tg.zeros((3, 3)), {"vmin": 2.0}, ValueError, "vmin"),
        (tg.zeros((3, 3)), {"vmin": tg.zeros((2, 1, 1))}, ValueError, "without axes"),
    ):
        with pytest.raises(error) as caught:
            tg.show(a, **options)
        assert said in str(caught.value)
