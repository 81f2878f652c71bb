"""Products with quantised weights: a vector by its own kernel, matrices by the product kernels, whose tiles decode."""

from __future__ import annotations

from math import prod
from typing import Any

from .. import engine
from ..array import Array, fresh
from ..dtypes import as_dtype, float32
from ..graph import MATMUL, Op
from ..layout import Layout
from ..ops import elementwise as ew
from ..ops import products
from ..ops.convert import from_host
from ..ops.creation import astype, zeros
from ..ops.guards import index_guard
from ..ops.joining import concat
from ..ops.manipulation import matrix_transpose, reshape
from ..ops.routine import routine, stored
from .tensor import _FLOATS, QTensor, as_floats, check_weights

FEW = 8  # rows of x up to which the kernels for vectors are taken


def matvec(W: QTensor, x: Any, dtype: Any = None) -> Array:
    """y[n] = W[n, k] @ x[k], decoded while it is multiplied: the bytes of W are read once.

    x: real numbers; sums and result are float32, whatever x is (dtype: another one for the result).
    """
    check_weights(W, "matvec")
    x = as_floats(x, "matvec")
    if W.ndim != 2 or x.shape != (W.shape[-1],):
        raise ValueError(f"matvec: weights {W.shape} and a vector {x.shape}: needs (n, k) and (k,)")
    if W._turned or not _decodable(W):
        return reshape(matmul(reshape(x, (1, x.size)), W, dtype), (W.shape[0],))
    n, k = W._shape
    if not n or not k:
        return zeros((n,), dtype=dtype or float32)
    args = [W.words(), stored(astype(x, float32, copy=False))]
    job = (W._form.name, W._first, 1, n, k, 1)
    return _as(routine("quant.matvec", args, (n,), float32, job, n * k >> 4), dtype)


def matmul(x: Any, W: QTensor, dtype: Any = None) -> Array:
    """y[.., n] = x[.., k] @ W[n, k].T: prefill, each tile of W decoded once for many rows of x.

    float16 and bfloat16 x are read as they are; sums and result are float32 (dtype: another one). What follows
    elementwise (a bias, an activation, a residual) joins the launch. `matmul(x, W.T)` is x @ W. On CPU adapters W is
    decoded first, by a launch of its own.
    """
    check_weights(W, "matmul")
    x = as_floats(x, "matmul")
    if W.ndim != 2 or not x.ndim or x.shape[-1] != W.shape[1]:
        raise ValueError(f"matmul: {x.shape} and quantised weights {W.shape}: needs (.., k) and (n, k)")
    n, k = W.shape
    m = prod(x.shape[:-1])
    shape = (*x.shape[:-1], n)
    if not m or not n or not k:
        return zeros(shape, dtype=dtype or float32)
    plain = W._form.name in _FLOATS
    if plain or (m > FEW and _on_cpu()):
        right = matrix_transpose(W.dequantize(W._data.dtype if plain else None))
        made = products._product(x if x.ndim > 1 else reshape(x, (1, k)), right, float32)
        return _as(made if x.ndim > 1 else reshape(made, shape), dtype)
    binding = engine.device().binding_limit
    if max(W._data.nbytes, m * max(n, k) * 4) + 16 > binding:
        return _as(reshape(_in_parts(reshape(x, (m, k)), W, binding), shape), dtype)
    a, a_view = products._operand(reshape(x, (m, k)), (m, k))
    row, column = (1, n) if W._turned else (k, 1)  # strides along n and k, in weights
    view = Layout((k, n), (column, row), W._first)
    op = Op(MATMUL, f"quant.{W._form.name}", (a, W.words()), (a_view, view), shape, float32, ((), m, n, k))
    made = fresh(op)
    engine.weigh(m * n * k >> 10)
    return _as(made, dtype)


def _on_cpu() -> bool:
    """Whether tiles are no use: threads of CPU adapters share nothing, and would decode the same again and again."""
    gpu = engine.device()
    return bool(gpu.software if gpu.facts is None else gpu.facts.software)


def _in_parts(x: Array, W: QTensor, binding: int) -> Array:
    """The product where an operand is larger than a binding: some rows of W at a time, decoded into memory."""
    if W._turned:
        return products.matmul(astype(x, float32, copy=False), matrix_transpose(W.dequantize()))
    n, k = W._shape
    step = max(1, min(n, (binding - 512) // (4 * k)))
    x = astype(x, float32, copy=False)
    parts = [products.matmul(x, matrix_transpose(W[at : at + step].dequantize())) for at in range(0, n, step)]
    return parts[0] if len(parts) == 1 else concat(parts, axis=1)


def linear(x: Any, W: QTensor | Array, bias: Any = None, dtype: Any = None) -> Array:
    """x @ W.T + bias, as torch's linear: W of shape (n, k), quantised or an Array; x of shape (.., k).

    16-bit weights are read as they are. The result is float32, of plain weights x's dtype (dtype: another one).
    """
    if isinstance(W, Array):
        x = as_floats(x, "linear")
        if W.ndim == 2 and x.ndim > 1 and x.shape[-1] == W.shape[1] and W.dtype.kind == "f":
            made = _as(
                products._product(x, matrix_transpose(W), float32), dtype or x.dtype
            )  # halves as they are
        else:
            made = _as(products.matmul(x, matrix_transpose(W)), dtype)
    else:
        x = as_floats(x, "linear")
        if prod(x.shape[:-1]) == 1 and W.ndim == 2 and x.shape[-1] == W.shape[1]:
            made = reshape(matvec(W, reshape(x, (x.size,)), dtype), (*x.shape[:-1], W.shape[0]))
        else:
            made = matmul(x, W, dtype)
    if bias is None:
        return made
    if isinstance(bias, QTensor):
        bias = bias.dequantize()
    return ew.add(made, bias)


def take_rows(W: QTensor, ids: Any, dtype: Any = None) -> Array:
    """Decoded rows of a table W[n, k]: shape ids.shape + (k,), as an embedding looks them up.

    ids: integers; negative ones count from the end. IndexError for ids out of range: at the call for host values, at
    the read for arrays on the GPU.
    """
    check_weights(W, "take_rows")
    if W.ndim != 2 or W._turned:
        raise ValueError(f"take_rows: needs a table (n, k) as it lies, not {W!r}")
    ids, guard = indices(ids, W.shape[0], "take_rows")
    n, k = W._shape
    if not ids.size or not k:
        return zeros((*ids.shape, k), dtype=dtype or float32)
    if not _decodable(W):
        from ..ops.taking import take

        return _as(take(W.dequantize(W._data.dtype), ids, axis=0), dtype or float32)
    job = (W._form.name, W._first, n, k)
    made = routine("quant.rows", [W.words(), stored(ids)], (ids.size, k), float32, job)
    made._cell.op.guards = guard
    return _as(reshape(made, (*ids.shape, k)), dtype)


def indices(ids: Any, n: int, where: str) -> tuple[Array, tuple[Any, ...]]:
    """(ids as 32-bit integers, the guards of what is computed from them)."""
    on_host = not isinstance(ids, Array)
    if on_host:
        ids = _checked(ids, n, where)
    if ids.dtype.kind not in "iu":
        raise TypeError(f"{where}: ids are integers, not {ids.dtype.name}")
    wide = astype(ids, "int32" if ids.dtype.kind == "i" else "uint32", copy=False)
    if not n and ids.size:
        raise IndexError(f"{where}: there is nothing to take from")
    return wide, () if on_host or not ids.size else (index_guard(wide, n, 0),)


def _checked(ids: Any, n: int, where: str) -> Array:
    import numpy as np

    held = np.asarray(ids)
    if held.dtype.kind not in "iu" and held.size:
        raise TypeError(f"{where}: ids are integers, not {held.dtype}")
    held = held.astype(np.int64)
    wrong = held[(held < -n) | (held >= n)]
    if wrong.size:
        raise IndexError(f"{where}: index {int(wrong[0])} is out of bounds for axis 0 with size {n}")
    return from_host(held.astype(np.int32), where)


def _decodable(W: QTensor) -> bool:
    """Whether the kernels of quant can read W: its rows are whole units of 16 weights."""
    return not W._shape[-1] % 16 and not W._first % W._form.block


def _as(made: Array, dtype: Any) -> Array:
    return made if dtype is None else astype(made, as_dtype(dtype), copy=False)


__all__ = ["indices", "linear", "matmul", "matvec", "take_rows"]
