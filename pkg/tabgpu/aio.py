"""tg.aio: functions whose result's shape depends on data, as coroutines. `await tg.aio.NAME(...)` works everywhere.

The plain tg.NAME reads on the spot and needs a place where Python can wait; forms with size= (or length=) read nothing.
"""

from __future__ import annotations

from typing import Any

from .array import Array
from .dtypes import bool_
from .layout import normalize_axis
from .ops.along import prepared
from .ops.creation import astype
from .ops.histograms import bincount_async as bincount
from .ops.indexing import getitem_async as getitem
from .ops.manipulation import ravel
from .ops.rearranging import repeat_async as repeat
from .ops.row_sets import intersect_rows_async as intersect_rows
from .ops.row_sets import setdiff_rows_async as setdiff_rows
from .ops.row_sets import setxor_rows_async as setxor_rows
from .ops.row_sets import union_rows_async as union_rows
from .ops.searching import argwhere_async as argwhere
from .ops.searching import flatnonzero_async as flatnonzero
from .ops.searching import nonzero_async as nonzero
from .ops.searching import where_async as where
from .ops.sets import intersect1d_async as intersect1d
from .ops.sets import setdiff1d_async as setdiff1d
from .ops.sets import setxor1d_async as setxor1d
from .ops.sets import union1d_async as union1d
from .ops.sets import unique_all_async as unique_all
from .ops.sets import unique_async as unique
from .ops.sets import unique_counts_async as unique_counts
from .ops.sets import unique_inverse_async as unique_inverse
from .ops.sets import unique_values_async as unique_values


async def compress(condition: Any, x: Any, /, axis: int | None = None) -> Array:
    """The slices of x along an axis (of the flattened array for None) whose condition is true; see tg.compress."""
    x, flags = prepared(x, "compress"), astype(prepared(condition, "compress"), bool_, copy=False)
    if flags.ndim != 1:
        raise ValueError(f"compress: the condition must have one axis, its shape is {flags.shape}")
    if axis is None:
        x, axis = ravel(x), 0
    at = normalize_axis(axis, x.ndim, "compress")
    n = flags.shape[0]
    if n > x.shape[at]:
        raise IndexError(f"compress: {n} conditions for an axis of size {x.shape[at]}")
    key = (slice(None),) * at
    return await getitem(x[(*key, slice(n))], (*key, flags))


async def extract(condition: Any, x: Any, /) -> Array:
    """The elements of the flattened x where the flattened condition is true."""
    return await compress(ravel(prepared(condition, "extract")), ravel(prepared(x, "extract")))


async def find_objects(input: Any, max_label: int = 0) -> Any:
    """tg.image.find_objects: reads how many labels there are, and their boxes."""
    from .image.boxes import find_objects_async

    return await find_objects_async(input, max_label)


async def find_peaks(x: Any, *args: Any, **options: Any) -> tuple[Array, dict[str, Array]]:
    """tg.signal.find_peaks: reads how many peaks there are."""
    from .signal.peaks import find_peaks_async

    return await find_peaks_async(x, *args, **options)


async def argrelextrema(data: Any, *args: Any, **options: Any) -> tuple[Array, ...]:
    """tg.signal.argrelextrema: reads how many extremes there are."""
    from .signal.peaks import argrelextrema_async

    return await argrelextrema_async(data, *args, **options)


async def argrelmax(data: Any, *args: Any, **options: Any) -> tuple[Array, ...]:
    """tg.signal.argrelmax: reads how many there are."""
    from .signal.peaks import argrelmax_async

    return await argrelmax_async(data, *args, **options)


async def argrelmin(data: Any, *args: Any, **options: Any) -> tuple[Array, ...]:
    """tg.signal.argrelmin: reads how many there are."""
    from .signal.peaks import argrelmin_async

    return await argrelmin_async(data, *args, **options)


async def one_hot(tensor: Any, num_classes: int = -1) -> Array:
    """tg.nn.one_hot: with num_classes -1 it reads the greatest value."""
    from .nn.linear import one_hot_async

    return await one_hot_async(tensor, num_classes)


async def null_space(A: Any, rcond: float | None = None) -> Array:
    """tg.linalg.null_space: a basis with as many columns as there are."""
    from .linalg.subspaces import null_space_async

    return await null_space_async(A, rcond)


async def orth(A: Any, rcond: float | None = None) -> Array:
    """tg.linalg.orth: a basis with as many columns as there are."""
    from .linalg.subspaces import orth_async

    return await orth_async(A, rcond)


__all__ = [
    "argrelextrema", "argrelmax", "argrelmin", "argwhere", "bincount", "compress", "extract", "find_objects",
    "find_peaks",
    "flatnonzero", "getitem", "intersect1d", "intersect_rows", "nonzero", "null_space", "one_hot", "orth",
    "repeat", "setdiff1d", "setdiff_rows", "setxor1d", "setxor_rows", "union1d", "union_rows", "unique",
    "unique_all", "unique_counts", "unique_inverse", "unique_values", "where",
]  # fmt: skip
