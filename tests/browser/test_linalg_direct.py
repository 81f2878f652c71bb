"""tg.linalg, direct methods: Cholesky, LU, triangular systems, solve, inv, by backward errors against float64."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from direct import EPS, adjoint, conditioned, matrix, narrow, norm, off, positive, residual, textbook, wide
from forms import taking

import tabgpu as tg
from tabgpu import engine

la = tg.linalg
RNG = np.random.default_rng(7)
SIZES = (1, 2, 3, 15, 16, 17, 31, 32, 33, 65)
KINDS = ("f", "c")
NEAR = 3.0  # backward errors in units of n eps, where 40 (20 n machine epsilons) are allowed


def gpu(x):
    return tg.asarray(narrow(x))


async def host(x):
    return wide(await x.numpy())


async def check_cholesky(a, upper: bool = False, given=None) -> None:
    found = la.cholesky(gpu(a) if given is None else given, upper=upper)
    x = await host(found)
    assert found.dtype.name == narrow(a).dtype.name and x.shape == a.shape
    if not x.size:
        return
    assert off(adjoint(x) @ x if upper else x @ adjoint(x), a) < NEAR
    assert not np.any(np.tril(x, -1) if upper else np.triu(x, 1))
    diagonal = np.diagonal(x, axis1=-2, axis2=-1)
    assert np.all(diagonal.real > 0) and not np.any(diagonal.imag)


async def check_lu(a, given=None) -> None:
    """Factors, exchanges and the other forms of one factorisation."""
    x = gpu(a) if given is None else given
    m, n = a.shape[-2:]
    k = min(m, n)
    packed, piv = la.lu_factor(x)
    p, lower, upper = la.lu(x)
    rows = la.lu(x, p_indices=True)[0]
    got = await tg.fetch(packed, piv, p, lower, upper, rows)
    packed, piv, p, lower, upper, rows = got[0], got[1], *map(wide, got[2:5]), got[5]
    assert piv.dtype == rows.dtype == np.int32 and piv.shape == (*a.shape[:-2], k)
    assert lower.shape == (*a.shape[:-2], m, k) and upper.shape == (*a.shape[:-2], k, n)
    assert off(p @ lower @ upper, a) < NEAR
    assert np.array_equal(np.take_along_axis(lower, rows[..., None], -2), p @ lower)
    assert not np.any(np.triu(lower, 1)) and not np.any(np.tril(upper, -1))
    assert np.all(np.diagonal(lower, axis1=-2, axis2=-1) == 1)
    assert np.abs(lower).max() <= (1 if a.dtype.kind == "f" else 1.5)
    assert np.array_equal(np.tril(packed[..., :k], -1), np.tril(narrow(lower), -1))
    assert np.array_equal(np.triu(packed[..., :k, :]), narrow(upper))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
async def test_l10_cholesky(n, kind) -> None:
    """L10: positive definite matrices of every size around the blocks, of condition 1 to 1e5."""
    for least in (1.0, 1e-2, 1e-5):
        await check_cholesky(positive(RNG, (n, n), kind, least))


async def test_l10_cholesky_of_100_rows() -> None:
    """L10: n = 100, cond 1e5; the residual is far below 1e-4 n."""
    for kind in KINDS:
        a = positive(RNG, (100, 100), kind, 1e-5)
        await check_cholesky(a)
        await check_cholesky(a, upper=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "shape",
    [(1, 1), (2, 2), (16, 16), (17, 17), (33, 33), (70, 70), (40, 18), (18, 40), (1, 5), (5, 1)],
)
async def test_lu(shape, kind) -> None:
    await check_lu(matrix(RNG, shape, kind))
    await check_lu(matrix(RNG, (3, *shape), kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
async def test_solve(n, kind) -> None:
    for columns in (1, 3):
        a, b = matrix(RNG, (2, n, n), kind), matrix(RNG, (2, n, columns), kind)
        got = await tg.fetch(
            la.solve(gpu(a), gpu(b)), la.solve(gpu(a), gpu(b), transposed=True), la.inv(gpu(a)),
            la.lu_solve(la.lu_factor(gpu(a)), gpu(b), 2),
        )  # fmt: skip
        x, y, inverse, z = map(wide, got)
        assert residual(a, x, b) < NEAR
        assert residual(np.swapaxes(a, -1, -2), y, b) < NEAR
        assert residual(adjoint(a), z, b) < NEAR
        assert residual(a, inverse, np.broadcast_to(np.eye(n), a.shape)) < NEAR


async def test_more_right_hand_sides_than_a_tile_has_columns() -> None:
    for kind in KINDS:
        a, b = matrix(RNG, (40, 40), kind), matrix(RNG, (40, 150), kind)
        assert residual(a, await host(la.solve(gpu(a), gpu(b))), b) < NEAR
        t = np.tril(a) + 8 * np.eye(40)
        x = await host(la.solve_triangular(gpu(t), gpu(b), lower=True))
        assert residual(t, x, b) < NEAR


async def every_way(kind: str, widths: tuple[int, ...]) -> None:
    await check_cholesky(positive(RNG, (2, 75, 75), kind))
    await check_lu(matrix(RNG, (2, 75, 75), kind))
    for columns in widths:
        a, b = matrix(RNG, (75, 75), kind), matrix(RNG, (75, columns), kind)
        assert residual(a, await host(la.solve(gpu(a), gpu(b))), b) < NEAR
    a, b = matrix(RNG, (9, 20, 20), kind), matrix(RNG, (9, 20, 2), kind)
    assert residual(a, await host(la.solve(gpu(a), gpu(b))), b) < NEAR
    assert residual(a, await host(la.inv(gpu(a))), np.broadcast_to(np.eye(20), a.shape)) < NEAR
    await check_lu(a)


@pytest.mark.parametrize("form", ["serial", "portable", "subgroups"])
async def test_every_form(form) -> None:
    """The kernels of CPU adapters, of GPUs and of GPUs without subgroups (CPU drivers take long to compile those)."""
    with taking(form):
        await every_way("f", (1,))
        await refinement("f")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["serial", "portable", "subgroups"])
@pytest.mark.parametrize("kind", KINDS)
async def test_every_form_of_every_kernel(form, kind) -> None:
    with taking(form):
        await every_way(kind, (1, 20, 70))
        await check_lu(matrix(RNG, (90, 30), kind))
        await check_lu(matrix(RNG, (30, 90), kind))


@pytest.mark.limits
@pytest.mark.parametrize("kind", KINDS)
async def test_a_small_device(kind) -> None:
    await check_cholesky(positive(RNG, (2, 70, 70), kind))
    await check_lu(matrix(RNG, (2, 70, 50), kind))
    a, b = matrix(RNG, (200, 5, 5), kind), matrix(RNG, (200, 5, 2), kind)
    assert residual(a, await host(la.solve(gpu(a), gpu(b))), b) < NEAR
    a, b = matrix(RNG, (70, 70), kind), matrix(RNG, (70, 70), kind)
    assert residual(a, await host(la.solve(gpu(a), gpu(b))), b) < NEAR


async def test_pivots_are_lapacks() -> None:
    """Also where elements tie, as in matrices of small integers: the first one in the current order of rows."""
    for kind in KINDS:
        for shape in ((6, 6), (40, 40), (33, 20), (20, 33)):
            a = matrix(RNG, shape, kind)
            assert (await la.lu_factor(gpu(a))[1].numpy()).tolist() == textbook(a)[1]
    for n in (4, 7, 12):
        a = RNG.integers(-1, 2, (n, n)).astype(float) * 2 + np.eye(n)
        want, pivots = textbook(a)
        if np.abs(np.diagonal(want)).min() > 1e-6:
            assert (await la.lu_factor(gpu(a))[1].numpy()).tolist() == pivots


async def test_ill_conditioned_matrices_are_solved_backward_stably() -> None:
    for kind in KINDS:
        for least in (1e-3, 1e-6, 1e-9):
            a, b = conditioned(RNG, 40, least, kind), matrix(RNG, (40, 2), kind)
            assert residual(a, await host(la.solve(gpu(a), gpu(b))), b) < NEAR
        a = positive(RNG, (40, 40), kind, 1e-5)
        b = matrix(RNG, (40, 2), kind)
        assert residual(a, await host(la.solve(gpu(a), gpu(b), assume_a="pos")), b) < NEAR
        assert residual(a, await host(la.cho_solve(la.cho_factor(gpu(a)), gpu(b))), b) < NEAR
    hilbert = wide(narrow(1 / (np.arange(12)[:, None] + np.arange(12) + 1.0)))
    b = matrix(RNG, (12, 1))
    assert residual(hilbert, await host(la.solve(gpu(hilbert), gpu(b))), b) < NEAR
    graded = matrix(RNG, (20, 20)) * np.logspace(-15, 15, 20)
    x = await host(la.solve(gpu(graded), gpu(b[:1] * np.ones((20, 1)))))
    assert residual(wide(narrow(graded)), x, b[:1] * np.ones((20, 1))) < NEAR


async def test_refinement_makes_solutions_accurate() -> None:
    """Condition 1e4: the solution itself is off by 1e-4 without, by a few eps with two steps."""
    for kind in KINDS:
        await refinement(kind)


async def refinement(kind: str) -> None:
    a, b = conditioned(RNG, 30, 1e-4, kind), matrix(RNG, (2, 30, 2), kind)
    want = np.linalg.solve(a, b)
    for transposed in (False, True):
        g = gpu(a.T if transposed else a)
        plain, better = (la.solve(g, gpu(b), transposed=transposed, refine=k) for k in (0, 2))
        lost = [np.abs(await host(x) - want).max() / np.abs(want).max() for x in (plain, better)]
        assert lost[1] < 8 * EPS < lost[0]
    stack = np.stack([a, a + np.eye(30)])
    x = await host(la.solve(gpu(stack), gpu(b), refine=2))
    assert np.abs(x - np.linalg.solve(stack, b)).max() < 8 * EPS * np.abs(x).max()


async def test_no_pivoting_would_fail_here() -> None:
    a = np.array([[1e-20, 1.0], [1.0, 1.0]])
    x = await host(la.solve(gpu(a), gpu(np.array([1.0, 2.0]))))
    np.testing.assert_allclose(x, [1.0, 1.0], rtol=1e-6)
    swap = np.eye(50)[::-1]
    assert np.array_equal(await host(la.inv(gpu(swap))), swap)


async def test_a_known_factor_is_exact() -> None:
    assert (await la.cholesky(tg.asarray([[4, 2], [2, 5]])).tolist()) == [[2.0, 0.0], [1.0, 2.0]]
    n = 40
    lower = np.tril(RNG.integers(1, 4, (n, n)).astype(float), -1) * (RNG.random((n, n)) < 0.2) + np.eye(n) * 2
    assert np.array_equal(await host(la.cholesky(gpu(lower @ lower.T))), lower)
    assert (await la.solve(tg.asarray([[3.0, 0], [0, 49]]), tg.asarray([3.0, 49])).tolist()) == [1.0, 1.0]


async def test_views_are_read_where_they_lie() -> None:
    whole = positive(RNG, (2, 40, 40), "c")
    wider = np.zeros((2, 45, 90), complex)
    wider[:, 3:43, 4:84:2] = whole
    g = gpu(wider)
    await check_cholesky(whole, given=g[:, 3:43, 4:84:2])
    await check_cholesky(np.conj(whole), given=g[:, 3:43, 4:84:2].mT)
    await check_cholesky(whole[:, ::-1, ::-1], given=g[:, 3:43, 4:84:2][:, ::-1, ::-1])
    a = matrix(RNG, (3, 20, 30))
    await check_lu(np.swapaxes(a, -1, -2), given=gpu(a).mT)
    await check_lu(a[:, ::-1, ::2], given=gpu(a)[:, ::-1, ::2])
    await check_lu(np.broadcast_to(a[0], (4, 20, 30)), given=tg.broadcast_to(gpu(a)[0], (4, 20, 30)))


TRANS = {0: lambda t: t, 1: lambda t: np.swapaxes(t, -1, -2), "C": adjoint}


@pytest.mark.parametrize("n", [1, 5, 33, 70])
@pytest.mark.parametrize("kind", KINDS)
async def test_triangular_systems(n, kind) -> None:
    """Every combination; the other triangle holds NaN, and so does a diagonal that is not read."""
    b = matrix(RNG, (n, 3), kind)
    for lower in (False, True):
        for unit in (False, True):
            t = matrix(RNG, (n, n), kind) / n + 2 * np.eye(n)
            t = np.tril(t) if lower else np.triu(t)
            read = np.full((n, n), np.nan, t.dtype)
            inside = np.tril(np.ones((n, n), bool)) if lower else np.triu(np.ones((n, n), bool))
            if unit:
                inside &= ~np.eye(n, dtype=bool)
                t = t * inside + np.eye(n)
            read[inside] = t[inside]
            g = gpu(read)
            for trans, op in TRANS.items():
                x = await host(la.solve_triangular(g, gpu(b), trans, lower, unit))
                # componentwise: what substitution promises
                lost = np.abs(op(t) @ x - b)
                assert np.all(lost <= 3 * n * EPS * (np.abs(op(t)) @ np.abs(x)) + 1e-30)
            x = await host(la.solve_triangular(g.mT, gpu(b)[:, 0], 0, not lower, unit))
            assert x.shape == (n,) and residual(t.T, x[:, None], b[:, :1]) < NEAR


async def test_leading_axes_broadcast() -> None:
    cases: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
        ((3, 1, 5, 5), (4, 5, 2)),
        ((5, 5), (3, 5, 2)),
        ((3, 5, 5), (5, 2)),
        ((2, 3, 5, 5), (5,)),
        ((1, 5, 5), (2, 2, 5, 1)),
    ]
    for left, right in cases:
        a, b = matrix(RNG, left), matrix(RNG, right)
        a = a + 4 * np.eye(5)
        columns = b[:, None] if b.ndim == 1 else b
        lead = np.broadcast_shapes(left[:-2], columns.shape[:-2])
        want = np.linalg.solve(a, np.broadcast_to(columns, (*lead, *columns.shape[-2:])))
        if b.ndim == 1:
            want = want[..., 0]
        t = np.tril(a)
        x, y = gpu(a), gpu(b)
        got = [la.solve(x, y), la.lu_solve(la.lu_factor(x), y), la.solve(x.mT, y, transposed=True)]
        got.append(la.solve_triangular(gpu(t), la.cho_solve((gpu(np.eye(5)), True), y), lower=True))
        for k, x in enumerate(got[:3]):
            value = await host(x)
            assert value.shape == want.shape, (k, left, right)
            np.testing.assert_allclose(value, want, rtol=1e-4, atol=1e-5)
        y = await host(got[3])
        product = np.einsum("...ij,...j->...i", t, y) if b.ndim == 1 else t @ y
        np.testing.assert_allclose(product, np.broadcast_to(b, product.shape), rtol=1e-5, atol=1e-5)


async def test_l05_empty_matrices() -> None:
    """L05: 0 x 0 and empty stacks of everything."""
    for shape in ((0, 0), (2, 0, 0), (0, 3, 3)):
        z = tg.zeros(shape)
        for name in ("cholesky", "inv", "expm"):
            assert (await getattr(la, name)(z).numpy()).shape == shape
        np.testing.assert_array_equal(await la.det(z).numpy(), np.linalg.det(np.zeros(shape)))
        sign, logs = la.slogdet(z)
        assert sign.shape == logs.shape == shape[:-2]
        for columns in (0, 2):
            b = tg.zeros((*shape[:-1], columns))
            assert (await la.solve(z, b).numpy()).shape == b.shape
            assert (await la.solve_triangular(z, b).numpy()).shape == b.shape
            assert (await la.lu_solve(la.lu_factor(z), b).numpy()).shape == b.shape
            assert (await la.cho_solve(la.cho_factor(z), b).numpy()).shape == b.shape
        assert [x.shape for x in la.lu(z)] == [shape] * 3
        assert la.lu_factor(z)[1].shape == shape[:-1]
        assert la.cholesky_ex(z)[1].shape == la.inv_ex(z)[1].shape == shape[:-2]
        assert la.matrix_power(z, 3).shape == shape
    assert [x.shape for x in la.lu(tg.zeros((3, 0)))] == [(3, 3), (3, 0), (0, 0)]
    np.testing.assert_array_equal(await la.lu(tg.zeros((3, 0)))[0].numpy(), np.eye(3))


async def raises(array, text: str) -> None:
    with pytest.raises(la.LinAlgError, match=text) as found:
        await array.numpy()
    assert isinstance(found.value, np.linalg.LinAlgError)
    again = pickle.loads(pickle.dumps(found.value))
    assert isinstance(again, la.LinAlgError) and str(again) == str(found.value)


async def test_bad_matrices_raise_at_the_read() -> None:
    ones = tg.ones((40, 40))
    await raises(la.solve(ones, ones), "singular")
    await raises(la.inv(tg.stack([tg.eye(3), tg.zeros((3, 3))])), "singular")
    await raises(la.inv(ones)[0, :3] + 1, "singular")
    await raises(la.matrix_power(ones, -2), "singular")
    await raises(la.cholesky(-tg.eye(3)), "positive definite")
    indefinite = positive(RNG, (50, 50))
    indefinite[41, 41] = -1
    for upper in (False, True):
        await raises(la.cholesky(gpu(indefinite), upper=upper), "pivot 41")
    await raises(la.cho_factor(gpu(indefinite))[0], "pivot 41")
    await raises(la.solve(gpu(indefinite), tg.ones(50), assume_a="pos"), "positive definite")
    await raises(la.cholesky(tg.asarray([[np.nan]])), "positive definite")
    await raises(la.solve_triangular(tg.asarray([[1.0, 2], [0, 0]]), tg.ones(2)), "singular")
    assert (
        await la.solve_triangular(tg.asarray([[0.0, 2], [0, 0]]), tg.ones(2), unit_diagonal=True).tolist()
    ) == [-1, 1]
    for bad in (tg.ones(3), tg.ones((2, 3)), tg.ones(())):
        for f in (la.cholesky, la.inv, la.det, la.slogdet, la.expm):
            if f is la.expm and bad.ndim == 0:  # SciPy: a matrix of one number
                assert np.allclose(await f(bad).numpy(), [[np.e]])
                continue
            with pytest.raises(la.LinAlgError, match=f"{f.__name__}.*shape"):
                f(bad)
    with pytest.raises(ValueError, match=r"\(3, 3\).*\(4,\)"):
        la.solve(tg.eye(3), tg.ones(4))
    with pytest.raises(ValueError, match="do not broadcast"):
        la.solve(tg.ones((2, 3, 3)), tg.ones((4, 3, 1)))
    with pytest.raises(la.LinAlgError):
        la.solve(tg.eye(3), tg.ones(()))
    for call in (
        lambda: la.solve_triangular(tg.eye(3), tg.ones(3), "X"),
        lambda: la.lu_solve(la.lu_factor(tg.eye(3)), tg.ones(3), 3),
        lambda: la.solve(tg.eye(3), tg.ones(3), assume_a="banded"),
    ):
        with pytest.raises(ValueError, match="trans|assume_a"):
            call()


async def test_verdicts_instead_of_errors() -> None:
    stack = np.stack([np.eye(40), np.diag(np.r_[np.ones(17), -1, np.ones(22)]), np.zeros((40, 40))])
    factor, info = la.cholesky_ex(gpu(stack))
    assert (await info.numpy()).tolist() == [0, 18, 1]
    assert np.array_equal((await factor.numpy())[0], np.eye(40))
    stack[1, 17, 17] = 0
    inverse, info = la.inv_ex(gpu(stack))
    assert (await info.numpy()).tolist() == [0, 18, 1] and info.dtype.name == "int32"
    assert np.array_equal((await inverse.numpy())[0], np.eye(40))
    x, info = la.solve_ex(gpu(stack), tg.ones(40))
    assert (await info.numpy()).tolist() == [0, 18, 1]
    assert np.array_equal((await x.numpy())[0], np.ones(40))
    # A factorisation of a singular matrix is no error, and goes on behind the zero pivot.
    singular = np.array([[1.0, 2, 3], [2, 4, 7], [3, 6, 1]])
    p, lower, upper = await tg.fetch(*la.lu(gpu(singular)))
    np.testing.assert_allclose(p @ lower @ upper, singular, atol=1e-6)


async def test_nan_and_infinity_reach_the_result() -> None:
    for bad in (np.nan, np.inf):
        a = matrix(RNG, (20, 20))
        a[3, 4] = bad
        for x in (la.inv(gpu(a)), la.solve(gpu(a), tg.ones(20)), la.det(gpu(a))):
            assert (
                bad == np.inf or np.isnan(await x.numpy()).any()
            )  # an infinite pivot makes its row's share 0
        assert np.isnan(await la.expm(gpu(a)).numpy()).all()
    x = await la.solve_triangular(tg.asarray([[2.0, 0], [0, 2]]), tg.asarray([np.inf, 1.0])).numpy()
    assert x[1] == 0.5 and np.isposinf(x[0])


async def test_dtypes() -> None:
    whole = np.array([[4, 1], [1, 3]])
    for dtype in ("int32", "uint8", "bool", "float16", "bfloat16", "float32"):
        a = tg.asarray(whole).astype(dtype) if dtype != "bool" else tg.asarray([[True, False], [True, True]])
        for f in (la.inv, la.det, la.expm):
            assert f(a).dtype.name == "float32"
        assert la.solve(a, tg.ones(2, dtype="complex64")).dtype.name == "complex64"
        assert la.solve(a, tg.asarray([1, 2])).dtype.name == "float32"
    assert (await la.cholesky(tg.asarray(whole)).numpy()).dtype == np.float32
    x = await la.solve(tg.asarray(whole), tg.asarray([1j, 2])).numpy()
    np.testing.assert_allclose(x, np.linalg.solve(whole, np.array([1j, 2])), rtol=1e-6)


async def test_launches_and_reads_are_counted() -> None:
    """Two launches a panel, one a block of rows, whatever the number of matrices; nothing is read or waited for."""
    many = tg.asarray(narrow(positive(RNG, (20, 16, 16))))
    one = tg.asarray(narrow(positive(RNG, (128, 128))))
    for x in (many, one, tg.ones(16), tg.ones(128)):
        await x.numpy()
    before = tg.memory()
    made = [
        la.cholesky(many),
        la.solve(many, tg.ones(16)),
        la.cholesky(one),
        la.lu_factor(one)[0],
        la.inv(one),
    ]
    assert tg.memory()["launches"] == before["launches"] and tg.memory()["reads"] == before["reads"]
    counts = []
    for x in made:
        before = tg.memory()["launches"]
        await x.numpy()
        counts.append(tg.memory()["launches"] - before)
    step = 3 if engine.device().software else 2
    assert counts[0] <= 5 and counts[1] <= 5
    assert counts[2] <= 2 * 128 // 16 + 6 and counts[3] <= step * 128 // 16 + 5
    assert counts[4] <= step * 128 // 16 + 2 * (step - 1) * 128 // 16 + 10


async def test_new_sizes_compile_little() -> None:
    """Sizes, strides and numbers of matrices are parameters: every kernel has few forms."""

    async def sweep(sizes) -> None:
        for n in sizes:
            for batch in ((), (3,)):
                a = tg.asarray(narrow(positive(RNG, (*batch, n, n))))
                b = tg.ones((*batch, n, 1 + n % 40))
                await tg.fetch(
                    la.cholesky(a),
                    la.solve(a, b),
                    la.solve_triangular(a.mT, b),
                    la.lu_factor(a[..., : n // 2 + 1])[0],
                )

    await sweep((3, 20, 40, 70))
    before = tg.memory()["pipelines"]
    await sweep((5, 9, 14, 22, 30, 41, 57, 69))
    assert tg.memory()["pipelines"] - before <= 8


@pytest.mark.slow
async def test_large_matrices() -> None:
    for kind in KINDS:
        a = positive(RNG, (300, 300), kind)
        await check_cholesky(a)
        await check_lu(matrix(RNG, (300, 260), kind))
        b = matrix(RNG, (300, 5), kind)
        assert residual(a, await host(la.solve(gpu(a), gpu(b))), b) < NEAR


async def test_growth_is_that_of_partial_pivoting() -> None:
    """Wilkinson's matrix, whose last column doubles at each step: 2**(n - 1) exactly."""
    n = 24
    a = np.tril(-np.ones((n, n)), -1) + np.eye(n)
    a[:, -1] = 1
    upper = await host(la.lu(gpu(a))[2])
    assert upper[-1, -1] == 2.0 ** (n - 1) and norm(upper) >= 2.0 ** (n - 1)


async def test_what_divisions_of_matrices_become() -> None:
    """runmat's mldivide, mrdivide and linsolve: a \\ b, a / b, options and the reciprocal condition number."""
    a, b = conditioned(RNG, 12, 0.1), matrix(RNG, (3, 12))
    left = la.solve(gpu(a), gpu(b).mT)
    right = la.solve(gpu(a).mT, gpu(b).mT).mT
    lower = la.solve(gpu(np.tril(a)), gpu(b[0]), assume_a="lower triangular", transposed=True)
    x, y, z, rcond = [wide(v) for v in await tg.fetch(left, right, lower, la.rcond(gpu(a)))]
    assert residual(a, x, b.T) < NEAR and residual(a.T, y.T, b.T) < NEAR
    assert residual(np.tril(a).T, z[:, None], b[:1].T) < NEAR
    np.testing.assert_allclose(rcond, 1 / (norm(a) * norm(np.linalg.inv(a))), rtol=1e-4)
