"""One test for each line of docs/differences.md: where tabgpu differs from NumPy on purpose, or does not go yet."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import numpy as np
import pytest
from tab import create_once_callable, run_js

import tabgpu as tg
from tabgpu.bridge import can_suspend

BIG = 2**40


def i32(*values: int) -> tg.Array:
    return tg.asarray(np.array(values, np.int32))


def u32(*values: int) -> tg.Array:
    return tg.asarray(np.array(values, np.uint32))


def f32(*values: float) -> tg.Array:
    return tg.asarray(np.array(values, np.float32))


def bools(*values: bool) -> tg.Array:
    return tg.asarray(np.array(values))


async def values(x: tg.Array, dtype: Any) -> list[Any]:
    """The values as a list, after a check of the dtype."""
    assert x.dtype is dtype
    return (await x.numpy()).tolist()


# --- dtypes -----------------------------------------------------------------------------------------------------------


async def test_int64_input() -> None:
    assert await values(tg.asarray(np.array([1, -(2**31)], np.int64)), tg.int32) == [1, -(2**31)]
    assert await values(tg.asarray(np.array([1, 2**32 - 1], np.uint64)), tg.uint32) == [1, 2**32 - 1]
    with pytest.raises(OverflowError, match="2147483648"):
        tg.asarray(np.array([0, 2**31], np.int64))
    with pytest.raises(OverflowError, match="4294967296"):
        tg.asarray(np.array([2**32], np.uint64))


async def test_float64_input() -> None:
    assert await values(tg.asarray(np.array([0.1, 1e300])), tg.float32) == [
        float(np.float32(0.1)),
        float("inf"),
    ]
    assert tg.asarray([0.5, 2]).dtype is tg.float32


@pytest.mark.parametrize("name", ["int64", "uint64", "float64", "complex128"])
def test_64_bit_dtypes(name) -> None:
    with pytest.raises(TypeError, match="64-bit"):
        tg.zeros(3, dtype=getattr(tg, name))
    with pytest.raises(TypeError, match="64-bit"):
        tg.astype(f32(1), np.dtype(name))
    with tg.config.using(narrow64=True):
        assert tg.zeros(3, dtype=name).dtype.itemsize * 2 == np.dtype(name).itemsize


async def test_bfloat16() -> None:
    x = tg.asarray([1.0, 1.0 + 2**-7, 3e38], dtype="bfloat16")
    got = await x.numpy()
    assert got.dtype == np.float32 and got[1] == 1.0078125
    assert (x + tg.asarray([1], dtype="float16")).dtype == tg.float32
    assert (x + tg.asarray([1], dtype="uint8")).dtype == tg.bfloat16


def test_float_functions_of_narrow_integers() -> None:
    for name in ("int8", "uint8", "int16", "uint16"):
        assert tg.sqrt(tg.asarray([4], dtype=name)).dtype == tg.float32
        assert tg.divide(tg.asarray([4], dtype=name), tg.asarray([2], dtype=name)).dtype == tg.float32


def test_integers_with_float16() -> None:
    half = tg.asarray([1], dtype="float16")
    assert (half + tg.asarray([1], dtype="int8")).dtype == tg.float16
    for name in ("int16", "uint16", "int32", "uint32"):
        assert (half + tg.asarray([1], dtype=name)).dtype == tg.float32


def test_complex_to_real() -> None:
    with pytest.raises(TypeError, match="tg.real"):
        tg.asarray([1 + 2j]).astype("float32")
    with pytest.raises(TypeError, match="imaginary"):
        tg.asarray(np.array([1 + 2j]), dtype="float32")


@pytest.mark.parametrize("value", [object(), [None], ["a"], np.array(["2020-01-01"], "datetime64[D]")])
def test_dtypes_without_a_place_on_the_gpu(value) -> None:
    with pytest.raises(TypeError):
        tg.asarray(value)


async def test_default_dtypes() -> None:
    assert {a.dtype for a in (tg.zeros(2), tg.ones(2), tg.empty(2), tg.eye(2), tg.linspace(0, 1, 2))} == {
        tg.float32
    }
    assert tg.asarray(1.5).dtype is tg.arange(2.0).dtype is tg.full(2, 1.5).dtype is tg.float32
    assert tg.asarray(1).dtype is tg.arange(2).dtype is tg.full(2, 1).dtype is tg.int32


def test_int32_with_uint32() -> None:
    with pytest.raises(TypeError, match="astype"):
        i32(1) + u32(1)
    assert (i32(1).astype(tg.uint32) + u32(1)).dtype is tg.uint32


def test_integers_with_floats() -> None:
    assert (i32(1) + f32(1)).dtype is (u32(1) * 1.5).dtype is (i32(1) / i32(2)).dtype is tg.float32
    assert tg.sqrt(i32(4)).dtype is tg.float_power(i32(4), 2).dtype is tg.exp(bools(True)).dtype is tg.float32


def test_numpy_scalars() -> None:
    assert (i32(1) + np.float64(1.5)).dtype is (f32(1) + np.float64(1.5)).dtype is tg.float32
    assert (i32(1) + np.int64(1)).dtype is (np.int32(1) + i32(1)).dtype is tg.int32
    with pytest.raises(TypeError, match="astype"):
        u32(1) + np.int64(1)


async def test_astype_saturates() -> None:
    wild = f32(3e9, -3e9, np.inf, -np.inf, np.nan, -1.9)
    assert await values(wild.astype(tg.int32), tg.int32) == [2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 0, -1]
    assert await values(wild.astype(tg.uint32), tg.uint32) == [3_000_000_000, 0, 2**32 - 1, 0, 0, 0]
    assert await values(tg.asarray(np.array([1e10, np.nan]), dtype=tg.int32), tg.int32) == [2**31 - 1, 0]


async def test_integers_of_bools() -> None:
    t = bools(True, True, False)
    assert await values(t.sum(), tg.int32) == 2
    assert tg.floor_divide(t, t).dtype is (t**t).dtype is tg.left_shift(t, t).dtype is tg.int32
    assert tg.square(t).dtype is tg.conjugate(t).dtype is tg.int32


async def test_float_power_is_float32() -> None:
    assert np.float_power(np.float32(2), np.float32(3)).dtype == np.float64
    assert await values(tg.float_power(f32(2), f32(3)), tg.float32) == [8]


# --- numbers ----------------------------------------------------------------------------------------------------------


async def test_no_warnings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert await values(i32(7, -7, 0) // 0, tg.int32) == [0, 0, 0]
        assert await values(i32(7, -7) % 0, tg.int32) == [0, 0]
        assert await values(i32(-(2**31)) // -1, tg.int32) == [-(2**31)]
        assert await values(f32(1, -1) / 0.0, tg.float32) == [np.inf, -np.inf]
        assert np.isnan(await tg.log(f32(-1)).item())


async def test_reciprocal_of_integer_zero() -> None:
    assert await values(tg.reciprocal(i32(0, 1, -1, 5)), tg.int32) == [0, 1, -1, 0]


async def test_shifts_by_too_much() -> None:
    count = np.array([31, 32, 40, -1], np.int32)
    for x in (1, -5):
        for ours, theirs in ((tg.left_shift, np.left_shift), (tg.right_shift, np.right_shift)):
            want = theirs(np.int32(x), count)
            assert want.dtype == np.int32
            assert await values(ours(i32(x), tg.asarray(count)), tg.int32) == want.tolist()
    assert await values(tg.asarray(1) << 40, tg.int32) == 0


async def test_negative_integer_powers() -> None:
    with pytest.raises(ValueError, match="negative integer powers"):
        i32(2) ** -1
    bad = i32(2, 1) ** i32(1, -2)
    with pytest.raises(ValueError, match="negative integer powers"):
        await bad.numpy()


async def test_floor_division_of_infinities() -> None:
    inf = float("inf")
    got = await (f32(inf, -inf, 1, -1, inf) // f32(2, 2, -inf, -inf, -inf)).numpy()
    assert np.array_equal(got, np.float32([inf, -inf, -0.0, 0, np.nan]), equal_nan=True)
    assert np.signbit(got[:4]).tolist() == [False, True, True, False]


async def test_zeros_of_complex_functions() -> None:
    got = await tg.expm1(tg.asarray(complex(-0.0, 0.0))).numpy()
    assert got == 0 and not np.signbit(got.real) and not np.signbit(got.imag)
    got = await tg.tanh(tg.asarray([complex(np.inf, 2), complex(np.inf, 1e15), complex(-np.inf, -2)])).numpy()
    assert got.real.tolist() == [1, 1, -1] and np.signbit(got.imag).tolist() == [False, False, True]


async def test_complex_division_is_that_of_c99() -> None:
    x = np.array([complex(np.inf, 1), 1 + 2j, complex(np.inf, np.inf)], np.complex64)
    y = np.array([2, complex(np.inf, np.inf), 3 - 3j], np.complex64)
    got = await (tg.asarray(x) / tg.asarray(y)).numpy()
    assert got[0] == complex(np.inf, 0.5) and got[1] == 0 and np.isinf(got[2])
    with np.errstate(all="ignore"):
        assert np.isnan(x / y).all()
    zero = await tg.reciprocal(tg.asarray(0j)).numpy()
    assert np.isinf(zero.real) and np.isnan(zero.imag)


async def test_log1p_of_small_complex_numbers() -> None:
    z = np.array([1e-20 + 1e-21j, -1e-30j], np.complex64)
    np.testing.assert_array_equal(await tg.log1p(z).numpy(), z)


async def test_spacing_of_negative_float16() -> None:
    assert await tg.spacing(tg.asarray(np.float16([-1, 1]))).tolist() == [-(2.0**-10), 2.0**-10]


async def test_zeros_are_ordered_by_maximum() -> None:
    plus, minus = f32(0.0, -0.0), f32(-0.0, 0.0)
    assert np.signbit(await tg.maximum(plus, minus).numpy()).tolist() == [False, False]
    assert np.signbit(await tg.minimum(plus, minus).numpy()).tolist() == [True, True]


async def test_integer_sums_keep_their_dtype() -> None:
    assert await values(i32(2**31 - 1, 1).sum(), tg.int32) == -(2**31)
    assert await values(tg.prod(u32(2**31, 2)), tg.uint32) == 0


async def test_mean_is_float32() -> None:
    assert await values(tg.mean(i32(1, 2)), tg.float32) == 1.5
    assert await values(tg.mean(bools(True, False)), tg.float32) == 0.5


async def test_positions_are_int32() -> None:
    assert await values(tg.argmax(f32(1, 3, 2)), tg.int32) == 1
    assert await values(tg.argmin(f32(1, 3, 2)), tg.int32) == 0


async def test_order_of_summation() -> None:
    x = (np.random.default_rng(0).random(100_003) - 0.5).astype(np.float32)
    exact = np.sum(x, dtype=np.float64)
    bound = 2 * np.log2(len(x)) * 2.0**-24 * np.sum(np.abs(x), dtype=np.float64)
    assert abs(await tg.asarray(x).sum().item() - exact) <= bound


async def test_fused_multiply_add() -> None:
    a = np.float32(1 + 2**-12)
    got = await (f32(a) * f32(a) + f32(-1)).item()
    twice = float(np.float32(np.float32(a * a) - np.float32(1)))
    once = float(np.float32(float(a) * float(a) - 1))
    assert got in (twice, once) and twice != once


async def test_denormals_of_arithmetic() -> None:
    tiny = 1e-45
    assert await (f32(tiny) + f32(tiny)).item() in (0.0, 2 * float(np.float32(tiny)))
    assert await values(f32(tiny) > 0, tg.bool) == [True]


async def test_float_ranges() -> None:
    got = await values(tg.arange(0.0, 1.0, 0.1), tg.float32)
    assert got == [float(np.float32(k) * np.float32(0.1)) for k in range(10)]


async def test_integer_ranges_are_exact() -> None:
    exact = [k * 26 // 46 for k in range(47)]
    assert np.linspace(0, 26, 47, dtype=np.int32).tolist() != exact
    assert await values(tg.linspace(0, 26, 47, dtype=tg.int32), tg.int32) == exact


@pytest.mark.parametrize("name", ["silu", "mish", "gelu", "hardswish"])
async def test_activations_at_minus_infinity(name) -> None:
    assert await getattr(tg.nn, name)(f32(-np.inf)).item() == 0


async def test_padding_meets_no_weight() -> None:
    w = f32(np.inf, 1, 1).reshape(1, 1, 3)
    assert await tg.nn.conv1d(f32(1, 2)[None], w, padding=1).tolist() == [[3, np.inf]]


async def test_special_functions_at_infinity() -> None:
    inf = f32(np.inf)
    for y in (tg.special.i0(inf), tg.special.i1(inf), tg.special.kl_div(f32(1), inf)):
        assert await y.item() == np.inf


async def test_beta_of_integers_below_one() -> None:
    for f in (tg.special.beta, tg.special.betaln):
        for x, y in ((-1, 1), (-2, 2), (0, 1)):
            assert not np.isfinite(await f(f32(x), f32(y)).item())


# --- functions and arguments ------------------------------------------------------------------------------------------


async def test_unselected_elements_are_zeros() -> None:
    x = f32(1, 2)
    assert await tg.add(x, x, where=x > 1).tolist() == [0, 4]


def test_methods_of_functions() -> None:
    x = f32(1, 2)
    for name in ("arctan2", "hypot", "power"):
        with pytest.raises(TypeError, match=name):
            getattr(tg, name).reduce(x)
    with pytest.raises(TypeError, match="reduceat"):
        tg.add.reduceat(x, [0, 1])


def test_complex_numbers_have_no_order() -> None:
    z = tg.asarray([1 + 2j, 3 - 1j])
    for name in ("max", "min", "argmax", "argmin", "ptp", "nanmax", "max_with_index"):
        with pytest.raises(TypeError, match="order"):
            getattr(tg, name)(z)
    for name in ("less", "less_equal", "greater", "greater_equal", "maximum", "minimum", "fmax", "fmin"):
        with pytest.raises(TypeError, match="complex64"):
            getattr(tg, name)(z, z)
    with pytest.raises(TypeError, match="complex64"):
        tg.clip(z, 0, 1)


async def test_weights_that_sum_to_zero() -> None:
    assert np.isnan(await tg.average(f32(1, 2), weights=f32(0, 0)).item())


async def test_nanargmax_of_minus_infinity() -> None:
    x = f32(float("nan"), float("-inf"))
    assert await tg.nanargmax(x).item() == 1 and np.nanargmax(await x.numpy()) == 0


async def test_shapes_that_depend_on_data() -> None:
    x = i32(3, 0, 3, 1)
    assert (await (await tg.aio.flatnonzero(x)).numpy()).tolist() == [0, 2, 3]
    assert (await (await tg.aio.unique(x)).numpy()).tolist() == [0, 1, 3]
    assert (await (await tg.aio.bincount(x)).numpy()).tolist() == [1, 1, 0, 2]
    assert (await (await tg.aio.getitem(x, x > 1)).numpy()).tolist() == [3, 3]
    bounded = await tg.fetch(
        tg.flatnonzero(x, size=5, fill_value=-1), tg.unique(x, size=2), tg.bincount(x, length=2)
    )
    assert [b.tolist() for b in bounded] == [[0, 2, 3, -1, -1], [0, 1], [1, 1]]
    if can_suspend():
        assert np.asarray(tg.unique(x)).tolist() == [0, 1, 3]
    else:
        with pytest.raises(tg.SyncError, match=r"await tg\.aio\.unique"):
            tg.unique(x)


async def test_histogram_of_nan() -> None:
    for x in (f32(1, np.nan, 2), f32(1, np.inf)):
        for part in tg.histogram(x, 3):
            with pytest.raises(ValueError, match="not finite"):
                await part.numpy()
    for late in (tg.histogram(f32(1, 2), f32(0, 3, 1))[0], tg.digitize(f32(1, 2), f32(0, 3, 1))):
        with pytest.raises(ValueError, match="monotonic"):
            await late.numpy()
    counts, edges = await tg.fetch(*tg.histogram(f32(1, np.nan, 2), 3, (0, 3)))
    assert counts.tolist() == [0, 1, 1] and edges.tolist() == [0, 1, 2, 3]


def test_bins_that_depend_on_data() -> None:
    for bins in ("auto", "fd", "scott"):
        with pytest.raises(ValueError, match="depends on the data"):
            tg.histogram(f32(1, 2, 3), bins)
    assert tg.histogram(f32(1, 2, 3, 4), "sqrt")[0].shape == (2,)


async def test_numbers_of_the_host() -> None:
    x, one = tg.ones((8, 8)), tg.asarray(1)
    await tg.synchronize()
    before = tg.memory()["reads"]
    for call, name in (
        (lambda: tg.kaiser(5, one), "kaiser: beta"),
        (lambda: tg.image.gaussian_filter(x, one), "gaussian_filter: sigma"),
        (lambda: tg.polyfit(x[0], x[1], one), "polyfit: deg"), (lambda: tg.arange(one), "arange: stop"),
        (lambda: tg.image.zoom(x, [2.0, one]), "zoom: zoom"), (lambda: tg.std(x, ddof=one), "std: ddof"),
        (lambda: tg.topk(x, one), "topk: k"), (lambda: tg.fft.fft(x, n=one), "fft: n"),
        (lambda: tg.linalg.matrix_power(x, one), "matrix_power: n"),
        (lambda: tg.nn.layer_norm(x, 8, eps=one), "layer_norm: eps"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=name):
            call()
    assert tg.memory()["reads"] == before
    assert (tg.clip(x, one, 2) + tg.full((8,), one)).shape == (8, 8)


def test_quantiles_on_the_gpu() -> None:
    for function in (tg.quantile, tg.percentile, tg.nanquantile):
        with pytest.raises(TypeError, match="host values"):
            function(f32(1, 2, 3), f32(0.5))


async def test_quantile_next_to_infinity() -> None:
    assert await tg.quantile(f32(1, 2, np.inf), 0.5).item() == 2
    assert await tg.quantile(f32(np.inf, np.inf), 0.5).item() == np.inf


def test_sinc_of_complex_numbers() -> None:
    with pytest.raises(TypeError, match="sinc"):
        tg.sinc(tg.asarray(1j))


async def test_complex_numbers_are_not_searched() -> None:
    z = tg.asarray(np.array([1 + 2j, 1 - 1j, 0.5], np.complex64))
    for call in (lambda: tg.searchsorted(z, z), lambda: tg.topk(z, 1), lambda: tg.median(z)):
        with pytest.raises(TypeError, match="complex"):
            call()
    assert (await tg.sort(z).numpy()).tolist() == [0.5, 1 - 1j, 1 + 2j]


async def test_zero_dimensional_results_stay_arrays() -> None:
    total = f32(1, 2).sum()
    assert isinstance(total, tg.Array) and total.shape == ()
    assert isinstance(await total.item(), float)
    got = await total.numpy()
    assert isinstance(got, np.ndarray) and got.shape == ()


def test_axes_of_arrays_without_axes() -> None:
    with pytest.raises(tg.AxisError):
        tg.argsort(tg.asarray(1.0))


def test_views_of_host_values() -> None:
    for call in (
        lambda: tg.flip([1, 2]),
        lambda: tg.reshape(np.zeros(4), (2, 2)),
        lambda: tg.broadcast_to([1], (2,)),
    ):
        with pytest.raises(TypeError, match="tg.asarray"):
            call()


def test_comparison_with_none() -> None:
    assert (f32(1, 2) == None) is False  # noqa: E711


async def test_empty_is_zeros() -> None:
    assert await values(tg.empty(3), tg.float32) == [0, 0, 0]


async def test_narrow_products_are_rounded_once() -> None:
    ones = tg.ones(4096, dtype=tg.float16)
    assert await tg.dot(ones, ones).item() == 4096 and await tg.einsum("i->", ones).item() == 4096
    assert await tg.sum(tg.ones((4096, 2), dtype=tg.float16), axis=0)[0].item() == 4096


async def test_dtypes_of_vander_and_trace() -> None:
    small = tg.ones((2, 2), dtype=tg.int8)
    assert tg.vander(small[0]).dtype == tg.int32 and tg.trace(small).dtype == tg.int32
    assert tg.vander(tg.ones(2, dtype=tg.uint32)).dtype == tg.uint32


def test_pad_by_a_function() -> None:
    with pytest.raises(TypeError, match="host memory"):
        tg.pad(f32(1, 2), 1, mode=lambda *a: None)


async def test_ramps_of_integers() -> None:
    """From 0 to 49 in 49 steps: floor(49 * k / 49), which float64 steps miss for some lengths."""
    for n in range(1, 60):
        got = await tg.pad(tg.asarray([3 * n]), (n, 0), mode="linear_ramp").tolist()
        assert got == [3 * k for k in range(n)] + [3 * n]


def test_positions_are_host_values() -> None:
    x = f32(1, 2, 3)
    for call in (lambda: tg.delete(x, tg.asarray([1])), lambda: tg.insert(x, tg.asarray([1]), 2.0)):
        with pytest.raises(TypeError, match="host values"):
            call()


async def test_piecewise_functions_see_everything() -> None:
    seen = []
    made = tg.piecewise(f32(-1, 2), [f32(-1, 2) < 0], [lambda v: seen.append(v.shape) or -v, 5])
    assert await made.tolist() == [1, 5] and seen == [(2,)]


async def test_choose_out_of_range() -> None:
    made = tg.choose(tg.asarray([0, 2]), [f32(1, 2), f32(3, 4)])
    with pytest.raises(ValueError, match="choice array"):
        await made.numpy()


def test_cross_of_two_components() -> None:
    with pytest.raises(ValueError, match="3 components"):
        tg.cross(f32(1, 2), f32(3, 4))


def test_ends_of_ranges_are_numbers() -> None:
    for call in (
        lambda: tg.geomspace(1j, 3),
        lambda: tg.geomspace(tg.asarray([1j]), 3),
    ):
        with pytest.raises(TypeError):
            call()


async def test_dtypes_of_grids() -> None:
    assert tg.indices((2, 2)).dtype == tg.int32 and tg.mgrid[0:2, 0:2].dtype == tg.int32
    assert tg.mgrid[0:1:3j].dtype == tg.float32
    assert tg.fromfunction(lambda i: i, (3,)).dtype == tg.float32


async def test_size_of_the_largest_arrays() -> None:
    huge = tg.broadcast_to(f32(1), (2**17, 2**15)) + 1.0
    with pytest.raises(tg.LimitError, match="addressable|maxBufferSize"):
        await huge.numpy()


def test_axis_error() -> None:
    with pytest.raises(tg.AxisError) as error:
        tg.sum(f32(1), axis=1)
    assert isinstance(error.value, (ValueError, IndexError))
    assert not isinstance(error.value, np.exceptions.AxisError)


def test_dtype_objects() -> None:
    assert f32(1).dtype == np.float32 and f32(1).dtype == "float32"
    assert not isinstance(tg.float32, np.dtype)
    with pytest.raises(TypeError):
        np.zeros(2, dtype=tg.float32)


async def test_attributes_of_memory() -> None:
    x = tg.asarray([1 + 2j])
    assert not any(hasattr(x, name) for name in ("flags", "data", "base", "ctypes", "view", "setflags"))
    part = x.real
    part[0] = 5.0  # a copy; assigning to the attribute writes
    assert await x.tolist() == [1 + 2j]
    x.real = 5.0
    assert await x.tolist() == [5 + 2j]


# --- reading, and numpy beside it -------------------------------------------------------------------------------------


async def test_streams_of_random_numbers() -> None:
    x = tg.random.default_rng(7).random(4)
    again = tg.random.default_rng(7)
    a, b, c = await tg.fetch(x, again.random(1), again.random(3))
    assert x.dtype is tg.float32 and tg.random.default_rng(7).integers(5, size=2).dtype is tg.int32
    assert (a == np.concatenate([b, c])).all() and not np.allclose(a, np.random.default_rng(7).random(4))
    known = [4099963437, 3221879260, 490388034, 367897730]  # on every adapter
    assert (await tg.random.bits(tg.random.key(7), 4).numpy()).tolist() == known


async def test_bytes_of_generators() -> None:
    x = tg.random.default_rng(7).bytes(9)
    assert x.dtype is tg.uint8 and x.shape == (9,) and len(await x.tobytes()) == 9


async def test_shuffle_of_arrays() -> None:
    x = tg.arange(100)
    tg.random.default_rng(7).shuffle(x)
    got = await x.numpy()
    assert sorted(got.tolist()) == list(range(100)) != got.tolist()
    for other in ([1, 2, 3], np.arange(3)):
        with pytest.raises(TypeError, match="shuffle"):
            tg.random.default_rng(7).shuffle(other)


async def test_counts_are_int32() -> None:
    rng = tg.random.default_rng(7)
    a, b = await tg.fetch(rng.geometric(1e-12, 50), rng.zipf(1.0001, 200))
    assert a.dtype == b.dtype == np.int32 and a.min() > 10**9 and a.max() == 2**31 - 1 and b.min() >= 1
    with pytest.raises(ValueError, match="2147020000"):
        rng.poisson(3e9)


async def test_covariances_are_not_looked_at() -> None:
    bad = np.float32([[1, 2], [2, 1]])
    rng = tg.random.default_rng(7)
    assert rng.multivariate_normal([0, 0], bad, 3, method="eigh").shape == (3, 2)
    with pytest.raises(ValueError, match="positive-semidefinite"):
        rng.multivariate_normal([0, 0], bad, 3, "raise")


async def test_dropout_needs_a_key() -> None:
    x = tg.ones(1000)
    with pytest.raises(TypeError, match="key"):
        tg.nn.dropout(x)
    key = tg.random.key(3)
    a, b = await tg.fetch(tg.nn.dropout(x, key=key), tg.nn.dropout(x, key=key))
    assert (a == b).all() and 400 < (a == 0).sum() < 600
    with pytest.raises(TypeError, match="key"):
        tg.nn.fractional_max_pool2d(tg.ones((1, 4, 4)), 2, 2)


async def test_losses_read_nothing() -> None:
    reads = tg.memory()["reads"]
    loss = tg.nn.binary_cross_entropy(f32(0.5, 1.5), f32(1, 1), reduction="none")
    assert tg.memory()["reads"] == reads
    got = await loss.numpy()
    assert abs(got[0] - np.log(2)) < 1e-6 and np.isnan(got[1])


async def test_attention_rows_without_keys() -> None:
    x = tg.asarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    mask = tg.asarray(np.array([[True], [False], [True]]))
    got = await tg.nn.scaled_dot_product_attention(x, x, x, mask, is_causal=True).numpy()
    assert np.array_equal(got[0], [0, 1, 2, 3]) and not got[1].any() and got[2].all()


async def test_embedding_of_negative_indices() -> None:
    table = tg.asarray(np.arange(6, dtype=np.float32).reshape(3, 2))
    assert await tg.nn.embedding([-1, 0], table).tolist() == [[4, 5], [0, 1]]
    small = await tg.nn.embedding([2], table, max_norm=1.0).numpy()
    assert abs(np.linalg.norm(small) - 1) < 1e-5 and await table[2].tolist() == [4, 5]


async def test_one_hot_without_a_number_of_classes() -> None:
    assert (await tg.aio.one_hot(i32(0, 2))).shape == (2, 3)
    assert tg.nn.one_hot(i32(0, 2), 4).shape == (2, 4)
    if can_suspend():
        assert tg.nn.one_hot(i32(0, 2)).shape == (2, 3)


async def test_places_of_pools() -> None:
    values, places = tg.nn.max_pool1d(f32(7).reshape(1, 1, 1), 2, padding=1, dilation=2, return_indices=True)
    assert places.dtype == tg.int32
    assert await places.tolist() == [[[-1]]] and await values.tolist() == [[[-np.inf]]]


async def test_pools_and_norms_of_integers() -> None:
    x = tg.arange(8).reshape(1, 2, 4)
    assert await values(tg.nn.avg_pool1d(x, 2).ravel(), tg.float32) == [0.5, 2.5, 4.5, 6.5]
    for out in (tg.nn.group_norm(x, 1), tg.nn.batch_norm(x, None, None, training=True), tg.nn.normalize(x)):
        assert out.dtype == tg.float32


async def test_interpolate_of_integers() -> None:
    x = tg.asarray(np.array([[[1, 4]]], np.uint8))
    assert await values(tg.nn.interpolate(x, 4).ravel(), tg.uint8) == [1, 1, 4, 4]
    with pytest.raises(TypeError, match="uint8"):
        tg.nn.interpolate(x, 4, mode="linear")


async def test_roots_are_complex() -> None:
    got = await values(tg.roots(f32(0, 1, -3, 2)), tg.complex64)
    assert sorted(v.real for v in got if np.isfinite(v)) == pytest.approx([1, 2]) and len(got) == 3
    assert np.poly([1j, -1j]).dtype == np.float64 and tg.poly(tg.asarray([1j, -1j])).dtype is tg.complex64


async def test_remainders_keep_their_length() -> None:
    assert np.polydiv([1.0, 3, 2], [1.0, 1])[1].shape == (1,) and np.polydiv([1.0, 0, 0, 1], [1.0, 0, 0])[
        1
    ].tolist() == [1]
    assert await values(tg.polydiv(f32(1, 0, 0, 1), f32(1, 0, 0))[1], tg.float32) == [0, 1]


async def test_polynomials_of_integers() -> None:
    for theirs in (np.polyval([1, 2], [3]), np.polymul([1, 2], [3]), np.polyder([1, 2])):
        assert theirs.dtype.kind == "i"
    p = tg.asarray([1, 2])
    for made in (tg.polyval(p, p), tg.polymul(p, p), tg.polyder(p), tg.polyint(p)):
        assert made.dtype is tg.float32
    with np.errstate(invalid="ignore"):
        assert np.isnan(np.polyval([1.0, 2], np.inf))
    assert await values(tg.polyval(f32(1, 2), f32(np.inf)), tg.float32) == [np.inf]


async def test_interp_of_nan() -> None:
    assert np.interp(np.nan, [1], [7]) == 7
    assert np.isnan(await tg.interp(f32(float("nan")), [1.0], [7.0]).numpy()).all()


async def test_values_out_of_place() -> None:
    made = tg.interpolate.CubicSpline(f32(0, 2, 1), f32(1, 2, 3))(f32(0.5))
    outside = tg.interpolate.interp1d([0.0, 1], [1.0, 2])(f32(3))
    for late in (made, outside, tg.stats.skew(f32(1, float("nan")), nan_policy="raise")):
        with pytest.raises(ValueError, match="increasing|above|nan"):
            await late.numpy()
    with pytest.raises(ValueError, match="increasing"):
        tg.interpolate.CubicSpline([0, 2, 1], [1, 2, 3])


async def test_asymptotic_p_values() -> None:
    with pytest.raises(ValueError, match="asymptotic"):
        tg.stats.kendalltau(f32(1, 2), f32(2, 1), method="exact")
    with pytest.raises(ValueError, match="asymp"):
        tg.stats.ks_2samp(f32(1, 2), f32(2, 1), method="exact")
    p = await tg.stats.kendalltau(f32(1, 2, 3), f32(1, 2, 3)).pvalue.numpy()
    assert p == pytest.approx(0.117185, rel=1e-4)  # exact: 1 / 3


async def test_lines_through_a_constant() -> None:
    assert np.isnan(await tg.stats.linregress(f32(1, 1, 1), f32(1, 2, 4)).slope.numpy())


async def test_ends_of_special_functions() -> None:
    special = tg.special
    lost = await tg.fetch(special.zeta(f32(2), f32(-0.5)), special.polygamma(1, f32(-0.5)))
    assert np.isnan(lost).all()
    ends = await tg.fetch(special.j0(f32(float("inf"))), special.y0(f32(float("inf"))))
    assert [e.tolist() for e in ends] == [[0], [0]]


async def test_exact_counts() -> None:
    for call in (tg.special.comb, tg.special.perm):
        with pytest.raises(ValueError, match="math"):
            call(5, 2, exact=True)


async def test_coefficients_of_filters() -> None:
    x, lfilter = f32(1, 0, 0), tg.signal.lfilter
    assert await lfilter([1.0, 2], [1.0, -0.5], x).tolist() == [1, 2.5, 1.25]
    assert await lfilter(f32(1, 2), 1, x).tolist() == [1, 2, 0]
    for b, a in (([1.0], f32(1, 2)), (f32(1, 2), [1.0, 2]), ([1.0], [1, 2j])):
        with pytest.raises(TypeError):
            lfilter(b, a, x)
    with pytest.raises(TypeError, match="host"):
        tg.signal.sosfilt(tg.ones((1, 6)), x)


async def test_designs_of_filters() -> None:
    taps = tg.signal.firwin(5, 0.4)
    assert isinstance(taps, np.ndarray) and taps.dtype == np.float64
    try:
        import scipy.signal
    except ImportError:
        with pytest.raises(ImportError, match="SciPy is not installed"):
            tg.signal.butter(2, 0.2)
    else:
        assert np.array_equal(tg.signal.butter(2, 0.2)[0], scipy.signal.butter(2, 0.2)[0])


async def test_numbers_of_peaks() -> None:
    x = f32(0, 1, 0, 1, 0, 2, 0)
    peaks, _ = await tg.aio.find_peaks(x)
    assert await values(peaks, tg.int32) == [1, 3, 5]
    assert await tg.signal.find_peaks(x, distance=3, size=4)[0].tolist() == [1, 5, -1, -1]
    assert await tg.signal.find_peaks(f32(0, 1, 0, 1, 0), distance=3, size=2)[0].tolist() == [3, -1]


async def test_correlate2d_of_a_larger_second() -> None:
    a, b = tg.asarray([[1 + 2j]]), tg.asarray([[1j, 2, 3 - 1j]])
    both = [tg.signal.correlate2d(a, b, "valid"), tg.signal.correlate(a, b, "valid")]
    assert await both[0].tolist() == await both[1].tolist() == [[(1 + 2j) * (3 + 1j), 2 + 4j, (1 + 2j) * -1j]]


async def test_convolve_of_integers_and_empties() -> None:
    x = i32(2**30, 1)
    assert await values(tg.signal.convolve(x, i32(2, 3)), tg.int32) == [-(2**31), 3 * 2**30 + 2 - 2**32, 3]
    assert tg.signal.convolve(f32(), f32(1, 2)).shape == (0,)


async def test_eigenvalues_are_complex() -> None:
    x = tg.asarray([[2.0, 1.0], [1.0, 2.0]])
    w = tg.linalg.eigvals(x)
    assert w.dtype == tg.linalg.sqrtm(x).dtype == tg.linalg.schur(x)[0].dtype == tg.complex64
    got = await w.numpy()
    assert not got.imag.any() and np.linalg.eigvals(np.eye(2)).dtype == np.float64


async def test_answers_about_matrices_are_arrays() -> None:
    answer, (lower, upper) = tg.linalg.issymmetric(tg.eye(3)), tg.linalg.bandwidth(tg.eye(3, k=1))
    assert isinstance(answer, tg.Array) and isinstance(lower, tg.Array)
    assert [await x.item() for x in (answer, lower, upper)] == [True, 0, 1]


async def test_exact_tables() -> None:
    assert tg.linalg.pascal(5).dtype == tg.linalg.invhilbert(3, exact=True).dtype == tg.int32
    with pytest.raises(ValueError, match="int32"):
        tg.linalg.pascal(20)


async def test_residuals_of_lstsq() -> None:
    found = tg.linalg.lstsq(tg.ones((3, 2)), f32(1, 2, 3))
    assert await values(found.residuals, tg.float32) == pytest.approx([2.0])
    assert np.linalg.lstsq(np.ones((3, 2)), [1, 2, 3], rcond=None)[1].shape == (0,)
    assert await found.rank.item() == 1


async def test_cutoff_of_pinv() -> None:
    a = np.array([[1, 0], [0, 1e-9]], np.float32)
    assert (await tg.linalg.pinv(tg.asarray(a)).tolist())[1][1] == 0 and np.linalg.pinv(a)[1, 1] > 1e8
    assert (await tg.linalg.pinv(tg.asarray(a), rtol=1e-15).tolist())[1][1] == pytest.approx(1e9)


async def test_no_convergence() -> None:
    bad = tg.asarray([[1.0, float("nan")], [float("nan"), 1.0]])
    for result in (tg.linalg.eigvalsh(bad), tg.linalg.svd(bad).U, tg.linalg.pinv(bad)):
        with pytest.raises(tg.linalg.LinAlgError, match="converge"):
            await result.numpy()


async def test_bases_of_subspaces() -> None:
    x = tg.ones((3, 2))
    assert (await tg.aio.orth(x)).shape == (3, 1) and (await tg.aio.null_space(x)).shape == (2, 1)
    reads = tg.memory()["reads"]
    padded = tg.linalg.orth(x, size=2)
    assert padded.shape == (3, 2) and tg.memory()["reads"] == reads
    assert (await padded.numpy())[:, 1].tolist() == [0, 0, 0]


async def test_factors_of_halves() -> None:
    x = tg.asarray([[3, 4], [0, 5]], dtype="float16")
    assert tg.linalg.qr(x).R.dtype is tg.float32
    with pytest.raises(TypeError, match="float16"):
        np.linalg.qr(np.ones((2, 2), np.float16))


async def test_singular_matrices() -> None:
    x = tg.ones((2, 2))
    found = tg.linalg.inv(x)
    with pytest.raises(tg.linalg.LinAlgError, match="singular"):
        await found.numpy()
    assert (await tg.linalg.solve_ex(x, x)[1].item(), await tg.linalg.cholesky_ex(-x)[1].item()) == (2, 1)


async def test_arguments_of_solvers() -> None:
    x = tg.asarray([[4.0, 2], [2, 5]])
    assert (await tg.linalg.cho_factor(x)[0].numpy())[1, 0] == 0
    bad = tg.asarray([[1.0, float("nan")], [0, 1]])
    assert np.isnan(await tg.linalg.solve_triangular(bad, tg.ones(2), check_finite=True).numpy())[0]
    low = tg.asarray([[1.0, 0], [0.5, 1]])
    assert np.array_equal(await tg.linalg.solve(low, tg.ones(2)).numpy(), [1, 0.5])


async def test_expm_of_a_large_norm() -> None:
    x = tg.asarray([[-1e9, 0], [0, -1.0]])
    assert np.isnan(await tg.linalg.expm(x).numpy()).all()


async def test_filters_of_integers() -> None:
    x = tg.asarray(np.array([7, 200, 3], np.uint8))
    assert await values(tg.image.correlate1d(x, [0.5, -1.0, 0.5], mode="constant"), tg.uint8) == [93, 0, 97]


async def test_weights_of_zero() -> None:
    got = await tg.image.correlate(f32(1, float("nan"), 2, 3), [0.0, 1.0, 1.0]).numpy()
    assert np.isnan(got).tolist() == [True, True, True, False]


async def test_filters_of_nan() -> None:
    x = f32(1, float("nan"), 2, 3, 4)
    low, middle = await tg.fetch(tg.image.minimum_filter(x, 3), tg.image.median_filter(x, 3))
    assert np.isnan(low).tolist() == [True, True, True, False, False] and middle.tolist() == [1, 2, 3, 3, 4]


async def test_labels_read_nothing() -> None:
    labels, number = tg.image.label(i32(1, 0, 1, 1))
    assert await values(labels, tg.int32) == [1, 0, 2, 2] and number.dtype is tg.int32 and number.shape == ()
    places = tg.image.maximum_position(i32(3, 9, 4, 5), labels, [1, 2])
    assert await values(places, tg.int32) == [[0], [3]]


async def test_structures_are_host_data() -> None:
    x = tg.zeros((4, 4))
    for call in (
        lambda: tg.image.median_filter(x, footprint=tg.ones((3, 3))),
        lambda: tg.image.label(x, tg.ones((3, 3))),
        lambda: tg.image.affine_transform(x, tg.eye(2)),
    ):
        with pytest.raises(TypeError, match="host data"):
            call()
    assert isinstance(tg.image.generate_binary_structure(2, 1), np.ndarray)


async def test_distances_to_nothing() -> None:
    far, places = tg.image.distance_transform_edt(tg.ones((2, 2)), return_indices=True)
    assert await values(far, tg.float32) == [[np.inf] * 2] * 2 and await places.max().item() == -1


async def test_dilation_without_end() -> None:
    with pytest.raises(ValueError, match="symmetric"):
        tg.image.binary_dilation(tg.zeros((4, 4)), [[0, 0, 0], [0, 1, 1], [0, 0, 0]], 0)


async def test_places_next_to_an_end() -> None:
    x = f32(1, 2, 3)
    assert await values(tg.image.shift(x, 2.0**-18, order=1, cval=9), tg.float32) == [
        1,
        2 - 2**-18,
        3 - 2**-18,
    ]
    assert await values(tg.image.shift(x, 0.5 + 2.0**-18, order=0, cval=9), tg.float32) == [9, 2, 3]


async def test_splines_of_few_elements() -> None:
    got = await tg.image.shift(f32(1, 4), 0, order=5, mode="reflect").numpy()
    np.testing.assert_allclose(got, [1, 4], rtol=1e-6)


async def test_readers_are_awaited() -> None:
    x = f32(1, 2)
    for waiting in (x.numpy(), x[0].item(), x.tolist(), tg.fetch(x, x), tg.synchronize()):
        assert asyncio.iscoroutine(waiting)
        await waiting


@pytest.mark.js
async def test_synchronous_reads_need_a_suspendable_stack() -> None:
    x, caught, shown = f32(1), [], []

    def outside() -> None:  # called by JavaScript, where Python cannot suspend
        shown.append(repr(x))
        for read in (float, bool, int, np.asarray, lambda a: a.__array__()):
            try:
                read(x)
            except tg.SyncError as error:
                caught.append(str(error))

    run_js("(f) => { setTimeout(f, 0); }")(create_once_callable(outside))
    await asyncio.sleep(0.05)
    assert len(caught) == 5 and all("await a." in text for text in caught)
    assert shown == ["<tabgpu.Array shape=(1,) dtype=float32; read it with `await a.numpy()`>"]


@pytest.mark.skipif(not can_suspend(), reason="no JSPI")
def test_dlpack_is_no_alias() -> None:
    a = i32(1, 2)
    # NumPy from 2.1 on passes copy= on
    host = (
        np.from_dlpack(a, copy=False) if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else np.from_dlpack(a)
    )
    if host.flags.writeable:  # older ones make it read-only
        host[0] = 7
    assert not np.shares_memory(host, np.asarray(a)) and np.asarray(a).tolist() == [1, 2]


def test_representation() -> None:
    big = tg.zeros((2000, 2)) + 1
    before = tg.memory()["bytes_read"]
    assert repr(big) == repr(np.ones((2000, 2), np.float32))
    assert tg.memory()["bytes_read"] - before < 200


def test_host_values_are_copied() -> None:
    host = np.zeros(3, np.float32)
    x = tg.asarray(host)
    host[:] = 1
    with pytest.raises(ValueError, match="copy"):
        tg.asarray(host, copy=False)
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, copy=False)


async def test_numpy_functions_that_are_not_there() -> None:
    x = f32(1, 2)
    assert await values(np.add(np.ones(2, np.float32), x), tg.float32) == [2, 3]
    assert isinstance(np.sum(x), tg.Array)
    for call in (lambda: np.packbits(x), lambda: np.unpackbits(x), lambda: np.real_if_close(x)):
        with pytest.raises(TypeError):
            call()


# --- indexing and assignment ------------------------------------------------------------------------------------------


async def test_indices_out_of_range() -> None:
    x = f32(1, 2)
    with pytest.raises(IndexError):
        x[[2]]
    got = x[tg.asarray([2])] + 1
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        await got.numpy()


async def test_masks_as_indices() -> None:
    x, mask = f32(1, 2, 3), tg.asarray([True, False, True])
    assert await values(await tg.aio.getitem(x, mask), tg.float32) == [1, 3]
    reads = tg.memory()["reads"]
    bounded = tg.extract(mask, x, size=3, fill_value=-1)
    x[mask] = 5.0
    assert tg.memory()["reads"] == reads
    assert await values(bounded, tg.float32) == [1, 3, -1]
    assert await values(x, tg.float32) == [5, 2, 5]


async def test_values_for_a_mask() -> None:
    x = f32(1, 2, 3)
    x[tg.asarray([True, False, True])] = f32(1, 2, 3)
    with pytest.raises(ValueError, match="3 values to the 2 True elements"):
        await x.numpy()


async def test_zero_dimensional_arrays_as_indices() -> None:
    x = f32(1, 2, 3)
    one, k = x[tg.asarray(1)], x[1]
    x[1] = 7.0
    assert await one.item() == 2 and await k.item() == 7


async def test_order_of_accumulation() -> None:
    x, spread = tg.zeros(1), np.float32(10.0) ** np.arange(-6, 6).astype(np.float32)
    got = await x.at[tg.asarray(np.zeros(12, np.int32))].add(spread).item()
    assert abs(got - spread.astype(float).sum()) < 0.1
    assert await tg.zeros(1, dtype="int32").at[tg.asarray([0] * 9)].add(2**30).item() == 9 * 2**30 - 2**33


async def test_nan_assigned_to_integers() -> None:
    x = i32(1, 2)
    x[0] = float("nan")
    assert await values(x, tg.int32) == [0, 2]


async def test_writable_diagonals() -> None:
    x = tg.zeros((2, 2)) + 0
    tg.diagonal(x)[0] = 5.0
    assert await x.tolist() == [[5, 0], [0, 0]]
    with pytest.raises(ValueError, match="read-only"):
        tg.broadcast_to(f32(1), (3,))[0] = 2.0


async def test_assignment_is_functional_underneath() -> None:
    x = f32(1, 2)
    before = x + 1.0  # recorded, not computed
    x += 10.0
    assert await values(before, tg.float32) == [2, 3]
    assert await values(x, tg.float32) == [11, 12]
