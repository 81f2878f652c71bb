"""Where a mask is True, as flat positions: what nonzero, boolean indexing and sets are made of. One read: the count."""

from __future__ import annotations

from ..array import Array, fetch
from ..dtypes import bool_, int32
from .creation import astype, full
from .manipulation import ravel
from .routine import routine, stored


def running_count(mask: Array) -> Array:
    """int32 (size,): how many elements of the flattened mask are not zero up to each one, itself included."""
    flags = astype(astype(ravel(mask), bool_, copy=False), int32)
    return routine("scan.sum", [stored(flags)], flags.shape, int32, (1, flags.size, False, False))


def placed(counts: Array, size: int, fill: int) -> Array:
    """int32 (size,): positions at which a running count grows, in order, at most `size`; then `fill`."""
    if counts.size == 0 or size == 0:
        return full((size,), fill, dtype=int32)
    return routine("compact", [stored(counts)], (size,), int32, fill, max(counts.size, size))


async def total_of(counts: Array) -> int:
    """The last of running counts, read from the GPU; 0 if there are none."""
    return int((await fetch(counts[-1:]))[0][0]) if counts.size else 0


async def positions_of(mask: Array) -> Array:
    """int32 flat (row-major) positions of the elements that are not zero, in order. Reads their count."""
    counts = running_count(mask)
    return placed(counts, await total_of(counts), 0)


def positions_bounded(mask: Array, size: int, fill: int) -> Array:
    """The first `size` of positions_of(mask), or all of them and then `fill`. Reads nothing."""
    return placed(running_count(mask), size, fill)
