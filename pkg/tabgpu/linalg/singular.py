"""Singular values and vectors: a QR factorisation, then Jacobi rotations of what is left (routines/jacobi.py)."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..array import Array
from ..dtypes import float32
from ..layout import Shape
from ..ops import elementwise as ew
from ..ops import reductions
from ..ops.creation import copy_of, eye, zeros
from ..ops.joining import concat
from ..ops.manipulation import broadcast_to, expand_dims, flip, getitem, matrix_transpose, reshape
from ..ops.products import matmul
from ..ops.sorting import argsort
from ..ops.taking import take_along_axis
from ..ops.triangles import diagonal
from .hermitian import eigh, eigvalsh, orthogonal_rows
from .householder import factors
from .stacks import finite_guard, guarded, matrices, scales, squares


class SVDResult(NamedTuple):
    """What svd returns: U, singular values (float32, descending), the conjugate transpose of V."""

    U: Array
    S: Array
    Vh: Array


def svd(a: Any, /, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """a = U @ diag(S) @ Vh of matrices (.., m, n): U (.., m, m), S (.., k) descending, Vh (.., n, n), k = min(m, n).

    full_matrices=False: U (.., m, k) and Vh (.., k, n). compute_uv=False: S alone. hermitian: a is Hermitian (the
    lower triangle is read), which takes eigh. One-sided Jacobi rotations after a QR factorisation: small singular
    values of matrices with columns of very different sizes are accurate too. LinAlgError at the read if an element
    is not finite.
    """
    x = matrices(a, "svd", square=hermitian)
    if not compute_uv:
        return svdvals(x, hermitian=hermitian)
    m, n = x.shape[-2:]
    lead, k = x.shape[:-2], min(x.shape[-2:])
    if not x.size:
        u, v = (_axes(lead, size, size if full_matrices else k, x) for size in (m, n))
        return SVDResult(u, zeros((*lead, k), dtype=float32), matrix_transpose(v))
    if hermitian:
        return SVDResult(*_hermitian(x))
    check = (finite_guard(x, "svd", "singular values"),)
    if m < n:
        v, s, uh = _tall(adjoint(x), full_matrices)
        u, vh = adjoint(uh), adjoint(v)
    else:
        u, s, vh = _tall(x, full_matrices)
    return SVDResult(*(guarded(part, check) for part in (u, s, vh)))


def _axes(lead: Shape, n: int, k: int, like: Array) -> Array:
    """The first k columns of identities."""
    return copy_of(broadcast_to(eye(n, k, dtype=like.dtype), (*lead, n, k)))


def svdvals(x: Any, /, *, hermitian: bool = False) -> Array:
    """The singular values (.., min(m, n)) of matrices (.., m, n), float32, descending; see svd."""
    a = matrices(x, "svdvals", square=hermitian)
    m, n = a.shape[-2:]
    if not a.size:
        return zeros((*a.shape[:-2], min(m, n)), dtype=float32)
    if hermitian:
        return flip(_ascending(ew.abs(eigvalsh(a)))[0], axis=-1)
    check = (finite_guard(a, "svdvals", "singular values"),)
    work, up = _triangle(a if m >= n else adjoint(a), 0)[1:]
    s, _ = _lengths(orthogonal_rows(work, 0))
    return guarded(ew.multiply(flip(_ascending(s)[0], axis=-1), up), check)


def adjoint(x: Array) -> Array:
    """The conjugate transpose."""
    return matrix_transpose(ew.conj(x) if x.dtype.kind == "c" else x)


def _ascending(s: Array) -> tuple[Array, Array]:
    order = argsort(s)
    return take_along_axis(s, order), order


def _triangle(x: Array, more: int) -> tuple[Array, Array, Array]:
    """(Q with `more` columns, R conjugated and scaled, (.., 1) what that is to be multiplied by) of m >= n."""
    down, up = scales(x, (-2, -1))
    q, r = factors(ew.multiply(x, down), more)
    r = getitem(r, (..., slice(None, x.shape[-1]), slice(None)))
    return q, ew.conj(r) if x.dtype.kind == "c" else r, reshape(up, (*x.shape[:-2], 1))


def _lengths(rows: Array) -> tuple[Array, Array]:
    """(2-norms of rows, these divided by them or by 1), whatever their magnitude."""
    most = reductions.max(ew.abs(rows), axis=-1, keepdims=True)
    most = ew.where(ew.equal(most, 0), 1.0, most)
    near = ew.divide(rows, most)
    length = ew.sqrt(reductions.sum(squares(near), axis=-1, keepdims=True))
    unit = ew.divide(near, ew.where(ew.equal(length, 0), 1.0, length))
    return reshape(ew.multiply(length, most), rows.shape[:-1]), unit


def _tall(x: Array, full: bool) -> tuple[Array, Array, Array]:
    """(U, S, Vh) of m >= n. R^H J = W with orthogonal columns makes R = J S V^H: the rotations are the left
    vectors."""
    m, n = x.shape[-2:]
    q, work, up = _triangle(x, m if full else n)
    state = orthogonal_rows(work, n)
    s, _ = _lengths(getitem(state, (..., slice(None, n))))
    order = flip(argsort(s), axis=-1)
    s = take_along_axis(s, order)
    state = take_along_axis(state, expand_dims(order, axis=-1), axis=-2)
    _, rows = _lengths(getitem(state, (..., slice(None, n))))
    v = orthonormal(matrix_transpose(rows))
    turns = matrix_transpose(getitem(state, (..., slice(n, None))))
    u = matmul(getitem(q, (..., slice(None, n))), turns)
    if full and m > n:
        u = concat([u, getitem(q, (..., slice(n, None)))], axis=-1)
    return u, ew.multiply(s, up), adjoint(v)


def orthonormal(x: Array) -> Array:
    """Square x with columns that are orthonormal or zeros: the same to rounding, and others for the zeros."""
    q, r = factors(x, x.shape[-1])
    d = diagonal(r, 0, -2, -1)
    size = ew.abs(d)
    sign = ew.where(ew.greater(size, 0.5), ew.divide(d, ew.where(ew.equal(size, 0), 1.0, size)), 1.0)
    return ew.multiply(q, expand_dims(sign, axis=-2))


def _hermitian(x: Array) -> tuple[Array, Array, Array]:
    w, v = eigh(x)
    s, order = _ascending(ew.abs(w))
    order = flip(order, axis=-1)
    sign = ew.where(ew.less(take_along_axis(w, order), 0), -1.0, 1.0)
    v = take_along_axis(v, expand_dims(order, axis=-2), axis=-1)
    return v, flip(s, axis=-1), adjoint(ew.multiply(v, expand_dims(sign, axis=-2)))


__all__ = ["svd", "svdvals"]
