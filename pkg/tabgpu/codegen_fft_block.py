"""The text of fft_block.wgsl: the steps of a line of a power of two in registers, and what is exchanged between."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from . import kernels
from .codegen_fft import PLAIN, Lines, butterfly, line_hooks, number, powers, turned

EACH = 16  # positions a thread, at most
PLANS = {  # positions of a line: radices of the steps
    1: (1,), 2: (2,), 4: (4,), 8: (8,), 16: (16,), 32: (8, 4), 64: (8, 8), 128: (16, 8), 256: (16, 16),
    512: (8, 8, 8), 1024: (16, 8, 8), 2048: (16, 16, 8), 4096: (16, 16, 16),
}  # fmt: skip
LONG = {1024: (32, 32)}  # the same of 32 positions a thread


class Block(NamedTuple):
    """A kernel: positions and lines of a workgroup, kinds of reads and writes, whether twiddles follow, positions a
    thread at most, whether in arrays of arrays (Nest), and there by their parts."""

    name: str
    n: int
    lines: int
    load: str
    store: str
    twiddles: bool
    each: int = EACH
    parts: bool = False
    nested: bool = False

    @property
    def plan(self) -> tuple[int, ...]:
        """The radices of the steps."""
        return LONG[self.n] if self.each > EACH else PLANS[self.n]

    @property
    def memory(self) -> int:
        """Bytes of workgroup memory."""
        return (4 if self.parts else 8) * self.lines * (Nest(self).line if self.nested else self.n)

    @property
    def threads(self) -> int:
        """Threads of a workgroup."""
        return self.lines * self.n // min(self.n, self.each)


class Nest:
    """Workgroup memory as arrays of arrays, a dimension for each group of bits of a position that an access has as a
    constant or as neighbouring bits of a thread's number: compilers of WGSL clamp each index that is not a constant,
    and here those are the same for all positions of a thread. Rows and lines are padded, so that banks differ."""

    def __init__(self, key: Block) -> None:
        n, each = key.n, min(key.n, key.each)
        self.bits, self.own = n.bit_length() - 1, (n // each).bit_length() - 1
        self.row = min(self.bits, 5 if each > EACH else 4)
        self.writes: list[list[int]] = []  # of each exchange: for each bit of a position a thread's, or -1
        before = 0
        for radix in key.plan[:-1]:
            r = radix.bit_length() - 1
            from_ = [*range(before), *[-1] * r, *range(before, self.bits - r)]
            self.writes.append([b if b < self.own else -1 for b in from_])
            before += r
        self.reads = [b if b < self.own else -1 for b in range(self.bits)]
        cuts = {self.row}
        for places in (*self.writes, self.reads):
            cuts |= {
                k
                for k in range(1, self.bits)
                if places[k] != (places[k - 1] + 1 if places[k - 1] >= 0 else -1)
            }
        edges = [0, *sorted(cuts - {0, self.bits}), self.bits]
        self.groups = [*pairwise(edges)]
        banks = 32 if key.parts else 16
        size = (n >> self.row) * ((1 << self.row) + 1)
        self.pad = (max(1, banks // key.lines) - size) % banks
        self.line = size + self.pad
        self.lines = key.lines

    def declared(self) -> str:
        """The structs of a row and a line, and the memory."""
        inner, outer = "V", "Row"
        for low, high in self.groups:
            if high <= self.row:
                inner = f"array<{inner}, {1 << high - low}>"
            else:
                outer = f"array<{outer}, {1 << high - low}>"
        pad = f" pad: array<V, {self.pad}>" if self.pad else ""
        return (
            f"struct Row {{ v: {inner}, pad: V }}\nstruct Line {{ v: {outer},{pad} }}\n"
            f"var<workgroup> stage: array<Line, {self.lines}>;"
        )

    def place(self, out: Lines, home: str, places: list[int]) -> Callable[[int], str]:
        """The text of an access by the constant bits of a position."""
        given: dict[int, str] = {}
        for low, high in self.groups:
            if places[low] >= 0:
                given[low] = out.let(f"({home}.x >> {places[low]}u) & {(1 << high - low) - 1}u")

        def text(p: int) -> str:
            found = f"stage[{home}.y].v"
            for low, high in reversed(self.groups):
                found += "[" + given.get(low, f"{p >> low & (1 << high - low) - 1}") + "]"
                found += ".v" * (low == self.row)
            return found

        return text


def block(key: Block) -> tuple[str, str]:
    """(WGSL, access string)."""
    n, each = key.n, min(key.n, key.each)
    plan = key.plan
    nest = Nest(key) if key.nested else None
    apart = n // each
    out = Lines()
    add = out.lines.append

    def mixed(p: int) -> int:
        """`at` of the file. It is linear over bits: at(p + q) = at(p) ^ at(q), where p and q have no bit in common."""
        return p ^ (((p >> 4) ^ (p >> 8)) & 15)

    _read(out, key.load, each, apart)
    before, home = 1, "reads"
    for k, radix in enumerate(plan):
        some = each // radix
        found: list[tuple[str, int, str]] = []  # address of a butterfly's first, what is added to it, value
        first: list[str] = []
        for b in range(some):
            names = [f"x{b + i * some}" for i in range(radix)]
            if k:
                rest = b * apart % before  # of j modulo `before`, beyond that of the first butterfly
                if not first:
                    first = _roots(out, f"(writes.x & {before - 1}u)", before * radix, radix - 1)
                    w = first
                elif rest:
                    w = powers(out, turned(out, first[0], rest, before * radix), radix - 1)
                else:
                    w = first
                names[1:] = [out.let(f"fft_times({x}, {y})") for x, y in zip(names[1:], w, strict=True)]
            values = butterfly(out, names)
            if k + 1 < len(plan) and nest:
                if not b:
                    at = nest.place(out, home, nest.writes[k])
                more = b * apart
                held = more % before + more // before * before * radix  # the constant bits of the first
                found += [(at(held + i * before), 0, y) for i, y in enumerate(values)]
            elif k + 1 < len(plan):
                j = out.let(f"{home}.x + {b * apart}u")
                low = out.let(f"{j} & {before - 1}u") if before > 1 else "0u"
                to = out.let(f"at({home}.y * R + ({j} - {low}) * {radix}u + {low})")
                found += [(to, mixed(i * before), y) for i, y in enumerate(values)]
            else:
                for i, y in enumerate(values):
                    add(f"  x{b + i * some} = {y};\n")
        before *= radix
        if k + 1 < len(plan) and nest:
            _exchange_nested(out, nest, found, apart, key.parts, bool(k))
            home = "writes"
        elif k + 1 < len(plan):
            _exchange(out, found, [mixed(m * apart) for m in range(each)], bool(k))
            home = "writes"
    if key.twiddles:
        _twiddles(out, each, apart)
    _write(out, key.store, each, apart)
    text = kernels.specialise(key.name, R=n, E=each, LINES=key.lines)
    if nest:
        text = text.replace(
            "var<workgroup> stage: array<vec2f, LINES * R>;",
            f"alias V = {'f32' if key.parts else 'vec2f'};\n{nest.declared()}",
        )
    return line_hooks(kernels.replace_block(text, "passes", out.text()), key.load, key.store)


def _read(out: Lines, kind: str, each: int, apart: int) -> None:
    add = out.lines.append
    plain = kind == PLAIN
    if plain:
        add(f"  let from_ = begin + offset * P[1].w;\n  let hop = {apart}u * P[2].z * P[1].w;\n")
    for m in range(each):
        add(f"  var x{m} = vec2f();\n")
    add("  if (reading) {\n")
    for m in range(each):
        where = f"src[from_ + {m}u * hop]" if plain else f"load(begin, offset + {m * apart}u * P[2].z)"
        add(f"    x{m} = {where};\n")
    add("  }\n")


def _write(out: Lines, kind: str, each: int, apart: int) -> None:
    add = out.lines.append
    plain = kind == PLAIN
    if plain:
        add(f"  let to_ = into + goal * P[3].z;\n  let step = {apart}u * P[4].x * P[3].z;\n")
    add("  if (writing) {\n")
    for m in range(each):
        add(
            f"    dst[to_ + {m}u * step] = x{m};\n"
            if plain
            else f"    store(into, goal + {m * apart}u * P[4].x, x{m});\n"
        )
    add("  }\n")


def _exchange(out: Lines, found: list[tuple[str, int, str]], places: list[int], again: bool) -> None:
    """Values to workgroup memory, and what the next step needs from there. again: others may still be reading."""
    add = out.lines.append
    if again:
        add("  workgroupBarrier();\n")
    for to, by, y in found:
        add(f"  stage[{to} ^ {by}u] = {y};\n")
    add("  workgroupBarrier();\n")
    held = out.let("at(writes.y * R + writes.x)")
    for m, place in enumerate(places):
        add(f"  x{m} = stage[{held} ^ {place}u];\n")


def _exchange_nested(
    out: Lines, nest: Nest, found: list[tuple[str, int, str]], apart: int, parts: bool, again: bool
) -> None:
    """The same by arrays of arrays; parts: x, then y, in half the memory."""
    add = out.lines.append
    read: Callable[[int], str] | None = None
    for part in (".x", ".y") if parts else ("",):
        if again or part == ".y":
            add("  workgroupBarrier();\n")
        for to, _, y in found:
            add(f"  {to} = {y}{part};\n")
        add("  workgroupBarrier();\n")
        read = read or nest.place(out, "writes", nest.reads)
        for m in range(1 << nest.bits - nest.own):
            add(f"  x{m}{part} = {read(m * apart)};\n")


def _roots(out: Lines, m: str, n: int, count: int) -> list[str]:
    """exp(-2 pi i m k / n) for k = 1 .. count: of one k or two directly, of the others by products."""
    by = f"vec2f({number(4 / n)}, {number(1 / n)})"
    m = out.let(m)
    w = [out.let(f"fft_root({m}, {n}u, {by})")]
    if count <= 8:
        return powers(out, w[0], count)
    w = powers(out, w[0], 3)
    fours = powers(out, out.let(f"fft_root(4u * {m}, {n}u, {by})"), count // 4)
    return [
        fours[k // 4 - 1]
        if not k % 4
        else w[k - 1]
        if k < 4
        else out.let(f"fft_times({fours[k // 4 - 1]}, {w[k % 4 - 1]})")
        for k in range(1, count + 1)
    ]


def _twiddles(out: Lines, each: int, apart: int) -> None:
    """Values times what stands between two passes: the roots of the first position, of the step to the next and of that
    to the fourth directly, all others by products."""
    by = "P[5].y, bitcast<vec2f>(P[5].zw)"

    def root(m: str) -> str:
        return out.let(f"fft_root(write.z * {m}, {by})")

    begin = root("writes.x")
    fine = powers(out, root(f"{apart}u"), min(3, each - 1)) if each > 1 else []
    fours = powers(out, root(f"{4 * apart}u"), each // 4 - 1) if each > 4 else []
    for m in range(each):
        if not m % 4:
            coarse = out.let(f"fft_times({begin}, {fours[m // 4 - 1]})") if m else begin
            w = coarse
        else:
            w = out.let(f"fft_times({coarse}, {fine[m % 4 - 1]})")
        out.lines.append(f"  x{m} = fft_times(x{m}, {w});\n")
