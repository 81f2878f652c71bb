// lu_panel: the columns j .. j + w of an LU factorisation with partial pivoting, by one workgroup a matrix. Columns lie as
// rows of `l` (m elements each), and no row ever moves: table[r] is the place of row r in the order that LAPACK's exchanges
// make, table[m + p] the row at place p. A row whose place is below the current column was a pivot before.
//
// A column is brought up to date when its turn comes (left looking), and its greatest element found in the same pass; on the
// way the column before it is divided by its pivot. Ties go to the first place, as in LAPACK; a NaN is greatest.
//
// Parameters (group 1, u32 words), elements of E:
//    0 m   1 row stride of the result   2 j   3 w
//    4 batch stride of l   5 words of the table a batch   6 batch stride of the result   7 batches
//    8 first word of the pivots (places exchanged with) in the table, behind them the verdict: 0, or the first zero pivot's
//      number from 1
// Dispatch: a workgroup a batch, folded into x, y, z. The pivots' rows right of the diagonal go to the result.

alias E = f32;
const K = 16u;
const WG = 256u;
const PV = 3u;
// use div, ieee

@group(0) @binding(0) var<storage, read_write> l: array<E>;
@group(0) @binding(1) var<storage, read_write> table: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<E>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

var<workgroup> upper: array<E, K * K>;
var<workgroup> keys: array<u32, WG>;
var<workgroup> spots: array<u32, WG>;
var<workgroup> owners: array<u32, WG>;
// arithmetic: begin
fn less(s: E, a: E, b: E) -> E { return s - a * b; }
fn over(y: E, d: E) -> E { return div_f32(y, d); }
fn magnitude(a: E) -> u32 { return bitcast<u32>(a) & 0x7fffffffu; }
// arithmetic: end

struct Best { key: u32, spot: u32, row: u32 }
// Whether a candidate is better: greater, or as great and before.
fn better(key: u32, spot: u32, than: Best) -> bool { return key > than.key || (key == than.key && spot < than.spot); }

// winner: begin
fn winner(li: u32, b: Best) -> Best {
  keys[li] = b.key;
  spots[li] = b.spot;
  owners[li] = b.row;
  for (var step = WG / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (li < step) {
      let o = li + step;
      if (better(keys[o], spots[o], Best(keys[li], spots[li], 0u))) {
        keys[li] = keys[o];
        spots[li] = spots[o];
        owners[li] = owners[o];
      }
    }
  }
  workgroupBarrier();
  return Best(keys[0], spots[0], owners[0]);
}
// winner: end

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) li: u32) {
  let z = g.x + ng.x * (g.y + ng.y * g.z);
  if (z >= P[1].w) { return; }
  let m = P[0].x;
  let j = P[0].z;
  let width = P[0].w;
  let base = z * P[1].x + j * m;
  let posts = z * P[1].y;
  let to = z * P[1].z + j * P[0].y + j;
  for (var c = 0u; c <= width; c++) {
    var best = Best(0u, 0xffffffffu, 0u);
    for (var r = li; r < m; r += WG) {
      let spot = table[posts + r];
      if (spot < j + c) { continue; }
      let here = base + r;
      var v = E();
      if (c < width) { v = l[here + c * m]; }
      if (c > 0u) {
        let pivot = upper[(c - 1u) * K + c - 1u];
        var before = l[here + (c - 1u) * m];
        if (magnitude(pivot) != 0u) { before = over(before, pivot); }
        l[here + (c - 1u) * m] = before;
        if (c == width) { continue; }
        for (var k = 0u; k + 1u < c; k++) { v = less(v, l[here + k * m], upper[k * K + c]); }
        v = less(v, before, upper[(c - 1u) * K + c]);
        l[here + c * m] = v;
      }
      let key = magnitude(v);
      if (better(key, spot, best)) { best = Best(key, spot, r); }
    }
    if (c == width) { break; }
    storageBarrier();
    let top = winner(li, best);
    if (li >= c && li < width) {
      var v = l[base + top.row + li * m];
      if (li > c) {
        for (var k = 0u; k < c; k++) { v = less(v, l[base + top.row + k * m], upper[k * K + li]); }
      }
      upper[c * K + li] = v;
      result[to + c * P[0].y + li] = v;
    }
    if (li == 0u) {
      let place = j + c;
      let other = table[posts + m + place];
      table[posts + m + place] = top.row;
      table[posts + m + top.spot] = other;
      table[posts + other] = top.spot;
      table[posts + top.row] = place;
      table[posts + P[2].x + place] = top.spot;
      if (top.key == 0u && table[posts + P[2].y] == 0u) { table[posts + P[2].y] = place + 1u; }
    }
    storageBarrier();
    workgroupBarrier();
  }
}
