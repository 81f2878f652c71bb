"""Normalisations of tabgpu.nn against PyTorch: values, running statistics, errors."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from test_pooling import agree, both, draw

import tabgpu as tg
from tabgpu import nn

SHAPES: list[tuple[int, ...]] = [
    (4, 6),
    (3, 6, 5),
    (2, 6, 8, 9),
    (1, 6, 3, 3),
    (2, 6, 3, 4, 5),
    (2, 6, 40, 33),
]


def two(v: np.ndarray | None) -> tuple[Any, Any]:
    return (None, None) if v is None else (torch.tensor(v), tg.asarray(v))


def near(theirs: Any, ours: Any, what: Any, atol: float = 2e-5) -> None:
    agree(theirs.numpy(), np.asarray(ours), what, 2e-5, atol)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_batch_and_instance_norm(shape: tuple[int, ...]) -> None:
    x = (draw(shape, 1) * 2 + 3).astype(np.float32)
    c = shape[1]
    w, b, m, v = (np.random.default_rng(k).uniform(0.5, 2, c).astype(np.float32) for k in range(4))
    t, g = two(x)
    names = ["batch_norm"] + ["instance_norm"] * (len(shape) > 2)
    for name, weight, bias, own in product(names, (None, w), (None, b), (False, True)):
        affine = list(zip(two(weight), two(bias), strict=True))
        running = list(zip(two(m), two(v), strict=True))
        for momentum, eps in ((0.1, 1e-5), (0.3, 1e-2)):
            theirs = getattr(F, name)(t, *running[0], *affine[0], own, momentum, eps)
            ours = getattr(nn, name)(g, *running[1], *affine[1], own, momentum, eps)
            near(theirs, ours, (name, own))
            for a, h in zip(*running, strict=True):
                near(a, h, (name, "running", own), 4e-5)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_group_norm(shape: tuple[int, ...]) -> None:
    x = (draw(shape, 2) * 2 + 1).astype(np.float32)
    t, g = two(x)
    w, b = draw(6, 3), draw(6, 4)
    for groups, weight, bias in product((1, 2, 3, 6), (None, w), (None, b)):
        if x.size == shape[0] * groups:
            continue  # one value a group: torch's rounding of x - x
        affine = list(zip(two(weight), two(bias), strict=True))
        near(F.group_norm(t, groups, *affine[0]), nn.group_norm(g, groups, *affine[1]), groups)


def test_local_response_norm() -> None:
    for shape in SHAPES[1:]:
        x = draw(shape, 5)
        for size in (1, 2, 3, 4, 5, 9):
            agree(*both("local_response_norm", x, size), (shape, size))
            agree(*both("local_response_norm", x, size, 0.5, 0.7, 1.5), (shape, size), 4e-6)


def test_normalize() -> None:
    for shape in SHAPES:
        x = draw(shape, 6)
        for p, dim in product((1, 2, 3, 0.5, float("inf")), range(-1, len(shape))):
            agree(*both("normalize", x, p, dim), (shape, p, dim), 4e-6)
        agree(*both("normalize", x, 2.0, 1, 3.0), shape)
    x = draw((3, 5), 7)
    x[1], x[2, 3] = 0, np.inf
    theirs, ours = both("normalize", x)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, equal_nan=True)


def test_layer_and_rms_norm() -> None:
    for shape in SHAPES:
        x = (draw(shape, 8) * 2 + 1).astype(np.float32)
        for tail in (shape[-1:], shape[-2:], shape):
            w, b = draw(tail, 9), draw(tail, 10)
            t, g = two(x)
            near(F.layer_norm(t, tail, *[two(v)[0] for v in (w, b)]), nn.layer_norm(g, tail, w, b), tail)
            near(F.rms_norm(t, tail, two(w)[0]), nn.rms_norm(g, tail, w), tail)


def test_refusals() -> None:
    """What torch refuses, tabgpu refuses."""
    x = draw((2, 6, 4))
    for name, args in (
        ("group_norm", (4,)),
        ("group_norm", (0,)),
        ("batch_norm", (None, None)),
        ("batch_norm", (draw(5), draw(6))),
    ):
        theirs, ours = both(name, x, *args)
        assert isinstance(theirs, str) and isinstance(ours, str), (name, args)
    for shape in ((1, 6), (1, 6, 1)):
        theirs, ours = both("batch_norm", draw(shape), None, None, training=True)
        assert isinstance(theirs, str) and isinstance(ours, str), shape
    theirs, ours = both("instance_norm", draw((2, 6, 1)))
    assert isinstance(theirs, str) and isinstance(ours, str)
