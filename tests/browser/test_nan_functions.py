"""Reductions that ignore NaN, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg

pytestmark = pytest.mark.filterwarnings("ignore")
VALUES = ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd")
AXES = ((None, False), (0, True), (-1, False), ((0, 2), True), ((), False))  # and keepdims


def holes(shape: tuple[int, ...], seed: int = 0) -> Any:
    """Normal numbers with NaN, one line of NaN alone in 3-D, and infinities."""
    rng = np.random.default_rng([seed, *shape])
    x = rng.standard_normal(shape).astype(np.float32)
    x[rng.random(shape) < 0.3] = np.nan
    if x.ndim == 3:
        x[1, 2, :] = np.nan
    return x


async def agree(cases: list[tuple[str, Any, Any]]) -> None:
    for (label, _, want), got in zip(cases, await tg.fetch(*[c[1] for c in cases]), strict=True):
        assert got.shape == np.shape(want), f"{label}: {got.shape}, NumPy {np.shape(want)}"
        ok = np.isclose(got.astype(np.float64), want, rtol=3e-6, atol=3e-6, equal_nan=True)
        assert np.all(ok), f"{label}: {got} is not {want}"


@pytest.mark.parametrize("name", VALUES)
async def test_axes(name: str) -> None:
    x = holes((4, 5, 6))
    g, wide = tg.asarray(x), x.astype(np.float64)
    cases = []
    for axis, keep in AXES:
        options = {"axis": axis, "keepdims": keep}
        cases.append((f"{axis}", getattr(tg, name)(g, **options), getattr(np, name)(wide, **options)))
    cases.append(("T", getattr(tg, name)(g.T[::-1], axis=0), getattr(np, name)(wide.T[::-1], axis=0)))
    cases.append(("one", getattr(tg, name)(tg.asarray(np.float32(3))), getattr(np, name)(3.0)))
    cases.append(("NaN alone", getattr(tg, name)(tg.asarray(np.float32(np.nan))), getattr(np, name)(np.nan)))
    await agree(cases)


async def test_masks_and_degrees_of_freedom() -> None:
    x = holes((4, 5, 6), 1)
    g, wide = tg.asarray(x), x.astype(np.float64)
    mask = np.random.default_rng(3).random((5, 6)) < 0.6
    cases = []
    for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd"):
        f, h = getattr(tg, name), getattr(np, name)
        cases.append((name, f(g, axis=1, where=mask), h(wide, axis=1, where=mask)))
    for name in ("nanvar", "nanstd"):
        for ddof in (1, 4):
            cases.append((name, getattr(tg, name)(g, 2, ddof=ddof), getattr(np, name)(wide, 2, ddof=ddof)))
        cases.append((name, getattr(tg, name)(g, 2, correction=1), getattr(np, name)(wide, 2, ddof=1)))
    for name in ("nanmax", "nanmin"):
        options: dict[str, Any] = {"axis": (0, 1), "initial": 0.25, "where": mask}
        cases.append((name, getattr(tg, name)(g, **options), getattr(np, name)(wide, **options)))
    out = tg.zeros((4, 6))
    assert tg.nanmax(g, 1, out) is out
    cases.append(("out", out, np.nanmax(wide, 1)))
    await agree(cases)


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
async def test_positions(name: str) -> None:
    """R16: with and without out, integers, and -inf beside NaN."""
    x = holes((7, 9), 2)
    x[:, 4] = np.where(np.isnan(x).all(axis=1), 0, x[:, 4])
    x[3, :] = np.nan
    x[3, 5] = -np.inf if name == "nanargmax" else np.inf
    f, h = getattr(tg, name), getattr(np, name)
    g = tg.asarray(x)
    out = tg.zeros(9, dtype=tg.int32)
    assert f(g, 0, out) is out
    got = await tg.fetch(
        f(g),
        f(g, 1),
        out,
        f(g, -1, keepdims=True),
        f(tg.asarray([0, 1])),
        f(tg.asarray(np.array([3, 1, 2], np.uint8))),
    )
    rows = np.array([h(row) for row in x])
    rows[3] = 5  # NumPy takes a NaN for -inf there
    assert all(a.dtype == np.int32 for a in got)
    assert got[0] == h(x) and np.array_equal(got[1], rows) and np.array_equal(got[2], h(x, 0))
    assert np.array_equal(got[3], rows[:, None]) and got[4] == h([0, 1]) and got[5] == h([3, 1, 2])
    with pytest.raises(ValueError, match="empty"):
        f(tg.zeros((2, 0)), 1)


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
async def test_lines_of_nan_have_no_position(name: str) -> None:
    """R16: ValueError at the read, also of what is made from it."""
    x = holes((4, 5, 6))
    g, f = tg.asarray(x), getattr(tg, name)
    lost = f(g, 2)
    made = lost.astype(tg.float32).sum() + 1.0
    for value in (lost, made, f(g[1, 2]), f(tg.asarray(np.float32(np.nan)))):
        with pytest.raises(ValueError, match=name):
            await value.numpy()
    assert (await f(g, 0).numpy() == getattr(np, name)(x, 0)).all()
    assert await f(tg.asarray(np.float32(1))).item() == 0


async def test_dtypes() -> None:
    half = np.array([[1, np.nan, 3], [np.nan, np.nan, np.nan]], np.float16)
    got = await tg.fetch(*[getattr(tg, n)(tg.asarray(half), axis=1) for n in VALUES])
    for name, a in zip(VALUES, got, strict=True):
        assert a.dtype == np.float16 and np.array_equal(a, getattr(np, name)(half, axis=1), equal_nan=True), (
            name
        )
    whole = tg.asarray(np.array([[1, 2], [5, 0]], np.int16))
    sums = await tg.fetch(tg.nansum(whole, 0), tg.nanmax(whole), tg.nanmean(whole, 0), tg.nanvar(whole))
    assert sums[0].dtype == np.int32 and sums[1].dtype == np.int16 and sums[2].dtype == np.float32
    assert sums[0].tolist() == [6, 2] and sums[1] == 5 and sums[2].tolist() == [3, 1] and sums[3] == 3.5
    c = np.array([1 + 2j, np.nan, 3j], np.complex64)
    got = await tg.fetch(tg.nansum(tg.asarray(c)), tg.nanprod(tg.asarray(c)), tg.nanmean(tg.asarray(c)))
    assert [complex(a) for a in got] == [1 + 5j, -6 + 3j, 0.5 + 2.5j]


async def test_empty_axes() -> None:
    g = tg.zeros((3, 0))
    got = await tg.fetch(tg.nansum(g, 1), tg.nanprod(g, 1), tg.nanmean(g, 1), tg.nanvar(g, 1))
    assert got[0].tolist() == [0, 0, 0] and got[1].tolist() == [1, 1, 1]
    assert np.isnan(got[2]).all() and np.isnan(got[3]).all()
    for name in ("nanmax", "nanmin"):
        with pytest.raises(ValueError, match=name):
            getattr(tg, name)(g, 1)
        assert await getattr(tg, name)(g, 1, initial=2.0).tolist() == [2, 2, 2]


async def test_extremes_are_one_launch() -> None:
    g = tg.asarray(holes((30, 40)))
    before = tg.device().counters.launches
    await (tg.nanmax(g, 1) * 2).numpy()
    assert tg.device().counters.launches - before == 1


async def test_nan_to_num() -> None:
    """N16: the greatest numbers of the dtype, unless given."""
    x = np.array([np.inf, np.nan, -np.inf, 1.5], np.float32)
    for host in (x, x.astype(np.float16)):
        g = tg.asarray(host)
        for options in ({}, {"posinf": 7.0}, {"neginf": -8.0, "nan": 2.0}, {"nan": -1.0, "posinf": 0.0}):
            got = await tg.nan_to_num(g, **options).numpy()
            assert got.dtype == host.dtype and np.array_equal(got, np.nan_to_num(host, **options)), options
    whole = tg.asarray([1, -2])
    assert await tg.nan_to_num(whole).tolist() == [1, -2]
