// scan_serial: as scan, but each thread works for itself on a chunk of VT elements: for CPU adapters, on which a barrier
// costs more than a pass.
//
// Parameters: as scan, with chunks of VT elements. Dispatch: ceil(rows * chunks / WG) workgroups, folded into x, y, z.
// Hooks: combine(left, right); from_bits.

alias T = f32;
const WG = 256u;
const VT = 32u;
const TOTALS = false;
const CARRY = false;
const PV = 3u;

@group(0) @binding(0) var<storage, read> src: array<T>;
@group(0) @binding(1) var<storage, read> carry: array<T>;
@group(0) @binding(2) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn combine(a: T, b: T) -> T { return a + b; }
fn from_bits(b: vec2u) -> T { return bitcast<T>(b.x); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let n = P[0].x;
  let row = job / P[0].z;
  if (row >= P[0].y) { return; }
  let first = (job % P[0].z) * VT;
  let end = min(first + VT, n);
  var run = from_bits(P[2].xy);
  if (TOTALS) {
    for (var p = first; p < end; p++) {
      run = combine(run, src[row * n + select(p, n - 1u - p, P[0].w != 0u)]);
    }
    dst[job] = run;
    return;
  }
  var before = run;
  if (CARRY) { before = carry[job]; }
  let out = row * P[1].x;
  let shift = P[1].y;
  if (first == 0u && shift > 0u) { dst[out + select(0u, P[1].x - 1u, P[0].w != 0u)] = from_bits(P[2].zw); }
  for (var p = first; p < end; p++) {
    run = combine(run, src[row * n + select(p, n - 1u - p, P[0].w != 0u)]);
    let to = p + shift;
    if (to < P[1].x) { dst[out + select(to, P[1].x - 1u - to, P[0].w != 0u)] = combine(before, run); }
  }
}
