"""Bessel functions, exponential integrals, zeta, incomplete gamma and beta, combinatorics, orthogonal polynomials and
what is made of them, beside SciPy in float64. Runs in the tab."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.special as sp
from ulps import SPECIAL, check, check_row, draw

import tabgpu as tg
from tabgpu import special
from tabgpu.ops.rows import Row

EPS = 2.0**-24
rng = np.random.default_rng(66)


def singles(*operands: Any) -> list[Any]:
    return [np.asarray(a, np.float32) for a in operands]


def doubles(*operands: Any) -> list[Any]:
    return [np.asarray(a, np.float32).astype(np.float64) for a in operands]


async def near(name: str, oracle: Any, bound: Any, *operands: Any) -> None:
    """Whether |got - want| <= bound(want, ..), NaN and infinities alike."""
    got = await getattr(special, name)(*singles(*operands)).numpy()
    with np.errstate(all="ignore"):
        want = np.asarray(oracle(*doubles(*operands)))
        limit = np.broadcast_to(bound(want), want.shape)
    assert got.dtype == np.float32 and got.shape == want.shape
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want), err_msg=name)
    big = np.abs(want) > 3.4e38
    np.testing.assert_array_equal(got[big], np.sign(want[big]).astype(np.float32) * np.float32(np.inf))
    fine = np.isfinite(want) & ~big
    with np.errstate(invalid="ignore"):
        excess = np.where(fine, np.abs(got - want) - limit, -1.0)
    k = np.argmax(excess)
    at = [np.broadcast_to(a, want.shape).reshape(-1)[k] for a in singles(*operands)]
    assert excess.max(initial=-1) <= 0, f"{name}{at}: {got.reshape(-1)[k]!r}, not {want.reshape(-1)[k]!r}"


def by_logarithm(n: float) -> Any:
    """n roundings of a value, and as many of its logarithm; results that are nearly denormal may be flushed."""
    return lambda w: n * EPS * np.abs(w) * (1 + np.abs(np.log(np.maximum(np.abs(w), 1e-300)))) + 1e-36


ULPS = {"k0": 10, "k0e": 10, "k1": 10, "k1e": 10, "exp1": 12, "expi": 12}


@pytest.mark.parametrize("name", ULPS)
async def test_rows_bounded_in_ulp(name: str) -> None:
    row = getattr(special, name)
    assert row.ulp == ULPS[name]
    await check_row(row, getattr(sp, name), row.ulp, row.ulp)


@pytest.mark.parametrize("name", ["j0", "j1", "y0", "y1"])
async def test_bessel_functions(name: str) -> None:
    """Within 8 roundings of the larger of the value and the amplitude sqrt(2 / (pi x)); NaN and ends exact."""
    f, ours = getattr(sp, name), getattr(special, name)
    x = np.concatenate(
        [rng.uniform(0, 5, 20000), rng.uniform(0, 60, 20000), 10 ** rng.uniform(-37, 6, 20000)]
    )
    cases = [
        x,
        -x[:100] if name[0] == "j" else x[:0],
        x[:6].reshape(2, 3).T,
        np.zeros((0, 2)),
        np.float32(3.5),
    ]
    for case in cases:
        (single,), (double,) = singles(case), doubles(case)
        got = await ours(single).numpy()
        want = f(double)
        size = np.maximum(np.abs(want), np.sqrt(2 / np.pi / np.maximum(np.abs(double), 2)))
        assert got.shape == want.shape and (np.abs(got - want) <= 8 * EPS * size).all()
    ends = await ours(np.float32([0, np.inf, np.nan, -1])).numpy()
    begin = {"j0": 1.0, "j1": 0.0}.get(name, -np.inf)
    left = f(-1.0) if name[0] == "j" else np.nan
    np.testing.assert_allclose(ends, [begin, 0, np.nan, left], rtol=1e-6)


async def test_zeta() -> None:
    x = np.concatenate([rng.uniform(1.001, 40, 8000), [2, 3, 4, 60, 200, 1e9]])
    check("zeta", lambda x: 1 + sp.zetac(x), 6, await special.zeta(np.float32(x)).numpy(), singles(x))
    check("zetac", sp.zetac, 8, await special.zetac(np.float32(x)).numpy(), singles(x))
    near_1 = rng.uniform(-1, 1, 8000)
    await near("zeta", lambda x: 1 + sp.zetac(x), lambda w: 16 * EPS * np.abs(w), near_1)
    # The reflection's factors grow with |x|; the sine is exact at the zeros.
    await near(
        "zeta", lambda x: 1 + sp.zetac(x), lambda w: 64 * EPS * np.abs(w) + 1e-30, rng.uniform(-20, -1, 4000)
    )
    left = np.concatenate(
        [rng.uniform(-60, -20, 4000), [-67.9999, -66.0001, -65.9999]]
    )  # finite, though Gamma is not
    await near("zeta", sp.zeta, lambda w: 32 * EPS * (1 + np.log(np.maximum(np.abs(w), 1))) * np.abs(w), left)
    edges = await special.zeta(np.float32([1, 0, -2, -4, np.inf, np.nan, -np.inf])).numpy()
    np.testing.assert_array_equal(edges, np.float32([np.inf, -0.5, 0, 0, 1, np.nan, np.nan]))


async def test_zeta_of_hurwitz_and_polygamma() -> None:
    s, q = rng.uniform(1.01, 20, 8000), 10 ** rng.uniform(-1, 3, 8000)
    await near("zeta", sp.zeta, by_logarithm(8), s, q)
    s, q = (
        1 + 10 ** rng.uniform(-6, 0.5, 4000),
        10 ** rng.uniform(3, 9, 4000),
    )  # q**-x may be 0 where the sum is not
    await near("zeta", sp.zeta, by_logarithm(8), s, q)
    assert abs(float(await special.zeta(2.5, np.float32(1e20)).item()) / (1e-30 / 1.5) - 1) < 1e-5
    edges = await special.zeta(np.float32([1, 2, 2, 0.5, 2]), np.float32([3, 0, -1, 2, -0.5])).numpy()
    np.testing.assert_array_equal(edges, np.float32([np.inf, np.inf, np.inf, np.nan, np.nan]))
    n = rng.integers(0, 9, 6000).astype(np.int32)
    x = (10 ** rng.uniform(-1, 3, 6000)).astype(np.float32)
    got = await special.polygamma(n, x).numpy()
    want = sp.polygamma(n.astype(int), x.astype(np.float64))
    assert (np.abs(got - want) <= 24 * EPS * np.abs(want) + 4 * EPS * (n == 0)).all()
    trigamma = await special.polygamma(1, np.float32([1, 0.5, 10])).numpy()
    np.testing.assert_allclose(trigamma, [math.pi**2 / 6, math.pi**2 / 2, 0.1051663356816857], rtol=1e-6)
    with pytest.raises(TypeError, match="integers"):
        special.polygamma(1.5, x)


async def test_incomplete_gamma() -> None:
    cases = [
        (a := 10 ** rng.uniform(-2, 1.3, 8000), a * 10 ** rng.uniform(-1, 0.7, 8000)),
        (b := 10 ** rng.uniform(1, 5, 8000), b + np.sqrt(b) * rng.normal(size=8000) * 3),
        (10 ** rng.uniform(-6, 3, 8000), 10 ** rng.uniform(-6, 3, 8000)),
    ]
    for a, x in cases:
        await near("gammainc", sp.gammainc, by_logarithm(40), a, x)
        await near("gammaincc", sp.gammaincc, by_logarithm(40), a, x)
    a, x = (g.reshape(-1) for g in np.meshgrid(SPECIAL, SPECIAL))
    for name in ("gammainc", "gammaincc"):
        await near(name, getattr(sp, name), by_logarithm(40), a, x)


async def test_incomplete_beta() -> None:
    """Relative error 120 roundings for a, b to 100; 4e-4 to 10,000."""
    a, b = 10 ** rng.uniform(-1, 2, (2, 8000))
    x = rng.uniform(0, 1, 8000)
    await near("betainc", sp.betainc, by_logarithm(120), a, b, x)
    await near("betaincc", lambda a, b, x: sp.betainc(b, a, 1 - x), by_logarithm(120), a, b, x)
    a, b = 10 ** rng.uniform(-1, 4, (2, 4000))
    mean = a / (a + b)
    x = np.clip(mean + rng.normal(size=4000) * np.sqrt(mean * (1 - mean) / (a + b + 1)), 1e-6, 1 - 1e-6)
    await near("betainc", sp.betainc, lambda w: 4e-4 * np.abs(w) + 1e-6, a, b, x)
    ends = await special.betainc(
        np.float32([1, 2, 0, 2, -1, 1, np.nan]),
        np.float32([2, 1, 1, 0, 1, 1, 1]),
        np.float32([0, 1, 0.5, 0.5, 0.5, 2, 0.5]),
    ).numpy()
    np.testing.assert_array_equal(ends, np.float32([0, 1, 1, 0, np.nan, np.nan, np.nan]))


async def test_students_distribution() -> None:
    n, t = 10 ** rng.uniform(-0.3, 5, 8000), rng.normal(size=8000) * 3
    await near("stdtr", sp.stdtr, by_logarithm(16), n, t)
    n, t = 10 ** rng.uniform(1, 2.2, 8000), -(10 ** rng.uniform(0, 3, 8000))  # far tails
    await near("stdtr", sp.stdtr, by_logarithm(16), n, t)
    got = await special.stdtr(
        np.float32([5, 5, np.inf, 0, 3]), np.float32([0, np.inf, 1.96, 1, np.nan])
    ).numpy()
    np.testing.assert_allclose(got, [0.5, 1, sp.ndtr(1.96), np.nan, np.nan], rtol=1e-6)


async def test_combinatorics() -> None:
    n, k = rng.integers(-2, 135, (2, 4000))
    for name in ("comb", "perm"):
        got = await getattr(special, name)(n.astype(np.int32), k.astype(np.int32)).numpy()
        want = getattr(sp, name)(n, k)
        fine = want < 3.4e38
        assert np.isinf(got[~fine]).all()
        assert (np.abs(got[fine] - want[fine]) <= 40 * EPS * want[fine]).all()
        small = want < 2**24
        np.testing.assert_array_equal(got[small], want[small])
    again = await special.comb(np.int32([5, 3]), np.int32([3, 4]), repetition=True).numpy()
    np.testing.assert_array_equal(again, [35, 15])
    with pytest.raises(ValueError, match=r"math\.comb"):
        special.comb(5, 2, exact=True)
    with pytest.raises(ValueError, match=r"math\.perm"):
        special.perm(5, 2, exact=True)
    n, k = rng.uniform(0, 30, (2, 4000))
    k = np.minimum(k, n)
    await near("binom", sp.binom, by_logarithm(60), n, k)


FAMILIES = {
    "eval_legendre": np.polynomial.Legendre, "eval_chebyt": np.polynomial.Chebyshev,
    "eval_hermite": np.polynomial.Hermite, "eval_hermitenorm": np.polynomial.HermiteE,
    "eval_laguerre": np.polynomial.Laguerre,
}  # fmt: skip


@pytest.mark.parametrize("name", [*FAMILIES, "eval_chebyu"])
async def test_orthogonal_polynomials(name: str) -> None:
    """Against SciPy, within n^2 roundings of the largest of the recurrence's terms; degrees are arrays or numbers."""
    wide = name in ("eval_hermite", "eval_hermitenorm", "eval_laguerre")
    n = rng.integers(0, 16 if wide else 50, 4000).astype(np.int32)
    x = rng.uniform(-3, 3, 4000).astype(np.float32) if wide else rng.uniform(-1, 1, 4000).astype(np.float32)
    f = getattr(sp, name)
    got = await getattr(special, name)(n, x).numpy()
    want = f(n.astype(int), x.astype(np.float64))
    size = np.max(
        [np.abs(f(np.maximum(n - j, 0).astype(int), x.astype(np.float64))) for j in range(3)], axis=0
    )
    size = np.maximum(size, 1 if not wide else np.abs(f(np.maximum(n - 1, 0).astype(int), 0.3)) + 1)
    assert (np.abs(got - want) <= 8 * (n + 1.0) ** 2 * EPS * size).all()
    if name in FAMILIES:  # two oracles
        c = np.zeros(8)
        c[7] = 1
        seventh = await getattr(special, name)(7, np.float32([0.25, -0.5])).numpy()
        np.testing.assert_allclose(seventh, FAMILIES[name](c)([0.25, -0.5]), rtol=2e-5)
    lost = await getattr(special, name)(np.int32([20000, 0]), np.float32([0.5, np.nan])).numpy()
    assert np.isnan(lost).all()


COMPOSED: dict[str, tuple[list[Any], Any]] = {
    "boxcox": ([rng.uniform(0, 50, 3000), rng.integers(-2, 3, 3000) * 0.7], 4e-6),
    "boxcox1p": ([rng.uniform(0, 1e-3, 3000), rng.integers(-2, 3, 3000) * 0.7], 4e-6),
    "inv_boxcox": ([rng.uniform(0, 3, 3000), rng.integers(0, 3, 3000) * 0.7], 1e-5),
    "inv_boxcox1p": ([rng.uniform(0, 3, 3000), rng.integers(0, 3, 3000) * 0.7], 1e-5),
    "huber": ([rng.uniform(-0.5, 3, 3000), rng.normal(size=3000) * 3], 1e-6),
    "pseudo_huber": ([rng.uniform(-0.5, 3, 3000), rng.normal(size=3000) * 3], 1e-6),
    "chdtr": ([rng.integers(1, 60, 3000), rng.uniform(-1, 90, 3000)], 1e-4),
    "chdtrc": ([rng.integers(1, 60, 3000), rng.uniform(-1, 90, 3000)], 1e-4),
    "gdtr": ([rng.uniform(0.1, 3, 3000), rng.uniform(0.1, 30, 3000), rng.uniform(-1, 30, 3000)], 1e-4),
    "gdtrc": ([rng.uniform(0.1, 3, 3000), rng.uniform(0.1, 30, 3000), rng.uniform(-1, 30, 3000)], 1e-4),
    "pdtr": ([rng.integers(0, 40, 3000), rng.uniform(0, 50, 3000)], 1e-4),
    "pdtrc": ([rng.integers(0, 40, 3000), rng.uniform(0, 50, 3000)], 1e-4),
    "fdtr": ([*rng.integers(1, 60, (2, 3000)), rng.uniform(0, 6, 3000)], 1e-4),
    "fdtrc": ([*rng.integers(1, 60, (2, 3000)), rng.uniform(0, 6, 3000)], 1e-4),
    "bdtr": ([rng.integers(-1, 20, 3000), rng.integers(0, 40, 3000), rng.uniform(0, 1, 3000)], 1e-4),
    "bdtrc": ([rng.integers(-1, 20, 3000), rng.integers(0, 40, 3000), rng.uniform(0, 1, 3000)], 1e-4),
    "kolmogorov": ([rng.uniform(-0.1, 3, 3000)], 1e-4),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", COMPOSED)
async def test_composed(name: str) -> None:
    operands, relative = COMPOSED[name]
    await near(name, getattr(sp, name), lambda w: relative * np.abs(w) + 1e-37, *operands)


async def test_softmax_and_multigammaln() -> None:
    x = rng.normal(size=(4, 5)).astype(np.float32)
    for axis in (None, 0, -1):
        soft, logs = await tg.fetch(special.softmax(x, axis), special.log_softmax(x, axis))
        np.testing.assert_allclose(soft, sp.softmax(x.astype(np.float64), axis), rtol=2e-6)
        np.testing.assert_allclose(logs, sp.log_softmax(x.astype(np.float64), axis), rtol=2e-6, atol=1e-6)
    a = np.float32([2.5, 7, 30])
    np.testing.assert_allclose(
        await special.multigammaln(a, 3).numpy(), [sp.multigammaln(float(v), 3) for v in a], rtol=1e-6
    )
    with pytest.raises(ValueError, match="positive integer"):
        special.multigammaln(a, 0)


async def test_layouts_of_two_and_three_operands() -> None:
    """Broadcast, strided, empty and 0-d operands, integers and bools, float16."""
    a, b = rng.uniform(0.5, 9, (7, 6)).astype(np.float32), rng.uniform(0.5, 9, (6,)).astype(np.float32)
    x = np.float32(0.4)
    want = sp.betainc(a.T[::2].astype(float), b[::2, None].astype(float), float(x))
    got = await special.betainc(tg.asarray(a).T[::2], tg.asarray(b)[::2, None], x).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-4)
    empty = special.gammainc(tg.zeros((0, 3)), tg.ones((3,)))
    assert empty.shape == (0, 3) and (await empty.numpy()).size == 0
    whole = special.gammainc(tg.asarray([1, 2]), tg.asarray([True, False]))
    np.testing.assert_allclose(await whole.numpy(), [sp.gammainc(1, 1), 0], rtol=1e-6)
    half = special.gammainc(
        tg.asarray([1.0, 2.0], dtype=tg.float16), tg.asarray([1.0, 2.0], dtype=tg.float16)
    )
    assert half.dtype is tg.float16
    np.testing.assert_allclose(await half.numpy(), sp.gammainc([1, 2], [1, 2]), rtol=1e-3)
    with pytest.raises(TypeError, match="complex64"):
        special.boxcox(tg.asarray([1j]), 1.0)


def test_rows_state_their_domain() -> None:
    """Every row of the chapter draws operands inside the domain where the function is finite."""
    for row in vars(special).values():
        if isinstance(row, Row) and row.name in {"gammainc", "gammaincc", "zeta_hurwitz", "stdtr"}:
            assert np.isfinite(draw(row, (8,), 0)).all() and row.domain is not None


async def test_scalars_and_shapes_compile_nothing() -> None:
    x = tg.asarray(rng.uniform(0.1, 3, 50).astype(np.float32))
    for k in (1, 2):
        await (special.betainc(2.5, x[:k], 0.3) + special.eval_legendre(3, x[:k])).numpy()
    before = tg.memory()["pipelines"]
    for k in range(1, 50, 4):
        await (special.betainc(float(k), x[:k], 0.01 * k) + special.eval_legendre(k, x[:k])).numpy()
    assert tg.memory()["pipelines"] == before


COMPLEX = (
    "of complex arguments or elliptic, hypergeometric, Mathieu, spheroidal and parabolic functions: not built"
)
INVERSE = "an inverse that SciPy finds by iteration: not built"
OTHER = "not built; the array functions here are those that arrays of samples are made of"
LEFT_OUT = {
    COMPLEX: (
        "agm ai_zeros airy airye assoc_legendre_p assoc_legendre_p_all bei bei_zeros beip beip_zeros ber ber_zeros "
        "berp berp_zeros bi_zeros clpmn dawsn ellip_harm ellip_harm_2 ellip_normal ellipe ellipeinc ellipj ellipk "
        "ellipkinc ellipkm1 elliprc elliprd elliprf elliprg elliprj fresnel fresnel_zeros fresnelc_zeros "
        "fresnels_zeros h1vp h2vp hankel1 hankel1e hankel2 hankel2e hyp0f1 hyp1f1 hyp2f1 hyperu it2i0k0 it2j0y0 "
        "it2struve0 itairy iti0k0 itj0y0 itmodstruve0 itstruve0 iv ive ivp jve jvp kei kei_zeros keip keip_zeros "
        "kelvin kelvin_zeros ker ker_zeros kerp kerp_zeros kv kve kvp lambertw legendre_p legendre_p_all "
        "log_wright_bessel lpmn lpmv lpn lqmn lqn mathieu_a mathieu_b mathieu_cem mathieu_even_coef mathieu_modcem1 "
        "mathieu_modcem2 mathieu_modsem1 mathieu_modsem2 mathieu_odd_coef mathieu_sem modfresnelm modfresnelp "
        "modstruve obl_ang1 obl_ang1_cv obl_cv obl_cv_seq obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv pbdn_seq pbdv "
        "pbdv_seq pbvv pbvv_seq pbwa pro_ang1 pro_ang1_cv pro_cv pro_cv_seq pro_rad1 pro_rad1_cv pro_rad2 "
        "pro_rad2_cv riccati_jn riccati_yn shichi sici spence sph_harm sph_harm_y sph_harm_y_all sph_legendre_p "
        "sph_legendre_p_all spherical_in spherical_jn spherical_kn spherical_yn struve voigt_profile wofz "
        "wright_bessel wrightomega yv yve yvp"
    ),
    INVERSE: (
        "bdtri bdtrik bdtrin betainccinv betaincinv btdtri btdtria btdtrib chdtri chdtriv chndtr chndtridf "
        "chndtrinc chndtrix erf_zeros fdtri fdtridfd gammainccinv gammaincinv gdtria gdtrib gdtrix jn_zeros "
        "jnjnp_zeros jnp_zeros jnyn_zeros kolmogi nbdtri nbdtrik nbdtrin ncfdtr ncfdtri ncfdtridfd ncfdtridfn "
        "ncfdtrinc nctdtr nctdtridf nctdtrinc nctdtrit ndtri_exp nrdtrimn nrdtrisd owens_t pdtri pdtrik smirnov "
        "smirnovi stdtridf stdtrit tklmbda y0_zeros y1_zeros y1p_zeros yn_zeros ynp_zeros"
    ),
    OTHER: (
        "assoc_laguerre bernoulli besselpoly btdtr cosdg cotdg diff_euler diric erfi euler eval_chebyc eval_chebys "
        "eval_gegenbauer eval_genlaguerre eval_jacobi eval_sh_chebyt eval_sh_chebyu eval_sh_jacobi eval_sh_legendre "
        "expn factorial2 factorialk hyp2f0 jn jv kn lmbda logit_grad nbdtr nbdtrc poch powm1 radian round sindg "
        "stirling2 tandg yn"
    ),
    "roots and objects of orthogonal polynomials, made on the host by SciPy": (
        "c_roots cg_roots chebyc chebys chebyt chebyu gegenbauer genlaguerre h_roots he_roots hermite hermitenorm "
        "j_roots jacobi js_roots l_roots la_roots laguerre legendre p_roots ps_roots roots_chebyc roots_chebys "
        "roots_chebyt roots_chebyu roots_gegenbauer roots_genlaguerre roots_hermite roots_hermitenorm roots_jacobi "
        "roots_laguerre roots_legendre roots_sh_chebyt roots_sh_chebyu roots_sh_jacobi roots_sh_legendre s_roots "
        "sh_chebyt sh_chebyu sh_jacobi sh_legendre softplus_grad t_roots ts_roots u_roots us_roots"
    ),
    "no functions": (
        "SpecialFunctionError SpecialFunctionWarning add_newdocs basic cython_special errstate geterr orthogonal "
        "seterr sf_error specfun spfun_stats test"
    ),
}


def test_every_name_of_scipy_is_here_or_left_out() -> None:
    left = {name for names in LEFT_OUT.values() for name in names.split()}
    public = {name for name in dir(sp) if name[0] != "_" and callable(getattr(sp, name))}
    assert sorted(public - set(special.__all__) - left) == []
    assert sorted(left & set(special.__all__)) == []
