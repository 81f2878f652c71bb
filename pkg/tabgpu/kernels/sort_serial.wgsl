// sort_serial: one round of a stable merge sort, as sort_merge, without workgroup memory: for CPU adapters.
//
// Each thread makes RUN neighbours of the result, whose beginning it finds by a binary search in the two runs of WIDTH.
// Parameters (group 1, u32 words):
//   0 N   1 threads a row   2 WIDTH, a power of two; RUN or a multiple of RUN makes 2 * WIDTH   3 threads in all
//   4 whether keys are wanted
// Dispatch: ceil(threads / WG) workgroups, folded into x, y, z.

const WG = 64u;
const RUN = 32u;
const PV = 2u;

@group(0) @binding(0) var<storage, read> keys_in: array<u32>;
@group(0) @binding(1) var<storage, read> payload_in: array<u32>;
@group(0) @binding(2) var<storage, read_write> keys_out: array<u32>;
@group(0) @binding(3) var<storage, read_write> payload_out: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (job >= P[0].w) { return; }
  let n = P[0].x;
  let width = P[0].z;
  let row = (job / P[0].y) * n;
  var p = (job % P[0].y) * RUN;
  let stop = min(p + RUN, n);
  while (p < stop) {
    let pair = p & ~(2u * width - 1u);
    let n_a = min(width, n - pair);
    let n_b = min(width, n - pair - n_a);
    let a = row + pair;
    let b = a + n_a;
    let at = p - pair;
    var low = select(0u, at - n_b, at > n_b);
    var high = min(at, n_a);
    while (low < high) {
      let middle = (low + high) / 2u;
      let before = keys_in[a + middle] <= keys_in[b + at - 1u - middle];
      low = select(low, middle + 1u, before);
      high = select(middle, high, before);
    }
    var i = low;
    var j = at - low;
    var left = keys_in[a + min(i, n_a - 1u)];
    var right = keys_in[b + min(j, max(n_b, 1u) - 1u)];
    let end = min(stop, pair + n_a + n_b);
    for (; p < end; p++) {
      let first = j >= n_b || (i < n_a && left <= right);
      if (P[1].x != 0u) { keys_out[row + p] = select(right, left, first); }
      payload_out[row + p] = payload_in[select(b + j, a + i, first)];
      if (first) {
        i++;
        left = keys_in[a + min(i, n_a - 1u)];
      } else {
        j++;
        right = keys_in[b + min(j, max(n_b, 1u) - 1u)];
      }
    }
  }
}
