"""Factorisations and solvers by backward errors, at most 20 n eps, of matrices that are well- and ill-conditioned,
graded, of low rank, odd, 1 x 1, tall, wide, batched, empty and complex, in every layout; NaN in one of a stack."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from awkward import EPS, LAYOUTS, definite, draw, ill, placed, special, well
from tab import IN_TAB

import tabgpu as tg
from tabgpu import linalg

MOST = 20.0  # n eps, in the Frobenius norm
SQUARE = {
    "one": draw(1, 1), "odd": well(17, 17), "random": draw(33, 33), "condition 1e4": ill(17),
    "condition 1e7": ill(9, 1e7), "Hilbert": scipy.linalg.hilbert(8).astype(np.float32),
    "tiny": draw(5, 5) * np.float32(1e-15),
    "low rank": (draw(9, 2) @ draw(2, 9)).astype(np.float32), "zeros": np.zeros((3, 3), np.float32),
    "graded": (draw(7, 7) * np.geomspace(1e6, 1e-6, 7)).astype(np.float32), "stack": draw(2, 3, 5, 5),
    "complex": (draw(9, 9) + 1j * draw(9, 9)).astype(np.complex64), "empty": draw(0, 0), "empties": draw(2, 0, 0),
}  # fmt: skip
OTHERS = {
    "tall": draw(33, 7), "wide": draw(5, 17), "row": draw(1, 9), "column": draw(9, 1), "stack of tall": draw(3, 6, 2),
    "no rows": draw(0, 3), "no columns": draw(3, 0), "tall of condition 1e4": (draw(20, 9) @ ill(9)).astype(np.float32),
    "complex wide": (draw(4, 9) + 1j * draw(4, 9)).astype(np.complex64),
}  # fmt: skip
ALL = SQUARE | OTHERS
TAKEN = [k for k in ALL if not (IN_TAB and k in ("random", "complex wide", "stack of tall", "condition 1e7"))]
FULL = ("one", "odd", "random", "condition 1e4", "Hilbert", "tiny", "stack", "empty", "empties", "complex")


def wide(x: Any) -> Any:
    return np.asarray(x).astype(np.complex128 if np.asarray(x).dtype.kind == "c" else np.float64)


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def size(x: Any) -> Any:
    """Of each matrix of a stack."""
    return np.linalg.norm(x, axis=(-2, -1))


def near(got: Any, want: Any, scale: Any = None) -> float:
    """The greatest backward error of a stack in units of n eps."""
    if not want.size:
        return 0.0
    rest, scale = size(got - want), size(want) if scale is None else scale
    return float((rest / (max(want.shape[-2:]) * EPS * np.where(scale == 0, 1, scale))).max())


def straight(q: Any) -> float:
    """How far the columns are from orthonormal, in the same units."""
    n = q.shape[-1]
    return near(adjoint(q) @ q, np.broadcast_to(np.eye(n), (*q.shape[:-2], n, n)), 1.0) if q.size else 0.0


def lu(x: Any) -> Any:
    return linalg.lu(x), lambda a, p, lower, upper: [near(p @ lower @ upper, a)]


def qr(x: Any) -> Any:
    return linalg.qr(x), lambda a, q, r: [near(q @ r, a), straight(q)]


def qr_complete(x: Any) -> Any:
    return linalg.qr(x, "complete"), lambda a, q, r: [near(q @ r, a), straight(q)]


def svd(x: Any) -> Any:
    return linalg.svd(x, full_matrices=False), lambda a, u, s, v: [
        near(u * s[..., None, :] @ v, a), straight(u), straight(adjoint(v))
    ]  # fmt: skip


@pytest.mark.parametrize("what", TAKEN)
async def test_any_matrix(what: str) -> None:
    """RM-lu, RM-qr, RM-pinv (by svd): whatever the matrix."""
    a = ALL[what]
    made = []
    for k, f in enumerate((lu, qr, qr_complete, svd)):
        host, there = placed(a, LAYOUTS[(k + len(what)) % len(LAYOUTS)])
        made.append((f.__name__, host, *f(there)))
    read = iter(await tg.fetch(*[part for _, _, parts, _ in made for part in parts]))
    for label, host, parts, errors in made:
        found = errors(host, *[wide(next(read)) for _ in parts])
        assert max(found) <= MOST, (label, found)


@pytest.mark.parametrize("what", FULL)
async def test_square_matrices(what: str) -> None:
    """RM-chol, RM-eig, RM-inv, RM-linsolve, RM-mldivide: residuals of what is solved and of eigenvectors."""
    a = SQUARE[what]
    k = len(what) % len(LAYOUTS)
    host, x = placed(a, LAYOUTS[k])
    whole, d = placed(
        definite(a) if a.dtype.kind == "f" else (a @ adjoint(a)).astype(a.dtype), LAYOUTS[k - 1]
    )
    mean, h = placed((a + adjoint(a)) / 2, LAYOUTS[k - 2])
    b, y = placed(draw(*a.shape[:-1], 2), LAYOUTS[k - 3])
    made = await tg.fetch(
        linalg.cholesky(d), linalg.solve(x, y), linalg.inv(x), linalg.cho_solve((linalg.cholesky(d), True), y),
        *linalg.eigh(h), *linalg.eig(x, left=True),
    )  # fmt: skip
    low, solved, inverse, other, w, v, values, left, vectors = map(wide, made)
    eye = np.broadcast_to(np.eye(a.shape[-1]), a.shape)

    def residual(m: Any, found: Any, want: Any) -> float:
        return near(m @ found, want, size(m) * size(found) + size(want)) if m.size else 0.0

    assert near(low @ adjoint(low), whole) <= MOST
    assert max(residual(host, solved, b), residual(whole, other, b), residual(host, inverse, eye)) <= MOST
    assert max(near(v * w[..., None, :] @ adjoint(v), mean), straight(v)) <= MOST
    if a.size:
        assert near(host @ vectors, vectors * values[..., None, :], size(host)) <= MOST
        assert near(adjoint(left) @ host, values[..., None] * adjoint(left), size(host)) <= MOST


@pytest.mark.parametrize(
    "what", ["odd", "condition 1e4", "tall", "tall of condition 1e4", "wide", "row", "column", "one"]
)
async def test_least_squares(what: str) -> None:
    """RM-mldivide: the residual is orthogonal to the columns, and no longer than that of float64's solution."""
    a, x = placed(ALL[what], LAYOUTS[len(what) % len(LAYOUTS)])
    b, y = placed(draw(a.shape[0], 2), LAYOUTS[len(what) % 3])
    found = wide(await linalg.lstsq(x, y).x.numpy())
    want = np.linalg.lstsq(a, b, rcond=None)[0]
    rest, least = b - a @ found, b - a @ want
    n, scale = max(a.shape), np.linalg.norm(a) * np.linalg.norm(found) + np.linalg.norm(b)
    assert np.linalg.norm(a.T @ rest) <= MOST * n * EPS * np.linalg.norm(a) * scale
    assert np.linalg.norm(rest) <= np.linalg.norm(least) + MOST * n * EPS * scale
    assert found.shape == want.shape and np.linalg.norm(found) <= 1.01 * np.linalg.norm(want)  # of least norm


async def test_special_values_stay_in_their_matrix() -> None:
    """RM-lu, RM-inv, RM-linsolve, RM-chol: a matrix with NaN or inf is no harm to its neighbours in a stack."""
    good = well(5, 5)
    a = np.stack([good, special(5, 5), good])
    d = np.stack([definite(good), special(5, 5), definite(good)])
    x = tg.asarray(a)
    parts = [
        linalg.lu_factor(x)[0], linalg.inv_ex(x)[0], linalg.solve_ex(x, x[..., :2])[0], linalg.det(x),
        linalg.cholesky_ex(d)[0], linalg.qr(x)[1], linalg.norm(x, axis=(-2, -1)), linalg.expm(x), x @ x,
    ]  # fmt: skip
    alone = tg.asarray(good)
    singles = [
        linalg.lu_factor(alone)[0], linalg.inv(alone), linalg.solve(alone, alone[:, :2]), linalg.det(alone),
        linalg.cholesky(definite(good)), linalg.qr(alone)[1], linalg.norm(alone), linalg.expm(alone), alone @ alone,
    ]  # fmt: skip
    read = await tg.fetch(*parts, *singles)
    for k, (got, want) in enumerate(zip(read[: len(parts)], read[len(parts) :], strict=True)):
        for j in (0, 2):
            np.testing.assert_allclose(
                got[j], want, rtol=2e-4, atol=2e-5 * np.abs(want).max(), err_msg=str(k)
            )
        if k not in (1, 2, 4):  # whose verdicts say it
            assert not np.isfinite(got[1]).all(), k
