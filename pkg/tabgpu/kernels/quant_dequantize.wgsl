// quant_dequantize: rows of quantised weights as float32: all of them, or (GATHER) those that ids name.
//
// Parameters (group 1, u32 words):
//   0 quads of the result   1 quads a row   2 bytes a row   3 first byte   4 rows that there are   5 first quad
// Dispatch: ceil(quads / WG) workgroups, folded into x, y, z. The format's part of blocks.wgsl stands at `format`.

const WG = 256u;
const GATHER = false;
const PV = 2u;
// format: begin
const QBLOCK = 4u;
const QBYTES = 16u;
fn quad_part(j: u32) -> vec2u { return vec2u(j, 0u); }
fn scale(b: u32, t: u32, h: u32) -> vec2f { return vec2f(1.0f, 0.0f); }
fn quad(b: u32, t: u32, h: u32) -> vec4f { return vec4f(bitcast<f32>(word(b))); }
// format: end

@group(0) @binding(0) var<storage, read> w: array<u32>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4u>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn word(i: u32) -> u32 { return w[i]; }
// The row that a row of the result is; negative ids count from the end, others that are not there are clamped.
fn row_of(r: u32) -> u32 {
  let i = ids[r];
  return min(select(i, i + P[1].x, i >= 0x80000000u), P[1].x - 1u);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (i >= P[0].x) { return; }
  let r = i / P[0].y;
  let j = i % P[0].y;
  let b = P[0].w + row_of(r) * P[0].z + j / (QBLOCK / 4u) * QBYTES;
  let at = quad_part(j % (QBLOCK / 4u));
  let s = scale(b, at.x, at.y);
  out[i + P[1].y] = bitcast<vec4u>(vec4f(s.x) * quad(b, at.x, at.y) - vec4f(s.y));
}
