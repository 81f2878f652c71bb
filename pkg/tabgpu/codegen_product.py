"""WGSL of matrix products: gemm, gemv, gemm_matrix and product_sum with operands and epilogue filled in."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from . import kernels
from .codegen import (
    SCALAR_TYPE,
    VECTOR_TYPE,
    Region,
    Writer,
    address,
    element_type,
    epilogue,
    load_four,
    locator,
    store_four,
    with_library,
    word,
)  # fmt: skip

WORDS = 24  # of the kernel itself
HALVES = ("f16", "bf16")


class Product(NamedTuple):
    """A product kernel with its epilogue."""

    kernel: str  # file
    kind: str
    forms: tuple[
        str, str
    ]  # of A and B: "" for 32-bit words, else "f16", "bf16" or a format of quantised weights
    params: tuple[tuple[str, Any], ...]
    unroll: tuple[tuple[str, Any], ...]
    post: Region
    rank: int
    inputs: int  # bindings read by the epilogue


class Sum(NamedTuple):
    """The launch that adds the pieces of a product, with its epilogue."""

    kind: str
    workgroup: int
    post: Region
    rank: int
    inputs: int


def product(sig: Product) -> tuple[str, str]:
    """(WGSL, access string): the file unrolled, its loads and emit filled."""
    params, unroll = dict(sig.params), dict(sig.unroll)
    text = kernels.read(sig.kernel)
    more, hooks, words = _behind(sig, params["N4"], 2)
    params |= {"PV": -(-words // 4)}
    if sig.kernel == "gemm":
        from .kernels.gemm_inner import gemm_inner  # long texts: only when a product is asked for

        params |= {"T": SCALAR_TYPE[sig.kind]}
        for name, form in zip("ab", sig.forms, strict=True):
            vec = params[f"{name.upper()}_VEC"]
            params[f"{name.upper()}E"] = _element(form, vec)
            hooks |= _loads(name, name, form, vec)
            more += _decoder(name, name, form)
        block = gemm_inner(**unroll)
    elif sig.kernel == "gemv":
        from .kernels.gemv_inner import declarations, gemv_inner

        params |= {"T": SCALAR_TYPE[sig.kind]}
        roles = "mx" if params["MATRIX_A"] else "xm"
        for name, role, form in zip("ab", roles, sig.forms, strict=True):
            vec = params[f"{role.upper()}_VEC"]
            params[f"{name.upper()}E"] = _element(form, vec)
            hooks |= _loads(role, name, form, vec)
            more += _decoder(role, name, form)
        block = gemv_inner(**unroll)
        sizes = {key: unroll[key] for key in ("nt", "lanes", "outs", "vecs", "along_k")}
        more += declarations(**sizes)
    else:
        from .kernels.gemm_matrix_inner import gemm_matrix_inner

        head, block = gemm_matrix_inner(**unroll)
        more += head
    text = kernels.replace_block(kernels.rewrite(text, params), "unroll", block)
    return _whole(text, more, hooks, sig, 2, params["N4"])


def added(sig: Sum) -> tuple[str, str]:
    """(WGSL, access string) of the second launch."""
    more, hooks, words = _behind(sig, True, 1)
    text = kernels.rewrite(
        kernels.read("product_sum"),
        {"T": SCALAR_TYPE[sig.kind], "WG": sig.workgroup, "PV": -(-words // 4)},
    )
    return _whole(text, more, hooks, sig, 1, True)


def _whole(
    text: str, more: str, hooks: dict[str, str], sig: Any, operands: int, four: bool
) -> tuple[str, str]:
    """The module: bindings of the epilogue declared, hooks replaced."""
    text = re.sub(rf"^@group\(0\) @binding\({operands}\).*\n", "", text, flags=re.M)
    for name, body in hooks.items():
        text = kernels.replace_function(text, name, body)
    n = sig.inputs
    extra = "".join(
        f"@group(0) @binding({operands + k}) var<storage, read> b{operands + k}: array<u32>;\n"
        for k in range(n)
    )
    extra += "".join(
        f"@group(0) @binding({operands + n + k}) var<storage, read_write> w{k}:"
        f" array<{element_type(dtype) if four else 'u32'}>;\n"
        for k, (_, dtype) in enumerate(sig.post.outs)
    )
    return kernels.enabled(with_library(extra + more + text)), "r" * (operands + n) + "w" * len(sig.post.outs)


def _behind(sig: Any, four: bool, shift: int, first: int = WORDS) -> tuple[str, dict[str, str], int]:
    """(functions, hooks, words used up to) of what becomes of the values. first: the words of the kernel itself."""
    if not four:
        more, emit, words = epilogue(sig.post, sig.rank, first, sig.kind, word(11), shift)
        return more, {"emit": emit}, words
    region, rank = sig.post, sig.rank
    out = Writer(region, first, 4)
    sizes = out.take(rank)
    places = [out.take(1 + rank) for _ in region.accesses]
    out.scalar_at = out.take(region.scalars)
    functions = ""
    if region.accesses:
        functions = locator("post", rank, sizes)
        out.lines += [f"let p{j} = post(i + {j}u);" for j in range(4)]
    for k, ((binding, dtype, _), at) in enumerate(zip(region.accesses, places, strict=True)):
        where = binding + shift if binding >= 0 else binding
        out.lines += [f"let d{k}_{j} = {address(f'p{j}', rank, word(at), at + 1)};" for j in range(4)]
        out.lines.append(f"let a{k} = {load_four(where, dtype, [f'd{k}_{j}' for j in range(4)])};")
    out.compute(packing=True)
    for k, (ref, dtype) in enumerate(region.outs):
        out.lines.append(f"let o{k} = {out.value(ref, dtype.kind)};")
        out.lines += store_four(f"w{k}", dtype, f"o{k}", f"i - {word(11)}", ref in out.loose)
    body = "\n  ".join(out.lines)
    kind = SCALAR_TYPE[sig.kind]
    hooks = {"emit4": f"fn emit4(v: {VECTOR_TYPE[sig.kind]}, i: u32) {{\n  {body}\n}}"}
    if isinstance(sig, Product) and sig.kernel != "gemm_matrix":
        hooks["emit"] = f"fn emit(v: {kind}, i: u32) {{\n}}"  # never called: rows are whole vec4s
    return functions, hooks, out.at


def _element(form: str, vec: bool) -> str:
    """The element type that an operand is bound as."""
    if form:
        return "vec2u" if vec and form in HALVES else "u32"
    return "vec4<T>" if vec else "T"


def _decoder(role: str, name: str, form: str) -> str:
    """What reading quantised weights from binding `name` needs."""
    if form in HALVES or not form:
        return ""
    from .kernels.quant_forms import decoder, product_hook  # rarely needed

    return decoder(form) + product_hook(name, role)


def _loads(role: str, name: str, form: str, vec: bool) -> dict[str, str]:
    """The functions that read an operand from binding `name`: `role`_one and `role`_vec, of which one is used."""
    one, four = f"{name}[i]", f"{name}[i / 4u]"
    if form and form not in HALVES:
        one = f"{role}_quant(i & 0xfffffffcu)[i & 3u]"
        four = f"{role}_quant(i)" if vec else f"vec4f({role}_one(i))"
    elif form and vec:
        four = f"{form}_decode4(spread_halves({four}))"
        one = f"{role}_vec(i).x"
    elif form:
        one = f"{form}_decode(half_word({name}[i / 2u], i))"
        four = f"vec4f({role}_one(i))"
    elif vec:
        one = f"{role}_vec(i).x"
    else:
        four = f"vec4<T>({role}_one(i))"
    return {
        f"{role}_one": f"fn {role}_one(i: u32) -> T {{\n  return {one};\n}}",
        f"{role}_vec": f"fn {role}_vec(i: u32) -> vec4<T> {{\n  return {four};\n}}",
    }
