"""The text of fft_block.wgsl: the steps of a line of a power of two in registers, and what is exchanged between."""

from __future__ import annotations

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
    thread at most, whether positions are exchanged by their parts."""

    name: str
    n: int
    lines: int
    load: str
    store: str
    twiddles: bool
    each: int = EACH
    parts: bool = False

    @property
    def threads(self) -> int:
        """Threads of a workgroup."""
        return self.lines * self.n // min(self.n, self.each)


def block(key: Block) -> tuple[str, str]:
    """(WGSL, access string)."""
    n, each = key.n, min(key.n, key.each)
    plan = LONG[n] if key.each > EACH else PLANS[n]
    apart = n // each
    near = each.bit_length() - 1 if key.each > EACH else 4
    far, mask = 8, 15
    if (
        key.parts
    ):  # neighbouring lines, whose numbers stand above those of positions, to the highest bits of a bank's
        mask, far = 31, max(7, n.bit_length() - 1 + min(5, key.lines.bit_length() - 1) - 5)
    out = Lines()
    add = out.lines.append

    def mixed(p: int) -> int:
        """`at` of the file. It is linear over bits: at(p + q) = at(p) ^ at(q), where p and q have no bit in common."""
        return p ^ (((p >> near) ^ (p >> far)) & mask)

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
            if k + 1 < len(plan):
                j = out.let(f"{home}.x + {b * apart}u")
                low = out.let(f"{j} & {before - 1}u") if before > 1 else "0u"
                to = out.let(f"at({home}.y * R + ({j} - {low}) * {radix}u + {low})")
                found += [(to, mixed(i * before), y) for i, y in enumerate(values)]
            else:
                for i, y in enumerate(values):
                    add(f"  x{b + i * some} = {y};\n")
        before *= radix
        if k + 1 < len(plan):
            _exchange(out, found, [mixed(m * apart) for m in range(each)], key.parts, bool(k))
            home = "writes"
    if key.twiddles:
        _twiddles(out, each, apart)
    _write(out, key.store, each, apart)
    sizes = {"R": n, "E": each, "LINES": key.lines, "NEAR": near, "FAR": far, "BITS": mask}
    text = kernels.specialise(key.name, **sizes, V="f32" if key.parts else "vec2f")
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


def _exchange(
    out: Lines, found: list[tuple[str, int, str]], places: list[int], parts: bool, again: bool
) -> None:
    """Values to workgroup memory, and what the next step needs from there. again: others may still be reading."""
    add = out.lines.append
    held = ""
    for part in (".x", ".y") if parts else ("",):
        if again or part == ".y":
            add("  workgroupBarrier();\n")
        for to, by, y in found:
            add(f"  stage[{to} ^ {by}u] = {y}{part};\n")
        add("  workgroupBarrier();\n")
        held = held or out.let("at(writes.y * R + writes.x)")
        for m, place in enumerate(places):
            add(f"  x{m}{part} = stage[{held} ^ {place}u];\n")


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
