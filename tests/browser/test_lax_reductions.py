"""tg.lax: reductions, windows, running reductions, sorts and loops against NumPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import xla_reference as xla
from arrays import numbered, on_gpu

import tabgpu as tg
from tabgpu import lax

RNG = np.random.default_rng(45)
EPS = 2.0**-24
AXES: list[tuple[int, ...]] = [(0,), (1,), (2,), (0, 2), (1, 0), (0, 1, 2), ()]


def launches() -> int:
    return int(tg.memory()["launches"])


def draw(kind: str, shape: tuple[int, ...]) -> Any:
    if kind == "c":
        return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(np.complex64)
    if kind == "f":
        return RNG.standard_normal(shape).astype(np.float32)
    if kind == "b":
        return RNG.integers(0, 2, shape) > 0
    return RNG.integers(-100, 100, shape).astype({"i": np.int32, "8": np.int8, "u": np.uint32}[kind])


NUMPY = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}


@pytest.mark.parametrize(
    ("row", "name", "kinds"),
    [("TF-45", "sum", "fic8"), ("TF-46", "prod", "fic"), ("TF-47", "max", "fi8u"), ("TF-48", "min", "fi8u")],
    ids=["TF-45-sum", "TF-46-prod", "TF-47-max", "TF-48-min"],
)
async def test_reduce(row: str, name: str, kinds: str) -> None:
    """TF-45 sum, TF-46 prod, TF-47 max, TF-48 min: several axes, one launch, the operand's dtype."""
    function = getattr(lax, f"reduce_{name}")
    for kind in kinds:
        x = draw(kind, (6, 5, 7))
        gpu = tg.asarray(x)
        await gpu.numpy()
        for axes in AXES:
            before = launches()
            got = await function(gpu, axes).numpy()
            count = launches() - before
            with np.errstate(over="ignore"):
                if kind in "fc":
                    wide = x.astype(np.complex128 if kind == "c" else np.float64)
                    want = NUMPY[name](wide, axis=axes)
                    bound = NUMPY[name](np.abs(wide), axis=axes) if name in ("sum", "prod") else np.abs(want)
                    assert np.all(np.abs(got - want) <= 400 * EPS * bound + 2.0**-120), (kind, axes)
                else:
                    want = NUMPY[name](
                        x, axis=axes, **({"dtype": x.dtype} if name in ("sum", "prod") else {})
                    )
                    assert np.array_equal(got, want)
            assert got.dtype == x.dtype and got.shape == want.shape
            assert kind in "c8" or count == 1
        turned = await function(gpu.T[::-1], (0, 2)).numpy()
        assert np.allclose(turned, await function(gpu, (2, 0)).numpy(), rtol=1e-4, atol=1e-4)
    if name in ("max", "min"):
        with pytest.raises(TypeError, match="complex numbers have no order"):
            function(tg.asarray(draw("c", (3, 3))), (0,))
        assert np.isnan(await function(tg.asarray([1.0, np.nan, 2.0]), (0,)).numpy())


async def test_reductions_of_nothing_and_of_bits() -> None:
    """An axis without elements gives the identity; and, or, xor of integers and bools."""
    empty = tg.zeros((3, 0))
    for name, want in [("sum", 0), ("prod", 1), ("max", -np.inf), ("min", np.inf)]:
        assert np.array_equal(await getattr(lax, f"reduce_{name}")(empty, (1,)).numpy(), np.full(3, want))
    got = await lax.reduce_max(empty.astype("int8"), (1,)).numpy()
    assert got.dtype == np.int8 and np.array_equal(got, [-128] * 3)
    assert np.array_equal(await lax.reduce_min(empty.astype("bool"), (1,)).numpy(), [True] * 3)
    bits = draw("i", (5, 8))
    for name, function in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        for x in (bits, bits > 0):
            ours = getattr(lax, f"reduce_{name}")
            for axis in (0, 1):
                assert np.array_equal(
                    await ours(tg.asarray(x), (axis,)).numpy(), function.reduce(x, axis=axis)
                ), name
    with pytest.raises(TypeError, match="takes integers and bools"):
        lax.reduce_and(tg.ones(3), (0,))


async def test_reduce_with_a_monoid() -> None:
    x = draw("i", (4, 6))
    for given in ("add", lax.add, tg.add):
        got = await lax.reduce(tg.asarray(x), 10, given, (1,)).numpy()
        assert np.array_equal(got, x.sum(1) + 10)
    got = await lax.reduce(tg.asarray(x), tg.asarray(5), lax.max, (0, 1)).numpy()
    assert got == max(5, x.max())
    with pytest.raises(TypeError, match="computation is one of add, mul"):
        lax.reduce(tg.asarray(x), 0, lambda a, b: a - b, (0,))


async def test_positions_and_running_reductions() -> None:
    x = draw("f", (5, 9))
    x[2, 4] = x[2, 7] = np.nan
    gpu = tg.asarray(x)
    for axis in (0, 1):
        assert np.array_equal(await lax.argmax(gpu, axis).numpy(), np.argmax(x, axis))
        got = await lax.argmin(gpu, axis, "uint32").numpy()
        assert got.dtype == np.uint32 and np.array_equal(got, np.argmin(x, axis))
    y = draw("f", (5, 9))
    whole = y.astype(float)
    table = {
        "cumsum": np.cumsum, "cumprod": np.cumprod, "cummax": np.maximum.accumulate, "cummin": np.minimum.accumulate,
        "cumlogsumexp": np.logaddexp.accumulate,
    }  # fmt: skip
    for (name, function), axis, reverse in itertools.product(table.items(), (0, 1), (False, True)):
        turned = np.flip(whole, axis) if reverse else whole
        want = function(turned, axis=axis)
        want = np.flip(want, axis) if reverse else want
        got = await getattr(lax, name)(tg.asarray(y), axis, reverse).numpy()
        assert np.allclose(got, want, rtol=1e-5, atol=1e-5), name
    k = numbered((40,), "int8")
    got = await lax.cumsum(tg.asarray(k)).numpy()
    assert got.dtype == np.int8 and np.array_equal(got, np.cumsum(k, dtype=np.int8))


WINDOWS = [
    ((9,), (3,), (1,), "VALID", (1,), (1,)),
    ((9,), (4,), (2,), "SAME", (1,), (1,)),
    ((6, 7), (2, 3), (1, 2), ((0, 1), (2, 0)), (1, 1), (1, 1)),
    ((6, 7), (2, 2), (2, 1), "SAME", (2, 1), (1, 3)),
    ((4, 5, 6), (2, 1, 3), (1, 2, 2), ((1, 1), (0, -1), (-1, 2)), (1, 3, 1), (2, 1, 1)),
    ((1, 3, 5, 5), (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1)), (1, 1, 1, 1), (1, 1, 1, 1)),
    ((3, 2), (5, 1), (1, 1), "VALID", (1, 1), (1, 1)),
]


@pytest.mark.parametrize("case", range(len(WINDOWS)))
async def test_reduce_window(case: int) -> None:
    """Sums, maxima, minima, products of windows of 1 to 4 axes: strides, padding of any sign, both dilations."""
    shape, size, stride, padding, base, dilation = WINDOWS[case]
    x = RNG.integers(-4, 5, shape).astype(np.float32)
    dilated = [(n - 1) * g + 1 for n, g in zip(shape, base, strict=True)]
    reach = [(w - 1) * h + 1 for w, h in zip(size, dilation, strict=True)]
    pads = lax.padtype_to_pads(dilated, reach, stride, padding) if isinstance(padding, str) else padding
    gpu = tg.asarray(x)
    await gpu.numpy()
    for name, init, combine in [("add", 0, np.add), ("max", -np.inf, np.maximum), (lax.min, np.inf, np.minimum),
                                ("mul", 1, np.multiply), ("add", 2, np.add)]:  # fmt: skip
        before = launches()
        got = await lax.reduce_window(gpu, float(init), name, size, stride, padding, base, dilation).numpy()
        want = xla.reduce_window(x, np.float32(init), combine, size, stride, pads, base, dilation)
        assert got.shape == want.shape and np.array_equal(got, want), (name, got, want)
        assert launches() - before <= 2
    k = RNG.integers(-100, 100, shape).astype(np.int8)
    got = await lax.reduce_window(tg.asarray(k), -128, "max", size, stride, padding, base, dilation).numpy()
    want = xla.reduce_window(k, np.int8(-128), np.maximum, size, stride, pads, base, dilation)
    assert got.dtype == np.int8 and np.array_equal(got, want)
    with pytest.raises(ValueError, match="need a number of at least 1"):
        lax.reduce_window(gpu, 0.0, "add", (0,) * len(shape))


async def test_sort_and_top_k() -> None:
    x = RNG.integers(0, 4, (3, 20)).astype(np.int32)
    y = RNG.standard_normal((3, 20)).astype(np.float32)
    y[1, 3] = np.nan
    z = np.arange(60, dtype=np.float32).reshape(3, 20)
    assert np.array_equal(await lax.sort(tg.asarray(y), 0).numpy(), np.sort(y, 0), equal_nan=True)
    for keys, axis in itertools.product((1, 2), (0, 1)):
        got = await tg.fetch(*lax.sort((tg.asarray(x), tg.asarray(y), tg.asarray(z)), axis, num_keys=keys))
        order = np.lexsort((x,) if keys == 1 else (y, x), axis=axis)
        for a, b in zip(got, (x, y, z), strict=True):
            assert np.array_equal(a, np.take_along_axis(b, order, axis), equal_nan=True)
    values, at = await tg.fetch(*lax.top_k(tg.asarray(y), 3))
    assert np.isnan(values[1, 0]) and at[1, 0] == 3
    order = np.argsort(np.where(np.isnan(y), -np.inf, -y), axis=1, kind="stable")[:, :3]
    assert np.array_equal(at, order)
    with pytest.raises(ValueError, match="num_keys = 4 for 1"):
        lax.sort((tg.asarray(x),), num_keys=4)


async def test_loops() -> None:
    """fori_loop, scan and map with trip counts of the host; cond by a host bool or by an Array, which reads nothing."""
    x = draw("f", (6, 4))
    got = lax.fori_loop(1, 5, lambda i, v: v * 2 + i, tg.asarray(x))
    want = x.astype(float)
    for i in range(1, 5):
        want = want * 2 + i
    assert np.allclose(await got.numpy(), want, rtol=1e-5)
    for reverse in (False, True):
        carry, ys = lax.scan(
            lambda c, v: (c + v["a"], (c * 2, v["b"])),
            tg.zeros(4),
            {"a": tg.asarray(x), "b": tg.asarray(x) + 1},
            reverse=reverse,
        )
        order = range(6)[::-1] if reverse else range(6)
        c, first = np.zeros(4), np.zeros((6, 4))
        for i in order:
            first[i] = c * 2
            c = c + x[i]
        assert np.allclose(await carry.numpy(), c, atol=1e-5) and np.allclose(
            await ys[0].numpy(), first, atol=1e-5
        )
        assert np.allclose(await ys[1].numpy(), x + 1)
    count, none = lax.scan(lambda c, _: (c + 1, None), tg.asarray(0), length=7)
    assert none is None and await count.item() == 7
    assert np.allclose(await lax.map(lambda row: row.sum(), tg.asarray(x)).numpy(), x.sum(1), atol=1e-5)
    reads = tg.memory()["reads"]
    picked = [
        lax.cond(tg.asarray(x)[0, 0] > k, lambda v: (v + 1, v), lambda v: (v - 1, v * 2), tg.asarray(x))
        for k in (-99, 99)
    ]
    assert tg.memory()["reads"] == reads
    assert np.allclose(await picked[0][0].numpy(), x + 1) and np.allclose(await picked[1][1].numpy(), x * 2)
    assert lax.cond(False, lambda: 1, lambda: 2) == 2
    with pytest.raises(ValueError, match="needs one length"):
        lax.scan(lambda c, v: (c, v), 0, (tg.zeros(3), tg.zeros(4)))
    with pytest.raises(TypeError, match="different structure"):
        lax.cond(tg.asarray(True), lambda: (1, 2), lambda: (1,))


async def test_narrow_operands() -> None:
    """float16 and bfloat16 keep their dtype, and are summed in float32."""
    for name in ("float16", "bfloat16"):
        x = np.full((300, 3), 0.1, np.float32)
        gpu = on_gpu(x, "float32").astype(name)
        one = float(await gpu[0, 0].astype(tg.float32).numpy())
        made = lax.reduce_sum(gpu, (0,))
        assert made.dtype == name
        assert np.allclose(await made.astype(tg.float32).numpy(), one * 300, rtol=2.0**-8)
