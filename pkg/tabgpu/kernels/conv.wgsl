// conv: C[y, m, n] = A[y, m, k] @ B[y, k, n], where B is never in memory: convolutions, their transposes and gradients.
//
// A (weights, or an upstream gradient) is a stored matrix. An element of B is one of `b` under a walk: a column is
// (channel, q0, q1, q2), a term of k is (channel, j0, j1, j2), and on axis a the element's coordinate is
//     q * M + F + j * N,   zero where that is outside 0 .. I.
// conv: q output position, j tap. Gradient of the weight: q tap, j output position. Transposed, gradient of the
// input: q position, j tap, N < 0; with strides every position modulo the stride is a *phase* of its own (PHASES), which
// meets only some of the taps. y counts images, groups and phases.
//
// Tiled: as gemm.wgsl, whose inner text (gemm_inner.py) stands in the block `unroll`; B's addresses are computed where
// its blocks are staged. Alone (the default text): a thread makes BM x BN by itself, without barriers.
//
// Padding is zeros, but no term: 0 * NaN and 0 * Inf must not count. A sum that is NaN is therefore made again term by term.
//
// Tunables: T, AE, BM .. SLICES, PAD as gemm.   A_VEC: A as vec4s along k (k, the pieces and A's strides multiples of 4)
//   A_LINEAR  term t of A's row lies t behind its first   A_ALONG_K, B_ALONG_K  which axis neighbouring threads stage
//   RANK      axes in use, the last ones   PADDED  whether some element may be outside   PHASES
//   ALONE     tiles are dealt to threads   LEVEL  four columns are neighbours along the last axis
//   LONG      k may be 2^22 or more   N4, PV as gemm
//   DIRECT    tiles are HIGH x WIDE positions of two axes (conv_direct_inner.py: filters of 3 x 3)
//
// Parameters (group 1, u32 words; those from 76 on belong to codegen):
//   0 m   1 n (columns of a phase)   2 k   3 number of y   4 groups   5 phases   6 terms in a piece of k   7 elements of C
//   8 A: stride of rows   9 of groups  10 of images  11 left to codegen
//  12 B: first element  13 stride of groups  14 of images  15 A: stride of k's channel
//  16.. D: sizes of q    19 B: stride of a column's channel
//  20.. M                23 B: stride of a term's channel
//  24.. F (PHASES: padding)   28.. E: sizes of j   32.. N * S   36.. 1 / E (f32)   40.. I   44.. S: strides of b
//  48.. A: strides of j       52.. N
//  PHASES: 56.. stride  60.. dilation  64.. output sizes  68.. taps  72.. A: strides of taps; j then steps over
//  stride / gcd(stride, dilation) taps
// Dispatch: ceil(m / BM) * ceil(n / BN) * y * pieces tiles, one a workgroup or one a thread, folded into x, y, z.
// Hooks: emit, emit4, a_one, a_vec, b_one as in gemm.

alias T = f32;
alias AE = T;
const BM = 1u;
const BN = 4u;
const BK = 4u;
const TM = 1u;
const TN = 4u;
const LX = 1u;
const SLICES = 1u;
const PAD = 0u;
const NT = 64u;
const A_VEC = false;
const A_LINEAR = true;
const A_ALONG_K = true;
const B_ALONG_K = false;
const RANK = 2u;
const PADDED = true;
const PHASES = false;
const LONG = false;
const LEVEL = false;
const N4 = false;
const ALONE = true;
const DIRECT = false;
const HIGH = 1u;
const WIDE = 4u;
const PV = 19u;

const TX = BN / TN;
const TY = BM / TM;
const NS = TX * TY;
const LY = 32u / LX;
const AW = BM / 4u;
const W = AW + BN / 4u;
const KB = BK / 4u;
const FOUR = 4u * W + PAD;
const A_BLOCKS = BM * BK / 16u;
const B_BLOCKS = BN * BK / 16u;

@group(0) @binding(0) var<storage, read> a: array<AE>;
@group(0) @binding(1) var<storage, read> b: array<T>;
@group(0) @binding(2) var<storage, read_write> c: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

var<workgroup> tile: array<vec4<T>, KB * FOUR>;

fn emit(v: T, i: u32) { c[i] = bitcast<u32>(v); }
fn emit4(v: vec4<T>, i: u32) {
  emit(v.x, i);
  emit(v.y, i + 1u);
  emit(v.z, i + 2u);
  emit(v.w, i + 3u);
}
fn a_one(i: u32) -> T { return vec4<T>(a[i]).x; }
fn a_vec(i: u32) -> vec4<T> { return vec4<T>(a[i / 4u]); }
fn b_one(i: u32) -> T { return b[i]; }

// Four neighbours along m or n for each of four terms, and a bit for each that counts: asked only when they are staged, so
// that nothing waits for the reads before.
struct Block { k0: vec4<T>, k1: vec4<T>, k2: vec4<T>, k3: vec4<T>, ok: u32 }
// A tile: first row and column, first elements of A and B, the terms it adds; of its phase: F, first tap, position.
struct Tile { row: u32, col: u32, a: u32, b: u32, begin: u32, end: u32, f: vec3i, tap: vec3u, phase: vec3u }
// Four neighbouring columns (or rows of A): the first element of each, its coordinates, and the first term of k.
struct Walk { k: u32, at: vec4u, x0: vec4i, x1: vec4i, x2: vec4i }
// A term of k: what it adds to addresses in A and B and to coordinates, and whether there is such a term.
struct Term { a: u32, b: u32, x: vec3i, there: bool }
var<private> here: Tile;

fn over(k: u32, axis: u32) -> u32 { // k / E: products of floats are exact enough below 2^22
  if (LONG) { return k / P[7][axis]; }
  return u32((f32(k) + 0.5f) * bitcast<f32>(P[9][axis]));
}

fn term(k: u32) -> Term {
  var left = over(k, 2u);
  var j = vec3u(0u, 0u, k - left * P[7].z);
  if (RANK > 1u) {
    let next = over(left, 1u);
    j.y = left - next * P[7].y;
    left = next;
  }
  if (RANK > 2u) {
    let next = over(left, 0u);
    j.x = left - next * P[7].x;
    left = next;
  }
  var found = Term(k, left * P[5].w + j.z * P[8].z, vec3i(0, 0, bitcast<i32>(j.z * P[13].z)), k < here.end);
  if (RANK > 1u) {
    found.b += j.y * P[8].y;
    found.x.y = bitcast<i32>(j.y * P[13].y);
  }
  if (RANK > 2u) {
    found.b += j.x * P[8].x;
    found.x.x = bitcast<i32>(j.x * P[13].x);
  }
  if (!A_LINEAR) { found.a = left * P[3].w + j.x * P[12].x + j.y * P[12].y + j.z * P[12].z; }
  if (PHASES) { found.there = found.there && all(here.tap + j * period() < P[17].xyz); }
  return found;
}

fn one_divisor(x: u32, y: u32) -> u32 {
  var p = x;
  var q = y;
  for (var i = 0u; i < 64u && q != 0u; i++) {
    let r = p % q;
    p = q;
    q = r;
  }
  return p;
}
fn period() -> vec3u {
  return vec3u(P[14].x / one_divisor(P[14].x, P[15].x), P[14].y / one_divisor(P[14].y, P[15].y),
               P[14].z / one_divisor(P[14].z, P[15].z));
}

fn place_of(col: u32) -> vec4u { // channel, q
  let z = col / P[4].z;
  if (RANK == 1u) { return vec4u(z, 0u, 0u, col - z * P[4].z); }
  let y = z / P[4].y;
  if (RANK == 2u) { return vec4u(y, 0u, z - y * P[4].y, col - z * P[4].z); }
  let x = y / P[4].x;
  return vec4u(x, y - x * P[4].x, z - y * P[4].y, col - z * P[4].z);
}

fn columns(col: u32) -> Walk {
  var found = Walk();
  for (var e = 0u; e < 4u; e++) {
    let q = place_of(col + e);
    let x = bitcast<vec3i>(q.yzw * P[5].xyz) + here.f;
    let s = bitcast<vec3u>(x) * P[11].xyz;
    found.at[e] = here.b + q.x * P[4].w + s.x + s.y + s.z;
    found.x0[e] = x.x;
    found.x1[e] = x.y;
    found.x2[e] = x.z;
  }
  return found;
}

fn inside(w: Walk, t: Term) -> vec4<bool> {
  var ok = vec4<bool>(t.there);
  if (PADDED) {
    ok = ok & (bitcast<vec4u>(w.x2 + t.x.z) < vec4u(P[10].z));
    if (LEVEL) {
      if (RANK > 1u) { ok = ok & vec4<bool>(bitcast<u32>(w.x1.x + t.x.y) < P[10].y); }
      if (RANK > 2u) { ok = ok & vec4<bool>(bitcast<u32>(w.x0.x + t.x.x) < P[10].x); }
    } else {
      if (RANK > 1u) { ok = ok & (bitcast<vec4u>(w.x1 + t.x.y) < vec4u(P[10].y)); }
      if (RANK > 2u) { ok = ok & (bitcast<vec4u>(w.x0 + t.x.x) < vec4u(P[10].x)); }
    }
  }
  return ok;
}

fn four(w: Walk, t: Term) -> vec4<T> {
  let i = w.at + t.b;
  return vec4<T>(b_one(i.x), b_one(i.y), b_one(i.z), b_one(i.w));
}
fn gather(w: Walk, t: Term) -> vec4<T> { return select(vec4<T>(), four(w, t), inside(w, t)); }

fn turned(r: Block) -> Block {
  return Block(vec4<T>(r.k0.x, r.k1.x, r.k2.x, r.k3.x), vec4<T>(r.k0.y, r.k1.y, r.k2.y, r.k3.y),
               vec4<T>(r.k0.z, r.k1.z, r.k2.z, r.k3.z), vec4<T>(r.k0.w, r.k1.w, r.k2.w, r.k3.w), r.ok);
}
const BITS = vec4u(1u, 2u, 4u, 8u);
fn bits(ok: vec4<bool>) -> u32 {
  let b = select(vec4u(), BITS, ok);
  return b.x | b.y | b.z | b.w;
}
fn counted(v: vec4<T>, ok: u32) -> vec4<T> { return select(vec4<T>(), v, (vec4u(ok) & BITS) != vec4u()); }
fn masked(v: Block) -> Block {
  return Block(counted(v.k0, v.ok), counted(v.k1, v.ok >> 4u), counted(v.k2, v.ok >> 8u), counted(v.k3, v.ok >> 12u), v.ok);
}
fn place(block: u32, width: u32, along_k: bool) -> vec2u {
  return select(vec2u(block % width, block / width), vec2u(block / KB, block % KB), along_k);
}
fn row_walk(first: u32) -> Walk { return Walk(0u, vec4u(first), vec4i(), vec4i(), vec4i()); }
fn start_a(block: u32, at: Tile) -> Walk {
  let xk = place(block, AW, A_ALONG_K);
  var w = row_walk(at.a + (at.row + xk.x * 4u) * P[2].x);
  w.k = xk.y * 4u;
  return w;
}
fn start_b(block: u32, at: Tile) -> Walk {
  let xk = place(block, BN / 4u, B_ALONG_K);
  var w = columns(at.col + xk.x * 4u);
  w.k = xk.y * 4u;
  return w;
}
fn start(block: u32, at: Tile) -> Walk {
  if (block < A_BLOCKS) { return start_a(block, at); }
  return start_b(block - A_BLOCKS, at);
}
fn a_some(i: u32, t: Term) -> vec4<T> {
  let s = P[2].x;
  let o = i + t.a;
  return vec4<T>(a_one(o), a_one(o + s), a_one(o + 2u * s), a_one(o + 3u * s));
}
fn a_term(k: u32) -> Term {
  if (A_LINEAR) { return Term(k, 0u, vec3i(), k < here.end); }
  return term(k);
}
fn load_a(w: Walk, k0: u32) -> Block {
  let k = k0 + w.k;
  let i = w.at.x;
  let t0 = a_term(k);
  if (A_VEC) {
    let o = i + t0.a;
    let s = P[2].x;
    return turned(Block(a_vec(o), a_vec(o + s), a_vec(o + 2u * s), a_vec(o + 3u * s), select(0u, 0xffffu, t0.there)));
  }
  let t1 = a_term(k + 1u);
  let t2 = a_term(k + 2u);
  let t3 = a_term(k + 3u);
  let ok = select(0u, 15u, t0.there) | select(0u, 240u, t1.there) | select(0u, 3840u, t2.there) | select(0u, 61440u, t3.there);
  return Block(a_some(i, t0), a_some(i, t1), a_some(i, t2), a_some(i, t3), ok);
}
fn load_b(w: Walk, k0: u32) -> Block {
  let k = k0 + w.k;
  let t0 = term(k);
  let t1 = term(k + 1u);
  let t2 = term(k + 2u);
  let t3 = term(k + 3u);
  let ok = bits(inside(w, t0)) | (bits(inside(w, t1)) << 4u) | (bits(inside(w, t2)) << 8u) | (bits(inside(w, t3)) << 12u);
  return Block(four(w, t0), four(w, t1), four(w, t2), four(w, t3), ok);
}
fn load(block: u32, w: Walk, k0: u32) -> Block {
  if (block < A_BLOCKS) { return load_a(w, k0); }
  return load_b(w, k0);
}
fn keep(row: u32, x: u32, v: Block) {
  let i = row * FOUR + x;
  tile[i] = v.k0;
  tile[i + W] = v.k1;
  tile[i + 2u * W] = v.k2;
  tile[i + 3u * W] = v.k3;
}
fn stage(block: u32, raw: Block) {
  let v = masked(raw);
  if (block < A_BLOCKS) {
    let xk = place(block, AW, A_ALONG_K);
    keep(xk.y, xk.x, v);
  } else if (block < A_BLOCKS + B_BLOCKS) {
    let xk = place(block - A_BLOCKS, BN / 4u, B_ALONG_K);
    keep(xk.y, AW + xk.x, v);
  }
}

// Four columns of one row without the terms that are padding.
fn again(row: u32, col: u32) -> vec4<T> {
  let w = columns(col);
  let first = here.a + row * P[2].x;
  var sum = vec4<T>();
  for (var k0 = here.begin; k0 < here.end; k0 += 32768u) { // a loop may end after 65,535 rounds (Mesa's CPU driver)
    for (var k = k0; k < min(here.end, k0 + 32768u); k++) {
      let t = term(k);
      let ok = inside(w, t);
      if (any(ok)) { sum += select(vec4<T>(), a_one(first + t.a) * gather(w, t), ok); }
    }
  }
  return sum;
}

// The first `count` of four columns of a row.
fn put_some(sum: vec4<T>, z: u32, row: u32, col: u32, count: u32) {
  var v = sum;
  if (PADDED && any((bitcast<vec4u>(v) & vec4u(0x7fffffffu)) > vec4u(0x7f800000u))) { v = again(row, col); }
  if (PHASES) {
    let first = z / P[0].w * P[1].w + (z % P[0].w / P[1].y * P[0].x + row) * (P[16].x * P[16].y * P[16].z);
    for (var e = 0u; e < min(4u, count); e++) {
      let o = place_of(col + e).yzw * P[14].xyz + here.phase;
      if (all(o < P[16].xyz)) { emit(v[e], first + (o.x * P[16].y + o.y) * P[16].z + o.z); }
    }
    return;
  }
  let i = (z * P[0].x + row) * P[0].y + col;
  if (N4) {
    emit4(v, i);
    return;
  }
  emit(v.x, i);
  if (1u < count) { emit(v.y, i + 1u); }
  if (2u < count) { emit(v.z, i + 2u); }
  if (3u < count) { emit(v.w, i + 3u); }
}
fn put(sum: vec4<T>, z: u32, row: u32, col: u32) {
  if (row < P[0].x && col < P[0].y) { put_some(sum, z, row, col, P[0].y - col); }
}
fn across() -> u32 {
  if (DIRECT) { return (P[4].y + HIGH - 1u) / HIGH * ((P[4].z + WIDE - 1u) / WIDE); }
  return (P[0].y + BN - 1u) / BN;
}

// The first tap that the positions of a phase meet, on one axis; the number of taps if there is none.
fn first_tap(axis: u32, phase: u32, p: u32) -> u32 {
  for (var t = 0u; t < p; t++) {
    if ((phase + P[6][axis] + (P[14][axis] - P[15][axis] % P[14][axis]) * t) % P[14][axis] == 0u) { return t; }
  }
  return P[17][axis];
}

@compute @workgroup_size(NT)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u,
        @builtin(local_invocation_index) li: u32) {
  // which: begin
  let t = (wid.x + nwg.x * (wid.y + nwg.y * wid.z)) * NT + li;
  // which: end
  let rows = (P[0].x + BM - 1u) / BM;
  let cols = across();
  let begin = t / (rows * cols * P[0].w) * P[1].z;
  let end = min(begin + P[1].z, P[0].z);
  if (begin >= end) {
    return;
  }
  let z = t / (rows * cols);
  let r = t % (rows * cols);
  let y = z % P[0].w;
  let image = y / P[1].y / P[1].x;
  let group = y / P[1].y % P[1].x;
  let own = select(vec2u(r % rows, r / rows), vec2u(r / cols, r % cols), ALONE);
  var at = Tile(own.x * BM, own.y * BN, group * P[2].y + image * P[2].z,
                P[3].x + group * P[3].y + image * P[3].z, begin, end, bitcast<vec3i>(P[6].xyz), vec3u(), vec3u());
  if (PHASES) {
    let phase = y % P[1].y;
    at.phase = vec3u(phase / P[14].z / P[14].y, phase / P[14].z % P[14].y, phase % P[14].z);
    let every = period();
    at.tap = vec3u(first_tap(0u, at.phase.x, every.x), first_tap(1u, at.phase.y, every.y),
                   first_tap(2u, at.phase.z, every.z));
    at.f = (bitcast<vec3i>(at.phase + P[6].xyz) - bitcast<vec3i>(at.tap * P[15].xyz)) / bitcast<vec3i>(P[14].xyz);
    let taps = at.tap * P[18].xyz;
    at.a += taps.x + taps.y + taps.z;
  }
  here = at;
  // unroll: begin
  let w = columns(at.col);
  let first = at.a + at.row * P[2].x;
  for (var i = 0u; i < BM; i++) {
    var sum = vec4<T>();
    for (var k = begin; k < end; k++) {
      let t = term(k);
      sum += a_one(first + i * P[2].x + t.a) * gather(w, t);
    }
    put(sum, z, at.row + i, at.col);
  }
  // unroll: end
}
