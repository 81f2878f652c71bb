"""The marked block of conv.wgsl for filters of 3 x 3: a workgroup's pixels and their surroundings, read once."""

from __future__ import annotations

from typing import NamedTuple

SIDE = 3
TAPS = SIDE * SIDE
LANES = "xyzw"


class Span(NamedTuple):
    """A workgroup's tile: rows and columns of pixels, channels out, those of a thread (which has four pixels in a row),
    groups of threads that share the channels in, channels in that are staged at a time."""

    high: int
    wide: int
    outs: int
    each: int
    slices: int
    deep: int

    @property
    def name(self) -> str:
        """As in a kernel's label."""
        return (
            f"d{self.high}x{self.wide}x{self.outs}" + f"e{self.each}" * (self.each != 4) + f"s{self.slices}"
        )

    @property
    def shared(self) -> int:
        """Threads of a slice."""
        return self.high * self.wide // 4 * (self.outs // self.each)

    @property
    def threads(self) -> int:
        """Threads of the workgroup."""
        return self.shared * self.slices

    def halo(self, step: int) -> tuple[int, int, int]:
        """Rows of input, vec4s of a row, vec4s that a thread reads of it, for a stride."""
        reads = -(-(3 * step + SIDE) // 4)
        return (self.high - 1) * step + SIDE, step * (self.wide // 4 - 1) + reads, reads

    def memory(self, step: int) -> int:
        """vec4s of workgroup memory: a stage of weights and pixels, afterwards the slices' sums."""
        rows, row, _ = self.halo(step)
        sums = self.each * self.threads if self.slices > 1 else 0
        return max(self.deep * (TAPS * self.outs // 4 + rows * row), sums)


def direct(span: Span, step: int) -> str:
    """The block for a tile and a stride of both axes."""
    high, wide, outs, each, slices, deep = span
    rows, row, reads = span.halo(step)
    nt, ns, across, aw = span.threads, span.shared, wide // 4, outs // 4
    group = high * across
    blocks, quads = deep * TAPS * outs // 16, deep * rows * row
    pixels = deep * TAPS * aw  # where they begin
    passes_a, passes_b = range(-(-blocks // nt)), range(-(-quads // nt))
    cells = range(each)

    def when(count: int, p: int, lines: list[str]) -> list[str]:
        """Lines of pass p, for the threads that have something to do in it."""
        return lines if (p + 1) * nt <= count else [f"if (li < {count - p * nt}u) {{", *lines, "}"]

    out = [
        f"let tiles = (P[4].z + {wide - 1}u) / {wide}u;",
        f"let y0 = own.y / tiles * {high}u;",
        f"let x0 = own.y % tiles * {wide}u;",
        f"let slice = li / {ns}u;",
        f"let lj = li % {ns}u;",
        f"let py = lj % {group}u / {across}u;",
        f"let px = lj % {across}u;",
        f"let og = lj / {group}u;",
        "let corner = bitcast<vec2i>(vec2u(y0, x0) * P[5].yz) + here.f.yz;",
        *(f"var s{i} = vec4<T>();" for i in cells),
    ]
    for p in passes_a:
        out += [
            f"let wa{p} = row_walk(at.a + (at.row + (li + {p * nt}u) % {aw}u * 4u) * P[2].x);",
            f"let ka{p} = (li + {p * nt}u) / {aw}u * 4u;",
            f"var na{p} = Block();",
        ]
    for p in passes_b:
        out += [
            f"let q{p} = li + {p * nt}u;",
            f"let c{p} = q{p} / {rows * row}u * {TAPS}u;",
            f"let xy{p} = corner + vec2i(vec2u(q{p} / {row}u % {rows}u, q{p} % {row}u * 4u));",
            f"let ib{p} = here.b + c{p} / {TAPS}u * P[5].w + dot(bitcast<vec2u>(xy{p}), P[11].yz);",
            f"let ok{p} = (bitcast<vec4u>(vec4i(xy{p}.y) + vec4i(0, 1, 2, 3)) < vec4u(P[10].z))",
            f"  & vec4<bool>(bitcast<u32>(xy{p}.x) < P[10].y);",
            f"var nb{p} = vec4<T>();",
        ]

    def fetch(k: str) -> list[str]:
        lines = []
        for p in passes_a:
            lines += when(blocks, p, [f"  na{p} = load_a(wa{p}, {k} + ka{p});"])
        for p in passes_b:
            more = [f"  let i = ib{p} + ({k}) / {TAPS}u * P[5].w;"]
            reads_ = ", ".join(f"b_one(i + {e}u * P[11].z)" if e else "b_one(i)" for e in range(4))
            more += [f"  nb{p} = vec4<T>({reads_});", f"  if ({k} + c{p} >= end) {{ nb{p} = vec4<T>(); }}"]
            lines += ["{", *when(quads, p, more), "}"]
        return lines

    out += [*fetch("begin"), "for (var k0 = begin; k0 < end; k0 += BK) {"]
    for p in passes_a:
        lines = [f"  let v = masked(na{p});", f"  let i = ka{p} * {aw}u + (li + {p * nt}u) % {aw}u;"]
        lines += [f"  tile[i + {e * aw}u] = v.k{e};" for e in range(4)]
        out += ["{", *when(blocks, p, lines), "}"]
    for p in passes_b:
        out += when(quads, p, [f"  tile[{pixels}u + q{p}] = select(vec4<T>(), nb{p}, ok{p});"])
    out += ["workgroupBarrier();", "if (k0 + BK < end) {", *fetch("k0 + BK"), "}"]
    share = deep // slices
    out += [f"for (var c = slice * {share}u; c < slice * {share}u + {share}u; c++) {{"]
    out += [f"let a = c * {TAPS * aw}u + og * {each // 4}u;"]
    out += [f"let b = {pixels}u + (c * {rows}u + py * {step}u) * {row}u + px * {step}u;"]
    for r in range(SIDE):
        out += ["{", *(f"let h{v} = tile[b + {r * row + v}u];" for v in range(reads))]
        for t in range(SIDE):
            places = [t + e * step for e in range(4)]
            seen = ", ".join(f"h{x // 4}.{LANES[x % 4]}" for x in places)
            out += ["{", f"let x = vec4<T>({seen});" if places != [0, 1, 2, 3] else "let x = h0;"]
            out += [f"let w{j} = tile[a + {(SIDE * r + t) * aw + j}u];" for j in range(each // 4)]
            out += [f"s{i} += w{i // 4}.{LANES[i % 4]} * x;" for i in cells]
            out += ["}"]
        out += ["}"]
    out += ["}", "workgroupBarrier();", "}"]
    if slices > 1:
        out += [f"tile[{i * nt}u + li] = s{i};" for i in cells]
        out += ["workgroupBarrier();", f"for (var e = slice; e < {each}u; e += {slices}u) {{"]
        out += [f"  let i = e * {nt}u + lj;"]
        sums = " + ".join(f"tile[i + {s * ns}u]" if s else "tile[i]" for s in range(slices))
        out += [f"  let sum = {sums};"]
    else:
        out += [f"var sums = array<vec4<T>, {each}>({', '.join(f's{i}' for i in cells)});"]
        out += [f"for (var e = 0u; e < {each}u; e++) {{", "  let sum = sums[e];"]
    out += [f"  let row = at.row + og * {each}u + e;", "  let y = y0 + py;", "  let x = x0 + px * 4u;"]
    out += ["  if (row < P[0].x && y < P[4].y && x < P[4].z) {"]
    out += ["    put_some(sum, z, row, y * P[4].z + x, P[4].z - x);", "  }", "}"]
    return "\n".join("  " + line for line in out) + "\n"
