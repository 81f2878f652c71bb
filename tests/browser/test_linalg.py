"""tg.linalg without factorisations: norms, and the functions of stacks of matrices."""

from __future__ import annotations

import numpy as np
import pytest

import tabgpu as tg

RNG = np.random.default_rng(3)
REAL = RNG.standard_normal((2, 5, 4)).astype(np.float32)
COMPLEX = (REAL + 1j * RNG.standard_normal((2, 5, 4))).astype(np.complex64)
WHOLE = RNG.integers(-4, 5, (3, 4)).astype(np.int32)


async def close(ours: tg.Array, theirs: np.ndarray) -> None:
    got = await ours.numpy()
    assert got.dtype == (np.complex64 if np.iscomplexobj(theirs) else np.float32)
    np.testing.assert_allclose(got, theirs, rtol=3e-6, atol=3e-6)
    assert got.shape == np.shape(theirs)


@pytest.mark.parametrize("order", [2, 1, 0, np.inf, -np.inf, 3, 0.5, -1])
async def test_norms_of_vectors(order) -> None:
    for x in (REAL, COMPLEX, WHOLE[1:, ::-1] + 5):
        a = tg.asarray(x)
        for axis in (None, 0, -1, (0, 1)):
            if order == 0 and axis == (0, 1):
                continue
            for keep in (False, True):
                want = np.linalg.vector_norm(x.astype(x.dtype if x.dtype.kind != "i" else np.float32),
                                             axis=axis, ord=order, keepdims=keep)  # fmt: skip
                await close(tg.linalg.vector_norm(a, axis=axis, ord=order, keepdims=keep), want)
        await close(tg.linalg.norm(a, order, 0), np.linalg.norm(x, order, 0))


@pytest.mark.parametrize("order", ["fro", None, 1, -1, np.inf, -np.inf])
async def test_norms_of_matrices(order) -> None:
    for x in (REAL, COMPLEX):
        a = tg.asarray(x)
        for axes in ((0, 1), (2, 1), (-1, 0)):
            for keep in (False, True):
                want = np.linalg.norm(x, order, axes, keep)
                await close(tg.linalg.norm(a, order, axes, keep), want)
        if order is not None:
            await close(tg.linalg.matrix_norm(a, ord=order), np.linalg.matrix_norm(x, ord=order))
    await close(tg.linalg.norm(tg.asarray(WHOLE), order), np.linalg.norm(WHOLE, order))


async def test_functions_of_stacks_of_matrices() -> None:
    a = tg.asarray(REAL)
    for k in (-2, 0, 1):
        await close(tg.linalg.diagonal(a, offset=k), np.linalg.diagonal(REAL, offset=k))
        await close(tg.linalg.trace(a, offset=k), np.linalg.trace(REAL, offset=k))
    await close(tg.linalg.outer(a[0, 0], a[1, 0, ::-1]), np.linalg.outer(REAL[0, 0], REAL[1, 0, ::-1]))
    await close(tg.linalg.cross(a[..., :3], a[0, :, 1:]), np.linalg.cross(REAL[..., :3], REAL[0, :, 1:]))
    await close(tg.linalg.norm(a), np.linalg.norm(REAL))
    for name in set(tg.linalg.__all__) - set(tg.linalg.WHERE):
        assert hasattr(np.linalg, name)


def test_what_linalg_refuses() -> None:
    a = tg.asarray(REAL)
    with pytest.raises(ValueError, match=r"outer.*\(2, 5, 4\)"):
        tg.linalg.outer(a, a)
    with pytest.raises(ValueError, match="no order"):
        tg.linalg.vector_norm(a, ord="fro")
    with pytest.raises(ValueError, match="one or two axes"):
        tg.linalg.norm(a, 1)
    with pytest.raises(ValueError, match=r"\(3,\)"):
        tg.linalg.matrix_norm(tg.ones(3))
