// pick: elements of rows by position (a gather), or elements of a row to positions that are all different (a scatter).
//
// dst[row, k] = src[row, index[k]], or SCATTER: dst[row, index[k]] = src[row, k]. Elements are one or two words and move as
// they are. Positions that are none (a gather's past the end, such as -1) give the fill.
//
// Parameters (group 1, u32 words):
//   0 elements a row of src   1 a row of dst   2 indices a row   3 indices in all
//   4 elements between rows of index (0: every row has the same indices)   5 words an element   6, 7 the fill
// Dispatch: ceil(indices / WG) workgroups, folded into x, y, z.

const WG = 256u;
const SCATTER = false;
const PV = 2u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read> index: array<u32>;
@group(0) @binding(2) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (job >= P[0].w) { return; }
  let row = job / P[0].z;
  let k = job % P[0].z;
  let at = index[row * P[1].x + k];
  var source = row * P[0].x + at;
  var target_at = row * P[0].y + k;
  var inside = at < P[0].x;
  if (SCATTER) {
    source = row * P[0].x + k;
    target_at = row * P[0].y + at;
    inside = true;
    if (at >= P[0].y) { return; }
  }
  let words = P[1].y;
  for (var w = 0u; w < words; w++) {
    let value = src[select(0u, source * words + w, inside)];
    dst[target_at * words + w] = select(select(P[1].z, P[1].w, w > 0u), value, inside);
  }
}
