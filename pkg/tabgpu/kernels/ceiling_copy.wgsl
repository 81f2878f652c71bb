// ceiling_copy: as many bytes as memory moves: each thread copies one vec4. How fast that is bounds what others can do.
//
// Parameters (group 1, u32 words): 0 vec4s. Dispatch: ceil(vec4s / WG) workgroups, folded into x, y, z.

const WG = 64u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> src: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> dst: array<vec4u>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (i < P[0].x) {
    dst[i] = src[i];
  }
}
