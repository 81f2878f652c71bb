"""eigh and eigvalsh of tg.linalg against float64. Backward error and orthogonality: 20 n eps. Runs in the tab."""

from __future__ import annotations

import numpy as np
import pytest
from forms import form  # noqa: F401  # a fixture
from orthogonal_checks import adjoint, check_eigh, draw, host

import tabgpu as tg
from tabgpu import linalg

SHAPES = [(1, 1), (2, 2), (3, 3), (8, 8), (17, 17), (3, 5, 5), (2, 1, 4, 4)]


def hermitian(shape: tuple[int, ...], kind: str = "f") -> np.ndarray:
    a = draw(shape, kind)
    return a + adjoint(a)


@pytest.mark.parametrize("kind", "fc")
async def test_eigh_of_every_shape(kind: str) -> None:
    for shape in SHAPES:
        a = hermitian(shape, kind)
        found = linalg.eigh(tg.asarray(a))
        w, v = await host(found.eigenvalues, found.eigenvectors)
        check_eigh(a, w, v)
        np.testing.assert_array_equal(await linalg.eigvalsh(tg.asarray(a)).numpy(), w)


@pytest.mark.limits
@pytest.mark.parametrize("kind", "fc")
async def test_larger_than_a_workgroup(kind: str) -> None:
    """One pair of blocks."""
    a = hermitian((36, 36), kind)
    check_eigh(a, *await host(*linalg.eigh(tg.asarray(a))))


@pytest.mark.slow
@pytest.mark.parametrize("kind", "fc")
async def test_many_blocks(kind: str, form: str) -> None:
    for n in (20, 40, 66):
        a = hermitian((n, n), kind)
        check_eigh(a, *await host(*linalg.eigh(tg.asarray(a))))


async def test_which_triangle_is_read() -> None:
    for n, uplo in ((5, "L"), (5, "U"), (5, "l"), (5, "u"), (33, "U")):
        a = draw((n, n), "c")
        part = np.tril(a, -1) if uplo in "Ll" else np.triu(a, 1)
        whole = (part + adjoint(part) + np.diag(np.real(np.diag(a)))).astype(np.complex64)
        check_eigh(whole, *await host(*linalg.eigh(tg.asarray(a), uplo)))
    with pytest.raises(ValueError, match="UPLO"):
        linalg.eigh(tg.ones((2, 2)), "X")


@pytest.mark.limits
async def test_special_matrices() -> None:
    n = 12
    k = np.arange(n)
    laplace = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    for a in (
        np.zeros((n, n)),
        np.eye(n),
        -3 * np.eye(n),
        np.ones((n, n)),
        np.diag(k - 4.0),
        laplace,
        1 / (1.0 + k[:, None] + k),  # Hilbert
        np.fliplr(np.eye(n)),  # eigenvalues 1 and -1, each many times
        1e30 * laplace,
        1e-30 * laplace,
        np.minimum(k[:, None], k) + 1.0,
    ):
        a = a.astype(np.float32)
        check_eigh(a, *await host(*linalg.eigh(tg.asarray(a))))


async def test_opposite_and_repeated_eigenvalues_of_larger_ones() -> None:
    """The shift keeps apart what only a sign tells apart."""
    q = np.linalg.qr(draw((40, 40)).astype(np.float64))[0]
    w = np.repeat([-2.0, -1, 0, 1, 2], 8)
    a = ((q * w) @ q.T).astype(np.float32)
    a = (a + a.T) / 2
    check_eigh(a, *await host(*linalg.eigh(tg.asarray(a))))
    zero = np.zeros((33, 33), np.float32)
    check_eigh(zero, *await host(*linalg.eigh(tg.asarray(zero))))


async def test_pieces_of_larger_arrays() -> None:
    whole = hermitian((4, 6, 6))
    x = tg.asarray(whole)
    for a, y in (
        (whole[::2, ::2, ::2], x[::2, ::2, ::2]),
        (whole[1].T, x[1].T),
        (whole[:, ::-1, ::-1], x[:, ::-1, ::-1]),
    ):
        check_eigh(np.ascontiguousarray(a), *await host(*linalg.eigh(y)))
    w, _ = await host(*linalg.eigh([[2, 1], [1, 2]]))
    np.testing.assert_allclose(w, [1, 3], rtol=1e-6)


async def test_eigh_without_elements() -> None:
    """L05."""
    for shape in ((0, 0), (2, 0, 0), (0, 3, 3)):
        w, v = await host(*linalg.eigh(tg.zeros(shape)))
        assert w.shape == shape[:-1] and v.shape == shape
        assert linalg.eigvalsh(tg.zeros(shape)).shape == shape[:-1]


async def test_errors() -> None:
    with pytest.raises(linalg.LinAlgError, match="square"):
        linalg.eigh(tg.ones((2, 3)))
    with pytest.raises(linalg.LinAlgError, match="matrices"):
        linalg.eigvalsh(tg.ones(3))
    for bad in (np.nan, np.inf):
        a = np.eye(4, dtype=np.float32)
        a[2, 1] = bad
        found = linalg.eigh(tg.asarray(a))
        for part in found:
            with pytest.raises(linalg.LinAlgError, match="converge"):
                await part.numpy()
        check_eigh(
            np.eye(4, dtype=np.float32), *await host(*linalg.eigh(tg.asarray(a), "U"))
        )  # it is not read


async def test_nothing_is_read_and_shapes_compile_nothing() -> None:
    for n in (4, 16, 20):
        await host(*linalg.eigh(tg.asarray(hermitian((n, n)))))
    before = tg.memory()
    kept = [linalg.eigh(tg.asarray(hermitian((b, n, n)))) for n in (2, 3, 7, 11, 14, 18, 21) for b in (1, 3)]
    await tg.synchronize()
    after = tg.memory()
    assert after["reads"] == before["reads"] and len(kept) == 14
    assert after["pipelines"] - before["pipelines"] <= 4
