"""unfold and fold of tg.nn against windows in NumPy. Runs in the tab."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import nn
from tabgpu.nn import folding


def draw(shape: Any, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng([seed, 10]).standard_normal(shape) * 3).astype(np.float32)


def places(sizes: Any, k: Any, d: Any, p: Any, s: Any) -> tuple[np.ndarray, tuple[int, ...]]:
    """(taps, windows): the place below each tap in the padded and flattened axes; the padded sizes."""
    padded = tuple(n + 2 * a for n, a in zip(sizes, p))
    outs = [(n - c * (b - 1) - 1) // e + 1 for n, b, c, e in zip(padded, k, d, s)]
    flat = np.arange(int(np.prod(padded))).reshape(padded)
    rows = []
    for tap in product(*[range(n) for n in k]):
        at = [np.arange(o) * e + t * c for o, e, t, c in zip(outs, s, tap, d)]
        rows.append(flat[np.ix_(*at)].ravel())
    return np.array(rows), padded


def pairs(*given: Any) -> list[tuple[int, int]]:
    return [v if isinstance(v, tuple) else (v, v) for v in given]


def unfolded(x: np.ndarray, k: Any, d: Any, p: Any, s: Any) -> np.ndarray:
    rank = len(k)
    at, _ = places(x.shape[-rank:], k, d, p, s)
    lead = x.ndim - rank
    flat = np.pad(x, [(0, 0)] * lead + [(a, a) for a in p]).reshape(*x.shape[:lead], -1)[..., at]
    return flat.reshape(*x.shape[: lead - 1], -1, at.shape[1])


def folded(columns: np.ndarray, sizes: Any, k: Any, d: Any, p: Any, s: Any) -> np.ndarray:
    at, padded = places(sizes, k, d, p, s)
    c = columns.shape[-2] // at.shape[0]
    apart = columns.reshape(-1, *at.shape)
    out = np.zeros((len(apart), int(np.prod(padded))), np.float64 if columns.dtype.kind == "f" else np.int64)
    for row, values in zip(out, apart):
        np.add.at(row, at, values)
    inner = out.reshape(len(apart), *padded)[(slice(None), *[slice(a, a + n) for a, n in zip(p, sizes)])]
    return inner.reshape(*columns.shape[:-2], c, *sizes)


WAYS = list(product((1, 2, (3, 2)), (1, 2), (0, 1, (2, 1)), (1, 2, (1, 3))))


@pytest.mark.limits
@pytest.mark.parametrize("shape", [(2, 3, 6, 8), (3, 7, 5)], ids=str)
async def test_columns_and_back(shape: Any) -> None:
    """Each kernel, dilation, padding and stride, with a batch and without."""
    x = draw(shape)
    g = tg.asarray(x)
    for way in WAYS:
        full = pairs(*way)
        want = unfolded(x, *full)
        columns = nn.unfold(g, *way)
        got, back = await tg.fetch(columns, nn.fold(columns, shape[-2:], *way))
        assert np.array_equal(got, want), way
        assert np.allclose(back, folded(want, shape[-2:], *full), rtol=1e-6, atol=2e-6), way


@pytest.mark.parametrize("name", ["bool", "int8", "uint8", "int16", "int32", "uint32", "float16", "bfloat16"])
async def test_dtypes(name: str) -> None:
    """Bits are moved; sums of integers wrap, those of narrow floats are rounded once."""
    whole = np.random.default_rng(1).integers(0, 2 if name == "bool" else 100, (1, 3, 5, 5))
    g = tg.asarray(whole.astype(np.float32)).astype(name)
    full = pairs(3, 1, 1, 1)
    columns = nn.unfold(g, 3, 1, 1)
    assert columns.dtype == g.dtype
    want = unfolded(whole, *full)
    assert np.array_equal(await columns.astype(tg.float32).numpy(), want)
    if name == "bool":
        with pytest.raises(TypeError, match="bool"):
            nn.fold(columns, 5, 3, 1, 1)
        return
    back = nn.fold(columns, 5, 3, 1, 1)
    assert back.dtype == g.dtype
    sums = folded(want, (5, 5), *full)
    if "float" in name:
        exact = await tg.asarray(sums.astype(np.float32)).astype(name).astype(tg.float32).numpy()
        assert np.array_equal(await back.astype(tg.float32).numpy(), exact)
    else:
        assert np.array_equal(await back.numpy(), sums.astype(name))


async def test_one_and_three_axes() -> None:
    """Col2Im and im2col of other ranks, padded differently on each side."""
    for shape, k, d, s in (((2, 3, 9), (3,), (2,), (2,)), ((1, 2, 4, 5, 6), (2, 1, 3), (1, 2, 1), (1, 2, 2))):
        x, rank = draw(shape), len(k)
        pads = tuple((1, 1) for _ in k)
        want = unfolded(x, k, d, (1,) * rank, s)
        columns = folding.columns(tg.asarray(x), k, d, pads, s, "im2col")
        back = folding.overlapped(columns, shape[2:], k, d, pads, s, "col2im")
        a, b = await tg.fetch(columns, back)
        assert np.array_equal(a, want)
        assert np.allclose(b, folded(want, shape[2:], k, d, (1,) * rank, s), atol=2e-6)
    x = draw((1, 1, 5))
    got = await folding.columns(tg.asarray(x), (2,), (1,), ((0, 2),), (1,), "im2col").numpy()
    longer = np.pad(x[0, 0], (0, 2))
    assert np.array_equal(got[0], [longer[:6], longer[1:]])


VIEWS = {
    "channels last": lambda a: a.transpose(0, 3, 1, 2),
    "reversed": lambda a: a[::-1, ::-1, ::-1, ::-1],
    "strided": lambda a: a[:, ::2, 1::2, ::3],
}


@pytest.mark.parametrize("how", VIEWS)
async def test_views(how: str) -> None:
    x = draw((2, 4, 9, 8))
    a, g = VIEWS[how](x), VIEWS[how](tg.asarray(x))
    await tg.synchronize()
    before = tg.device().counters.launches
    got = await nn.unfold(g, 2, 1, 1).numpy()
    assert tg.device().counters.launches - before == 1
    assert np.array_equal(got, unfolded(a, *pairs(2, 1, 1, 1)))
    columns = draw((12, 2, 5))  # (2, 5, 12) as a view
    back = await nn.fold(tg.asarray(columns).transpose(1, 2, 0), (3, 4), 1).numpy()
    assert np.array_equal(back, columns.transpose(1, 2, 0).reshape(2, 5, 3, 4))


async def test_many_shapes_compile_little() -> None:
    before = tg.device().counters.pipelines
    rng = np.random.default_rng(0)
    made = []
    for _ in range(250):
        n, c, h, w, k, s, p = (int(v) for v in rng.integers(1, 4, 7) + (0, 0, 3, 3, 0, 0, 0))
        columns = nn.unfold(tg.zeros((n, c, h, w)) + 1.5, k, 1, p, s)
        made += [columns, nn.fold(columns, (h, w), k, 1, p, s)]
    await tg.fetch(*made)
    assert tg.device().counters.pipelines - before <= 4


async def test_empty_and_wrong() -> None:
    assert nn.unfold(tg.ones((0, 3, 4, 4)), 2).shape == (0, 12, 9)
    assert (await nn.fold(tg.ones((0, 12, 9)), (4, 4), 2).numpy()).shape == (0, 3, 4, 4)
    g = tg.ones((1, 2, 4, 4))
    for call, error, text in [
        (lambda: nn.unfold(tg.ones((4, 4)), 2), ValueError, r"unfold: needs a 3-D or 4-D array.*\(4, 4\)"),
        (lambda: nn.unfold(g, 5), ValueError, r"a kernel of \(5, 5\).*larger than \(4, 4\)"),
        (lambda: nn.unfold(g, 0), ValueError, "kernel_size must be at least 1"),
        (lambda: nn.unfold(g, 2, padding=1 << 20), OverflowError, "unfold: .* addressable"),
        (lambda: nn.unfold(g.astype(tg.complex64), 2), TypeError, "complex64"),
        (lambda: nn.fold(tg.ones((1, 8, 8)), (4, 4), 2), ValueError, r"9 of them; the shape is \(1, 8, 8\)"),
        (lambda: nn.fold(tg.ones((1, 7, 9)), (4, 4), 2), ValueError, "multiple of 4"),
        (lambda: nn.fold(tg.ones((1, 1, 8, 9)), (4, 4), 2), ValueError, "2-D or 3-D"),
    ]:
        with pytest.raises(error, match=text):
            call()
