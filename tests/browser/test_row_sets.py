"""Rows in order, sets of rows, sorting by magnitude, membership with positions, r_ and c_, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg

rng = np.random.default_rng(210)


@pytest.mark.limits
async def test_sort_rows() -> None:
    """RM-sort_rows: (column, direction) specs, stable, magnitudes, NaN last."""
    x = rng.integers(-2, 3, (60, 4)).astype(np.float32)
    for keys in (None, [1], [2, 0], [(1, "descend"), 3], [(-1, "descend"), (0, "ascend")]):
        rows, index = await tg.fetch(*tg.sort_rows(x, keys))
        specs = [(k, "ascend") if isinstance(k, int) else k for k in (range(4) if keys is None else keys)]
        columns = [-x[:, k] if d == "descend" else x[:, k] for k, d in reversed(specs)]
        want = np.lexsort(columns)
        np.testing.assert_array_equal(index, want)
        np.testing.assert_array_equal(rows, x[want])
    by_size = await tg.sort_rows(x, [0], by="magnitude").indices.numpy()
    np.testing.assert_array_equal(by_size, np.lexsort([x[:, 0], np.abs(x[:, 0])]))
    lost = await tg.sort_rows(np.float32([[np.nan, 1], [2, 0], [1, 5]])).indices.numpy()
    assert lost.tolist() == [2, 1, 0]
    ints = await tg.sort_rows(tg.asarray(x.astype(np.int8)).T[::-1], [0]).values.numpy()
    turned = x.astype(np.int8).T[::-1]
    np.testing.assert_array_equal(ints, turned[np.argsort(turned[:, 0], kind="stable")])
    assert tg.sort_rows(tg.zeros((0, 3))).values.shape == (0, 3)
    for bad, error in (
        (lambda: tg.sort_rows(x[0]), ValueError),
        (lambda: tg.sort_rows(x, [9]), IndexError),
        (lambda: tg.sort_rows(x, [(0, "up")]), ValueError),
    ):
        with pytest.raises(error, match="sort_rows"):
            bad()


@pytest.mark.limits
async def test_sort_by_magnitude() -> None:
    """RM-sort_dim: values and positions, both directions, absolute values with ties by the signed value."""
    x = rng.integers(-4, 5, (3, 50)).astype(np.float32)
    for axis in (0, -1, None):
        for down in (False, True):
            values, index = await tg.fetch(*tg.sort_by_magnitude(x, axis, descending=down))
            lines = x.reshape(-1) if axis is None else x
            sign = -1 if down else 1
            k = -1 if axis is None else axis
            want = np.lexsort([sign * lines, sign * np.abs(lines)], axis=k)
            np.testing.assert_array_equal(index, want)
            np.testing.assert_array_equal(values, np.take_along_axis(lines, want, k))
    edge = await tg.sort_by_magnitude(np.int32([-(2**31), 2**31 - 1, -1])).values.numpy()
    assert edge.tolist() == [-1, 2**31 - 1, -(2**31)]
    z = await tg.sort_by_magnitude(np.complex64([3, 1j, -1, 2])).values.numpy()
    assert z.tolist() == [1j, -1, 2, 3]
    lost = await tg.sort_by_magnitude(np.float32([np.nan, -2, 1]), descending=True).values.numpy()
    np.testing.assert_array_equal(lost, np.float32([-2, 1, np.nan]))
    assert tg.sort_by_magnitude(tg.zeros((0,))).indices.shape == (0,)


@pytest.mark.limits
async def test_ismember() -> None:
    """RM-ismember: locations are the first in b, -1 for what is not there; rows; NaN in nothing."""
    a, b = rng.integers(0, 9, (5, 6)), rng.integers(3, 12, 20)
    for dtype in (np.float32, np.int16, np.uint32):
        mask, at = await tg.fetch(*tg.ismember(a.astype(dtype), b.astype(dtype)))
        np.testing.assert_array_equal(mask, np.isin(a, b))
        np.testing.assert_array_equal(at, [[list(b).index(v) if v in b else -1 for v in row] for row in a])
    p, q = rng.integers(0, 2, (30, 3)), rng.integers(0, 2, (5, 3))
    mask, at = await tg.fetch(*tg.ismember(p.astype(np.float32), q.astype(np.float32), rows=True))
    want = [next((k for k, row in enumerate(q) if (row == v).all()), -1) for v in p]
    np.testing.assert_array_equal(at, want)
    np.testing.assert_array_equal(mask, np.array(want) >= 0)
    lost = await tg.fetch(*tg.ismember(np.float32([np.nan, -0.0]), np.float32([np.nan, 0.0])))
    assert [v.tolist() for v in lost] == [[False, True], [-1, 1]]
    none = tg.ismember(tg.zeros((2,)), tg.zeros((0,)))
    assert (await none.locations.numpy()).tolist() == [-1, -1]
    with pytest.raises(ValueError, match="one length"):
        tg.ismember(np.ones((2, 2)), np.ones((2, 3)), rows=True)


def as_sets(x: Any) -> set[tuple[float, ...]]:
    return {tuple(row) for row in np.asarray(x).tolist()}


@pytest.mark.limits
async def test_sets_of_rows() -> None:
    """RM-union, RM-setdiff, RM-unique: on elements and on rows."""
    a, b = (rng.integers(0, 3, (n, 2)).astype(np.float32) for n in (12, 7))
    x, y = as_sets(a), as_sets(b)
    wants = {"union": x | y, "intersect": x & y, "setdiff": x - y, "setxor": x ^ y}
    for name, want in wants.items():
        got = await (await getattr(tg.aio, f"{name}_rows")(a, b)).numpy()
        assert got.tolist() == [list(row) for row in sorted(want)], name
        bounded = await getattr(tg, f"{name}_rows")(a, b, size=12).numpy()
        assert bounded.shape == (12, 2)
        assert bounded[: len(want)].tolist() == [list(row) for row in sorted(want)]
    rows = await (await tg.aio.unique(a, axis=0)).numpy()
    assert rows.tolist() == [list(row) for row in sorted(x)]
    flat = [await (await f(a, b)).numpy() for f in (tg.aio.union1d, tg.aio.setdiff1d)]
    np.testing.assert_array_equal(flat[0], np.union1d(a, b))
    np.testing.assert_array_equal(flat[1], np.setdiff1d(a, b))
    same = await (await tg.aio.setdiff_rows(a, a)).numpy()
    assert same.shape == (0, 2)


async def test_r_and_c() -> None:
    x, m = np.float32([1, 2, 3]), np.arange(6, dtype=np.float32).reshape(2, 3)
    pairs = [
        (tg.r_[1:5, 0, x], np.r_[1:5, 0, x]), (tg.r_[0:1:5j], np.r_[0:1:5j]), (tg.c_[x, x + 1], np.c_[x, x + 1]),
        (tg.c_[m, m], np.c_[m, m]), (tg.r_["1", m, m], np.r_["1", m, m]), (tg.r_["0,2", x, x], np.r_["0,2", x, x]),
        (tg.r_["0,2,0", x, x], np.r_["0,2,0", x, x]), (tg.c_[0:3], np.c_[0:3]), (tg.c_[x, 7 * x], np.c_[x, 7 * x]),
        (tg.r_["1,2,0", 0:3, x], np.r_["1,2,0", 0:3, x]),
    ]  # fmt: skip
    for (_, want), got in zip(pairs, await tg.fetch(*[p[0] for p in pairs]), strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want)
    assert tg.s_[1:, 0] == np.s_[1:, 0] and tg.index_exp[2] == (2,)
    with pytest.raises(TypeError, match="matrix"):
        tg.r_["r", x]
