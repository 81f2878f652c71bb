// eliminate: one step of a blocked factorisation or substitution: w rows U of a right-hand side are solved with a
// w x w triangle, then W -= L U in all rows below. Three uses, all in place in W:
//   SOLVE       a triangular system: L is any operand with strides (so lower, upper, transposed are one), U goes to x
//   SOLVE, LU   one panel of an LU factorisation: the rows of U are where the pivots are (`meta`); rows that were pivots
//               before stay; columns of the next panel go to L, which holds columns as rows, and not to W
//   neither     one panel of a Cholesky factorisation: U is the panel's conjugate transpose; tiles above the diagonal rest
//
// A workgroup makes one BM x BN tile. It solves its own columns of U (each thread one, in registers): K is small, so that
// this costs less than a launch of its own. Operands lie in workgroup memory as fours along k.
//
// Parameters (group 1, u32 words), elements of E:
//    0 rows of L and W   1 columns of W   2 j, the first row of U   3 w <= K
//    4 offset of L   5 row stride   6 column stride   7 batch stride
//    8 offset of W   9 row stride  10 batch stride   11 first column of the tiles
//   12 offset of x  13 row stride  14 batch stride   15 tiles of rows
//   16 tiles of columns  17 batches  18 bits: 1 unit diagonal, 2 conjugate L   19 first row of the tiles
//   20 first column that goes to W  21 words of meta a batch
// Dispatch: words 15 * 16 * 17 workgroups, folded into x, y, z.

alias E = f32;
alias Q = vec4f;
const K = 32u;
const BM = 64u;
const BN = 64u;
const SOLVE = true;
const LU = false;
const TX = BN / 4u;
const TY = BM / 4u;
const NT = TX * TY;
const KQ = K / 4u;
const PV = 6u;
// use div, ieee

@group(0) @binding(0) var<storage, read_write> l: array<E>;
@group(0) @binding(1) var<storage, read_write> w: array<E>;
// solved: begin
@group(0) @binding(2) var<storage, read_write> x: array<E>;
// solved: end
// pivots: begin
@group(0) @binding(3) var<storage, read_write> table: array<u32>;
var<workgroup> places: array<u32, K>;
// pivots: end
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

var<workgroup> lt: array<Q, BM * KQ>;
var<workgroup> ut: array<Q, BN * KQ>;
// arithmetic: begin
fn conjugate(a: E) -> E { return a; }
fn four(a: E, b: E, c: E, d: E) -> Q { return Q(a, b, c, d); }
fn less(s: E, a: E, b: E) -> E { return s - a * b; }
fn less_four(y: Q, t: E, c: Q) -> Q { return y - t * c; }
fn less_dot(s: E, a: Q, b: Q) -> E { return s - a.x * b.x - a.y * b.y - a.z * b.z - a.w * b.w; }
fn one() -> E { return 1.0f; }
fn inverse(d: E) -> E { return div_f32(1.0f, d); }
fn over(y: E, d: E, r: E) -> E {
  let q = y * r;
  return pick_f32(q, fma(fma(-q, d, y), r, q), isfinite_f32(q));
}
// arithmetic: end

fn slot(i: u32, q: u32) -> u32 { return i * KQ + (q ^ (i & (KQ - 1u))); }
fn place(k: u32) -> u32 {
  // place: begin
  if (LU) { return places[k]; }
  // place: end
  return P[0].z + k;
}
fn left(i: u32, k: u32, base: u32) -> E {
  let v = l[base + i * P[1].y + k * P[1].z];
  if ((P[4].z & 2u) != 0u) { return conjugate(v); }
  return v;
}

// An element of the panel's columns, and of its triangle without the diagonal; 0 outside.
fn below(i: u32, k: u32, base: u32) -> E {
  if (i < P[0].x && k < P[0].w) { return left(i, P[0].z + k, base); }
  return E();
}
fn strict(i: u32, k: u32, base: u32) -> E {
  if (i > k && i < P[0].w) { return left(place(i), P[0].z + k, base); }
  return E();
}
fn right(live: bool, k: u32, at: u32) -> E {
  if (live && k < P[0].w) { return w[at + place(k) * P[2].y]; }
  return E();
}
// Whether a row is to be changed; then a thread's output e, whose first one is at (row, col), before and after.
fn living(row: u32, posts: u32) -> bool {
  if (row >= P[0].x) { return false; }
  // active: begin
  if (LU) { return table[posts + row] >= P[0].z + P[0].w; }
  // active: end
  return true;
}
fn old(on: bool, at: u32, col: u32, e: u32) -> E {
  if (!on || col + e % 4u * TX >= P[0].y) { return E(); }
  return w[at + e / 4u * TY * P[2].y + e % 4u * TX];
}
fn keep(v: E, on: bool, at: u32, row: u32, col: u32, e: u32, base: u32) {
  let k = col + e % 4u * TX;
  if (!on || k >= P[0].y) { return; }
  // next: begin
  if (LU && k < P[5].x) {
    l[base + (row + e / 4u * TY) * P[1].y + k * P[1].z] = v;
    return;
  }
  // next: end
  w[at + e / 4u * TY * P[2].y + e % 4u * TX] = v;
}
// put: begin
fn put(k: u32, at: u32, v: Q) {
  for (var h = 0u; h < 4u; h++) {
    if (k + h < P[0].w) { x[at + (P[0].z + k + h) * P[3].y] = v[h]; }
  }
}
// put: end

@compute @workgroup_size(NT)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) li: u32) {
  let tiles = P[3].w * P[4].x;
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  if (job >= tiles * P[4].y) { return; }
  let z = job / tiles;
  let first_rows = job % tiles % P[3].w == 0u;
  let row0 = P[4].w + job % tiles % P[3].w * BM;
  let col0 = P[2].w + job % tiles / P[3].w * BN;
  if (!SOLVE && col0 >= row0 + BM) { return; }
  let base = P[1].x + z * P[1].w;
  let wbase = P[2].x + z * P[2].z;
  let rows = P[0].x;
  let cols = P[0].y;
  let j = P[0].z;
  let width = P[0].w;
  let posts = z * P[5].y;
  // chosen: begin
  for (var k = li; k < K; k += NT) { places[k] = table[posts + rows + min(j + k, rows - 1u)]; }
  workgroupBarrier();
  // chosen: end
  // solving: begin
  if (SOLVE) {
    for (var e = li; e < K * KQ; e += NT) {
      let k = e / KQ;
      let i = e % KQ * 4u;
      lt[e] = four(strict(i, k, base), strict(i + 1u, k, base), strict(i + 2u, k, base), strict(i + 3u, k, base));
    }
    for (var k = li; k < K; k += NT) {
      var d = one();
      if (k < width && (P[4].z & 1u) == 0u) { d = left(place(k), j + k, base); }
      lt[K * KQ + k] = four(d, inverse(d), E(), E());
    }
    workgroupBarrier();
    if (li < BN) {
      let col = col0 + li;
      let live = col < cols;
      let final_ = live && first_rows;
      let xbase = P[3].x + z * P[3].z + col;
      // columns: begin
      var y: array<Q, KQ>;
      for (var k = 0u; k < K; k++) { y[k / 4u][k % 4u] = right(live, k, wbase + col); }
      for (var k = 0u; k < K; k++) {
        let t = over(y[k / 4u][k % 4u], lt[K * KQ + k][0], lt[K * KQ + k][1]);
        y[k / 4u][k % 4u] = t;
        for (var h = k + 1u; h < K; h++) { y[h / 4u][h % 4u] = less(y[h / 4u][h % 4u], t, lt[k * KQ + h / 4u][h % 4u]); }
      }
      for (var q = 0u; q < KQ; q++) {
        ut[slot(li, q)] = y[q];
        if (final_) { put(q * 4u, xbase, y[q]); }
      }
      // columns: end
    }
  }
  // solving: end
  if (!SOLVE) {
    for (var e = li; e < BN * KQ; e += NT) {
      let c = e / KQ;
      let k = e % KQ * 4u;
      let i = col0 + c;
      ut[slot(c, k / 4u)] = four(conjugate(below(i, k, base)), conjugate(below(i, k + 1u, base)),
                                 conjugate(below(i, k + 2u, base)), conjugate(below(i, k + 3u, base)));
    }
  }
  if (row0 >= rows) { return; }
  workgroupBarrier();
  for (var e = li; e < BM * KQ; e += NT) {
    var i = e / KQ;
    var q = e % KQ;
    if (P[1].y + 1u <= 2u) {
      i = e % BM;
      q = e / BM;
    }
    let k = q * 4u;
    lt[slot(i, q)] = four(below(row0 + i, k, base), below(row0 + i, k + 1u, base),
                          below(row0 + i, k + 2u, base), below(row0 + i, k + 3u, base));
  }
  workgroupBarrier();
  let tx = li % TX;
  let ty = li / TX;
  let row = row0 + ty;
  let col = col0 + tx;
  let at = wbase + row * P[2].y + col;
  // multiply: begin
  var s: array<E, 16>;
  for (var e = 0u; e < 16u; e++) { s[e] = old(living(row + e / 4u * TY, posts), at, col, e); }
  for (var q = 0u; q < KQ; q++) {
    for (var e = 0u; e < 16u; e++) {
      s[e] = less_dot(s[e], lt[slot(ty + e / 4u * TY, q)], ut[slot(tx + e % 4u * TX, q)]);
    }
  }
  for (var e = 0u; e < 16u; e++) { keep(s[e], living(row + e / 4u * TY, posts), at, row, col, e, base); }
  // multiply: end
}
