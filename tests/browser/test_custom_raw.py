"""RawKernel: what is bound, what a call writes and leaves alone, guard rails before GPU work, lines of errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import launches, numbered, same

import tabgpu as tg
from tabgpu.errors import KernelError, LimitError

SCALE = """
struct P { n: u32, s: f32, shift: vec2f }
@group(0) @binding(3) var<uniform> p: P;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> hits: array<atomic<u32>>;
const WG = 32u;
@compute @workgroup_size(WG)
fn scale(@builtin(global_invocation_id) g: vec3u) {
  if (g.x >= p.n) { return; }
  y[g.x] = x[g.x] * p.s + p.shift.x - p.shift.y;
  atomicAdd(&hits[g.x & 1u], 1u);
}
"""
BUMP = """
@group(0) @binding(0) var<storage, read_write> v: array<f32>;
@group(1) @binding(0) var<uniform> by: f32;
@compute @workgroup_size(32) fn bump(@builtin(global_invocation_id) g: vec3u) {
  if (g.x < 8u) { v[g.x] += by; }
}
"""
scale = tg.RawKernel(SCALE, "scale")
bump = tg.RawKernel(BUMP, "bump")


def grid(n: int) -> int:
    return -(-n // 32)


@pytest.mark.limits
async def test_new_and_given_results_and_scalars() -> None:
    x = numbered((70,), "float32")
    hits = tg.zeros(2, dtype="uint32")
    y, same_hits = scale(grid(70), tg.asarray(x), ((7, 10), "float32"), hits, 70, 2.0, (5.0, 1.5))
    assert same_hits is hits and y.shape == (7, 10) and scale.block == (32, 1, 1)
    await same([y, hits], [(2 * x + 3.5).reshape(7, 10), np.array([35, 35], "uint32")])


async def test_each_result_alone_makes_the_kernel_run_once() -> None:
    x = tg.asarray(numbered((64,), "float32"))
    await tg.synchronize()
    for first in (0, 1):
        zero = tg.asarray(np.zeros(2, "uint32"))
        before = launches()
        made = scale(2, x, ((64,), "float32"), zero, 64, 1.0, (0.0, 0.0))
        await made[first].numpy()
        await made[1 - first].numpy()
        assert launches() - before == 1
        await same([made[1]], [np.array([32, 32], "uint32")])


async def test_in_place_is_functional_and_costs_no_copy_where_nobody_looks() -> None:
    """Views see the new value, what was recorded before keeps the old one."""
    a = tg.asarray(np.zeros(8, "float32"))
    view, before_it = a[2:4], a * 2
    assert bump(1, a, 1.0) is a
    await same([a, view, before_it], [np.ones(8, "float32"), np.ones(2, "float32"), np.zeros(8, "float32")])
    for k in range(3):
        count = launches()
        bump(1, a, 0.5)
        await a.numpy()
        assert launches() - count == 1, k
    kept = a + 0
    old = a.copy()
    bump(1, a, 1.0)
    await same(
        [a, kept, old], [np.full(8, 3.5, "float32"), np.full(8, 2.5, "float32"), np.full(8, 2.5, "float32")]
    )


async def test_a_part_of_an_array_and_a_constant_in_place() -> None:
    a = tg.asarray(np.zeros((4, 8), "float32"))
    bump(1, a[1:3, ::2], 1.0)
    want = np.zeros((4, 8), "float32")
    want[1:3, ::2] = 1
    await same([a], [want])
    ones = tg.ones(8)
    bump(1, ones, 1.0)
    await same([ones], [np.full(8, 2, "float32")])
    with pytest.raises(ValueError, match="read-only"):
        bump(1, tg.broadcast_to(tg.asarray([1.0]), (8,)), 1.0)


async def test_strided_operands_are_packed_first() -> None:
    x = numbered((8, 5), "float32")
    y, _ = scale(2, tg.asarray(x).T, ((5, 8), "float32"), tg.zeros(2, dtype="uint32"), 40, 1.0, (0.0, 0.0))
    await same([y], [x.T])


async def test_packed_dtypes_are_words() -> None:
    swap = tg.RawKernel(
        """@group(0) @binding(0) var<storage, read> x: array<u32>;
        @group(0) @binding(1) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) g: vec3u) {
          let w = x[g.x];
          y[g.x] = (w >> 24u) | ((w >> 8u) & 0xff00u) | ((w << 8u) & 0xff0000u) | (w << 24u);
        }"""
    )
    x = np.arange(8, dtype="uint8")
    await same([swap(2, tg.asarray(x), ((8,), "uint8"))], [np.array([3, 2, 1, 0, 7, 6, 5, 4], "uint8")])
    turn = tg.RawKernel(
        """@group(0) @binding(0) var<storage, read_write> z: array<vec2<f32>>;
        @compute @workgroup_size(4) fn turn(@builtin(global_invocation_id) g: vec3u) {
          z[g.x] = vec2f(-z[g.x].y, z[g.x].x);
        }""",
        "turn",
    )
    c = numbered((4,), "complex64")
    await same([turn(1, tg.asarray(c))], [c * 1j])


async def test_nothing_is_compiled_for_a_scalar_or_a_shape_and_one_text_is_compiled_once() -> None:
    a = tg.zeros(8)
    bump(1, a, 0.0)
    await a.numpy()
    before = tg.memory()["pipelines"]
    for k in range(30):
        b = tg.asarray(np.zeros(8 + k, "float32"))
        bump(1 + k % 3, b, k / 3)
        await b.numpy()
    assert tg.memory()["pipelines"] == before


async def test_inside_a_jitted_function() -> None:
    @tg.jit
    def f(x: Any, s: float) -> Any:
        y, hits = scale(1, x, ((32,), "float32"), tg.zeros(2, dtype="uint32"), 32, s, (0.0, 1.0))
        return y * 2, hits

    x = numbered((32,), "float32")
    for s in (1.0, 3.0, -0.5):
        y, hits = f(tg.asarray(x), s)
        await same([y, hits], [(x * np.float32(s) - 1) * 2, np.full(2, 16, "uint32")])


async def test_other_entries_and_names_in_one_text() -> None:
    text = """
    @group(2) @binding(7) var<storage, read_write> y: array<i32>;
    @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) l: u32) { y[l] = 1; }
    @compute @workgroup_size(4, 1) fn other(@builtin(local_invocation_index) l: u32) { y[l] = i32(l) * 2; }
    """
    other, main = tg.RawKernel(text, "other"), tg.RawKernel(text)
    await same(
        [other(1, (4, "int32")), main(1, (4, "int32"))],
        [np.arange(4, dtype="int32") * 2, np.ones(4, "int32")],
    )


async def test_results_without_elements() -> None:
    y, hits = scale(1, tg.zeros(4), ((0,), "float32"), (2, "uint32"), 0, 1.0, (0.0, 0.0))
    assert (await y.numpy()).shape == (0,) and (await hits.numpy()).shape == (2,)
    empty = bump(1, tg.zeros((0,)), 1.0)
    assert (await empty.numpy()).shape == (0,)
    a = tg.ones(8)
    await same([bump(0, a, 5.0)], [np.ones(8, "float32")])  # no workgroups


async def test_a_compile_error_shows_the_line_of_the_text() -> None:
    wrong = tg.RawKernel(BUMP.replace("+= by", "+= bye"), "bump", debug=True)
    with pytest.raises(KernelError, match=r"kernel bump, line 5 of its WGSL: .*bye"):
        await wrong(1, tg.ones(8), 1.0).numpy()
    (one,) = await wrong.compile()
    assert one.line == 5 and one.kind == "error" and one.source == "if (g.x < 8u) { v[g.x] += bye; }"
    before = launches()
    assert await tg.RawKernel(BUMP, "bump", debug=True).compile() == []
    assert launches() > before
    assert await scale.compile() == []


async def test_a_mistake_that_only_the_pipeline_shows() -> None:
    text = HEAD + "override width: u32;\n@compute @workgroup_size(1) fn main() { v[0] = f32(width); }"
    found = await tg.RawKernel(text).compile()
    assert [d.kind for d in found] == ["error"]


MAIN = "@compute @workgroup_size(1) fn main() {}"
HEAD = "@group(0) @binding(0) var<storage, read_write> v: array<f32>;\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD + "fn main() {}", "no `@compute fn main`; the text has none"),
        (HEAD + "@compute @workgroup_size(1) fn other() {}", "the text has other"),
        (HEAD + "@compute fn main() {}", "@workgroup_size is missing"),
        (HEAD + "@compute @workgroup_size(1) fn main() {", "line 2: '{' is not closed"),
        (
            HEAD.replace("read_write", "read") + MAIN,
            "no binding is read_write",
        ),
        (
            HEAD.replace("read_write", "write") + MAIN,
            "line 1: v is write",
        ),
        (
            HEAD + HEAD.replace("v:", "w:") + MAIN,
            "the same @group and @binding",
        ),
        (
            "var<storage> a: array<f32>;\n" + HEAD + MAIN,
            "@group.* in front",
        ),
        (
            "@group(0) @binding(1) var t: texture_2d<f32>;\n" + HEAD + MAIN,
            "in front",
        ),
        (
            HEAD + "@group(1) @binding(0) var<uniform> m: mat4x4f;\n" + MAIN,
            "scalars are f32",
        ),
    ],
)
def test_a_text_that_cannot_be_bound_is_refused(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        tg.RawKernel(text)


@pytest.mark.limits
async def test_guard_rails_before_any_gpu_work() -> None:
    x, y, hits = tg.asarray(np.ones(8, "float32")), ((8,), "float32"), tg.asarray(np.zeros(2, "uint32"))
    rest = (8, 1.0, (0.0, 0.0))
    await tg.synchronize()
    before = launches()
    most = tg.device().limits["maxComputeWorkgroupsPerDimension"]
    with pytest.raises(
        LimitError, match=f"a grid of \\(1, {most + 1}\\) workgroups; this device runs {most}"
    ):
        scale((1, most + 1), x, y, hits, *rest)
    with pytest.raises(ValueError, match="grid has 1 to 3"):
        scale((1, 1, 1, 1), x, y, hits, *rest)
    with pytest.raises(ValueError, match="negative"):
        scale(-1, x, y, hits, *rest)
    with pytest.raises(TypeError, match=r"x is array<f32>, which int32 of shape \(8,\) is not"):
        scale(1, x.astype("int32"), y, hits, *rest)
    with pytest.raises(TypeError, match="y is array<f32>, which float16"):
        scale(1, x, ((8,), "float16"), hits, *rest)
    with pytest.raises(TypeError, match="hits is written: give an array or .shape, dtype."):
        scale(1, x, y, 3, *rest)
    with pytest.raises(TypeError, match=r"takes \(x, y, hits, n, s, shift\), 3 arguments given"):
        scale(1, x, y, hits)
    with pytest.raises(TypeError, match="n is uint32, not float"):
        scale(1, x, y, hits, 8.0, 1.0, (0.0, 0.0))
    with pytest.raises(OverflowError):
        scale(1, x, y, hits, -8, 1.0, (0.0, 0.0))
    with pytest.raises(ValueError, match="shift is a vector of 2, 3 numbers given"):
        scale(1, x, y, hits, 8, 1.0, (0.0, 0.0, 1.0))
    two = tg.RawKernel(HEAD + HEAD.replace("v:", "w:").replace("binding(0)", "binding(1)") +
                       "@compute @workgroup_size(1) fn main() { v[0] = w[0]; }")  # fmt: skip
    with pytest.raises(ValueError, match="two read_write variables have the same array"):  # B05
        two(1, x, x)
    wide = tg.RawKernel(HEAD + "@compute @workgroup_size(64, 64) fn main() { v[0] = 1.0; }")
    with pytest.raises(LimitError, match="4096 threads"):
        wide(1, x)
    bindings = tg.device().limits["maxStorageBuffersPerShaderStage"] + 1
    lines = [HEAD.replace("v:", f"v{k}:").replace("binding(0)", f"binding({k})") for k in range(bindings)]
    many = tg.RawKernel("".join(lines) + "@compute @workgroup_size(1) fn main() { v0[0] = 1.0; }")
    with pytest.raises(LimitError, match=f"{bindings} storage buffers; this device binds {bindings - 1}"):
        many(1, *([x] * bindings))
    missing = tg.RawKernel(
        "enable no_such_thing;\n" + HEAD + "@compute @workgroup_size(1) fn main() { v[0] = 1.0; }"
    )
    with pytest.raises(KernelError, match="needs no-such-thing, which this adapter does not have"):
        missing(1, x)
    assert launches() == before


async def test_half_precision_where_the_adapter_has_it() -> None:
    text = "enable f16;\n" + HEAD.replace("f32", "f16") + "@compute @workgroup_size(4)\n"
    text += "fn main(@builtin(local_invocation_index) l: u32) { v[l] = v[l] * 2.0h; }"
    k = tg.RawKernel(text)
    x = tg.asarray(np.arange(4, dtype="float16"))
    if "shader-f16" not in tg.device().features:
        with pytest.raises(KernelError, match="needs shader-f16"):
            k(1, x)
        return
    await same([k(1, x)], [np.arange(4, dtype="float16") * 2])
    with pytest.raises(TypeError, match="v is array<f16>, which float32"):
        k(1, tg.zeros(4))
