"""tg.interp and tg.interpolate against NumPy in float64; the wide comparison beside SciPy is in
tests/sci/test_interpolate.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tabgpu as tg
from tabgpu import interpolate

rng = np.random.default_rng(99)


def knots(n: int) -> np.ndarray:
    return np.cumsum(rng.uniform(0.2, 1, n)).astype(np.float32)


@pytest.mark.limits
@pytest.mark.parametrize("n", [1, 2, 3, 50, 1000])
async def test_interp(n: int) -> None:
    """Ends, numbers for outside, complex values, infinities, exact knots, views; within 4 eps of the larger
    neighbour."""
    xp, fp = knots(n), rng.normal(size=n).astype(np.float32)
    x = np.concatenate([rng.uniform(-1, xp[-1] + 1, 300), xp, [np.inf, -np.inf]]).astype(np.float32)
    z = (fp + 1j * fp[::-1]).astype(np.complex64)
    d = x.astype(float)
    cases = [
        (tg.interp(x, xp, fp), np.interp(d, xp, fp)),
        (tg.interp(x, xp, fp, left=-7, right=9.5), np.interp(d, xp, fp, left=-7, right=9.5)),
        (tg.interp(x, xp, z, left=1j), np.interp(d, xp, z, left=1j)),
        (tg.interp(tg.asarray(x[:20]).reshape(4, 5).T, xp, fp), np.interp(d[:20].reshape(4, 5).T, xp, fp)),
        (tg.interp(0.5, xp, fp), np.interp(0.5, xp, fp)),
    ]
    for (_, want), got in zip(cases, await tg.fetch(*[c[0] for c in cases]), strict=True):
        assert got.shape == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=0, atol=4e-6)
    exact = await tg.interp(xp, xp, fp).numpy()
    np.testing.assert_array_equal(exact, fp)
    assert np.isnan(await tg.interp(np.float32([np.nan]), xp, fp).numpy()).all()


async def test_interp_of_periods() -> None:
    xp, fp = rng.permutation(knots(30)), rng.normal(size=30).astype(np.float32)
    x = rng.uniform(-50, 50, 200).astype(np.float32)
    for period in (25.0, -25.0):
        got = await tg.interp(x, xp, fp, period=period).numpy()
        np.testing.assert_allclose(got, np.interp(x.astype(float), xp, fp, period=period), atol=1e-4)
    with pytest.raises(ValueError, match="non-zero"):
        tg.interp(x, xp, fp, period=0)


async def test_interp_is_one_launch_and_compiles_once() -> None:
    xp, fp = tg.asarray(knots(9)), tg.asarray(knots(9))
    x = tg.asarray(knots(40))
    await tg.interp(x, xp, fp).numpy()
    before = tg.memory()
    await tg.interp(x, xp, fp, left=3.0).numpy()
    await tg.interp(x[:7], xp[:5], fp[:5]).numpy()
    after = tg.memory()
    assert after["launches"] - before["launches"] <= 2 + 3  # and views that are packed
    await tg.interp(x[:8], xp[:6], fp[:6]).numpy()
    assert tg.memory()["pipelines"] == after["pipelines"]


def test_interp_refuses() -> None:
    x = np.float32([1, 2])
    for bad, words in (
        ((x, x, x[:1]), "same length"),
        ((x, tg.zeros((0,)), tg.zeros((0,))), "empty"),
        ((x, np.ones((2, 2), np.float32), x), "1-D"),
    ):
        with pytest.raises(ValueError, match=words):
            tg.interp(*bad)
    assert tg.interp(tg.zeros((0, 2)), x, x).shape == (0, 2)


def hermite(x: Any, y: Any, s: Any, at: Any) -> np.ndarray:
    j = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    h = x[j + 1] - x[j]
    t = (at - x[j]) / h
    return (
        (1 + 2 * t) * (1 - t) ** 2 * y[j]
        + t * (1 - t) ** 2 * h * s[j]
        + t**2 * (3 - 2 * t) * y[j + 1]
        + t**2 * (t - 1) * h * s[j + 1]
    )


def slopes(x: Any, y: Any, bc: str) -> np.ndarray:
    """Of a cubic spline, by a dense solve in float64."""
    n, h = len(x), np.diff(x)
    m = np.diff(y) / h
    a, d = np.zeros((n, n)), np.zeros(n)
    for i in range(1, n - 1):
        a[i, i - 1 : i + 2] = h[i], 2 * (h[i - 1] + h[i]), h[i - 1]
        d[i] = 3 * (h[i] * m[i - 1] + h[i - 1] * m[i])
    if bc == "clamped":
        a[0, 0] = a[-1, -1] = 1
    elif bc == "natural":
        a[0, :2], d[0] = (2, 1), 3 * m[0]
        a[-1, -2:], d[-1] = (1, 2), 3 * m[-1]
    else:
        a[0, :2] = h[1], h[0] + h[1]
        d[0] = ((h[0] + 2 * (h[0] + h[1])) * h[1] * m[0] + h[0] ** 2 * m[1]) / (h[0] + h[1])
        a[-1, -2:] = h[-1] + h[-2], h[-2]
        d[-1] = (h[-1] ** 2 * m[-2] + (2 * (h[-1] + h[-2]) + h[-1]) * h[-2] * m[-1]) / (h[-1] + h[-2])
    return np.linalg.solve(a, d)


@pytest.mark.limits
@pytest.mark.parametrize("bc", ["not-a-knot", "natural", "clamped"])
async def test_cubic_splines(bc: str) -> None:
    for n in (4, 5, 9, 100, 700):
        x = knots(n)
        y = rng.normal(size=(2, n)).astype(np.float32)
        at = rng.uniform(x[0], x[-1], 300).astype(np.float32)
        spline = interpolate.CubicSpline(x, y, axis=1, bc_type=bc)
        got, knot = await tg.fetch(spline(at), spline(x))
        for k in range(2):
            want = hermite(
                x.astype(float),
                y[k].astype(float),
                slopes(x.astype(float), y[k].astype(float), bc),
                at.astype(float),
            )
            np.testing.assert_allclose(got[k], want, atol=2e-4 * np.abs(want).max())
        np.testing.assert_allclose(knot, y, atol=1e-4)


async def test_splines_derive_and_integrate() -> None:
    x = np.linspace(0, 2 * np.pi, 60).astype(np.float32)
    y = np.sin(x).astype(np.float32)
    y[-1] = y[0]
    at = np.linspace(0.3, 5.9, 50).astype(np.float32)
    s = interpolate.CubicSpline(x, y)
    p = interpolate.CubicSpline(x, y, bc_type="periodic")
    got = await tg.fetch(
        s(at),
        s(at, 1),
        s(at, 2),
        s.antiderivative()(at),
        s.integrate(0.5, 3.0),
        p(at + np.float32(4 * np.pi)),
    )
    want = [np.sin(at), np.cos(at), -np.sin(at), 1 - np.cos(at), np.cos(0.5) - np.cos(3.0), np.sin(at)]
    for g, w, tolerance in zip(got, want, (1e-5, 1e-3, 3e-2, 1e-5, 1e-5, 1e-5), strict=True):
        np.testing.assert_allclose(g, w, atol=tolerance)
    outside = await interpolate.CubicSpline(x, y, extrapolate=False)(np.float32([-1, 1, 9])).numpy()
    assert np.isnan(outside).tolist() == [True, False, True]
    pieces = interpolate.PPoly(np.float32([[1, 2], [0, 1]]), np.float32([0, 1, 3]))
    np.testing.assert_allclose(await pieces(np.float32([0.5, 2, 4])).numpy(), [0.5, 3, 7])
    assert (await pieces.derivative(2)(np.float32([0.5])).numpy()).tolist() == [0]


async def test_shape_preserving_interpolators() -> None:
    x = knots(40)
    y = np.sort(rng.normal(size=40)).astype(np.float32)
    at = np.linspace(x[0], x[-1], 2000).astype(np.float32)
    line, knot = await tg.fetch(
        interpolate.PchipInterpolator(x, y)(at), interpolate.pchip_interpolate(x, y, x)
    )
    assert (np.diff(line) >= -1e-6).all()
    np.testing.assert_allclose(knot, y, atol=1e-5)
    akima = interpolate.Akima1DInterpolator(x, y)
    np.testing.assert_allclose(await akima(x).numpy(), y, atol=1e-5)
    assert np.isnan(await akima(np.float32([-5])).numpy()).all()
    h = interpolate.CubicHermiteSpline(x, y, y)
    want = hermite(x.astype(float), y.astype(float), y.astype(float), at.astype(float))
    np.testing.assert_allclose(await h(at).numpy(), want, atol=1e-4)


@pytest.mark.parametrize("kind", ["linear", "nearest", "nearest-up", "previous", "zero", "next", "cubic"])
async def test_interp1d(kind: str) -> None:
    x = np.arange(7, dtype=np.float32)[::-1].copy()
    y = rng.normal(size=(2, 7)).astype(np.float32)
    at = np.float32([0, 0.25, 0.5, 2.5, 2.75, 4, 5.5, 6])
    got = await interpolate.interp1d(x, y, kind)(at).numpy()
    line = y[:, ::-1].astype(float)
    index = {
        "nearest": np.ceil(at - 0.5), "nearest-up": np.floor(at + 0.5), "previous": np.floor(at), "zero": np.floor(at),
        "next": np.ceil(at),
    }.get(kind)  # fmt: skip
    if index is not None:
        np.testing.assert_array_equal(got, line[:, index.astype(int)].astype(np.float32))
    elif kind == "linear":
        np.testing.assert_allclose(got, [np.interp(at, np.arange(7), row) for row in line], atol=1e-6)
    else:
        grid = np.arange(7.0)
        want = [hermite(grid, row, slopes(grid, row, "not-a-knot"), at.astype(float)) for row in line]
        np.testing.assert_allclose(got, want, atol=1e-5)
    filled = interpolate.interp1d(x, y[0], kind, fill_value=(-1.0, 5.0))
    np.testing.assert_array_equal((await filled(np.float32([-1, 7])).numpy()), [-1, 5])


async def test_values_outside_raise_at_the_read() -> None:
    x, y = np.float32([0, 1, 2]), np.float32([3, 4, 5])
    with pytest.raises(ValueError, match="above the interpolation range"):
        await interpolate.interp1d(x, y)(np.float32([2.5])).numpy()
    with pytest.raises(ValueError, match="below"):
        await interpolate.interpn((x, x), np.ones((3, 3), np.float32), np.float32([[1, -1]])).numpy()
    with pytest.raises(ValueError, match="strictly increasing"):
        interpolate.CubicSpline([0, 0, 1], y)
    with pytest.raises(ValueError, match="strictly increasing"):
        await interpolate.CubicSpline(tg.asarray([0.0, 0.0, 1.0]), y)(np.float32([0.5])).numpy()
    with pytest.raises(ValueError, match="kind"):
        interpolate.interp1d(x, y, "quadratic")
    with pytest.raises(ValueError, match="bc_type|boundary"):
        interpolate.CubicSpline(x, y, bc_type="free")


@pytest.mark.limits
@pytest.mark.parametrize("sizes", [(5,), (4, 7), (3, 4, 5), (2, 3, 2, 3)], ids=str)
async def test_grids(sizes: tuple[int, ...]) -> None:
    """Multilinear functions are met exactly; the nearest point by all distances along each axis."""
    axes = [knots(n) for n in sizes]
    mesh = np.meshgrid(*axes, indexing="ij")

    def f(points: Any) -> Any:
        product = 1.0
        for k, p in enumerate(points):
            product = product * (0.5 * p + k)
        return product

    table = np.stack([f(mesh), mesh[0]], axis=-1).astype(np.float32)
    at = np.stack([rng.uniform(a[0], a[-1], (6, 5)) for a in axes], axis=-1).astype(np.float32)
    line = interpolate.RegularGridInterpolator(axes, table)
    points = [at[..., k].astype(float) for k in range(len(sizes))]
    index = tuple(np.abs(a[:, None, None] - p).argmin(0) for a, p in zip(axes, points, strict=True))
    got, nearest, wild = await tg.fetch(
        line(at), line(tuple(at[..., k] for k in range(len(sizes))), "nearest"),
        interpolate.interpn(axes, table, at + 2, bounds_error=False, fill_value=None),
    )  # fmt: skip
    want = np.stack([f(points), points[0]], axis=-1)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5 * np.abs(table).max())
    np.testing.assert_array_equal(nearest, table[index])
    np.testing.assert_allclose(wild[..., 1], points[0] + 2, rtol=2e-3)
    outside = await interpolate.interpn(axes, table, at - 50, bounds_error=False).numpy()
    assert np.isnan(outside).all()


async def test_scattered_points() -> None:
    p, v = rng.normal(size=(200, 3)).astype(np.float32), rng.normal(size=(200, 2)).astype(np.float32)
    q = rng.normal(size=(7, 11, 3)).astype(np.float32)
    got = await interpolate.griddata(p, v, q, "nearest").numpy()
    distance = ((p[:, None, None].astype(float) - q) ** 2).sum(-1)
    np.testing.assert_array_equal(got, v[distance.argmin(0)])
    x = rng.permutation(knots(30))
    line = await interpolate.griddata(x, v[:30, 0], np.float32([3, 4, -9])).numpy()
    order = np.argsort(x)
    np.testing.assert_allclose(line[:2], np.interp([3, 4], x[order], v[order, 0]), atol=1e-5)
    assert np.isnan(line[2])
    with pytest.raises(ValueError, match="RegularGridInterpolator"):
        interpolate.griddata(p, v, q, "linear")


async def test_peaks() -> None:
    """RM-peaks, RM-peaks_xy: the surface on its own grid and at given points."""

    def surface(x: Any, y: Any) -> Any:
        middle = (x / 5 - x**3 - y**5) * np.exp(-(x**2) - y**2)
        return (
            3 * (1 - x) ** 2 * np.exp(-(x**2) - (y + 1) ** 2)
            - 10 * middle
            - np.exp(-((x + 1) ** 2) - y**2) / 3
        )

    line = np.linspace(-3, 3, 33)
    got, small, points = await tg.fetch(
        tg.peaks(33), tg.peaks(1), tg.peaks(np.float32([0.5, -1]), np.float32([[1], [2]]))
    )
    np.testing.assert_allclose(got, surface(*np.meshgrid(line, line)), atol=2e-5)
    np.testing.assert_allclose(points, surface(np.array([0.5, -1]), np.array([[1], [2]])), atol=1e-5)
    assert small.shape == (1, 1) and tg.peaks(0).shape == (0, 0)
    with pytest.raises(ValueError, match="negative"):
        tg.peaks(-1)
