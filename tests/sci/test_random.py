"""tg.random's distributions beside scipy.stats: moments, Kolmogorov-Smirnov and chi-square tests.

Seeds are fixed. Critical values stand for a false alarm below 1e-6 each. SLOW runs take 1e7 samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats as ss

from tabgpu import random as tr

FALSE = 1e-6
TINY = 2.0**-126  # below it GPUs may flush to 0
# method, arguments, scipy's distribution
CONTINUOUS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("random", (), ss.uniform()),
    ("uniform", (-3.0, 5.0), ss.uniform(-3, 8)),
    ("standard_normal", (), ss.norm()),
    ("normal", (2.0, 3.0), ss.norm(2, 3)),
    ("lognormal", (0.5, 0.7), ss.lognorm(0.7, scale=np.exp(0.5))),
    ("standard_exponential", (), ss.expon()),
    ("exponential", (2.5,), ss.expon(scale=2.5)),
    ("laplace", (1.0, 2.0), ss.laplace(1, 2)),
    ("logistic", (1.0, 2.0), ss.logistic(1, 2)),
    ("gumbel", (1.0, 2.0), ss.gumbel_r(1, 2)),
    ("standard_cauchy", (), ss.cauchy()),
    ("rayleigh", (2.0,), ss.rayleigh(scale=2)),
    ("weibull", (1.7,), ss.weibull_min(1.7)),
    ("weibull", (0.3,), ss.weibull_min(0.3)),
    ("pareto", (2.5,), ss.lomax(2.5)),
    ("power", (0.4,), ss.powerlaw(0.4)),
    ("power", (7.0,), ss.powerlaw(7)),
    ("triangular", (-1.0, 0.5, 3.0), ss.triang(0.375, -1, 4)),
    ("triangular", (-1.0, -1.0, 3.0), ss.triang(0, -1, 4)),
    ("standard_gamma", (0.05,), ss.gamma(0.05)),
    ("standard_gamma", (0.7,), ss.gamma(0.7)),
    ("standard_gamma", (1.0,), ss.gamma(1)),
    ("gamma", (5.5, 0.5), ss.gamma(5.5, scale=0.5)),
    ("standard_gamma", (300.0,), ss.gamma(300)),
    ("standard_gamma", (1e6,), ss.gamma(1e6)),
    ("chisquare", (1.0,), ss.chi2(1)),
    ("chisquare", (7.5,), ss.chi2(7.5)),
    ("noncentral_chisquare", (0.6, 3.0), ss.ncx2(0.6, 3)),
    ("noncentral_chisquare", (4.0, 50.0), ss.ncx2(4, 50)),
    ("f", (5.0, 9.0), ss.f(5, 9)),
    ("noncentral_f", (5.0, 9.0, 3.0), ss.ncf(5, 9, 3)),
    ("standard_t", (1.5,), ss.t(1.5)),
    ("standard_t", (12.0,), ss.t(12)),
    ("beta", (2.0, 3.5), ss.beta(2, 3.5)),
    ("beta", (0.3, 0.2), ss.beta(0.3, 0.2)),
    ("beta", (40.0, 0.8), ss.beta(40, 0.8)),
    ("wald", (2.0, 3.0), ss.invgauss(2 / 3, scale=3)),
    ("wald", (30.0, 0.5), ss.invgauss(60, scale=0.5)),
    ("vonmises", (0.0, 0.2), ss.vonmises(0.2)),
    ("vonmises", (0.0, 4.0), ss.vonmises(4)),
    ("vonmises", (0.0, 1e4), ss.vonmises(1e4)),
    ("vonmises", (0.0, 0.0), ss.uniform(-np.pi, 2 * np.pi)),
]  # fmt: skip
DISCRETE: list[tuple[str, tuple[Any, ...], Any]] = [
    ("integers", (-3, 9), ss.randint(-3, 9)),
    ("geometric", (0.03,), ss.geom(0.03)),
    ("geometric", (0.7,), ss.geom(0.7)),
    ("poisson", (1e-3,), ss.poisson(1e-3)),
    ("poisson", (3.5,), ss.poisson(3.5)),
    ("poisson", (9.99,), ss.poisson(9.99)),
    ("poisson", (10.0,), ss.poisson(10)),
    ("poisson", (77.7,), ss.poisson(77.7)),
    ("poisson", (12345.6,), ss.poisson(12345.6)),
    ("poisson", (3.3e6,), ss.poisson(3.3e6)),
    ("binomial", (7, 0.4), ss.binom(7, 0.4)),
    ("binomial", (20, 0.5), ss.binom(20, 0.5)),
    ("binomial", (35, 0.9), ss.binom(35, 0.9)),
    ("binomial", (100, 0.25), ss.binom(100, 0.25)),
    ("binomial", (100000, 0.6), ss.binom(100000, float(np.float32(0.6)))),
    ("binomial", (50000000, 1e-7), ss.binom(50000000, float(np.float32(1e-7)))),
    ("binomial", (50000000, 0.3), ss.binom(50000000, float(np.float32(0.3)))),
    ("negative_binomial", (3.5, 0.3), ss.nbinom(3.5, 0.3)),
    ("negative_binomial", (60.0, 0.1), ss.nbinom(60, 0.1)),
    ("hypergeometric", (5, 8, 6), ss.hypergeom(13, 5, 6)),
    ("hypergeometric", (40, 7, 33), ss.hypergeom(47, 40, 33)),
    ("hypergeometric", (400, 700, 250), ss.hypergeom(1100, 400, 250)),
    ("hypergeometric", (20, 100000, 300), ss.hypergeom(100020, 20, 300)),
    ("hypergeometric", (3000000, 2000000, 4000000), ss.hypergeom(5000000, 3000000, 4000000)),
    ("logseries", (0.2,), ss.logser(0.2)),
    ("logseries", (0.97,), ss.logser(0.97)),
    ("zipf", (1.8,), ss.zipf(1.8)),
    ("zipf", (5.0,), ss.zipf(5)),
]  # fmt: skip


def seed_of(name: str, args: tuple[Any, ...]) -> int:
    return int.from_bytes(repr((name, args)).encode()[-7:], "little")


def drawn(name: str, args: tuple[Any, ...], n: int, bits: Any = tr.Philox) -> Any:
    rng = tr.Generator(bits(seed_of(name, args)))
    return np.asarray(getattr(rng, name)(*args, size=n))


def check_moments(x: Any, law: Any) -> None:
    """Mean and variance within 5 of their own deviations (a false alarm in 1.7e6), where these exist."""
    if law.dist.name == "vonmises":  # whose moments take SciPy 10 s
        return
    mean, var, _, kurt = (float(v) for v in law.stats("mvsk"))
    if np.isfinite(var) and var > 0:
        assert abs(x.mean(dtype=np.float64) - mean) < 5 * np.sqrt(var / x.size) + 2e-7 * abs(mean)
        if np.isfinite(kurt) and kurt < 50:
            spread = x.astype(np.float64).var()
            assert abs(spread / var - 1) < 5 * np.sqrt((kurt + 2) / x.size)


def check_continuous(x: Any, law: Any) -> None:
    """Kolmogorov-Smirnov at 20,000 of the values at most (2000 where SciPy integrates); a float stands for all that
    rounds to it, 0 for all that is flushed."""
    assert np.isfinite(x).all()
    values, counts = np.unique(np.where(np.abs(x) < TINY, 0, x), return_counts=True)
    after = np.cumsum(counts) / x.size
    before = after - counts / x.size
    most = 2000 if law.dist.name in ("vonmises", "ncf", "ncx2") else 20_000
    some = np.unique(np.append(np.arange(0, values.size, -(-values.size // most)), values.size - 1))
    values, after, before = values[some].astype(np.float32), after[some], before[some]
    at = values.astype(np.float64)
    ends = [
        (at + np.nextafter(values, np.float32(side)).astype(np.float64)) / 2 for side in (np.inf, -np.inf)
    ]
    above, below = (np.where(at == 0, edge, v) for v, edge in zip(ends, (TINY, -TINY), strict=True))
    d = max(np.abs(after - law.cdf(above)).max(), np.abs(before - law.cdf(below)).max())
    assert d < np.sqrt(-np.log(FALSE / 2) / 2 / x.size), d


def check_discrete(x: Any, law: Any) -> None:
    """Chi-square over bins of at least 25 expected; wide laws by quantiles."""
    least, most = (int(law.ppf(q)) for q in (20 / x.size, 1 - 20 / x.size))
    edges = np.unique(np.linspace(least, most, min(most - least + 1, 400)).astype(np.int64))
    want = x.size * np.diff(np.concatenate([[0], law.cdf(edges), [1]]))
    got = np.bincount(np.searchsorted(edges, x), minlength=len(edges) + 1).astype(np.float64)
    bins: list[list[float]] = [[0.0, 0.0]]
    for w, g in zip(want, got, strict=True):
        bins[-1][0] += w
        bins[-1][1] += g
        if bins[-1][0] >= 25:
            bins.append([0.0, 0.0])
    last = bins.pop()
    assert bins, "nothing to compare"
    bins[-1][0] += last[0]
    bins[-1][1] += last[1]
    w, g = np.array(bins).T
    statistic = ((g - w) ** 2 / w).sum()
    assert statistic < ss.chi2.isf(FALSE, max(len(bins) - 1, 1)), (statistic, len(bins))


@pytest.mark.parametrize(("name", "args", "law"), CONTINUOUS, ids=lambda v: str(v)[:30])
def test_continuous(name: str, args: tuple[Any, ...], law: Any) -> None:
    x = drawn(name, args, 100_000)
    assert x.dtype == np.float32
    check_moments(x, law)
    check_continuous(x, law)


@pytest.mark.parametrize(("name", "args", "law"), DISCRETE, ids=lambda v: str(v)[:30])
def test_discrete(name: str, args: tuple[Any, ...], law: Any) -> None:
    x = drawn(name, args, 100_000)
    assert x.dtype == np.int32
    check_moments(x, law)
    check_discrete(x, law)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "args", "law"), CONTINUOUS, ids=lambda v: str(v)[:30])
def test_continuous_1e7(name: str, args: tuple[Any, ...], law: Any) -> None:
    x = drawn(name, args, 10_000_000)
    check_moments(x, law)
    check_continuous(x, law)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "args", "law"), DISCRETE, ids=lambda v: str(v)[:30])
def test_discrete_1e7(name: str, args: tuple[Any, ...], law: Any) -> None:
    x = drawn(name, args, 10_000_000)
    check_moments(x, law)
    check_discrete(x, law)


THREEFRY = [
    case
    for case in CONTINUOUS
    if case[0] in ("random", "standard_normal", "standard_gamma", "beta", "vonmises")
] + [case for case in DISCRETE if case[0] in ("poisson", "binomial", "integers", "hypergeometric", "zipf")]


@pytest.mark.parametrize(("name", "args", "law"), THREEFRY[::3], ids=lambda v: str(v)[:30])
def test_threefry(name: str, args: tuple[Any, ...], law: Any) -> None:
    x = drawn(name, args, 100_000, tr.Threefry)
    assert not (x[:1000] == drawn(name, args, 1000)).all()
    check_moments(x, law)
    (check_continuous if x.dtype.kind == "f" else check_discrete)(x, law)


def test_vonmises_around_other_means() -> None:
    for mu in (0.5, 3.0, -3.1, 40.0):
        x = np.asarray(tr.default_rng(2).vonmises(mu, 1.5, 50_000)).astype(np.float64)
        assert np.abs(x).max() <= np.float32(np.pi)
        check_continuous(np.angle(np.exp(1j * (x - mu))), ss.vonmises(1.5))


def test_truncated_normal() -> None:
    for low, high in [
        (-1.0, 2.0),
        (-8.0, 8.0),
        (3.0, 5.0),
        (-6.0, -4.5),
        (0.0, 0.1),
        (-np.inf, 1.0),
        (6.0, np.inf),
    ]:
        x = np.asarray(tr.truncated_normal(tr.key(7), low, high, 100_000))
        assert (x >= np.float32(low)).all() and (x <= np.float32(high)).all()
        check_continuous(x, ss.truncnorm(low, high))


def test_dirichlet() -> None:
    alpha = np.array([0.3, 2.0, 5.0, 0.01])
    x = np.asarray(tr.default_rng(3).dirichlet(alpha, 50_000)).astype(np.float64)
    assert np.abs(x.sum(axis=1) - 1).max() < 1e-6 and np.isfinite(x).all()
    for k in range(4):
        y = np.sort(x[:, k])
        y = y[y > 1e-30]  # what floats have of a shape of 0.01
        lost = 1 - y.size / len(x)
        law = ss.beta(alpha[k], alpha.sum() - alpha[k])
        at = law.cdf(y)
        steps = lost + np.arange(1, y.size + 1) / len(x)
        assert np.abs(steps - at).max() < np.sqrt(-np.log(FALSE / 2) / 2 / len(x)) + 1e-3
    tiny = np.asarray(tr.default_rng(4).dirichlet(np.full(3, 1e-3), 20_000))
    assert np.isfinite(tiny).all() and np.abs(tiny.sum(axis=1) - 1).max() < 1e-6
    assert np.abs(tiny.mean(axis=0) - 1 / 3).max() < 5 * np.sqrt(2 / 9 / 20_000)


def test_multinomial() -> None:
    p = np.array([0.1, 0.0, 0.25, 0.05, 0.6])
    n = 40
    x = np.asarray(tr.default_rng(5).multinomial(n, p, 50_000))
    assert (x.sum(axis=1) == n).all() and not x[:, 1].any()
    for k in (0, 2, 3, 4):
        check_discrete(x[:, k], ss.binom(n, p[k]))
    want = n * (np.diag(p) - np.outer(p, p))
    assert np.abs(np.cov(x.T.astype(float)) - want).max() < 0.3


def test_multivariate_hypergeometric() -> None:
    colors, n = np.array([30, 0, 50, 8, 12]), 25
    x = np.asarray(tr.default_rng(5).multivariate_hypergeometric(colors, n, 50_000))
    assert (x.sum(axis=1) == n).all() and (x <= colors).all()
    for k in (0, 2, 3, 4):
        check_discrete(x[:, k], ss.hypergeom(100, colors[k], n))
    law = ss.multivariate_hypergeom(colors[[0, 2, 3, 4]], n)
    assert np.abs(np.cov(x[:, [0, 2, 3, 4]].T.astype(float)) - law.cov()).max() < 0.15


def test_choice_by_probability() -> None:
    p = np.array([0.1, 0.0, 0.2, 0.4, 0.0, 0.3, 0.0])
    n = 200_000
    for replaced in (p, p.astype(np.float32)):
        got = np.bincount(np.asarray(tr.default_rng(6).choice(7, n, p=replaced)), minlength=7)
        assert not got[p == 0].any()
        assert ((got - n * p)[p > 0] ** 2 / (n * p[p > 0])).sum() < ss.chi2.isf(FALSE, 3)
    # without putting back, the first is p, the second p / (1 - p_first)
    keys = tr.split(tr.key(9), 800)
    pairs = np.array([np.asarray(tr.choice(k, 7, (2,), False, p)) for k in keys])
    want = np.outer(p, p) / (1 - p)[:, None] * (1 - np.eye(7))
    got = np.zeros((7, 7))
    np.add.at(got, tuple(pairs.T), 1)
    use = want > 0
    assert not got[~use].any()
    assert ((got - 800 * want)[use] ** 2 / (800 * want[use])).sum() < ss.chi2.isf(FALSE, use.sum() - 1)


def test_permutations_are_equally_likely() -> None:
    """All 24 orders of 4, of many lines."""
    x = np.asarray(
        tr.default_rng(8).permuted(np.broadcast_to(np.arange(4), (60_000, 4)).astype(np.int32), axis=1)
    )
    assert (np.sort(x, axis=1) == np.arange(4)).all()
    _, got = np.unique(x @ [64, 16, 4, 1], return_counts=True)
    assert len(got) == 24 and ((got - 2500) ** 2 / 2500).sum() < ss.chi2.isf(FALSE, 23)


def test_geometric_brownian() -> None:
    state = np.full(100_000, 100.0, np.float32)
    x = np.asarray(tr.geometric_brownian(tr.key(3), state, 0.001, 0.02, 250))
    check_continuous(x, ss.lognorm(0.02 * np.sqrt(250), scale=100 * np.exp(0.25)))
