// residual: r = b - A x with every product and sum in two floats (Dekker 1971, Knuth's sum), rounded once: what iterative
// refinement needs, since b and A x agree in all digits that float32 has. A workgroup an element of r; threads share k.
//
// Parameters (group 1, u32 words): 0 rows of A   1 columns of A   2 columns of x   3 elements of r in all
//   4 batch stride of A (0: one for all)
// Dispatch: a workgroup an element of r, folded into x, y, z.

const WG = 64u;
const PV = 2u;
// use ieee, bits

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> r: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;
var<workgroup> parts: array<vec2f, WG>;

// v + y, as a float and what it lacks.
fn sum(v: vec2f, y: f32, low: f32) -> vec2f {
  let s = opaque_f32(v.x + y, y);
  let t = opaque_f32(s - v.x, y);
  let lost = opaque_f32(v.x - opaque_f32(s - t, y), y) + opaque_f32(y - t, y);
  return vec2f(s, v.y + (lost + low));
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) li: u32) {
  let i = g.x + ng.x * (g.y + ng.y * g.z);
  if (i >= P[0].w) { return; }
  let columns = P[0].z;
  let row = i / columns;
  let z = row / P[0].x;
  let from_ = z * P[1].x + row % P[0].x * P[0].y;
  let at = z * P[0].y * columns + i % columns;
  var v = vec2f();
  for (var k = li; k < P[0].y; k += WG) {
    let p = a[from_ + k];
    let q = x[at + k * columns];
    let m = opaque_f32(p * q, q);
    let ph = head_f32(p);
    let pl = p - ph;
    let qh = head_f32(q);
    let ql = q - qh;
    var e = opaque_f32(ph * qh - m, q);
    e = opaque_f32(e + ph * ql, q);
    e = opaque_f32(e + pl * qh, q);
    v = sum(v, -m, -(e + pl * ql));
  }
  // together: begin
  parts[li] = v;
  workgroupBarrier();
  for (var step = WG / 2u; step > 0u; step /= 2u) {
    if (li < step) { parts[li] = sum(parts[li], parts[li + step].x, parts[li + step].y); }
    workgroupBarrier();
  }
  v = parts[0];
  // together: end
  if (li == 0u) {
    let whole = sum(v, b[i], 0.0f);
    r[i] = whole.x + whole.y;
  }
}
