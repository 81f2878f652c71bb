// cholesky_panel: K columns of a Cholesky factor. The first K threads of each workgroup hold the K x K block on the diagonal,
// a row each, the others rows below it: all eliminate together, so that the triangle is solved on the way. Every workgroup
// makes the block anew, from memory that nobody writes: W is read, the factor is written elsewhere.
//
// Parameters (group 1, u32 words), elements of E:
//    0 n   1 j, the first column   2 columns of the panel   3 workgroups a matrix
//    4 row stride of W   5 batch stride of W   6 row stride of the factor   7 batch stride of the factor
//    8 where the factor's array has the verdicts: 0, or the first k whose leading k x k block is not positive definite
//    9 batches  10 offset of W
// Dispatch: words 3 * 9 workgroups, folded into x, y, z.

alias E = f32;
alias Q = vec4f;
const K = 32u;
const NT = 128u;
const KQ = K / 4u;
const PV = 3u;
// use ieee

@group(0) @binding(0) var<storage, read> w: array<E>;
@group(0) @binding(1) var<storage, read_write> l: array<E>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

var<workgroup> column: array<E, 2u * K>;
// arithmetic: begin
fn conjugate(a: E) -> E { return a; }
fn real(a: E) -> f32 { return a; }
fn number(a: f32) -> E { return a; }
fn four(a: E, b: E, c: E, d: E) -> Q { return Q(a, b, c, d); }
fn less(s: E, a: E, b: E) -> E { return s - a * b; }
fn on_diagonal(a: E, on: bool) -> E { return a; }
fn less_four(y: Q, t: E, c: Q) -> Q { return y - t * c; }
fn over(y: E, d: f32, r: f32) -> E {
  let q = y * r;
  return fma(fma(-q, d, y), r, q);
}
// arithmetic: end

// The square root of a pivot, and 1 over it; NaN where it is not positive and finite.
struct Root { d: f32, r: f32 }
fn good(a: f32) -> bool { return bitcast<u32>(a) - 1u < 0x7f7fffffu; }
fn root(a: f32) -> Root {
  let v = nan_if_f32(a, !good(a));
  let r = inverseSqrt(v);
  let s = v * r;
  let d = fma(fma(-s, s, v), 0.5f * r, s);
  return Root(d, fma(fma(-d, r, 1.0f), r, r));
}
fn at(live: bool, i: u32, c: u32, base: u32) -> E {
  if (live && c < P[0].z) { return w[base + c]; }
  return number(select(0.0f, 1.0f, i == c));
}

@compute @workgroup_size(NT)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) li: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  if (job >= P[0].w * P[2].y) { return; }
  let z = job / P[0].w;
  let part = job % P[0].w;
  let i = select(li + part * (NT - K), li, li < K);
  let row = P[0].y + i;
  let live = row < P[0].x;
  let base = P[2].z + z * P[1].y + row * P[1].x + P[0].y;
  let to = z * P[1].w + row * P[1].z + P[0].y;
  let stored = live && (li >= K || part == 0u);
  var bad = 0u;
  // rows: begin
  var y: array<Q, KQ>;
  for (var k = 0u; k < K; k++) { y[k / 4u][k % 4u] = at(live, i, k, base); }
  for (var k = 0u; k < K; k++) {
    let buffer = k % 2u * K;
    if (li < K) { column[buffer + li] = y[k / 4u][k % 4u]; }
    workgroupBarrier();
    let a = real(column[buffer + k]);
    bad = select(bad, k + 1u, bad == 0u && !good(a));
    let d = root(a);
    let v = over(y[k / 4u][k % 4u], d.d, d.r);
    y[k / 4u][k % 4u] = v;
    for (var c = k + 1u; c < K; c++) {
      y[c / 4u][c % 4u] = less(y[c / 4u][c % 4u], v * d.r, conjugate(column[buffer + c]));
    }
  }
  for (var k = 0u; k < K; k++) {
    if (stored && k < P[0].z && k <= i) { l[to + k] = on_diagonal(y[k / 4u][k % 4u], k == i); }
  }
  // rows: end
  if (bad > 0u && bad <= P[0].z && part == 0u && li == 0u) {
    let verdict = P[2].x + z;
    if (real(l[verdict]) == 0.0f) { l[verdict] = number(f32(P[0].y + bad)); }
  }
}
