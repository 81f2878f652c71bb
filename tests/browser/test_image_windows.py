"""Rank filters and morphology of tg.image against windows in NumPy: exactly, in every dtype. Runs in the tab."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from forms import taking
from imaged import MODES, draw, windows

import tabgpu as tg
from tabgpu import engine, image

KINDS = ("float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "bool")


def drawn(kind: str, shape: Any, seed: int = 0) -> Any:
    x = draw(shape, seed) * 40
    return (x > 0) if kind == "bool" else np.abs(x).astype(kind) if kind[0] == "u" else x.astype(kind)


def footprint(shape: Any, seed: int) -> Any:
    made = np.random.default_rng(seed).random(shape) > 0.4
    made[tuple(n // 2 for n in shape)] = True
    return made


def same(got: Any, want: Any) -> None:
    assert got.shape == want.shape and got.dtype == want.dtype, (got.dtype, want.dtype)
    assert np.array_equal(got, want, equal_nan=want.dtype.kind == "f")


@pytest.mark.limits
@pytest.mark.parametrize("kind", KINDS)
async def test_extremes_and_ranks(kind: str) -> None:
    """Boxes and footprints, each border mode: min, max, median, ranks."""
    x = drawn(kind, (9, 13))
    g = tg.asarray(x)
    flags = footprint((3, 4), 1)
    for k, mode in enumerate(MODES):
        size = ((3, 3), (5, 5), (2, 4), (1, 7), (4, 1))[k]
        if kind != "float32" and k < 2:
            size = (3, 2)  # the same windows are sorted in registers in one dtype
        box = np.sort(windows(x, size, mode, 1), axis=-1)
        picked = np.sort(windows(x, (3, 4), mode, 1)[..., flags.ravel()], axis=-1)
        got = await tg.fetch(
            image.minimum_filter(g, size, mode=mode, cval=1),
            image.maximum_filter(g, size, mode=mode, cval=1),
            image.median_filter(g, size, mode=mode, cval=1),
            image.minimum_filter(g, footprint=flags, mode=mode, cval=1),
            image.maximum_filter(g, footprint=flags, mode=mode, cval=1),
            image.rank_filter(g, -2, footprint=flags, mode=mode, cval=1),
            image.percentile_filter(g, 35, size, mode=mode, cval=1),
        )
        n, m = box.shape[-1], picked.shape[-1]
        places = (
            box[..., 0],
            box[..., -1],
            box[..., n // 2],
            picked[..., 0],
            picked[..., -1],
            picked[..., m - 2],
        )
        for a, b in zip(got, (*places, box[..., int(n * 0.35)]), strict=True):
            same(a, b)


@pytest.mark.parametrize("form", ["own", "serial", "portable"])
async def test_sizes_axes_and_origins(form: str) -> None:
    """Lines longer than a launch takes at once, three and four axes, views, other axes."""
    with nullcontext() if form == "own" else taking(form):
        x = draw((41, 37), 2)
        g = tg.asarray(x)
        for size, origin in ((40, 0), (33, 5), (70, -3)):
            want = windows(x, (size, 1), "mirror", origin=(origin, 0)).max(-1)
            same(await image.maximum_filter1d(g, size, 0, mode="mirror", origin=origin).numpy(), want)
        same(await image.minimum_filter(g.T, (9, 5)).numpy(), windows(x.T, (9, 5), "reflect").min(-1))
        want = np.median(windows(x[::-2, 1::3], (3, 3), "reflect"), -1)
        same(await image.median_filter(g[::-2, 1::3], 3).numpy(), want)
        deep = draw((3, 5, 4, 6), 3)
        flags = footprint((2, 3, 1, 3), 4)
        want = windows(deep, flags.shape, "wrap")[..., flags.ravel()]
        d = tg.asarray(deep)
        same(await image.maximum_filter(d, footprint=flags, mode="wrap").numpy(), want.max(-1))
        same(await image.rank_filter(d, 3, footprint=flags, mode="wrap").numpy(), np.sort(want, -1)[..., 3])
        wide = footprint((3, 2, 3, 2), 5)
        want = windows(deep, wide.shape, "nearest")[..., wide.ravel()].min(-1)
        same(await image.minimum_filter(d, footprint=wide, mode="nearest").numpy(), want)
        want = np.median(windows(deep, (1, 3, 1, 3), "reflect"), -1)
        same(await image.median_filter(d, 3, axes=(1, 3)).numpy(), want.astype(np.float32))


async def test_nan_wins_and_ranks_last() -> None:
    x = np.ones((5, 7), np.float32)
    x[2, 3] = np.nan
    x[0, 0] = -np.inf
    g = tg.asarray(x)
    near = windows(np.isnan(x), (3, 3), "nearest").any(-1)
    low, high, middle = await tg.fetch(
        image.minimum_filter(g, 3), image.maximum_filter(g, 3), image.median_filter(g, 3)
    )
    assert np.array_equal(np.isnan(low), near) and np.array_equal(np.isnan(high), near)
    assert (middle == 1).all() and low[0, 1] == -np.inf


@pytest.mark.parametrize("kind", ["float32", "uint8", "int16"])
async def test_grey_morphology(kind: str) -> None:
    """Erosion and dilation with heights, flat, of footprints; what is made of them."""
    x = drawn(kind, (9, 11), 7)
    wide = x.astype(np.float64)
    flags = footprint((3, 3), 8)
    heights = np.arange(9).reshape(3, 3).astype("float32" if kind == "float32" else "int32")
    g = tg.asarray(x)
    low = (windows(wide, (3, 3), "reflect") - heights.ravel())[..., flags.ravel()].min(-1)
    turned = windows(wide, (3, 3), "reflect") + heights[::-1, ::-1].ravel()
    high = turned[..., flags[::-1, ::-1].ravel()].max(-1)
    store = (lambda a: a.astype(np.int64).astype(kind)) if kind != "float32" else (lambda a: a.astype(kind))
    got = await tg.fetch(
        image.grey_erosion(g, footprint=flags, structure=heights),
        image.grey_dilation(g, footprint=flags, structure=heights),
        image.grey_opening(g, 3),
        image.grey_closing(g, 3),
        image.white_tophat(g, 3),
        image.black_tophat(g, 3),
        image.morphological_gradient(g, 3),
    )
    least = lambda a: windows(a, (3, 3), "reflect").min(-1)
    most = lambda a: windows(a, (3, 3), "reflect").max(-1)
    opened, closed = most(least(wide)), least(most(wide))
    want = (low, high, opened, closed, wide - opened, closed - wide, most(wide) - least(wide))
    for a, b in zip(got, want, strict=True):
        same(a, store(b))
    bumps = await image.morphological_laplace(g, 3).numpy()
    assert np.allclose(bumps, store(most(wide) + least(wide) - 2 * wide), atol=1e-4)


async def test_binary_morphology() -> None:
    """Steps with structures, masks, borders and origins; openings and closings; hit or miss."""
    x = draw((11, 14), 9) > -0.3
    keep = draw((11, 14), 10) > -0.8
    s = footprint((3, 3), 11)
    even = footprint((2, 4), 12)
    g = tg.asarray(x)
    erode = lambda a, f, border, o=0: windows(a, f.shape, "constant", border, o)[..., f.ravel()].all(-1)

    def dilate(a: Any, f: Any, border: bool) -> Any:
        moved = [-(n % 2 == 0) for n in f.shape]
        return windows(a, f.shape, "constant", border, moved)[..., f[::-1, ::-1].ravel()].any(-1)

    for f, border in ((s, 0), (s, 1), (even, 0)):
        got = await tg.fetch(
            image.binary_erosion(g, f, border_value=border), image.binary_dilation(g, f, border_value=border),
            image.binary_opening(g, f), image.binary_closing(g, f),
            image.binary_dilation(g, f, 2, keep), image.binary_erosion(g, f, origin=-1),
        )  # fmt: skip
        once = np.where(keep, dilate(x, f, False), x)
        want = (
            erode(x, f, border), dilate(x, f, border),
            dilate(erode(x, f, 0), f, False), erode(dilate(x, f, False), f, 0),
            np.where(keep, dilate(once, f, False), once), erode(x, f, 0, -1),
        )  # fmt: skip
        for a, b in zip(got, want, strict=True):
            same(a, b)
    got = await image.binary_hit_or_miss(g, s).numpy()
    same(got, erode(x, s, 0) & erode(~x, ~s, 1))
    numbers = tg.asarray(x.astype(np.float32) * 3)
    same(await image.binary_erosion(numbers).numpy(), erode(x, image.generate_binary_structure(2, 1), 0))


def filled(seeds: Any, mask: Any, s: Any) -> Any:
    """Dilation within a mask until nothing changes."""
    x = seeds
    while True:
        wide = np.pad(x, 1)
        grown = sum(wide[a : a + x.shape[0], b : b + x.shape[1]] for a, b in np.argwhere(s)) > 0
        grown = np.where(mask, grown, x) | x
        if np.array_equal(grown, x):
            return x
        x = grown


async def test_until_nothing_changes() -> None:
    """Propagation, holes, dilation and erosion without end: no read, few launches."""
    gpu = engine.device()
    for k, level in enumerate((-0.5, 0.1, 0.4)):
        mask = draw((17, 23), 20 + k) > level
        seeds = draw((17, 23), 30 + k) > 1.8
        for s in (image.generate_binary_structure(2, 1), np.ones((3, 3), bool)):
            await tg.synchronize()
            reads = gpu.counters.reads
            made = (
                image.binary_propagation(tg.asarray(seeds), s, tg.asarray(mask)),
                image.binary_fill_holes(tg.asarray(mask), s),
                image.binary_erosion(tg.asarray(mask), s, -1, tg.asarray(~seeds)),
            )
            assert gpu.counters.reads == reads
            got = await tg.fetch(*made)
            same(got[0], filled(seeds, mask, s))
            outer = np.pad(np.zeros_like(mask), 1, constant_values=True)
            around = filled(outer, ~np.pad(mask, 1), s)
            same(got[1], ~around[1:-1, 1:-1])
            frame = np.pad(~mask, 1, constant_values=True)
            gone = filled(frame, np.pad(~seeds, 1), s)
            same(got[2], ~gone[1:-1, 1:-1])


async def test_structures() -> None:
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)
    assert np.array_equal(image.generate_binary_structure(2, 1), cross)
    assert (
        image.generate_binary_structure(3, 2).sum() == 19
        and image.generate_binary_structure(0, 1).shape == ()
    )
    far = np.abs(np.indices((7, 7)) - 3).sum(0) <= 3
    assert np.array_equal(image.iterate_structure(cross, 3), far)
    made, origin = image.iterate_structure(cross, 2, (1, 0))
    assert made.shape == (5, 5) and origin == [2, 0]


async def test_a_new_window_compiles_nothing() -> None:
    gpu = engine.device()
    g = tg.asarray(draw((40, 44)))
    for size in (3, 5, 4):
        await image.median_filter(g, size).numpy()
        await image.minimum_filter(g, size).numpy()
    before = gpu.counters.pipelines
    for k in range(30):
        part = g[: 9 + k, : 20 + k % 7]
        await image.minimum_filter(part, (2 + k % 4, 2 + k % 3), mode=MODES[k % 5], cval=k).numpy()
        await image.rank_filter(part, k % 6, (2 + k % 2, 4), mode=MODES[k % 5]).numpy()
    assert gpu.counters.pipelines - before <= 4


async def test_bad_arguments() -> None:
    g = tg.asarray(draw((4, 5)))
    flat = tg.zeros((3, 3), dtype="bool")
    for call, error, said in (
        (lambda: image.minimum_filter(g), ValueError, "size"),
        (lambda: image.median_filter(g, 0), ValueError, "size"),
        (lambda: image.maximum_filter(g, footprint=np.ones(3)), ValueError, "(3,)"),
        (lambda: image.maximum_filter(g, footprint=np.zeros((2, 2))), ValueError, "True"),
        (lambda: image.rank_filter(g, 9, 3), ValueError, "rank 9"),
        (lambda: image.percentile_filter(g, 101, 3), ValueError, "percentile"),
        (lambda: image.median_filter(g, footprint=flat), TypeError, "host"),
        (lambda: image.minimum_filter(tg.asarray([1j]), 3), TypeError, "complex"),
        (lambda: image.binary_erosion(g, np.ones((3, 3, 3))), ValueError, "(3, 3, 3)"),
        (lambda: image.binary_erosion(g, np.ones((2, 3)), 0), ValueError, "symmetric"),
        (lambda: image.binary_dilation(g, mask=flat), ValueError, "mask"),
        (lambda: image.morphological_laplace(flat, 3), TypeError, "bool"),
    ):
        with pytest.raises(error) as caught:
            call()
        assert said in str(caught.value), caught.value
    assert (await image.minimum_filter(tg.zeros((0, 3)), 3).numpy()).shape == (0, 3)
    assert (await image.binary_dilation(tg.zeros((0, 3))).numpy()).shape == (0, 3)


async def test_long_work_is_cut(monkeypatch: Any) -> None:
    """Filters that would hold the GPU are several launches with the same results."""
    from tabgpu.routines import neighbours, stencil

    x = draw((37, 53), 13)
    g = tg.asarray(x)
    w = np.ones((3, 4), np.float32)
    whole = await tg.fetch(
        image.rank_filter(g, 5, (3, 4)), image.maximum_filter(g, (3, 4)), image.correlate(g, w)
    )
    for module in (neighbours, stencil):
        for name in ("HEAVY", "ALONE"):
            monkeypatch.setattr(module, name, 4000)
    gpu = engine.device()
    gpu.programs = None
    before = gpu.counters.launches
    cut = await tg.fetch(
        image.rank_filter(g, 5, (3, 4)), image.maximum_filter(g, (3, 4)), image.correlate(g, w)
    )
    assert gpu.counters.launches - before > 12
    for a, b in zip(whole, cut, strict=True):
        assert np.array_equal(a, b)
