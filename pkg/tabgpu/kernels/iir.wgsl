// iir: recursive filters along the middle axis of (outer, N, inner): each thread walks a chunk of a column.
//
// What a filter remembers is a vector of numbers s (transposed direct form II, or pairs of them one section after another), which
// moves linearly: over a chunk s' = A^L s + (what the chunk alone leaves). With ENDS a thread begins from zeros and
// writes only what it leaves, iir_carry adds these up, and the next launch begins where `carry` says. The lines of a step are
// written by kernels/iir_functions.py for a number of states or sections.
//
// Parameters (group 1, u32 words):
//   0 N   1 outer   2 chunks   3 inner   4 samples a chunk, a multiple of 4   5 whether to walk from the last sample to the first
//   6, 7 the samples of this launch: first, end   8 states   9 whether carry counts   10 whether the states are written, and where
//   11 (elements of dst)   12 .. coefficients
// Buffers of states are (outer, states, chunks, inner). Dispatch: ceil(outer * chunks * inner / WG) workgroups.

const WG = 64u;
const ENDS = false;
const PV = 8u;

@group(0) @binding(0) var<storage, read> src: array<f32>;
@group(0) @binding(1) var<storage, read> carry: array<f32>;
@group(0) @binding(2) var<storage, read_write> dst: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn c(k: u32) -> f32 { return bitcast<f32>(P[3u + k / 4u][k % 4u]); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let n = P[0].x;
  let inner = P[0].w;
  let across = P[0].z * inner; // of a state
  let outer = job / across;
  if (outer >= P[0].y) { return; }
  let column = job % inner;
  let chunk = (job / inner) % P[0].z;
  let begin = P[1].z + chunk * P[1].x;
  let end = min(begin + P[1].x, P[1].w);
  let states = P[2].x;
  let home = outer * states * across + job % across;
  // state: begin
  var s0 = 0.0f;
  if (P[2].y != 0u) { s0 = carry[home]; }
  let b0 = c(0u);
  // state: end
  var at = (outer * n + begin) * inner + column;
  var hop = inner;
  if (P[1].y != 0u) {
    at = (outer * n + n - 1u - begin) * inner + column;
    hop = 0u - inner;
  }
  var p = begin;
  for (; p + 4u <= end; p += 4u) {
    let x0 = src[at];
    let x1 = src[at + hop];
    let x2 = src[at + 2u * hop];
    let x3 = src[at + 3u * hop];
    // four: begin
    let y0 = b0 * x0 + s0;
    // four: end
    at += 4u * hop;
  }
  for (; p < end; p++) {
    let x0 = src[at];
    // one: begin
    let y0 = b0 * x0 + s0;
    // one: end
    at += hop;
  }
  // leave: begin
  dst[home] = s0;
  // leave: end
}
