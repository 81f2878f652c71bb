"""The hanzo checklist's elementwise rows, HZ-13 and HZ-15 to HZ-50: each row's own parameters, in every layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as sp
from ulps import SPECIAL, check

import tabgpu as tg
from tabgpu import nn


def draw(shape: Any, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng([seed, 15]).standard_normal(shape) * 4).astype(np.float32)


# Hanzo takes any layout: views with gaps, turned, reversed, repeated, with an offset, empty, without axes.
VIEWS: dict[str, tuple[tuple[int, ...], Any]] = {
    "plain": ((1021,), lambda x: x),
    "strided": ((23, 10), lambda x: x[::2, ::3]),
    "offset": ((9, 13), lambda x: x[2:7, 5:]),
    "transposed": ((37, 6), lambda x: x.T),
    "reversed": ((5, 33), lambda x: x[::-1, ::-1]),
    "broadcast": ((7, 1), lambda x: (np if isinstance(x, np.ndarray) else tg).broadcast_to(x, (3, 7, 5))),
    "empty": ((0, 3), lambda x: x),
    "0-d": ((), lambda x: x),
}


def gate(x: Any, g: Any) -> Any:
    """x * g, 0 at -inf, where the gate is closed."""
    return np.where(np.isneginf(x), -0.0, x * g)


def gelu_tanh(x: Any) -> Any:
    c = np.clip(x, -40, 40)
    return gate(x, sp.expit(2 * 0.7978845608028654 * (c + 0.044715 * c**3)))


def keep_nan(x: Any, r: Any) -> Any:
    return np.where(np.isnan(x), x, r)


def elu(x: Any, alpha: float) -> Any:
    return np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)


# id: (function, float64 oracle, ULP)
UNARY: dict[str, tuple[Any, Any, Any]] = {
    "HZ-15 exp": (tg.exp, np.exp, 1),
    "HZ-16 log": (tg.log, np.log, 1),
    "HZ-17 sqrt": (tg.sqrt, np.sqrt, 1),
    "HZ-18 neg": (tg.negative, np.negative, 0),
    "HZ-19 abs": (tg.abs, np.abs, 0),
    "HZ-20 tanh": (tg.tanh, np.tanh, 3),
    "HZ-21 sigmoid": (nn.sigmoid, sp.expit, 6),
    "HZ-22 relu": (nn.relu, lambda x: keep_nan(x, np.maximum(x, 0)), 0),
    "HZ-23 gelu": (lambda x: nn.gelu(x, approximate="tanh"), gelu_tanh, lambda x: np.where(x < -3, 400, 24)),
    "HZ-24 gelu_erf": (nn.gelu, lambda x: gate(x, sp.ndtr(x)), 10),
    "HZ-25 erf": (tg.special.erf, sp.erf, 3),
    "HZ-26 recip": (tg.reciprocal, np.reciprocal, 1),
    "HZ-27 sign": (tg.sign, np.sign, 0),
    "HZ-28 cos": (tg.cos, np.cos, 2),
    "HZ-29 sin": (tg.sin, np.sin, 2),
    "HZ-30 sqr": (tg.square, np.square, 1),
    "HZ-31 ceil": (tg.ceil, np.ceil, 0),
    "HZ-32 floor": (tg.floor, np.floor, 0),
    "HZ-34 silu": (nn.silu, lambda x: gate(x, sp.expit(x)), 6),
    "HZ-37 elu": (nn.elu, lambda x: elu(x, 1.0), 3),
    "HZ-37 elu alpha": (lambda x: nn.elu(x, 0.3), lambda x: elu(x, np.float32(0.3)), 3),
}  # fmt: skip


@pytest.mark.parametrize("row", UNARY)
async def test_unary(row: str) -> None:
    function, oracle, ulp = UNARY[row]
    given = [(name, see(draw(shape)), see(tg.asarray(draw(shape)))) for name, (shape, see) in VIEWS.items()]
    given.append(("special", SPECIAL, tg.asarray(SPECIAL)))
    results = await tg.fetch(*[function(g) for *_, g in given])
    for (name, x, _), got in zip(given, results, strict=True):
        check(f"{row} {name}", oracle, ulp, np.asarray(got), [x])


async def test_hz_25_erf_keeps_its_relative_accuracy_near_0() -> None:
    """HZ-25: hanzo's formula (Abramowitz and Stegun 7.1.26) was 1e-3 off near 0."""
    x = np.float32([1e-30, -1e-8, 1e-4, 0.003, -0.01, 0.05])
    got = await tg.special.erf(x).numpy()
    np.testing.assert_allclose(got, sp.erf(x.astype(np.float64)), rtol=4e-7)


async def test_hz_27_sign_of_nan_is_nan() -> None:
    """HZ-27: hanzo's is 0."""
    got = await tg.sign(np.float32([np.nan, -0.0, 0.0, -1e-45, np.inf])).numpy()
    np.testing.assert_array_equal(got, np.float32([np.nan, 0, 0, -1, 1]))


def away(x: Any) -> Any:
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1, x), whole)


async def test_hz_33_round_half_away_from_zero() -> None:
    """HZ-33: lax.round; tg.round is NumPy's, half to even, which hanzo's name hid. Large values stay as they are."""
    halves = np.float32(
        [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 8388607.5, -8388609, 2**30 + 128, -0.2, 1e-45]
    )
    x = np.concatenate([halves, SPECIAL, draw(300)])
    given = [(x, tg.asarray(x)), *((see(draw(s)), see(tg.asarray(draw(s)))) for s, see in VIEWS.values())]
    made = await tg.fetch(*[f(g) for _, g in given for f in (tg.lax.round, tg.round)])
    with np.errstate(invalid="ignore"):
        for k, (host, _) in enumerate(given):
            np.testing.assert_array_equal(made[2 * k], away(host))
            np.testing.assert_array_equal(made[2 * k + 1], np.round(host))


AFFINE = [(1.0, 0.0), (-2.5, 1e-3), (0.0, np.pi), (1e10, -1e10), (1 / 3, 1e-45)]


@pytest.mark.parametrize("mul,add", AFFINE)
async def test_hz_35_affine_of_double_arguments(mul: float, add: float) -> None:
    """HZ-35: mul and add are doubles that apply as float32."""
    given = [(see(draw(shape)), see(tg.asarray(draw(shape)))) for shape, see in VIEWS.values()]
    a, b = np.float64(np.float32(mul)), np.float64(np.float32(add))
    for (x, _), got in zip(given, await tg.fetch(*[nn.affine(g, mul, add) for _, g in given]), strict=True):
        bound = 2.0**-23 * (np.abs(x * a) + np.abs(b)) + 2.0**-126
        assert got.shape == x.shape and (np.abs(got - (x * a + b)) <= bound).all()


async def test_hz_35_affine_of_integers_is_not_of_their_bits() -> None:
    """HZ-35: hanzo multiplied the bit patterns of uint32 as floats."""
    u, i = np.arange(7, dtype=np.uint32), np.arange(-3, 4, dtype=np.int32)
    a, b = await tg.fetch(nn.affine(u, 3, 1), nn.affine(i, -2, 5))
    assert a.tolist() == (u * 3 + 1).tolist() and b.tolist() == (i * -2 + 5).tolist()
    assert a.dtype == np.uint32 and b.dtype == np.int32


@pytest.mark.parametrize("e", (2, 3, 0.5, -1, -2.5, 0, 1 / 3, -2, np.inf, np.nan))
async def test_hz_36_powf(e: float) -> None:
    """HZ-36: negative bases too, which hanzo's pow left open: (-2)^3 is -8."""
    x = np.concatenate([draw(400), SPECIAL, np.float32([-2, -8, -0.5])])
    got, view = await tg.fetch(tg.power(tg.asarray(x), e), tg.power(tg.asarray(x)[::-3], e))
    exponent = np.full(x.shape, np.float32(e))  # not a scalar, for which NumPy takes sqrt: NaN at -inf
    check(f"powf {e}", np.power, 2, got, [x, exponent])
    check(f"powf {e}", np.power, 2, view, [x[::-3], exponent[::-3]])


async def test_hz_36_powf_of_negative_bases() -> None:
    """HZ-36: (-2)^3 = -8, (-2)^2 = 4, (-4)^1.5 = NaN."""
    got = await tg.fetch(*[tg.power(np.float32([-2, -4]), e) for e in (3, 2, 1.5)])
    np.testing.assert_array_equal(np.stack(got), [[-8, -64], [4, 16], [np.nan, np.nan]])


@pytest.mark.limits
async def test_hz_13_silu_mul() -> None:
    """HZ-13: silu(a) * b of one shape, in one launch; broadcasts too, in any layout."""
    for name, hosts, given in pairs():
        if name == "special":  # silu at -inf is 0, and 0 times inf is NaN
            continue
        a, b = np.broadcast_arrays(*hosts)
        check(
            f"silu_mul {name}",
            lambda x, y: gate(x, sp.expit(x)) * y,
            7,
            await nn.silu_mul(*given).numpy(),
            [a, b],
        )
    x, y = tg.asarray(draw((33, 20))), tg.asarray(draw((33, 20), 1))
    await tg.synchronize()
    before = int(tg.memory()["launches"])
    await nn.silu_mul(x, y).numpy()
    assert int(tg.memory()["launches"]) == before + 1


BINARY: dict[str, tuple[Any, Any, int]] = {
    "HZ-38 add": (tg.add, np.add, 1),
    "HZ-39 sub": (tg.subtract, np.subtract, 1),
    "HZ-40 mul": (tg.multiply, np.multiply, 1),
    "HZ-41 div": (tg.divide, np.divide, 1),
    "HZ-42 maximum": (tg.maximum, np.maximum, 0),
    "HZ-43 minimum": (tg.minimum, np.minimum, 0),
}
COMPARE: dict[str, tuple[Any, Any]] = {
    "HZ-44 eq": (tg.equal, np.equal),
    "HZ-45 ne": (tg.not_equal, np.not_equal),
    "HZ-46 le": (tg.less_equal, np.less_equal),
    "HZ-47 ge": (tg.greater_equal, np.greater_equal),
    "HZ-48 lt": (tg.less, np.less),
    "HZ-49 gt": (tg.greater, np.greater),
}


def pairs(dtype: Any = np.float32) -> list[tuple[str, list[Any], list[tg.Array]]]:
    """(name, host operands, the same on the GPU): same shapes, broadcast, strided, turned, empty, special."""
    shapes = {
        "same": [(41, 3), (41, 3)],
        "column and row": [(9, 1), (1, 31)],
        "ranks": [(5,), (2, 3, 5)],
        "scalar": [(), (4, 6)],
        "empty": [(0, 4), (1, 4)],
        "ones": [(1, 1), (1,)],
    }
    made = []
    for name, (a, b) in shapes.items():
        x, y = draw(a, 1), draw(b, 2)
        if np.dtype(dtype).kind != "f":
            x, y = ((v * 1000).astype(np.int64).astype(dtype) for v in (x, y))
        made.append((name, [x, y], [tg.asarray(x), tg.asarray(y)]))
    x, y = draw((22, 33), 3).astype(dtype), draw((11, 33), 4).astype(dtype)
    g, h = tg.asarray(x), tg.asarray(y)
    made.append(("strided", [x[::2, ::-1], y], [g[::2, ::-1], h]))
    made.append(("turned", [x[:11].T, y.T[::-1]], [g[:11].T, h.T[::-1]]))
    if np.dtype(dtype).kind == "f":
        a, b = (v.ravel() for v in np.meshgrid(SPECIAL, SPECIAL))
        made.append(("special", [a, b], [tg.asarray(a), tg.asarray(b)]))
    return made


@pytest.mark.parametrize("row", BINARY)
async def test_binary(row: str) -> None:
    """HZ-38 to HZ-43: broadcasting without copies; NaN wins in maximum and minimum."""
    function, oracle, ulp = BINARY[row]
    given = pairs()
    for (name, hosts, _), got in zip(given, await tg.fetch(*[function(*g) for *_, g in given]), strict=True):
        check(f"{row} {name}", oracle, ulp, got, hosts)


@pytest.mark.parametrize("dtype", (np.int32, np.uint32))
@pytest.mark.parametrize("row", [row for row in BINARY if "div" not in row])
async def test_binary_of_integers_is_not_of_their_bits(row: str, dtype: Any) -> None:
    """HZ-38 to HZ-43: hanzo's worked on the bits of integers as if they were floats."""
    function, oracle, _ = BINARY[row]
    given = pairs(dtype)
    for (name, hosts, _), got in zip(given, await tg.fetch(*[function(*g) for *_, g in given]), strict=True):
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, oracle(*hosts), err_msg=name)


@pytest.mark.parametrize("row", COMPARE)
async def test_compare(row: str) -> None:
    """HZ-44 to HZ-49: bool results, NaN is unequal and unordered, neighbours above 2^24 differ as integers."""
    function, oracle = COMPARE[row]
    near = np.array([2**24, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1, 0, 1], np.uint32)
    a, b = (v.ravel() for v in np.meshgrid(near, near))
    given = [
        *pairs(),
        *pairs(np.int32),
        *pairs(np.uint32),
        ("near", [a, b], [tg.asarray(a), tg.asarray(b)]),
    ]
    for (name, hosts, _), got in zip(given, await tg.fetch(*[function(*g) for *_, g in given]), strict=True):
        assert got.dtype == np.bool_
        np.testing.assert_array_equal(got, oracle(*hosts), err_msg=name)


@pytest.mark.limits
@pytest.mark.parametrize("dtype", ("float32", "uint32", "int32", "uint8", "float16"))
async def test_hz_50_where_cond(dtype: str) -> None:
    """HZ-50: a uint32 or bool condition, non-zero is true; branches keep dtype and bits, and broadcast."""
    rng = np.random.default_rng(50)
    condition = rng.integers(0, 3, (6, 1, 7)).astype(np.uint32)
    a, b = (rng.integers(0, 100, s).astype(dtype) for s in ((5, 7), (6, 5, 1)))
    u, x, y = tg.asarray(condition), tg.asarray(a), tg.asarray(b)
    cases = [
        (tg.where(u, x, y), np.where(condition, a, b)),
        (tg.where(u > 1, x[::-1], y), np.where(condition > 1, a[::-1], b)),
        (tg.where(u[..., ::2].T, y[:, 0, 0], b[:, 1, 0]), np.where(condition[..., ::2].T, b[:, 0, 0], b[:, 1, 0])),
        (tg.where(u[:0], x, y[:0]), np.where(condition[:0], a, b[:0])),
        (tg.where(tg.asarray(True), x, y[0]), np.where(True, a, b[0])),
    ]  # fmt: skip
    for got, (_, want) in zip(await tg.fetch(*[g for g, _ in cases]), cases, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


async def test_hz_50_where_cond_keeps_small_integers_and_nan_bits() -> None:
    """HZ-50: uint32 values whose bits are denormal floats or NaN come through."""
    bits = np.array([0, 1, 7, 0x7FC12345, 0xFFFFFFFF, 0x80000001, 0x007FFFFF], np.uint32)
    mask = np.arange(7) % 2 == 0
    got = await tg.where(tg.asarray(mask), tg.asarray(bits), tg.asarray(bits[::-1].copy())).numpy()
    np.testing.assert_array_equal(got, np.where(mask, bits, bits[::-1]))
