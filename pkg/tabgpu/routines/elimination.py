"""What blocked factorisations and substitutions share: eliminate, one launch a block of rows."""

from __future__ import annotations

from typing import NamedTuple

from ..graph import Op
from ..kernels.elimination import text
from ..launch import Kernel, Launch
from ..region import Facts, kernel_for
from . import launch, temporary

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
) -> list[Launch]:  # fmt: skip
    """One step: with x it solves, with a table too it is a panel's of an LU factorisation."""
    lu, solve = table is not None, x is not None
    columns = block.columns - block.column
    below = max(0, block.rows - block.first)
    there = x[1] if x else Walk(0, 0, 0, 0)
    words = [block.rows, block.columns, block.j, block.width, *walk, w[1].offset, w[1].row, w[1].batch]
    words += [block.column, there.offset, there.row, there.batch, 0, 0, block.batch, block.bits]
    words += [block.first, block.kept, block.posts, 0, 0]
    into = (w[0],) if x is None else (w[0], x[0])
    reads: tuple[Op, ...] = (left,)
    if table is not None:  # columns of the next panel go to `left`; bindings that are only read come first
        reads, into = (), (left, *into, table)
    access = "wwww" if lu else "rww" if solve else "rw"
    if facts.software:
        words[15:17] = [-(-below // 4), -(-columns // 4)]
        made = []
        for step, threads_ in enumerate((columns * solve, words[15] * words[16])):
            if threads_:
                kernel = kernel_of("eliminate_serial", kind, access, SOLVE=solve, LU=lu, STEP=step)
                made.append(launch(kernel, reads, into, -(-threads_ * block.batch // 16), words, facts))
        return made
    most = block.columns  # one form for all steps of a matrix
    wide = 16 if most <= 16 else 32 if most <= 32 or kind == "c" else 64
    wide = min(wide, max(16, threads(facts) // 4))
    words[15:17] = [max(1, -(-below // BM)), -(-columns // wide)]
    kernel = kernel_of("eliminate", kind, access, K=depth(kind, facts, lu), BN=wide, SOLVE=solve, LU=lu)
    return [launch(kernel, reads, into, words[15] * words[16] * block.batch, words, facts)]


def small(n: int, behind: int, kind: str, facts: Facts) -> tuple[int, int]:
    """(threads, elements from row to row) of a matrix that eliminate_small takes with columns behind it; (0, 0) for
    others."""
    if facts.software:  # loops of one thread: Mesa's CPU driver ends them after 65,535 rounds
        rounds = n * n * n // 3 + n * n * (behind + 2 + n // 2)
        return (1, n + behind) if rounds < 40_000 else (0, 0)
    pitch = (n + behind) | 1
    lanes = max(4, 1 << (n - 1).bit_length())
    return (lanes, pitch) if n * pitch <= ROOM[kind] and lanes <= 64 else (0, 0)


ROOM = {"f": 2048, "c": 1024}  # elements of workgroup memory


def eliminated(
    op: Op, mode: int, matrices: tuple[Op, int], right: tuple[Op, int], n: int, behind: int, batch: int,
    places: tuple[int, int, int], facts: Facts,
) -> list[Launch]:  # fmt: skip
    """eliminate_small. matrices, right: Ops and what lies between two matrices of them; places: where exchanges, order
    and verdicts begin in the result."""
    kind = op.dtype.kind
    lanes, pitch = small(n, behind, kind, facts)
    threads_ = min(64, facts.workgroup)
    words = [n, behind, batch, pitch, *places, matrices[1], right[1], 0, 0, 0]
    into: tuple[Op, ...] = (op,)
    if lanes == 1:
        into = (op, temporary((batch, n, pitch), op.dtype))
        threads_ = min(16, facts.workgroup)
    else:
        while threads_ // lanes * n * pitch > ROOM[kind]:
            threads_ //= 2
    made = kernel_of(
        "eliminate_small", kind, "rrw" if lanes > 1 else "rrww", MODE=mode, WG=threads_, LANES=lanes, ROOM=ROOM[kind]
    )  # fmt: skip
    return [launch(made, (matrices[0], right[0]), into, -(-batch * lanes // threads_), words, facts)]
