"""Values of reductions: integers that wrap, NaN, infinities, zeros, positions of equals; accuracy of sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reduced import EPS, POSITIONS, draw, run

import tabgpu as tg

# --- values -------------------------------------------------------------------------------------------------


async def test_integers_wrap() -> None:
    for kind in "iu":
        for n in (1, 5, 257, 20_000):
            x = draw(kind, (n,))
            g = tg.asarray(x)
            await run([(kind, name, x, g, {}) for name in ("sum", "prod", "min", "max", "argmin", "argmax")])
    ones = tg.full(70_000, 65_536, dtype=tg.int32)
    assert await ones.sum().item() == np.int32((70_000 * 65_536 + 2**31) % 2**32 - 2**31)
    assert await tg.full(33, 3, dtype=tg.uint32).prod().item() == 3**33 % 2**32


async def test_extremes_of_each_dtype() -> None:
    """R04: the identity of max is -inf, of min over uint32 4294967295."""
    inf = np.float32(np.inf)
    cases = [
        np.array([-inf, -inf], np.float32), np.array([inf, inf], np.float32), np.array([300, 400], np.uint32),
        np.array([2**32 - 1] * 5, np.uint32), np.array([0] * 3, np.uint32), np.array([-(2**31)] * 3, np.int32),
        np.array([2**31 - 1] * 3, np.int32), np.array([1e-45, 2e-45], np.float32), np.array([-1e-45, 0], np.float32),
        np.array([3.4e38, -3.4e38], np.float32), np.array([np.nan], np.float32), np.array([-inf, inf], np.float32),
    ]  # fmt: skip
    await run(
        [
            (str(x), name, x, tg.asarray(x), {})
            for x in cases
            for name in ("min", "max", "argmin", "argmax", "any", "all")
        ]
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 9, 33, 257, 600, 17_000])
async def test_nan_wins_everywhere(n: int) -> None:
    """N01, N19, N20: NaN in each of some places, alone, twice, with infinities."""
    rng = np.random.default_rng(n)
    rows = []
    for at in sorted({0, 1 % n, n // 2, n - 1}):
        x = rng.standard_normal(n).astype(np.float32)
        x[at] = np.nan
        rows.append(x)
        y = x.copy()
        y[rng.integers(n)] = np.inf
        y[rng.integers(n)] = -np.inf
        y[-1] = -np.float32(np.nan)
        rows.append(y)
    rows.append(np.full(n, np.nan, np.float32))
    x = np.stack(rows)
    g = tg.asarray(x)
    h = tg.asarray(np.ascontiguousarray(x.T))
    names = ("max", "min", "sum", "mean", "prod", "argmax", "argmin", "any", "all")
    await run([(f"row {n}", name, x, g, {"axis": 1}) for name in names])
    await run([(f"column {n}", name, x.T, h, {"axis": 0}) for name in names])
    assert np.isnan(await g.max().item()) and await tg.argmax(g[-1]).item() == 0


async def test_infinities() -> None:
    rows = np.zeros((6, 300), np.float32)
    rows[0, 7] = rows[1, 8] = np.inf
    rows[1, 200] = -np.inf
    rows[2, :] = -np.inf
    rows[3, :] = 3e38
    rows[4, :] = 1e-45
    rows[5, 5] = -np.inf
    for axis in (1, None):
        g = tg.asarray(rows)
        await run([("infinities", name, rows, g, {"axis": axis}) for name in ("max", "min", "argmax")])
    total = await tg.asarray(rows).sum(axis=1).numpy()
    assert np.array_equal(
        total[[0, 1, 2, 3, 5]], np.array([np.inf, np.nan, -np.inf, np.inf, -np.inf]), equal_nan=True
    )
    product = (
        await tg.asarray(np.array([[np.inf, 0], [np.inf, -2], [1e30, 1e30]], np.float32)).prod(axis=1).numpy()
    )
    assert np.array_equal(product, np.array([np.nan, -np.inf, np.inf]), equal_nan=True)


async def test_zeros_keep_their_sign_and_their_truth() -> None:
    """N14: -0 is false for any and all at each length; a sum of -0 alone is -0."""
    lengths = [*range(1, 130), 257, 16_400]
    minus = tg.asarray(np.full(16_400, -0.0, np.float32))
    got = await tg.fetch(*[tg.any(minus[:n]) for n in lengths], *[tg.sum(minus[:n]) for n in lengths])
    assert not any(got[: len(lengths)])
    assert all(np.signbit(s) and s == 0 for s in got[len(lengths) :])
    assert await tg.all(tg.asarray(np.array([0.5, -0.0], np.float32))).item() is False
    mixed = tg.asarray(np.array([-0.0, 0.0], np.float32))
    assert not np.signbit(await mixed.sum().numpy())
    assert await tg.argmax(mixed).item() == 0 and await tg.argmin(mixed).item() == 0
    assert await tg.argmin(mixed[::-1]).item() == 0


@pytest.mark.parametrize("n", [*range(1, 10), 255, 256, 257, 1000])
async def test_any_and_all_at_each_length(n: int) -> None:
    """R19, I11: vectorised or not, bool comes out."""
    one, hole = np.eye(n, dtype=bool), ~np.eye(n, dtype=bool)
    got = await tg.fetch(
        tg.any(tg.asarray(one), axis=1),
        tg.all(tg.asarray(hole), axis=1),
        tg.any(tg.asarray(one) & tg.asarray(hole), axis=0),
        tg.logical_or(tg.zeros(n, dtype=tg.bool_), tg.ones(n, dtype=tg.bool_)).all(),
    )
    assert all(g.dtype == np.bool_ for g in got)
    assert got[0].all() and not got[1].any() and not got[2].any() and got[3]


@pytest.mark.parametrize("name", POSITIONS)
async def test_position_of_one_peak_at_every_index(name: str) -> None:
    """R02: one-hot at every index, for n in 1..300, 1023..1025, 65535..65537."""
    sign = 1.0 if name == "argmax" else -1.0
    results, wants = [], []
    position = tg.arange(300)
    for n in range(1, 301) if name == "argmax" else (*range(1, 40), 88, 255, 256, 257):
        hot = tg.equal(position[:n, None], position[:n]).astype(tg.float32) * sign
        results.append(getattr(tg, name)(hot, axis=1))
        wants.append(np.arange(n))
    for want, got in zip(wants, await tg.fetch(*results), strict=True):
        assert np.array_equal(got, want), f"n = {len(want)}: {got}"
    for n, step in [(1023, 1), (1024, 1), (1025, 1), (65_535, 8191), (65_536, 8191), (65_537, 8191)]:
        at = np.unique(np.r_[0:n:step, n // 2 - 1 : n // 2 + 2, n - 3 : n])
        found = []
        for k in range(0, len(at), 256):
            rows = tg.asarray(at[k : k + 256].astype(np.int32))
            hot = tg.equal(rows[:, None], tg.arange(n)).astype(tg.float32) * sign
            found.append(getattr(tg, name)(hot, axis=1))
        assert np.array_equal(np.concatenate(await tg.fetch(*found)), at), n


@pytest.mark.limits
async def test_first_of_equals() -> None:
    x = np.zeros((40, 700), np.int32)
    for r in range(40):
        x[r, [r * 17, 699]] = 1
    for g in (tg.asarray(x), tg.asarray(x).astype(tg.float32), tg.asarray(x) != 0):
        first, low = await tg.fetch(tg.argmax(g, axis=1), tg.argmin(g, axis=1))
        assert np.array_equal(first, np.argmax(x, axis=1)) and np.array_equal(low, np.argmin(x, axis=1))
    assert await tg.argmax(tg.ones((300, 300))).item() == 0


# --- accuracy -----------------------------------------------------------------------------------------------


async def test_mean_of_twenty_million_ones() -> None:
    """R05: past 2^24 a running float32 sum would stand still."""
    assert await tg.ones(20_000_000).mean().item() == 1.0
    stored = await tg.fetch(x := tg.asarray(np.ones(20_000_000, np.float32)), x.mean(), x.sum())
    assert stored[1] == 1.0 and stored[2] == 20_000_000


async def test_mean_of_tall_columns() -> None:
    """R05: (1e6, 2) around 285 over axis 0."""
    x = (285 + np.random.default_rng(5).standard_normal((1_000_000, 2))).astype(np.float32)
    got = await tg.asarray(x).mean(axis=0).numpy()
    assert np.abs(got / x.astype(np.float64).mean(axis=0) - 1).max() < 1e-6


@pytest.mark.parametrize("n", [1000, 100_003, 2_000_000])
async def test_sums_are_pairwise(n: int) -> None:
    """The error against float64 is at most (log2(n) + 20) 2^-24 sum |x|: a tree's, not a running sum's."""
    rng = np.random.default_rng(n)
    for x in (rng.random(n), rng.standard_normal(n), rng.standard_normal(n) * 10.0 ** rng.uniform(-6, 6, n)):
        x = x.astype(np.float32)
        got = await tg.asarray(x).sum().item()
        bound = (math.log2(n) + 20) * EPS * np.abs(x).sum(dtype=np.float64)
        assert abs(got - x.sum(dtype=np.float64)) <= bound
    positive = rng.random(n).astype(np.float32)
    got = await tg.asarray(positive).sum().item()
    assert abs(got / positive.sum(dtype=np.float64) - 1) < 4e-7
