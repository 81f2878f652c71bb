"""How often each small integer occurs: zeros by fill.wgsl, then one launch of count.wgsl."""

from __future__ import annotations

from .. import kernels
from ..graph import Op
from ..launch import Launch
from ..region import Facts, kernel_for
from . import kernel, launch

ROUNDS = 4  # times four numbers a thread
MOST = 2048  # bins in workgroup memory


def lower(op: Op, facts: Facts) -> list[Launch]:
    """args: int32 or uint32 numbers, those outside [0, op.size) are left out. Result: int32 (bins,)."""
    (source,) = op.args
    wg = facts.workgroup
    zeros = launch(kernel("fill_words", "w", WG=wg), (), (op,), -(-op.size // (4 * wg)), [op.size, 0], facts)
    shared = op.size <= MOST and not facts.software
    key = ("count", wg, shared)
    made = kernel_for(key, _text, "count_shared" if shared else "count", wg)
    groups = -(-source.size // (4 * wg * ROUNDS))
    return [zeros, launch(made, (source,), (op,), groups, [source.size, op.size, 0, 0], facts)]


def _text(key: tuple[str, int, bool]) -> tuple[str, str]:
    name, wg, shared = key
    text = kernels.specialise(name, WG=wg, ROUNDS=ROUNDS, MOST=MOST)
    if not shared:
        text = kernels.replace_block(text, "shared", "")
        text = kernels.replace_block(text, "call", "  add(base, l);\n")
    return text, "rw"
