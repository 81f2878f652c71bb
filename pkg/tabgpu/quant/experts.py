"""Products with banks of quantised matrices, one of which each slot names by its id (mixture of experts)."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..dtypes import float32
from ..ops import products
from ..ops.creation import astype, zeros
from ..ops.manipulation import expand_dims, matrix_transpose, reshape
from ..ops.routine import routine, stored
from .products import _as, _decodable, indices
from .tensor import _FLOATS, QTensor, as_floats


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
        from ..ops.taking import take

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
    x = as_floats(x, where)
    if W.ndim != 3 or not x.ndim or x.shape[-1] != W.shape[2]:
        raise ValueError(f"{where}: bank {W.shape} and x {x.shape}: needs (experts, n, k) and (slots, k)")
    ids, guard = indices(ids, W.shape[0], where)
    if ids.ndim != 1 or x.ndim > 2 or (x.ndim == 2 and x.shape[0] != ids.size):
        raise ValueError(f"{where}: x {x.shape} and ids {ids.shape}: needs (slots, k) and (slots,)")
    if x.ndim == 1:
        from ..ops.manipulation import broadcast_to

        x = broadcast_to(x, (ids.size, x.size))
    return x, ids, guard


def moe_matmul(W: QTensor, x: Any, ids: Any, dtype: Any = None) -> Array:
    return moe_matvec(W, x, ids, dtype)
