"""tabgpu.special and the trigonometric functions against SciPy and NumPy in float64. Runs in the tab."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.special as sp
from scipy import __version__ as sp_version
from ulps import TINY, check, check_row, sweep

import tabgpu as tg
from tabgpu import special
from tabgpu.ops import elementwise
from tabgpu.ops.rows import Row

OTHERS = set(map(id, vars(elementwise).values()))  # rows that special only re-exports
# Rows that test_special_more.py measures: of degrees, of distributions, and what is not bounded in ULP.
MORE = set(
    "betainc betaincc binom comb eval_chebyt eval_chebyu eval_hermite eval_hermitenorm eval_laguerre eval_legendre "
    "exp1 expi gammainc gammaincc j0 j1 k0 k0e k1 k1e perm polygamma stdtr y0 y1 zeta zeta_hurwitz zetac".split()
)
ROWS = {
    row.name: row
    for row in vars(special).values()
    if isinstance(row, Row) and id(row) not in OTHERS and row.name not in MORE
}


def turn(x: Any, quarter: int) -> Any:
    """sin(pi x + quarter pi/2) with the argument reduced before pi comes in."""
    k = np.rint(2 * x)
    r = np.pi * (x - k / 2)
    q = (np.where(np.isfinite(k), k, 0) % 4 + quarter) % 4
    return np.select([q == 0, q == 1, q == 2], [np.sin(r), np.cos(r), -np.sin(r)], -np.cos(r))


def kl_div(x: Any, y: Any) -> Any:
    """x (t - log1p(t)), t = (y - x) / x: by its series where the difference cancels."""
    t = (y - x) / x
    near = np.abs(t) < 0.03
    z = np.where(near, t, 0)
    series = x * z * z * sum((-z) ** k / (k + 2) for k in range(14))
    # The limit for y = inf; SciPy says NaN.
    return np.where(near & (x > 0), series, np.where((x > 0) & (y == np.inf), np.inf, sp.kl_div(x, y)))


# SciPy before 1.15 has other values at the poles of gamma (inf for NaN), and no softplus.
OLD = (
    {"gamma", "gammasgn", "rgamma", "softplus"}
    if tuple(map(int, sp_version.split(".")[:2])) < (1, 15)
    else set()
)
ORACLES: dict[str, Any] = {
    "factorial": lambda x: np.where(x < 0, 0.0, sp.gamma(x + 1)),
    "sinpi": lambda x: turn(x, 0),
    "cospi": lambda x: turn(x, 1),
    "kl_div": kl_div,
    # SciPy: inf * 0 = NaN at infinity.
    "i0": lambda x: np.where(np.isinf(x), np.inf, sp.i0(x)),
    "i1": lambda x: np.where(np.isinf(x), x, sp.i1(x)),
    "cosm1": lambda x: -2 * np.sin(x / 2) ** 2,
    "exp10": lambda x: np.power(10.0, x),
}


def right_of_zero(ulp: float, slack: Any) -> Any:
    """The row's ULP for x >= 0 and what `slack` makes of it below."""
    return lambda x: np.where(x < 0, slack(x), ulp)


def absolute(f: Any, scale: Any) -> Any:
    """An error of 2**-19 times max(1, scale(x)), in spacings of the result."""
    return lambda x: np.nan_to_num(
        32 * np.maximum(1, scale(x)) / np.maximum(np.abs(f(x)), 2.0**-30), posinf=0
    )


WHOLE: dict[str, Any] = {
    # y - x may flush a denormal operand where log(x / y) does not.
    "kl_div": lambda x, y: np.where(np.minimum(x, y) < TINY, 1e6, 18),
    "gammaln": right_of_zero(8, absolute(sp.gammaln, lambda x: np.abs(sp.gammaln(x)))),
    "digamma": right_of_zero(
        5, absolute(sp.digamma, lambda x: np.abs(np.pi / np.tan(np.pi * x)) + np.abs(sp.digamma(x)))
    ),
    # Bounded in ULP on the domain of the row only; other operands have tests of their own.
    "beta": None,
    "betaln": None,
}


@pytest.mark.parametrize("name", sorted(ROWS))
async def test_row(name: str) -> None:
    if name in OLD:
        pytest.skip(f"SciPy {sp_version} has other values, or none")
    row = ROWS[name]
    oracle = ORACLES.get(name) or getattr(sp, row.like.removeprefix("scipy.special."))
    await check_row(row, oracle, row.ulp, WHOLE.get(name, row.ulp))


@pytest.mark.parametrize("name", ["erf", "gamma", "xlogy"])
async def test_integers_and_bools_become_float32(name: str) -> None:
    row = ROWS[name]
    for operand in (np.array([1, 2, 3, 5], np.int32), np.array([1, 2, 7], np.uint32), np.array([True, True])):
        got = await row(*[operand] * row.nin).numpy()
        check(
            f"{name} {operand.dtype}", getattr(sp, name), row.ulp, got, [operand.astype(np.float32)] * row.nin
        )


def test_every_row_takes_integers_and_bools() -> None:
    for row in ROWS.values():
        for dtype in (tg.int32, tg.uint32, tg.bool):
            assert row(*[tg.ones((2,), dtype=dtype)] * row.nin).dtype == tg.float32


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "sinpi", "cospi", "arcsin", "arccos", "arctan"])
async def test_trigonometry_everywhere(name: str) -> None:
    rng = np.random.default_rng(11)
    multiples = (np.arange(-40000, 40000) * (np.pi / 2)).astype(np.float32)
    far = (10.0 ** rng.uniform(2, 38.5, 40000)).astype(np.float32)
    near = rng.uniform(-1.001, 1.001, 40000).astype(np.float32)
    x = np.concatenate([sweep(), multiples, far, -far, near])
    row = getattr(special, name, None) or getattr(tg, name)
    oracle = {"sinpi": ORACLES["sinpi"], "cospi": ORACLES["cospi"]}.get(name) or getattr(np, name)
    check(
        name,
        oracle,
        {"tan": 4, "arcsin": 3, "arccos": 3, "arctan": 3}.get(name, 2),
        await row(x).numpy(),
        [x],
    )


async def test_issue_bank_e01_e02() -> None:
    x = np.float32([math.pi, -math.pi, 2 * math.pi, 1e4, 1e5, 1e6, 1e9, 3.4028235e38])
    sin, cos, tan = await tg.fetch(tg.sin(x), tg.cos(x), tg.tan(x))
    np.testing.assert_allclose(sin, np.sin(x.astype(np.float64)), rtol=3e-7)
    np.testing.assert_allclose(cos, np.cos(x.astype(np.float64)), rtol=3e-7)
    np.testing.assert_allclose(tan, np.tan(x.astype(np.float64)), rtol=5e-7)
    assert abs(float(sin[0]) + 8.742278e-08) < 1e-14


async def test_arctan2_has_every_case_of_c99() -> None:
    values = np.float32([0, 1e-45, 1e-30, 1, 2.5, 1e30, 3.4028235e38, np.inf])
    values = np.concatenate([values, -values, np.float32([np.nan])])
    y, x = (v.reshape(-1) for v in np.meshgrid(values, values))
    got = await tg.arctan2(y, x).numpy()
    check("arctan2", np.arctan2, 5, got, [y, x])
    want = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    zero = (got == 0) | (want == 0)
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))
    angle = np.random.default_rng(3).uniform(-np.pi, np.pi, 20000)
    size = 10.0 ** np.random.default_rng(4).uniform(-37, 37, 20000)
    y, x = (size * np.sin(angle)).astype(np.float32), (size * np.cos(angle)).astype(np.float32)
    check("arctan2 around", np.arctan2, 5, await tg.arctan2(y, x).numpy(), [y, x])


async def test_zeros_keep_their_sign() -> None:
    zeros = np.float32([0.0, -0.0])
    odd = [
        tg.sin,
        tg.tan,
        tg.arcsin,
        tg.arctan,
        special.sinpi,
        special.erf,
        special.erfinv,
        special.i1,
        special.rgamma,
    ]
    for row, got in zip(odd, await tg.fetch(*[f(zeros) for f in odd]), strict=True):
        assert got.tolist() == [0.0, 0.0] and np.signbit(got).tolist() == [False, True], row
    poles = await tg.fetch(special.gamma(zeros), special.digamma(zeros))
    assert [p.tolist() for p in poles] == [[np.inf, -np.inf], [-np.inf, np.inf]]


async def test_gamma_at_integers_and_around_poles() -> None:
    n = np.arange(1, 36, dtype=np.float32)
    got = await special.gamma(n).numpy()
    check("gamma of integers", sp.gamma, 12, got, [n])
    assert got[:8].tolist() == [1, 1, 2, 6, 24, 120, 720, 5040]
    offsets = np.random.default_rng(2).uniform(-1e-3, 1e-3, 4000)
    x = (np.random.default_rng(6).integers(-44, 1, 4000) + offsets).astype(np.float32)
    for row in (special.gamma, special.rgamma):
        if row.name in OLD:
            x = x[x != np.rint(x)]
        check(f"{row.name} around poles", getattr(sp, row.name), row.ulp, await row(x).numpy(), [x])


async def test_factorial() -> None:
    got = await special.factorial(np.array([-1, 0, 1, 5, 10, 33, 34, 35], np.int32)).numpy()
    want = np.float32([0, 1, 1, 120, 3628800, math.factorial(33), math.factorial(34), np.inf])
    np.testing.assert_allclose(got, want, rtol=1e-6)
    assert got.dtype == np.float32
    with pytest.raises(ValueError, match="math.factorial"):
        special.factorial(3, exact=True)


async def test_beta_over_many_magnitudes() -> None:
    rng = np.random.default_rng(8)
    a, b = (10.0 ** rng.uniform(-6, 4, (2, 20000))).astype(np.float32)
    log = sp.betaln(a.astype(np.float64), b.astype(np.float64))
    got, value = await tg.fetch(special.betaln(a, b), special.beta(a, b))
    scale = np.maximum(np.abs(log), np.maximum(np.abs(sp.gammaln(a)), 1))
    assert (np.abs(got - log) / scale).max() < 2.0**-20
    check("beta", sp.beta, lambda x, y: 24 + 8 * np.abs(sp.betaln(x, y)), value, [a, b])
    edges = await special.beta(np.float32([0, 1, np.nan, 1, 2]), np.float32([1, 0, 1, np.nan, 3])).numpy()
    np.testing.assert_allclose(edges, [np.inf, np.inf, np.nan, np.nan, 1 / 12], rtol=1e-6)


async def test_inverses_undo() -> None:
    p = np.linspace(0.001, 0.999, 2001, dtype=np.float32)
    pairs = [(special.ndtri, special.ndtr), (special.erfinv, special.erf), (special.logit, special.expit)]
    for there, back in pairs:
        np.testing.assert_allclose(await back(there(p)).numpy(), p, rtol=2e-6)


async def test_relative_entropy_of_near_arguments() -> None:
    rng = np.random.default_rng(9)
    x = (10.0 ** rng.uniform(-3, 3, 20000)).astype(np.float32)
    y = (x * (1 + rng.choice([1e-6, 1e-3, 0.3, 0.9]) * rng.uniform(-1, 1, 20000))).astype(np.float32)
    check("rel_entr", lambda x, y: x * np.log1p((x - y) / y), 5, await special.rel_entr(x, y).numpy(), [x, y])
    check("kl_div", kl_div, 18, await special.kl_div(x, y).numpy(), [x, y])


def test_names_are_those_of_scipy() -> None:
    ours = {"sinpi", "cospi"}  # C23's and the array API's proposal; SciPy keeps them private
    late = {"betaincc"}  # of SciPy 1.11
    assert [n for n in special.__all__ if n not in ours | OLD | late and not hasattr(sp, n)] == []
    assert all(hasattr(special, n) for n in special.__all__)
