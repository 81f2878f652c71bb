"""Recursive filters of more states than the kernel has: blocks of samples as products with matrices of the host."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..ops import elementwise as ew
from ..ops.along import back, last
from ..ops.creation import asarray, zeros
from ..ops.joining import concat
from ..ops.manipulation import reshape
from ..ops.products import matmul


def blocks(b: Any, a: Any, x: Array, axis: int, state: Array | None) -> tuple[Array, Array]:
    """(y, zf) in x's dtype. A block of as many samples as there are states is U = T x + the first ones' answer to the
    states before it; states before each block are a scan by doubling: log2(blocks) products."""
    import numpy as np

    order = max(a.size, b.size) - 1
    b, a = (np.concatenate([c, np.zeros(order + 1 - c.size)]) for c in (b, a))
    rows = last(x, axis)
    n, lead = rows.shape[-1], rows.shape[:-1]
    size = order
    many = -(-n // size)
    # What `size` samples and the states before do: answers y = T x + C s, states s' = B x + A s, all in float64.
    answer = np.zeros(size + 1)
    s = b[1:] - a[1:] * b[0]
    answer[0] = b[0]
    inputs = np.empty((size, order))  # states after the block of a 1 at each sample
    for k in range(size):
        inputs[size - 1 - k] = s
        answer[k + 1] = s[0]
        s = np.append(s[1:], 0.0) - a[1:] * s[0]
    outputs, moves = np.empty((size, order)), np.eye(order)
    for k in range(size):
        outputs[k] = moves[0]
        moves = np.vstack([moves[1:], np.zeros(order)]) - np.outer(a[1:], moves[0])
    rest = np.subtract.outer(np.arange(size), np.arange(size))
    toeplitz = np.where(rest >= 0, answer[np.maximum(rest, 0)], 0.0)
    pad = many * size - n
    wide = rows if not pad else concat([rows, zeros((*lead, pad), dtype=x.dtype)], axis=-1)
    cells = reshape(wide, (*lead, many, size))
    left = matmul(cells, asarray(inputs))  # (.., many, order)
    begin = zeros((*lead, 1, order), dtype=x.dtype) if state is None else last(state, axis)[..., None, :]
    left = concat([begin, left], axis=-2)
    step, power = 1, moves
    while step <= many:
        moved = matmul(left[..., :-step, :], asarray(power.T))
        left = concat([left[..., :step, :], ew.add(left[..., step:, :], moved)], axis=-2)
        step, power = 2 * step, power @ power
    before = left[..., :many, :]
    y = ew.add(matmul(cells, asarray(toeplitz.T)), matmul(before, asarray(outputs.T)))
    y = reshape(y, (*lead, many * size))[..., :n]
    zf = left[..., many, :]
    if pad and state is not None:  # the states after sample n, from those before the last block
        some = size - pad
        held, driven = np.eye(order), np.zeros((some, order))
        for _ in range(some):
            held = np.vstack([held[1:], np.zeros(order)]) - np.outer(a[1:], held[0])
        driven[:] = inputs[pad:]
        tail = cells[..., many - 1, :some]
        zf = ew.add(matmul(tail, asarray(driven)), matmul(left[..., many - 1, :], asarray(held.T)))
    return back(y, axis), back(zf, axis)
