// iir_carry: what recursive filters carry from chunk to chunk: s[k + 1] = M s[k] + left[k] in groups of chunks. A thread a group.
//
// UP: the groups' own totals, begun from zeros. Otherwise the states before each chunk, begun from what `carry` holds for the group.
// The lines of a product are written by kernels/iir_functions.py for a number of states.
//
// Parameters (group 1, u32 words):
//   0 chunks   1 outer   2 groups   3 inner   4 chunks a group   5 whether carry counts   6 states   8 .. M, in rows of whole quads
// Buffers: left (outer, states, chunks, inner), carry (outer, states, groups, inner), dst as carry (UP) or as left.
// Dispatch: ceil(outer * groups * inner / WG) workgroups, folded into x, y, z.

const WG = 64u;
const UP = false;
const PV = 8u;

@group(0) @binding(0) var<storage, read> left: array<f32>;
@group(0) @binding(1) var<storage, read> carry: array<f32>;
@group(0) @binding(2) var<storage, read_write> dst: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn row(k: u32) -> vec4f { return bitcast<vec4f>(P[2u + k]); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let inner = P[0].w;
  let outer = job / (P[0].z * inner);
  if (outer >= P[0].y) { return; }
  let column = job % inner;
  let group = (job / inner) % P[0].z;
  let states = P[1].z;
  let across = P[0].x * inner; // of a state, of all chunks
  let between = P[0].z * inner; // of a state, of all groups
  let home = (outer * states * P[0].z + group) * inner + column;
  let first = group * P[1].x;
  var at = (outer * states * P[0].x + first) * inner + column;
  // state: begin
  var v0 = vec4f();
  if (P[1].y != 0u) { v0.x = carry[home]; }
  // state: end
  for (var k = first; k < min(first + P[1].x, P[0].x); k++) {
    // step: begin
    v0.x = left[at] + row(0u).x * v0.x;
    // step: end
    at += inner;
  }
  // leave: begin
  if (UP) { dst[home] = v0.x; }
  // leave: end
}
