// fft_chirp: the elementwise passes of Bluestein's transform of n positions as a convolution of N = P[7].w, w(k) = exp(-pi i k^2 / n):
// STEP 0 x w with zeros behind it, 1 the filter (1 / w, both ways round), 2 the conjugate product of both transforms,
// 3 what came back times w.
//
// Parameters as fft_stage: 0 elements, 20 n, 22 .. 23 bits of 4 and 1 over 2 n, 30 bits of 1 / N, 31 N. k * k is reduced exactly.
// Dispatch: ceil(elements / WG) workgroups. Hooks: load, store.

alias S = vec2f;
alias T = vec2f;
const STEP = 0u;
const WG = 64u;
const PV = 10u;
// use fft

@group(0) @binding(0) var<storage, read> src: array<S>;
@group(0) @binding(1) var<storage, read> other: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn load(base: u32, p: u32) -> vec2f { return src[base + p * P[1].w]; }
fn store(base: u32, p: u32, v: vec2f) { dst[base + p * P[3].z] = v; }

fn chirp(k: u32) -> vec2f {
  let m = 2u * P[5].x;
  return fft_root(fft_product(k, k, m), m, bitcast<vec2f>(P[5].zw));
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (job >= P[0].x) { return; }
  let d = job % P[0].y;
  let whole = P[7].w;
  let span = select(whole, P[5].x, STEP == 3u);
  let p = (job / P[0].y) % span;
  let a = job / (P[0].y * span);
  let begin = P[1].x + a * P[1].y + d * P[1].z;
  let into = a * P[3].x + d * P[3].y;
  if (STEP == 0u) {
    var v = vec2f();
    if (p < P[5].x) { v = fft_times(load(begin, p), chirp(p)); }
    store(into, p, v);
  } else if (STEP == 1u) {
    let k = min(p, whole - p);
    var v = vec2f();
    if (k < P[5].x) {
      v = chirp(k);
      v = vec2f(v.x, -v.y);
    }
    store(into, p, v);
  } else if (STEP == 2u) {
    let v = fft_times(load(begin, p), other[p]);
    store(into, p, vec2f(v.x, -v.y) * bitcast<f32>(P[7].z));
  } else {
    let v = load(begin, p);
    store(into, p, fft_times(vec2f(v.x, -v.y), chirp(p)));
  }
}
