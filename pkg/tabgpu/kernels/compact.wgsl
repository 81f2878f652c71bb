// compact: the positions at which a running count grows, in order: where the True elements of a mask are.
//
// One thread an element: element i goes to counts[i] - 1 if counts[i] differs from the count before it. Slots that no
// element takes get the fill.
//
// Parameters (group 1, u32 words): 0 N (counts)   1 elements of dst   2 the fill
// Dispatch: ceil(max(N, elements of dst) / WG) workgroups, folded into x, y, z.

const WG = 256u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> counts: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let n = P[0].x;
  if (i < n) {
    let now = counts[i];
    let before = select(0u, counts[max(i, 1u) - 1u], i > 0u);
    if (now != before && now <= P[0].y) { dst[now - 1u] = i; }
  }
  if (i < P[0].y && i >= counts[n - 1u]) { dst[i] = P[0].z; }
}
