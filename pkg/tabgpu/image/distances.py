"""Distance transforms under scipy.ndimage's names: exact, one axis after another, whatever the metric."""

from __future__ import annotations

from math import prod
from struct import pack, unpack
from typing import Any

from ..array import Array
from ..dtypes import bool_, float32, int32, uint32
from ..ops import elementwise as ew
from ..ops.creation import astype, positions, zeros
from ..ops.extremes import float_of_bits
from ..ops.joining import stack
from ..ops.manipulation import getitem, reshape
from ..ops.routine import routine, stored
from ..ops.rows import unary
from ..ops.scans import cumulative_max, cumulative_min
from .arguments import each, scalar
from .ranking import real
from .structures import generate_binary_structure, host

__all__ = ["distance_transform_bf", "distance_transform_cdt", "distance_transform_edt"]

NONE = 0xFFFFFFFF
HUGE = 0x7F7FFFFF  # bits of the greatest float32
NAMES = {
    "euclidean": "euclidean", "taxicab": "taxicab", "cityblock": "taxicab", "manhattan": "taxicab",
    "chessboard": "chessboard",
}  # fmt: skip

_WORDS = unary("words_of_float32", {"f": "bitcast<u32>(x)"}, out="u", like="", doc="The bits of a float32.")


def _bits(value: float) -> int:
    return int(unpack("<I", pack("<f", value))[0])


def _transformed(x: Array, metric: str, spacing: list[float] | None, label: str) -> Array:
    """uint32 (2, *shape): costs (float32 bits with a spacing) and flat places of the nearest zero; NONE (HUGE) and NONE
    where there is none."""
    power = 2 if metric == "euclidean" else 1
    if spacing is None and sum(int((n - 1) ** power) for n in x.shape) >= NONE:
        raise ValueError(
            f"{label}: distances in an array of shape {x.shape} do not fit 32 bits; give sampling"
        )
    n = x.shape[-1]
    at = positions(n)
    zero = ew.logical_not(x) if x.dtype is bool_ else ew.equal(x, 0)
    far = 1 << 30
    last = cumulative_max(ew.where(zero, at, -far), axis=-1)
    following = cumulative_min(ew.where(zero, at, far), axis=-1, reverse=True)
    before, behind = ew.subtract(at, last), ew.subtract(following, at)
    nearest = ew.minimum(before, behind)
    some = ew.less(nearest, n)
    row = reshape(ew.multiply(astype(positions(prod(x.shape[:-1])), uint32), n), (*x.shape[:-1], 1))
    column = astype(ew.where(ew.less_equal(before, behind), last, following), uint32)
    places = ew.where(some, ew.add(row, column), NONE)
    if spacing is None:
        cost = astype(nearest, uint32)
        cost = ew.where(some, ew.multiply(cost, cost) if metric == "euclidean" else cost, NONE)
    else:
        length = ew.multiply(astype(nearest, float32), spacing[-1])
        cost = ew.where(some, _WORDS(ew.multiply(length, length)), HUGE)
    made = stack([cost, places])
    stride = n
    for k in range(x.ndim - 2, -1, -1):
        if x.shape[k] > 1:
            square = None if spacing is None else _bits(spacing[k] * spacing[k])
            made = routine(
                f"distance.{metric}",
                [stored(made)],
                made.shape,
                uint32,
                (x.shape[k], stride, square),
                x.size * 16,
            )
        stride *= x.shape[k]
    return made


def _results(
    x: Array, metric: str, spacing: Any, wants: tuple[bool, bool], into: tuple[Any, Any], whole: bool, label: str
) -> Any:  # fmt: skip
    """What the three functions give: distances (whole: int32, -1 where there is no zero), places, or both."""
    if not any(wants):
        raise ValueError(f"{label}: at least one of return_distances and return_indices must be True")
    shape = x.shape or (1,)
    if not x.size:
        made = zeros((2, *shape), uint32)
    else:
        made = _transformed(reshape(x, shape), metric, spacing, label)
    found = []
    if wants[0]:
        cost = getitem(made, 0)
        if spacing is not None:
            d = ew.sqrt(float_of_bits(cost))
            d = ew.where(ew.equal(cost, HUGE), float("inf"), d)
        elif whole:
            d = astype(cost, int32)
        else:
            d = astype(cost, float32)
            d = ew.where(ew.equal(cost, NONE), float("inf"), ew.sqrt(d) if metric == "euclidean" else d)
        found.append(_into(reshape(d, x.shape), into[0], "distances", label))
    if wants[1]:
        flat, parts = getitem(made, 1), []
        stride = prod(shape)
        for n in x.shape:
            stride //= max(n, 1)
            parts.append(astype(ew.remainder(ew.floor_divide(flat, max(stride, 1)), max(n, 1)), int32))
        every = stack(parts) if parts else zeros((0,), int32)
        nowhere = ew.equal(flat, NONE)
        found.append(_into(ew.where(nowhere, -1, every), into[1], "indices", label))
    return found[0] if len(found) == 1 else tuple(found)


def _into(made: Array, out: Any, what: str, label: str) -> Array:
    if out is None:
        return made
    if not isinstance(out, Array) or out.shape != made.shape:
        raise ValueError(f"{label}: {what} must be an array of shape {made.shape}")
    out[...] = astype(made, out.dtype, copy=False)  # type: ignore[index]
    return out


def distance_transform_edt(
    input: Any, sampling: Any = None, return_distances: bool = True, return_indices: bool = False,
    distances: Any = None, indices: Any = None,
) -> Any:  # fmt: skip
    """How far each element that is not 0 is from the nearest 0, float32; inf where there is none.

    sampling: the spacing of elements, one or one an axis; without it squares of distances are exact integers.
    return_indices: also int32 (axes, *shape), where that 0 lies (-1: nowhere; which of several is not said), or it
    alone without return_distances. distances and indices: Arrays that take the results. ValueError for shapes that do
    not fit.
    """
    label = "distance_transform_edt"
    x = real(input, label)
    spacing = None
    if sampling is not None:
        spacing = [scalar(v, label, "sampling") for v in each(sampling, x.ndim, label, "sampling")] or [1.0]
    wants = bool(return_distances), bool(return_indices)
    return _results(x, "euclidean", spacing, wants, (distances, indices), False, label)


def distance_transform_cdt(
    input: Any, metric: Any = "chessboard", return_distances: bool = True, return_indices: bool = False,
    distances: Any = None, indices: Any = None,
) -> Any:  # fmt: skip
    """distance_transform_edt in steps: int32, -1 where there is no 0.

    metric: chessboard, taxicab (cityblock, manhattan), or the structure of neighbours that means one of them.
    """
    label = "distance_transform_cdt"
    x = real(input, label)
    if not isinstance(metric, str):
        flags = host(metric, label)
        for name, reach in (("taxicab", 1), ("chessboard", x.ndim)):
            made = generate_binary_structure(x.ndim, reach)
            if flags.shape == made.shape and (flags == made).all():
                metric = name
                break
    if metric not in NAMES if isinstance(metric, str) else True:
        raise ValueError(f"{label}: metric {metric!r} is none of {', '.join(NAMES)} nor their structure")
    if NAMES[metric] == "euclidean":
        raise ValueError(f"{label}: euclidean distances are distance_transform_edt's")
    wants = bool(return_distances), bool(return_indices)
    return _results(x, NAMES[metric], None, wants, (distances, indices), True, label)


def distance_transform_bf(
    input: Any, metric: str = "euclidean", sampling: Any = None, return_distances: bool = True,
    return_indices: bool = False, distances: Any = None, indices: Any = None,
) -> Any:  # fmt: skip
    """distance_transform_edt or distance_transform_cdt by the metric's name: the same distances, found the same way.
    sampling goes with euclidean only."""
    label = "distance_transform_bf"
    if NAMES.get(metric) is None:
        raise ValueError(f"{label}: metric {metric!r} is none of {', '.join(NAMES)}")
    rest = (return_distances, return_indices, distances, indices)
    if NAMES[metric] == "euclidean":
        return distance_transform_edt(input, sampling, *rest)
    return distance_transform_cdt(input, metric, *rest)
