"""gemm_matrix with its subgroup matrices written out in plain WGSL, since no adapter here has matrix units."""

from __future__ import annotations

import re
from typing import Any

import native
import numpy as np
import pytest

from tabgpu import dtypes, lower_product
from tabgpu.codegen import VALUE, Region
from tabgpu.kernels.gemm_tiles import Choice, Units

EMULATED = """
alias Matrix = array<f32, 256>;
var<private> leads: bool;
fn half_at(words: vec4u, i: u32) -> f32 { return unpack2x16float(words[i / 2u])[i % 2u]; }
fn load(NAME_buffer: u32, offset: u32, stride: u32, turned: bool) -> Matrix {
  var out: Matrix;
  if (!leads) { return out; }
  for (var r = 0u; r < 16u; r++) {
    for (var x = 0u; x < 16u; x++) {
      let word = NAME_tile[NAME_buffer][offset + r * stride + x / 8u];
      out[select(r * 16u + x, x * 16u + r, turned)] = half_at(word, x % 8u);
    }
  }
  return out;
}
"""
MULTIPLY = """
fn multiply(l: Matrix, r: Matrix, sum: Matrix) -> Matrix {
  if (!leads) { return sum; }
  var left = l; var right = r; var out = sum;
  for (var i = 0u; i < 16u; i++) {
    for (var j = 0u; j < 16u; j++) {
      for (var x = 0u; x < 16u; x++) { out[i * 16u + j] += left[i * 16u + x] * right[x * 16u + j]; }
    }
  }
  return out;
}
fn store(buffer: u32, offset: u32, value: Matrix, stride: u32) {
  if (!leads) { return; }
  var v = value;
  for (var e = 0u; e < 64u; e++) {
    let q = e * 4u;
    sums[buffer][offset + e / 4u * stride + e % 4u] = vec4f(v[q], v[q + 1u], v[q + 2u], v[q + 3u]);
  }
}
"""


def emulated(code: str) -> str:
    """The text with plain functions for the built-in ones; one thread of each subgroup computes whole matrices."""
    code = re.sub(r"^(enable|diagnostic|alias (Left|Right)).*;\n", "", code, flags=re.M)
    code = re.sub(
        r"subgroupMatrixLoad<\w+, (\w+)>\(&(\w)_tile\[(\d)\], (.*), (\d+u)\);",
        lambda m: f"load_{m[2]}({m[3]}u, {m[4]}, {m[5]}, {'true' if m[1] == 'col_major' else 'false'});",
        code,
    )
    code = re.sub(r"subgroupMatrixStore<row_major>\(&sums\[(\d)\]", r"store(\1u", code)
    code = code.replace("subgroupMatrixMultiplyAccumulate", "multiply")
    code = code.replace("let lane = li % 32u;", "let lane = li % 32u; leads = lane == 0u;")
    code = code.replace("alias Sum = subgroup_matrix_result<f32, 16, 16>;\n", "alias Sum = Matrix;\n")
    first, second = (EMULATED.replace("NAME", x).replace("fn load", f"fn load_{x}") for x in "ab")
    second = re.sub(r"alias Matrix.*\nvar.*\nfn half_at.*\n", "", second)
    assert "subgroup" not in re.sub(r"//.*|let subgroup.*|subgroup [*/%]", "", code)
    return code + first + second + MULTIPLY


def computed(units: Units, a: Any, b: Any, turned: tuple[bool, bool]) -> Any:
    """The product of float16 matrices (batch, m, k) and (batch, k, n), stored transposed where `turned` says so."""
    import wgpu

    device = native.device()
    batch, m, k = a.shape
    n = b.shape[2]
    a_strides = (0, 0, m * k, 1, m) if turned[0] else (0, 0, m * k, k, 1)
    b_strides = (0, 0, k * n, 1, k) if turned[1] else (0, 0, k * n, n, 1)
    unroll = {
        "bm": units.bm,
        "bn": units.bn,
        "bk": units.bk,
        "sm": units.sm,
        "sn": units.sn,
        "depth": units.depth,
    }
    unroll |= {"a_along_k": not turned[0], "b_along_k": turned[1]}
    params = {"BM": units.bm, "BN": units.bn, "NT": units.threads, "N4": True}
    choice = Choice("x", "gemm_matrix", params, unroll, units.count(m, n, batch), 1, k)
    region = Region((), (), ((VALUE, dtypes.float32),), 0)
    sides = [lower_product.Walk(0, s, "float16") for s in (a_strides, b_strides)]
    kernel = lower_product.kernel_of(choice, "f", *sides, region, 0, 0)
    words = [
        m,
        n,
        k,
        batch,
        0,
        *a_strides[3:],
        0,
        0,
        *b_strides[3:],
        0,
        *a_strides[:3],
        1,
        *b_strides[:3],
        batch,
    ]
    words += [k, 1, 0, 0, *[0] * 8]
    usage = wgpu.BufferUsage
    buffers = [
        device.create_buffer_with_data(
            data=np.ascontiguousarray(x.swapaxes(1, 2) if t else x), usage=usage.STORAGE
        )
        for x, t in zip((a, b), turned, strict=True)
    ]
    buffers.append(device.create_buffer(size=4 * batch * m * n, usage=usage.STORAGE | usage.COPY_SRC))
    pipeline = device.create_compute_pipeline(
        layout="auto",
        compute={"module": device.create_shader_module(code=emulated(kernel.code)), "entry_point": "main"},
    )
    uniform = device.create_buffer_with_data(data=np.array(words, np.uint32), usage=usage.UNIFORM)
    groups = [
        device.create_bind_group(
            layout=pipeline.get_bind_group_layout(g),
            entries=[
                {"binding": i, "resource": {"buffer": x, "offset": 0, "size": x.size}}
                for i, x in enumerate(some)
            ],
        )
        for g, some in enumerate((buffers, [uniform]))
    ]
    encoder = device.create_command_encoder()
    work = encoder.begin_compute_pass()
    work.set_pipeline(pipeline)
    for g, group in enumerate(groups):
        work.set_bind_group(g, group)
    work.dispatch_workgroups(choice.groups)
    work.end()
    device.queue.submit([encoder.finish()])
    return np.frombuffer(device.queue.read_buffer(buffers[2]), np.float32).reshape(batch, m, n)


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)], ids=str)
@pytest.mark.parametrize("depth", [1, 2])
def test_the_block_with_matrices(turned: tuple[bool, bool], depth: int, gpu: Any) -> None:
    """Two subgroups a workgroup, tiles moved back at the edges, several steps of k, two matrices."""
    rng = np.random.default_rng(1)
    a = rng.standard_normal((2, 40, 64)).astype(np.float16)
    b = rng.standard_normal((2, 64, 40)).astype(np.float16)
    got = computed(Units(32, 32, 32, 32, 16, depth), a, b, turned)
    want = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(got - want).max() < 1e-4
