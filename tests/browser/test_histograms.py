"""Counting by value in the tab against NumPy: bincount, digitize, histograms; weighted sums within their bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from forms import form  # noqa: F401

import tabgpu as tg

INF, NAN = np.inf, np.nan
EPS = 2.0**-24


def same(got: Any, want: Any, label: Any = "") -> None:
    want = np.asarray(want)
    want = want.astype({"i": np.int32, "f": np.float32}.get(want.dtype.kind, want.dtype))
    assert got.dtype == want.dtype and got.shape == want.shape, (
        f"{label}: {got.dtype} {got.shape}, {want.shape}"
    )
    assert np.array_equal(got, want, equal_nan=True), f"{label}: {got}, NumPy {want}"


async def all_same(made: Any, wanted: Any, label: Any = "") -> None:
    for k, (got, want) in enumerate(zip(await tg.fetch(*made), wanted, strict=True)):
        same(got, want, (label, k))


# --- bincount -----------------------------------------------------------------------------------------------


@pytest.mark.limits
@pytest.mark.usefixtures("form")
async def test_bincount() -> None:
    rng = np.random.default_rng(1)
    for n, high in ((0, 1), (1, 1), (300, 7), (5000, 3), (5000, 3000), (20_000, 1)):
        x = rng.integers(0, high, n).astype(np.int32)
        g = tg.asarray(x)
        made = [await tg.aio.bincount(g), await tg.aio.bincount(g, minlength=12), tg.bincount(g, length=5)]
        wide = np.bincount(x, minlength=5)
        await all_same(made, [np.bincount(x), np.bincount(x, minlength=12), wide[:5]], (n, high))
    await all_same(
        [await tg.aio.bincount(g.astype(tg.uint32)), await tg.aio.bincount(g == 0)], [[20_000], [0, 20_000]]
    )


async def test_bincount_bounded_reads_nothing_and_drops_the_rest() -> None:
    x = tg.asarray(np.int32([3, -1, 0, 99, 3, 2, -(2**31)]))
    reads = tg.memory()["reads"]
    made = [tg.bincount(x, length=4), tg.bincount(x, weights=tg.ones(7), length=4), tg.bincount(x, length=0)]
    assert tg.memory()["reads"] == reads
    await all_same(made, [[1, 0, 1, 2], np.float32([1, 0, 1, 2]), np.zeros(0, int)])


async def test_weighted_sums() -> None:
    """In float32, added in a tree over the elements' order: the same bits every time."""
    rng = np.random.default_rng(2)
    for n, high in ((1, 1), (10, 3), (3000, 5), (3000, 2000), (4096, 1)):
        x = rng.integers(0, high, n).astype(np.int32)
        w = rng.normal(size=n).astype(np.float32)
        g, h = tg.asarray(x), tg.asarray(w)
        got, again = await tg.fetch(
            await tg.aio.bincount(g, weights=h), tg.bincount(g, weights=h, length=high + 1)
        )
        bound = 70 * EPS * np.bincount(x, np.abs(w.astype(np.float64)))
        assert got.dtype == np.float32 and got.shape == bound.shape
        assert np.all(np.abs(got - np.bincount(x, w.astype(np.float64))) <= bound), (n, high)
        assert np.array_equal(got, again[: got.size]) and not again[got.size :].any()
    ints = await (await tg.aio.bincount(tg.asarray([0, 2, 2]), weights=tg.asarray([1, 2, 3]))).numpy()
    assert ints.tolist() == [1.0, 0.0, 5.0]
    odd = await (
        await tg.aio.bincount(tg.asarray([0, 1, 2, 1]), weights=tg.asarray([NAN, INF, 1, 2]))
    ).numpy()
    assert np.isnan(odd[0]) and odd[1] == INF and odd[2] == 1


async def test_bincount_wrong_arguments() -> None:
    x = tg.arange(4)
    for call, error, message in (
        (lambda: tg.aio.bincount(x.reshape(2, 2)), ValueError, r"\(2, 2\)"),
        (lambda: tg.aio.bincount(tg.ones(3)), TypeError, "float32"),
        (lambda: tg.aio.bincount(x - 1), ValueError, "-1"),
        (lambda: tg.aio.bincount(x, weights=x[:2]), ValueError, r"\(2,\)"),
        (lambda: tg.aio.bincount(x, minlength=-1), ValueError, "negative"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            await call()


# --- digitize -----------------------------------------------------------------------------------------------


async def test_digitize() -> None:
    x = np.float32([[0.2, 6.4, 3.0], [1.6, NAN, -INF], [1.0, 10.0, INF]])
    up, down = [0.0, 1.0, 2.5, 4.0, 10.0], [10.0, 4.0, 2.5, 1.0, 0.0]
    g = tg.asarray(x)
    made, wanted = [], []
    for bins in (up, down, [1.0], [], [1.0, 1.0, 3.0], [3.0, 1.0, 1.0]):
        for right in (False, True):
            made += [tg.digitize(g, bins, right), tg.digitize(g, tg.asarray(np.float32(bins)), right=right)]
            wanted += [np.digitize(x, bins, right)] * 2
    got = await tg.fetch(*made)
    for k, want in enumerate(wanted):
        same(np.where(np.isnan(x), 0, got[k]), np.where(np.isnan(x), 0, want), k)
    ints = np.int32([5, -2, 0, 7])
    await all_same([tg.digitize(tg.asarray(ints), [0, 5])], [np.digitize(ints, [0, 5])])
    for bins in ([1, 3, 2], [[1, 2]]):
        with pytest.raises(ValueError, match=r"monotonic|axis"):
            tg.digitize(g, bins)


# --- histograms ---------------------------------------------------------------------------------------------


async def test_histogram_of_given_bins() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(7, 300)).astype(np.float32)
    x[0, :5] = [NAN, INF, -INF, 2.0, -2.0]
    w = rng.integers(1, 9, x.shape).astype(np.int32)
    g = tg.asarray(x)
    edges = np.float32([-2, -1.5, -0.25, 0, 0.5, 2])
    for bins, span in ((edges, None), (10, (-2.0, 2.0)), (4, (0, 1)), (1, (-1, -1)), (33, (-0.1, 3.3))):
        counts, made = tg.histogram(g, bins, span)
        weighted = tg.histogram(g, bins, span, weights=tg.asarray(w))[0]
        shares = tg.histogram(g, bins, span, density=True)[0]
        got = await tg.fetch(counts, made, weighted, shares)
        want = np.histogram(x, bins, span)
        np.testing.assert_allclose(got[1], want[1], rtol=1e-6, atol=1e-7)
        exact = np.histogram(x, got[1])  # with the edges in float32
        same(got[0], exact[0], bins)
        same(got[2], np.histogram(x, got[1], weights=w)[0].astype(np.float32), bins)
        np.testing.assert_allclose(got[3], np.histogram(x, got[1], density=True)[0], rtol=2e-6)
        if span != (-0.1, 3.3):
            same(got[0], want[0], bins)


async def test_histogram_between_the_extremes_reads_nothing() -> None:
    rng = np.random.default_rng(5)
    reads = tg.memory()["reads"]
    hosts = [
        rng.normal(size=1000).astype(np.float32), rng.integers(-5, 90, (20, 20)).astype(np.int32),
        np.full(7, 3, np.float32),
        rng.integers(0, 2**31, 500).astype(np.uint32), np.float32([2]), np.zeros(0, np.float32), rng.random(50) < 0.3,
    ]  # fmt: skip
    made = [tg.histogram(tg.asarray(x), 13) for x in hosts]
    made.append(tg.histogram(tg.asarray(hosts[0])))
    made.append(tg.histogram(tg.asarray(hosts[0]), "sqrt"))
    assert tg.memory()["reads"] == reads
    for x, bins, (counts, edges) in zip(
        [*hosts, hosts[0], hosts[0]], [13] * 7 + [10, "sqrt"], made, strict=True
    ):
        got, ends = await tg.fetch(counts, edges)
        values = x.astype(np.float32) if x.dtype == bool else x
        want = np.histogram(values, bins)
        assert got.dtype == np.int32 and ends.dtype == np.float32
        np.testing.assert_allclose(ends, want[1], rtol=2e-6, atol=1e-6 * (np.ptp(want[1])))
        same(got, np.histogram(values.astype(np.float32), ends)[0])
        assert got.sum() == x.size
    await all_same(
        [tg.histogram_bin_edges(tg.asarray(hosts[0]), 4, (0, 1))], [np.float32([0, 0.25, 0.5, 0.75, 1])]
    )


async def test_histograms_of_more_dimensions() -> None:
    rng = np.random.default_rng(6)
    points = rng.normal(size=(500, 3)).astype(np.float32)
    w = rng.integers(1, 5, 500).astype(np.float32)
    g = tg.asarray(points)
    spans = [(-2, 2), (-1, 1), (0, 3)]
    counts, edges = tg.histogramdd(g, (4, 3, 2), spans)
    weighted, _ = tg.histogramdd(g, (4, 3, 2), spans, weights=tg.asarray(w))
    shares, _ = tg.histogramdd(g, 2, spans, density=True)
    want = np.histogramdd(points, (4, 3, 2), spans)
    sums = np.histogramdd(points, (4, 3, 2), spans, weights=w)[0]
    await all_same([counts, weighted, *edges], [want[0].astype(int), sums, *want[1]])
    np.testing.assert_allclose(
        await shares.numpy(), np.histogramdd(points, 2, spans, density=True)[0], rtol=1e-5
    )
    x, y = points[:, 0], points[:, 1]
    square = [(-2, 2), (-2, 2)]
    mixed = ([2, np.float32([0, 1])], [(-1, 1), None])
    for bins, span in ((5, square), ([3, 4], square), (np.float32([-1, 0, 2]), None), mixed):
        got = await tg.fetch(*tg.histogram2d(g[:, 0], g[:, 1], bins, span))
        want = np.histogram2d(x, y, bins, span)
        same(got[0], want[0].astype(int), bins)
        for a, b in zip(got[1:], want[1:], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


def test_histogram_wrong_arguments() -> None:
    x = tg.ones((3, 4))
    for call, error, message in (
        (lambda: tg.histogram(x, 0), ValueError, "positive"),
        (lambda: tg.histogram(x, [3, 1]), ValueError, "monotonic"),
        (lambda: tg.histogram(x, 5, (2, 1)), ValueError, "range"),
        (lambda: tg.histogram(x, 5, (0, INF)), ValueError, "finite"),
        (lambda: tg.histogram(x, 2.5), TypeError, "bins"), (lambda: tg.histogram(x, "fd"), ValueError, "data"),
        (lambda: tg.histogram(x, weights=x[:2]), ValueError, r"\(2, 4\)"),
        (lambda: tg.histogramdd(x, (1, 2)), ValueError, "axes"),
        (lambda: tg.histogramdd(tg.ones((2, 2, 2))), ValueError, r"\(2, 2, 2\)"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            call()
