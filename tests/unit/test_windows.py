"""Segmented bindings: what a range touches is never underestimated, windows are aligned, pieces cover the work once."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabgpu import windows

SHAPES = st.lists(st.integers(1, 5), max_size=4).map(tuple)


@given(SHAPES, st.data())
def test_reach_covers_every_touched_position(shape: tuple[int, ...], data: st.DataObject) -> None:
    strides = tuple(data.draw(st.integers(-9, 9)) for _ in shape)
    offset, size = data.draw(st.integers(0, 50)), prod(shape)
    first = data.draw(st.integers(0, size - 1))
    last = data.draw(st.integers(first, size - 1))
    at = np.full(shape, offset)
    for k, (n, s) in enumerate(zip(shape, strides, strict=True)):
        at += (np.arange(n) * s).reshape((n,) + (1,) * (len(shape) - k - 1))
    touched = at.reshape(-1)[first : last + 1]
    low, high = windows.reach(shape, strides, offset, first, last)
    assert low <= touched.min() and high >= touched.max()
    assert low >= at.min() and high <= at.max(), "wider than the whole view"


@given(SHAPES, st.data())
def test_reach_of_contiguous_rows_is_exact(shape: tuple[int, ...], data: st.DataObject) -> None:
    """Whole rows of the first axis of a row-major array: nothing is bound in vain."""
    strides = tuple(prod(shape[k + 1 :]) for k in range(len(shape)))
    inner, n = prod(shape[1:]), shape[0] if shape else 1
    a = data.draw(st.integers(0, n - 1))
    b = data.draw(st.integers(a + 1, n))
    assert windows.reach(shape, strides, 7, a * inner, b * inner - 1) == (7 + a * inner, 7 + b * inner - 1)


@given(st.integers(0, 5000), st.integers(0, 5000), st.sampled_from([1, 4]))
def test_windows_are_aligned_and_hold_their_elements(low: int, more: int, itemsize: int) -> None:
    high = low + more
    size = -(-((high + 1) * itemsize) // 16) * 16
    begin, length = windows.window(low, high, itemsize, size)
    assert begin % 256 == 0 and length % 4 == 0
    assert begin <= low * itemsize and begin + length >= (high + 1) * itemsize and begin + length <= size


@given(st.integers(1, 3000), st.sampled_from([1, 4, 64]), st.integers(1, 900))
def test_pieces_cover_the_range_once(n: int, step: int, most: int) -> None:
    def fits(a: int, b: int) -> bool:
        return b - a <= most

    if most < step < n:  # some smallest range may not fit
        with pytest.raises(ValueError):
            list(windows.pieces(0, n, step, fits))
        return
    got = list(windows.pieces(0, n, step, fits))
    assert got[0][0] == 0 and got[-1][1] == n
    assert all(x[1] == y[0] for x, y in zip(got, got[1:], strict=False))
    assert all(b - a <= most and a % step == 0 for a, b in got)


def test_pieces_begin_where_they_are_told() -> None:
    calls: list[Any] = []
    got = list(windows.pieces(10, 20, 1, lambda a, b: calls.append((a, b)) or b - a <= 3))
    assert got[0][0] == 10 and got[-1][1] == 20 and calls[0] == (10, 20)
