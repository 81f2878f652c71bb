"""Sorting in the tab against NumPy: every length, axes, views, stability, special values, topk, lexsort."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
from forms import form  # noqa: F401
from tab import IN_TAB

import tabgpu as tg
from tabgpu import engine, kernels
from tabgpu.routines import radix, sort

NUMPY = {"b": np.bool_, "i": np.int32, "u": np.uint32, "f": np.float32}
INF, NAN = np.inf, np.nan


def draw(kind: str, shape: tuple[int, ...], seed: int = 0, few: int = 0) -> Any:
    """few: about how many different values."""
    rng = np.random.default_rng([seed, *shape, 11])
    if few:
        return rng.integers(-few // 2, few // 2, shape).astype(NUMPY[kind])
    if kind == "b":
        return rng.random(shape) < 0.6
    if kind == "f":
        return (rng.normal(size=shape) * 10.0 ** rng.integers(-30, 30, shape)).astype(np.float32)
    low, high = (-(2**31), 2**31) if kind == "i" else (0, 2**32)
    return rng.integers(low, high, shape).astype(NUMPY[kind])


def order(x: Any, axis: int = -1, descending: bool = False) -> Any:
    """The stable order with NaN last either way round."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    if x.dtype.kind == "f":
        return np.argsort(-x, axis=axis, kind="stable")
    return np.argsort(-x.astype(np.int64), axis=axis, kind="stable")


def same(got: Any, want: Any, label: Any = "") -> None:
    assert got.dtype == want.dtype and got.shape == want.shape, f"{label}: {got.dtype} {got.shape}"
    assert np.array_equal(got, want, equal_nan=got.dtype.kind in "fc"), f"{label}: {got}, NumPy {want}"


async def check(x: Any, axis: int = -1, label: Any = "", g: Any = None) -> None:
    """sort and argsort both ways; bits and stability too."""
    g = tg.asarray(x) if g is None else g
    got = await tg.fetch(
        tg.sort(g, axis),
        tg.argsort(g, axis),
        tg.sort(g, axis, descending=True),
        tg.argsort(g, axis, descending=True),
    )
    for descending in (False, True):
        want = order(x, axis, descending)
        same(got[1 + 2 * descending], want.astype(np.int32), (label, descending))
        values = np.take_along_axis(x, want, axis)
        have = got[2 * descending]
        same(have, values, (label, descending))
        assert np.ascontiguousarray(have).tobytes() == np.ascontiguousarray(values).tobytes(), (
            label,
            descending,
        )


@pytest.mark.limits
async def test_every_length(form: str) -> None:
    """S04: lengths 1 to 300 and around tiles, two rows each."""
    x = draw("f", (2, 2049))
    ties = draw("i", (2, 2049), few=20)
    g, h = tg.asarray(x), tg.asarray(ties)
    lengths = [*range(1, 301), 511, 512, 513, 1000, 1023, 1024, 1025, 2047, 2048, 2049]
    if form != "own":  # slow on a CPU
        lengths = [
            n for n in lengths if n in (1, 2, 3, 4, 5, 8, 31, 100, 255, 256, 257, 513, 1023, 1024, 1025, 2049)
        ]
    for k in range(0, len(lengths), 50):
        part = lengths[k : k + 50]
        made = [f(a[:, :n], 1) for n in part for f, a in ((tg.sort, g), (tg.argsort, h))]
        got = iter(await tg.fetch(*made))
        for n in part:
            same(next(got), np.sort(x[:, :n], 1), n)
            same(next(got), order(ties[:, :n]).astype(np.int32), n)


def awkward(shape: tuple[int, ...], dtype: str) -> Any:
    """Values with ties, and of floats NaN, infinities and zeros of either sign."""
    rng = np.random.default_rng([8, *shape])
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        x[..., ::3] %= 50
        return x
    x = (rng.normal(size=shape) * 100.0).astype(dtype)
    x[..., ::7] = np.round(x[..., ::7])
    for k, value in enumerate((NAN, -0.0, 0.0, INF, -INF, -NAN, 6e-8)):
        x[..., k :: 11 + k] = value
    return x


@pytest.mark.limits
@pytest.mark.parametrize("shape", [(4095,), (4097,), (12_288,), (3, 5000), (2, 8192)])
async def test_long_rows_in_each_form(
    form: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Merges, and radix sorts by subgroups and by threads of their own: around blocks, several rows, each dtype."""
    monkeypatch.setattr(radix, "LEAST", 1024)
    monkeypatch.setattr(radix, "LEAST_IN_ALL", 0)
    monkeypatch.setattr(radix, "ITEMS", ((12_000, 4), (14_000, 8)))
    if IN_TAB and engine.device().software and form in ("portable", "subgroups"):  # many seconds a kernel
        if shape == (3, 5000):
            x = awkward(shape, "float32")
            same(
                await tg.sort(tg.asarray(x), descending=True).numpy(),
                np.take_along_axis(x, order(x, -1, True), -1),
            )
        return
    for dtype in ("float32", "int32", "uint32", "int8", "uint8", "int16", "uint16", "float16", "bool"):
        await check(awkward(shape, dtype), -1, (shape, dtype))


@pytest.mark.parametrize("threads", [32, 64])
async def test_more_digits_than_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thread adds up several digits, as with subgroups of 32 lanes in workgroups of 128."""
    gpu = engine.device()
    facts = engine.facts_of(gpu)
    lanes = await lanes_of_a_subgroup() if facts.subgroups[0] else 0
    if not 8 <= lanes <= 32:
        pytest.skip(f"subgroups of {lanes} lanes")
    monkeypatch.setattr(radix, "LEAST_IN_ALL", 0)
    monkeypatch.setattr(gpu, "programs", None)
    changed = dataclasses.replace(facts, software=False, workgroup=threads, subgroups=(lanes, lanes))
    monkeypatch.setattr(gpu, "facts", changed)
    assert radix.digit_bits(changed) == 8
    await check(awkward((2, 9000), "float32"))


async def lanes_of_a_subgroup() -> int:
    """What this adapter's compiler makes of a small kernel."""
    from tabgpu.launch import Kernel, Launch
    from tabgpu.ops.routine import routine

    code = """enable subgroups;
@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, 1>;
@compute @workgroup_size(32) fn main(@builtin(subgroup_size) size: u32) { dst[0] = size + P[0].x; }"""
    made = Kernel("lanes", code, "w", 32)
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patch:
        patch.setattr(sort, "lower", lambda op, facts: [Launch(made, (), (op,), (1, 1, 1), [0, 0, 0, 0])])
        return int(await routine("sort.lanes", [], (1,), tg.uint32, (0,)).item())


async def test_long_rows_take_passes_by_bytes() -> None:
    """Radix sorts go through the bits that a dtype has; merges take rounds."""
    gpu = engine.device()
    if not radix.suits(1, 10_000, engine.facts_of(gpu)):
        pytest.skip("sorted by merging")
    bits = radix.digit_bits(engine.facts_of(gpu))
    for dtype, wide in (("uint8", 8), ("int16", 16), ("float32", 32)):
        x = tg.asarray(awkward((10_000,), dtype))
        await tg.argsort(x).numpy()
        before = tg.memory()["launches"]
        kept = tg.argsort(x)
        await tg.synchronize()
        most = 3 * -(-wide // bits) + (wide < 32)  # and one that widens the elements
        assert 2 * -(-wide // bits) <= tg.memory()["launches"] - before <= most
        del kept


@pytest.mark.parametrize("n", [65535, 65536, 65537])
async def test_long_rows(n: int) -> None:
    x = draw("f", (n,), few=1000)
    x[::7] = NAN
    got = await tg.fetch(tg.sort(tg.asarray(x)), tg.argsort(tg.asarray(x), descending=True))
    same(got[0], np.sort(x))
    same(got[1], order(x, descending=True).astype(np.int32))


@pytest.mark.slow
async def test_a_million_elements() -> None:
    x = draw("u", (1_000_003,))
    few = x % 100
    g = tg.asarray(few)
    got = await tg.fetch(tg.sort(tg.asarray(x)), tg.argsort(g))
    same(got[0], np.sort(x))
    same(got[1], order(few).astype(np.int32))


@pytest.mark.parametrize("kind", "biuf")
async def test_axes_and_views(kind: str) -> None:
    x = draw(kind, (6, 17, 40), few=0 if kind in "bu" else 30)
    views = [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[::-1, ::2, ::-3],
        lambda a: a[:, None, 3],
        lambda a: a[2, ::-1, 5:],
    ]
    whole = tg.asarray(x)
    for k, view in enumerate(views):
        y = view(x)
        for axis in (*range(y.ndim), -1):
            await check(y, axis, (k, axis), view(whole))


@pytest.mark.usefixtures("form")
async def test_equal_reversed_and_nan_filled() -> None:
    """S01: many equal keys keep their order; sorted, reversed, all equal, all NaN."""
    for n in (7, 300, 2500):
        up = np.arange(n, dtype=np.int32)
        half = up.astype(np.float32)
        half[: n // 2] = NAN
        nans = np.full(n, NAN, np.float32)
        nans.view(np.uint32)[:] += up.view(np.uint32) % 1000  # payloads move along
        for x in (up, up[::-1].copy(), np.full(n, 5, np.int32), up % 3, half, nans):
            await check(x, 0, n)


async def test_special_values() -> None:
    """S01, S02, S07: NaN last, infinities, signed zeros in their order, denormals."""
    x = np.float32([3, NAN, 2, -0.0, 0.0, -1, 1, -INF, INF, 1e-45, -1e-45, 0.0, -0.0, -NAN, 3.4e38, -3.4e38])
    await check(x)
    await check(x[::-1].copy())
    big = np.tile(x, 90)
    await check(big)
    ints = np.int32([-(2**31), 2**31 - 1, 0, -1, 1, -(2**31), 2**31 - 1])
    await check(ints)
    await check(ints.view(np.uint32))
    await check(np.uint32([2**32 - 1, 0, 2**32 - 1, 2**31]))


async def test_narrow_dtypes() -> None:
    """S02: float16 and bfloat16 put NaN last; small integers."""
    rng = np.random.default_rng(5)
    for dtype in (np.int8, np.uint8, np.int16, np.uint16):
        await check(
            rng.integers(-200 if np.dtype(dtype).kind == "i" else 0, 200, (3, 70)).astype(dtype), 1, dtype
        )
    half = np.float16([3, NAN, 2, 0, -0.0, 65504, -INF, 6e-8, INF])
    await check(half)
    brain = tg.asarray(np.float32([3, NAN, 2, 0])).astype(tg.bfloat16)
    got = await tg.fetch(tg.sort(brain), tg.argsort(brain))
    same(np.asarray(got[0], np.float32), np.float32([0, 2, 3, NAN]))
    same(got[1], np.int32([3, 2, 0, 1]))


async def test_complex_numbers() -> None:
    """By real, then imaginary part, as NumPy."""
    rng = np.random.default_rng(6)
    z = (rng.integers(-3, 3, (2, 60)) + 1j * rng.integers(-3, 3, (2, 60))).astype(np.complex64)
    z[0, :8] = [complex(1, NAN), complex(NAN, 1), complex(NAN, NAN), complex(-INF, 0), complex(0, INF),
                complex(NAN, 0), complex(0, NAN), complex(INF, NAN)]  # fmt: skip
    got = await tg.fetch(tg.sort(tg.asarray(z)), tg.argsort(tg.asarray(z)))
    same(got[0], np.sort(z))
    same(got[1], np.argsort(z, kind="stable").astype(np.int32))


async def test_sort_complex() -> None:
    x = draw("i", (3, 20), few=9)
    got = await tg.sort_complex(tg.asarray(x)).numpy()
    same(got, np.sort_complex(x).astype(np.complex64))


async def test_many_short_rows() -> None:
    for shape in ((3000, 1), (3000, 2), (999, 3), (700, 5), (100, 33)):
        await check(draw("i", shape, few=9), 1, shape)


async def test_flattened_and_default_axis() -> None:
    x = draw("i", (5, 30), few=40)
    g = tg.asarray(x)
    got = await tg.fetch(
        tg.sort(g, axis=None), tg.argsort(g, axis=None), tg.sort(g), tg.argsort(g.T), tg.sort([3, 1, 2])
    )
    same(got[0], np.sort(x, axis=None))
    same(got[1], np.argsort(x, axis=None, kind="stable").astype(np.int32))
    same(got[2], np.sort(x))
    same(got[3], order(x.T).astype(np.int32))
    same(got[4], np.int32([1, 2, 3]))


async def test_methods() -> None:
    x = draw("i", (4, 30))
    g = tg.asarray(x)
    old, view = g + 0, g[1:3]
    places = g.argsort(axis=0)
    assert g.sort() is None
    h = tg.asarray(x)
    h.sort(axis=0, descending=True)
    got = await tg.fetch(g, old, view, places, h, tg.asarray(x).argsort(descending=True))
    same(got[0], np.sort(x))
    same(got[1], x)
    same(got[2], np.sort(x)[1:3])
    same(got[3], order(x, 0).astype(np.int32))
    same(got[4], -np.sort(-x.astype(np.int64), 0).astype(np.int32))
    same(got[5], order(x, descending=True).astype(np.int32))


async def test_empty_and_single() -> None:
    made = [
        tg.sort(tg.zeros(0)), tg.argsort(tg.zeros((0, 3))), tg.sort(tg.zeros((3, 0))), tg.sort(tg.zeros((0, 3)), 0),
        tg.sort(tg.zeros(()), axis=None), tg.argsort(tg.ones((2, 1))), *tg.topk(tg.ones((2, 3)), 0),
        tg.lexsort([tg.zeros(0)]),
    ]  # fmt: skip
    shapes = [(0,), (0, 3), (3, 0), (0, 3), (1,), (2, 1), (2, 0), (2, 0), (0,)]
    assert [g.shape for g in await tg.fetch(*made)] == shapes


async def test_partitions() -> None:
    x = draw("f", (5, 200))
    g = tg.asarray(x)
    got, places = await tg.fetch(tg.partition(g, 30), tg.argpartition(g, (3, -5), axis=0))
    assert (got[:, :30] <= got[:, 30:31]).all() and (got[:, 31:] >= got[:, 30:31]).all()
    same(np.sort(got), np.sort(x))
    for k in (3, -5):
        same(np.take_along_axis(x, places, 0)[k], np.sort(x, 0)[k])


async def test_topk() -> None:
    x = draw("i", (6, 300), few=50)
    f = np.float32([1, NAN, 3, INF, -INF, 2, NAN])
    g = tg.asarray(x)
    most, least, across = tg.topk(g, 7), tg.topk(g, 5, largest=False), tg.topk(g, 2, axis=0)
    plain, torch = tg.topk(tg.asarray(f), 4), tg.topk(tg.asarray(f), 4, nan_greatest=True)
    got = await tg.fetch(*most, *least, *across, *plain, *torch)
    for k, (axis, count, down) in enumerate([(1, 7, True), (1, 5, False), (0, 2, True)]):
        places = np.take(order(x, axis, down), range(count), axis)
        same(got[2 * k], np.take_along_axis(x, places, axis), k)
        same(got[2 * k + 1], places.astype(np.int32), k)
    same(got[6], np.float32([INF, 3, 2, 1]))
    same(got[7], np.int32([3, 2, 5, 0]))
    same(got[8], np.float32([NAN, NAN, INF, 3]))
    same(got[9], np.int32([1, 6, 3, 2]))


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("n", [4096, 10_001])
async def test_topk_of_long_rows(n: int) -> None:
    """Only the first of each tile go on; ties across tiles, NaN and infinities as in a whole sort."""
    if IN_TAB and engine.device().software and not engine.facts_of(engine.device()).software:
        pytest.skip("the native host runs the forms of a GPU")
    x, i = awkward((2, n), "float32"), awkward((n,), "int32") % 7
    g = tg.asarray(x)
    few, all_nan = tg.topk(g, 50), tg.full((n,), NAN)
    made = [*few, *tg.topk(g.T, 3, axis=0, largest=False), *tg.topk(tg.asarray(i), 100), *tg.topk(g, 200)]
    got = await tg.fetch(*made, *tg.topk(g, 60, nan_greatest=True), *tg.topk(all_nan, 2))
    down = order(x, -1, True)
    same(got[1], down[:, :50].astype(np.int32))
    same(got[0], np.take_along_axis(x, down[:, :50], 1))
    same(got[3], order(x)[:, :3].T.astype(np.int32))
    same(got[5], order(i, -1, True)[:100].astype(np.int32))
    same(got[7], down[:, :200].astype(np.int32))
    assert np.isnan(got[8]).all() and (np.diff(got[9]) > 0).all()
    same(got[11], np.int32([0, 1]))


async def test_lexsort() -> None:
    a, b, c = (draw("i", (3, 100), few=4, seed=k) for k in range(3))
    keys = [tg.asarray(k) for k in (a, b, c)]
    got = await tg.fetch(tg.lexsort(keys), tg.lexsort(tuple(keys), axis=0), tg.lexsort(keys[0]))
    same(got[0], np.lexsort((a, b, c)).astype(np.int32))
    same(got[1], np.lexsort((a, b, c), axis=0).astype(np.int32))
    same(got[2], np.lexsort(a).astype(np.int32))


def test_wrong_arguments() -> None:
    x = tg.zeros((3, 4))
    for call in (
        lambda: tg.sort(x, 2), lambda: tg.argsort(x, axis=-3), lambda: tg.sort(tg.zeros(())), lambda: tg.topk(x, 1, 5),
        lambda: tg.lexsort([x, x], axis=2),
    ):  # fmt: skip
        with pytest.raises(tg.AxisError):
            call()
    for call, message in (
        (lambda: tg.topk(x, 5), r"k = 5.*\(3, 4\)"), (lambda: tg.topk(x, -1), "k = -1"),
        (lambda: tg.partition(x, 4), "kth"),
        (lambda: tg.sort(x, kind="bubble"), "kind"), (lambda: tg.sort(x, order="a"), "order"),
        (lambda: tg.lexsort([x, x[:2]]), r"\(2, 4\)"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError):
        tg.lexsort([])


async def test_sorts_take_few_launches_and_kernels() -> None:
    x = tg.asarray(draw("i", (40_000,)))
    await tg.fetch(tg.sort(x), tg.argsort(x), tg.sort(x[:5]))
    before = tg.memory()
    await tg.fetch(*[f(x[:n]) for n in (3, 100, 1000, 1025, 7777, 30_000) for f in (tg.sort, tg.argsort)])
    assert tg.memory()["pipelines"] == before["pipelines"]
    before = tg.memory()
    await tg.sort(x).numpy()
    assert tg.memory()["launches"] - before["launches"] <= 12


def test_workgroup_memory_is_sized_by_constants_only() -> None:
    """S05: Safari gives arrays sized by an override constant no memory; no kernel declares one."""
    names = kernels.names()
    assert "sort_block" in names
    for name in names:
        text = kernels.read(name)
        assert not re.search(r"^\s*(@id\(.*\)\s*)?override\b", text, re.M), name
