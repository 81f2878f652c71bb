"""The raw kernels measured on a GPU: WGSL text, sizes and work of each job; no browser, no timing.

A job is a list of stages (a pipeline, the buffers it binds, its workgroups) which together are one operation.
The page fills the buffers, checks the result against float64 and times it.
"""

import sys
import types
from pathlib import Path
from typing import Any

PKG = Path(__file__).resolve().parents[3] / "pkg" / "tabgpu"
# tabgpu's own __init__ is not wanted here: the GPU host has no NumPy to promise.
_stub = types.ModuleType("tabgpu")
_stub.__path__ = [str(PKG)]
sys.modules.setdefault("tabgpu", _stub)

from tabgpu.dtypes import float32  # noqa: E402
from tabgpu.kernels.gemm_tiles import candidates, overrides, size_class  # noqa: E402
from tabgpu.lower_product import Walk, chosen, kernel_of  # noqa: E402
from tabgpu.region import Facts, Region  # noqa: E402

Job = dict[str, Any]
LIN = "@builtin(global_invocation_id) g: vec3u, @builtin(num_workgroups) w: vec3u"


def fold(groups: int) -> list[int]:
    """A number of workgroups as x, y, z with at most 32768 along x."""
    x = min(groups, 32768)
    return [x, -(-groups // x), 1]


# A device as WebGPU guarantees it, but for what every desktop GPU has.
LIMITS = {"maxComputeInvocationsPerWorkgroup": 1024, "maxComputeWorkgroupStorageSize": 32768}
FACTS = Facts(256, 65535, (1 << 31) - 256, False, LIMITS)


def gemm(size: int | tuple[int, int, int], plan: str = "", *, a_t: bool = False, b_t: bool = False) -> Job:
    """A float32 product as the library would launch it, by the plan of gemm_tiles.py (by default its own choice)."""
    m, n, k = (size,) * 3 if isinstance(size, int) else size
    a_strides, b_strides = (1, m) if a_t else (k, 1), (1, k) if b_t else (n, 1)
    a, b = (Walk(0, (0, 0, 0, *strides), "float32") for strides in (a_strides, b_strides))
    key = (False, *size_class(m, n, k, 1))
    if plan:
        overrides[key] = plan
    try:
        choice, words = chosen((m, n, k), (1, 1, 1), a, b, FACTS, cut=False)
    finally:
        overrides.pop(key, None)
    kernel = kernel_of(choice, "f", a, b, Region((), (), ((3, float32),), 0), 0, 0)
    words += [0] * (-len(words) % 4)
    return {
        "item": f"mm{m}" if m == n == k else f"mm{m}x{n}x{k}",
        "id": f"{plan or 'chosen'} {kernel.label}" + (" a.T" if a_t else "") + (" b.T" if b_t else ""),
        "buffers": [m * k, k * n, m * n],
        "stages": [{"code": kernel.code, "bind": [0, 1, 2], "groups": fold(choice.groups), "words": words}],
        "flops": 2 * m * n * k,
        "bytes": 4 * (m * k + k * n + m * n),
        "check": {"kind": "gemm", "m": m, "n": n, "k": k, "a": a_strides, "b": b_strides},
    }


def elementwise(item: str, n: int, expression: str, inputs: int, per: int) -> Job:
    """y = expression(x0, x1, x2), `per` vec4s a thread, neighbouring threads on neighbouring vec4s."""
    names = "xyz"[:inputs]
    code = "".join(
        f"@group(0) @binding({i}) var<storage, read> {v}: array<vec4f>;\n" for i, v in enumerate(names)
    )
    loads = " ".join(f"let {v}v = {v}[i];" for v in names)
    code += f"""@group(0) @binding({inputs}) var<storage, read_write> o: array<vec4f>;
@compute @workgroup_size(256) fn main({LIN}, @builtin(local_invocation_index) l: u32) {{
  let at = ((g.x >> 8u) + g.y * w.x) * {256 * per}u + l;
  for (var p = 0u; p < {per}u; p++) {{
    let i = at + p * 256u;
    if (i < {n // 4}u) {{ {loads} o[i] = {expression}; }}
  }}
}}"""
    return {
        "item": item,
        "id": f"vec4x{per}",
        "buffers": [n] * (inputs + 1),
        "stages": [{"code": code, "bind": list(range(inputs + 1)), "groups": fold(-(-n // (1024 * per)))}],
        "flops": 0,
        "bytes": 4 * n * (inputs + 1),
        "check": {"kind": "copy" if inputs == 1 else "chain"},
    }


def total(n: int, groups: int) -> Job:
    """The sum of n elements: `groups` workgroups stride through the data, one more adds their results."""

    def stage(source: str, count: str, step: str) -> str:
        return f"""@group(0) @binding(0) var<storage, read> x: array<{source}>;
@group(0) @binding(1) var<storage, read_write> o: array<f32>;
var<workgroup> part: array<f32, 256>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) l: u32) {{
  var s0 = {source}(); var s1 = {source}(); var s2 = {source}(); var s3 = {source}();
  var i = g.x * 256u + l;
  for (; i + 3u * {step} < {count}; i += 4u * {step}) {{
    s0 += x[i]; s1 += x[i + {step}]; s2 += x[i + 2u * {step}]; s3 += x[i + 3u * {step}];
  }}
  for (; i < {count}; i += {step}) {{ s0 += x[i]; }}
  let s = (s0 + s1) + (s2 + s3);
  part[l] = {"(s.x + s.y) + (s.z + s.w)" if source == "vec4f" else "s"};
  for (var h = 128u; h > 0u; h /= 2u) {{
    workgroupBarrier();
    if (l < h) {{ part[l] += part[l + h]; }}
  }}
  if (l == 0u) {{ o[g.x] = part[0]; }}
}}"""

    first = stage("vec4f", f"{n // 4}u", f"{groups * 256}u")
    last = stage("f32", f"{groups}u", "256u")
    return {
        "item": "sum",
        "id": f"two_pass_{groups}",
        "buffers": [n, groups, 1],
        "stages": [
            {"code": first, "bind": [0, 1], "groups": [groups, 1, 1]},
            {"code": last, "bind": [1, 2], "groups": [1, 1, 1]},
        ],
        "flops": 0,
        "bytes": 4 * n,
        "check": {"kind": "sum"},
    }


def jobs(small: bool) -> list[Job]:
    """All raw jobs; `small` is for a dry run on a CPU adapter."""
    n = 1 << (18 if small else 26)
    big = 256 if small else 4096
    chain = "tanh(xv * yv + zv) * 0.5"
    out = [elementwise("copy", n, "xv", 1, per) for per in (1, 2, 4)]
    out += [elementwise("chain", n, chain, 3, per) for per in (1, 2, 4)]
    out += [total(n, groups) for groups in ((16,) if small else (256, 1056, 4096))]
    out += [gemm(big, a_t=a, b_t=b) for a in (False, True) for b in (False, True)]
    sizes: list[tuple[int, int, int]] = [(7, big, 36), (big, 7, 36), (big, big, big)]
    if not small:
        sizes += [(s, s, s) for s in (2048, 1024, 512, 256)]
        sizes += [(1, big, big), (big, 1, big), (16, big, big), (big - 1, big + 1, big - 3)]
    for m, n, k in sizes:
        plans = [name for name in candidates(m, n, k, 1, LIMITS) if "/" not in name]
        out += [gemm((m, n, k), name) for name in plans]
    return out
