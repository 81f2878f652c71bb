"""lstsq, pinv, ranks, condition numbers, subspaces, polar, norms of singular values. Runs in the tab."""

from __future__ import annotations

import numpy as np
import pytest
from orthogonal_checks import EPS, adjoint, draw, host, near, orthonormal, wide

import tabgpu as tg
from tabgpu import linalg


@pytest.mark.parametrize("kind", "fc")
async def test_lstsq(kind: str) -> None:
    for m, n, k in ((6, 4, 2), (4, 6, 3), (5, 5, 1)):
        a, b = draw((m, n), kind), draw((m, k), kind, 1)
        found = linalg.lstsq(tg.asarray(a), tg.asarray(b))
        want = np.linalg.lstsq(wide(a), wide(b), rcond=None)
        got = await host(*found)
        near(got[0], want[0], 1e-5)
        np.testing.assert_allclose(got[1], want[1], rtol=1e-4, atol=1e-6)
        assert got[1].shape == want[1].shape and got[2] == want[2] and found.rank.dtype is tg.int32
        np.testing.assert_allclose(got[3], want[3], rtol=1e-5)
    x, residuals, _, _ = linalg.lstsq(a[:, :3], b[:, 0])
    want = np.linalg.lstsq(wide(a[:, :3]), wide(b[:, 0]), rcond=None)
    np.testing.assert_allclose(await x.numpy(), want[0], rtol=1e-4, atol=1e-5)
    assert residuals.shape == want[1].shape == (1,)


async def test_lstsq_of_ill_conditioned_tall_matrices() -> None:
    """L11: by Cholesky of a.T @ a the condition 4e5 would be squared, and no digit left."""
    a = np.vander(np.linspace(0, 1, 60), 9).astype(np.float32)
    a64 = a.astype(np.float64)
    assert 1e5 < np.linalg.cond(a64) < 1e6
    b = (a64 @ np.ones(9)).astype(np.float32)
    x = await linalg.lstsq(tg.asarray(a), tg.asarray(b), rcond=-1).x.numpy()
    want = np.linalg.lstsq(a64, b.astype(np.float64), rcond=None)[0]
    assert np.abs(x - want).max() < 0.1
    residual = np.linalg.norm(a64 @ x - b) / (np.linalg.norm(a64) * np.linalg.norm(x))
    assert residual < 20 * 9 * EPS


async def test_lstsq_of_least_norm_and_low_rank() -> None:
    a = (draw((8, 2)) @ draw((2, 5))).astype(np.float32)
    b = draw((8, 3), seed=2)
    x, residuals, rank, s = await host(*linalg.lstsq(tg.asarray(a), tg.asarray(b)))
    want = np.linalg.lstsq(wide(a), wide(b), rcond=1e-5)
    near(x, want[0], 1e-4)
    assert rank == 2 and s.shape == (5,)
    np.testing.assert_allclose(residuals, ((wide(b) - wide(a) @ want[0]) ** 2).sum(0), rtol=1e-4)
    stack = await linalg.lstsq(tg.asarray(np.stack([a, 2 * a])), tg.asarray(b)).x.numpy()
    near(stack[1], want[0] / 2, 1e-4)
    zero = await host(*linalg.lstsq(tg.zeros((4, 2)), tg.ones(4)))
    np.testing.assert_array_equal(zero[0], [0, 0])
    assert zero[2] == 0 and zero[1] == [4]
    for m, n in ((0, 3), (3, 0)):
        got = await host(*linalg.lstsq(tg.zeros((m, n)), tg.ones((m, 2))))
        assert got[0].shape == (n, 2) and got[2] == 0
    with pytest.raises(linalg.LinAlgError, match="rows"):
        linalg.lstsq(tg.ones((3, 2)), tg.ones(4))


@pytest.mark.limits
@pytest.mark.parametrize("kind", "fc")
async def test_pinv(kind: str) -> None:
    """runmat pinv."""
    for shape in ((5, 3), (3, 5), (2, 4, 4)):
        a = draw(shape, kind)
        near(await linalg.pinv(tg.asarray(a)).numpy(), np.linalg.pinv(wide(a)), 1e-5)
    low = (draw((6, 2), kind) @ draw((2, 4), kind)).astype(a.dtype)
    near(await linalg.pinv(tg.asarray(low)).numpy(), np.linalg.pinv(wide(low), rcond=1e-5), 1e-4)
    h = a[0] + adjoint(a[0])
    near(await linalg.pinv(tg.asarray(h), hermitian=True).numpy(), np.linalg.pinv(wide(h)), 1e-4)
    each = tg.asarray([0.9, 1e-6])
    got = await linalg.pinv(tg.asarray(a), rtol=each).numpy()
    near(got[0], np.linalg.pinv(wide(a[0]), rcond=0.9), 1e-4)
    near(got[1], np.linalg.pinv(wide(a[1])), 1e-4)
    assert linalg.pinv(tg.zeros((0, 3))).shape == (3, 0)
    assert (await linalg.pinv(tg.zeros((2, 3))).numpy() == 0).all()
    with pytest.raises(ValueError, match="rtol"):
        linalg.pinv(tg.ones((2, 2)), 0.1, rtol=0.1)


async def test_matrix_rank() -> None:
    """runmat rank, with and without a tolerance."""
    a = np.stack([np.diag([4, 2, 1e-9]), np.ones((3, 3)), np.zeros((3, 3)), np.eye(3)]).astype(np.float32)
    x = tg.asarray(a)
    found = linalg.matrix_rank(x)
    assert found.dtype is tg.int32 and await found.tolist() == [2, 1, 0, 3]
    assert await linalg.matrix_rank(x, hermitian=True).tolist() == [2, 1, 0, 3]
    assert await linalg.matrix_rank(x, tol=3).tolist() == [1, 0, 0, 0]
    assert await linalg.matrix_rank(x, rtol=tg.asarray([1e-12, 0.1, 0.1, 0.1])).tolist() == [3, 1, 0, 3]
    assert await linalg.matrix_rank([1, 0]).item() == 1 and await linalg.matrix_rank(tg.zeros(3)).item() == 0
    assert await linalg.matrix_rank(tg.zeros((2, 0, 3))).tolist() == [0, 0]
    with pytest.raises(ValueError, match="tol"):
        linalg.matrix_rank(x, 0.1, rtol=0.1)


@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"])
async def test_cond(p: object) -> None:
    """runmat cond, every kind of norm."""
    for kind in "fc":
        a = draw((2, 4, 4), kind)
        np.testing.assert_allclose(
            await linalg.cond(tg.asarray(a), p).numpy(), np.linalg.cond(wide(a), p), rtol=1e-4
        )
    found = await linalg.cond(tg.asarray(np.stack([np.ones((3, 3)), np.zeros((3, 3))])), p).numpy()
    if p == -2:
        assert abs(found[0]) < 1e-6 and found[1] == np.inf
    else:
        assert (found > 1e6).all()
    bad = np.eye(3, dtype=np.float32)
    bad[1, 1] = np.nan
    assert np.isnan(await linalg.cond(tg.asarray(bad), p).numpy())
    with pytest.raises(linalg.LinAlgError, match="empty"):
        linalg.cond(tg.zeros((0, 0)), p)


async def test_rcond() -> None:
    """runmat rcond: LAPACK's estimate is at least this, and mostly this."""
    a = draw((2, 5, 5))
    got = await linalg.rcond(tg.asarray(a)).numpy()
    np.testing.assert_allclose(got, 1 / np.linalg.cond(wide(a), 1), rtol=1e-4)
    assert await linalg.rcond(tg.zeros((2, 2))).item() == 0
    assert await linalg.rcond(tg.eye(3)).item() == 1
    with pytest.raises(linalg.LinAlgError, match="square"):
        linalg.rcond(tg.ones((2, 3)))


@pytest.mark.parametrize("kind", "fc")
async def test_null_space_and_orth(kind: str) -> None:
    """Shapes that depend on data: awaited, or with size= and nothing read."""
    a = (draw((6, 2), kind) @ draw((2, 5), kind)).astype(draw((1,), kind).dtype)
    x = tg.asarray(a)
    null = await (await tg.aio.null_space(x)).numpy()
    assert null.shape == (5, 3)
    orthonormal(null)
    assert np.abs(wide(a) @ null).max() < 2e-6 * np.abs(a).max() * 5
    basis = await (await tg.aio.orth(x)).numpy()
    assert basis.shape == (6, 2)
    orthonormal(basis)
    near(wide(basis) @ (adjoint(wide(basis)) @ wide(a)), wide(a), 1e-5)
    assert (await tg.aio.null_space(x, 0.9999)).shape[1] >= 4
    reads = tg.memory()["reads"]
    padded, ours = linalg.null_space(x, size=4), linalg.orth(tg.asarray(np.stack([a, 0 * a])), size=3)
    await tg.synchronize()
    assert tg.memory()["reads"] == reads
    got = await padded.numpy()
    np.testing.assert_array_equal(got[:, :3], null)
    assert got.shape == (5, 4) and (got[:, 3] == 0).all()
    got = await ours.numpy()
    np.testing.assert_allclose(got[0, :, :2], basis, atol=1e-6)
    assert got.shape == (2, 6, 3) and (got[0, :, 2] == 0).all() and (got[1] == 0).all()
    assert (await tg.aio.null_space(tg.zeros((0, 3)))).shape == (3, 3)
    assert (await tg.aio.orth(tg.zeros((3, 0)))).shape == (3, 0)
    with pytest.raises(ValueError, match="size="):
        await tg.aio.null_space(tg.ones((2, 3, 3)))


@pytest.mark.parametrize("kind", "fc")
async def test_polar(kind: str) -> None:
    for shape in ((4, 4), (5, 3), (2, 3, 5)):
        a = draw(shape, kind)
        for side in ("right", "left"):
            u, p = await host(*linalg.polar(tg.asarray(a), side))
            orthonormal(u, shape[-2] >= shape[-1])
            near(wide(u) @ wide(p) if side == "right" else wide(p) @ wide(u), wide(a), 1e-5)
            near(p, adjoint(p), 1e-6)
            assert np.linalg.eigvalsh(wide(p)).min() > -1e-5
    with pytest.raises(ValueError, match="side"):
        linalg.polar(tg.ones((2, 2)), "both")


async def test_subspace_iteration() -> None:
    """runmat qr_power_iter and matmul_power_step."""
    q = np.linalg.qr(draw((12, 12)).astype(np.float64))[0]
    a = ((q * (3.0 ** -np.arange(12))) @ q.T).astype(np.float32)
    x = tg.asarray(a)
    for start in (3, tg.asarray(draw((12, 3)))):
        found, r = await host(*linalg.subspace_iteration(x, start, 12))
        orthonormal(found)
        np.testing.assert_allclose(np.abs(np.diag(r)), [1, 1 / 3, 1 / 9], rtol=1e-4)
        near(wide(found) @ (wide(found).T @ q[:, :3]), q[:, :3], 1e-4)
    one, r = await host(*linalg.qr_power_step(x, q[:, :2].astype(np.float32)))
    near(wide(one) @ wide(r), wide(a) @ q[:, :2], 1e-6)
    zero, _ = await host(
        *linalg.qr_power_step(tg.zeros((4, 4)), tg.ones((4, 2)))
    )  # what its detector of zeros is for
    orthonormal(zero)
    b = draw((12, 4), seed=3)
    made = a.astype(np.float64) @ b
    for eps in (0.0, 0.5):
        got = await linalg.power_step(x, tg.asarray(b), eps).numpy()
        near(got, made / np.sqrt((made**2).sum(0) + eps), 1e-5)
    assert (await linalg.power_step(tg.zeros((3, 3)), tg.ones((3, 1))).numpy() == 0).all()
    with pytest.raises(ValueError, match="columns"):
        linalg.subspace_iteration(x, 13)
    with pytest.raises(linalg.LinAlgError, match="fit"):
        linalg.subspace_iteration(x, tg.ones((5, 2)))


@pytest.mark.parametrize("order", [2, -2, "nuc"])
async def test_norms_of_singular_values(order: object) -> None:
    for kind in "fc":
        a = draw((3, 4, 5), kind)
        x = tg.asarray(a)
        for axes in ((0, 1), (2, 1), (-1, 0)):
            for keep in (False, True):
                want = np.linalg.norm(wide(a), order, axes, keep)
                got = await linalg.norm(x, order, axes, keep).numpy()
                assert got.shape == want.shape and got.dtype == np.float32
                np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
        got = await linalg.matrix_norm(x, ord=order, keepdims=True).numpy()
        np.testing.assert_allclose(got, np.linalg.matrix_norm(wide(a), ord=order, keepdims=True), rtol=1e-5)


async def test_a_tolerance_on_the_gpu_is_not_read() -> None:
    a, b = tg.asarray([[1.0, 2], [3, 4], [5, 6]]), tg.ones(3)
    before = tg.memory()["reads"]
    found = [tg.linalg.lstsq(a, b, rcond=r)[0] for r in (-1, 1e-3, tg.asarray(1e-3))]
    assert tg.memory()["reads"] == before
    for x in found:
        assert np.allclose(await x.numpy(), [-1, 1], atol=1e-5)
