// radix_count: how often each digit of the keys occurs in each block of a row: the first step of a pass of a radix sort.
//
// Rows of N elements of 32 bits lie one after the other, and are cut in blocks of WG * ITEMS. A digit is BITS bits of the
// key that lib/sorting makes of an element, from SHIFT on. CPU adapters: radix_serial.
// Parameters (group 1, u32 words):
//   0 N   1 blocks a row   2 SHIFT   3 blocks in all   4 .. 6 the form of the keys (lib/sorting)   7 the greatest digit
//   8 between digits in the table [row, digit, block], a multiple of 4
// Dispatch: rows * blocks workgroups, folded into x, y, z. Hook: load4.

alias S = vec4u; // what src holds
const WG = 256u;
const ITEMS = 16u; // a multiple of 4
const BITS = 8u;
const PV = 3u;
// use sorting

@group(0) @binding(0) var<storage, read> src: array<S>;
@group(0) @binding(1) var<storage, read_write> table: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const RADIX = 1u << BITS;
var<workgroup> bins: array<atomic<u32>, RADIX>;

// Elements p .. p + 3 of a row
fn load4(row: u32, p: u32) -> vec4u { return src[(row * P[0].x + p) / 4u]; }

fn count(bits: u32, wanted: bool) {
  if (wanted) { atomicAdd(&bins[(sorting_key(bits, P[1]) >> P[0].z) & P[1].w], 1u); }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  let n = P[0].x;
  let row = job / P[0].y;
  let block = job % P[0].y;
  for (var d = l; d < RADIX; d += WG) { atomicStore(&bins[d], 0u); }
  workgroupBarrier();
  if (job < P[0].w) {
    let first = block * WG * ITEMS + l * 4u;
    var x: array<vec4u, ITEMS / 4u>;
    for (var k = 0u; k < ITEMS / 4u; k++) {
      let p = first + k * WG * 4u;
      if (p < n) { x[k] = load4(row, p); }
    }
    for (var k = 0u; k < ITEMS / 4u; k++) {
      let p = first + k * WG * 4u;
      count(x[k].x, p < n);
      count(x[k].y, p + 1u < n);
      count(x[k].z, p + 2u < n);
      count(x[k].w, p + 3u < n);
    }
  }
  workgroupBarrier();
  if (job < P[0].w) {
    for (var d = l; d < RADIX; d += WG) {
      table[(row * RADIX + d) * P[2].x + block] = atomicLoad(&bins[d]);
    }
  }
}
