"""WGSL of indexed reads and writes: gather, scatter, and the pass that finds the last writer of each element.

A launch walks a space U of up to `rank` axes. `base` says where an element of U lies in the indexed array, were all
indices 0; each pick adds index * stride. Elements move as bits. Words: 0 first element, 1 end, then the sizes of U;
base offset and strides; for each pick its axis' length and stride, its array's offset and strides; then what else.
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
    with_library,
    word,
)
from .dtypes import BY_KIND, DType, uint8, uint16, uint32

FIRST = 2  # word of U's sizes


class Gather(NamedTuple):
    """out[u] = array[base(u) + picks(u)], row-major."""

    dtype: DType
    picks: tuple[DType, ...]
    mode: str
    rank: int
    workgroup: int


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
        lines = [f"var {name} = {address(point, self.rank, word(self.base), self.base + 1)};"]
        for k, (dtype, at) in enumerate(zip(self.picks, self.walks, strict=True)):
            lines.append(f"let {name}_{k} = {address(point, self.rank, word(at + 2), at + 3)};")
            value = load_one(self.first + k, dtype, f"{name}_{k}")
            value = value if dtype.kind == "i" else f"bitcast<i32>({value})"
            lines.append(f"{name} += index_{self.mode}({value}, {word(at)}) * {word(at + 1)};")
        return lines


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
    dtype = raw(sig.dtype)
    text = _Text(sig.picks, sig.mode, sig.rank, 1)
    lines = []
    for j in range(4):
        lines.append(f"let p{j} = locate(min(i + {j}u, P[0].y - 1u));")
        lines += text.place(f"p{j}", f"d{j}")
    if dtype.kind == "c":
        for j in range(4):
            lines.append(f"if (i + {j}u < P[0].y) {{ w0[2u * (i + {j}u)] = b0[2u * d{j}]; "
                         f"w0[2u * (i + {j}u) + 1u] = b0[2u * d{j} + 1u]; }}")  # fmt: skip
        kind = "u32"
    else:
        bits = ", ".join(load_bits(0, dtype, f"d{j}") for j in range(4))
        pack = {4: "pack_bytes({})", 2: "pack_halves({})"}.get(dtype.per_word, "{}")
        kind = {4: "u32", 2: "vec2u"}.get(dtype.per_word, "vec4u")
        lines.append(f"w0[i >> 2u] = {pack.format(f'vec4u({bits})')};")
    sorts = [("b0", "u32"), *((f"b{1 + k}", "u32") for k in range(len(sig.picks))), ("w0", kind)]
    functions = locator("locate", sig.rank, FIRST)
    return _main(sig.workgroup, 4, lines, functions, sorts, text.at), "r" * (1 + len(sig.picks)) + "w"


def claim(sig: Claim) -> tuple[str, str]:
    """(WGSL, access string): b0.. the indices, w0 the claims, one word an element that can be written."""
    text = _Text(sig.picks, sig.mode, sig.rank, 0)
    lines = ["let p = locate(i);", *text.place("p", "d"), "atomicMax(&w0[d], i + 1u);"]
    sorts = [*((f"b{k}", "u32") for k in range(len(sig.picks))), ("w0", "atomic<u32>")]
    functions = locator("locate", sig.rank, FIRST)
    return _main(sig.workgroup, 1, lines, functions, sorts, text.at), "r" * len(sig.picks) + "w"


def scatter(sig: Scatter) -> tuple[str, str]:
    """(WGSL, access string): b0 the values (unless constant), then the indices, then the claims; w0 the array."""
    move = not sig.expr
    dtype = raw(sig.dtype) if move else sig.dtype
    n = 0 if sig.constant else 1
    text = _Text(sig.picks, sig.mode, sig.rank, n)
    sorts = [(f"b{k}", "u32") for k in range(n + len(sig.picks) + sig.claimed)] + [("w0", "atomic<u32>")]
    lines = ["let p = locate(i);", *text.place("p", "d")]
    guard = ""
    if sig.claimed:
        at = text.take(2 * (1 + sig.rank) + len(sig.picks))
        cell, order = at, at + 1 + sig.rank
        lines.append(f"var c = {address('p', sig.rank, word(cell), cell + 1)};")
        for k, (pick, walk) in enumerate(zip(sig.picks, text.walks, strict=True)):
            value = load_one(n + k, pick, f"d_{k}")
            value = value if pick.kind == "i" else f"bitcast<i32>({value})"
            lines.append(f"c += index_{sig.mode}({value}, {word(walk)}) * {word(order + 1 + sig.rank + k)};")
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
