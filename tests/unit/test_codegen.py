"""What codegen and kernels write: whole modules that declare what they bind, with room for all parameters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import corpus
import numpy as np
import pytest

import tabgpu as tg
from tabgpu import kernels

CALL = re.compile(r"\b([a-z]\w*)\s*\(")
WGSL = set(
    "array mat4x2f vec2 vec3 vec4 vec2u vec3u vec4u vec2i vec3i vec4i vec2f vec3f vec4f f32 i32 u32 bool "
    "bitcast select dot atomicLoad atomicStore atomicAdd atomicMax atomicMin atomicAnd atomicOr "
    "atomicCompareExchangeWeak loop "
    "any all min max abs clamp floor ceil trunc sign sqrt exp2 log2 fma exp log pow round fract countOneBits "
    "countLeadingZeros countTrailingZeros firstLeadingBit firstTrailingBit reverseBits frexp ldexp "
    "workgroupBarrier storageBarrier workgroupUniformLoad length "
    "subgroupMax subgroupMin subgroupAdd subgroupBallot subgroupInclusiveAdd subgroupShuffle subgroupShuffleUp "
    "modf mix step extractBits insertBits inverseSqrt cos sin tan atan "
    "if for while switch case return fn let workgroup_size group binding builtin workgroup align".split()
)


@pytest.fixture(scope="module")
def texts() -> list[tuple[str, str, str, int]]:
    """All kernels of the corpus, made once."""
    import emulator

    from tabgpu import engine
    from tabgpu.config import Config

    engine._device = emulator.device(Config())
    try:
        found = list(corpus.everything())
    finally:
        engine.pending.clear()
        engine._device = None
    assert len(found) > 500
    return found


def plain(code: str) -> str:
    return re.sub(r"//.*", "", code)


def test_brackets_are_balanced(texts: Any) -> None:
    for name, code, _, _ in texts:
        text = plain(code)
        for a, b in ("{}", "()", "[]"):
            assert text.count(a) == text.count(b), name


def test_bindings_are_declared_in_the_order_of_the_access_string(texts: Any) -> None:
    for name, code, access, _ in texts:
        found = re.findall(r"@group\(0\) @binding\((\d+)\) var<storage, (read|read_write)> (\w+)", code)
        found.sort(key=lambda f: int(f[0]))
        assert [int(k) for k, _, _ in found] == list(range(len(access))), name
        assert "".join("r" if mode == "read" else "w" for _, mode, _ in found) == access, name
        assert len({n for _, _, n in found}) == len(access), name
        assert len(re.findall(r"@group\(1\) @binding\(0\) var<uniform> P:", code)) == 1, name
        assert "@group(2)" not in code


def test_bindings_that_are_used_are_declared(texts: Any) -> None:
    for name, code, _, _ in texts:
        declared = set(re.findall(r"> ([bw]\d+): array", code))
        used = set(re.findall(r"\b([bw]\d+)\[", plain(code)))
        assert used <= declared, name


def test_parameters_have_room_for_every_word(texts: Any) -> None:
    for name, code, _, words in texts:
        size = re.search(r"P: array<vec4u, (\w+)>", code)
        assert size, name
        n = int(size[1]) if size[1].isdigit() else int(re.search(rf"const {size[1]} = (\d+)u;", code)[1])  # type: ignore[index]
        assert words <= 4 * n <= 1024, name
        used = [4 * int(k) + "xyzw".index(c) for k, c in re.findall(r"\bP\[(\d+)\]\.([xyzw])", code)]
        assert max(used) < 4 * n, name
        assert not words or max(used) < words, f"{name}: reads word {max(used)} of {words}"


def test_functions_that_are_called_are_there(texts: Any) -> None:
    for name, code, _, _ in texts:
        text = plain(code)
        defined = set(re.findall(r"\bfn (\w+)\(", text))
        assert len(re.findall(r"\bfn (\w+)\(", text)) == len(defined), f"{name}: a function is defined twice"
        missing = set(CALL.findall(text)) - defined - WGSL
        assert not missing, (name, missing)


def test_one_entry_point_and_no_placeholders(texts: Any) -> None:
    for name, code, _, _ in texts:
        assert code.count("@compute") == 1 and code.count("fn main(") == 1, name
        for mark in ("{{", "}}", "#if", "None", "True", "False", "<tabgpu", "numpy"):
            assert mark not in plain(code), (name, mark)


def test_every_binding_is_read_or_written(texts: Any) -> None:
    """A binding that the text never touches would cost a slot for nothing."""
    for name, code, _, _ in texts:
        text = plain(code)
        for n in re.findall(r"var<storage, \w+> (\w+):", text):
            if name.startswith("fft") and "filter" in name and n == "src":
                continue  # a chirp's filter is made of nothing; its launch is like the others
            assert len(re.findall(rf"\b{n}\b", text)) >= 2, (name, n)


def test_values_from_the_user_never_reach_the_text(gpu: Any) -> None:
    a = tg.asarray(np.arange(1973 * 3, dtype=np.float32).reshape(1973, 3))
    u = tg.where(a > 123457.25, a[11:977, ::-1].sum(axis=0) * 7654321.0, 0.0078125)
    v = (a.astype("int32") + 876543) @ (a[:3].astype("int32") - 345678)
    for x in corpus.launches(u, v):
        for number in ("123457", "7654321", "0.0078", "876543", "345678", "1973", "966", "977"):
            assert number not in x.kernel.code and number not in x.kernel.label
    for bad in ("x); evil(", "f32; fn", "float32\n"):
        with pytest.raises(TypeError):
            tg.zeros((3,), dtype=bad)


def test_the_same_signature_gives_the_same_text(gpu: Any) -> None:
    from tabgpu import (
        codegen,
        codegen_custom,
        codegen_index,
        codegen_move,
        codegen_product,
        codegen_reduction,
        codegen_shifted,
        codegen_strided,
        region,
    )
    from tabgpu.codegen import Elementwise
    from tabgpu.codegen_product import Product, Sum
    from tabgpu.codegen_reduction import Reduction

    a = tg.asarray(np.ones((6, 8), np.float32))
    corpus.launches((tg.exp(a) * 2).sum(axis=0), a @ a.T + 1, tg.sin(a.T))
    make = {
        Elementwise: codegen.elementwise,
        codegen_strided.Tiled: codegen_strided.tiled,
        codegen_shifted.Shifted: codegen_shifted.shifted,
        Reduction: codegen_reduction.reduction,
        Product: codegen_product.product,
        Sum: codegen_product.added,
        codegen_custom.Whole: codegen_custom.whole,
        codegen_index.Gather: codegen_index.gather,
        codegen_index.Scatter: codegen_index.scatter,
        codegen_index.Claim: codegen_index.claim,
        codegen_move.Join: codegen_move.join,
        codegen_move.Remap: codegen_move.remap,
    }
    for sig, kernel in region.kernels.items():
        if type(sig) is tuple:  # a hand-written kernel's parameters
            continue
        assert make[type(sig)](sig) == (kernel.code, kernel.access)  # type: ignore[operator]


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", corpus.handwritten())
def test_a_file_specialises_and_refuses_unknown_names(name: str) -> None:
    file = Path(kernels.__file__).parent / f"{name}.wgsl"
    assert file.read_text("utf-8").startswith(f"// {name}: ")
    text = kernels.read(name)
    tunables = re.findall(r"^(?:const|alias) (\w+) = ", text, re.M)
    assert "PV" in tunables
    changed = kernels.specialise(name, PV=77)
    assert "const PV = 77u;" in changed and changed.count("const PV =") == 1
    with pytest.raises(ValueError, match="NOT_THERE"):
        kernels.specialise(name, NOT_THERE=1)
    with pytest.raises(ValueError, match="hook"):
        kernels.replace_function(text, "not_there", "")
    with pytest.raises(ValueError, match="block"):
        kernels.replace_block(text, "not there", "")


def test_rewrite_keeps_the_kind_of_a_constant() -> None:
    text = "alias T = f32;\nconst N = 4u;\nconst K = -1;\nconst ON = false;\nfn f() { const N = 5u; }\n"
    got = kernels.rewrite(text, {"T": "vec4<i32>", "N": 8, "K": 3, "ON": True})
    assert (
        got
        == "alias T = vec4<i32>;\nconst N = 8u;\nconst K = 3;\nconst ON = true;\nfn f() { const N = 5u; }\n"
    )
    assert kernels.rewrite(text, {}) == text


def test_rewrite_keeps_what_stands_behind_a_line() -> None:
    assert kernels.rewrite("const ON = false; // why\n", {"ON": True}) == "const ON = true; // why\n"


@pytest.mark.parametrize(
    "body", ["fn f() { return; }\n", "fn f(\n  a: u32\n) {\n  if (a > 0u) {\n    return;\n  }\n}\n"]
)
def test_replace_function_takes_the_whole_function_and_nothing_else(body: str) -> None:
    got = kernels.replace_function("fn g() { }\n" + body + "fn h() {\n}\n", "f", "NEW")
    assert got == "fn g() { }\nNEW\nfn h() {\n}\n"


def test_replace_function_of_one_line_before_a_long_one() -> None:
    got = kernels.replace_function("fn f() { }\nfn h() {\n  x;\n}\n", "f", "NEW")
    assert got == "NEW\nfn h() {\n  x;\n}\n"


@pytest.mark.parametrize("name", corpus.library())
def test_library_files(name: str) -> None:
    text = kernels.read(f"lib/{name}")
    for used in kernels.uses(text):
        assert kernels.read(f"lib/{used}")
    whole = kernels.library([name])
    defined = re.findall(r"^fn (\w+)\(", whole, re.M)
    assert len(defined) == len(set(defined))
    missing = set(CALL.findall(plain(whole))) - set(defined) - WGSL
    assert not missing, f"{name} calls {missing} without a `// use` line"


def test_library_takes_each_file_once_and_users_last() -> None:
    names = corpus.library()
    whole = kernels.library(names + names)
    at = {n: whole.index(kernels.read(f"lib/{n}")) for n in names}
    for n in names:
        assert whole.count(kernels.read(f"lib/{n}")) == 1
        assert all(at[used] < at[n] for used in kernels.uses(kernels.read(f"lib/{n}")))
