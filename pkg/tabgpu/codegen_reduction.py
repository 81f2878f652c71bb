"""The text of a reduction with what is fused before and behind it: kernels/reduce*.wgsl with their hooks filled."""

from __future__ import annotations

import re
from typing import NamedTuple

from . import kernels
from .codegen import (
    LANES,
    SCALAR_TYPE,
    VECTOR_TYPE,
    Region,
    Writer,
    address,
    apply,
    bindings,
    element_type,
    encode,
    epilogue,
    load_flat,
    load_four,
    locator,
    with_library,
    word,
)
from .dtypes import BY_KIND
from .graph import ReduceFn

HEAD = 12  # words before the region's
ALONG, ACROSS, GENERAL = "along", "across", "general"


class Reduction(NamedTuple):
    """A reduction kernel: `pre` feeds it, `post` takes its value.

    way: how four elements are loaded. ALONG, four neighbours of the reduced axis are one vec4 of every access (or one
    element for all); ACROSS, four neighbouring outputs are; GENERAL, element by element.
    """

    fn: ReduceFn
    pre: Region
    post: Region | None  # None: write partials
    way: str
    ranks: tuple[int, int, int]  # kept axes, reduced axes, axes of the post region
    inputs: int
    workgroup: int
    lanes: int
    out_fast: bool
    partial: bool  # reads partials of an earlier pass
    subgroups: bool


def reduction(sig: Reduction) -> tuple[str, str]:
    """(WGSL, access string). Words from HEAD on: sizes of the kept and of the reduced axes; for each access its offset,
    strides of the kept and of the reduced axes; scalars; then those of `post`."""
    fn, region, across = sig.fn, sig.pre, sig.way == ACROSS
    pre = Writer(region, HEAD, 4)
    kind = "u" if fn.arg else fn.kind
    begin, private, functions = _loads(sig, pre)
    pre.scalar_at = pre.take(region.scalars)
    pre.compute()
    dtypes = {b: dtype for b, dtype, _ in region.accesses if b >= 0}
    vector = sig.way != GENERAL
    sorts = [(f"b{b}", element_type(dtypes[b]) if vector else "u32") for b in range(len(dtypes))]
    load = "\n  ".join([*pre.lines, f"return {pre.value(region.outs[0][0], kind)};"])
    hooks = {
        "begin": f"fn begin(o: u32) {{\n  {chr(10).join(begin)}\n}}",
        "load4": f"fn load4(r: u32) -> {VECTOR_TYPE[kind]} {{\n  {load}\n}}",
    }
    text = kernels.read(("reduce_arg" if fn.arg else "reduce") + "_across" * across)
    tunables: dict[str, object] = {"WG": sig.workgroup, "LANES": sig.lanes}
    if not across:
        tunables["OUT_FAST"] = sig.out_fast
    if not fn.arg:
        tunables["T"] = SCALAR_TYPE[kind]
        hooks["combine"] = combiner(fn)
    elif sig.partial:
        name = f"b{len(sorts)}"
        sorts.append((name, "vec4u" if vector else "u32"))
        places = load_flat((len(sorts) - 1, BY_KIND["u"], False), "at", "1u", "0u")
        if not vector:
            places = load_four(len(sorts) - 1, BY_KIND["u"], [f"at + {j}u * step" for j in range(4)])
        at = HEAD + sig.ranks[0] + sig.ranks[1] + 1 + sig.ranks[0]  # the reduced stride of the keys
        hooks["positions4"] = (
            f"fn positions4(r: u32) -> vec4u {{ let step = {word(at)}; let at = row0 + r * step; return {places}; }}"
        )
    words = pre.at
    if sig.post is not None:
        more, emit, words = epilogue(
            sig.post, sig.ranks[2], words, "i" if fn.arg else kind, word(8), len(sorts)
        )
        sorts += [(f"b{len(sorts) + k}", "u32") for k in range(sig.inputs)]
        functions += more
        outs = [(f"w{k}", "u32") for k in range(len(sig.post.outs))]
        if fn.arg:
            emit += "\nfn store(key: u32, position: u32, i: u32) { emit(i32(position), i); }"
        hooks["store" if fn.arg else "emit"] = emit
    elif fn.arg:
        outs = [("w0", "u32"), ("w1", "u32")]
        stores = f"w0[i - {word(8)}] = key; w1[i - {word(8)}] = position;"
        hooks["store"] = f"fn store(key: u32, position: u32, i: u32) {{ {stores} }}"
    else:
        outs = [("w0", "u32")]
        value = encode(BY_KIND[kind], "v", 1)
        hooks["emit"] = f"fn emit(v: {SCALAR_TYPE[kind]}, i: u32) {{ w0[i - {word(8)}] = {value}; }}"
    tunables["PV"] = -(-words // 4)
    text = kernels.rewrite(text, tunables)
    text = re.sub(r"^(@group\(0\).*|var<private> row: u32;)\n", "", text, flags=re.M)
    for name, body in hooks.items():
        text = kernels.replace_function(text, name, body)
    text = join_lanes(text, fn.arg, across, sig.lanes, sig.subgroups)
    text = bindings(sorts + outs) + "\n".join(private) + "\n" + functions + text
    return enabled(with_library(text), sig.subgroups), "r" * len(sorts) + "w" * len(outs)


def _loads(sig: Reduction, pre: Writer) -> tuple[list[str], list[str], str]:
    """(statements of begin, private variables, functions) where every access' elements come from; lines go to `pre`."""
    region = sig.pre
    kept, reduced, _ = sig.ranks
    kept_sizes, reduced_sizes = pre.take(kept), pre.take(reduced)
    places = [pre.take(1 + kept + reduced) for _ in region.accesses]
    functions = locator("kept", kept, kept_sizes)
    begin, private, lines = ["let p = kept(o);"], [], pre.lines
    if sig.way != ALONG:
        functions += locator("reduced", reduced, reduced_sizes)
        lines += [f"let p{j} = reduced(r + {j}u);" for j in range(1 if sig.way == ACROSS else 4)]
    for k, (access, at) in enumerate(zip(region.accesses, places, strict=True)):
        private.append(f"var<private> row{k}: u32;")
        begin.append(f"row{k} = {address('p', kept, word(at), at + 1)};")
        step = at + 1 + kept  # the first stride of the reduced axes
        if sig.way == ALONG:
            value = load_flat(access, f"row{k}", word(step) if reduced else "0u", "r")
        elif sig.way == ACROSS:
            lines.append(f"let d{k} = {address('p0', reduced, f'row{k}', step)};")
            value = load_flat(access, f"d{k}", word(step - 1) if kept else "0u", "0u")
        else:
            lines += [f"let d{k}_{j} = {address(f'p{j}', reduced, f'row{k}', step)};" for j in range(4)]
            value = load_four(access[0], access[1], [f"d{k}_{j}" for j in range(4)])
        lines.append(f"let a{k} = {value};")
    return begin, private, functions


def combiner(fn: ReduceFn) -> str:
    """fn combine over four lanes."""
    kind = VECTOR_TYPE[fn.kind]
    if re.search(r"\w\(", fn.combine):
        lanes = ", ".join(apply(fn.combine, [f"a.{c}", f"b.{c}"]) for c in LANES)
        return f"fn combine(a: {kind}, b: {kind}) -> {kind} {{ return {kind}({lanes}); }}"
    return f"fn combine(a: {kind}, b: {kind}) -> {kind} {{ return {apply(fn.combine, ['a', 'b'])}; }}"


# --- how the lanes of an output join --------------------------------------------------------------------------------

_ALONE = {
    (False, False): "  let all = own;\n",
    (False, True): "  let all = total;\n",
    (True, False): "  let all = vec2u(key, position);\n",
    (True, True): "  let keys = best;\n  let groups = group;\n",
}
# Shuffles whose bound is a constant, so that control flow is uniform; those beyond the subgroup give nothing of use.
_SHUFFLE = """  var all = own;
  for (var k = 1u; k < LANES; k *= 2u) {
    let other = subgroupShuffleXor(all, k);
    if (k < subgroup) { all = combine(vec4<T>(all), vec4<T>(other)).x; }
  }
  if (LANES > 4u) {
    if (leads) { tree[l / subgroup] = all; }
    workgroupBarrier();
    if (LANES > subgroup) {
      let first = l / LANES * (LANES / subgroup);
      all = tree[first];
      for (var k = 1u; k < LANES / subgroup; k++) { all = combine(vec4<T>(all), vec4<T>(tree[first + k])).x; }
    }
  }
"""
_SHUFFLE_ARG = """  var all = vec2u(key, position);
  for (var k = 1u; k < LANES; k *= 2u) {
    let other = vec2u(subgroupShuffleXor(all.x, k), subgroupShuffleXor(all.y, k));
    if (k < subgroup && (other.x > all.x || (other.x == all.x && other.y < all.y))) { all = other; }
  }
  if (LANES > 4u) {
    if (leads) {
      tree_key[l / subgroup] = all.x;
      tree_position[l / subgroup] = all.y;
    }
    workgroupBarrier();
    if (LANES > subgroup) {
      let first = l / LANES * (LANES / subgroup);
      all = vec2u(tree_key[first], tree_position[first]);
      for (var k = 1u; k < LANES / subgroup; k++) {
        let other = vec2u(tree_key[first + k], tree_position[first + k]);
        if (other.x > all.x || (other.x == all.x && other.y < all.y)) { all = other; }
      }
    }
  }
"""


def join_lanes(text: str, arg: bool, across: bool, lanes: int, subgroups: bool) -> str:
    """A reduction's text with the block `tree` for its lanes: none where there is one, shuffles, or as it is."""
    if lanes == 1:
        text = kernels.replace_block(text, "tree", _ALONE[arg, across])
        if arg and not across:
            text = kernels.replace_block(text, "clear", "")
            text = kernels.replace_block(text, "rivals", "  let rival = true;\n")
        return re.sub(r"^var<workgroup>.*\n", "", text, flags=re.M)
    if not subgroups:
        return text
    text = kernels.replace_block(text, "tree", _SHUFFLE_ARG if arg else _SHUFFLE)
    more = "index) l: u32, @builtin(subgroup_size) subgroup: u32, @builtin(subgroup_invocation_id) id: u32)"
    text = text.replace("index) l: u32)", more)
    return text.replace("  let job = g.x", "  let leads = id == 0u;\n  let job = g.x")


def enabled(text: str, subgroups: bool) -> str:
    """The text with the extension it needs named first."""
    return "enable subgroups;\n" + text if subgroups else text
