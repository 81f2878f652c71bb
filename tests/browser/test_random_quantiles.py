"""Distributions of one word each against float64: which quantile of (w + 1/2) / 2**32 they are, in ULP.

These are what is stated of values across adapters: an element's error is the same function's, whatever launch made it.
Draws by rejection are compared between blocks of an element and plain Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from counted import KEY, OURS, philox, words

import tabgpu as tg
from tabgpu import random as tr
from tabgpu.dtypes import float32
from tabgpu.random.applying import apply
from tabgpu.random.draws import _quantile

W = np.unique(
    np.concatenate(
        [
            words(20_000, KEY).astype(np.uint64), 2 ** np.arange(32, dtype=np.uint64),
            2**32 - 2 ** np.arange(32, dtype=np.uint64),
            np.array([0, 2**32 - 1, 2**31 - 1, 2**31 + 1, 3, 2**30 + 7], np.uint64),
            2**31 + 2 ** np.arange(31, dtype=np.uint64),
            2**31 - 2 ** np.arange(31, dtype=np.uint64),
        ]
    )
)  # fmt: skip
P, Q = (W + 0.5) / 2.0**32, (2.0**32 - 0.5 - W) / 2.0**32  # exact: 33 bits
E = np.where(P < 0.5, -np.log(P), -np.log1p(-Q))
TAIL = np.minimum(P, Q)
SIGN = np.where(P < 0.5, -1.0, 1.0)
FROM_MIDDLE = np.abs(W + 0.5 - 2.0**31) / 2.0**32


def ulps(got: Any, want: Any) -> Any:
    step = np.maximum(np.spacing(np.abs(want).astype(np.float32)).astype(np.float64), 2.0**-149)
    return np.abs(got.astype(np.float64) - want) / step


def cauchy() -> Any:
    return SIGN * np.where(TAIL < 0.25, 1 / np.tan(np.pi * TAIL), np.tan(np.pi * FROM_MIDDLE))


def triangular() -> Any:
    left, mode, right = -1.0, 0.5, 3.0
    share = (mode - left) / (right - left)
    low = left + np.sqrt(P * (right - left) * (mode - left))
    return np.where(P <= share, low, right - np.sqrt(Q * (right - left) * (right - mode)))


# name, parameters, the quantile, greatest error in ULP, and one that is allowed where a result goes through 0
CASES: dict[str, tuple[tuple[float, ...], Callable[[], Any], float, float]] = {
    "exponential": ((), lambda: E, 3, 0),
    "laplace": (
        (),
        lambda: SIGN * np.where(TAIL > 0.25, -np.log1p(-2 * FROM_MIDDLE), -np.log(2 * TAIL)),
        3,
        0,
    ),
    "logistic": ((), lambda: SIGN * np.log1p(2 * FROM_MIDDLE / TAIL), 6, 0),
    "gumbel": ((), lambda: -np.log(E), 3, 5e-7),
    "cauchy": ((), cauchy, 8, 0),
    "rayleigh": ((), lambda: np.sqrt(2 * E), 4, 0),
    "weibull": ((1.5,), lambda: E ** (1 / 1.5), 10, 0),
    "pareto": ((3.0,), lambda: np.expm1(E / 3), 6, 0),
    "power": ((0.5,), lambda: np.exp(-2 * E), 70, 0),
    "triangular": ((-1.0, 0.5, 3.0), triangular, 4, 5e-7),
}


@pytest.mark.parametrize("name", CASES)
async def test_quantiles(name: str) -> None:
    parameters, want, most, absolute = CASES[name]
    w = tg.asarray(W.astype(np.uint32))
    got = await apply(_quantile(name), (len(W),), w, *parameters).numpy()
    exact = want()
    assert got.dtype == np.float32 and np.isfinite(got).all()
    wrong = (ulps(got, exact) > most) & (np.abs(got - exact) > absolute)
    assert not wrong.any(), (ulps(got, exact)[wrong].max(), W[wrong][:5])


async def test_geometric_counts() -> None:
    """As float64 has them but where the exponential lies within its error of a step."""
    for p in (0.9, 0.5, 0.3, 0.01):
        f = float(np.float32(p))
        got = await apply(_quantile("geometric"), (len(W),), tg.asarray(W.astype(np.uint32)), p).numpy()
        exact = E / -math.log1p(-f)
        near = np.abs(exact - np.round(exact)) < 1e-6 * np.maximum(exact, 1)
        assert (got == np.maximum(np.ceil(exact), 1))[~near].all() and near.sum() < 200


async def test_draws_have_blocks_of_their_own() -> None:
    """A gamma number is Marsaglia & Tsang's of the blocks (position, attempt, 0, 3), in plain Python."""
    from statistics import NormalDist

    a, n = 2.5, 300
    got = await tr.gamma(OURS, a, n).numpy()
    d = a - 1 / 3
    for i in range(n):
        for attempt in range(40):
            w = [int(x) for x in philox([i, attempt, 0, 3], KEY)]
            x = NormalDist().inv_cdf((w[0] + 0.5) / 2**32)
            v = (1 + x / math.sqrt(9 * d)) ** 3
            u = (w[1] + 0.5) / 2**32
            if v > 0 and math.log(u) < x * x / 2 + d * (1 - v + math.log(v)):
                break
        assert abs(got[i] / (d * v) - 1) < 3e-6, i


async def test_x04_choices_of_nothing_and_of_probability_0() -> None:
    """Sizes of 0 are empty; what has probability 0, or a logit of -inf, is never taken."""
    rng = tr.default_rng(1)
    p = np.zeros(1000)
    p[[3, 500, 998]] = [0.25, 0.5, 0.25]
    with np.errstate(divide="ignore"):
        logits = np.log(p).astype(np.float32)
    a, b, c, d, e = await tg.fetch(
        rng.choice(1000, (300, 10), p=p), rng.choice(1000, 3, replace=False, p=p),
        rng.choice(1000, 3000, p=tg.asarray(p.astype(np.float32))),
        tr.categorical(OURS, logits, shape=(2000,)), rng.choice(np.arange(1000) * 2, 50, p=p),
    )  # fmt: skip
    for x in (a, c, d):
        assert set(x.reshape(-1).tolist()) == {3, 500, 998}
        assert abs((x == 500).mean() - 0.5) < 0.06
    assert sorted(b.tolist()) == [3, 500, 998] and set(e.tolist()) <= {6, 1000, 1996}
    for empty in (
        rng.choice(5, 0), rng.choice(5, (2, 0), p=[0.2] * 5), rng.choice(0, 0), rng.choice(5, 0, replace=False),
        tr.categorical(OURS, tg.zeros((0, 3))), tr.categorical(OURS, tg.zeros(3), shape=(4, 0)), rng.choice([], 0),
    ):  # fmt: skip
        assert (await empty.numpy()).size == 0
    rows = await tr.categorical(OURS, np.log([[0.9, 0.1], [0.2, 0.8]]), axis=0, shape=(4000, 2)).numpy()
    assert rows.dtype == np.int32
    np.testing.assert_allclose(rows.mean(axis=0), [0.2 / 1.1, 0.8 / 0.9], atol=0.03)


async def test_choice_and_permutation_arguments() -> None:
    """As NumPy: axes, shuffles in place, errors."""
    x = np.arange(60).reshape(3, 4, 5).astype(np.float32)
    rng = tr.default_rng(5)
    order = tr.default_rng(5)
    there = tg.asarray(x)
    got = await tg.fetch(
        rng.permutation(x, axis=1), order.permutation(4), rng.choice(there, 7, axis=2), rng.permuted(there, axis=1),
        rng.permuted(there), rng.choice(there, (2, 1), replace=False), rng.permutation(1), rng.permutation(there[:1]),
    )  # fmt: skip
    assert (got[0] == x[:, got[1]]).all() and got[2].shape == (3, 4, 7) and got[5].shape == (2, 1, 4, 5)
    assert got[6].tolist() == [0] and (got[7] == x[:1]).all()
    assert (np.sort(got[3], axis=1) == x).all() and not (got[3] == x).all()
    assert (np.sort(got[4].reshape(-1)) == x.reshape(-1)).all() and got[4].shape == x.shape
    lines = got[3].transpose(0, 2, 1).reshape(15, 4) // 5 % 4
    assert len({tuple(line) for line in lines}) > 5  # each line by itself
    y = tg.asarray(x)
    view = y[1]
    assert rng.shuffle(view, axis=1) is None
    out = tg.zeros((3, 4, 5))
    assert rng.permuted(x, axis=0, out=out) is out
    y, out_, again = await tg.fetch(y, out, there)
    assert (
        (np.sort(y[1], axis=1) == x[1]).all()
        and (np.diff(y[1], axis=0) == 5).all()
        and (y[[0, 2]] == x[[0, 2]]).all()
        and (again == x).all()
    )
    assert (np.sort(out_, axis=0) == x).all()
    for call in (
        lambda: rng.choice(3, 4, replace=False), lambda: rng.choice(0, 1), lambda: rng.choice(3, 2, p=[0.5, 0.5]),
        lambda: rng.choice(3, 2, p=[0.5, 0.6, 0.1]), lambda: rng.choice(3, 2, p=[-0.5, 1.0, 0.5]),
        lambda: rng.choice(3, 2, False, [0.0, 1.0, 0.0]), lambda: rng.permutation(-1),
        lambda: rng.choice(tg.asarray(1.0), 2),
        lambda: rng.multinomial(3, [0.8, 0.9, 0.1]), lambda: rng.multinomial(3, [-0.1, 1.0]),
        lambda: rng.multinomial(-1, [1.0]),
        lambda: rng.multivariate_hypergeometric([3, -1], 1), lambda: rng.multivariate_hypergeometric([3, 1], 5),
        lambda: rng.multivariate_hypergeometric([3, 1], 2, method="x"), lambda: rng.dirichlet([1.0, -1.0]),
        lambda: rng.dirichlet(1.0), lambda: tr.categorical(OURS, 1.0),
        lambda: tr.categorical(OURS, tg.zeros((3, 2)), shape=(2,)),
        lambda: tr.truncated_normal(OURS, 1.0, 1.0, 3),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call()
    for there_ in (
        rng.choice(3, 2, p=tg.asarray([0.5, 0.9, 0.1])), rng.choice(3, 2, p=tg.asarray([-0.5, 1.0, 0.5])),
        rng.choice(3, 2, False, tg.asarray([0.0, 1.0, 0.0])), rng.multinomial(3, tg.asarray([0.9, 0.9])),
        rng.multinomial(tg.asarray([3, -1]), [0.5, 0.5]), rng.dirichlet(tg.asarray([1.0, -1.0])),
        rng.multivariate_hypergeometric(tg.asarray([3, 1]), 5),
        tr.truncated_normal(OURS, tg.asarray([1.0, 2.0]), 1.5),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            await there_.numpy()


async def test_vectors_of_the_device() -> None:
    """multinomial and its kin with probabilities, counts and colours on the GPU, of several rows."""
    p = np.float32([[0.2, 0.3, 0.5, 0.0, 0.0], [0.0, 0.1, 0.1, 0.1, 0.7]])
    n = np.array([100, 1000])
    a, b, c, d = await tg.fetch(
        tr.default_rng(2).multinomial(tg.asarray(n), tg.asarray(p), (50, 2)),
        tr.default_rng(2).multinomial(n, p, (50, 2)),
        tr.default_rng(3).multivariate_hypergeometric(tg.asarray([30, 0, 70]), tg.asarray([10, 60, 100])),
        tr.default_rng(3).dirichlet(tg.asarray([0.5, 4.0]), (3, 2)),
    )  # fmt: skip
    for x in (a, b):
        assert x.dtype == np.int32 and x.shape == (50, 2, 5) and (x.sum(axis=-1) == n).all()
        assert not x[:, p == 0].any() and np.abs(x.mean(axis=0) / n[:, None] - p).max() < 0.05
    assert c.shape == (3, 3) and (c.sum(axis=1) == [10, 60, 100]).all() and (c[2] == [30, 0, 70]).all()
    assert d.shape == (3, 2, 2) and np.allclose(d.sum(axis=-1), 1)
    assert (await tr.default_rng(3).multinomial(5, [1.0]).numpy()).tolist() == [5]
    assert tr.default_rng(3).multinomial(5, []).shape == (0,) and float32 is tg.float32
