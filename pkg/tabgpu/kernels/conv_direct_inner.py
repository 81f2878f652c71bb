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
        """Rows of input, elements of a row that a thread reads, vec4s that hold them, for a stride. An odd number:
        neighbours then meet other banks."""
        reads = 3 * step + SIDE
        return (self.high - 1) * step + SIDE, reads, -(-reads // 4) | 1

    def rows(self, step: int) -> tuple[int, int]:
        """Rows of the two arrays in workgroup memory: a channel's taps of a thread's outputs; what a thread reads of a
        row of pixels. Afterwards both together hold the slices' sums."""
        high, _, quads = self.halo(step)
        pixels = self.deep * high * (self.wide // 4)
        sums = self.each * self.threads if self.slices > 1 else 0
        taps = TAPS * self.each // 4
        return max(self.deep * (self.outs // self.each), -(-(sums - pixels * quads) // taps)), pixels

    def memory(self, step: int) -> int:
        """vec4s of workgroup memory."""
        weights, pixels = self.rows(step)
        return weights * (TAPS * self.each // 4) + pixels * self.halo(step)[2]


def direct(span: Span, step: int) -> tuple[str, str]:
    """(declarations, the block) for a tile and a stride of both axes.

    Compilers of WGSL clamp each index that is not a constant. So the taps and what a thread reads of a row are inner
    arrays whose indices are constants.
    """
    high, wide, outs, each, slices, deep = span
    rows, reads, quads = span.halo(step)
    held = -(-reads // 4)
    nt, ns, across, aw = span.threads, span.shared, wide // 4, outs // 4
    group, some, taps = high * across, each // 4, TAPS * each // 4
    weights, pixels = span.rows(step)
    blocks, windows = deep * TAPS * outs // 16, deep * rows * across
    passes_a, passes_b = range(-(-blocks // nt)), range(-(-windows // nt))
    cells = range(each)
    head = (
        f"var<workgroup> weights: array<array<vec4<T>, {taps}>, {weights}>;\n"
        f"var<workgroup> pixels: array<array<vec4<T>, {quads}>, {pixels}>;\n"
    )
    if slices > 1:
        count = weights * taps
        head += (
            f"fn leave(i: u32, v: vec4<T>) {{\n  if (i < {count}u) {{ weights[i / {taps}u][i % {taps}u] = v; }}\n"
            f"  else {{ pixels[(i - {count}u) / {quads}u][(i - {count}u) % {quads}u] = v; }}\n}}\n"
            f"fn left(i: u32) -> vec4<T> {{\n  if (i < {count}u) {{ return weights[i / {taps}u][i % {taps}u]; }}\n"
            f"  return pixels[(i - {count}u) / {quads}u][(i - {count}u) % {quads}u];\n}}\n"
        )

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
            f"let ra{p} = (li + {p * nt}u) % {aw}u;",
            f"var na{p} = Block();",
        ]
    for p in passes_b:
        out += [
            f"let q{p} = li + {p * nt}u;",
            f"let c{p} = q{p} / {rows * across}u;",
            f"let xy{p} = corner + vec2i(vec2u(q{p} / {across}u % {rows}u, q{p} % {across}u * {4 * step}u));",
            f"let ib{p} = here.b + c{p} * P[5].w + dot(bitcast<vec2u>(xy{p}), P[11].yz);",
            f"let ok{p} = vec4<bool>(bitcast<u32>(xy{p}.x) < P[10].y);",
            *(
                f"let ok{p}_{v} = ok{p} & (bitcast<vec4u>(vec4i(0, 1, 2, 3) + xy{p}.y + {4 * v}) < vec4u(P[10].z));"
                for v in range(held)
            ),
            *(f"var nb{p}_{v} = vec4<T>();" for v in range(held)),
        ]

    def fetch(k: str) -> list[str]:
        lines = []
        for p in passes_a:
            lines += when(blocks, p, [f"  na{p} = load_a(wa{p}, {k} + ka{p});"])
        for p in passes_b:
            more = [f"  let i = ib{p} + ({k}) / {TAPS}u * P[5].w;"]
            for v in range(held):
                found = [
                    f"b_one(i + {4 * v + e}u * P[11].z)" if 4 * v + e < reads else "T()" for e in range(4)
                ]
                more += [f"  nb{p}_{v} = vec4<T>({', '.join(found)});"]
            none = [f"    nb{p}_{v} = vec4<T>();" for v in range(held)]
            more += [f"  if ({k} + c{p} * {TAPS}u >= end) {{", *none, "  }"]
            lines += ["{", *when(windows, p, more), "}"]
        return lines

    out += [*fetch("begin"), "for (var k0 = begin; k0 < end; k0 += BK) {"]
    for p in passes_a:
        lines = [f"  let v = masked(na{p});"]
        for e in range(4):
            lines += [f"  let k{e} = ka{p} + {e}u;"]
            row = f"k{e} / {TAPS}u * {outs // each}u + ra{p}" + (f" / {some}u" if some > 1 else "")
            column = f"k{e} % {TAPS}u" + (f" * {some}u + ra{p} % {some}u" if some > 1 else "")
            lines += [f"  weights[{row}][{column}] = v.k{e};"]
        out += ["{", *when(blocks, p, lines), "}"]
    for p in passes_b:
        lines = [f"  pixels[q{p}][{v}] = select(vec4<T>(), nb{p}_{v}, ok{p}_{v});" for v in range(held)]
        out += when(windows, p, lines)
    out += ["workgroupBarrier();", "if (k0 + BK < end) {", *fetch("k0 + BK"), "}"]
    share = deep // slices
    out += [f"for (var c = slice * {share}u; c < slice * {share}u + {share}u; c++) {{"]
    out += [f"let a = c * {outs // each}u + og;", f"let b = (c * {rows}u + py * {step}u) * {across}u + px;"]
    for r in range(SIDE):
        out += [
            "{",
            f"let b{r} = b + {r * across}u;",
            *(f"let h{v} = pixels[b{r}][{v}];" for v in range(held)),
        ]
        for t in range(SIDE):
            places = [t + e * step for e in range(4)]
            seen = ", ".join(f"h{x // 4}.{LANES[x % 4]}" for x in places)
            out += ["{", f"let x = vec4<T>({seen});" if places != [0, 1, 2, 3] else "let x = h0;"]
            out += [f"let w{j} = weights[a][{(SIDE * r + t) * some + j}];" for j in range(some)]
            out += [f"s{i} += w{i // 4}.{LANES[i % 4]} * x;" for i in cells]
            out += ["}"]
        out += ["}"]
    out += ["}", "workgroupBarrier();", "}"]
    if slices > 1:
        out += [f"leave({i * nt}u + li, s{i});" for i in cells]
        out += ["workgroupBarrier();", f"for (var e = slice; e < {each}u; e += {slices}u) {{"]
        out += [f"  let i = e * {nt}u + lj;"]
        sums = " + ".join(f"left(i + {s * ns}u)" if s else "left(i)" for s in range(slices))
        out += [f"  let sum = {sums};"]
    else:
        out += [f"var sums = array<vec4<T>, {each}>({', '.join(f's{i}' for i in cells)});"]
        out += [f"for (var e = 0u; e < {each}u; e++) {{", "  let sum = sums[e];"]
    out += [f"  let row = at.row + og * {each}u + e;", "  let y = y0 + py;", "  let x = x0 + px * 4u;"]
    out += ["  if (row < P[0].x && y < P[4].y && x < P[4].z) {"]
    out += ["    put_some(sum, z, row, y * P[4].z + x, P[4].z - x);", "  }", "}"]
    return head, "\n".join("  " + line for line in out) + "\n"
