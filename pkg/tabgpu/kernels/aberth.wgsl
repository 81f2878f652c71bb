// aberth: all roots of a polynomial at once by Ehrlich's and Aberth's iteration (O. Aberth, Math. Comp. 27, 1973), in one
// workgroup; starting points from the Newton polygon (D. Bini, Numer. Algorithms 13, 1996).
//
// coefficients: N + 1 complex numbers, highest degree first. dst: N roots, kept between launches. A root rests once its
// value is within the rounding errors of evaluating it. Beyond |z| = 1 the reversed polynomial is taken at 1 / z, so that
// nothing overflows. Roots at infinity (leading zeros) are inf, roots at 0 exact. Parameters (group 1, u32 words):
//   0 N   1 whether to find starting points   2 iterations   3 whether coefficients are real (and this is the last launch)
// Dispatch: one workgroup.
// use ieee
// use log
// use exp
// use trig

const WG = 64u;
const MOST = 512u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> coefficients: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> dst: array<vec2f>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

var<workgroup> z: array<vec2f, MOST>;
var<workgroup> heights: array<f32, MOST + 1u>;
var<workgroup> corners: array<u32, MOST + 1u>;
var<workgroup> busy: atomic<u32>;
var<workgroup> left: u32;

fn times(a: vec2f, b: vec2f) -> vec2f { return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// a / b by the larger part of b (R. Smith 1962); 0 for b = 0.
fn over(a: vec2f, b: vec2f) -> vec2f {
  if (abs(b.x) >= abs(b.y)) {
    if (b.x == 0.0f) { return vec2f(0.0f); }
    let r = b.y / b.x;
    let d = 1.0f / fma(b.y, r, b.x);
    return vec2f(fma(a.y, r, a.x), fma(-a.x, r, a.y)) * d;
  }
  let r = b.x / b.y;
  let d = 1.0f / fma(b.x, r, b.y);
  return vec2f(fma(a.x, r, a.y), fma(a.y, r, -a.x)) * d;
}

// |x| + |y|, which overflows only where a part nearly does.
fn extent(v: vec2f) -> f32 { return abs(v.x) + abs(v.y); }

// |v| without overflow.
fn modulus(v: vec2f) -> f32 {
  let m = max(abs(v.x), abs(v.y));
  if (m == 0.0f) { return 0.0f; }
  return m * length(v / m);
}

struct Newton {
  step: vec2f,   // p / p'
  rests: bool,   // whether p is within its rounding errors
  radius: f32,   // those errors over |p'|
}

// At a point by Horner's rule; far: of the reversed polynomial at y = 1 / z.
fn newton(at: vec2f, n: u32) -> Newton {
  let far = modulus(at) > 1.0f;
  let y = select(at, over(vec2f(1.0f, 0.0f), at), far);
  let size = modulus(y);
  var p = coefficients[select(0u, n, far)];
  var d = vec2f(0.0f);
  var bound = extent(p);
  for (var k = 1u; k <= n; k++) {
    let c = coefficients[select(k, n - k, far)];
    d = times(d, y) + p;
    p = times(p, y) + c;
    bound = fma(bound, size, extent(c));
  }
  let error = 2.4e-7f * bound;
  let rests = extent(p) <= error;
  if (far) {
    // p / p' = z q / (n q - y q'), of the reversed q
    let slope = f32(n) * p - times(y, d);
    return Newton(over(times(at, p), slope), rests, error * extent(at) / max(extent(slope), 1e-37f));
  }
  return Newton(over(p, d), rests, error / max(extent(d), 1e-37f));
}

// Starting points on circles: one for each edge of the upper hull of the points (k, log |a_k|).
fn begin(n: u32) {
  var first = n;
  var count = 0u;
  for (var k = 0u; k <= n; k++) {  // k counts degrees
    let size = extent(coefficients[n - k]);
    heights[k] = select(log_f32(size), -1e9f, size < 1.1754944e-38f);
    if (size < 1.1754944e-38f) { continue; }
    first = min(first, k);
    while (count >= 2u) {
      let a = corners[count - 2u];
      let b = corners[count - 1u];
      let turn = (heights[b] - heights[a]) * f32(k - a) - (heights[k] - heights[a]) * f32(b - a);
      if (turn > 0.0f) { break; }
      count--;
    }
    corners[count] = k;
    count++;
  }
  for (var k = 0u; k < n; k++) { z[k] = vec2f(0.0f); }
  var made = first;  // roots at 0
  for (var e = 1u; e < count; e++) {
    let a = corners[e - 1u];
    let b = corners[e];
    let many = f32(b - a);
    let r = exp_f32(clamp((heights[a] - heights[b]) / many, -80.0f, 80.0f));
    for (var j = 0u; j < b - a; j++) {
      let angle = 6.2831853f * (f32(j) / many + f32(e) / f32(n)) + 0.7f;
      z[made] = r * vec2f(cos_f32(angle), sin_f32(angle));
      made++;
    }
  }
  for (var k = made; k < n; k++) { z[k] = bitcast<vec2f>(vec2u(0x7f800000u, 0u) | (bitcast<vec2u>(z[k]) & vec2u(0u))); }
}

fn moves(v: vec2f) -> bool { return isfinite_f32(v.x) & isfinite_f32(v.y) & ((v.x != 0.0f) | (v.y != 0.0f)); }

@compute @workgroup_size(WG)
fn main(@builtin(local_invocation_index) l: u32) {
  let n = P[0].x;
  if (P[0].y != 0u) {
    if (l == 0u) { begin(n); }
  } else {
    for (var k = l; k < n; k += WG) { z[k] = dst[k]; }
  }
  workgroupBarrier();
  for (var t = 0u; t < P[0].z; t++) {
    if (l == 0u) { atomicStore(&busy, 0u); }
    workgroupBarrier();
    var next: array<vec2f, MOST / WG>;
    for (var j = 0u; j < MOST / WG; j++) {
      let k = l + j * WG;
      if (k >= n) { break; }
      next[j] = z[k];
      if (moves(z[k])) {
        let w = newton(z[k], n);
        if (!w.rests) {
          var s = vec2f(0.0f);
          for (var i = 0u; i < n; i++) {
            if (i != k) { s += over(vec2f(1.0f, 0.0f), select(z[k] - z[i], vec2f(0.0f), isinf_f32(z[i].x))); }
          }
          let d = over(w.step, vec2f(1.0f, 0.0f) - times(w.step, s));
          next[j] = z[k] - d;
          if (extent(d) > 6e-8f * extent(z[k])) { atomicAdd(&busy, 1u); }
        }
      }
    }
    workgroupBarrier();
    for (var j = 0u; j < MOST / WG; j++) {
      let k = l + j * WG;
      if (k < n) { z[k] = next[j]; }
    }
    if (l == 0u) { left = atomicLoad(&busy); }
    if (workgroupUniformLoad(&left) == 0u) { break; }
  }
  workgroupBarrier();
  for (var k = l; k < n; k += WG) {
    var v = z[k];
    if ((P[0].w != 0u) & moves(v)) {
      // Real coefficients: what is no further from the real axis than its error lies on it.
      let w = newton(v, n);
      if (abs(v.y) <= 2.0f * w.radius) { v.y = 0.0f; }
    }
    dst[k] = v;
  }
}
