"""Medians and quantiles in the tab against NumPy in float64: axes, every method, NaN and infinities, empty."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu.ops.quantiles import METHODS

INF, NAN = np.inf, np.nan
pytestmark = [
    pytest.mark.filterwarnings("ignore:All-NaN slice"), pytest.mark.filterwarnings("ignore:Mean of empty slice"),
    pytest.mark.filterwarnings("ignore:invalid value"),
]  # fmt: skip


def draw(shape: tuple[int, ...], nans: float = 0.0, seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape])
    x = rng.normal(size=shape).astype(np.float32)
    x[rng.random(shape) < nans] = NAN
    return x


async def close(made: list[Any], wanted: list[Any], labels: Any = None, tol: float = 4e-7) -> None:
    for k, (got, want) in enumerate(zip(await tg.fetch(*made), wanted, strict=True)):
        label = k if labels is None else labels[k]
        assert got.shape == np.shape(want), f"{label}: {got.shape}, NumPy {np.shape(want)}"
        np.testing.assert_allclose(np.float64(got), np.float64(want), rtol=tol, atol=tol, err_msg=str(label))


@pytest.mark.limits
async def test_median() -> None:
    """N17: NaN in a row makes that row's median NaN, no other; odd and even lengths, every axis."""
    host = [draw((n,)) for n in (1, 2, 3, 4, 100, 101, 1500)] + [draw((3, 4, 5)), draw((6, 7), 0.1)]
    made, wanted, labels = [], [], []
    for x in host:
        axes: list[Any] = [None, *range(-x.ndim, x.ndim)]
        axes += [a for n in (2, 3) for a in itertools.combinations(range(x.ndim), n)]
        for axis, keep in itertools.product(axes, (False, True)):
            made.append(tg.median(tg.asarray(x), axis=axis, keepdims=keep))
            wanted.append(np.median(x, axis=axis, keepdims=keep))
            labels.append((x.shape, axis, keep))
    await close(made, wanted, labels)
    rows = np.float32([[1, NAN, 0], [1, 5, 2]])
    await close([tg.median(tg.asarray(rows), axis=1), tg.median(tg.asarray([1, NAN, 0.0]))], [[NAN, 2], NAN])


async def test_median_of_other_dtypes_and_special_values() -> None:
    ints = np.int32([5, 1, 2**24 + 1, 2**24 + 3])
    cases = [ints, ints[:3], np.uint32([4_000_000_000, 1]), np.float32([INF, INF, 1]), np.float32([-INF, INF]),
             np.float32([INF, INF]), np.float32([3e38, 3e38]), np.bool_([True, False, True])]  # fmt: skip
    made = [tg.median(tg.asarray(x)) for x in cases]
    assert all(m.dtype == tg.float32 for m in made)
    with np.errstate(all="ignore"):
        await close(made, [np.median(x.astype(np.float64)) for x in cases])
    half = tg.median(tg.asarray(np.float16([1, 2, 4, 9])))
    assert half.dtype == tg.float16 and float(await half.item()) == 3
    await close([tg.median(tg.zeros(0)), tg.median(tg.zeros((3, 0)), axis=1)], [NAN, [NAN] * 3])


@pytest.mark.parametrize("method", METHODS)
async def test_methods(method: str) -> None:
    qs = [0.0, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.9, 1.0]
    made, wanted = [], []
    for n in (1, 2, 3, 5, 8, 11, 20):
        x = draw((3, n))
        g = tg.asarray(x)
        for q in (0.5, qs, np.reshape(qs, (2, 4))):
            made.append(tg.quantile(g, q, axis=1, method=method))
            wanted.append(np.quantile(x.astype(np.float64), q, axis=1, method=method))
        made.append(tg.percentile(g, 30, method=method))
        wanted.append(np.percentile(x.astype(np.float64), 30, method=method))
    await close(made, wanted)


@pytest.mark.parametrize("method", METHODS)
async def test_methods_ignoring_nan(method: str) -> None:
    x = draw((6, 15), 0.4, 3)
    x[2] = NAN
    x[3, 1:] = NAN
    g = tg.asarray(x)
    wide = x.astype(np.float64)
    qs = [0.0, 0.2, 0.5, 1.0]
    made = [tg.nanquantile(g, qs, axis=1, method=method), tg.nanpercentile(g, 70, method=method)]
    wanted = [np.nanquantile(wide, qs, axis=1, method=method), np.nanpercentile(wide, 70, method=method)]
    await close(made, wanted)


async def test_quantile_axes() -> None:
    x = draw((3, 4, 5))
    y = draw((3, 4, 5), 0.2)
    g, h = tg.asarray(x), tg.asarray(y)
    made, wanted, labels = [], [], []
    for axis, keep, q in itertools.product((None, 0, -1, (0, 2), (2, 1)), (False, True), (0.3, [0.1, 0.6])):
        made += [tg.quantile(g, q, axis=axis, keepdims=keep), tg.nanquantile(h, q, axis=axis, keepdims=keep)]
        wanted += [
            np.quantile(x, q, axis=axis, keepdims=keep),
            np.nanquantile(y, q, axis=axis, keepdims=keep),
        ]
        labels += [("quantile", axis, keep, q), ("nanquantile", axis, keep, q)]
        made.append(tg.nanmedian(h, axis=axis, keepdims=keep))
        wanted.append(np.nanmedian(y, axis=axis, keepdims=keep))
        labels.append(("nanmedian", axis, keep, q))
    await close(made, wanted, labels, 1e-6)
    await close(
        [tg.quantile(g.T[::-1], 0.4, axis=0), tg.quantile(h, 0.4, axis=1)],
        [np.quantile(x.T, 0.4, axis=0), np.quantile(y, 0.4, axis=1)],
    )


async def test_quantiles_at_infinities_and_of_integers() -> None:
    x = np.float32([1, 2, INF])
    ints = np.int32([4, 1, 2**24 + 1])
    made = [
        tg.quantile(tg.asarray(x), 0.5), tg.quantile(tg.asarray(x), 0.0), tg.quantile(tg.asarray(x), 1.0),
        tg.quantile(tg.asarray(np.float32([INF, INF])), 0.5), tg.quantile(tg.asarray(ints), 0.5),
        tg.quantile(tg.asarray(ints), 1.0, method="lower"), tg.nanmedian(tg.asarray(ints)),
        tg.nanquantile(tg.asarray(ints), 0),
    ]  # fmt: skip
    await close(made, [2, 1, INF, INF, 4, 2**24 + 1, 4, 1])
    assert made[4].dtype == tg.float32 and made[5].dtype == tg.int32
    out = tg.zeros(())
    assert tg.median(tg.asarray(x), out=out) is out and await out.item() == 2


async def test_nanmedian() -> None:
    x = draw((5, 300), 0.5)
    x[1] = NAN
    x[2, 1:] = NAN
    g = tg.asarray(x)
    await close([tg.nanmedian(g, axis=1), tg.nanmedian(g)], [np.nanmedian(x, axis=1), np.nanmedian(x)])
    await close([tg.nanmedian(tg.full((3,), NAN)), tg.nanmedian(tg.zeros(0))], [NAN, NAN])


def test_wrong_arguments() -> None:
    x = tg.ones((3, 4))
    for call, error, message in (
        (lambda: tg.quantile(x, 1.5), ValueError, r"\[0, 1\]"),
        (lambda: tg.percentile(x, [-1, 5]), ValueError, r"\[0, 100\]"),
        (lambda: tg.quantile(x, NAN), ValueError, r"\[0, 1\]"),
        (lambda: tg.quantile(x, 0.5, method="best"), ValueError, "method"),
        (lambda: tg.quantile(x, tg.asarray(0.5)), TypeError, "host"),
        (lambda: tg.median(x, axis=2), tg.AxisError, "axis"),
        (lambda: tg.median(x, axis=(0, 0)), ValueError, "duplicate"),
        (lambda: tg.quantile(tg.zeros(0), 0.5), IndexError, "elements"),
        (lambda: tg.nanquantile(x, 2.0), ValueError, r"\[0, 1\]"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            call()
