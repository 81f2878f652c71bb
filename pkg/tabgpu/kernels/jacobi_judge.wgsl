// jacobi_judge: before a sweep, which matrices need it: those in which the last one met a cosine that is not small.
//
// Parameters (group 1, u32 words): 0 matrices   1 pairs of blocks   2 bits of the cosine that is small   3 first sweep
// Dispatch: ceil(matrices / WG) workgroups, folded into x, y, z.

const WG = 64u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> state: array<f32>;
@group(0) @binding(1) var<storage, read_write> done: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let matrix = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (matrix >= P[0].x) { return; }
  var most = 0.0f;
  for (var k = 0u; k < P[0].y; k++) { most = max(most, state[2u * (matrix * P[0].y + k)]); }
  done[matrix] = select(0u, 1u, P[0].w == 0u && most <= bitcast<f32>(P[0].z));
}
