// pivot_order: the rows' order after LAPACK's exchanges (row k with row pivots[k], one after the other). A thread a matrix.
//
// Parameters (group 1, u32 words): 0 rows   1 pivots a matrix   2 batches
// Dispatch: ceil(batches / WG) workgroups, folded into x, y, z.

const WG = 64u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> pivots: array<i32>;
@group(0) @binding(1) var<storage, read_write> order: array<i32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let z = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (z >= P[0].z) { return; }
  let rows = P[0].x;
  let base = z * rows;
  for (var k = 0u; k < rows; k++) { order[base + k] = i32(k); }
  for (var k = 0u; k < P[0].y; k++) {
    let other = base + min(u32(max(pivots[z * P[0].y + k], 0)), rows - 1u);
    let kept = order[base + k];
    order[base + k] = order[other];
    order[other] = kept;
  }
}
