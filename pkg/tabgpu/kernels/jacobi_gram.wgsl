// jacobi_gram: the inner products of the vectors of a pair of blocks, over a part of their length: G = X^H X.
//
// Vectors are the rows of a matrix of s. A round pairs all blocks (lib/tournament); K is at least twice a block.
// Parameters (group 1, u32 words):
//   0 vectors   1 length of which products are made   2 elements a vector in s   3 vectors a block
//   4 round   5 pairs   6 parts   7 elements a part   8 workgroups in all   9 players: 2 * pairs
// Dispatch: parts * pairs workgroups for each matrix, folded into x, y, z.

alias T = f32;
const WG = 256u;
const SIDE = 16u; // SIDE * SIDE is WG
const K = 64u;
const D = 32u; // elements of the vectors at a time
const PV = 3u;
// use tournament

@group(0) @binding(0) var<storage, read> done: array<u32>; // a word a matrix
@group(0) @binding(1) var<storage, read> s: array<T>;
@group(0) @binding(2) var<storage, read_write> out: array<T>; // K x K for each workgroup
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const TT = K / SIDE;
const PITCH = K + 1u;
var<workgroup> x: array<T, D * PITCH>;

fn cmul(a: T, b: T) -> T { return a * b; }
fn lift(a: f32) -> T { return a; }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  if (job >= P[2].x) { return; }
  let pairs = P[1].y;
  let part = job % P[1].z;
  let which = (job / P[1].z) % pairs;
  let matrix = job / (P[1].z * pairs);
  if (done[matrix] != 0u) { return; }
  let pair = tournament(which, P[1].x, P[2].y);
  let begin = part * P[1].w;
  let end = min(begin + P[1].w, P[0].y);
  let row = l / SIDE;
  let column = l % SIDE;
  var acc: array<T, TT * TT>;
  for (var e = 0u; e < TT * TT; e++) { acc[e] = lift(0.0); }
  for (var at = begin; at < end; at += D) {
    for (var e = l; e < K * D; e += WG) {
      let i = block_vector(pair, e / D, P[0].w);
      let p = at + e % D;
      var value = lift(0.0);
      if (i < P[0].x && p < end) { value = s[(matrix * P[0].x + i) * P[0].z + p]; }
      x[(e % D) * PITCH + e / D] = value;
    }
    workgroupBarrier();
    for (var p = 0u; p < D; p++) {
      var right: array<T, TT>;
      for (var k = 0u; k < TT; k++) {
        right[k] = x[p * PITCH + column + k * SIDE];
      }
      for (var i = 0u; i < TT; i++) {
        let left = x[p * PITCH + row + i * SIDE];
        for (var k = 0u; k < TT; k++) {
          acc[i * TT + k] += cmul(left, right[k]);
        }
      }
    }
    workgroupBarrier();
  }
  let base = job * K * K;
  for (var i = 0u; i < TT; i++) {
    for (var k = 0u; k < TT; k++) {
      out[base + (row + i * SIDE) * K + column + k * SIDE] = acc[i * TT + k];
    }
  }
}
