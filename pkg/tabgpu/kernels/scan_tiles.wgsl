// scan_tiles: running combinations along rows of N elements in one pass over memory: tile after tile, four neighbours a load.
//
// LANES threads share a row, or a chunk of CHUNK elements of a long one; WG / LANES rows share a workgroup. A tile is
// LANES * R * 4 elements: a thread combines its R quads, the quads' totals are scanned across the lanes, and `run` carries
// over to the next tile. A long row takes passes: TOTALS writes one total a chunk, the same kernel scans those (few: nobody,
// see GATHER), and the last pass starts each chunk from its CARRY. No workgroup waits for another. Operands keep their order, so combine need not
// commute (with COMMUTES, totals take any order). Columns: scan_columns. CPU adapters: scan_serial.
//
// Positions are counted from the row's end if P[0].w is set: a row is then PAD elements later, so that quads stay aligned.
// Parameters (group 1, u32 words):
//   0 N   1 rows   2 chunks a row (1 unless LANES = WG)   3 whether to walk from the last element to the first
//   4 elements of a row of dst   5 position in dst of the first result (1: what precedes it gets the initial value)
//   6 elements a chunk, a multiple of a tile   7 places in front of a reversed row   8, 9 bits of the identity
//   10, 11 bits of the initial value
// Dispatch: ceil(rows * chunks / (WG / LANES)) workgroups, folded into x, y, z.
// Hooks: combine(left, right); from_bits; load, store (quads of a row); put.

alias T = f32;
alias S = vec4f; // what src holds
alias D = vec4f; // what dst holds
const WG = 256u;
const LANES = 256u;
const R = 4u; // quads a thread and tile
const TOTALS = false; // write the chunks' totals only
const CARRY = false; // start each chunk from carry[row, chunk]
const GATHER = false; // carry holds the chunks' totals: each workgroup combines those before its own (LANES = WG)
const COMMUTES = true;
const PV = 3u;

struct Quad { a: T, b: T, c: T, d: T }

@group(0) @binding(0) var<storage, read> src: array<S>;
@group(0) @binding(1) var<storage, read> carry: array<T>;
@group(0) @binding(2) var<storage, read_write> dst: array<D>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn combine(a: T, b: T) -> T { return a + b; }
fn from_bits(b: vec2u) -> T { return bitcast<T>(b.x); }

// The elements p .. p + 3 of a row, without a look at its ends; p is a multiple of 4.
fn load(row: u32, p: u32) -> Quad {
  let n = P[0].x;
  if (P[0].w != 0u) {
    let v = src[(row * n + n + P[1].w - 4u - p) / 4u];
    return Quad(v.w, v.z, v.y, v.x);
  }
  let v = src[(row * n + p) / 4u];
  return Quad(v.x, v.y, v.z, v.w);
}

fn store(row: u32, p: u32, x: Quad) {
  let n = P[0].x;
  if (P[0].w != 0u) {
    dst[(row * n + n + P[1].w - 4u - p) / 4u] = D(x.d, x.c, x.b, x.a);
  } else {
    dst[(row * n + p) / 4u] = D(x.a, x.b, x.c, x.d);
  }
}

// A chunk's total, where D = T
fn put(i: u32, x: T) { dst[i] = D(x); }

var<workgroup> stage: array<T, WG * R + WG>;
var<workgroup> tree: array<T, WG * 2u>;

// Each thread's x[j] (its quad j * LANES + lane) becomes what comes before it in the tile; the tile's total is returned.
fn scan_lanes(x: ptr<function, array<T, R>>, l: u32, none: T) -> T {
  let lane = l % LANES;
  let base = l - lane;
  for (var j = 0u; j < R; j++) {
    let at = base * R + j * LANES + lane;
    stage[at + at / R] = (*x)[j];
  }
  workgroupBarrier();
  var sum = none;
  for (var k = 0u; k < R; k++) {
    let at = l * (R + 1u) + k;
    let own = stage[at];
    stage[at] = sum;
    sum = combine(sum, own);
  }
  var side = 0u;
  tree[l] = sum;
  for (var step = 1u; step < LANES; step *= 2u) {
    workgroupBarrier();
    if (lane >= step) { sum = combine(tree[side + l - step], sum); }
    side = WG - side;
    tree[side + l] = sum;
  }
  workgroupBarrier();
  let total = tree[side + base + LANES - 1u];
  if (lane > 0u) {
    let before = tree[side + l - 1u];
    for (var k = 0u; k < R; k++) {
      let at = l * (R + 1u) + k;
      stage[at] = combine(before, stage[at]);
    }
  }
  workgroupBarrier();
  for (var j = 0u; j < R; j++) {
    let at = base * R + j * LANES + lane;
    (*x)[j] = stage[at + at / R];
  }
  workgroupBarrier();
  return total;
}
// A thread's quads of a tile; what lies outside of the row is the identity.
fn fetch(x: ptr<function, array<Quad, R>>, row: u32, begin: u32, first: u32, stop: u32, valid: bool, none: T) {
  for (var j = 0u; j < R; j++) {
    let p = begin + j * LANES * 4u;
    var q = Quad(none, none, none, none);
    if (valid && p < stop) {
      q = load(row, p);
      if (p + 3u >= stop || p < first) { // the ends of a row
        q.a = select(none, q.a, p >= first && p < stop);
        q.b = select(none, q.b, p + 1u >= first && p + 1u < stop);
        q.c = select(none, q.c, p + 2u >= first && p + 2u < stop);
        q.d = select(none, q.d, p + 3u >= first && p + 3u < stop);
      }
    }
    (*x)[j] = q;
  }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * (WG / LANES);
  let n = P[0].x;
  let row = job / P[0].z + l / LANES;
  let chunk = job % P[0].z; // 0 where a workgroup has several rows
  let valid = row < P[0].y;
  let none = from_bits(P[2].xy);
  let first = P[1].w * P[0].w;
  let stop = min((chunk + 1u) * P[1].z, n + first);
  var run = none;
  if (CARRY && !GATHER) {
    if (valid) { run = carry[row * P[0].z + chunk]; }
  }
  let tile = LANES * R * 4u;
  let mine = l % LANES * 4u;
  var x: array<Quad, R>;
  var sums: array<T, R>;
  for (var j = 0u; j < R; j++) { sums[j] = none; }
  if (CARRY && GATHER) {
    let each = (chunk + LANES - 1u) / LANES;
    for (var k = min(l * each, chunk); k < min((l + 1u) * each, chunk); k++) {
      if (valid) { sums[0] = combine(sums[0], carry[row * P[0].z + k]); }
    }
    run = scan_lanes(&sums, l, none);
  }
  for (var at = chunk * P[1].z; at < stop; at += tile) {
    fetch(&x, row, at + mine, first, stop, valid, none);
    if (TOTALS && COMMUTES) {
      for (var j = 0u; j < R; j++) {
        sums[j] = combine(sums[j], combine(combine(x[j].a, x[j].b), combine(x[j].c, x[j].d)));
      }
      continue;
    }
    for (var j = 0u; j < R; j++) {
      x[j].b = combine(x[j].a, x[j].b);
      x[j].c = combine(x[j].b, x[j].c);
      x[j].d = combine(x[j].c, x[j].d);
      sums[j] = x[j].d;
    }
    let total = scan_lanes(&sums, l, none);
    if (!TOTALS) {
      for (var j = 0u; j < R; j++) {
        let p = at + j * LANES * 4u + mine;
        let before = combine(run, sums[j]);
        if (valid && p < stop) {
          store(row, p, Quad(combine(before, x[j].a), combine(before, x[j].b), combine(before, x[j].c), combine(before, x[j].d)));
        }
      }
    }
    run = combine(run, total);
  }
  if (TOTALS) {
    if (COMMUTES) { run = scan_lanes(&sums, l, none); }
    if (l % LANES == 0u && valid) { put(row * P[0].z + chunk, run); }
  }
}
