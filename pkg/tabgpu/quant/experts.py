"""Products with banks of quantised matrices, one of which each slot names by its id (mixture of experts)."""

from __future__ import annotations

from typing import Any

from .. import engine
from ..array import Array
from ..dtypes import float32, int32
from ..ops import products
from ..ops.creation import arange, astype, zeros
from ..ops.elementwise import add, clip, floor_divide, less, multiply, subtract
from ..ops.manipulation import broadcast_to, expand_dims, matrix_transpose, reshape
from ..ops.routine import routine, stored
from ..ops.scans import cumsum
from ..ops.searching import searchsorted, where
from ..ops.sorting import argsort
from ..ops.taking import put, take
from .products import _as, _decodable, _on_cpu, indices
from .tensor import _FLOATS, QTensor, as_floats, check_weights


def moe_matvec(W: QTensor, x: Any, ids: Any, dtype: Any = None) -> Array:
    """y[s, n] = W[ids[s], n, k] @ x[s, k]: each slot's vector by the expert that its id names.

    W: a bank (E, n, k); x: (S, k), or (k,) for all slots; ids: (S,) integers, negative ones count from the end.
    IndexError for an id out of range: at the call for host values, at the read for arrays on the GPU. float32.
    """
    x, ids, guard = _operands("moe_matvec", W, x, ids)
    _, n, k = W._shape
    slots = ids.size
    if not slots or not n or not k:
        return zeros((slots, n), dtype=dtype or float32)
    if not _decodable(W) or W._turned:
        some = take(W.dequantize(W._data.dtype if W._form.name in _FLOATS else None), ids, axis=0)
        x3 = expand_dims(astype(x, float32, copy=False), axis=1)
        made = products.matmul(x3, matrix_transpose(astype(some, float32, copy=False)))
        return _as(reshape(made, (slots, W.shape[1])), dtype)
    args = [W.words(), stored(astype(x, float32, copy=False)), stored(ids)]
    job = (W._form.name, W._first, W._shape[0], n, k, slots)
    made = routine("quant.bank", args, (slots, n), float32, job, slots * n * k >> 4)
    made._cell.op.guards = guard
    return _as(made, dtype)


def _operands(where: str, W: QTensor, x: Any, ids: Any) -> tuple[Array, Array, tuple[Any, ...]]:
    check_weights(W, where)
    x = as_floats(x, where)
    if W.ndim != 3 or not x.ndim or x.shape[-1] != W.shape[2]:
        raise ValueError(f"{where}: bank {W.shape} and x {x.shape}: needs (experts, n, k) and (slots, k)")
    ids, guard = indices(ids, W.shape[0], where)
    if ids.ndim != 1 or x.ndim > 2 or (x.ndim == 2 and x.shape[0] != ids.size):
        raise ValueError(f"{where}: x {x.shape} and ids {ids.shape}: needs (slots, k) and (slots,)")
    if x.ndim == 1:
        x = broadcast_to(x, (ids.size, x.size))
    return x, ids, guard


MANY = 8  # slots for each expert from which on tiles of the matrices are shared


def moe_matmul(W: QTensor, x: Any, ids: Any, dtype: Any = None) -> Array:
    """moe_matvec for many slots: those of one expert share the tiles of its matrix.

    The slots are sorted by their ids on the GPU, each expert's padded to whole tiles; nothing is read. Few slots for an
    expert, and CPU adapters, take moe_matvec. Arguments, errors and result are the same.
    """
    x, ids, guard = _operands("moe_matmul", W, x, ids)
    bank, n, k = W._shape
    slots = ids.size
    limit = engine.device().binding_limit
    rows = 64 if slots >= 64 * bank else 32 if slots >= 32 * bank else 16
    tiles = slots // rows + min(bank, slots)
    most = max(W._data.nbytes, tiles * rows * max(n, k) * 4)
    small = not n or not k or slots < max(32, MANY * bank)
    if small or most + 16 > limit or bank * n * k >= 1 << 32 or not _decodable(W) or W._turned or _on_cpu():
        return moe_matvec(W, x, ids, dtype)
    ids = astype(ids, int32)
    ids = clip(where(less(ids, 0), add(ids, bank), ids), 0, bank - 1)
    order = argsort(ids, stable=True)
    ordered = take(ids, order, mode="clip")
    experts = arange(bank)
    starts = astype(searchsorted(ordered, experts), int32)
    counts = subtract(astype(searchsorted(ordered, experts, side="right"), int32), starts)
    mine = floor_divide(add(counts, rows - 1), rows)  # tiles of each expert
    ends = cumsum(mine)
    shift = subtract(multiply(subtract(ends, mine), rows), starts)
    places = add(
        take(shift, ordered, mode="clip"), arange(slots)
    )  # of the sorted slots among the rows of all tiles
    source = zeros((tiles * rows,), dtype=int32)
    put(source, places, order, mode="clip")
    back = zeros((slots,), dtype=int32)
    put(back, order, places, mode="clip")
    of_tile = clip(astype(searchsorted(ends, arange(tiles), side="right"), int32), 0, bank - 1)
    xs = take(astype(x, float32, copy=False), source, axis=0, mode="clip")
    args = [stored(xs), W.words(), stored(of_tile)]
    job = (W._form.name, W._first, n, k, rows, tiles)
    made = routine("quant.experts", args, (tiles * rows, n), float32, job, tiles * rows * n * k >> 10)
    made = take(made, back, axis=0, mode="clip")
    made._cell.op.guards = guard
    return _as(made, dtype)
