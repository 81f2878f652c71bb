// jacobi_rotate: the vectors of each pair of blocks become the combinations that jacobi_solve found, in place.
//
// Parameters (group 1, u32 words):
//   0 vectors   1 elements a vector   2 vectors a block   3 round
//   4 pairs   5 tiles of D elements   6 workgroups in all   7 players: 2 * pairs
// Dispatch: tiles * pairs workgroups for each matrix, folded into x, y, z.

alias T = f32;
const WG = 256u;
const K = 64u;
const D = 32u;
const PV = 2u;
// use tournament

@group(0) @binding(0) var<storage, read> done: array<u32>;
@group(0) @binding(1) var<storage, read> state: array<f32>;
@group(0) @binding(2) var<storage, read> by: array<T>;
@group(0) @binding(3) var<storage, read_write> s: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const QS = WG / D;
const EACH = K / QS; // new vectors a thread
var<workgroup> x: array<T, K * D>;
var<workgroup> j: array<T, K * K>;

fn mul(a: T, b: T) -> T { return a * b; }
fn lift(a: f32) -> T { return a; }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  if (job >= P[1].z) { return; }
  let pairs = P[1].x;
  let tile = job % P[1].y;
  let which = (job / P[1].y) % pairs;
  let matrix = job / (P[1].y * pairs);
  if (done[matrix] != 0u || state[2u * (matrix * pairs + which) + 1u] == 0.0) { return; }
  let pair = tournament(which, P[0].w, P[1].w);
  let many = 2u * P[0].z;
  for (var e = l; e < K * many; e += WG) { j[e] = by[(matrix * pairs + which) * K * K + e]; }
  let base = matrix * P[0].x;
  let p = tile * D + l % D;
  for (var k = l / D; k < many; k += QS) {
    let i = block_vector(pair, k, P[0].z);
    var value = lift(0.0);
    if (i < P[0].x && p < P[0].y) { value = s[(base + i) * P[0].y + p]; }
    x[k * D + l % D] = value;
  }
  workgroupBarrier();
  let first = l / D * EACH;
  var acc: array<T, EACH>;
  for (var k = 0u; k < EACH; k++) {
    acc[k] = lift(0.0);
  }
  for (var i = 0u; i < many; i++) {
    let old = x[i * D + l % D];
    for (var k = 0u; k < EACH; k++) {
      acc[k] += mul(j[i * K + first + k], old);
    }
  }
  for (var k = 0u; k < EACH; k++) {
    let i = block_vector(pair, first + k, P[0].z);
    if (i < P[0].x && p < P[0].y) { s[(base + i) * P[0].y + p] = acc[k]; }
  }
}
