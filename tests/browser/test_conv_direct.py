"""Convolutions of 3 x 3 taps from tiles of pixels in workgroup memory (routines/conv_direct.py): values against
float64, special values, halves, what follows, and which convolutions take them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import convolved as ref
import numpy as np
import pytest
from forms import taking
from tab import IN_TAB
from test_conv import EPS, draw, near

import tabgpu as tg
from tabgpu import engine, nn, region
from tabgpu.kernels.conv_direct_inner import Span
from tabgpu.routines import conv, conv_direct

SMALL = Span(4, 8, 16, 2, 4)  # the least memory and threads: any device and quick to compile
PLANS = [
    (conv_direct.SPANS[0], 1),
    (conv_direct.SPANS[0], 3),
    (conv_direct.SPANS[1], 1),
    (SMALL, 1),
    (SMALL, 2),
]
MARKED = [pytest.param(p, marks=[pytest.mark.slow] * (p is PLANS[0])) for p in PLANS]


@contextmanager
def forced(span: Span | None, pieces: int = 1) -> Iterator[None]:
    """Every convolution that can takes this tile; None: the plan's own choice. Skips where a device cannot run it."""
    own = conv_direct.plan
    gpu = engine.device()
    with taking("portable") if tg.device().software else taking("subgroups"):
        if span and not conv_direct.fits(span, engine.facts_of(gpu)):
            pytest.skip("more threads or memory than the device has")

        def plan(extra: Any, most: int, facts: Any, whole: bool = False) -> Any:
            columns = extra[5][18]
            if conv_direct.serves(extra) and not (whole and pieces == 1 and columns % 4):
                return conv_direct.Plan(span, min(pieces, most))
            return None

        if span:
            conv_direct.plan = plan  # type: ignore[assignment]
        region.recipes.clear()
        try:
            yield
        finally:
            conv_direct.plan = own
            region.recipes.clear()


def ways(*convolutions: tuple[Any, ...], **changed: Any) -> list[conv.Way]:
    """How a GPU would share out convolutions: (shape, filters, arguments of conv2d ...); changed: its facts."""
    facts = replace(engine.facts_of(engine.device()), **{"software": False, **changed})
    found = []
    for shape, filters, *how in convolutions:
        y = nn.conv2d(tg.zeros(shape) + 1.0, tg.zeros(filters) + 1.0, None, *how)
        extra = y._cell.op.extra
        found.append(conv.shared(extra, "", y.size, facts))
    return found


LARGE = {"maxComputeWorkgroupStorageSize": 32768, "maxComputeInvocationsPerWorkgroup": 1024,
         "maxComputeWorkgroupSizeX": 1024}  # fmt: skip
FEW = [  # layers of a network over one image
    ((1, 64, 56, 56), (64, 64, 3, 3), 1, 1), ((1, 128, 28, 28), (128, 128, 3, 3), 1, 1),
    ((1, 256, 14, 14), (256, 256, 3, 3), 1, 1), ((1, 512, 7, 7), (512, 512, 3, 3), 1, 1),
]  # fmt: skip


def test_which_convolutions_have_them() -> None:
    """Few tiles for a large GPU: a workgroup for most of its processors, by pieces of channels. Others as before."""
    limits = {**engine.facts_of(engine.device()).limits, **LARGE}
    for way in ways(*FEW, limits=limits):
        assert way.params.get("DIRECT") and 96 <= way.tiles <= 264, way
    assert [way.pieces for way in ways(*FEW, limits=limits)] == [1, 2, 4, 8]
    for way in ways(*FEW, limits={**limits, "maxComputeInvocationsPerWorkgroup": 256}):
        assert way.params.get("DIRECT") and way.params["NT"] <= 256 and 96 <= way.tiles <= 264, way
    x, w = (1, 64, 56, 56), (64, 64, 3, 3)
    others = [
        ((16, *x[1:]), w, 1, 1), (x, w, 2, 1), (x, w, (1, 2), 1), (x, w, 1, 2, 2), (x, (64, 64, 5, 5), 1, 2),
        (x, (64, 64, 1, 3), 1, 0), ((1, 3, 56, 56), (64, 3, 3, 3), 1, 1), ((1, 64, 5, 5), w, 1, 1),
        (x, (64, 1, 3, 3), 1, 1, 1, 64),
    ]  # fmt: skip
    assert not any(way.params.get("DIRECT") for way in ways(*others, limits=limits))
    for fewer in ({"maxComputeWorkgroupStorageSize": 16384}, {"maxComputeWorkgroupSizeX": 128}):
        assert not any(way.params.get("DIRECT") for way in ways(*FEW, limits={**limits, **fewer}))
    assert not any(way.params.get("DIRECT") for way in ways(*FEW, limits=limits, software=True))
    tight = replace(engine.facts_of(engine.device()), limits=limits, software=False, binding=1 << 20)
    y = nn.conv2d(tg.zeros((1, 512, 7, 7)) + 1.0, tg.zeros((512, 512, 3, 3)) + 1.0, padding=1)
    assert conv.shared(y._cell.op.extra, "", y.size, tight).pieces * y.size * 4 <= 1 << 20


CASES = [  # odd sizes, paddings, images, channels that fill no stage or tile, groups
    ((1, 20, 9, 13), (37, 20, 3, 3), (1, 1)), ((2, 5, 8, 8), (16, 5, 3, 3), (1, 0)),
    ((3, 18, 3, 4), (9, 18, 3, 3), (1, ((1, 0), (2, 3)))), ((2, 34, 7, 6), (24, 17, 3, 3), (1, 2, 1, 2)),
]  # fmt: skip


@pytest.mark.limits
@pytest.mark.parametrize("plan", MARKED, ids=str)
async def test_values(plan: Any) -> None:
    """Float32 against float64, within the bound of test_conv.py; integers exactly."""
    with forced(*plan):
        for shape, filters, how in CASES if plan == (SMALL, 1) and not IN_TAB else CASES[3:]:
            x, w, b = draw(*shape), draw(*filters, seed=1), draw(filters[0], seed=2)
            got = await nn.conv2d(*(tg.asarray(a) for a in (x, w, b)), *how).numpy()
            size = ref.conv(abs(x), abs(w), abs(b), *how)
            near(got, ref.conv(x, w, b, *how), size, w[0].size, (shape, filters, how))
        if plan[0] is not SMALL:
            return
        x, w = (np.random.default_rng(3).integers(-9, 9, s) for s in ((1, 18, 6, 7), (12, 18, 3, 3)))
        got = await nn.conv2d(tg.asarray(x.astype("i4")), tg.asarray(w.astype("i4")), padding=1).numpy()
        assert np.array_equal(got, ref.conv(x, w, None, 1, 1))


@pytest.mark.parametrize("plan", PLANS[4:] if IN_TAB else PLANS[2:3], ids=str)
async def test_padding_is_no_term(plan: Any) -> None:
    """0 * NaN and 0 * Inf of the padding do not count; a NaN of the input reaches what sees it, and nothing else."""
    x, w = draw(1, 19, 9, 10), draw(12, 19, 3, 3, seed=1)
    broken = w.copy()
    broken[:, 3, 0, 0] = np.nan  # meets nothing in the first row and column
    broken[0, 18, 2, 2] = np.inf  # nor this in the last ones
    y = x.copy()
    y[0, 17, 4, 4] = np.nan
    with forced(*plan):
        got, other = await tg.fetch(
            nn.conv2d(tg.asarray(x), tg.asarray(broken), padding=1),
            nn.conv2d(tg.asarray(y), tg.asarray(w), padding=1),
        )
    rows, columns = np.arange(9)[:, None], np.arange(10)
    assert (np.isnan(got[0]) == ((rows > 0) & (columns > 0))).all()
    finite = (rows == 0) | (columns == 0)
    assert np.isinf(got[0, 0][finite & (rows < 8) & (columns < 9)]).all()
    assert np.isfinite(got[0, 1:][:, finite]).all()
    assert (np.isnan(other[0]) == ((abs(rows - 4) < 2) & (abs(columns - 4) < 2))).all()
    seen = ~np.isnan(other[0, 0])
    assert np.allclose(other[0][:, seen], ref.conv(x, w, None, 1, 1)[0][:, seen], atol=1e-4)


HALVES = [("float16", 8), ("float16", 6), ("bfloat16", 12), ("float32", 9)]  # rows of whole vec4s and others


@pytest.mark.parametrize("plan", PLANS[3:] if IN_TAB else PLANS[1:4], ids=str)
async def test_halves_and_what_follows(plan: Any) -> None:
    """Sums in float32, one rounding at the end; bias and activation in the last launch."""
    count = tg.device().counters
    with forced(*plan):
        for name, n in HALVES[:2] if plan[0] is SMALL else HALVES[2:]:
            x, w, b = (tg.asarray(draw(*s)).astype(name) for s in ((1, 20, n, n), (16, 20, 3, 3), (16,)))
            wide = [np.asarray(a, np.float64) for a in await tg.fetch(x, w, b)]
            before = count.launches
            y = nn.relu(nn.conv2d(x, w, b, padding=1))
            got = await y.numpy()
            assert count.launches - before == 1 + (plan[1] > 1)
            want, size = ref.conv(*wide, 1, 1), ref.conv(*(abs(a) for a in wide), 1, 1)
            step = {"float16": 2.0**-11, "bfloat16": 2.0**-8}.get(name, EPS)
            error = abs(np.asarray(got, np.float64) - np.maximum(want, 0))
            assert y.dtype.name == name and (error <= step * abs(want) + 400 * EPS * size).all()
            assert got.min() == 0 < got.max()


async def test_the_choice_end_to_end() -> None:
    """The least convolution that is given such tiles, by the plan itself, and inside jit with other sizes."""
    if IN_TAB and tg.device().software:
        pytest.skip("seconds for each kernel; the native host does it")
    with forced(None):
        x, w = draw(1, 64, 28, 55), draw(64, 64, 3, 3, seed=1)
        chosen = ways((x.shape, w.shape, 1, 1), limits=engine.facts_of(engine.device()).limits)
        f = tg.jit(lambda x, w: nn.relu(nn.conv2d(x, w, padding=1)))
        for a in (x, x, x[:, :, 1:]):
            got = await f(tg.asarray(a), tg.asarray(w)).numpy()
            assert np.allclose(got, np.maximum(ref.conv(a, w, None, 1, 1), 0), atol=2e-4)
    assert chosen[0].params.get("DIRECT")


def test_many_shapes_few_pipelines() -> None:
    """500 shapes: as many kernels as switches."""
    gpu = engine.device()
    rng = np.random.default_rng(1)
    kernels, some = set(), 0
    with taking("portable") if tg.device().software else taking("subgroups"):
        gpu.facts = replace(engine.facts_of(gpu), limits={**engine.facts_of(gpu).limits, **LARGE})
        gpu.programs = None
        for _ in range(500):
            c, o, high, wide = (int(n) for n in rng.integers((49, 32, 20, 20), (140, 100, 60, 60)))
            x, w = tg.zeros((int(rng.integers(1, 3)), c, high, wide)) + 1.0, tg.zeros((o, c, 3, 3)) + 1.0
            y = nn.conv2d(x, w, padding=int(rng.integers(0, 2)))
            for _, launches in engine.prepare(gpu, [y._cell.op]):
                found = {n.kernel for n in launches if "_d7x8" in n.kernel.label}
                some += len(found)
                kernels |= found
    assert some > 50 and len(kernels) <= 32, (some, len(kernels))
