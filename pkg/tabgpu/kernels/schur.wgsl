// schur: implicitly shifted QR iterations (Francis 1961) on Hessenberg matrices h, with two shifts a sweep, until all that is left
// below the diagonal are the corners of 2 x 2 blocks. One workgroup a matrix does at most P[0].w reflectors in a launch; what it
// was about is in state, and a launch that finds its matrix done returns at once. E: as in hessenberg.wgsl. z: Z transposed.
//
// state, of a matrix: rows that are left, iterations since the last one was done. Entries are about 1 at most.
// Parameters (group 1, u32 words): 0 matrices   1 n   2 whether T and Z are wanted, or the eigenvalues only   3 reflectors
//   4 whether this is the first launch
// Dispatch: a workgroup a matrix, folded into x, y, z.

alias E = f32;
const WG = 64u;
const PV = 2u;
const EPS = 1.1920929e-7f;
const LEAST = 1e-16f;

@group(0) @binding(0) var<storage, read_write> h: array<E>;
@group(0) @binding(1) var<storage, read_write> z: array<E>;
@group(0) @binding(2) var<storage, read_write> state: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;
var<workgroup> low: atomic<u32>;
var<workgroup> now: vec3u;

fn times(a: E, b: E) -> E { return a * b; }
fn turned(a: E) -> E { return a; }
fn square(a: E) -> f32 { return a * a; }
fn inverse(a: E) -> E { return 1.0f / a; }
fn number(a: f32) -> E { return a; }
fn size(a: E) -> f32 { return abs(a); }

struct Shifts { x: E, y: E, w: E }

// The shifts are the eigenvalues of [[y, .], [., x]] with w the product of the other two; of real ones the closer to x, twice.
fn chosen(s: Shifts) -> Shifts {
  let p = 0.5f * (s.y - s.x);
  let q = p * p + s.w;
  if (q < 0.0f) { return s; }
  let r = p + select(-sqrt(q), sqrt(q), p >= 0.0f);
  if (r == 0.0f) { return s; }
  let root = s.x - s.w / r;
  return Shifts(root, root, 0.0f);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let m = g.x + ng.x * (g.y + ng.y * g.z);
  if (m >= P[0].x) { return; }
  let n = P[0].y;
  let at = m * n * n;
  let all = P[0].z != 0u;
  if (l == 0u) {
    now = vec3u(state[2u * m], state[2u * m + 1u], 0u);
    if (P[1].x != 0u) { now = vec3u(n, 0u, 0u); }
  }
  var left = i32(P[0].w);
  loop {
    if (l == 0u) { atomicStore(&low, 0u); }
    let was = workgroupUniformLoad(&now);
    if (was.x < 2u || left <= 0) { break; }
    let hi = was.x - 1u;
    for (var i = 1u + l; i <= hi; i += WG) {
      let here = at + i * n + i;
      let around = size(h[here]) + size(h[here - n - 1u]);
      if (size(h[here - 1u]) <= max(EPS * around, LEAST)) { atomicMax(&low, i); }
    }
    workgroupBarrier();
    if (l == 0u) {
      let found = atomicLoad(&low);
      if (found > 0u) { h[at + found * n + found - 1u] = number(0.0f); }
      if (found + 1u >= hi) { now = vec3u(found, 0u, hi); } else { now = vec3u(was.x, was.y + 1u, found); }
    }
    storageBarrier();
    let next = workgroupUniformLoad(&now);
    left -= 1;
    if (next.y == 0u) { continue; }
    let lo = next.z;
    let end = at + hi * n + hi;
    var s = Shifts(h[end], h[end - n - 1u], times(h[end - 1u], h[end - n]));
    if (next.y % 10u == 0u) {
      let odd = size(h[end - 1u]) + size(h[end - n - 2u]);
      let x = h[end] + number(0.75f * odd);
      s = Shifts(x, x, number(-0.4375f * odd * odd));
    } else { s = chosen(s); }
    let d = at + lo * n + lo;
    let sx = s.x - h[d];
    let sy = s.y - h[d];
    var p = times(times(sx, sy) - s.w, inverse(h[d + n])) + h[d + 1u];
    var q = h[d + n + 1u] - h[d] - sx - sy;
    var r = h[d + 2u * n + 1u];
    storageBarrier();
    let row_end = select(hi + 1u, n, all);
    let row_begin = select(lo, 0u, all);
    for (var k = lo; k < hi; k++) {
      let three = k + 2u <= hi;
      let c = at + k * n + k;
      if (k > lo) {
        p = h[c - 1u];
        q = h[c + n - 1u];
        r = number(0.0f);
        if (three) { r = h[c + 2u * n - 1u]; }
      }
      let most = size(p) + size(q) + size(r);
      let by = select(0.0f, 1.0f / most, most > 1e-36f);
      p *= by;
      q *= by;
      r *= by;
      let rest = square(q) + square(r);
      let whole = sqrt(square(p) + rest);
      let own = sqrt(square(p));
      var beta = number(-whole);
      if (own > 1e-18f) { beta = p * (-whole / own); }
      let top = p - beta;
      var tau = 0.0f;
      var v1 = number(0.0f);
      var v2 = v1;
      if (by > 0.0f) {
        let up = inverse(top);
        v1 = times(q, up);
        v2 = times(r, up);
        tau = 2.0f * square(top) / (square(top) + rest);
      }
      for (var j = k + l; j < row_end; j += WG) {
        let e = at + k * n + j;
        let a = h[e];
        let b = h[e + n];
        var f = number(0.0f);
        if (three) { f = h[e + 2u * n]; }
        let sum = tau * (a + times(turned(v1), b) + times(turned(v2), f));
        h[e] = a - sum;
        h[e + n] = b - times(sum, v1);
        if (three) { h[e + 2u * n] = f - times(sum, v2); }
      }
      storageBarrier();
      if (l == 0u && k > lo) {
        h[c - 1u] = beta * most;
        h[c + n - 1u] = number(0.0f);
        if (three) { h[c + 2u * n - 1u] = number(0.0f); }
      }
      for (var i = row_begin + l; i <= min(k + 3u, hi); i += WG) {
        let e = at + i * n + k;
        let a = h[e];
        let b = h[e + 1u];
        var f = number(0.0f);
        if (three) { f = h[e + 2u]; }
        let sum = tau * (a + times(v1, b) + times(v2, f));
        h[e] = a - sum;
        h[e + 1u] = b - times(sum, turned(v1));
        if (three) { h[e + 2u] = f - times(sum, turned(v2)); }
      }
      for (var i = l; i < n && all; i += WG) {
        let e = at + k * n + i;
        let a = z[e];
        let b = z[e + n];
        var f = number(0.0f);
        if (three) { f = z[e + 2u * n]; }
        let sum = tau * (a + times(v1, b) + times(v2, f));
        z[e] = a - sum;
        z[e + n] = b - times(sum, turned(v1));
        if (three) { z[e + 2u * n] = f - times(sum, turned(v2)); }
      }
      storageBarrier();
    }
    left -= i32(hi - lo);
  }
  if (l == 0u) {
    state[2u * m] = now.x;
    state[2u * m + 1u] = now.y;
  }
}
