"""The unrolled form of gemm.wgsl's marked block: a variable per accumulator; not which tiles are used.

The looped block keeps its sums in a private array. Some compilers hold such an array in registers and some do
not, so codegen replaces the lines between `unroll: begin` and `unroll: end` by the text made here.
"""


def gemm_inner(
    bm: int, bn: int, bk: int, tm: int, tn: int, *, slices: int = 1, ahead: bool = True, steps: int = 0
) -> str:
    """WGSL for the marked block: stage, multiply and store, with the tile's sizes as numbers.

    `ahead` reads the next blocks of A and B into registers before the current ones are multiplied, which
    hides the memory latency. `steps` values of k are written out in a row (0: all of a slice); the rest is a loop.
    """
    if bm % tm or bn % tn or bk % (4 * slices) or any(v % 4 for v in (bm, bn, tm, tn)):
        raise ValueError(
            f"gemm tile ({bm}, {bn}, {bk}, {tm}, {tn}) / {slices}: sizes must be multiples of 4, tiles of threads"
        )
    tx, ty = bn // tn, bm // tm
    threads = tx * ty
    part = bk // slices
    passes = -(-(bm + bn) * bk // (16 * threads * slices))
    steps = steps or part
    cells = [(i, j) for i in range(tm) for j in range(tn // 4)]
    out = [f"var s{i}_{j} = vec4<T>();" for i, j in cells]
    load = [f"next{p} = load(li + {p * threads * slices}u, K, at);" for p in range(passes)]
    if ahead:
        out += ["var " + line.replace("K", "begin") for line in load]
    out += ["for (var k0 = begin; k0 < end; k0 += BK) {"]
    if not ahead:
        out += ["  let " + line.replace("K", "k0") for line in load]
    out += [f"  stage(li + {p * threads * slices}u, next{p});" for p in range(passes)]
    out += ["  workgroupBarrier();"]
    if ahead:
        out += ["  if (k0 + BK < end) {", *("    " + line.replace("K", "k0 + BK") for line in load), "  }"]
    looped = steps < part
    if looped:
        out += [f"  for (var kk = 0u; kk < {part}u; kk += {steps}u) {{"]
    pad = "    " if looped else "  "
    for step in range(steps):
        row = f"tile[slice][{f'kk + {step}u' if looped else f'{step}u'}]"
        out += [pad + "{"]
        out += [f"{pad}  let a{i} = {row}[{i * ty}u + ty];" for i in range(tm // 4)]
        out += [f"{pad}  let b{j} = {row}[{bm // 4 + j * tx}u + tx];" for j in range(tn // 4)]
        out += [f"{pad}  s{i}_{j} += a{i // 4}.{'xyzw'[i % 4]} * b{j};" for i, j in cells]
        out += [pad + "}"]
    if looped:
        out += ["  }"]
    out += ["  workgroupBarrier();", "}"]
    room = min(len(cells), bk * (bm + bn) // (4 * threads))  # vec4s that each thread of one slice may leave
    for s in range(1, slices):
        for first in range(0, len(cells), room):
            some = list(enumerate(cells[first : first + room]))
            out += [
                f"if (slice == {s}u) {{",
                *(f"  leave({e * threads}u + lj, s{i}_{j});" for e, (i, j) in some),
            ]
            out += ["}", "workgroupBarrier();", "if (slice == 0u) {"]
            out += [*(f"  s{i}_{j} += left({e * threads}u + lj);" for e, (i, j) in some), "}"]
            out += ["workgroupBarrier();"]
    if slices > 1:
        out += ["if (slice > 0u) { return; }"]
    # The sums go through an array once: a fused epilogue is then compiled once, not tm * tn times.
    out += [f"var sums = array<vec4<T>, {len(cells)}>({', '.join(f's{i}_{j}' for i, j in cells)});"]
    out += [
        f"for (var e = 0u; e < {len(cells)}u; e++) {{",
        f"  let i = e / {tn // 4}u;",
        f"  let j = e % {tn // 4}u;",
    ]
    out += [
        f"  put(sums[e], z, at.row + (i / 4u * {ty}u + ty) * 4u + i % 4u, at.col + (j * {tx}u + tx) * 4u);",
        "}",
    ]
    return "\n".join("  " + line for line in out) + "\n"
