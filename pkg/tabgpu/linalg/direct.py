"""The launches behind direct methods: factors with their verdicts, substitution. Names for users: factors, solving."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from ..array import Array, source, view
from ..dtypes import int32, promote, uint32
from ..errors import LinAlgError
from ..graph import IOTA, SCALAR, Guard, Op
from ..layout import Layout, Shape, broadcast_shapes, collapse, contiguous
from ..ops import elementwise as ew
from ..ops.creation import astype, copy_of, zeros
from ..ops.guards import guard
from ..ops.manipulation import addressable, broadcast_to, expand_dims, reshape, squeeze
from ..ops.routine import routine, stored
from .stacks import matrices

SINGULAR = "the matrix is singular"
INDEFINITE = "the matrix is not positive definite"


class Factors(NamedTuple):
    """An LU factorisation: both factors in one, LAPACK's exchanges (from 0), the order they make, the verdict."""

    packed: Array
    pivots: Array
    rows: Array
    info: Array


def _part(whole: Array, shape: Shape, offset: int) -> Array:
    return view(whole, Layout(shape, contiguous(shape).strides, offset))


def _whole_numbers(whole: Array, shape: Shape, offset: int) -> Array:
    part = _part(whole, shape, offset)
    return astype(ew.real(part) if part.dtype.kind == "c" else part, int32)


def lu_factors(a: Array) -> Factors:
    """The factors of matrices (.., m, n), float32 or complex64."""
    *lead, m, n = a.shape
    batch, least = prod(lead), min(m, n)
    stack = tuple(lead)
    if not a.size:
        order = broadcast_to(_range(m), (*stack, m))
        return Factors(a, zeros((*stack, least), int32), order, zeros(stack, int32))
    pivots = a.size  # then follow, as routines/lu.py has it, the order and the verdicts
    rows = pivots + batch * least
    verdicts = rows + batch * m
    size = verdicts + batch
    addressable((size,), "lu")
    work = batch * m * n * least >> 9
    whole = routine("lu", [stored(a)], (size,), a.dtype, (batch, m, n), work)
    return Factors(
        _part(whole, a.shape, 0),
        _whole_numbers(whole, (*stack, least), pivots),
        _whole_numbers(whole, (*stack, m), rows),
        _whole_numbers(whole, stack, verdicts),
    )


def cholesky_factors(a: Array) -> tuple[Array, Array]:
    """(L, verdicts) of matrices (.., n, n), whose lower triangles are read."""
    *lead, n, _ = a.shape
    batch = prod(lead)
    if not a.size:
        return a, zeros(tuple(lead), int32)
    whole = routine("cholesky", [stored(a)], (a.size + batch,), a.dtype, (batch, n), batch * n * n * n >> 10)
    return _part(whole, a.shape, 0), _whole_numbers(whole, tuple(lead), a.size)


def _range(n: int) -> Array:
    from ..ops.creation import positions

    return positions(n)


def verdict(info: Array, where: str, what: str) -> tuple[Guard, ...]:
    """LinAlgError at the read if a verdict is not 0."""
    if not info.size:
        return ()

    def describe(word: int) -> Exception:
        return LinAlgError(f"{where}: {what} (pivot {word - 1})")

    return (guard(astype(info, uint32), describe),)


def permuted(b: Array, rows: Array, back: bool = False) -> Array:
    """b[rows] of each matrix (.., n, k); back: row i goes to row rows[i]. rows: (n,), or one for each matrix."""
    if not b.size:
        return b
    many = prod(rows.shape[:-1])
    if many != 1:
        rows = broadcast_to(rows, (*b.shape[:-2], rows.shape[-1]))
    return routine("triangular.rows", [stored(b), stored(rows)], b.shape, b.dtype, (many, int(back)))


def order_of(pivots: Array, n: int) -> Array:
    """The order of n rows that exchanges (.., k) make."""
    shape = (*pivots.shape[:-1], n)
    batch = prod(shape[:-1])
    if not prod(shape):
        return zeros(shape, int32)
    if not pivots.size:
        return broadcast_to(_range(n), shape)
    extra = (n, pivots.shape[-1], batch)
    return routine("triangular.order", [stored(astype(pivots, int32, copy=False))], shape, int32, extra)


def _walk(a: Array) -> tuple[Op, tuple[int, int, int, int]]:
    """Matrices as stored memory and how they lie in it: offset, strides of rows, columns and matrices."""
    op, seen = source(a)
    layout = seen or op.layout
    dims, (steps,) = collapse(layout.shape[:-2], [layout.strides[:-2]]) if a.ndim > 2 else ((), ((),))
    if (op.kind in (SCALAR, IOTA) and op.buffer is None) or len(dims) > 1:
        op, layout = stored(copy_of(a)), contiguous(a.shape)
        steps = (a.shape[-2] * a.shape[-1],)
    row, column = layout.strides[-2:]
    return op, (layout.offset, row, column, steps[0] if steps else 0)


def substituted(
    a: Array, b: Array, lower: bool, unit: bool = False, trans: int = 0, where: str = "solve_triangular"
) -> Array:
    """The solution of op(a) x = b with triangles a (.., n, n), b (.., n, k) of one dtype; op: 0 as it is, 1 transposed,
    2 conjugated too. What is on the other side of the diagonal is not read."""
    stack = _stack(a, b, where)
    shape = (*stack, *b.shape[-2:])
    if not prod(shape):
        return zeros(addressable(shape, where), b.dtype)
    n, k = b.shape[-2:]
    batch = prod(stack)
    if prod(a.shape[:-2]) not in (1, batch) or (a.shape[:-2] != stack and prod(a.shape[:-2]) > 1):
        a = broadcast_to(a, (*stack, n, n))
    op, (offset, row, column, step) = _walk(a)
    if trans:
        row, column = column, row
    if prod(a.shape[:-2]) == 1:
        step = 0
    right = stored(broadcast_to(b, shape))
    bits = int(unit) | 2 * (trans == 2)
    extra = ((offset, row, column, step), bits, bool(lower) == bool(trans))
    work = batch * n * n * max(k, 8) >> 10
    made = routine("triangular", [op, right], (batch, n, k), b.dtype, extra, work)
    return reshape(made, shape)


def solved(a: Array, b: Array | None, where: str) -> tuple[Array, Array]:
    """(solutions of a x = b, verdicts) for a (.., n, n), b (.., n, k) of one dtype, or inverses without b."""
    n = a.shape[-1]
    stack = a.shape[:-2] if b is None else _stack(a, b, where)
    shape = (*stack, n, n if b is None else b.shape[-1])
    batch = prod(stack)
    if not prod(shape) or not a.size:
        return zeros(addressable(shape, where), a.dtype), zeros(a.shape[:-2], int32)
    several = prod(a.shape[:-2])
    if several not in (1, batch):  # each factored once, though several right-hand sides share it
        found = lu_factors(a)
        assert b is not None
        made = permuted(copy_of(broadcast_to(b, shape)), found.rows)
        made = substituted(
            found.packed, substituted(found.packed, made, True, True, where=where), False, where=where
        )
        return made, found.info
    right = [] if b is None else [b if prod(b.shape[:-2]) == 1 else broadcast_to(b, shape)]
    many = prod(right[0].shape[:-2]) if right else several
    if batch > 1 and several == 1 and many == 1:
        many = batch
        right = [broadcast_to(b, shape)] if b is not None else []
    end = prod(shape)
    k = shape[-1]
    work = (several * n * n * n // 2 + batch * n * n * k) >> 9
    args = [stored(x) for x in (a, *right)]
    whole = routine("solve", args, (end + batch,), a.dtype, (several, many, n, k), work)
    # One matrix for all has as many verdicts as there are right-hand sides, all the same.
    info = _whole_numbers(whole, stack if several == batch else a.shape[:-2], end)
    return _part(whole, shape, 0), info


def residual(a: Array, x: Array, b: Array) -> Array:
    """b - a @ x with products and sums in two floats, rounded once; leading axes of x and b are the whole stack's."""
    if b.dtype.kind == "c":  # [[re, -im], [im, re]] @ [re, im]
        from ..ops.joining import concat

        real, imag = ew.real(a), ew.imag(a)
        whole = concat([concat([real, ew.negative(imag)], axis=-1), concat([imag, real], axis=-1)], axis=-2)
        both = [concat([ew.real(v), ew.imag(v)], axis=-2) for v in (x, b)]
        made = residual(whole, *both)
        n = b.shape[-2]
        return ew.complex_of(made[..., :n, :], made[..., n:, :])
    shape = (prod(b.shape[:-2]), *b.shape[-2:])
    one = prod(a.shape[:-2]) == 1
    if not one:
        a = broadcast_to(a, (*b.shape[:-2], *a.shape[-2:]))
    args = [stored(v) for v in (a, x, b)]
    return reshape(
        routine("residual", args, shape, b.dtype, (a.shape[-1], one), b.size * a.shape[-1] >> 6), b.shape
    )


def refined(a: Array, b: Array, steps: int) -> tuple[Array, Array]:
    """solved, and corrected by what is left of b; the factors are made once."""
    shape = (*_stack(a, b, "solve"), *b.shape[-2:])
    b = copy_of(broadcast_to(b, shape))
    found = lu_factors(a)

    def by_factors(y: Array) -> Array:
        y = substituted(found.packed, permuted(y, found.rows), True, True)
        return substituted(found.packed, y, False)

    x = by_factors(b)
    for _ in range(steps if b.size else 0):
        x = ew.add(x, by_factors(residual(a, x, b)))
    return x, found.info


def _stack(a: Array, b: Array, where: str) -> Shape:
    try:
        return broadcast_shapes(a.shape[:-2], b.shape[:-2], where=where)
    except ValueError:
        raise ValueError(f"{where}: leading axes of {a.shape} and {b.shape} do not broadcast") from None


def operands(a: Any, b: Any, where: str) -> tuple[Array, Array, bool]:
    """(a, b as matrices of one dtype, whether b was a vector); LinAlgError or ValueError unless they fit."""
    x = matrices(a, where, square=True)
    from ..ops.rearranging import prepare

    y = prepare(b, where)
    vector = y.ndim == 1
    if not y.ndim:
        raise LinAlgError(f"{where}: the right-hand side is a vector or matrices, its shape is ()")
    want = promote(x.dtype, y.dtype, where=where) if "c" in (x.dtype.kind, y.dtype.kind) else x.dtype
    x, y = astype(x, want, copy=False), astype(y, want, copy=False)
    if vector:
        y = expand_dims(y, axis=1)
    if y.shape[-2] != x.shape[-1]:
        raise ValueError(f"{where}: shapes {x.shape} and {tuple(getattr(b, 'shape', y.shape))} do not fit")
    return x, y, vector


def returned(x: Array, vector: bool) -> Array:
    """A solution in the shape of the right-hand side."""
    return squeeze(x, axis=-1) if vector else x
