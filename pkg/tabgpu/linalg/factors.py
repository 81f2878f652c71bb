"""Cholesky and LU factorisations, and solutions from them. Lazy; a bad matrix raises at the read that depends on it."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import int32
from ..ops import elementwise as ew
from ..ops.creation import astype, copy_of, eye
from ..ops.guards import position_guard
from ..ops.manipulation import expand_dims, matrix_transpose
from ..ops.rearranging import prepare
from ..ops.triangles import tril, triu
from .direct import (
    INDEFINITE,
    cholesky_factors,
    lu_factors,
    operands,
    order_of,
    permuted,
    returned,
    substituted,
    verdict,
)  # fmt: skip
from .stacks import guarded, matrices

__all__ = [
    "cho_factor", "cho_solve", "cholesky", "cholesky_ex", "lu", "lu_factor", "lu_solve",
]  # fmt: skip


def adjoint(x: Array) -> Array:
    """The conjugate transpose of each matrix."""
    turned = matrix_transpose(x)
    return ew.conjugate(turned) if x.dtype.kind == "c" else turned


def _cholesky(a: Any, upper: bool, where: str) -> tuple[Array, Array]:
    x = matrices(a, where, square=True)
    found, info = cholesky_factors(adjoint(x) if upper else x)
    return (adjoint(found) if upper else found), info


def cholesky(a: Any, /, *, upper: bool = False) -> Array:
    """The lower triangular L with a = L @ L.conj().T of positive definite matrices (.., n, n), or (upper) its conjugate
    transpose.

    Real ones are computed in float32. Only the lower (upper) triangle is read; the other one of the result is 0.
    LinAlgError at the read if a matrix is not positive definite.
    """
    found, info = _cholesky(a, upper, "cholesky")
    return guarded(copy_of(found), verdict(info, "cholesky", INDEFINITE))


def cholesky_ex(a: Any, /, *, upper: bool = False) -> tuple[Array, Array]:
    """(factors, info): as cholesky, without an error. info: int32, 0, or the order of the first leading block of the
    matrix that is not positive definite; the factor is then NaN from that column on."""
    return _cholesky(a, upper, "cholesky_ex")


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """(c, lower) for cho_solve: the Cholesky factor, upper unless lower. The other triangle is 0 (SciPy leaves what was
    there). The last two arguments are accepted: nothing is overwritten, NaN gives LinAlgError at the read."""
    found, info = _cholesky(a, not lower, "cho_factor")
    return guarded(copy_of(found), verdict(info, "cho_factor", INDEFINITE)), bool(lower)


def cho_solve(
    c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """The solution x of a x = b from (c, lower) = cho_factor(a). b: (n,) or (.., n, k); leading axes broadcast."""
    c, lower = c_and_lower
    x, y, vector = operands(c, b, "cho_solve")
    return returned(cholesky_solved(x, y, bool(lower)), vector)


def cholesky_solved(c: Array, b: Array, lower: bool) -> Array:
    """Both substitutions."""
    if lower:
        return substituted(c, substituted(c, b, True), True, trans=2)
    return substituted(c, substituted(c, b, False, trans=2), False)


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """(lu, piv) of matrices (.., m, n), with partial pivoting: U on and above the diagonal, L below it, whose own
    diagonal is 1; row k was exchanged with row piv[k] (int32, from 0). A singular matrix is no error."""
    found = lu_factors(matrices(a, "lu_factor"))
    return found.packed, found.pivots


def lu_solve(
    lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """The solution x of op(a) x = b from (lu, piv) = lu_factor(a); trans: 0 a, 1 its transpose, 2 the conjugate
    transpose. b: (n,) or (.., n, k); leading axes broadcast. A zero pivot gives infinities or NaN, as SciPy's.
    ValueError unless piv is (.., n) integers; at the read for one that is not from 0 to n - 1."""
    if trans not in (0, 1, 2):
        raise ValueError(f"lu_solve: trans is 0, 1 or 2, not {trans!r}")
    packed, piv = lu_and_piv
    x, y, vector = operands(packed, b, "lu_solve")
    pivots = prepare(piv, "lu_solve")
    if not pivots.size:  # an empty list has no integers
        pivots = astype(pivots, int32, copy=False)
    if pivots.dtype.kind not in "iu" or pivots.shape != x.shape[:-1]:
        raise ValueError(
            f"lu_solve: of factors {x.shape} piv is integers {x.shape[:-1]}, not {pivots.dtype.name} {pivots.shape}"
        )
    made = lu_solved(x, order_of(pivots, x.shape[-1]), y, trans)
    if pivots.size and made.size:
        guarded(made, (position_guard(pivots, x.shape[-1]),))
    return returned(made, vector)


def lu_solved(packed: Array, rows: Array, b: Array, trans: int = 0) -> Array:
    """Both substitutions with the rows in order."""
    if trans:
        made = substituted(packed, substituted(packed, b, False, trans=trans), True, True, trans)
        return permuted(made, rows, back=True)
    made = substituted(packed, permuted(_spread(b, packed), rows), True, True)
    return substituted(packed, made, False)


def _spread(b: Array, a: Array) -> Array:
    """b with the leading axes that the factors have."""
    from ..layout import broadcast_shapes
    from ..ops.manipulation import broadcast_to

    lead = broadcast_shapes(a.shape[:-2], b.shape[:-2], where="solve")
    return b if lead == b.shape[:-2] else broadcast_to(b, (*lead, *b.shape[-2:]))


def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True, p_indices: bool = False
) -> tuple[Array, ...]:  # fmt: skip
    """(p, l, u) with a = p @ l @ u of matrices (.., m, n), k = min(m, n): p (.., m, m), l (.., m, k), u (.., k, n).

    permute_l: (p @ l, u). p_indices: int32 rows instead of p, with a = l[p] @ u. Partial pivoting; a singular matrix is
    no error.
    """
    x = matrices(a, "lu")
    found = lu_factors(x)
    m, n = x.shape[-2:]
    k = min(m, n)
    lower = ew.add(tril(found.packed[..., :k], -1), eye(m, k, dtype=x.dtype))
    upper = triu(found.packed[..., :k, :])
    if permute_l:
        return permuted(lower, found.rows, back=True), upper
    if p_indices:
        order = expand_dims(eye_rows(found.rows, m), axis=-1)
        return permuted(order, found.rows, back=True)[..., 0], lower, upper
    turned = ew.equal(expand_dims(found.rows, axis=-2), expand_dims(_column(m), axis=1))
    return astype(turned, x.dtype), lower, upper


def _column(n: int) -> Array:
    from ..ops.creation import positions

    return positions(n)


def eye_rows(like: Array, n: int) -> Array:
    """0 .. n - 1 in each row."""
    from ..ops.manipulation import broadcast_to

    return broadcast_to(_column(n), like.shape)
