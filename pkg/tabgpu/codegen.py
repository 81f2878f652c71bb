"""Scalar expressions -> WGSL text. The only module that builds WGSL from strings; it knows no ops, only signatures.

A signature says everything a kernel's text depends on and nothing else: no sizes, strides, offsets or scalars. A
value inside it is a reference: 4*k node k, 4*k+1 access k, 4*k+2 scalar slot k, 3 what a hand-written kernel hands on.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from . import kernels
from .dtypes import DType
from .graph import Fn, ReduceFn

NODE, ACCESS, SCALAR, VALUE = range(4)
SCALAR_TYPE = {"f": "f32", "i": "i32", "u": "u32", "b": "bool"}
VECTOR_TYPE = {"f": "vec4f", "i": "vec4i", "u": "vec4u", "b": "vec4<bool>"}
LANES = "xyzw"
_OPERAND = re.compile(r"\b[xyz]\b")


class Region(NamedTuple):
    """Elementwise work over one iteration space. accesses: (binding, kind, splat); binding -1 is the position (iota),
    splat (flat class only) one element for all."""

    accesses: tuple[tuple[int, str, bool], ...]
    nodes: tuple[tuple[Fn, tuple[int, ...]], ...]
    outs: tuple[tuple[int, DType], ...]
    scalars: int


class Elementwise(NamedTuple):
    """A whole elementwise kernel. rank -1: all contiguous or one element, four at a time; else the general class."""

    region: Region
    rank: int
    inputs: int
    workgroup: int


class Gather(NamedTuple):
    """Copies what lies in one window of a strided source to its row-major place."""

    kind: str
    rank: int
    workgroup: int


class Reduction(NamedTuple):
    """A reduction kernel: `pre` feeds it, `post` takes its value. flat: four neighbours with one load."""

    fn: ReduceFn
    pre: Region
    post: Region | None  # None: write partials
    flat: bool
    ranks: tuple[int, int, int]  # kept axes, reduced axes, axes of the post region
    inputs: int
    workgroup: int
    lanes: int
    out_fast: bool
    partial: bool  # reads partials of an earlier pass


class Product(NamedTuple):
    """A gemm kernel with its epilogue."""

    kind: str
    post: Region
    rank: int
    inputs: int  # bindings read by the epilogue
    tile: tuple[tuple[str, Any], ...]  # what gemm_tiles chose: params and unroll


def word(k: int) -> str:
    """The k-th u32 of the parameters."""
    return f"P[{k // 4}].{LANES[k % 4]}"


class Writer:
    """Text of one region: where its parameter words lie and how its values are named."""

    def __init__(self, region: Region, first: int, width: int, prefix: str = "") -> None:
        self.region, self.width, self.prefix = region, width, prefix
        self.at = first  # next free parameter word
        self.scalar_at = 0
        self.lines: list[str] = []

    def take(self, n: int) -> int:
        at, self.at = self.at, self.at + n
        return at

    def scalar(self, slot: int, kind: str) -> str:
        bits = word(self.scalar_at + slot)
        one = {"u": bits, "b": f"({bits} != 0u)"}.get(kind) or f"bitcast<{SCALAR_TYPE[kind]}>({bits})"
        return f"vec4({one})" if self.width == 4 else one

    def value(self, ref: int, kind: str) -> str:
        tag, k = ref & 3, ref >> 2
        if tag == NODE:
            return f"{self.prefix}n{k}"
        if tag == ACCESS:
            return f"{self.prefix}a{k}"
        return self.scalar(k, kind) if tag == SCALAR else "v"

    def compute(self) -> None:
        """One `let` for each node."""
        for k, (fn, refs) in enumerate(self.region.nodes):
            args = [self.value(r, kind) for r, kind in zip(refs, fn.kinds, strict=True)]
            if self.width == 1 or fn.vector:
                text = apply(fn.expr, args)
            else:
                named = []
                for j, a in enumerate(args):
                    if not a.isidentifier():  # a scalar from the uniform: named once, not once a lane
                        self.lines.append(f"let {self.prefix}s{k}_{j} = {a};")
                        a = f"{self.prefix}s{k}_{j}"
                    named.append(a)
                lanes = ", ".join(apply(fn.expr, [f"{a}.{c}" for a in named]) for c in LANES)
                text = f"{VECTOR_TYPE[fn.dtype.kind]}({lanes})"
            self.lines.append(f"let {self.prefix}n{k} = {text};")


def apply(expr: str, args: list[str]) -> str:
    """A row's expression with its operands put in."""
    return _OPERAND.sub(lambda m: args["xyz".index(m.group())], expr)


def widen(kind: str, bits: str, width: int) -> str:
    """u32 bits (one or four) as values of a kind."""
    if kind == "u":
        return bits
    return f"bitcast<{(VECTOR_TYPE if width == 4 else SCALAR_TYPE)[kind]}>({bits})"


def narrow(kind: str, value: str) -> str:
    """A 32-bit value as u32 bits."""
    return value if kind == "u" else f"bitcast<{'vec4u' if value.startswith('vec4') else 'u32'}>({value})"


def pack4(kind: str, value: str) -> str:
    """Four values as what is stored: a vec4u, or one word of four bools."""
    if kind == "b":
        return f"dot(select(vec4u(), vec4u(1u, 256u, 65536u, 16777216u), {value}), vec4u(1u))"
    return value if kind == "u" else f"bitcast<vec4u>({value})"


def load_flat(access: tuple[int, str, bool], offset: str, step: str, i: str) -> str:
    """Four neighbours at offset + i (aligned), one element four times, or four positions `step` apart."""
    binding, kind, splat = access
    if binding < 0:
        return f"vec4i(vec4u({offset} + ({i}) * {step}) + vec4u(0u, 1u, 2u, 3u) * {step})"
    if splat:
        one = (
            load_one(binding, kind, offset) if kind == "b" else f"pick(b{binding}[{offset} >> 2u], {offset})"
        )
        return from_bits(binding, kind, f"vec4u({one})", 4)
    held = f"b{binding}[({offset} + {i}) >> 2u]"
    if kind == "b":
        return f"((vec4u({held}) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(255u)) != vec4u()"
    return widen(kind, held, 4)


PICK = """fn pick(q: vec4u, offset: u32) -> u32 {
  let half = select(q.xy, q.zw, (offset & 2u) != 0u);
  return select(half.x, half.y, (offset & 1u) != 0u);
}
"""


def load_one(binding: int, kind: str, address: str) -> str:
    """One element at an address, as bits (bool: 0 or 1)."""
    if binding < 0:
        return address
    if kind == "b":
        return f"byte(b{binding}[({address}) >> 2u], {address})"
    return f"b{binding}[{address}]"


BYTE = "fn byte(word: u32, address: u32) -> u32 { return (word >> ((address & 3u) * 8u)) & 255u; }\n"


def from_bits(binding: int, kind: str, bits: str, width: int) -> str:
    """What load_one's bits mean."""
    if binding < 0:
        kind = "i"
    if kind == "b":
        return f"{bits} != vec4u()" if width == 4 else f"{bits} != 0u"
    return widen(kind, bits, width)


def locator(name: str, rank: int, sizes: int) -> str:
    """fn NAME(i) -> coordinates of the i-th element of a shape whose sizes lie from word `sizes` on."""
    fields = ", ".join(f"m{d}: u32" for d in range(max(rank, 1)))
    point = name.title()
    head = f"struct {point} {{ {fields} }}\nfn {name}(i: u32) -> {point} {{"
    if rank <= 1:
        return f"{head} return {point}(i); }}\n"
    lines, left = [], "i"
    for d in range(rank - 1, 0, -1):
        lines.append(f"let q{d} = {left} / {word(sizes + d)}; let m{d} = {left} - q{d} * {word(sizes + d)};")
        left = f"q{d}"
    coords = ", ".join([left] + [f"m{d}" for d in range(1, rank)])
    body = "\n  ".join(lines)
    return f"{head}\n  {body}\n  return {point}({coords});\n}}\n"


def address(point: str, rank: int, offset: str | None, strides: int) -> str:
    """offset + coordinates . strides"""
    terms = [offset] if offset else []
    terms += [f"{point}.m{d} * {word(strides + d)}" for d in range(rank)]
    return " + ".join(terms) or "0u"


def bindings(sorts: list[tuple[str, str]]) -> str:
    """Declarations of group 0: (name, element type), names b.. read, w.. written."""
    return "".join(
        f"@group(0) @binding({k}) var<storage, {'read' if name[0] == 'b' else 'read_write'}> {name}: array<{kind}>;\n"
        for k, (name, kind) in enumerate(sorts)
    )


def parameters(words: int) -> str:
    return f"@group(1) @binding(0) var<uniform> P: array<vec4u, {-(-words // 4)}>;\n"


def elementwise(sig: Elementwise) -> tuple[str, str]:
    """(WGSL, access string) of an elementwise kernel. Words: 0 first element, 1 end, 2 where the window begins."""
    region, rank = sig.region, sig.rank
    flat = rank < 0
    out = Writer(region, 4, 4)
    sizes = out.take(max(rank, 0))
    places = [out.take(2 if flat else 1 + rank) for _ in region.accesses]
    out.scalar_at = out.take(region.scalars)
    kinds = {b: kind for b, kind, _ in region.accesses if b >= 0}
    sorts = [(f"b{b}", "vec4u" if flat and kinds[b] != "b" else "u32") for b in range(sig.inputs)]
    sorts += [(f"w{k}", "u32" if d.kind == "b" else "vec4u") for k, (_, d) in enumerate(region.outs)]
    lines = out.lines
    if flat:
        for k, (access, at) in enumerate(zip(region.accesses, places, strict=True)):
            lines.append(f"let a{k} = {load_flat(access, word(at), word(at + 1), 'i')};")
    elif region.accesses:
        lines += [f"let p{j} = locate(i + {j}u);" for j in range(4)]
        for k, ((binding, kind, _), at) in enumerate(zip(region.accesses, places, strict=True)):
            lines += [f"let d{k}_{j} = {address(f'p{j}', rank, word(at), at + 1)};" for j in range(4)]
            bits = ", ".join(load_one(binding, kind, f"d{k}_{j}") for j in range(4))
            lines.append(f"let a{k} = {from_bits(binding, kind, f'vec4u({bits})', 4)};")
    out.compute()
    for k, (ref, dtype) in enumerate(region.outs):
        lines.append(f"w{k}[(i - {word(2)}) >> 2u] = {pack4(dtype.kind, out.value(ref, dtype.kind))};")
    body = "\n  ".join(lines)
    functions = PICK + BYTE if flat else locator("locate", rank, sizes) + BYTE
    text = (
        bindings(sorts) + parameters(out.at) + functions
        + f"@compute @workgroup_size({sig.workgroup})\n"
        + "fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u,\n"
        + "        @builtin(local_invocation_index) l: u32) {\n"
        + f"  let i = {word(0)} + ((g.x + ng.x * (g.y + ng.y * g.z)) * {sig.workgroup}u + l) * 4u;\n"
        + f"  if (i >= {word(1)}) {{ return; }}\n  {body}\n}}\n"
    )  # fmt: skip
    return with_library(text), "r" * sig.inputs + "w" * len(region.outs)


def gather(sig: Gather) -> tuple[str, str]:
    """(WGSL, access string) of a gather. Words: 0 first element, 1 end, 2 where the target's window begins, 3 elements
    in the source's window, then sizes, offset and strides: an address outside the window (u32) is another launch's."""
    lines = ["let at = i - P[0].z;"]
    if sig.kind == "b":
        lines.append("var word = w0[at >> 2u];")
    for j in range(4):
        lines.append(f"let p{j} = locate(i + {j}u);")
        lines.append(f"let d{j} = {address(f'p{j}', sig.rank, word(4 + sig.rank), 5 + sig.rank)};")
        here = f"if (i + {j}u < P[0].y && d{j} < P[0].w)"
        if sig.kind == "b":
            lines.append(
                f"{here} {{ word = (word & ~{255 << 8 * j}u) | (byte(b0[d{j} >> 2u], d{j}) << {8 * j}u); }}"
            )
        else:
            lines.append(f"{here} {{ w0[at + {j}u] = b0[d{j}]; }}")
    if sig.kind == "b":
        lines.append("w0[at >> 2u] = word;")
    body = "\n  ".join(lines)
    text = (
        bindings([("b0", "u32"), ("w0", "u32")]) + parameters(5 + 2 * sig.rank) + locator("locate", sig.rank, 4) + BYTE
        + f"@compute @workgroup_size({sig.workgroup})\n"
        + "fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u,\n"
        + "        @builtin(local_invocation_index) l: u32) {\n"
        + f"  let i = P[0].x + ((g.x + ng.x * (g.y + ng.y * g.z)) * {sig.workgroup}u + l) * 4u;\n"
        + f"  if (i >= P[0].y) {{ return; }}\n  {body}\n}}\n"
    )  # fmt: skip
    return text, "rw"


def with_library(text: str) -> str:
    return kernels.library(kernels.called(text)) + "\n" + text


def epilogue(region: Region, rank: int, first: int, kind: str, base: str, shift: int) -> tuple[str, str, int]:
    """(functions, emit, words used up to) for what becomes of a hand-written kernel's value v at output index i.

    `shift` renumbers the region's bindings behind those of the kernel; `base` is where the bound window begins.
    """
    out = Writer(region, first, 1)
    sizes = out.take(rank)
    places = [out.take(1 + rank) for _ in region.accesses]
    out.scalar_at = out.take(region.scalars)
    functions = ""
    if region.accesses:
        functions = locator("post", rank, sizes)
        out.lines.append("let p = post(i);")
    for k, ((binding, k_kind, _), at) in enumerate(zip(region.accesses, places, strict=True)):
        where = binding + shift if binding >= 0 else binding
        out.lines.append(f"let d{k} = {address('p', rank, word(at), at + 1)};")
        out.lines.append(f"let a{k} = {from_bits(where, k_kind, load_one(where, k_kind, f'd{k}'), 1)};")
    out.compute()
    for k, (ref, dtype) in enumerate(region.outs):
        out.lines.append(f"w{k}[i - {base}] = {narrow(dtype.kind, out.value(ref, dtype.kind))};")
    body = "\n  ".join(out.lines)
    return functions, f"fn emit(v: {SCALAR_TYPE[kind]}, i: u32) {{\n  {body}\n}}", out.at


def reduction(sig: Reduction) -> tuple[str, str]:
    """(WGSL, access string) of a reduction kernel; kernels/reduce.wgsl or reduce_arg.wgsl with its hooks filled."""
    fn, region = sig.fn, sig.pre
    pre = Writer(region, 12, 4)
    kept, reduced, post_rank = sig.ranks
    lines, begin, private = pre.lines, [], []
    if sig.flat:
        places = [pre.take(2) for _ in region.accesses]
        functions = PICK + BYTE
        private.append("var<private> row: u32;")
        begin.append(f"row = o * {word(2)};")
        for k, (access, at) in enumerate(zip(region.accesses, places, strict=True)):
            lines.append(f"let a{k} = {load_flat(access, word(at), word(at + 1), 'row + r')};")
    else:
        kept_sizes, reduced_sizes = pre.take(kept), pre.take(reduced)
        places = [pre.take(1 + kept + reduced) for _ in region.accesses]
        functions = locator("kept", kept, kept_sizes) + locator("reduced", reduced, reduced_sizes) + BYTE
        begin.append("let p = kept(o);")
        lines += [f"let p{j} = reduced(r + {j}u);" for j in range(4)]
        for k, ((binding, kind, _), at) in enumerate(zip(region.accesses, places, strict=True)):
            private.append(f"var<private> row{k}: u32;")
            begin.append(f"row{k} = {address('p', kept, word(at), at + 1)};")
            lines += [
                f"let d{k}_{j} = {address(f'p{j}', reduced, f'row{k}', at + 1 + kept)};" for j in range(4)
            ]
            bits = ", ".join(load_one(binding, kind, f"d{k}_{j}") for j in range(4))
            lines.append(f"let a{k} = {from_bits(binding, kind, f'vec4u({bits})', 4)};")
    pre.scalar_at = pre.take(region.scalars)
    pre.compute()
    kind = "u" if fn.arg else fn.kind
    result = pre.value(region.outs[0][0], kind)
    kinds = {b: k for b, k, _ in region.accesses if b >= 0}
    sorts = [(f"b{b}", "vec4u" if sig.flat and kinds[b] != "b" else "u32") for b in range(len(kinds))]
    load = "\n  ".join([*lines, f"return {result};"])
    hooks = {
        "begin": f"fn begin(o: u32) {{\n  {chr(10).join(begin)}\n}}",
        "load4": f"fn load4(r: u32) -> {VECTOR_TYPE[kind]} {{\n  {load}\n}}",
    }
    text = kernels.read("reduce_arg" if fn.arg else "reduce")
    tunables: dict[str, object] = {"WG": sig.workgroup, "LANES": sig.lanes, "OUT_FAST": sig.out_fast}
    if not fn.arg:
        tunables["T"] = SCALAR_TYPE[kind]
        hooks["combine"] = combiner(fn)
    elif sig.partial:
        sorts.append((f"b{len(sorts)}", "u32"))
        place = f"b{len(sorts) - 1}[row + r"
        hooks["positions4"] = (
            f"fn positions4(r: u32) -> vec4u {{ return vec4u({place}], {place} + 1u], {place} + 2u], {place} + 3u]); }}"
        )
        if not sig.flat:
            hooks["positions4"] = hooks["positions4"].replace("row + r", "row0 + r")
    words = pre.at
    if sig.post is not None:
        value = "i" if fn.arg else kind
        more, emit, words = epilogue(sig.post, post_rank, words, value, word(8), len(sorts))
        sorts += [(f"b{len(sorts) + k}", "u32") for k in range(sig.inputs)]
        functions += more
        outs = [(f"w{k}", "u32") for k in range(len(sig.post.outs))]
        if fn.arg:
            emit += "\nfn store(key: u32, position: u32, i: u32) { emit(i32(position), i); }"
        hooks["store" if fn.arg else "emit"] = emit
    elif fn.arg:
        outs = [("w0", "u32"), ("w1", "u32")]
        hooks["store"] = (
            f"fn store(key: u32, position: u32, i: u32) {{ w0[i - {word(8)}] = key; w1[i - {word(8)}] = position; }}"
        )
    else:
        outs = [("w0", "u32")]
        hooks["emit"] = (
            f"fn emit(v: {SCALAR_TYPE[kind]}, i: u32) {{ w0[i - {word(8)}] = {narrow(kind, 'v')}; }}"
        )
    tunables["PV"] = -(-words // 4)
    text = kernels.rewrite(text, tunables)
    text = re.sub(r"^(@group\(0\).*|var<private> row: u32;)\n", "", text, flags=re.M)
    for name, body in hooks.items():
        text = kernels.replace_function(text, name, body)
    text = bindings(sorts + outs) + "\n".join(private) + "\n" + functions + text
    return with_library(text), "r" * len(sorts) + "w" * len(outs)


def combiner(fn: ReduceFn) -> str:
    """fn combine over four lanes."""
    kind = VECTOR_TYPE[fn.kind]
    if re.search(r"\w\(", fn.combine):
        lanes = ", ".join(apply(fn.combine, [f"a.{c}", f"b.{c}"]) for c in LANES)
        return f"fn combine(a: {kind}, b: {kind}) -> {kind} {{ return {kind}({lanes}); }}"
    return f"fn combine(a: {kind}, b: {kind}) -> {kind} {{ return {apply(fn.combine, ['a', 'b'])}; }}"


GEMM_WORDS = 20


def product(sig: Product) -> tuple[str, str]:
    """(WGSL, access string) of a gemm kernel with its epilogue; kernels/gemm.wgsl unrolled, with emit filled."""
    from .kernels.gemm_inner import gemm_inner  # long texts: only when a product is asked for

    more, emit, words = epilogue(sig.post, sig.rank, GEMM_WORDS, sig.kind, word(11), 2)
    tile = dict(sig.tile)
    params = dict(tile["params"]) | {"T": SCALAR_TYPE[sig.kind], "PV": -(-words // 4)}
    text = kernels.replace_block(
        kernels.rewrite(kernels.read("gemm"), params), "unroll", gemm_inner(**dict(tile["unroll"]))
    )
    text = re.sub(r"^@group\(0\) @binding\(2\).*\n", "", text, flags=re.M)
    text = kernels.replace_function(text, "emit", emit)
    n = sig.inputs
    extra = "".join(
        f"@group(0) @binding({2 + k}) var<storage, read> b{2 + k}: array<u32>;\n" for k in range(n)
    )
    extra += "".join(
        f"@group(0) @binding({2 + n + k}) var<storage, read_write> w{k}: array<u32>;\n"
        for k in range(len(sig.post.outs))
    )
    return with_library(extra + BYTE + more + text), "rr" + "r" * n + "w" * len(sig.post.outs)
