"""Losses of tabgpu.nn against float64 formulas: shapes, reductions, weights, special values, launches, errors.

The sweep over all of PyTorch's arguments is tests/torch/test_losses.py; these bodies also run in the tab.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sp

import tabgpu as tg
from tabgpu import nn

R = np.random.default_rng(21)


def f32(*shape: int) -> Any:
    return R.standard_normal(shape).astype(np.float32)


def wide(x: Any) -> Any:
    return np.asarray(x, np.float64)


def reduced(loss: Any, reduction: str) -> Any:
    return {"none": lambda: loss, "sum": lambda: loss.sum(), "mean": lambda: loss.mean()}[reduction]()


def sigmoid_log(x: Any) -> Any:
    return sp.log_expit(wide(x))


def bent(d: Any, bend: float) -> Any:
    return np.where(np.abs(d) <= bend, d * d / 2, bend * (np.abs(d) - bend / 2))


def norm(x: Any, p: float = 2.0) -> Any:
    return (np.abs(wide(x) + 1e-6) ** p).sum(axis=-1) ** (1 / p)


X, T = f32(6, 5), f32(6, 5)
P, Q = R.uniform(0.01, 0.99, (6, 5)).astype(np.float32), R.uniform(0, 1, (6, 5)).astype(np.float32)
SIGN = np.where(R.random((6, 5)) < 0.5, -1, 1).astype(np.float32)
W = np.abs(f32(6, 5)) + np.float32(0.1)
A, B, C = f32(6, 5), f32(6, 5), f32(6, 5)
d = wide(X) - wide(T)

# name -> (call with a reduction, loss of each element in float64)
CASES: dict[str, tuple[Callable[[str], Any], Any]] = {
    "mse": (lambda r: nn.mse_loss(X, T, reduction=r), d**2),
    "l1": (lambda r: nn.l1_loss(X, T, reduction=r), np.abs(d)),
    "smooth_l1": (lambda r: nn.smooth_l1_loss(X, T, reduction=r, beta=0.5), bent(d, 0.5) / 0.5),
    "huber": (lambda r: nn.huber_loss(X, T, r, 0.7, W), bent(d, 0.7) * W),
    "bce": (
        lambda r: nn.binary_cross_entropy(P, Q, W, reduction=r),
        -(Q * np.log(wide(P)) + (1 - wide(Q)) * np.log1p(-wide(P))) * W,
    ),
    "bce logits": (
        lambda r: nn.binary_cross_entropy_with_logits(X * 20, Q, None, None, None, r, W[0]),
        -(wide(Q) * W[0] * sigmoid_log(X * 20) + (1 - wide(Q)) * sigmoid_log(-X * 20)),
    ),
    "kl_div": (lambda r: nn.kl_div(X, Q, reduction=r), sp.xlogy(wide(Q), wide(Q)) - wide(Q) * X),
    "kl_div log": (lambda r: nn.kl_div(X, T, reduction=r, log_target=True), np.exp(wide(T)) * (wide(T) - X)),
    "poisson": (lambda r: nn.poisson_nll_loss(X, W, reduction=r), np.exp(wide(X)) - wide(W) * X),
    "gaussian": (
        lambda r: nn.gaussian_nll_loss(X, T, W, True, reduction=r),
        0.5 * (np.log(wide(W)) + d**2 / W + np.log(2 * np.pi)),
    ),
    "hinge": (
        lambda r: nn.hinge_embedding_loss(X, SIGN, 0.6, reduction=r),
        np.where(SIGN > 0, wide(X), np.maximum(0, 0.6 - wide(X))),
    ),
    "ranking": (
        lambda r: nn.margin_ranking_loss(X, T, SIGN, 0.3, reduction=r),
        np.maximum(0, -SIGN * d + 0.3),
    ),
    "soft_margin": (lambda r: nn.soft_margin_loss(X * 40, SIGN, reduction=r), -sigmoid_log(SIGN * (X * 40))),
    "multilabel soft": (
        lambda r: nn.multilabel_soft_margin_loss(X, Q, W[0], reduction=r),
        (-(wide(Q) * sigmoid_log(X) + (1 - wide(Q)) * sigmoid_log(-X)) * W[0]).mean(axis=-1),
    ),
    "triplet": (
        lambda r: nn.triplet_margin_loss(A, B, C, 1.5, swap=True, reduction=r),
        np.maximum(0, norm(wide(A) - B) - np.minimum(norm(wide(A) - C), norm(wide(B) - C)) + 1.5),
    ),
    "cosine": (
        lambda r: nn.cosine_embedding_loss(A, B, SIGN[:, 0], 0.1, reduction=r),
        np.where(
            SIGN[:, 0] > 0,
            1 - (wide(A) * B).sum(1) / np.sqrt((wide(A) ** 2).sum(1) * (wide(B) ** 2).sum(1)),
            np.maximum(0, (wide(A) * B).sum(1) / np.sqrt((wide(A) ** 2).sum(1) * (wide(B) ** 2).sum(1)) - 0.1),
        ),
    ),
}  # fmt: skip


@pytest.mark.limits
@pytest.mark.parametrize("name", sorted(CASES))
async def test_loss(name: str) -> None:
    call, loss = CASES[name]
    got = await tg.fetch(*[call(r) for r in ("none", "sum", "mean")])
    for one, r in zip(got, ("none", "sum", "mean"), strict=True):
        want = np.asarray(reduced(loss, r))
        assert one.dtype == np.float32 and one.shape == want.shape
        np.testing.assert_allclose(one, want, rtol=4e-6, atol=4e-6 * np.abs(loss).max())


def log_softmax(x: Any, axis: int) -> Any:
    return wide(x) - sp.logsumexp(wide(x), axis=axis, keepdims=True)


def entropy(x: Any, y: Any, w: Any, ignore: int, smoothing: float, reduction: str) -> Any:
    """cross_entropy of (N, C, ..) by loops over positions."""
    logs = np.moveaxis(log_softmax(x, 1), 1, -1).reshape(-1, x.shape[1])
    flat, n = y.reshape(-1), x.shape[1]
    w = np.ones(n) if w is None else wide(w)
    loss, smooth, weights = (np.zeros(len(flat)) for _ in range(3))
    for k, c in enumerate(flat):
        if c != ignore:
            loss[k], smooth[k], weights[k] = -w[c] * logs[k, c], -(w * logs[k]).sum(), w[c]
    mixed = (1 - smoothing) * loss + smoothing / n * smooth
    if reduction == "none":
        return mixed.reshape(y.shape)
    return mixed.sum() / (weights.sum() if reduction == "mean" else 1)


@pytest.mark.limits
@pytest.mark.parametrize("shape", [(4, 3), (2, 5, 3), (2, 3, 2, 4), (1, 1), (65, 33)])
async def test_cross_entropy_of_classes(shape: tuple[int, ...]) -> None:
    """Weights, ignored targets, smoothing, every reduction; class numbers from the host and on the GPU."""
    x = f32(*shape) * 4
    y = R.integers(0, shape[1], (shape[0], *shape[2:]))
    y.flat[0] = 0
    some = y.copy()
    some.flat[1::3] = -100
    w = np.abs(f32(shape[1])) + np.float32(0.2)
    calls, wants = [], []
    for reduction in ("mean", "sum", "none"):
        for target, weight, smoothing in ((y, None, 0.0), (some, w, 0.0), (some, None, 0.3), (some, w, 0.1)):
            device = tg.asarray(target.astype(np.int16 if reduction == "sum" else np.int32))
            calls.append(
                nn.cross_entropy(
                    x,
                    target if reduction == "none" else device,
                    weight,
                    reduction=reduction,
                    label_smoothing=smoothing,
                )
            )
            wants.append(entropy(x, target, weight, -100, smoothing, reduction))
    calls.append(nn.nll_loss(tg.asarray(x), tg.asarray(some), ignore_index=-100, reduction="sum"))
    wants.append(-sum(np.moveaxis(x, 1, -1)[i][c] for i, c in np.ndenumerate(some) if c >= 0))
    for got, want in zip(await tg.fetch(*calls), wants, strict=True):
        np.testing.assert_allclose(got, want, rtol=4e-6, atol=4e-6 * max(np.abs(want).max(), 1))


async def test_cross_entropy_of_probabilities() -> None:
    x, p, w = f32(3, 4, 5) * 3, np.abs(f32(3, 4, 5)), np.abs(f32(4))
    logs = log_softmax(x, 1)
    for smoothing, weight in ((0.0, None), (0.2, w)):
        target = (1 - smoothing) * wide(p) + smoothing / 4
        each = -(target * logs * (1 if weight is None else w[:, None])).sum(axis=1)
        got = await tg.fetch(
            *[
                nn.cross_entropy(x, p, weight, reduction=r, label_smoothing=smoothing)
                for r in ("none", "sum", "mean")
            ]
        )
        for one, r in zip(got, ("none", "sum", "mean"), strict=True):
            np.testing.assert_allclose(one, reduced(each, r), rtol=3e-6)


async def test_margins_of_classes() -> None:
    x, y, w = f32(6, 5), R.integers(0, 5, 6), np.abs(f32(5))
    over = np.maximum(0, 0.8 - wide(x)[np.arange(6), y][:, None] + x)
    over[np.arange(6), y] = 0
    many = np.array([R.permutation(5) for _ in range(6)])
    many[np.arange(5) >= np.arange(6)[:, None]] = -1  # 0 to 5 targets
    label = np.zeros(6)
    for i in range(6):
        mine = [j for j in many[i] if j >= 0]
        label[i] = (
            sum(
                max(0.0, 1 - (float(x[i, j]) - float(x[i, k])))
                for j in mine
                for k in set(range(5)) - set(mine)
            )
            / 5
        )
    got = await tg.fetch(
        nn.multi_margin_loss(x, y, margin=0.8, reduction="none"),
        nn.multi_margin_loss(x, tg.asarray(y), 2, 0.8, w),
        nn.multilabel_margin_loss(x, many, reduction="none"),
        nn.multilabel_margin_loss(x, tg.asarray(many)),
    )
    np.testing.assert_allclose(got[0], over.sum(1) / 5, rtol=3e-6)
    np.testing.assert_allclose(got[1], ((over**2).sum(1) * w[y] / 5).mean(), rtol=3e-6)
    np.testing.assert_allclose(got[2], label, rtol=3e-6)
    np.testing.assert_allclose(got[3], label.mean(), rtol=3e-6)


async def test_special_values() -> None:
    """NaN stays, logits far out do not overflow, logarithms of 0 are -100, empty losses are NaN or 0."""
    nan = np.float32([1.0, np.nan, 2.0])
    far = np.float32([1e4, -1e4, 3e38])
    none = np.zeros((0, 3), np.float32)
    got = await tg.fetch(
        nn.mse_loss(nan, nan * 0, reduction="none"), nn.l1_loss(nan, nan, reduction="none"),
        nn.binary_cross_entropy_with_logits(far, np.float32([1, 0, 1]), reduction="none"),
        nn.binary_cross_entropy(np.float32([0, 1, 0, 1]), np.float32([1, 0, 0, 1]), reduction="none"),
        nn.mse_loss(none, none), nn.mse_loss(none, none, reduction="sum"), nn.mse_loss(none, none, reduction="none"),
        nn.cross_entropy(np.float32([[1e4, -1e4], [1e4, -1e4]]), [0, 1], reduction="none"),
        nn.cross_entropy(np.float32([[1, -np.inf]]), [0]),
    )  # fmt: skip
    assert np.isnan(got[0][1]) and np.isnan(got[1][1]) and not np.isnan(got[0][[0, 2]]).any()
    assert (got[2] == 0).all() and (got[3] == [100, 100, 0, 0]).all()
    assert np.isnan(got[4]) and got[5] == 0 and got[6].shape == (0, 3)
    assert (got[7] == [0, 2e4]).all() and got[8] == 0


async def test_views_and_dtypes() -> None:
    x, t = f32(8, 9, 4), f32(8, 9, 4)
    a, b = tg.asarray(x), tg.asarray(t)
    got = await tg.fetch(
        nn.mse_loss(a[::-2, 1:, ::3], b[::2, :-1, 1::2]),
        nn.l1_loss(a.transpose(2, 0, 1), b.transpose(2, 0, 1), reduction="none"),
        nn.mse_loss(a.astype("float16"), b.astype("float16")),
        nn.mse_loss([1, 2, 3], [1, 4, 9]),
        nn.cross_entropy(a.transpose(0, 2, 1), np.full((8, 9), 2)),
    )
    np.testing.assert_allclose(got[0], ((wide(x[::-2, 1:, ::3]) - t[::2, :-1, 1::2]) ** 2).mean(), rtol=1e-6)
    np.testing.assert_allclose(got[1], np.abs(x - t).transpose(2, 0, 1), rtol=1e-6)
    assert got[2].dtype == np.float16
    np.testing.assert_allclose(wide(got[2]), ((wide(x) - t) ** 2).mean(), rtol=3e-3)
    assert got[3] == np.float32(40 / 3)
    np.testing.assert_allclose(got[4], -log_softmax(x, 2)[..., 2].mean(), rtol=3e-6)


async def test_a_loss_is_one_launch() -> None:
    """What is elementwise is fused before its reduction; a new margin or size compiles nothing."""
    x, t = tg.asarray(f32(50, 20)), tg.asarray(np.abs(f32(50, 20)))
    calls: list[Callable[[Any, Any, float], Any]] = [
        lambda a, b, k: nn.mse_loss(a, b), lambda a, b, k: nn.huber_loss(a, b, delta=k),
        lambda a, b, k: nn.binary_cross_entropy_with_logits(a, b), lambda a, b, k: nn.kl_div(a, b),
        lambda a, b, k: nn.smooth_l1_loss(a, b, beta=k), lambda a, b, k: nn.poisson_nll_loss(a, b, False, eps=k),
        lambda a, b, k: nn.hinge_embedding_loss(a, b, k), lambda a, b, k: nn.gaussian_nll_loss(a, b, b, eps=k),
    ]  # fmt: skip
    for call in calls:
        await call(x, t, 0.5).numpy()
        before = tg.memory()
        await call(x, t, 0.25).numpy()
        after = tg.memory()
        assert after["launches"] - before["launches"] == 1 and after["pipelines"] == before["pipelines"]


async def test_g23_sizes_and_scalars_compile_nothing() -> None:
    for n, c in ((3, 4), (50, 7), (200, 30), (33, 64), (5, 257)):
        await nn.cross_entropy(tg.ones((n, c)), tg.zeros(n, dtype="int32"), label_smoothing=0.1).numpy()
    before = tg.memory()["pipelines"]
    for k in range(60):
        n, c = 4 + 7 * k, 5 + 3 * k
        await nn.cross_entropy(tg.ones((n, c)), tg.zeros(n, dtype="int32"), label_smoothing=k / 100).numpy()
    assert tg.memory()["pipelines"] - before <= 12


async def test_errors() -> None:
    x, y = f32(4, 3), np.array([0, 1, 2, 0])
    with pytest.raises(ValueError, match="'mean'"):
        nn.mse_loss(x, x, reduction="average")
    with pytest.raises(ValueError, match=r"\(4, 3\)"):
        nn.mse_loss(x, f32(5))
    with pytest.raises(ValueError, match="not the same"):
        nn.binary_cross_entropy(x, x[:1])
    with pytest.raises(ValueError, match=r"weight of shape \(3,\)"):
        nn.mse_loss(x, x, weight=f32(3))
    with pytest.raises(ValueError, match="weight"):
        nn.cross_entropy(x, y, f32(4))
    with pytest.raises(ValueError, match="target of shape"):
        nn.cross_entropy(x, y[:3])
    with pytest.raises(TypeError, match="integers"):
        nn.cross_entropy(x, f32(4))
    with pytest.raises(ValueError, match="ignore_index"):
        nn.cross_entropy(x, x, ignore_index=1)
    with pytest.raises(ValueError, match="label_smoothing"):
        nn.cross_entropy(x, y, label_smoothing=1.5)
    with pytest.raises(ValueError, match="p is 1 or 2"):
        nn.multi_margin_loss(x, y, 3)
    with pytest.raises(ValueError, match="margin"):
        nn.triplet_margin_loss(x, x, x, -1.0)
    with pytest.raises(ValueError, match="var"):
        nn.gaussian_nll_loss(x, x, f32(2, 3))
    with pytest.raises(TypeError):
        nn.mse_loss(tg.asarray(x) * 1j, x)
    for bad in ([0, 3, 1, 1], [0, -1, 1, 1]):
        for target in (bad, tg.asarray(bad)):
            for f in (nn.cross_entropy, nn.nll_loss, nn.multi_margin_loss):
                with pytest.raises(IndexError, match="3 classes"):
                    await f(x, target).numpy()
    with pytest.raises(IndexError, match="3 classes"):
        await nn.multilabel_margin_loss(x, tg.full((4, 3), 3)).numpy()
