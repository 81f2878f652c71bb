// copy_words: dst = src, whole words. Parameters: 0 number of words. Dispatch: ceil(words / (4 * WG)) workgroups.

const WG = 256u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let first = (g.x + ng.x * (g.y + ng.y * g.z)) * WG * 4u + l;
  for (var k = 0u; k < 4u; k++) {
    let i = first + k * WG;
    if (i < P[0].x) { dst[i] = src[i]; }
  }
}
