"""What softmax and its kin, layer_norm, rms_norm and normalize are to rows.wgsl: its hooks, and how chunks join."""

from __future__ import annotations

_SOFT = {
    "mark": "fn mark(x: vec4f) -> vec4u { return key4(x); }",
    "center": """fn center(top: vec4u, sum: vec4f, n: f32) -> Line {
  let m = from_key4(top);
  let bad = magnitude4(m) >= vec4u(0x7f800000u);
  return Line(select(m, vec4f(), bad), vec4f(1.0f), bad);
}""",
}
_LOG = _SOFT | {
    "shift": "fn shift(x: vec4f, a: Line) -> vec4f { return x - a.m; }",
    "gain": "fn gain(x: vec4f, a: Line) -> vec4f { return exp_below4(x); }",
    "finish": """fn finish(gain: vec4f, a: Line, n: f32) -> vec4f {
  return vec4f(log_f32(gain.x), log_f32(gain.y), log_f32(gain.z), log_f32(gain.w));
}""",
    "result": "fn result(x: vec4f, r: vec4u, b: vec4f, a: Line) -> vec4f { return nan_where4(x - b, a.bad); }",
}
_NORM = {
    "mark": "fn mark(x: vec4f) -> vec4u { return magnitude4(x); }",
    "gain": "fn gain(x: vec4f, a: Line) -> vec4f { let y = x * a.scale; return y * y; }",
    "finish": """fn finish(gain: vec4f, a: Line, n: f32) -> vec4f {
  let v = fma(gain, vec4f(div_core_f32(1.0f, n)), bitcast<f32>(P[1].y) * a.scale * a.scale);
  return vec4f(rsqrt_f32(v.x), rsqrt_f32(v.y), rsqrt_f32(v.z), rsqrt_f32(v.w));
}""",
}
TABLE: dict[str, dict[str, str]] = {
    "softmax": _SOFT
    | {
        "shift": "fn shift(x: vec4f, a: Line) -> vec4f { return exp_below4(x - a.m); }",
        "gain": "fn gain(x: vec4f, a: Line) -> vec4f { return x; }",
        "finish": """fn finish(gain: vec4f, a: Line, n: f32) -> vec4f {
  let low = vec2f(div_core_f32(1.0f, gain.x), div_core_f32(1.0f, gain.y));
  return vec4f(low, div_core_f32(1.0f, gain.z), div_core_f32(1.0f, gain.w));
}""",
        "result": "fn result(x: vec4f, r: vec4u, b: vec4f, a: Line) -> vec4f { return nan_where4(x * b, a.bad); }",
    },
    "log_softmax": _LOG,
    "logsumexp": _LOG,
    "layer_norm": _NORM
    | {
        "center": """fn center(top: vec4u, sum: vec4f, n: f32) -> Line {
  return Line(sum * div_core_f32(1.0f, n), tame4(top), top >= vec4u(0x7f800000u));
}""",
        "shift": "fn shift(x: vec4f, a: Line) -> vec4f { return x - a.m; }",
        "result": """fn result(x: vec4f, r: vec4u, b: vec4f, a: Line) -> vec4f {
  return nan_where4(fma(x * a.scale * b, factor(r), term(r)), a.bad);
}""",
    },
    "rms_norm": _NORM
    | {
        # an infinity makes the root mean square infinite: 0 for what is finite
        "center": """fn center(top: vec4u, sum: vec4f, n: f32) -> Line {
  return Line(vec4f(), tame4(top), top > vec4u(0x7f800000u));
}""",
        "shift": "fn shift(x: vec4f, a: Line) -> vec4f { return x; }",
        "result": """fn result(x: vec4f, r: vec4u, b: vec4f, a: Line) -> vec4f {
  return nan_where4(x * a.scale * b * factor(r), a.bad | ((b == vec4f()) & (magnitude4(x) >= vec4u(0x7f800000u))));
}""",
    },
}
# x / max(|x|, eps): as rms_norm, but for the mean.
TABLE["normalize"] = TABLE["rms_norm"] | {
    "finish": """fn finish(gain: vec4f, a: Line, n: f32) -> vec4f {
  let e = bitcast<f32>(P[1].y) * a.scale;
  let v = max(gain, max(e * e, vec4f(1.2e-38f)));
  return vec4f(rsqrt_f32(v.x), rsqrt_f32(v.y), rsqrt_f32(v.z), rsqrt_f32(v.w));
}""",
    "result": TABLE["rms_norm"]["result"].replace(" * factor(r)", ""),
}
# The gain of a chunk in terms of the whole line's statistics.
_SOFT_JOINED = "part.gain * exp_below4(from_key4(part.top) - a.m)"
JOINED = {
    "softmax": _SOFT_JOINED,
    "log_softmax": _SOFT_JOINED,
    "logsumexp": _SOFT_JOINED,
    "layer_norm": "rescaled4(part.gain, part.top, a.scale) + part.n * square4((part.mean - a.m) * a.scale)",
    "rms_norm": "rescaled4(part.gain, part.top, a.scale)",
    "normalize": "rescaled4(part.gain, part.top, a.scale)",
}
# Words that a chunk leaves: its top, the sum of its gains, and for layer_norm its mean.
PLANES = {"softmax": 2, "log_softmax": 2, "logsumexp": 2, "layer_norm": 3, "rms_norm": 2, "normalize": 2}
# The trees of rows.wgsl for LANES = WG where the adapter has subgroups: one value a subgroup goes to workgroup memory;
# then every thread joins the few there are, in one order.
SUBGROUPS = """var<private> subgroup: u32; // its size
var<private> leads: bool;
fn share_first(l: u32, top: U, sum: V) {
  let best = subgroupMax(top);
  let total = subgroupAdd(sum);
  if (leads) {
    tops[l / subgroup] = best;
    sums[l / subgroup] = total;
  }
  workgroupBarrier();
}
fn share_second(l: u32, gain: V) {
  let total = subgroupAdd(gain);
  if (leads) { gains[l / subgroup] = total; }
  workgroupBarrier();
}
fn shared_top() -> U {
  var t = tops[0];
  for (var k = 1u; k < WG / subgroup; k++) { t = max(t, tops[k]); }
  return t;
}
fn shared_sum() -> V {
  var t = sums[0];
  for (var k = 1u; k < WG / subgroup; k++) { t += sums[k]; }
  return t;
}
fn shared_gain() -> V {
  var t = gains[0];
  for (var k = 1u; k < WG / subgroup; k++) { t += gains[k]; }
  return t;
}
"""
