"""svd and svdvals of tg.linalg against float64. Backward error and orthogonality: 20 n eps. Runs in the tab."""

from __future__ import annotations

import numpy as np
import pytest
from forms import form  # noqa: F401  # a fixture
from orthogonal_checks import adjoint, check_svd, draw, host

import tabgpu as tg
from tabgpu import linalg

SHAPES = [(1, 1), (3, 3), (7, 3), (3, 7), (17, 17), (2, 5, 4)]


@pytest.mark.parametrize("kind", "fc")
async def test_svd_of_every_shape(kind: str) -> None:
    for shape in SHAPES:
        a = draw(shape, kind)
        x = tg.asarray(a)
        m, n = shape[-2:]
        found = linalg.svd(x, full_matrices=False)
        u, s, vh = await host(found.U, found.S, found.Vh)
        check_svd(a, u, s, vh)
        assert u.shape == (*shape[:-2], m, min(m, n)) and vh.shape == (*shape[:-2], min(m, n), n)
        values = await linalg.svdvals(x).numpy()
        np.testing.assert_allclose(values, s, rtol=1e-5, atol=1e-6 * s.max())
        if m != n:
            u, s, vh = await host(*linalg.svd(x))
            check_svd(a, u, s, vh)
            assert u.shape == (*shape[:-2], m, m) and vh.shape == (*shape[:-2], n, n)
    alone = await linalg.svd(tg.asarray(a), compute_uv=False).numpy()
    np.testing.assert_array_equal(alone, values)


@pytest.mark.slow
@pytest.mark.parametrize("kind", "fc")
async def test_many_blocks(kind: str, form: str) -> None:
    for shape in ((80, 34), (2, 20, 30), (66, 66)):
        a = draw(shape, kind)
        check_svd(a, *await host(*linalg.svd(tg.asarray(a), full_matrices=False)))


@pytest.mark.limits
async def test_matrices_of_low_rank() -> None:
    """Vectors of singular values that are 0 or rounding are orthonormal too."""
    for a in (
        np.zeros((4, 3)),
        np.ones((5, 5)),
        np.outer(np.arange(6), np.arange(1, 5)),
        draw((12, 3)) @ draw((3, 9)),
        np.diag([1, 0, 2, 0]),
        np.diag([3, 1e-20, 1e-10, 1]),
        np.vander(np.linspace(0, 1, 12), 9),
        1e30 * draw((4, 4)),
    ):
        a = np.asarray(a, np.float32)
        check_svd(a, *await host(*linalg.svd(tg.asarray(a))))


async def test_small_singular_values_are_accurate() -> None:
    """Of matrices with columns of very different sizes, relative to each: a condition of 1e21 in float32."""
    a = (draw((12, 8)) * 1000.0 ** -np.arange(8)).astype(np.float32)
    want = np.linalg.svd(a.astype(np.float64) * 1e6, compute_uv=False) / 1e6
    got = await linalg.svdvals(tg.asarray(a)).numpy()
    np.testing.assert_allclose(got, want, rtol=2e-5)


@pytest.mark.limits
@pytest.mark.parametrize("kind", "fc")
async def test_hermitian(kind: str) -> None:
    a = draw((6, 6), kind)
    a = a + adjoint(a)
    check_svd(a, *await host(*linalg.svd(tg.asarray(a), hermitian=True)))
    values = await linalg.svdvals(tg.asarray(a), hermitian=True).numpy()
    np.testing.assert_allclose(values, np.linalg.svd(a, compute_uv=False), rtol=1e-4, atol=1e-5)
    alone = await linalg.svd(tg.asarray(a), compute_uv=False, hermitian=True).numpy()
    np.testing.assert_array_equal(alone, values)


async def test_pieces_of_larger_arrays() -> None:
    whole = draw((4, 6, 8))
    x = tg.asarray(whole)
    for a, y in (
        (whole[::2, ::2, 1:5], x[::2, ::2, 1:5]),
        (whole[1].T, x[1].T),
        (whole[2, ::-1], x[2, ::-1]),
    ):
        check_svd(np.ascontiguousarray(a), *await host(*linalg.svd(y, full_matrices=False)))


async def test_svd_without_elements() -> None:
    """L05."""
    for shape in ((0, 0), (2, 0, 0), (0, 3), (3, 0), (0, 2, 2)):
        a = np.zeros(shape, np.float32)
        for full in (False, True):
            want = np.linalg.svd(a, full_matrices=full)
            for got, part in zip(await host(*linalg.svd(tg.asarray(a), full)), want, strict=True):
                np.testing.assert_array_equal(got, part)
        assert linalg.svdvals(tg.asarray(a)).shape == np.linalg.svdvals(a).shape


async def test_errors() -> None:
    with pytest.raises(linalg.LinAlgError, match="matrices"):
        linalg.svd(tg.ones(3))
    with pytest.raises(linalg.LinAlgError, match="square"):
        linalg.svd(tg.ones((2, 3)), hermitian=True)
    for bad in (np.nan, -np.inf):
        a = draw((2, 4, 3))
        a[1, 2, 1] = bad
        for part in (*linalg.svd(tg.asarray(a)), linalg.svdvals(tg.asarray(a))):
            with pytest.raises(linalg.LinAlgError, match="converge"):
                await part.numpy()
