"""The text of rows.wgsl for each function, phase and form: bindings, loads and stores, the blocks of main."""

from __future__ import annotations

import re
from typing import NamedTuple

from . import codegen, kernels
from .dtypes import DType
from .kernels.rows_functions import JOINED, PLANES, SUBGROUPS, TABLE

READS = {  # what a phase binds before its result
    "whole": ("src", "weight", "bias"),
    "value": ("src",),
    "partial": ("src",),
    "merge": ("parts",),
    "merge_value": ("parts",),
    "apply": ("src", "parts", "weight", "bias"),
}


class Form(NamedTuple):
    """Everything a text depends on. items 0: threads loop by themselves."""

    name: str
    phase: str  # a key of READS
    workgroup: int
    lanes: int
    items: int
    across: bool
    vector: bool
    source: DType
    target: DType
    weight: bool
    bias: bool
    subgroups: bool
    fast: bool  # the adapter's own exp2
    grouped: bool = False  # weight and bias have one element a channel, several of which may be one line

    @property
    def elements(self) -> bool:
        """Whether this phase writes elements (else numbers of lines)."""
        return self.phase in ("whole", "apply")


def text(sig: Form) -> tuple[str, str]:
    """(WGSL, access string)."""
    skip = [name for name in ("weight", "bias") if not getattr(sig, name)]
    reads = [name for name in READS[sig.phase] if name not in skip]
    quads = sig.vector and not sig.across and not sig.grouped
    kinds = {"weight": "vec4u" if quads else "u32", "bias": "vec4u" if quads else "u32", "parts": "u32"}
    kinds["src"] = codegen.element_type(sig.source) if sig.vector else "u32"
    kinds["dst"] = codegen.element_type(sig.target) if sig.vector and sig.elements else "u32"
    head = "".join(
        f"@group(0) @binding({k}) var<storage, read{'_write' if name == 'dst' else ''}> {name}: array<{kinds[name]}>;\n"
        for k, name in enumerate([*reads, "dst"])
    )
    body = kernels.rewrite(
        kernels.read("rows"),
        {
            "WG": sig.workgroup, "LANES": sig.lanes, "ACROSS": sig.across, "VECTOR": sig.vector,
            "V": "vec4f" if sig.across else "f32", "U": "vec4u" if sig.across else "u32", "PV": 4 if sig.grouped else 3,
        },
    )  # fmt: skip
    body = re.sub(r"^@group\(0\).*\n", "", body, flags=re.M)
    for name, hook in _hooks(sig, reads).items():
        body = kernels.replace_function(body, name, hook)
    for name, block in _blocks(sig).items():
        body = kernels.replace_block(body, name, block)
    if sig.lanes == 1:
        body = kernels.replace_block(body, "trees", "")
        body = re.sub(r"^var<workgroup>.*\n", "", body, flags=re.M)
    elif sig.subgroups:
        body = kernels.replace_block(body, "trees", SUBGROUPS)
        more = "index) l: u32, @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) id: u32)"
        body = body.replace("index) l: u32)", more)
        body = body.replace("  let job = g.x", "  subgroup = size;\n  leads = id == 0u;\n  let job = g.x")
    if "weight" in READS[sig.phase] and sig.name in ("layer_norm", "rms_norm"):
        head += _affine("factor", "weight" if sig.weight else "", quads, "vec4f(1.0f)", sig.grouped)
        head += _affine("term", "bias" if sig.bias else "", quads, "vec4f()", sig.grouped)
        head += _CHANNEL * (sig.grouped and (sig.weight or sig.bias))
    if sig.fast:
        body = body.replace("exp_below4(", "exp2_below4(")
    made = codegen.with_library(head + body)
    return ("enable subgroups;\n" if sig.subgroups else "") + made, "r" * len(reads) + "w"


def _hooks(sig: Form, reads: list[str]) -> dict[str, str]:
    hooks = dict(TABLE[sig.name])
    if not sig.elements:
        hooks["result"] = ""
        hooks["put"] = ""
    else:
        hooks["put"] = _put(sig)
    if sig.phase in ("partial", "merge"):
        hooks["finish"] = ""
    hooks["fetch"] = _fetch(sig) if "src" in reads else ""
    if "parts" in reads:
        hooks["fetch"] += _chunk(sig)
        hooks["mark"] = ""
        if "src" not in reads:
            hooks["shift"] = ""
        hooks["gain"] = ""
    if sig.across:
        hooks |= {
            "fold": "fn fold(x: vec4f) -> V { return x; }",
            "fold_top": "fn fold_top(x: vec4u) -> U { return x; }",
            "spread": "fn spread(x: V) -> vec4f { return x; }",
            "spread_top": "fn spread_top(x: U) -> vec4u { return x; }",
        }
    return hooks


def _fetch(sig: Form) -> str:
    if not sig.vector:
        places = " ".join(f"let d{c} = from_.{c} + r.{c} * P[2].x;" for c in "xyzw")
        held = [codegen.load_bits(0, sig.source, f"d{c}").replace("b0[", "src[") for c in "xyzw"]
        value = codegen.decode(sig.source, f"vec4u({', '.join(held)})", 4)
        return f"fn fetch(r: vec4u) -> vec4f {{\n  {places}\n  return {value};\n}}\n"
    bits = f"src[(from_.x + r.x * {'P[2].x' if sig.across else '1u'}) >> 2u]"
    if sig.source.per_word == 2:
        bits = f"spread_halves({bits})"
    return f"fn fetch(r: vec4u) -> vec4f {{ return {codegen.decode(sig.source, bits, 4)}; }}\n"


def _put(sig: Form) -> str:
    """put, and kept, which reads a result back."""
    places = [f"to.{c} + r.{c} * P[0].z" for c in "xyzw"]
    if not sig.vector:
        lines = "\n  ".join(
            f"if (here.{c}) {{ dst[{at}] = bitcast<u32>(y.{c}); }}"
            for c, at in zip("xyzw", places, strict=True)
        )
        put = f"fn put(r: vec4u, y: vec4f) {{\n  let here = within(r);\n  {lines}\n}}\n"
        held = "vec4u(" + ", ".join(f"dst[{at}]" for at in places) + ")"
    else:
        round_to = sig.target.fit if sig.target.per_word == 2 else ""
        value = f"vec4f({', '.join(f'{round_to}(y.{c})' for c in 'xyzw')})" if round_to else "y"
        lines = " ".join(codegen.store_four("dst", sig.target, "z", places[0]))
        put = f"fn put(r: vec4u, y: vec4f) {{\n  if (within(r).x) {{\n    let z = {value};\n    {lines}\n  }}\n}}\n"
        held = f"dst[({places[0]}) >> 2u]"
    if not _keeps(sig):
        return put
    return put + f"fn kept(r: vec4u) -> vec4f {{ return bitcast<vec4f>({held}); }}\n"


def _keeps(sig: Form) -> bool:
    """Whether a looping thread leaves what `shift` gave in the result, to finish it there: where that is costly."""
    return sig.items == 0 and sig.phase == "whole" and sig.name == "softmax" and sig.target.name == "float32"


def _chunk(sig: Form) -> str:
    """The statistics of the k-th chunk of a thread's lines; along a line in the first of four only."""
    lines = [
        "let n = vec4f(f32(min(P[2].w, P[0].y - k * P[2].w)));",
        "let at = k * P[0].x + min(line, vec4u(P[0].x - 1u));",
        "let plane = P[2].z * P[0].x;",
    ]
    for j, name in enumerate(("top", "gain", "mean")):
        if j < PLANES[sig.name]:
            if sig.across:
                held = f"vec4u({', '.join(f'parts[at.{c} + {j}u * plane]' for c in 'xyzw')})"
            else:
                held = f"vec4u(parts[at.x + {j}u * plane], 0u, 0u, 0u)"
            lines.append(f"let {name} = {held};")
        else:
            lines.append(f"let {name} = vec4u();")
    weight = "n" if sig.across else "vec4f(n.x, 0.0f, 0.0f, 0.0f)"
    lines.append(f"return Part(top, bitcast<vec4f>(gain), bitcast<vec4f>(mean), {weight});")
    return (
        "struct Part { top: vec4u, gain: vec4f, mean: vec4f, n: vec4f }\n"
        + "fn chunk_of(k: u32) -> Part {\n  "
        + "\n  ".join(lines)
        + "\n}\n"
    )


# The channel of the elements at places r. Words: 12 lines a batch, 13 channels a line, 14 elements a channel.
_CHANNEL = """fn channels(r: vec4u) -> vec4u {
  let first = (line.x % P[3].x) * P[3].y;
  if ((P[3].z & 3u) == 0u && VECTOR) { return vec4u(first + r.x / P[3].z); }
  return first + r / P[3].z;
}
"""


def _affine(function: str, name: str, quads: bool, neutral: str, grouped: bool) -> str:
    """factor or term of the elements at places r: from a vector, or the neutral one."""
    value = neutral
    if name and quads:
        value = f"bitcast<vec4f>({name}[r.x >> 2u])"
    elif name:
        value = f"bitcast<vec4f>(vec4u({', '.join(f'{name}[r.{c}]' for c in 'xyzw')}))"
        if grouped:
            return f"fn {function}(p: vec4u) -> vec4f {{\n  let r = channels(p);\n  return {value};\n}}\n"
    return f"fn {function}(r: vec4u) -> vec4f {{ return {value}; }}\n"


def _blocks(sig: Form) -> dict[str, str]:
    """The four blocks of main."""
    span = range(sig.items)
    loop = "for (var k = 0u; places(k).x < end; k++) {{ let r = places(k); let here = within(r); {} }}"
    chunks = f"for (var k = lane; k < P[2].z; k += {sig.lanes}u) {{{{ let part = chunk_of(k); {{}} }}}}"
    count = "f32(end - start)" if sig.phase == "partial" else "f32(P[0].y)"
    sums = sig.name == "layer_norm"
    first, second, last = [], [], []
    if "src" in READS[sig.phase] and sig.items:
        first += [f"let r{k} = places({k}u);" for k in span]
        first += [f"var x{k} = fetch(r{k});" for k in span]
        second += [f"x{k} = shift(x{k}, a);" for k in span]
    if "parts" in READS[sig.phase]:
        first.append(chunks.format("top = max(top, part.top);" + " sum += part.mean * part.n;" * sums))
        joined = JOINED[sig.name]
        second.append(chunks.format(f"acc += select(vec4f(), {joined}, part.n > vec4f());"))
    else:
        note = (
            "top = max(top, select(vec4u(), mark({x}), {i}));" + " sum += select(vec4f(), {x}, {i});" * sums
        )
        add = "acc += select(vec4f(), gain({x}, a), {i});"
        if sig.items:
            first += [note.format(x=f"x{k}", i=f"within(r{k})") for k in span]
            second += [add.format(x=f"x{k}", i=f"within(r{k})") for k in span]
        else:
            body = "let x = fetch(r); " + note.format(x="x", i="here")
            first.append(_long(loop.format(body), "sum") if sums else loop.format(body))
            keep = "put(r, y); " if _keeps(sig) else ""
            body = f"let y = shift(fetch(r), a); {keep}" + add.format(x="y", i="here")
            second.append(_long(loop.format(body), "acc"))
    middle, total = _joined(sig, count)
    if sig.lanes > 1:
        last.append("share_second(l, fold(acc));")
    if sig.elements:
        last.append(f"let b = finish({total}, a, {count});")
        if sig.items:
            last += [f"put(r{k}, result(x{k}, r{k}, b, a));" for k in span]
        else:
            value = "kept(r)" if _keeps(sig) else "shift(fetch(r), a)"
            last.append(loop.format(f"put(r, result({value}, r, b, a));"))
    else:
        last += _numbers(sig, total, count)
    made = {"first": first, "middle": middle, "second": second, "last": last}
    return {k: "".join(f"  {line}\n" for line in lines) for k, lines in made.items()}


def _long(loop: str, total: str) -> str:
    """A loop of one thread in rounds of 128, whose sums are added up: the error of a tree of two levels."""
    body = (
        loop.replace(f"{total} +=", "part +=")
        .replace("var k = 0u;", ";")
        .replace("; k++", " && k < stop; k++")
    )
    rounds = f"var part = vec4f(); stop += 128u; {body} {total} += part;"
    return f"{{ var k = 0u; var stop = 0u; while (places(k).x < end) {{ {rounds} }} }}"


def _joined(sig: Form, count: str) -> tuple[list[str], str]:
    """The block between the two statistics, and the sum of gains behind the second: each over all lanes of a line."""
    if sig.lanes == 1:
        lines = ["let all_top = spread_top(fold_top(top));", "let all_sum = spread(fold(sum));"]
        total = "spread(fold(acc))"
    else:
        lines = ["share_first(l, fold_top(top), fold(sum));"]
        lines += ["let all_top = spread_top(shared_top());", "let all_sum = spread(shared_sum());"]
        total = "spread(shared_gain())"
    return [*lines, f"let a = center(all_top, all_sum, {count});"], total


def _numbers(sig: Form, total: str, count: str) -> list[str]:
    """What lane 0 leaves of each line: its value (logsumexp), or words for another pass."""
    lines = [f"let total = {total};"]
    if sig.phase in ("value", "merge_value"):
        lines.append(f"let b = a.m + finish(total, a, {count});")
        lines.append("let value = select(bitcast<vec4u>(b), bitcast<vec4u>(from_key4(all_top)), a.bad);")
        stores = ["dst[line.{c}] = value.{c};"]
    else:
        at = "dst[({j}u * P[1].x + chunk) * P[0].x + line.{{c}}]"
        words = ["all_top.{c}", "bitcast<u32>(total.{c})", "bitcast<u32>(a.m.{c})"][: PLANES[sig.name]]
        stores = [at.format(j=j) + f" = {w};" for j, w in enumerate(words)]
    for c in "xyzw" if sig.across else "x":
        lines.append(f"if (lane == 0u && live.{c}) {{ {' '.join(s.format(c=c) for s in stores)} }}")
    return lines
