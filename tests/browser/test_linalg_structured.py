"""Circulant and Toeplitz systems, procrustes, square roots of matrices: against NumPy in float64."""

from __future__ import annotations

import numpy as np
import pytest

import tabgpu as tg

L = tg.linalg
EPS = 2.0**-23
rng = np.random.default_rng(8)


def made(*shape: int, dtype: str = "float32") -> np.ndarray:
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype == "complex64" else x).astype(dtype)


def striped(c: np.ndarray, r: np.ndarray) -> np.ndarray:
    both = np.concatenate([c[::-1], r[1:]])
    return both[len(c) - 1 - np.arange(len(c))[:, None] + np.arange(len(r))].astype("complex128")


@pytest.mark.limits
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("n", [1, 7, 32])
async def test_structured_systems(n: int, dtype: str) -> None:
    c, r, b = made(n, dtype=dtype), made(n, dtype=dtype), made(n, 3, dtype=dtype)
    c[0] += 4
    r[0] = c[0]
    around = striped(c, np.concatenate([c[:1], c[:0:-1]]))
    matrix = striped(c, r)
    for got, a, want in (
        (L.solve_circulant(tg.asarray(c), tg.asarray(b)), around, b),
        (L.solve_circulant(tg.asarray(c), tg.asarray(b[:, 0])), around, b[:, 0]),
        (L.solve_toeplitz((tg.asarray(c), tg.asarray(r)), tg.asarray(b)), matrix, b),
        (L.solve_toeplitz((tg.asarray(c), tg.asarray(r)), tg.asarray(b[:, 0])), matrix, b[:, 0]),
    ):
        assert got.shape == want.shape and got.dtype == dtype
        x = (await got.numpy()).astype("complex128")
        assert np.abs(a @ x - want).max() < 20 * n * EPS * np.linalg.norm(a) * np.linalg.norm(x)
    got = L.matmul_toeplitz((tg.asarray(c), tg.asarray(r)), tg.asarray(b))
    assert np.abs(np.asarray(got) - matrix @ b).max() < 20 * n * EPS * np.linalg.norm(
        matrix
    ) * np.linalg.norm(b)
    wide = L.matmul_toeplitz(
        (tg.asarray(c), tg.asarray(np.concatenate([r, r]))), tg.asarray(np.concatenate([b, b]))
    )
    want = striped(c, np.concatenate([r, r])) @ np.concatenate([b, b])
    np.testing.assert_allclose(np.asarray(wide), want, atol=1e-4 * np.abs(want).max())


async def test_singular_circulants() -> None:
    ones = tg.ones(4)
    with pytest.raises(L.LinAlgError, match="singular"):
        await L.solve_circulant(ones, ones).numpy()
    np.testing.assert_allclose(np.asarray(L.solve_circulant(ones, ones, singular="lstsq")), 0.25, rtol=1e-6)
    c, b = made(2, 5), made(3, 5)
    c[:, 0] += 5
    got = np.asarray(L.solve_circulant(tg.asarray(c)[:, None, :], tg.asarray(b), baxis=-1, outaxis=-1))
    assert got.shape == (2, 3, 5)
    for i in range(2):
        for k in range(3):
            a = striped(c[i], np.concatenate([c[i, :1], c[i, :0:-1]])).real
            np.testing.assert_allclose(got[i, k], np.linalg.solve(a, b[k]), atol=1e-5)
    assert np.asarray(L.solve_circulant(tg.zeros(0), tg.zeros(0))).shape == (0,)
    with pytest.raises(ValueError, match="4 elements"):
        L.solve_circulant(ones, tg.ones(3))
    with pytest.raises(ValueError, match="lstsq"):
        L.solve_circulant(ones, ones, singular="no")
    with pytest.raises(ValueError, match="do not fit"):
        L.solve_toeplitz(ones, tg.ones(3))
    with pytest.raises(ValueError, match="do not fit"):
        L.matmul_toeplitz(ones, tg.ones(3))


@pytest.mark.parametrize("dtype", ["float32", pytest.param("complex64", marks=pytest.mark.slow)])
async def test_orthogonal_procrustes(dtype: str) -> None:
    a = made(9, 4, dtype=dtype)
    q = np.linalg.qr(made(4, 4, dtype=dtype).astype("complex128" if dtype == "complex64" else "float64"))[0]
    r, scale = L.orthogonal_procrustes(tg.asarray(a), tg.asarray((a @ q).astype(dtype)))
    np.testing.assert_allclose(np.asarray(r), q, atol=1e-5)
    np.testing.assert_allclose(float(scale), np.linalg.norm(a) ** 2, rtol=1e-5)
    with pytest.raises(ValueError, match=r"\(9, 4\)"):
        L.orthogonal_procrustes(tg.asarray(a), tg.ones((4, 9)))


@pytest.mark.limits
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
async def test_sqrtm(dtype: str) -> None:
    """Squares to the matrix; principal: no eigenvalue to the left of the imaginary axis."""
    for shape in ((1, 1), (2, 2), (5, 5), (2, 24, 24)):
        for scale in (1.0, 3e10, 1e-20):
            a = (made(*shape, dtype=dtype) * scale).astype(dtype)
            x = (await L.sqrtm(tg.asarray(a)).numpy()).astype("complex128")
            size = np.linalg.norm(x, axis=(-2, -1)).max() ** 2
            assert np.abs(x @ x - a).max() < 40 * shape[-1] * EPS * size
            w = np.linalg.eigvals(x)
            assert (w.real > -1e-4 * np.abs(w).max()).all()
    b = made(6, 6, dtype=dtype)
    b = (b @ b.conj().T).astype(dtype)
    values, vectors = np.linalg.eigh(b.astype("complex128"))
    want = (vectors * np.sqrt(values.clip(0))) @ vectors.conj().T
    np.testing.assert_allclose(np.asarray(L.sqrtm(tg.asarray(b))), want, atol=2e-3)


async def test_sqrtm_of_special_matrices() -> None:
    assert not np.asarray(L.sqrtm(tg.zeros((3, 3)))).any()
    np.testing.assert_allclose(np.asarray(L.sqrtm(tg.eye(4) * 9)), 3 * np.eye(4), rtol=1e-6)
    np.testing.assert_allclose(np.asarray(L.sqrtm(tg.eye(2) * -4)), 2j * np.eye(2), rtol=1e-6)
    assert np.isnan(np.asarray(L.sqrtm(tg.eye(3, k=1)))).any()  # it has none
    assert np.asarray(L.sqrtm(tg.zeros((2, 0, 0)))).shape == (2, 0, 0)
    with pytest.raises(L.LinAlgError, match="square"):
        L.sqrtm(tg.ones((2, 3)))
    with pytest.raises(L.LinAlgError, match="NaN"):
        await L.sqrtm(tg.full((2, 2), float("nan"))).numpy()
