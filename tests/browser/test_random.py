"""tg.random: words against Random123's known answers and NumPy's integers, floats bit by bit, distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as sp
import scipy.stats
from counted import KEY, OURS, below, philox, polar, words
from ulps import ulp_error

import tabgpu as tg
from tabgpu import random as tr
from tabgpu.dtypes import float32, int32, uint32
from tabgpu.graph import Fn
from tabgpu.random.applying import apply, random_words
from tabgpu.random.keys import TURN, derived, philox4x32

QUANTILE = Fn("quantile", "random_normal(x)", (uint32,), float32)
PAIR = [Fn(f"pair{k}", f"random_polar(vec4u(x, y, x, y)).{k}", (uint32,) * 2, float32) for k in "xw"]

# Random123 1.14, kat_vectors: counter, key, block of philox4x32-10.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


async def test_x02_philox_known_answers() -> None:
    """On the host, in NumPy (this file's oracle), and in a kernel."""
    for k, (counter, key, block) in enumerate(KNOWN):
        assert philox4x32(counter, key) == block
        assert tuple(int(x) for x in philox(list(counter), key)) == block
        text = ", ".join(f"{c}u" for c in counter)
        fns = [
            Fn(f"known{k}{lane}", f"philox4x32(vec4u({text}), y, z).{lane}", (int32, uint32, uint32), uint32)
            for lane in "xyzw"
        ]
        got = await tg.fetch(*[apply(fn, (5,), tg.arange(5), *key) for fn in fns])
        assert all((g == want).all() for g, want in zip(got, block, strict=True)), k


@pytest.mark.limits
@pytest.mark.parametrize("n", [0, 1, 3, 5, 4 * 65536 + 1, 1_000_003])
async def test_x01_bits_are_the_words_of_their_positions(n: int) -> None:
    """Odd sizes, more workgroups than a dimension holds (with --limits, 100): all words, no block twice."""
    got = await tr.bits(OURS, (n,)).numpy()
    assert got.dtype == np.uint32 and (got == words(n, KEY)).all()
    assert len(np.unique(got)) >= n - n * n // 2**32 - 20


async def test_x01_narrow_bits_and_shapes() -> None:
    w = words(3 * 5 * 7, KEY)
    shaped = await tr.bits(OURS, (3, 5, 7)).numpy()
    assert (shaped == w.reshape(3, 5, 7)).all()
    for name in ("uint8", "uint16", "int8", "int16", "int32"):
        got = await tr.bits(OURS, 105, name).numpy()
        assert got.dtype == name and (got == w.astype(name)).all(), name
    view = tr.bits(OURS, (3, 5, 7))
    got = await tg.fetch(
        view[::-1, 1::2, ::-3], view.transpose(2, 0, 1), view[1, 2, 3], view[:, :, :1] + view
    )
    x = w.reshape(3, 5, 7)
    want = [x[::-1, 1::2, ::-3], x.transpose(2, 0, 1), x[1, 2, 3], x[:, :, :1] + x]
    assert all((g == h).all() for g, h in zip(got, want, strict=True))


async def test_values_do_not_depend_on_the_launch() -> None:
    """Fused, stored, in a view, in a reduction, after a first element that is no multiple of four."""
    x = tr.bits(OURS, (1001,))
    w = words(1001, KEY)
    total = (x & 255).sum()
    parts = [random_words(OURS, (13,), start, "bits") for start in range(9)]
    far = random_words(OURS, (6,), 2**32 - 6, "bits")
    grid = x[:1000].reshape(10, 100).T + tg.asarray(np.zeros((100, 10), np.uint32))
    got = await tg.fetch(x, total, grid, far, *parts)
    assert (got[0] == w).all() and got[1] == (w & 255).sum()
    assert (got[2] == w[:1000].reshape(10, 100).T).all()
    assert (got[3] == words(6, KEY, 2**32 - 6)).all()
    assert all((g == w[k : k + 13]).all() for k, g in enumerate(got[4:]))


async def test_keys() -> None:
    assert tr.key(0) == (0, 0) and tr.key(2**64 - 1) == (0xFFFFFFFF,) * 2 and tr.key(2**32 + 5) == (5, 1)
    many = tr.split(OURS, 100)
    assert len(set(many)) == 100 and many[:3] == tr.split(OURS, 3) and tr.split(OURS, 0) == ()
    folded = [tr.fold_in(OURS, k) for k in range(100)]
    assert len({*many, *folded}) == 200 and tr.fold_in(OURS, 2**33) != tr.fold_in(OURS, 0)
    there = tg.asarray(OURS, dtype=tg.uint32)
    got = await tg.fetch(
        tr.split(there, 100), tr.fold_in(there, 7), tr.fold_in(OURS, tg.asarray(9)), tr.bits(there, 50),
        tr.bits(tr.split(there, 3)[1], 9),
    )  # fmt: skip
    assert (got[0] == np.array(many, np.uint32)).all()
    assert tuple(got[1]) == folded[7] and tuple(got[2]) == folded[9] and (got[3] == words(50, KEY)).all()
    assert (got[4] == words(9, many[1])).all()
    for bad, error in ((-1, ValueError), (2**64, ValueError), (0.5, TypeError), ("a", TypeError)):
        with pytest.raises(error):
            tr.key(bad)  # type: ignore[arg-type]
    for wrong in (5, tg.zeros(2), tg.zeros(3, dtype=tg.uint32), (1, 2, 3)):
        with pytest.raises(TypeError, match="key"):
            tr.bits(wrong, 3)
    with pytest.raises(ValueError, match="negative"):
        tr.split(OURS, -1)
    with pytest.raises(TypeError, match="float32"):
        tr.bits(OURS, 3, "float32")


UNIT = {"float32": 24, "float16": 11, "bfloat16": 8}


@pytest.mark.parametrize("name", sorted(UNIT))
async def test_uniform_in_0_1_bit_by_bit(name: str) -> None:
    got = await tr.uniform(OURS, (70_001,), name).numpy()
    want = (words(70_001, KEY) >> np.uint32(32 - UNIT[name])) * 2.0 ** -UNIT[name]
    assert (got.astype(np.float64) == want).all() and got.max() < 1


def spread(w: Any, low: Any, high: Any) -> Any:
    """low + u (high - low) as the kernel does it, in float32."""
    f = np.float32
    uh, ul = (
        (w >> np.uint32(20)).astype(f) * f(2**-12),
        ((w >> np.uint32(8)) & np.uint32(0xFFF)).astype(f) * f(2**-24),
    )
    span = f(high) - f(low)
    sh = (span.view(np.uint32) & np.uint32(0xFFFFF000)).view(f)
    sl = span - sh
    return f(low) + (uh * sh + (uh * sl + (ul * sh + ul * sl)))


RANGES = [
    (-3, 5),
    (0.1, 0.7),
    (1, 1.0000001),
    (-1e30, 2e30),
    (5, -3),
    (2, 2),
    (-7, 0),
    (1e-30, 3e-30),
    (0, 3.3e38),
]


@pytest.mark.parametrize("low,high", RANGES)
async def test_hz_73_rand_uniform(low: float, high: float) -> None:
    """HZ-73 rand_uniform(min, max): half-open, bit by bit what exact products and rounded sums give."""
    got = await tr.uniform(OURS, (30_001,), low=low, high=high).numpy()
    lo, hi = np.float32(low), np.float32(high)
    w = words(30_001, KEY)
    edge = np.nextafter(hi, lo)
    raw = spread(w, lo, hi)
    want = np.minimum(raw, edge) if lo < hi else np.maximum(raw, edge) if lo > hi else np.full_like(raw, lo)
    assert (got == want).all()
    exact = float(lo) + (w >> np.uint32(8)) * 2.0**-24 * (float(hi) - float(lo))
    scale = max(abs(float(lo)), abs(float(hi)))
    assert np.abs(got.astype(np.float64) - exact).max() <= 2**-22 * scale
    assert (got != hi).all() or lo == hi


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
async def test_uniform_of_narrow_floats_stays_below_high(name: str) -> None:
    low, high = 1.0, 1.5
    got = (await tr.uniform(OURS, (20_000,), name, low, high).numpy()).astype(np.float64)
    step = 2.0 ** (1 - UNIT[name])
    assert got.min() == low and got.max() == high - step and (got % step == 0).all()


async def test_uniform_between_arrays() -> None:
    low, high = np.float32([[0], [10], [-5]]), np.float32([1, 100, 7, -3])
    a, b = await tg.fetch(
        tr.uniform(OURS, None, low=tg.asarray(low), high=high), tr.default_rng(OURS).uniform(low, 50.0)
    )
    w = words(12, KEY).reshape(3, 4)
    assert a.shape == (3, 4) and b.shape == (3, 1)
    want = np.array([[spread(w[i, j : j + 1], low[i, 0], high[j])[0] for j in range(4)] for i in range(3)])
    assert (a == want).all()
    with pytest.raises(ValueError, match="broadcast"):
        tr.uniform(OURS, (2, 2), low=low)
    with pytest.raises(OverflowError, match="float32"):
        tr.uniform(OURS, 3, low=-3e38, high=3e38)
    with pytest.raises(TypeError, match="float32"):
        tr.uniform(OURS, 3, "int32")


async def test_hz_74_rand_normal() -> None:
    """HZ-74 rand_normal(mean, std): two of each pair of words within 8 ULP, then scaled."""
    n = 200_003
    z = await tr.normal(OURS, (n,)).numpy()
    assert ulp_error(z, polar(words(n + 1, KEY))[:n]).max() <= 8
    assert abs(z.mean()) < 5 / np.sqrt(n) and abs(z.var() - 1) < 5 * np.sqrt(2 / n)
    assert scipy.stats.kstest(z, "norm").pvalue > 1e-4
    a, b, c = await tg.fetch(
        tr.normal(OURS, (1000,), mean=3.0, std=0.5),
        tr.normal(OURS, (1000,), "float16", mean=-1.0),
        tr.normal(OURS, None, mean=np.float32([[1], [2]]), std=np.float32([1, 2, 3])),
    )
    np.testing.assert_allclose(a, 3 + 0.5 * z[:1000].astype(np.float64), rtol=3e-7, atol=3e-7)
    assert b.dtype == np.float16
    np.testing.assert_allclose(b.astype(np.float64), z[:1000] - 1.0, rtol=6e-4, atol=6e-4)
    np.testing.assert_allclose(
        c, [[1], [2]] + z[:6].reshape(2, 3) * np.float64([1, 2, 3]), rtol=1e-6, atol=1e-6
    )
    with pytest.raises(ValueError, match="negative"):
        tr.normal(OURS, 3, std=-1.0)


async def test_normal_of_extreme_words() -> None:
    """Ends of both words of a pair: the greatest and the smallest distance, and all corners of the circle."""
    two = 2 ** np.arange(32, dtype=np.uint64)
    far = np.concatenate([[0, 255, 2**32 - 256], two, two - 1, 2**32 - two]).astype(np.uint32)
    corners = np.arange(8, dtype=np.uint64) << np.uint64(29)
    angles = (np.concatenate([corners, corners + 1, corners - 1, corners + 12345])).astype(np.uint32)
    a, v = [x.ravel() for x in np.meshgrid(far, angles)]
    z = await tg.fetch(*[apply(f, a.shape, tg.asarray(a), tg.asarray(v)) for f in PAIR])
    want = polar(np.stack([a, v], axis=1).ravel())
    assert all(ulp_error(got, want[k::2]).max() <= 8 for k, got in enumerate(z))
    assert 6.65 < max(np.abs(got).max() for got in z) < 6.67


async def test_normals_lie_in_the_stream_as_words_do() -> None:
    """From any position on, in any shape, in views and sums, of both generators; draws of any sizes join."""
    for impl in ("philox4x32", "threefry2x32"):
        key = tr.key(5, impl)
        z = await tr.normal(key, 120).numpy()
        rng = tr.default_rng(key)
        parts = [rng.normal(size=n) for n in (1, 2, 3, 5, 8, 13, 4, 7)]
        x = tr.normal(key, (10, 12))
        views = (x.T + tg.zeros((12, 10)), x[::-1, 1::3] + 0, x.sum(), tr.normal(key, (10, 12), mean=1.0) - 1)
        got = await tg.fetch(*parts, *views)
        assert (np.concatenate(got[:8]) == z[:43]).all()
        grid = z.reshape(10, 12)
        for g, want in zip(got[8:], (grid.T, grid[::-1, 1::3], grid.sum(), grid), strict=True):
            np.testing.assert_allclose(g, want, rtol=2e-5, atol=2e-6)
        words_of = await tr.bits(key, 120).numpy()
        assert ulp_error(z, polar(words_of)).max() <= 8


async def test_quantile_of_extreme_words() -> None:
    """For rejections: both ends, both sides of the middle, and words whose upper bits are alike."""
    two = 2 ** np.arange(32, dtype=np.uint64)
    some = [0, 255, 2**31 - 2, 2**31 - 1, 2**31 + 1, 2**32 - 256, 2**32 - 2]
    w = np.concatenate([np.array(some, np.uint64), two, 2**32 - two]).astype(np.uint32)
    z = await apply(QUANTILE, w.shape, tg.asarray(w)).numpy()
    upper = w >= 2**31
    tail = np.where(upper, 2.0**32 - w - 0.5, w + 0.5) / 2**32
    middle = np.abs(w + 0.5 - 2.0**31) / 2**32  # |p - 1/2|, to which the quantile is in proportion
    want = np.where(upper, 1, -1) * np.where(middle < 1e-5, middle * np.sqrt(2 * np.pi), -sp.ndtri(tail))
    assert ulp_error(z, want).max() <= 8 and (np.sign(z) == np.where(upper, 1, -1)).all()


@pytest.mark.parametrize("span", [1, 2, 3, 6, 1000, 2**16 + 1, 2**31, 2**31 + 1, 3 * 2**30, 2**32 - 1])
async def test_integers_are_unbiased_and_the_same_everywhere(span: int) -> None:
    got = await tr.integers(OURS, 0, span, (10_001,), "uint32").numpy()
    assert got.dtype == np.uint32 and (got == below(10_001, KEY, span)).all()


async def test_integers() -> None:
    n = 60_000
    r = tr.integers
    got = await tg.fetch(
        r(OURS, 6, shape=n), r(OURS, 1, 6, n, endpoint=True), r(OURS, -(2**31), 2**31, n), r(OURS, -5, 5, n, "int8"),
        r(OURS, 0, 2**32, n, "uint32"), r(OURS, 0, 2, n, "bool"), r(OURS, 0, 255, n, "uint8", endpoint=True),
    )  # fmt: skip
    w, six = words(n, KEY), below(n, KEY, 6)
    assert got[0].dtype == np.int32 and (got[0] == six).all() and (got[1] == six + 1).all()
    assert (got[2] == (w + np.uint32(2**31)).view(np.int32)).all() and (got[4] == w).all()
    assert got[3].dtype == np.int8 and got[3].min() == -5 and got[3].max() == 4
    assert got[5].dtype == bool and (got[5] == (w >> 31)).all() and got[6].max() == 255
    assert scipy.stats.chisquare(np.bincount(got[0])).pvalue > 1e-4
    low, high = np.array([[0], [-10]]), np.array([1, 5, 100])
    a, b = await tg.fetch(r(OURS, low, high), r(OURS, tg.asarray(low), tg.asarray(high), endpoint=True))
    span = (high - low).reshape(-1)
    assert (a.reshape(-1) == np.repeat(low, 3) + [below(6, KEY, int(n))[k] for k, n in enumerate(span)]).all()
    assert (b >= low).all() and (b <= high).all()
    bad: list[Any] = [(5, 5), (0, 300, None, "uint8"), (-1, 5, None, "uint32"), (0, 2**33), ([0, 5], 3)]
    for args in bad:
        with pytest.raises(ValueError):
            r(OURS, *args)
    with pytest.raises(TypeError):
        r(OURS, 0.5, 3)
    with pytest.raises(ValueError, match="exceed"):
        await r(OURS, tg.asarray([0, 5]), tg.asarray([3, 5])).numpy()


async def test_x04_bernoulli_never_picks_0() -> None:
    """Probabilities 0 and 1 are certain; sizes of 0 are empty."""
    n = 100_000
    p = np.float32([0, 1, 0.25, 0.999, 1e-9, 1.0])
    a, b, c, d, e = await tg.fetch(
        tr.bernoulli(OURS, 0.3, n), tr.bernoulli(OURS, 0.0, n), tr.bernoulli(OURS, 1, n),
        tr.bernoulli(OURS, p, (n // 10, 6)), tr.bernoulli(OURS, 0.5, (0, 3)),
    )  # fmt: skip
    assert a.dtype == bool and (a == (words(n, KEY) < int(float(np.float32(0.3)) * 2**32))).all()
    assert not b.any() and c.all() and e.shape == (0, 3)
    assert not d[:, 0].any() and d[:, 1].all() and abs(d[:, 2].mean() - 0.25) < 0.03
    assert (await tr.bernoulli(OURS, p).numpy()).shape == (6,)
    for bad in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="from 0 to 1"):
            tr.bernoulli(OURS, bad, 3)
    for empty in (tr.uniform(OURS, (0,)), tr.normal(OURS, (2, 0)), tr.integers(OURS, 5, shape=(0,))):
        assert (await empty.numpy()).size == 0


async def test_hz_75_set_seed() -> None:
    """HZ-75: the seed decides (hanzo's never did); a Generator's stream goes on, whatever the sizes of its draws."""
    a, b, c = tg.random.default_rng(42), tg.random.default_rng(42), tg.random.default_rng(43)
    x, y, z = await tg.fetch(a.random((3, 5)), b.random((3, 5)), c.random((3, 5)))
    assert (x == y).all() and not (x == z).any()
    parts, whole = tr.default_rng(7), tr.default_rng(7)
    pieces = [parts.random(n) for n in (5, 1, 0, 7, 2)] + [parts.random().reshape(1)]
    got = await tg.fetch(whole.random(16), *pieces)
    assert (np.concatenate(got[1:]) == got[0]).all() and repr(whole) == repr(parts)
    g, h = tr.default_rng(8), tr.default_rng(8)
    w = [g.normal(size=3), g.integers(10, size=4), g.uniform(2, 3, 2), g.standard_normal(5)]
    u = h.uniform(size=14)
    got = await tg.fetch(*w, u)
    key = tr.key(8)
    assert (got[1] == (words(4, key, 3).astype(np.uint64) * np.uint64(10) >> np.uint64(32))).all()
    assert (got[4] == (words(14, key) >> np.uint32(8)) * 2.0**-24).all()
    assert (got[2] == spread(words(2, key, 7), 2, 3)).all()
    assert tr.default_rng(g) is g and (await tr.default_rng(2**70 + 5).random(3).numpy()).shape == (3,)
    one, two = await tg.fetch(tr.default_rng().random(4), tr.default_rng().random(4))
    assert not (one == two).any()
    with pytest.raises(ValueError, match="negative"):
        tr.default_rng(-1)


async def test_a_stream_beyond_2_32_words_takes_another_key() -> None:
    g = tr.default_rng(3)
    g.bit_generator.advance(2**32 - 2)
    key = tr.key(3)
    a, b = g.random(2), g.random(5)
    h = tr.default_rng(3)
    h.bit_generator.advance(2**32 - 2)
    c = h.random(4)  # does not fit into the rest
    a, b, c = await tg.fetch(a, b, c)
    next_key = derived(key, 1, TURN)
    assert (a == (words(2, key, 2**32 - 2) >> np.uint32(8)) * 2.0**-24).all()
    assert (b == (words(5, next_key) >> np.uint32(8)) * 2.0**-24).all() and (c == b[:4]).all()


async def test_g23_1000_seeds_compile_nothing() -> None:
    """Nor do other sizes, bounds and positions: what a kernel's text depends on is its function alone."""

    def some(seed: int, n: int) -> list[Any]:
        k = tr.key(seed)
        return [
            tr.uniform(k, n), tr.normal(k, n, mean=0.5 + seed), tr.bernoulli(k, 0.1 + n * 1e-5, n),
            tr.integers(k, -seed, seed + 1, n), tr.uniform(k, n, low=-1.0 - seed, high=1.0),
        ]  # fmt: skip

    rng = tr.default_rng(1)
    await tg.fetch(*some(1, 9), *some(2, 10), rng.random(3), rng.random(6), rng.random(8))
    before = tg.memory()["pipelines"]
    for seed in range(1000):
        for x in some(seed, 5 + seed % 7):
            del x
        rng.random(seed % 11)
        if seed % 100 == 0:
            await tg.fetch(*some(seed, 5 + seed % 7), rng.random(3 + seed % 5))
    assert tg.memory()["pipelines"] == before


async def test_jit_takes_seeds_steps_and_keys() -> None:
    """Open numbers stay open: one trace for all seeds."""
    traced = []

    @tg.jit
    def draw(x: Any, seed: int, step: int, key: Any) -> Any:
        traced.append(seed)
        k = tr.fold_in(tr.key(seed), step)
        return (
            x + tr.uniform(k, x.shape),
            tr.bits(tr.split(k)[1], 5),
            tr.bits(key, 6),
            tr.bits(tr.fold_in(key, step), 3),
        )

    x = tg.zeros(7)
    for seed, step in [(1, 0), (2, 5), (2**40, 77), (0, 1), (9, 12345)]:
        there = tg.asarray([seed % 1000, step], dtype=tg.uint32)
        got = await tg.fetch(*draw(x, seed, step, there))
        k = tr.fold_in(tr.key(seed), step)
        want = [
            (words(7, k) >> np.uint32(8)) * 2.0**-24, words(5, tr.split(k)[1]), words(6, (seed % 1000, step)),
            words(3, tr.fold_in((seed % 1000, step), step)),
        ]  # fmt: skip
        assert all((g == w).all() for g, w in zip(got, want, strict=True)), (seed, step)
    assert len(traced) <= 2


async def test_random_is_made_inside_the_kernel_that_uses_it() -> None:
    """One launch and no memory but the result's."""
    x = tg.asarray(np.ones(5000, np.float32))
    await (x * tr.uniform(OURS, x.shape)).numpy()
    before = tg.memory()
    await tg.fetch(x * tr.uniform(tr.Key(3, 4), x.shape) + 1)
    assert tg.memory()["launches"] - before["launches"] == 1


@pytest.mark.big
async def test_x01_more_than_65535_workgroups() -> None:
    n = 65_535 * 1024 + 5
    x = tr.bits(OURS, (n,))
    got = await tg.fetch(x[-9:], x[:3], x[n // 2 : n // 2 + 5])
    for g, start in zip(got, (n - 9, 0, n // 2), strict=True):
        assert (g == words(len(g), KEY, start)).all()


@pytest.mark.parametrize(
    "call", ["normal(0, 1, 10)", "integers(0, 10, 5)", "uniform(0, 1)", "bits(3)", "exponential(2)"]
)
def test_calls_in_numpys_manner_say_what_is_meant(call: str) -> None:
    with pytest.raises(TypeError, match=r"the first argument is a key .*tg.random.default_rng\(seed\)"):
        eval(f"tg.random.{call}")  # texts of this file
