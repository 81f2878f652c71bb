"""What blocked factorisations and substitutions share: eliminate, one launch a block of rows."""

from __future__ import annotations

from typing import NamedTuple

from ..graph import Op
from ..kernels.elimination import text
from ..launch import Kernel, Launch
from ..region import Facts, kernel_for
from . import launch

BM = 64  # rows of a tile


class Walk(NamedTuple):
    """Where matrices lie, in elements: the first one's first element, strides of rows, columns and matrices."""

    offset: int
    row: int
    column: int
    batch: int


class Block(NamedTuple):
    """One step: rows j .. j + width are solved (or were), those from `first` on of `rows` are updated."""

    rows: int
    columns: int
    batch: int
    j: int
    width: int
    column: int  # the first one that is updated
    first: int
    bits: int = 0  # 1: unit diagonal, 2: conjugated
    kept: int = 0  # the first column that goes to W (LU)
    posts: int = 0  # words of the table a matrix (LU)


def depth(kind: str, facts: Facts, lu: bool = False) -> int:
    """Columns of a block. Texts grow with its square, which CPU adapters take long to compile."""
    most = 16 if facts.software else 32
    return most // 2 if kind == "c" else min(most, 16) if lu else most


def threads(facts: Facts) -> int:
    """The most that a workgroup may have, a power of two."""
    limits = facts.limits
    most = min(limits["maxComputeInvocationsPerWorkgroup"], limits["maxComputeWorkgroupSizeX"])
    return int(1 << most.bit_length() - 1)


def kernel_of(name: str, kind: str, access: str, subgroups: bool = False, **params: object) -> Kernel:
    """One of the kernels of kernels/elimination.py, made once."""
    key = ("elimination", name, kind, subgroups, *params.items())
    label = f"{name}_{kind}" + "".join(f"_{k.lower()}" for k, v in params.items() if v is True)
    return kernel_for(key, lambda _: (text(name, kind, subgroups, **params), access), label, 0)


def update(
    kind: str, block: Block, left: Op, walk: Walk, w: tuple[Op, Walk], x: tuple[Op, Walk] | None, facts: Facts,
    table: Op | None = None,
) -> Launch:  # fmt: skip
    """eliminate: with x it solves, with a table too it is a panel's of an LU factorisation."""
    lu = table is not None
    columns = block.columns - block.column
    wide = 16 if facts.software or columns <= 16 else 32 if columns <= 32 or kind == "c" else 64
    wide = min(wide, max(16, threads(facts) // 4))
    down = max(1, -(-(block.rows - block.first) // BM))
    across = -(-columns // wide)
    there = x[1] if x else Walk(0, 0, 0, 0)
    words = [block.rows, block.columns, block.j, block.width, *walk, w[1].offset, w[1].row, w[1].batch]
    words += [block.column, there.offset, there.row, there.batch, down, across, block.batch, block.bits]
    words += [block.first, block.kept, block.posts, 0, 0]
    made = kernel_of(
        "eliminate", kind, "wwww" if lu else "rww" if x else "rw",
        K=depth(kind, facts, lu), BN=wide, SOLVE=x is not None, LU=lu,
    )  # fmt: skip
    into = (w[0],) if x is None else (w[0], x[0])
    reads: tuple[Op, ...] = (left,)
    if table is not None:  # columns of the next panel go to `left`; bindings that are only read come first
        reads, into = (), (left, *into, table)
    return launch(made, reads, into, down * across * block.batch, words, facts)
