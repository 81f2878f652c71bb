// quant_matvec: y[s, r] = sum over k of W[ids[s], r, k] * x[s, k], W quantised: one vector, or one for each id (BANK).
//
// LANES threads share OUTS rows (1 or 4): a thread takes every LANES-th unit, 16 weights whose bytes lie side by side,
// reads their sixteen x once for all its rows, and all lanes add up through workgroup memory. With LANES = 1 threads
// work alone, without barriers (CPU adapters). Sums are float32, in an order that depends on n and k only.
//
// Parameters (group 1, u32 words):
//   0 rows n   1 units a row   2 bytes a row   3 first byte   4 slots   5 matrices in the bank   6 first row   7 its end
// Dispatch: slots * ceil(rows of the launch / (WG / LANES * OUTS)) workgroups, folded into x, y, z.

const WG = 128u;
const LANES = 32u;
const OUTS = 4u;
const BANK = false;
const PV = 2u;
// format: begin
const QBLOCK = 16u;
const QBYTES = 64u;
const QPLANES = 1u;
const MINIMA = false;
fn quad_place(t: u32, h: u32) -> u32 { return t; }
fn scale(b: u32, t: u32, h: u32) -> vec2f { return vec2f(1.0f, 0.0f); }
fn quad(b: u32, t: u32, h: u32) -> vec4f { return vec4f(bitcast<f32>(word(b))); }
// format: end

@group(0) @binding(0) var<storage, read> w: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> ids: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;
var<workgroup> part: array<vec4f, WG>;

const ACROSS = WG / LANES;
const PER = ACROSS * OUTS;
const UNITS = QBLOCK / 16u;
fn word(i: u32) -> u32 { return w[i]; }

fn matrix_of(s: u32) -> u32 {
  let i = ids[s];
  return min(select(i, i + P[1].y, i >= 0x80000000u), P[1].y - 1u);
}

// Quad i of unit v: its word, its plane.
fn t_of(v: u32, i: u32) -> u32 {
  if (QPLANES == 1u) { return 4u * v + i; }
  if (QPLANES == 2u) { return 2u * v + i / 2u; }
  return v;
}
fn h_of(i: u32) -> u32 { return i % QPLANES; }

struct Xs { a: vec4f, b: vec4f, c: vec4f, d: vec4f, sums: vec4f }

// One row's part of unit v of the block at byte b. Quads of one plane share a scale.
fn one(b: u32, v: u32, q: Xs) -> f32 {
  let t = t_of(v, 0u);
  let p = vec4f(dot(quad(b, t, h_of(0u)), q.a), dot(quad(b, t_of(v, 1u), h_of(1u)), q.b),
                dot(quad(b, t_of(v, 2u), h_of(2u)), q.c), dot(quad(b, t_of(v, 3u), h_of(3u)), q.d));
  let s0 = scale(b, t, 0u);
  if (QPLANES == 1u) {
    var sum = s0.x * ((p.x + p.y) + (p.z + p.w));
    if (MINIMA) { sum -= s0.y * ((q.sums.x + q.sums.y) + (q.sums.z + q.sums.w)); }
    return sum;
  }
  let s1 = scale(b, t, 1u);
  if (QPLANES == 2u) {
    var sum = s0.x * (p.x + p.z) + s1.x * (p.y + p.w);
    if (MINIMA) { sum -= s0.y * (q.sums.x + q.sums.z) + s1.y * (q.sums.y + q.sums.w); }
    return sum;
  }
  let s2 = scale(b, t, 2u);
  let s3 = scale(b, t, 3u);
  var sum = (s0.x * p.x + s1.x * p.y) + (s2.x * p.z + s3.x * p.w);
  if (MINIMA) { sum -= (s0.y * q.sums.x + s1.y * q.sums.y) + (s2.y * q.sums.z + s3.y * q.sums.w); }
  return sum;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  let tiles = (P[1].w - P[1].z + PER - 1u) / PER;
  let slot = job / tiles;
  let live = slot < P[1].x;
  let s = min(slot, P[1].x - 1u);
  let lane = l % LANES;
  let row = P[1].z + job % tiles * PER + l / LANES * OUTS;
  let last = P[1].w - 1u;
  var first = P[0].w;
  if (BANK) { first += matrix_of(s) * P[0].x * P[0].z; }
  let b0 = first + min(row, last) * P[0].z;
  let b1 = first + min(row + 1u, last) * P[0].z;
  let b2 = first + min(row + 2u, last) * P[0].z;
  let b3 = first + min(row + 3u, last) * P[0].z;
  let x0 = s * P[0].y * 4u;
  var acc = vec4f();
  for (var u = lane; u < P[0].y; u += LANES) {
    let block = u / UNITS;
    let v = u % UNITS;
    let at = x0 + block * (QBLOCK / 4u);
    var q = Xs(x[at + quad_place(t_of(v, 0u), h_of(0u))], x[at + quad_place(t_of(v, 1u), h_of(1u))],
               x[at + quad_place(t_of(v, 2u), h_of(2u))], x[at + quad_place(t_of(v, 3u), h_of(3u))], vec4f());
    if (MINIMA) {
      let ones = vec4f(1.0f);
      q.sums = vec4f(dot(q.a, ones), dot(q.b, ones), dot(q.c, ones), dot(q.d, ones));
    }
    let o = block * QBYTES;
    acc.x += one(b0 + o, v, q);
    if (OUTS == 4u) {
      acc.y += one(b1 + o, v, q);
      acc.z += one(b2 + o, v, q);
      acc.w += one(b3 + o, v, q);
    }
  }
  if (LANES > 1u) {
    part[l] = acc;
    for (var step = LANES / 2u; step > 0u; step /= 2u) {
      workgroupBarrier();
      if (lane < step) { part[l] += part[l + step]; }
    }
    if (lane > 0u) { return; }
    acc = part[l];
  }
  if (!live) { return; }
  let to = s * P[0].x + row;
  if (row <= last) { y[to] = acc.x; }
  if (OUTS == 4u) {
    if (row + 1u <= last) { y[to + 1u] = acc.y; }
    if (row + 2u <= last) { y[to + 2u] = acc.z; }
    if (row + 3u <= last) { y[to + 3u] = acc.w; }
  }
}
