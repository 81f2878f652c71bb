// radix_scatter: moves the elements of a block behind those with smaller digits: the last step of a pass of a radix sort.
//
// For adapters with subgroups. A subgroup has ITEMS times as many neighbours as lanes. Lanes with the same digit find each
// other by ballots, the first of them adds their number to the subgroup's count of that digit, and each gets its rank: in the
// order in which they lie, so that the sort is stable. The counts of the subgroups and then of the digits are added up, the
// elements change places in workgroup memory, and neighbours there are written to neighbours in dst.
//
// Elements move as they are, digits are found again in each pass (-0 and 0, and all NaN, tie and stay different).
// PAYLOAD: what moves along.
// Parameters (group 1, u32 words): 0 .. 8 as radix_count.
// Dispatch: rows * blocks workgroups, folded into x, y, z. Hooks: ballot, ones, below, lowest (of as many words as a
// subgroup has lanes / 32).

enable subgroups;

const WG = 256u;
const ITEMS = 16u;
const BITS = 8u;
const SIZE_LEAST = 32u; // lanes of a subgroup, at least
const PAYLOAD = 0u; // 0: nothing, 1: positions in the row, made here, 2: what payload_in holds
const KEYS = true; // whether to write the elements
const PV = 3u;
alias MASK = u32;
// use sorting

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read> payload_in: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<u32>; // elements with a digit in all blocks before
@group(0) @binding(3) var<storage, read> totals: array<u32>;
@group(0) @binding(4) var<storage, read_write> dst: array<u32>;
@group(0) @binding(5) var<storage, read_write> payload_out: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const RADIX = 1u << BITS;
const BLOCK = WG * ITEMS;
const EACH = max(1u, RADIX / WG); // digits a thread
var<workgroup> counts: array<atomic<u32>, WG / SIZE_LEAST * RADIX>;
var<workgroup> stage: array<u32, BLOCK>;
var<workgroup> places: array<u32, RADIX>; // where each digit's elements go, less their position in stage
var<workgroup> tree: array<vec2u, WG / SIZE_LEAST>;

fn ballot(b: bool) -> MASK { return subgroupBallot(b).x; }
fn ones(m: MASK) -> u32 { return countOneBits(m); }
fn below(id: u32) -> MASK { return (1u << id) - 1u; }
fn lowest(m: MASK) -> u32 { return countTrailingZeros(m); }

fn digit(bits: u32) -> u32 { return (sorting_key(bits, P[1]) >> P[0].z) & P[1].w; }

@compute @workgroup_size(WG)
fn main(
  @builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32,
  @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) id: u32
) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  let n = P[0].x;
  let blocks = P[0].y;
  let row = job / blocks;
  let block = job % blocks;
  let first = block * BLOCK;
  let held = select(0u, min(n - first, BLOCK), job < P[0].w);
  let group = l / size;
  let groups = WG / size;
  for (var k = l; k < groups * RADIX; k += WG) { atomicStore(&counts[k], 0u); }
  var x: array<u32, ITEMS>;
  for (var k = 0u; k < ITEMS; k++) {
    let p = (group * ITEMS + k) * size + id;
    x[k] = 0u;
    if (p < held) { x[k] = src[row * n + first + p]; }
  }
  workgroupBarrier();
  // Ranks in the subgroup's count of the digit, in the upper half, and digits. Places behind the end are the last of the last.
  var ranks: array<u32, ITEMS>;
  let before_me = below(id);
  for (var k = 0u; k < ITEMS; k++) {
    let p = (group * ITEMS + k) * size + id;
    let d = select(RADIX - 1u, digit(x[k]), p < held);
    var same = ballot(true);
    for (var b = 0u; b < BITS; b++) {
      let bit = (d >> b) & 1u;
      same &= ~(ballot(bit == 1u) ^ MASK(0u - bit));
    }
    let leader = lowest(same);
    var old = 0u;
    if (id == leader) { old = atomicAdd(&counts[group * RADIX + d], ones(same)); }
    old = subgroupShuffle(old, leader);
    ranks[k] = ((old + ones(same & before_me)) << 16u) | d;
  }
  workgroupBarrier();
  // Of digits l * EACH ..: how many in the block, and in the subgroups before each.
  var mine = 0u;
  for (var k = 0u; k < EACH; k++) {
    let d = l * EACH + k;
    if (d < RADIX) {
      for (var s = 0u; s < groups; s++) {
        let c = atomicLoad(&counts[s * RADIX + d]);
        atomicStore(&counts[s * RADIX + d], mine);
        mine += c;
      }
    }
  }
  // The same of digits before: in this block, and in the whole row.
  var ahead = array<u32, EACH>();
  var all = 0u;
  for (var k = 0u; k < EACH; k++) {
    let d = l * EACH + k;
    if (d < RADIX) {
      ahead[k] = all + table[(row * RADIX + d) * P[2].x + block];
      all += totals[row * RADIX + d];
    }
  }
  let inclusive = vec2u(subgroupInclusiveAdd(mine), subgroupInclusiveAdd(all));
  if (id == size - 1u) { tree[group] = inclusive; }
  workgroupBarrier();
  var sum = inclusive - vec2u(mine, all);
  for (var s = 0u; s < groups; s++) { sum += select(vec2u(0u), tree[s], s < group); }
  for (var k = 0u; k < EACH; k++) {
    let d = l * EACH + k;
    if (d < RADIX) {
      // counts hold what precedes in the block among this thread's digits
      let begin = sum.x + atomicLoad(&counts[d]);
      places[d] = sum.y + ahead[k] - begin;
      for (var s = 0u; s < groups; s++) { atomicStore(&counts[s * RADIX + d], sum.x + atomicLoad(&counts[s * RADIX + d])); }
    }
  }
  workgroupBarrier();
  for (var k = 0u; k < ITEMS; k++) {
    let at = (ranks[k] >> 16u) + atomicLoad(&counts[group * RADIX + (ranks[k] & 0xffffu)]);
    ranks[k] = at;
    stage[at] = x[k];
  }
  workgroupBarrier();
  var to: array<u32, ITEMS>;
  for (var k = 0u; k < ITEMS; k++) {
    let at = k * WG + l;
    let bits = stage[at];
    to[k] = row * n + places[digit(bits)] + at;
    if (KEYS && at < held) { dst[to[k]] = bits; }
  }
  if (PAYLOAD > 0u) {
    workgroupBarrier();
    for (var k = 0u; k < ITEMS; k++) {
      let p = first + (group * ITEMS + k) * size + id;
      var e = p;
      if (PAYLOAD == 2u) {
        e = 0u;
        if (p < first + held) { e = payload_in[row * n + p]; }
      }
      stage[ranks[k]] = e;
    }
    workgroupBarrier();
    for (var k = 0u; k < ITEMS; k++) {
      let at = k * WG + l;
      if (at < held) { payload_out[to[k]] = stage[at]; }
    }
  }
}
