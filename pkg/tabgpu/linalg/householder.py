"""QR factorisations by Householder reflections (routines/qr.py); column-pivoted ones are in pivoted.py."""

from __future__ import annotations

from math import nan
from typing import Any, NamedTuple

from ..array import Array
from ..ops import elementwise as ew
from ..ops.creation import copy_of, eye, zeros
from ..ops.manipulation import broadcast_to, getitem, reshape
from ..ops.routine import routine, stored
from ..ops.triangles import triu
from .stacks import finite, flat, in_pieces, matrices, scales

MODES = {
    "reduced": "reduced", "economic": "reduced", "complete": "complete", "full": "complete", "r": "r", "raw": "raw",
}  # fmt: skip


class QRResult(NamedTuple):
    """What qr returns: Q has orthonormal columns, R is upper triangular."""

    Q: Array
    R: Array


class PivotedQRResult(NamedTuple):
    """What qr with pivoting returns: a[..., P] is Q @ R."""

    Q: Array
    R: Array
    P: Array


class RawQRResult(NamedTuple):
    """What qr in mode "raw" returns, as LAPACK's geqrf leaves it, h transposed."""

    h: Array
    tau: Array


def factors(x: Array, more: int) -> tuple[Array, Array]:
    """(Q with `more` columns, R with as many rows as x) of (.., m, n), no size 0. NaN where an element is not
    finite."""
    m, n = x.shape[-2:]
    lead = x.shape[:-2]
    down, up = scales(x, -2)
    fit = finite(x)
    work = flat(ew.multiply(x, down))
    steps = -(-min(m, n) // 16)
    each = max((m + 256) * (min(m, n) + 16) * 2, m * (n + more)) * x.dtype.itemsize

    def run(part: Array) -> Array:
        count = part.shape[0]
        extra = (count, m, n, more)
        return routine(
            "qr", [stored(part)], (count, m, n + more), x.dtype, extra, part.size * (2 * steps + 2)
        )

    state = in_pieces(work, each, run)
    state = reshape(state, (*lead, m, n + more))
    r = ew.multiply(triu(getitem(state, (..., slice(None, n)))), up)
    q = getitem(state, (..., slice(n, None)))
    return ew.where(fit, q, nan), ew.where(fit, r, nan)


def qr(a: Any, /, mode: str = "reduced", *, pivoting: bool = False) -> Any:
    """Q @ R of matrices (.., m, n): Q (.., m, k) with orthonormal columns, R (.., k, n) upper triangular.

    mode: "reduced" (k = min(m, n); "economic" too), "complete" (k = m; "full" too), "r" (R alone, k = min(m, n)),
    "raw" ((h (.., n, m), tau) of LAPACK). pivoting: columns are taken greatest remainder first, and the result has a
    third part P (.., n), int32, with a[:, P] = Q @ R, as SciPy. By Householder reflections; the signs of R's
    diagonal are as they come. A matrix with an element that is not finite gives NaN, as NumPy.
    """
    x = matrices(a, "qr")
    how = MODES.get(mode) if isinstance(mode, str) else None
    if how is None:
        raise ValueError(f"qr: mode is 'reduced', 'complete', 'r' or 'raw', not {mode!r}")
    if how == "raw" and pivoting:
        raise ValueError("qr: mode 'raw' goes without pivoting")
    if how == "raw":
        from .pivoted import raw

        return RawQRResult(*raw(x))
    if pivoting:
        from .pivoted import order_of_columns, permuted

        order = order_of_columns(x)
        parts = _qr(permuted(x, order), how)
        return (parts, order) if how == "r" else PivotedQRResult(parts.Q, parts.R, order)
    return _qr(x, how)


def _qr(x: Array, how: str) -> Any:
    m, n = x.shape[-2:]
    lead = x.shape[:-2]
    k = m if how == "complete" else min(m, n)
    if not x.size:
        r = zeros((*lead, k, n), dtype=x.dtype)
        if how == "r":
            return r
        return QRResult(copy_of(broadcast_to(eye(m, k, dtype=x.dtype), (*lead, m, k))), r)
    q, r = factors(x, 0 if how == "r" else k)
    r = getitem(r, (..., slice(None, k), slice(None)))
    return r if how == "r" else QRResult(q, r)


__all__ = ["qr"]
