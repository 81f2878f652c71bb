"""Distance transforms of tg.image against all pairs of places. Runs in the tab."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from imaged import draw

import tabgpu as tg
from tabgpu import engine, image


def nearest(x: Any, scale: Any, metric: str) -> Any:
    """Each place's distance to the nearest zero, by looking at all."""
    zeros = np.argwhere(x == 0)
    apart = np.abs(np.argwhere(x == x)[:, None] - zeros[None]) * np.array(scale)
    return length(apart, metric, -1).min(-1).reshape(x.shape)


def length(d: Any, metric: str, axis: int) -> Any:
    if metric == "euclidean":
        return np.sqrt((d**2).sum(axis))
    return d.sum(axis) if metric == "taxicab" else d.max(axis)


@pytest.mark.limits
@pytest.mark.parametrize("shape", [(40,), (13, 21), (5, 6, 7), (1, 9), (1, 1), (33, 2)])
async def test_exact_distances_and_places(shape: Any) -> None:
    for seed, level in ((1, 0.5), (2, -1.5), (3, -2.2)):
        x = (draw(shape, seed) > level).astype(np.float32)
        x.flat[seed % x.size] = 0
        g = tg.asarray(x)
        scale = np.linspace(0.5, 1.7, len(shape))
        for metric, made, factor in (
            ("euclidean", image.distance_transform_edt(g, return_indices=True), 1),
            ("euclidean", image.distance_transform_edt(g, tuple(scale), True, True), scale),
            ("taxicab", image.distance_transform_cdt(g, "taxicab", return_indices=True), 1),
            ("chessboard", image.distance_transform_cdt(g, return_indices=True), 1),
            ("taxicab", image.distance_transform_bf(g, "cityblock", return_indices=True), 1),
        ):
            got, places = await tg.fetch(*made)
            want = nearest(x, np.broadcast_to(factor, len(shape)), metric)
            if metric == "euclidean":
                assert got.dtype == np.float32
                tight = 2.0**-23 if np.isscalar(factor) else 2.0**-21
                assert (np.abs(got - want) <= tight * want).all()
            else:
                assert got.dtype == np.int32 and np.array_equal(got, want)
            assert places.dtype == np.int32 and (x[tuple(places)] == 0).all()
            each = np.reshape(np.broadcast_to(factor, len(shape)), (-1,) + (1,) * len(shape))
            there = length(np.abs(places - np.indices(shape)) * each, metric, 0)
            assert np.allclose(there, want, rtol=1e-5)


async def test_nothing_to_go_to_outputs_and_launches() -> None:
    ones = tg.ones((4, 5))
    far, places = await tg.fetch(*image.distance_transform_edt(ones, return_indices=True))
    assert np.isposinf(far).all() and (places == -1).all()
    assert np.isposinf(await image.distance_transform_edt(ones, 0.5).numpy()).all()
    assert (await image.distance_transform_cdt(ones).numpy() == -1).all()
    assert (await image.distance_transform_edt(tg.zeros((0, 3))).numpy()).shape == (0, 3)
    x = draw((30, 31)) > -1
    out = tg.zeros(x.shape)
    assert image.distance_transform_edt(tg.asarray(x), distances=out) is out
    assert np.allclose(await out.numpy(), nearest(x, (1, 1), "euclidean"))
    gpu = engine.device()
    g = tg.asarray(x)
    await tg.synchronize()
    before, reads = gpu.counters.launches, gpu.counters.reads
    made = image.distance_transform_edt(g)
    assert gpu.counters.reads == reads
    await made.numpy()
    assert gpu.counters.launches - before <= 14
    for call, said in (
        (lambda: image.distance_transform_cdt(g, "euclidean"), "edt"),
        (lambda: image.distance_transform_bf(g, "up"), "metric"),
        (lambda: image.distance_transform_edt(g, return_distances=False), "at least one"),
        (lambda: image.distance_transform_edt(g, distances=tg.zeros((2, 2))), "(30, 31)"),
        (lambda: image.distance_transform_cdt(g, np.ones((2, 2))), "structure"),
    ):
        with pytest.raises(ValueError) as caught:
            call()
        assert said in str(caught.value), caught.value
