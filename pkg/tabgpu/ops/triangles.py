"""Diagonals and triangles: tril, triu, tri, diag and its kin, fill_diagonal, trace, vander. Diagonals are views."""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from .. import layout as lo
from ..array import Array, view
from ..dtypes import as_dtype, bool_, float32, int32, uint32
from . import elementwise as ew
from . import reductions
from .compaction import positions_bounded
from .creation import astype, copy_of, positions, zeros
from .manipulation import addressable, broadcast_to, expand_dims, ravel, reshape
from .padding import pad
from .rearranging import prepare, resize


def below(rows: int, columns: int, k: int) -> Array:
    """bool (rows, columns): True on and below the k-th diagonal. It takes no memory until something stores it."""
    down = expand_dims(positions(rows), axis=1)
    return ew.greater_equal(ew.add(down, as_index(k)), positions(columns))


def _triangle(x: Any, k: int, upper: bool, where: str) -> Array:
    x = prepare(x, where)
    if x.ndim < 1:
        raise ValueError(f"{where}: needs at least 1 axis, shape is {x.shape}")
    if x.ndim == 1:  # NumPy: every row of a square matrix
        x = broadcast_to(x, (x.shape[0], x.shape[0]))
    keep = below(x.shape[-2], x.shape[-1], as_index(k) - 1 if upper else k)
    zero = False if x.dtype is bool_ else 0
    return ew.where(keep, zero, x) if upper else ew.where(keep, x, zero)


def tril(x: Any, /, k: int = 0) -> Array:
    """x with zeros above the k-th diagonal of its last two axes."""
    return _triangle(x, k, False, "tril")


def triu(x: Any, /, k: int = 0) -> Array:
    """x with zeros below the k-th diagonal of its last two axes."""
    return _triangle(x, k, True, "triu")


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float32) -> Array:
    """Ones on and below the k-th diagonal of an (N, M) matrix, zeros above."""
    rows, columns = lo.as_shape((N, N if M is None else M), "tri")
    return astype(below(rows, columns, k), dtype, copy=False)


def diagonal(x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The offset-th diagonal of two axes as a view; it becomes the last axis."""
    x = prepare(x, "diagonal")
    if x.ndim < 2:
        raise ValueError(f"diagonal: needs at least 2 axes, shape is {x.shape}")
    a, b = lo.normalize_axis(axis1, x.ndim, "diagonal"), lo.normalize_axis(axis2, x.ndim, "diagonal")
    if a == b:
        raise ValueError(f"diagonal: axis1 and axis2 are both {axis1}")
    offset, seen = as_index(offset), x._layout
    down, right = max(-offset, 0), max(offset, 0)
    n = max(min(x.shape[a] - down, x.shape[b] - right), 0)
    rest = [k for k in range(x.ndim) if k not in (a, b)]
    start = seen.offset + (down * seen.strides[a] + right * seen.strides[b] if n else 0)
    shape = (*(x.shape[k] for k in rest), n)
    strides = (*(seen.strides[k] for k in rest), seen.strides[a] + seen.strides[b])
    return view(x, lo.Layout(shape, strides, start))


def diag(v: Any, /, k: int = 0) -> Array:
    """The k-th diagonal of a matrix as a view, or a square matrix with a 1-D array on its k-th diagonal."""
    v = prepare(v, "diag")
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError(f"diag: needs 1 or 2 axes, shape is {v.shape}")
    k = as_index(k)
    n = v.shape[0] + abs(k)
    addressable((n, n), "diag")
    if not v.size:
        return zeros((n, n), dtype=v.dtype)
    line = pad(v, (0, abs(k))) if k else v
    spread = broadcast_to(expand_dims(line, axis=1) if k > 0 else line, (n, n))
    on = ew.equal(ew.add(expand_dims(positions(n), axis=1), k), positions(n))
    return ew.where(on, spread, False if v.dtype is bool_ else 0)


def diagflat(v: Any, /, k: int = 0) -> Array:
    """A square matrix with the flattened values on its k-th diagonal."""
    return diag(ravel(prepare(v, "diagflat")), k)


def fill_diagonal(a: Array, val: Any, wrap: bool = False) -> None:
    """Assigns val to the main diagonal of a, in place: val is repeated along it, or cut. wrap: of a tall matrix, go on
    below, one row further down."""
    if not isinstance(a, Array):
        raise TypeError(f"fill_diagonal: expected a tabgpu array, got {type(a).__name__}")
    if a.ndim < 2:
        raise ValueError(f"fill_diagonal: needs at least 2 axes, shape is {a.shape}")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError(f"fill_diagonal: all axes must have one size, shape is {a.shape}")
    rows, columns = a.shape[0], a.shape[-1]
    starts = range(0, rows, columns + 1) if wrap and a.ndim == 2 and columns else (0,)
    value, done = prepare(val, "fill_diagonal"), 0
    if not a.size or not value.size:
        return
    total = sum(min(columns, rows - s) for s in starts)
    if value.size > 1:
        value = resize(ravel(value), (total,))
    for s in starts:
        n = min(columns, rows - s)
        line = view(
            a, lo.Layout((n,), (sum(a._layout.strides),), a._layout.offset + s * a._layout.strides[0])
        )
        line[...] = value[done : done + n] if value.size > 1 else reshape(value, ())  # type: ignore[index]
        done += n


def trace(
    x: Any, /, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Array:
    """The sum of the offset-th diagonal of two axes."""
    from .joining import deliver

    x = prepare(x, "trace")
    if x.ndim < 2:
        raise ValueError(f"trace: needs at least 2 axes, shape is {x.shape}")
    want = None if dtype is None else as_dtype(dtype)
    return deliver(reductions.sum(diagonal(x, offset, axis1, axis2), axis=-1, dtype=want), out, "trace")


def vander(x: Any, /, N: int | None = None, increasing: bool = False) -> Array:
    """Columns of powers of a 1-D array: x**(N-1) .. x, 1, or 1, x, .. where increasing. Narrow integers give int32."""
    x = prepare(x, "vander")
    if x.ndim != 1:
        raise ValueError(f"vander: needs 1 axis, shape is {x.shape}")
    n = x.shape[0] if N is None else as_index(N)
    if n < 0:
        raise ValueError(f"vander: N must not be negative: {n}")
    if x.dtype.kind in "biu" and x.dtype is not uint32:
        x = astype(x, int32, copy=False)
    powers = positions(n) if increasing else ew.subtract(n - 1, positions(n))
    shape = addressable((x.shape[0], n), "vander")
    if 0 in shape:
        return zeros(shape, dtype=x.dtype)
    if x.dtype.kind in "iu":
        powers = astype(powers, x.dtype, copy=False)
    return astype(ew.power(expand_dims(x, axis=1), powers), x.dtype, copy=False)


def _indices(n: int, k: int, m: int | None, upper: bool, where: str) -> tuple[Array, Array]:
    rows, columns = lo.as_shape((n, n if m is None else m), where)
    k = as_index(k)
    if upper:
        count = sum(min(max(columns - k - r, 0), columns) for r in range(rows))
        keep = ew.logical_not(below(rows, columns, k - 1))
    else:
        count = sum(min(max(r + k + 1, 0), columns) for r in range(rows))
        keep = below(rows, columns, k)
    flat = positions_bounded(keep, count, 0)
    return ew.floor_divide(flat, max(columns, 1)), ew.remainder(flat, max(columns, 1))


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """int32 rows and columns of what lies on and below the k-th diagonal of an (n, m) matrix, row by row."""
    return _indices(n, k, m, False, "tril_indices")


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """int32 rows and columns of what lies on and above the k-th diagonal of an (n, m) matrix, row by row."""
    return _indices(n, k, m, True, "triu_indices")


def tril_indices_from(arr: Array, k: int = 0) -> tuple[Array, Array]:
    """tril_indices of a matrix's shape."""
    n, m = _matrix(arr, "tril_indices_from")
    return tril_indices(n, k, m)


def triu_indices_from(arr: Array, k: int = 0) -> tuple[Array, Array]:
    """triu_indices of a matrix's shape."""
    n, m = _matrix(arr, "triu_indices_from")
    return triu_indices(n, k, m)


def _matrix(arr: Array, where: str) -> tuple[int, int]:
    if arr.ndim != 2:
        raise ValueError(f"{where}: needs 2 axes, shape is {arr.shape}")
    return arr.shape[0], arr.shape[1]


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The indices of the main diagonal of an array of ndim axes of size n: 0 .. n-1, ndim times."""
    return (copy_of(positions(n)),) * ndim


def diag_indices_from(arr: Array) -> tuple[Array, ...]:
    """diag_indices of an array whose axes all have one size."""
    if arr.ndim < 2:
        raise ValueError(f"diag_indices_from: needs at least 2 axes, shape is {arr.shape}")
    if len(set(arr.shape)) > 1:
        raise ValueError(f"diag_indices_from: all axes must have one size, shape is {arr.shape}")
    return diag_indices(arr.shape[0], arr.ndim)
