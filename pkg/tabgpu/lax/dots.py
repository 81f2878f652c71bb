"""Products with XLA's dimension numbers: dot_general is a batched matmul over views; copies only where axes that belong
together cannot be walked as one."""

from __future__ import annotations

from math import prod
from operator import index as as_index
from typing import Any

from ..array import Array
from ..dtypes import BY_KIND, DType, as_dtype, int32, promote
from ..layout import Shape
from ..ops import elementwise as ew
from ..ops import reductions
from ..ops.creation import astype, zeros
from ..ops.manipulation import addressable, expand_dims, matrix_transpose, permute_dims, reshape
from ..ops.products import product
from ..ops.rearranging import prepare

Axes = tuple[int, ...]


def dot_general(
    lhs: Any, rhs: Any, dimension_numbers: Any, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """Products of lhs and rhs summed over contracting axes, for each of the batch axes.

    dimension_numbers: ((lhs contracting, rhs contracting), (lhs batch, rhs batch)). The result has the batch axes, the
    others of lhs, the others of rhs; contracting no elements gives zeros. preferred_element_type: of the result (16-bit
    operands are summed in float32 in any case, and rounded once; narrow integers widen first). precision is accepted:
    float32 is always whole.
    """
    return dot_general_with_conj(lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type)


def dot_general_with_conj(
    lhs: Any, rhs: Any, dimension_numbers: Any, lhs_conj: bool = False, rhs_conj: bool = False,
    preferred_element_type: Any = None,
) -> Array:  # fmt: skip
    """dot_general of the conjugates of lhs, rhs or both: they cost nothing, and mean nothing for real operands."""
    x, y = prepare(lhs, "dot_general"), prepare(rhs, "dot_general")
    (over_x, over_y), (batch_x, batch_y) = _dimensions(x.shape, y.shape, dimension_numbers)
    want = promote(x.dtype, y.dtype, where="dot_general")
    if preferred_element_type is not None:
        into = as_dtype(preferred_element_type)
        if want.kind == "c" and into.kind != "c":
            raise TypeError(f"dot_general: {into.name} cannot hold a product of complex64")
        want = into
    free_x = tuple(k for k in range(x.ndim) if k not in (*over_x, *batch_x))
    free_y = tuple(k for k in range(y.ndim) if k not in (*over_y, *batch_y))
    batch = tuple(x.shape[k] for k in batch_x)
    m, n, k = ([z.shape[d] for d in axes] for z, axes in ((x, free_x), (y, free_y), (x, over_x)))
    shape = addressable((*batch, *m, *n), "dot_general")
    if 0 in shape or 0 in k:
        return zeros(shape, dtype=want)
    left = reshape(permute_dims(x, (*batch_x, *free_x, *over_x)), (*batch, prod(m), prod(k)))
    right = reshape(permute_dims(y, (*batch_y, *over_y, *free_y)), (*batch, prod(k), prod(n)))
    conjugate = lhs_conj and x.dtype.kind == "c", rhs_conj and y.dtype.kind == "c"
    if prod(m) == 1 or prod(n) == 1:
        return reshape(_sums(left, matrix_transpose(right), want, conjugate), shape)
    return reshape(product(left, right, want, conjugate), shape)


def _sums(left: Array, right: Array, want: DType, conjugate: tuple[bool, bool]) -> Array:
    """Vectors with rows: a sum of products along the last axis, in one launch."""
    x, y = expand_dims(left, axis=-2), expand_dims(right, axis=-3)
    if want.kind == "c":
        return _complex_sums(x, y, *conjugate)
    wide = int32 if want.kind == "b" else BY_KIND[want.kind]
    x, y = (astype(z, wide, copy=False) for z in (x, y))
    return astype(reductions.sum(ew.multiply(x, y), axis=-1, dtype=wide), want, copy=False)


def _complex_sums(x: Array, y: Array, conj_x: bool, conj_y: bool) -> Array:
    """The same of complex numbers: a sum for each part, conjugation by signs."""

    def total(terms: Array) -> Array:
        return reductions.sum(terms, axis=-1)

    a, b, c, d = ew.real(x), ew.imag(x), ew.real(y), ew.imag(y)
    if y.dtype.kind != "c":
        imag = total(ew.multiply(b, c))
        return ew.complex_of(total(ew.multiply(a, c)), ew.negative(imag) if conj_x else imag)
    if x.dtype.kind != "c":
        imag = total(ew.multiply(a, d))
        return ew.complex_of(total(ew.multiply(a, c)), ew.negative(imag) if conj_y else imag)
    real = (ew.add if conj_x != conj_y else ew.subtract)(ew.multiply(a, c), ew.multiply(b, d))
    imag = (ew.add if conj_x == conj_y else ew.subtract)(ew.multiply(a, d), ew.multiply(b, c))
    return ew.complex_of(total(real), ew.negative(total(imag)) if conj_y else total(imag))


def _dimensions(x: Shape, y: Shape, given: Any) -> tuple[tuple[Axes, Axes], tuple[Axes, Axes]]:
    """Checked dimension numbers: as many axes on both sides, of equal sizes, no axis twice."""
    try:
        (a, b), (c, d) = given
        parts = [tuple(as_index(k) for k in p) for p in (a, b, c, d)]
    except (TypeError, ValueError):
        raise ValueError(
            "dot_general: dimension_numbers are ((lhs contracting, rhs contracting), (lhs batch, rhs batch)), "
            f"not {given!r}"
        ) from None
    over_x, over_y, batch_x, batch_y = parts
    for shape, over, batch in ((x, over_x, batch_x), (y, over_y, batch_y)):
        axes = (*over, *batch)
        if len(set(axes)) != len(axes) or any(not 0 <= k < len(shape) for k in axes):
            raise ValueError(f"dot_general: axes {axes} are not distinct axes of shape {shape}")
    for what, p, q in (("contracting", over_x, over_y), ("batch", batch_x, batch_y)):
        if len(p) != len(q) or any(x[i] != y[j] for i, j in zip(p, q, strict=False)):
            raise ValueError(f"dot_general: {what} axes {p} of shape {x} and {q} of shape {y} do not match")
    return (over_x, over_y), (batch_x, batch_y)


def dot(lhs: Any, rhs: Any, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The last axis of lhs with the first of rhs, both of 1 or 2 axes."""
    x, y = prepare(lhs, "dot"), prepare(rhs, "dot")
    if not (1 <= x.ndim <= 2 and 1 <= y.ndim <= 2) or x.shape[-1] != y.shape[0]:
        raise ValueError(f"dot: shapes {x.shape} and {y.shape} are not vectors or matrices of one inner size")
    return dot_general(x, y, (((x.ndim - 1,), (0,)), ((), ())), precision, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Array:
    """(.., m, k) with (.., k, n) of equal leading axes."""
    x, y = prepare(lhs, "batch_matmul"), prepare(rhs, "batch_matmul")
    if x.ndim < 2 or x.ndim != y.ndim:
        raise ValueError(f"batch_matmul: stacks of matrices of one rank, not {x.shape} and {y.shape}")
    batch = tuple(range(x.ndim - 2))
    return dot_general(x, y, (((x.ndim - 1,), (x.ndim - 2,)), (batch, batch)), precision)
