// gemm: C[batch, m, n] = A[batch, m, k] @ B[batch, k, n]. Register-tiled product of any strides and sizes; nothing else.
//
// One workgroup makes one BM x BN tile of C, BK columns of A and rows of B at a time; one thread makes TM x TN of it.
// Both operands go through workgroup memory k-major, as vec4s of four neighbours along m (A) or n (B), so that the
// inner loop reads whole vec4s without bank conflicts. A thread stages blocks of 4 x 4 elements: whatever the
// strides are, the block is turned in registers. Transposed, sliced, flipped (strides modulo 2^32) and broadcast
// (stride 0) operands are read in place. Past the end of k BOTH operands are zero: 0 * 0 adds nothing, while a NaN or
// Inf inside reaches every sum that covers it. Integers wrap. f32 sums are plain, in the order of k.
//
// SLICES groups of threads may share a tile: each multiplies its part of every BK, and their sums are added at the end.
// k may also be cut in pieces (words 20 and 21), each with its own C: another kernel adds those.
//
// Tunables (rewritten by specialise; gemm_tiles.py lists the sets in use):
//   T                   f32, i32 or u32
//   BM BN BK TM TN      multiples of 4; (BM / TM) * (BN / TN) * SLICES threads; 4 * BK * (BM + BN) bytes of workgroup
//                       memory; BK a multiple of 4 * SLICES
//   PAD                 vec4s left out behind each four of k, 4 * BK * PAD bytes: threads that stage neighbouring fours
//                       then meet different banks
//   AE, A_VEC, A_ALONG_K   how A is read. A_VEC false (AE = T): scalars, any strides, A_ALONG_K unused. A_VEC true
//                       (AE = vec4<T>): A_ALONG_K says which axis has stride 1 (k or m); that axis' length, the other
//                       strides and the offset must be multiples of 4. BE, B_VEC, B_ALONG_K: the same for B (k or n).
//   LX                  32 consecutive threads cover LX columns x (32 / LX) rows of the thread grid
//   GROUP               tiles are walked down GROUP rows of tiles at a time, so that both operands stay in the L2 cache
//   N4                  n is a multiple of 4: results leave as vec4s, through emit4
//   PV                  vec4s of parameters; the words from 24 on belong to codegen
//
// Parameters (group 1, u32 words):
//   0 m   1 n   2 k   3 batch (product of the three batch dimensions d0 d1 d2)
//   4 offset of A   5 row stride of A   6 column stride of A   7 offset of C
//   8 offset of B   9 row stride of B  10 column stride of B  11 left to codegen
//  12 13 14 strides of A along d0 d1 d2  15 d1
//  16 17 18 strides of B along d0 d1 d2  19 d2
//  20 terms in a piece of k (a multiple of 4)   21 pieces
// Offsets and strides are in elements. C is contiguous: element (z, row, column) is 7 + (z * m + row) * n + column,
// where z counts the pieces of k, each with its batch.
//
// Dispatch: ceil(m / BM) * ceil(n / BN) * batch * pieces workgroups, folded into x, y, z in any way that covers them.
//
// Hooks: emit(v, i) stores one element of C, emit4(v, i) four neighbours (i a multiple of 4); i is the linear index
// (word 7 included). a_one, a_vec, b_one, b_vec read one element, or four from a multiple of 4 on. Codegen replaces them.
//
// The lines between `unroll: begin` and `unroll: end` hold the looped form. gemm_inner.py writes the same with one
// variable per accumulator: private arrays indexed in loops cost 13 % on an H200 and many times more on SwiftShader.

alias T = f32;
alias AE = T;
alias BE = T;
const BM = 64u;
const BN = 64u;
const BK = 16u;
const TM = 8u;
const TN = 8u;
const LX = 8u;
const SLICES = 1u;
const PAD = 0u;
const A_VEC = false;
const A_ALONG_K = true;
const B_VEC = false;
const B_ALONG_K = false;
const GROUP = 8u;
const N4 = false;
const PV = 8u;

const TX = BN / TN;
const TY = BM / TM;
const NS = TX * TY;
const NT = NS * SLICES;
const LY = 32u / LX;
const AW = BM / 4u;
const W = AW + BN / 4u;
const KS = BK / SLICES;
const KB = BK / 4u;
const FOUR = 4u * W + PAD;
const A_BLOCKS = BM * BK / 16u;
const B_BLOCKS = BN * BK / 16u;
const PASSES = (A_BLOCKS + B_BLOCKS + NT - 1u) / NT;

@group(0) @binding(0) var<storage, read> a: array<AE>;
@group(0) @binding(1) var<storage, read> b: array<BE>;
@group(0) @binding(2) var<storage, read_write> c: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

// For each four of k: the vec4s of A, then those of B, of each k. At the end the slices leave their sums here.
var<workgroup> tile: array<vec4<T>, KB * FOUR>;

fn emit(v: T, i: u32) {
  c[i] = bitcast<u32>(v);
}

fn emit4(v: vec4<T>, i: u32) {
  emit(v.x, i);
  emit(v.y, i + 1u);
  emit(v.z, i + 2u);
  emit(v.w, i + 3u);
}

fn a_one(i: u32) -> T {
  return vec4<T>(a[i]).x;
}

fn a_vec(i: u32) -> vec4<T> {
  return vec4<T>(a[i / 4u]);
}

fn b_one(i: u32) -> T {
  return vec4<T>(b[i]).x;
}

fn b_vec(i: u32) -> vec4<T> {
  return vec4<T>(b[i / 4u]);
}

// Four neighbours along m (or n) for each of four consecutive k.
struct Block {
  k0: vec4<T>,
  k1: vec4<T>,
  k2: vec4<T>,
  k3: vec4<T>,
}

// Where this workgroup reads: first row and column of its tile, first elements of A's and B's matrix, end of its piece of k.
struct Tile {
  row: u32,
  col: u32,
  a: u32,
  b: u32,
  end: u32,
}

fn turned(r: Block) -> Block {
  return Block(vec4<T>(r.k0.x, r.k1.x, r.k2.x, r.k3.x), vec4<T>(r.k0.y, r.k1.y, r.k2.y, r.k3.y),
               vec4<T>(r.k0.z, r.k1.z, r.k2.z, r.k3.z), vec4<T>(r.k0.w, r.k1.w, r.k2.w, r.k3.w));
}

// Block number -> (column of blocks along m or n, row of blocks along k); neighbouring threads go along the axis with
// stride 1.
fn place(block: u32, width: u32, along_k: bool) -> vec2u {
  return select(vec2u(block % width, block / width), vec2u(block / KB, block % KB), along_k);
}

fn a_along_k() -> bool {
  return select(P[1].z == 1u, A_ALONG_K, A_VEC);
}

fn b_along_k() -> bool {
  return select(P[2].y == 1u, B_ALONG_K, B_VEC);
}

// Four elements from i on, step by step; zero past the end of k, whose (clamped) reads are thrown away: that costs less
// than a branch. Past the end of m or n they may be anything: they reach only sums that are not stored.
fn a_some(i: u32, step: u32, inside: bool) -> vec4<T> {
  return select(vec4<T>(), vec4<T>(a_one(i), a_one(i + step), a_one(i + 2u * step), a_one(i + 3u * step)), inside);
}

fn a_four(i: u32, inside: bool) -> vec4<T> {
  return select(vec4<T>(), a_vec(i), inside);
}

fn load_a(block: u32, k0: u32, at: Tile) -> Block {
  let k = at.end;
  let xk = place(block, AW, a_along_k());
  let z = k0 + xk.y * 4u;
  let sx = P[1].y;
  let sk = P[1].z;
  let i = at.a + (at.row + xk.x * 4u) * sx + z * sk;
  if (A_VEC && A_ALONG_K) {
    return turned(Block(a_four(i, z < k), a_four(i + sx, z < k),
                        a_four(i + 2u * sx, z < k), a_four(i + 3u * sx, z < k)));
  }
  if (A_VEC) {
    return Block(a_four(i, z < k), a_four(i + sk, z + 1u < k),
                 a_four(i + 2u * sk, z + 2u < k), a_four(i + 3u * sk, z + 3u < k));
  }
  return Block(a_some(i, sx, z < k), a_some(i + sk, sx, z + 1u < k),
               a_some(i + 2u * sk, sx, z + 2u < k), a_some(i + 3u * sk, sx, z + 3u < k));
}

fn b_some(i: u32, step: u32, inside: bool) -> vec4<T> {
  return select(vec4<T>(), vec4<T>(b_one(i), b_one(i + step), b_one(i + 2u * step), b_one(i + 3u * step)), inside);
}

fn b_four(i: u32, inside: bool) -> vec4<T> {
  return select(vec4<T>(), b_vec(i), inside);
}

fn load_b(block: u32, k0: u32, at: Tile) -> Block {
  let k = at.end;
  let xk = place(block, BN / 4u, b_along_k());
  let z = k0 + xk.y * 4u;
  let sx = P[2].z;
  let sk = P[2].y;
  let i = at.b + (at.col + xk.x * 4u) * sx + z * sk;
  if (B_VEC && B_ALONG_K) {
    return turned(Block(b_four(i, z < k), b_four(i + sx, z < k),
                        b_four(i + 2u * sx, z < k), b_four(i + 3u * sx, z < k)));
  }
  if (B_VEC) {
    return Block(b_four(i, z < k), b_four(i + sk, z + 1u < k),
                 b_four(i + 2u * sk, z + 2u < k), b_four(i + 3u * sk, z + 3u < k));
  }
  return Block(b_some(i, sx, z < k), b_some(i + sk, sx, z + 1u < k),
               b_some(i + 2u * sk, sx, z + 2u < k), b_some(i + 3u * sk, sx, z + 3u < k));
}

// Where a block begins at k = 0, and how far it moves with k.
fn start_a(block: u32, at: Tile) -> vec2u {
  let xk = place(block, AW, a_along_k());
  return vec2u(at.a + (at.row + xk.x * 4u) * P[1].y + xk.y * 4u * P[1].z, P[1].z);
}

fn start_b(block: u32, at: Tile) -> vec2u {
  let xk = place(block, BN / 4u, b_along_k());
  return vec2u(at.b + (at.col + xk.x * 4u) * P[2].z + xk.y * 4u * P[2].y, P[2].y);
}

fn start(block: u32, at: Tile) -> vec2u {
  if (block < A_BLOCKS) {
    return start_a(block, at);
  }
  return start_b(block - A_BLOCKS, at);
}

// A block from element i on, all of whose k are there.
fn fetch_a(i: u32) -> Block {
  let sx = P[1].y;
  let sk = P[1].z;
  if (A_VEC && A_ALONG_K) {
    return turned(Block(a_vec(i), a_vec(i + sx), a_vec(i + 2u * sx), a_vec(i + 3u * sx)));
  }
  if (A_VEC) {
    return Block(a_vec(i), a_vec(i + sk), a_vec(i + 2u * sk), a_vec(i + 3u * sk));
  }
  return Block(a_some(i, sx, true), a_some(i + sk, sx, true),
               a_some(i + 2u * sk, sx, true), a_some(i + 3u * sk, sx, true));
}

fn fetch_b(i: u32) -> Block {
  let sx = P[2].z;
  let sk = P[2].y;
  if (B_VEC && B_ALONG_K) {
    return turned(Block(b_vec(i), b_vec(i + sx), b_vec(i + 2u * sx), b_vec(i + 3u * sx)));
  }
  if (B_VEC) {
    return Block(b_vec(i), b_vec(i + sk), b_vec(i + 2u * sk), b_vec(i + 3u * sk));
  }
  return Block(b_some(i, sx, true), b_some(i + sk, sx, true),
               b_some(i + 2u * sk, sx, true), b_some(i + 3u * sk, sx, true));
}

fn fetch(block: u32, i: u32) -> Block {
  if (block < A_BLOCKS) {
    return fetch_a(i);
  }
  return fetch_b(i);
}

// The blocks of A come first, then those of B: one numbering deals them to the threads.
fn load(block: u32, k0: u32, at: Tile) -> Block {
  if (block < A_BLOCKS) {
    return load_a(block, k0, at);
  }
  return load_b(block - A_BLOCKS, k0, at);
}

fn keep(row: u32, x: u32, v: Block) {
  let i = row * FOUR + x;
  tile[i] = v.k0;
  tile[i + W] = v.k1;
  tile[i + 2u * W] = v.k2;
  tile[i + 3u * W] = v.k3;
}

fn stage(block: u32, v: Block) {
  if (block < A_BLOCKS) {
    let xk = place(block, AW, a_along_k());
    keep(xk.y, xk.x, v);
  } else if (block < A_BLOCKS + B_BLOCKS) {
    let xk = place(block - A_BLOCKS, BN / 4u, b_along_k());
    keep(xk.y, AW + xk.x, v);
  }
}

// Four neighbouring columns of row `row`; z is the number of the matrix.
fn put(v: vec4<T>, z: u32, row: u32, col: u32) {
  let n = P[0].y;
  if (row >= P[0].x) {
    return;
  }
  let i = P[1].w + (z * P[0].x + row) * n + col;
  if (N4) {
    if (col < n) { emit4(v, i); }
    return;
  }
  if (col < n) { emit(v.x, i); }
  if (col + 1u < n) { emit(v.y, i + 1u); }
  if (col + 2u < n) { emit(v.z, i + 2u); }
  if (col + 3u < n) { emit(v.w, i + 3u); }
}

@compute @workgroup_size(NT)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u,
        @builtin(local_invocation_index) li: u32) {
  let rows = (P[0].x + BM - 1u) / BM;
  let cols = (P[0].y + BN - 1u) / BN;
  let t = wid.x + nwg.x * (wid.y + nwg.y * wid.z);
  if (t >= rows * cols * P[0].w * P[5].y) {
    return;
  }
  let z = t / (rows * cols);
  let r = t % (rows * cols);
  let first = r / (GROUP * cols) * GROUP;
  let high = min(GROUP, rows - first);
  let q = r % (GROUP * cols);
  let y = z % P[0].w;
  let d = vec3u(y / (P[3].w * P[4].w), y / P[4].w % P[3].w, y % P[4].w);
  let begin = z / P[0].w * P[5].x;
  let end = min(begin + P[5].x, P[0].z);
  let at = Tile((first + q % high) * BM, q / high * BN,
                P[1].x + d.x * P[3].x + d.y * P[3].y + d.z * P[3].z,
                P[2].x + d.x * P[4].x + d.y * P[4].y + d.z * P[4].z, end);
  let slice = li / NS;
  let lj = li % NS;
  let tx = lj % LX + LX * (lj / 32u % (TX / LX));
  let ty = lj / LX % LY + LY * (lj / (LY * TX));
  // unroll: begin
  var sum: array<vec4<T>, TM * TN / 4u>;
  for (var k0 = begin; k0 < end; k0 += BK) {
    for (var p = 0u; p < PASSES; p++) {
      stage(li + p * NT, load(li + p * NT, k0, at));
    }
    workgroupBarrier();
    for (var kk = 0u; kk < KS; kk++) {
      for (var i = 0u; i < TM; i++) {
        let y = slice * (KS / 4u) * FOUR + kk / 4u * FOUR + kk % 4u * W;
        let x = tile[y + i / 4u * TY + ty][i % 4u];
        for (var j = 0u; j < TN / 4u; j++) {
          sum[i * (TN / 4u) + j] += x * tile[y + AW + j * TX + tx];
        }
      }
    }
    workgroupBarrier();
  }
  for (var s = 1u; s < SLICES; s++) {
    for (var e = 0u; e < TM * TN / 4u; e++) {
      if (slice == s) { tile[lj] = sum[e]; }
      workgroupBarrier();
      if (slice == 0u) { sum[e] += tile[lj]; }
      workgroupBarrier();
    }
  }
  if (slice > 0u) {
    return;
  }
  for (var i = 0u; i < TM; i++) {
    for (var j = 0u; j < TN / 4u; j++) {
      put(sum[i * (TN / 4u) + j], z, at.row + (i / 4u * TY + ty) * 4u + i % 4u, at.col + (j * TX + tx) * 4u);
    }
  }
  // unroll: end
}
