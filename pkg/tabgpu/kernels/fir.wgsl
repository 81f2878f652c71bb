// fir: sums of neighbours along the middle axis of (outer, N, inner) with one row of taps; beyond the ends is nothing.
//
// dst[o, j, c] = sum over t of taps[t] * src[o, j + first - t, c]. A thread makes 8 neighbours of the axis; where 8 taps and all
// that they meet lie inside, `fast` (written out by kernels/fir_functions.py) adds 64 products, elsewhere each is looked at.
//
// Parameters (group 1, u32 words):
//   0 N   1 of dst   2 inner   3 outer   4 taps   5 first (i32)   6 blocks of 8 along the axis   7 the first block of this launch
// Dispatch: ceil(blocks / WG) workgroups, folded into x, y, z. Hook: mul(tap, element).

alias T = f32;
const WG = 256u;
const PV = 2u;

@group(0) @binding(0) var<storage, read> src: array<T>;
@group(0) @binding(1) var<storage, read> taps: array<T>;
@group(0) @binding(2) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn mul(a: T, b: T) -> T { return a * b; }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l + P[1].w;
  let n = P[0].x;
  let m = P[0].y;
  let inner = P[0].z;
  let count = i32(P[1].x);
  let column = job % inner;
  let j = ((job / inner) % P[1].z) * 8u;
  let outer = job / (inner * P[1].z);
  if (outer >= P[0].w) { return; }
  let lead = i32(j) + bitcast<i32>(P[1].y);
  let row = outer * n * inner + column;
  var a0 = T();
  var a1 = T();
  var a2 = T();
  var a3 = T();
  var a4 = T();
  var a5 = T();
  var a6 = T();
  var a7 = T();
  let stop = min(count, lead + 8);
  for (var t = max(0, lead - i32(n) + 1); t < stop; t += 8) {
    let base = lead - t - 7;
    if (t + 8 <= count && base >= 0 && base + 14 < i32(n)) {
      let at = row + u32(base) * inner;
      let s = u32(t);
      // fast: begin
      a0 += taps[s] * src[at];
      // fast: end
    } else {
      for (var i = 0; i < 8 && t + i < count; i++) {
        let tap = taps[t + i];
        let p = lead - t - i;
        // edge: begin
        if (p >= 0 && p < i32(n)) { a0 += mul(tap, src[row + u32(p) * inner]); }
        // edge: end
      }
    }
  }
  let to = (outer * m + j) * inner + column;
  // store: begin
  if (j < m) { dst[to] = a0; }
  // store: end
}
