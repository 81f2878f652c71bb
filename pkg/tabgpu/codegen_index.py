"""WGSL of indexed reads and writes: gather, scatter, and the pass that finds the last writer of each element.

A launch walks a space U of up to `rank` axes. `base` says where an element of U lies in the indexed array, were all
indices 0; each pick adds index * stride. Elements move as bits. Words: 0 first element, 1 end, then the sizes of U;
base offset and strides; for each pick its axis' length and stride, its array's offset and strides; then what else.
Mode "drop": an index out of range reads a value given in two more words, or writes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from .codegen import (
    SCALAR_TYPE,
    address,
    apply,
    bindings,
    decode,
    encode,
    load_bits,
    load_one,
    locator,
    parameters,
    walking,
    with_library,
    word,
)
from .codegen_strided import successor
from .dtypes import BY_KIND, DType, uint8, uint16, uint32

FIRST = 2  # word of U's sizes


class Gather(NamedTuple):
    """out[u] = array[base(u) + picks(u)], row-major. even: whole fours lie in a row of U; still: no index depends on
    the place in the row; quad: then four neighbours are one load."""

    dtype: DType
    picks: tuple[DType, ...]
    mode: str
    rank: int
    workgroup: int
    even: bool = False
    still: bool = False
    quad: bool = False


class Scatter(NamedTuple):
    """array[base(u) + picks(u)] = combine(.., value[u]); expr "" assigns. constant: the value is in the parameters.
    claimed: only the update that `claims` names for its element writes."""

    dtype: DType
    picks: tuple[DType, ...]
    mode: str
    rank: int
    workgroup: int
    expr: str
    constant: bool
    claimed: bool


class Claim(NamedTuple):
    """claims[cell(u)] = max(position(u) + 1): the last of the updates of an element."""

    picks: tuple[DType, ...]
    mode: str
    rank: int
    workgroup: int


def raw(dtype: DType) -> DType:
    """The unsigned dtype of the same size: values that only move are bits."""
    return {1: uint8, 2: uint16}.get(dtype.itemsize, dtype if dtype.kind == "c" else uint32)


class _Text:
    """Parameter words and the lines that find an element's place."""

    def __init__(self, picks: tuple[DType, ...], mode: str, rank: int, first_binding: int) -> None:
        self.picks, self.mode, self.rank, self.first = picks, mode, rank, first_binding
        self.at = FIRST + rank
        self.base = self.take(1 + rank)
        self.walks = [self.take(3 + rank) for _ in picks]

    def take(self, n: int) -> int:
        at, self.at = self.at, self.at + n
        return at

    def place(self, point: str, name: str) -> list[str]:
        """Statements for `var NAME`, the element of the array that a point of U means."""
        base = address(point, self.rank, word(self.base), self.base + 1)
        return self.moved(base, [address(point, self.rank, word(at + 2), at + 3) for at in self.walks], name)

    def moved(self, base: str, froms: list[str], name: str) -> list[str]:
        """The same from the addresses of the element without indices, and of each index."""
        lines = [f"var {name} = {base};"]
        lines += [f"var {name}_in = true;"] * (self.mode == "drop" and bool(self.picks))
        for k, (dtype, at) in enumerate(zip(self.picks, self.walks, strict=True)):
            lines.append(f"let {name}_{k} = {froms[k]};")
            value = self.index(self.first + k, dtype, f"{name}_{k}")
            if self.mode == "drop":
                lines.append(f"{name}_in = {name}_in & (bitcast<u32>({value}) < {word(at)});")
            lines.append(f"{name} += {self.way}({value}, {word(at)}) * {word(at + 1)};")
        return lines

    def leave(self, name: str) -> list[str]:
        """The statement that ends the thread of a dropped update."""
        return [f"if (!{name}_in) {{ return; }}"] * (self.mode == "drop" and bool(self.picks))

    def index(self, binding: int, dtype: DType, at: str) -> str:
        """An index as i32; where it may be out of range, unsigned ones above all of i32 stay there."""
        value = load_one(binding, dtype, at)
        if dtype.kind == "i":
            return value
        if self.mode in ("clip", "drop"):
            value = f"min({value}, 0x7fffffffu)"
        return f"bitcast<i32>({value})"

    @property
    def way(self) -> str:
        """The function that keeps an index inside; dropped ones may be anywhere there."""
        return f"index_{'clip' if self.mode == 'drop' else self.mode}"


def _main(
    workgroup: int, each: int, lines: list[str], functions: str, sorts: list[tuple[str, str]], words: int
) -> str:
    body = "\n  ".join(lines)
    return with_library(
        bindings(sorts) + parameters(words) + functions
        + f"@compute @workgroup_size({workgroup})\n"
        + "fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u,\n"
        + "        @builtin(local_invocation_index) l: u32) {\n"
        + f"  let i = P[0].x + ((g.x + ng.x * (g.y + ng.y * g.z)) * {workgroup}u + l) * {each}u;\n"
        + f"  if (i >= P[0].y) {{ return; }}\n  {body}\n}}\n"
    )  # fmt: skip


def gather(sig: Gather) -> tuple[str, str]:
    """(WGSL, access string): b0 the array, b1.. the indices, w0 the result; four elements a thread, whole words."""
    dtype, rank = raw(sig.dtype), sig.rank
    text = _Text(sig.picks, sig.mode, rank, 1)
    functions = locator("locate", rank, FIRST)
    fours = {4: "u32", 2: "vec2u"}.get(dtype.per_word, "vec4u")
    step = word(text.base + rank)  # along the last axis
    drop = sig.mode == "drop" and bool(sig.picks)
    fill = text.take(2) if drop else 0
    lines = ["let p0 = locate(i);"]
    if sig.still:
        lines += text.place("p0", "d0")
        lines += [f"let d{j} = d0 + {j}u * {step};" for j in (1, 2, 3)] * (not sig.quad)
    elif sig.even:
        lines.append(f"let e = {address('p0', rank, word(text.base), text.base + 1)};")
        starts = [address("p0", rank, word(at + 2), at + 3) for at in text.walks]
        lines += [f"let e_{k} = {start};" for k, start in enumerate(starts)]
        for j in range(4):
            froms = [f"e_{k} + {j}u * {word(at + 2 + rank)}" for k, at in enumerate(text.walks)]
            lines += text.moved(f"e + {j}u * {step}", froms, f"d{j}")
    else:
        functions += successor("locate", rank, FIRST)
        for j in range(4):
            lines += [f"let p{j} = locate_next(p{j - 1});"] if j else []
            lines += text.place(f"p{j}", f"d{j}")
    ok = ["d0_in" if sig.still else f"d{j}_in" for j in range(4)]
    kinds = ["u32", fours]
    if sig.quad:
        twice = dtype.kind == "c"
        other = (
            f"vec4u({word(fill)}, {word(fill + 1)}, {word(fill)}, {word(fill + 1)})"
            if twice
            else f"{fours}({word(fill)})"
        )
        pick = f"select({other}, {{}}, d0_in)" if drop else "{}"
        for at in ("", " + 1u") if twice else ("",):
            shift = "1u" if twice else "2u"
            lines.append(f"w0[(i >> {shift}){at}] = {pick.format(f'b0[(d0 >> {shift}){at}]')};")
        kinds = [fours, fours]
    elif dtype.kind == "c":
        for j in range(4):
            pair = [f"b0[2u * d{j}]", f"b0[2u * d{j} + 1u]"]
            if drop:
                pair = [f"select({word(fill + part)}, {one}, {ok[j]})" for part, one in enumerate(pair)]
            lines.append(f"if (i + {j}u < P[0].y) {{ w0[2u * (i + {j}u)] = {pair[0]}; "
                         f"w0[2u * (i + {j}u) + 1u] = {pair[1]}; }}")  # fmt: skip
        kinds = ["u32", "u32"]
    else:
        each = [load_bits(0, dtype, f"d{j}") for j in range(4)]
        if drop:
            each = [f"select({word(fill)}, {one}, {inside})" for one, inside in zip(each, ok, strict=True)]
        bits = ", ".join(each)
        pack = {4: "pack_bytes({})", 2: "pack_halves({})"}.get(dtype.per_word, "{}")
        lines.append(f"w0[i >> 2u] = {pack.format(f'vec4u({bits})')};")
    sorts = [("b0", kinds[0]), *((f"b{1 + k}", "u32") for k in range(len(sig.picks))), ("w0", kinds[1])]
    body = walking(sig.workgroup, dtype.per_word, "\n  ".join(lines))
    code = with_library(bindings(sorts) + parameters(text.at) + functions + body)
    return code, "r" * (1 + len(sig.picks)) + "w"


def claim(sig: Claim) -> tuple[str, str]:
    """(WGSL, access string): b0.. the indices, w0 the claims, one word an element that can be written."""
    text = _Text(sig.picks, sig.mode, sig.rank, 0)
    lines = ["let p = locate(i);", *text.place("p", "d"), *text.leave("d"), "atomicMax(&w0[d], i + 1u);"]
    sorts = [*((f"b{k}", "u32") for k in range(len(sig.picks))), ("w0", "atomic<u32>")]
    functions = locator("locate", sig.rank, FIRST)
    return _main(sig.workgroup, 1, lines, functions, sorts, text.at), "r" * len(sig.picks) + "w"


def runs(sig: Scatter) -> bool:
    """Whether a scatter is a mere copy into a part of the array, which needs no atomics: four elements a thread."""
    return not sig.expr and not sig.picks and sig.dtype.per_word == 1


def run(sig: Scatter) -> tuple[str, str]:
    """The text of such a scatter: b0 the values (unless constant), w0 the array."""
    dtype, rank = raw(sig.dtype), sig.rank
    text = _Text((), sig.mode, rank, 0)
    at = text.take(2 if sig.constant else 1 + rank)
    lines = []
    for j in range(4):
        lines.append(f"let p{j} = locate_next(p{j - 1});" if j else "let p0 = locate(i);")
        lines += text.place(f"p{j}", f"d{j}")
        place, step = (f"2u * d{j}", "2u * ") if dtype.kind == "c" else (f"d{j}", "")
        if not sig.constant:
            lines.append(f"let s{j} = {address(f'p{j}', rank, word(at), at + 1)};")
        one = word(at) if sig.constant else f"b0[{step}s{j}]"
        stores = f"w0[{place}] = {one};"
        if dtype.kind == "c":
            two = word(at + 1) if sig.constant else f"b0[2u * s{j} + 1u]"
            stores += f" w0[{place} + 1u] = {two};"
        lines.append(f"if (i + {j}u < P[0].y) {{ {stores} }}")
    sorts = [("b0", "u32")] * (not sig.constant) + [("w0", "u32")]
    functions = locator("locate", rank, FIRST) + successor("locate", rank, FIRST)
    return _main(sig.workgroup, 4, lines, functions, sorts, text.at), "r" * (not sig.constant) + "w"


def scatter(sig: Scatter) -> tuple[str, str]:
    """(WGSL, access string): b0 the values (unless constant), then the indices, then the claims; w0 the array."""
    if runs(sig):
        return run(sig)
    move = not sig.expr
    dtype = raw(sig.dtype) if move else sig.dtype
    n = 0 if sig.constant else 1
    text = _Text(sig.picks, sig.mode, sig.rank, n)
    sorts = [(f"b{k}", "u32") for k in range(n + len(sig.picks) + sig.claimed)] + [("w0", "atomic<u32>")]
    lines = ["let p = locate(i);", *text.place("p", "d"), *text.leave("d")]
    guard = ""
    if sig.claimed:
        at = text.take(2 * (1 + sig.rank) + len(sig.picks))
        cell, order = at, at + 1 + sig.rank
        lines.append(f"var c = {address('p', sig.rank, word(cell), cell + 1)};")
        for k, (pick, walk) in enumerate(zip(sig.picks, text.walks, strict=True)):
            value = text.index(n + k, pick, f"d_{k}")
            lines.append(f"c += {text.way}({value}, {word(walk)}) * {word(order + 1 + sig.rank + k)};")
        lines.append(f"let turn = {address('p', sig.rank, word(order), order + 1)};")
        guard = f"if (b{n + len(sig.picks)}[c] != turn + 1u) {{ return; }}"
    if guard:
        lines.append(guard)
    if sig.constant:
        at = text.take(2)
        one, two = word(at), word(at + 1)
    else:
        at = text.take(1 + sig.rank)
        lines.append(f"let s = {address('p', sig.rank, word(at), at + 1)};")
        two = "b0[2u * s + 1u]"
        one = "b0[2u * s]" if dtype.kind == "c" else load_bits(0, dtype, "s")
    if dtype.kind == "c":
        for part, value in enumerate((one, two)):
            lines += _write(BY_KIND["f"], sig.expr, f"2u * d + {part}u", value)
    else:
        lines += _write(dtype, sig.expr, "d", one)
    functions = locator("locate", sig.rank, FIRST)
    return _main(sig.workgroup, 1, lines, functions, sorts, text.at), "r" * (len(sorts) - 1) + "w"


# WGSL's own atomics, for whole words whose combination they are.
_ATOMIC = {
    ("i", "x + y"): "atomicAdd(&w0[{at}], {value});",
    ("u", "x + y"): "atomicAdd(&w0[{at}], {value});",
    ("u", "max(x, y)"): "atomicMax(&w0[{at}], {value});",
    ("u", "min(x, y)"): "atomicMin(&w0[{at}], {value});",
}


def _write(dtype: DType, expr: str, at: str, bits: str) -> list[str]:
    """Statements that put the bits of one value to an element, alone or combined with what is there."""
    if dtype.per_word == 1:
        if not expr:
            return [f"atomicStore(&w0[{at}], {bits});"]
        known = _ATOMIC.get((dtype.kind, expr))
        if known:
            return [known.format(at=at, value=bits)]
        return _exchange(dtype, expr, at, "0u", bits)
    shift = {4: "2u", 2: "1u"}[dtype.per_word]
    lane = f"(({at}) & {dtype.per_word - 1}u) * {8 * dtype.itemsize}u"
    if expr:
        return _exchange(dtype, expr, f"({at}) >> {shift}", lane, bits)
    mask = f"{(1 << 8 * dtype.itemsize) - 1}u"
    return [  # each element owns its bits of the word
        f"atomicAnd(&w0[({at}) >> {shift}], ~({mask} << ({lane})));",
        f"atomicOr(&w0[({at}) >> {shift}], ({bits} & {mask}) << ({lane}));",
    ]


def _exchange(dtype: DType, expr: str, at: str, lane: str, bits: str) -> list[str]:
    """A loop of compare and exchange on bits, so that NaN ends it too."""
    mask = f"{(1 << 8 * dtype.itemsize) - 1}u" if dtype.itemsize < 4 else "0xffffffffu"
    made = apply(expr, ["a", "b"])
    if dtype.fit:
        made = f"{dtype.fit}({made})"
    return [
        "{",
        f"  let word = {at};",
        f"  let lane = {lane};",
        f"  let b: {SCALAR_TYPE[dtype.kind]} = {decode(dtype, f'({bits})', 1)};",
        "  var old = atomicLoad(&w0[word]);",
        "  loop {",
        f"    let held = (old >> lane) & {mask};",
        f"    let a: {SCALAR_TYPE[dtype.kind]} = {decode(dtype, 'held', 1)};",
        f"    let new_bits = ({encode(dtype, made, 1)}) & {mask};",
        f"    let tried = atomicCompareExchangeWeak(&w0[word], old, (old & ~({mask} << lane)) | (new_bits << lane));",
        "    if (tried.exchanged) { break; }",
        "    old = tried.old_value;",
        "  }",
        "}",
    ]
