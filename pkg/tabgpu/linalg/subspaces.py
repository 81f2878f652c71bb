"""Subspaces: bases of ranges and null spaces, the polar decomposition, steps of subspace iteration."""

from __future__ import annotations

from operator import index as as_index
from typing import Any, NamedTuple

from ..array import Array
from ..dtypes import int32
from ..errors import LinAlgError
from ..ops import elementwise as ew
from ..ops import reductions
from ..ops.creation import astype, copy_of, eye, positions, zeros
from ..ops.manipulation import broadcast_to, expand_dims, getitem, reshape
from ..ops.products import matmul
from ..ops.taking import take_along_axis
from ..ops.waiting import plain
from .householder import qr
from .least_squares import above, tolerance_of
from .singular import adjoint, svd
from .stacks import matrices, squares

EPS = 2.0**-23


class PolarResult(NamedTuple):
    """What polar returns: u with orthonormal columns or rows, p Hermitian and positive semidefinite."""

    u: Array
    p: Array


class SubspaceResult(NamedTuple):
    """What subspace iterations return: an orthonormal basis, and what the last product is in it."""

    Q: Array
    R: Array


def _rank(s: Array, rcond: Any, size: int) -> Array:
    """(.., 1) int32: how many singular values count."""
    kept = above(s, tolerance_of(rcond, EPS * size))
    return reductions.sum(astype(kept, int32), axis=-1, keepdims=True)


async def _columns(x: Array, rank: Array, behind: bool, size: int | None, where: str) -> Array:
    """The first `rank` columns of x, or those behind them: all, of a matrix, or `size`, with zeros for what is not
    there."""
    n = x.shape[-1]
    if size is None:
        if x.ndim != 2:
            raise ValueError(
                f"{where}: the matrices of a stack differ in how many columns they give; say size="
            )
        found = int(await reshape(rank, ()).item())  # type: ignore[arg-type]
        return getitem(x, (slice(None), slice(found, None) if behind else slice(0, found)))
    size = as_index(size)
    at = ew.add(rank, positions(size)) if behind else broadcast_to(positions(size), (*x.shape[:-2], size))
    inside = ew.less(at, n if behind else rank)
    at = expand_dims(ew.minimum(at, max(n - 1, 0)), axis=-2)
    return ew.where(expand_dims(inside, axis=-2), take_along_axis(x, at, axis=-1), 0.0)


async def null_space_async(A: Any, rcond: float | None = None, *, size: int | None = None) -> Array:
    """An orthonormal basis (n, n - rank) of the x with A @ x = 0, for a matrix (m, n).

    rcond: singular values up to rcond times the greatest count as 0; None: max(m, n) times float32's eps. size: so
    many columns, zeros behind the basis, and nothing is read; takes stacks (.., m, n) too. Else it reads: await
    tg.aio.null_space(A).
    """
    x = matrices(A, "null_space")
    m, n = x.shape[-2:]
    if not x.size:
        v, rank = _axes(x, n), zeros((*x.shape[:-2], 1), dtype=int32)
    else:
        _, s, vh = svd(x)
        v, rank = adjoint(vh), _rank(s, rcond, max(m, n))
    return await _columns(v, rank, True, size, "null_space")


async def orth_async(A: Any, rcond: float | None = None, *, size: int | None = None) -> Array:
    """An orthonormal basis (m, rank) of the range of a matrix (m, n). rcond, size: as null_space. Else it reads:
    await tg.aio.orth(A)."""
    x = matrices(A, "orth")
    m, n = x.shape[-2:]
    if not x.size:
        u, rank = _axes(x, m), zeros((*x.shape[:-2], 1), dtype=int32)
    else:
        u, s, _ = svd(x, full_matrices=False)
        rank = _rank(s, rcond, max(m, n))
    return await _columns(u, rank, False, size, "orth")


def _axes(x: Array, n: int) -> Array:
    return copy_of(broadcast_to(eye(n, dtype=x.dtype), (*x.shape[:-2], n, n)))


null_space = plain(null_space_async)
orth = plain(orth_async)


def polar(a: Any, side: str = "right") -> PolarResult:
    """a = u @ p ("right") or p @ u ("left") of matrices (.., m, n): u (.., m, n) with orthonormal columns or rows, p
    Hermitian, positive semidefinite, (.., n, n) or (.., m, m). From singular values."""
    if side not in ("right", "left"):
        raise ValueError(f"polar: side is 'right' or 'left', not {side!r}")
    x = matrices(a, "polar")
    w, s, vh = svd(x, full_matrices=False)
    u = matmul(w, vh)
    if side == "right":
        return PolarResult(u, matmul(ew.multiply(adjoint(vh), expand_dims(s, axis=-2)), vh))
    return PolarResult(u, matmul(ew.multiply(w, expand_dims(s, axis=-2)), adjoint(w)))


def power_step(a: Any, b: Any, epsilon: float = 0.0) -> Array:
    """The columns of a @ b, each divided by sqrt(the sum of its squares + epsilon). A column of zeros stays one."""
    made = matmul(matrices(a, "power_step"), matrices(b, "power_step"))
    length = ew.sqrt(ew.add(reductions.sum(squares(made), axis=-2, keepdims=True), epsilon))
    return ew.divide(made, ew.where(ew.equal(length, 0), 1.0, length))


def qr_power_step(a: Any, q: Any) -> SubspaceResult:
    """One step of subspace iteration: the QR factorisation of a @ q, by Householder reflections whatever its size or
    rank."""
    x, y = matrices(a, "qr_power_step"), matrices(q, "qr_power_step")
    return SubspaceResult(*qr(matmul(x, y)))


def subspace_iteration(a: Any, q: Any, iterations: int = 10) -> SubspaceResult:
    """(Q (.., n, k), R (.., k, k)) after a number of qr_power_step: Q tends to the space of the k greatest
    eigenvalues of square matrices (.., n, n), and the diagonal of R to their magnitudes.

    q: where to begin, (.., n, k), or a number k: of columns that are random, always the same. All is recorded at once.
    """
    x = matrices(a, "subspace_iteration", square=True)
    n = x.shape[-1]
    if isinstance(q, Array) or hasattr(q, "__len__"):
        basis = matrices(q, "subspace_iteration")
    else:
        from .. import random

        k = as_index(q)
        if not 0 < k <= n:
            raise ValueError(f"subspace_iteration: {k} columns, of matrices of {n}")
        basis = random.normal(random.key(0), (n, k))
    if basis.shape[-2] != n or basis.shape[-1] > n:
        raise LinAlgError(f"subspace_iteration: a {x.shape} and a basis {basis.shape} do not fit")
    if as_index(iterations) < 1:
        raise ValueError(f"subspace_iteration: {iterations} iterations; it takes one at least")
    for _ in range(as_index(iterations)):
        basis, r = qr_power_step(x, basis)
    return SubspaceResult(basis, r)


__all__ = ["null_space", "orth", "polar", "power_step", "qr_power_step", "subspace_iteration"]
