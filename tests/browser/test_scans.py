"""Running sums, products and extremes in the tab against NumPy: lengths, axes, views, dtypes, special values."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest
from forms import form  # noqa: F401
from tab import IN_TAB

import tabgpu as tg
from tabgpu import engine
from tabgpu.routines import scan

EPS = 2.0**-24
NUMPY = {"b": np.bool_, "i": np.int32, "u": np.uint32, "f": np.float32}
# of one row, and around where a second and a third pass begin
LENGTHS = (
    *range(1, 20),
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    129,
    255,
    256,
    257,
    300,
    1023,
    1024,
    1025,
    2047,
    2048,
    2049,
)


def draw(kind: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape, 5])
    if kind == "b":
        return rng.random(shape) < 0.6
    if kind == "f":
        return rng.normal(size=shape).astype(np.float32)
    low, high = (-(2**31), 2**31) if kind == "i" else (0, 2**32)
    return rng.integers(low, high, shape).astype(NUMPY[kind])


def roundings(n: int) -> int:
    """The most roundings on the way of an element into a running sum of n (docs/numerics.md)."""
    return 33 * max(1, math.ceil(math.log(max(n, 2), 32) - 1e-9))


def check_sum(got: Any, x: Any, axis: int, label: str = "", reverse: bool = False) -> None:
    """float32 running sums of x along an axis within the stated bound."""
    y = np.moveaxis(x, axis, -1).astype(np.float64)
    g = np.moveaxis(got, axis, -1)
    if reverse:
        y, g = y[..., ::-1], g[..., ::-1]
    want, wide = np.cumsum(y, -1), np.cumsum(np.abs(y), -1)
    assert got.dtype == np.float32 and g.shape == want.shape, label
    bound = (roundings(y.shape[-1]) + 1) * EPS * wide
    worst = np.max(np.abs(g - want) - bound)
    assert worst <= 0, f"{label}: {worst} above the bound"


def slow_here(form: str) -> bool:
    """SwiftShader takes seconds to compile each kernel with barriers; the native host runs them all."""
    return IN_TAB and engine.device().software and form in ("portable", "subgroups")


@pytest.mark.limits
async def test_every_length(form: str) -> None:
    """R20: passes of reduce and scan, no look-back."""
    lengths = LENGTHS if form == "own" else (2049,) if slow_here(form) else LENGTHS[::4]
    whole = tg.asarray(draw("i", (2, LENGTHS[-1])))
    host = await whole.numpy()
    made = [tg.cumulative_sum(whole[:, :n], axis=1) for n in lengths]
    if not slow_here(form):
        made += [tg.cumulative_max(whole[:, :n], axis=1, reverse=True) for n in lengths]
    got = await tg.fetch(*made)
    for k, n in enumerate(lengths):
        part = host[:, :n]
        assert np.array_equal(got[k], np.cumsum(part, 1, dtype=np.int32)), n
        if len(got) > len(lengths):
            want = np.maximum.accumulate(part[:, ::-1], 1)[:, ::-1]
            assert np.array_equal(got[k + len(lengths)], want), n


# one element, rows that share a workgroup, one tile, tiles in turn, passes; few and many columns, outer axes
SHAPES = (
    (1,), (1001,), (16_385,), (70_001,), (300, 3), (3, 4096), (130, 4100), (7, 1, 40), (3, 50, 40), (2, 3000, 17),
)  # fmt: skip


@pytest.mark.limits
@pytest.mark.parametrize("dtype", ["int32", "float32", "complex64"])
async def test_forms(form: str, dtype: str) -> None:
    """Each form over each axis, both ways, with an initial value; integers in any dtype: sums are exact."""
    few = slow_here(form)
    rng = np.random.default_rng(4)
    for shape in ((70_001,), (2, 3000, 17)) if few else SHAPES[:: 1 if dtype == "float32" else 2]:
        x = rng.integers(-9, 9, shape).astype(dtype)
        if dtype == "complex64":
            x += 1j * rng.integers(-9, 9, shape).astype(np.float32)
        g = tg.asarray(x)
        cases = list(itertools.product(range(x.ndim), (False, True), (False, True)))
        if few:
            cases = cases[-2:]
        made = [tg.cumulative_sum(g, axis=k, reverse=r, include_initial=i) for k, r, i in cases]
        for (k, reverse, initial), got in zip(cases, await tg.fetch(*made), strict=True):
            want = np.cumsum(np.flip(x, k) if reverse else x, k)
            if initial:
                want = np.insert(want, 0, 0, k)
            want = np.flip(want, k) if reverse else want
            assert got.shape == want.shape, (shape, k)
            assert np.array_equal(got, want), (shape, k, reverse, initial)


@pytest.mark.limits
@pytest.mark.parametrize("gathered", [0, 16])
async def test_passes(gathered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU's three passes and more (the totals' own), and two where workgroups add up the totals before theirs."""
    gpu = engine.device()
    if IN_TAB and gpu.software:
        pytest.skip("the native host runs it")
    monkeypatch.setattr(gpu, "facts", dataclasses.replace(engine.facts_of(gpu), software=False))
    monkeypatch.setattr(gpu, "programs", None)
    monkeypatch.setattr(scan, "GATHERED", gathered)
    rng = np.random.default_rng(12)
    for shape, axis in (((1_200_003,), 0), ((3, 100_001), 1), ((9000, 20), 0)):
        x = rng.integers(-9, 9, shape).astype(np.int32)
        g = tg.asarray(x)
        made = [tg.cumsum(g, axis), tg.cumsum(g, axis, reverse=True), tg.cumulative_max(g * 5, axis=axis)]
        got = await tg.fetch(*made)
        assert np.array_equal(got[0], np.cumsum(x, axis))
        assert np.array_equal(got[1], np.flip(np.cumsum(np.flip(x, axis), axis), axis))
        assert np.array_equal(got[2], np.maximum.accumulate(x * 5, axis))
    # segments do not commute
    ids = rng.integers(0, 5, 300_000).astype(np.int32)
    sums = await tg.histogram(tg.asarray(ids), 5, (0, 5), weights=tg.ones(300_000))[0].numpy()
    assert np.array_equal(sums, np.bincount(ids))


async def test_columns_are_scanned_where_they_lie() -> None:
    """One launch and no copy where an axis is short, whatever lies behind it; few columns are made rows first."""
    x = tg.asarray(draw("f", (300, 200)))
    y = x.reshape(3, 100, 200) + 0
    await tg.fetch(tg.cumsum(x, 0), tg.cumsum(y, 1), tg.cumsum(x.T, 1), tg.cumsum(x, 1))
    for make in (
        lambda: tg.cumsum(x, 0),
        lambda: tg.cumsum(y, 1),
        lambda: tg.cumsum(x.T, 1),
        lambda: tg.cumsum(x, 1),
    ):
        before = tg.memory()["launches"]
        got = make()
        await tg.synchronize()
        assert tg.memory()["launches"] - before == 1
        del got


@pytest.mark.parametrize("n", [65535, 65536, 65537, 300_001])
async def test_long_rows(n: int) -> None:
    x = draw("f", (n,))
    i = draw("i", (n,))
    g = tg.asarray(x)
    got = await tg.fetch(
        tg.cumsum(g), tg.cumsum(g, reverse=True), tg.cumsum(tg.asarray(i)), tg.cumulative_min(g)
    )
    check_sum(got[0], x, 0, str(n))
    check_sum(got[1], x, 0, str(n), reverse=True)
    assert np.array_equal(got[2], np.cumsum(i, dtype=np.int32))
    assert np.array_equal(got[3], np.minimum.accumulate(x))


@pytest.mark.slow
async def test_a_million_elements() -> None:
    x = draw("f", (1_000_003,))
    i = draw("u", (1_000_003,))
    got = await tg.fetch(tg.cumsum(tg.asarray(x)), tg.cumsum(tg.asarray(i)))
    check_sum(got[0], x, 0)
    assert np.array_equal(got[1], np.cumsum(i, dtype=np.uint32))


@pytest.mark.parametrize("kind", "biuf")
async def test_axes_and_views(kind: str) -> None:
    """R13: also on transposed, reversed and strided views."""
    x = draw(kind, (5, 70, 33))
    views = [
        lambda a: a, lambda a: a.T, lambda a: a[::-1, ::2, 1:], lambda a: a[:, None, 3], lambda a: a[2, :, ::-3],
        lambda a: a.swapaxes(0, 1)[..., 4:9],
    ]  # fmt: skip
    g = tg.asarray(x)
    made, wanted = [], []
    for view in views:
        y, h = view(x), view(g)
        for axis in [*range(y.ndim), -1]:
            made += [tg.cumsum(h, axis), tg.cumulative_max(h, axis=axis), tg.cumulative_min(h, axis=axis)]
            wanted.append((y, axis))
    got = iter(await tg.fetch(*made))
    for y, axis in wanted:
        sums, most, least = next(got), next(got), next(got)
        if kind == "f":
            check_sum(sums, y, axis)
        else:
            want = np.cumsum(y, axis, dtype=np.uint32 if kind == "u" else np.int32)
            assert sums.dtype == want.dtype and np.array_equal(sums, want)
        assert most.dtype == y.dtype and np.array_equal(most, np.maximum.accumulate(y, axis))
        assert least.dtype == y.dtype and np.array_equal(least, np.minimum.accumulate(y, axis))


async def test_many_short_rows() -> None:
    x = draw("i", (1000, 3))
    g = tg.asarray(x)
    got = await tg.fetch(tg.cumsum(g, 1), tg.cumsum(g, 0), tg.cumulative_sum(g[:, :1], axis=1))
    assert np.array_equal(got[0], np.cumsum(x, 1, dtype=np.int32))
    assert np.array_equal(got[1], np.cumsum(x, 0, dtype=np.int32))
    assert np.array_equal(got[2], x[:, :1])


async def test_flattened_reversed_and_initial() -> None:
    """R14: axis=None flattens cumsum; reverse; exclusive sums are those with the initial value, without the last."""
    x = draw("i", (6, 50))
    g = tg.asarray(x)
    got = await tg.fetch(
        tg.cumsum(g), tg.cumprod(g), tg.cumsum(g, 1, reverse=True), tg.cumulative_sum(g, axis=1, include_initial=True),
        tg.cumulative_sum(g, axis=0, include_initial=True, reverse=True),
        tg.cumulative_prod(g, axis=-1, include_initial=True), tg.cumsum(g.T),
        tg.cumulative_sum(g[0], include_initial=True)[:-1], tg.cumulative_sum(tg.asarray(3)),
    )  # fmt: skip
    wide = x.astype(np.int64)
    wanted = [
        np.cumsum(wide), np.cumprod(x, dtype=np.int32), np.cumsum(wide[:, ::-1], 1)[:, ::-1],
        np.pad(np.cumsum(wide, 1), ((0, 0), (1, 0))), np.pad(np.cumsum(wide[::-1], 0)[::-1], ((0, 1), (0, 0))),
        np.pad(np.cumprod(x, 1, dtype=np.int32), ((0, 0), (1, 0)), constant_values=1), np.cumsum(wide.T),
        np.pad(np.cumsum(wide[0]), (1, 0))[:-1], np.array([3]),
    ]  # fmt: skip
    for k, (have, want) in enumerate(zip(got, wanted, strict=True)):
        assert have.dtype == np.int32 and have.shape == want.shape, k
        assert np.array_equal(have, want.astype(np.int32)), k


async def test_cumsum_does_not_drift(form: str) -> None:
    """R07: within a tree's bound of float64 where a running float32 sum is far off."""
    if slow_here(form):
        pytest.skip("the native host runs it")
    x = (np.random.default_rng(7).normal(size=10_000) * 1e10).astype(np.float32)
    check_sum(await tg.cumsum(tg.asarray(x)).numpy(), x, 0)
    if form == "own":
        ones = np.full(500_000, 0.1, np.float32)
        long = await tg.cumsum(tg.asarray(ones)).numpy()
        check_sum(long, ones, 0)
        assert abs(long[-1] - 50_000) < 0.1 < abs(np.cumsum(ones)[-1] - 50_000)


async def test_special_values() -> None:
    inf, nan = np.inf, np.nan
    x = np.float32([-0.0, -0.0, 0.0, 1, inf, 2, nan, -inf, 3])
    y = np.float32([3, 1, -0.0, 0.0, -inf, 5, nan, 7, inf, 1e-45])
    g, h = tg.asarray(x), tg.asarray(y)
    got = await tg.fetch(
        tg.cumsum(g), tg.cumprod(g), tg.cumulative_max(h), tg.cumulative_min(h), tg.nancumsum(g), tg.nancumprod(g[3:]),
        tg.cumsum(g[:2]), tg.cumulative_max(h[-1:]), tg.cumulative_max(h, reverse=True),
    )  # fmt: skip
    with np.errstate(all="ignore"):
        wanted = [
            np.cumsum(x), np.cumprod(x), np.maximum.accumulate(y), np.minimum.accumulate(y), np.nancumsum(x),
            np.nancumprod(x[3:]), np.cumsum(x[:2]), y[-1:], np.maximum.accumulate(y[::-1])[::-1],
        ]  # fmt: skip
    for k, (have, want) in enumerate(zip(got, wanted, strict=True)):
        assert np.array_equal(have, want, equal_nan=True), f"{k}: {have}, NumPy {want}"
    assert np.signbit(got[6]).all() and np.signbit(got[0][:2]).all() and not np.signbit(got[0][2])


async def test_dtypes() -> None:
    x = draw("i", (40,)) % 100
    g = tg.asarray(x)
    f = tg.cumsum(g, dtype=tg.float32)
    b = tg.cumsum(tg.asarray(x > 50))
    host = tg.cumulative_prod([1, 2, 3.5])
    assert (f.dtype, b.dtype, host.dtype) == (tg.float32, tg.int32, tg.float32)
    got = await tg.fetch(f, b, host, tg.cumsum(tg.asarray(x > 50), dtype=tg.uint32))
    assert np.array_equal(got[0], np.cumsum(x).astype(np.float32))
    assert np.array_equal(got[1], np.cumsum(x > 50)) and np.array_equal(got[2], [1, 2, 7])
    assert got[3].dtype == np.uint32 and np.array_equal(got[3], np.cumsum(x > 50))


async def test_out() -> None:
    x = tg.asarray(draw("i", (3, 8)))
    whole, wide = tg.zeros((3, 8), dtype=tg.int32), tg.zeros(24)
    assert tg.cumsum(x, 1, out=whole) is whole and tg.cumprod(x > 0, out=wide) is wide
    tg.cumsum(x, 1, None, x)
    host = draw("i", (3, 8))
    got = await tg.fetch(whole, wide, x)
    assert np.array_equal(got[0], np.cumsum(host, 1, dtype=np.int32)) and np.array_equal(got[2], got[0])
    assert got[1].dtype == np.float32 and np.array_equal(got[1], np.cumprod(host > 0))
    with pytest.raises(ValueError, match="shape"):
        tg.cumsum(x, 1, out=wide)


async def test_narrow_and_complex_dtypes() -> None:
    """R07 in float16: sums in float32, rounded once. Small integers widen as NumPy's do."""
    rng = np.random.default_rng(3)
    for dtype in (np.int8, np.int16, np.uint8, np.uint16):
        x = rng.integers(0, 100, (3, 50)).astype(dtype)
        wide = np.uint32 if x.dtype.kind == "u" else np.int32
        sums, most, kept = await tg.fetch(
            tg.cumsum(tg.asarray(x), 1), tg.cumulative_max(tg.asarray(x), axis=1),
            tg.cumsum(tg.asarray(x), 1, dtype=tg.asarray(x).dtype),
        )  # fmt: skip
        assert sums.dtype == wide and np.array_equal(sums, np.cumsum(x, 1, dtype=wide))
        assert most.dtype == dtype and np.array_equal(most, np.maximum.accumulate(x, 1))
        assert kept.dtype == dtype and np.array_equal(kept, np.cumsum(x, 1, dtype=dtype))
    half = rng.random(20_000).astype(np.float16)
    sums = await tg.cumsum(tg.asarray(half)).numpy()
    assert sums.dtype == np.float16
    want = np.cumsum(half.astype(np.float64))
    assert np.all(np.abs(sums - want) <= want * (2.0**-11 + roundings(half.size) * EPS))
    z = (rng.normal(size=(4, 300)) + 1j * rng.normal(size=(4, 300))).astype(np.complex64)
    sums, products = await tg.fetch(tg.cumsum(tg.asarray(z), 1), tg.cumprod(tg.asarray(z[:, :20]), 1))
    wide = z.astype(np.complex128)
    assert sums.dtype == np.complex64
    assert np.all(
        np.abs(sums - np.cumsum(wide, 1)) <= 1.5 * roundings(300) * EPS * np.cumsum(np.abs(wide), 1)
    )
    want = np.cumprod(wide[:, :20], 1)
    assert np.all(np.abs(products - want) <= 100 * EPS * np.abs(want))


async def test_logcumsumexp() -> None:
    x = np.random.default_rng(9).normal(size=(3, 5000)).astype(np.float32) * 20
    x[0, 0] = -np.inf
    x[1, 4000] = np.nan
    got = await tg.logcumsumexp(tg.asarray(x), axis=1).numpy()
    with np.errstate(all="ignore"):
        want = np.logaddexp.accumulate(x.astype(np.float64), 1)
    assert np.array_equal(np.isnan(got), np.isnan(want)) and got[0, 0] == -np.inf
    with np.errstate(all="ignore"):
        ok = np.abs(got - want) <= 4e-6 * np.maximum(1, np.abs(want))
    assert np.all(ok | ~np.isfinite(want))
    big = await tg.logcumsumexp(tg.full((4,), 1e4)).numpy()
    assert np.allclose(big, 1e4 + np.log([1, 2, 3, 4]))


async def test_empty() -> None:
    made = [
        tg.cumsum(tg.zeros(0)), tg.cumsum(tg.zeros((3, 0)), 1), tg.cumsum(tg.zeros((0, 3)), 1),
        tg.cumsum(tg.zeros((0, 3)), 0),
        tg.cumulative_sum(tg.zeros((3, 0)), axis=1, include_initial=True),
        tg.cumulative_prod(tg.zeros((0, 2)), axis=0, include_initial=True),
        tg.cumulative_sum(tg.zeros((0, 2)), axis=1, include_initial=True), tg.cumulative_max(tg.zeros(0)),
        tg.diff(tg.zeros(0)), tg.diff(tg.zeros(1)), tg.diff(tg.zeros((2, 3)), 4),
    ]  # fmt: skip
    shapes = [(0,), (3, 0), (0, 3), (0, 3), (3, 1), (1, 2), (0, 3), (0,), (0,), (0,), (2, 0)]
    got = await tg.fetch(*made)
    assert [g.shape for g in got] == shapes and [m.shape for m in made] == shapes
    assert (got[4] == 0).all() and (got[5] == 1).all()


async def test_differences() -> None:
    x = draw("i", (6, 20)) % 1000
    f = draw("f", (6, 20))
    g, h, b = tg.asarray(x), tg.asarray(f), tg.asarray(x > 500)
    made = [
        tg.diff(g), tg.diff(g, axis=0), tg.diff(g, 3), tg.diff(g, n=2, axis=0), tg.diff(b), tg.diff(b, 2), tg.diff(h.T),
        tg.diff(g, prepend=0), tg.diff(g, axis=0, prepend=g[:2], append=g[-1:] * 2), tg.diff(g, append=7),
        tg.ediff1d(g), tg.ediff1d(g, to_end=[1, 2], to_begin=-99), tg.diff(g, n=0), tg.diff(g[::-1, ::3], axis=1),
        tg.diff(tg.asarray(np.uint32([3, 1, 2]))),
    ]  # fmt: skip
    wanted = [
        np.diff(x), np.diff(x, axis=0), np.diff(x, 3), np.diff(x, n=2, axis=0), np.diff(x > 500), np.diff(x > 500, 2),
        np.diff(f.T), np.diff(x, prepend=0), np.diff(x, axis=0, prepend=x[:2], append=x[-1:] * 2), np.diff(x, append=7),
        np.ediff1d(x), np.ediff1d(x, to_end=[1, 2], to_begin=-99), x, np.diff(x[::-1, ::3], axis=1),
        np.diff(np.uint32([3, 1, 2])),
    ]  # fmt: skip
    for k, (got, want) in enumerate(zip(await tg.fetch(*made), wanted, strict=True)):
        assert got.shape == want.shape and np.array_equal(got, want), f"{k}: {got}, NumPy {want}"


def test_wrong_arguments() -> None:
    x = tg.zeros((3, 4))
    for call in (tg.cumulative_sum, tg.cumulative_prod, tg.cumulative_max, tg.logcumsumexp):
        with pytest.raises(ValueError, match=r"\(3, 4\)"):
            call(x)
    with pytest.raises(tg.AxisError):
        tg.cumsum(x, 2)
    with pytest.raises(ValueError, match="order"):
        tg.diff(x, -1)
    with pytest.raises(ValueError, match="dimension"):
        tg.diff(tg.zeros(()))
    with pytest.raises(TypeError, match="axis"):
        tg.cumsum(x, 1.5)
    with pytest.raises(TypeError):
        tg.cumsum("abc")


async def test_scans_take_few_launches_and_kernels() -> None:
    """Each factor of 2,048 (32 on a CPU adapter) is two launches more; lengths compile nothing new."""
    x = tg.asarray(draw("i", (70_000,)))
    await tg.fetch(tg.cumsum(x[:2048]), tg.cumsum(x[:65_000]), tg.cumsum(x[:30]))
    before = tg.memory()
    await tg.cumsum(x).numpy()
    assert tg.memory()["launches"] - before["launches"] <= (7 if tg.device().software else 3)
    await tg.fetch(*[tg.cumsum(x[:n]) for n in (1999, 2001, 3000, 5555, 33_333)])
    assert tg.memory()["pipelines"] - before["pipelines"] <= 1


def running(line: Any, least: bool, reverse: bool, omit: bool) -> tuple[list[Any], list[int]]:
    """One by one: what was the best so far, and where it was met first."""
    best: list[tuple[Any, int]] = []
    for i in range(len(line))[:: -1 if reverse else 1]:
        value, last = line[i], best[-1] if best else None
        if last is None or (np.isnan(last[0]) and omit and not np.isnan(value)):
            best.append((value, i))
        elif np.isnan(last[0]) or (omit and np.isnan(value)):
            best.append(last)
        else:
            better = np.isnan(value) or (value < last[0] if least else value > last[0])
            best.append((value, i) if better else last)
    best = best[::-1] if reverse else best
    return [v for v, _ in best], [i for _, i in best]


async def test_positions_of_running_extremes() -> None:
    """RM-cummin_scan, RM-cummax_scan: values and positions, from either end, with and without NaN; ties, infinities."""
    rng = np.random.default_rng(14)
    made, wanted = [], []
    for n, kind in itertools.product((1, 2, 9, 70), "ifnx"):
        x = rng.integers(-3, 4, (3, n)).astype(np.int32 if kind == "i" else np.float32)
        if kind in "nx":
            x[rng.random(x.shape) < 0.3] = np.nan
        if kind == "x":
            x[rng.random(x.shape) < 0.3] = np.inf
            x[0] = np.nan
        for least, reverse, omit in itertools.product((True, False), repeat=3):
            f = tg.cumulative_min_with_index if least else tg.cumulative_max_with_index
            there = tg.asarray(np.array(x.T)).T if omit else tg.asarray(x)
            made += [*f(there, axis=1, reverse=reverse, omit_nan=omit)]
            rows = [running(row, least, reverse, omit) for row in x]
            wanted += [np.array([v for v, _ in rows], x.dtype), np.array([p for _, p in rows])]
    for k, (got, want) in enumerate(zip(await tg.fetch(*made), wanted, strict=True)):
        assert got.dtype == (np.int32 if k % 2 else want.dtype), k
        np.testing.assert_array_equal(got, want, err_msg=str(k))
    for shape in ((0,), (0, 3), (3, 0)):
        for part in await tg.fetch(*tg.cumulative_max_with_index(tg.zeros(shape), axis=-1, reverse=True)):
            assert part.shape == shape
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        tg.cumulative_min_with_index(tg.zeros((2, 2)))
    with pytest.raises(TypeError, match="order"):
        tg.cumulative_min_with_index(tg.asarray([1j]))
