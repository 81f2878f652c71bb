// stencil_columns: images correlated with a kernel of one column: a filter along an axis that is not the last. A thread
// makes 8 results below one another; threads of a row of them read neighbours.
//
// Parameters: as stencil.wgsl; 18 blocks of 8 rows.
// Dispatch: ceil(results / 8 / WG) workgroups at least (word 19 of them ever), folded into x, y, z.
// Hooks: load.
// use border

const WG = 256u;
const PV = 5u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read> taps: array<f32>;
@group(0) @binding(2) var<storage, read_write> dst: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn load(at: u32) -> f32 { return bitcast<f32>(src[at]); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let id = (P[4].y + g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let x = id % P[1].y;
  let block = id / P[1].y;
  let lead = block / P[4].z;
  if (lead >= P[4].w) { return; }
  let first = 8u * (block - lead * P[4].z);
  let outer = lead / P[2].x;
  let base = P[2].y + outer * P[2].z + (lead - outer * P[2].x) * P[2].w + x * P[3].y;
  let kh = P[0].z;
  var a = vec4f();
  var b = vec4f();
  var wa = vec4f();
  var wb = vec4f();
  let start = i32(first) - i32(P[1].z);
  for (var r = 0u; r < kh + 7u; r++) {
    wb = vec4f(wa.w, wb.xyz);
    var w = 0.0f;
    if (r < kh) { w = taps[r]; }
    wa = vec4f(w, wa.xyz);
    let y = border_index(start + i32(r), i32(P[0].x), P[3].z);
    var v = bitcast<f32>(P[4].x);
    if (y >= 0) { v = load(base + u32(y) * P[3].x); }
    if (r >= 7u && r < kh) {
      a = fma(wa, vec4f(v), a);
      b = fma(wb, vec4f(v), b);
    } else { // a tap that is not there adds nothing, not even 0 * NaN
      a = select(a, fma(wa, vec4f(v), a), vec4u(r) - vec4u(0u, 1u, 2u, 3u) < vec4u(kh));
      b = select(b, fma(wb, vec4f(v), b), vec4u(r) - vec4u(4u, 5u, 6u, 7u) < vec4u(kh));
    }
  }
  let at = (lead * P[1].x + first) * P[1].y + x;
  for (var t = 0u; t < 4u; t++) {
    if (first + t < P[1].x) { dst[at + t * P[1].y] = a[t]; }
    if (first + t + 4u < P[1].x) { dst[at + (t + 4u) * P[1].y] = b[t]; }
  }
}
