"""Reductions in the tab against NumPy in float64: axes, dtypes, layouts, lengths, special values, fusion."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import tabgpu as tg

pytestmark = pytest.mark.filterwarnings("ignore:Mean of empty slice")

EPS = 2.0**-24
NUMPY = {"b": np.bool_, "i": np.int32, "u": np.uint32, "f": np.float32}
VALUES = ("sum", "prod", "min", "max", "mean", "any", "all")
POSITIONS = ("argmin", "argmax")
LENGTHS = (
    *range(1, 70),
    127,
    128,
    129,
    255,
    256,
    257,
    1000,
    1023,
    1024,
    1025,
    4095,
    4096,
    4097,
    16383,
    16384,
    16385,
)


def draw(kind: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape, 77])
    if kind == "b":
        return rng.random(shape) < 0.7
    if kind == "f":  # of all signs, and such that no product over- or underflows
        return (2.0 ** rng.uniform(-0.7, 0.7, shape) * rng.choice([-1, 1], shape)).astype(np.float32)
    low, high = (-(2**31), 2**31) if kind == "i" else (0, 2**32)
    return rng.integers(low, high, shape).astype(NUMPY[kind])


def host(name: str, x: Any, **options: Any) -> Any:
    """NumPy's answer in our dtype: floats in float64, integers wrapping in their own type."""
    f = getattr(np, name)
    with np.errstate(all="ignore"):
        if name in POSITIONS:
            return np.asarray(f(x, **options)).astype(np.int32)
        if x.dtype == np.float32 or name == "mean":
            return np.asarray(f(x.astype(np.float64), **options))
        if name in ("sum", "prod"):
            return np.asarray(f(x, dtype=np.int32 if x.dtype == bool else x.dtype, **options))
        return np.asarray(f(x, **options))


def depth(x: Any, want: Any) -> float:
    """Roundings on the way of one element through a tree: 16 in a run, then a tree over threads and chunks."""
    n = max(x.size // max(want.size, 1), 1)
    return min(n, 4 + math.log2(n)) + 16 * (n > 64)


def check(label: str, name: str, got: Any, x: Any, **options: Any) -> None:
    want = host(name, x, **options)
    assert got.shape == want.shape, f"{label}: shape {got.shape}, NumPy {want.shape}"
    if name not in ("sum", "prod", "mean") or got.dtype != np.float32:
        expected = np.float32 if x.dtype == np.float32 and want.dtype == np.float64 else want.dtype
        assert got.dtype == expected, f"{label}: {got.dtype}, expected {expected}"
        assert np.array_equal(got, want, equal_nan=got.dtype.kind == "f"), f"{label}: {got}, NumPy {want}"
        return
    with np.errstate(all="ignore"):
        wide = np.abs(x.astype(np.float64))
        if name == "prod":
            bound = (depth(x, want) + 30) * EPS * np.abs(want) + 1e-45
        else:
            bound = (depth(x, want) + 2) * EPS * getattr(np, name)(wide, **options) + 1e-45
        ok = np.abs(got - want) <= bound
        ok |= (got == want.astype(np.float32)) | (np.isnan(got) & np.isnan(want))
    assert np.all(ok), (
        f"{label}: {got} is not {want}, off by {np.abs(got - want).max()}, bound {np.max(bound)}"
    )


def every_axis(rank: int) -> list[Any]:
    """None, each axis (also counted from the end), all subsets as tuples, in either order, and ()."""
    axes: list[Any] = [None, ()]
    axes += [*range(rank), *range(-rank, 0)]
    for n in range(1, rank + 1):
        for found in itertools.combinations(range(rank), n):
            axes += [found, tuple(k - rank for k in reversed(found))]
    return axes


async def run(cases: list[tuple[str, str, Any, Any, dict[str, Any]]]) -> None:
    """(label, name, host array, GPU array, options) each."""
    results = [getattr(tg, name)(g, **options) for _, name, _, g, options in cases]
    for (label, name, x, _, options), got in zip(cases, await tg.fetch(*results), strict=True):
        check(f"{name} {label} {options}", name, np.asarray(got), x, **options)


# --- axes, dtypes, layouts ----------------------------------------------------------------------------------


async def check_axes(kind: str, shape: tuple[int, ...], names: Any) -> None:
    x = draw(kind, shape)
    g = tg.asarray(x)
    cases = []
    for name, keep in itertools.product(names, (False, True)):
        rank = len(shape)
        axes = every_axis(rank) if name in VALUES else [None, *range(-rank, rank)]
        cases += [(f"{kind} {shape}", name, x, g, {"axis": axis, "keepdims": keep}) for axis in axes]
    await run(cases)


@pytest.mark.parametrize("kind", "fiub")
@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (1, 1)], ids=str)
async def test_every_reduction(kind: str, shape: tuple[int, ...]) -> None:
    await check_axes(kind, shape, (*VALUES, *POSITIONS))


@pytest.mark.parametrize("shape", [(2, 3, 5), (4, 1, 3), (2, 3, 2, 4), (2, 1, 3, 1, 2)], ids=str)
async def test_every_subset_of_axes(shape: tuple[int, ...]) -> None:
    await check_axes("f", shape, ("sum", "argmax"))


VIEWS = {
    "reversed": lambda a, xp: a[::-1],
    "all reversed": lambda a, xp: a[::-1, ::-1],
    "strided": lambda a, xp: a[1::2, 2::3],
    "transposed": lambda a, xp: a.T,
    "row": lambda a, xp: a[3],
    "column": lambda a, xp: a[:, 2],
    "broadcast": lambda a, xp: xp.broadcast_to(a[:, None, :5], (a.shape[0], 3, 5)),
    "one value": lambda a, xp: xp.broadcast_to(a[1:2, 1:2], (9, 70)),
    "reshaped": lambda a, xp: a.reshape(5, -1),
    "diagonal block": lambda a, xp: a[2:9, 2:9].T[::-1],
}


@pytest.mark.parametrize("kind", "fiub")
@pytest.mark.parametrize("how", VIEWS)
async def test_layouts(how: str, kind: str) -> None:
    x = draw(kind, (65, 40))
    g = tg.asarray(x)
    a, b = VIEWS[how](x, np), VIEWS[how](g, tg)
    names = {"f": ("sum", "max", "argmin"), "i": ("prod", "argmax"), "u": ("min",), "b": ("any", "sum")}[kind]
    await run(
        [(f"{kind} {how}", name, a, b, {"axis": axis}) for axis in [None, *range(a.ndim)] for name in names]
    )


async def test_reversed_rows() -> None:
    """R11: arange(1, 131).reshape(2, 65)[::-1]."""
    x = np.arange(1, 131, dtype=np.float32).reshape(2, 65)[::-1]
    g = tg.arange(1, 131).astype(tg.float32).reshape(2, 65)[::-1]
    await run([("R11", name, x, g, {"axis": -1}) for name in ("sum", "max", "mean", "min", "argmax")])
    assert await g.sum(axis=-1).tolist() == [6370.0, 2145.0]


@pytest.mark.parametrize("kind", "fi")
@pytest.mark.limits
async def test_lengths(kind: str) -> None:
    """Rows, columns and whole arrays of each length, so that each number of threads an output has its edges."""
    base = draw(kind, (3, 16390))
    tall = draw(kind, (16390, 3))
    g, h = tg.asarray(base), tg.asarray(tall)
    names = ("sum", "argmin") if kind == "f" else ("max",)
    cases = []
    for n in LENGTHS:
        cases += [(f"row {n}", name, base[:, :n], g[:, :n], {"axis": 1}) for name in names]
        cases += [(f"column {n}", name, tall[:n], h[:n], {"axis": 0}) for name in names[:1]]
        cases.append((f"whole {n}", names[0], base[0, 3 : 3 + n], g[0, 3 : 3 + n], {}))
    for k in range(0, len(cases), 96):
        await run(cases[k : k + 96])


@pytest.mark.parametrize(
    "shape,axis",
    [((300_001,), 0), ((2, 150_001), 1), ((150_001, 2), 0), ((600, 1000), 1), ((1000, 600), 0), ((7, 999, 65), 1),
     ((70_000, 3), 1), ((3, 70_000), 0), ((3, 5, 40_000), (0, 2)), ((40_000, 5, 3), (0, 2)), ((65_537, 1), 1),
     ((513, 20_000), 1)],
    ids=str,
)  # fmt: skip
@pytest.mark.limits
async def test_long_and_wide(shape: tuple[int, ...], axis: Any) -> None:
    x = draw("f", shape)
    names = ("sum", "max", "mean") if isinstance(axis, tuple) else ("sum", "max", "argmin")
    await run([("f", name, x, tg.asarray(x), {"axis": axis}) for name in names])


# --- empty and small ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", "fiub")
@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0), (3, 0, 2), (0, 0), (1, 0, 1)], ids=str)
async def test_empty(shape: tuple[int, ...], kind: str) -> None:
    """R01: an identity where there is one, ValueError where NumPy has it, empty results elsewhere."""
    x = np.empty(shape, NUMPY[kind])
    g = tg.asarray(x)
    cases = []
    for name in (*VALUES, *POSITIONS):
        axes = every_axis(len(shape)) if name in VALUES else [None, *range(len(shape))]
        for axis, keep in itertools.product(axes, (False, True)):
            options = {"axis": axis, "keepdims": keep}
            try:
                host(name, x, **options)
            except ValueError:
                with pytest.raises(ValueError, match=name):
                    getattr(tg, name)(g, **options)
                continue
            cases.append((f"{kind} {shape}", name, x, g, options))
    await run(cases)


async def test_identities() -> None:
    got = await tg.fetch(*[getattr(tg, f)(tg.zeros(0)) for f in ("sum", "prod", "mean", "any", "all")])
    assert [got[0].item(), got[1].item(), got[3].item(), got[4].item()] == [0.0, 1.0, False, True]
    assert np.isnan(got[2]) and not np.signbit(got[0])


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


# --- arguments ----------------------------------------------------------------------------------------------


async def test_dtype() -> None:
    x = draw("i", (6, 9)) // 2**20
    g = tg.asarray(x)
    got = await tg.fetch(
        tg.sum(g, dtype=tg.float32),
        tg.prod(tg.asarray(x % 3 + 1), axis=1, dtype="float32"),
        tg.sum(g, axis=0, dtype=tg.uint32),
        tg.sum(tg.asarray(x > 0), dtype=tg.float32),
        tg.sum(g, axis=(), dtype=np.float32),
    )
    assert [a.dtype for a in got] == [np.float32, np.float32, np.uint32, np.float32, np.float32]
    assert got[0] == x.sum() and np.array_equal(got[1], (x % 3 + 1).prod(axis=1, dtype=np.float64))
    assert np.array_equal(got[2], x.astype(np.uint32).sum(axis=0, dtype=np.uint32))
    assert got[3] == (x > 0).sum() and np.array_equal(got[4], x)
    assert tg.sum(g).dtype is tg.int32 and tg.sum(tg.asarray(x > 0)).dtype is tg.int32
    for wrong in (tg.float64, np.int64, "complex128"):
        with pytest.raises(TypeError):
            tg.sum(g, dtype=wrong)


async def test_no_axes_makes_a_new_array() -> None:
    a = tg.asarray(np.array([1.0, 2.0], np.float32))
    copies = [
        tg.sum(a, axis=()),
        tg.sum(a, axis=(), dtype=tg.float32),
        tg.max(a, axis=()),
        tg.mean(a, axis=()),
    ]
    a += 1
    for c in copies:
        assert await c.tolist() == [1.0, 2.0]


def test_axes_out_of_range() -> None:
    """B08: each wrong axis raises before any GPU work."""
    g = tg.ones((2, 3))
    before = tg.device().counters.launches
    for name in (*VALUES, *POSITIONS):
        f = getattr(tg, name)
        for axis in (2, -3, 4294967295, 100):
            with pytest.raises(tg.AxisError, match=str(axis)):
                f(g, axis=axis)
        with pytest.raises(TypeError):
            f(g, axis=1.0)
    for name in VALUES:
        with pytest.raises(tg.AxisError):
            getattr(tg, name)(g, axis=(0, 2))
        with pytest.raises(ValueError, match="duplicate"):
            getattr(tg, name)(g, axis=(1, -1))
        with pytest.raises(tg.AxisError):
            getattr(tg, name)(tg.ones(()), axis=0)
    assert tg.device().counters.launches == before


async def test_numpy_integers_as_axes_and_methods() -> None:
    x = draw("f", (3, 4))
    g = tg.asarray(x)
    await run([("", name, x, g, {"axis": np.int64(-1)}) for name in VALUES])
    for name in (*VALUES, *POSITIONS):
        check(
            f"a.{name}()",
            name,
            await getattr(g, name)(axis=0, keepdims=True).numpy(),
            x,
            axis=0,
            keepdims=True,
        )
    check("of a list", "sum", await tg.sum([[1.5, 2.0], [3.0, 4.0]], axis=0).numpy(),
          np.array([[1.5, 2], [3, 4]], np.float32), axis=0)  # fmt: skip
    assert await tg.amax(g).item() == x.max() and await tg.amin(g).item() == x.min()


# --- fusion -------------------------------------------------------------------------------------------------


async def launches_of(*values: Any) -> tuple[Any, int]:
    before = tg.device().counters.launches
    got = await tg.fetch(*values)
    return got, tg.device().counters.launches - before


@pytest.mark.parametrize("shape", [(7, 33), (64, 64), (3, 1000)], ids=str)
async def test_prologue_and_epilogue_are_one_launch(shape: tuple[int, ...]) -> None:
    x, y = draw("f", shape), draw("f", shape, 1)
    a, b = tg.asarray(x), tg.asarray(y)
    row = tg.asarray(y[0])
    wx, wy = x.astype(np.float64), y.astype(np.float64)
    (got,), launches = await launches_of((tg.tanh(a * b + row) * 0.5).sum(axis=-1))
    assert launches == 1 and np.abs(got - (np.tanh(wx * wy + wy[0]) * 0.5).sum(axis=-1)).max() < 1e-4
    (got,), launches = await launches_of(tg.sqrt((a * a).mean(axis=1, keepdims=True) + 1.0) * 3.0)
    assert launches == 1 and np.abs(got - np.sqrt((wx * wx).mean(axis=1, keepdims=True) + 1) * 3).max() < 1e-5
    (got,), launches = await launches_of(tg.exp(a.T[::-1]).max(axis=0) - tg.asarray(y[:, 0]))
    assert launches == 1 and np.abs(got - (np.exp(wx.T[::-1]).max(axis=0) - wy[:, 0])).max() < 1e-5
    (got,), launches = await launches_of(tg.argmin(tg.abs(a - b), axis=0) * 2 + 1)
    assert launches == 1 and np.array_equal(got, np.argmin(np.abs(x - y), axis=0) * 2 + 1)
    (got,), launches = await launches_of((a > b).sum(axis=1))
    assert launches == 1 and np.array_equal(got, (x > y).sum(axis=1))
    (got,), launches = await launches_of(tg.all(a < b + 10.0, axis=1))
    assert launches <= 2 and got.dtype == bool and got.all()


async def test_scalars_and_shapes_compile_nothing_new() -> None:
    a = tg.asarray(draw("f", (20, 333)))
    await (tg.exp(a * 0.25) * 0.5).sum(axis=1).numpy()
    before = tg.device().counters.pipelines
    got = await tg.fetch(*[(tg.exp(a * (0.25 + k / 1000)) * (0.5 * k)).sum(axis=1) for k in range(100)])
    assert tg.device().counters.pipelines == before
    want = (np.exp(draw("f", (20, 333)).astype(np.float64) * 0.349) * 49.5).sum(axis=1)
    assert np.abs(got[99] / want - 1).max() < 1e-5


async def test_reductions_of_reductions() -> None:
    x = draw("f", (6, 7, 8))
    g = tg.asarray(x)
    e = tg.exp(g - g.max(axis=-1, keepdims=True))
    soft = await (e / e.sum(axis=-1, keepdims=True)).numpy()
    wide = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    assert np.abs(soft - wide / wide.sum(axis=-1, keepdims=True)).max() < 1e-6
    deviation = await ((g - g.mean(axis=(0, 2), keepdims=True)) ** 2).mean(axis=(0, 2)).numpy()
    assert np.abs(deviation - x.astype(np.float64).var(axis=(0, 2))).max() < 1e-6
    assert await g.sum(axis=0).max(axis=1).argmin().item() == x.sum(axis=0).max(axis=1).argmin()


async def test_shared_input_is_computed_once() -> None:
    x = draw("f", (50, 60))
    t = tg.exp(tg.asarray(x))
    low, high, total = await tg.fetch(t.min(axis=1), t.max(axis=1), t.sum(axis=1))
    want = np.exp(x.astype(np.float64))
    for got, f in ((low, "min"), (high, "max"), (total, "sum")):
        assert np.abs(got / getattr(want, f)(axis=1) - 1).max() < 1e-6


# --- where, initial, out ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", "fiu")
async def test_masks(kind: str) -> None:
    x = draw(kind, (4, 5, 6))
    g = tg.asarray(x)
    masks = [np.random.default_rng(1).random((4, 5, 6)) < 0.6, np.arange(6) % 2 == 0, np.zeros((5, 1), bool)]
    names = {"f": ("sum", "mean"), "i": ("prod", "all"), "u": ("sum", "any")}[kind]
    cases: list[tuple[str, dict[str, Any]]] = []
    for mask, axis in ((masks[0], None), (masks[1], (0, -1)), (masks[2], 1), (False, 0), (masks[1], ())):
        options = {"axis": axis, "where": mask}
        cases += [(name, options) for name in names]
        if axis in (None, 1):
            cases.append(("max" if kind == "i" else "min", options | {"initial": 3, "keepdims": True}))
    results = await tg.fetch(*[getattr(tg, name)(g, **options) for name, options in cases])
    for (name, options), got in zip(cases, results, strict=True):
        want = host(name, x, **options)
        ok = got.shape == want.shape and np.allclose(got, want, rtol=1e-5, atol=1e-6, equal_nan=True)
        assert ok, (name, options)
    on_gpu = tg.asarray(masks[0])
    assert np.allclose(
        await g.sum(axis=1, where=on_gpu).numpy(), host("sum", x, axis=1, where=masks[0]), rtol=1e-5
    )
    assert not np.signbit(await tg.sum(tg.asarray([-1.0]), where=False).numpy())


async def test_wrong_masks() -> None:
    g = tg.ones((2, 3))
    with pytest.raises(TypeError, match="bool"):
        tg.sum(g, where=np.ones(3, np.int32))
    for mask in (np.ones((4, 2, 3), bool), np.ones(2, bool)):
        with pytest.raises(ValueError, match="sum"):
            tg.sum(g, where=mask)
    for name in ("max", "min"):
        with pytest.raises(ValueError, match="initial"):
            getattr(tg, name)(g, where=np.ones(3, bool))


async def test_initial() -> None:
    x = draw("i", (3, 4)) // 2**20
    g = tg.asarray(x)
    cases = []
    for name, value in (("sum", 5), ("prod", -2), ("max", 100), ("min", 2.9), ("sum", np.float64(1.5))):
        cases += [("initial", name, x, g, {"axis": axis, "initial": value}) for axis in (None, 1, ())]
    await run(cases)
    for name, value in (("max", 3), ("min", -3), ("sum", 2), ("prod", 2)):
        got = await getattr(tg, name)(tg.zeros((2, 0)), axis=1, initial=value).tolist()
        assert got == [value, value]
    assert await tg.max(tg.asarray([1.0, 2.0]), initial=tg.asarray(7.0)).item() == 7.0
    assert np.isnan(await tg.max(tg.asarray([1.0]), initial=math.nan).item())
    with pytest.raises(OverflowError):
        tg.max(tg.ones(3, dtype=tg.int8), initial=300)
    for wrong in (np.ones(2), tg.ones(2), "1"):
        with pytest.raises(ValueError, match="initial"):
            tg.sum(g, initial=wrong)


async def test_out() -> None:
    x = draw("f", (3, 4))
    g = tg.asarray(x)
    out = tg.zeros(4)
    for name in VALUES:
        assert getattr(tg, name)(g, axis=0, out=out) is out
        got, want = await out.numpy(), getattr(np, name)(x, axis=0).astype(np.float32)
        assert np.allclose(got, want, rtol=1e-6), name
    ints = tg.zeros((3, 1), dtype=tg.int32)
    assert g.sum(1, None, ints, True) is ints  # NumPy computes in the dtype of out
    assert np.array_equal(await ints.numpy(), x.astype(np.int32).sum(1, keepdims=True))
    place = tg.zeros(3, dtype=tg.int32)
    assert tg.argmax(g, 1, place) is place and np.array_equal(await place.numpy(), x.argmax(1))
    square = tg.asarray(x[:3, :3])
    tg.sum(square, axis=0, out=square[1])  # from its own operand
    want = x[:3, :3].copy()
    want[1] = x[:3, :3].sum(axis=0)
    assert np.allclose(await square.numpy(), want, rtol=1e-6)
    for wrong in (tg.zeros(3), tg.zeros((1, 4)), tg.zeros(())):
        with pytest.raises(ValueError, match="out"):
            tg.sum(g, axis=0, out=wrong)
    with pytest.raises(TypeError, match="tabgpu array"):
        tg.sum(g, out=np.zeros(()))
    with pytest.raises(TypeError, match="int32"):
        tg.argmax(g, out=tg.zeros(()))


# --- other dtypes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
async def test_narrow_integers(dtype: str) -> None:
    info = np.iinfo(dtype)
    x = np.random.default_rng(9).integers(info.min, info.max, (5, 700), endpoint=True).astype(dtype)
    g = tg.asarray(x)
    wide = np.int32 if info.min else np.uint32
    for axis in (None, 0, 1, ()):
        for name in ("sum", "prod"):
            got = await getattr(tg, name)(g, axis=axis).numpy()
            assert got.dtype == wide and np.array_equal(got, getattr(np, name)(x, axis=axis, dtype=wide))
            same = await getattr(tg, name)(g, axis=axis, dtype=dtype).numpy()
            assert same.dtype == dtype and np.array_equal(same, getattr(np, name)(x, axis=axis, dtype=dtype))
    for axis in (None, 0, 1):
        for name in ("max", "min", "argmax", "argmin", "any"):
            got = await getattr(tg, name)(g, axis=axis).numpy()
            assert np.array_equal(got, getattr(np, name)(x, axis=axis)), name
            assert got.dtype == (dtype if name in ("max", "min") else np.int32 if name != "any" else bool)
        assert np.allclose(await g.mean(axis=axis).numpy(), x.mean(axis=axis), rtol=1e-6, atol=1e-3)
    low = await tg.min(g, axis=1, where=x > 0, initial=int(info.max)).numpy()
    assert np.array_equal(low, np.min(x, axis=1, where=x > 0, initial=info.max))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
async def test_narrow_floats(dtype: str) -> None:
    """R10: added in float32 and rounded once."""
    ones = tg.ones(100_000, dtype=dtype)
    assert await ones.mean().item() == 1.0 and ones.mean().dtype == ones.sum().dtype == dtype
    stored = tg.full((3, 30_000), 0.5, dtype=dtype) + tg.zeros((3, 1), dtype=dtype)
    got = await tg.fetch(stored.sum(axis=1).astype(tg.float32), stored.mean(axis=1).astype(tg.float32))
    assert (got[0] == (15_000 if dtype == "float16" else 14976)).all() and (got[1] == 0.5).all()
    assert await ones.sum().item() == (math.inf if dtype == "float16" else 99_840)
    x = (draw("f", (4, 100)) * 3).astype(np.float16)
    g = tg.asarray(x).astype(dtype)
    x = await g.astype(tg.float32).numpy()
    names = ("sum", "mean", "max", "min", "prod")
    for name, a in zip(names, [getattr(tg, n)(g, axis=0) for n in names], strict=True):
        want = tg.asarray(getattr(np, name)(x.astype(np.float64), axis=0)).astype(dtype)
        assert a.dtype == dtype
        assert np.array_equal(await a.astype(tg.float32).numpy(), await want.astype(tg.float32).numpy()), name
    assert np.array_equal(await tg.argmax(g, axis=1).numpy(), x.argmax(axis=1))
    assert await tg.max(tg.asarray([-math.inf, -math.inf]).astype(dtype)).item() == -math.inf


async def test_complex() -> None:
    rng = np.random.default_rng(12)
    x = (rng.standard_normal((5, 6, 7)) + 1j * rng.standard_normal((5, 6, 7))).astype(np.complex64)
    g, wide = tg.asarray(x), x.astype(np.complex128)
    mask = rng.random((6, 7)) < 0.5
    names = ("sum", "prod", "mean", "any", "all")
    for axis, keep in ((None, False), (1, True), ((0, -1), False), ((), False)):
        results = await tg.fetch(*[getattr(tg, name)(g, axis=axis, keepdims=keep) for name in names])
        for name, got in zip(names, results, strict=True):
            want = getattr(np, name)(wide, axis=axis, keepdims=keep)
            assert got.shape == want.shape and got.dtype == (bool if name[0] == "a" else np.complex64)
            assert np.allclose(got, want, rtol=1e-4, atol=1e-5), (name, axis)
    for name, first in (("sum", 2j), ("prod", 1 - 1j)):
        got = await getattr(tg, name)(g, axis=1, where=mask, initial=first).numpy()
        want = getattr(np, name)(wide, axis=1, where=mask, initial=first)
        assert np.allclose(got, want, rtol=1e-4, atol=1e-5), name
    for n in (1, 2, 3, 7, 257):
        line = np.exp(1j * rng.random(n) * 7).astype(np.complex64)
        assert abs(await tg.prod(tg.asarray(line)).item() - line.astype(np.complex128).prod()) < 1e-5
    empty = tg.zeros((0, 2), dtype=tg.complex64)
    assert await tg.sum(empty, axis=0).tolist() == [0, 0] and await tg.prod(empty, axis=0).tolist() == [1, 1]
    assert await tg.any(tg.asarray([0j, 1j])).item() and not await tg.all(tg.asarray([0j, 1j])).item()
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(TypeError, match="order"):
            getattr(tg, name)(g)
