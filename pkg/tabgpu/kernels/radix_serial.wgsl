// radix_serial: the three steps of a pass of a radix sort for CPU adapters: each thread works for itself on a block of a row.
//
// STEP 0: how often each digit (8 bits of the key from SHIFT on) occurs in each block: written to the table, [row, block,
// digit]. STEP 1: a thread for each row and digit adds up the blocks before, and writes the digit's total to dst.
// STEP 2: the table says where the next element of a block with a digit goes; elements move as they are.
// Parameters (group 1, u32 words):
//   0 N   1 blocks a row   2 SHIFT   3 rows   4 .. 6 the form of the keys (lib/sorting)   7 elements a block
//   8 whether to write the elements   9 what moves along: 0 nothing, 1 positions in the row, made here, 2 payload_in
// Dispatch: ceil(rows * blocks / WG) workgroups (STEP 1: ceil(rows * 256 / WG)), folded into x, y, z.

const WG = 8u;
const STEP = 0u;
const PV = 3u;
// use sorting

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read> payload_in: array<u32>;
@group(0) @binding(2) var<storage, read> totals: array<u32>;
@group(0) @binding(3) var<storage, read_write> table: array<u32>;
@group(0) @binding(4) var<storage, read_write> dst: array<u32>;
@group(0) @binding(5) var<storage, read_write> payload_out: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn digit(bits: u32) -> u32 { return (sorting_key(bits, P[1]) >> P[0].z) & 255u; }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let n = P[0].x;
  let blocks = P[0].y;
  if (STEP == 1u) {
    let row = job / 256u;
    if (row >= P[0].w) { return; }
    var at = row * blocks * 256u + job % 256u;
    var sum = 0u;
    for (var k = 0u; k < blocks; k++) {
      let own = table[at];
      table[at] = sum;
      sum += own;
      at += 256u;
    }
    dst[job] = sum;
    return;
  }
  let row = job / blocks;
  if (row >= P[0].w) { return; }
  let first = (job % blocks) * P[1].w;
  let stop = min(first + P[1].w, n);
  let mine = job * 256u;
  if (STEP == 0u) {
    for (var d = 0u; d < 256u; d++) { table[mine + d] = 0u; }
    for (var p = first; p < stop; p++) { table[mine + digit(src[row * n + p])] += 1u; }
    return;
  }
  var sum = row * n;
  for (var d = 0u; d < 256u; d++) {
    table[mine + d] += sum;
    sum += totals[row * 256u + d];
  }
  for (var p = first; p < stop; p++) {
    let bits = src[row * n + p];
    let d = mine + digit(bits);
    let to = table[d];
    table[d] = to + 1u;
    if (P[2].x != 0u) { dst[to] = bits; }
    if (P[2].y == 1u) { payload_out[to] = p; }
    if (P[2].y == 2u) { payload_out[to] = payload_in[row * n + p]; }
  }
}
