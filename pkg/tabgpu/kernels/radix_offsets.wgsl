// radix_offsets: from how often a digit occurs in each block of a row, how often in all blocks before it, and in all.
//
// One workgroup a digit and row, whose counts lie one behind the other; a thread takes neighbours, four at once.
// Parameters (group 1, u32 words): 0 blocks a row   1 rows * digits   2 places a digit and row, a multiple of 4
// Dispatch: rows * digits workgroups, folded into x, y, z.

const WG = 256u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> table: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> before: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> totals: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

var<workgroup> tree: array<u32, 2u * WG>;

// Four counts; what lies behind the last block counts nothing.
fn counts(base: u32, k: u32) -> vec4u {
  return select(vec4u(0u), table[base + k], vec4u(k * 4u) + vec4u(0u, 1u, 2u, 3u) < vec4u(P[0].x));
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  let quads = P[0].z / 4u;
  let each = (quads + WG - 1u) / WG;
  let first = min(l * each, quads);
  let stop = select(first, min(first + each, quads), job < P[0].y);
  let base = job * quads;
  var four = vec4u(0u);
  for (var k = first; k < stop; k++) { four += counts(base, k); }
  let own = four.x + four.y + four.z + four.w;
  var sum = own;
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
    let c = counts(base, k);
    before[base + k] = vec4u(sum, sum + c.x, sum + c.x + c.y, sum + c.x + c.y + c.z);
    sum += c.x + c.y + c.z + c.w;
  }
}
