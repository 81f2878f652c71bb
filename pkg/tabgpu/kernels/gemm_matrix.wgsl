// gemm_matrix: C[batch, m, n] = A[batch, m, k] @ B[batch, k, n] of float16 operands by the matrix units; sums in f32.
//
// Subgroups of 32 threads share a BM x BN tile of C. Both operands go through workgroup memory in rows as they lie, eight
// halves at a time, and from there into 16 x 16 matrices (float16 in, float32 out), of which each subgroup sums a
// block. A tile that would pass the end of m or n is moved back, so that two workgroups store the same values there.
//
// What both operands must be: along k or along m (A), along k or along n (B) with stride 1; that axis' length, the other
// strides and the offset multiples of 8; k a multiple of BK; m at least BM, n at least BN and a multiple of 8.
//
// Tunables (rewritten by specialise; gemm_tiles.py lists the sets in use): BM BN NT (threads), GROUP, N4 and PV as in gemm.
// Parameters, dispatch and emit4 as in gemm; no pieces of k.
//
// The block between `unroll: begin` and `unroll: end` is the plainest form, for any adapter; gemm_matrix_inner.py writes
// the one with matrices and declares what it needs.

const BM = 128u;
const BN = 128u;
const NT = 128u;
const GROUP = 8u;
const N4 = true;
const PV = 8u;

@group(0) @binding(0) var<storage, read> a: array<vec4u>;
@group(0) @binding(1) var<storage, read> b: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4f>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn emit4(v: vec4f, i: u32) {
  c[i / 4u] = v;
}

fn half_of(words: vec4u, i: u32) -> f32 {
  return unpack2x16float(words[i / 2u % 4u])[i % 2u];
}

@compute @workgroup_size(NT)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u,
        @builtin(local_invocation_index) li: u32) {
  let m = P[0].x;
  let n = P[0].y;
  let k = P[0].z;
  let rows = (m + BM - 1u) / BM;
  let cols = (n + BN - 1u) / BN;
  let t = wid.x + nwg.x * (wid.y + nwg.y * wid.z);
  if (t >= rows * cols * P[0].w) {
    return;
  }
  let z = t / (rows * cols);
  let r = t % (rows * cols);
  let first = r / (GROUP * cols) * GROUP;
  let high = min(GROUP, rows - first);
  let q = r % (GROUP * cols);
  let row = min((first + q % high) * BM, m - BM);
  let col = min(q / high * BN, n - BN);
  let d = vec3u(z / (P[3].w * P[4].w), z / P[4].w % P[3].w, z % P[4].w);
  let a0 = P[1].x + d.x * P[3].x + d.y * P[3].y + d.z * P[3].z;
  let b0 = P[2].x + d.x * P[4].x + d.y * P[4].y + d.z * P[4].z;
  let c0 = P[1].w + (z * m + row) * n + col; // element of C where the tile begins
  // unroll: begin
  for (var e = li * 4u; e < BM * BN; e += NT * 4u) {
    var sum = vec4f();
    for (var x = 0u; x < k; x++) {
      let i = a0 + (row + e / BN) * P[1].y + x * P[1].z;
      for (var j = 0u; j < 4u; j++) {
        let o = b0 + x * P[2].y + (col + e % BN + j) * P[2].z;
        sum[j] += half_of(a[i / 8u], i) * half_of(b[o / 8u], o);
      }
    }
    emit4(sum, c0 + e / BN * n + e % BN);
  }
  // unroll: end
}
