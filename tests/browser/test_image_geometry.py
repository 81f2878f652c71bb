"""Splines and maps of tg.image against B-splines in float64 whose coefficients are solved for. Runs in the tab.

Tolerance: 4e-6 times the greatest coefficient for orders up to 3, 1e-5 above; places are float32's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from imaged import SPLINES, coefficients, draw, sampled

import tabgpu as tg
from tabgpu import engine, image


def near(got: Any, want: Any, order: int, top: float = 8.0) -> None:
    assert got.shape == want.shape and got.dtype == np.float32
    assert np.abs(got - want).max(initial=0) <= (4e-6 if order < 4 else 1e-5) * top, np.abs(got - want).max()


def grid(shape: Any, rows: Any, offset: Any) -> Any:
    """Places of an affine map."""
    o = np.indices(shape).reshape(len(shape), -1)
    return (np.array(rows) @ o + np.array(offset)[:, None]).reshape(-1, *shape)


@pytest.mark.parametrize("order", range(6))
async def test_spline_filter(order: int) -> None:
    x = draw((11, 14), order)
    g = tg.asarray(x)
    for mode in ("mirror", "reflect", "grid-wrap"):
        got = await image.spline_filter1d(g, order, 0, mode=mode).numpy()
        near(got, coefficients(x.astype(np.float64), order, 0, mode), order)
        if order > 1:
            both = coefficients(coefficients(x.astype(np.float64), order, 0, mode), order, 1, mode)
            near(await image.spline_filter(g, order, mode=mode).numpy(), both, order, 30.0)


@pytest.mark.limits
@pytest.mark.parametrize("order", [0, 1, 2, 3, 5])
async def test_map_coordinates(order: int) -> None:
    """One to three axes, every mode that goes on exactly, far outside too; views."""
    rng = np.random.default_rng(order)
    for shape, places in (((19,), (1, 40)), ((11, 14), (2, 5, 9)), ((6, 7, 8), (3, 20))):
        x = draw(shape, order)
        c = (rng.random(places) * 34 - 10).astype(np.float32)
        for mode in SPLINES:
            if len(shape) == 3 and mode not in ("constant", "reflect"):
                continue
            got = await image.map_coordinates(tg.asarray(x), c, order=order, mode=mode, cval=0.5).numpy()
            near(got, sampled(x, c, order, mode, 0.5), order, 30.0)
    x = draw((11, 14), 9)
    c = (rng.random((2, 30)) * 9).astype(np.float32)
    got = await image.map_coordinates(
        tg.asarray(x).T[::-1], tg.asarray(c), order=order, prefilter=False
    ).numpy()
    near(got, sampled(x.T[::-1], c, order, "constant", 0, False), order)


async def test_affine_shift_zoom_rotate() -> None:
    """What each says about places: against the same places given one by one."""
    x = draw((13, 17), 1)
    g = tg.asarray(x)
    rows, offset = [[0.9137, 0.2319], [-0.3119, 1.1331]], [1.3717, -2.1131]
    for order in (0, 1, 3):
        got = await image.affine_transform(g, rows, offset, (11, 9), order=order, mode="reflect").numpy()
        near(got, sampled(x, grid((11, 9), rows, offset), order, "reflect"), order, 30.0)
        got = await image.shift(g, (2.31, -4.6), order=order, cval=2).numpy()
        near(got, sampled(x, grid(x.shape, np.eye(2), (-2.31, 4.6)), order, "constant", 2), order, 30.0)
        got = await image.zoom(g, (1.7, 0.6), order=order, mode="mirror").numpy()
        scale = np.diag([12 / 21, 16 / 9])
        if order:
            near(got, sampled(x, grid((22, 10), scale, (0, 0)), order, "mirror"), order, 30.0)
        assert got.shape == (22, 10)
        turn = np.deg2rad(33)
        cos, sin = np.cos(turn), np.sin(turn)
        got = await image.rotate(g, 33, reshape=False, order=order).numpy()
        m = np.array([[cos, sin], [-sin, cos]])
        middle = np.array([6, 8])
        near(got, sampled(x, grid(x.shape, m, middle - m @ middle), order, "constant"), order, 30.0)
    doubled = await image.zoom(g, 2, order=1, mode="reflect", grid_mode=True).numpy()
    near(doubled, sampled(x, grid((26, 34), np.eye(2) / 2, (-0.25, -0.25)), 1, "reflect"), 1)
    homogeneous = await image.affine_transform(
        g, [[0.5, 0.1, 1.4], [0, 1.2, 3]], order=1, mode="mirror"
    ).numpy()
    near(homogeneous, sampled(x, grid(x.shape, [[0.5, 0.1], [0, 1.2]], (1.4, 3)), 1, "mirror"), 1)
    row = await image.affine_transform(g, [[0.53], [1.41]], 1.1, (8,), order=1).numpy()
    near(row, sampled(x, grid((8,), [[0.53], [1.41]], (1.1, 1.1)), 1, "constant"), 1)


async def test_quarter_turns_and_whole_steps_are_exact() -> None:
    x = draw((7, 10), 2)
    g = tg.asarray(x)
    for turns in range(5):
        assert np.array_equal(await image.rotate(g, 90 * turns, order=1).numpy(), np.rot90(x, turns))
    moved = await image.shift(g, (2, -3), order=1).numpy()
    want = np.zeros_like(x)
    want[2:, :-3] = x[:-2, 3:]
    assert np.array_equal(moved, want)
    assert np.array_equal(await image.zoom(g, 1).numpy(), x)
    deep = tg.asarray(draw((4, 7, 10), 3))
    got = await image.rotate(deep, 90, axes=(1, 2), order=0).numpy()
    assert np.array_equal(got, np.rot90(await deep.numpy(), 1, axes=(2, 1)[::-1]))


async def test_places_are_exact_on_long_axes() -> None:
    """Ends of a zoom are on the ends, and a slow map keeps its place after 30,000 steps."""
    x = np.arange(30000, dtype=np.float32)
    got = await image.zoom(tg.asarray(x), 2.1, order=1).numpy()
    want = np.arange(63000) * (29999 / 62999)
    assert got[-1] == 29999 and np.abs(got - want).max() <= 29999 * 2.0**-23
    slow = await image.affine_transform(tg.asarray(x), [1 / 3], order=1).numpy()
    assert np.abs(slow - x.astype(np.float64) / 3).max() <= 1e4 * 2.0**-23


async def test_dtypes_and_complex() -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(0, 255, (9, 8, 3)).astype(np.uint8)
    got = await image.zoom(tg.asarray(x), (2, 1, 1), order=1).numpy()
    wide = sampled(x, np.stack([*grid((18, 8, 3), np.diag([8 / 17, 1, 1]), (0, 0, 0))]), 1, "reflect")
    assert got.dtype == np.uint8 and np.abs(got - wide).max() <= 0.5 + 1e-3
    z = (draw((6, 7), 5) + 1j * draw((6, 7), 6)).astype(np.complex64)
    got = await image.shift(tg.asarray(z), (0.5, 1.25), order=1, cval=2j).numpy()
    places = grid(z.shape, np.eye(2), (-0.5, -1.25))
    want = sampled(z.real, places, 1, "constant", 0) + 1j * sampled(z.imag, places, 1, "constant", 2)
    assert got.dtype == np.complex64 and np.abs(got - want).max() < 1e-5
    nowhere = await image.map_coordinates(tg.asarray(z.real), [[np.nan, 1], [0, 1]], order=1, cval=7).numpy()
    assert nowhere[0] == 7 and nowhere[1] == z.real[1, 1]


async def test_a_new_map_compiles_nothing() -> None:
    gpu = engine.device()
    g = tg.asarray(draw((20, 21)))
    await image.rotate(g, 10, order=1).numpy()
    before = gpu.counters.pipelines
    for k in range(20):
        await image.rotate(
            g[: 9 + k % 8, k % 5 :], 11 * k, order=1, mode=list(SPLINES)[k % 5], cval=k
        ).numpy()
    assert gpu.counters.pipelines == before


async def test_bad_arguments() -> None:
    g = tg.asarray(draw((4, 5)))
    for call, error, said in (
        (lambda: image.shift(g, 1, order=6), ValueError, "order"),
        (lambda: image.shift(g, (1, 2, 3)), ValueError, "shift"),
        (lambda: image.zoom(g, 2, mode="up"), ValueError, "mode"),
        (lambda: image.rotate(g, 3, axes=(1, 1)), ValueError, "one axis"),
        (lambda: image.rotate(g[0], 3), ValueError, "two axes"),
        (lambda: image.affine_transform(g, np.ones((3, 2))), ValueError, "2"),
        (lambda: image.affine_transform(g, [[1, 0, 0], [0, 1, 0], [1, 0, 1]]), ValueError, "homogeneous"),
        (lambda: image.affine_transform(g, tg.ones((2, 2))), TypeError, "host"),
        (lambda: image.map_coordinates(g, np.zeros((3, 4))), ValueError, "(3, 4)"),
        (lambda: image.map_coordinates(g, np.zeros((2, 3), np.complex64)), TypeError, "complex"),
        (lambda: image.spline_filter(g, 1), ValueError, "order"),
    ):
        with pytest.raises(error) as caught:
            call()
        assert said in str(caught.value), caught.value
    assert image.zoom(g, 0.01).shape == (0, 0)
    assert (await image.shift(tg.zeros((0, 3)), 1.0).numpy()).shape == (0, 3)
