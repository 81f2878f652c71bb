// hessenberg: stacks of matrices A = Z H Z^H with H zero below its first subdiagonal, by Householder reflectors column by column.
// A reflector is P = 1 - tau v v^H with tau real, unitary and Hermitian, so that real and complex matrices share this text:
// E is the type of an element. z holds Z transposed. Entries are expected to be about 1 at most.
//
// src, h, z (count, n, n); v: for each matrix the n elements of a reflector and its tau.
// Parameters (group 1, u32 words): 0 matrices   1 n   2 whether Z is wanted   3 first column   4 column behind the last   5 step:
//   0 h = src and z = 1, an element a thread   1 all of the columns, a workgroup a matrix   or for column 3, in turn:
//   2 its reflector, a workgroup a matrix   3 applied from the left, and to Z   4 from the right, a line a thread
//   6 workgroups a matrix in steps 3 and 4   7 where h begins in step 0
// Dispatch: folded into x, y, z.

alias E = f32;
const WG = 64u;
const PV = 2u;
const TINY = 1e-30f;

@group(0) @binding(0) var<storage, read> src: array<E>;
@group(0) @binding(1) var<storage, read_write> h: array<E>;
@group(0) @binding(2) var<storage, read_write> z: array<E>;
@group(0) @binding(3) var<storage, read_write> v: array<E>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;
var<workgroup> part: array<f32, WG>;

fn times(a: E, b: E) -> E { return a * b; }
fn turned(a: E) -> E { return a; }
fn square(a: E) -> f32 { return a * a; }
fn inverse(a: E) -> E { return 1.0f / a; }
fn real_part(a: E) -> f32 { return a; }
fn number(a: f32) -> E { return a; }

// The reflector that makes column k zero below row k + 1.
fn reflect(at: u32, va: u32, k: u32, l: u32) {
  let n = P[0].y;
  let first = h[at + (k + 1u) * n + k];
  var sum = 0.0f;
  for (var i = k + 2u + l; i < n; i += WG) { sum += square(h[at + i * n + k]); }
  part[l] = sum;
  for (var s = WG / 2u; s > 0u; s /= 2u) {
    workgroupBarrier();
    if (l < s) { part[l] += part[l + s]; }
  }
  workgroupBarrier();
  let below = part[0];
  let some = below > TINY;
  let size = sqrt(square(first));
  let whole = sqrt(square(first) + below);
  var beta = number(-whole);
  if (size > 1e-18f) { beta = first * (-whole / size); }
  let top = first - beta;
  let by = inverse(top);
  for (var i = k + 2u + l; i < n; i += WG) {
    v[va + i] = times(h[at + i * n + k], by);
    h[at + i * n + k] = number(0.0f);
  }
  if (l == 0u) {
    v[va + k + 1u] = number(1.0f);
    v[va + n] = number(select(0.0f, 2.0f * square(top) / (square(top) + below), some));
    if (some) { h[at + (k + 1u) * n + k] = beta; }
  }
}

fn from_left(at: u32, va: u32, k: u32, first: u32, step: u32) {
  let n = P[0].y;
  let tau = real_part(v[va + n]);
  if (tau == 0.0f) { return; }
  for (var j = k + 1u + first; j < n; j += step) {
    var sum = number(0.0f);
    for (var i = k + 1u; i < n; i++) { sum += times(turned(v[va + i]), h[at + i * n + j]); }
    sum *= tau;
    for (var i = k + 1u; i < n; i++) { h[at + i * n + j] -= times(v[va + i], sum); }
  }
  for (var j = first; j < n && P[0].z != 0u; j += step) {
    var sum = number(0.0f);
    for (var i = k + 1u; i < n; i++) { sum += times(v[va + i], z[at + i * n + j]); }
    sum *= tau;
    for (var i = k + 1u; i < n; i++) { z[at + i * n + j] -= times(turned(v[va + i]), sum); }
  }
}

fn from_right(at: u32, va: u32, k: u32, first: u32, step: u32) {
  let n = P[0].y;
  let tau = real_part(v[va + n]);
  if (tau == 0.0f) { return; }
  for (var i = first; i < n; i += step) {
    var sum = number(0.0f);
    for (var j = k + 1u; j < n; j++) { sum += times(h[at + i * n + j], v[va + j]); }
    sum *= tau;
    for (var j = k + 1u; j < n; j++) { h[at + i * n + j] -= times(sum, turned(v[va + j])); }
  }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let group = g.x + ng.x * (g.y + ng.y * g.z);
  let n = P[0].y;
  let step = P[1].y;
  let groups = select(1u, P[1].z, step > 2u);
  let m = group / groups;
  if (step == 0u) {
    let i = group * WG + l;
    if (i < P[0].x * n * n) {
      h[i + P[1].w] = src[i];
      let e = i % (n * n);
      if (P[0].z != 0u) { z[i] = number(select(0.0f, 1.0f, e / n == e % n)); }
    }
    return;
  }
  if (m >= P[0].x) { return; }
  let at = m * n * n;
  let va = m * (n + 1u);
  let first = (group % groups) * WG + l;
  if (step == 1u) {
    for (var k = P[0].w; k < P[1].x; k++) {
      reflect(at, va, k, l);
      storageBarrier();
      from_left(at, va, k, l, WG);
      storageBarrier();
      from_right(at, va, k, l, WG);
      storageBarrier();
    }
  }
  if (step == 2u) { reflect(at, va, P[0].w, l); }
  if (step == 3u) { from_left(at, va, P[0].w, first, groups * WG); }
  if (step == 4u) { from_right(at, va, P[0].w, first, groups * WG); }
}
