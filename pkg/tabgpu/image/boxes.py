"""find_objects: the box of each label. How many labels there are and where is read: its result is Python's slices."""

from __future__ import annotations

from typing import Any

from ..array import Array, fetch
from ..dtypes import int32
from ..ops import elementwise as ew
from ..ops import reductions as rd
from ..ops.creation import astype, full, positions
from ..ops.joining import stack
from ..ops.manipulation import getitem, ravel
from ..ops.taking import At
from ..ops.waiting import plain
from .arguments import prepared, whole

__all__ = ["find_objects"]

Box = tuple["slice[int, int, None]", ...]


async def find_objects_async(input: Any, max_label: int = 0) -> list[Box | None]:
    """The smallest box around each label 1, 2 .. of an integer array: slices, or None for a label that does not occur.

    max_label: how many labels (below 1: the greatest one, which is read too). The boxes are read: `await
    tg.aio.find_objects(labels)`, or without await where Python can wait. TypeError for arrays of other kinds.
    """
    label = "find_objects"
    x = prepared(input, label)
    if x.dtype.kind not in "iub":
        raise TypeError(f"{label}: labels are integers, not {x.dtype.name}")
    count = whole(max_label, label, "max_label")
    if not x.size:
        return [None] * max(count, 0)
    marks = ravel(astype(x, int32, copy=False))
    if count < 1:
        (greatest,) = await fetch(rd.max(marks))
        count = int(greatest)
    if count < 1:
        return []
    if not x.ndim:
        (mark,) = await fetch(marks)
        return [() if k + 1 == int(mark[0]) else None for k in range(count)]
    slots = ew.where(ew.logical_and(ew.greater(marks, 0), ew.less_equal(marks, count)), marks, 0)
    at = positions(x.size)
    ends: list[Array] = []
    step = x.size
    for n in x.shape:
        step //= n
        place = ew.remainder(ew.floor_divide(at, step), n)
        ends.append(At(full((count + 1,), n, dtype=int32))[slots].min(place, mode="clip"))
        ends.append(At(full((count + 1,), -1, dtype=int32))[slots].max(place, mode="clip"))
    (boxes,) = await fetch(getitem(stack(ends), (slice(None), slice(1, None))))
    rows = boxes.tolist()
    made: list[Box | None] = []
    for k in range(count):
        pairs = [(rows[2 * a][k], rows[2 * a + 1][k] + 1) for a in range(x.ndim)]
        made.append(
            tuple([slice(low, high) for low, high in pairs])
            if all(low < high for low, high in pairs)
            else None
        )
    return made


find_objects = plain(find_objects_async)
