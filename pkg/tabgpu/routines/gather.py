"""Indexed reads: one launch whose threads own whole words of the result. args: (array, indices ..)."""

from __future__ import annotations

from .. import codegen_index as text
from ..codegen_index import Gather
from ..graph import Op
from ..indexed import Indexed
from ..launch import Launch
from ..layout import Layout, Shape, collapse
from ..region import U32, Facts, kernel_for
from . import launch


def walk(at: Indexed, shape: Shape, *more: Layout) -> tuple[Shape, list[int], list[Shape]]:
    """(sizes, words of base and picks, strides of each further layout) over the space with its axes merged."""
    layouts = [at.base, *(p.layout for p in at.picks), *more]
    dims, strides = collapse(shape, [v.strides for v in layouts])
    words = [*dims, at.base.offset, *strides[0]]
    for pick, steps in zip(at.picks, strides[1:], strict=False):
        words += [pick.n, pick.stride, pick.layout.offset, *steps]
    return dims, [w & U32 for w in words], strides[1 + len(at.picks) :]


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.extra: an Indexed."""
    at: Indexed = op.extra
    dims, words, (base, *steps) = walk(at, op.shape, at.base, *(p.layout for p in at.picks))
    even = len(dims) <= 1 or not dims[-1] & 3
    still = bool(dims) and not dims[-1] & 3 and not any(s[-1] for s in steps)
    aligned = not any(x & 3 for x in (at.base.offset, *base[:-1], *(p.stride for p in at.picks)))
    drop = at.mode == "drop" and bool(at.picks)
    fast = still and base[-1] == 1 and aligned
    one, two = at.fill
    if fast and op.dtype.per_word > 1:  # as often as elements lie in a word
        one *= 0x01010101 if op.dtype.per_word == 4 else 0x10001
    picks = tuple(a.dtype for a in op.args[1:])
    sig = Gather(op.dtype, picks, at.mode, len(dims), facts.workgroup, even, still, fast)
    label = f"gather_{op.dtype.name}_{len(at.picks)}_rank{len(dims)}{'_rows' * still}"
    kernel = kernel_for(sig, text.gather, label, facts.workgroup)
    groups = -(-op.size // (4 * op.dtype.per_word * facts.workgroup))
    return [launch(kernel, op.args, (op,), groups, [0, op.size, *words, *(one, two) * drop], facts)]
