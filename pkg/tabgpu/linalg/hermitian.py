"""Eigenvalues and vectors of Hermitian matrices, by Jacobi's method (routines/jacobi.py)."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..array import Array
from ..dtypes import float32
from ..ops import elementwise as ew
from ..ops import reductions
from ..ops.creation import eye, zeros
from ..ops.manipulation import expand_dims, getitem, matrix_transpose, reshape
from ..ops.products import matmul
from ..ops.routine import routine, stored
from ..ops.sorting import argsort
from ..ops.taking import take_along_axis
from ..ops.triangles import tril, triu
from .stacks import finite_guard, flat, guarded, in_pieces, matrices, scales, squares

WHOLE = 32  # rows of matrices that one launch takes


class EighResult(NamedTuple):
    """What eigh returns: eigenvalues (.., n), ascending, real; eigenvectors (.., n, n), in columns."""

    eigenvalues: Array
    eigenvectors: Array


def _triangle(UPLO: Any, where: str) -> bool:
    """Whether the upper triangle is meant."""
    if UPLO not in ("L", "U", "l", "u"):
        raise ValueError(f"{where}: UPLO is 'L' or 'U', not {UPLO!r}")
    return UPLO in ("U", "u")


def eigh(a: Any, /, UPLO: str = "L") -> EighResult:
    """Eigenvalues (.., n), ascending, and orthonormal eigenvectors (.., n, n) in columns, of Hermitian matrices.

    UPLO: which triangle is read. Eigenvalues are float32. LinAlgError at the read if an element is not finite. Up to
    32 rows one launch for all matrices; larger ones are shifted to be positive definite, and their columns made
    orthogonal.
    """
    return EighResult(*_solved(a, UPLO, "eigh"))


def eigvalsh(a: Any, /, UPLO: str = "L") -> Array:
    """The eigenvalues (.., n) of Hermitian matrices, ascending, float32; see eigh."""
    return _solved(a, UPLO, "eigvalsh")[0]


def _solved(a: Any, UPLO: Any, where: str) -> tuple[Array, Array]:
    x = matrices(a, where, square=True)
    upper = _triangle(UPLO, where)
    if not x.size:
        return zeros(x.shape[:-1], dtype=float32), zeros(x.shape, dtype=x.dtype)
    seen = (triu if upper else tril)(x)
    check = (finite_guard(seen, where, "eigenvalues"),)
    down, up = scales(seen, (-2, -1))
    n = x.shape[-1]
    values, rows = _whole(x, down, upper) if n <= WHOLE else _blocks(seen, down, upper)
    values = ew.multiply(values, reshape(up, (*x.shape[:-2], 1)))
    order = argsort(values)
    values = take_along_axis(values, order)
    rows = take_along_axis(rows, expand_dims(order, axis=-1), axis=-2)
    return guarded(values, check), matrix_transpose(guarded(rows, check))


def _whole(x: Array, down: Array, upper: bool) -> tuple[Array, Array]:
    """(eigenvalues of x * down, eigenvectors in rows) of small matrices, unordered."""
    n = x.shape[-1]

    def run(part: Array) -> Array:
        count = part.shape[0]
        shape, extra = (count, n, n + 1), (count, n, upper)
        return routine("jacobi.whole", [stored(part)], shape, x.dtype, extra, 32 * count * n**3)

    made = in_pieces(flat(ew.multiply(x, down)), n * (n + 1) * x.dtype.itemsize, run)
    made = reshape(made, (*x.shape[:-1], n + 1))
    values = getitem(made, (..., n))
    return ew.real(values) if x.dtype.kind == "c" else values, getitem(made, (..., slice(None, n)))


def hermitian(x: Array, upper: bool) -> Array:
    """The Hermitian matrices of a triangle (the other one of x is zeros), with a real diagonal."""
    strict = triu(x, 1) if upper else tril(x, -1)
    other = matrix_transpose(strict)
    diagonal = ew.multiply(x, eye(x.shape[-1]))
    if x.dtype.kind == "c":
        other = ew.conj(other)
        diagonal = ew.real(diagonal)
    return ew.add(ew.add(strict, other), diagonal)


def _blocks(seen: Array, down: Array, upper: bool) -> tuple[Array, Array]:
    """The same of larger ones: x + shift is positive definite, and when its columns are made orthogonal by rotations
    they are its eigenvectors times its eigenvalues. Rayleigh quotients then give those of x."""
    n = seen.shape[-1]
    x = hermitian(ew.multiply(seen, down), upper)
    bound = _norm_bound(x)
    shift = ew.multiply(ew.where(ew.equal(bound, 0), 1.0, bound), 1.25)
    columns = matrix_transpose(x)
    work = ew.add(columns, ew.multiply(eye(n), shift))
    made = orthogonal_rows(work, 0)
    length = ew.sqrt(reductions.sum(squares(made), axis=-1, keepdims=True))
    rows = ew.divide(made, length)
    turned = matmul(rows, columns)
    if x.dtype.kind == "c":
        products = ew.add(
            ew.multiply(ew.real(rows), ew.real(turned)), ew.multiply(ew.imag(rows), ew.imag(turned))
        )
    else:
        products = ew.multiply(rows, turned)
    return reductions.sum(products, axis=-1), rows


def _norm_bound(x: Array) -> Array:
    """A bound of the 2-norm of Hermitian matrices, at most n**(1/8) times too large: from the Frobenius norm of
    x**4."""
    square = matmul(x, x)
    size = ew.sqrt(reductions.sum(squares(square), axis=(-2, -1), keepdims=True))
    size = ew.where(ew.equal(size, 0), 1.0, size)
    square = ew.divide(square, size)
    fourth = matmul(square, square)
    rest = ew.sqrt(ew.sqrt(reductions.sum(squares(fourth), axis=(-2, -1), keepdims=True)))
    return ew.multiply(ew.sqrt(size), ew.sqrt(rest))


def orthogonal_rows(x: Array, more: int) -> Array:
    """(.., n, m + more): the rows of (.., n, m) made orthogonal by rotations, and those of an identity rotated
    alike."""
    n, m = x.shape[-2:]
    each = max(n * (m + more), 64 * 64, 128 * n) * x.dtype.itemsize

    def run(part: Array) -> Array:
        count = part.shape[0]
        shape, extra = (count, n, m + more), (count, n, m, more)
        return routine("jacobi.blocks", [stored(part)], shape, x.dtype, extra, 16 * count * n * n)

    made = in_pieces(flat(x), each, run)
    return reshape(made, (*x.shape[:-1], m + more))


__all__ = ["eigh", "eigvalsh"]
