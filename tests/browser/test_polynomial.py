"""Polynomials of the top level and of tg.polynomial against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.polynomial import polynomial as npp

import tabgpu as tg
from tabgpu import polynomial as tgp

EPS = 2.0**-24
rng = np.random.default_rng(17)


def draw(n: Any, complex_: bool = False) -> np.ndarray:
    x = rng.normal(size=n)
    return (x + 1j * rng.normal(size=n)).astype(np.complex64) if complex_ else x.astype(np.float32)


def wide(x: Any) -> Any:
    return x.astype(complex if x.dtype.kind == "c" else float) if isinstance(x, np.ndarray) else x


async def same(cases: list[tuple[str, Any, Any]], tolerance: float = 1e-5) -> None:
    """(label, tabgpu array, NumPy's): relative to the greatest element."""
    for (label, _, want), got in zip(cases, await tg.fetch(*[c[1] for c in cases]), strict=True):
        want = np.asarray(want)
        assert got.shape == want.shape, f"{label}: {got.shape} {want.shape}"
        scale = np.abs(want).max(initial=1.0)
        assert np.abs(got - want).max(initial=0) <= tolerance * scale, f"{label}: {got} {want}"


@pytest.mark.limits
@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("n", [1, 2, 7, 40])
async def test_arithmetic(n: int, complex_: bool) -> None:
    cases = []
    for m in (1, 2, 5, 33):
        u, v = draw(n, complex_), draw(m, complex_)
        v[0] += 3 * np.sqrt(m)
        for name in ("polyadd", "polysub", "polymul"):
            cases.append((f"{name} {n} {m}", getattr(tg, name)(u, v), getattr(np, name)(wide(u), wide(v))))
            cases.append((f"p.{name} {n} {m}", getattr(tgp, name)(u, v), _untrimmed(name, wide(u), wide(v))))
        quotient, remainder = tg.polydiv(u, v)
        want = np.polydiv(wide(u), wide(v))
        cases.append((f"quotient {n} {m}", quotient, want[0] if n >= m else np.zeros(1)))
        size = max(m - 1, 1) if n >= m else n
        cases.append((f"remainder {n} {m}", remainder, np.r_[np.zeros(size - want[1].size), want[1]]))
        back = tgp.polydiv(u[::-1].copy(), v[::-1].copy())
        cases += [
            ("ascending", back[0], np.asarray(cases[-2][2])[::-1]),
            ("rest", back[1], np.asarray(cases[-1][2])[::-1]),
        ]
    await same(cases, 2e-5)


def _untrimmed(name: str, u: Any, v: Any) -> Any:
    if name == "polymul":
        return np.convolve(u, v)
    n = max(u.size, v.size)
    a, b = (np.r_[x, np.zeros(n - x.size)] for x in (u, v))
    return a + b if name == "polyadd" else a - b


@pytest.mark.limits
async def test_values() -> None:
    """RM-polyval. |error| <= 2 n eps sum |c_k| |x|^k; any shape and layout of points, centring, empty ones."""
    for n, complex_ in ((1, False), (4, False), (25, False), (9, True)):
        p, x = draw(n, complex_), draw((6, 10))
        for view in (lambda v: v, lambda v: v[::-1, ::3], lambda v: v.T, lambda v: v[0, 0]):
            got = await tg.polyval(p, view(tg.asarray(x))).numpy()
            at = view(x).astype(float)
            bound = 2 * (n + 1) * EPS * np.polyval(np.abs(wide(p)), np.abs(at))
            assert got.shape == at.shape and (np.abs(got - np.polyval(wide(p), at)) <= bound + 1e-30).all()
    assert tg.polyval([1, 2], tg.zeros((0, 3))).shape == (0, 3)
    np.testing.assert_array_equal(await tg.polyval(np.int32([2, 1]), np.int32([3, 4])).numpy(), [7, 9])
    np.testing.assert_array_equal(await tg.polyval(np.zeros(0, np.float32), np.float32([3])).numpy(), [0])
    centred = await tg.polyval([1, 0, 2], np.float32([3, 5]), mu=(3.0, 2.0)).numpy()
    np.testing.assert_array_equal(centred, [2, 3])
    spoilt = await tg.polyval([1.0, 1.0], np.float32([np.nan, np.inf])).numpy()
    assert np.isnan(spoilt[0]) and spoilt[1] == np.inf


async def test_degrees_and_points_compile_nothing() -> None:
    await tg.polyval(draw(3), draw(10)).numpy()
    before = tg.memory()["pipelines"]
    for n in range(2, 40, 3):
        await tg.polyval(draw(n), draw(7 * n)).numpy()
    assert tg.memory()["pipelines"] == before


async def test_values_by_numpy_polynomials_rules() -> None:
    c, x = draw((5, 2, 3)), draw((2, 3))
    a, y, z = draw(4), draw(4), draw(4)
    d = draw((3, 4, 2))
    cases = [
        ("tensor", tgp.polyval(a, c), npp.polyval(wide(a), wide(c))),
        ("paired", tgp.polyval(x, c, tensor=False), npp.polyval(wide(x), wide(c), tensor=False)),
        ("spread", tgp.polyval(x[0], c, tensor=False), npp.polyval(wide(x[0]), wide(c), tensor=False)),
        ("2d", tgp.polyval2d(a, y, d), npp.polyval2d(wide(a), wide(y), wide(d))),
        ("3d", tgp.polyval3d(a, y, z, d), npp.polyval3d(wide(a), wide(y), wide(z), wide(d))),
        ("grid2d", tgp.polygrid2d(a, x[0], d), npp.polygrid2d(wide(a), wide(x[0]), wide(d))),
        ("grid3d", tgp.polygrid3d(a, y, x[0], d), npp.polygrid3d(wide(a), wide(y), wide(x[0]), wide(d))),
        ("from roots", tgp.polyvalfromroots(a, x), npp.polyvalfromroots(wide(a), wide(x))),
        ("vander", tgp.polyvander(x, 4), npp.polyvander(wide(x), 4)),
        ("vander2d", tgp.polyvander2d(a, y, [2, 3]), npp.polyvander2d(wide(a), wide(y), [2, 3])),
        (
            "vander3d",
            tgp.polyvander3d(a, y, z, [1, 2, 1]),
            npp.polyvander3d(wide(a), wide(y), wide(z), [1, 2, 1]),
        ),
        ("power", tgp.polypow(a, 5), npp.polypow(wide(a), 5)),
        ("times x", tgp.polymulx(a), npp.polymulx(wide(a))),
        ("companion", tgp.polycompanion(a), npp.polycompanion(wide(a))),
        ("line", tgp.polyline(1, 2), npp.polyline(1, 2)),
        ("roots", tgp.polyfromroots(a), npp.polyfromroots(wide(a))),
        ("der", tgp.polyder(c, 2, 2.0), npp.polyder(wide(c), 2, 2.0)),
        ("der axis", tgp.polyder(c, axis=-1), npp.polyder(wide(c), axis=-1)),
        ("der all", tgp.polyder(a, 9), np.zeros(1)),
        ("int", tgp.polyint(a, 2, [1, 2]), npp.polyint(wide(a), 2, [1, 2])),
        ("int from", tgp.polyint(c, 1, [3], 0.5, 2.0), npp.polyint(wide(c), 1, [3], 0.5, 2.0)),
        ("int axis", tgp.polyint(c, axis=1), npp.polyint(wide(c), axis=1)),
    ]
    await same(cases)
    for bad in (
        lambda: tgp.polypow(a, -1),
        lambda: tgp.polyder(a, -1),
        lambda: tgp.polyint(a, 1, [1, 2]),
        lambda: tgp.polycompanion([1.0]),
    ):
        with pytest.raises(ValueError, match="poly"):
            bad()


async def test_derivatives_and_antiderivatives() -> None:
    """RM-polyder_single, RM-polyint: orders, constants, nothing left."""
    p, z = draw(6), draw(5, True)
    cases = [(f"der {m}", tg.polyder(p, m), np.polyder(wide(p), m)) for m in range(8)]
    cases += [(f"int {m}", tg.polyint(p, m), np.polyint(wide(p), m)) for m in range(4)]
    cases += [
        ("complex", tg.polyder(z), np.polyder(wide(z))),
        ("constants", tg.polyint(p, 2, [3, 4]), np.polyint(wide(p), 2, [3, 4])),
        ("one constant", tg.polyint(p, 2, 5), np.polyint(wide(p), 2, 5)),
        ("complex integral", tg.polyint(z, 1, 2), np.polyint(wide(z), 1, 2)),
        ("strided", tg.polyder(tg.asarray(p)[::-2]), np.polyder(wide(p)[::-2])),
        ("nothing", tg.polyder(p[:0]), np.polyder(wide(p)[:0])),
        ("integral of nothing", tg.polyint(p[:0], 2, [3, 4]), np.polyint(wide(p)[:0], 2, [3, 4])),
    ]
    await same(cases)
    for f in (tg.polyder, tg.polyint):
        with pytest.raises(ValueError, match="order"):
            f(p, -1)
    with pytest.raises(ValueError, match="one axis"):
        tg.polyder(np.ones((2, 2), np.float32))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 4), (4, 1), (2, 2), (5, 3), (3, 9)])
async def test_t8_derivatives_of_products_and_quotients_are_right_aligned(n: int, m: int) -> None:
    """RM-polyder_product, RM-polyder_quotient; T8: terms of different length, a constant times a linear one."""
    u, v = draw(n), draw(m)
    if n > 2:
        u[0] = 0  # what trimming would shorten
    at = np.float32([-1.5, 0.25, 2])
    product = tg.polyder_product(u, v)
    top, bottom = tg.polyder_quotient(u, v)
    du, dv = np.polyder(wide(u)), np.polyder(wide(v))
    pu, pv, pdu, pdv = (np.polyval(c, at.astype(float)) for c in (wide(u), wide(v), du, dv))
    await same(
        [
            ("product", tg.polyval(product, at), pdu * pv + pu * pdv),
            ("numerator", tg.polyval(top, at), pdu * pv - pu * pdv),
            ("denominator", bottom, np.polymul(wide(v), wide(v))),
        ]
    )
    assert product.shape == (max(n + m - 2, 1),)


def apart(got: Any, want: Any) -> float:
    """The greatest relative distance of roots, each matched with the nearest that is left."""
    left = list(got)
    worst = 0.0
    for z in want:
        k = int(np.argmin(np.abs(np.asarray(left) - z)))
        worst = max(worst, abs(left.pop(k) - z) / max(abs(z), 1e-3))
    return worst


@pytest.mark.limits
@pytest.mark.parametrize("complex_", [False, True])
async def test_roots(complex_: bool) -> None:
    for n in (1, 2, 3, 8, 30, 64, 65, 130):
        p = draw(n + 1, complex_)
        got = await tg.roots(p).numpy()
        assert got.dtype == np.complex64 and got.shape == (n,)
        assert apart(got, np.roots(wide(p))) < 2e-5, n


async def test_roots_backward_error() -> None:
    """Ill-conditioned ones: each is a root of a polynomial whose coefficients differ by 16 n eps of themselves."""
    for p in (
        np.poly(np.arange(1, 11)),
        np.poly([1, 1, 1, 2]),
        np.poly(np.linspace(-1, 1, 20)),
        np.r_[1e-20, 1, 1e20],
    ):
        p = p.astype(np.float32)
        got = (await tg.roots(p).numpy()).astype(complex)
        value, size = np.polyval(p.astype(float), got), np.polyval(np.abs(p).astype(float), np.abs(got))
        assert (np.abs(value) <= 16 * p.size * EPS * size).all()


async def test_roots_at_zero_infinity_and_on_the_real_axis() -> None:
    got = await tg.roots(np.float32([0, 0, 1, -3, 2, 0])).numpy()
    assert np.isinf(got).sum() == 2 and (got == 0).sum() == 1
    np.testing.assert_allclose(np.sort(got[np.isfinite(got)].real), [0, 1, 2], atol=1e-6)
    assert (got[np.isfinite(got)].imag == 0).all()
    assert (await tg.roots([5.0]).numpy()).shape == (0,)
    assert (await tg.roots([3.0, 0, 0]).numpy()).tolist() == [0, 0]
    again = await tgp.polyroots(np.float32([2, -3, 1])).numpy()
    np.testing.assert_allclose(np.sort(again.real), [1, 2], rtol=1e-6)
    with pytest.raises(ValueError, match="at least one coefficient"):
        tg.roots(tg.zeros((0,)))


@pytest.mark.limits
async def test_coefficients_from_roots() -> None:
    r, z = draw(20), draw(9, True)
    matrix = draw((5, 5))
    cases = [
        ("real", tg.poly(r), np.poly(wide(r))),
        ("complex", tg.poly(z), npp.polyfromroots(wide(z))[::-1]),
        ("none", tg.poly(tg.zeros((0,))), np.ones(1)),
        ("matrix", tg.poly(matrix), np.poly(wide(matrix))),
    ]
    await same(cases, 2e-5)
    many = rng.uniform(-0.01, 0.01, 700).astype(np.float32)
    await same([("many", tg.poly(many)[:5], npp.polyfromroots(many[:].astype(float))[::-1][:5])])
    with pytest.raises(ValueError, match="1d or non-empty square"):
        tg.poly(np.ones((2, 3), np.float32))


async def test_fits() -> None:
    """RM-polyfit: degree, weights, several columns, everything that full and cov give; residuals to n eps of y."""
    x = np.linspace(-1, 3, 60).astype(np.float32)
    y = (x**3 - 2 * x + rng.normal(size=60) * 0.2).astype(np.float32)
    two = np.stack([y, 2 * y + x], axis=1)
    w = rng.uniform(0.5, 2, 60).astype(np.float32)
    d, e = x.astype(float), y.astype(float)
    full, want = tg.polyfit(x, y, 3, full=True), np.polyfit(d, e, 3, full=True)
    cov, wanted = tg.polyfit(x, y, 3, cov=True), np.polyfit(d, e, 3, cov=True)
    raw, unscaled = (
        tg.polyfit(x, y, 3, cov="unscaled", w=w),
        np.polyfit(d, e, 3, cov="unscaled", w=w.astype(float)),
    )
    columns, all_columns = tg.polyfit(x, two, 2, cov=True), np.polyfit(d, two.astype(float), 2, cov=True)
    cases = [
        ("fit", tg.polyfit(x, y, 3), want[0]),
        ("weights", tg.polyfit(x, two, 3, w=w), np.polyfit(d, two.astype(float), 3, w=w)),
    ]
    cases += [(f"full {k}", full[k], want[k]) for k in range(4)]
    cases += [("cov", cov[1], wanted[1]), ("unscaled", raw[1], unscaled[1]), ("raw", raw[0], unscaled[0])]
    cases += [("columns", columns[0], all_columns[0]), ("cov of columns", columns[1], all_columns[1])]
    cases += [
        ("some terms", tgp.polyfit(x, y, [0, 3]), npp.polyfit(d, e, [0, 3])),
        ("up", tgp.polyfit(x, y, 2), npp.polyfit(d, e, 2)),
    ]
    await same(cases, 1e-4)
    for deg in (0, 1, 6):
        got = await tg.polyfit(x, y, deg).numpy()
        best = np.polyfit(d, e, deg)
        rest, least = e - np.polyval(got.astype(float), d), e - np.polyval(best, d)
        size = np.polyval(np.abs(best), np.abs(d))
        assert np.linalg.norm(rest - least) <= 20 * 60 * EPS * np.linalg.norm(size)
    (c, mu), value = tg.polyfit(x + 100, y, 9, center=True), np.polyval(np.polyfit(d, e, 9), d)
    np.testing.assert_allclose(await tg.polyval(c, x + 100, mu=mu).numpy(), value, atol=2e-3)


async def test_fits_that_are_refused_or_not_determined() -> None:
    x = np.float32([1, 2, 3])
    with pytest.raises(ValueError, match="deg >= 0"):
        tg.polyfit(x, x, -1)
    for bad in ((np.ones((2, 2), np.float32), x, 1), (x, x[:2], 1), (tg.zeros((0,)), tg.zeros((0,)), 1)):
        with pytest.raises(TypeError):
            tg.polyfit(*bad)
    with pytest.raises(TypeError, match="weights"):
        tg.polyfit(x, x, 1, w=x[:2])
    with pytest.raises(ValueError, match="must exceed order"):
        tg.polyfit(x, x, 3, cov=True)
    through = await tg.polyfit(x, x * x, 2).numpy()
    np.testing.assert_allclose(through, [1, 0, 0], atol=2e-5)
    flat = tg.polyfit(np.float32([2, 2, 2]), x, 1, full=True)
    assert int(await flat[2].numpy()) == 1  # the rank


LEFT_OUT = {
    "cuts coefficients off by their values, which is a read": {"polytrim"},
    "constants: tg.asarray makes them": {"polydomain", "polyzero", "polyone", "polyx"},
    "a class of host objects; tg.polynomial has its functions": {"Polynomial"},
}


def test_every_name_of_numpy_is_here_or_left_out() -> None:
    left = set().union(*LEFT_OUT.values())
    assert sorted(set(npp.__all__) - set(tgp.__all__) - left) == []
    top = {n for n in dir(np) if n.startswith("poly") or n in ("roots",)} - {"poly1d", "polynomial"}
    assert sorted(n for n in top if not hasattr(tg, n)) == []
