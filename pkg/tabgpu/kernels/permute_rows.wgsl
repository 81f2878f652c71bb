// permute_rows: the rows of matrices in another order: dst row i is src row order[i], or (word 4) dst row order[i] is src
// row i. Copies words; or (word 7) makes an identity's rows in that order, and reads no src.
//
// Parameters (group 1, u32 words): 0 rows   1 words a row   2 words in all   3 words from order to order (0: one for all)
//   4 back   5 where the first order begins   6 rows from matrix to matrix of src (0: one for all)   7 words an element of an identity, else 0
// Dispatch: ceil(words / WG) workgroups, folded into x, y, z.

const WG = 256u;
const PV = 2u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read> order: array<u32>;
@group(0) @binding(2) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (i >= P[0].z) { return; }
  let rows = P[0].x;
  let row = i / P[0].y;
  let z = row / rows;
  let from_ = min(order[P[1].y + z * P[0].w + row % rows], rows - 1u);
  if (P[1].w > 0u) {
    dst[i] = select(0u, 0x3f800000u, i % P[0].y == from_ * P[1].w);
    return;
  }
  let other = z * select(P[1].z, rows, P[1].x == 1u) + from_;
  let there = other * P[0].y + i % P[0].y;
  if (P[1].x == 0u) { dst[i] = src[there]; } else { dst[there] = src[i]; }
}
