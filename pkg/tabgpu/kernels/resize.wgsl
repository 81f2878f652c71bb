// resize: a strided array sampled at evenly spaced places along up to three axes; the result lies row-major.
//
// Result o of an axis stands at x = a (o + p) + q of the source, or, for the nearest element, at (A o + B) / D in whole
// numbers. A thread makes the PER results of a word.
//
// Parameters (group 1, u32 words):
//   0 results   1 size of the second leading axis   2 offset of src   3, 4 its strides along the leading axes
//   5 bit 0: what lies outside has no weight (else the edge stands for it), bit 1: results whose x lies outside are filled
//   6 bits of the cubic's coefficient   7 bits of the fill
//   8 for each axis: results, size, stride, bits of a,  of p, of q, and
//     filters: bits of 1 / (source elements a unit of the filter), of how far it reaches
//     nearest: rounding (0 down, 1 up, 2 halves down, 3 halves up), 0; or A, B, K, D where D is not 0
// Strides and offset are modulo 2^32.
// Dispatch: ceil(words of dst / WG) workgroups, folded into x, y, z.
// Hooks: load, bits, and the block `mode` (kernels/resize_functions.py).
// use ieee

alias V = f32;
const WG = 256u;
const PER = 1u; // results a word
const RANK = 2u;
const PV = 8u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn load(at: u32) -> V { return bitcast<f32>(src[at]); }
fn bits(v: V) -> u32 { return bitcast<u32>(v); }

fn coordinate(axis: u32, o: u32) -> f32 {
  let a = bitcast<f32>(P[2u + 2u * axis].w);
  let b = bitcast<vec4f>(P[3u + 2u * axis]);
  let x = a * (f32(o) + b.x);
  return opaque_f32(x, x) + b.y;
}
fn strays(axis: u32, x: f32) -> bool {
  return (P[1].y & 2u) != 0u && (x < 0.0f || x > f32(P[2u + 2u * axis].y - 1u));
}

// mode: begin
struct Taps { at: vec2u, w: vec2f, stray: bool }
fn taps(axis: u32, o: u32) -> Taps {
  let n = P[2u + 2u * axis].y;
  let x = coordinate(axis, o);
  let first = min(u32(max(x, 0.0f)), n - 1u);
  let w = clamp(x - f32(first), 0.0f, 1.0f);
  return Taps(vec2u(first, min(first + 1u, n - 1u)) * P[2u + 2u * axis].z, vec2f(1.0f - w, w), strays(axis, x));
}
fn row(base: u32, x: Taps) -> f32 { return x.w.x * load(base + x.at.x) + x.w.y * load(base + x.at.y); }
fn sample(base: u32, z: Taps, y: Taps, x: Taps) -> V {
  return y.w.x * row(base + y.at.x, x) + y.w.y * row(base + y.at.y, x);
}
// mode: end

fn value(i: u32) -> V {
  var rest = i;
  let ox = rest % P[2u * RANK].x;
  rest /= P[2u * RANK].x;
  let x = taps(RANK - 1u, ox);
  var y = x;
  var z = x;
  if (RANK > 1u) {
    let oy = rest % P[2u * RANK - 2u].x;
    rest /= P[2u * RANK - 2u].x;
    y = taps(RANK - 2u, oy);
  }
  if (RANK > 2u) {
    let oz = rest % P[2].x;
    rest /= P[2].x;
    z = taps(0u, oz);
  }
  let lead = rest / P[0].y;
  let base = P[0].z + lead * P[0].w + (rest - lead * P[0].y) * P[1].x;
  if (x.stray || y.stray || z.stray) { return bitcast<V>(P[1].w); }
  return sample(base, z, y, x);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let w = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (w * PER >= P[0].x) { return; }
  var word = 0u;
  for (var q = 0u; q < PER; q++) {
    let i = w * PER + q;
    if (i < P[0].x) { word |= (bits(value(i)) & (0xffffffffu >> (32u - 32u / PER))) << (q * (32u / PER)); }
  }
  dst[w] = word;
}
