"""matmul: shapes and dtypes here, tiles in the planner. Products made of it are in contractions.py and einsum.py."""

from __future__ import annotations

from math import prod
from typing import Any

from .. import engine
from ..array import Array, fresh, source, view
from ..dtypes import BY_KIND, DType, as_dtype, float32, int32, promote, uint32
from ..graph import IOTA, MATMUL, SCALAR, Op
from ..layout import Layout, Shape, broadcast_shapes, broadcast_to, collapse, reshape
from . import elementwise as ew
from .convert import from_host
from .creation import astype, copy_of, positions, zeros
from .manipulation import addressable, expand_dims, getitem, squeeze
from .manipulation import reshape as reshaped


def matmul(x1: Any, x2: Any, /, out: Array | None = None, *, dtype: Any = None) -> Array:
    """Matrix product with NumPy's rules: 1-D operands are rows or columns, leading axes broadcast.

    (.., m, k) @ (.., k, n) -> (.., m, n) in every dtype: 16-bit floats are summed in float32 and rounded once, integers
    wrap, of bools it is `any(x & y)`. 32-bit operands and 16-bit floats are read in place whatever their strides, and
    what follows elementwise joins the launch. k = 0 gives zeros.
    """
    if type(x1) is Array and type(x2) is Array and out is None and dtype is None:
        plain = _plain(x1, x2)
        if plain is not None:
            return plain
    a = x1 if isinstance(x1, Array) else from_host(x1, "matmul")
    b = x2 if isinstance(x2, Array) else from_host(x2, "matmul")
    if not a.ndim or not b.ndim:
        raise ValueError(f"matmul: operands need at least 1 axis: {a.shape} @ {b.shape}")
    want = promote(a.dtype, b.dtype, where="matmul") if dtype is None else as_dtype(dtype)
    inner = (a.shape[-1], b.shape[0] if b.ndim == 1 else b.shape[-2])
    if inner[0] != inner[1]:
        raise ValueError(f"matmul: {a.shape} @ {b.shape}: inner sizes {inner[0]} and {inner[1]} differ")
    row, column = a.ndim == 1, b.ndim == 1
    if row:
        a = expand_dims(a, axis=0)
    if column:
        b = expand_dims(b, axis=1)
    made = product(a, b, want)
    if row:
        made = squeeze(made, axis=-2)
    if column:
        made = squeeze(made, axis=-1)
    if out is None:
        return made
    from .joining import deliver

    return deliver(made, out, "matmul")


def _plain(a: Array, b: Array) -> Array | None:
    """The product of stored vectors and matrices of one dtype that is computed as it is; None for all else."""
    dtype = a.dtype
    if b.dtype is not dtype or dtype not in (float32, int32, uint32):
        return None
    p, q = a._cell.op, b._cell.op
    if (p.kind <= IOTA and p.buffer is None) or (q.kind <= IOTA and q.buffer is None):
        return None
    left, right = a._layout, b._layout
    shape: Shape
    if len(left.shape) == 2:
        m, k = shape = left.shape
    elif len(left.shape) == 1:
        m, k, shape = 1, left.shape[0], ()
        left = Layout((1, k), (0, left.strides[0]), left.offset)
    else:
        return None
    shape = shape[:1]
    if len(right.shape) == 2:
        inner, n = right.shape
        shape += (n,)
    elif len(right.shape) == 1:
        inner, n = right.shape[0], 1
        right = Layout((k, 1), (right.strides[0], 0), right.offset)
    else:
        return None
    if inner != k or not 0 < m * n <= LARGE * 64 or not 0 < k <= LONG_K:
        return None
    return _emit(p, left, q, right, shape, dtype, ((), m, n, k))


def product(a: Array, b: Array, want: DType, conjugate: tuple[bool, bool] = (False, False)) -> Array:
    """The product in the 32-bit type of a kind, then in the wanted one; complex from products of the parts.

    (.., m, k) @ (.., k, n). conjugate: which operands are conjugated first, which costs nothing.
    """
    if want.kind == "c":
        return _complex(a, b, *conjugate)
    computed = int32 if want.kind == "b" else BY_KIND[want.kind]
    if computed is float32 and a.dtype is b.dtype and a.dtype.kind == "f":
        return astype(_product(a, b, float32), want, copy=False)  # the kernel reads halves
    made = _product(astype(a, computed, copy=False), astype(b, computed, copy=False), computed)
    return astype(made, want, copy=False)


def _complex(a: Array, b: Array, conj_a: bool, conj_b: bool) -> Array:
    """Products of the parts in one real product: where both are complex, rows of a are re, im, re, im .. and an element
    of b is the block [[re, im], [-im, re]], so that the result's parts stand side by side; else they are two batches.
    As accurate as four products, unlike the trick with three. Conjugates are signs."""
    if a.dtype.kind == b.dtype.kind == "c":
        left = reshaped(_parts(a, a.ndim), (*a.shape[:-1], 2 * a.shape[-1]))
        made = _product(left, _blocks(b, conj_a, conj_b), float32)
        real, imag = (getitem(made, (..., slice(part, None, 2))) for part in (0, 1))
        return ew.complex_of(real, imag)
    if a.dtype.kind != "c" != b.dtype.kind:
        return ew.complex_of(product(a, b, float32), 0.0)
    rank = max(a.ndim, b.ndim)
    x, y = (
        _parts(view(z, broadcast_to(z._layout, (1,) * (rank - z.ndim) + z.shape)), 0)
        if z.dtype.kind == "c"
        else astype(z, float32, copy=False)
        for z in (a, b)
    )
    made = _product(x, y, float32)
    real, imag = getitem(made, 0), getitem(made, 1)
    return ew.complex_of(real, ew.negative(imag) if conj_a or conj_b else imag)


def _parts(z: Array, axis: int) -> Array:
    """Real and imaginary parts along a new axis."""
    which = reshaped(positions(2), (2,) + (1,) * (z.ndim - axis))
    z = expand_dims(z, axis=axis)
    return ew.where(ew.equal(which, 0), ew.real(z), ew.imag(z))


def _blocks(b: Array, conj_a: bool, conj_b: bool) -> Array:
    """(.., k, n) as (.., 2k, 2n)."""
    k, n = b.shape[-2:]
    shape = (*b.shape[:-2], k, 2, n, 2)
    row, column, z = (  # in the whole shape, so that all is one launch
        view(v, broadcast_to(v._layout, shape))
        for v in (
            reshaped(positions(2), (2, 1, 1)),
            positions(2),
            expand_dims(b, axis=(b.ndim - 1, b.ndim + 1)),
        )
    )
    own = ew.equal(row, column)
    a, c = -1.0 if conj_a else 1.0, -1.0 if conj_b else 1.0
    sign = ew.where(own, ew.where(ew.equal(row, 1), a, 1.0), ew.where(ew.equal(row, 1), -a * c, c))
    made = ew.multiply(ew.where(own, ew.real(z), ew.imag(z)), sign)
    return reshaped(made, (*b.shape[:-2], 2 * k, 2 * n))


# Terms that one launch adds: the error of a sum grows with them, and Mesa's CPU driver ends loops after 65,535 rounds.
# Small results are cut in pieces by the planner, large ones are added up here: their pieces would fill the memory.
LONG_K = 32768
LARGE = 1 << 22


def _product(a: Array, b: Array, dtype: DType) -> Array:
    """(.., m, k) @ (.., k, n) of one dtype."""
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    try:
        batch = broadcast_shapes(a.shape[:-2], b.shape[:-2], where="matmul")
    except ValueError:
        raise ValueError(f"matmul: {a.shape} @ {b.shape}: leading axes do not broadcast") from None
    shape = addressable((*batch, m, n), "matmul")
    if k == 0 or 0 in shape:
        return zeros(shape, dtype=dtype)
    if k > LONG_K and prod(shape) > LARGE:
        pieces = [slice(at, at + LONG_K) for at in range(0, k, LONG_K)]
        total = zeros(shape, dtype=dtype)
        for i in pieces:
            total = ew.add(total, _product(getitem(a, (..., i)), getitem(b, (..., i, slice(None))), dtype))
        return total
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
