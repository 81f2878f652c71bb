"""The losses of tabgpu.nn against PyTorch's in float64: every argument, reduction and shape that torch takes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import tabgpu as tg
from tabgpu import nn

R = np.random.default_rng(11)
REDUCTIONS = ("mean", "sum", "none")


def f32(*shape: int) -> Any:
    return R.standard_normal(shape).astype(np.float32)


def given(x: Any, kind: str) -> Any:
    """An operand for tabgpu ('tg'), for torch in float64 ('torch'), or in its own dtype ('same')."""
    if not isinstance(x, (np.ndarray, np.generic)):
        return x
    x = np.asarray(x)
    if kind == "tg":
        return tg.asarray(x)
    wide = x.astype(np.int64 if x.dtype.kind == "i" else np.float64 if kind == "torch" else x.dtype)
    return torch.tensor(wide)


def same(name: str, *args: Any, tolerance: float = 2e-6, **options: Any) -> Any:
    """nn.NAME agrees with torch's, relative to the greatest value of the result."""
    want = getattr(F, name)(
        *[given(x, "torch") for x in args], **{k: given(x, "torch") for k, x in options.items()}
    ).numpy()
    got = getattr(nn, name)(
        *[given(x, "tg") for x in args], **{k: given(x, "tg") for k, x in options.items()}
    )
    got = np.asarray(got)
    assert got.shape == want.shape and got.dtype == np.float32, (got.shape, want.shape, got.dtype)
    finite = np.abs(want[np.isfinite(want)])
    scale = max(finite.max() if finite.size else 0.0, 1e-2)
    words = [v for v in (*args, *options.values()) if isinstance(v, str)]
    if "sum" in words or "mean" in words:  # terms of both signs cancel
        terms = np.abs(np.asarray(args[0], np.float64))
        terms = terms[np.isfinite(terms)]
        scale = max(scale, terms.sum() if "sum" in words else terms.mean() if terms.size else 0.0)
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance * scale)
    return got


SHAPES = [(7,), (3, 5), (2, 3, 4), (), (1, 1), (70_001,)]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_regression(shape: tuple[int, ...], reduction: str) -> None:
    x, t = f32(*shape) * 2, f32(*shape)
    w = np.abs(f32(*shape)) + np.float32(0.1)
    for name in ("mse_loss", "l1_loss"):
        same(name, x, t, reduction=reduction)
        same(name, x, t, reduction=reduction, weight=w)
    for beta in (1.0, 0.3, 4.0, 0.0):
        same("smooth_l1_loss", x, t, reduction=reduction, beta=beta)
    for delta in (1.0, 0.3, 4.0):
        same("huber_loss", x, t, reduction=reduction, delta=delta)
        same("huber_loss", x, t, reduction, delta, w)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_regression_broadcasts() -> None:
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
        same(name, f32(4, 3), f32(3), reduction="none")
        same(name, f32(4, 1), f32(2, 1, 3))


@pytest.mark.parametrize("size_average,reduce", list(itertools.product((None, True, False), repeat=2)))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_old_spelling_of_reductions(size_average: Any, reduce: Any) -> None:
    x, t, y = f32(4, 3), f32(4, 3), np.array([0, 2, 1, 1])
    same("mse_loss", x, t, size_average, reduce)
    same("kl_div", x, np.abs(t), size_average, reduce)
    same("cross_entropy", x, y, None, size_average, -100, reduce)
    same("binary_cross_entropy_with_logits", x, t, None, size_average, reduce)
    same("poisson_nll_loss", x, t, True, False, size_average, 1e-8, reduce)
    same("soft_margin_loss", x, np.sign(t), size_average, reduce)
    same("cosine_embedding_loss", x, t, np.float32([1, -1, 1, -1]), 0.1, size_average, reduce)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", SHAPES[:5])
def test_binary(shape: tuple[int, ...], reduction: str) -> None:
    p, t = R.uniform(0, 1, shape).astype(np.float32), R.uniform(0, 1, shape).astype(np.float32)
    w = np.abs(f32(*shape))
    x = f32(*shape) * 20
    for weight in (None, w, np.float32(2.5)):
        weight = None if weight is None else np.asarray(weight)
        same("binary_cross_entropy", p, t, weight, reduction=reduction)
        same("binary_cross_entropy_with_logits", x, t, weight, reduction=reduction)
    same("binary_cross_entropy", np.round(p), np.round(t), reduction=reduction)  # logarithms of 0 are -100
    last = np.abs(f32(*shape[-1:])) + 1 if shape else np.asarray(np.float32(3))
    same("binary_cross_entropy_with_logits", x, t, None, None, None, reduction, last)
    same("binary_cross_entropy_with_logits", x * 1000, np.round(t), w, None, None, reduction, last)


@pytest.mark.parametrize("reduction", [*REDUCTIONS, "batchmean"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_kl_div(reduction: str) -> None:
    for shape in SHAPES[:5]:
        x, t = -np.abs(f32(*shape)), np.abs(f32(*shape))
        same("kl_div", x, t, reduction=reduction)
        same("kl_div", x, np.where(t < 0.5, np.float32(0), t).astype(np.float32), reduction=reduction)
        same("kl_div", x, np.log(t), reduction=reduction, log_target=True, tolerance=5e-6)
    if reduction != "batchmean":
        same("kl_div", f32(4, 3), np.abs(f32(3)), reduction=reduction)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_poisson_and_gaussian(reduction: str) -> None:
    for shape in SHAPES[:5]:
        x, t = f32(*shape), np.floor(np.abs(f32(*shape)) * 4).astype(np.float32)
        for full, eps in ((False, 1e-8), (True, 1e-3)):
            same("poisson_nll_loss", x, t, True, full, eps=eps, reduction=reduction)
            same("poisson_nll_loss", np.abs(x), t, False, full, eps=eps, reduction=reduction)
    x, t = f32(4, 3, 5), f32(4, 3, 5)
    for var in (
        f32(4, 3, 5) ** 2,
        f32(4, 3) ** 2,
        f32(4, 3, 1) ** 2,
        f32(4, 1, 5) ** 2,
        0.7,
        np.zeros((4, 3, 5), "f4"),
    ):
        for full in (False, True):
            same("gaussian_nll_loss", x, t, var, full=full, eps=1e-3, reduction=reduction, tolerance=5e-6)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_margins(reduction: str) -> None:
    for shape in SHAPES[:5]:
        x, y, t = f32(*shape), f32(*shape), np.sign(f32(*shape) + np.float32(1e-9)).astype(np.float32)
        for margin in (1.0, 0.2):
            same("hinge_embedding_loss", x, t, margin, reduction=reduction)
            same("margin_ranking_loss", x, y, t, margin, reduction=reduction)
        same("soft_margin_loss", x * 30, t, reduction=reduction)
    for shape in ((5,), (4, 3), (2, 3, 4)):
        x, t = f32(*shape), (f32(*shape) > 0).astype(np.float32)
        same("multilabel_soft_margin_loss", x * 10, t, reduction=reduction)
        same("multilabel_soft_margin_loss", x, t, np.abs(f32(shape[-1])), reduction=reduction)
    same(
        "cosine_embedding_loss",
        f32(6, 9),
        f32(6, 9),
        np.float32([1, -1, 1, -1, -1, 1]),
        0.1,
        reduction=reduction,
    )
    same("cosine_embedding_loss", f32(9), f32(9), np.asarray(np.float32(-1)), reduction=reduction)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_triplets(reduction: str) -> None:
    for shape in ((6, 9), (9,), (2, 3, 5)):
        a, b, c = f32(*shape), f32(*shape), f32(*shape)
        for p, swap, margin in ((2.0, False, 1.0), (1.0, True, 0.5), (3.0, True, 2.0)):
            same("triplet_margin_loss", a, b, c, margin, p, 1e-6, swap, reduction=reduction, tolerance=5e-6)
        same("triplet_margin_with_distance_loss", a, b, c, swap=True, reduction=reduction, tolerance=5e-6)


CLASS_SHAPES = [(5,), (6, 5), (3, 4, 7), (2, 3, 4, 5), (1, 1), (300, 3)]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", CLASS_SHAPES)
def test_classes(shape: tuple[int, ...], reduction: str) -> None:
    axis = min(len(shape) - 1, 1)
    classes, rest = shape[axis], shape[:axis] + shape[axis + 1 :]
    x = f32(*shape) * 5
    y = R.integers(0, classes, rest)
    some = np.where(R.random(rest) < 0.3, -100, y)
    other = np.where(R.random(rest) < 0.3, classes + 3, y)
    w = np.abs(f32(classes)) + np.float32(0.1)
    with np.errstate(all="ignore"):
        for weight, (target, ignore) in itertools.product(
            (None, w), ((y, -100), (some, -100), (other, classes + 3))
        ):
            target = np.asarray(target)
            same("nll_loss", x, target, weight, None, ignore, reduction=reduction)
            for smoothing in (0.0, 0.2, 1.0):
                same(
                    "cross_entropy",
                    x,
                    target,
                    weight,
                    None,
                    ignore,
                    None,
                    reduction,
                    smoothing,
                    tolerance=4e-6,
                )
    shares = np.abs(f32(*shape))
    for weight, smoothing in itertools.product((None, w), (0.0, 0.3)):
        same(
            "cross_entropy", x, shares, weight, reduction=reduction, label_smoothing=smoothing, tolerance=4e-6
        )  # fmt: skip


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_linear_cross_entropy(reduction: str) -> None:
    x, y = f32(6, 7), R.integers(0, 5, 6)
    same("linear_cross_entropy", x, f32(5, 7), y, reduction=reduction, tolerance=4e-6)
    options = {"linear_bias": f32(5), "weight": np.abs(f32(5)), "label_smoothing": 0.2, "ignore_index": 2}
    same("linear_cross_entropy", x, f32(5, 7), y, reduction=reduction, tolerance=4e-6, **options)
    same("linear_cross_entropy", x[0], f32(5, 7), y[0], reduction=reduction, tolerance=4e-6)
    many = R.integers(0, 5, (6, 3))
    same(
        "linear_cross_entropy",
        x,
        f32(5, 3, 7),
        many,
        linear_bias=f32(5, 3),
        reduction=reduction,
        tolerance=4e-6,
    )


def test_no_target_counts() -> None:
    x, y = f32(4, 3), np.full(4, -100)
    assert np.isnan(same("cross_entropy", x, y)) and same("cross_entropy", x, y, reduction="sum") == 0


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", [(5,), (6, 5), (1, 1), (40, 17)])
def test_margins_of_classes(shape: tuple[int, ...], reduction: str) -> None:
    classes, rest = shape[-1], shape[:-1]
    x, y = f32(*shape), np.asarray(R.integers(0, classes, rest))
    w = np.abs(f32(classes))
    for p, margin, weight in ((1, 1.0, None), (2, 0.5, None), (1, 2.0, w), (2, 1.0, w)):
        same("multi_margin_loss", x, y, p, margin, weight, reduction=reduction)
    many = np.array([R.permutation(classes) for _ in range(int(np.prod(rest, dtype=int)))]).reshape(shape)
    for keep in range(0, classes + 1, max(1, classes // 4)):
        target = np.where(np.arange(classes) < keep, many, -1)
        same("multilabel_margin_loss", x, target, reduction=reduction)


@pytest.mark.parametrize(
    "t,n,c,s", [(12, 3, 5, 4), (1, 1, 2, 1), (50, 2, 20, 10), (5, 2, 3, 4), (30, 4, 4, 0)]
)
def test_ctc(t: int, n: int, c: int, s: int) -> None:
    """Targets as rows and in a row, other blanks, paths that do not exist, one item without a batch."""
    x = torch.log_softmax(torch.tensor(f32(t, n, c) * 3), -1).numpy()
    targets = R.integers(1, c, (n, s))
    times, lengths = R.integers(max(1, t // 2), t + 1, n), R.integers(0, s + 1, n)
    flat = np.concatenate([row[:k] for row, k in zip(targets, lengths, strict=True)])
    for reduction, zero in itertools.product(REDUCTIONS, (False, True)):
        same("ctc_loss", x, targets, times, lengths, 0, reduction, zero, tolerance=4e-6)
        same("ctc_loss", x, flat, times, lengths, 0, reduction, zero, tolerance=4e-6)
    same("ctc_loss", x, targets - 1, times, lengths, c - 1, "none", tolerance=4e-6)
    one = targets[0, : lengths[0]]
    same("ctc_loss", x[:, 0], one, times[0], np.int64(len(one)), tolerance=4e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats(dtype: str) -> None:
    """Computed in float32 and rounded once."""
    x, t = (
        torch.tensor(f32(30, 5)).to(getattr(torch, dtype)),
        torch.tensor(f32(30, 5)).to(getattr(torch, dtype)),
    )
    y = R.integers(0, 5, 30)
    a, b = (tg.asarray(v.float().numpy(), dtype=dtype) for v in (x, t))
    eps = 2.0**-10 if dtype == "float16" else 2.0**-7
    for got, want in [
        (nn.mse_loss(a, b), F.mse_loss(x.double(), t.double())),
        (nn.cross_entropy(a, tg.asarray(y)), F.cross_entropy(x.double(), torch.tensor(y))),
        (
            nn.smooth_l1_loss(a, b, reduction="none"),
            F.smooth_l1_loss(x.double(), t.double(), reduction="none"),
        ),
        (nn.binary_cross_entropy_with_logits(a, nn.sigmoid(b)), None),
    ]:
        assert got.dtype.name == dtype
        if want is not None:
            np.testing.assert_allclose(
                np.asarray(got).astype(np.float64), want.numpy(), rtol=eps, atol=eps * 1e-3
            )
