"""Variance, averages, covariance, gradients, extremes with positions and whole comparisons against NumPy in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tabgpu as tg

pytestmark = pytest.mark.filterwarnings(
    "ignore:Degrees of freedom", "ignore:Mean of empty slice", "ignore:invalid value"
)
AXES = ((None, False), (0, True), (-1, False), ((2, -2), True), ((), False))  # and keepdims


def draw(shape: tuple[int, ...], seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def complexes(shape: tuple[int, ...], seed: int = 0) -> Any:
    return (draw(shape, seed) + 1j * draw(shape, seed + 1)).astype(np.complex64)


WIDE = {"f": np.float64, "c": np.complex128}


def wide(x: Any) -> Any:
    a = np.asarray(x)
    return a.astype(WIDE.get(a.dtype.kind, a.dtype))


async def near(cases: list[tuple[str, Any, Any]], tolerance: float = 2e-6) -> None:
    """(label, GPU array, what NumPy has) each; tolerance relative to the greatest of the answer."""
    for (label, _, want), got in zip(cases, await tg.fetch(*[c[1] for c in cases]), strict=True):
        want = np.asarray(want)
        assert got.shape == want.shape, f"{label}: shape {got.shape}, NumPy {want.shape}"
        finite = np.abs(want[np.isfinite(want)])
        scale = tolerance * max(1.0, float(finite.max())) if finite.size else tolerance
        with np.errstate(all="ignore"):
            ok = (np.abs(got - want) <= scale) | (got == want) | (np.isnan(got) & np.isnan(want))
        assert np.all(ok), f"{label}: {got} is not {want}"


# --- var and std --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["var", "std"])
async def test_deviation(name: str) -> None:
    x = draw((4, 5, 6))
    g, f, ours = tg.asarray(x), getattr(np, name), getattr(tg, name)
    mask = draw((4, 5, 6), 3) > -0.5
    cases = []
    for axis, keep in AXES:
        options = {"axis": axis, "keepdims": keep}
        cases.append((f"{axis}", ours(g, **options), f(wide(x), **options)))
    cases.append(("ddof", ours(g, axis=-1, ddof=1), f(wide(x), axis=-1, ddof=1)))
    cases.append(("correction", ours(g, axis=-1, correction=1.5), f(wide(x), axis=-1, ddof=1.5)))
    cases.append(("where", ours(g, axis=(0, 1), where=mask), f(wide(x), axis=(0, 1), where=mask)))
    cases.append(("where", ours(g, where=mask, keepdims=True), f(wide(x), where=mask, keepdims=True)))
    cases.append(("T", ours(g.T[::-1], axis=1), f(wide(x).T[::-1], axis=1)))
    cases.append(("a row's mask", ours(g, axis=1, where=mask[0, 0]), f(wide(x), axis=1, where=mask[0, 0])))
    mean = g.mean(axis=1, keepdims=True)
    cases.append(("mean=", ours(g, axis=1, mean=mean), f(wide(x), axis=1)))
    cases.append(("method", getattr(g, name)(axis=0), f(wide(x), axis=0)))
    await near(cases)


async def test_no_degree_of_freedom_is_left() -> None:
    g = tg.asarray(np.array([[1.0, 2.0], [5.0, 5.0]], np.float32))
    got = await tg.fetch(
        tg.var(g, axis=1, ddof=2),
        tg.var(g[:, :1], axis=1, ddof=1),
        tg.var(tg.zeros(0)),
        tg.var(g, axis=0, ddof=3),
    )
    assert got[0][0] == np.inf and np.isnan(got[0][1]) and np.isnan(got[1]).all() and np.isnan(got[2])
    assert (got[3] == np.inf).all()
    assert tg.var(tg.zeros((0, 3)), axis=1).shape == (0,)


async def test_variance_of_large_means() -> None:
    """R08: by two passes, not E[x**2] - E[x]**2: right at 1e4 + noise, exactly 0 for constants, never negative."""
    x = (1e4 + np.random.default_rng(8).standard_normal((3, 5000))).astype(np.float32)
    got, flat, far = await tg.fetch(
        tg.var(tg.asarray(x), axis=1),
        tg.var(tg.full(70_000, 1234.567)),
        tg.std(tg.asarray(x + np.float32(1e6))),
    )
    assert np.abs(got / x.astype(np.float64).var(axis=1) - 1).max() < 1e-4
    assert 0 <= flat < 1e-6 and far >= 0
    few = tg.asarray(np.array([[16777217.0, 16777217.0, 16777217.0]], np.float32))
    assert await tg.var(few, axis=1).tolist() == [0.0]


async def test_variance_of_reversed_rows() -> None:
    """R11."""
    x = np.arange(1, 131, dtype=np.float32).reshape(2, 65)
    assert await tg.var(tg.asarray(x)[::-1], axis=-1).tolist() == [352.0, 352.0]


async def test_variance_is_two_launches() -> None:
    g = tg.asarray(draw((64, 80)))
    before = tg.device().counters.launches
    await (tg.std(g, axis=1) * 2).numpy()
    assert tg.device().counters.launches - before == 2


async def test_deviation_of_other_dtypes() -> None:
    x = np.random.default_rng(2).integers(0, 100, (4, 9))
    cases = []
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "bool"):
        host = x.astype(dtype)
        g = tg.asarray(host)
        assert tg.var(g).dtype is tg.float32
        cases += [
            (dtype, tg.var(g, axis=1), host.astype(np.float64).var(axis=1)),
            (dtype, tg.std(g), host.std()),
        ]
    c = complexes((4, 9))
    assert tg.std(tg.asarray(c)).dtype is tg.float32
    cases.append(("complex", tg.var(tg.asarray(c), axis=0, ddof=1), wide(c).var(axis=0, ddof=1)))
    cases.append(("to float32", tg.var(tg.asarray(x), dtype="float32"), x.var()))
    await near(cases, 1e-6)
    half = (1000 + 50 * draw((3000,))).astype(np.float16)  # a sum in float16 would be inf
    got = await tg.var(tg.asarray(half)).numpy()
    assert got.dtype == np.float16 and abs(got / half.astype(np.float64).var() - 1) < 1e-3


def test_wrong_arguments_of_deviation() -> None:
    g = tg.ones((2, 3))
    with pytest.raises(ValueError, match="not both"):
        tg.var(g, ddof=1, correction=2)
    with pytest.raises(TypeError, match="int32"):
        tg.var(g, dtype="int32")
    with pytest.raises(tg.AxisError):
        tg.std(g, axis=2)
    with pytest.raises(TypeError, match="bool"):
        tg.std(g, where=tg.ones((2, 3)))


# --- averages, covariance -----------------------------------------------------------------------------------


async def test_average() -> None:
    x, w = draw((4, 5, 6)), np.abs(draw((4, 5, 6), 1))
    g = tg.asarray(x)
    cases = [
        ("plain", tg.average(g, 1), np.average(wide(x), 1)),
        ("all", tg.average(g, weights=w), np.average(wide(x), weights=wide(w))),
        ("same shape", tg.average(g, 1, w), np.average(wide(x), 1, wide(w))),
        ("one axis", tg.average(g, -2, w[0, :, 0]), np.average(wide(x), -2, wide(w[0, :, 0]))),
        (
            "axes in their order",
            tg.average(g, (2, 0), w[:, 0].T),
            np.average(wide(x), (2, 0), wide(w[:, 0].T)),
        ),
        ("keepdims", tg.average(g, 0, w, keepdims=True), np.average(wide(x), 0, wide(w), keepdims=True)),
        ("integers", tg.average([1, 2, 4], weights=[3, 2, 1]), np.average([1, 2, 4], weights=[3, 2, 1])),
        ("no weight", tg.average([1.0, 2.0], weights=[0.0, 0.0]), np.nan),
    ]
    for k, weights in enumerate((w, None)):
        ours, theirs = tg.average(g, 1, weights, True), np.average(wide(x), 1, weights, True)
        cases += [(f"returned {k}{j}", ours[j], theirs[j]) for j in range(2)]
    await near(cases)
    with pytest.raises(TypeError, match="axis"):
        tg.average(g, weights=w[0])
    with pytest.raises(ValueError, match=r"\(4,\)"):
        tg.average(g, 1, weights=w[:, 0, 0])


async def test_covariance() -> None:
    x, y = draw((5, 12)), draw((3, 12), 1)
    freq, importance = np.arange(12) % 4, np.abs(draw((12,), 2))
    options: list[dict[str, Any]] = [
        {"ddof": 3}, {"bias": True, "fweights": freq}, {"fweights": freq, "aweights": importance},
    ]  # fmt: skip
    cases = [(str(o), tg.cov(tg.asarray(x), **o), np.cov(wide(x), **o)) for o in options]
    cases += [
        ("two", tg.cov(x, y), np.cov(wide(x), wide(y))),
        ("columns", tg.cov(x.T, y.T, rowvar=False), np.cov(wide(x), wide(y))),
        ("1-D", tg.cov(x[0]), np.cov(wide(x[0]))),
        ("integers", tg.cov([[1, 2, 4], [3, 0, 5]]), np.cov([[1, 2, 4], [3, 0, 5]])),
        ("one sample", tg.cov(x[:, :1]), np.full((5, 5), np.nan)),
        ("corrcoef", tg.corrcoef(x), np.corrcoef(wide(x))),
        ("corrcoef of two", tg.corrcoef(x[0], y[0]), np.corrcoef(wide(x[0]), wide(y[0]))),
        ("corrcoef of one", tg.corrcoef(x[0]), 1.0),
    ]
    c = complexes((3, 9))
    cases += [("complex", tg.cov(c), np.cov(wide(c))), ("complex", tg.corrcoef(c), np.corrcoef(wide(c)))]
    await near(cases, 5e-6)
    for wrong in (np.ones((2, 2)), np.ones(3)):
        with pytest.raises(RuntimeError):
            tg.cov(x, aweights=wrong)
    with pytest.raises(TypeError, match="fweights"):
        tg.cov(x, fweights=importance)
    with pytest.raises(ValueError, match="axes"):
        tg.cov(np.ones((2, 2, 2)))


async def test_peak_to_peak() -> None:
    x = draw((4, 5, 6))
    g, options = tg.asarray(x), [(a, keep) for a in (None, 1, (0, 2)) for keep in (False, True)]
    cases = [(str(a), tg.ptp(g, a, keepdims=keep), np.ptp(x, a, keepdims=keep)) for a, keep in options]
    cases.append(("integers", tg.ptp(np.array([[7, -3], [200, 1]], np.int16), 0), np.array([193, 4])))
    await near(cases, 0)
    with pytest.raises(ValueError, match="max"):
        tg.ptp(tg.zeros(0))


async def test_logsumexp() -> None:
    x, b = draw((4, 5, 6)), draw((4, 5, 6), 1)

    def host(a: Any, axis: Any = None, b: Any = 1.0) -> Any:
        top = a.max(axis=axis, keepdims=True)
        return np.log((b * np.exp(a - top)).sum(axis=axis)) + top.reshape(np.sum(a, axis=axis).shape)

    g = tg.asarray(x)
    cases = [(str(a), tg.logsumexp(g * 300, a), host(wide(x) * 300, a)) for a in (None, 1, (0, 2))]
    cases += [
        ("factors", tg.logsumexp(g, 1, b=np.abs(b)), host(wide(x), 1, np.abs(wide(b)))),
        ("all -inf", tg.logsumexp([-math.inf, -math.inf]), -np.inf),
        ("inf", tg.logsumexp([math.inf, 1.0]), np.inf),
        ("NaN", tg.logsumexp([math.nan, 1.0]), np.nan),
        ("nothing", tg.logsumexp(tg.zeros((2, 0)), 1), np.array([-np.inf, -np.inf])),
        ("integers", tg.logsumexp([1, 2]), np.log(np.exp(1) + np.exp(2))),
        ("a factor 0 of inf", tg.logsumexp([math.inf, 1.0], b=[0.0, 1.0]), 1.0),
    ]
    value, sign = tg.logsumexp(g, 1, b=-np.abs(b), return_sign=True)
    cases += [("value", value, host(wide(x), 1, np.abs(wide(b)))), ("sign", sign, -np.ones((4, 6)))]
    assert tg.logsumexp(g, (0, 1), keepdims=True).shape == (1, 1, 6)
    await near(cases, 1e-6)


# --- calculus -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
async def test_gradient(order: int) -> None:
    x = draw((5, 7, 6))
    g, w = tg.asarray(x), wide(x)
    at = [np.cumsum(0.5 + np.abs(draw((n,), 4))).astype(np.float32) for n in x.shape]
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}), ((0.5,), {"axis": 1}), ((0.5, 2, 3), {}), ((0.25,), {}), ((at[0], 2, at[2]), {}),
        ((2, 3), {"axis": (2, 0)}), ((at[1],), {"axis": -2}),
    ]  # fmt: skip
    cases = []
    for spacing, options in calls:
        ours = tg.gradient(g, *spacing, **options, edge_order=order)
        theirs = np.gradient(w, *[wide(s) for s in spacing], **options, edge_order=order)
        ours, theirs = (ours, theirs) if isinstance(ours, tuple) else ([ours], [theirs])
        assert len(ours) == len(theirs)
        cases += [(f"{spacing} {options}", a, b) for a, b in zip(ours, theirs, strict=True)]
    short = w[: order + 1]
    cases.append(
        (
            "short",
            tg.gradient(g[: order + 1], axis=0, edge_order=order),
            np.gradient(short, axis=0, edge_order=order),
        )
    )
    cases.append(
        ("integers", tg.gradient([1, 2, 4, 7], edge_order=order), np.gradient([1, 2, 4, 7], edge_order=order))
    )
    await near(cases, 5e-6)
    with pytest.raises(ValueError, match="too small"):
        tg.gradient(g[:order], axis=0, edge_order=order)
    with pytest.raises(TypeError, match="spacings"):
        tg.gradient(g, 1.0, 2.0)
    with pytest.raises(ValueError, match="coordinates"):
        tg.gradient(g, at[0], axis=1)


async def test_trapezoid() -> None:
    x, at = draw((4, 5, 6)), np.sort(draw((5,), 1))
    g = tg.asarray(x)
    await near(
        [
            ("last", tg.trapezoid(g), np.trapezoid(wide(x))),
            ("dx", tg.trapezoid(g, dx=0.5, axis=0), np.trapezoid(wide(x), dx=0.5, axis=0)),
            ("1-D x", tg.trapezoid(g, at, axis=1), np.trapezoid(wide(x), wide(at), axis=1)),
            ("x", tg.trapezoid(g, tg.asarray(x * 2), axis=1), np.trapezoid(wide(x), wide(x) * 2, axis=1)),
            ("integers", tg.trapezoid([1, 2, 3]), 4.0),
        ]
    )


# --- extremes with positions --------------------------------------------------------------------------------

PLACES: list[tuple[tuple[int, ...], int | None]] = [
    ((), None), ((5,), 0), ((3, 1), 1), ((4, 5, 6), 0), ((4, 5, 6), -2), ((4, 5, 6), 2), ((4, 5, 6), None),
    ((2, 40_001), 1),    ((40_001, 2), 0), ((3, 300, 40), 1), ((1025, 257), 0),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint32", "int16", "uint8", "float16", "bool"])
async def test_extremes_with_their_positions(dtype: str) -> None:
    for shape, axis in PLACES if dtype in ("float32", "int32") else PLACES[:7]:
        x = np.asarray(draw(shape) * 100).astype("int32").astype(dtype)
        if dtype.startswith("float") and x.size > 9:
            x.reshape(-1)[::7] = np.nan
            x.reshape(-1)[::13] = np.inf
        if dtype == "float32" and x.ndim == 2:
            x[:, ::5] = -0.0
        g = tg.asarray(x)
        for keep in (False, True):
            got = await tg.fetch(
                *tg.max_with_index(g, axis, keepdims=keep), *tg.min_with_index(g, axis, keepdims=keep)
            )
            for k, name in enumerate(("max", "min")):
                values, places = got[2 * k : 2 * k + 2]
                assert values.dtype == x.dtype and places.dtype == np.int32
                want = getattr(np, name)(x, axis=axis, keepdims=keep)
                assert np.array_equal(values, want, equal_nan=dtype.startswith("float")), (shape, axis, name)
                assert np.array_equal(places, getattr(np, "arg" + name)(x, axis=axis, keepdims=keep)), (
                    shape,
                    axis,
                )


@pytest.mark.limits
async def test_extremes_of_views() -> None:
    x = draw((65, 70))
    for a, b in ((x.T, tg.asarray(x).T), (x[::-1, ::3], tg.asarray(x)[::-1, ::3])):
        for axis in (0, 1, None):
            values, places = await tg.fetch(*tg.min_with_index(b, axis))
            assert np.array_equal(values, a.min(axis)) and np.array_equal(places, a.argmin(axis))
    values, places = await tg.fetch(*tg.max_with_index(tg.arange(70_000) // 7))
    assert (values, places) == (9999, 69_993)


async def test_extremes_take_one_pass() -> None:
    g = tg.asarray(draw((50, 60)))
    before = tg.device().counters.launches
    values, places = tg.max_with_index(g, 1)
    await tg.fetch(values, places)
    assert tg.device().counters.launches - before == 2  # the pass, and the two results taken apart


def test_extremes_of_nothing() -> None:
    with pytest.raises(ValueError, match="max_with_index"):
        tg.max_with_index(tg.zeros((2, 0)), 1)
    values, places = tg.min_with_index(tg.zeros((2, 0)), 0)
    assert values.shape == places.shape == (0,) and places.dtype is tg.int32
    with pytest.raises(TypeError, match="order"):
        tg.max_with_index(tg.asarray(complexes((3,))))
    with pytest.raises(tg.AxisError):
        tg.max_with_index(tg.zeros((2, 2)), 2)


# --- comparing whole arrays ---------------------------------------------------------------------------------


async def test_whole_arrays_are_compared() -> None:
    nan = math.nan
    cases: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("array_equal", ([1, 2], [1, 2]), {}), ("array_equal", ([1, 2], [1, 3]), {}),
        ("array_equal", ([1, 2], [[1, 2]]), {}), ("array_equal", ([nan], [nan]), {}),
        ("array_equal", ([nan, 1.0], [nan, 1.0]), {"equal_nan": True}), ("array_equal", ([], []), {}),
        ("array_equiv", ([1, 2], [[1, 2], [1, 2]]), {}), ("array_equiv", ([1, 2], [1, 2, 3]), {}),
        ("array_equiv", ([1, 2], [[1, 2], [1, 3]]), {}), ("allclose", ([1.0, nan], [1.0, nan]), {}),
        ("allclose", ([1.0, nan], [1.0, nan]), {"equal_nan": True}),
        ("allclose", ([1e10, 1e-7], [1.000005e10, 1e-8]), {}),
        ("allclose", ([1e10, 1e-8], [1.000005e10, 1e-9]), {}), ("allclose", ([1.0], [1.1]), {"rtol": 0.2}),
        ("allclose", ([1.0], [1.1]), {"atol": 0.2}), ("allclose", ([math.inf], [math.inf]), {}),
        ("allclose", ([math.inf], [-math.inf]), {}), ("allclose", ([1.0, 1.0], 1.0), {}),
    ]  # fmt: skip
    ours = [getattr(tg, name)(*args, **options) for name, args, options in cases]
    assert all(a.shape == () and a.dtype is tg.bool_ for a in ours)
    for (name, args, options), got in zip(cases, await tg.fetch(*ours), strict=True):
        assert bool(got) == getattr(np, name)(*args, **options), (name, args, options)
    with pytest.raises(ValueError, match="broadcast"):
        tg.allclose([1.0, 2.0], [1.0, 2.0, 3.0])
