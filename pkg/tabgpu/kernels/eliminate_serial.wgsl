// eliminate_serial: what eliminate.wgsl does, in two launches without workgroup memory or barriers, for CPU adapters.
// STEP 0: a thread solves a column of U and writes it to x. STEP 1: a thread makes 4 x 4 elements of W -= L U.
//
// Parameters: as eliminate.wgsl's, but words 15 and 16 count fours of rows and of columns.
// Dispatch: ceil(threads / WG) workgroups, folded into x, y, z; threads: word 1 less word 11, or words 15 * 16, times 17.

alias E = f32;
const SOLVE = true;
const LU = false;
const STEP = 0u;
const WG = 16u;
const PV = 6u;
// use div, ieee

@group(0) @binding(0) var<storage, read_write> l: array<E>;
@group(0) @binding(1) var<storage, read_write> w: array<E>;
// solved: begin
@group(0) @binding(2) var<storage, read_write> x: array<E>;
// solved: end
// pivots: begin
@group(0) @binding(3) var<storage, read_write> table: array<u32>;
// pivots: end
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;
var<private> base: u32;
var<private> wbase: u32;
var<private> xbase: u32;
var<private> posts: u32;
// arithmetic: begin
fn conjugate(a: E) -> E { return a; }
fn less(s: E, a: E, b: E) -> E { return s - a * b; }
fn divided(y: E, d: E) -> E { return div_f32(y, d); }
// arithmetic: end

fn place(k: u32) -> u32 {
  // place: begin
  if (LU) { return table[posts + P[0].x + P[0].z + k]; }
  // place: end
  return P[0].z + k;
}
fn left(i: u32, k: u32) -> E {
  let v = l[base + i * P[1].y + (P[0].z + k) * P[1].z];
  if ((P[4].z & 2u) != 0u) { return conjugate(v); }
  return v;
}
fn living(row: u32) -> bool {
  // active: begin
  if (LU) { return row < P[0].x && table[posts + min(row, P[0].x - 1u)] >= P[0].z + P[0].w; }
  // active: end
  return row < P[0].x;
}
fn old(row: u32, col: u32, live: bool) -> E {
  if (live && col < P[0].y) { return w[wbase + row * P[2].y + col]; }
  return E();
}
fn keep(v: E, row: u32, col: u32, live: bool) {
  if (!live || col >= P[0].y) { return; }
  // next: begin
  if (LU && col < P[5].x) {
    l[base + row * P[1].y + col * P[1].z] = v;
    return;
  }
  // next: end
  w[wbase + row * P[2].y + col] = v;
}
fn side(row: u32, k: u32) -> E { return left(min(row, P[0].x - 1u), k); }
fn top(k: u32, col: u32) -> E {
  let c = min(col, P[0].y - 1u);
  // above: begin
  if (SOLVE) { return x[xbase + (P[0].z + k) * P[3].y + c]; }
  // above: end
  return conjugate(left(c, k));
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) li: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + li;
  let each = select(P[3].w * P[4].x, P[0].y - P[2].w, STEP == 0u);
  if (job >= each * P[4].y) { return; }
  let z = job / each;
  base = P[1].x + z * P[1].w;
  wbase = P[2].x + z * P[2].z;
  xbase = P[3].x + z * P[3].z;
  posts = z * P[5].y;
  // solving: begin
  if (STEP == 0u) {
    let col = P[2].w + job % each;
    for (var i = 0u; i < P[0].w; i++) {
      let row = place(i);
      var v = w[wbase + row * P[2].y + col];
      for (var k = 0u; k < i; k++) { v = less(v, left(row, k), x[xbase + (P[0].z + k) * P[3].y + col]); }
      if ((P[4].z & 1u) == 0u) { v = divided(v, left(row, i)); }
      x[xbase + (P[0].z + i) * P[3].y + col] = v;
    }
    return;
  }
  // solving: end
  let row = P[4].w + job % each % P[3].w * 4u;
  let col = P[2].w + job % each / P[3].w * 4u;
  if (!SOLVE && col > row + 3u) { return; }
  let on0 = living(row);
  let on1 = living(row + 1u);
  let on2 = living(row + 2u);
  let on3 = living(row + 3u);
  // multiply: begin
  var s: array<E, 16>;
  for (var e = 0u; e < 16u; e++) { s[e] = old(row + e / 4u, col + e % 4u, living(row + e / 4u)); }
  for (var k = 0u; k < P[0].w; k++) {
    for (var e = 0u; e < 16u; e++) { s[e] = less(s[e], side(row + e / 4u, k), top(k, col + e % 4u)); }
  }
  for (var e = 0u; e < 16u; e++) { keep(s[e], row + e / 4u, col + e % 4u, living(row + e / 4u)); }
  // multiply: end
}
