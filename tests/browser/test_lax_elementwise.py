"""tg.lax's elementwise functions: each of tenferro's rows against NumPy in float64, and what XLA means otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from arrays import on_gpu

import tabgpu as tg
from tabgpu import lax

RNG = np.random.default_rng(13)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, 1e-8, 3e4], np.float32)
EXTREME = np.array([0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 100, -3, 5, 12], np.int32)


def floats(n: int = 37) -> Any:
    return np.concatenate([SPECIAL, RNG.uniform(-4, 4, n).astype(np.float32)])


def ints(n: int = 37) -> Any:
    return np.concatenate([EXTREME, RNG.integers(-(2**31), 2**31, n).astype(np.int32)])


def complexes(n: int = 48) -> Any:
    return (RNG.standard_normal(n) + 1j * RNG.standard_normal(n)).astype(np.complex64)


def close(got: Any, want: Any, ulp: float) -> None:
    """Exact for integers and bools; floats within ulp units of float32, NaN where it is NaN."""
    assert got.shape == np.shape(want)
    if got.dtype.kind in "biu":
        assert np.array_equal(got, want), (got, want)
        return
    want = np.asarray(want)
    with np.errstate(over="ignore"):
        narrow = want.astype(got.dtype)
    assert np.array_equal(np.isnan(got), np.isnan(narrow)), (got, want)
    fine = np.isfinite(narrow)
    assert np.array_equal(got[~fine & ~np.isnan(got)], narrow[~fine & ~np.isnan(got)])
    off = np.abs(got[fine] - want[fine])
    size = np.abs(want[fine]) if got.dtype.kind == "f" else np.abs(want[fine]) + 1e-3
    assert np.all(off <= ulp * 2.0**-23 * size + 2.0**-126), (off.max(), got[fine], want[fine])


class Row(NamedTuple):
    """One of tenferro's operations: ours, NumPy's (of float64), the kinds it takes, the bound."""

    id: str
    ours: Callable[..., Any]
    numpy: Callable[..., Any]
    nin: int
    kinds: str
    ulp: float = 1
    positive: bool = False


def truncated(x: Any, y: Any) -> Any:
    """x / y; of integers towards zero, 0 for y = 0, wrapping."""
    if x.dtype.kind not in "iu":
        return np.divide(x, y)
    a, b = x.astype(object), y.astype(object)
    out = [
        0 if q == 0 else abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
        for p, q in zip(a, b, strict=True)
    ]
    return np.array([(v + 2**31) % 2**32 - 2**31 for v in out]).astype(x.dtype)


def wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function in the dtype of integers, or in double precision."""

    def call(*operands: Any) -> Any:
        kind = operands[0].dtype.kind
        wide = {"f": np.float64, "c": np.complex128}.get(kind, operands[0].dtype)
        return function(*[x.astype(wide) for x in operands])

    return call


ROWS = [
    Row("TF-13 add", lax.add, np.add, 2, "fic"),
    Row("TF-14 sub", lax.sub, np.subtract, 2, "fic"),
    Row("TF-15 mul", lax.mul, np.multiply, 2, "fic", 2),
    Row("TF-16 neg", lax.neg, np.negative, 1, "fic"),
    Row("TF-17 conj", lax.conj, np.conjugate, 1, "fic"),
    Row("TF-18 div", lax.div, truncated, 2, "fic", 4),
    Row("TF-19 abs", lax.abs, np.abs, 1, "fic", 2),
    Row("TF-20 sign", lax.sign, np.sign, 1, "fi"),
    Row("TF-21 maximum", lax.max, np.maximum, 2, "fi"),
    Row("TF-22 minimum", lax.min, np.minimum, 2, "fi"),
    Row("TF-26 exp", lax.exp, np.exp, 1, "fc", 4),
    Row("TF-27 log", lax.log, np.log, 1, "fc", 4),
    Row("TF-28 sin", lax.sin, np.sin, 1, "fc", 6),
    Row("TF-29 cos", lax.cos, np.cos, 1, "fc", 6),
    Row("TF-30 tanh", lax.tanh, np.tanh, 1, "fc", 6),
    Row("TF-31 sqrt", lax.sqrt, np.sqrt, 1, "fc", 4),
    Row("TF-32 rsqrt", lax.rsqrt, lambda x: 1 / np.sqrt(x), 1, "f", 2),
    Row("TF-33 pow", lax.pow, np.power, 2, "f", 4, True),
    Row("TF-34 expm1", lax.expm1, np.expm1, 1, "f", 3),
    Row("TF-35 log1p", lax.log1p, np.log1p, 1, "f", 3),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.id)
async def test_tenferros_row(row: Row) -> None:
    """TF-13 .. TF-35 (the id is the parameter's): flat, strided and broadcast operands of each kind."""
    draw = {"f": floats, "i": ints, "c": complexes}
    for kind in row.kinds:
        operands = [draw[kind]() for _ in range(row.nin)]
        if row.positive:
            operands[0] = np.abs(operands[0])
        if row.nin == 2:
            RNG.shuffle(operands[1])
        if row.id == "TF-28 sin" or row.id == "TF-29 cos":
            operands[0] = np.clip(operands[0], -100, 100) if kind == "f" else operands[0]
        with np.errstate(all="ignore"):
            want = wrapping(row.numpy)(*operands)
            close(await row.ours(*map(tg.asarray, operands)).numpy(), want, row.ulp)
            strided = [tg.asarray(np.stack([x, x]).T.copy())[::-1, 1] for x in operands]
            close(await row.ours(*strided).numpy(), want[::-1], row.ulp)
            if row.nin == 2:
                want = wrapping(row.numpy)(operands[0], np.broadcast_to(operands[1][14], operands[0].shape))
                close(
                    await row.ours(tg.asarray(operands[0]), tg.asarray(operands[1][14:15])).numpy(),
                    want,
                    row.ulp,
                )


DIRECTIONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
              "ge": np.greater_equal}  # fmt: skip


@pytest.mark.parametrize("direction", DIRECTIONS)
async def test_tf_23_compare(direction: str) -> None:
    """TF-23: eq, lt, le, gt, ge, and ne, with NaN, infinities, both zeros and integers that float32 does not hold."""
    for x in (floats(), ints()):
        y = x.copy()
        y[::3] = np.roll(x, 1)[::3]
        got = await getattr(lax, direction)(tg.asarray(x), tg.asarray(y)).numpy()
        assert got.dtype == bool and np.array_equal(got, DIRECTIONS[direction](x, y))


async def test_tf_24_select() -> None:
    """TF-24: a non-zero predicate picks the first; NaN, infinities and -0 come through; select_n by number."""
    x, y = floats(), floats()
    for pred in (RNG.integers(0, 2, x.size) > 0, RNG.integers(-1, 2, x.size).astype(np.int32)):
        got = await lax.select(tg.asarray(pred), tg.asarray(x), tg.asarray(y)).numpy()
        want = np.where(pred, x, y)
        assert np.array_equal(got.view(np.uint32), want.view(np.uint32))
    which = RNG.integers(0, 3, x.size).astype(np.int32)
    got = await lax.select_n(tg.asarray(which), tg.asarray(x), tg.asarray(y), tg.asarray(-x)).numpy()
    assert np.array_equal(got, np.choose(which, [x, y, -x]), equal_nan=True)
    got = await lax.select_n(tg.asarray(pred != 0), tg.asarray(x), tg.asarray(y)).numpy()
    assert np.array_equal(got, np.where(pred != 0, y, x), equal_nan=True)
    with pytest.raises(TypeError, match="which is bool for 2 cases"):
        lax.select_n(tg.asarray(pred != 0), x, y, x)


async def test_tf_25_clamp() -> None:
    """TF-25: min(max(x, lo), hi) with arrays or scalars as bounds, also where lo is above hi."""
    x, lo, hi = floats(), floats()[::-1].copy(), np.roll(floats(), 5)
    got = await lax.clamp(tg.asarray(lo), tg.asarray(x), tg.asarray(hi)).numpy()
    assert np.array_equal(got, np.minimum(np.maximum(x, lo), hi), equal_nan=True)
    k = ints()
    assert np.array_equal(await lax.clamp(-5, tg.asarray(k), 9).numpy(), np.clip(k, -5, 9))
    assert np.array_equal(await lax.clamp(2, tg.asarray(k), -2).numpy(), np.full(k.shape, -2))


async def test_tf_18_division_of_integers() -> None:
    """TF-18: towards zero; x / 0 is 0, x / -1 is -x and wraps; rem has the sign of x; unsigned and narrow integers."""
    x, y = ints(), ints()[::-1].copy()
    y[:6] = [0, -1, 0, -1, 2, -1]
    want = truncated(x, y)
    assert np.array_equal(await lax.div(tg.asarray(x), tg.asarray(y)).numpy(), want)
    wrap = (x.astype(object) - want.astype(object) * y.astype(object)) * (y != 0)
    assert np.array_equal(await lax.rem(tg.asarray(x), tg.asarray(y)).numpy(), wrap.astype(np.int32))
    u, v = x.view(np.uint32), np.maximum(y.view(np.uint32) >> 20, 1)
    assert np.array_equal(await lax.div(tg.asarray(u), tg.asarray(v)).numpy(), u // v)
    for dtype in ("int8", "int16"):
        p = np.array([-128, 127, -7, 7, -1, 5], dtype)
        q = np.array([-1, 2, 2, -2, 3, 0], dtype)
        got = await lax.div(tg.asarray(p), tg.asarray(q)).numpy()
        low = {"int8": -128, "int16": 128}[dtype]
        assert np.array_equal(got, np.array([low, 63, -3, -3, 0, 0], dtype))


async def test_tf_33_integer_powers() -> None:
    """TF-33: integers by squaring, wrapping; a negative exponent is an error, at the call or at the read."""
    x = ints()
    got = await lax.integer_pow(tg.asarray(x), 5).numpy()
    assert np.array_equal(got, np.array([(int(v) ** 5 + 2**31) % 2**32 - 2**31 for v in x], np.int32))
    with pytest.raises(ValueError, match="negative integer powers"):
        lax.integer_pow(tg.asarray(x), -1)
    with pytest.raises(ValueError, match="negative integer powers"):
        await lax.pow(tg.asarray(x), tg.asarray(np.full(x.shape, -2, np.int32))).numpy()
    got = await lax.integer_pow(tg.asarray(np.float32([2.0, -0.5, 0.0])), -3).numpy()
    assert np.allclose(got, [0.125, -8, np.inf])


async def test_round_has_both_ways() -> None:
    x = np.array(
        [0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 8388609.0, -0.0, np.inf, -np.inf, np.nan, 3.7], np.float32
    )
    away = np.where(np.isfinite(x), np.copysign(np.floor(np.abs(x.astype(float)) + 0.5), x), x)
    away[5] = 0
    got = await lax.round(tg.asarray(x)).numpy()
    assert np.array_equal(got, away.astype(np.float32), equal_nan=True) and np.signbit(got[7])
    even = await lax.round(tg.asarray(x), lax.RoundingMethod.TO_NEAREST_EVEN).numpy()
    assert np.array_equal(even, np.rint(x), equal_nan=True)
    with pytest.raises(TypeError, match="round: takes floats, not int32"):
        lax.round(tg.asarray([1, 2]))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
async def test_bits(dtype: str) -> None:
    """population_count, clz, and shifts: logical and arithmetic of signed and unsigned, counts beyond the width."""
    bits = 8 * np.dtype(dtype).itemsize
    unsigned = f"uint{bits}"
    raw = np.concatenate([np.array([0, 1, 2**bits - 1, 2 ** (bits - 1)]), RNG.integers(0, 2**bits, 40)])
    x = raw.astype(unsigned).view(dtype)
    gpu = tg.asarray(x)
    assert np.array_equal(await lax.population_count(gpu).numpy(), [bin(int(v)).count("1") for v in raw])
    assert np.array_equal(await lax.clz(gpu).numpy(), [bits - int(v).bit_length() for v in raw])
    assert lax.clz(gpu).dtype == dtype == lax.population_count(gpu).dtype
    signed = raw.astype(unsigned).view(f"int{bits}").astype(object)
    for count in (0, 1, 3, bits - 1, bits, 40):
        got = await lax.shift_right_logical(gpu, count).numpy()
        assert np.array_equal(got.view(unsigned), [int(v) >> count for v in raw]), count
        got = await lax.shift_right_arithmetic(gpu, count).numpy()
        assert np.array_equal(got.view(f"int{bits}"), [int(v) >> count for v in signed]), count
        got = await lax.shift_left(gpu, count).numpy()
        assert np.array_equal(got.view(unsigned), [(int(v) << count) % 2**bits for v in raw]), count
    counts = (raw % (bits + 2)).astype(dtype)
    got = await lax.shift_right_logical(gpu, tg.asarray(counts)).numpy()
    assert np.array_equal(got.view(unsigned), [int(v) >> int(c) for v, c in zip(raw, counts, strict=True)])


async def test_the_rest_has_the_meaning_of_its_namesake() -> None:
    """Names that are rows of tg under another name: the same objects, and a few values."""
    from tabgpu import special

    pairs = {"acos": tg.arccos, "atan2": tg.arctan2, "cbrt": tg.cbrt, "nextafter": tg.nextafter, "square": tg.square,
             "erf": special.erf,
             "erf_inv": special.erfinv, "lgamma": special.gammaln, "logistic": special.expit,
             "digamma": special.digamma, "bessel_i0e": special.i0e, "is_finite": tg.isfinite}  # fmt: skip
    for name, row in pairs.items():
        assert getattr(lax, name) is row
    for name in ("while_loop", "rng_bit_generator", "psum"):
        assert not hasattr(lax, name)
    for name in lax.__all__:
        assert getattr(lax, name).__doc__, name
    z = await lax.complex(np.float32([1, 2]), np.float32([3, np.inf])).numpy()
    assert np.array_equal(z, np.array([1 + 3j, complex(2, np.inf)], np.complex64))
    assert np.allclose(await lax.cbrt(tg.asarray([-8.0, 27.0])).numpy(), [-2, 3])


# --- dtypes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "into", ["bool", "int8", "uint8", "int32", "uint32", "float16", "bfloat16", "float32", "complex64"]
)
async def test_tf_39_cast(into: str) -> None:
    """TF-39: what is lost is lost: truncated, wrapped, saturated, the real part; convert refuses that."""
    from tabgpu import can_cast

    values = {
        "float32": np.array([0.0, -1.75, 2.5, 300.25, -70000.0], np.float32),
        "int32": np.array([0, -1, 127, 300, -70000], np.int32),
        "uint8": np.array([0, 1, 127, 200, 255], np.uint8),
        "complex64": np.array([0, 1 - 2j, -3.5 + 1j, 2j, 7], np.complex64),
        "float16": np.array([0, 1.5, -2.25, 60000, 3], np.float16),
    }
    for name, x in values.items():
        gpu = tg.asarray(x)
        made = lax.convert_element_type(gpu, into)
        assert made.dtype == into
        got = await (made.astype(tg.float32) if into == "bfloat16" else made).numpy()
        real = x.real if x.dtype.kind == "c" and into not in ("bool", "complex64") else x
        if into == "bool":
            want = x != 0
        elif into in ("float16", "float32", "complex64"):
            with np.errstate(over="ignore"):
                want = real.astype(into)
        elif into == "bfloat16":
            want = await tg.asarray(real).astype(tg.bfloat16).astype(tg.float32).numpy()
        elif real.dtype.kind == "f":
            info = np.iinfo(into)
            want = np.clip(np.trunc(real.astype(float)), info.min, info.max).astype(into)
        else:
            want = real.astype(into)
        assert np.array_equal(got, want), (name, got, want)
        if can_cast(gpu.dtype, into, "safe"):
            assert np.array_equal(
                await lax.convert(gpu, into).astype(tg.complex64).numpy(), x.astype(np.complex64)
            )
        else:
            with pytest.raises(TypeError, match=f"convert: {into} does not hold all of {name}"):
                lax.convert(gpu, into)


async def test_bitcast_convert_type() -> None:
    """Bits stay: between widths, of strided views, NaN payloads and denormals among them."""
    words = np.array(
        [0, 1, 0x7FC12345, 0x80000000, 0x3F800000, 0xFFFFFFFF, 0x00000003, 0x7F800000], np.uint32
    )
    gpu = tg.asarray(words)
    for name in ("int32", "float32", "uint16", "int8", "float16", "complex64"):
        source = gpu if name != "complex64" else gpu.reshape(4, 2)
        host = words if name != "complex64" else words.reshape(4, 2)
        made = lax.bitcast_convert_type(source, name)
        got = await made.numpy()
        want = host.view(name).reshape(got.shape)
        assert got.dtype == name and got.tobytes() == want.tobytes()
        back = await lax.bitcast_convert_type(made, "uint32").numpy()
        assert np.array_equal(back, host)
    view = await lax.bitcast_convert_type(gpu[::-2], "uint8").numpy()
    assert np.array_equal(view, words[::-2].copy().view(np.uint8).reshape(4, 4))
    assert lax.bitcast_convert_type(tg.zeros((0, 3)), "uint16").shape == (0, 3, 2)
    assert lax.bitcast_convert_type(on_gpu(np.ones(2, np.float32), "bfloat16"), "uint16").dtype == "uint16"
    with pytest.raises(ValueError, match="needs a last axis of 4"):
        lax.bitcast_convert_type(tg.zeros(3, dtype="uint8"), "uint32")
    with pytest.raises(TypeError, match="bool has no bits"):
        lax.bitcast_convert_type(tg.zeros(3, dtype="bool"), "uint8")


async def test_reduce_precision() -> None:
    """float16 (5, 10) and bfloat16 (8, 7) formats as a round trip gives them, denormals of float16 as 0; one launch."""
    x = np.concatenate(
        [floats(), np.float32([65519, 65520, 1e-7, 6e-5, 6.2e-5, 1.0009765, 3.4e38, 1e-40, 1e38])]
    )
    gpu = tg.asarray(x)
    await gpu.numpy()
    before = tg.memory()["launches"]
    got = await lax.reduce_precision(gpu, 5, 10).numpy()
    assert tg.memory()["launches"] - before == 1
    with np.errstate(over="ignore"):
        want = x.astype(np.float16).astype(np.float32)
    want = np.where(np.abs(x) < 2.0**-14 * (1 - 2.0**-12), np.copysign(0, x), want)
    assert np.array_equal(got, want, equal_nan=True)
    got = await lax.reduce_precision(gpu, 8, 7).numpy()
    want = await gpu.astype(tg.bfloat16).astype(tg.float32).numpy()
    normal = (np.abs(x) >= 2.0**-126) | (x == 0)
    assert np.array_equal(got[normal | np.isnan(x)], want[normal | np.isnan(x)], equal_nan=True)
    same = await lax.reduce_precision(gpu, 8, 23).numpy()
    assert np.array_equal(same[normal], x[normal], equal_nan=True)
    with pytest.raises(ValueError, match="0 exponent bits"):
        lax.reduce_precision(gpu, 0, 3)


# --- fusion -----------------------------------------------------------------------------------------------------


async def test_tf_57_elementwise_fusion() -> None:
    """TF-57: a plan of many operations with several inputs and outputs is one launch."""
    a, b, c = (tg.asarray(floats()) for _ in range(3))
    await tg.fetch(a, b, c)
    before = tg.memory()["launches"]
    t = lax.clamp(-2.0, lax.add(lax.mul(a, b), c), 2.0)
    u = lax.select(lax.lt(a, b), lax.tanh(t), lax.exp(lax.neg(lax.abs(t))))
    first, second = await tg.fetch(lax.add(u, 1.0), lax.sub(u, c))
    assert tg.memory()["launches"] - before == 1
    x, y, z = (v.astype(float) for v in await tg.fetch(a, b, c))
    with np.errstate(all="ignore"):
        s = np.minimum(np.maximum(x * y + z, -2), 2)
        want = np.where(x < y, np.tanh(s), np.exp(-np.abs(s)))
    fine = np.isfinite(want) & np.isfinite(z)
    assert np.allclose(first[fine], want[fine] + 1, rtol=1e-5)
    assert np.allclose((second)[fine], (want - z)[fine], rtol=1e-5, atol=1e-5 * 3e4)


async def test_tf_58_fused_broadcast_multiply() -> None:
    """TF-58: broadcast_in_dim of both operands and the product are one launch, without a copy of either."""
    x, y = (np.random.default_rng(k).standard_normal(n).astype(np.float32) for k, n in ((0, 40), (1, 30)))
    a, b = tg.asarray(x), tg.asarray(y)
    await tg.fetch(a, b)
    before = tg.memory()["launches"]
    got = await lax.mul(
        lax.broadcast_in_dim(a, (40, 30), (0,)), lax.broadcast_in_dim(b, (40, 30), (1,))
    ).numpy()
    assert tg.memory()["launches"] - before == 1
    assert np.array_equal(got, x[:, None] * y)
