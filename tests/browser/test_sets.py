"""Arrays as sets in the tab against NumPy: unique in all its forms, membership, union, intersection, differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import engine

INF, NAN = np.inf, np.nan
NUMPY = {"b": np.bool_, "i": np.int32, "u": np.uint32, "f": np.float32}


def draw(kind: str, shape: tuple[int, ...], few: int = 12, seed: int = 0) -> Any:
    x = np.random.default_rng([seed, *shape, 9]).integers(0, few, shape)
    return (x - few // 2 if kind in "if" else x % 2 if kind == "b" else x).astype(NUMPY[kind])


def same(got: Any, want: Any, label: Any = "") -> None:
    want = np.asarray(want)
    want = want.astype(np.int32) if want.dtype == np.int64 else want
    assert got.dtype == want.dtype and got.shape == want.shape, (
        f"{label}: {got.dtype} {got.shape}, {want.shape}"
    )
    assert np.array_equal(got, want, equal_nan=got.dtype.kind in "fc"), f"{label}: {got}, NumPy {want}"


async def all_same(made: Any, wanted: Any, label: Any = "") -> None:
    for k, (got, want) in enumerate(zip(await tg.fetch(*made), wanted, strict=True)):
        same(got, want, (label, k))


@pytest.mark.limits
@pytest.mark.parametrize("kind", "biuf")
async def test_unique(kind: str) -> None:
    for shape in ((0,), (1,), (2,), (9,), (300,), (2500,), (4, 5, 6)):
        x = draw(kind, shape, 50)
        got = await tg.aio.unique(tg.asarray(x), return_index=True, return_inverse=True, return_counts=True)
        want = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        await all_same(got, want, shape)
        await all_same([await tg.aio.unique(tg.asarray(x).T)], [np.unique(x.T)], shape)


async def test_unique_of_floats() -> None:
    """NaN once (or each by itself), both zeros are one."""
    x = np.float32([3, NAN, 0.0, -0.0, INF, NAN, -INF, 3, -0.0, 1e-45, NAN])
    g = tg.asarray(x)
    every = {"return_index": True, "return_inverse": True, "return_counts": True}
    await all_same(await tg.aio.unique(g, **every), np.unique(x, **every))
    got = await tg.fetch(*await tg.aio.unique(g, equal_nan=False, return_counts=True))
    want = np.unique(x, equal_nan=False, return_counts=True)
    same(got[0], want[0])
    same(got[1], want[1])
    first = await tg.aio.unique_all(g)
    values, indices, inverse, counts = await tg.fetch(*first)
    assert values.shape == (8,) and counts.tolist() == [1, 3, 1, 2, 1, 1, 1, 1]
    assert np.array_equal(values[inverse][~np.isnan(x)], x[~np.isnan(x)])
    assert np.array_equal(x[indices], values, equal_nan=True)


async def test_array_api_forms() -> None:
    x = draw("i", (6, 30))
    g = tg.asarray(x)
    values, index, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    got = await tg.aio.unique_all(g)
    assert got._fields == ("values", "indices", "inverse_indices", "counts")
    await all_same(got, (values, index, inverse, counts))
    await all_same(await tg.aio.unique_counts(g), (values, counts))
    await all_same(await tg.aio.unique_inverse(g), (values, inverse))
    await all_same([await tg.aio.unique_values(g)], [values])
    if engine.can_suspend():
        wanted = [values, index, inverse, counts, values, values]
        await all_same([*tg.unique_all(g), tg.unique_values(g), tg.unique(g)], wanted)
    else:
        with pytest.raises(tg.SyncError, match=r"tg\.aio\.unique_all"):
            tg.unique_all(g)


async def test_other_dtypes() -> None:
    rng = np.random.default_rng(4)
    z = (rng.integers(-2, 3, 200) + 1j * rng.integers(-2, 3, 200)).astype(np.complex64)
    cases = [
        draw("i", (200,)).astype(np.int8),
        draw("u", (200,)).astype(np.uint16),
        draw("f", (200,)).astype("e"),
    ]
    for x in [z, *cases]:
        every = {"return_index": True, "return_inverse": True, "return_counts": True}
        await all_same(await tg.aio.unique(tg.asarray(x), **every), np.unique(x, **every), x.dtype)
        await all_same([tg.isin(tg.asarray(x), tg.asarray(x[:5]))], [np.isin(x, x[:5])], x.dtype)
        await all_same(
            [await tg.aio.intersect1d(tg.asarray(x), tg.asarray(x[:9]))], [np.unique(x[:9])], x.dtype
        )
    brain = tg.asarray(np.float32([3, 1, 3, 2])).astype(tg.bfloat16)
    assert np.asarray(await (await tg.aio.unique(brain)).numpy(), np.float32).tolist() == [1, 2, 3]


async def test_unique_slices() -> None:
    x = draw("i", (40, 3), 3)
    y = draw("f", (4, 5, 6), 2)
    every = {"return_index": True, "return_inverse": True, "return_counts": True}
    for a, axis in ((x, 0), (x, 1), (y, 0), (y, 2), (x[:, :1], 0), (x, -1), (x[:0], 0), (x[:, :0], 0)):
        got = await tg.aio.unique(tg.asarray(a), axis=axis, **every)
        await all_same(got, np.unique(a, axis=axis, **every), (a.shape, axis))


async def test_bounded_forms_read_nothing() -> None:
    x = np.int32([5, 2, 5, 7, 2, 2])
    g = tg.asarray(x)
    reads = tg.memory()["reads"]
    made = [
        *tg.unique_all(g, size=3), *tg.unique_all(g, size=5), *tg.unique_counts(g, size=5, fill_value=-1),
        tg.unique(g, size=2), tg.union1d(g, tg.asarray([1, 7]), size=6, fill_value=0),
        tg.intersect1d(g, [7, 2, 9], size=4),
        tg.setdiff1d(g, [7], size=3, fill_value=-2), tg.setxor1d(g, [7, 8], size=1),
    ]  # fmt: skip
    assert tg.memory()["reads"] == reads
    wanted = [
        [2, 5, 7], [1, 0, 3], [1, 0, 1, 2, 0, 0], [3, 2, 1], [2, 5, 7, 2, 2], [1, 0, 3, 1, 1], [1, 0, 1, 2, 0, 0],
        [3, 2, 1, 0, 0], [2, 5, 7, -1, -1], [3, 2, 1, 0, 0], [2, 5], [1, 2, 5, 7, 0, 0], [2, 7, 0, 0], [2, 5, -2], [2],
    ]  # fmt: skip
    await all_same(made, [np.int32(w) for w in wanted])


@pytest.mark.parametrize("kind", "biuf")
async def test_isin(kind: str) -> None:
    x, y = draw(kind, (7, 40), 60), draw(kind, (30,), 60, 1)
    g, h = tg.asarray(x), tg.asarray(y)
    made = [
        tg.isin(g, h), tg.isin(g, h, invert=True), tg.isin(g.T, h[::-1]), tg.isin(g, h[:0]), tg.isin(g[:0], h),
        tg.isin(g, h.reshape(5, 6)), tg.in1d(g, h), tg.isin(g, h[:1]), tg.isin(g[0, 0], h),
    ]  # fmt: skip
    wanted = [
        np.isin(x, y), np.isin(x, y, invert=True), np.isin(x.T, y), np.isin(x, y[:0]), np.isin(x[:0], y), np.isin(x, y),
        np.isin(x.ravel(), y), np.isin(x, y[:1]), np.isin(x[0, 0], y),
    ]  # fmt: skip
    await all_same(made, wanted)


async def test_isin_of_special_values() -> None:
    x = np.float32([NAN, 0.0, -0.0, INF, 1, 2])
    y = np.float32([NAN, -0.0, INF, 2])
    await all_same(
        [tg.isin(tg.asarray(x), tg.asarray(y)), tg.isin(tg.asarray(x), [1, 2])],
        [np.isin(x, y), np.isin(x, [1, 2])],
    )


@pytest.mark.parametrize("kind", "biuf")
async def test_operations(kind: str) -> None:
    for n, m in ((0, 0), (5, 0), (0, 5), (1, 1), (300, 40), (40, 300), (50, 50)):
        x, y = draw(kind, (n,), 90), draw(kind, (m,), 60, 1)
        g, h = tg.asarray(x), tg.asarray(y)
        for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d"):
            got = await getattr(tg.aio, name)(g, h)
            want = getattr(np, name)(x, y)
            await all_same([got], [want.astype(x.dtype)], (name, n, m))
        got = await tg.aio.intersect1d(g, h, return_indices=True)
        want = np.intersect1d(x, y, return_indices=True)
        await all_same(got, [want[0].astype(x.dtype), *want[1:]], (n, m))


async def test_operations_on_special_values() -> None:
    x = np.float32([3, NAN, 1, -0.0, NAN, INF])
    y = np.float32([NAN, 0.0, 3, 4, NAN])
    for a, b in ((x, y), (y, x), (x, y[3:4]), (x[:1], y)):
        g, h = tg.asarray(a), tg.asarray(b)
        for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d"):
            await all_same([await getattr(tg.aio, name)(g, h)], [getattr(np, name)(a, b)], name)


async def test_one_read_each() -> None:
    """A set operation waits once, for the count."""
    g, h = tg.asarray(draw("i", (100,))), tg.asarray(draw("i", (50,), 20, 1))
    for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d"):
        before = tg.memory()["reads"]
        await getattr(tg.aio, name)(g, h)
        assert tg.memory()["reads"] - before == 1, name


async def test_wrong_arguments() -> None:
    x = tg.arange(4)
    with pytest.raises(tg.AxisError):
        await tg.aio.unique(x, axis=1)
    with pytest.raises(ValueError, match="size"):
        tg.unique(x, size=-1)
    with pytest.raises(TypeError, match="uint32"):
        tg.isin(x, x.astype(tg.uint32))
