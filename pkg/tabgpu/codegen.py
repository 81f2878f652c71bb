"""Scalar expressions -> WGSL text. The only module that builds WGSL from strings; it knows no ops, only signatures.

A signature says everything a kernel's text depends on and nothing else: no sizes, strides, offsets or scalars. A
value inside it is a reference: 4*k node k, 4*k+1 access k, 4*k+2 scalar slot k, 3 what a hand-written kernel hands on.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from . import kernels
from .dtypes import DType, uint16
from .graph import Fn, copy_fn, is_operators

NODE, ACCESS, SCALAR, VALUE = range(4)
SCALAR_TYPE = {"f": "f32", "i": "i32", "u": "u32", "b": "bool", "c": "vec2f"}
VECTOR_TYPE = {"f": "vec4f", "i": "vec4i", "u": "vec4u", "b": "vec4<bool>", "c": "mat4x2f"}
LANES = "xyzw"
_SCALAR_ONLY = re.compile(r"&&|[|][|]|\d")  # what does not hold for vectors
_OPERAND = re.compile(r"(?<!\.)\b(?:[xyzw]|x_(\d+))\b")  # x_4 and on: the operands behind w


Access = tuple[int, DType, int]


class Region(NamedTuple):
    """Elementwise work over one iteration space. accesses: (binding, dtype, form); binding -1 is the position (iota),
    the form says in the flat class whether one element is meant for all, else see codegen_strided. A complex scalar
    takes two slots."""

    accesses: tuple[Access, ...]
    nodes: tuple[tuple[Fn, tuple[int, ...]], ...]
    outs: tuple[tuple[int, DType], ...]
    scalars: int


def as_bits(region: Region) -> Region:
    """A mere copy of 16-bit floats moves their bits: nothing is decoded."""
    if len(region.nodes) != 1 or len(region.accesses) != 1 or len(region.outs) != 1:
        return region
    (binding, dtype, form), ((fn, refs),), ((ref, out),) = region.accesses[0], region.nodes, region.outs
    if fn.expr != "x" or dtype is not out or dtype.kind != "f" or dtype.per_word != 2:
        return region
    return region._replace(
        accesses=((binding, uint16, form),), nodes=((copy_fn(uint16), refs),), outs=((ref, uint16),)
    )


def fold(region: Region) -> int:
    """How many fours a thread makes: what four elements of one or two bytes move is too little for a thread."""
    widest = max((d.itemsize for _, d in region.outs), default=4)
    for binding, dtype, _ in region.accesses:
        widest = max(widest, dtype.itemsize if binding >= 0 else 1)
    return {1: 4, 2: 2}.get(widest, 1)


def walking(workgroup: int, times: int, body: str) -> str:
    """fn main: a thread's fours from element P[0].x on, `times` of them a workgroup apart, each by a body over `i`."""
    head = (
        f"@compute @workgroup_size({workgroup})\n"
        "fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u,\n"
        "        @builtin(local_invocation_index) l: u32) {\n"
    )
    first = f"{word(0)} + ((g.x + ng.x * (g.y + ng.y * g.z)) * {workgroup * times}u + l) * 4u"
    if times == 1:
        return f"{head}  let i = {first};\n  if (i >= {word(1)}) {{ return; }}\n  {body}\n}}\n"
    return (
        f"{head}  let first = {first};\n  for (var k = 0u; k < {times}u; k++) {{\n"
        f"  let i = first + k * {workgroup * 4}u;\n  if (i >= {word(1)}) {{ return; }}\n  {body}\n  }}\n}}\n"
    )


class Elementwise(NamedTuple):
    """A whole elementwise kernel, four elements a thread. rank -1: flat, all contiguous or one element; else rows of
    strided operands (codegen_strided), even: of a multiple of four elements."""

    region: Region
    rank: int
    inputs: int
    workgroup: int
    even: bool = True


class Gather(NamedTuple):
    """Copies what lies in one window of a strided source to its row-major place."""

    dtype: DType
    rank: int
    workgroup: int


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
        self.loose: set[int] = set()  # nodes that are only stored: the store makes them values of their dtype

    def take(self, n: int) -> int:
        at, self.at = self.at, self.at + n
        return at

    def scalar(self, slot: int, kind: str) -> str:
        bits = word(self.scalar_at + slot)
        if kind == "c":
            one = f"vec2f(bitcast<f32>({bits}), bitcast<f32>({word(self.scalar_at + slot + 1)}))"
            return f"mat4x2f({', '.join([one] * 4)})" if self.width == 4 else one
        one = {"u": bits, "b": f"({bits} != 0u)"}.get(kind) or f"bitcast<{SCALAR_TYPE[kind]}>({bits})"
        return f"vec4({one})" if self.width == 4 else one

    def value(self, ref: int, kind: str) -> str:
        tag, k = ref & 3, ref >> 2
        if tag == NODE:
            return f"{self.prefix}n{k}"
        if tag == ACCESS:
            return f"{self.prefix}a{k}"
        return self.scalar(k, kind) if tag == SCALAR else "v"

    def compute(self, packing: bool = False) -> None:
        """One `let` for each node. packing: four values are packed by stores that wrap and round (store_four)."""
        used = {ref for _, refs in self.region.nodes for ref in refs} if packing else set()
        stored = dict(self.region.outs) if packing else {}
        for k, (fn, refs) in enumerate(self.region.nodes):
            args = [self.value(r, kind) for r, kind in zip(refs, fn.kinds, strict=True)]
            expr, vector = fn.expr, fn.vector
            if stored.get(4 * k) is fn.dtype and 4 * k not in used and (inner := unfitted(expr, fn.dtype)):
                self.loose.add(4 * k)
                expr, vector = inner, is_operators(inner) and not _SCALAR_ONLY.search(inner)
            if fn.name == "subtract" and refs[0] == refs[1] and fn.kinds[0] in "fc":
                expr, vector = expr.replace("x - y", f"minus_itself_{fn.kinds[0]}(x)"), False
            if self.width == 1 or vector:
                text = apply(expr, args)
            elif fn.four:
                text = apply(fn.four, args)
            else:
                named = []
                for j, a in enumerate(args):
                    if not a.isidentifier():  # a scalar from the uniform: named once, not once a lane
                        self.lines.append(f"let {self.prefix}s{k}_{j} = {a};")
                        a = f"{self.prefix}s{k}_{j}"
                    named.append(a)
                lanes = ", ".join(
                    apply(expr, [lane(a, kind, j) for a, kind in zip(named, fn.kinds, strict=True)])
                    for j in range(4)
                )
                text = f"{VECTOR_TYPE[fn.dtype.kind]}({lanes})"
            self.lines.append(f"let {self.prefix}n{k} = {text};")


def unfitted(expr: str, dtype: DType) -> str:
    """What an expression makes fit its narrow dtype, or ""."""
    inner = expr[len(dtype.fit) + 1 : -1]
    if not dtype.fit or expr != f"{dtype.fit}({inner})":
        return ""
    depth = [inner[:k].count("(") - inner[:k].count(")") for k in range(len(inner) + 1)]
    return inner if min(depth) >= 0 == depth[-1] else ""


def apply(expr: str, args: list[str]) -> str:
    """A row's expression with its operands put in."""
    return _OPERAND.sub(lambda m: args[int(m[1]) if m[1] else LANES.index(m[0])], expr)


def lane(name: str, kind: str, j: int) -> str:
    """The j-th of the four values behind a name."""
    return f"{name}[{j}]" if kind == "c" else f"{name}.{LANES[j]}"


def element_type(dtype: DType) -> str:
    """What four neighbours in memory are bound as: one word, two, or four (complex64 takes two such)."""
    return {4: "u32", 2: "vec2u"}.get(dtype.per_word, "vec4u")


def decode(dtype: DType, bits: str, width: int) -> str:
    """Values of a dtype from the bits of one or four elements, each in a u32 of its own. Not for complex64."""
    four = width == 4
    if dtype.kind == "b":
        return f"{bits} != vec4u()" if four else f"{bits} != 0u"
    if dtype.fit in ("round_f16", "round_bf16"):
        return f"{dtype.fit[6:]}_decode{'4' if four else ''}({bits})"
    value = (
        bits
        if dtype.kind == "u"
        else f"bitcast<{(VECTOR_TYPE if four else SCALAR_TYPE)[dtype.kind]}>({bits})"
    )
    if dtype.kind == "i" and dtype.itemsize < 4:
        if four and bits.startswith("spread_"):
            return f"signed_{bits[7:]}"
        shift = f"vec4u({32 - 8 * dtype.itemsize}u)" if four else f"{32 - 8 * dtype.itemsize}u"
        return f"({value} << {shift}) >> {shift}"
    return value


def encode(dtype: DType, value: str, width: int) -> str:
    """The bits of one or four values, each in a u32 of its own; bits above the dtype's are unspecified."""
    four = width == 4
    if dtype.kind == "b":
        return f"select(vec4u(), vec4u(1u), {value})" if four else f"select(0u, 1u, {value})"
    if dtype.fit in ("round_f16", "round_bf16"):
        return f"{dtype.fit[6:]}_encode{'4' if four else ''}({value})"
    return value if dtype.kind == "u" else f"bitcast<{'vec4u' if four else 'u32'}>({value})"


def load_bits(binding: int, dtype: DType, address: str) -> str:
    """The bits of one element at an address, from a binding of words."""
    if binding < 0:
        return address
    if dtype.per_word == 4:
        return f"byte(b{binding}[({address}) >> 2u], {address})"
    if dtype.per_word == 2:
        return f"half_word(b{binding}[({address}) >> 1u], {address})"
    return f"b{binding}[{address}]"


def load_one(binding: int, dtype: DType, address: str) -> str:
    """One element at an address (a name), from a binding of words, as a value."""
    if dtype.kind == "c":
        at = f"2u * {address}"
        return f"vec2f(bitcast<f32>(b{binding}[{at}]), bitcast<f32>(b{binding}[{at} + 1u]))"
    return decode(dtype, load_bits(binding, dtype, address), 1)


def load_four(binding: int, dtype: DType, addresses: list[str]) -> str:
    """Four elements at addresses (names), from a binding of words, as a value."""
    if dtype.kind == "c":
        return f"mat4x2f({', '.join(load_one(binding, dtype, a) for a in addresses)})"
    return decode(dtype, f"vec4u({', '.join(load_bits(binding, dtype, a) for a in addresses)})", 4)


def load_flat(access: Access, offset: str, step: str, i: str) -> str:
    """Four neighbours at offset + i (aligned), one element four times, or four positions `step` apart."""
    binding, dtype, splat = access
    if binding < 0:
        return f"vec4i(vec4u({offset} + ({i}) * {step}) + vec4u(0u, 1u, 2u, 3u) * {step})"
    b = f"b{binding}"
    if dtype.kind == "c":
        if splat:
            return f"pick_complex({b}[{offset} >> 1u], {offset})"
        at = f"({offset} + {i}) >> 1u"
        return f"complex4({b}[{at}], {b}[({at}) + 1u])"
    if splat:
        one = {
            4: f"byte({b}[{offset} >> 2u], {offset})",
            2: f"half_word(pick_half({b}[{offset} >> 2u], {offset}), {offset})",
        }.get(dtype.per_word, f"pick({b}[{offset} >> 2u], {offset})")
        return decode(dtype, f"vec4u({one})", 4)
    held = f"{b}[({offset} + {i}) >> 2u]"
    held = {4: f"spread_bytes({held})", 2: f"spread_halves({held})"}.get(dtype.per_word, held)
    return decode(dtype, held, 4)


def store_four(name: str, dtype: DType, value: str, at: str, loose: bool = False) -> list[str]:
    """Statements that store four values (a name) at element `at`, a multiple of four, of an element_type binding.
    loose: 32-bit values of the dtype's kind, to be rounded."""
    if dtype.kind == "c":
        return [
            f"{name}[({at}) >> 1u] = bitcast<vec4u>(vec4f({value}[0], {value}[1]));",
            f"{name}[(({at}) >> 1u) + 1u] = bitcast<vec4u>(vec4f({value}[2], {value}[3]));",
        ]
    bits = f"{dtype.fit[6:]}_round4({value})" if loose and dtype.kind == "f" else encode(dtype, value, 4)
    packed = {4: f"pack_bytes({bits})", 2: f"pack_halves({bits})"}.get(dtype.per_word, bits)
    return [f"{name}[({at}) >> 2u] = {packed};"]


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
    if sig.rank >= 0:
        from .codegen_strided import rows

        return rows(sig)
    region = sig.region
    out = Writer(region, 4, 4)
    places = [out.take(2) for _ in region.accesses]
    out.scalar_at = out.take(region.scalars)
    dtypes = {b: dtype for b, dtype, _ in region.accesses if b >= 0}
    sorts = [(f"b{b}", element_type(dtypes[b])) for b in range(sig.inputs)]
    sorts += [(f"w{k}", element_type(d)) for k, (_, d) in enumerate(region.outs)]
    lines = out.lines
    for k, (access, at) in enumerate(zip(region.accesses, places, strict=True)):
        lines.append(f"let a{k} = {load_flat(access, word(at), word(at + 1), 'i')};")
    out.compute(packing=True)
    for k, (ref, dtype) in enumerate(region.outs):
        lines.append(f"let o{k} = {out.value(ref, dtype.kind)};")
        lines += store_four(f"w{k}", dtype, f"o{k}", f"i - {word(2)}", ref in out.loose)
    body = "\n  ".join(lines)
    text = bindings(sorts) + parameters(out.at) + walking(sig.workgroup, fold(region), body)
    return with_library(text), "r" * sig.inputs + "w" * len(region.outs)


def gather(sig: Gather) -> tuple[str, str]:
    """(WGSL, access string) of a gather. Words: 0 first element, 1 end, 2 where the target's window begins, 3 elements
    in the source's window, then sizes, offset and strides: an address outside the window (u32) is another launch's."""
    dtype = sig.dtype
    lines = ["let at = i - P[0].z;"]
    words = 4 // dtype.per_word  # that this thread owns
    if dtype.per_word > 1:
        lines += [f"var word{k} = w0[(at >> 2u) * {words}u + {k}u];" for k in range(words)]
    for j in range(4):
        lines.append(f"let p{j} = locate(i + {j}u);")
        lines.append(f"let d{j} = {address(f'p{j}', sig.rank, word(4 + sig.rank), 5 + sig.rank)};")
        here = f"if (i + {j}u < P[0].y && d{j} < P[0].w)"
        if dtype.per_word > 1:
            k, shift = divmod(j, dtype.per_word)
            shift *= 8 * dtype.itemsize
            mask = (1 << 8 * dtype.itemsize) - 1 << shift
            bits = load_bits(0, dtype, f"d{j}")
            lines.append(f"{here} {{ word{k} = (word{k} & ~{mask}u) | ({bits} << {shift}u); }}")
        elif dtype.words == 2:
            lines.append(
                f"{here} {{ w0[2u * (at + {j}u)] = b0[2u * d{j}]; w0[2u * (at + {j}u) + 1u] = b0[2u * d{j} + 1u]; }}"
            )
        else:
            lines.append(f"{here} {{ w0[at + {j}u] = b0[d{j}]; }}")
    if dtype.per_word > 1:
        lines += [f"w0[(at >> 2u) * {words}u + {k}u] = word{k};" for k in range(words)]
    body = "\n  ".join(lines)
    text = (
        bindings([("b0", "u32"), ("w0", "u32")])
        + parameters(5 + 2 * sig.rank)
        + locator("locate", sig.rank, 4)
    )
    text += walking(sig.workgroup, 1, body)
    return with_library(text), "rw"


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
    for k, ((binding, dtype, _), at) in enumerate(zip(region.accesses, places, strict=True)):
        where = binding + shift if binding >= 0 else binding
        out.lines.append(f"let d{k} = {address('p', rank, word(at), at + 1)};")
        out.lines.append(f"let a{k} = {load_one(where, dtype, f'd{k}')};")
    out.compute()
    for k, (ref, dtype) in enumerate(region.outs):
        value = out.value(ref, dtype.kind)
        if dtype.kind == "c":
            out.lines.append(f"let o{k} = {value};")
            out.lines.append(f"w{k}[2u * (i - {base})] = bitcast<u32>(o{k}.x);")
            out.lines.append(f"w{k}[2u * (i - {base}) + 1u] = bitcast<u32>(o{k}.y);")
        else:
            out.lines.append(f"w{k}[i - {base}] = {encode(dtype, value, 1)};")
    body = "\n  ".join(out.lines)
    return functions, f"fn emit(v: {SCALAR_TYPE[kind]}, i: u32) {{\n  {body}\n}}", out.at
