"""tg.signal's peaks beside SciPy: conditions, plateaus, NaN; the plain form and that with a bound."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.signal as ss
from signals import T, draw, wide

import tabgpu as tg

pytestmark = pytest.mark.filterwarnings("ignore")
rng = np.random.default_rng(0)
N = np.arange(3000)
X = {
    "noise": draw(400), "steps": rng.integers(0, 4, 300).astype(np.int32),
    "wave": (np.sin(N / 20) + draw(3000) / 10).astype("f"),
    "rising": (np.tile([0, 1], 300) * np.arange(600)).astype("f"), "flat": np.ones(50, "f"), "empty": np.zeros(0, "f"),
    "one": np.ones(1, "f"), "two": np.ones(2, "f"),
    "nan": np.where(rng.random(300) < 0.1, np.nan, draw(300)).astype("f"),
    "valley": (np.abs(N - 1500) + N % 2 * 0.5).astype("f"),
}  # fmt: skip


def ways(x: Any) -> list[dict[str, Any]]:
    level = np.full(x.shape, 0.3)
    return [
        {}, {"height": 0.5}, {"height": (None, 1)}, {"height": level}, {"threshold": 0.2}, {"threshold": (0.1, 1)},
        {"plateau_size": 1}, {"plateau_size": (2, 3)}, {"prominence": 0.5}, {"prominence": (None, 1), "wlen": 11},
        {"width": 1}, {"width": (1, 5), "rel_height": 0.7}, {"prominence": level, "width": (None, level * 10)},
        {"distance": 3}, {"distance": 20.5}, {"distance": 500},
        {"width": 0, "prominence": 0.3, "distance": 4, "height": 0, "threshold": 0, "plateau_size": 0},
    ]  # fmt: skip


@pytest.mark.parametrize("name", X)
def test_find_peaks(name: str) -> None:
    x = X[name]
    for way in ways(x):
        if "distance" in way and name == "steps":
            continue  # SciPy's order of equal peaks is that of an unstable sort
        want, told = ss.find_peaks(wide(x), **way)
        got, ours = tg.signal.find_peaks(T(x), **way)
        size = len(want) + 2
        some, bounded = tg.signal.find_peaks(T(x), size=size, **way)
        assert np.array_equal(np.asarray(got), want), way
        assert np.array_equal(np.asarray(some), [*want, -1, -1]), way
        assert set(ours) == set(told) == set(bounded)
        for key, value in told.items():
            for mine in (np.asarray(ours[key]), np.asarray(bounded[key])[: len(want)]):
                assert mine.shape == value.shape, (way, key)
                assert np.abs(mine - value).max(initial=0) <= 1e-5 * max(1, np.abs(value).max(initial=0)), (
                    way,
                    key,
                )


def test_of_equal_peaks_the_last_stays() -> None:
    """As SciPy does where its sort happens to be stable."""
    x = X["steps"]
    peaks = ss.find_peaks(x)[0]
    for distance in (2, 3, 7, 40):
        keep = np.ones(len(peaks), bool)
        for j in np.argsort(x[peaks], kind="stable")[::-1]:
            if keep[j]:
                keep[(np.abs(peaks - peaks[j]) < distance) & (np.arange(len(peaks)) != j)] = False
        assert np.array_equal(np.asarray(tg.signal.find_peaks(T(x), distance=distance)[0]), peaks[keep])


@pytest.mark.parametrize("name", ["noise", "steps", "wave", "valley"])
def test_prominences_and_widths(name: str) -> None:
    x = X[name]
    at = ss.find_peaks(x)[0].astype(np.int32)
    for wlen in (None, 5, 6, 100):
        got, want = tg.signal.peak_prominences(T(x), T(at), wlen), ss.peak_prominences(x, at, wlen)
        for a, b in zip(got, want, strict=True):
            assert np.abs(np.asarray(a) - b).max(initial=0) <= 1e-6 * max(1, np.abs(b).max(initial=0))
        for part in (0, 0.5, 1):
            got4 = tg.signal.peak_widths(T(x), T(at), part, wlen=wlen)
            want4 = ss.peak_widths(wide(x), at, part, wlen=wlen)
            for a, b in zip(got4, want4, strict=True):
                assert np.abs(np.asarray(a) - b).max(initial=0) <= 1e-4 + 1e-6 * np.abs(b).max(initial=0)


def test_relative_extremes() -> None:
    for shape in ((50,), (6, 30)):
        x = np.random.default_rng(3).integers(0, 6, shape).astype(np.float32)
        for axis, order, mode in itertools.product(range(len(shape)), (1, 2, 7), ("clip", "wrap")):
            args = (axis, order, mode)
            for got, want in (
                (tg.signal.argrelmax(T(x), *args), ss.argrelmax(x, *args)),
                (tg.signal.argrelmin(T(x), *args), ss.argrelmin(x, *args)),
                (
                    tg.signal.argrelextrema(T(x), np.greater_equal, *args),
                    ss.argrelextrema(x, np.greater_equal, *args),
                ),
            ):
                assert all(np.array_equal(np.asarray(a), b) for a, b in zip(got, want, strict=True))
