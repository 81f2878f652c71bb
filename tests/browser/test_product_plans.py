"""Every kernel that gemm_tiles may choose for a product, forced on the adapter under test: GPU plans on CPUs too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import engine, region
from tabgpu.kernels import gemm_tiles
from tabgpu.kernels.gemm_tiles import PLANS, Units, Vectors, size_class

EPS = 2.0**-24


class Plans:
    """Plans by the GPU's table, with overrides; what was remembered is forgotten."""

    def __init__(self) -> None:
        self.gpu = engine.device()
        self.facts = engine.facts_of(self.gpu)
        self.saved = dict(gemm_tiles.overrides)
        self.use(self.facts.software)

    def use(self, software: bool) -> None:
        self.gpu.facts = replace(self.facts, software=software)
        self.forget()

    def forget(self) -> None:
        region.recipes.clear()
        if self.gpu.programs is not None:
            self.gpu.programs.clear()

    def force(self, name: str, *sizes: int, halves: bool = False) -> None:
        gemm_tiles.overrides[(halves, *size_class(*sizes))] = name
        self.forget()

    def restore(self) -> None:
        gemm_tiles.overrides.clear()
        gemm_tiles.overrides.update(self.saved)
        self.gpu.facts = self.facts
        self.forget()


@pytest.fixture
def plans() -> Iterator[Plans]:
    made = Plans()
    made.use(software=False)
    yield made
    made.restore()


def draw(rng: Any, *shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


def check(label: str, got: Any, a: Any, b: Any, slack: float = 0.0) -> None:
    wide = a.astype(np.float64), b.astype(np.float64)
    bound = 4 * a.shape[-1] * EPS * (np.abs(wide[0]) @ np.abs(wide[1])) + slack
    error = np.abs(got - wide[0] @ wide[1])
    assert got.shape == error.shape and (error <= bound).all(), f"{label}: off by {error.max()}"


def labels(before: set[Any]) -> str:
    return " ".join(k.label for k in region.kernels.values() if k not in before)


async def run(plans: Plans, name: str, m: int, n: int, k: int, batch: int = 1) -> None:
    """A product in all four orientations, with an epilogue, and one whose operands no vec4 fits."""
    rng = np.random.default_rng(1)
    plans.force(name, m, n, k, batch)
    a, b, c = draw(rng, batch, m, k), draw(rng, batch, k, n), draw(rng, m, n)
    at, bt = np.ascontiguousarray(a.swapaxes(1, 2)), np.ascontiguousarray(b.swapaxes(1, 2))
    ga, gb, gat, gbt = (tg.asarray(x) for x in (a, b, at, bt))
    line = tg.asarray(np.concatenate([[9.0], a.reshape(-1)]).astype(np.float32))
    odd = line[1:].reshape(a.shape)  # begins in the middle of a vec4
    made = [ga @ gb, gat.mT @ gb, ga @ gbt.mT, (gat.mT @ gbt.mT) * 2.0 + tg.asarray(c), odd @ gb]
    got = await tg.fetch(*made)
    for label, x in zip(("NN", "TN", "NT", "TT with more", "odd"), got, strict=True):
        if label == "TT with more":
            x = (x.astype(np.float64) - c) / 2
        check(f"{name} {label} {m, n, k}", x, a, b, slack=1e-5)


TILE_NAMES = [p.name for p in gemm_tiles.TILES]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*TILE_NAMES, "t16x16/3", "t32x32s4/2"])
async def test_tiles(name: str, plans: Plans) -> None:
    """One more row and column than tiles have, some k more than whole steps."""
    plan = PLANS[name.partition("/")[0]]
    assert isinstance(plan, gemm_tiles.Tile)
    try:
        before = set(region.kernels.values())
        await run(plans, name, plan.bm + 4, plan.bn + 8, 2 * plan.bk + 4)
        await run(plans, name, plan.bm + 1, plan.bn + 1, 3 * plan.bk + 201, 2)
    finally:
        made = labels(before)
    fits = plan.threads <= plans.gpu.limits["maxComputeInvocationsPerWorkgroup"]
    assert (f"_{plan.name}" in made) is fits


@pytest.mark.parametrize(
    "vectors, software",
    [(1, False), (1, True), (3, True), (8, True)]
    + [pytest.param(n, False, marks=pytest.mark.slow) for n in (3, 8)],  # long to compile on SwiftShader
)
@pytest.mark.limits
async def test_few_rows_or_columns(vectors: int, software: bool, plans: Plans) -> None:
    """Matrix-vector products and their kin: matrices in both orientations, long and short k, ends within a vec4."""
    plans.use(software)
    for many, k in [(36, 64), (13, 1030)]:
        plan = f"v{1 << (vectors - 1).bit_length()}"
        await run(plans, plan, vectors, many, k)
        await run(plans, plan, many, vectors, k, 2)


@pytest.mark.parametrize("m,n", [(1, 1), (1, 9), (9, 1), (3, 4), (20, 12)])
@pytest.mark.limits
async def test_pieces_of_a_long_axis(m: int, n: int, plans: Plans) -> None:
    """k is cut where few threads would add many terms; a second launch adds the pieces, then comes what follows."""
    rng = np.random.default_rng(2)
    k = 33_001
    a, b, c = draw(rng, m, k), draw(rng, k, n), draw(rng, m, n)
    ga, gb, gc = tg.asarray(a), tg.asarray(b), tg.asarray(c)
    for software in (False, True):
        plans.use(software)
        before = tg.device().counters.launches
        got, again = await tg.fetch(ga @ gb - gc, ga @ gb - gc)
        assert tg.device().counters.launches - before == 4
        check(f"{m, n} {software}", got.astype(np.float64) + c, a, b, slack=1e-4)
        assert got.tobytes() == again.tobytes()
    i = rng.integers(-(2**31), 2**31, (m, k)).astype(np.int32)
    j = rng.integers(-(2**31), 2**31, (k, n)).astype(np.int32)
    assert np.array_equal(await (tg.asarray(i) @ tg.asarray(j)).numpy(), i @ j)


HALF = {"float16": 2.0**-11, "bfloat16": 2.0**-8}


@pytest.mark.parametrize("dtype", HALF)
@pytest.mark.parametrize("software", [False, True])
async def test_halves_are_read_and_written_in_one_launch(dtype: str, software: bool, plans: Plans) -> None:
    """16-bit operands are not widened first; results of whole vec4s a row are rounded by the same launch."""
    plans.use(software)
    rng = np.random.default_rng(3)
    for m, n, k, launches in [
        (12, 24, 36, 1),
        (12, 24, 35, 1),
        (2, 24, 36, None),
        (24, 2, 36, None),
        (9, 11, 13, 2),
    ]:
        a, b = tg.asarray(draw(rng, m, k), dtype=dtype), tg.asarray(draw(rng, k, n), dtype=dtype)
        bt = tg.asarray(b.mT).copy()
        x, y = await tg.fetch(a.astype("float32"), b.astype("float32"))
        await tg.fetch(a, b, bt)
        before = tg.device().counters.launches
        product = a @ b
        await tg.fetch(product)
        if launches is not None:
            assert tg.device().counters.launches - before == launches
        got = await product.astype("float32").numpy()
        want = x.astype(np.float64) @ y.astype(np.float64)
        slack = HALF[dtype] * np.abs(want) + 2.0**-24
        check(f"{dtype} {m, n, k}", got, x, y, slack)
        check(f"{dtype} NT {m, n, k}", await (a @ bt.mT).astype("float32").numpy(), x, y, slack)


async def test_halves_special_values(plans: Plans) -> None:
    a = np.zeros((8, 8), np.float16)
    a[0], a[1, 0], a[2, 0], a[3, 0], a[4, 0] = 65504, np.nan, np.inf, 2.0**-24, 6.1e-5
    one = np.eye(8, dtype=np.float16)
    got = await (tg.asarray(a) @ tg.asarray(one)).numpy()
    with np.errstate(invalid="ignore"):
        want = (a.astype(np.float32) @ one.astype(np.float32)).astype(np.float16)
    assert got.dtype == np.float16 and np.array_equal(got, want, equal_nan=True)
    big = await (tg.asarray(a[:1]) @ tg.ones((8, 4), dtype="float16")).numpy()
    assert np.isposinf(big).all()


async def test_what_follows_a_product_in_narrow_dtypes(plans: Plans) -> None:
    """Comparisons and casts behind a product join it where rows are whole vec4s, and are right everywhere."""
    rng = np.random.default_rng(4)
    for m, n in [(12, 24), (2, 24), (24, 2), (12, 23), (16, 1)]:
        a, b = (
            rng.integers(-9, 9, (m, 20)).astype(np.float32),
            rng.integers(-9, 9, (20, n)).astype(np.float32),
        )
        p = tg.asarray(a) @ tg.asarray(b)
        positive, small, whole = await tg.fetch(p > 5.0, tg.clip(p, -100.0, 100.0).astype("int8"), p)
        want = a @ b
        assert np.array_equal(positive, want > 5) and np.array_equal(whole, want)
        assert np.array_equal(small, np.clip(want, -100, 100).astype(np.int8))
        alone = await ((tg.asarray(a) @ tg.asarray(b)) < 0.0).numpy()
        assert np.array_equal(alone, want < 0)


@pytest.mark.gpu
@pytest.mark.parametrize("name", [u.name for u in gemm_tiles.UNITS])
async def test_matrix_units(name: str, plans: Plans) -> None:
    """Where the adapter has matrix units: all orientations, tiles moved back at the edges, batches, epilogues."""
    if not gemm_tiles.MATRIX <= plans.facts.features:
        pytest.skip("this adapter has no matrix units that we use")
    plan = PLANS[name]
    assert isinstance(plan, Units)
    rng = np.random.default_rng(5)
    for m, n, k, batch in [(plan.bm, plan.bn, 64, 1), (plan.bm + 8, plan.bn + 24, 96, 2), (520, 392, 512, 1)]:
        plans.force(name, m, n, k, batch, halves=True)
        a, b = draw(rng, batch, m, k).astype(np.float16), draw(rng, batch, k, n).astype(np.float16)
        ga, gb = tg.asarray(a), tg.asarray(b)
        gat, gbt = (tg.asarray(np.ascontiguousarray(x.swapaxes(1, 2))) for x in (a, b))
        before = set(region.kernels.values())
        got = await tg.fetch(ga @ gb, gat.mT @ gb, ga @ gbt.mT, gat.mT @ gbt.mT, tg.maximum(ga @ gb, 0.0))
        assert labels(before).count("gemm_matrix") == 5 or m == 520
        want = a.astype(np.float64) @ b.astype(np.float64)
        slack = 2.0**-11 * np.abs(want) + 4 * k * EPS * (
            np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
        )
        for x in got[:4]:
            assert x.dtype == np.float16 and (np.abs(x - want) <= slack).all()
        assert np.array_equal(got[4], np.maximum(got[0], 0))


def test_vectors_hold_what_they_are_named_for() -> None:
    assert [p.vectors for p in PLANS.values() if isinstance(p, Vectors)] == [1, 2, 4, 8]
