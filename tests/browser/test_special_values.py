"""NaN, Inf, signed zeros, integer edges, accuracy: what broke in other packages, named by issue. Runs in the tab."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tabgpu as tg

inf, nan = np.inf, np.nan
f32, i32, u32 = np.float32, np.int32, np.uint32


async def got(*arrays: Any) -> list[Any]:
    return [np.asarray(a) for a in await tg.fetch(*arrays)]


def same(a: Any, b: Any) -> None:
    """Equal values and dtypes, NaN for NaN, zeros with their signs."""
    b = np.asarray(b)
    assert a.dtype == b.dtype and a.shape == b.shape
    np.testing.assert_array_equal(a, b)
    if a.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(a[a == 0]), np.signbit(b[b == 0]))


def ulps(a: Any, b: Any) -> Any:
    """Distance in units of the last place of float32, of b computed in float64."""
    a, b = (np.asarray(v, f32).view(i32).astype(np.int64) for v in (a, b))
    return np.abs(np.where(a < 0, -(a & 0x7FFFFFFF), a) - np.where(b < 0, -(b & 0x7FFFFFFF), b))


@pytest.mark.parametrize("n", [*range(1, 10), 64, 257])
async def test_N01_nan_propagates_in_every_slot_and_length(n: int) -> None:
    plain = np.linspace(-1, 1, n).astype(f32)
    for slot in {0, 1 % n, n // 2, n - 1}:
        x = plain.copy()
        x[slot] = nan
        g, p = tg.asarray(x), tg.asarray(plain)
        a = await got(
            tg.maximum(g, p), tg.maximum(p, g), tg.minimum(g, 1.0), tg.minimum(1.0, g), tg.clip(g, -0.5, 0.5),
            tg.fmax(g, p), tg.fmin(p, g), tg.max(g), tg.min(g), tg.clip(p, g, 2.0), tg.clip(p, -2.0, g),
        )  # fmt: skip
        want = [np.maximum(x, plain), np.maximum(plain, x), np.minimum(x, f32(1)), np.minimum(f32(1), x)]
        want += [np.clip(x, f32(-0.5), f32(0.5)), np.fmax(x, plain), np.fmin(plain, x), f32(nan), f32(nan)]
        want += [np.maximum(plain, x), np.minimum(plain, x)]
        for y, w in zip(a, want, strict=True):
            np.testing.assert_array_equal(y, w)


async def test_N01_nan_alone_and_with_infinities() -> None:
    x, y = f32([nan, 1, nan, inf, -inf, nan]), f32([1, nan, nan, nan, nan, inf])
    a = await got(tg.maximum(x, y), tg.minimum(x, y), tg.fmax(x, y), tg.fmin(x, y))
    for g, f in zip(a, [np.maximum, np.minimum, np.fmax, np.fmin], strict=True):
        np.testing.assert_array_equal(g, f(x, y))


async def test_N02_predicates_and_comparisons_see_nan() -> None:
    x = f32([nan, inf, -inf, 0, 1e-40, -nan, 3.4028235e38])
    g = tg.asarray(x)
    a = await got(tg.isnan(g), tg.isinf(g), tg.isfinite(g), tg.signbit(g), tg.isposinf(g), tg.isneginf(g))
    for y, f in zip(a, [np.isnan, np.isinf, np.isfinite, np.signbit, np.isposinf, np.isneginf], strict=True):
        same(y, f(x))
    y = f32([nan, 1, 1e-45, -1e-45, 0, -0.0, inf])
    for other in (y, y[::-1].copy(), np.full(7, nan, f32)):
        h = tg.asarray(other)
        a = await got(
            tg.equal(y, h), tg.not_equal(y, h), tg.less(y, h), tg.less_equal(y, h), tg.greater(y, h), y <= h
        )
        want = [y == other, y != other, y < other, y <= other, y > other, y <= other]
        for p, q in zip(a, want, strict=True):
            same(p, q)


async def test_N02_nan_against_scalars() -> None:
    g = tg.asarray(f32([nan, 1]))
    a = await got(g == nan, g != nan, g < 1.0, g >= 1.0, nan == g, g != g)
    want = [[False, False], [True, True], [False, False], [False, True], [False, False], [True, False]]
    for p, q in zip(a, want, strict=True):
        same(p, np.array(q))


async def test_N04_isnan_of_a_mixed_array() -> None:
    same(await tg.isnan(f32([inf, 0.5, 4, -38.8, nan])).numpy(), np.array([False] * 4 + [True]))


async def test_N05_infinity_as_a_constant() -> None:
    x = tg.full(8, 3.0)
    mask = tg.asarray(np.arange(8) % 2 == 0)
    scores = tg.where(mask, tg.arange(8).astype(tg.float32), -inf)
    e = tg.exp(scores - tg.max(scores))
    a = await got(
        x * inf,
        tg.where(mask, inf, x),
        x * -inf,
        x + inf - inf,
        e / tg.sum(e),
        tg.full(3, nan),
        0.0 * (x * inf),
    )
    same(a[0], np.full(8, inf, f32))
    same(a[1], np.where(np.arange(8) % 2 == 0, inf, 3).astype(f32))
    same(a[2], np.full(8, -inf, f32))
    assert np.isnan(a[3]).all() and np.isnan(a[5]).all() and np.isnan(a[6]).all()
    s = np.where(np.arange(8) % 2 == 0, np.arange(8.0), -inf)
    np.testing.assert_allclose(a[4], np.exp(s - 6) / np.exp(s - 6).sum(), rtol=1e-6)


async def test_N07_saturating_functions_do_not_make_nan() -> None:
    x = f32([-inf, -1000, -100, -89, -88, -20, 20, 88, 89, 100, 1000, inf])
    g = tg.asarray(x)
    w = x.astype(np.float64)
    with np.errstate(all="ignore"):
        sigmoid, softplus = 1 / (1 + np.exp(-w)), np.logaddexp(w, 0)
        a = await got(
            tg.tanh(g), tg.nn.sigmoid(g), tg.nn.softplus(g), tg.nn.gelu(g[1:-1]), tg.logaddexp(g, 0.0)
        )
    assert (ulps(a[0], np.tanh(w)) <= 3).all()
    for y, want in [(a[1], sigmoid), (a[2], softplus), (a[4], softplus)]:
        assert not np.isnan(y).any()
        np.testing.assert_allclose(y, want.astype(f32), rtol=1e-6, atol=1.2e-38)
    np.testing.assert_allclose(a[3], np.where(w[1:-1] > 0, w[1:-1], 0), rtol=1e-6, atol=1e-30)
    a = await got(tg.logaddexp(g, g), tg.logaddexp(g, -g), tg.logaddexp2(g, g))
    with np.errstate(all="ignore"):
        for y, want in zip(a, [np.logaddexp(w, w), np.logaddexp(w, -w), np.logaddexp2(w, w)], strict=True):
            np.testing.assert_allclose(y, want.astype(f32), rtol=1e-6)


async def test_N08_exp_of_large_inputs() -> None:
    x = f32([-inf, -1000, -104, -103, -100, -87, -50, 0, 50, 88.72283, 88.72284, 89, 100, 1000, inf, nan])
    with np.errstate(all="ignore"):
        want = np.exp(x.astype(np.float64)).astype(f32)
        less_one = np.expm1(x.astype(np.float64)).astype(f32)
    a = await got(tg.exp(x), tg.expm1(x))
    normal = ~(np.abs(want) < 1.2e-38)
    assert (ulps(a[0], want)[normal] <= 1).all() and (ulps(a[1], less_one) <= 1).all()
    assert (a[0][~normal] <= 1.2e-38).all() and (a[0][~normal] >= 0).all()


async def test_N10_power_of_negative_bases() -> None:
    x, y = f32([-2, -2, -4, -8, -1.5]), f32([3, 2, 1.5, 1 / 3, -3])
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.float64), y).astype(f32)
    a = (await got(tg.power(x, y)))[0]
    assert (np.isnan(a) == np.isnan(want)).all() and (ulps(a, want)[~np.isnan(want)] <= 2).all()
    same((await got(tg.power(f32([-2, 3]), 3)))[0], f32([-8, 27]))


async def test_N11_table_of_power() -> None:
    v = f32([-inf, -3e38, -2, -1, -0.5, -0.0, 0, 0.5, 1, 2, 3, 16777216, 16777217, 3e38, inf, nan])
    x, y = (m.ravel() for m in np.meshgrid(v, v))
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.float64), y.astype(np.float64)).astype(f32)
    a = (await got(tg.power(x, y)))[0]
    np.testing.assert_array_equal(np.isnan(a), np.isnan(want))
    ok = ~np.isnan(want)
    flushed = (np.abs(want[ok]) < 1.2e-38) & (a[ok] == 0)
    assert ((ulps(a[ok], want[ok]) <= 2) | flushed).all()
    np.testing.assert_array_equal(np.signbit(a[ok]), np.signbit(want[ok]))
    same((await got(tg.power(f32([1, nan, 0, 0, -1]), f32([nan, 0, 0, -1, inf]))))[0], f32([1, 1, 1, inf, 1]))


async def test_N13_sign_and_clip_keep_nan() -> None:
    a = await got(tg.sign(f32([nan, -0.0, 3, -2, inf, -inf, 1e-45])), tg.clip(f32([nan, 5, -5]), -1, 1))
    np.testing.assert_array_equal(a[0], f32([nan, 0, 1, -1, 1, -1, 1]))
    same(a[1], f32([nan, 1, -1]))


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 70, 127, 128, 129])
async def test_N14_negative_zero_is_false(n: int) -> None:
    zeros = np.full(n, -0.0, f32)
    mixed = zeros.copy()
    mixed[-1] = 0.5
    odd = zeros.copy()
    odd[0] = nan
    a = await got(
        tg.any(zeros), tg.all(zeros), tg.any(mixed), tg.all(mixed), tg.any(odd), tg.logical_not(zeros),
        tg.asarray(zeros).astype(tg.bool_), tg.any(np.full(n, 1e-45, f32)),
    )  # fmt: skip
    want = [False, False, True, n == 1, True, np.full(n, True), np.full(n, False), True]
    for y, w in zip(a, want, strict=True):
        same(y, np.asarray(w))
    same(np.asarray(await tg.all(f32([0.5, -0.0])).numpy()), np.asarray(False))


async def test_N16_nan_to_num_keeps_infinities_large() -> None:
    x = f32([inf, nan, -inf, -0.0, 2])
    a = await got(
        tg.nan_to_num(x), tg.nan_to_num(x, nan=7.0, posinf=1.0, neginf=-1.0), tg.nan_to_num(x, posinf=nan)
    )
    same(a[0], np.nan_to_num(x))
    same(a[1], np.nan_to_num(x, nan=7.0, posinf=1.0, neginf=-1.0))
    same(a[2], np.nan_to_num(x, posinf=nan))
    same((await got(tg.nan_to_num(tg.asarray([1, 2]))))[0], np.array([1, 2], i32))


@pytest.mark.parametrize("n", [3, 600, 5000])
async def test_N19_argmax_takes_the_first_nan(n: int) -> None:
    x = np.full((2, n), 3, f32)
    x[0, :2] = nan
    x[1, n - 2 :] = nan
    a = await got(tg.argmax(x, axis=-1), tg.argmin(x, axis=-1), tg.max(x, axis=-1))
    for y, f in zip(a[:2], [np.argmax, np.argmin], strict=True):
        np.testing.assert_array_equal(y, f(x, axis=-1))
    assert np.isnan(a[2]).all()


async def test_N20_argmax_of_nothing_but_nan() -> None:
    for n in (1, 2, 5, 300):
        a = await got(tg.argmax(np.full(n, nan, f32)), tg.argmin(np.full(n, nan, f32)))
        assert [int(v) for v in a] == [0, 0]


async def test_N23_float64_beyond_float32_becomes_infinity() -> None:
    x = np.array([1.6e40, -1e40, 1e-50, -1e-50, 3.4028235e38])
    g = tg.asarray(x)
    assert g.dtype is tg.float32
    with np.errstate(all="ignore"):
        want = x.astype(f32)
    same((await got(g))[0], want)
    rows = np.array([[1.6e40, 1.0], [1.0, -1e40], [1.0, 2.0]])
    columns = np.array([[1.0, 0.0], [0.0, 1.0]])
    with np.errstate(all="ignore"):
        product = rows.astype(f32) @ columns.astype(f32)
    same((await got(tg.asarray(rows) @ tg.asarray(columns)))[0], product)


async def test_I01_float_to_int32_saturates() -> None:
    x = f32(
        [1e20, -1e20, inf, -inf, nan, 1e10, 1e5, -1.9, 1.9, 2147483520, 2147483648, -2147483648, 1e-45, -0.0]
    )
    want = np.array(
        [
            2**31 - 1,
            -(2**31),
            2**31 - 1,
            -(2**31),
            0,
            2**31 - 1,
            100000,
            -1,
            1,
            2147483520,
            2**31 - 1,
            -(2**31),
            0,
            0,
        ],
        i32,
    )
    same((await got(tg.asarray(x).astype(tg.int32)))[0], want)
    same((await got((tg.asarray(x) * 1.0).astype(tg.int32)))[0], want)


async def test_I02_float_to_uint32_saturates() -> None:
    x = f32([-1, -0.5, -inf, inf, nan, 4294967040, 4294967296, 3e9, 0.99])
    want = np.array([0, 0, 0, 2**32 - 1, 0, 4294967040, 2**32 - 1, 3000000000, 0], u32)
    same((await got(tg.asarray(x).astype(tg.uint32)))[0], want)


async def test_I02_integers_to_float32_round_to_nearest_even() -> None:
    i = np.array([16777217, 16777219, -16777217, 2**31 - 1, -(2**31), 2147483583, 2147483584], i32)
    u = np.array([16777217, 16777219, 2**32 - 1, 4294967167, 4294967168, 2147483777], u32)
    a = await got(tg.asarray(i).astype(tg.float32), tg.asarray(u).astype(tg.float32))
    same(a[0], i.astype(f32))
    same(a[1], u.astype(f32))


async def test_I04_integer_division_by_zero_and_overflow() -> None:
    x, y = np.array([7, -7, -(2**31), 0, 7, -7], i32), np.array([0, 0, -1, 0, -2, 2], i32)
    a = await got(
        tg.floor_divide(x, y), tg.remainder(x, y), tg.fmod(x, y), *tg.divmod(x, y), tg.asarray(x) // 0
    )
    q, r = np.array([0, 0, -(2**31), 0, -4, -4], i32), np.array([0, 0, 0, 0, -1, 1], i32)
    for g, w in zip(a, [q, r, np.array([0, 0, 0, 0, 1, -1], i32), q, r, np.zeros(6, i32)], strict=True):
        same(g, w)
    a = await got(
        tg.floor_divide(np.array([7, 0], u32), np.array([0, 0], u32)), tg.remainder(np.array([7], u32), 0)
    )
    assert a[0].tolist() == [0, 0] and a[1].tolist() == [0]


async def test_I07_extreme_integers_and_shifts() -> None:
    low = np.array([-(2**31)], i32)
    g = tg.asarray(low)
    a = await got(tg.abs(g), -g, ~g, tg.sign(g), g - 1)
    for y, w in zip(a, [low, low, ~low, [-1], [2**31 - 1]], strict=True):
        same(y, np.array(w, i32))
    same(await tg.bitwise_count(g).numpy(), np.bitwise_count(low))
    x = np.array([1, -1, 5, -(2**31), 2**31 - 1, -5], i32)
    for count in (0, 1, 5, 31, 32, 33, 40, 63, 64, -1, -32, -33):
        n = np.full(6, count, i32)
        a = await got(tg.left_shift(x, n), tg.right_shift(x, n), tg.asarray(x) << count)
        same(a[0], np.left_shift(x, n))
        same(a[1], np.right_shift(x, n))
        same(a[2], np.left_shift(x, n))
    u = np.array([1, 2**31, 2**32 - 1], u32)
    for count in (0, 1, 31, 32, 33):
        n = np.full(3, count, u32)
        a = await got(tg.left_shift(u, n), tg.right_shift(u, n), tg.asarray(u) >> count)
        same(a[0], np.left_shift(u, n))
        same(a[1], np.right_shift(u, n))
        same(a[2], np.right_shift(u, n))


async def test_I10_casts_to_and_from_bool() -> None:
    x = f32([0.5, -1, nan, 0, -0.0, 1e-45, inf])
    b = np.array([True, False, True])
    g = tg.asarray(b)
    a = await got(
        tg.asarray(x).astype(tg.bool_), tg.asarray([-1, 0, 2]).astype(bool), g.astype(tg.float32), g.astype(tg.int32),
        g.astype(tg.uint32), g * 1.5,
    )  # fmt: skip
    want = [x != 0, np.array([True, False, True]), b.astype(f32), b.astype(i32), b.astype(u32), b * f32(1.5)]
    for y, w in zip(a, want, strict=True):
        same(y, w)


async def test_I11_reductions_and_comparisons_give_bool() -> None:
    g = tg.asarray([1, 0, 3])
    for a in (tg.any(g), tg.all(g), g > 1, g == g, tg.isnan(g), tg.logical_and(g, g)):
        assert a.dtype is tg.bool_
    mask = tg.asarray(f32([1, -2, 3])) > 0
    a = await got(
        mask.astype(tg.float32) @ tg.asarray(f32([10, 20, 30])), tg.sum(mask), mask + mask, mask * mask
    )
    assert float(a[0]) == 40.0
    assert int(a[1]) == 2 and a[1].dtype == i32
    same(a[2], np.array([True, False, True]))
    same(a[3], np.array([True, False, True]))


async def test_I14_int64_is_exact_or_refused() -> None:
    with pytest.raises(OverflowError, match="5000000000"):
        tg.asarray(np.array([1, 5_000_000_000]))
    with pytest.raises(OverflowError):
        tg.asarray([1, 2]) + 2**40
    with pytest.raises(TypeError, match="64-bit"):
        tg.asarray([1, 2], dtype=np.int64)
    wide = np.array([2**31 - 1, -(2**31), 7])
    g = tg.asarray(wide)
    assert g.dtype is tg.int32
    a = await got(g, g == tg.asarray(wide), g == wide)
    same(a[0], wide.astype(i32))
    assert a[1].all() and a[2].all()


async def test_I16_reflected_operators() -> None:
    x = f32([1, -2, 4, 0.5])
    i = np.array([1, 2, 3, 5], i32)
    g, k = tg.asarray(x), tg.asarray(i)
    a = await got(
        2 - g,
        2 / g,
        2**g,
        f32(2) * g,
        x * g,
        7 // k,
        7 % k,
        2**k,
        1 << k,
        5 & k,
        True ^ (k > 2),
        i - k,
        x / g,
    )
    want = [
        2 - x,
        2 / x,
        2**x,
        f32(2) * x,
        x * x,
        7 // i,
        7 % i,
        2**i,
        1 << i,
        5 & i,
        True ^ (i > 2),
        i - i,
        x / x,
    ]
    for y, w in zip(a, want, strict=True):
        assert y.dtype == w.dtype
        np.testing.assert_allclose(y, w, rtol=3e-7)


async def test_E01_sines_of_large_arguments() -> None:
    x = f32([1e4, 1e5, 1e6, 1e9, 1e20, 3.4028235e38, -1e9, 1e4 * math.pi])
    a = await got(tg.sin(x), tg.cos(x), tg.tan(x))
    w = x.astype(np.float64)
    for y, want in zip(a[:2], [np.sin(w), np.cos(w)], strict=True):
        np.testing.assert_allclose(y, want, atol=2e-7)
    np.testing.assert_allclose(a[2], np.tan(w), rtol=1e-6)
    with np.errstate(all="ignore"):
        assert np.isnan((await got(tg.sin(f32([inf, -inf, nan]))))[0]).all()


async def test_E02_sine_next_to_multiples_of_pi() -> None:
    x = f32([math.pi, -math.pi, 2 * math.pi, 100 * math.pi, math.pi / 2, 1e-30, -0.0])
    w = x.astype(np.float64)
    a = await got(tg.sin(x), tg.cos(x))
    assert (ulps(a[0], np.sin(w)) <= 2).all() and (ulps(a[1], np.cos(w)) <= 2).all()
    assert abs(float(a[0][0]) + 8.742278e-8) < 1e-14
    assert np.signbit(a[0][6])


async def test_E04_chain_of_activation_and_clip_stays_bounded() -> None:
    x = np.random.default_rng(4).normal(size=(7, 33)).astype(f32) * 50
    w = np.random.default_rng(5).normal(size=(33, 9)).astype(f32)
    y = tg.clip(tg.nn.leaky_relu(tg.asarray(x) @ tg.asarray(w), 0.1), -100, 100)
    product = x.astype(np.float64) @ w
    want = np.clip(np.where(product > 0, product, 0.1 * product), -100, 100)
    np.testing.assert_allclose((await got(y))[0], want, rtol=1e-4, atol=1e-3)


async def test_E05_power_of_a_scalar_and_a_vector() -> None:
    e = np.arange(64, dtype=f32) / 64
    table = tg.power(10000.0, -tg.asarray(e))
    angles = tg.arange(16).astype(tg.float32)[:, None] * table[None, :]
    want = 10000.0 ** -e.astype(np.float64)
    a = await got(table, angles)
    assert (ulps(a[0], want) <= 2).all()
    np.testing.assert_allclose(a[1], np.arange(16)[:, None] * want[None, :], rtol=4e-7)


async def test_E07_rounding_is_half_to_even() -> None:
    x = f32([0.5, 1.5, 2.5, -0.5, -1.5, -0.2, 8388609.5, 1e-45, -1e-45, inf, nan, 0.49999997])
    a = await got(tg.round(x), tg.rint(x), tg.floor(x), tg.ceil(x), tg.trunc(x))
    for y, f in zip(a, [np.rint, np.rint, np.floor, np.ceil, np.trunc], strict=True):
        same(y, f(x))
    y = f32([0.25, 0.35, -1.25, 2.5])
    np.testing.assert_allclose((await got(tg.round(y, decimals=1)))[0], np.round(y, 1), rtol=2e-7)


async def test_E08_broadcast_and_sum_back() -> None:
    x = tg.asarray(f32([[2], [5]]))
    wide = tg.broadcast_to(x, (2, 3))
    a = await got(
        tg.sum(wide, axis=1), tg.sum(wide, axis=1, keepdims=True), tg.sum(tg.ones((2, 3)) * x, axis=0)
    )
    assert a[0].tolist() == [6, 15] and a[1].tolist() == [[6], [15]] and a[2].tolist() == [7, 7, 7]
