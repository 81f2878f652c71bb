"""What a matrix looks like: issymmetric, ishermitian, bandwidth, reverse_cuthill_mckee; multi_dot."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ..array import Array
from ..dtypes import bool_, int32, uint32
from ..errors import LinAlgError
from ..ops import elementwise as ew
from ..ops import reductions
from ..ops.creation import astype, positions, zeros
from ..ops.joining import deliver
from ..ops.manipulation import expand_dims, flip, matrix_transpose, reshape
from ..ops.picking import pick
from ..ops.products import matmul
from ..ops.rearranging import prepare
from ..ops.routine import routine, stored
from ..ops.sorting import order_of
from ..ops.taking import take
from ..ops.triangles import diagonal


def _square(a: Any, where: str) -> Array:
    x = prepare(a, where)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{where}: takes square matrices in the last two axes, shape is {x.shape}")
    return x


def _same(a: Any, atol: Any, rtol: Any, skew: bool, conjugate: bool, where: str) -> Array:
    x = _square(a, where)
    for name, value in (("atol", atol), ("rtol", rtol)):
        if value is not None and not isinstance(value, Array) and not 0 <= value < float("inf"):
            raise ValueError(f"{where}: {name} must be finite and not negative, not {value}")
    other = matrix_transpose(x)
    if conjugate and x.dtype.kind == "c":
        other = ew.conjugate(other)
    if skew:
        if x.dtype is bool_:
            raise TypeError(f"{where}: bool has no negatives, so no skew matrices")
        other = ew.negative(other)
    atol, rtol = (v if isinstance(v, Array) or v else 0.0 for v in (atol, rtol))
    if isinstance(atol, Array) or isinstance(rtol, Array) or atol or rtol:
        fine = ew.isclose(x, other, rtol=rtol, atol=atol)
    else:
        fine = ew.equal(x, other)
        if not skew and not (
            conjugate and x.dtype.kind == "c"
        ):  # as SciPy, which does not look at the diagonal
            n = x.shape[-1]
            fine = ew.logical_or(fine, ew.equal(expand_dims(positions(n), axis=1), positions(n)))
    return reductions.all(fine, axis=(-2, -1))


def issymmetric(a: Any, atol: float | None = None, rtol: float | None = None, *, skew: bool = False) -> Array:
    """Whether each matrix in the last two axes equals its transpose (with skew=True: the negative of it), exactly or
    within atol + rtol * |transpose|: bool, 0-d for one matrix; `bool(..)` of it reads. True for no elements.

    ValueError for matrices that are not square and for negative or infinite tolerances.
    """
    return _same(a, atol, rtol, skew, False, "issymmetric")


def ishermitian(a: Any, atol: float | None = None, rtol: float | None = None, *, skew: bool = False) -> Array:
    """As issymmetric, with the conjugate transpose."""
    return _same(a, atol, rtol, skew, True, "ishermitian")


def bandwidth(a: Any) -> tuple[Array, Array]:
    """(lower, upper): how far below and above the diagonal the nonzero elements of each matrix in the last two axes
    reach; int32, 0-d for one matrix, `int(..)` of one reads. Zeros for a matrix without elements."""
    x = prepare(a, "bandwidth")
    if x.ndim < 2:
        raise ValueError(f"bandwidth: needs at least 2 axes, shape is {x.shape}")
    if not x.size:
        none = zeros(x.shape[:-2], dtype=int32)
        return none, none
    down = ew.subtract(expand_dims(positions(x.shape[-2]), axis=1), positions(x.shape[-1]))
    there = ew.not_equal(x, 0)
    lower, upper = (
        reductions.max(ew.where(there, far, 0), axis=(-2, -1), initial=0) for far in (down, ew.negative(down))
    )
    return lower, upper


def reverse_cuthill_mckee(graph: Any, symmetric_mode: bool = False) -> Array:
    """A permutation p (int32) that brings the nonzero elements of a square matrix near its diagonal: a[p][:, p]
    (Cuthill and McKee 1969, reversed).

    The pattern of a + a.T, or of a itself where symmetric_mode says that it is symmetric. Of equal degrees the lower
    index comes first (SciPy leaves that open). ValueError for other shapes.
    """
    x = _square(graph, "reverse_cuthill_mckee")
    if x.ndim != 2:
        raise ValueError(f"reverse_cuthill_mckee: takes one matrix, shape is {x.shape}")
    n = x.shape[0]
    if not n:
        return zeros((0,), dtype=int32)
    there = ew.not_equal(x, 0)
    if not symmetric_mode:
        there = ew.logical_or(there, matrix_transpose(there))
    ones = astype(there, int32)
    degree = ew.add(reductions.sum(ones, axis=1), diagonal(ones))
    order = order_of(degree)
    sorted_ = take(take(astype(there, uint32), order, axis=0), order, axis=1)
    found = routine("rcm", [stored(sorted_)], (n,), int32, (n,), n * n)
    return flip(pick(order, found))


def multi_dot(arrays: Sequence[Any], *, out: Array | None = None) -> Array:
    """The product of two or more matrices in the order that costs the fewest multiplications (their shapes decide, by
    dynamic programming). The first may be a row and the last a column, of one axis. LinAlgError for other ranks."""
    xs = [prepare(x, "multi_dot") for x in arrays]
    if len(xs) < 2:
        raise ValueError("multi_dot: takes at least two arrays")
    row, column = xs[0].ndim == 1, xs[-1].ndim == 1
    if row:
        xs[0] = expand_dims(xs[0], axis=0)
    if column:
        xs[-1] = expand_dims(xs[-1], axis=1)
    for x in xs:
        if x.ndim != 2:
            raise LinAlgError(f"multi_dot: takes matrices, one has shape {x.shape}")
    for x, y in pairwise(xs):
        if x.shape[1] != y.shape[0]:
            raise ValueError(f"multi_dot: shapes {x.shape} and {y.shape} do not fit")
    made = _chained(xs, _cuts([xs[0].shape[0], *[x.shape[1] for x in xs]]), 0, len(xs) - 1)
    shape = made.shape[row : 2 - column]
    return deliver(made if shape == made.shape else reshape(made, shape), out, "multi_dot")


def _cuts(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to cut the product of matrices i .. j; matrix i is (sizes[i], sizes[i + 1])."""
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    cuts = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            ways = [
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            ]
            cost[i, j], cuts[i, j] = min(ways)
    return cuts


def _chained(xs: list[Array], cuts: dict[tuple[int, int], int], i: int, j: int) -> Array:
    if i == j:
        return xs[i]
    k = cuts[i, j]
    return matmul(_chained(xs, cuts, i, k), _chained(xs, cuts, k + 1, j))
