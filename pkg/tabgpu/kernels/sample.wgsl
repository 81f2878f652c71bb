// sample: a strided array sampled at places that another array gives (grid_sample); the result lies row-major.
//
// Places are numbers from -1 to 1 along each axis, the last axis first. A thread makes the PER results of a word.
//
// Parameters (group 1, u32 words):
//   0 results   1 channels   2 offset of src   3, 4 its strides along samples and channels
//   5 places a sample   6 what lies outside: 0 zeros, 1 the edge, 2 a reflection   7 whether -1 and 1 are centres of elements
//   8 for each axis: size, stride, 0, 0
// Strides and offset are modulo 2^32.
// Dispatch: ceil(words of dst / WG) workgroups, folded into x, y, z.
// Hooks: load, bits, taps.
// use ieee

const WG = 256u;
const PER = 1u; // results a word
const RANK = 2u;
const TAPS = 2; // elements an axis: 1 the nearest, 2 linear, 4 cubic
const PV = 5u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read> places: array<u32>;
@group(0) @binding(2) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn load(at: u32) -> f32 { return bitcast<f32>(src[at]); }
fn bits(v: f32) -> u32 { return bitcast<u32>(v); }

// A coordinate outside taken inside, for edges and reflections.
fn settled(x: f32, n: f32) -> f32 {
  var v = x;
  if (P[1].z == 2u) {
    let low = select(-0.5f, 0.0f, P[1].w != 0u);
    let span = select(n, n - 1.0f, P[1].w != 0u);
    let apart = abs(v - low);
    let flips = floor(apart / max(span, 1.0f));
    let extra = apart - flips * span;
    let odd = fract(flips * 0.5f) != 0.0f;
    v = select(select(extra + low, span - extra + low, odd), 0.0f, span == 0.0f);
  }
  return select(clamp(v, 0.0f, n - 1.0f), x, P[1].z == 0u);
}
// Taps of an axis: element first + k has weight w[k].
struct Taps { first: i32, w: vec4f, n: i32, stride: u32 }
fn taps(axis: u32, g: f32) -> Taps {
  let n = f32(P[2u + axis].x);
  let c = clamp(g, -1e9f, 1e9f);
  var x = select(((c + 1.0f) * n - 1.0f) * 0.5f, (c + 1.0f) * 0.5f * (n - 1.0f), P[1].w != 0u);
  x = select(clamp(x, -1e9f, 1e9f), -100.0f, isnan_f32(g)); // NaN lies outside
  if (TAPS != 4) { x = settled(x, n); }
  if (TAPS == 1) { return Taps(i32(round(x)), vec4f(1.0f), i32(n), P[2u + axis].y); }
  let k = floor(x);
  let t = x - k;
  if (TAPS == 2) { return Taps(i32(k), vec4f(1.0f - t, t, 0.0f, 0.0f), i32(n), P[2u + axis].y); }
  let inner = vec2f(t, 1.0f - t);
  let outer = inner + 1.0f;
  let near = (1.25f * inner - 2.25f) * inner * inner + 1.0f;
  let far = ((-0.75f * outer + 3.75f) * outer - 6.0f) * outer + 3.0f;
  return Taps(i32(k) - 1, vec4f(far.x, near.x, near.y, far.y), i32(n), P[2u + axis].y);
}
// The element of a tap; outside.
fn element(a: Taps, k: i32) -> i32 {
  var i = a.first + k;
  if (TAPS == 4 && P[1].z != 0u) { i = i32(settled(f32(i), f32(a.n))); }
  return select(-1, i, i >= 0 && i < a.n);
}

fn value(i: u32) -> f32 {
  let place = i % P[1].y;
  let plane = i / P[1].y;
  let sample = plane / P[0].y;
  let base = P[0].z + sample * P[0].w + (plane - sample * P[0].y) * P[1].x;
  let at = (sample * P[1].y + place) * RANK;
  let x = taps(RANK - 1u, bitcast<f32>(places[at]));
  let y = taps(RANK - 2u, bitcast<f32>(places[at + 1u]));
  var z = Taps(0, vec4f(1.0f), 1, 0u);
  if (RANK > 2u) { z = taps(0u, bitcast<f32>(places[at + RANK - 1u])); }
  var total = 0.0f;
  for (var kz = 0; kz < select(1, TAPS, RANK > 2u); kz++) {
    let ez = element(z, kz);
    for (var ky = 0; ky < TAPS; ky++) {
      let ey = element(y, ky);
      for (var kx = 0; kx < TAPS; kx++) {
        let ex = element(x, kx);
        if (ez >= 0 && ey >= 0 && ex >= 0) {
          let found = load(base + u32(ez) * z.stride + u32(ey) * y.stride + u32(ex) * x.stride);
          total += z.w[kz] * y.w[ky] * x.w[kx] * found;
        }
      }
    }
  }
  return total;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let w = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (w * PER >= P[0].x) { return; }
  var word = 0u;
  for (var q = 0u; q < PER; q++) {
    let i = w * PER + q;
    if (i < P[0].x) { word |= (bits(value(i)) & (0xffffffffu >> (32u - 32u / PER))) << (q * (32u / PER)); }
  }
  dst[w] = word;
}
