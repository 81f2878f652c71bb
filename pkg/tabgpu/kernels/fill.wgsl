// fill: one word everywhere, before a kernel that adds to it. Parameters (group 1, u32 words): 0 words   1 the word
// Dispatch: ceil(words / WG) workgroups, folded into x, y, z.

const WG = 256u;
const PV = 1u;

@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (i < P[0].x) { dst[i] = P[0].y; }
}
