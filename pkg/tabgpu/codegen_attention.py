"""The text of attention.wgsl for each form: bindings, loads, stores and block. Which form: routines/attention.py."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from . import codegen, kernels
from .dtypes import DType
from .kernels import attention_inner as inner

READERS = ("q_quad", "k_quad", "v_quad", "q_four", "k_four", "v_four", "mask_row", "seen")


class Form(NamedTuple):
    """Everything a text depends on. block: what writes it, with its sizes; mask: none, bool or float."""

    block: tuple[Any, ...]  # what writes it, with its sizes: ("tiles", *Tile), ("few", rows, threads, dims),
    # ("serial", threads, rows, fours of values), ("merge", threads)
    source: DType
    target: DType
    vector: bool  # queries, keys and values are read four aligned neighbours at a time
    four: bool  # so is the result written
    mask: str
    lengths: bool
    cap: bool
    split: bool
    fast: bool  # the adapter's own exp2


def text(sig: Form) -> tuple[str, str]:
    """(WGSL, access string)."""
    name, *sizes = sig.block
    checks = sig.cap or sig.mask != "none"
    cheap = sig.vector and sig.source.itemsize == 4
    declared = ""
    if name == "tiles":
        tile = inner.Tile(*sizes)
        declared, block = inner.tiles(tile, checks, cheap)
        threads = tile.threads
    elif name == "few":
        declared, block = inner.few(sizes[0], sizes[1], sizes[2], checks)
        threads = sizes[1]
    else:
        block = inner.MERGE if name == "merge" else inner.serial(sizes[1], sizes[2], checks, cheap)
        threads = sizes[0]
    reads = {"q": _element(sig), "k": _element(sig), "v": _element(sig)}
    if name == "merge":
        reads = {"parts": "vec4f"}
    if sig.mask != "none":
        reads["mask"] = "u32"
    if sig.lengths:
        reads["lengths"] = "u32"
    whole = sig.split or (sig.four and sig.target.itemsize == 4)
    written = "vec4u" if whole else codegen.element_type(sig.target) if sig.four else "u32"
    head = "".join(
        f"@group(0) @binding({k}) var<storage, read> {b}: array<{kind}>;\n"
        for k, (b, kind) in enumerate(reads.items())
    )
    head += f"@group(0) @binding({len(reads)}) var<storage, read_write> dst: array<{written}>;\n{declared}"
    body = kernels.rewrite(kernels.read("attention"), {"NT": threads, "SPLIT": sig.split})
    body = re.sub(r"^@group\(0\).*\n", "", body, flags=re.M)
    for hook, made in _hooks(sig, name == "merge").items():
        body = kernels.replace_function(body, hook, made)
    body = kernels.replace_block(body, "body", block)
    return codegen.with_library(head + body), "r" * len(reads) + "w"


def _element(sig: Form) -> str:
    return codegen.element_type(sig.source) if sig.vector else "u32"


def _hooks(sig: Form, merge: bool) -> dict[str, str]:
    hooks: dict[str, str] = {}
    if merge:
        hooks = dict.fromkeys(READERS, "")
    else:
        for name in "qkv":
            hooks[f"{name}_quad"] = _quad(sig, name)
    if not sig.lengths:
        hooks["keys_of"] = "fn keys_of(c: vec4u) -> u32 { return P[0].z; }"
    if not sig.fast:
        hooks["expo"] = "fn expo(x: vec4f) -> vec4f { return exp_below4(x); }"
    score = "capped(s)" if sig.cap else "s"
    kinds = {"bool": "barred", "float": "biased"}
    for kind, function in kinds.items():
        if sig.mask != kind:
            hooks[function] = ""
    if sig.mask != "none":
        score = f"{kinds[sig.mask]}({score}, row + key * P[14].w)"
    hooks["masked"] = f"fn masked(s: vec4f, row: vec4u, key: vec4u) -> vec4f {{ return {score}; }}"
    if not sig.cap:
        hooks["capped"] = ""
    if sig.split:
        hooks["put"] = "fn put(r: u32, d: u32, y: vec4f, at: Place) {}"
        hooks["part"] = "fn part(i: u32, y: vec4f) { dst[i] = bitcast<vec4u>(y); }"
    elif sig.four:
        store = " ".join(
            codegen.store_four(
                "dst",
                sig.target,
                "y",
                "at.dst + x * P[12].w + (r - x * P[0].y) * P[13].x + d",
                sig.target.per_word == 2,
            )
        )
        hooks["put"] = f"fn put(r: u32, d: u32, y: vec4f, at: Place) {{\n  let x = r / P[0].y;\n  {store}\n}}"
        hooks["part"] = "fn part(i: u32, y: vec4f) {}"
    return hooks


def _quad(sig: Form, name: str) -> str:
    head = f"fn {name}_quad(i: u32, step: u32, left: u32) -> vec4f {{\n"
    if sig.vector:
        bits = f"{name}[i >> 2u]"
        if sig.source.per_word == 2:
            bits = f"spread_halves({bits})"
        return f"{head}  return select(vec4f(), {codegen.decode(sig.source, bits, 4)}, left > 0u);\n}}"
    held = [codegen.load_bits(0, sig.source, f"i + {j}u * step").replace("b0[", f"{name}[") for j in range(4)]
    value = codegen.decode(sig.source, f"vec4u({', '.join(held)})", 4)
    return f"{head}  return select(vec4f(), {value}, vec4u(0u, 1u, 2u, 3u) < vec4u(left));\n}}"
