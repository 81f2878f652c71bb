"""Indexing, getting and setting, against NumPy: basic keys, arrays of integers, masks, their mixtures, and errors."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import numpy as np
import pytest

import tabgpu as tg

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32", "complex64"]


def data(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        return rng.integers(0, 100, shape).astype(dtype)
    made = rng.normal(size=shape)
    return (made + 1j * rng.normal(size=shape) if kind == "c" else made).astype(dtype)


async def same(got: tg.Array, want: Any) -> None:
    want = np.asarray(want)
    assert got.shape == want.shape
    np.testing.assert_array_equal(await got.numpy(), want)


CUBE = (4, 5, 6)
KEYS: dict[str, Any] = {
    "integer": 2,
    "negative": (-1, -2),
    "slices": (slice(1, 3), slice(None, None, 2)),
    "ellipsis": (..., 1),
    "newaxis": (None, 1, ..., None, 2),
    "S14 reversed": slice(None, None, -1),
    "S14 down": (slice(None), slice(5, 1, -2)),
    "S14 negative stop": slice(-1, -4, -1),
    "S13 empty": slice(3, 1),
    "S13 beyond": (slice(None), slice(5, None)),
    "S13 nothing": slice(0),
    "list": [0, 3, -1],
    "array": np.array([[0, 1], [3, -4]]),
    "0-d array": np.array(2),
    "two arrays": (np.array([0, 1, 2]), np.array([4, 3, -5])),
    "broadcast": (np.array([[0], [1]]), np.array([1, 2, 3])),
    "array and slice": (np.array([1, 0]), slice(1, 4)),
    "slice and array": (slice(None), np.array([1, 1, 0]), slice(None, None, -1)),
    "apart": (np.array([0, 1]), slice(None), np.array([2, 3])),
    "array and integer": (1, slice(None), np.array([2, 3])),
    "array beside integer": (slice(None), 1, np.array([2, 3])),
    "newaxis between": (np.array([0, 1]), None, np.array([2, 3])),
    "mask": np.arange(120).reshape(CUBE) % 3 == 0,
    "mask of an axis": np.array([True, False, True, True]),
    "mask of two axes": np.arange(20).reshape(4, 5) % 2 == 1,
    "mask and slice": (np.array([True, False, True, False]), slice(2)),
    "mask in the middle": (slice(None), np.array([True, False, True, False, True])),
    "mask and array": (np.array([True, False, True, False]), np.array([1, 2])),
    "mask of nothing": np.zeros(CUBE, bool),
    "True": True,
    "False": (False, 1),
    "empty list": [],
    "empty array": (slice(None), np.zeros((0, 2), np.int64)),
}


def on_gpu(key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(on_gpu(k) for k in key)
    return tg.asarray(key) if isinstance(key, (np.ndarray, list)) and np.size(key) else key


@pytest.mark.parametrize("name", KEYS)
async def test_getting(name: str) -> None:
    key = KEYS[name]
    rng = np.random.default_rng(1)
    x = data(rng, DTYPES[list(KEYS).index(name) % len(DTYPES)], CUBE)
    for whole, want in ((tg.asarray(x), x), (tg.asarray(x[::-1].copy())[::-1], x)):
        await same(whole[key], want[key])
        await same(await tg.aio.getitem(whole, on_gpu(key)), want[key])


@pytest.mark.parametrize("name", KEYS)
async def test_setting(name: str) -> None:
    key = KEYS[name]
    rng = np.random.default_rng(2)
    for dtype in ("float32", "uint8", "float16"):
        x = data(rng, dtype, CUBE)
        part = x[key]
        values = data(rng, dtype, part.shape)
        for value in (values, values[..., :1] if part.ndim else values, values.dtype.type(3), 7):
            want, got = x.copy(), tg.asarray(x)
            want[key] = value
            beside = got[...]
            if not isinstance(key, tuple) or not any(
                isinstance(k, np.ndarray) and k.dtype == bool for k in key
            ):
                got[on_gpu(key)] = tg.asarray(value) if isinstance(value, np.ndarray) else value
            else:
                got[key] = value
            await same(got, want)
            await same(beside, want)  # a view of the whole sees it


@pytest.mark.parametrize("dtype", DTYPES)
async def test_every_dtype(dtype: str) -> None:
    rng = np.random.default_rng(3)
    x, v = data(rng, dtype, (6, 7)), data(rng, dtype, (3, 7))
    index, mask = np.array([5, 0, -2]), data(rng, "bool", (6, 7))
    await same(tg.asarray(x)[tg.asarray(index)], x[index])
    await same(tg.asarray(x)[:, tg.asarray(index)], x[:, index])
    await same(await tg.aio.getitem(tg.asarray(x), tg.asarray(mask)), x[mask])
    for key, value in (
        ((slice(1, 4),), v),
        ((index,), v),
        ((slice(None), slice(1, 6, 2)), v[0, :3]),
        ((mask,), v[0, 0]),
    ):
        want, got = x.copy(), tg.asarray(x)
        want[key] = value
        got[tuple(tg.asarray(k) if isinstance(k, np.ndarray) else k for k in key)] = value
        await same(got, want)


async def test_the_last_of_duplicates_wins() -> None:
    index = np.random.default_rng(4).integers(0, 50, 5000)
    for dtype in ("float32", "int8"):
        values = np.arange(5000).astype(dtype)
        want, got = np.zeros((50,), dtype), tg.zeros(50, dtype=dtype)
        want[index] = values
        got[tg.asarray(index)] = tg.asarray(values)
        await same(got, want)
    rows, want = tg.zeros((50, 3)), np.zeros((50, 3), np.float32)
    want[index[:300], 1:] = np.arange(600, dtype=np.float32).reshape(300, 2)
    rows[tg.asarray(index[:300]), 1:] = tg.reshape(tg.arange(600, dtype="float32"), (300, 2))
    await same(rows, want)


async def test_views_see_assignments_and_earlier_work_does_not() -> None:
    x = tg.arange(8)
    part, later = x[2:6], x * 10
    x[3:5] = -1
    await same(part, [2, -1, -1, 5])
    await same(later, np.arange(8) * 10)
    part[0] = 100
    await same(x, [0, 1, 100, -1, -1, 5, 6, 7])
    x[1:] = x[:-1]  # B05: reads the old values
    await same(x, [0, 0, 1, 100, -1, -1, 5, 6])
    x[::2] += 1000
    await same(x, [1000, 0, 1001, 100, 999, -1, 1005, 6])
    x[tg.asarray([0, 0, 1])] += 1  # as NumPy: once
    await same(x[:2], [1001, 1])


async def test_b05_results_into_their_operands() -> None:
    x = np.arange(6, dtype=np.float32)
    a = tg.asarray(x)
    a += a
    tg.add(a, a, out=a)
    await same(a, 4 * x)
    b, want = tg.asarray(x), x.copy()
    tg.add(b[1:], b[:-1], out=b[1:])
    np.add(want[1:], want[:-1], out=want[1:])
    await same(b, want)


async def test_b07_many_assignments_in_one_graph() -> None:
    x, want = tg.zeros(64), np.zeros(64, np.float32)
    for k in range(64):
        x[k] = x[k - 1] + k
        want[k] = want[k - 1] + k
    await same(x, want)


async def test_appending_to_a_cache_is_one_launch() -> None:
    """A block goes into a larger array in place: no copy of it, whatever the strides."""
    gc.collect()
    cache = tg.zeros((2, 16, 4)) + 0
    step = tg.asarray(np.ones((2, 1, 4), np.float32))
    turned = tg.asarray(np.ones((4, 1, 2), np.float32)).T
    cache[:, 0:1] = step
    await cache.numpy()
    before, live = tg.memory()["launches"], tg.memory()["live_bytes"]
    cache[:, 1:2] = step
    cache[:, 2:3] = turned
    await tg.synchronize()
    assert tg.memory()["launches"] == before + 2
    assert tg.memory()["live_bytes"] == live
    assert (await cache.sum().item()) == 24


async def test_out_of_range_on_the_host_raises_at_once() -> None:
    x = tg.zeros((3, 4))
    for key in (3, -4, (0, 4), [0, 3], np.array([-4]), (slice(None), [4])):
        with pytest.raises(IndexError, match="out of bounds"):
            x[key]
        with pytest.raises(IndexError, match="out of bounds"):
            x[key] = 1.0


async def test_out_of_range_on_the_gpu_raises_at_the_read_that_depends_on_it() -> None:
    x = tg.asarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    for dtype, bad in (("int32", -4), ("int8", 3), ("uint32", 2**32 - 1)):
        got = x[tg.asarray([0, bad], dtype=dtype)] * 2
        total = got.sum()
        with pytest.raises(IndexError, match=rf"index {bad} is out of bounds for axis 0 with size 3"):
            await total.numpy()
        with pytest.raises(IndexError, match=rf"index {bad} "):  # again
            await tg.fetch(got)
    await same(x + 1, np.arange(12, dtype=np.float32).reshape(3, 4) + 1)  # nothing else is spoilt
    y = tg.zeros((3, 4))
    y[:, tg.asarray([5])] = 1.0
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 1 with size 4"):
        await y.numpy()


async def test_a_mask_takes_as_many_values_as_it_has_true_elements() -> None:
    x = tg.arange(6)
    x[tg.asarray([True, False, True, False, True, False])] = tg.asarray([10, 20, 30])
    await same(x, [10, 1, 20, 3, 30, 5])
    x[tg.asarray([True, False, True, False, True, False])] = tg.asarray([1, 2])
    with pytest.raises(ValueError, match="cannot assign 2 values to the 3 True elements"):
        await x.numpy()


@pytest.mark.parametrize(
    ("key", "error", "match"),
    [
        ((0, 0, 0), IndexError, "too many indices"),
        ((..., ...), IndexError, "single ellipsis"),
        (1.5, IndexError, "integers, slices"),
        ("a", IndexError, "integers, slices"),
        ([0.5], IndexError, "integers or bools"),
        (([0, 1], [0, 1, 2]), IndexError, "could not be broadcast"),
        (np.ones(4, bool), IndexError, "boolean index did not match"),
        (slice(None, None, 0), ValueError, "zero"),
    ],
    ids=str,
)
async def test_keys_that_are_refused(key: Any, error: type[Exception], match: str) -> None:
    x = tg.zeros((3, 4))
    with pytest.raises(error, match=match):
        x[key]
    with pytest.raises(error, match=match):
        x[key] = 0
    with pytest.raises(error):
        np.zeros((3, 4))[key]


async def test_values_that_are_refused() -> None:
    x = tg.zeros((3, 4))
    with pytest.raises(ValueError, match=r"\(3,\).*\(3, 4\)"):
        x[:] = tg.zeros(3)
    with pytest.raises(ValueError, match=r"\(2, 3, 4\)"):
        x[...] = tg.zeros((2, 3, 4))
    with pytest.raises(TypeError, match="imaginary"):
        x[0] = tg.zeros(4, dtype="complex64")
    with pytest.raises(OverflowError):
        tg.zeros(3, dtype="int8")[0] = 300
    x[:2] = tg.ones((1, 1, 4))  # leading ones are dropped, as NumPy does
    await same(x, [[1] * 4, [1] * 4, [0] * 4])


async def test_random_keys() -> None:
    """Keys of every mixture; the property tests make thousands of them."""
    from keys import random_key

    rng = np.random.default_rng(5)
    for _ in range(40):
        shape = tuple(rng.integers(1, 5, rng.integers(1, 4)).tolist())
        x = data(rng, rng.choice(["uint8", "float32"]), shape)
        key = random_key(rng, shape)
        try:
            want = x[key]
        except IndexError:
            with pytest.raises(IndexError):
                tg.asarray(x)[key]
            continue
        await same(tg.asarray(x)[key], want)
        changed, got = x.copy(), tg.asarray(x)
        value = data(rng, x.dtype.name, want.shape)
        changed[key] = value
        got[key] = tg.asarray(value)
        await same(got, changed)


async def test_concurrent_reads_of_one_guard() -> None:
    bad = tg.arange(4)[tg.asarray([9])]
    found = await asyncio.gather(bad.numpy(), (bad + 1).numpy(), return_exceptions=True)
    assert all(isinstance(e, IndexError) for e in found)


async def test_assignment_through_an_empty_mask() -> None:
    """Found by scipy.optimize.elementwise.find_minimum, which assigns to what has not yet converged."""
    for value in (1.0, tg.zeros(0), tg.ones(1)):
        a = tg.zeros((0,))
        a[tg.zeros(0, dtype=bool)] = value
        assert (await a.numpy()).shape == (0,)
    with pytest.raises(ValueError, match="cannot assign 2 values to the 0 True elements"):
        tg.zeros((0,))[tg.zeros(0, dtype=bool)] = tg.ones(2)


async def test_integers_to_negative_powers_inside_arrays() -> None:
    base, exponent = tg.asarray([2, 3]), tg.asarray([2, -3])
    bad = tg.power(base, exponent) + 1
    with pytest.raises(ValueError, match="negative integer powers are not allowed: -3"):
        await bad.numpy()
    await same(base ** tg.asarray([2, 3]), [4, 27])
    for left in (2, base):
        with pytest.raises(ValueError, match="negative"):
            tg.power(left, -1)
    await same(2.0**exponent, [4.0, 0.125])


def test_bounds_of_slices_may_be_arrays_without_axes() -> None:
    """As in NumPy; they are read, where Python can wait."""
    host = np.arange(10)
    x, a, b = tg.asarray(host), tg.asarray(3), tg.asarray(5)
    np.testing.assert_array_equal(np.asarray(x[a:b]), host[3:5])
    x[a:b] = 0
    host[3:5] = 0
    np.testing.assert_array_equal(np.asarray(x), host)
