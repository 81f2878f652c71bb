// search: where values belong in a sorted row, by a binary search for each, one thread a value.
//
// Keys as when sorting: NaN is greater than all numbers, -0 equals 0. Parameters (group 1, u32 words):
//   0 elements of the sorted row   1 values   2 whether behind equal elements (side "right")   3 unused
//   4 .. 6 the form of the keys (lib/sorting)   7 unused
// Dispatch: ceil(values / WG) workgroups, folded into x, y, z.

const WG = 256u;
const PV = 2u;
// use sorting

@group(0) @binding(0) var<storage, read> row: array<u32>;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let k = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (k >= P[0].y) { return; }
  let wanted = sorting_key(values[k], P[1]);
  var low = 0u;
  var high = P[0].x;
  while (low < high) {
    let middle = low + (high - low) / 2u;
    let key = sorting_key(row[middle], P[1]);
    let before = key < wanted || (key == wanted && P[0].z != 0u);
    low = select(low, middle + 1u, before);
    high = select(middle, high, before);
  }
  dst[k] = low;
}
