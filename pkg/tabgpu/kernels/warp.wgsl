// warp: B-splines of a strided array at places that an affine map of the results' places gives, or another array.
//
// The array is lines (two leading axes) of RANK axes; the result lies row-major, its own axes (at most three) behind the
// same leads. Places are whole elements and parts of 2^32, so that maps of sizes are exact where float32 would not be.
//
// Parameters (group 1, u32 words):
//   0 results   1 size of the second leading axis   2 offset of src   3, 4 its strides along the leading axes
//   5 bits of the constant   6 results of a lead   8 sizes of the result's axes, 1 where there is none
//   12 for each axis: size, stride, what lies outside (0 the constant, 1 nothing special, 2 periods of size - 1), border of
//   its taps (lib/border), then its place for result 0 (parts, whole) and what each of the result's axes adds to it
// Strides and offset are modulo 2^32.
// Dispatch: ceil(results / WG) workgroups, folded into x, y, z.
// Hooks: load; the block `place`.
// use border
// use ieee

const WG = 256u;
const RANK = 2u;
const ORDER = 3u;
const TAPS = ORDER + 1u;
const PV = 12u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn load(at: u32) -> f32 { return bitcast<f32>(src[at]); }

// A place on an axis: an element and a part between 0 and 1 behind it.
struct Place { k: i32, t: f32 }

// place: begin
// n times step, added to a place: words are (parts of 2^32, whole).
fn plus(a: vec2u, n: u32, step: vec2u) -> vec2u {
  let low = n & 0xffffu;
  let high = n >> 16u;
  let s = step.x & 0xffffu;
  let t = step.x >> 16u;
  let middle = high * s + ((low * s) >> 16u);
  let more = low * t + (middle & 0xffffu);
  let carried = high * t + (middle >> 16u) + (more >> 16u);
  let parts = a.x + n * step.x;
  return vec2u(parts, a.y + n * step.y + carried + select(0u, 1u, parts < a.x));
}
fn where_(axis: u32, i: u32, o: vec3u) -> Place {
  var p = P[4u + 3u * axis].xy;
  p = plus(p, o.x, P[4u + 3u * axis].zw);
  p = plus(p, o.y, P[5u + 3u * axis].xy);
  p = plus(p, o.z, P[5u + 3u * axis].zw);
  let n = P[3u + 3u * axis].x;
  if (P[3u + 3u * axis].z != 1u) { // rounding takes no place off the ends
    if (p.y == 0xffffffffu && p.x > 0xffff0000u) { p = vec2u(0u, 0u); }
    if (p.y == n - 1u && p.x < 0x10000u) { p.x = 0u; }
  }
  return Place(bitcast<i32>(p.y), f32(p.x >> 8u) * 0x1p-24f);
}
// place: end

struct Taps { first: i32, outside: bool, w: array<f32, TAPS> }

fn taps(axis: u32, i: u32, o: vec3u) -> Taps {
  var p = where_(axis, i, o);
  let n = i32(P[3u + 3u * axis].x);
  var out: Taps;
  let beyond = p.k < 0 || p.k >= n || (p.k == n - 1 && p.t > 0.0f);
  if (P[3u + 3u * axis].z == 0u) { out.outside = beyond; }
  if (P[3u + 3u * axis].z == 2u && beyond) {
    let period = max(n - 1, 1);
    var m = p.k % period;
    m += select(0, period, m < 0);
    p.k = select(m, period, m == 0 && p.t == 0.0f && p.k < 0);
    if (n == 1) { p = Place(0, 0.0f); }
  }
  let t = p.t;
  if (ORDER % 2u == 0u) {
    let up = t >= select(0.5f, 0.5f - 0x1p-16f, ORDER == 0u); // halves go up
    out.first = p.k + select(0, 1, up) - i32(ORDER / 2u);
    let y = select(t, t - 1.0f, up);
    // even: begin
    out.w[0] = 1.0f;
    // even: end
  } else {
    out.first = p.k - i32(ORDER / 2u);
    let u = 1.0f - t;
    // odd: begin
    out.w[0] = u;
    // odd: end
  }
  return out;
}

fn value(i: u32) -> f32 {
  let lead = i / P[1].z;
  var rest = i - lead * P[1].z;
  let place = rest;
  var o: vec3u;
  o.z = rest % P[2].z;
  rest /= P[2].z;
  o.y = rest % P[2].y;
  o.x = rest / P[2].y;
  let outer = lead / P[0].y;
  let base = P[0].z + outer * P[0].w + (lead - outer * P[0].y) * P[1].x;
  var x = taps(RANK - 1u, place, o);
  var y: Taps;
  var z: Taps;
  if (RANK > 1u) { y = taps(RANK - 2u, place, o); }
  if (RANK > 2u) { z = taps(0u, place, o); }
  let constant = bitcast<f32>(P[1].y);
  if (x.outside || y.outside || z.outside) { return constant; }
  var total = 0.0f;
  for (var kz = 0u; kz < select(1u, TAPS, RANK > 2u); kz++) {
    var from_z = base;
    var wz = 1.0f;
    var inside_z = true;
    if (RANK > 2u) {
      let e = border_index(z.first + i32(kz), i32(P[3].x), P[3].w);
      inside_z = e >= 0;
      from_z += u32(e) * P[3].y;
      wz = z.w[kz];
    }
    for (var ky = 0u; ky < select(1u, TAPS, RANK > 1u); ky++) {
      var from_y = from_z;
      var wy = wz;
      var inside = inside_z;
      if (RANK > 1u) {
        let e = border_index(y.first + i32(ky), i32(P[3u * RANK - 3u].x), P[3u * RANK - 3u].w);
        inside = inside && e >= 0;
        from_y += u32(e) * P[3u * RANK - 3u].y;
        wy *= y.w[ky];
      }
      var line = 0.0f;
      for (var kx = 0u; kx < TAPS; kx++) {
        let e = border_index(x.first + i32(kx), i32(P[3u * RANK].x), P[3u * RANK].w);
        var v = constant;
        if (inside && e >= 0) { v = load(from_y + u32(e) * P[3u * RANK].y); }
        line += x.w[kx] * v;
      }
      total += wy * line;
    }
  }
  return total;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (i < P[0].x) { dst[i] = value(i); }
}
