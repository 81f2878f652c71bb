// permute_rows: the rows of matrices in another order: dst row i is src row order[i], or (word 4) dst row order[i] is src
// row i. Copies words.
//
// Parameters (group 1, u32 words): 0 rows   1 words a row   2 words in all   3 batches of order (1: one for all)   4 back
// Dispatch: ceil(words / WG) workgroups, folded into x, y, z.

const WG = 256u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read> order: array<u32>;
@group(0) @binding(2) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, 2>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (i >= P[0].z) { return; }
  let rows = P[0].x;
  let row = i / P[0].y;
  let z = row / rows;
  let other = z * rows + min(order[select(row % rows, row, P[0].w > 1u)], rows - 1u);
  let there = other * P[0].y + i % P[0].y;
  if (P[1].x == 0u) { dst[i] = src[there]; } else { dst[there] = src[i]; }
}
