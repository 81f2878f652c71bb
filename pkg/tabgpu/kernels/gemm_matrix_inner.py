"""The form of gemm_matrix.wgsl's marked block that uses subgroup matrices, and what stands in front of it.

Sizes of a subgroup matrix are written columns first. Offsets and strides of loads and stores count elements of the
array they go to: vec4u, eight halves, and vec4f, four sums.
"""

SIDE = 16  # rows and columns of all matrices
HEAD = """enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);
alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sum = subgroup_matrix_result<f32, 16, 16>;
"""


def memory(bm: int, bn: int, bk: int, sm: int, sn: int, depth: int) -> int:
    """Bytes of workgroup memory in the worst case of directions."""
    tile = max(bm * (bk // 8 + 1), bk * (bm // 8 + 1)) + max(bn * (bk // 8 + 1), bk * (bn // 8 + 1))
    return 16 * (depth * tile + 2 * 64 * (bm // sm) * (bn // sn))


def gemm_matrix_inner(
    bm: int, bn: int, bk: int, sm: int, sn: int, depth: int, a_along_k: bool, b_along_k: bool
) -> tuple[str, str]:
    """(declarations, block). A subgroup sums sm x sn of the tile; `depth` 2: one buffer fills, the other is used."""
    across = bn // sn
    subgroups = across * (bm // sm)
    threads = 32 * subgroups
    a_rows, a_width = (bm, bk // 8) if a_along_k else (bk, bm // 8)  # as it lies: rows of vec4us
    b_rows, b_width = (bn, bk // 8) if b_along_k else (bk, bn // 8)
    a_step, b_step = a_width + 1, b_width + 1  # a vec4u more: neighbouring rows in other banks
    head = HEAD
    head += f"var<workgroup> a_tile: array<array<vec4u, {a_rows * a_step}>, {depth}>;\n"
    head += f"var<workgroup> b_tile: array<array<vec4u, {b_rows * b_step}>, {depth}>;\n"
    head += f"var<workgroup> sums: array<array<vec4f, {64 * subgroups}>, 2>;\n"
    out = [
        "let subgroup = li / 32u;",
        "let lane = li % 32u;",
        f"let sr = subgroup / {across}u * {sm}u;",
        f"let sc = subgroup % {across}u * {sn}u;",
        # From one row to the next, and to the next step of k, in vec4us.
        f"let a_next = P[1].{'y' if a_along_k else 'z'} / 8u;",
        f"let b_next = P[2].{'z' if b_along_k else 'y'} / 8u;",
        f"let a_more = {f'{bk // 8}u' if a_along_k else f'{bk}u * a_next'};",
        f"let b_more = {f'{bk // 8}u' if b_along_k else f'{bk}u * b_next'};",
        f"let a_at = {'a0 / 8u + row * a_next' if a_along_k else '(a0 + row) / 8u'};",
        f"let b_at = {'b0 / 8u + col * b_next' if b_along_k else '(b0 + col) / 8u'};",
    ]
    fetch: list[str] = []
    put: dict[str, list[str]] = {"0": [], "1": []}
    for name, rows, width, step in (("a", a_rows, a_width, a_step), ("b", b_rows, b_width, b_step)):
        total = rows * width
        for p in range(-(-total // threads)):
            at = f"li + {p * threads}u" if total % threads == 0 else f"min(li + {p * threads}u, {total - 1}u)"
            v = f"{name}v{p}"
            out += [f"let {v}_i = {at};"]
            out += [f"let {v}_g = {name}_at + {v}_i / {width}u * {name}_next + {v}_i % {width}u;"]
            out += [
                f"let {v}_t = {v}_i / {width}u * {step}u + {v}_i % {width}u;",
                f"var {v} = {name}[{v}_g];",
            ]
            fetch += [f"{v} = {name}[{v}_g + step * {name}_more];"]
            for buffer, lines in put.items():
                lines += [f"{name}_tile[{buffer}][{v}_t] = {v};"]
    cells = [(i, j) for i in range(sm // SIDE) for j in range(sn // SIDE)]
    out += [f"var s{i}_{j} = Sum();" for i, j in cells]

    def multiply(buffer: str) -> list[str]:
        text = []
        for x in range(0, bk, SIDE):
            text += ["{"]
            for i in range(sm // SIDE):
                if a_along_k:
                    where, order = f"(sr + {i * SIDE}u) * {a_step}u + {x // 8}u", "row_major"
                else:
                    where, order = f"{x * a_step}u + (sr + {i * SIDE}u) / 8u", "col_major"
                text += [
                    f"let l{i} = subgroupMatrixLoad<Left, {order}>(&a_tile[{buffer}], {where}, {a_step}u);"
                ]
            for j in range(sn // SIDE):
                if b_along_k:
                    where, order = f"(sc + {j * SIDE}u) * {b_step}u + {x // 8}u", "col_major"
                else:
                    where, order = f"{x * b_step}u + (sc + {j * SIDE}u) / 8u", "row_major"
                text += [
                    f"let r{j} = subgroupMatrixLoad<Right, {order}>(&b_tile[{buffer}], {where}, {b_step}u);"
                ]
            text += [f"s{i}_{j} = subgroupMatrixMultiplyAccumulate(l{i}, r{j}, s{i}_{j});" for i, j in cells]
            text += ["}"]
        return text

    out += [f"let steps = k / {bk}u;", "var step = 1u;"]
    again = ["if (step < steps) {", *fetch, "}"]
    if depth == 1:
        out += ["for (; step <= steps; step++) {", *put["0"], "workgroupBarrier();", *again]
        out += [*multiply("0"), "workgroupBarrier();", "}"]
    else:  # two steps written out, so that the buffers are constants
        out += [*put["0"], "workgroupBarrier();", "for (; step <= steps; step++) {"]
        out += [*again, *multiply("0"), "if (step < steps) {", *put["1"], "}", "workgroupBarrier();"]
        out += ["step++;", "if (step > steps) { break; }"]
        out += [*again, *multiply("1"), "if (step < steps) {", *put["0"], "}", "workgroupBarrier();", "}"]
    # The sums leave through workgroup memory, a matrix at a time, by turns through two places.
    for e, (i, j) in enumerate(cells):
        out += [f"subgroupMatrixStore<row_major>(&sums[{e % 2}], subgroup * 64u, s{i}_{j}, 4u);"]
        out += ["workgroupBarrier();", "for (var e = lane; e < 64u; e += 32u) {"]
        where = f"c0 + (sr + {i * SIDE}u + e / 4u) * n + sc + {j * SIDE}u + e % 4u * 4u"
        out += [f"  emit4(sums[{e % 2}][subgroup * 64u + e], {where});", "}"]
    return head, "\n".join("  " + line for line in out) + "\n"
