// quant_matvec_blocks: quant_matvec.wgsl for formats with blocks of 32 weights, on GPUs: a thread takes whole blocks.
//
// That spends less on scales and addresses than units of 16. x comes through workgroup memory, STAGE blocks of it at a
// time, each block one vec4 longer than it is, so that the lanes of a subgroup meet different banks. LANES threads share
// OUTS = 4 rows. Parameters, dispatch and order of work: as there.

const WG = 128u;
const LANES = 32u;
const OUTS = 4u;
const BANK = false;
const PV = 2u;
// format: begin
const QBLOCK = 32u;
const QBYTES = 128u;
const QPLANES = 1u;
const QRUN = 8u;
const MINIMA = false;
fn quad_part(j: u32) -> vec2u { return vec2u(j, 0u); }
fn scale(b: u32, t: u32, h: u32) -> vec2f { return vec2f(1.0f, 0.0f); }
fn quad(b: u32, t: u32, h: u32) -> vec4f { return vec4f(bitcast<f32>(word(b))); }
// format: end

@group(0) @binding(0) var<storage, read> w: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> ids: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const STAGE = 64u; // blocks
const LONG = 9u; // vec4s of one
const ACROSS = WG / LANES;
const PER = ACROSS * OUTS;
var<workgroup> xs: array<vec4f, STAGE * LONG>;
var<workgroup> part: array<vec4f, WG>;
fn word(i: u32) -> u32 { return w[i]; }

fn matrix_of(s: u32) -> u32 {
  let i = ids[s];
  return min(select(i, i + P[1].y, i >= 0x80000000u), P[1].y - 1u);
}

struct Xs { a: vec4f, b: vec4f, c: vec4f, d: vec4f, e: vec4f, f: vec4f, g: vec4f, h: vec4f, sum: f32 }

fn term(b: u32, j: u32, x: vec4f) -> f32 {
  let p = quad_part(j);
  return dot(quad(b, p.x, p.y), x);
}

// One row's part of the block at byte b.
fn one(b: u32, q: Xs) -> f32 {
  let s = scale(b, 0u, 0u);
  let low = (term(b, 0u, q.a) + term(b, 1u, q.b)) + (term(b, 2u, q.c) + term(b, 3u, q.d));
  let high = (term(b, 4u, q.e) + term(b, 5u, q.f)) + (term(b, 6u, q.g) + term(b, 7u, q.h));
  if (MINIMA) { return s.x * (low + high) - s.y * q.sum; }
  return s.x * (low + high);
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
  let blocks = P[0].y / 2u;
  var first = P[0].w;
  if (BANK) { first += matrix_of(s) * P[0].x * P[0].z; }
  let b0 = first + min(row, last) * P[0].z;
  let b1 = first + min(row + 1u, last) * P[0].z;
  let b2 = first + min(row + 2u, last) * P[0].z;
  let b3 = first + min(row + 3u, last) * P[0].z;
  let x0 = s * blocks * 8u;
  var acc = vec4f();
  for (var from_ = 0u; from_ < blocks; from_ += STAGE) {
    let quads = min(STAGE, blocks - from_) * 8u;
    for (var j = l; j < quads; j += WG) { xs[j / 8u * LONG + j % 8u] = x[x0 + from_ * 8u + j]; }
    workgroupBarrier();
    for (var c = lane; c < min(STAGE, blocks - from_); c += LANES) {
      let i = c * LONG;
      var q = Xs(xs[i], xs[i + 1u], xs[i + 2u], xs[i + 3u], xs[i + 4u], xs[i + 5u], xs[i + 6u], xs[i + 7u], 0.0f);
      if (MINIMA) {
        let all = ((q.a + q.b) + (q.c + q.d)) + ((q.e + q.f) + (q.g + q.h));
        q.sum = (all.x + all.y) + (all.z + all.w);
      }
      let o = (from_ + c) * QBYTES;
      acc.x += one(b0 + o, q);
      acc.y += one(b1 + o, q);
      acc.z += one(b2 + o, q);
      acc.w += one(b3 + o, q);
    }
    workgroupBarrier();
  }
  part[l] = acc;
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (lane < step) { part[l] += part[l + step]; }
  }
  if (lane > 0u || !live) { return; }
  acc = part[l];
  let to = s * P[0].x + row;
  if (row <= last) { y[to] = acc.x; }
  if (row + 1u <= last) { y[to + 1u] = acc.y; }
  if (row + 2u <= last) { y[to + 2u] = acc.z; }
  if (row + 3u <= last) { y[to + 3u] = acc.w; }
}
