"""float32 values -> blocks of a quantised format: one launch, or one for each window where they are wide."""

from __future__ import annotations

from ..formats import FORMATS
from ..graph import Op, nbytes_of
from ..kernels import quant_forms
from ..launch import Launch
from ..lower_wide import window
from ..region import U32, Facts, grid, kernel_for
from . import launch

TOGETHER = 2  # blocks that always fill whole words


def encode(op: Op, facts: Facts) -> list[Launch]:
    """op.fn is "quant.encode"; op.extra: (format, blocks); args: the values. The result is bytes."""
    name, blocks = op.extra
    f = FORMATS[name]
    wg = min(64, facts.workgroup)
    key = ("quant_encode", name, wg)
    kernel = kernel_for(key, lambda _: quant_forms.encode(name, wg), f"quant_encode_{name}", 0)
    each = quant_forms.encoded_together(name)
    if max(nbytes_of(op), nbytes_of(op.args[0])) + 16 <= facts.binding:
        return [launch(kernel, op.args, (op,), -(-blocks // (wg * each)), [0, blocks, 0, 0], facts)]
    made = []
    step = max(1, (facts.binding - 512) // (4 * f.block) // TOGETHER) * TOGETHER
    for at in range(0, blocks, step):
        end = min(at + step, blocks)
        source = window(op.args[0], at * f.block, end * f.block - 1)
        target = window(op, at * f.nbytes, end * f.nbytes - 1)
        words = [at, end, -(source[0] // 4) & U32, -(target[0] // 4) & U32]
        groups = grid(-(-(end - at) // (wg * each)), facts.groups)
        made.append(Launch(kernel, op.args, (op,), groups, words, (source, target)))
    return made
