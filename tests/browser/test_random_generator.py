"""tg.random.Generator: NumPy's methods, bit generators and their state, seeds, Threefry, parameters that are refused.

How values are distributed is tested beside SciPy in tests/sci/test_random.py.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from counted import KEY, OURS, words

import tabgpu as tg
from tabgpu import random as tr
from tabgpu.dtypes import int32, uint32
from tabgpu.graph import Fn
from tabgpu.random.applying import apply
from tabgpu.random.keys import ThreefryKey, threefry2x32

# Random123 1.14, kat_vectors: counter, key, block of threefry2x32 with 20 rounds.
KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "beta": (2.0, 0.5), "binomial": (30, 0.4), "chisquare": (3.0,), "exponential": (2.0,), "f": (3.0, 5.0),
    "gamma": (0.7, 2.0), "geometric": (0.3,), "gumbel": (), "hypergeometric": (40, 30, 20), "integers": (1000,),
    "laplace": (), "logistic": (), "lognormal": (), "logseries": (0.6,), "negative_binomial": (4.0, 0.4),
    "noncentral_chisquare": (3.0, 1.0), "noncentral_f": (3.0, 5.0, 1.0), "normal": (), "pareto": (3.0,),
    "poisson": (15.0,), "power": (2.0,), "random": (), "rayleigh": (), "standard_cauchy": (),
    "standard_exponential": (), "standard_gamma": (2.5,), "standard_normal": (), "standard_t": (4.0,),
    "triangular": (0.0, 1.0, 2.0), "uniform": (), "vonmises": (0.0, 2.0), "wald": (1.0, 2.0), "weibull": (1.5,),
    "zipf": (2.5,),
}  # fmt: skip
SOME = ("gamma", "binomial", "integers", "standard_normal", "standard_t", "geometric")
OTHERS = {
    "bit_generator", "bytes", "choice", "dirichlet", "multinomial", "multivariate_hypergeometric",
    "multivariate_normal", "permutation", "permuted", "shuffle", "spawn",
}  # fmt: skip
# What numpy.random has that tg.random has not.
LEFT_OUT = {
    "MT19937": "a state of 2.5 KB that goes on word by word; counters need none",
    "PCG64": "128-bit products, one after another",
    "PCG64DXSM": "128-bit products, one after another",
    "SFC64": "a state that goes on word by word",
    "RandomState": "NumPy's legacy interface",
    "bit_generator": "a module; its classes are here",
    "get_bit_generator": "of NumPy's hidden, global state",
    "mtrand": "a module of RandomState",
    "set_bit_generator": "of NumPy's hidden, global state",
    "test": "NumPy's own tests",
}


def test_every_name_of_numpys_generator() -> None:
    """All public names of numpy.random.Generator, with the same arguments in the same order."""
    names = {n for n in dir(np.random.Generator) if not n.startswith("_")}
    assert names == set(ARGUMENTS) | OTHERS
    theirs = np.random.default_rng(1)
    for name in names - {"bit_generator"}:
        ours = inspect.signature(getattr(tr.Generator, name))
        try:
            want = inspect.signature(getattr(theirs, name))
        except ValueError:
            continue
        theirs_too = [p for p in want.parameters if p != "self"]
        more = ["dtype"] if name in ("normal", "uniform") else []
        assert list(ours.parameters)[1:] == theirs_too + more, name


def test_every_name_of_numpys_module() -> None:
    legacy = {n for n in dir(np.random.RandomState) if not n.startswith("_")} | {"ranf", "sample"}
    names = {n for n in dir(np.random) if not n.startswith("_")} - legacy
    missing = {n for n in names if n not in tr.__all__}
    assert missing <= set(LEFT_OUT), missing - set(LEFT_OUT)
    assert not {n for n in LEFT_OUT if n in tr.__all__}


async def test_x02_threefry_known_answers() -> None:
    """On the host and in a kernel."""
    for k, (counter, key, block) in enumerate(KNOWN):
        assert threefry2x32(counter, key) == block
        text = ", ".join(f"{c}u" for c in counter)
        fns = [
            Fn(f"fish{k}{lane}", f"threefry2x32(vec2u({text}), y, z).{lane}", (int32, uint32, uint32), uint32)
            for lane in "xy"
        ]
        got = await tg.fetch(*[apply(fn, (5,), tg.arange(5), *key) for fn in fns])
        assert all((g == want).all() for g, want in zip(got, block, strict=True)), k


def fish_words(n: int, key: tuple[int, int], start: int = 0) -> Any:
    return np.array(
        [threefry2x32((i // 4, i // 2 % 2), key)[i % 2] for i in range(start, start + n)], np.uint32
    )


async def test_threefry_streams() -> None:
    key = ThreefryKey(*KEY)
    rng = tr.Generator(tr.Threefry(key=KEY))
    a, b, c, d, e = await tg.fetch(
        tr.bits(key, (13, 7)), rng.random(9), rng.integers(2**32, dtype="uint32", size=6),
        tr.bits(tr.split(key)[1], 9),
        tr.bits(tr.fold_in(key, 2**40 + 3), 5),
    )  # fmt: skip
    w = fish_words(100, KEY)
    assert (a.reshape(-1) == w[:91]).all() and (b == (w[:9] >> 8) * 2.0**-24).all() and (c == w[9:15]).all()
    assert isinstance(tr.split(key)[0], ThreefryKey) and (d == fish_words(9, tr.split(key)[1])).all()
    assert (e == fish_words(5, tr.fold_in(key, 2**40 + 3))).all()
    assert len({*tr.split(key, 50), *[tr.fold_in(key, k) for k in range(50)], tr.fold_in(key, 2**32)}) == 101
    assert tr.key(2**40 + 1, "threefry2x32") == ThreefryKey(1, 256)
    with pytest.raises(ValueError, match="impl"):
        tr.key(1, "mt19937")
    assert "Threefry" in repr(tr.default_rng(key)) and "Philox" in repr(tr.default_rng(tr.key(1)))


@pytest.mark.limits
@pytest.mark.parametrize(
    ("bits", "names"),
    [
        ("Philox", SOME),
        ("Threefry", SOME[:3]),
        pytest.param("Philox", tuple(ARGUMENTS), marks=pytest.mark.slow),
    ],
)
async def test_values_do_not_depend_on_the_launch(bits: str, names: tuple[str, ...]) -> None:
    """Each method: what is drawn at once, in pieces of any lengths, in two axes, fused and as views is the same."""

    def rng() -> Any:
        return tr.Generator(getattr(tr, bits)(key=KEY))

    n = 210
    for name in names:
        args = ARGUMENTS[name]
        whole = getattr(rng(), name)(*args, size=n)
        parts = rng()
        pieces = [getattr(parts, name)(*args, size=k) for k in (1, 2, 0, 3, 101, 103)]
        grid = getattr(rng(), name)(*args, size=(14, 15))
        got = await tg.fetch(
            whole, *pieces, grid, grid.T[::-1], getattr(rng(), name)(*args, size=n).reshape(15, 14).T + 0
        )
        x = got[0]
        assert x.shape == (n,) and np.isfinite(x).all() and (np.concatenate(got[1:7]) == x).all(), name
        assert (got[7].reshape(-1) == x).all() and (got[8] == x.reshape(14, 15).T[::-1]).all(), name
        assert (got[9] == x.reshape(15, 14).T).all(), name
        assert x.dtype == (np.int32 if x.dtype.kind == "i" else np.float32) and len(np.unique(x)) > 1, name


async def test_parameters_that_are_arrays_broadcast() -> None:
    """Each element as a call with its own numbers has it; host arrays, Arrays and numbers mixed."""
    key = tr.key(11)
    a, b = np.float32([[0.3], [2.0], [30.0]]), np.float32([0.5, 1.0, 8.0, 100.0])
    rng = tr.default_rng(key)
    x = rng.gamma(tg.asarray(a), b)
    y = tr.default_rng(key).gamma(a, tg.asarray(b), size=(2, 3, 4))
    n, p = np.array([[3], [400], [10**6]]), np.float32([0.0, 0.2, 0.9, 1.0])
    z = tr.default_rng(key).binomial(n, tg.asarray(p))
    lam = tr.default_rng(key).poisson(tg.asarray(np.float32([0, 1, 50, 1e5])), (3, 4))
    x, y, z, lam = await tg.fetch(x, y, z, lam)
    assert x.shape == (3, 4) and y.shape == (2, 3, 4) and (y[0] == x).all() and z.shape == (3, 4)
    for i in range(3):
        for j in range(4):
            one = tr.default_rng(key)
            one.bit_generator.advance(4 * i + j)
            two = tr.default_rng(key)
            two.bit_generator.advance(4 * i + j)
            g, k = await tg.fetch(
                one.gamma(float(a[i, 0]), float(b[j])), two.binomial(int(n[i, 0]), float(p[j]))
            )
            assert g == x[i, j] and k == z[i, j] and g.shape == ()
    assert (z[:, 0] == 0).all() and (z[:, 3] == n[:, 0]).all() and (lam[:, 0] == 0).all()
    with pytest.raises(ValueError, match="broadcast"):
        rng.gamma(a, b, size=(3,))
    assert rng.normal(np.zeros(5), 1.0).shape == (5,) and rng.normal(size=()).shape == ()


BAD: list[tuple[str, tuple[Any, ...]]] = [
    ("beta", (0.0, 1.0)), ("beta", (1.0, -1.0)), ("binomial", (-1, 0.5)), ("binomial", (3, 1.5)),
    ("binomial", (3, float("nan"))), ("chisquare", (0.0,)), ("exponential", (-1.0,)), ("f", (0.0, 1.0)),
    ("gamma", (-1.0, 1.0)), ("gamma", (1.0, -1.0)), ("geometric", (0.0,)), ("geometric", (1.1,)),
    ("gumbel", (0.0, -1.0)), ("hypergeometric", (-1, 2, 1)), ("hypergeometric", (3, 2, 6)),
    ("hypergeometric", (10**9, 2, 6)), ("laplace", (0.0, -1.0)), ("logistic", (0.0, -1.0)),
    ("lognormal", (0.0, -1.0)), ("logseries", (1.0,)), ("logseries", (-0.1,)), ("negative_binomial", (0.0, 0.5)),
    ("negative_binomial", (1.0, 0.0)), ("noncentral_chisquare", (0.0, 1.0)), ("noncentral_chisquare", (1.0, -1.0)),
    ("noncentral_f", (1.0, 1.0, -1.0)), ("normal", (0.0, -1.0)), ("normal", (0.0, float("nan"))), ("pareto", (0.0,)),
    ("poisson", (-1.0,)), ("poisson", (3e9,)), ("power", (0.0,)), ("rayleigh", (-1.0,)), ("standard_gamma", (-0.5,)),
    ("standard_t", (0.0,)), ("triangular", (1.0, 0.0, 2.0)), ("triangular", (0.0, 3.0, 2.0)),
    ("triangular", (1.0, 1.0, 1.0)), ("vonmises", (0.0, -1.0)), ("wald", (0.0, 1.0)), ("wald", (1.0, 0.0)),
    ("weibull", (-1.0,)), ("zipf", (1.0,)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), BAD, ids=lambda v: str(v))
async def test_wrong_parameters(name: str, args: tuple[Any, ...]) -> None:
    """Of the host: at the call, as numbers and in arrays, before a position is taken. On the GPU: at the read."""
    rng = tr.default_rng(1)
    for given in (args, [np.array([a, a]) for a in args], [np.asarray(a)[None] for a in args]):
        with pytest.raises(ValueError, match=name):
            getattr(rng, name)(*given, size=2)
    assert rng.bit_generator.position == 0
    there = [tg.asarray(np.array([a, a], np.int32 if isinstance(a, int) else np.float32)) for a in args]
    lost, kept = getattr(rng, name)(*there), rng.random(3)
    with pytest.raises(ValueError, match=name):
        await (lost + 1).numpy()
    assert (await kept.numpy()).shape == (3,)


def test_wrong_kinds() -> None:
    rng = tr.default_rng(1)
    for call in (
        lambda: rng.binomial(2.5, 0.5), lambda: rng.binomial(tg.asarray([1.5]), 0.5), lambda: rng.gamma("a"),
        lambda: rng.random(3, "int32"), lambda: rng.standard_gamma(1.0, dtype="float64"), lambda: rng.gamma(1j),
        lambda: rng.shuffle([1, 2]), lambda: rng.permutation(tg.asarray(1.0)), lambda: tr.fold_in("key", 1),
        lambda: rng.hypergeometric(3.0, 2, 1), lambda: tr.Generator(5),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            call()


async def test_special_parameters() -> None:
    """Edges at which distributions are a point, or NumPy says what is to come."""
    rng = tr.default_rng(4)
    got = await tg.fetch(
        rng.gamma(0.0, 2.0, 5), rng.gamma(3.0, 0.0, 5), rng.weibull(0.0, 5), rng.poisson(0.0, 5),
        rng.binomial(0, 0.5, 5), rng.binomial(9, 0.0, 5), rng.hypergeometric(0, 0, 0, 5),
        rng.hypergeometric(5, 0, 3, 5), rng.hypergeometric(0, 5, 3, 5), rng.logseries(0.0, 5),
        rng.exponential(0.0, 5), rng.noncentral_chisquare(2.0, 0.0, 5) * 0,
    )  # fmt: skip
    for x, want in zip(got, (0, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0, 0), strict=True):
        assert (x == want).all()
    full, ones, wide, points = await tg.fetch(
        rng.binomial(9, 1.0, 5), rng.geometric(1.0, 5), rng.geometric(1e-12, 5), rng.normal(3.0, 0.0, 4)
    )
    assert (full == 9).all() and (ones == 1).all() and (points == 3).all() and (wide > 10**6).all()
    for empty in (
        rng.gamma(1.0, size=0),
        rng.zipf(2.0, (3, 0)),
        rng.permutation(0),
        rng.multinomial(3, [0.5, 0.5], 0),
    ):
        assert (await empty.numpy()).size == 0


async def test_dtypes_and_out() -> None:
    for name, args in (
        ("random", ()),
        ("standard_normal", ()),
        ("standard_exponential", ()),
        ("standard_gamma", (2.0,)),
    ):
        x = await getattr(tr.default_rng(3), name)(*args, size=50).numpy()
        for dtype in ("float16", "bfloat16"):
            z = getattr(tr.default_rng(3), name)(*args, size=50, dtype=dtype)
            y = await z.numpy()
            assert z.dtype.name == dtype and np.abs(y.astype(np.float32) - x).max() < (
                0.02 if dtype == "float16" else 0.1
            )
        out = tg.zeros((5, 10))
        assert getattr(tr.default_rng(3), name)(*args, out=out) is out
        assert (await out.numpy() == x.reshape(5, 10)).all()
        with pytest.raises(ValueError, match="out"):
            getattr(tr.default_rng(3), name)(*args, size=3, out=out)
        with pytest.raises(TypeError, match="out"):
            getattr(tr.default_rng(3), name)(*args, out=tg.zeros((5,), dtype="int32"))


async def test_state_round_trip() -> None:
    for kind in (tr.Philox, tr.Threefry):
        rng = tr.Generator(kind(123456789123456789123))
        rng.random(7)
        rng.spawn(2)
        state = rng.bit_generator.state
        a = rng.normal(size=5)
        again = tr.Generator(kind(0))
        again.bit_generator.state = state
        b, c = again.normal(size=5), pickle.loads(pickle.dumps(rng.bit_generator))
        assert c.state == rng.bit_generator.state == again.bit_generator.state
        a, b, d, e = await tg.fetch(a, b, rng.random(3), tr.Generator(c).random(3))
        assert (a == b).all() and (d == e).all()
        other = tr.Threefry if kind is tr.Philox else tr.Philox
        with pytest.raises(ValueError, match="state"):
            other(1).state = state
        for bad in (
            {"key": (1,), "position": 0},
            {"key": (1, 2**32), "position": 0},
            {"key": (1, 2), "position": -1},
        ):
            with pytest.raises((ValueError, TypeError)):
                kind(1).state = state | {"state": bad}


async def test_jumps_and_advances() -> None:
    b = tr.Philox(5)
    x = b.random_raw(20)
    b.advance(-15)
    y = b.random_raw(15)
    far, farther = b.jumped(), b.jumped(2)
    assert farther.state == far.jumped().state and b.random_raw(3, output=False) is None and b.position == 23
    x, y, z, w = await tg.fetch(x, y, far.random_raw(20), farther.random_raw(20))
    assert (x == words(20, tr.key(5))).all() and (y == x[5:]).all() and len({*x, *z, *w}) == 60
    there = tr.Philox(key=tg.asarray([5, 0], dtype=tg.uint32))
    a, c, d = await tg.fetch(there.random_raw(4), there.jumped().random_raw(4), there.jumped(2).random_raw(4))
    assert (a == x[:4]).all() and len({*a, *c, *d}) == 12


async def test_spawned_generators_are_independent() -> None:
    """Of each other, of their parent, of keys by split and fold_in, of later children; the same ones again."""
    for kind in (tr.Philox, tr.Threefry):
        parent = tr.Generator(kind(8))
        children = parent.spawn(3) + parent.spawn(2) + parent.bit_generator.spawn(1)[0].spawn(1)
        children = [tr.Generator(c) if isinstance(c, tr.BitGenerator) else c for c in children]
        again = tr.Generator(kind(8)).spawn(5)
        key = tr.key(8, kind.impl)
        more = [tr.bits(k, 500) for k in (key, *tr.split(key, 5), *[tr.fold_in(key, j) for j in range(5)])]
        got = await tg.fetch(*[c.bit_generator.random_raw(500) for c in children], *more)
        assert len(np.unique(np.concatenate(got))) > 500 * len(got) - 12
        for one, two in zip(
            got, await tg.fetch(*[c.bit_generator.random_raw(500) for c in again]), strict=False
        ):
            assert (one == two).all()
        unit = np.array(got) / 2.0**32 - 0.5
        assert np.abs(np.corrcoef(unit) - np.eye(len(got))).max() < 5.5 / np.sqrt(500)
    there = tr.Generator(tg.asarray(tr.key(8), dtype=tg.uint32)).spawn(2)
    a, b = await tg.fetch(there[1].random(5), tr.default_rng(8).spawn(2)[1].random(5))
    assert (a == b).all()


def test_seed_sequences_are_numpys() -> None:
    for entropy in (0, 1, 2**32, 2**70 + 5, 2**200 + 1, [1, 2, 3], [2**40, 0], (0,)):
        ours, theirs = tr.SeedSequence(entropy), np.random.SeedSequence(entropy)
        for a, b in [
            (ours, theirs),
            *zip(ours.spawn(2) + ours.spawn(1), theirs.spawn(2) + theirs.spawn(1), strict=True),
        ]:
            assert (a.generate_state(7) == b.generate_state(7)).all()
            assert (a.generate_state(3, "uint64") == b.generate_state(3, "uint64")).all()
            assert a.spawn_key == b.spawn_key and a.n_children_spawned == b.n_children_spawned
    assert (
        tr.SeedSequence(5, pool_size=8).generate_state(9)
        == np.random.SeedSequence(5, pool_size=8).generate_state(9)
    ).all()
    assert tr.SeedSequence().entropy != tr.SeedSequence().entropy
    words_ = tuple(int(w) for w in np.random.SeedSequence([3, 4]).generate_state(2))
    assert tr.default_rng([3, 4]).bit_generator.state["state"]["key"] == words_
    assert tr.Philox(tr.SeedSequence([3, 4])).key == words_ and tr.Philox(7).key == tr.key(7)
    with pytest.raises(ValueError):
        tr.SeedSequence(-1)
    with pytest.raises(ValueError):
        tr.Philox(5, key=(1, 2))


@pytest.mark.parametrize(
    "method", ["cholesky", *[pytest.param(m, marks=pytest.mark.slow) for m in ("eigh", "svd")]]
)
async def test_multivariate_normal(method: str) -> None:
    """Each factor gives the covariance back; draws are that factor times normal numbers."""
    a = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 0.5]])
    mean = np.array([1.0, -2.0, 3.0])
    x = await tr.default_rng(1).multivariate_normal(mean, a, 40_000, method=method).numpy()
    assert x.shape == (40_000, 3) and x.dtype == np.float32
    assert np.abs(x.mean(axis=0) - mean).max() < 0.04 and np.abs(np.cov(x.T) - a).max() < 0.06
    one = tr.default_rng(1).multivariate_normal(mean, a, method=method)
    assert np.allclose(await one.numpy(), x[0], atol=1e-5) and one.shape == (3,)
    for bad in ((mean, a[:2]), (mean[:2], a), (a, a)):
        with pytest.raises(ValueError):
            tr.default_rng(1).multivariate_normal(*bad)
    with pytest.raises(ValueError, match="method"):
        tr.default_rng(1).multivariate_normal(mean, a, method="qr")


async def test_functions_of_keys_are_a_generators_first_draws() -> None:
    key = tr.key(21)
    cases: list[tuple[Any, Any]] = [
        (tr.gamma(key, 2.0, (5,)), tr.default_rng(key).standard_gamma(2.0, 5)),
        (tr.poisson(key, 3.0, (5,)), tr.default_rng(key).poisson(3.0, 5)),
        (tr.beta(key, 2.0, 3.0, (5,)), tr.default_rng(key).beta(2.0, 3.0, 5)),
        (tr.exponential(key, 5), tr.default_rng(key).exponential(size=5)),
        (tr.binomial(key, 9, 0.5, (5,)).astype("int32"), tr.default_rng(key).binomial(9, 0.5, 5)),
        (tr.t(key, 3.0, 5), tr.default_rng(key).standard_t(3.0, 5)),
        (tr.permutation(key, 9), tr.default_rng(key).permutation(9)),
        (tr.rademacher(key, 5), tr.default_rng(key).integers(2, size=5) * 2 - 1),
        (tr.weibull_min(key, 2.0, 1.5, 5), tr.default_rng(key).weibull(1.5, 5) * 2),
        (tg.exp(tr.loggamma(key, 2.0, 5)).round(3), tr.gamma(key, 2.0, 5).round(3)),
    ]
    for a, b in cases:
        a, b = await tg.fetch(a, b)
        assert a.dtype == b.dtype and np.allclose(a, b, rtol=1e-3)
    assert tr.gamma(key, 2.0, 5, "float16").dtype is tg.float16


async def test_geometric_brownian_paths() -> None:
    """stochastic_evolution: all steps in one launch, of the numbers that the paths show."""
    state = np.float32([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    key = tr.key(6)
    before = tg.memory()["launches"]
    end = await tr.geometric_brownian(key, tg.asarray(state), 0.01, 0.2, 37).numpy()
    assert tg.memory()["launches"] - before == 1
    paths = await tr.geometric_brownian(key, state, 0.01, 0.2, 37, paths=True).numpy()
    assert paths.shape == (2, 3, 38) and (paths[..., 0] == state).all()
    np.testing.assert_allclose(paths[..., -1], end, rtol=1e-5)
    steps = np.diff(np.log(paths.astype(np.float64)), axis=-1)
    z = (steps - 0.01) / 0.2
    assert abs(z.mean()) < 5 / np.sqrt(z.size) and abs(z.std() - 1) < 0.3
    assert (await tr.geometric_brownian(key, state, 0.5, 0.1, 0).numpy() == state).all()
    one = await tr.geometric_brownian(key, state, np.float32([[0.0], [1.0]]), 0.0, 3).numpy()
    np.testing.assert_allclose(one, state * np.exp([[0.0], [3.0]]), rtol=1e-6)
    long, short = await tg.fetch(
        tr.geometric_brownian(key, 1.0, 0.0, 1e-3, 8192 + 5),
        tr.geometric_brownian(key, 1.0, 0.0, 1e-3, 8192 + 5, paths=True)[-1],
    )
    np.testing.assert_allclose(long, short, rtol=1e-4)
    with pytest.raises(ValueError, match="scale"):
        tr.geometric_brownian(key, 1.0, 0.0, -1.0, 5)
    with pytest.raises(ValueError, match="steps"):
        tr.geometric_brownian(key, 1.0, 0.0, 1.0, -5)


async def test_integers_of_every_bound() -> None:
    """Host arrays to the full 32 bits, checked at the call; Arrays at the read, also at the ends of int32."""
    rng = tr.default_rng(9)
    low, high = np.array([0, 2**31, 5]), np.array([2**32, 2**32, 6])
    x = await rng.integers(low, high, (2000, 3), "uint32").numpy()
    assert (x >= low).all() and (x < high).all() and x[:, 0].max() > 4.2e9 and x[:, 1].min() < 2.2e9
    assert (await rng.integers([3, 4], [4, 5]).numpy()).tolist() == [3, 4] and rng.integers(
        np.int64(5)
    ).shape == ()
    for bad in (([0, 5], 3), (0, [1, 2**40]), ([1.5], 3), (-1, 5, None, "uint8")):
        with pytest.raises((ValueError, TypeError)):
            rng.integers(*bad)
    least = tg.asarray([-(2**31)])
    for lost in (
        rng.integers(0, least), rng.integers(least + 5, least), rng.integers(tg.asarray([0, 7]), 300, dtype="uint8"),
        rng.integers(tg.asarray([-1]), 3, dtype="uint16"),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            await lost.numpy()
    ends = await rng.integers(least, tg.asarray([2**31 - 1]), 5000, endpoint=True).numpy()
    assert ends.min() < -2.1e9 and ends.max() > 2.1e9
    small = await rng.integers(tg.asarray([250, 0]), 255, (300, 2), "uint8", endpoint=True).numpy()
    assert small.dtype == np.uint8 and small[:, 0].min() == 250 and small.max() == 255


async def test_jit_keeps_parameters_open() -> None:
    """One trace for all keys and numbers."""
    traced = []

    @tg.jit
    def draw(key: Any, shape: float, scale: float, n: int) -> Any:
        traced.append(shape)
        rng = tr.Generator(key)
        return (
            rng.gamma(shape, scale, 20),
            rng.poisson(shape, 20),
            tr.binomial(key, n, 0.5, (20,)),
            rng.permutation(9),
        )

    for seed, shape, scale, n in [(1, 2.5, 1.0, 5), (2, 7.25, 3.0, 70), (3, 0.5, 0.125, 900)]:
        key = tr.key(seed)
        got = await tg.fetch(*draw(tg.asarray(key, dtype="uint32"), shape, scale, n))
        rng = tr.default_rng(key)
        want = await tg.fetch(
            rng.gamma(shape, scale, 20),
            rng.poisson(shape, 20),
            tr.binomial(key, n, 0.5, (20,)),
            rng.permutation(9),
        )
        assert all(np.allclose(a, b, rtol=1e-6) for a, b in zip(got, want, strict=True))
    assert len(traced) <= 2


def digest(x: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()[:16]


async def test_the_same_bits_everywhere() -> None:
    """Bits, integers, uniforms and permutations: written down, so that adapters, compilers and Pythons compare."""
    rng, fish = tr.default_rng(2026), tr.Generator(tr.Threefry(2026))
    made = {
        "bits": tr.bits(OURS, 4099), "bytes": rng.bytes(1001), "random": rng.random(4099),
        "uniform": rng.uniform(-3.7, 11.1, 4099), "half": rng.random(4099, "float16"),
        "integers": rng.integers(-1000, 12345, 4099), "wide": rng.integers(0, 3 << 30, 4099, "uint32"),
        "permutation": rng.permutation(5003), "permuted": rng.permuted(np.arange(600).reshape(20, 30), axis=1),
        "choice": rng.choice(50, 999, p=np.arange(50) / 1225), "without": rng.choice(5000, 99, False),
        "fish bits": fish.bit_generator.random_raw(4099), "fish random": fish.random(4099),
        "fish integers": fish.integers(1000, size=4099), "fish permutation": fish.permutation(3001),
    }  # fmt: skip
    got = dict(zip(made, await tg.fetch(*made.values()), strict=True))
    assert {name: digest(x) for name, x in got.items()} == EXPECTED
    assert (np.sort(got["permutation"]) == np.arange(5003)).all() and len(set(got["without"].tolist())) == 99


EXPECTED = {
    "bits": "2cf1046969d9e707", "bytes": "980ef32075a1eda3", "random": "6b706481c18334f4",
    "uniform": "ebda35517b382bca", "half": "6aa6241d096cf639", "integers": "fe3fdbe7d918c09e",
    "wide": "b123d2e5debdda5f", "permutation": "3161b3789c4d6333", "permuted": "57cbae9fcc50ab76",
    "choice": "3a858770d310d529", "without": "f064ce3e09bb7eb9", "fish bits": "c2bbb0e1cdc722ad",
    "fish random": "5ccc47409a53ef6c", "fish integers": "bd7c0b0c36b73832",
    "fish permutation": "ba6f39cf980887cf",
}  # fmt: skip


async def test_g23_distributions_compile_once() -> None:
    """Other seeds, sizes, parameters and positions compile nothing."""

    def some(seed: int, n: int) -> list[Any]:
        rng = tr.default_rng(seed)
        return [
            rng.gamma(0.5 + seed, 2.0, n), rng.poisson(0.5 + 3 * seed, n), rng.binomial(3 + 7 * seed, 0.3, n),
            rng.exponential(1.0 + seed, n), rng.permutation(40 + n), rng.standard_t(1.0 + seed, n),
        ]  # fmt: skip

    await tg.fetch(*some(1, 9), *some(2, 10))
    before = tg.memory()["pipelines"]
    for seed in range(12):
        await tg.fetch(*some(seed, 5 + 3 * seed))
    assert tg.memory()["pipelines"] <= before + 2
