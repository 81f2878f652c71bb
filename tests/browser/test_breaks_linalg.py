"""What broke under attack in tg.linalg, tg.fft and tg.random: arguments taken for others, values that no error told of,
streams that met."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tabgpu as tg

la, tr = tg.linalg, tg.random


def f32(x):
    return np.asarray(x, np.float32)


def gpu(*x):
    return tg.asarray(f32(x))


async def raises(error, match, make) -> None:
    """At the call, or at the read of what it gives."""
    with pytest.raises(error, match=match):
        await make().numpy()


# ---- linalg ----


async def test_axes_of_tensorsolve_are_looked_at() -> None:
    """An axis beyond the last was taken modulo the number of axes."""
    a = f32(np.random.default_rng(1).normal(size=(2, 6, 3)))
    b = tg.ones((2, 3))
    for axes in ((1,), (-2,), [1]):
        got = await la.tensorsolve(tg.asarray(a), b, axes=axes).numpy()
        want = np.linalg.tensorsolve(a.astype(np.float64), np.ones((2, 3)), axes=(1,))
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    turned = f32(np.random.default_rng(2).normal(size=(2, 3, 3, 2)))
    for axes in ((0, 2), (2, 0)):  # they keep this order
        got = await la.tensorsolve(tg.asarray(turned), tg.ones((3, 2)), axes=axes).numpy()
        want = np.linalg.tensorsolve(turned.astype(np.float64), np.ones((3, 2)), axes=axes)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    with pytest.raises(tg.AxisError, match="tensorsolve: axis 4"):
        la.tensorsolve(tg.asarray(a), b, axes=(4,))  # 4 % 3 is 1
    with pytest.raises(ValueError, match="permute"):
        la.tensorsolve(tg.asarray(a), b, axes=(1, 1))


async def test_exchanges_of_lu_solve_are_looked_at() -> None:
    """Rows beyond the last were clamped, exchanges of another number of rows accepted."""
    a = f32(np.random.default_rng(0).normal(size=(5, 5)))
    packed, piv = la.lu_factor(tg.asarray(a))
    good = np.asarray(await piv.numpy())
    for trans in (0, 1, 2):
        got = await la.lu_solve((packed, good), tg.ones(5), trans).numpy()
        np.testing.assert_allclose(got, np.linalg.solve(a.T if trans else a, np.ones(5)), rtol=1e-4)
        for wrong in (5, -1):
            bad = np.where(np.arange(5) == 3, wrong, good)
            found = la.lu_solve((packed, bad), tg.ones((5, 2)), trans)
            await raises(ValueError, f"index {wrong} is out of bounds", lambda x=found: x)
            await raises(ValueError, f"index {wrong} is out of bounds", lambda x=found: x[0] + 1)
    for wrong in (good[:4], np.append(good, 0), good[None], good.astype(np.float32)):
        with pytest.raises(ValueError, match=r"lu_solve: of factors \(5, 5\) piv is integers \(5,\)"):
            la.lu_solve((packed, wrong), tg.ones(5))
    assert la.lu_solve((tg.ones((0, 0)), np.array([])), tg.ones(0)).shape == (0,)


async def test_an_infinite_pivot_of_cholesky_is_an_error() -> None:
    """It made NaN that no verdict told of."""
    for n in (2, 40):  # one launch, and panels
        a = np.eye(n, dtype=np.float32)
        a[1, 1] = np.inf
        await raises(
            la.LinAlgError, r"not positive definite \(pivot 1\)", lambda a=a: la.cholesky(tg.asarray(a))
        )
        factor, info = await tg.fetch(*la.cholesky_ex(tg.asarray(a)))
        assert info == 2 and factor[0, 0] == 1 and np.isnan(factor[1, 1])
        a[1, 1] = 3e38
        assert (await la.cholesky(tg.asarray(a)).numpy())[1, 1] == pytest.approx(3e38**0.5)


async def test_tolerances_on_the_gpu_are_not_read() -> None:
    """null_space, orth, power_step, issymmetric and fftfreq took float() of them, which waits for the GPU."""
    a = tg.asarray(np.diag(f32([1, 0.5, 1e-3, 0])))
    near = tg.asarray(f32([[1, 2.05], [2, 1]]))
    before = tg.memory()["reads"]
    made = [
        (la.null_space(a, rcond=t, size=3), la.orth(a, rcond=t, size=3), la.power_step(a, tg.ones((4, 2)), epsilon=t),
         la.issymmetric(near, atol=t), la.ishermitian(near, rtol=t), la.issymmetric(near, skew=True, atol=t),
         la.pinv(a, t), la.lstsq(a, tg.ones(4), t).x, la.matrix_rank(a, t), tg.fft.fftfreq(5, t), tg.fft.rfftfreq(5, t))
        for t in (tg.asarray(f32(0.25)), 0.25)
    ]  # fmt: skip
    assert tg.memory()["reads"] == before
    there, here = await tg.fetch(*made[0]), await tg.fetch(*made[1])
    for x, y in zip(there, here, strict=True):
        assert x.shape == y.shape and np.array_equal(x, y)
    assert there[3] and there[4] and not there[5] and there[8] == 2
    with pytest.raises(ValueError, match="atol must be finite"):
        la.issymmetric(near, atol=-1)


def test_modes_of_qr_are_names() -> None:
    for mode in ([], {}, None, 1):
        with pytest.raises(ValueError, match="mode is"):
            la.qr(tg.eye(3), mode)


# ---- fft ----


async def test_types_of_cosine_transforms_are_integers() -> None:
    """type=2.0 chose a transform that does not exist, and gave other numbers."""
    x = tg.asarray(f32(range(5)))
    for name in ("dct", "idct", "dst", "idst"):
        for kind in (2.0, "2", None):
            with pytest.raises(TypeError):
                getattr(tg.fft, name)(x, kind)
        a, b = await tg.fetch(getattr(tg.fft, name)(x, np.int64(3)), getattr(tg.fft, name)(x, 3))
        assert np.array_equal(a, b)
        with pytest.raises(ValueError, match="norm"):
            getattr(tg.fft, name)(x, norm=[])


async def test_infinite_imaginary_parts_stay_there() -> None:
    """The parts of a complex cosine transform were put together by a product with 1j."""
    x = np.array([complex(1, np.inf), 2, 3], np.complex64)
    got = await tg.fft.dct(tg.asarray(x)).numpy()
    assert np.allclose(got.real, [12, -3.4641016, 0], atol=1e-5) and np.isposinf(got.imag[0])


async def test_lengths_and_axes_of_numpy_integers() -> None:
    x = tg.asarray(f32(np.arange(12).reshape(3, 4)))
    a, b = await tg.fetch(tg.fft.fftn(x, s=np.int64(2), axes=np.int32(1)), tg.fft.fft(x, 2, axis=1))
    assert np.array_equal(a, b)
    with pytest.raises(ValueError, match="negative"):
        tg.fft.fftfreq(-4)


# ---- random: streams ----


async def test_far_streams_never_meet() -> None:
    """Jumps were taken modulo 2**32, and met seeds above 2**64 and keys of fold_in."""
    for kind in (tr.Philox, tr.Threefry):
        key = tr.key(0, kind.impl)
        jumps = (1, 2, 2**31, 2**32, 2**32 + 1, 2**33, 2**64)
        made = [kind(seed) for seed in (0, 1, 2**64, 2**65, 2**96, 2**128, [0], [1], [0, 1])]
        made += [kind(0).jumped(k) for k in jumps]
        made += [kind(0).advance(k << 32) for k in (1, 2, 3)]
        made += kind(0).spawn(3) + [kind(0).spawn(1)[0].jumped(), kind(0).spawn(1)[0].spawn(1)[0]]
        made += [
            kind(key=k) for k in (*tr.split(key, 3), *[tr.fold_in(key, k) for k in (0, 1, 2, 2**32, 2**33)])
        ]
        words = await tg.fetch(*[b.random_raw(2) for b in made])
        assert len({tuple(w.tolist()) for w in words}) == len(made)
    with pytest.raises(ValueError, match="before the first"):
        tr.Philox(1).jumped(-1)
    with pytest.raises(ValueError, match="before the first"):
        tr.Philox(1).advance(-1)


async def test_a_key_on_the_gpu_jumps_as_one_of_the_host() -> None:
    there = tg.asarray(np.array([5, 0], np.uint32))
    for far in (0, 7, 1 << 32, 3 << 40, 1 << 64, (1 << 64) + (5 << 32) + 9, 1 << 100):
        a, b = tr.Philox(5).advance(far), tr.Philox(key=there).advance(far)
        x, y = await tg.fetch(a.random_raw(5), b.random_raw(5))
        assert np.array_equal(x, y), far


async def test_what_is_no_seed() -> None:
    for bad in ("a", 1.5, {1: 2}.keys, b"a", [1.5], ["a"], tg.asarray(1)):
        with pytest.raises(TypeError):
            tr.default_rng(bad)
    for key in ((1, -2), (1, 2**32)):
        with pytest.raises(ValueError, match="32 bits"):
            tr.Philox(key=key)
        with pytest.raises(ValueError, match="32 bits"):
            tr.bits(key, 3)
    seq = tr.SeedSequence(1)
    with pytest.raises(ValueError, match="negative"):
        seq.spawn(-1)
    assert seq.n_children_spawned == 0
    both = tr.default_rng((1, 2)).random(4), tr.default_rng([1, 2]).random(4)
    numpys = tr.default_rng(np.random.SeedSequence(8)).random(4), tr.default_rng(tr.SeedSequence(8)).random(4)
    for a, b in (both, numpys):
        x, y = await tg.fetch(a, b)
        assert np.array_equal(x, y)


async def test_calls_that_fail_take_no_positions() -> None:
    rng = tr.default_rng(5)
    for bad in (
        lambda: rng.integers(5, 5), lambda: rng.integers(0, 9, size=3, dtype="float32"),
        lambda: rng.uniform(0, np.inf, 9), lambda: rng.random(3, dtype="int32"),
        lambda: rng.poisson(-1.0, 9), lambda: rng.choice(3, 4, p=[1, 1, 1]),
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError, OverflowError)):
            bad()
        assert rng.bit_generator.position == 0
    with pytest.raises(TypeError, match="an Array of tabgpu"):
        rng.random(out=np.zeros(3, np.float32))


# ---- random: parameters ----


async def test_parameters_of_arrays_are_looked_at() -> None:
    """Of keyed functions only numbers were: uniform(0, [inf]) was 3.4e38, [nan] 0, and bernoulli took 2 for 1."""
    key, rng = tr.key(1), tr.default_rng(1)
    for wrong in (np.inf, -np.inf, np.nan):
        for high in (f32([1, wrong]), gpu(1, wrong)):
            await raises(OverflowError, "beyond float32", lambda x=high: tr.uniform(key, None, high=x))
            await raises(OverflowError, "beyond float32", lambda x=high: rng.uniform(0, x))
    assert (await rng.uniform(gpu(-1e38), gpu(1e38), 4).numpy()).shape == (4,)
    assert (await rng.uniform(gpu(-6e4).astype("float16"), 6e4, 4, "float16").numpy()).shape == (4,)
    for p in (2.0, -0.5, np.nan):
        for made in (f32([p]), gpu(p)):
            await raises(ValueError, "from 0 to 1", lambda x=made: tr.bernoulli(key, x))
    assert (await tr.bernoulli(key, gpu(0, 1)).numpy()).tolist() == [False, True]
    for std in (f32([1, -1]), gpu(1, -1), gpu(np.nan)):
        await raises(ValueError, "std must not be negative", lambda x=std: tr.normal(key, None, std=x))


async def test_counts_beyond_int32_are_errors() -> None:
    """negative_binomial ended at 2147000064."""
    rng = tr.default_rng(2)
    for n, p in ((1.0, 1e-30), (1e10, 0.5), (np.inf, 0.5), (0.5, 1e-12)):
        for x, y in ((n, p), ([n], p), (gpu(n), p), (n, gpu(p)), (gpu(n), gpu(p))):
            await raises(ValueError, "n is too large", lambda x=x, y=y: rng.negative_binomial(x, y, (3,)))
    for x, y in ((3.0, 1.0), (gpu(3), gpu(1)), (1e-30, 0.5)):
        assert not (await rng.negative_binomial(x, y, (3,)).numpy()).any()
    assert abs((await rng.negative_binomial(gpu(1e6), 0.01, 200).numpy()).mean() / 99e6 - 1) < 1e-3


async def test_great_noncentrality() -> None:
    """The Poisson counts in it ended at 2**31, and it at 4.29e9."""
    rng = tr.default_rng(3)
    for nonc in (3e9, 1e37):
        for given in (nonc, gpu(nonc)):
            x = (await rng.noncentral_chisquare(2.0, given, 400).numpy()).astype(np.float64)
            assert abs(x.mean() / nonc - 1) < 5 * 2 / math.sqrt(nonc * 400) + 3e-7
            assert nonc > 1e12 or 0.8 < x.std() / (2 * math.sqrt(nonc)) < 1.2
            y = (await rng.noncentral_f(2.0, 1e6, given, 9).numpy()).astype(np.float64)
            assert np.all(np.abs(2 * y / nonc - 1) < 0.02)
    for given in (np.inf, gpu(np.inf)):
        assert np.isposinf(await rng.noncentral_chisquare(2.0, given, 5).numpy()).all()
    x = (await rng.noncentral_chisquare(gpu(1), gpu(0.5, 2e9, 3e9)[:, None], (3, 300)).numpy()).astype(
        np.float64
    )
    assert np.all(np.abs(x.mean(-1) / [1.5, 2e9, 3e9] - 1) < [0.5, 1e-3, 1e-3])


async def test_great_angles() -> None:
    """Von Mises' distribution about 1e30 gave 7.6e22, about 1e10 always 0."""
    for mu in (4.0, -100.0, 1e5, 1e10, 1e30, -1e38):
        near = float(np.float32(mu))
        want = math.atan2(math.sin(near), math.cos(near))
        for given in (near, gpu(mu)):
            x = await tr.default_rng(4).vonmises(given, 1e4, 300).numpy()
            assert np.abs(x).max() <= np.float32(math.pi)
            away = np.remainder(x - want + math.pi, 2 * math.pi) - math.pi
            assert abs(away.mean()) < 0.004 and 0.008 < away.std() < 0.012, mu
    assert (await tr.default_rng(4).vonmises(1e30, 0.0, 300).numpy()).std() > 1


async def test_wald_of_a_great_mean() -> None:
    """0, since a square overflowed: the limit is Levy's distribution, scale / z**2."""
    z = np.sort((await tr.default_rng(7).wald(1e30, 2.0, 2001).numpy()).astype(np.float64))
    assert abs(z[1000] / (2 / 0.6744897501960817**2) - 1) < 0.15 and z[0] > 0.05


async def test_shares_of_zero() -> None:
    """NumPy's dirichlet takes zeros in alpha: no share, and none at all where all are 0."""
    rng = tr.default_rng(5)
    for alpha in ([0.0, 2.0, 0.0, 1.0], gpu(0, 2, 0, 1)):
        x = await rng.dirichlet(alpha, 50).numpy()
        assert not x[:, [0, 2]].any() and np.allclose(x.sum(-1), 1, atol=1e-6) and x[:, 3].std() > 0.1
    for alpha in ([0.0, 0.0], gpu(0, 0)):
        assert (await rng.dirichlet(alpha, 2).numpy()).tolist() == [[0, 0], [0, 0]]
    assert (await rng.dirichlet([0.0, 1e-30], 3).numpy()).tolist() == [[0, 1]] * 3
    with pytest.raises(ValueError, match="alpha must not be negative"):
        rng.dirichlet([-1.0, 1.0])


async def test_choices_without_probability_are_never_taken() -> None:
    """Rates below 1e-38 were as good as 0: an element of probability 0 was taken in their place."""
    rng = tr.default_rng(6)
    for p in (
        [0, 1e-300, 1, 0],
        [0, 1e-46, 1, 0],
        [0, 1e-38, 1, 0],
        gpu(0, 1e-40, 1, 0),
        gpu(0, 1e-45, 1, 0),
    ):
        for _ in range(3):
            assert (await rng.choice(4, 2, replace=False, p=p).numpy()).tolist() == [2, 1]


async def test_open_numbers_of_jit_take_the_same_ways() -> None:
    for draw, numbers in (
        (lambda rng, mu: rng.vonmises(mu, 2.0, 5), (0.5, 10.0, 1e10, -1e30)),
        (lambda rng, nonc: rng.noncentral_chisquare(2.0, nonc, 5), (0.0, 3.0, 1e10, 2.0, np.inf)),
    ):
        made = tg.jit(lambda seed, x, draw=draw: draw(tr.Generator(tr.key(seed)), x))
        for seed, x in enumerate(numbers):
            a, b = await tg.fetch(made(seed, x), draw(tr.Generator(tr.key(seed)), x))
            np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-6)
