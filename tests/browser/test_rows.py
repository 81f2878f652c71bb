"""softmax, log_softmax, layer_norm, rms_norm against float64: shapes, axes, layouts, dtypes, special values, passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as sp
from forms import form  # noqa: F401  # a fixture

import tabgpu as tg
from tabgpu import engine, nn

EPS = 2.0**-24


def draw(shape: Any, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng([seed, 5]).standard_normal(shape) * 3).astype(np.float32)


def norm(x: np.ndarray, axes: Any, eps: float = 1e-5) -> np.ndarray:
    x = x.astype(np.float64)
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def rms(x: np.ndarray, axes: Any, eps: float = 2.0**-23) -> np.ndarray:
    x = x.astype(np.float64)
    return x / np.sqrt((x * x).mean(axes, keepdims=True) + eps)


def near_softmax(got: np.ndarray, x: np.ndarray, axis: int) -> None:
    """Within 2 |x - max| + 8 + log2 n units of 2^-24 of each value: x - max and its product by log2 e are rounded."""
    x = x.astype(np.float64)
    want = sp.softmax(x, axis=axis)
    apart = x.max(axis, keepdims=True) - x
    bound = (2 * apart + 8 + np.log2(x.shape[axis])) * EPS * want + 2e-38
    assert got.shape == want.shape
    assert (np.abs(got - want) <= bound).all(), float((np.abs(got - want) / bound).max())


def near_log_softmax(got: np.ndarray, x: np.ndarray, axis: int) -> None:
    x = x.astype(np.float64)
    want = sp.log_softmax(x, axis=axis)
    bound = (8 + np.log2(x.shape[axis]) + 2 * np.abs(want)) * EPS
    assert (np.abs(got - want) <= bound).all(), float((np.abs(got - want) / bound).max())


SHAPES = [
    ((1,), 0), ((7,), -1), ((5, 1), 1), ((3, 4), 1), ((33, 31), 1), ((5, 32), 1), ((3, 129), 1), ((2, 512), 1),
    ((2, 1001), 1), ((2, 2048), 1), ((3, 4099), 1), ((64, 40), 0), ((257, 36), 0), ((300, 33), 0), ((3, 70, 20), 1),
    ((4, 9, 3), 1), ((2, 3, 5), 0), ((2000, 64), 0), ((2, 9000), 1), ((1, 33_001), 1),
]  # fmt: skip


@pytest.mark.limits
@pytest.mark.parametrize("shape,axis", SHAPES, ids=str)
async def test_shapes_and_axes(shape: Any, axis: int, form: str) -> None:
    x = draw(shape)
    g = tg.asarray(x)
    soft, log = await tg.fetch(nn.softmax(g, axis), nn.log_softmax(g, axis=axis))
    near_softmax(soft, x, axis)
    near_log_softmax(log, x, axis)


@pytest.mark.limits
@pytest.mark.parametrize(
    "shape", [(1,), (5, 1), (3, 4), (9, 31), (5, 32), (3, 130), (2, 515), (4, 2048), (2, 9001), (1, 40_000)], ids=str
)  # fmt: skip
async def test_norms(shape: Any, form: str) -> None:
    x = draw(shape) + 10
    g, n = tg.asarray(x), shape[-1]
    w, b = draw(n, 1), draw(n, 2)
    gw, gb = tg.asarray(w), tg.asarray(b)
    for weight in (None, w):
        for bias in (None, b):
            scale = 1.0 if weight is None else weight
            want = norm(x, -1) * scale + (0.0 if bias is None else bias)
            got = await nn.layer_norm(
                g, n, None if weight is None else gw, None if bias is None else gb
            ).numpy()
            bound = 200 * EPS * (1 + np.abs(want)) * (1 + np.abs(np.max(scale)))
            assert (np.abs(got - want) <= bound).all()
        want = rms(x, -1) * scale
        got = await nn.rms_norm(g, (n,), None if weight is None else gw).numpy()
        assert (np.abs(got - want) <= 16 * EPS * np.abs(want)).all()


async def test_several_axes_and_eps() -> None:
    x = draw((4, 3, 5, 8))
    g = tg.asarray(x)
    w, b = draw((5, 8), 1), draw((5, 8), 2)
    got = await nn.layer_norm(g, (5, 8), tg.asarray(w), tg.asarray(b), eps=0.5).numpy()
    assert np.allclose(got, norm(x, (2, 3), 0.5) * w + b, atol=2e-6)
    got = await nn.rms_norm(g, x.shape, eps=0.25).numpy()
    assert np.allclose(got, rms(x, (0, 1, 2, 3), 0.25), atol=1e-6)
    turned = await nn.layer_norm(g.transpose(3, 2, 1, 0), (3, 4)).numpy()
    assert np.allclose(turned, norm(x.T, (2, 3)), atol=2e-6)


VIEWS = {
    "transposed": lambda a: a.T,
    "columns": lambda a: a[:, 4:44],
    "odd columns": lambda a: a[:, 3:50],
    "reversed": lambda a: a[::-1, ::-1],
    "strided": lambda a: a[::2, ::3],
    "a row": lambda a: a[3],
    "a column": lambda a: a[:, 5],
    "planes": lambda a: a.reshape(5, 8, 64).transpose(1, 2, 0),
    "swapped": lambda a: a.reshape(5, 8, 64).transpose(2, 0, 1),
}


@pytest.mark.parametrize("how", VIEWS)
async def test_views(how: str, form: str) -> None:
    """F05: on a slice, by its own strides."""
    x = draw((40, 64))
    a, g = VIEWS[how](x), VIEWS[how](tg.asarray(x))
    for axis in range(a.ndim):
        near_softmax(await nn.softmax(g, axis).numpy(), a, axis)
    got = await nn.layer_norm(g, a.shape[-1]).numpy()
    assert np.allclose(got, norm(a, -1), atol=1e-5)
    small = tg.arange(16).astype(tg.float32).reshape(4, 4)
    assert abs(await nn.softmax(small[..., 0:2], -1).sum().item() - 4) < 1e-6


async def test_broadcast_and_pending_operands() -> None:
    x = draw((3, 40))
    g = tg.asarray(x)
    wide = tg.broadcast_to(g[:, None, :], (3, 5, 40))
    near_softmax(await nn.softmax(wide).numpy(), np.broadcast_to(x[:, None, :], (3, 5, 40)), -1)
    got = await (nn.softmax(g * 2.0 + 1.0) * 3.0).numpy()
    assert np.allclose(got, sp.softmax(x.astype(np.float64) * 2 + 1, axis=-1) * 3, atol=1e-6)
    assert await nn.softmax(tg.full((2, 4), 7.0)).tolist() == [[0.25] * 4] * 2
    near_softmax(await nn.softmax(tg.arange(6)).numpy(), np.arange(6.0), -1)


@pytest.mark.parametrize("n", [1, 127, 128, 129, 4096, 20_000])
async def test_lines_of_minus_infinity(n: int, form: str) -> None:
    """F01: NaN for each length."""
    g = tg.full(n, -np.inf)
    got = await tg.fetch(nn.softmax(g), nn.log_softmax(g))
    assert all(np.isnan(x).all() for x in got)


async def test_special_values(form: str) -> None:
    """F02, F04, N05: far apart, infinities and NaN; as torch."""
    got = await nn.softmax(tg.asarray([-400.0, -400, 0, -400, -400, -400, -400])).tolist()
    assert got == [0, 0, 1, 0, 0, 0, 0]
    x = np.zeros((7, 33), np.float32)
    x[0, 3] = np.inf
    x[1, 4] = np.nan
    x[2, 5] = -np.nan
    x[3, :30] = -np.inf
    x[4] = 3e38
    x[5] = -3.4e38
    x[6, 0] = 3e38
    g = tg.asarray(x)
    soft, log = await tg.fetch(nn.softmax(g), nn.log_softmax(g))
    assert np.isnan(soft[:3]).all() and np.isnan(log[:3]).all()
    assert (soft[3, :30] == 0).all() and np.allclose(soft[3, 30:], 1 / 3)
    assert np.isneginf(log[3, :30]).all() and np.allclose(log[3, 30:], np.log(1 / 3))
    assert np.allclose(soft[4:6], 1 / 33) and soft[6, 0] == 1 and (soft[6, 1:] == 0).all()
    layer = await nn.layer_norm(g, 33).numpy()
    assert np.isnan(layer[:4]).all()
    root = await nn.rms_norm(g, 33).numpy()
    assert np.isnan(root[1:3]).all() and np.isnan(root[0, 3]) and (np.delete(root[0], 3) == 0).all()
    assert np.allclose(root[4], 1) and np.allclose(root[5], -1) and np.isclose(root[6, 0], np.sqrt(33))


@pytest.mark.parametrize("n", [5, 64, 5000, 30_000])
async def test_large_values(n: int, form: str) -> None:
    """F13: squares that would overflow; variances of data far from zero (R08)."""
    assert np.allclose(await nn.rms_norm(tg.full(n, 1e20), n).numpy(), 1)
    x = (np.random.default_rng(n).standard_normal(n) * 1e25).astype(np.float32)
    assert np.allclose(await nn.layer_norm(tg.asarray(x), n).numpy(), norm(x, -1), atol=1e-5)
    far = draw((2, n), 3) + np.float32(1e4)
    got = await nn.layer_norm(tg.asarray(far), n).numpy()
    assert np.allclose(got, norm(far, -1), atol=2e-3)
    tiny = np.full(n, 1e-30, np.float32)
    assert np.allclose(await nn.rms_norm(tg.asarray(tiny), n).numpy(), rms(tiny, -1), rtol=1e-6, atol=0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape,axis", [((6, 64), 1), ((6, 63), 1), ((40, 64), 0), ((2, 9000), 1)], ids=str)
async def test_narrow_floats(dtype: str, shape: Any, axis: int, form: str) -> None:
    """Computed in float32, rounded once, halves to even."""
    g = tg.asarray(draw(shape)).astype(dtype)
    x = await g.astype(tg.float32).numpy()
    got = nn.softmax(g, axis)
    assert got.dtype == dtype
    want = await tg.asarray(sp.softmax(x.astype(np.float64), axis=axis).astype(np.float32)).astype(dtype).astype(
        tg.float32
    ).numpy()  # fmt: skip
    step = {"float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
    assert (np.abs(await got.astype(tg.float32).numpy() - want) <= step * want + 6e-8).all()
    if axis == 1:
        w = tg.asarray(draw(shape[1], 1)).astype(dtype)
        layer = nn.layer_norm(g, shape[1], w)
        assert layer.dtype == dtype
        want = norm(x, -1) * await w.astype(tg.float32).numpy()
        assert np.allclose(await layer.astype(tg.float32).numpy(), want, atol=1e-3, rtol=step)


@pytest.mark.limits
@pytest.mark.parametrize("shape", [(65_537, 4), (2, 65_537), (70_000, 32)], ids=str)
async def test_more_lines_than_a_dispatch_has(shape: Any) -> None:
    """F10."""
    x = draw(shape)
    near_softmax(await nn.softmax(tg.asarray(x)).numpy(), x, 1)


@pytest.mark.parametrize(
    "shape,axes", [((3, 40), 1), ((40, 33), 0), ((2, 20_001), None), ((5, 6, 7), (1, 2)), ((300, 64), 0), ((1, 5), 1)],
    ids=str,
)  # fmt: skip
async def test_logsumexp(shape: Any, axes: Any, form: str) -> None:
    """F04: one read, in float32."""
    x = draw(shape) * 30
    for keep in (False, True):
        got = await tg.logsumexp(tg.asarray(x), axes, keepdims=keep).numpy()
        want = sp.logsumexp(x.astype(np.float64), axis=axes, keepdims=keep)
        assert got.shape == want.shape and np.allclose(got, want, rtol=3e-7, atol=3e-6)
    assert await tg.logsumexp(tg.full(5000, -np.inf)).item() == -np.inf
    assert abs(await tg.logsumexp(tg.asarray([1000.0, 1000.0])).item() - 1000.6931) < 1e-3
    special = tg.asarray(np.array([[1, np.inf], [1, np.nan], [-np.inf, 2], [-np.inf, -np.inf]], np.float32))
    assert np.array_equal(
        await tg.logsumexp(special, 1).numpy(), np.array([np.inf, np.nan, 2, -np.inf]), equal_nan=True
    )


async def test_launches() -> None:
    counters = tg.device().counters
    cases = [((2048, 96), -1, 1), ((64, 4096), 0, 1), ((3, 30), 1, 1)]
    if not engine.device().software:
        cases += [((8, 4096), -1, 1), ((2, 100_000), 1, 2), ((1, 1_000_000), 1, 3), ((4096, 64), 0, 2)]
    for shape, axis, most in cases:
        g = tg.asarray(draw(shape))
        await tg.synchronize()
        before = counters.launches
        await nn.softmax(g, axis).numpy()
        assert counters.launches - before == most, shape


async def test_new_lengths_compile_little() -> None:
    """Lengths are parameters: a text depends on how many quads a thread keeps, and on the form alone."""
    before = tg.device().counters.pipelines
    for n in range(4, 300, 4):
        await nn.softmax(tg.zeros((3, n)) + 0.5).numpy()
    assert tg.device().counters.pipelines - before <= 8


async def test_empty_and_scalars() -> None:
    for shape in ((0,), (0, 3), (3, 0)):
        assert (await nn.softmax(tg.zeros(shape)).numpy()).shape == shape
        assert (await nn.layer_norm(tg.zeros(shape), shape[-1]).numpy()).shape == shape
    assert await nn.softmax(tg.asarray(5.0)).item() == 1.0
    assert await nn.log_softmax(tg.asarray(5.0), 0).item() == 0.0
    assert (await nn.softmax([[1, 1], [2, 2]]).numpy()).dtype == np.float32
    assert nn.softmax(tg.ones(3), dtype=tg.float16).dtype == tg.float16


async def test_wrong_arguments() -> None:
    g = tg.ones((3, 4))
    with pytest.raises(IndexError, match="softmax: axis 2"):
        nn.softmax(g, 2)
    with pytest.raises(TypeError, match="not both"):
        nn.softmax(g, 1, axis=1)
    with pytest.raises(TypeError, match="complex64"):
        nn.softmax(g.astype(tg.complex64))
    for shape in (3, (3, 3), (), (2, 3, 4)):
        with pytest.raises(ValueError, match="normalized_shape"):
            nn.layer_norm(g, shape)
    with pytest.raises(ValueError, match="weight of shape"):
        nn.layer_norm(g, 4, tg.ones(3))
    with pytest.raises(ValueError, match="bias of shape"):
        nn.layer_norm(g, 4, None, tg.ones((1, 4)))
