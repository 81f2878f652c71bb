"""matmul and its kin: shapes and dtypes here, tiles in the planner."""

from __future__ import annotations

from math import prod
from typing import Any

from .. import engine
from ..array import Array, fresh, source, view
from ..dtypes import DType, bool_, promote
from ..graph import IOTA, MATMUL, SCALAR, Op
from ..layout import Layout, Shape, broadcast_shapes, broadcast_to, collapse, reshape
from .convert import from_host
from .creation import astype, copy_of, zeros
from .manipulation import expand_dims, squeeze


def matmul(x1: Any, x2: Any, /) -> Array:
    """Matrix product with NumPy's rules: 1-D operands are rows or columns, leading axes broadcast.

    (.., m, k) @ (.., k, n) -> (.., m, n); float32, int32 and uint32 (exact, wrapping). Operands are read in place
    whatever their strides; what follows elementwise joins the same launch. k = 0 gives zeros.
    """
    a = x1 if isinstance(x1, Array) else from_host(x1, "matmul")
    b = x2 if isinstance(x2, Array) else from_host(x2, "matmul")
    if not a.ndim or not b.ndim:
        raise ValueError(f"matmul: operands need at least 1 axis: {a.shape} @ {b.shape}")
    if a.dtype is bool_ and b.dtype is bool_:
        return astype(matmul(astype(a, "int32"), astype(b, "int32")), bool_)
    dtype = promote(a.dtype, b.dtype, where="matmul")
    inner = (a.shape[-1], b.shape[0] if b.ndim == 1 else b.shape[-2])
    if inner[0] != inner[1]:
        raise ValueError(f"matmul: {a.shape} @ {b.shape}: inner sizes {inner[0]} and {inner[1]} differ")
    row, column = a.ndim == 1, b.ndim == 1
    if row:
        a = expand_dims(a, axis=0)
    if column:
        b = expand_dims(b, axis=1)
    out = _product(astype(a, dtype, copy=False), astype(b, dtype, copy=False), dtype)
    if row:
        out = squeeze(out, axis=-2)
    return squeeze(out, axis=-1) if column else out


def _product(a: Array, b: Array, dtype: DType) -> Array:
    """(.., m, k) @ (.., k, n) of one dtype."""
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    try:
        batch = broadcast_shapes(a.shape[:-2], b.shape[:-2], where="matmul")
    except ValueError:
        raise ValueError(f"matmul: {a.shape} @ {b.shape}: leading axes do not broadcast") from None
    shape = (*batch, m, n)
    if k == 0 or 0 in shape:
        return zeros(shape, dtype=dtype)
    a_op, a_view = _operand(a, (*batch, m, k))
    b_op, b_view = _operand(b, (*batch, k, n))
    if batch and all(s == 0 or d == 1 for d, s in zip(batch, b_view.strides[:-2], strict=True)):
        rows = reshape(a_view, (prod(batch) * m, k))
        if rows is not None:  # one matrix for all: a single, taller product fills its tiles
            b_view = Layout((k, n), b_view.strides[-2:], b_view.offset)
            return _emit(a_op, rows, b_op, b_view, shape, dtype, ((), prod(batch) * m, n, k))
    if batch and len(collapse(batch, [a_view.strides[:-2], b_view.strides[:-2]])[0]) > 3:
        a_op, a_view = _operand(copy_of(view(a, broadcast_to(a._layout, (*batch, m, k)))), (*batch, m, k))
        b_op, b_view = _operand(copy_of(view(b, broadcast_to(b._layout, (*batch, k, n)))), (*batch, k, n))
    return _emit(a_op, a_view, b_op, b_view, shape, dtype, (batch, m, n, k))


def _emit(
    a: Op,
    a_view: Layout,
    b: Op,
    b_view: Layout,
    shape: Shape,
    dtype: DType,
    extra: tuple[Shape, int, int, int],
) -> Array:
    """The pending product; extra: (batch, m, n, k) as the kernel walks it, whose elements lie as those of shape."""
    out = fresh(Op(MATMUL, None, (a, b), (a_view, b_view), shape, dtype, extra))
    engine.weigh(out.size * extra[3] >> 10)
    return out


def _operand(x: Array, shape: tuple[int, ...]) -> tuple[Op, Layout]:
    """An operand as stored memory with its broadcast view; constants and ranges are written out first."""
    op, seen = source(x)
    if op.kind in (SCALAR, IOTA) and op.buffer is None:
        op, seen = source(copy_of(x))
    return op, broadcast_to(seen or op.layout, shape, "matmul")


def dot(a: Any, b: Any, /) -> Array:
    """NumPy's dot for up to 2-D operands: inner product, matrix product, or scaling by a 0-d operand."""
    from .elementwise import multiply

    x = a if isinstance(a, Array) else from_host(a, "dot")
    y = b if isinstance(b, Array) else from_host(b, "dot")
    if not x.ndim or not y.ndim:
        return multiply(x, y)
    if x.ndim > 2 or y.ndim > 2:
        raise ValueError(
            f"dot: operands of more than 2 axes are not supported yet ({x.shape}, {y.shape}); use matmul"
        )
    return matmul(x, y)
