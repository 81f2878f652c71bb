"""QR column by column: which order pivoting takes the columns in, and LAPACK's raw form."""

from __future__ import annotations

from ..array import Array
from ..dtypes import int32
from ..ops import elementwise as ew
from ..ops import reductions
from ..ops.creation import astype, positions, zeros
from ..ops.manipulation import broadcast_to, expand_dims, getitem, matrix_transpose, reshape
from ..ops.routine import routine, stored
from ..ops.sorting import argsort
from ..ops.taking import take_along_axis
from .stacks import finite_guard, flat, guarded, in_pieces, scales


def _columns(x: Array, in_order: bool) -> tuple[Array, Array]:
    """(what routines/qr_columns leaves: (.., n, m + 4), what undoes the scale: (.., 1, 1))."""
    m, n = x.shape[-2:]
    down, up = scales(x, (-2, -1))
    steps = min(m, n)

    def run(part: Array) -> Array:
        count = part.shape[0]
        shape, extra = (count, n, m + 4), (count, n, m, in_order)
        return routine("qr_columns", [stored(part)], shape, x.dtype, extra, part.size * steps)

    made = in_pieces(flat(matrix_transpose(ew.multiply(x, down))), n * (m + 4) * x.dtype.itemsize, run)
    return reshape(made, (*x.shape[:-2], n, m + 4)), up


def order_of_columns(x: Array) -> Array:
    """int32 (.., n): the columns of (.., m, n) in the order in which pivoting takes them; the rest as they lie.

    LinAlgError at the read if an element is not finite."""
    m, n = x.shape[-2:]
    k = min(m, n)
    if not x.size:
        return astype(broadcast_to(positions(n), (*x.shape[:-2], n)), int32)
    notes = getitem(_columns(x, False)[0], (..., slice(None, k), m))
    order = astype(ew.real(notes) if x.dtype.kind == "c" else notes, int32)
    if n > k:
        met = ew.equal(expand_dims(order, axis=-1), positions(n))  # (.., step, column)
        step = reductions.sum(ew.where(met, reshape(ew.subtract(positions(k), 2 * n), (k, 1)), 0), axis=-2)
        order = argsort(ew.where(ew.less(step, 0), step, positions(n)))
    return guarded(order, (finite_guard(x, "qr", "pivoting"),))


def permuted(x: Array, order: Array) -> Array:
    """The columns of x in an order."""
    return take_along_axis(x, expand_dims(order, axis=-2), axis=-1)


def raw(x: Array) -> tuple[Array, Array]:
    """(h (.., n, m), tau (.., k)): R on and above the diagonal of h's transpose, the reflectors' vectors below it."""
    m, n = x.shape[-2:]
    k = min(m, n)
    if not x.size:
        return zeros((*x.shape[:-2], n, m), dtype=x.dtype), zeros((*x.shape[:-2], k), dtype=x.dtype)
    made, up = _columns(x, True)
    body = getitem(made, (..., slice(None, m)))
    beta, scale = (getitem(made, (..., slice(m + at, m + at + 1))) for at in (2, 3))
    column, row = reshape(positions(n), (n, 1)), positions(m)
    inside = ew.less(column, k)
    upper = ew.multiply(ew.where(ew.logical_and(ew.equal(row, column), inside), beta, body), up)
    h = ew.where(ew.logical_and(ew.greater(row, column), inside), ew.multiply(body, scale), upper)
    return h, getitem(made, (..., slice(None, k), m + 1))
