"""Peaks of tg.signal in the tab against loops in Python: conditions, plateaus, distances, and the three forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg

S = tg.signal


def maxima(x: Any) -> Any:
    """(left, right) ends of the plateaus that are higher than both neighbours."""
    found, i = [], 1
    while i < len(x) - 1:
        if x[i - 1] < x[i]:
            j = i
            while j < len(x) - 1 and x[j + 1] == x[i]:
                j += 1
            if j < len(x) - 1 and x[j + 1] < x[i]:
                found.append((i, j))
            i = j + 1
        else:
            i += 1
    return np.array(found, int).reshape(-1, 2)


def prominence(x: Any, p: int) -> tuple[float, int, int]:
    bases = []
    for step in (-1, 1):
        i, base = p, p
        while 0 <= i < len(x) and x[i] <= x[p]:
            base = i if x[i] < x[base] else base
            i += step
        bases.append(base)
    return x[p] - max(x[bases[0]], x[bases[1]]), bases[0], bases[1]


X = {
    "noise": np.random.default_rng(1).normal(size=900).astype(np.float32),
    "steps": np.random.default_rng(2).integers(0, 4, 700).astype(np.int32),
    "nan": np.where(np.arange(300) % 17 == 3, np.nan, np.random.default_rng(3).normal(size=300)).astype(np.float32),
    "valley": (np.abs(np.arange(1200) - 600) + np.arange(1200) % 2 * 0.5).astype(np.float32),
    "flat": np.ones(40, np.float32), "two": np.ones(2, np.float32), "empty": np.zeros(0, np.float32),
}  # fmt: skip


@pytest.mark.limits
@pytest.mark.parametrize("name", X)
async def test_peaks(name: str) -> None:
    x = X[name]
    ends = maxima(x)
    middles = ends.sum(1) // 2
    peaks, told = await tg.aio.find_peaks(tg.asarray(x), plateau_size=0, height=(None, None))
    assert peaks.dtype is tg.int32
    assert np.array_equal(await peaks.numpy(), middles)
    assert np.array_equal(await told["left_edges"].numpy(), ends[:, 0])
    assert np.array_equal(await told["plateau_sizes"].numpy(), ends[:, 1] - ends[:, 0] + 1)
    assert np.array_equal(await told["peak_heights"].numpy(), x[middles])
    high, _ = await tg.aio.find_peaks(tg.asarray(x), height=1)
    assert np.array_equal(await high.numpy(), middles[x[middles] >= 1])
    some, _ = S.find_peaks(tg.asarray(x), height=1, size=5, fill_value=-7)  # reads nothing
    want = [*middles[x[middles] >= 1], *[-7] * 5][:5]
    assert (await some.tolist()) == want
    with np.errstate(invalid="ignore"):
        rises = [prominence(x, p) for p in middles]
    data = await tg.fetch(*S.peak_prominences(tg.asarray(x), tg.asarray(middles.astype(np.int32))))
    for k in range(3):
        assert np.allclose(data[k], [r[k] for r in rises], rtol=1e-6, atol=1e-6)
    tall, info = await tg.aio.find_peaks(tg.asarray(x), prominence=(0.7, 2), width=0)
    keep = np.array([0.7 <= np.float32(r[0]) <= 2 for r in rises], bool)
    assert np.array_equal(await tall.numpy(), middles[keep])
    assert info["widths"].shape == tall.shape == info["left_ips"].shape


@pytest.mark.limits
async def test_distances() -> None:
    """The highest first; of equal ones the later. Rising chains take more rounds than are made at once."""
    rising = np.tile([0, 1], 300).astype(np.float32) * np.arange(600)
    for x in (X["noise"], X["steps"], rising.astype(np.float32)):
        peaks = maxima(x).sum(1) // 2
        for distance in (1, 2, 7.5, 60, 5000):
            keep = np.ones(len(peaks), bool)
            for j in np.argsort(x[peaks], kind="stable")[::-1]:
                if keep[j]:
                    keep[(np.abs(peaks - peaks[j]) < np.ceil(distance)) & (np.arange(len(peaks)) != j)] = (
                        False
                    )
            got, _ = await tg.aio.find_peaks(tg.asarray(x), distance=distance)
            assert np.array_equal(await got.numpy(), peaks[keep]), distance
            few, _ = S.find_peaks(tg.asarray(x), distance=distance, size=3)
            assert (await few.tolist()) == [*peaks[keep][:3], -1, -1, -1][:3]


@pytest.mark.limits
async def test_widths() -> None:
    x = np.interp(np.arange(100), [0, 20, 30, 50, 80, 99], [0, 4, 1, 6, 0, 2]).astype(np.float32)
    at = np.array([20, 50], np.int32)
    width, height, left, right = await tg.fetch(*S.peak_widths(tg.asarray(x), tg.asarray(at), 0.5))
    assert np.allclose(height, [2.5, 3]) and np.allclose(left, [12.5, 38]) and np.allclose(right, [25, 65])
    assert np.allclose(width, right - left)
    with pytest.raises(ValueError, match="rel_height"):
        S.peak_widths(tg.asarray(x), tg.asarray(at), -1)


async def test_bad_arguments() -> None:
    for x, way, error in (
        (tg.ones((2, 2)), {}, ValueError), (tg.ones(9), {"distance": 0}, ValueError),
        (tg.ones(9), {"wlen": 1}, ValueError),
        (tg.ones(9), {"height": np.ones(3)}, ValueError), (tg.ones(9, dtype="complex64"), {}, TypeError),
    ):  # fmt: skip
        with pytest.raises(error):
            await tg.aio.find_peaks(x, **way)


async def test_relative_extremes() -> None:
    x = np.random.default_rng(4).integers(0, 5, (6, 40)).astype(np.float32)
    for order, mode in ((1, "clip"), (3, "wrap")):
        want = np.ones(x.shape, bool)
        for k in range(1, order + 1):
            for side in (k, -k):
                at = np.arange(40) + side
                want &= x > x[:, at % 40 if mode == "wrap" else at.clip(0, 39)]
        got = await tg.aio.argrelmax(tg.asarray(x), axis=1, order=order, mode=mode)
        assert np.array_equal(await tg.stack(got).numpy(), np.stack(np.nonzero(want)))
    rows, _ = S.argrelmin(tg.asarray(x), axis=1, size=3, fill_value=-1)
    assert rows.shape == (3,)
