// stencil: images of a strided array correlated with one small kernel. A workgroup stages a tile and what surrounds it,
// borders already resolved, in passes over at most RH rows and RW columns of the kernel. A thread makes 4 rows of 8 results.
//
// LINES: the kernel has one row, and a row of the tile is any 64 results of any line.
//
// Parameters (group 1, u32 words):
//   0 h, w: sizes of an image   2 kh, kw: of the kernel   4 rows and columns of a result   6 oy, ox: result (y, x) begins at
//   element (y - oy, x - ox)   8 channels (second leading axis)   9 offset of src, 10 strides along the leading axes
//   12 strides of rows and columns   14 modes of both borders (lib/border)   16 bits of the constant beyond them
//   17 number of the first workgroup   18 tiles along rows (LINES: lines)   19 tiles along columns   20 tiles
// Strides and offset are modulo 2^32.
// Dispatch: a workgroup a tile, folded into x, y, z.
// Hooks: load, put; the block `rows` is kernels/stencil_inner.py's.
// use border

const BX = 8u; // threads along columns
const BY = 16u;
const RH = 16u;
const RW = 16u; // a multiple of 4
const PITCH = 20u; // quads a row of the tile, even
const LINES = false;
const PV = 6u;
const TH = 4u * BY;
const TW = 8u * BX;
const NT = BX * BY;
const HALF = PITCH / 2u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read> taps: array<f32>;
@group(0) @binding(2) var<storage, read_write> dst: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

// A row holds its even quads, then its odd ones, so that neighbouring threads read neighbouring quads.
var<workgroup> tile: array<vec4f, (TH + RH - 1u) * PITCH>;
var<workgroup> weights: array<vec4f, RH * RW / 4u>;

fn load(at: u32) -> f32 { return bitcast<f32>(src[at]); }

fn origin(lead: u32) -> u32 {
  let outer = lead / P[2].x;
  return P[2].y + outer * P[2].z + (lead - outer * P[2].x) * P[2].w;
}
fn element(base: u32, x: i32) -> f32 {
  let k = border_index(x, i32(P[0].y), P[3].w);
  var v = bitcast<f32>(P[4].x);
  if (k >= 0) { v = load(base + u32(k) * P[3].y); }
  return v;
}
// Results at..at + 3 of a line that ends before `end`.
fn put(at: u32, x: u32, v: vec4f) {
  if (x < P[1].y) { dst[at] = v.x; }
  if (x + 1u < P[1].y) { dst[at + 1u] = v.y; }
  if (x + 2u < P[1].y) { dst[at + 2u] = v.z; }
  if (x + 3u < P[1].y) { dst[at + 3u] = v.w; }
}

@compute @workgroup_size(NT)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = P[4].y + g.x + ng.x * (g.y + ng.y * g.z);
  if (job >= P[5].x) { return; }
  let tx = job % P[4].w;
  let ty = job / P[4].w % P[4].z;
  let lead = job / P[4].w / P[4].z;
  let image = origin(lead);
  let lx = l % BX;
  let ly = l / BX;
  var a0 = vec4f(); var b0 = vec4f();
  var a1 = vec4f(); var b1 = vec4f();
  var a2 = vec4f(); var b2 = vec4f();
  var a3 = vec4f(); var b3 = vec4f();
  for (var k0 = 0u; k0 < P[0].z; k0 += RH) {
    let high = min(RH, P[0].z - k0);
    for (var c0 = 0u; c0 < P[0].w; c0 += RW) {
      let wide = min(RW, P[0].w - c0);
      let quads = TW / 4u + (wide + 3u) / 4u;
      workgroupBarrier();
      for (var i = l; i < high * (RW / 4u); i += NT) {
        let r = i / (RW / 4u);
        let c = 4u * (i % (RW / 4u));
        let at = (k0 + r) * P[0].w + c0 + c;
        var w = vec4f();
        if (c < wide) { w.x = taps[at]; }
        if (c + 1u < wide) { w.y = taps[at + 1u]; }
        if (c + 2u < wide) { w.z = taps[at + 2u]; }
        if (c + 3u < wide) { w.w = taps[at + 3u]; }
        weights[i] = w;
      }
      for (var i = l; i < (TH + high - 1u) * quads; i += NT) {
        let r = i / quads;
        let q = i - r * quads;
        var base = image;
        var x = i32(tx * TW + c0 + 4u * q) - i32(P[1].w);
        var inside = true;
        if (LINES) {
          let id = job * TH + r;
          let line = id / P[4].w;
          inside = line < P[4].z;
          let plane = line / P[0].x;
          base = origin(plane) + (line - plane * P[0].x) * P[3].x;
          x = i32((id - line * P[4].w) * TW + c0 + 4u * q) - i32(P[1].w);
        } else {
          let y = border_index(i32(ty * TH + k0 + r) - i32(P[1].z), i32(P[0].x), P[3].z);
          inside = y >= 0;
          base += u32(y) * P[3].x;
        }
        var v = vec4f(bitcast<f32>(P[4].x));
        if (inside) {
          if (x >= 0 && x + 3 < i32(P[0].y)) {
            let at = base + u32(x) * P[3].y;
            v = vec4f(load(at), load(at + P[3].y), load(at + 2u * P[3].y), load(at + 3u * P[3].y));
          } else {
            v = vec4f(element(base, x), element(base, x + 1), element(base, x + 2), element(base, x + 3));
          }
        }
        tile[r * PITCH + (q >> 1u) + (q & 1u) * HALF] = v;
      }
      workgroupBarrier();
      for (var ky = 0u; ky < high; ky++) {
        let r0 = (4u * ly + ky) * PITCH + lx;
        let r1 = r0 + PITCH;
        let r2 = r1 + PITCH;
        let r3 = r2 + PITCH;
        let wk = ky * (RW / 4u);
        // rows: begin
        a0 += weights[wk].x * tile[r0];
        // rows: end
      }
    }
  }
  if (LINES) {
    let id = job * TH + 4u * ly;
    put_line(id, lx, a0, b0);
    put_line(id + 1u, lx, a1, b1);
    put_line(id + 2u, lx, a2, b2);
    put_line(id + 3u, lx, a3, b3);
  } else {
    let y = ty * TH + 4u * ly;
    let x = tx * TW + 8u * lx;
    put_row(lead * P[1].x, y, x, a0, b0);
    put_row(lead * P[1].x, y + 1u, x, a1, b1);
    put_row(lead * P[1].x, y + 2u, x, a2, b2);
    put_row(lead * P[1].x, y + 3u, x, a3, b3);
  }
}
fn put_row(first: u32, y: u32, x: u32, a: vec4f, b: vec4f) {
  if (y >= P[1].x) { return; }
  let at = (first + y) * P[1].y + x;
  put(at, x, a);
  put(at + 4u, x + 4u, b);
}
fn put_line(id: u32, lx: u32, a: vec4f, b: vec4f) {
  let line = id / P[4].w;
  if (line >= P[4].z) { return; }
  let x = (id - line * P[4].w) * TW + 8u * lx;
  let at = line * P[1].y + x;
  put(at, x, a);
  put(at + 4u, x + 4u, b);
}
