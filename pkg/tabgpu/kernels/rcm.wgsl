// rcm: Cuthill and McKee's order of the nodes of a graph, which are given in the order of their degrees: breadth first, the
// neighbours of a node by degree; of each further component first the node that comes first. One workgroup; a thread has a run
// of nodes, so that a sum over the threads before it says where its neighbours go.
//
// adjacent (n, n): nonzero for an edge. dst: the order. state: whether a node was visited; behind them how many were.
// Parameters (group 1, u32 words): 0 n   1 first position of this launch   2 position behind the last   3 nodes of a thread
// Dispatch: one workgroup.

const WG = 64u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> adjacent: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(0) @binding(2) var<storage, read_write> state: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;
var<workgroup> sums: array<u32, WG>;
var<workgroup> first: atomic<u32>;
var<workgroup> known: u32;

@compute @workgroup_size(WG)
fn main(@builtin(local_invocation_index) l: u32) {
  let n = P[0].x;
  let begin = min(l * P[0].w, n);
  let end = min(begin + P[0].w, n);
  if (P[0].y == 0u) {
    for (var j = begin; j < end; j++) { state[j] = 0u; }
  }
  if (l == 0u) {
    if (P[0].y == 0u) { known = 0u; } else { known = state[n]; }
  }
  for (var p = P[0].y; p < P[0].z; p++) {
    if (l == 0u) { atomicStore(&first, n); }
    let there = workgroupUniformLoad(&known);
    if (there == p) {
      for (var j = begin; j < end; j++) {
        if (state[j] == 0u) {
          atomicMin(&first, j);
          break;
        }
      }
      workgroupBarrier();
      if (l == 0u) {
        let node = min(atomicLoad(&first), n - 1u);
        dst[p] = node;
        state[node] = 1u;
        known = p + 1u;
      }
      storageBarrier();
    }
    let old = workgroupUniformLoad(&known);
    let row = dst[p] * n;
    var own = 0u;
    for (var j = begin; j < end; j++) { own += u32(adjacent[row + j] != 0u && state[j] == 0u); }
    sums[l] = own;
    for (var s = 1u; s < WG; s *= 2u) {
      workgroupBarrier();
      var before = 0u;
      if (l >= s) { before = sums[l - s]; }
      workgroupBarrier();
      sums[l] += before;
    }
    var at = old + sums[l] - own;
    for (var j = begin; j < end && own > 0u; j++) {
      if (adjacent[row + j] != 0u && state[j] == 0u) {
        dst[at] = j;
        state[j] = 1u;
        at++;
      }
    }
    workgroupBarrier();
    if (l == WG - 1u) { known = at; }
    storageBarrier();
  }
  if (l == 0u) { state[n] = known; }
}
