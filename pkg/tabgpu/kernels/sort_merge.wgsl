// sort_merge: one round of a stable merge sort of long rows: pairs of sorted runs of WIDTH elements become one each.
//
// A workgroup makes WG * 4 neighbours of the result: two threads find by a binary search where these begin and end in
// either run, all load them to workgroup memory, and each thread merges four. Nothing depends on other workgroups.
//
// The payload (positions, or elements' bits) moves with the keys.
// Parameters (group 1, u32 words):
//   0 N   1 tiles a row   2 WIDTH, a power of two of WG * 4 or more   3 workgroups in all
//   4 whether keys are wanted
// Dispatch: rows * tiles workgroups, folded into x, y, z.

const WG = 256u;
const PV = 2u;

@group(0) @binding(0) var<storage, read> keys_in: array<u32>;
@group(0) @binding(1) var<storage, read> payload_in: array<u32>;
@group(0) @binding(2) var<storage, read_write> keys_out: array<u32>;
@group(0) @binding(3) var<storage, read_write> payload_out: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const TILE = WG * 4u;
var<workgroup> keys: array<u32, TILE>;
var<workgroup> payload: array<u32, TILE>;
var<workgroup> ends: array<u32, 2>;

// How many of the first `at` elements of the merged pair come from the first run (at a, n_a elements; the second at b).
fn share(at: u32, a: u32, n_a: u32, b: u32, n_b: u32) -> u32 {
  var low = select(0u, at - n_b, at > n_b);
  var high = min(at, n_a);
  while (low < high) {
    let middle = (low + high) / 2u;
    let before = keys_in[a + middle] <= keys_in[b + at - 1u - middle];
    low = select(low, middle + 1u, before);
    high = select(middle, high, before);
  }
  return low;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  let n = P[0].x;
  let width = P[0].z;
  let row = (job / P[0].y) * n;
  let p = (job % P[0].y) * TILE;
  let pair = p & ~(2u * width - 1u);
  let n_a = min(width, n - pair);
  let n_b = min(width, n - pair - n_a);
  let a = row + pair;
  let b = a + n_a;
  let begin = p - pair;
  let stop = min(begin + TILE, n_a + n_b);
  if (l < 2u) { ends[l] = share(select(begin, stop, l == 1u), a, n_a, b, n_b); }
  workgroupBarrier();
  let a_begin = ends[0];
  let m_a = ends[1] - a_begin;
  let m_b = stop - begin - m_a;
  for (var s = l; s < m_a + m_b; s += WG) {
    let origin = select(b + begin - a_begin + s - m_a, a + a_begin + s, s < m_a);
    payload[s] = payload_in[origin];
    keys[s] = keys_in[origin];
  }
  workgroupBarrier();
  let at = l * 4u;
  if (at >= m_a + m_b) { return; }
  var low = select(0u, at - m_b, at > m_b);
  var high = min(at, m_a);
  while (low < high) {
    let middle = (low + high) / 2u;
    let before = keys[middle] <= keys[m_a + at - 1u - middle];
    low = select(low, middle + 1u, before);
    high = select(middle, high, before);
  }
  var i = low;
  var j = m_a + at - low;
  for (var s = at; s < min(at + 4u, m_a + m_b); s++) {
    let left = keys[min(i, TILE - 1u)];
    let right = keys[min(j, TILE - 1u)];
    let first = j >= m_a + m_b || (i < m_a && left <= right);
    let origin = select(j, i, first);
    if (P[1].x != 0u) { keys_out[row + p + s] = select(right, left, first); }
    payload_out[row + p + s] = payload[origin];
    i += select(0u, 1u, first);
    j += select(1u, 0u, first);
  }
}
