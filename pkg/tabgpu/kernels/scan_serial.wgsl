// scan_serial: as scan_tiles and scan_columns, but each thread works for itself on a chunk of a column: for CPU adapters, on
// which a barrier costs more than a pass.
//
// Sums of 32 elements, of 32 such sums, of 32 of those and of these, so that the error is a tree's. Parameters (group 1, u32 words):
//   0 N   1 outer   2 chunks of the axis   3 whether to walk from the last element to the first
//   4 N of dst   5 position in dst of the first result (1: what precedes it gets the initial value)
//   6 elements a chunk   7 inner   8, 9 bits of the identity   10, 11 bits of the initial value
// Dispatch: ceil(outer * chunks * inner / WG) workgroups, folded into x, y, z. Hooks: combine(left, right); from_bits.

alias T = f32;
const WG = 64u;
const TOTALS = false; // write the chunks' totals only
const CARRY = false; // start each chunk from carry[outer, chunk, inner]
const PV = 3u;

@group(0) @binding(0) var<storage, read> src: array<T>;
@group(0) @binding(1) var<storage, read> carry: array<T>;
@group(0) @binding(2) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn combine(a: T, b: T) -> T { return a + b; }
fn from_bits(b: vec2u) -> T { return bitcast<T>(b.x); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let n = P[0].x;
  let inner = P[1].w;
  let column = job % inner;
  let chunk = (job / inner) % P[0].z;
  let outer = job / (inner * P[0].z);
  if (outer >= P[0].y) { return; }
  let none = from_bits(P[2].xy);
  let first = chunk * P[1].z;
  let stop = min(first + P[1].z, n);
  var hop = inner; // between neighbours
  var at = (outer * n + first) * inner + column;
  if (P[0].w != 0u) {
    hop = 0u - inner;
    at = (outer * n + n - 1u - first) * inner + column;
  }
  var all = none; // of blocks of 32,768
  if (CARRY) { all = carry[job]; }
  var most = none; // of blocks of 1,024 behind them
  var more = none; // of blocks of 32 behind them
  let m = P[1].x;
  let shift = P[1].y;
  let place = first + shift;
  var to = (outer * m + select(place, m - 1u - place, P[0].w != 0u)) * inner + column;
  if (!TOTALS && first == 0u && shift > 0u) {
    dst[(outer * m + select(0u, m - 1u, P[0].w != 0u)) * inner + column] = from_bits(P[2].zw);
  }
  let last = min(stop, m - shift); // the initial value may push the last result out
  var p = first;
  var blocks = 0u;
  while (p < stop) {
    let before = combine(all, combine(most, more));
    var sum = none;
    let end = min(p + 32u, stop);
    if (!TOTALS) {
      for (var k = p; k < min(end, last); k++) {
        sum = combine(sum, src[at]);
        dst[to] = combine(before, sum);
        at += hop;
        to += hop;
      }
    } else {
      for (var k = p; k < end; k++) {
        sum = combine(sum, src[at]);
        at += hop;
      }
    }
    more = combine(more, sum);
    p = end;
    blocks++;
    if (blocks % 32u == 0u) {
      most = combine(most, more);
      more = none;
    }
    if (blocks % 1024u == 0u) {
      all = combine(all, most);
      most = none;
    }
  }
  if (TOTALS) { dst[job] = combine(all, combine(most, more)); }
}
