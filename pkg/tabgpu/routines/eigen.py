"""Eigenvalues of general matrices: Hessenberg form, QR iterations until a flag on the device, triangles, vectors."""

from __future__ import annotations

from typing import NamedTuple

from .. import kernels
from ..dtypes import complex64, uint32
from ..errors import LimitError
from ..graph import Op
from ..kernels.eigen_functions import COMPLEX
from ..launch import Kernel, Launch
from ..region import Facts, kernel_for
from . import kernel, launch, temporary

ONE_GROUP = 96  # rows up to which one workgroup reduces a matrix to Hessenberg form by itself
ROUNDS = (
    40_000  # that a thread's loops may take together in a launch on a CPU adapter (Mesa ends them at 65,535)
)
PACE = 20_000  # reflectors of a short row that one workgroup does in a launch: tens of milliseconds


def text(key: tuple[str, str, bool, int]) -> tuple[str, str]:
    name, access, wide, wg = key
    made = kernels.specialise(name, WG=wg, **({"E": "vec2f"} if wide else {}))
    for function, body in COMPLEX.items() if wide else ():
        if f"fn {function}(" in made:
            made = kernels.replace_function(made, function, body)
    return made, access


def form(name: str, access: str, wide: bool, wg: int) -> Kernel:
    """One of the kernels for real or (wide) complex elements."""
    return kernel_for((name, access, wide, wg), text, f"{name}_{'complex' if wide else 'real'}", wg)


def threads(n: int, facts: Facts) -> int:
    """Of a workgroup that has a matrix of n rows: a power of two."""
    if facts.software:
        return 32 if n <= 128 else 128
    return min(facts.workgroup, max(32, 1 << (min(n, 256) - 1).bit_length()))


def lower(op: Op, facts: Facts) -> list[Launch]:
    """op.extra: (matrices, n); op.args: the stack of matrices. eigen.values, eigen.schur give dst of schur_finish,
    eigen.hessenberg H and then Z transposed, eigen.vectors the eigenvectors of triangles, eigen.root their roots."""
    _, _, what = op.fn.partition(".")
    count, n = op.extra
    if what == "vectors":
        return _vectors(op, count, n, facts)
    if what == "root":
        return _root(op, count, n, facts)
    every, source = what != "values", op.args[0]
    shape = Matrices(count, n, every, source.dtype is complex64)
    h = temporary((count, n, n), source.dtype)
    z = temporary((count, n, n) if every else (1,), source.dtype)
    made = _hessenberg(source, (h, z), shape, facts)
    if what == "hessenberg":
        return made + _packed((h, z), op, shape, facts)
    state = temporary((count, 2), uint32)
    wg = threads(n, facts)
    step = form("schur", "www", shape.wide, wg)
    each = 2 + -(-n // wg) * (3 if every else 2)
    if facts.software:
        if n * each > 60_000:  # a sweep that a loop's end would cut
            raise LimitError(
                f"eig: matrices of {n} rows are too large for a CPU adapter; NumPy does it faster"
            )
        budget = ROUNDS // each - n
    else:
        budget = PACE * 4 // (3 + each) // max(1, count * wg // 131072)
    budget = max(budget, 64)
    for k in range(-(-(4 * n * n + 60 * n) // budget)):
        words = [count, n, every, budget, k == 0, 0, 0, 0]
        made.append(launch(step, (), (h, z, state), count, words, facts))
    elements = count * n * (n if every else 1)
    last = form("schur_finish", "rrrw", shape.wide, 64)
    words = [count, n, every, shape.wide, 0, 0, 0, 0]
    made.append(launch(last, (h, z, state), (op,), -(-elements // 64), words, facts))
    return made


class Matrices(NamedTuple):
    """What one call works on. every: whether vectors are wanted; wide: whether elements are complex."""

    matrices: int
    n: int
    every: bool
    wide: bool


def _reduce(
    reads: Op,
    into: tuple[Op, ...],
    shape: Matrices,
    groups: int,
    words: tuple[int, ...],
    wg: int,
    facts: Facts,
) -> Launch:
    """One launch of hessenberg.wgsl; words: from the third on."""
    return launch(
        form("hessenberg", "rwww", shape.wide, wg),
        (reads,),
        into,
        groups,
        [shape.matrices, shape.n, *words],
        facts,
    )


def _hessenberg(source: Op, hz: tuple[Op, Op], shape: Matrices, facts: Facts) -> list[Launch]:
    count, n, every, _ = shape
    into = (*hz, temporary((count, n + 1), source.dtype))
    wg = threads(n, facts)

    def step(what: int, groups: int, first: int, end: int = 0, each: int = 1, wg: int = wg) -> Launch:
        return _reduce(source, into, shape, groups, (every, first, end, what, each, 0), wg, facts)

    made = [step(0, -(-count * n * n // wg), 0)]
    each = ROUNDS // (6 * n * -(-n // wg) + 16) if facts.software else n if n <= ONE_GROUP else 0
    if each:
        made += [step(1, count, k, min(k + each, n - 2)) for k in range(0, n - 2, each)]
        return made
    lines, wide = -(-n // 32), min(256, facts.workgroup)
    for k in range(n - 2):
        made.append(step(2, count, k, wg=wide))
        made += [step(what, count * lines, k, each=lines, wg=32) for what in (3, 4)]
    return made


def _packed(hz: tuple[Op, Op], op: Op, shape: Matrices, facts: Facts) -> list[Launch]:
    """H and Z behind one another."""
    n = shape.matrices * shape.n * shape.n
    wg = min(256, facts.workgroup)
    rest = tuple(temporary((1,), op.dtype) for _ in range(2))
    return [
        _reduce(x, (op, *rest), shape, -(-n // wg), (0, 0, 0, 0, 1, k * n), wg, facts)
        for k, x in enumerate(hz)
    ]


def _vectors(op: Op, count: int, n: int, facts: Facts) -> list[Launch]:
    made: list[Launch] = []
    used = kernel("triangle_vectors", "rw", WG=64)
    high = n
    while high > 0:
        low = high
        rounds = 0
        while low > 0 and (rounds < ROUNDS or low == high):
            low -= 1
            rounds += 2 * (n - low) + 1
        words = [count, n, high, low]
        made.append(launch(used, op.args, (op,), -(-count * n // 64), words, facts))
        high = low
    return made


def _root(op: Op, count: int, n: int, facts: Facts) -> list[Launch]:
    wg = threads(n, facts)
    made = kernel("triangle_root", "rw", WG=wg)
    rounds = -(-n // wg) * (n + 1)  # of one diagonal, at most
    step = max(1, (ROUNDS if facts.software else 20 * ROUNDS) // rounds)
    return [
        launch(made, op.args, (op,), count, [count, n, d, min(d + step, n)], facts) for d in range(0, n, step)
    ]
