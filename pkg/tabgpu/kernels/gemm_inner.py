"""The unrolled form of gemm.wgsl's marked block: a variable per accumulator; not which tiles are used.

The looped block keeps its sums in a private array. Some compilers hold such an array in registers and some do
not, so codegen replaces the lines between `unroll: begin` and `unroll: end` by the text made here.
"""


def gemm_inner(
    bm: int,
    bn: int,
    bk: int,
    tm: int,
    tn: int,
    *,
    slices: int = 1,
    pad: int = 0,
    direct: bool = False,
    ahead: bool = True,
) -> str:
    """WGSL for the marked block: stage, multiply and store, with the tile's sizes as numbers.

    `direct` is for CPU adapters, to which workgroup memory and barriers are dear: each thread reads its own blocks of
    both operands, four k at a time (bk = 4). `ahead` reads the next blocks of A and B into
    registers before the current ones are multiplied, which hides the memory latency.
    """
    if bm % tm or bn % tn or bk % (4 * slices) or any(v % 4 for v in (bm, bn, tm, tn)) or (direct and bk > 4):
        raise ValueError(
            f"gemm tile ({bm}, {bn}, {bk}, {tm}, {tn}) / {slices}: sizes must be multiples of 4, tiles of threads"
        )
    tx, ty = bn // tn, bm // tm
    threads = tx * ty
    part = bk // slices
    width = (bm + bn) // 4  # vec4s of one k in workgroup memory
    passes = range(-(-(bm + bn) * bk // (16 * threads * slices)))
    cells = [(i, j) for i in range(tm) for j in range(tn // 4)]
    out = [f"var s{i}_{j} = vec4<T>();" for i, j in cells]
    block = [f"li + {p * threads * slices}u" for p in passes]
    load = [f"next{p} = load({block[p]}, K, at);" for p in passes]
    fetch: list[str] = []
    if direct:
        out += _direct(tm, tn, tx, ty)
        return _lines(out + _put(cells, tn, tx, ty))
    if ahead:
        for p in passes:  # most passes hold blocks of one operand only
            first, last = p * threads * slices, (p + 1) * threads * slices
            side = "_a" if last <= bm * bk // 16 else "_b" if first >= bm * bk // 16 else ""
            number = f"{block[p]} - A_BLOCKS" if side == "_b" else block[p]
            out += [f"let w{p} = start{side}({number}, at);"]
            fetch += [f"next{p} = fetch{side}({'' if side else block[p] + ', '}w{p}.x + (k0 + BK) * w{p}.y);"]
    if ahead:
        out += ["var " + line.replace("K", "begin") for line in load]
    out += ["for (var k0 = begin; k0 < end; k0 += BK) {"]
    if not ahead:
        out += ["  let " + line.replace("K", "k0") for line in load]
    out += [f"  stage({block[p]}, next{p});" for p in passes]
    out += ["  workgroupBarrier();"]
    if fetch:
        out += [
            "  if (k0 + 2u * BK <= end) {",
            *("    " + line for line in fetch),
            "  } else if (k0 + BK < end) {",
        ]
    elif ahead:
        out += ["  if (k0 + BK < end) {"]
    if ahead:
        out += [*("    " + line.replace("K", "k0 + BK") for line in load), "  }"]
    for step in range(part):
        start = f"{step // 4 * (4 * width + pad) + step % 4 * width}u"
        if slices > 1:
            start = f"slice * {part // 4 * (4 * width + pad)}u + {start}"
        out += ["  {"]
        out += [f"    let a{i} = tile[{start} + {i * ty}u + ty];" for i in range(tm // 4)]
        out += [f"    let b{j} = tile[{start} + {bm // 4 + j * tx}u + tx];" for j in range(tn // 4)]
        out += [f"    s{i}_{j} += a{i // 4}.{'xyzw'[i % 4]} * b{j};" for i, j in cells]
        out += ["  }"]
    out += ["  workgroupBarrier();", "}"]
    room = min(len(cells), bk * (bm + bn) // (4 * threads))  # vec4s that each thread of one slice may leave
    for s in range(1, slices):
        for first in range(0, len(cells), room):
            some = list(enumerate(cells[first : first + room]))
            out += [
                f"if (slice == {s}u) {{",
                *(f"  tile[{e * threads}u + lj] = s{i}_{j};" for e, (i, j) in some),
            ]
            out += ["}", "workgroupBarrier();", "if (slice == 0u) {"]
            out += [*(f"  s{i}_{j} += tile[{e * threads}u + lj];" for e, (i, j) in some), "}"]
            out += ["workgroupBarrier();"]
    if slices > 1:
        out += ["if (slice > 0u) { return; }"]
    return _lines(out + _put(cells, tn, tx, ty))


def _direct(tm: int, tn: int, tx: int, ty: int) -> list[str]:
    """Every k of the thread's part, without workgroup memory: whole fours, then what is left. Blocks come turned, which
    costs a CPU adapter nothing: its vectors lie across threads."""
    blocks = [("a", i, f"{i * ty}u + ty") for i in range(tm // 4)]
    blocks += [("b", j, f"{j * tx}u + tx") for j in range(tn // 4)]
    add = [
        f"  s{i}_{j} += a{i // 4}.k{k}.{'xyzw'[i % 4]} * b{j}.k{k};"
        for k in range(4)
        for i in range(tm)
        for j in range(tn // 4)
    ]
    return [
        *(f"let w{x}{i} = start_{x}({block}, at);" for x, i, block in blocks),
        "let whole = begin + (end - begin) / 4u * 4u;",
        "for (var k0 = begin; k0 < whole; k0 += BK) {",
        *(f"  let {x}{i} = fetch_{x}(w{x}{i}.x + k0 * w{x}{i}.y);" for x, i, _ in blocks),
        *add,
        "}",
        "if (whole < end) {",
        *(f"  let {x}{i} = load_{x}({block}, whole, at);" for x, i, block in blocks),
        *add,
        "}",
    ]


def _put(cells: list[tuple[int, int]], tn: int, tx: int, ty: int) -> list[str]:
    """The sums go through an array once: a fused epilogue is then compiled once, not tm * tn times."""
    return [
        f"var sums = array<vec4<T>, {len(cells)}>({', '.join(f's{i}_{j}' for i, j in cells)});",
        f"for (var e = 0u; e < {len(cells)}u; e++) {{",
        f"  let i = e / {tn // 4}u;",
        f"  let j = e % {tn // 4}u;",
        f"  put(sums[e], z, at.row + (i / 4u * {ty}u + ty) * 4u + i % 4u, at.col + (j * {tx}u + tx) * 4u);",
        "}",
    ]


def _lines(out: list[str]) -> str:
    return "\n".join("  " + line for line in out) + "\n"
