"""nn.ctc_loss against sums over all paths, and against the recurrence in float64, in the kernel's forms."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from forms import form  # noqa: F401  # a fixture

import tabgpu as tg
from tabgpu import nn

R = np.random.default_rng(51)


def log_probs(*shape: int) -> Any:
    x = R.standard_normal(shape) * 2
    return (x - np.log(np.exp(x).sum(axis=-1, keepdims=True))).astype(np.float32)


def over_all_paths(x: Any, target: list[int], blank: int = 0) -> float:
    """x (T, C): every path whose repeats and blanks taken out leave the target."""
    total = 0.0
    for path in itertools.product(range(x.shape[1]), repeat=len(x)):
        if [k for k, _ in itertools.groupby(path) if k != blank] == target:
            total += np.exp(sum(float(x[t, k]) for t, k in enumerate(path)))
    return -np.log(total) if total else np.inf


def recurrence(x: Any, target: Any, blank: int = 0) -> float:
    """x (T, C) in float64."""
    states = [blank]
    for k in target:
        states += [k, blank]
    alpha = np.full(len(states), -np.inf)
    alpha[: min(2, len(states))] = x[0, states[:2]]
    for row in x[1:].astype(np.float64):
        old = np.concatenate([[-np.inf, -np.inf], alpha])
        for s, k in enumerate(states):
            terms = [old[s + 2], old[s + 1]]
            if s > 1 and k != blank and k != states[s - 2]:
                terms.append(old[s])
            alpha[s] = np.logaddexp.reduce(terms) + row[k]
    return -float(np.logaddexp.reduce(alpha[-2:]))


async def test_all_paths() -> None:
    x = log_probs(5, 6, 3)
    targets = [[1], [2, 1], [1, 1], [], [1, 2, 1], [1, 1, 1]]
    lengths = [len(t) for t in targets]
    wide = [t + [0] * (3 - len(t)) for t in targets]
    got = await tg.fetch(
        nn.ctc_loss(x, wide, [5] * 6, lengths, reduction="none"),
        nn.ctc_loss(x, [k for t in targets for k in t], [5] * 6, lengths, reduction="none"),
        nn.ctc_loss(x, wide, [5, 4, 3, 2, 1, 4], lengths, reduction="none"),
    )
    want = [over_all_paths(x[:, k], t) for k, t in enumerate(targets)]
    np.testing.assert_allclose(got[0], want, rtol=3e-6)
    np.testing.assert_allclose(got[1], want, rtol=3e-6)
    short = [
        over_all_paths(x[:n, k], t) for (k, t), n in zip(enumerate(targets), [5, 4, 3, 2, 1, 4], strict=True)
    ]
    np.testing.assert_allclose(got[2], short, rtol=3e-6)
    assert np.isinf(short[4:]).all()


@pytest.mark.limits
@pytest.mark.parametrize("t,n,c,s", [(1, 1, 2, 1), (20, 3, 6, 5), (60, 2, 30, 40), (9, 130, 3, 2)])
async def test_the_recurrence(form: str, t: int, n: int, c: int, s: int) -> None:  # noqa: F811
    """More states than threads, more items than a forced dispatch holds; reductions and zero_infinity."""
    x, targets = log_probs(t, n, c), R.integers(1, c, (n, s))
    lengths = R.integers(0, min(s, t) + 1, n)
    each = np.array([recurrence(x[:, k], targets[k, : lengths[k]]) for k in range(n)])
    zero = np.where(np.isinf(each), 0, each)
    there = [tg.asarray(a) for a in (x, targets, np.full(n, t), lengths)]
    got = await tg.fetch(
        nn.ctc_loss(*there, reduction="none"), nn.ctc_loss(*there, 0, "sum", True),
        nn.ctc_loss(*there, zero_infinity=True), nn.ctc_loss(x, targets, [t] * n, lengths, reduction="none"),
    )  # fmt: skip
    np.testing.assert_allclose(got[0], each, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(got[1], zero.sum(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(got[2], (zero / np.maximum(lengths, 1)).mean(), rtol=1e-5, atol=1e-5)
    assert (got[3] == got[0]).all()


async def test_probabilities_of_0_views_and_errors() -> None:
    x, targets = log_probs(8, 4, 5), R.integers(1, 5, (4, 3))
    zero = x.copy()
    zero[:, :, targets[1, 0]] = -np.inf
    got = await tg.fetch(
        nn.ctc_loss(zero, targets, [8] * 4, [3] * 4, reduction="none"),
        nn.ctc_loss(tg.asarray(x)[::-1, ::2], targets[:2], [8, 8], [3, 3], reduction="none"),
        nn.ctc_loss(tg.asarray(x).astype("float16"), targets, [8] * 4, [3] * 4),
    )
    want = [recurrence(x[::-1, 2 * k], targets[k]) for k in range(2)]
    assert np.isinf(got[0][1]) and not np.isnan(got[0]).any() and got[2].dtype == np.float16
    np.testing.assert_allclose(got[1], want, rtol=3e-6)
    before = tg.memory()["pipelines"]
    for k in range(5):
        await nn.ctc_loss(log_probs(3 + k, 2, 4 + k), [[1], [2]], [3, 3], [1, 1]).numpy()
    assert tg.memory()["pipelines"] - before <= 3
    times, lengths = [8] * 4, [3] * 4
    bad: list[tuple[str, Any]] = [
        ("batch", (x, targets[:3], times, lengths)), ("beyond", (x, targets, [9] * 4, lengths)),
        ("beyond", (x, targets, times, [4] * 4)), ("input_lengths", (x, targets, times[1:], lengths)),
        ("blank", (x, targets, times, lengths, 5)), ("integers", (x, targets * 0.5, times, lengths)),
    ]  # fmt: skip
    for what, args in bad:
        with pytest.raises(ValueError, match=what):
            nn.ctc_loss(*args)
    with pytest.raises(IndexError, match="5 classes"):
        await nn.ctc_loss(x, targets + 4, [8] * 4, [3] * 4).numpy()
