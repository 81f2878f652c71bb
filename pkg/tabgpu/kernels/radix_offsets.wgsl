// radix_offsets: from how often a digit occurs in each block of a row, how often in all blocks before it, and in all.
//
// One workgroup a digit and row, whose counts lie one behind the other; a thread takes neighbours. Parameters (group 1, u32
// words): 0 blocks a row   1 rows * digits. Dispatch: rows * digits workgroups, folded into x, y, z.

const WG = 256u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> table: array<u32>;
@group(0) @binding(1) var<storage, read_write> before: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

var<workgroup> tree: array<u32, 2u * WG>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  let blocks = P[0].x;
  let each = (blocks + WG - 1u) / WG;
  let first = min(l * each, blocks);
  let stop = select(first, min(first + each, blocks), job < P[0].y);
  let at = job * blocks;
  var sum = 0u;
  for (var k = first; k < stop; k++) { sum += table[at + k]; }
  let own = sum;
  var side = 0u;
  tree[l] = sum;
  for (var step = 1u; step < WG; step *= 2u) {
    workgroupBarrier();
    if (l >= step) { sum += tree[side + l - step]; }
    side = WG - side;
    tree[side + l] = sum;
  }
  if (l == WG - 1u && job < P[0].y) { totals[job] = sum; }
  sum -= own;
  for (var k = first; k < stop; k++) {
    before[at + k] = sum;
    sum += table[at + k];
  }
}
