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

from tabgpu.kernels import replace_block, specialise  # noqa: E402
from tabgpu.kernels.gemm_inner import gemm_inner  # noqa: E402
from tabgpu.kernels.gemm_tiles import T16, T32, T64, T128, TALL, WIDE, Tile, choose  # noqa: E402

Job = dict[str, Any]
LIN = "@builtin(global_invocation_id) g: vec3u, @builtin(num_workgroups) w: vec3u"


def fold(groups: int) -> list[int]:
    """A number of workgroups as x, y, z with at most 32768 along x."""
    x = min(groups, 32768)
    return [x, -(-groups // x), 1]


def gemm(
    size: int | tuple[int, int, int],
    tile: Tile | None = None,
    *,
    vec: bool = True,
    a_t: bool = False,
    b_t: bool = False,
    ahead: bool = True,
    steps: int | None = None,
    looped: bool = False,
    tag: str = "",
    **consts: int,
) -> Job:
    """A product as the library would launch it (`tile` None: the chooser's own), or with other settings."""
    m, n, k = (size,) * 3 if isinstance(size, int) else size
    a_strides, b_strides = (1, m) if a_t else (k, 1), (1, k) if b_t else (n, 1)
    r = choose(m, n, k, 1, a_strides, b_strides, (0, 0), {}, False)
    params, inner, tiles, name = dict(r["params"]), dict(r["unroll"]), r["tiles"], "chosen_" + str(r["name"])
    if tile:
        params |= {"BM": tile.bm, "BN": tile.bn, "BK": tile.bk, "TM": tile.tm, "TN": tile.tn, "LX": tile.lx}
        params |= {"A_VEC": vec, "B_VEC": vec}
        if vec:
            params |= {"AE": "vec4<T>", "BE": "vec4<T>", "A_ALONG_K": not a_t, "B_ALONG_K": b_t}
        else:
            params = {p: v for p, v in params.items() if p not in ("AE", "BE", "A_ALONG_K", "B_ALONG_K")}
        inner |= {"bm": tile.bm, "bn": tile.bn, "bk": tile.bk, "tm": tile.tm, "tn": tile.tn}
        tiles, name = tile.count(m, n, 1), f"t{tile.bm}x{tile.bn}x{tile.bk}_{'vec' if vec else 'scalar'}"
    if steps is not None:
        inner["steps"] = steps
    code = specialise("gemm", T="f32", **(params | consts))
    if not looped:
        code = replace_block(code, "unroll", gemm_inner(**inner, ahead=ahead))
    name += "" if steps is None else f"_steps{steps}"
    name += "".join(f"_{c}{v}" for c, v in consts.items())
    name += ("_looped" if looped else "") + ("" if ahead else "_noahead") + ("_" + tag if tag else "")
    name += ("_At" if a_t else "") + ("_Bt" if b_t else "")
    words = [m, n, k, 1, 0, *a_strides, 0, 0, *b_strides, 0, 0, 0, 0, 1, 0, 0, 0, 1, *[0] * 12]
    return {
        "item": f"mm{m}" if m == n == k else f"mm{m}x{n}x{k}",
        "id": name,
        "buffers": [m * k, k * n, m * n],
        "stages": [{"code": code, "bind": [0, 1, 2], "groups": fold(int(tiles)), "words": words}],
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
    out += [gemm(big), gemm(big, T128), gemm(big, T64)]
    out += [gemm(big, T128, a_t=a, b_t=b) for a, b in ((True, False), (False, True), (True, True))]
    if small:
        return [*out, gemm((7, big, 36)), gemm((big, 7, 36)), gemm(big, T128, looped=True)]
    out += [gemm(big, t, steps=s) for t in (T128, T64) for s in (1, 4)]
    out += [gemm(big, t, ahead=False, steps=s) for t in (T128, T64) for s in (0, 1)]
    out += [gemm(big, t, vec=False, ahead=ahead) for t in (T128, T64) for ahead in (True, False)]
    out += [gemm(big, T128, vec=False, a_t=True), gemm(big, T128, vec=False, b_t=True)]
    out += [gemm(big, T128, vec=vec, looped=True) for vec in (True, False)]
    out += [gemm(big, T128, tag="lx16", LX=16)]
    out += [gemm(big, T128, GROUP=g) for g in (1, 4, 16)]
    half = Tile(128, 64, 16, 8, 8, 8)
    out += [gemm(big, t) for t in (Tile(128, 128, 8, 8, 8, 8), half, Tile(64, 64, 32, 8, 8, 8), T32)]
    out += [
        gemm(s, t, vec=v)
        for s in (2048, 1024, 512, 256)
        for t in (T128, half, T64, T32)
        for v in (True, False)
    ]
    out += [gemm(s, T16, vec=False) for s in (512, 256)]
    out += [gemm((1, 4096, 4096), t) for t in (WIDE, T16)] + [
        gemm((4096, 1, 4096), t, vec=False) for t in (TALL, T16)
    ]
    out += [gemm((16, 4096, 4096), t) for t in (WIDE, T32, T64)]
    return [*out, gemm((4095, 4097, 4093)), gemm((4093, 4093, 4093), T64, vec=False)]
