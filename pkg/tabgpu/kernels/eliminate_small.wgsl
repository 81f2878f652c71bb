// eliminate_small: many small matrices in one launch, LANES threads for each: Gaussian elimination with partial pivoting in
// workgroup memory. MODE 0: LU factors, exchanges, order and verdict as the launches of routines/lu.py leave them; 1: the
// solutions of A X = B and verdicts; 2: inverses and verdicts. A matrix has columns behind it: the numbers of its rows, or
// the right-hand side. LANES = 1: a thread works alone in memory of its own (`m` is a buffer), without barriers.
//
// Parameters (group 1, u32 words): 0 n   1 columns behind A   2 batches   3 elements from row to row in m
//   4, 5, 6 where exchanges, order and verdicts begin in the result   7 batch stride of A   8 batch stride of B
// Dispatch: ceil(batches * LANES / WG) workgroups, folded into x, y, z.

alias E = f32;
const MODE = 0u;
const WG = 64u;
const LANES = 16u;
const ROOM = 2048u;
const PV = 3u;
// use div, ieee

@group(0) @binding(0) var<storage, read> a: array<E>;
@group(0) @binding(1) var<storage, read> b: array<E>;
@group(0) @binding(2) var<storage, read_write> result: array<E>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;
// memory: begin
var<workgroup> m: array<E, ROOM>;
// memory: end
// arithmetic: begin
fn less(s: E, a: E, b: E) -> E { return s - a * b; }
fn divided(y: E, d: E) -> E { return div_f32(y, d); }
fn magnitude(a: E) -> u32 { return bitcast<u32>(a) & 0x7fffffffu; }
fn number(a: u32) -> E { return f32(a); }
// arithmetic: end
fn barrier() { workgroupBarrier(); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) li: u32) {
  let lane = li % LANES;
  let z = (g.x + ng.x * (g.y + ng.y * g.z)) * (WG / LANES) + li / LANES;
  let live = z < P[0].z;
  let n = P[0].x;
  let wide = n + P[0].y;
  let pitch = P[0].w;
  let to = select(li / LANES, z, LANES == 1u) * n * pitch;
  var verdict = 0u;
  if (live) {
    for (var e = lane; e < n * wide; e += LANES) {
      let i = e / wide;
      let c = e % wide;
      var v = number(u32(i == c - n));
      if (c < n) {
        v = a[z * P[1].w + i * n + c];
      } else if (MODE == 0u) {
        v = number(i);
      } else if (MODE == 1u) {
        v = b[z * P[2].x + i * P[0].y + c - n];
      }
      m[to + i * pitch + c] = v;
    }
  }
  barrier();
  for (var k = 0u; k < n; k++) {
    let top = to + k * pitch;
    var best = 0u;
    var p = k;
    if (live) {
      for (var i = k; i < n; i++) {
        let key = magnitude(m[to + i * pitch + k]);
        if (key > best) {
          best = key;
          p = i;
        }
      }
    }
    barrier();
    if (live && p != k) {
      for (var c = select(k, 0u, MODE == 0u) + lane; c < wide; c += LANES) {
        let v = m[top + c];
        m[top + c] = m[to + p * pitch + c];
        m[to + p * pitch + c] = v;
      }
    }
    barrier();
    if (live) {
      verdict = select(verdict, k + 1u, best == 0u && verdict == 0u);
      if (MODE == 0u && lane == 0u) { result[P[1].x + z * n + k] = number(p); }
      let pivot = m[top + k];
      for (var i = k + 1u + lane; i < n; i += LANES) {
        let row = to + i * pitch;
        var f = m[row + k];
        if (best != 0u) { f = divided(f, pivot); }
        m[row + k] = f;
        for (var c = k + 1u; c < select(wide, n, MODE == 0u); c++) { m[row + c] = less(m[row + c], f, m[top + c]); }
      }
    }
    barrier();
  }
  if (MODE == 0u) {
    if (live) {
      for (var e = lane; e < n * n; e += LANES) { result[z * n * n + e] = m[to + e / n * pitch + e % n]; }
      for (var i = lane; i < n; i += LANES) { result[P[1].y + z * n + i] = m[to + i * pitch + n]; }
    }
  } else {
    for (var h = 0u; h < n; h++) {
      let k = n - 1u - h;
      let top = to + k * pitch;
      if (live) {
        for (var c = n + lane; c < wide; c += LANES) { m[top + c] = divided(m[top + c], m[top + k]); }
      }
      barrier();
      if (live) {
        for (var e = lane; e < k * P[0].y; e += LANES) {
          let row = to + e / P[0].y * pitch;
          let c = n + e % P[0].y;
          m[row + c] = less(m[row + c], m[row + k], m[top + c]);
        }
      }
      barrier();
    }
    if (live) {
      for (var e = lane; e < n * P[0].y; e += LANES) {
        result[z * n * P[0].y + e] = m[to + e / P[0].y * pitch + n + e % P[0].y];
      }
    }
  }
  if (live && lane == 0u) { result[P[1].z + z] = number(verdict); }
}
