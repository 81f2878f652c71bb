// scan: running combinations along rows of N elements (sums, products, maxima ...): reduce, scan the sums, then scan.
//
// LANES threads share a row, or a chunk of LANES * VT elements of a long one; WG / LANES of them share a workgroup, which
// loads and stores its elements side by side, through workgroup memory. A thread combines VT neighbours there, the lanes'
// totals are scanned in log2(LANES) steps. A long row takes passes: TOTALS writes one total a chunk, the same kernel scans
// those (again in passes if need be), and the last pass starts each chunk from its CARRY. No workgroup waits for another.
// The order of operands is kept, so combine need not commute. CPU adapters use scan_serial.
//
// Parameters (group 1, u32 words):
//   0 N   1 rows   2 chunks a row (1 unless LANES = WG)   3 whether to walk from the last element to the first
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

const SPAN = LANES * VT;
var<workgroup> tree: array<T, WG>;
var<workgroup> stage: array<T, WG * VT + WG>;

fn combine(a: T, b: T) -> T { return a + b; }
fn from_bits(b: vec2u) -> T { return bitcast<T>(b.x); }

// A hole behind each thread's elements, so that threads side by side use different banks.
fn place(s: u32) -> u32 { return s + s / VT; }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  let n = P[0].x;
  let chunks = P[0].z;
  let lane = l % LANES;
  let first_row = (job * (WG / LANES)) / chunks;
  let chunk = (job * (WG / LANES)) % chunks; // 0 where a workgroup has several rows
  let none = from_bits(P[2].xy);
  for (var k = 0u; k < VT; k++) {
    let s = k * WG + l;
    let row = first_row + s / SPAN;
    let p = chunk * SPAN + s % SPAN;
    var x = none;
    if (row < P[0].y && p < n) { x = src[row * n + select(p, n - 1u - p, P[0].w != 0u)]; }
    stage[place(s)] = x;
  }
  workgroupBarrier();
  var sum = none;
  for (var k = 0u; k < VT; k++) {
    let at = place(l * VT + k);
    sum = combine(sum, stage[at]);
    stage[at] = sum;
  }
  tree[l] = sum;
  for (var step = 1u; step < LANES; step *= 2u) {
    workgroupBarrier();
    if (lane >= step) { sum = combine(tree[l - step], sum); }
    workgroupBarrier();
    tree[l] = sum;
  }
  let row = first_row + l / LANES;
  if (TOTALS) {
    if (lane == LANES - 1u && row < P[0].y) { dst[row * chunks + chunk] = sum; }
    return;
  }
  workgroupBarrier();
  var before = none;
  if (CARRY) {
    if (row < P[0].y) { before = carry[row * chunks + chunk]; }
  }
  if (lane > 0u) { before = combine(before, tree[l - 1u]); }
  for (var k = 0u; k < VT; k++) {
    let at = place(l * VT + k);
    stage[at] = combine(before, stage[at]);
  }
  workgroupBarrier();
  let shift = P[1].y;
  for (var k = 0u; k < VT; k++) {
    let s = k * WG + l;
    let r = first_row + s / SPAN;
    let p = chunk * SPAN + s % SPAN;
    if (r < P[0].y && p < n) {
      let out = r * P[1].x;
      let to = p + shift;
      if (to < P[1].x) { dst[out + select(to, P[1].x - 1u - to, P[0].w != 0u)] = stage[place(s)]; }
      if (p == 0u && shift > 0u) { dst[out + select(0u, P[1].x - 1u, P[0].w != 0u)] = from_bits(P[2].zw); }
    }
  }
}
