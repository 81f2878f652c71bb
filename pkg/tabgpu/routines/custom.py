"""Kernels of a user's that have launches of their own, with any number of results, written in place or anew.

One Op runs the kernel and is one of its results; the others are written into *rooms*: memory made before
("custom.room": new, a copy of an old value, or that value's own memory) and named after the run ("custom.take"). So
every result is an Op like any other, and whoever asks for one of them first makes the kernel run, once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import codegen_custom as text
from ..graph import Op
from ..launch import Kernel, Launch
from ..layout import Layout, collapse
from ..lower import NOTHING
from ..region import U32, Facts, grid, kernel_for, words_of
from . import kernel, launch


class Text:
    """A text of a user's as a kernel: made once, compiled when it is first launched."""

    __slots__ = ("kernel",)

    def __init__(self, label: str, code: str, access: str, workgroup: int) -> None:
        self.kernel = Kernel(label, code, access, workgroup)

    def __repr__(self) -> str:
        return f"Text({id(self.kernel)})"


class Run(NamedTuple):
    """How a kernel runs. args: `reads` values, then a room for each result but the one at `primary`, then that
    one's old value if it has one, then scalars. words: numbers, or (scalar's number, kind). grid: None where
    `whole` says it."""

    source: Any  # Text, or text.Whole
    reads: int
    rooms: int
    primary: int
    old: str  # "": none; "copy" or "own": the old value's memory is copied, or taken over
    grid: tuple[int, int, int] | None
    words: tuple[Any, ...]
    layouts: tuple[Layout, ...] = ()  # of the strided operands of a Whole


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn: custom.run, custom.room or custom.take."""
    part = op.fn.partition(".")[2]
    if part == "take":
        return [_keep(op, op.args[1])]
    if part == "room":
        return _begin(op, op.args[0] if op.args else None, op.extra, facts)
    run: Run = op.extra
    args = list(op.args)
    reads, args = args[: run.reads], args[run.reads :]
    writes, args = args[: run.rooms], args[run.rooms :]
    writes.insert(run.primary, op)
    first: list[Launch] = []
    if run.old:
        first, args = _begin(op, args[0], run.old, facts), args[1:]
    skipped = len(op.args) - len(args)
    words: list[int] = []
    if isinstance(run.source, text.Whole):
        dims, strides = collapse(op.shape, [v.strides for v in run.layouts])
        sig = run.source._replace(rank=len(dims), workgroup=facts.workgroup)
        made = kernel_for(sig, text.whole, f"{sig.stem}_rank{len(dims)}", facts.workgroup)
        words += [0, op.size, *dims]
        for v, walk in zip(run.layouts, strides, strict=True):
            words += [v.offset & U32, *(s & U32 for s in walk)]
        groups = grid(-(-op.size // (4 * facts.workgroup)), facts.groups)
    else:
        made = run.source.kernel
        assert run.grid is not None
        groups = run.grid
    for w in run.words:
        if isinstance(w, tuple):
            k, kind = w
            words += words_of(args[k], kind, (op, skipped + k))
        else:
            words.append(w)
    return [*first, Launch(made, tuple(reads), tuple(writes), groups, words or [0])]


def _keep(new: Op, old: Op) -> Launch:
    """Nothing to run: one value goes on in another's memory."""
    return Launch(NOTHING, (), (new,), (0, 0, 0), [], None, old)


def _begin(op: Op, old: Op | None, how: str, facts: Facts) -> list[Launch]:
    """Memory for a result before its kernel runs."""
    if old is None:
        return [Launch(NOTHING, (), (op,), (0, 0, 0), [])]
    if how == "own":
        return [_keep(op, old)]
    words = -(-old.size * old.dtype.itemsize // 4)
    made = kernel("copy_words", "rw", WG=facts.workgroup)
    return [launch(made, (old,), (op,), -(-words // (4 * facts.workgroup)), [words], facts)]
