"""Linear filters of tg.image against sums in float64: modes, layouts, dtypes, forms, pipelines. Runs in the tab.

Tolerance: (taps + 8) 2^-24 times the sum of the weights' magnitudes times the greatest element.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from forms import taking
from imaged import MODES, correlated, draw

import tabgpu as tg
from tabgpu import engine, image

CASES = (
    ((13, 17), (3, 3)), ((70, 75), (5, 4)), ((9,), (4,)), ((2, 66, 9), (1, 3, 2)), ((3, 70), (1, 35)),
    ((40, 5), (37, 1)), ((34, 36), (18, 17)), ((4, 5, 6), (3, 2, 3)), ((1, 1), (3, 3)), ((2, 3), (9, 7)),
    ((2, 3, 2, 4), (2, 2, 1, 3)), ((5, 6), (1, 1)), ((130, 4), (1, 3)),
)  # fmt: skip

SLOW = pytest.mark.slow  # the unrolled kernels of GPUs: SwiftShader compiles each for 10 s


def near(got: Any, want: Any, w: Any, top: float) -> None:
    bound = (np.size(w) + 8) * 2.0**-24 * np.abs(w).sum() * max(top, 1e-30)
    assert got.shape == want.shape and got.dtype in (np.float32, np.complex64)
    assert (np.abs(got - want) <= bound).all(), float(np.abs(got - want).max())


async def check_all(modes: Any, cases: int = len(CASES)) -> None:
    for k, (shape, taps) in enumerate(CASES[:cases]):
        x, w = draw(shape, k), draw(taps, k + 50)
        g = tg.asarray(x)
        mode = modes[k % len(modes)]
        got = await tg.fetch(
            image.correlate(g, w, mode=mode, cval=1.5), image.convolve(g, w, mode=mode, cval=1.5)
        )
        near(got[0], correlated(x, w, mode, 1.5), w, max(np.abs(x).max(), 1.5))
        even = [-1 if n % 2 == 0 else 0 for n in taps]
        near(got[1], correlated(x, np.flip(w), mode, 1.5, even), w, max(np.abs(x).max(), 1.5))


@pytest.mark.limits
@pytest.mark.parametrize("form", ["own", "serial", "portable", pytest.param("all", marks=SLOW)])
async def test_correlate_and_convolve(form: str) -> None:
    """Kernels of one to four axes, narrower and wider than a pass and than the array; each mode meets each kind."""
    if form == "own":
        for k in range(len(MODES)):
            await check_all(MODES[k:] + MODES[:k])
        return
    with taking("portable" if form == "all" else form):
        await check_all(MODES, 2 if form == "portable" else len(CASES))


async def test_grid_names_and_modes_per_axis() -> None:
    x, w = draw((11, 12)), draw((3, 5), 1)
    g = tg.asarray(x)
    for name, same in (("grid-mirror", "reflect"), ("grid-wrap", "wrap"), ("grid-constant", "constant")):
        got = await tg.fetch(image.correlate(g, w, mode=name), image.correlate(g, w, mode=same))
        assert np.array_equal(*got)
    got = await image.correlate(g, w, mode=["wrap", "nearest"]).numpy()
    wide = np.pad(np.pad(x, ((1, 1), (0, 0)), "wrap"), ((0, 0), (2, 2)), "edge").astype(np.float64)
    want = sum(w[a, b] * wide[a : a + 11, b : b + 12] for a in range(3) for b in range(5))
    near(got, want, w, np.abs(x).max())


async def test_origins_and_axes() -> None:
    x = draw((10, 12), 3)
    g = tg.asarray(x)
    w = draw((4, 3), 4)
    for origin in ((-2, 1), (1, -1), (0, 0)):
        got = await image.correlate(g, w, mode="mirror", origin=origin).numpy()
        near(got, correlated(x, w, "mirror", 0, origin), w, np.abs(x).max())
    deep = draw((3, 10, 12), 5)
    got = await image.correlate(tg.asarray(deep), w, axes=(1, 2)).numpy()
    near(got, correlated(deep, w[None]), w, np.abs(deep).max())
    got = await image.correlate(tg.asarray(deep), w, axes=(2, 0)).numpy()
    near(got, correlated(deep, w[:, None, :]), w, np.abs(deep).max())  # SciPy's rule
    got = await image.correlate1d(tg.asarray(deep), [1, 2, -1.5], 1, origin=1).numpy()
    near(got, correlated(deep, np.array([[[1], [2], [-1.5]]]), origin=[0, 1, 0]), w, np.abs(deep).max())


async def test_views_are_read_where_they_lie() -> None:
    """Strided, turned, reversed, broadcast and sliced operands."""
    x, w = draw((24, 31), 6), draw((3, 4), 7)
    g = tg.asarray(x)
    for view in (
        lambda a: a.T, lambda a: a[::-1, ::2], lambda a: a[3:20, 5:], lambda a: a[::-2, ::-1].T, lambda a: a[:1].T,
    ):  # fmt: skip
        got = await image.correlate(view(g), w, mode="wrap").numpy()
        near(got, correlated(view(x), w, "wrap"), w, np.abs(x).max())
    wide = np.broadcast_to(x[0], (5, 6, 31))
    got = await image.correlate(tg.broadcast_to(g[0], (5, 6, 31)), w[None]).numpy()
    near(got, correlated(wide, w[None]), w, np.abs(x).max())


async def test_dtypes_are_kept() -> None:
    """Integers towards zero, 16-bit floats rounded once, complex by parts; output= takes a dtype or an array."""
    rng = np.random.default_rng(8)
    w = np.array([[1, 2, 1], [0, 3, 0], [1, -1, 1]], np.float32)
    for name in ("uint8", "int8", "int16", "uint16", "int32"):
        x = rng.integers(0, 12, (9, 11)).astype(name)
        got = await image.correlate(tg.asarray(x), w).numpy()
        assert got.dtype == x.dtype
        assert np.array_equal(got, correlated(x, w).astype(name)), name
    half = rng.standard_normal((9, 11)).astype(np.float16)
    got = await image.correlate(tg.asarray(half), w).numpy()
    assert got.dtype == np.float16 and np.abs(got - correlated(half, w)).max() < 2e-2
    z = (draw((6, 7), 1) + 1j * draw((6, 7), 2)).astype(np.complex64)
    got = await image.correlate(tg.asarray(z), w * (1 - 2j), mode="constant", cval=1j).numpy()
    near(got, correlated(z, w * (1 + 2j), "constant", 1j), w * 3, 4)  # by conjugates
    x = rng.integers(0, 250, (7, 8)).astype(np.uint8)
    flat = await image.uniform_filter(tg.full((6, 7), 5, dtype="uint8"), 3).numpy()
    assert (flat == 5).all()
    made = image.correlate(tg.asarray(x), w, output="float32")
    assert made.dtype is tg.float32
    out = tg.zeros((7, 8), dtype="int32")
    assert image.correlate(tg.asarray(x), w, output=out) is out
    assert np.array_equal(await out.numpy(), correlated(x, w).astype(np.int32))


async def test_filters_by_name() -> None:
    """Means, Gaussians of several orders, derivatives, Laplacians."""
    x = draw((14, 17), 9)
    g = tg.asarray(x)
    t = np.arange(-6, 7)
    bell = np.exp(-0.5 * (t / 1.5) ** 2)
    bell /= bell.sum()
    first = -t / 1.5**2 * bell
    second = (t**2 / 1.5**4 - 1 / 1.5**2) * bell
    line = lambda v, axis: np.reshape(v, (-1, 1) if axis == 0 else (1, -1))
    two = lambda a, b: correlated(correlated(x, line(a, 0)), line(b, 1))
    got = await tg.fetch(
        image.gaussian_filter(g, 1.5),
        image.gaussian_filter(g, 1.5, order=(0, 1)),
        image.gaussian_laplace(g, 1.5),
        image.gaussian_gradient_magnitude(g, 1.5),
        image.uniform_filter(g, (3, 4)),
        image.sobel(g, 0),
        image.prewitt(g),
        image.laplace(g),
    )
    flip = first[::-1]  # a correlation's weights
    want = [
        two(bell, bell),
        two(bell, flip),
        two(second, bell) + two(bell, second),
        np.hypot(two(flip, bell), two(bell, flip)),
        correlated(x, np.full((3, 4), 1 / 12)),
        correlated(x, np.outer([-1, 0, 1], [1, 2, 1])),
        correlated(x, np.outer([1, 1, 1], [-1, 0, 1])),
        correlated(x, [[0, 1, 0], [1, -4, 1], [0, 1, 0]]),
    ]
    for a, b in zip(got, want, strict=True):
        assert np.abs(a - b).max() < 4e-6


@pytest.mark.parametrize("form", ["own", "serial", pytest.param("portable", marks=SLOW)])
async def test_a_tap_outside_the_kernel_adds_nothing(form: str) -> None:
    """NaN and inf spread to the results whose window has them, and to no others."""
    with nullcontext() if form == "own" else taking(form):
        for shape, taps in (((12, 20), (3, 5)), ((12, 20), (5, 1)), ((12, 20), (1, 6))):
            x = np.ones(shape, np.float32)
            x[5, 7] = np.nan
            got = await image.correlate(tg.asarray(x), np.ones(taps, np.float32), mode="nearest").numpy()
            assert np.array_equal(np.isnan(got), np.isnan(correlated(x, np.ones(taps), "nearest")))


async def test_a_new_size_compiles_nothing() -> None:
    """Shapes, kernels, modes and constants are parameters: few pipelines for all of them."""
    gpu = engine.device()
    g = tg.asarray(draw((64, 72)))
    for h, w in ((2, 2), (3, 1), (1, 3), (5, 5)):
        await image.correlate(g, np.ones((h, w), np.float32)).numpy()
    await tg.synchronize()
    before = gpu.counters.pipelines
    for k in range(40):
        part = g[: 9 + k, : 20 + 4 * (k % 3)]
        taps = np.ones((1 + k % 7, 1 + k % 5), np.float32)
        await image.correlate(part, taps, mode=MODES[k % 5], cval=k).numpy()
    assert gpu.counters.pipelines - before <= 6


async def test_launches() -> None:
    """A 2-D kernel is one launch, a Gaussian one for each axis."""
    g = tg.asarray(draw((64, 64)))
    w = tg.asarray(draw((5, 5)))
    await tg.synchronize()
    gpu = engine.device()
    for f, most in ((lambda: image.correlate(g, w), 1), (lambda: image.gaussian_filter(g, 1.0), 2)):
        before = gpu.counters.launches
        made = f()
        await tg.synchronize()
        await made.numpy()
        assert gpu.counters.launches - before == most


async def test_bad_arguments() -> None:
    g = tg.asarray(draw((4, 5)))
    for call, error, said in (
        (lambda: image.correlate(g, [1.0, 2.0]), ValueError, "(2,)"),
        (lambda: image.correlate(g, np.ones((3, 3)), mode="up"), ValueError, "reflect"),
        (lambda: image.correlate(g, np.ones((3, 3)), origin=2), ValueError, "origin"),
        (lambda: image.correlate(g, np.ones((0, 3))), ValueError, "empty"),
        (lambda: image.correlate(g, np.ones((3, 3)), output=tg.zeros((3, 3))), ValueError, "(4, 5)"),
        (lambda: image.correlate1d(g, [1.0], axis=2), IndexError, "2"),
        (lambda: image.uniform_filter1d(g, 0), ValueError, "size"),
        (lambda: image.gaussian_filter(g, 1.0, radius=-1), ValueError, "radius"),
        (lambda: image.gaussian_filter(g, (1.0, 2.0, 3.0)), ValueError, "sigma"),
    ):
        with pytest.raises(error) as caught:
            call()
        assert said in str(caught.value)
    empty = image.correlate(tg.zeros((0, 5)), np.ones((3, 3)))
    assert empty.shape == (0, 5) and (await empty.numpy()).size == 0
