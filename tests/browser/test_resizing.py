"""interpolate, resize, and shuffles of tg.nn against float64 and exact arithmetic. Runs in the tab."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import resized

import tabgpu as tg
from tabgpu import nn
from tabgpu.nn import resizing

EPS = 2.0**-24
MODES = {3: ("linear",), 4: ("bilinear", "bicubic"), 5: ("trilinear",)}
SHAPES: dict[int, tuple[int, ...]] = {3: (2, 3, 11), 4: (2, 3, 6, 9), 5: (2, 2, 4, 5, 3)}


def draw(shape: Any, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng([seed, 8]).standard_normal(shape) * 3).astype(np.float32)


def kind_of(mode: str) -> str:
    return "cubic" if mode == "bicubic" else "linear"


def near(got: np.ndarray, want: np.ndarray, x: np.ndarray, steps: float = 4) -> None:
    """Places are counted in float32: an error of `steps` 2^-24 of the longest axis moves a sample that much."""
    assert got.shape == want.shape
    bound = 2 * np.abs(x).max() * EPS * (16 + steps * max(x.shape))
    assert (np.abs(got - want) <= bound).all(), float((np.abs(got - want) / bound).max())


@pytest.mark.limits
@pytest.mark.parametrize("rank,aligned", list(product((3, 4, 5), (None, False, True))), ids=str)
async def test_weighted_modes(rank: int, aligned: bool | None) -> None:
    x = draw(SHAPES[rank])
    g = tg.asarray(x)
    for mode, size in product(MODES[rank], (1, 2, 5, 9, 14)):
        place = resized.corners if aligned else resized.half_pixel
        ways = [resized.weights(n, size, place(n, size), kind_of(mode)) for n in x.shape[2:]]
        got = await nn.interpolate(g, size, mode=mode, align_corners=aligned).numpy()
        near(got, resized.resized(x, ways), x)


async def test_hz_86_upsample_bilinear2d() -> None:
    """HZ-86: align_corners with and without, scales that the sizes do not follow from."""
    x = draw((2, 3, 7, 5))
    g = tg.asarray(x)
    for aligned, size in product((False, True), ((14, 10), (9, 16), (3, 2))):
        place = resized.corners if aligned else resized.half_pixel
        ways = [resized.weights(n, o, place(n, o), "linear") for n, o in zip(x.shape[2:], size)]
        got = await nn.interpolate(g, size, mode="bilinear", align_corners=aligned).numpy()
        near(got, resized.resized(x, ways), x)
    for scales in ((2.0, 1.7), (1.3, 2.5), (0.6, 3.9)):
        for again in (None, False, True):
            outs = [int(n * s) for n, s in zip(x.shape[2:], scales)]
            ways = []
            for n, o, s in zip(x.shape[2:], outs, scales):
                step = n / o if again else 1 / s
                ways.append(resized.weights(n, o, (step, 0.5, -0.5), "linear"))
            got = await nn.interpolate(
                g, scale_factor=scales, mode="bilinear", recompute_scale_factor=again
            ).numpy()
            near(got, resized.resized(x, ways), x)


async def test_hz_84_upsample_nearest1d() -> None:
    """HZ-84: each whole factor, and sizes between."""
    x = draw((2, 3, 12))
    g = tg.asarray(x)
    for out in (1, 3, 6, 7, 12, 13, 24, 36, 60):
        got = await nn.interpolate(g, out).numpy()
        assert np.array_equal(got, x[:, :, np.arange(out) * 12 // out]), out
    for factor in (1, 2, 3, 5):
        got = await nn.interpolate(g, scale_factor=factor, mode="nearest").numpy()
        assert np.array_equal(got, np.repeat(x, factor, 2))


async def test_hz_85_upsample_nearest2d() -> None:
    """HZ-85: factors of their own on each axis."""
    x = draw((2, 3, 5, 8))
    g = tg.asarray(x)
    for a, b in ((1, 2), (2, 2), (3, 1), (4, 3)):
        want = np.repeat(np.repeat(x, a, 2), b, 3)
        assert np.array_equal(await nn.interpolate(g, (5 * a, 8 * b)).numpy(), want)
        assert np.array_equal(await nn.interpolate(g, scale_factor=(a, b)).numpy(), want)
    got = await nn.interpolate(g, (3, 5)).numpy()
    assert np.array_equal(got, x[:, :, np.arange(3) * 5 // 3][..., np.arange(5) * 8 // 5])


@pytest.mark.parametrize("h", [214, 220, 227, 235, 255])
async def test_v08_nearest_takes_the_right_element(h: int) -> None:
    """V08: twice and half the size, as whole numbers count; the middle element for nearest-exact."""
    x = np.arange(h, dtype=np.float32)[None, None]
    g = tg.asarray(x)
    for out in (2 * h, h // 2, h):
        exact = resized.nearest(h, out, resized.half_pixel(h, out), "prefer_ceil")
        a, b, c = await tg.fetch(
            nn.interpolate(g, out),
            nn.interpolate(g, out, mode="nearest-exact"),
            resizing.resize(g, out, mode="nearest", places=[(Fraction(h, out), 0, 0)]),
        )
        assert np.array_equal(a[0, 0], np.arange(out) * h // out) and np.array_equal(a, c)
        assert np.array_equal(b[0, 0], exact)
    two = await nn.interpolate(g[..., None].repeat(2, 3), scale_factor=(0.5, 2)).numpy()
    assert np.array_equal(two[0, 0, :, 1], np.arange(h // 2) * 2.0)


async def test_factors_that_leave_a_size() -> None:
    """As torch: weighted modes, and nearest of images, keep an axis whose size stays, whatever the factor."""
    x = np.arange(24, dtype=np.float32).reshape(1, 2, 4, 3) ** 2
    g = tg.asarray(x)
    for mode, wide in (("nearest", False), ("bilinear", False), ("bilinear", True), ("bicubic", True)):
        got = nn.interpolate(g, scale_factor=(1.0, 1.3), mode=mode, antialias=wide)
        assert np.allclose(await got.numpy(), x, rtol=1e-6), (mode, wide)
    steps = await nn.interpolate(tg.arange(3.0)[None, None], scale_factor=1.3, mode="nearest").numpy()
    assert steps.tolist() == [[[0, 0, 1]]]


@pytest.mark.parametrize("rounding", resizing.ROUND)
async def test_nearest_in_exact_arithmetic(rounding: str) -> None:
    """Halves and multiples that float32 would miss; in float32 where places are floats."""
    for n, out in ((7, 49), (3, 9), (10, 4), (6, 9), (5, 5), (255, 85), (1, 4)):
        x = np.arange(n, dtype=np.int32)
        for place in (resized.half_pixel(n, out), resized.corners(n, out), (Fraction(n, out), 0, 0)):
            want = resized.nearest(n, out, place, rounding)
            got = await resizing.resize(
                tg.asarray(x), out, mode="nearest", places=[place], rounding=rounding
            ).numpy()
            assert got.dtype == np.int32 and np.array_equal(got, want), (n, out, place)
    x = np.arange(8, dtype=np.float32)
    made = resizing.resize(tg.asarray(x), 16, mode="nearest", places=[(0.5, 0.5, -0.5)], rounding=rounding)
    assert np.array_equal(await made.numpy(), resized.nearest(8, 16, resized.half_pixel(8, 16), rounding))


@pytest.mark.parametrize(
    "name", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "bfloat16"]
)
async def test_nearest_moves_bits(name: str) -> None:
    for n, out in ((5, 9), (8, 3), (7, 7)):
        whole = np.random.default_rng(n).integers(0, 100, (2, 1, n, n))
        whole = whole > 50 if name == "bool" else whole
        g = tg.asarray(whole.astype(np.float32) if "float" in name else whole.astype(name)).astype(name)
        got = nn.interpolate(g, out)
        assert got.dtype == g.dtype
        rows = np.arange(out) * n // out
        assert np.array_equal(
            await got.astype(tg.float32).numpy(), whole[:, :, rows][..., rows].astype(np.float32)
        )
    odd = tg.asarray(np.float32([[[np.nan, -0.0, np.inf]]]))
    assert (await nn.interpolate(odd, 6).numpy()).tobytes() == np.repeat(await odd.numpy(), 2).tobytes()


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
async def test_narrow_floats(name: str) -> None:
    """Computed in float32, rounded once."""
    g = tg.asarray(draw((1, 2, 5, 7))).astype(name)
    x = await g.astype(tg.float32).numpy()
    for mode, size in product(("bilinear", "bicubic"), ((9, 11), (3, 4), (5, 8))):
        got = nn.interpolate(g, size, mode=mode)
        ways = [
            resized.weights(n, o, resized.half_pixel(n, o), kind_of(mode)) for n, o in zip(x.shape[2:], size)
        ]
        want = resized.resized(x, ways)
        step = {"float16": 2.0**-11, "bfloat16": 2.0**-8}[name]
        assert got.dtype == g.dtype
        assert np.allclose(await got.astype(tg.float32).numpy(), want, rtol=step, atol=2e-5)


async def test_area_is_adaptive_average() -> None:
    for shape, size in (((1, 2, 11), 4), ((1, 2, 6, 8), (4, 3)), ((1, 1, 4, 4, 4), 2)):
        g = tg.asarray(draw(shape))
        mean = {3: nn.adaptive_avg_pool1d, 4: nn.adaptive_avg_pool2d, 5: nn.adaptive_avg_pool3d}[len(shape)]
        a, b = await tg.fetch(nn.interpolate(g, size, mode="area"), mean(g, size))
        assert np.array_equal(a, b)
    x = draw((1, 1, 8))
    half = await nn.interpolate(tg.asarray(x), scale_factor=0.5, mode="area").numpy()
    assert np.allclose(half, x.reshape(1, 1, 4, 2).mean(-1), atol=1e-6)


@pytest.mark.limits
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
async def test_antialias(mode: str) -> None:
    """Filters as wide as what an element covers; what lies outside has no weight."""
    x = draw((1, 2, 13, 9), 3)
    g = tg.asarray(x)
    for size in ((4, 3), (5, 9), (13, 4), (20, 18), (1, 1)):
        ways = [
            resized.weights(n, o, resized.half_pixel(n, o), kind_of(mode), -0.5, True, True)
            for n, o in zip(x.shape[2:], size)
        ]
        got = await nn.interpolate(g, size, mode=mode, antialias=True).numpy()
        near(got, resized.resized(x, ways), x, 16)


async def test_v11_ranks_and_axes() -> None:
    """V11: arrays of one to six axes, any one to three of them resized, without a copy."""
    for rank in range(1, 7):
        shape = (3, 4, 5, 2, 6, 3)[:rank]
        x = draw(shape, rank)
        g = tg.asarray(x)
        for axes in ((0,), (rank - 1,), (0, rank - 1), (rank // 2, 0), (0, 1, 2)):
            if len(set(axes)) < len(axes) or max(axes) >= rank:
                continue
            sizes = [shape[k] + 2 for k in axes]
            ways = [
                resized.weights(shape[k], o, resized.half_pixel(shape[k], o), "linear")
                for k, o in zip(axes, sizes)
            ]
            last = range(rank - len(axes), rank)
            want = np.moveaxis(resized.resized(np.moveaxis(x, axes, last), ways), last, axes)
            got = await resizing.resize(g, sizes, axes).numpy()
            near(got, want, x)


async def test_what_onnx_asks_beyond() -> None:
    """Coefficients of the cubic, weights for what lies inside only, regions with a value for what lies outside."""
    x = draw((1, 1, 6, 7))
    g = tg.asarray(x)
    for a, inside, wide in product((-0.75, -0.5, -1.0), (False, True), (False, True)):
        size = (4, 11)
        ways = [
            resized.weights(n, o, resized.half_pixel(n, o), "cubic", a, wide, inside)
            for n, o in zip(x.shape[2:], size)
        ]
        made = resizing.resize(g, size, mode="cubic", cubic_coeff_a=a, exclude_outside=inside, antialias=wide)
        near(await made.numpy(), resized.resized(x, ways), x, 16)
    ways = [resized.weights(n, o, resized.half_pixel(n, o), "linear", 0, True) for n, o in ((6, 4), (7, 3))]
    near(await resizing.resize(g, (4, 3), antialias=True).numpy(), resized.resized(x, ways), x, 16)
    # crop: from -0.5 to 6.5 in eight steps along one axis
    places = [(1.0, 0.0, -0.5)]
    for mode in ("nearest", "linear"):
        got = await resizing.resize(g, 8, mode=mode, places=places, extrapolation_value=9.0).numpy()
        at = np.arange(8) - 0.5
        out = (at < 0) | (at > 6)
        assert (got[..., out] == 9).all() and not (got[..., ~out] == 9).any()
        if mode == "linear":
            assert np.allclose(got[..., 1:7], (x[..., :-1] + x[..., 1:]) / 2, atol=1e-6)
        else:
            assert np.array_equal(got[..., 1:7], x[..., :-1])


VIEWS = {
    "channels last": lambda a: a.transpose(0, 3, 1, 2),
    "reversed": lambda a: a[::-1, :, ::-1, ::-1],
    "strided": lambda a: a[:, ::2, 1::2, ::3],
    "broadcast": lambda a: a[:, :1, :, :1],
}


@pytest.mark.parametrize("how", VIEWS)
async def test_views(how: str) -> None:
    """Read where they lie: one launch."""
    x = draw((2, 4, 9, 8))
    a, g = VIEWS[how](x), VIEWS[how](tg.asarray(x))
    if how == "broadcast":
        a, g = np.broadcast_to(a, x.shape), tg.broadcast_to(g, x.shape)
    await tg.synchronize()
    before = tg.device().counters.launches
    got = await nn.interpolate(g, 5, mode="bilinear").numpy()
    assert tg.device().counters.launches - before == 1
    near(
        got,
        resized.resized(a, [resized.weights(n, 5, resized.half_pixel(n, 5), "linear") for n in a.shape[2:]]),
        x,
    )
    got = await nn.interpolate(g, 7).numpy()
    rows, columns = (np.arange(7) * n // 7 for n in a.shape[2:])
    assert np.array_equal(got, a[:, :, rows][..., columns])


async def test_values_that_are_not_finite() -> None:
    x = np.zeros((1, 1, 6), np.float32)
    x[0, 0, 2], x[0, 0, 5] = np.nan, np.inf
    got = (await nn.interpolate(tg.asarray(x), 12, mode="linear").numpy())[0, 0]
    assert np.isnan(got[3:7]).all() and np.isfinite(got[[0, 1, 2, 7, 8]]).all() and np.isposinf(got[10])


async def test_500_shapes_compile_little() -> None:
    before = tg.device().counters.pipelines
    rng = np.random.default_rng(0)
    made = []
    for k in range(500):
        n, c, h, w, a, b = (int(v) for v in rng.integers(1, 12, 6))
        mode = ("nearest", "nearest-exact", "bilinear", "bicubic")[k % 4]
        made.append(nn.interpolate(tg.zeros((n, c, h, w)) + 1.5, (a, b), mode=mode, antialias=k % 8 == 7))
    got = await tg.fetch(*made)
    assert all(np.allclose(x, 1.5, atol=1e-6) for x in got)
    assert tg.device().counters.pipelines - before <= 7


async def test_empty() -> None:
    assert nn.interpolate(tg.ones((0, 3, 4)), 8).shape == (0, 3, 8)
    assert (await nn.interpolate(tg.ones((0, 3, 4, 4)), 2, mode="bicubic").numpy()).shape == (0, 3, 2, 2)
    assert resizing.resize(tg.ones((2, 3)), (0,)).shape == (2, 0)
    assert await nn.interpolate(tg.full((1, 1, 1), 4.0), 3, mode="linear").tolist() == [[[4.0] * 3]]


async def test_wrong_arguments() -> None:
    g = tg.ones((1, 2, 6, 6))
    for call, error, text in [
        (lambda: nn.interpolate(g), ValueError, "size or scale_factor"),
        (lambda: nn.interpolate(g, 3, 2), ValueError, "size or scale_factor"),
        (lambda: nn.interpolate(g, (3, 3, 3)), ValueError, r"size \(3, 3, 3\) for the spatial axes \(6, 6\)"),
        (lambda: nn.interpolate(g, 0), ValueError, "size must be at least 1"),
        (lambda: nn.interpolate(g, 2.5), TypeError, "size must be an int"),
        (lambda: nn.interpolate(g, scale_factor=(2, 2, 2)), ValueError, "scale_factor"),
        (lambda: nn.interpolate(g, scale_factor=0.1), ValueError, "has no elements"),
        (lambda: nn.interpolate(g, scale_factor=float("inf")), ValueError, "no end"),
        (lambda: nn.interpolate(g, scale_factor=float("nan")), ValueError, "no elements"),
        (lambda: nn.interpolate(g, scale_factor=1j), TypeError, "scale_factor must be a number"),
        (lambda: nn.interpolate(g, 1 << 20), OverflowError, "interpolate: .* addressable"),
        (lambda: resizing.resize(g, 1 << 32), OverflowError, "resize: .* addressable"),
        (lambda: nn.interpolate(g, 3, align_corners=False), ValueError, "align_corners"),
        (lambda: nn.interpolate(g, 3, recompute_scale_factor=True), ValueError, "recompute_scale_factor"),
        (
            lambda: nn.interpolate(g, 3, mode="linear"),
            NotImplementedError,
            r"linear does not take the shape \(1, 2",
        ),
        (lambda: nn.interpolate(g, 3, mode="lanczos"), NotImplementedError, "lanczos"),
        (lambda: nn.interpolate(g, 3, antialias=True), ValueError, "antialias"),
        (lambda: nn.interpolate(tg.ones((2, 2)), 3), NotImplementedError, r"\(2, 2\)"),
        (lambda: nn.interpolate(g.astype(tg.int32), 3, mode="bilinear"), TypeError, "int32"),
        (lambda: nn.interpolate(g.astype(tg.complex64), 3), TypeError, "complex64"),
        (lambda: nn.interpolate(tg.ones((1, 1, 0)), 3), ValueError, "must not be empty"),
        (lambda: resizing.resize(g, (2, 2), (1,)), ValueError, "one to three"),
        (lambda: resizing.resize(g, (2, 2, 2, 2)), ValueError, "one to three"),
        (lambda: resizing.resize(g, 2, mode="sinc"), ValueError, "sinc"),
    ]:
        with pytest.raises(error, match=text):
            call()


async def test_shuffles() -> None:
    """Pixels and channels: views, and one launch that copies."""
    x = draw((2, 8, 3, 6))
    g = tg.asarray(x)
    await tg.synchronize()
    before = tg.device().counters.launches
    up = await nn.pixel_shuffle(g, 2).numpy()
    assert tg.device().counters.launches - before == 1
    assert np.array_equal(up, x.reshape(2, 2, 2, 2, 3, 6).transpose(0, 1, 4, 2, 5, 3).reshape(2, 2, 6, 12))
    assert np.array_equal(await nn.pixel_unshuffle(tg.asarray(up), 2).numpy(), x)
    turned = await nn.channel_shuffle(g, 4).numpy()
    assert np.array_equal(turned, x.reshape(2, 4, 2, 3, 6).swapaxes(1, 2).reshape(x.shape))
    assert nn.pixel_shuffle(tg.ones((9, 2, 2)), 3).shape == (1, 6, 6)
    for call in (
        lambda: nn.pixel_shuffle(g, 3),
        lambda: nn.pixel_unshuffle(g, 2),
        lambda: nn.channel_shuffle(g, 3),
        lambda: nn.pixel_shuffle(tg.ones((4, 4)), 2),
    ):
        with pytest.raises(ValueError, match="the shape"):
            call()
