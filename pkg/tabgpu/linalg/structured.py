"""Systems whose matrices have a structure, and functions of factorisations: circulant, Toeplitz, procrustes, sqrtm."""

from __future__ import annotations

from math import prod
from typing import Any

from ..array import Array
from ..dtypes import complex64, float32, uint32
from ..errors import LinAlgError
from ..layout import broadcast_shapes, normalize_axis
from ..ops import elementwise as ew
from ..ops import reductions
from ..ops.creation import astype, zeros
from ..ops.guards import guard
from ..ops.joining import concat
from ..ops.manipulation import atleast_1d, expand_dims, flip, matrix_transpose, moveaxis, reshape
from ..ops.products import matmul
from ..ops.rearranging import prepare
from ..ops.routine import routine, stored
from .eigen import _guarded, _scaled, _schur, _times_power, square
from .special_matrices import toeplitz

EPS = 2.0**-23


def _floating(x: Any, where: str) -> Array:
    made: Array = atleast_1d(prepare(x, where))
    return made if made.dtype in (float32, complex64) else astype(made, float32)


def _vectors(*given: tuple[Any, int], where: str) -> list[Array]:
    """Arrays with an axis each, moved last."""
    found = []
    for x, axis in given:
        x = _floating(x, where)
        found.append(moveaxis(x, normalize_axis(axis, x.ndim, where), -1))
    return found


def solve_circulant(
    c: Any,
    b: Any,
    singular: str = "raise",
    tol: Any = None,
    caxis: int = -1,
    baxis: int = 0,
    outaxis: int = 0,
) -> Array:
    """x with circulant(c) @ x = b, by Fourier transforms; c and b along an axis of each, their other axes broadcast.

    Singular: an element of fft(c) up to tol (n eps of the greatest). LinAlgError at the read that depends on it, or the
    least squares solution for singular="lstsq".
    """
    from .. import fft

    where = "solve_circulant"
    if singular not in ("raise", "lstsq"):
        raise ValueError(f"{where}: singular is 'raise' or 'lstsq', not {singular!r}")
    c, b = _vectors((c, caxis), (b, baxis), where=where)
    n = c.shape[-1]
    if n != b.shape[-1]:
        raise ValueError(f"{where}: c has {n} elements along its axis, b {b.shape[-1]}")
    real = c.dtype.kind != "c" and b.dtype.kind != "c"
    lead = broadcast_shapes(c.shape[:-1], b.shape[:-1], where=where)
    if 0 in (*lead, n):
        return moveaxis(zeros((*lead, n), dtype=float32 if real else complex64), -1, outaxis)
    fc = fft.fft(c)
    size = ew.abs(fc)
    least = ew.multiply(reductions.max(size, axis=-1, keepdims=True), n * EPS) if tol is None else tol
    small = ew.less_equal(size, least)
    x = fft.ifft(ew.where(small, 0, ew.divide(fft.fft(b), ew.where(small, 1, fc))))
    x = ew.real(x) if real else x
    if singular == "raise":
        x = ew.multiply(x, 1)
        wrong = guard(
            astype(small, uint32), lambda _: LinAlgError(f"{where}: near singular circulant matrix")
        )
        x = _guarded(x, (wrong,))
    return moveaxis(x, -1, outaxis)


def _column_and_row(c_or_cr: Any, where: str) -> tuple[Array, Array]:
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    c = _floating(c, where)
    return c, ew.conjugate(c) if r is None else _floating(r, where)


def solve_toeplitz(c_or_cr: Any, b: Any) -> Array:
    """x with toeplitz(c, r) @ x = b; c_or_cr: c or (c, r). By LU with pivots: stable where Levinson's recursion is not.

    Errors as solve."""
    from .solving import solve

    c, r = _column_and_row(c_or_cr, "solve_toeplitz")
    b = _floating(b, "solve_toeplitz")
    if c.shape[-1] != r.shape[-1] or b.shape[0] != c.shape[-1]:
        raise ValueError(f"solve_toeplitz: shapes {c.shape}, {r.shape} and {b.shape} do not fit")
    matrix = toeplitz(c, r)
    if b.ndim == 1:
        return solve(matrix, b)
    return reshape(solve(matrix, reshape(b, (b.shape[0], -1))), b.shape)


def matmul_toeplitz(c_or_cr: Any, x: Any) -> Array:
    """toeplitz(c, r) @ x by Fourier transforms, without the matrix; c_or_cr: c or (c, r). x: a vector or columns."""
    from .. import fft

    c, r = _column_and_row(c_or_cr, "matmul_toeplitz")
    x = _floating(x, "matmul_toeplitz")
    if c.ndim != 1 or r.ndim != 1 or x.ndim > 2 or x.shape[0] != r.shape[0]:
        raise ValueError(f"matmul_toeplitz: shapes {c.shape}, {r.shape} and {x.shape} do not fit")
    m, n = c.shape[0], r.shape[0]
    real = "c" not in (c.dtype.kind, r.dtype.kind, x.dtype.kind)
    if not m or not n or not x.size:
        return zeros((m, *x.shape[1:]), dtype=float32 if real else complex64)
    around = concat([astype(c, complex64), astype(flip(r[1:]), complex64)])
    by = fft.fft(around)
    long = fft.fft(x, n=m + n - 1, axis=0)
    made = fft.ifft(ew.multiply(long, expand_dims(by, axis=1) if x.ndim == 2 else by), axis=0)[:m]
    return ew.real(made) if real else made


def orthogonal_procrustes(A: Any, B: Any) -> tuple[Array, Array]:  # SciPy's names
    """(R, scale): the unitary R for which A @ R is nearest to B, and the sum of the singular values of A.conj().T @ B.

    ValueError for shapes that differ."""
    from .singular import svd

    a, b = prepare(A, "orthogonal_procrustes"), prepare(B, "orthogonal_procrustes")
    if a.ndim < 2 or a.shape[-2:] != b.shape[-2:]:
        raise ValueError(f"orthogonal_procrustes: takes matrices of one shape, not {a.shape} and {b.shape}")
    other = matrix_transpose(a)
    u, s, vh = svd(matmul(ew.conjugate(other) if a.dtype.kind == "c" else other, b))
    return matmul(u, vh), reductions.sum(s, axis=-1)


def sqrtm(A: Any) -> Array:  # SciPy's name
    """The principal square root of each square matrix in the last two axes, complex64, by the complex Schur form.

    NaN for singular matrices that have none. Errors as eigvals. (SciPy gives a real array where that is one.)
    """
    x = square(A, "sqrtm")
    if not x.size:
        return zeros(x.shape, dtype=complex64)
    s = _scaled(x, False)
    form = _schur(s.matrix, s.guards, True)
    assert form.triangle is not None and form.vectors is not None
    n, count = x.shape[-1], prod(x.shape[:-2])
    root = routine("eigen.root", [stored(form.triangle)], x.shape, complex64, (count, n), count * n**3)
    made = matmul(matmul(form.vectors, root), ew.conjugate(matrix_transpose(form.vectors)))
    odd = ew.remainder(s.power, 2)
    made = _times_power(made, ew.floor_divide(s.power, 2))
    return _guarded(ew.multiply(made, ew.where(ew.equal(odd, 1), 2**0.5, 1.0)), form.guards)
