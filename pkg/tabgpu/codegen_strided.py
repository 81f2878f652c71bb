"""WGSL of elementwise kernels whose operands are not all contiguous: in rows, or in tiles through workgroup memory.

Each access has a form, known when the text is made; strides and offsets are parameters. Four values a thread: four
neighbours of a row in both classes, or four rows below one another in a tile whose rows do not hold whole vec4s.
"""

from __future__ import annotations

from typing import NamedTuple

from .codegen import (
    LANES,
    Access,
    Elementwise,
    Region,
    Writer,
    address,
    bindings,
    decode,
    element_type,
    encode,
    fold,
    load_bits,
    locator,
    parameters,
    store_four,
    walking,
    with_library,
    word,
)
from .dtypes import DType

# Forms. QUAD: four neighbours with one load. ONE: one element for all four. STEP: four loads, a stride apart.
# TURNED and TURNED_STEP: the operand's neighbours lie along the tile's other axis, with one load for four or with four.
QUAD, ONE, STEP, TURNED, TURNED_STEP = range(5)


class Tiled(NamedTuple):
    """An elementwise kernel over square tiles of the innermost axis and one other. rank: how many axes remain.

    down: four values lie below one another, each stored by itself (rows of any length, elements of whole words)."""

    region: Region
    rank: int
    inputs: int
    tile: int
    down: bool


def sorts_of(region: Region, inputs: int, down: bool = False) -> tuple[list[tuple[str, str]], set[int]]:
    """(declarations of group 0, bindings of single words): a binding that some access reads by fours holds fours."""
    dtypes = {b: dtype for b, dtype, _ in region.accesses if b >= 0}
    fours = {b for b, _, form in region.accesses if form in (QUAD, TURNED)}
    sorts = [(f"b{b}", element_type(dtypes[b]) if b in fours else "u32") for b in range(inputs)]
    sorts += [(f"w{k}", "u32" if down else element_type(d)) for k, (_, d) in enumerate(region.outs)]
    return sorts, set(dtypes) - fours


def bits_at(binding: int, dtype: DType, at: str, words: set[int]) -> str:
    """The bits of the element at an address (a name or a simple expression in brackets), in a word of its own."""
    if binding < 0 or binding in words:
        return load_bits(binding, dtype, at)
    if dtype.per_word == 4:
        return f"byte(b{binding}[{at} >> 2u], {at})"
    if dtype.per_word == 2:
        return f"half_word(b{binding}[{at} >> 2u][({at} >> 1u) & 1u], {at})"
    return f"b{binding}[{at} >> 2u][{at} & 3u]"


def one_at(binding: int, dtype: DType, at: str, words: set[int]) -> str:
    """One complex number at an address."""
    b = f"b{binding}"
    if binding in words:
        return f"bitcast<vec2f>(vec2u({b}[2u * {at}], {b}[2u * {at} + 1u]))"
    return f"bitcast<vec2f>(vec2u({b}[{at} >> 1u][2u * ({at} & 1u)], {b}[{at} >> 1u][2u * ({at} & 1u) + 1u]))"


def four_at(access: Access, ats: list[str], words: set[int]) -> str:
    """Four elements at addresses, as a value; four times the same address for one element."""
    binding, dtype, _ = access
    same = len(set(ats)) == 1
    if dtype.kind == "c":
        if same:
            return f"complex_all({one_at(binding, dtype, ats[0], words)})"
        return f"mat4x2f({', '.join(one_at(binding, dtype, a, words) for a in ats)})"
    found = [bits_at(binding, dtype, a, words) for a in ats[: 1 if same else 4]]
    return decode(dtype, f"vec4u({', '.join(found)})", 4)


def quad_at(binding: int, dtype: DType, at: str) -> str:
    """Four neighbours at an address that is a multiple of four: their bits, a word each. Not for complex64."""
    held = f"b{binding}[{at} >> 2u]"
    return {4: f"spread_bytes({held})", 2: f"spread_halves({held})"}.get(dtype.per_word, held)


def direct(access: Access, at: str, stride: str, words: set[int]) -> tuple[list[str], str]:
    """(statements, value): four neighbours from address `at` (a name) on, by form."""
    binding, dtype, form = access
    if binding < 0:
        return [], f"vec4i(vec4u({at}) + vec4u(0u, 1u, 2u, 3u) * {stride})"
    if form == QUAD:
        if dtype.kind == "c":
            return [], f"complex4(b{binding}[{at} >> 1u], b{binding}[({at} >> 1u) + 1u])"
        return [], decode(dtype, quad_at(binding, dtype, at), 4)
    if form == ONE:
        return [], four_at(access, [at] * 4, words)
    lines = [f"let {at}_{j} = {at} + {j}u * {stride};" for j in (1, 2, 3)]
    return lines, four_at(access, [at, *(f"{at}_{j}" for j in (1, 2, 3))], words)


def successor(name: str, rank: int, sizes: int) -> str:
    """fn NAME_next(p): the coordinates of the next element."""
    point, rank = name.title(), max(rank, 1)
    lines = [f"let m{rank - 1} = p.m{rank - 1} + 1u;"]
    fields = []
    for d in range(rank - 1, 0, -1):
        lines.append(f"let c{d} = m{d} == {word(sizes + d)};")
        lines.append(f"let m{d - 1} = p.m{d - 1} + select(0u, 1u, c{d});")
        fields.append(f"select(m{d}, 0u, c{d})")
    lines.append(f"return {point}({', '.join(['m0', *fields[::-1]])});")
    body = "\n  ".join(lines)
    return f"fn {name}_next(p: {point}) -> {point} {{\n  {body}\n}}\n"


HEAD = """fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u,
        @builtin(local_invocation_index) l: u32) {
"""


def rows(sig: Elementwise) -> tuple[str, str]:
    """(WGSL, access string) of the rows class. Words: 0 first element, 1 end, 2 where the window begins, 4 sizes,
    offset and strides of each access. even: whole vec4s lie in a row; else QUAD is an operand without gaps, ONE a
    single element."""
    region, rank = sig.region, sig.rank
    out = Writer(region, 4, 4)
    sizes = out.take(rank)
    places = [out.take(1 + rank) for _ in region.accesses]
    out.scalar_at = out.take(region.scalars)
    sorts, words = sorts_of(region, sig.inputs)
    lines, functions = out.lines, locator("locate", rank, sizes)
    lines.append(f"let {'p' if sig.even else 'p0'} = locate(i);")
    stepped = any(form == STEP for _, _, form in region.accesses)
    if not sig.even and stepped:
        functions += successor("locate", rank, sizes)
        lines += [f"let p{j} = locate_next(p{j - 1});" for j in (1, 2, 3)]
    for k, (access, at) in enumerate(zip(region.accesses, places, strict=True)):
        if sig.even:
            lines.append(f"let d{k} = {address('p', rank, word(at), at + 1)};")
            more, value = direct(access, f"d{k}", word(at + rank), words)
            lines += more
        elif access[2] != STEP:
            lines.append(f"let d{k} = {word(at)}{' + i' * (access[2] == QUAD)};")
            value = direct(access, f"d{k}", "1u", words)[1]
        else:
            lines += [f"let d{k}_{j} = {address(f'p{j}', rank, word(at), at + 1)};" for j in range(4)]
            value = four_at(access, [f"d{k}_{j}" for j in range(4)], words)
        lines.append(f"let a{k} = {value};")
    out.compute(packing=True)
    for k, (ref, dtype) in enumerate(region.outs):
        lines.append(f"let o{k} = {out.value(ref, dtype.kind)};")
        lines += store_four(f"w{k}", dtype, f"o{k}", f"i - {word(2)}", ref in out.loose)
    body = "\n  ".join(lines)
    text = bindings(sorts) + parameters(out.at) + functions + walking(sig.workgroup, fold(region), body)
    return with_library(text), "r" * sig.inputs + "w" * len(region.outs)


def threads(tile: int) -> int:
    """Of a workgroup: each makes four rows of four."""
    return tile * tile // 16


def stage(
    k: int, access: Access, places: int, rank: int, tile: int, words: set[int], pitch: int = 0
) -> tuple[str, list[str]]:
    """(declaration, statements): one access of a whole tile, turned four by four on its way to workgroup memory. Tiles
    begin `pitch` columns apart.

    The fours of a column lie exclusive-or'd with the block's row, so that neither side meets the same bank twice."""
    binding, dtype, form = access
    wide = tile // 4
    kind = element_type(dtype)
    n = tile * wide * (2 if dtype.kind == "c" else 1)
    along, down = word(places + 1 + rank), word(places + 2 + rank)
    lines = [
        f"let e = base{k} + (ta * {tile}u + lx * 4u) * {along} + (tb * {pitch or tile}u + ly * 4u) * {down};"
    ]
    for r in range(4):
        at = f"e{r}"
        lines.append(f"let {at} = e + {r}u * {down};")
        if dtype.kind == "c":
            quick, step = (binding, dtype, QUAD), (binding, dtype, STEP)
            more, value = direct(quick if form == TURNED else step, at, along, words)
        elif form == TURNED:
            more, value = [], quad_at(binding, dtype, at)
        else:
            more = [f"let {at}_{j} = {at} + {j}u * {along};" for j in (1, 2, 3)]
            ats = [at, *(f"{at}_{j}" for j in (1, 2, 3))]
            value = f"vec4u({', '.join(bits_at(binding, dtype, a, words) for a in ats)})"
        lines += [*more, f"let q{r} = {value};"]
    for j in range(4):
        where = f"(lx * 4u + {j}u) * {wide}u + (ly ^ lx)"
        if dtype.kind == "c":
            lines += [
                f"t{k}[2u * ({where})] = bitcast<vec4u>(vec4f(q0[{j}], q1[{j}]));",
                f"t{k}[2u * ({where}) + 1u] = bitcast<vec4u>(vec4f(q2[{j}], q3[{j}]));",
            ]
            continue
        turned = f"vec4u(q0[{j}], q1[{j}], q2[{j}], q3[{j}])"
        packed = {4: f"pack_bytes({turned})", 2: f"pack_halves({turned})"}.get(dtype.per_word, turned)
        lines.append(f"t{k}[{where}] = {packed};")
    return f"var<workgroup> t{k}: array<{kind}, {n}>;\n", ["{", *(f"  {x}" for x in lines), "}"]


def staged(k: int, dtype: DType, tile: int) -> str:
    """Four neighbours of row `y - ta * tile` of a turned tile, those of this thread."""
    where = f"(ly * 4u + k) * {tile // 4}u + (lx ^ ly)"
    if dtype.kind == "c":
        return f"complex4(t{k}[2u * ({where})], t{k}[2u * ({where}) + 1u])"
    held = f"t{k}[{where}]"
    return decode(
        dtype, {4: f"spread_bytes({held})", 2: f"spread_halves({held})"}.get(dtype.per_word, held), 4
    )


def staged_down(k: int, dtype: DType, tile: int) -> str:
    """One column of four rows of a turned tile, from row r0 on."""
    ats = [f"((r0 + {j}u) * {tile // 4}u + ((cx >> 2u) ^ (r0 >> 2u)))" for j in range(4)]
    if dtype.kind == "c":
        parts = [f"t{k}[2u * {a} + ((cx >> 1u) & 1u)]" for a in ats]
        ones = [f"bitcast<vec2f>(select({p}.xy, {p}.zw, (cx & 1u) == 1u))" for p in parts]
        return f"mat4x2f({', '.join(ones)})"
    found = {
        4: [f"byte(t{k}[{a}], cx)" for a in ats],
        2: [f"half_word(t{k}[{a}][(cx >> 1u) & 1u], cx)" for a in ats],
    }.get(dtype.per_word, [f"t{k}[{a}][cx & 3u]" for a in ats])
    return decode(dtype, f"vec4u({', '.join(found)})", 4)


def tiled(sig: Tiled) -> tuple[str, str]:
    """(WGSL, access string) of the tiled class. Words: 0 first workgroup, 1 workgroups, 2 rows, 3 columns,
    4 tiles down, 5 tiles across, 6 elements from row to row of the result; 8 sizes of the other axes, their strides in
    the result; of each access: offset, strides of the other axes, stride down the rows, stride across."""
    region, rank, tile, down = sig.region, sig.rank, sig.tile, sig.down
    out = Writer(region, 8, 4)
    sizes, steps = out.take(rank), out.take(rank)
    places = [out.take(3 + rank) for _ in region.accesses]
    out.scalar_at = out.take(region.scalars)
    sorts, words = sorts_of(region, sig.inputs, down)
    memory, before = "", []
    for k, (access, at) in enumerate(zip(region.accesses, places, strict=True)):
        before.append(f"let base{k} = {address('p', rank, word(at), at + 1)};")
        if access[2] in (TURNED, TURNED_STEP):
            declared, lines = stage(k, access, at, rank, tile, words)
            memory += declared
            before += lines
    before.append(f"let base = {address('p', rank, None, steps)};")
    if memory:
        before.append("workgroupBarrier();")
    lines = out.lines
    for k, (access, at) in enumerate(zip(region.accesses, places, strict=True)):
        row, across = word(at + 1 + rank), word(at + 2 + rank)
        if access[2] in (TURNED, TURNED_STEP):
            value = (staged_down if down else staged)(k, access[1], tile)
        elif down:
            lines.append(f"let d{k} = base{k} + y * {row} + x * {across};")
            more, value = direct((*access[:2], STEP), f"d{k}", row, words)
            lines += more
        else:
            lines.append(f"let d{k} = base{k} + y * {row} + x * {across};")
            more, value = direct(access, f"d{k}", across, words)
            lines += more
        lines.append(f"let a{k} = {value};")
    out.compute(packing=not down)
    for k, (ref, dtype) in enumerate(region.outs):
        lines.append(f"let o{k} = {out.value(ref, dtype.kind)};")
        if down:
            lines += store_down(k, dtype)
        else:
            lines += store_four(f"w{k}", dtype, f"o{k}", f"base + y * {word(6)} + x", ref in out.loose)
    where = (
        f"let cx = l & {tile - 1}u;\n  let x = tb * {tile}u + cx;"
        if down
        else f"let x = tb * {tile}u + lx * 4u;"
    )
    row = (
        f"let r0 = (l / {tile}u + k * {tile // 16}u) * 4u;\n    let y = ta * {tile}u + r0;"
        if down
        else f"let y = ta * {tile}u + ly * 4u + k;"
    )
    body, first = "\n    ".join(lines), "\n  ".join(before)
    text = (
        bindings(sorts) + parameters(out.at) + locator("locate", rank, sizes) + memory
        + f"@compute @workgroup_size({threads(tile)})\n" + HEAD
        + f"  let w = {word(0)} + g.x + ng.x * (g.y + ng.y * g.z);\n"
        + f"  if (w >= {word(1)}) {{ return; }}\n"
        + f"  let tb = w % {word(5)};\n  let high = w / {word(5)};\n"
        + f"  let ta = high % {word(4)};\n  let p = locate(high / {word(4)});\n"
        + f"  let lx = l % {tile // 4}u;\n  let ly = l / {tile // 4}u;\n  {first}\n"
        + f"  {where}\n  if (x >= {word(3)}) {{ return; }}\n"
        + f"  for (var k = 0u; k < 4u; k++) {{\n    {row}\n"
        + f"    if (y >= {word(2)}) {{ return; }}\n    {body}\n  }}\n}}\n"
    )  # fmt: skip
    return with_library(text), "r" * sig.inputs + "w" * len(region.outs)


def store_down(k: int, dtype: DType) -> list[str]:
    """Statements that store four values below one another, of rows that there are."""
    lines = []
    for j in range(4):
        at = f"base + (y + {j}u) * {word(6)} + x"
        if dtype.kind == "c":
            both = [f"w{k}[2u * ({at}) + {p}u] = bitcast<u32>(o{k}[{j}].{LANES[p]});" for p in (0, 1)]
            stores = " ".join(both)
        else:
            stores = f"w{k}[{at}] = {encode(dtype, f'o{k}.{LANES[j]}', 1)};"
        lines.append(f"if (y + {j}u < {word(2)}) {{ {stores} }}")
    return lines
