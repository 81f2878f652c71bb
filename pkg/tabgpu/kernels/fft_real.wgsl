// fft_real: between the transform Z of half as many pairs (x[2 m], x[2 m + 1]) as complex numbers and the transform X of the reals:
// UNPACK from Z to X, else twice the other way. A thread does the positions k and n / 2 - k of a line.
//
// Parameters as fft_stage: 0 threads, 20 n of the reals (even), 22, 23 bits of 4 and 1 over n.
// Dispatch: ceil(threads / WG) workgroups. Hooks: load, store.

alias S = vec2f;
alias T = vec2f;
const UNPACK = true;
const WG = 64u;
const PV = 10u;
// use fft

@group(0) @binding(0) var<storage, read> src: array<S>;
@group(0) @binding(1) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn load(base: u32, p: u32) -> vec2f { return src[base + p * P[1].w]; }
fn store(base: u32, p: u32, v: vec2f) { dst[base + p * P[3].z] = v; }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (job >= P[0].x) { return; }
  let d = job % P[0].y;
  let half = P[5].x / 2u;
  let pairs = half / 2u + 1u;
  let k = (job / P[0].y) % pairs;
  let a = job / (P[0].y * pairs);
  let begin = P[1].x + a * P[1].y + d * P[1].z;
  let into = a * P[3].x + d * P[3].y;
  let w = fft_root(k, P[5].x, bitcast<vec2f>(P[5].zw));
  if (UNPACK) {
    let x = load(begin, k);
    let y = load(begin, select(half - k, 0u, k == 0u));
    let even = 0.5f * vec2f(x.x + y.x, x.y - y.y);
    let odd = fft_times(0.5f * vec2f(x.y + y.y, y.x - x.x), w);
    store(into, k, even + odd);
    if (2u * k != half) { store(into, half - k, vec2f(even.x - odd.x, odd.y - even.y)); }
  } else {
    let some = vec2f(1.0f, select(1.0f, 0.0f, k == 0u)); // the imaginary parts of X[0] and X[n / 2] do not count
    let x = load(begin, k) * some;
    let y = load(begin, half - k) * some;
    let even = vec2f(x.x + y.x, x.y - y.y);
    let odd = fft_times(vec2f(x.x - y.x, x.y + y.y), vec2f(w.x, -w.y));
    store(into, k, vec2f(even.x - odd.y, even.y + odd.x));
    if (2u * k != half && k > 0u) { store(into, half - k, vec2f(even.x + odd.y, odd.x - even.y)); }
  }
}
