"""The marked block of conv.wgsl for filters of 3 x 3: a workgroup's pixels and their surroundings, read once."""

from __future__ import annotations

from typing import NamedTuple

SIDE = 3
TAPS = SIDE * SIDE
EACH = 4  # channels out of a thread, which has four pixels in a row
READS = SIDE + 3  # elements of a row of input that it needs
HELD = 2  # vec4s of them
QUADS = 3  # vec4s between two threads' rows: an odd number meets other banks
LANES = "xyzw"


class Span(NamedTuple):
    """A workgroup's tile: rows and columns of pixels, channels out, groups of threads that share the channels in,
    channels in that are staged at a time."""

    high: int
    wide: int
    outs: int
    slices: int
    deep: int

    @property
    def name(self) -> str:
        """As in a kernel's label."""
        return f"d{self.high}x{self.wide}x{self.outs}s{self.slices}"

    @property
    def shared(self) -> int:
        """Threads of a slice."""
        return self.high * self.wide // 4 * (self.outs // EACH)

    @property
    def threads(self) -> int:
        """Threads of the workgroup."""
        return self.shared * self.slices

    def rows(self) -> tuple[int, int]:
        """Rows of the two arrays in workgroup memory: a channel's taps of a thread's outputs; what a thread reads of a
        row of pixels. Afterwards both together hold the slices' sums."""
        pixels = self.deep * (self.high + SIDE - 1) * (self.wide // 4)
        return max(self.deep * self.outs // EACH, -(-(EACH * self.threads - pixels * QUADS) // TAPS)), pixels

    @property
    def memory(self) -> int:
        """vec4s of workgroup memory."""
        weights, pixels = self.rows()
        return weights * TAPS + pixels * QUADS


def direct(span: Span) -> tuple[str, str]:
    """(declarations, the block) for a tile.

    Compilers of WGSL clamp each index that is not a constant. So the taps and what a thread reads of a row are inner
    arrays whose indices are constants.
    """
    high, wide, outs, slices, deep = span
    rows, across, aw = high + SIDE - 1, wide // 4, outs // EACH
    nt, ns, group = span.threads, span.shared, high * across
    weights, pixels = span.rows()
    blocks, windows, count = deep * TAPS * outs // 16, deep * rows * across, weights * TAPS
    passes_a, passes_b = range(-(-blocks // nt)), range(-(-windows // nt))
    cells, held = range(EACH), range(HELD)
    head = (
        f"var<workgroup> weights: array<array<vec4<T>, {TAPS}>, {weights}>;\n"
        f"var<workgroup> pixels: array<array<vec4<T>, {QUADS}>, {pixels}>;\n"
        f"fn leave(i: u32, v: vec4<T>) {{\n  if (i < {count}u) {{ weights[i / {TAPS}u][i % {TAPS}u] = v; }}\n"
        f"  else {{ pixels[(i - {count}u) / {QUADS}u][(i - {count}u) % {QUADS}u] = v; }}\n}}\n"
        f"fn left(i: u32) -> vec4<T> {{\n  if (i < {count}u) {{ return weights[i / {TAPS}u][i % {TAPS}u]; }}\n"
        f"  return pixels[(i - {count}u) / {QUADS}u][(i - {count}u) % {QUADS}u];\n}}\n"
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
        "let corner = bitcast<vec2i>(vec2u(y0, x0)) + here.f.yz;",
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
            f"let xy{p} = corner + vec2i(vec2u(q{p} / {across}u % {rows}u, q{p} % {across}u * 4u));",
            f"let ib{p} = here.b + c{p} * P[5].w + dot(bitcast<vec2u>(xy{p}), P[11].yz);",
            f"let ok{p} = vec4<bool>(bitcast<u32>(xy{p}.x) < P[10].y);",
            *(
                f"let ok{p}_{v} = ok{p} & (bitcast<vec4u>(vec4i(0, 1, 2, 3) + xy{p}.y + {4 * v}) < vec4u(P[10].z));"
                for v in held
            ),
            *(f"var nb{p}_{v} = vec4<T>();" for v in held),
        ]

    def fetch(k: str) -> list[str]:
        lines = []
        for p in passes_a:
            lines += when(blocks, p, [f"  na{p} = load_a(wa{p}, {k} + ka{p});"])
        for p in passes_b:
            more = [f"  let i = ib{p} + ({k}) / {TAPS}u * P[5].w;"]
            for v in held:
                found = [
                    f"b_one(i + {4 * v + e}u * P[11].z)" if 4 * v + e < READS else "T()" for e in range(4)
                ]
                more += [f"  nb{p}_{v} = vec4<T>({', '.join(found)});"]
            none = [f"    nb{p}_{v} = vec4<T>();" for v in held]
            more += [f"  if ({k} + c{p} * {TAPS}u >= end) {{", *none, "  }"]
            lines += ["{", *when(windows, p, more), "}"]
        return lines

    out += [*fetch("begin"), "for (var k0 = begin; k0 < end; k0 += BK) {"]
    for p in passes_a:
        lines = [f"  let v = masked(na{p});"]
        for e in range(4):
            lines += [f"  let k{e} = ka{p} + {e}u;"]
            lines += [f"  weights[k{e} / {TAPS}u * {aw}u + ra{p}][k{e} % {TAPS}u] = v.k{e};"]
        out += ["{", *when(blocks, p, lines), "}"]
    for p in passes_b:
        lines = [f"  pixels[q{p}][{v}] = select(vec4<T>(), nb{p}_{v}, ok{p}_{v});" for v in held]
        out += when(windows, p, lines)
    out += ["workgroupBarrier();", "if (k0 + BK < end) {", *fetch("k0 + BK"), "}"]
    share = deep // slices
    out += [f"for (var c = slice * {share}u; c < slice * {share}u + {share}u; c++) {{"]
    out += [f"let a = c * {aw}u + og;", f"let b = (c * {rows}u + py) * {across}u + px;"]
    for r in range(SIDE):
        out += [
            "{",
            f"let b{r} = b + {r * across}u;",
            *(f"let h{v} = pixels[b{r}][{v}];" for v in held),
        ]
        for t in range(SIDE):
            seen = ", ".join(f"h{x // 4}.{LANES[x % 4]}" for x in range(t, t + 4))
            out += ["{", f"let x = vec4<T>({seen});" if t else "let x = h0;"]
            out += [f"let w = weights[a][{SIDE * r + t}];"]
            out += [f"s{i} += w.{LANES[i]} * x;" for i in cells]
            out += ["}"]
        out += ["}"]
    out += ["}", "workgroupBarrier();", "}"]
    out += [f"leave({i * nt}u + li, s{i});" for i in cells]
    out += ["workgroupBarrier();", f"for (var e = slice; e < {EACH}u; e += {slices}u) {{"]
    out += [f"  let i = e * {nt}u + lj;"]
    sums = " + ".join(f"left(i + {s * ns}u)" if s else "left(i)" for s in range(slices))
    out += [f"  let sum = {sums};"]
    out += [f"  let row = at.row + og * {EACH}u + e;", "  let y = y0 + py;", "  let x = x0 + px * 4u;"]
    out += ["  if (row < P[0].x && y < P[4].y && x < P[4].z) {"]
    out += ["    put_some(sum, z, row, y * P[4].z + x, P[4].z - x);", "  }", "}"]
    return head, "\n".join("  " + line for line in out) + "\n"
