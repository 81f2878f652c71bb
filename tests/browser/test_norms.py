"""batch, instance, group and local response norm and normalize of tg.nn against float64. Runs in the tab."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from forms import form  # noqa: F401  # a fixture

import tabgpu as tg
from tabgpu import nn

EPS = 2.0**-24


def draw(shape: Any, seed: int = 0, far: float = 0) -> np.ndarray:
    return (np.random.default_rng([seed, 9]).standard_normal(shape) * 3 + far).astype(np.float32)


def columns(v: Any, rank: int) -> Any:
    return 1.0 if v is None else np.asarray(v, np.float64).reshape(-1, *(1,) * (rank - 2))


def normalized(x: np.ndarray, axes: Any, w: Any, b: Any, eps: float = 1e-5) -> np.ndarray:
    x = x.astype(np.float64)
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)
    return y * columns(w, x.ndim) + (0 if b is None else columns(b, x.ndim))


def grouped(x: np.ndarray, groups: int, w: Any, b: Any, eps: float = 1e-5) -> np.ndarray:
    flat = x.reshape(x.shape[0], groups, -1).astype(np.float64)
    y = (flat - flat.mean(-1, keepdims=True)) / np.sqrt(flat.var(-1, keepdims=True) + eps)
    return y.reshape(x.shape) * columns(w, x.ndim) + (0 if b is None else columns(b, x.ndim))


def near(got: np.ndarray, want: np.ndarray, x: np.ndarray, scale: float = 2) -> None:
    """Within 64 2^-24 of the values, and of what x's distance from zero costs its differences."""
    assert got.shape == want.shape and got.dtype == np.float32
    spread = max(float(x.astype(np.float64).std()), 1e-3)
    bound = EPS * scale * (64 * (1 + np.abs(want)) + 8 * np.abs(x).max() / spread)
    assert (np.abs(got - want) <= bound).all(), float((np.abs(got - want) / bound).max())


SHAPES: list[tuple[int, ...]] = [
    (5, 6),
    (4, 6, 7),
    (2, 6, 5, 8),
    (1, 6, 3, 3),
    (2, 6, 2, 3, 5),
    (2, 6, 40, 50),
]


def given(c: int, use: tuple[bool, bool]) -> tuple[list[Any], list[Any]]:
    """weight and bias or None, on the host and on the device."""
    host = [draw(c, k + 1) if u else None for k, u in enumerate(use)]
    return host, [None if h is None else tg.asarray(h) for h in host]


BOTH = list(product((False, True), (False, True)))


@pytest.mark.limits
@pytest.mark.parametrize("shape", SHAPES, ids=str)
async def test_batch_norm(shape: Any) -> None:
    x, c = draw(shape, 0, 2), shape[1]
    g = tg.asarray(x)
    mean, var = draw(c, 5), np.abs(draw(c, 6)) + np.float32(0.1)
    for use in BOTH:
        (w, b), extras = given(c, use)
        got = await nn.batch_norm(g, tg.asarray(mean), tg.asarray(var), *extras, eps=1e-3).numpy()
        want = (x - columns(mean, x.ndim)) / np.sqrt(columns(var, x.ndim) + 1e-3)
        want = want * columns(w, x.ndim) + (0 if b is None else columns(b, x.ndim))
        assert np.allclose(got, want, rtol=2e-6, atol=2e-5)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
async def test_batch_norm_in_training(shape: Any) -> None:
    """The batch's own statistics; running ones are assigned, the variance with Bessel's correction."""
    x, c = draw(shape, 0, 2), shape[1]
    g = tg.asarray(x)
    axes = (0, *range(2, len(shape)))
    for use in BOTH:
        (w, b), extras = given(c, use)
        near(await nn.batch_norm(g, None, None, *extras, True).numpy(), normalized(x, axes, w, b), x)
    old = [draw(c, 5), np.abs(draw(c, 6))]
    running = [tg.asarray(v) for v in old]
    views = [v[:] for v in running]
    out = nn.batch_norm(g, *running, None, None, True, 0.25, 1e-2)
    got, *after = await tg.fetch(out, *running, *views)
    near(got, normalized(x, axes, None, None, 1e-2), x)
    wide = x.astype(np.float64)
    batch = [wide.mean(axes), wide.var(axes, ddof=1)]
    for k, v in enumerate(after):  # views of them see it too
        assert np.allclose(v, 0.75 * old[k % 2] + 0.25 * batch[k % 2], rtol=1e-5, atol=1e-5)
    only = tg.asarray(old[0])
    nn.batch_norm(g, only, None, training=True)
    assert np.allclose(await only.numpy(), 0.9 * old[0] + 0.1 * batch[0], rtol=1e-5, atol=1e-5)


async def check_grouped(shape: Any, use: tuple[bool, bool]) -> None:
    x, c = draw(shape, 1, 2), shape[1]
    g = tg.asarray(x)
    (w, b), extras = given(c, use)
    got = await tg.fetch(
        nn.instance_norm(g, None, None, *extras), *[nn.group_norm(g, n, *extras) for n in (1, 2, 3, 6)]
    )
    near(got[0], normalized(x, tuple(range(2, len(shape))), w, b), x, 4)
    for made, groups in zip(got[1:], (1, 2, 3, 6)):
        near(made, grouped(x, groups, w, b), x, 4)


@pytest.mark.limits
@pytest.mark.parametrize("shape", [*SHAPES[1:], (1, 6, 3001), (3, 6, 129)], ids=str)
async def test_instance_and_group_norm(shape: Any) -> None:
    for use in BOTH:
        await check_grouped(shape, use)


@pytest.mark.parametrize("shape", [(2, 6, 5, 8), (1, 6, 501)], ids=str)
async def test_group_norm_in_each_form(shape: Any, form: str) -> None:
    await check_grouped(shape, (True, True))


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 6, 40, 50), (1, 6, 3001), (1, 2, 30_001), (3, 6, 129)], ids=str)
async def test_longer_groups_in_each_form(shape: Any, form: str) -> None:
    x, c = draw(shape, 1, 2), shape[1]
    for use in BOTH:
        (w, b), extras = given(c, use)
        near(await nn.group_norm(tg.asarray(x), 2, *extras).numpy(), grouped(x, 2, w, b), x, 4)


async def test_instance_norm_with_running_statistics() -> None:
    x = draw((3, 4, 5, 6), 2, 1)
    g = tg.asarray(x)
    old = [draw(4, 5), np.abs(draw(4, 6)) + 1]
    running = [tg.asarray(v) for v in old]
    got, mean, var = await tg.fetch(nn.instance_norm(g, *running, momentum=0.3), *running)
    near(got, normalized(x, (2, 3), None, None), x)
    wide = x.astype(np.float64)
    assert np.allclose(mean, 0.7 * old[0] + 0.3 * wide.mean((2, 3)).mean(0), atol=1e-5)
    assert np.allclose(var, 0.7 * old[1] + 0.3 * wide.var((2, 3), ddof=1).mean(0), atol=1e-5)
    fixed = await nn.instance_norm(g, tg.asarray(old[0]), tg.asarray(old[1]), use_input_stats=False).numpy()
    want = (x - columns(old[0], 4)) / np.sqrt(columns(old[1], 4) + 1e-5)
    assert np.allclose(fixed, want, atol=1e-5)


async def test_r08_variances_of_numbers_far_from_zero(form: str) -> None:
    """R08: as the variance of the differences, never negative."""
    x = (1e4 + np.random.default_rng(1).standard_normal((4, 4, 30, 30))).astype(np.float32)
    g = tg.asarray(x)
    for got, want in (
        (nn.batch_norm(g, None, None, training=True), normalized(x, (0, 2, 3), None, None)),
        (nn.group_norm(g, 2), grouped(x, 2, None, None)),
        (nn.instance_norm(g), normalized(x, (2, 3), None, None)),
    ):
        # means are float32 numbers: steps of 1e4 * 2**-24 and a few of them
        assert np.allclose(await got.numpy(), want, atol=5e-3)
    same = await nn.group_norm(tg.full((2, 4, 9), 12345.678), 2).numpy()
    assert (np.abs(same) < 0.5).all()
    running = tg.zeros(4)
    nn.batch_norm(tg.full((3, 4, 50), 1234.5678), None, running, training=True, momentum=1.0)
    assert ((await running.numpy()) >= 0).all()


async def test_f13_large_values() -> None:
    """F13: squares that would overflow."""
    x = (draw((2, 4, 60), 4) * 1e25).astype(np.float32)
    g = tg.asarray(x)
    assert np.allclose(await nn.group_norm(g, 2).numpy(), grouped(x, 2, None, None), atol=1e-5)
    assert np.allclose(await nn.rms_norm(tg.full((2, 9), 1e20), 9).numpy(), 1)
    wide = x.astype(np.float64)
    want = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    assert np.allclose(await nn.normalize(g).numpy(), want, atol=1e-6)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
async def test_narrow_floats(name: str) -> None:
    """Computed in float32, rounded once."""
    step = {"float16": 2.0**-11, "bfloat16": 2.0**-8}[name]
    for shape in ((2, 4, 5, 6), (2, 4, 7, 9)):
        g = tg.asarray(draw(shape, 3, 1)).astype(name)
        x = await g.astype(tg.float32).numpy()
        w, b = draw(4, 1), draw(4, 2)
        gw, gb = tg.asarray(w), tg.asarray(b)
        mean, var = tg.asarray(w), tg.asarray(np.abs(b) + 1)
        fixed = (x - columns(w, 4)) / np.sqrt(columns(np.abs(b) + 1, 4) + 1e-5)
        for got, want in (
            (nn.group_norm(g, 2, gw, gb), grouped(x, 2, w, b)),
            (nn.instance_norm(g, None, None, gw, gb), normalized(x, (2, 3), w, b)),
            (nn.batch_norm(g, None, None, gw, gb, True), normalized(x, (0, 2, 3), w, b)),
            (nn.batch_norm(g, mean, var), fixed),
            (nn.normalize(g), x / np.linalg.norm(x.astype(np.float64), axis=1, keepdims=True)),
            (nn.local_response_norm(g, 3, 0.5), response(x, 3, 0.5, 0.75, 1.0)),
        ):
            assert got.dtype == g.dtype
            assert np.allclose(await got.astype(tg.float32).numpy(), want, rtol=step, atol=1e-4)


def response(x: np.ndarray, size: int, alpha: float, beta: float, k: float) -> np.ndarray:
    wide = x.astype(np.float64)
    pad = (
        np.zeros((x.shape[0], size // 2, *x.shape[2:])),
        np.zeros((x.shape[0], (size - 1) // 2, *x.shape[2:])),
    )
    squares = np.concatenate([pad[0], wide**2, pad[1]], 1)
    sums = sum(squares[:, j : j + x.shape[1]] for j in range(size))
    return wide / (k + alpha * sums / size) ** beta


async def test_local_response_norm() -> None:
    for shape, size in product(((2, 7, 5), (1, 6, 4, 5), (2, 3, 2, 3, 4)), (1, 2, 3, 5, 9)):
        x = draw(shape, size)
        got = await nn.local_response_norm(tg.asarray(x), size, 0.7, 0.6, 1.5).numpy()
        assert np.allclose(got, response(x, size, 0.7, 0.6, 1.5), rtol=3e-6, atol=1e-7)
        got = await nn.local_response_norm(tg.asarray(x), size).numpy()
        assert np.allclose(got, response(x, size, 1e-4, 0.75, 1.0), rtol=3e-6, atol=1e-7)


@pytest.mark.limits
@pytest.mark.parametrize("p", [2, 1, 3, 0.5, np.inf])
async def test_normalize(p: float) -> None:
    x = draw((3, 5, 40), 7)
    x[1, :, 3] = 0
    g = tg.asarray(x)
    for dim in (0, 1, 2, -1, (1, 2)):
        wide = np.abs(x.astype(np.float64))
        size = wide.max(dim, keepdims=True) if p == np.inf else (wide**p).sum(dim, keepdims=True) ** (1 / p)
        for eps in (1e-12, 2.0):
            got = await nn.normalize(g, p, dim, eps).numpy()
            assert np.allclose(got, x / np.maximum(size, eps), rtol=3e-6, atol=1e-9)
    assert await nn.normalize(tg.asarray([3.0, 4.0]), dim=0).tolist() == pytest.approx([0.6, 0.8])
    tiny = np.full((1, 4), 1e-15, np.float32)
    assert np.allclose(await nn.normalize(tg.asarray(tiny)).numpy(), 1e-3, rtol=1e-5)


async def test_normalize_in_each_form(form: str) -> None:
    for shape, dim in (((3, 40), 1), ((2, 20_001), 1), ((7, 33), 0)):
        x = draw(shape, 8)
        got = await nn.normalize(tg.asarray(x), dim=dim).numpy()
        assert np.allclose(got, x / np.linalg.norm(x.astype(np.float64), axis=dim, keepdims=True), rtol=2e-6)


async def test_values_that_are_not_finite() -> None:
    x = draw((2, 4, 6))
    x[0, 1, 2], x[1, 3, 1] = np.nan, np.inf
    g = tg.asarray(x)
    group = await nn.group_norm(g, 2).numpy()
    assert np.isnan(group[0, :2]).all() and np.isnan(group[1, 2:]).all()
    assert np.isfinite(group[0, 2:]).all() and np.isfinite(group[1, :2]).all()
    batch = await nn.batch_norm(g, tg.zeros(4), tg.ones(4)).numpy()
    assert np.isnan(batch[0, 1, 2]) and np.isposinf(batch[1, 3, 1]) and np.isfinite(batch).sum() == x.size - 2
    unit = await nn.normalize(g, dim=2).numpy()
    assert np.isnan(unit[0, 1]).all() and np.isnan(unit[1, 3, 1]) and (np.delete(unit[1, 3], 1) == 0).all()


async def test_views_and_host_operands() -> None:
    x = draw((5, 6, 8, 7))
    a, g = x.transpose(3, 1, 0, 2)[::2, ::-1], tg.asarray(x).transpose(3, 1, 0, 2)[::2, ::-1]
    w, b = draw(6, 1), draw(6, 2)
    near(await nn.group_norm(g, 3, w, b).numpy(), grouped(np.ascontiguousarray(a), 3, w, b), x, 4)
    near(await nn.instance_norm(g, None, None, w, b).numpy(), normalized(a, (2, 3), w, b), x, 4)
    near(await nn.batch_norm(g, None, None, w, b, True).numpy(), normalized(a, (0, 2, 3), w, b), x, 4)
    got = await nn.local_response_norm(g, 3, 0.5).numpy()
    assert np.allclose(got, response(a, 3, 0.5, 0.75, 1), rtol=3e-6, atol=1e-7)
    got = await (nn.relu(nn.group_norm(g * 2.0, 2)) + 1.0).numpy()
    assert np.allclose(got, np.maximum(grouped(np.ascontiguousarray(a) * 2, 2, None, None), 0) + 1, atol=1e-5)
    whole = tg.arange(24).reshape(1, 4, 6)
    assert (await nn.group_norm(whole, 2).numpy()).dtype == np.float32


async def test_launches() -> None:
    """One each but for statistics over samples; what follows batch_norm joins its launch."""
    counters = tg.device().counters
    g = tg.asarray(draw((2, 6, 8, 9)))
    v = [tg.asarray(np.abs(draw(6, k)) + 1) for k in range(4)]
    await tg.synchronize()
    calls = {
        "batch": (1, lambda: nn.relu(nn.batch_norm(g, *v))),
        "training": (3, lambda: nn.batch_norm(g, None, None, v[2], v[3], True)),
        "group": (1, lambda: nn.group_norm(g, 2, v[2], v[3])),
        "instance": (1, lambda: nn.instance_norm(g, None, None, v[2], v[3])),
        "response": (1, lambda: nn.local_response_norm(g, 3)),
        "normalize": (1, lambda: nn.normalize(g)),
    }
    for name, (most, call) in calls.items():
        before = counters.launches
        await call().numpy()
        assert counters.launches - before == most, name
    large = tg.zeros((4, 8, 96, 96)) + 1.5
    await large[0, 0, 0, :1].numpy()
    eight = [tg.ones(8), tg.ones(8), tg.ones(8)]
    want = await nn.batch_norm(large, *eight)[0, 0, 0, :2].numpy()
    assert np.allclose(want, 0.5, atol=1e-5)


async def test_new_shapes_compile_little() -> None:
    before = tg.device().counters.pipelines
    made = []
    for n, groups, s in product((1, 2, 3), (1, 2, 3), range(1, 12)):
        g = tg.zeros((n, 6, s)) + 1.5
        made += [nn.group_norm(g, groups), nn.local_response_norm(g, 1 + s % 4)]
    await tg.fetch(*made)
    assert tg.device().counters.pipelines - before <= 7


async def test_empty() -> None:
    for shape in ((0, 4, 3), (2, 4, 0)):
        g = tg.ones(shape)
        for out in (
            nn.batch_norm(g, tg.ones(4), tg.ones(4)),
            nn.batch_norm(g, None, None, training=True),
            nn.group_norm(g, 2),
            nn.instance_norm(g),
            nn.local_response_norm(g, 3),
            nn.normalize(g),
        ):
            assert (await out.numpy()).shape == shape


async def test_wrong_arguments() -> None:
    g, kept = tg.ones((2, 4, 3)), tg.zeros(4)
    for call, error, text in [
        (lambda: nn.batch_norm(g, None, None), ValueError, "running_mean and running_var, or training"),
        (
            lambda: nn.batch_norm(g, tg.ones(3), tg.ones(4)),
            ValueError,
            r"running_mean must be 4 real.*\(3,\)",
        ),
        (lambda: nn.batch_norm(g, tg.ones(4), tg.ones(4), tg.ones((4, 1))), ValueError, "weight must be 4"),
        (lambda: nn.batch_norm(tg.ones(4), tg.ones(4), tg.ones(4)), ValueError, r"at least 2 axes.*\(4,\)"),
        (
            lambda: nn.batch_norm(tg.ones((1, 4)), None, None, training=True),
            ValueError,
            "more than one value",
        ),
        (lambda: nn.batch_norm(g, np.ones(4), None, training=True), TypeError, "running_mean is assigned to"),
        (lambda: nn.batch_norm(g.astype(tg.complex64), tg.ones(4), tg.ones(4)), TypeError, "complex64"),
        (lambda: nn.group_norm(g, 3), ValueError, r"4 channels \(of the shape \(2, 4, 3\)\) are not 3 equal"),
        (lambda: nn.group_norm(g, 2, bias=tg.ones(2)), ValueError, "bias must be 4"),
        (lambda: nn.instance_norm(tg.ones((2, 4, 1))), ValueError, "more than one place"),
        (lambda: nn.instance_norm(tg.ones((2, 4))), ValueError, "at least 3 axes"),
        (lambda: nn.local_response_norm(tg.ones((2, 4)), 3), ValueError, "at least 3 axes"),
        (lambda: nn.local_response_norm(g, 0), ValueError, "size must be at least 1"),
        (lambda: nn.local_response_norm(g, 1.5), TypeError, "size must be an int"),
        (lambda: nn.local_response_norm(g, 3, 1j), TypeError, "alpha must be a number, not 1j"),
        (lambda: nn.group_norm(g, np.float32(2)), TypeError, "num_groups must be an int"),
        (lambda: nn.group_norm(g, 2, eps=None), TypeError, "group_norm: eps must be a number, not None"),
        (lambda: nn.layer_norm(g, 3, eps="x"), TypeError, "layer_norm: eps must be a number"),
        (lambda: nn.rms_norm(g, 3, eps=(1, 2)), TypeError, "rms_norm: eps must be a number"),
        (lambda: nn.normalize(g, eps=None), TypeError, "normalize: eps must be a number"),
        (lambda: nn.batch_norm(g, kept, kept, training=True, eps=None), TypeError, "batch_norm: eps must be"),
        (lambda: nn.instance_norm(g, kept, kept, eps="x"), TypeError, "instance_norm: eps must be"),
        (lambda: nn.normalize(tg.ones(3)), IndexError, "normalize: axis 1"),
    ]:
        with pytest.raises(error, match=text):
            call()
    assert await kept.tolist() == [0] * 4  # what was refused assigned nothing
