// scan: running combinations along rows of N elements (sums, products, maxima ...): reduce, scan the sums, then scan.
//
// LANES threads share a row, or a chunk of LANES * VT elements of a long one; WG / LANES of them share a workgroup. A thread
// combines VT neighbours, the lanes' totals are scanned in log2(LANES) steps, and a second walk over the neighbours writes.
// A long row takes passes: TOTALS writes one total a chunk, the same kernel scans those (again in passes if need be),
// and the last pass starts each chunk from its CARRY. No workgroup waits for another. The order of operands is kept, so
// combine need not commute. With one lane (rows of up to VT elements, and CPU adapters, on which a barrier costs more
// than a pass) the blocks `memory`, `up` and `down` are left out.
//
// Parameters (group 1, u32 words):
//   0 N   1 rows   2 chunks a row   3 whether to walk from the last element to the first
//   4 elements of a row of dst   5 position in dst of the first result (1: what precedes it gets the initial value)
//   8, 9 bits of the identity   10, 11 bits of the initial value
// Dispatch: ceil(rows * chunks / (WG / LANES)) workgroups, folded into x, y, z.
// Hooks: combine(left, right); from_bits.

alias T = f32;
const WG = 256u;
const LANES = 256u;
const VT = 8u;
const TOTALS = false; // write the chunks' totals only
const CARRY = false; // start each chunk from carry[row, chunk]
const PV = 3u;

@group(0) @binding(0) var<storage, read> src: array<T>;
@group(0) @binding(1) var<storage, read> carry: array<T>;
@group(0) @binding(2) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

// memory: begin
var<workgroup> tree: array<T, WG>;
// memory: end

fn combine(a: T, b: T) -> T { return a + b; }
fn from_bits(b: vec2u) -> T { return bitcast<T>(b.x); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  let n = P[0].x;
  let chunks = P[0].z;
  let lane = l % LANES;
  let piece = job * (WG / LANES) + l / LANES;
  let row = piece / chunks;
  let chunk = piece % chunks;
  let valid = row < P[0].y;
  let first = (chunk * LANES + lane) * VT;
  let end = select(first, min(first + VT, n), valid && first < n);
  let base = row * n;
  let none = from_bits(P[2].xy);
  var sum = none;
  if (TOTALS || LANES > 1u) {
    for (var p = first; p < end; p++) {
      sum = combine(sum, src[base + select(p, n - 1u - p, P[0].w != 0u)]);
    }
  }
  // up: begin
  tree[l] = sum;
  for (var step = 1u; step < LANES; step *= 2u) {
    workgroupBarrier();
    if (lane >= step) { sum = combine(tree[l - step], sum); }
    workgroupBarrier();
    tree[l] = sum;
  }
  // up: end
  if (TOTALS) {
    if (valid && lane == LANES - 1u) { dst[row * chunks + chunk] = sum; }
    return;
  }
  var before = none;
  if (CARRY) {
    if (valid) { before = carry[row * chunks + chunk]; }
  }
  // down: begin
  workgroupBarrier();
  if (lane > 0u) { before = combine(before, tree[l - 1u]); }
  // down: end
  let out = row * P[1].x;
  let shift = P[1].y;
  if (valid && first == 0u && shift > 0u) {
    dst[out + select(0u, P[1].x - 1u, P[0].w != 0u)] = from_bits(P[2].zw);
  }
  var run = none;
  for (var p = first; p < end; p++) {
    run = combine(run, src[base + select(p, n - 1u - p, P[0].w != 0u)]);
    let to = p + shift;
    if (to < P[1].x) { dst[out + select(to, P[1].x - 1u - to, P[0].w != 0u)] = combine(before, run); }
  }
}
