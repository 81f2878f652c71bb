"""Pools of tg.nn against windows in float64: arguments, layouts, dtypes, special values, launches. Runs in the tab."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import windowed
from forms import form  # noqa: F401  # a fixture

import tabgpu as tg
from tabgpu import nn
from tabgpu.nn import pooling

EPS = 2.0**-24
SHAPES: dict[int, tuple[int, ...]] = {1: (2, 3, 29), 2: (2, 3, 11, 14), 3: (2, 2, 5, 6, 9)}
MAX = {1: nn.max_pool1d, 2: nn.max_pool2d, 3: nn.max_pool3d}
AVG = {1: nn.avg_pool1d, 2: nn.avg_pool2d, 3: nn.avg_pool3d}
LP = {1: nn.lp_pool1d, 2: nn.lp_pool2d, 3: nn.lp_pool3d}
TO_MAX = {1: nn.adaptive_max_pool1d, 2: nn.adaptive_max_pool2d, 3: nn.adaptive_max_pool3d}
TO_AVG = {1: nn.adaptive_avg_pool1d, 2: nn.adaptive_avg_pool2d, 3: nn.adaptive_avg_pool3d}
BACK = {1: nn.max_unpool1d, 2: nn.max_unpool2d, 3: nn.max_unpool3d}


def draw(shape: Any, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng([seed, 7]).standard_normal(shape) * 3).astype(np.float32)


def axes_of(x: np.ndarray, rank: int, k: Any, s: Any, p: Any, d: Any = 1, ceil: bool = False) -> Any:
    one = lambda v: v if isinstance(v, tuple) else (v,) * rank
    s = k if s is None else s
    given = zip(x.shape[-rank:], one(k), one(s), one(p), one(d), strict=True)
    return [windowed.spans(n, a, b, c, e, ceil) for n, a, b, c, e in given]


def near(got: np.ndarray, want: np.ndarray, size: Any, terms: int) -> None:
    """Within (terms + 3) 2^-24 of the greatest sum of magnitudes that a window may have, here `size`."""
    assert got.shape == want.shape and got.dtype == np.float32
    assert (np.abs(got - want) <= (terms + 3) * EPS * size).all(), float(np.abs(got - want).max())


@pytest.mark.limits
@pytest.mark.parametrize("rank", [1, 2, 3])
async def test_max_pools(rank: int) -> None:
    """Each kernel, stride, padding, dilation and ceil_mode, with places and without."""
    x = draw(SHAPES[rank])
    g = tg.asarray(x)
    for k, s, p, d, ceil in product((2, 3), (None, 1, 3), (0, 1), (1, 2), (False, True)):
        axes = axes_of(x, rank, k, s, p, d, ceil)
        values, places = MAX[rank](g, k, s, p, d, ceil, True)
        got = await tg.fetch(values, places, MAX[rank](g, k, s, p, d, ceil))
        want = windowed.pooled(x, axes, windowed.greatest)
        assert np.array_equal(got[0], want) and np.array_equal(got[2], want), (k, s, p, d, ceil)
        assert got[1].dtype == np.int32
        assert np.array_equal(got[1], windowed.pooled(x, axes, windowed.where_greatest))


@pytest.mark.limits
@pytest.mark.parametrize("rank", [1, 2, 3])
async def test_average_pools(rank: int) -> None:
    x = draw(SHAPES[rank], 1)
    g = tg.asarray(x)
    for k, s, p, ceil, padded in product((2, 3), (None, 1, 3), (0, 1), (False, True), (False, True)):
        got = await AVG[rank](g, k, s, p, ceil, padded).numpy()
        axes = axes_of(x, rank, k, s, p, 1, ceil)
        near(got, windowed.pooled(x, axes, windowed.mean(padded)), np.abs(x).max(), 4)
        if rank > 1:
            got = await AVG[rank](g, k, s, p, ceil, padded, 5).numpy()
            near(got, windowed.pooled(x, axes, windowed.mean(padded, 5)), np.abs(x).max() * k**rank / 5, 4)


async def test_hz_82_avg_pool2d() -> None:
    """HZ-82: kernels and strides of their own on each axis."""
    x = draw((2, 3, 13, 10))
    for k, s in (((2, 3), None), ((3, 2), (1, 2)), (2, 2), ((1, 4), (3, 1)), ((13, 10), (1, 1))):
        got = await nn.avg_pool2d(tg.asarray(x), k, s).numpy()
        near(got, windowed.pooled(x, axes_of(x, 2, k, s, 0), windowed.mean(True)), np.abs(x).max(), 16)


async def test_hz_83_max_pool2d() -> None:
    """HZ-83: kernels and strides of their own on each axis."""
    x = draw((2, 3, 13, 10))
    for k, s, p in (
        ((2, 3), None, 0),
        ((3, 2), (1, 2), (1, 0)),
        (2, 2, 1),
        ((1, 4), (3, 1), (0, 2)),
        (10, 1, 5),
    ):
        got = await nn.max_pool2d(tg.asarray(x), k, s, p).numpy()
        assert np.array_equal(got, windowed.pooled(x, axes_of(x, 2, k, s, p), windowed.greatest))


@pytest.mark.parametrize(
    "name", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "bfloat16"]
)
async def test_dtypes(name: str) -> None:
    """Extreme values too; sums of narrow floats in float32, rounded once."""
    narrow = name in ("float16", "bfloat16")
    if narrow:
        g = tg.asarray(draw((3, 5, 9)) * 100).astype(name)
    else:
        info = np.iinfo(name)
        full = np.random.default_rng(3).integers(info.min, info.max, (3, 5, 9), name, endpoint=True)
        full[0, :3] = info.min
        full[1, 2, 3] = info.max
        g = tg.asarray(full)
    x = await g.astype(tg.float32).numpy() if narrow else full
    for k, p in ((2, 1), (3, 0), (5, 2)):
        axes = axes_of(x, 2, k, None, p)
        values, places = nn.max_pool2d(g, k, padding=p, return_indices=True)
        alone = nn.max_pool2d(g, k, padding=p)
        assert values.dtype == alone.dtype == g.dtype
        if narrow:
            values, alone = values.astype(tg.float32), alone.astype(tg.float32)
        a, b, c = await tg.fetch(values, places, alone)
        want = windowed.pooled(x, axes, windowed.greatest)
        assert np.array_equal(a, want) and np.array_equal(c, want)
        assert np.array_equal(b, windowed.pooled(x, axes, windowed.where_greatest))
        mean = nn.avg_pool2d(g, k, padding=p)
        assert mean.dtype == (g.dtype if narrow else tg.float32)
        got = await mean.astype(tg.float32).numpy()
        want = windowed.pooled(x, axes, windowed.mean(True))
        step = {"float16": 2.0**-11, "bfloat16": 2.0**-8}.get(name, 0)
        bound = step * np.abs(want) + 40 * EPS * np.abs(x.astype(np.float64)).max()
        assert (np.abs(got - want) <= bound).all()


async def test_v10_padding_and_values_that_are_not_finite(form: str) -> None:
    """V10: padding is -inf for max, zeros for means; a NaN wins wherever it lies, also at the border."""
    x = np.full((1, 2, 5, 6), -np.inf, np.float32)
    x[0, 0, 0, 0], x[0, 0, 4, 5], x[0, 1, 2, 2], x[0, 1, 2, 3] = np.nan, -1e30, np.nan, np.inf
    g = tg.asarray(x)
    axes = axes_of(x, 2, 3, 2, 1)
    values, places, alone = await tg.fetch(
        *nn.max_pool2d(g, 3, 2, 1, return_indices=True), nn.max_pool2d(g, 3, 2, 1)
    )
    want = windowed.pooled(x, axes, windowed.greatest)
    assert np.array_equal(values, want, equal_nan=True) and np.array_equal(alone, want, equal_nan=True)
    assert np.array_equal(places, windowed.pooled(x, axes, windowed.where_greatest))
    y = draw((1, 2, 5, 6))
    y[0, 0, 0, 0], y[0, 1, 4, 4], y[0, 1, 0, 0] = np.nan, np.inf, -np.inf
    for padded in (True, False):
        got = await nn.avg_pool2d(tg.asarray(y), 3, 2, 1, count_include_pad=padded).numpy()
        want = windowed.pooled(y, axes, windowed.mean(padded))
        assert np.array_equal(np.isnan(got), np.isnan(want)) and np.allclose(
            got, want, atol=1e-5, equal_nan=True
        )
    zeros = np.array([[[-0.0, 0.0, 0.0, -0.0]]], np.float32)
    got, at = await tg.fetch(*nn.max_pool1d(tg.asarray(zeros), 2, return_indices=True))
    assert at.ravel().tolist() == [0, 2] and np.signbit(got).ravel().tolist() == [True, False]


VIEWS = {
    "channels last": lambda a: a.transpose(0, 3, 1, 2),
    "reversed": lambda a: a[::-1, ::-1, ::-1, ::-1],
    "strided": lambda a: a[:, ::2, 1::2, ::3],
    "swapped": lambda a: a.transpose(1, 0, 3, 2),
    "without a batch": lambda a: a[1],
    "one row": lambda a: a[:, :, 2:3],
}


@pytest.mark.parametrize("how", VIEWS)
async def test_views(how: str) -> None:
    """Read where they lie: no copy."""
    x = draw((2, 4, 9, 8))
    a, g = VIEWS[how](x), VIEWS[how](tg.asarray(x))
    k = (1, 2) if how == "one row" else 2
    want = windowed.pooled(np.ascontiguousarray(a), axes_of(a, 2, k, 1, 0), windowed.greatest)
    await tg.synchronize()
    before = tg.device().counters.launches
    got = await nn.max_pool2d(g, k, 1).numpy()
    assert tg.device().counters.launches - before == 1
    assert np.array_equal(got, want)
    got = await nn.avg_pool2d(g, k, 1).numpy()
    near(got, windowed.pooled(np.ascontiguousarray(a), axes_of(a, 2, k, 1, 0), windowed.mean(True)), 12, 4)


async def test_pending_broadcast_and_host_operands() -> None:
    x = draw((2, 3, 8))
    got = await (nn.max_pool1d(tg.asarray(x) * 2 + 1, 2) * 3).numpy()
    assert np.allclose(got, (x * 2 + 1).reshape(2, 3, 4, 2).max(-1) * 3)
    wide = tg.broadcast_to(tg.asarray(x[:, :, :1]), (2, 3, 8))
    assert np.array_equal(await nn.max_pool1d(wide, 4).numpy(), np.repeat(x[:, :, :1], 2, 2))
    assert np.array_equal(await nn.max_pool1d(x, 8).numpy(), x.max(-1, keepdims=True))
    assert await nn.avg_pool1d(tg.full((1, 1, 6), 2.5), 3).tolist() == [[[2.5, 2.5]]]
    assert await nn.avg_pool1d(tg.arange(6).reshape(1, 1, 6), 3).tolist() == [[[1.0, 4.0]]]


@pytest.mark.parametrize("rank", [1, 2, 3])
async def test_power_pools(rank: int) -> None:
    x = np.abs(draw(SHAPES[rank], 2))
    g = tg.asarray(x)
    for p, k, s, ceil in product((1, 2, 3.5), (2, 3), (None, 1), (False, True)):
        axes = axes_of(x, rank, k, s, 0, 1, ceil)
        want = windowed.pooled(
            x, axes, lambda v, n, _: ((v.astype(np.float64) ** p).sum(-1) / n * k**rank) ** (1 / p)
        )
        got = await LP[rank](g, p, k, s, ceil).numpy()
        assert got.shape == want.shape and np.allclose(got, want, rtol=4e-6), (p, k, s, ceil)
    got = await LP[rank](tg.asarray(-x), float("inf"), 2).numpy()
    assert np.array_equal(got, windowed.pooled(x, axes_of(x, rank, 2, None, 0), windowed.greatest))
    # powers of x, not of |x|
    odd = await nn.lp_pool1d(tg.asarray([[[-3.0, 1.0, 3.0, 1.0]]]), 3, 2).numpy()
    assert np.isnan(odd[0, 0, 0]) and np.isclose(odd[0, 0, 1], 28 ** (1 / 3))


@pytest.mark.parametrize("rank", [1, 2, 3])
async def test_adaptive_pools(rank: int) -> None:
    x = draw(SHAPES[rank], 4)
    g = tg.asarray(x)
    sizes = x.shape[-rank:]
    for out in (1, 2, 3, 4, 13, (None,) * (rank - 1) + (5,)):
        outs = [n if o is None else o for n, o in zip(sizes, out if type(out) is tuple else (out,) * rank)]
        axes = [windowed.adaptive(n, o) for n, o in zip(sizes, outs)]
        values, places = TO_MAX[rank](g, out, True)
        a, b, c, d = await tg.fetch(values, places, TO_MAX[rank](g, out), TO_AVG[rank](g, out))
        want = windowed.pooled(x, axes, windowed.greatest)
        assert np.array_equal(a, want) and np.array_equal(c, want), out
        assert np.array_equal(b, windowed.pooled(x, axes, windowed.where_greatest))
        near(d, windowed.pooled(x, axes, windowed.mean(False)), np.abs(x).max(), 8)


@pytest.mark.limits
@pytest.mark.parametrize("shape", [(1, 1, 3000), (3, 2, 40, 41), (2, 1, 9, 40, 11)], ids=str)
async def test_large_windows(shape: Any, form: str) -> None:
    """Few windows of many elements: a workgroup shares each."""
    rank = len(shape) - 2
    x = draw(shape) + 5
    x.ravel()[-7] = x.max() + 1
    g = tg.asarray(x)
    k = tuple(n - 1 for n in shape[2:])
    axes = axes_of(x, rank, k, 1, 0)
    values, places = MAX[rank](g, k, 1, return_indices=True)
    a, b, c = await tg.fetch(values, places, AVG[rank](g, k, 1))
    assert np.array_equal(a, windowed.pooled(x, axes, windowed.greatest))
    assert np.array_equal(b, windowed.pooled(x, axes, windowed.where_greatest))
    assert np.allclose(c, windowed.pooled(x, axes, windowed.mean(True)), rtol=1e-6)
    flat = x.reshape(1, 1, -1)
    half = nn.avg_pool1d(tg.asarray(flat).astype(tg.float16), 2000, 500)
    h = await half.astype(tg.float32).numpy()
    want = windowed.pooled(flat, [windowed.spans(x.size, 2000, 500, 0)], windowed.mean(True))
    assert np.allclose(h, want, rtol=2e-3)
    some = np.full((1, 1, 2500), 3, np.int32)
    some[0, 0, [700, 701, 1999]] = 9
    assert (await nn.max_pool1d(tg.asarray(some), 2500, return_indices=True)[1].tolist()) == [[[700]]]
    low = np.full((1, 1, 2500), np.iinfo(np.int32).min, np.int32)
    assert (await nn.max_pool1d(tg.asarray(low), 2000, 1, return_indices=True)[1].numpy())[0, 0, 3] == 3


async def test_long_sums_keep_their_error() -> None:
    """R08: means of many numbers far from zero."""
    x = (1e4 + draw((1, 1, 200_000))).astype(np.float32)
    got = await nn.avg_pool1d(tg.asarray(x), 150_000, 50_000).numpy()
    want = [x[0, 0, :150_000].astype(np.float64).mean(), x[0, 0, 50_000:].astype(np.float64).mean()]
    assert np.allclose(got, want, rtol=2e-6)


@pytest.mark.parametrize("rank", [1, 2, 3])
async def test_the_way_back(rank: int) -> None:
    x = draw(SHAPES[rank], 5)
    for name, k, s in (("float32", 2, None), ("float32", 3, 2), ("float16", 2, None)):
        g = tg.asarray(x).astype(name)
        values, places = MAX[rank](g, k, s, return_indices=True)
        back = BACK[rank](values, places, k, s, output_size=x.shape)
        v, p, b = await tg.fetch(values.astype(tg.float32), places, back.astype(tg.float32))
        want = np.zeros((x.shape[0] * x.shape[1], np.prod(x.shape[2:])), np.float32)
        np.put_along_axis(want, p.reshape(len(want), -1), v.reshape(len(want), -1), 1)
        assert back.shape == x.shape and back.dtype == g.dtype and np.array_equal(b, want.reshape(x.shape))
    one = nn.max_unpool1d(tg.asarray([[[5.0, 6.0]]]), tg.asarray([[[1, 2]]]), 2)
    assert await one.tolist() == [[[0, 5, 6, 0]]]
    with pytest.raises(ValueError, match="a stride or more from"):
        nn.max_unpool1d(tg.ones((1, 1, 2)), tg.zeros((1, 1, 2), tg.int32), 2, output_size=(7,))
    with pytest.raises(ValueError, match="indices must be integers"):
        nn.max_unpool1d(tg.ones((1, 1, 2)), tg.zeros((1, 1, 2)), 2)
    with pytest.raises(IndexError):
        await nn.max_unpool1d(tg.ones((1, 1, 2)), tg.asarray([[[0, 9]]]), 2).numpy()


@pytest.mark.parametrize("rank", [2, 3])
async def test_fractional_pools(rank: int) -> None:
    """Windows begin at whole parts of multiples of a step, from a random number on; the last one at the end."""
    call = {2: nn.fractional_max_pool2d, 3: nn.fractional_max_pool3d}[rank]
    x = draw((2, 3, 9, 8, 10)[: 2 + rank], 6)
    u = np.random.default_rng(2).random((2, 3, rank)).astype(np.float32)
    k, outs = (2, 1, 3)[:rank], (4, 5, 3)[:rank]
    values, places = await tg.fetch(*call(tg.asarray(x), k, outs, return_indices=True, _random_samples=u))
    for spot in np.ndindex(2, 3):
        axes = []
        for axis, (n, a, o) in enumerate(zip(x.shape[2:], k, outs)):
            r, step = u[spot][1 - axis if rank == 2 else axis], np.float32((n - a) / (o - 1))
            begin = [int((np.float32(j) + r) * step) - int(r * step) for j in range(o - 1)] + [n - a]
            axes.append([(list(range(b, b + a)), a) for b in begin])
        assert np.array_equal(values[spot], windowed.pooled(x[spot], axes, windowed.greatest))
        assert np.array_equal(places[spot], windowed.pooled(x[spot], axes, windowed.where_greatest))
    key = tg.random.key(3)
    a, b, c = await tg.fetch(
        *[call(tg.asarray(x), 2, output_ratio=0.5, key=one) for one in (key, key, tg.random.key(4))]
    )
    assert (
        a.shape == (2, 3, *[n // 2 for n in x.shape[2:]])
        and np.array_equal(a, b)
        and not np.array_equal(a, c)
    )
    for options, error, text in (
        ({"output_size": 3}, TypeError, "key"),
        ({"key": key}, ValueError, "output_size or output_ratio"),
        ({"key": key, "output_ratio": 1.5}, ValueError, "output_ratio must be"),
        ({"key": key, "output_size": 9}, ValueError, "do not fit"),
        ({"output_size": 3, "_random_samples": u[:1]}, ValueError, "_random_samples must be"),
    ):
        with pytest.raises(error, match=text):
            call(x, 2, **options)


async def test_what_onnx_asks_beyond() -> None:
    """Padding of its own on each side, dilated means, sums of powers of |x|."""
    x = draw((1, 2, 7, 9))
    g = tg.asarray(x)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 2), (0, 3)), constant_values=-np.inf)
    made = pooling.pool("max", g, 2, (3, 4), (2, 3), ((1, 2), (0, 3)), (1, 1), False, "MaxPool")
    want = windowed.pooled(padded, axes_of(padded, 2, (3, 4), (2, 3), 0), windowed.greatest)
    assert np.array_equal(await made.numpy(), want)
    made = pooling.pool("avg", g, 2, (2, 2), (1, 1), ((0, 0), (0, 0)), (3, 2), False, "AveragePool")
    want = windowed.pooled(x, axes_of(x, 2, 2, 1, 0, (3, 2)), windowed.mean(False))
    near(await made.numpy(), want, np.abs(x).max(), 4)
    made = pooling.pool(
        "lpabs",
        g,
        2,
        (2, 3),
        (2, 3),
        ((0, 0), (0, 0)),
        (1, 1),
        False,
        "LpPool",
        divisor=1,
        numbers=(3, 1 / 3),
    )
    want = windowed.pooled(
        x,
        axes_of(x, 2, (2, 3), None, 0),
        lambda v, n, _: (np.abs(v.astype(np.float64)) ** 3).sum(-1) ** (1 / 3),
    )
    assert np.allclose(await made.numpy(), want, rtol=4e-6)


async def test_launches() -> None:
    """One each; max with places too."""
    counters = tg.device().counters
    g = tg.asarray(draw((2, 3, 12, 12)))
    half = g.astype(tg.float16)
    await tg.fetch(g, half)
    calls = {
        "max": lambda: nn.max_pool2d(g, 2),
        "max of halves": lambda: nn.max_pool2d(half, 2),
        "places": lambda: nn.max_pool2d(g, 2, return_indices=True)[1],
        "avg": lambda: nn.avg_pool2d(g, 3, 1, 1),
        "avg of halves": lambda: nn.avg_pool2d(half, 3, 1, 1),
        "lp": lambda: nn.lp_pool2d(g, 2, 2),
        "adaptive": lambda: nn.adaptive_avg_pool2d(g, 5),
        "global": lambda: nn.adaptive_avg_pool2d(g, 1),
        "after and before": lambda: nn.relu(nn.adaptive_avg_pool2d(nn.relu(g), 1)),
    }
    for name, call in calls.items():
        before = counters.launches
        await call().numpy()
        assert counters.launches - before <= 1 + (name == "places"), name  # places are a view, read packed


async def test_500_shapes_compile_little() -> None:
    before = tg.device().counters.pipelines
    rng = np.random.default_rng(0)
    made = []
    for _ in range(500):
        n, c, h, w = rng.integers(1, 5, 4) + (0, 0, 4, 4)
        k, s, d = rng.integers(1, 4, 3)
        p = int(rng.integers(0, k // 2 + 1))
        if min(h, w) + 2 * p < d * (k - 1) + 1:
            continue
        g = tg.zeros((int(n), int(c), int(h), int(w))) + 1.5
        ceil = bool(rng.integers(2))
        made.append(nn.max_pool2d(g, int(k), int(s), p, int(d), ceil))
        if min(h, w) + 2 * p >= k:
            made.append(nn.avg_pool2d(g, int(k), int(s), p, ceil))
    assert len(made) > 500
    got = await tg.fetch(*made)
    assert all((a == 1.5).all() for a in got[::2][:3])
    assert tg.device().counters.pipelines - before <= 8


async def test_empty_and_one() -> None:
    assert nn.max_pool2d(tg.ones((0, 3, 4, 4)), 2).shape == (0, 3, 2, 2)
    assert (await nn.avg_pool1d(tg.ones((0, 3, 4)), 2).numpy()).shape == (0, 3, 2)
    values, places = nn.max_pool1d(tg.ones((0, 3, 4)), 2, return_indices=True)
    assert values.shape == places.shape == (0, 3, 2) and places.dtype == tg.int32
    assert nn.adaptive_avg_pool2d(tg.ones((2, 3, 4, 4)), (0, 2)).shape == (2, 3, 0, 2)
    assert await nn.max_pool3d(tg.full((1, 1, 1, 1, 1), -7.0), 1).tolist() == [[[[[-7.0]]]]]


async def test_wrong_arguments() -> None:
    g = tg.ones((1, 2, 6, 6))
    for call, error, text in [
        (
            lambda: nn.max_pool2d(tg.ones((6, 6)), 2),
            ValueError,
            r"max_pool2d: needs a 3-D or 4-D array.*\(6, 6\)",
        ),
        (lambda: nn.max_pool2d(g, 7), ValueError, r"max_pool2d: a kernel of \(7, 7\).*larger than \(6, 6\)"),
        (lambda: nn.max_pool2d(g, 3, padding=2, dilation=3), ValueError, "more than half"),
        (lambda: nn.max_pool2d(g, 0), ValueError, "kernel_size must be at least 1"),
        (lambda: nn.max_pool2d(g, 2, 0), ValueError, "stride must be at least 1"),
        (lambda: nn.max_pool2d(g, (2, 2, 2)), ValueError, "an int or 2 of them"),
        (lambda: nn.max_pool2d(g, 2.5), TypeError, "kernel_size must be an int"),
        (lambda: nn.max_pool2d(g > 0, 2), TypeError, "bool"),
        (lambda: nn.max_pool2d(g.astype(tg.complex64), 2), TypeError, "complex64"),
        (lambda: nn.avg_pool2d(g.astype(tg.complex64), 2), TypeError, "complex64"),
        (lambda: nn.avg_pool2d(g, 2, divisor_override=0), ValueError, "divisor_override"),
        (lambda: nn.lp_pool2d(g, 0, 2), ValueError, "norm_type"),
        (lambda: nn.adaptive_avg_pool2d(g, (2, 2, 2)), ValueError, "output_size"),
        (lambda: nn.adaptive_avg_pool2d(g, -1), ValueError, "output_size must be at least 0"),
        (lambda: nn.max_pool1d(tg.ones((2, 0, 6)), 2), ValueError, "must not be empty"),
    ]:
        with pytest.raises(error, match=text):
            call()
