// scan_columns: running combinations along the middle axis of (outer, N, inner), read and written where they lie.
//
// W neighbouring columns share a workgroup of WG threads, in which WG / W threads share a column: each combines R rows of a
// tile of R * WG / W, the threads' totals are combined in workgroup memory, and `run` carries over to the next tile. A long
// axis takes passes as in scan_tiles: TOTALS, a scan of these, CARRY. Rows: scan_tiles. CPU adapters: scan_serial.
//
// Parameters (group 1, u32 words):
//   0 N   1 outer   2 chunks of the axis   3 whether to walk from the last element to the first
//   4 N of dst   5 position in dst of the first result (1: what precedes it gets the initial value)
//   6 elements a chunk, a multiple of a tile   7 inner   8, 9 bits of the identity   10, 11 bits of the initial value
//   12 strips of W columns
// Dispatch: outer * chunks * strips workgroups, folded into x, y, z. Hooks: combine(left, right); from_bits.

alias T = f32;
const WG = 256u;
const W = 16u;
const R = 8u;
const TOTALS = false; // write the chunks' totals only
const CARRY = false; // start each chunk from carry[outer, chunk, inner]
const GATHER = false; // carry holds the chunks' totals: each workgroup combines those before its own
const PV = 4u;

@group(0) @binding(0) var<storage, read> src: array<T>;
@group(0) @binding(1) var<storage, read> carry: array<T>;
@group(0) @binding(2) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const G = WG / W;
var<workgroup> sums: array<T, 2u * WG>;

fn combine(a: T, b: T) -> T { return a + b; }
fn from_bits(b: vec2u) -> T { return bitcast<T>(b.x); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  let n = P[0].x;
  let inner = P[1].w;
  let strips = P[3].x;
  let column = (job % strips) * W + l % W;
  let chunk = (job / strips) % P[0].z;
  let outer = job / (strips * P[0].z);
  let group = l / W;
  let inside = column < inner && outer < P[0].y;
  let none = from_bits(P[2].xy);
  let stop = min((chunk + 1u) * P[1].z, n);
  let away = (outer * P[0].z + chunk) * inner + column; // where this chunk's total belongs
  var run = none;
  if (CARRY && !GATHER) {
    if (inside) { run = carry[away]; }
  }
  let shift = P[1].y;
  let m = P[1].x;
  if (inside && chunk == 0u && group == 0u && shift > 0u && !TOTALS) {
    dst[(outer * m + select(0u, m - 1u, P[0].w != 0u)) * inner + column] = from_bits(P[2].zw);
  }
  var side = 0u;
  if (CARRY && GATHER) {
    let each = (chunk + G - 1u) / G;
    var part = none;
    for (var k = min(group * each, chunk); k < min((group + 1u) * each, chunk); k++) {
      if (inside) { part = combine(part, carry[(outer * P[0].z + k) * inner + column]); }
    }
    sums[l] = part;
    workgroupBarrier();
    for (var k = 0u; k < G; k++) { run = combine(run, sums[k * W + l % W]); }
    side = WG;
  }
  var x: array<T, R>;
  for (var at = chunk * P[1].z; at < stop; at += G * R) {
    let begin = at + group * R;
    for (var k = 0u; k < R; k++) {
      let p = begin + k;
      x[k] = none;
      if (inside && p < stop) { x[k] = src[(outer * n + select(p, n - 1u - p, P[0].w != 0u)) * inner + column]; }
    }
    for (var k = 1u; k < R; k++) { x[k] = combine(x[k - 1u], x[k]); }
    sums[side + l] = x[R - 1u];
    workgroupBarrier();
    var before = none;
    var all = none;
    for (var k = 0u; k < G; k++) {
      if (k == group) { before = all; }
      all = combine(all, sums[side + k * W + l % W]);
    }
    before = combine(run, before);
    run = combine(run, all);
    side = WG - side;
    if (!TOTALS) {
      for (var k = 0u; k < R; k++) {
        let p = begin + k;
        let to = p + shift;
        if (inside && p < stop && to < m) {
          dst[(outer * m + select(to, m - 1u - to, P[0].w != 0u)) * inner + column] = combine(before, x[k]);
        }
      }
    }
  }
  if (TOTALS && inside && group == 0u) { dst[away] = run; }
}
