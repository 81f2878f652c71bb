"""Windows over the last axes of an array in float64, as PyTorch lays them: what pools are tested against."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np


def spans(size: int, k: int, s: int, p: int, d: int = 1, ceil: bool = False) -> list[tuple[list[int], int]]:
    """For each window of an axis: the places inside it, and how many taps lie inside or in the padding."""
    room = size + 2 * p - d * (k - 1) - 1
    out = (-(-room // s) if ceil else room // s) + 1
    if ceil and (out - 1) * s >= size + p:
        out -= 1
    taps = [[o * s - p + t * d for t in range(k)] for o in range(out)]
    return [([t for t in row if 0 <= t < size], sum(t < size + p for t in row)) for row in taps]


def adaptive(size: int, out: int) -> list[tuple[list[int], int]]:
    made = [list(range(o * size // out, -(-(o + 1) * size // out))) for o in range(out)]
    return [(row, len(row)) for row in made]


Axes = Sequence[list[tuple[list[int], int]]]


def pooled(x: np.ndarray, axes: Axes, fn: Callable[[np.ndarray, int, np.ndarray], Any]) -> np.ndarray:
    """fn(elements (leads, taps), taps that count with padding, their places in the flattened axes) of each window."""
    rank = len(axes)
    lead, sizes = x.shape[:-rank], x.shape[-rank:]
    flat = x.reshape(-1, int(np.prod(sizes)))
    places = np.arange(flat.shape[1]).reshape(sizes)
    rows = []
    for spot in product(*axes):
        at = places[np.ix_(*[np.array(row, int) for row, _ in spot])].ravel()
        rows.append(fn(flat[:, at], int(np.prod([n for _, n in spot])), at))
    made = np.stack([np.broadcast_to(r, flat.shape[:1]) for r in rows], -1)
    return made.reshape(*lead, *[len(a) for a in axes])


def greatest(values: np.ndarray, _: int, places: np.ndarray) -> np.ndarray:
    return values.max(-1)


def where_greatest(values: np.ndarray, _: int, places: np.ndarray) -> np.ndarray:
    """The first of equals, the last of NaNs."""
    nan = np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
    last = values.shape[-1] - 1 - nan[:, ::-1].argmax(-1)
    first = np.where(nan, -np.inf, values).argmax(-1) if nan.any() else values.argmax(-1)
    return places[np.where(nan.any(-1), last, first)]


def mean(padded: bool, divisor: float | None = None) -> Callable[[np.ndarray, int, np.ndarray], np.ndarray]:
    def of(values: np.ndarray, counted: int, places: np.ndarray) -> np.ndarray:
        by = divisor or (counted if padded else values.shape[-1])
        return values.astype(np.float64).sum(-1) / by

    return of
