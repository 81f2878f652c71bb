"""take, put, their kin and a.at[..] against NumPy, for every dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg

DTYPES = ["bool", "int8", "uint16", "int32", "uint32", "float16", "float32", "complex64"]


def data(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2 if dtype == "bool" else 20, shape).astype(dtype)


async def same(got: tg.Array, want: Any) -> None:
    want = np.asarray(want)
    assert got.shape == want.shape
    np.testing.assert_array_equal(await got.numpy(), want)


@pytest.mark.parametrize("dtype", DTYPES)
async def test_s08_taking(dtype: str) -> None:
    x = data(dtype, (6, 5))
    g = tg.asarray(x)
    for index in ([-1, -6], [[0, 2], [5, -3]], 3, np.zeros((0,), np.int32)):
        await same(tg.take(g, index, axis=0), np.take(x, np.asarray(index, np.int32), axis=0))
        await same(
            tg.take(g.T, tg.asarray(np.asarray(index, np.int32)), axis=-1),
            np.take(x.T, np.asarray(index, np.int32), -1),
        )
    await same(tg.take(g, [[1, 2], [29, -1]]), np.take(x, [[1, 2], [29, -1]]))
    for mode in ("wrap", "clip"):
        index = np.array([-15, -7, -1, 0, 5, 6, 14])
        await same(tg.take(g, tg.asarray(index), axis=0, mode=mode), np.take(x, index, axis=0, mode=mode))
    index = np.random.default_rng(1).integers(-5, 5, (6, 3))
    await same(tg.take_along_axis(g, tg.asarray(index), 1), np.take_along_axis(x, index, 1))
    await same(tg.take_along_axis(g, index[:1] % 5, -1), np.take_along_axis(x, index[:1] % 5, -1))
    await same(tg.take_along_axis(g, np.array([29, 0]), None), np.take_along_axis(x, np.array([29, 0]), None))


@pytest.mark.parametrize("dtype", DTYPES)
async def test_s16_putting(dtype: str) -> None:
    x, v = data(dtype, (6, 5)), data(dtype, (40,), 1)
    index = np.array([[4, 0, 1]] * 6)
    want, got = x.copy(), tg.asarray(x)
    np.put_along_axis(want, index, v[:18].reshape(6, 3), 1)
    tg.put_along_axis(got, tg.asarray(index), v[:18].reshape(6, 3), 1)
    await same(got, want)
    tg.put_along_axis(got, np.zeros((6, 0), np.int32), np.zeros((6, 0), dtype), 1)
    await same(got, want)
    for flat in (tg.asarray(x), tg.asarray(x.T.copy()).T):
        want = x.copy()
        np.put(want, [0, 29, 3, 0], v[:3])
        tg.put(flat, [0, 29, 3, 0], v[:3])
        await same(flat, want)
    mask = data("bool", (6, 5), 2)
    for name, args in (
        ("putmask", (mask, v[:3])),
        ("place", (mask, v[:4])),
        ("putmask", (mask, v[:30].reshape(6, 5))),
    ):
        want, got = x.copy(), tg.asarray(x)
        getattr(np, name)(want, *args)
        getattr(tg, name)(got, tg.asarray(args[0]), args[1])
        await same(got, want)
    want, got = x.copy(), tg.asarray(x)
    np.copyto(want, v[:5], where=mask)
    tg.copyto(got, v[:5], where=mask)
    await same(got, want)


async def test_choosing_by_a_condition() -> None:
    x = data("float32", (4, 5))
    g = tg.asarray(x)
    for condition in ([True, False, True], np.array([0, 1, 1, 0, 2])):
        await same(tg.compress(condition, g, axis=1), np.compress(condition, x, axis=1))
    await same(tg.extract(x > 9, g), np.extract(x > 9, x))
    want = np.extract(x > 9, x)
    await same(await tg.aio.extract(g > 9, g), want)
    reads = tg.memory()["reads"]
    bounded = tg.extract(g > 9, g, size=25, fill_value=-1)
    assert tg.memory()["reads"] == reads
    await same(bounded, np.concatenate([want, np.full(25 - len(want), -1, np.float32)]))
    await same(tg.extract(g > 9, g, size=2), want[:2])


@pytest.mark.parametrize("dtype", DTYPES)
async def test_s10_updates_count_every_duplicate(dtype: str) -> None:
    x, index = data(dtype, (6, 5)), np.random.default_rng(3).integers(-6, 6, 40)
    v = np.random.default_rng(4).integers(0, 2, (40, 5)).astype(dtype)
    g = tg.asarray(x)
    for name, ufunc in (("add", np.add), ("multiply", np.multiply), ("max", np.maximum), ("min", np.minimum)):
        if dtype == "complex64" and name != "add":
            with pytest.raises(TypeError, match="complex64"):
                getattr(g.at[index], name)(v)
            continue
        want = x.copy()
        ufunc.at(want, index, v)
        await same(getattr(g.at[tg.asarray(index)], name)(tg.asarray(v)), want)
    want = x.copy()
    want[index, 1:3] = v[:, :2]
    await same(g.at[index, 1:3].set(v[:, :2]), want)
    await same(g.at[index, 1:3].get(), x[index, 1:3])
    await same(g, x)  # none of them changed it
    if dtype not in ("bool", "uint16", "uint32"):
        want = x.copy()
        np.subtract.at(want, index, v)
        await same(g.at[index].subtract(v), want)


async def test_s11_contended_products_end() -> None:
    got = tg.ones(2).at[tg.asarray([0, 0, 1, 1])].multiply(np.array([np.nan, 2, 3, 4], np.float32))
    await same(got, [np.nan, 12])
    many = tg.zeros(4).at[tg.asarray(np.arange(4000) % 4)].add(1.0)
    await same(many, [1000.0] * 4)
    low = tg.zeros(1, dtype="int8").at[tg.asarray(np.zeros(1000, np.int32))].add(1)
    await same(low, np.array([1000], np.int16).astype(np.int8))


async def test_index_add() -> None:
    x = data("float32", (3, 4))
    await same(
        tg.index_add(tg.asarray(x), 1, [0, 0, 3], np.ones((3, 3), np.float32), alpha=2), x + [[4, 0, 0, 2]]
    )


async def test_refusals() -> None:
    x = tg.zeros((3, 4))
    with pytest.raises(IndexError, match="out of bounds for axis 1 with size 4"):
        tg.take(x, [4], axis=1)
    with pytest.raises(ValueError, match="mode"):
        tg.take(x, [0], mode="soft")
    with pytest.raises(ValueError, match="axes"):
        tg.take_along_axis(x, [0], 0)
    with pytest.raises(tg.AxisError):
        tg.take(x, [0], axis=2)
    with pytest.raises(ValueError, match="shape"):
        tg.putmask(x, np.ones(3, bool), 1.0)
    with pytest.raises(TypeError, match="same_kind"):
        tg.copyto(tg.zeros(3, dtype="int32"), tg.zeros(3))
    with pytest.raises(TypeError, match="same_kind"):
        tg.copyto(tg.zeros(3, dtype="int32"), 1.5)
    tg.copyto(tg.zeros(3, dtype="uint8"), 3)
    for call in (
        lambda: tg.unravel_index(tg.asarray([7]), (2, 3))[0],
        lambda: tg.ravel_multi_index((tg.asarray([1]), tg.asarray([3])), (2, 3)),
    ):
        with pytest.raises(ValueError, match="out of bounds"):
            await call().numpy()
    with pytest.raises(ValueError, match="out of bounds"):
        tg.unravel_index([-1], (2, 3))
    bad = tg.take(x, tg.asarray([0, 3]), axis=0)
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        await bad.numpy()
