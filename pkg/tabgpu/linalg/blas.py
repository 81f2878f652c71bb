"""BLAS on arrays: results are new arrays, and what BLAS says by leading dimensions and increments a view says here.

Transposes, slices (a[:, :k] has a leading dimension) and repeated batches are read in place, and everything after the
product (alpha, beta * c, an epilogue) joins its launch. Names and argument order are BLAS's, without sizes. float16 and
bfloat16 are summed in float32 and rounded once, or not at all with out_dtype="float32".
"""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from .. import layout as lo
from ..array import Array, view
from ..dtypes import DType, as_dtype, float32, promote
from ..ops import contractions, reductions
from ..ops import elementwise as ew
from ..ops.creation import astype, copy_of
from ..ops.manipulation import expand_dims, matrix_transpose, squeeze
from ..ops.products import product
from ..ops.rearranging import prepare
from ..ops.triangles import below
from .epilogue import finished, fitting, plus_beta, scalar, scaled

__all__ = [
    "asum", "axpy", "batched_gemm", "dot", "dotc", "dotu", "gemm", "gemv", "ger", "gerc", "herk", "iamax",
    "matmul_epilogue", "matrix", "nrm2", "scal", "syrk",
]  # fmt: skip

_TRANS = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2, "n": 0, "t": 1, "c": 2}


def matrix(
    buffer: Any, rows: int, columns: int, ld: int | None = None, *, offset: int = 0, batch: int | None = None,
    stride: int | None = None,
) -> Array:  # fmt: skip
    """A view of an array's elements, row-major, as BLAS describes matrices: rows of `columns` elements, ld (columns)
    apart, from element `offset` on.

    batch: so many of them, `stride` elements apart (as many as one takes; 0 repeats it). ValueError beyond the buffer.
    """
    x = prepare(buffer, "matrix")
    if not lo.is_contiguous(x._layout):
        x = copy_of(x)
    rows, columns, offset = as_index(rows), as_index(columns), as_index(offset)
    ld = columns if ld is None else as_index(ld)
    count = 1 if batch is None else as_index(batch)
    stride = rows * ld if stride is None else as_index(stride)
    if min(rows, columns, offset, count, stride) < 0 or ld < columns:
        raise ValueError(
            f"matrix: {rows} x {columns}, ld {ld}, offset {offset}, batch {count}, stride {stride}: none may be "
            "negative, and ld not less than a row"
        )
    shape = (rows, columns) if batch is None else (count, rows, columns)
    if 0 not in shape:
        end = offset + (count - 1) * stride + (rows - 1) * ld + columns
        if end > x.size:
            raise ValueError(f"matrix: {shape} with ld {ld} ends at element {end}, the buffer has {x.size}")
    strides = (ld, 1) if batch is None else (stride, ld, 1)
    return view(x, lo.Layout(shape, strides, x._layout.offset + offset))


def _oriented(x: Array, trans: Any, where: str) -> tuple[Array, bool]:
    """(op(x) without conjugation, whether it is conjugated)."""
    try:
        how = _TRANS[trans]
    except (KeyError, TypeError):
        raise ValueError(f"{where}: trans is 0, 1, 2 or 'N', 'T', 'C', not {trans!r}") from None
    return (matrix_transpose(x) if how else x), how == 2 and x.dtype.kind == "c"


def _wanted(a: Array, b: Array, out_dtype: Any, where: str) -> tuple[DType, DType]:
    """(the dtype that everything is computed in, that of the result)."""
    want = promote(a.dtype, b.dtype, where=where)
    out = want if out_dtype is None else as_dtype(out_dtype)
    if want.kind == "c" and out.kind != "c":
        raise TypeError(f"{where}: out_dtype {out.name} cannot hold a product of complex64")
    if out.kind == "c":
        return out, out
    return (float32 if "f" in (want.kind, out.kind) else out), out


def _gemm(
    alpha: Any, a: Array, b: Array, beta: Any, c: Any, trans_a: Any, trans_b: Any, out_dtype: Any, after: Any,
    where: str,
) -> Array:  # fmt: skip
    left, conj_a = _oriented(a, trans_a, where)
    right, conj_b = _oriented(b, trans_b, where)
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(
            f"{where}: op(a) {left.shape} @ op(b) {right.shape}: inner sizes {left.shape[-1]} and "
            f"{right.shape[-2]} differ"
        )
    computed, out = _wanted(a, b, out_dtype, where)
    made = scaled(product(left, right, computed, (conj_a, conj_b)), alpha, where)
    made = plus_beta(made, beta, c, where)
    if after:
        made = finished(made, where, **after)
    return astype(made, out, copy=False)


def _matrices(where: str, *given: Any, rank: int = 2) -> list[Array]:
    found = [prepare(x, where) for x in given]
    for x in found:
        if x.ndim < 2 or (rank == 2 and x.ndim != 2):
            what = "matrices" if rank == 2 else "matrices or stacks of them"
            raise ValueError(f"{where}: takes {what}, shapes are {', '.join(str(y.shape) for y in found)}")
    return found


def gemm(
    alpha: Any, a: Any, b: Any, beta: Any = 0, c: Any = None, trans_a: Any = 0, trans_b: Any = 0, *,
    out_dtype: Any = None, **epilogue: Any,
) -> Array:  # fmt: skip
    """alpha * op(a) @ op(b) + beta * c, and what `matmul_epilogue` says, in one launch.

    a, b: matrices (any strides); trans: 0 or "N" as it is, 1 or "T" transposed, 2 or "C" conjugated too. c: (m, n), or
    what broadcasts to it; not read for beta = 0. alpha, beta: numbers or 0-d arrays. An inner size of 0 gives beta * c.
    out_dtype: of the result, all is computed in float32 (complex64, or integers that wrap) and rounded once.
    """
    x, y = _matrices("gemm", a, b)
    return _gemm(alpha, x, y, beta, c, trans_a, trans_b, out_dtype, epilogue, "gemm")


def batched_gemm(
    alpha: Any, a: Any, b: Any, beta: Any = 0, c: Any = None, trans_a: Any = 0, trans_b: Any = 0, *,
    out_dtype: Any = None, **epilogue: Any,
) -> Array:  # fmt: skip
    """gemm of each matrix of stacks (.., m, k) and (.., k, n), leading axes broadcast: one launch for any number.

    Any distance between matrices is a view (`matrix(.., stride=)` of a buffer); a plain matrix stands for all.
    """
    x, y = _matrices("batched_gemm", a, b, rank=3)
    return _gemm(alpha, x, y, beta, c, trans_a, trans_b, out_dtype, epilogue, "batched_gemm")


def matmul_epilogue(
    a: Any, b: Any, alpha: Any = 1, beta: Any = 0, *, row_scale: Any = None, row_op: str = "multiply",
    column_scale: Any = None, column_op: str = "multiply", clamp: Any = None, power: Any = None, bias: Any = None,
    bias_axis: int = -1, activation: Any = None, out_dtype: Any = None,
) -> Array:  # fmt: skip
    """alpha * a @ b + beta with a number beta, then in this order, all in the launch of the product:

    bias: a value a column (bias_axis=-1) or a row (-2) is added; row_scale (m) and column_scale (n): "multiply" or
    "divide" by; clamp: (least, greatest), either None; power: an exponent; activation: a name of tg.nn or a function
    of an array. a, b: matrices or stacks. gemm and batched_gemm take these too.
    """
    x, y = _matrices("matmul_epilogue", a, b, rank=3)
    after = {
        "bias": bias, "bias_axis": bias_axis, "row_scale": row_scale, "row_op": row_op, "column_scale": column_scale,
        "column_op": column_op, "clamp": clamp, "power": power, "activation": activation,
    }  # fmt: skip
    one = None if not isinstance(beta, Array) and beta == 0 else beta
    return _gemm(alpha, x, y, 1, one, 0, 0, out_dtype, after, "matmul_epilogue")


def gemv(alpha: Any, a: Any, x: Any, beta: Any = 0, y: Any = None, trans: Any = 0) -> Array:
    """alpha * op(a) @ x + beta * y of a matrix and vectors."""
    m, v = prepare(a, "gemv"), prepare(x, "gemv")
    if m.ndim != 2 or v.ndim != 1:
        raise ValueError(f"gemv: takes a matrix and a vector, shapes are {m.shape} and {v.shape}")
    left, conj = _oriented(m, trans, "gemv")
    if left.shape[1] != v.shape[0]:
        raise ValueError(f"gemv: op(a) {left.shape} and x {v.shape}: inner sizes differ")
    want, out = _wanted(m, v, None, "gemv")
    made = squeeze(product(left, expand_dims(v, axis=1), want, (conj, False)), axis=1)
    return astype(plus_beta(scaled(made, alpha, "gemv"), beta, y, "gemv"), out, copy=False)


def _rank_k(alpha: Any, a: Any, beta: Any, c: Any, trans: Any, lower: Any, conj: bool, where: str) -> Array:
    (x,) = _matrices(where, a)
    other, turned = matrix_transpose(x), _oriented(x, trans, where)[0] is not x
    left, right, flags = (other, x, (conj, False)) if turned else (x, other, (False, conj))
    want, out = _wanted(x, x, None, where)
    made = scaled(product(left, right, want, flags), alpha, where)
    made = plus_beta(made, beta, c, where)
    if lower is not None:
        n = made.shape[0]
        keep = below(n, n, 0) if lower else ew.logical_not(below(n, n, -1))
        old = 0 if c is None else astype(fitting(c, made.shape, where, "c"), made.dtype, copy=False)
        made = ew.where(keep, made, old)
    return astype(made, out, copy=False)


def syrk(alpha: Any, a: Any, beta: Any = 0, c: Any = None, trans: Any = 0, lower: int | None = None) -> Array:
    """alpha * a @ a.T + beta * c, or alpha * a.T @ a + beta * c for trans.

    Both triangles (lower=None), or the lower (1) or upper one (0) with c, or 0 without it, in the other.
    """
    return _rank_k(alpha, a, beta, c, trans, lower, False, "syrk")


def herk(alpha: Any, a: Any, beta: Any = 0, c: Any = None, trans: Any = 0, lower: int | None = None) -> Array:
    """syrk with the conjugate transpose: alpha * a @ a.conj().T + beta * c, or alpha * a.conj().T @ a + beta * c."""
    return _rank_k(alpha, a, beta, c, trans, lower, True, "herk")


def _vectors(where: str, *given: Any) -> list[Array]:
    found = [prepare(x, where) for x in given]
    if any(x.ndim != 1 for x in found):
        raise ValueError(f"{where}: takes vectors, shapes are {', '.join(str(x.shape) for x in found)}")
    return found


def _same(where: str, *given: Any) -> list[Array]:
    found = _vectors(where, *given)
    if len({x.shape for x in found}) > 1:
        raise ValueError(f"{where}: vectors of one length, not {', '.join(str(x.shape) for x in found)}")
    return found


def ger(alpha: Any, x: Any, y: Any, a: Any = None) -> Array:
    """alpha * outer(x, y) + a (of shape (m, n))."""
    u, v = _vectors("ger", x, y)
    return _outer(alpha, u, v, a, "ger")


def gerc(alpha: Any, x: Any, y: Any, a: Any = None) -> Array:
    """alpha * outer(x, conj(y)) + a."""
    u, v = _vectors("gerc", x, y)
    return _outer(alpha, u, ew.conjugate(v), a, "gerc")


def _outer(alpha: Any, x: Array, y: Array, a: Any, where: str) -> Array:
    return plus_beta(scaled(contractions.outer(x, y), alpha, where), 1, a, where)


def axpy(alpha: Any, x: Any, y: Any) -> Array:
    """alpha * x + y."""
    u, v = _same("axpy", x, y)
    return ew.add(scaled(u, alpha, "axpy"), v)


def scal(alpha: Any, x: Any) -> Array:
    """alpha * x."""
    (u,) = _vectors("scal", x)
    return ew.multiply(u, scalar(alpha, u.dtype, "scal"))


def dot(x: Any, y: Any) -> Array:
    """sum(x * y), 0-d; complex numbers are not conjugated (as dotu)."""
    return contractions.vecdot_real(*_same("dot", x, y))


def dotc(x: Any, y: Any) -> Array:
    """sum(conj(x) * y), 0-d."""
    u, v = _same("dotc", x, y)
    return contractions.vecdot(u, v)


dotu = dot


def nrm2(x: Any) -> Array:
    """sqrt(sum(|x|**2)), 0-d, scaled by the greatest element, so that squares neither overflow nor vanish."""
    (u,) = _vectors("nrm2", x)
    size = ew.abs(u)
    if not u.size:
        return ew.sqrt(reductions.sum(size))
    top = reductions.max(size)
    by = ew.where(ew.logical_and(ew.greater(top, 0), ew.isfinite(top)), top, 1)
    return ew.multiply(ew.sqrt(reductions.sum(ew.square(ew.divide(size, by)))), by)


def asum(x: Any) -> Array:
    """sum(|re x| + |im x|), 0-d."""
    return reductions.sum(_absolute(x, "asum"))


def iamax(x: Any) -> Array:
    """The first position, from 0, of the greatest |re x| + |im x|; 0-d int32. ValueError for no elements."""
    return reductions.argmax(_absolute(x, "iamax"))


def _absolute(x: Any, where: str) -> Array:
    (u,) = _vectors(where, x)
    if u.dtype.kind != "c":
        return ew.abs(u)
    return ew.add(ew.abs(ew.real(u)), ew.abs(ew.imag(u)))
