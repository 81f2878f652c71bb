"""Attention in float64, operands for its tests, how near a result must be, forms of kernels. No tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from forms import taking

import tabgpu as tg

EPS = 2.0**-24


def draw(shape: Any, seed: int = 0) -> Any:
    return np.random.default_rng([seed, 11]).standard_normal(shape).astype(np.float32)


def operands(lead: Any, length: int, keys: int, dims: int, values: int, shared: Any = None) -> list[Any]:
    """Query, key and value; shared: the leading axes of the last two."""
    other = lead if shared is None else shared
    return [
        draw((*lead, length, dims), 1),
        draw((*other, keys, dims), 2),
        draw((*other, keys, values), 3),
    ]


def weights(
    q: Any,
    k: Any,
    mask: Any = None,
    causal: str = "",
    scale: float | None = None,
    softcap: float = 0.0,
    lengths: Any = None,
) -> tuple[Any, Any]:
    """(weights of each key, bound of the scores' magnitude)."""
    q, k = q.astype(np.float64), k.astype(np.float64)
    scale = 1 / np.sqrt(q.shape[-1]) if scale is None else scale
    size = np.abs(q) @ np.abs(np.swapaxes(k, -1, -2)) * abs(scale)
    s = q @ np.swapaxes(k, -1, -2) * scale
    if softcap:
        s = softcap * np.tanh(s / softcap)
    rows, keys = np.arange(s.shape[-2])[:, None], np.arange(s.shape[-1])
    n = np.asarray(s.shape[-1] if lengths is None else lengths)
    n = n.reshape(n.shape + (1,) * (s.ndim - n.ndim))
    hidden = np.broadcast_to(keys >= n, s.shape)
    if causal:
        hidden = hidden | (keys > rows + (n - s.shape[-2] if causal == "bottom_right" else 0))
    if mask is not None and mask.dtype == bool:
        hidden = hidden | ~mask
    elif mask is not None:
        s = s + mask.astype(np.float64)
        size = size + np.abs(np.where(np.isfinite(mask), np.maximum(mask, -1e4), 0))
    s = np.where(hidden, -np.inf, s)
    top = s.max(-1, keepdims=True)
    p = np.exp(s - np.where(np.isfinite(top), top, 0))
    total = p.sum(-1, keepdims=True)
    return p / np.where(total == 0, 1, total), size.max(-1, keepdims=True)


def attention(q: Any, k: Any, v: Any, **more: Any) -> Any:
    return weights(q, k, **more)[0] @ v.astype(np.float64)


def near(got: Any, q: Any, k: Any, v: Any, unit: float = EPS, **more: Any) -> None:
    """Within 24 + 4 |score| + 2 sqrt(keys) units of 2^-24 of the sum of |weight * value|, and half a unit of a narrow
    result."""
    p, size = weights(q, k, **more)
    want = p @ v.astype(np.float64)
    bound = (24 + 4 * size + 2 * np.sqrt(k.shape[-2])) * EPS * (p @ np.abs(v.astype(np.float64)))
    bound = bound + (unit * np.abs(want) + 2.0**-25 if unit > EPS else 1e-37)
    assert got.shape == want.shape, f"{got.shape}, wanted {want.shape}"
    off = np.abs(got.astype(np.float64) - want)
    assert (off <= bound).all(), f"{off.max()} off, {np.nanmax(off / bound)} times the bound"


# SwiftShader takes very long to compile what is made for GPUs: of that a tab sees `test_forms_of_a_gpu` by default.
IN_TAB = [pytest.mark.slow] if sys.platform == "emscripten" else []


@pytest.fixture(params=["own", "serial", pytest.param("portable", marks=IN_TAB)])
def form(request: pytest.FixtureRequest) -> Iterator[str]:
    """The device's own kernels, those of a CPU adapter, those of a GPU."""
    with taking(request.param):
        yield request.param


def up(*arrays: Any) -> list[tg.Array]:
    return [tg.asarray(x) for x in arrays]
