"""tg.interpolate beside scipy.interpolate: boundary conditions, derivatives, kinds, grids, over uneven knots."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.interpolate as si

from tabgpu import interpolate

rng = np.random.default_rng(7)
pytestmark = pytest.mark.filterwarnings("ignore")


def near(got: Any, want: Any, tolerance: float, label: Any = "") -> None:
    """Relative to the greatest value."""
    g, w = np.asarray(got), np.asarray(want)
    assert g.shape == w.shape, label
    scale = np.nanmax(np.abs(w), initial=1e-3)
    np.testing.assert_allclose(
        g / scale, w / scale, rtol=0, atol=tolerance, equal_nan=True, err_msg=str(label)
    )


def uneven(n: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.cumsum(10 ** rng.uniform(-1.5, 0.5, n)).astype(np.float32)
    return x, x.astype(float)


CONDITIONS: list[Any] = [
    "not-a-knot", "natural", "clamped", ((1, np.full(3, 0.5)), (2, np.full(3, -1.0))),
    ("not-a-knot", (1, np.full(3, 2.0))), ("natural", "not-a-knot"), ((2, np.array([1.0, 2, 3])), "clamped"),
]  # fmt: skip


@pytest.mark.parametrize("n", [2, 3, 4, 5, 9, 60, 500])
def test_splines(n: int) -> None:
    x, d = uneven(n)
    y = rng.normal(size=(n, 3)).astype(np.float32)
    e = y.astype(float)
    at = rng.uniform(x[0] - 0.1, x[-1] + 0.1, (4, 30)).astype(np.float32)
    wide = at.astype(float)
    for condition in CONDITIONS:
        got, want = interpolate.CubicSpline(x, y, bc_type=condition), si.CubicSpline(d, e, bc_type=condition)
        for nu in (0, 1, 2) if n > 2 else (0,):
            near(got(at, nu), want(wide, nu), 3e-4, (condition, nu))
        near(got.integrate(x[0], x[-1]), want.integrate(d[0], d[-1]), 1e-3, condition)
    y[-1] = y[0]
    got, want = (
        interpolate.CubicSpline(x, y, bc_type="periodic"),
        si.CubicSpline(d, y.astype(float), bc_type="periodic"),
    )
    near(got(at), want(wide), 2e-3)
    y[-1] += 1
    e = y.astype(float)
    near(interpolate.PchipInterpolator(x, y)(at), si.PchipInterpolator(d, e)(wide), 1e-3)
    for method in ("akima", "makima"):
        near(
            interpolate.Akima1DInterpolator(x, y, method=method)(at),
            si.Akima1DInterpolator(d, e, method=method)(wide),
            2e-3,
        )
    near(interpolate.CubicHermiteSpline(x, y, y[::-1])(at), si.CubicHermiteSpline(d, e, e[::-1])(wide), 1e-3)
    limited = interpolate.CubicSpline(x, y, extrapolate=False)
    near(limited(at), si.CubicSpline(d, e, extrapolate=False)(wide), 1e-3)


@pytest.mark.parametrize("kind", ["linear", "nearest", "nearest-up", "previous", "next", "cubic"])
def test_interp1d(kind: str) -> None:
    for n in (2, 3, 5, 60):
        if kind == "cubic" and n < 4:
            continue
        x, d = uneven(n)
        y = rng.normal(size=(3, n)).astype(np.float32)
        at = np.concatenate([rng.uniform(x[0] - 0.1, x[-1] + 0.1, 40), x]).astype(np.float32)
        for fill in ((-1.0, 5.0), "extrapolate", 7.0):
            options = {"kind": kind, "bounds_error": False, "fill_value": fill}
            want = si.interp1d(d[::-1], y[:, ::-1].astype(float), **options)(at.astype(float))
            near(interpolate.interp1d(x[::-1].copy(), y[:, ::-1].copy(), **options)(at), want, 1e-3, fill)


@pytest.mark.parametrize("sizes", [(5,), (4, 7), (3, 4, 5), (2, 3, 2, 3)], ids=str)
def test_grids(sizes: tuple[int, ...]) -> None:
    points = [uneven(n) for n in sizes]
    v = rng.normal(size=(*sizes, 2)).astype(np.float32)
    xi = np.stack([rng.uniform(p[0] - 0.1, p[-1] + 0.1, 50) for p, _ in points], -1).astype(np.float32)
    for method in ("linear", "nearest"):
        for fill in (np.nan, -3.0, None):
            got = interpolate.RegularGridInterpolator([p for p, _ in points], v, method, False, fill)(xi)
            wide = si.RegularGridInterpolator([p for _, p in points], v.astype(float), method, False, fill)
            near(got, wide(xi.astype(float)), 1e-3, (method, fill))


def test_scattered() -> None:
    p, v = rng.normal(size=(300, 3)).astype(np.float32), rng.normal(size=(300, 2)).astype(np.float32)
    q = rng.normal(size=(7, 11, 3)).astype(np.float32)
    near(interpolate.griddata(p, v, q, "nearest"), si.griddata(p, v, q, "nearest"), 0)
    scale = np.float32([1, 10, 100])
    near(
        interpolate.griddata(p * scale, v, q, "nearest", rescale=True),
        si.griddata(p * scale, v, q, "nearest", rescale=True),
        0,
    )
    near(
        interpolate.griddata(p[:, 0], v, q[..., 0]),
        si.griddata(p[:, 0].astype(float), v, q[..., 0].astype(float)),
        1e-3,
    )


LEFT_OUT = {
    "splines in the B-spline basis: not built; CubicSpline, PCHIP and Akima are there": set(
        "BSpline BPoly NdBSpline NdPPoly InterpolatedUnivariateSpline LSQUnivariateSpline UnivariateSpline "
        "BivariateSpline LSQBivariateSpline LSQSphereBivariateSpline RectBivariateSpline "
        "RectSphereBivariateSpline SmoothBivariateSpline SmoothSphereBivariateSpline bisplev bisplrep "
        "bispeval insert make_interp_spline make_lsq_spline make_smoothing_spline make_splprep make_splrep "
        "generate_knots spalde splantider splder splev splint splprep splrep sproot interp2d ".split()
    ),
    "through triangulations, radial functions and rational ones: not built": set(
        "CloughTocher2DInterpolator LinearNDInterpolator Rbf RBFInterpolator AAA FloaterHormannInterpolator "
        "BarycentricInterpolator KroghInterpolator barycentric_interpolate krogh_interpolate "
        "approximate_taylor_polynomial lagrange pade ".split()
    ),
    "no functions": {"test"},
}


def test_every_name_of_scipy_is_here_or_left_out() -> None:
    left = set().union(*LEFT_OUT.values())
    public = {name for name in dir(si) if name[0] != "_" and callable(getattr(si, name))}
    assert sorted(public - set(interpolate.__all__) - left) == []
