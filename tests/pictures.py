"""Reads PNG files for tests, without a package: 8 bits a channel, not interlaced."""

from __future__ import annotations

import struct
import zlib

import numpy as np

CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by colour type; 3 would be a palette


def decode(png: bytes) -> np.ndarray:
    """uint8, (height, width, channels)."""
    width, height, bits, kind, _, _, interlaced = struct.unpack(">IIBBBBB", png[16:29])
    assert png.startswith(b"\x89PNG") and (bits, interlaced) == (8, 0)
    data, at = b"", 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += 12 + length
    step = CHANNELS[kind]
    raw, stride = zlib.decompress(data), step * width
    rows, before = [], bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        before = _unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), before, step)
        rows.append(np.frombuffer(before, np.uint8))
    return np.array(rows).reshape(height, width, step)


def _unfiltered(kind: int, line: bytearray, up: bytearray, step: int) -> bytearray:
    """A PNG's row before it was filtered."""
    if kind == 2:
        return bytearray((np.frombuffer(line, np.uint8) + np.frombuffer(up, np.uint8)).tobytes())
    for i in range(len(line) if kind else 0):
        a, b, c = (line[i - step], up[i], up[i - step]) if i >= step else (0, up[i], 0)
        if kind == 4:
            p = a + b - c
            near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        else:
            near = a if kind == 1 else (a + b) // 2
        line[i] = (line[i] + near) & 0xFF
    return line
