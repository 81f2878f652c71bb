"""Products, look-ups, distances, activations and what is random in tabgpu.nn, against PyTorch in float64."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from test_losses import f32, same

import tabgpu as tg
from tabgpu import nn

R = np.random.default_rng(12)
K = tg.random.key(5)


@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (0,)])
def test_linear_and_bilinear(lead: tuple[int, ...]) -> None:
    x, w, b = f32(*lead, 7), f32(5, 7), f32(5)
    same("linear", x, w)
    same("linear", x, w, b)
    same("linear", x, f32(7))
    if 0 not in lead:
        same("bilinear", x, f32(*lead, 4), f32(6, 7, 4))
        same("bilinear", x, f32(*lead, 4), f32(6, 7, 4), f32(6), tolerance=4e-6)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (), (0,), (2, 0, 3)])
def test_embedding(shape: tuple[int, ...]) -> None:
    w, ids = f32(9, 4), np.asarray(R.integers(0, 9, shape))
    same("embedding", ids, w)
    same("embedding", ids, w, 3)
    same("embedding", ids, w, -2)
    for norm, p in ((1.0, 2.0), (2.0, 1.0), (0.5, 3.0)):
        same("embedding", ids, w.copy(), None, norm, p, tolerance=4e-6)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_embedding_bag(mode: str) -> None:
    w, flat = f32(9, 4), R.integers(0, 9, 20)
    same("embedding_bag", flat.reshape(5, 4), w, mode=mode)
    same("embedding_bag", flat.reshape(5, 4), w, mode=mode, padding_idx=3)
    for offsets in (np.array([0, 5, 5, 12]), np.array([0]), np.array([0, 20])):
        same("embedding_bag", flat, w, offsets, mode=mode)
        same("embedding_bag", flat, w, offsets, mode=mode, padding_idx=-1)
    same("embedding_bag", flat, w, np.array([0, 5, 12, 20]), mode=mode, include_last_offset=True)
    same("embedding_bag", flat, w.copy(), np.array([0, 5]), max_norm=1.0, mode=mode, tolerance=4e-6)
    if mode == "sum":
        same("embedding_bag", flat, w, np.array([0, 7]), mode=mode, per_sample_weights=f32(20))
        same("embedding_bag", flat.reshape(4, 5), w, mode=mode, per_sample_weights=f32(4, 5))


@pytest.mark.parametrize("shape", [(5,), (2, 3), ()])
def test_one_hot(shape: tuple[int, ...]) -> None:
    ids = np.asarray(R.integers(0, 6, shape))
    for classes in (6, 9, -1):
        got = np.asarray(nn.one_hot(tg.asarray(ids), classes))
        assert got.dtype == np.int32 and (got == F.one_hot(torch.tensor(ids), classes).numpy()).all()
        assert (np.asarray(nn.one_hot(ids, classes)) == got).all()


def test_distances() -> None:
    x, zeros = f32(4, 6), np.zeros((2, 3), "f4")
    cases = [
        (x, f32(4, 6), 1),
        (x, f32(4, 6), 0),
        (f32(6), f32(6), 0),
        (x, f32(6), -1),
        (zeros, f32(2, 3), 1),
    ]
    for a, b, dim in [*cases, (f32(2, 1, 5), f32(3, 5), -1)]:
        same("cosine_similarity", a, b, dim, tolerance=4e-6)
    same("cosine_similarity", f32(3, 4) * np.float32(1e-4), f32(3, 4), 1, 1e-2)
    for p, keep in itertools.product((2.0, 1.0, 3.0, 0.5, float("inf")), (False, True)):
        same("pairwise_distance", f32(4, 6), f32(4, 6), p, 1e-6, keep, tolerance=2e-5)
        same("pairwise_distance", f32(6), f32(6), p, 1e-3, keep, tolerance=2e-5)
    for p in (2.0, 1.0, 0.0, 3.0, float("inf")):
        for n in (0, 1, 2, 9):
            same("pdist", f32(n, 5), p, tolerance=1e-5)
    same("pdist", np.repeat(f32(2, 5), 3, axis=0))


ACTIVATIONS: dict[str, list[dict[str, Any]]] = {
    "celu": [{}, {"alpha": 0.5}], "elu": [{}, {"alpha": 2.0}], "gelu": [{}, {"approximate": "tanh"}],
    "glu": [{}, {"dim": 0}], "hardshrink": [{}, {"lambd": 1.0}], "hardsigmoid": [{}], "hardswish": [{}],
    "hardtanh": [{}, {"min_val": -2.0, "max_val": 0.5}], "leaky_relu": [{}, {"negative_slope": 0.3}],
    "logsigmoid": [{}], "mish": [{}], "relu": [{}], "relu6": [{}], "rrelu": [{}, {"lower": 0.1, "upper": 0.5}],
    "selu": [{}], "sigmoid": [{}], "silu": [{}], "softmin": [{"dim": 0}, {"dim": 1}, {"dim": -1}],
    "softmax": [{"dim": 0}, {"dim": -1}], "log_softmax": [{"dim": 0}, {"dim": -1}],
    "softplus": [{}, {"beta": 2.0, "threshold": 5.0}], "softshrink": [{}, {"lambd": 1.0}], "softsign": [{}],
    "tanh": [{}], "tanhshrink": [{}], "threshold": [{"threshold": 0.5, "value": -3.0}],
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_activations(name: str) -> None:
    """N07, N08: also far out; at -inf and inf where torch has a value."""
    x = np.concatenate(
        [f32(30, 6) * 4, np.float32([[88, -88, 89, -89, 1000, -1000], [0, -0.0, 20, -20, 3, -3]])]
    )
    for options in ACTIVATIONS[name]:
        same(name, x, **options, tolerance=5e-6)
        same(name, x.T.copy(), **options, tolerance=5e-6)
    if name not in ("glu", "softmin", "softmax", "log_softmax"):
        ends = np.float32([np.inf, -np.inf, np.nan])
        got = np.asarray(getattr(nn, name)(ends, **options))
        want = getattr(F, name)(torch.tensor(ends), **options).numpy()
        known = ~np.isnan(want)
        assert (got[known] == want[known]).all() and np.isnan(got[2])


def test_prelu() -> None:
    for shape in ((6,), (4, 3), (2, 3, 5)):
        same("prelu", f32(*shape), f32(1))
        if len(shape) > 1:
            same("prelu", f32(*shape), f32(3))


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_dropout_moments(p: float) -> None:
    """What stays, what it becomes and how alike mean and variance are, as torch's own do."""
    x = f32(400, 50, 4)
    torch.manual_seed(1)
    for name in ("dropout", "dropout1d", "dropout2d", "alpha_dropout", "feature_alpha_dropout"):
        mine = np.asarray(getattr(nn, name)(tg.asarray(x), p, True, key=K)).astype(np.float64)
        theirs = getattr(F, name)(torch.tensor(x), p, True).numpy().astype(np.float64)
        assert abs(mine.mean() - theirs.mean()) < 0.05 and abs(mine.var() - theirs.var()) < 0.12 * max(
            theirs.var(), 0.1
        )
        groups = mine.reshape(400 * 50, 4)
        dropped = (groups == groups[:, :1]).all(axis=1)
        if name in ("dropout1d", "dropout2d", "feature_alpha_dropout"):
            assert abs(dropped.mean() - p) < 0.03
        elif p < 1:
            assert dropped.mean() < 2 * p**4 + 1e-3
        none = np.asarray(getattr(nn, name)(tg.asarray(x), p, False))
        assert (none == x).all()


@pytest.mark.parametrize("tau,hard", [(1.0, False), (0.5, False), (2.0, True)])
def test_gumbel_softmax(tau: float, hard: bool) -> None:
    """The argmax falls on a class with its softmax probability, whatever tau."""
    logits = np.tile(np.float32([0.0, 1.0, 2.0, -1.0]), (40_000, 1))
    got = np.asarray(nn.gumbel_softmax(tg.asarray(logits), tau, hard, key=K)).astype(np.float64)
    np.testing.assert_allclose(got.sum(axis=1), 1, rtol=1e-6)
    share = np.bincount(got.argmax(axis=1), minlength=4) / len(got)
    want = np.exp(logits[0]) / np.exp(logits[0]).sum()
    assert np.abs(share - want).max() < 0.012
    torch.manual_seed(3)
    theirs = F.gumbel_softmax(torch.tensor(logits), tau, hard).numpy()
    np.testing.assert_allclose(got.mean(axis=0), theirs.mean(axis=0), atol=0.012)
    np.testing.assert_allclose(got.std(axis=0), theirs.std(axis=0), atol=0.012)


def test_rrelu_in_training() -> None:
    x = -np.abs(f32(20_000)) - np.float32(0.1)
    slope = np.asarray(nn.rrelu(tg.asarray(x), 0.1, 0.6, True, key=K)) / x
    assert 0.1 <= slope.min() < 0.11 and 0.59 < slope.max() < 0.6000001 and abs(slope.mean() - 0.35) < 0.01


def test_pad() -> None:
    x = f32(2, 3, 5, 6)
    widths = [(1, 2, 0, 3), (-1, 2, 3, -2), (2, 2, 1, 1), (0, 0, 4, 4), (1, -1, 0, 0), (-2, -1, -1, -3)]
    for pad, mode in itertools.product(widths, ("constant", "reflect", "replicate", "circular")):
        same("pad", x, pad, mode)
    for pad in ((1, 2), (-1, 0, 2, 1, 3, 4), (0, 1, 0, 0, -1, 0, 2, 2), ()):
        same("pad", x, pad, "constant", 2.5)


# --- what torch.nn.functional has -------------------------------------------------------------------------------------

NOT_HERE: dict[str, str] = {
    **dict.fromkeys(["Callable", "DType", "Optional", "ScalingType", "SwizzleType", "Tensor"], "a type"),
    **dict.fromkeys(
        ["assert_int_or_pair", "boolean_dispatch", "handle_torch_function", "has_torch_function",
         "has_torch_function_unary", "has_torch_function_variadic", "native_channel_shuffle"],
        "torch's own machinery",
    ),
    **dict.fromkeys(
        ["celu_", "elu_", "hardtanh_", "leaky_relu_", "relu_", "rrelu_", "selu_", "threshold_"],
        "in place: arrays are lazy, `x = nn.relu(x)` costs no copy",
    ),
    **dict.fromkeys(
        ["grouped_mm", "scaled_mm", "scaled_grouped_mm"], "float8 and grouped products of CUDA; tg.quant has banks"
    ),
    **dict.fromkeys(["upsample", "upsample_bilinear", "upsample_nearest"], "deprecated in torch for interpolate"),
    "multi_head_attention_forward": "torch.nn.MultiheadAttention's inside: linear and scaled_dot_product_attention",
    **{f"max_pool{k}d_with_indices": "max_pool with return_indices=True" for k in (1, 2, 3)},
    **{f"adaptive_max_pool{k}d_with_indices": "adaptive_max_pool with return_indices=True" for k in (1, 2, 3)},
    **{f"fractional_max_pool{k}d_with_indices": "fractional_max_pool with return_indices=True" for k in (2, 3)},
    "conv_tbc": "a layout that conv1d takes through a view",
}  # fmt: skip


def public() -> list[str]:
    return [n for n in dir(F) if not n.startswith("_") and callable(getattr(F, n))]


def test_torch_nn_functional_is_here_or_explained() -> None:
    missing = [n for n in public() if not hasattr(nn, n) and n not in NOT_HERE]
    assert not missing, missing
    stale = [n for n in NOT_HERE if hasattr(nn, n) or n not in public()]
    assert not stale, stale
