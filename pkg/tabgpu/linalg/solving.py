"""Linear systems: solve, inv, triangular ones, and their tensor forms. Lazy; a singular matrix raises at the read."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..array import Array
from ..dtypes import uint32
from ..errors import LinAlgError
from ..layout import normalize_axis
from ..ops import elementwise as ew
from ..ops.creation import astype, copy_of
from ..ops.guards import guard
from ..ops.manipulation import matrix_transpose, permute_dims, reshape
from ..ops.rearranging import prepare
from ..ops.triangles import diagonal
from .direct import (
    INDEFINITE,
    SINGULAR,
    cholesky_factors,
    operands,
    refined,
    returned,
    solved,
    substituted,
    verdict,
)  # fmt: skip
from .factors import adjoint, cholesky_solved
from .stacks import guarded, matrices

__all__ = [
    "inv", "inv_ex", "solve", "solve_ex", "solve_triangular", "tensorinv", "tensorsolve",
]  # fmt: skip

_GENERAL = (None, "gen", "general", "sym", "symmetric", "her", "hermitian")
_POSITIVE = ("pos", "positive definite")


def solve(
    a: Any,
    b: Any,
    /,
    *,
    assume_a: str | None = None,
    lower: bool = False,
    transposed: bool = False,
    refine: int = 0,
) -> Array:
    """The solution x of a x = b by LU factorisation with partial pivoting: a (.., n, n), b (n,) or (.., n, k).

    Leading axes broadcast; a 1-D b is a vector, any other one matrices (NumPy 2). Real operands are computed in
    float32. assume_a: "pos" (Cholesky; lower says which triangle is read), "upper triangular", "lower triangular";
    "gen", "sym" and "her" are the general method. transposed: a.T x = b. LinAlgError at the read for a singular matrix,
    or one that is not positive definite under "pos".

    refine: so many steps of iterative refinement with residuals in two floats (the general method only). The backward
    error is a few n eps without; one or two steps also bring the solution itself to about eps, as long as the condition
    number is below 1e6 or so.
    """
    x, y, vector = operands(a, b, "solve")
    if assume_a in ("upper triangular", "lower triangular"):
        return solve_triangular(a, b, lower=assume_a[0] == "l", trans=int(transposed))
    if assume_a in _POSITIVE:
        if transposed and x.dtype.kind == "c":
            x = ew.conjugate(x)
        found, info = cholesky_factors(x if lower else adjoint(x))
        made = cholesky_solved(found, y, True)
        return returned(guarded(made, verdict(info, "solve", INDEFINITE)), vector)
    if assume_a not in _GENERAL:
        raise ValueError(
            f"solve: assume_a = {assume_a!r} is none of gen, sym, her, pos, upper triangular, lower triangular"
        )
    x = matrix_transpose(x) if transposed else x
    made, info = refined(x, y, refine) if refine else solved(x, y, "solve")
    return returned(guarded(copy_of(made), verdict(info, "solve", SINGULAR)), vector)


def solve_ex(a: Any, b: Any, /) -> tuple[Array, Array]:
    """(x, info): as solve, without an error. info: int32 for each matrix, 0, or the number (from 1) of the first pivot
    that is zero; x has infinities or NaN then."""
    x, y, vector = operands(a, b, "solve_ex")
    made, info = solved(x, y, "solve_ex")
    return returned(made, vector), info


def inv(a: Any, /) -> Array:
    """The inverses of matrices (.., n, n), by LU factorisation with partial pivoting. LinAlgError at the read if one is
    singular. solve(a, b) is cheaper and more accurate than inv(a) @ b."""
    made, info = solved(matrices(a, "inv", square=True), None, "inv")
    return guarded(copy_of(made), verdict(info, "inv", SINGULAR))


def inv_ex(a: Any, /) -> tuple[Array, Array]:
    """(inverses, info): as inv, without an error; info as solve_ex's."""
    return solved(matrices(a, "inv_ex", square=True), None, "inv_ex")


def solve_triangular(
    a: Any, b: Any, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False,
    overwrite_b: bool = False, check_finite: bool = True,
) -> Array:  # fmt: skip
    """The solution x of op(a) x = b with triangles a (.., n, n): upper unless lower; b (n,) or (.., n, k).

    trans: 0 or "N" a as it is, 1 or "T" transposed, 2 or "C" conjugated too. unit_diagonal: the diagonal is not read
    but taken for ones. What is beyond the diagonal is never read, and a is read in place whatever its strides.
    LinAlgError at the read if an element of the diagonal is 0. The last two arguments are accepted and do nothing.
    """
    try:
        how = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}[trans]
    except (KeyError, TypeError):
        raise ValueError(f"solve_triangular: trans is 0, 1, 2 or 'N', 'T', 'C', not {trans!r}") from None
    x, y, vector = operands(a, b, "solve_triangular")
    made = substituted(x, y, bool(lower), bool(unit_diagonal), how)
    if made.size and not unit_diagonal:
        zero = astype(ew.equal(diagonal(x, 0, -2, -1), 0), uint32)
        message = "solve_triangular: the matrix is singular (an element of its diagonal is 0)"
        guarded(made, (guard(zero, lambda _: LinAlgError(message)),))
    return returned(made, vector)


def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Array:
    """The x with tensordot(a, x, x.ndim) = b: a has the axes of b, then those of x. axes: of a, moved to its end
    first; negative ones count from there. AxisError beyond, ValueError for one twice."""
    x, y = prepare(a, "tensorsolve"), prepare(b, "tensorsolve")
    if axes is not None:
        moved = [normalize_axis(k, x.ndim, "tensorsolve") for k in axes]
        x = permute_dims(x, (*[k for k in range(x.ndim) if k not in moved], *moved))
    shape = x.shape[y.ndim :]
    if prod(shape) != y.size or prod(x.shape[: y.ndim]) != y.size:
        raise LinAlgError(f"tensorsolve: {x.shape} is no square map from {shape} to {y.shape}")
    return reshape(solve(reshape(x, (y.size, y.size)), reshape(y, (y.size,))), shape)


def tensorinv(a: Any, ind: int = 2) -> Array:
    """The inverse of a under tensordot(.., ind): a has `ind` axes, then others of as many elements."""
    x = prepare(a, "tensorinv")
    if ind <= 0:
        raise ValueError(f"tensorinv: ind must be positive, it is {ind}")
    n, k = prod(x.shape[:ind]), prod(x.shape[ind:])
    if n != k:
        raise LinAlgError(f"tensorinv: {x.shape} is no square map with ind = {ind}")
    return reshape(inv(reshape(x, (n, n))), (*x.shape[ind:], *x.shape[:ind]))
