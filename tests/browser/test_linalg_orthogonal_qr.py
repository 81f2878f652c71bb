"""qr of tg.linalg: every mode and shape, pivoted, raw; special values. Backward error and orthogonality: 20 n eps."""

from __future__ import annotations

import numpy as np
import pytest
from forms import form  # noqa: F401  # a fixture
from orthogonal_checks import check_qr, draw, host, near, orthonormal, wide

import tabgpu as tg
from tabgpu import linalg

SHAPES = [(1, 1), (3, 3), (5, 3), (3, 5), (16, 16), (40, 17), (17, 40), (70, 1), (1, 7), (2, 9, 4)]


@pytest.mark.parametrize("kind", "fc")
async def test_qr_of_every_shape(kind: str) -> None:
    """runmat qr, economy and not."""
    for shape in SHAPES:
        a = draw(shape, kind)
        x = tg.asarray(a)
        m, n = shape[-2:]
        found = linalg.qr(x)
        q, r = await host(found.Q, found.R)
        check_qr(a, q, r)
        assert q.shape == (*shape[:-2], m, min(m, n)) and r.shape == (*shape[:-2], min(m, n), n)
        only = await linalg.qr(x, "r").numpy()
        np.testing.assert_array_equal(only, r)
        q, r = await host(*linalg.qr(x, mode="complete"))
        check_qr(a, q, r)
        assert q.shape == (*shape[:-2], m, m) and r.shape == shape


@pytest.mark.limits
@pytest.mark.parametrize("kind", "fc")
async def test_a_tree_of_blocks(kind: str) -> None:
    """More rows than three levels of blocks, more columns than two panels."""
    a = draw((1100, 35), kind)
    check_qr(a, *await host(*linalg.qr(tg.asarray(a))))


@pytest.mark.slow
@pytest.mark.parametrize("kind", "fc")
async def test_forms(kind: str, form: str) -> None:
    for shape in ((700, 40), (2, 300, 17), (30, 70)):
        a = draw(shape, kind)
        check_qr(a, *await host(*linalg.qr(tg.asarray(a))))
    a = draw((40, 20), kind)
    q, r, p = await host(*linalg.qr(tg.asarray(a), pivoting=True))
    check_qr(a[:, p], q, r)


async def test_pieces_of_larger_arrays() -> None:
    whole = draw((6, 14, 12))
    x = tg.asarray(whole)
    for a, y in (
        (whole[::2, 1:9, ::3], x[::2, 1:9, ::3]),
        (whole[0].T, x[0].T),
        (whole[1, ::-1], x[1, ::-1]),
        (np.broadcast_to(whole[2, :1], (3, 5, 12))[..., :4], tg.broadcast_to(x[2, :1], (3, 5, 12))[..., :4]),
    ):
        check_qr(np.ascontiguousarray(a), *await host(*linalg.qr(y)))


async def test_what_numpy_takes_for_matrices() -> None:
    q, r = await host(*linalg.qr([[1, 2], [3, 4]]))
    near(wide(q) @ wide(r), np.array([[1.0, 2], [3, 4]]), 1e-6)
    half = tg.asarray(draw((4, 3)), dtype="float16")
    assert linalg.qr(half).Q.dtype is tg.float32
    for bad in (tg.ones(3), tg.asarray(1.0)):
        with pytest.raises(tg.linalg.LinAlgError, match="matrices"):
            linalg.qr(bad)
    with pytest.raises(ValueError, match="mode"):
        linalg.qr(tg.ones((2, 2)), mode="thin")
    with pytest.raises(ValueError, match="raw"):
        linalg.qr(tg.ones((2, 2)), mode="raw", pivoting=True)


async def test_qr_without_elements() -> None:
    """L05: factorisations of 0 x 0 and other empty matrices."""
    for shape in ((0, 0), (2, 0, 0), (0, 3), (3, 0), (0, 2, 2)):
        for mode in ("reduced", "complete"):
            want = np.linalg.qr(np.zeros(shape, np.float32), mode)
            got = await host(*linalg.qr(tg.zeros(shape), mode))
            for g, w in zip(got, want, strict=True):
                np.testing.assert_array_equal(g, w)
        assert linalg.qr(tg.zeros(shape), "r").shape == np.linalg.qr(np.zeros(shape), "r").shape


@pytest.mark.limits
async def test_matrices_of_low_rank() -> None:
    """runmat's qr is CholeskyQR, which these break."""
    for a in (
        np.zeros((6, 4)),
        np.ones((6, 4)),
        np.outer(np.arange(7), np.arange(1, 6)),
        draw((20, 2)) @ draw((2, 12)),
        np.diag([1, 0, 2, 0]),
        np.vander(np.linspace(0, 1, 20), 15),
    ):
        a = np.asarray(a, np.float32)
        check_qr(a, *await host(*linalg.qr(tg.asarray(a))))


async def test_columns_of_very_different_sizes() -> None:
    """Each column has its own backward error: scales by powers of two keep squares in range."""
    a = draw((12, 6))
    sizes = np.float32(10.0) ** np.array([0, 30, -30, 10, -35, 3], np.float32)
    q, r = await host(*linalg.qr(tg.asarray(a * sizes)))
    orthonormal(q)
    left = wide(q) @ wide(r) - wide(a * sizes)
    error = np.linalg.norm(left, axis=0) / np.linalg.norm(wide(a * sizes), axis=0)
    assert (
        error[:4].max() < 2e-6 and error[5] < 2e-6 and error[4] < 1e-3
    )  # products of the last may be denormal


async def test_nan_spoils_its_own_matrix_only() -> None:
    a = draw((3, 5, 4))
    a[1, 2, 2] = np.nan
    a[2, 0, 1] = np.inf
    q, r = await host(*linalg.qr(tg.asarray(a)))
    check_qr(a[0], q[0], r[0])
    assert np.isnan(q[1:]).all() and np.isnan(r[1:]).all()


async def test_results_are_of_their_own() -> None:
    """runmat's QR keeps R in a buffer that the next call overwrites."""
    a, b = draw((9, 4), seed=1), draw((9, 4), seed=2)
    first, second = linalg.qr(tg.asarray(a)), linalg.qr(tg.asarray(b))
    check_qr(b, *await host(*second))
    check_qr(a, *await host(*first))


@pytest.mark.limits
@pytest.mark.parametrize("kind", "fc")
async def test_pivoting(kind: str) -> None:
    """runmat qr with pivots, as a vector of positions. The diagonal of R falls, and a[:, P] is Q R."""
    for shape in ((5, 5), (12, 7), (4, 9), (2, 6, 3)):
        a = draw(shape, kind)
        found = linalg.qr(tg.asarray(a), pivoting=True)
        q, r, p = await host(*found)
        assert found.P.dtype is tg.int32 and p.shape == (*shape[:-2], shape[-1])
        assert (np.sort(p, axis=-1) == np.arange(shape[-1])).all()
        check_qr(np.take_along_axis(a, p[..., None, :], -1), q, r)
        d = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
        assert (np.diff(d, axis=-1) <= 1e-5 * d[..., :1]).all()
        (r_only, order) = linalg.qr(tg.asarray(a), "r", pivoting=True)
        np.testing.assert_array_equal((await order.numpy()), p)
        np.testing.assert_array_equal((await r_only.numpy()), r)


async def test_pivoting_finds_the_rank() -> None:
    a = (draw((20, 4)) @ draw((4, 15))).astype(np.float32)
    _, r, p = await host(*linalg.qr(tg.asarray(a), mode="economic", pivoting=True))
    d = np.abs(np.diag(r))
    assert d[3] > 0.1 and d[4:].max() < 1e-5 * d[0]
    order = await linalg.qr(tg.asarray(np.diag([1.0, 3, 2]).astype(np.float32)), pivoting=True).P.tolist()
    assert order == [1, 2, 0]
    bad = linalg.qr(tg.asarray([[1.0, float("nan")], [0, 1]]), pivoting=True).P
    with pytest.raises(linalg.LinAlgError, match="NaN"):
        await bad.numpy()
    assert await linalg.qr(tg.zeros((0, 3)), pivoting=True).P.tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", "fc")
async def test_raw_is_lapacks(kind: str) -> None:
    for shape in ((4, 4), (7, 3), (3, 6), (2, 5, 2)):
        a = draw(shape, kind)
        h, tau = await host(*linalg.qr(tg.asarray(a), mode="raw"))
        want_h, want_tau = np.linalg.qr(a, mode="raw")
        np.testing.assert_allclose(h, want_h, rtol=2e-4, atol=2e-5)
        np.testing.assert_allclose(tau, want_tau, rtol=2e-4, atol=2e-5)


async def test_nothing_is_read_and_shapes_compile_nothing() -> None:
    linalg.qr(tg.asarray(draw((30, 10))))
    await tg.synchronize()
    for shape in ((30, 10), (18, 33), (2, 40, 5)):
        await host(*linalg.qr(tg.asarray(draw(shape))))
    before = tg.memory()
    kept = []
    for m in (17, 25, 33, 70, 129):
        for n in (3, 18, 34):
            kept.append(linalg.qr(tg.asarray(draw((m, n)))).Q)
    await tg.synchronize()
    after = tg.memory()
    assert after["reads"] == before["reads"]
    assert after["pipelines"] - before["pipelines"] <= 6
