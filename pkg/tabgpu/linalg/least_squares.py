"""What singular values give: lstsq, pinv, matrix_rank, cond, rcond. None squares a condition number."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..array import Array
from ..dtypes import float32, int32
from ..errors import LinAlgError
from ..ops import elementwise as ew
from ..ops import reductions
from ..ops.creation import astype, zeros
from ..ops.manipulation import expand_dims, getitem, squeeze
from ..ops.products import matmul
from ..ops.rearranging import prepare
from .singular import adjoint, svd, svdvals
from .stacks import matrices, squares

EPS = 2.0**-23


class LstsqResult(NamedTuple):
    """What lstsq returns, in NumPy's order."""

    x: Array
    residuals: Array
    rank: Array
    s: Array


def tolerance_of(given: Any, default: float) -> Any:
    """A relative tolerance (number or (..) array) as something to multiply singular values (.., k) by."""
    if given is None:
        return default
    if isinstance(given, (int, float)):
        return float(given)
    return expand_dims(prepare(given, "rtol"), axis=-1)


def above(s: Array, tolerance: Any) -> Array:
    """Which singular values (.., k), descending, are more than the greatest times a tolerance."""
    return ew.greater(s, ew.multiply(getitem(s, (..., slice(None, 1))), tolerance))


def _count(kept: Array) -> Array:
    return reductions.sum(astype(kept, int32), axis=-1)


def _inverses(s: Array, kept: Array) -> Array:
    return ew.where(kept, ew.divide(1.0, ew.where(kept, s, 1.0)), 0.0)


def lstsq(a: Any, b: Any, rcond: float | None = None) -> LstsqResult:
    """The x of least norm that minimises the norm of b - a @ x: (x, residuals, rank, s), from singular values.

    a (.., m, n); b (m,) or (.., m, k); x (n,) or (.., n, k); s (.., min(m, n)) of a. rcond: singular values up to
    rcond times the greatest count as 0; None: max(m, n) times float32's eps; -1: its eps. residuals: squares of |b -
    a @ x|, (1,) or (.., k), where m > n, whatever the rank (NumPy: nothing where the rank is less than n, which only
    a read could tell); else of shape (0,). rank: int32 (..). Nothing is read.
    """
    x = matrices(a, "lstsq")
    y = prepare(b, "lstsq")
    vector = y.ndim == 1
    y = expand_dims(y, axis=1) if vector else y
    m, n = x.shape[-2:]
    if y.ndim < 2 or y.shape[-2] != m:
        raise LinAlgError(
            f"lstsq: a has {m} rows, b does not: shapes are {x.shape} and {prepare(b, 'lstsq').shape}"
        )
    y = matrices(y, "lstsq")
    if not x.size:
        solution = zeros((*x.shape[:-2], n, y.shape[-1]), dtype=x.dtype)
        s, rank = zeros((*x.shape[:-2], min(m, n)), dtype=float32), zeros(x.shape[:-2], dtype=int32)
    else:
        u, s, vh = svd(x, full_matrices=False)
        kept = above(
            s, tolerance_of(EPS if type(rcond) in (int, float) and rcond == -1 else rcond, EPS * max(m, n))
        )
        inner = ew.multiply(matmul(adjoint(u), y), expand_dims(_inverses(s, kept), axis=-1))
        solution, rank = matmul(adjoint(vh), inner), _count(kept)
    residuals = zeros(0, dtype=float32)
    if m > n:
        residuals = reductions.sum(squares(ew.subtract(y, matmul(x, solution))), axis=-2)
    return LstsqResult(squeeze(solution, axis=-1) if vector else solution, residuals, rank, s)


def pinv(a: Any, /, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """The Moore-Penrose inverse (.., n, m) of matrices (.., m, n).

    Singular values up to rtol (or rcond: number or (..) array) times the greatest count as 0; None: max(m, n) times
    float32's eps. hermitian: a is Hermitian, which takes eigh.
    """
    if rcond is not None and rtol is not None:
        raise ValueError("pinv: rtol and rcond say the same; give one")
    x = matrices(a, "pinv", square=hermitian)
    if not x.size:
        return zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), dtype=x.dtype)
    tolerance = tolerance_of(rcond if rtol is None else rtol, EPS * max(x.shape[-2:]))
    u, s, vh = svd(x, full_matrices=False, hermitian=hermitian)
    inverse = _inverses(s, above(s, tolerance))
    return matmul(ew.multiply(adjoint(vh), expand_dims(inverse, axis=-2)), adjoint(u))


def matrix_rank(A: Any, /, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """The number of singular values above tol, or above rtol times the greatest: int32 (..).

    Neither given: rtol is max(m, n) times float32's eps. A vector has rank 1 unless all is 0.
    """
    if tol is not None and rtol is not None:
        raise ValueError("matrix_rank: tol and rtol cannot both be given")
    x = prepare(A, "matrix_rank")
    if x.ndim < 2:
        return astype(reductions.any(ew.not_equal(x, 0)), int32)
    x = matrices(x, "matrix_rank", square=hermitian)
    if not x.size:
        return zeros(x.shape[:-2], dtype=int32)
    s = svdvals(x, hermitian=hermitian)
    if tol is not None:
        return _count(ew.greater(s, tolerance_of(tol, 0.0)))
    return _count(above(s, tolerance_of(rtol, EPS * max(x.shape[-2:]))))


def cond(x: Any, /, p: Any = None) -> Array:
    """The condition number (..) of matrices (.., m, n): the norm times that of the inverse.

    p: None or 2 (greatest singular value over the least), -2 (the inverse of that), or for square matrices 1, -1,
    inf, -inf, "fro", "nuc". inf for singular ones, NaN for those with a NaN. LinAlgError for matrices without
    elements.
    """
    a = matrices(x, "cond")
    if not a.shape[-1] * a.shape[-2]:
        raise LinAlgError(f"cond: is not defined for empty matrices, shape is {a.shape}")
    lost = reductions.any(ew.isnan(a), axis=(-2, -1), keepdims=True)
    a = ew.where(lost, 0.0, a)  # no NaN: svdvals would raise
    if p in (None, 2, -2):
        s = svdvals(a)
        first, last = getitem(s, (..., 0)), getitem(s, (..., -1))
        found = ew.divide(last, first) if p == -2 else ew.divide(first, last)
    else:
        from .norms import norm
        from .solving import inv_ex

        inverse, info = inv_ex(matrices(a, "cond", square=True))
        singular = ew.not_equal(info, 0)
        inverse = ew.where(expand_dims(singular, axis=(-2, -1)), 0.0, inverse)
        both = ew.multiply(norm(a, p, (-2, -1)), norm(inverse, p, (-2, -1)))
        found = ew.where(singular, float("inf"), both)
    found = ew.where(ew.isnan(found), float("inf"), found)
    return ew.where(squeeze(lost, axis=(-2, -1)), float("nan"), found)


def rcond(a: Any, /) -> Array:
    """1 / cond(a, 1) (..) of square matrices, 0 for singular ones: LAPACK estimates it, here it is computed."""
    return ew.divide(1.0, cond(a, 1))


__all__ = ["cond", "lstsq", "matrix_rank", "pinv", "rcond"]
