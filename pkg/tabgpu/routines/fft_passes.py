"""The passes of a Fourier transform whose length is a product of small primes. Texts: codegen_fft.py.

On a GPU a workgroup does lines of up to a few thousand positions in its memory; longer ones are two or three such
passes over columns (n = R1 M1: lines of R1 positions M1 apart, times roots of one, then lines of M1), each of which
reads and writes neighbouring columns, so that nothing is transposed. On CPU adapters each radix is a pass.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from .. import codegen_fft as texts
from ..codegen_fft_block import EACH, LONG, Block, block
from ..dtypes import complex64
from ..graph import Op
from ..launch import Launch
from ..region import Facts, bits, kernel_for
from . import launch, temporary

SIGN = 0x80000000
TILE = 4096  # positions that a workgroup holds, at most
NEIGHBOURS = 4  # columns that a workgroup takes, at least
ROWS = 128  # threads of a workgroup that takes rows
WIDE, FEW = (8, 4), (2, 1)  # lines of 32 positions a thread, the first that memory holds: columns, rows


class End(NamedTuple):
    """One side of a transform: memory, how it is read or written, where a line's positions lie, how many there are."""

    op: Op
    kind: str
    offset: int
    strides: tuple[int, int, int]  # of lines, positions, lines side by side
    there: int
    flip: bool = False
    scale: float = 1.0
    cosine: tuple[float, int, int] = (1.0, 0, 0)  # factor of element 0, reals, flags (fft_stage: 36)
    other: Op | None = None  # read beside (kind "product")

    def plain(self) -> End:
        """The same memory as the next pass reads it."""
        return End(self.op, self.kind, self.offset, self.strides, self.there)


class Walk(NamedTuple):
    """Lines within an axis: B times C of them, and the positions of a step of b, of c and of an element, as read and as
    written; the modulus of the roots between two passes (0: none)."""

    b: int = 1
    c: int = 1
    read: tuple[int, int, int] = (0, 0, 1)
    write: tuple[int, int, int] = (0, 0, 1)
    modulus: int = 0


WHOLE = Walk()


def middle(lines: tuple[int, int], n: int) -> End:
    """Memory between two passes, row-major."""
    outer, inner = lines
    return End(temporary((outer, n, inner), complex64), "complex", 0, (n * inner, inner, 1), n)


def over(n: int) -> list[int]:
    """Bits of 4 and 1 over n."""
    return [bits(4.0 / n, "f"), bits(1.0 / n, "f")]


def words(
    first: End, last: End, lines: tuple[int, int], sizes: tuple[int, int], total: int, modulus: int,
    walk: Walk = WHOLE,
) -> list[int]:  # fmt: skip
    """The parameters that kernels/fft_stage.wgsl explains; sizes: of these lines, of the whole transform."""
    n, whole = sizes
    to_outer, hop, to_inner = last.strides
    (read, size, flags), (written, result, more) = first.cosine, last.cosine
    reals = size or result
    return [
        total, lines[1], walk.c, walk.b,
        first.offset, first.strides[0], first.strides[2], first.strides[1],
        walk.read[1], walk.read[0], walk.read[2], first.there,
        to_outer, to_inner, hop, last.there,
        walk.write[2], walk.write[1], walk.write[0], whole,
        n, modulus, *over(max(modulus, 1)),
        SIGN * first.flip, SIGN * last.flip, bits(last.scale, "f"), 0,
        0, 0, bits(0.5 / whole, "f"), 0,
        bits(read, "f"), bits(written, "f"), reals, bits(0.125 / max(reals, 1), "f"),
        flags | more, 0, 0, 0,
    ]  # fmt: skip


def factors(n: int) -> list[int] | None:
    """Radices whose product is n; None if it has a prime factor beyond them."""
    found = []
    for r in texts.RADICES:
        while not n % r:
            found.append(r)
            n //= r
    return (found or [1]) if n == 1 else None


def passes(
    first: End, last: End, sizes: tuple[int, int], lines: tuple[int, int], facts: Facts
) -> list[Launch]:
    """The transform of n positions of (outer, inner) lines. sizes: n, which is a product of small primes, and the
    length that was asked for, where this is a convolution for it."""
    parts = None if facts.software else shares(sizes[0], lines[1] > 1, facts)
    return (
        _blocks(first, last, sizes, parts, lines, facts)
        if parts
        else _stages(first, last, sizes, lines, facts)
    )


def _reads(end: End) -> tuple[Op, ...]:
    return (end.op,) if end.other is None else (end.op, end.other)


def _stages(
    first: End, last: End, sizes: tuple[int, int], lines: tuple[int, int], facts: Facts
) -> list[Launch]:
    """A pass for each radix."""
    n = sizes[0]
    made, before, wg = [], 1, facts.workgroup
    radices = factors(n) or []
    if radices.count(8) and radices.count(2):  # the list holds at most one 2
        radices = [16, *radices]
        radices.remove(8)
        radices.remove(2)
    for k, radix in enumerate(radices):
        into = last if k == len(radices) - 1 else middle(lines, n)
        kernel = kernel_for(
            ("fft_stage", radix, first.kind, into.kind, not k, wg), texts.stage, f"fft_stage_{radix}", wg
        )
        total = lines[0] * lines[1] * (n // radix)
        given = words(first, into, lines, sizes, total, 0)
        given[27:30] = [before, *over(before * radix)]
        made.append(launch(kernel, _reads(first), (into.op,), -(-total // wg), given, facts))
        first, before = into.plain(), before * radix
    return made


def one_pass(n: int, lines: tuple[int, int], facts: Facts) -> bool:
    """Whether a transform is read once and written once: then halves of real ones gain nothing."""
    return not facts.software and factors(n) is not None and shares(n, lines[1] > 1, facts) == [n]


def tile(n: int, facts: Facts) -> int:
    """Positions that a workgroup holds: fewer where the radices are a parameter, since steps go from half to half."""
    memory = facts.limits["maxComputeWorkgroupStorageSize"] // 8
    if n & (n - 1):
        return min(TILE, 1 << (memory.bit_length() - 1)) // 2
    return min(TILE, 1 << (min(memory, facts.workgroup * EACH).bit_length() - 1))


def shares(n: int, columns: bool, facts: Facts) -> list[int] | None:
    """The lengths of one, two or three passes; None if there are none."""
    most = tile(n, facts)
    if n <= (most // NEIGHBOURS if columns else most):
        return [n]
    each = most // NEIGHBOURS
    if not n & (n - 1):
        size, step = n.bit_length() - 1, each.bit_length() - 1
        count = max(2, -(-size // step))
        return [1 << (size // count + (k < size % count)) for k in range(count)] if count < 4 else None
    parts = _split(n, 2, each) or _split(n, 3, each)
    return parts or ([n] if n <= most else None)


@cache
def _split(n: int, count: int, most: int) -> list[int] | None:
    """Factors of n as equal as may be, none above `most`."""
    if count == 1:
        return [n] if n <= most else None
    near = round(n ** (1 / count))
    for k in sorted((k for k in range(2, most + 1) if not n % k), key=lambda k: abs(k - near)):
        rest = _split(n // k, count - 1, most)
        if rest:
            return sorted([k, *rest], reverse=True)
    return None


def walks(n: int, parts: list[int]) -> list[Walk]:
    """Which lines each pass takes."""
    if len(parts) == 1:
        return [WHOLE]
    r, m = parts[0], n // parts[0]
    made = [Walk(1, m, (0, 1, m), (0, 1, m), n)]
    if len(parts) == 2:
        return [*made, Walk(1, r, (0, m, 1), (0, 1, r))]
    s, rest = parts[1], m // parts[1]
    return [
        *made,
        Walk(r, rest, (m, 1, rest), (m, 1, rest), m),
        Walk(s, r, (rest, m, 1), (r, 1, r * s)),
    ]


def _across(end: End, walk: Walk, steps: tuple[int, int, int], lines: tuple[int, int]) -> bool:
    """Whether neighbouring lines are nearer to each other than the positions of one."""
    outer, hop, inner = end.strides
    sizes = (lines[1], inner), (walk.c, steps[1] * hop), (walk.b, steps[0] * hop), (lines[0], outer)
    near = next((abs(step) for count, step in sizes if count > 1), None)
    return near is not None and near < abs(steps[2] * hop)


def taken(r: int, columns: bool, facts: Facts) -> tuple[int, int, bool, bool]:
    """Of a workgroup of lines of a power of two: lines, positions a thread, whether their parts are exchanged apart,
    whether in arrays of arrays. As measured: two steps of 32 with one exchange between are faster than three; columns
    want eight neighbours, rows small workgroups."""
    if r in LONG:
        for lines in WIDE if columns else FEW:
            key = Block("fft_block", r, lines, texts.PLAIN, texts.PLAIN, False, 32, columns, True)
            if (
                key.memory <= facts.limits["maxComputeWorkgroupStorageSize"]
                and key.threads <= facts.workgroup
            ):
                return lines, 32, columns, True
    threads = facts.workgroup if columns else min(ROWS, facts.workgroup)
    return max(1, min(threads * min(r, EACH), tile(r, facts)) // r), EACH, False, False


def _kind(end: End, n: int) -> str:
    """How an end is read or written in workgroups of powers of two: plainly where that is all there is to it."""
    bare = end.kind == "complex" and end.there >= n and not end.flip and end.scale == 1
    return texts.PLAIN if bare else end.kind


def _blocks(
    first: End, last: End, sizes: tuple[int, int], parts: list[int], lines: tuple[int, int], facts: Facts
) -> list[Launch]:
    """Passes in workgroup memory."""
    n, whole = sizes
    made = []
    for k, (r, walk) in enumerate(zip(parts, walks(n, parts), strict=True)):
        into = last if k == len(parts) - 1 else middle(lines, n)
        sides = _across(first, walk, walk.read, lines), _across(into, walk, walk.write, lines)
        total = lines[0] * lines[1] * walk.b * walk.c
        given = words(first, into, lines, (r, whole), total, walk.modulus, walk)
        given[31] = sides[0] + 2 * sides[1]
        most = tile(r, facts)
        if r & (r - 1):
            some = max(1, most // r)
            steps = factors(r) or []
            given[37] = sum(radix << 4 * k for k, radix in enumerate(steps[:8]))
            given[38] = sum(radix << 4 * k for k, radix in enumerate(steps[8:]))
            given[39] = some
            wg = facts.workgroup
            kernel = kernel_for(("fft_mixed", wg, most, first.kind, into.kind), texts.mixed, "fft_mixed", wg)
        else:
            some, each, apart, nested = taken(r, any(sides), facts)
            kinds = _kind(first, n), _kind(into, n)
            key = Block("fft_block", r, some, *kinds, bool(walk.modulus), each, apart, nested)
            kernel = kernel_for(key, block, f"fft_block_{r}", key.threads)
        made.append(launch(kernel, _reads(first), (into.op,), -(-total // some), given, facts))
        first = into.plain()
    return made
