"""A user's WGSL on its way into our texts: brackets, names, raw indices, and the way back from a line of the module."""

from __future__ import annotations

import pytest

from tabgpu import codegen_custom as text
from tabgpu import codegen_raw


def test_comments_are_blanked_in_place() -> None:
    code = "a // } b\nc /* ] \n ( */ d"
    assert text.bare(code) == "a       \nc      \n      d"
    text.balanced(code, "k")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("f(", "line 1: '\\(' is not closed"),
        ("a;\n}", "line 2: '}' closes nothing"),
        ("x[(1])", "line 1: ']' closes nothing"),
    ],
)
def test_brackets_without_a_partner(code: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        text.balanced(code, "k")


def test_names_are_whole_words_and_no_members() -> None:
    assert text.renamed("a + b.a + aa + f(a)", {"a": "z"}) == "z + b.a + aa + f(z)"
    assert text.uses("x + i", "i") and not text.uses("x.i + ii // i", "i")


def test_raw_indices_nest_and_keep_their_lines() -> None:
    code = "z = x[x[i] + y[0]] + x.size\n + x [\n2];  // x[3]\nq.x[1] = x.sizes;"
    made = text.raw_access(code, ["x"], "u")
    assert made.split("\n") == [
        "z = u_at_x(u32(u_at_x(u32(i)) + y[0])) + u_size_x()",
        " + u_at_x(u32(",
        "2));  // x[3]",
        "q.x[1] = x.sizes;",
    ]


def test_a_line_of_the_module_is_one_of_the_user_s() -> None:
    body = "let t = T(1);\nz = t;"
    module = "fn f() {\n" + text.marked("k", body, text.renamed(body, {"T": "f32"})) + "\nreturn z; }"
    lines = module.split("\n")
    assert text.place(module, 3) == ("k", 1, "let t = T(1);") and "f32(1)" in lines[2]
    assert text.place(module, 4) == ("k", 2, "z = t;")
    assert text.place(module, 6) == ("", 6, "return z; }")
    assert text.place(module, 1) == ("", 1, "fn f() {")


def test_lines_are_those_that_wgsl_counts() -> None:
    assert text.lines_of("a\r\nb\rc\u2028d\x85e") == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    "name", ["", "1a", "a-b", "a b", "a;b", "__a", "é", "_", "fn", "while", "a\n", None, 3]
)
def test_what_is_no_identifier(name: object) -> None:
    with pytest.raises(ValueError, match="WGSL"):
        text.identifier(name, "the name", "k")  # type: ignore[arg-type]


def test_a_module_keeps_its_lines_and_counts_its_words() -> None:
    code = """struct P { a: f32, b: vec3<u32>, c: i32, d: vec2f }
alias E = vec4<f32>;
const Y = 4;
@binding(5) @group(1) var<uniform> p: P;
@group(0)
@binding(2) var<storage, read_write> out: array<E>;
@group(0) @binding(1) var<storage> in_: array<atomic<u32>>;
fn main() -> u32 { return 1u; }
@compute @workgroup_size(8, Y) fn go() { out[0] = E(f32(main())); }
"""
    made = codegen_raw.module(code, "go")
    assert made.block == (8, 4, 1)
    assert [(s.name, s.written, s.kind, s.lanes) for s in made.storage] == [
        ("in_", False, "u", 1),
        ("out", True, "f", 4),
    ]
    assert made.order == (0, 1)
    assert made.scalars == (("a", "f"), ("b", "uuu"), ("c", "i"), ("d", "ff"))
    words = [-1 if k < 0 else "abcd"[k] + str(c) for k, c in made.words]
    assert words == ["a0", -1, -1, -1, "b0", "b1", "b2", "c0", "d0", "d1"]
    lines = made.code.split("\n")
    assert len(lines) == len(code.split("\n")) + 3
    assert lines[4].startswith(" @group(1) @binding(0) var<uniform> p: P;")
    assert lines[5].startswith(" @group(0) @binding(1)") and "var<storage, read_write> out" in lines[6]
    assert "fn main_() -> u32" in made.code and "fn main() { out[0] = E(f32(main_())); }" in made.code
