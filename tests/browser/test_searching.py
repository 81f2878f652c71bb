"""Searching in the tab against NumPy: searchsorted, and nonzero in its plain, async and bounded forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import engine

INF, NAN = np.inf, np.nan
NUMPY = {"b": np.bool_, "i": np.int32, "u": np.uint32, "f": np.float32}


def same(got: Any, want: Any, label: Any = "") -> None:
    want = np.asarray(want)
    want = want.astype(np.int32) if want.dtype == np.int64 else want
    assert got.dtype == want.dtype and got.shape == want.shape, (
        f"{label}: {got.dtype} {got.shape}, {want.shape}"
    )
    assert np.array_equal(got, want, equal_nan=got.dtype.kind in "fc"), f"{label}: {got}, NumPy {want}"


async def all_same(made: Any, wanted: Any) -> None:
    for k, (got, want) in enumerate(zip(await tg.fetch(*made), wanted, strict=True)):
        same(got, want, k)


def sparse(shape: tuple[int, ...], kind: str = "f", share: float = 0.3) -> Any:
    rng = np.random.default_rng([*shape, 3])
    return np.where(rng.random(shape) < share, rng.integers(1, 9, shape), 0).astype(NUMPY[kind])


# --- searchsorted -------------------------------------------------------------------------------------------


@pytest.mark.limits
@pytest.mark.parametrize("kind", "biuf")
async def test_searchsorted(kind: str) -> None:
    rng = np.random.default_rng(1)
    made, wanted = [], []
    for n in (0, 1, 2, 3, 7, 8, 9, 100, 1000):
        row = np.sort(rng.integers(0, 40, n)).astype(NUMPY[kind])
        values = rng.integers(0, 45, (3, 17)).astype(NUMPY[kind])
        for side in ("left", "right"):
            made.append(tg.searchsorted(tg.asarray(row), tg.asarray(values), side=side))
            wanted.append(np.searchsorted(row, values, side=side))
    await all_same(made, wanted)


async def test_searchsorted_of_floats() -> None:
    """NaN behind all numbers, signed zeros equal, infinities, denormals; views; sorter; scalars."""
    row = np.float32([-INF, -3, -1e-45, -0.0, 0.0, 0.0, 1e-45, 2, INF, NAN, NAN])
    values = np.float32([NAN, INF, -INF, 0.0, -0.0, 1e-45, -1e-45, 1, -5, 3.4e38])
    x = np.float32([5, 1, 3, 2, 4])
    order = np.argsort(x)
    g = tg.asarray(row)
    wide = tg.asarray(np.repeat(row, 2))
    made = [
        tg.searchsorted(g, tg.asarray(values)), tg.searchsorted(g, tg.asarray(values), side="right"),
        tg.searchsorted(wide[::2], tg.asarray(values)[::-1]), tg.searchsorted(g, 1.5), tg.searchsorted(g, [0.0, 9]),
        tg.searchsorted(tg.asarray(x), tg.asarray(values[3:]), sorter=tg.asarray(order.astype(np.int32))),
        tg.searchsorted(tg.asarray(np.int32([1, 2, 3])), 2.5), tg.searchsorted(tg.asarray(np.int32([1, 2, 3])), 2),
        tg.searchsorted(tg.asarray(np.int32([1, 2, 3])), tg.asarray(np.float32([0.5, 2, 9]))),
        tg.searchsorted([1, 3], tg.zeros((0, 2))),
    ]  # fmt: skip
    wanted = [
        np.searchsorted(row, values), np.searchsorted(row, values, side="right"), np.searchsorted(row, values[::-1]),
        np.searchsorted(row, 1.5), np.searchsorted(row, [0.0, 9]), np.searchsorted(x, values[3:], sorter=order),
        np.int32(2), np.int32(1), np.int32([0, 1, 3]), np.zeros((0, 2), np.int32),
    ]  # fmt: skip
    await all_same(made, wanted)


def test_searchsorted_wrong_arguments() -> None:
    x = tg.arange(4)
    for call, message in (
        (lambda: tg.searchsorted(x.reshape(2, 2), x), r"\(2, 2\)"),
        (lambda: tg.searchsorted(x, x, side="middle"), "side"),
        (lambda: tg.searchsorted(x, x, sorter=x[:2]), "sorter"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="uint32"):
        tg.searchsorted(x, x.astype(tg.uint32))


# --- nonzero and its kin ------------------------------------------------------------------------------------


@pytest.mark.limits
@pytest.mark.parametrize("kind", "biuf")
async def test_nonzero(kind: str) -> None:
    for shape in ((0,), (1,), (7,), (300,), (5000,), (4, 5), (3, 0, 2), (13, 7, 5)):
        x = sparse(shape, kind)
        g = tg.asarray(x)
        found = await tg.aio.nonzero(g)
        flat, rows = await tg.aio.flatnonzero(g), await tg.aio.argwhere(g)
        assert len(found) == len(shape)
        await all_same([*found, flat, rows], [*np.nonzero(x), np.flatnonzero(x), np.argwhere(x)])


async def test_nonzero_of_views_and_special_values() -> None:
    x = sparse((12, 9))
    y = np.float32([0.0, -0.0, NAN, INF, 1e-45, -1e-45, 0])
    g = tg.asarray(x)
    views = [lambda a: a.T, lambda a: a[::-1, ::2], lambda a: a[3], lambda a: a[:, None, 2:5]]
    for view in views:
        await all_same(await tg.aio.nonzero(view(g)), np.nonzero(view(x)))
    await all_same([await tg.aio.flatnonzero(tg.asarray(y))], [np.flatnonzero(y)])
    await all_same(await tg.aio.nonzero(tg.zeros((3, 4))), np.nonzero(np.zeros((3, 4))))
    await all_same(await tg.aio.nonzero(tg.ones((3, 4))), np.nonzero(np.ones((3, 4))))
    none = [await tg.aio.argwhere(tg.asarray(5)), await tg.aio.argwhere(tg.asarray(0))]
    assert [a.shape for a in none] == [(1, 0), (0, 0)]
    await all_same(await tg.aio.where(g > 3), np.where(x > 3))
    await all_same([await tg.aio.where(g > 3, 1.0, g)], [np.where(x > 3, np.float32(1), x)])


async def test_plain_forms_read_where_python_can_wait() -> None:
    x = sparse((6, 7))
    g = tg.asarray(x)
    if engine.can_suspend():
        wanted = [*np.nonzero(x), np.flatnonzero(x), np.argwhere(x)]
        await all_same([*tg.nonzero(g), tg.flatnonzero(g), tg.argwhere(g)], wanted)
        await all_same([*tg.where(g), *g.nonzero()], [*np.where(x), *np.nonzero(x)])
    else:
        for name in ("nonzero", "flatnonzero", "argwhere"):
            with pytest.raises(tg.SyncError, match=rf"tg\.aio\.{name}"):
                getattr(tg, name)(g)


async def test_bounded_forms_read_nothing() -> None:
    x = sparse((5, 6))
    g = tg.asarray(x)
    rows, cols = np.nonzero(x)
    n = len(rows)
    reads = tg.memory()["reads"]
    made = [
        *tg.nonzero(g, size=4), *tg.nonzero(g, size=n + 3), *tg.nonzero(g, size=n + 2, fill_value=(-1, 99)),
        tg.flatnonzero(g, size=n + 1, fill_value=-5), tg.argwhere(g, size=n + 1, fill_value=7), *tg.where(g, size=2),
        *tg.nonzero(g, size=3, last=True), *tg.nonzero(g, size=n + 2, last=True, fill_value=-1),
        tg.flatnonzero(g, size=0),
        tg.flatnonzero(tg.zeros(0), size=2), tg.flatnonzero(tg.zeros(3), size=2, last=True, fill_value=8),
    ]  # fmt: skip
    assert tg.memory()["reads"] == reads

    def padded(a: Any, size: int, fill: int) -> Any:
        return np.r_[a, [fill] * size][:size].astype(np.int32)

    flat = np.flatnonzero(x)
    wanted = [
        rows[:4], cols[:4], padded(rows, n + 3, 0), padded(cols, n + 3, 0), padded(rows, n + 2, -1),
        padded(cols, n + 2, 99),
        padded(flat, n + 1, -5), np.stack([padded(rows, n + 1, 7), padded(cols, n + 1, 7)], 1), rows[:2], cols[:2],
        rows[-3:], cols[-3:], padded(rows, n + 2, -1), padded(cols, n + 2, -1), flat[:0],
        np.zeros(2, np.int32), np.int32([8, 8]),
    ]  # fmt: skip
    await all_same(made, wanted)
    for call in (lambda: tg.nonzero(g, size=-1), lambda: tg.nonzero(g, size=2, fill_value=(1, 2, 3))):
        with pytest.raises(ValueError, match=r"size|fill"):
            call()


async def test_count_nonzero() -> None:
    x = sparse((4, 5, 300))
    x[0, 0, :3] = [NAN, -0.0, 1e-45]
    g = tg.asarray(x)
    axes = [None, 0, -1, (0, 2), (0, 1, 2)]
    made = [tg.count_nonzero(g, axis=a, keepdims=k) for a in axes for k in (False, True)]
    wanted = [np.count_nonzero(x, axis=a, keepdims=k) for a in axes for k in (False, True)]
    await all_same(made, [np.asarray(w) for w in wanted])
    await all_same([tg.count_nonzero(g > 3), tg.count_nonzero([0, 1, 2])], [np.count_nonzero(x > 3), 2])


async def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="0-d"):
        await tg.aio.nonzero(tg.asarray(3))
    with pytest.raises(ValueError, match="last"):
        await tg.aio.nonzero(tg.zeros(3), last=True)
    with pytest.raises(ValueError, match="both or neither"):
        tg.where(tg.zeros(3), 1.0)


async def test_masks_and_their_functions_as_coroutines() -> None:
    x = sparse((5, 8))
    g = tg.asarray(x)
    made = [
        await tg.aio.getitem(g, g > 4), await tg.aio.extract(g > 4, g),
        await tg.aio.compress(tg.asarray(x[:, 0] > 0), g, axis=0),
        await tg.aio.compress([True, False, True], g, axis=1),
    ]  # fmt: skip
    wanted = [x[x > 4], np.extract(x > 4, x), x[x[:, 0] > 0], np.compress([True, False, True], x, axis=1)]
    await all_same(made, wanted)
    with pytest.raises(ValueError, match="axis"):
        await tg.aio.compress(g, g)
    with pytest.raises(IndexError):
        await tg.aio.compress([True] * 9, g, axis=1)


async def test_under_numpy_s_names() -> None:
    """NumPy's own functions of this chapter, called with GPU arrays, are ours."""
    h, f = sparse((4, 6), "i", 0.8), np.random.default_rng(3).normal(size=30).astype(np.float32)
    calls = [
        lambda x, y: np.sort(x), lambda x, y: np.argsort(x, axis=0, kind="stable"), lambda x, y: np.cumsum(y),
        lambda x, y: np.searchsorted(np.sort(y), y), lambda x, y: np.isin(x, [1, 2]), lambda x,
        y: np.digitize(y, [-1, 0, 1]),
        lambda x, y: np.histogram(y, 7), lambda x, y: np.median(x, axis=0), lambda x, y: np.percentile(y, [5, 50]),
        lambda x, y: np.count_nonzero(x, axis=1), lambda x, y: np.lexsort((x[0], x[1])), lambda x,
        y: np.partition(y, 3)[3],
        lambda x, y: np.where(x > 3, x, 0), lambda x, y: np.ediff1d(x), lambda x, y: np.diff(x, axis=0), lambda x,
        y: np.nanmedian(y),
        lambda x, y: np.maximum.accumulate(y), lambda x, y: np.histogram2d(y[:15], y[15:], 3, [(-1, 1), (-1, 1)]),
        lambda x, y: np.nanquantile(y, 0.3), lambda x, y: np.nancumprod(x, axis=1),
    ]  # fmt: skip
    if engine.can_suspend():
        calls += [
            lambda x, y: np.unique(x, return_counts=True), lambda x, y: np.nonzero(x), lambda x, y: np.argwhere(x),
            lambda x, y: np.bincount(x.ravel()), lambda x, y: np.intersect1d(x, [1, 2, 99]), lambda x,
            y: np.setdiff1d(x, [1]),
        ]  # fmt: skip
    g, k = tg.asarray(h), tg.asarray(f)
    for call in calls:
        made, wanted = call(g, k), call(h, f)
        made, wanted = (v if isinstance(v, tuple) else (v,) for v in (made, wanted))
        for got, want in zip(await tg.fetch(*made), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=2e-6, atol=2e-6)
