"""Arrays with more elements around them, by the modes of image.arguments: for what has no border mode of its own."""

from __future__ import annotations

from ..array import Array
from ..ops.manipulation import getitem
from ..ops.padding import pad

_NAMES = ("constant", "edge", "symmetric", "reflect", "wrap")  # numpy.pad's names of the modes


def extended(x: Array, axis: int, before: int, behind: int, mode: int, cval: float) -> Array:
    """x with elements added at both ends of an axis (negative: taken away)."""
    grow = max(before, 0), max(behind, 0)
    if any(grow):
        widths = [(0, 0)] * x.ndim
        widths[axis] = grow
        options = {"constant_values": cval} if mode == 0 else {}
        x = pad(x, widths, _NAMES[mode], **options)
    if before < 0 or behind < 0:
        cut = slice(max(-before, 0), x.shape[axis] - max(-behind, 0))
        x = getitem(x, (*[slice(None)] * axis, cut))
    return x
