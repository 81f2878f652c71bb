"""quantize: float values into blocks, on the GPU."""

from __future__ import annotations

from math import prod
from typing import Any

from ..array import Array
from ..dtypes import float32, uint8
from ..graph import IOTA, SCALAR
from ..ops.creation import astype, copy_of, zeros
from ..ops.manipulation import reshape
from ..ops.routine import routine, stored, whole
from .tensor import _FLOATS, QTensor, as_floats, check_shape, format_named


def quantize(x: Any, format: Any) -> QTensor:
    """Finite values as quantised weights of the same shape, computed on the GPU.

    Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, F16 and BF16 are byte for byte what the gguf package writes. For Q2_K .. Q6_K each
    part's scale is searched by least squares; docs/numerics.md says how far from x they are. ValueError where rows are
    not whole blocks (Q2_K .. Q6_K: multiples of 256).
    """
    form = format_named(format, "quantize")
    x = as_floats(x, "quantize")
    shape = check_shape(x.shape, form, "quantize")
    if form.name in _FLOATS:
        made = astype(x, _FLOATS[form.name], copy=False)
        made = reshape(made if _plain(made) else copy_of(made), (prod(shape),))
        return QTensor(made, form, shape)
    blocks = prod(shape) // form.block
    if not blocks:
        return QTensor(zeros((0,), dtype=uint8), form, shape)
    args = [stored(astype(x, float32, copy=False))]
    job = (form.name, blocks)
    return QTensor(
        routine("quant.encode", args, (blocks * form.nbytes,), uint8, job, 32 * prod(shape)), form, shape
    )


def _plain(x: Array) -> bool:
    op = x._cell.op
    return whole(x) and not (op.kind in (SCALAR, IOTA) and op.buffer is None)
