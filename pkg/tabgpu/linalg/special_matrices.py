"""Matrices with a name: toeplitz, hankel, circulant, companion, hadamard, hilbert, pascal, dft, block_diag ..."""

from __future__ import annotations

import cmath
import math
from operator import index as as_index
from typing import Any

from ..array import Array, view
from ..dtypes import as_dtype, complex64, float32, int32, promote, uint32
from ..layout import Layout, broadcast_shapes
from ..ops import elementwise as ew
from ..ops.creation import array, asarray, astype, copy_of, positions, zeros
from ..ops.guards import guard
from ..ops.joining import concat
from ..ops.manipulation import addressable, atleast_1d, broadcast_to, expand_dims, flip, reshape
from ..ops.padding import pad
from ..ops.rearranging import prepare
from ..ops.taking import take


def _lines(x: Any, where: str) -> Array:
    made: Array = atleast_1d(prepare(x, where))
    return made


def _floating(x: Array) -> Array:
    return x if x.dtype.kind in "fc" else astype(x, float32)


def _size(n: Any, where: str) -> int:
    size: int = as_index(n)
    if size < 0:
        raise ValueError(f"{where}: a size must not be negative: {size}")
    return size


def _place(n: int) -> tuple[Array, Array]:
    """The row and the column of each element of an (n, n) matrix; no memory."""
    return expand_dims(positions(n), axis=1), positions(n)


def _striped(values: Array, rows: int, columns: int, first: int, down: int) -> Array:
    """(.., rows, columns) with element [i, j] = values[.., first + down * i + j]."""
    addressable((*values.shape[:-1], rows, columns), "toeplitz")
    if not rows or not columns:
        return zeros((*values.shape[:-1], rows, columns), dtype=values.dtype)
    values = copy_of(values)  # it lies by itself, so that the matrix is a view of it
    *lead, step = values._layout.strides
    made = Layout(
        (*values.shape[:-1], rows, columns),
        (*lead, down * step, step),
        values._layout.offset + first * step,
    )
    return copy_of(view(values, made))


def toeplitz(c: Any, r: Any = None) -> Array:
    """Constant along diagonals: c is the first column, r (without its first element) the first row; r=None: conj(c).

    Of the last axis of stacks. The dtype is that of both together.
    """
    c = _lines(c, "toeplitz")
    r = ew.conjugate(c) if r is None else _lines(r, "toeplitz")
    want = promote(c.dtype, r.dtype, where="toeplitz")
    lead = broadcast_shapes(c.shape[:-1], r.shape[:-1], where="toeplitz")
    c, r = (broadcast_to(astype(x, want, copy=False), (*lead, x.shape[-1])) for x in (c, r))
    values = concat([flip(c, axis=-1), r[..., 1:]], axis=-1)
    return _striped(values, c.shape[-1], r.shape[-1], c.shape[-1] - 1, -1)


def circulant(c: Any) -> Array:
    """Each column is the one before it, moved down by one; c is the first. Of the last axis of stacks."""
    c = _lines(c, "circulant")
    return toeplitz(c, concat([c[..., :1], flip(c[..., 1:], axis=-1)], axis=-1))


def hankel(c: Any, r: Any = None) -> Array:
    """Constant along antidiagonals: c is the first column, r (without its first element) the last row (None: 0)."""
    c = _lines(c, "hankel")
    r = zeros(c.shape, dtype=c.dtype) if r is None else _lines(r, "hankel")
    if c.ndim > 1 or r.ndim > 1:
        raise ValueError(f"hankel: takes vectors, shapes are {c.shape} and {r.shape}")
    want = promote(c.dtype, r.dtype, where="hankel")
    values = concat([astype(c, want, copy=False), astype(r[1:], want, copy=False)])
    return _striped(values, c.shape[0], r.shape[0], 0, 1)


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Array:
    """The matrix m with m @ v = convolve(a, v, mode) for vectors v of n elements. ValueError for other modes."""
    a, n = _lines(a, "convolution_matrix"), as_index(n)
    if n <= 0:
        raise ValueError(f"convolution_matrix: n must be positive, not {n}")
    m = a.shape[-1]
    if not a.size:
        raise ValueError("convolution_matrix: a must have at least one element")
    if mode not in ("full", "valid", "same"):
        raise ValueError(f"convolution_matrix: mode is 'full', 'valid' or 'same', not {mode!r}")
    widths = [(0, 0)] * (a.ndim - 1) + [(n - 1, n - 1)]
    values = flip(pad(a, widths), axis=-1)  # of row i of the full form the n elements from m + n - 2 - i on
    trim = 0 if mode == "full" else min(n, m) - 1
    top = trim // 2 if mode == "same" else trim
    rows = m + n - 1 - trim - (top if mode == "valid" else 0)
    return _striped(values, rows, n, m + n - 2 - top, -1)


def companion(a: Any) -> Array:
    """The companion matrix of the polynomial with coefficients a, highest power first; its eigenvalues are the roots.

    ValueError for fewer than two; at the read that depends on it if the first is 0.
    """
    a = _floating(_lines(a, "companion"))
    n = a.shape[-1] - 1
    if n < 1:
        raise ValueError(f"companion: needs at least 2 coefficients, shape is {a.shape}")
    first = expand_dims(ew.negative(ew.divide(a[..., 1:], a[..., :1])), axis=-2)
    i, j = _place(n)
    made = ew.where(ew.equal(i, 0), first, astype(ew.equal(i, ew.add(j, 1)), a.dtype))
    return _leading(copy_of(made), a, "companion")


def _leading(made: Array, a: Array, where: str) -> Array:
    zero = astype(ew.equal(a[..., 0], 0), uint32)
    made._cell.op.guards = (
        guard(zero, lambda _: ValueError(f"{where}: the first coefficient must not be zero")),
    )
    return made


def fiedler_companion(a: Any) -> Array:
    """A companion matrix with five diagonals (Fiedler 2003). Errors as companion."""
    a = _floating(_lines(a, "fiedler_companion"))
    n = a.shape[-1] - 1
    if n < 2:
        if n < 1:
            return zeros((0,), dtype=a.dtype)
        return companion(a)
    a0 = a
    a = ew.negative(ew.divide(a, a[..., :1]))
    i, j = _place(n)
    even, here = ew.equal(ew.bitwise_and(i, 1), 0), ew.subtract(j, i)
    # rows i = 0, 2, ..: -a[i + 2] in column i + 1, 1 in column i + 2; rows i = 2, 4, ..: -a[i + 1] in column i - 1
    up = ew.logical_and(even, ew.equal(here, 1))
    down = ew.logical_and(even, ew.equal(here, -1))
    one = ew.logical_and(even, ew.equal(here, 2))
    below = ew.logical_and(ew.logical_and(ew.logical_not(even), ew.equal(here, -2)), ew.greater(i, 1))
    one = ew.logical_or(ew.logical_or(one, below), ew.logical_and(ew.equal(i, 1), ew.equal(j, 0)))
    at = [expand_dims(take(a, ew.minimum(ew.add(positions(n), k), n), axis=-1), axis=-1) for k in (1, 2)]
    made = ew.where(ew.logical_or(down, ew.logical_and(ew.equal(i, 0), ew.equal(j, 0))), at[0], 0)
    made = ew.where(one, 1, ew.where(up, at[1], made))
    return _leading(copy_of(astype(made, a.dtype, copy=False)), a0, "fiedler_companion")


def leslie(f: Any, s: Any) -> Array:
    """f in the first row, s on the first subdiagonal, zeros elsewhere. Of the last axis of stacks."""
    f, s = _lines(f, "leslie"), _lines(s, "leslie")
    if f.shape[-1] != s.shape[-1] + 1 or not s.shape[-1]:
        raise ValueError(
            f"leslie: s must have one element fewer than f and at least one, shapes are {f.shape} and {s.shape}"
        )
    want = promote(f.dtype, s.dtype, where="leslie")
    i, j = _place(f.shape[-1])
    rows = expand_dims(pad(s, [(0, 0)] * (s.ndim - 1) + [(1, 0)]), axis=-1)
    made = ew.where(ew.equal(i, 0), expand_dims(f, axis=-2), ew.where(ew.equal(i, ew.add(j, 1)), rows, 0))
    return astype(made, want, copy=False)


def fiedler(a: Any) -> Array:
    """|a[i] - a[j]|. Of the last axis of stacks."""
    a = _lines(a, "fiedler")
    if not a.size:
        return zeros((0,), dtype=float32)
    return ew.abs(ew.subtract(expand_dims(a, axis=-1), expand_dims(a, axis=-2)))


def khatri_rao(a: Any, b: Any) -> Array:
    """The Kronecker product column by column: (.., m, n) and (.., k, n) give (.., m * k, n)."""
    x, y = prepare(a, "khatri_rao"), prepare(b, "khatri_rao")
    if x.ndim < 2 or y.ndim < 2 or x.shape[-1] != y.shape[-1]:
        raise ValueError(f"khatri_rao: takes matrices with as many columns, not {x.shape} and {y.shape}")
    lead = broadcast_shapes(x.shape[:-2], y.shape[:-2], where="khatri_rao")
    shape = addressable((*lead, x.shape[-2] * y.shape[-2], x.shape[-1]), "khatri_rao")
    return reshape(ew.multiply(expand_dims(x, axis=-2), expand_dims(y, axis=-3)), shape)


def block_diag(*arrs: Any) -> Array:
    """Matrices (.., m, n) along a diagonal, zeros elsewhere; a vector is a row, a number a 1 x 1 matrix. Leading axes
    broadcast. The dtype is that of all together."""
    blocks = [_lines(x, "block_diag") for x in arrs] or [zeros((1, 0), dtype=float32)]
    blocks = [expand_dims(x, axis=0) if x.ndim == 1 else x for x in blocks]
    want = blocks[0].dtype
    for x in blocks[1:]:
        want = promote(want, x.dtype, where="block_diag")
    lead = broadcast_shapes(*[x.shape[:-2] for x in blocks], where="block_diag")
    columns, done, rows = sum(x.shape[-1] for x in blocks), 0, []
    for x in blocks:
        wide = broadcast_to(astype(x, want, copy=False), (*lead, *x.shape[-2:]))
        rest = columns - done - x.shape[-1]
        sides = [(*lead, x.shape[-2], k) for k in (done, rest)]
        before, after = (zeros(side, dtype=want) for side in sides)
        rows.append(concat([before, wide, after], axis=-1))
        done += x.shape[-1]
    return concat(rows, axis=-2)


def hadamard(n: int, dtype: Any = int) -> Array:
    """Sylvester's Hadamard matrix: +-1, orthogonal rows. ValueError unless n is a power of two."""
    n = as_index(n)
    if n < 1 or n & (n - 1):
        raise ValueError(f"hadamard: n must be a power of two, not {n}")
    i, j = _place(n)
    odd = ew.bitwise_and(astype(ew.bitwise_count(ew.bitwise_and(i, j)), int32), 1)
    return astype(ew.subtract(1, ew.multiply(odd, 2)), as_dtype(dtype))


def hilbert(n: int) -> Array:
    """1 / (1 + i + j), float32."""
    i, j = _place(_size(n, "hilbert"))
    return ew.divide(1.0, astype(ew.add(ew.add(i, j), 1), float32))


def _table(rows: list[list[int]], exact: bool, where: str) -> Array:
    """Integers worked out on the host, as int32 where exact, else rounded once to float32."""
    if not rows:
        return zeros((0, 0), dtype=int32 if exact else float32)
    most = max(abs(v) for row in rows for v in row)
    if exact and most >= 2**31:
        raise ValueError(f"{where}: {most:,} is no int32; exact=False gives float32")
    return (
        array(rows, dtype=int32)
        if exact
        else asarray([[float(v) for v in row] for row in rows], dtype=float32)
    )


def invhilbert(n: int, exact: bool = False) -> Array:
    """The inverse of hilbert(n), each element rounded once; exact=True: int32, ValueError where that is too narrow."""
    n = _size(n, "invhilbert")
    choose = math.comb

    def element(i: int, j: int) -> int:
        both: int = choose(n + i, n - j - 1) * choose(n + j, n - i - 1) * choose(i + j, i) ** 2
        return both * (i + j + 1) * (-1 if i + j & 1 else 1)

    rows = [[element(i, j) for j in range(n)] for i in range(n)]
    return _table(rows, exact, "invhilbert")


def _pascal(n: int, kind: str, where: str) -> list[list[int]]:
    if kind not in ("symmetric", "lower", "upper"):
        raise ValueError(f"{where}: kind is 'symmetric', 'lower' or 'upper', not {kind!r}")
    if kind == "symmetric":
        return [[math.comb(i + j, i) for j in range(n)] for i in range(n)]
    low = [[math.comb(i, j) for j in range(n)] for i in range(n)]
    return low if kind == "lower" else [list(row) for row in zip(*low, strict=True)]


def pascal(n: int, kind: str = "symmetric", exact: bool = True) -> Array:
    """Pascal's triangle: binomial(i + j, i), or binomial(i, j) for kind="lower", or the transpose of it for "upper".

    int32 (ValueError where that is too narrow), or float32 for exact=False."""
    return _table(_pascal(_size(n, "pascal"), kind, "pascal"), exact, "pascal")


def invpascal(n: int, kind: str = "symmetric", exact: bool = True) -> Array:
    """The inverse of pascal(n, kind). Dtypes and errors as there."""
    n = _size(n, "invpascal")
    table = _pascal(n, "lower" if kind == "symmetric" else kind, "invpascal")
    rows = [[(-1) ** (i + j) * v for j, v in enumerate(row)] for i, row in enumerate(table)]
    if kind == "symmetric":
        rows = [[sum(rows[k][i] * rows[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
    return _table(rows, exact, "invpascal")


def helmert(n: int, full: bool = False) -> Array:
    """Rows of norm 1, orthogonal to each other and to (1, 1, ..): (n - 1, n); full=True: with that row first."""
    n = _size(n, "helmert")
    i, j = _place(n)
    by = [1 / math.sqrt(n)] + [1 / math.sqrt(k * (k + 1)) for k in range(1, n)] if n else []
    minus = [0.0] + [-k / math.sqrt(k * (k + 1)) for k in range(1, n)] if n else []
    scale, own = (expand_dims(asarray(v, dtype=float32), axis=1) for v in (by, minus))
    inside = ew.logical_or(ew.less(j, i), ew.equal(i, 0))
    made = ew.where(inside, scale, ew.where(ew.equal(i, j), own, 0))
    return made if full else made[1:]


def dft(n: int, scale: str | None = None) -> Array:
    """The matrix of the discrete Fourier transform: exp(-2 pi i j k / n), complex64; scale="sqrtn" divides by
    sqrt(n) (so that it is unitary), "n" by n. ValueError for another scale."""
    n = as_index(n)
    if scale not in (None, "sqrtn", "n"):
        raise ValueError(f"dft: scale is None, 'sqrtn' or 'n', not {scale!r}")
    if n <= 0:
        return zeros((0, 0), dtype=complex64)
    by = {None: 1.0, "sqrtn": 1 / math.sqrt(n), "n": 1 / n}[scale]
    if n >= 1 << 16:
        raise ValueError(f"dft: {n} is too large")
    roots = [by * _root(k, n) for k in range(n)]
    i, j = (astype(x, uint32) for x in _place(n))
    return take(array(roots, dtype=complex64), astype(ew.remainder(ew.multiply(i, j), n), int32))


def _root(k: int, n: int) -> complex:
    """exp(-2 pi i k / n), exact on the axes."""
    quarter, left = divmod(4 * k, n)
    return cmath.exp(-0.5j * math.pi * left / n) * (1, -1j, -1, 1j)[quarter]
