"""Jacobi's method: vectors of stacks of matrices made orthogonal block by block, and small Hermitian eigenproblems.

jacobi.blocks (one-sided): the rows of each matrix, in blocks that meet pair by pair, are rotated until all are
orthogonal. A round is three launches: inner products of each pair of blocks, their eigenvectors, the rotation. Each
sweep begins with a launch that finds which matrices are done: the later launches return early for these, and nothing
is read. jacobi.whole (two-sided): a workgroup a matrix.
"""

from __future__ import annotations

from typing import NamedTuple

from ..dtypes import float32, uint32
from ..graph import Op
from ..kernels.reflector_functions import text
from ..launch import Kernel, Launch
from ..region import Facts, bits, kernel_for
from . import launch, temporary
from .beside_eye import beside_eye

WHOLE_MOST = 32  # rows of a matrix that one workgroup takes on every device
SHARED = 27 << 10  # bytes of workgroup memory with which it takes 64 real ones
SWEEPS = 15  # of a small matrix, at most
MORE = 10  # and as many as the number of blocks has bits: sweeps of all blocks, at most (512 vectors take 10)
# Where there is one pair of blocks: sweeps within a launch, times that its products are made again.
ALONE = (8, 5)
SOFTWARE = (4, 6)  # the same on CPU adapters, where loops may end early
FEW = 16  # threads of a rotating workgroup there: barriers cost as many switches as there are threads
DEPTH = 32  # elements of vectors that are staged at a time
BUSY = 256  # workgroups that the inner products of a round are cut in, if there are fewer pairs
EPS = 2.0**-24
SMALL = 16 * EPS  # the greatest cosine between vectors that are orthogonal; more for long ones
NEGLIGIBLE = 2.0**-27  # an element of a Hermitian matrix whose greatest is 1 to 2


class Form(NamedTuple):
    """What kernels depend on besides the dtype."""

    most: int  # K: vectors of a pair of blocks, at most
    side: int  # side * side threads a workgroup


class Blocks(NamedTuple):
    """How n vectors are cut."""

    players: int  # blocks, an even number
    each: int  # vectors a block
    form: Form


def side_of(facts: Facts) -> int:
    """Of a square of threads."""
    threads = min(64, facts.workgroup) if facts.software else facts.workgroup
    return 16 if threads >= 256 else 8 if threads >= 64 else 4


def blocks_of(n: int, kind: str, facts: Facts) -> Blocks:
    """The fewest blocks that a workgroup can take in pairs."""
    side = side_of(facts)
    large = facts.limits["maxComputeWorkgroupStorageSize"] >= SHARED and (
        side == 16 or (facts.software and side == 8)
    )
    most = 64 if large and kind == "f" else 32
    players = 2 * -(-n // most)
    each = -(-n // players)
    return Blocks(players, each, Form(next(k for k in (16, 32, 64) if k >= 2 * each), side))


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.fn: jacobi.blocks or jacobi.whole."""
    return (_blocks if op.fn.endswith("blocks") else _whole)(op, facts)


def _whole(op: Op, facts: Facts) -> list[Launch]:
    """op.extra: (matrices, n, whether the upper triangle is read). The result is (matrices, n, n + 1)."""
    count, n, upper = op.extra
    form = Form(16 if n <= 16 else 32, side_of(facts))
    made = _kernel("solve", op.dtype.kind, form, facts, True)
    words = [n + n % 2, SWEEPS, 1, 0, bits(NEGLIGIBLE, "f"), 1, 0, count, n, upper, 0, 0]
    nothing = temporary((1,), float32)
    return [launch(made, (op.args[0], op.args[0]), (op, nothing), count, words, facts)]


def _blocks(op: Op, facts: Facts) -> list[Launch]:
    """op.extra: (matrices, n, m, more). args: n vectors of m elements each; the result is (matrices, n, m + more):
    these made orthogonal, and behind them what the same rotations make of the rows of an identity."""
    count, n, m, more = op.extra
    kind, length = op.dtype.kind, m + more
    players, each, form = blocks_of(n, kind, facts)
    pairs, k = players // 2, form.most
    parts = min(-(-m // (2 * DEPTH)), -(-BUSY // (count * pairs)))
    parts = max(1, min(parts, facts.binding // (2 * count * pairs * k * k * op.dtype.itemsize)))
    part = -(-m // (parts * DEPTH)) * DEPTH
    parts = -(-m // part)
    done, state = temporary((count,), uint32), temporary((count * pairs * 2,), float32)
    products = temporary((count * pairs * parts * k * k,), op.dtype)
    turns = temporary((count * pairs * k * k,), op.dtype)
    judge = kernel_for(("jacobi_judge", 64), judge_text, "jacobi_judge", 64)
    gram, solve, rotate = (_kernel(name, kind, form, facts) for name in ("gram", "solve", "rotate"))
    tiles = -(-length // min(DEPTH, form.side**2))
    inner, sweeps = (
        (SOFTWARE if facts.software else ALONE) if players == 2 else (1, MORE + players.bit_length())
    )
    small = bits(SMALL * max(1.0, m**0.5 / 16), "f")
    least, nothing = bits(EPS, "f"), bits(1e-37, "f")
    launches = [beside_eye(op.args[0], op, n, m, length, facts)]
    for sweep in range(sweeps):
        words = [count, pairs, small, sweep == 0]
        reads = (state,) if sweep else (op.args[0],)
        launches.append(launch(judge, reads, (done,), -(-count // 64), words, facts))
        for turn in range(players - 1):
            total = count * pairs * parts
            words = [n, m, length, each, turn, pairs, parts, part, total, players, 0, 0]
            launches.append(launch(gram, (done, op), (products,), total, words, facts))
            total = count * pairs
            words = [2 * each, inner, parts, least, nothing, pairs, turn, total, 0, 0, 0, 0]
            launches.append(launch(solve, (done, products), (turns, state), total, words, facts))
            total *= tiles
            words = [n, length, each, turn, pairs, tiles, total, players]
            launches.append(launch(rotate, (done, state, turns), (op,), total, words, facts))
    return launches


def _kernel(name: str, kind: str, form: Form, facts: Facts, whole: bool = False) -> Kernel:
    label = f"jacobi_{name}_{kind}{form.most}{'_whole' if whole else ''}"
    threads = form.side**2
    if name == "solve":
        threads = FEW if facts.software else min(threads, 4 * form.most)
    return kernel_for((f"jacobi_{name}", kind, form.most, threads, whole), jacobi_text, label, threads)


def jacobi_text(key: tuple[str, str, int, int, bool]) -> tuple[str, str]:
    name, kind, most, threads, whole = key
    params: dict[str, object] = {"WG": threads, "K": most}
    if name == "jacobi_gram":
        side = {256: 16, 64: 8, 16: 4}[threads]
        loops = {"TT": most // side} if side == 16 else {}  # CPU adapters compile long texts slowly
        return text(name, kind, loops, **params, SIDE=side, D=DEPTH), "rrw"
    if name == "jacobi_solve":
        return text(name, kind, {}, **params, WHOLE=whole), "rrww"
    depth = min(DEPTH, threads)
    loops = {"EACH": most * depth // threads} if threads == 256 else {}
    return text(name, kind, loops, **params, D=depth), "rrrw"


def judge_text(key: tuple[str, int]) -> tuple[str, str]:
    return text(key[0], "f", {}, WG=key[1]), "rw"
