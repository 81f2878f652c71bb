// qr_panel: Householder QR of blocks of rows of a panel of NB columns, each block in workgroup memory: one level of a tree.
//
// On level 0 a block is ROWS neighbouring rows; on the next ones it is the triangles of ROWS / NB blocks of the level before,
// one below the other, which are found where these left them. The triangle replaces the block's first rows; v gets the
// block's vectors (ROWS x NB, row-major) and behind them NB x NB numbers: v_i^H v_j, and tau on the diagonal.
// Parameters (group 1, u32 words):
//   0 rows of a matrix   1 elements a row of d   2 elements a matrix of d   3 blocks
//   4 first row and column of the panel   5 its columns   6 rows between the triangles of a block, 0 on level 0
//   7 position of the level's blocks in a matrix of v   8 elements a matrix of v   9 blocks of all matrices
// Dispatch: blocks of all matrices, folded into x, y, z.

alias T = f32;
const WG = 256u;
const NB = 16u;
const ROWS = 128u;
const LEAST = 1e-30f; // columns have greatest elements from 1 to 2: what is shorter than 1e-15 is nothing
const PV = 3u;

@group(0) @binding(0) var<storage, read_write> d: array<T>;
@group(0) @binding(1) var<storage, read_write> v: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const QS = WG / NB; // threads a column
var<workgroup> a: array<T, ROWS * NB>;
var<workgroup> part: array<T, WG>;
var<workgroup> top: array<T, NB>; // the row of the step, before it
var<workgroup> tau: array<T, NB>;
var<workgroup> scale: array<T, NB>; // of a column below the diagonal: its vector
var<workgroup> diagonal: array<T, NB>;

fn mul(a: T, b: T) -> T { return a * b; }
fn cmul(a: T, b: T) -> T { return a * b; }
fn re(a: T) -> f32 { return a; }
fn lift(a: f32) -> T { return a; }
fn size2(a: T) -> f32 { return a * a; }
fn inverse(a: T) -> T { return 1.0 / a; }
fn imaginary(a: T) -> f32 { return 0.0; }

fn row_of(block: u32, r: u32) -> u32 {
  let hop = P[1].z;
  return P[1].x + select((block * (ROWS / NB) + r / NB) * hop + r % NB, block * ROWS + r, hop == 0u);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  if (job >= P[2].y) { return; }
  let block = job % P[0].w;
  let matrix = job / P[0].w;
  let c = l % NB;
  let q = l / NB;
  let width = P[1].y;
  let base = matrix * P[0].z + P[1].x + c;
  for (var r = q; r < ROWS; r += QS) {
    let row = row_of(block, r);
    var x = lift(0.0);
    if (row < P[0].x && c < width) { x = d[base + row * P[0].y]; }
    a[r * NB + c] = x;
  }
  if (l < NB) {
    tau[l] = lift(0.0);
    scale[l] = lift(0.0);
    diagonal[l] = lift(0.0);
  }
  for (var j = 0u; j < width; j++) {
    workgroupBarrier();
    var sum = lift(0.0);
    if (c >= j) {
      for (var r = q; r < ROWS; r += QS) {
        if (r > j) { sum += cmul(a[r * NB + j], a[r * NB + c]); }
      }
    }
    part[l] = sum;
    if (q == j % QS) { top[c] = a[j * NB + c]; }
    workgroupBarrier();
    var below = 0.0f;
    var along = lift(0.0);
    for (var k = 0u; k < QS; k++) {
      below += re(part[k * NB + j]);
      along += part[k * NB + c];
    }
    let alpha = top[j];
    var t = lift(0.0);
    var s = lift(0.0);
    var beta = alpha;
    let all = size2(alpha) + below;
    if (all > LEAST && (below > 0.0 || imaginary(alpha) != 0.0)) {
      let norm = sqrt(all);
      beta = lift(select(-norm, norm, re(alpha) < 0.0));
      t = (beta - alpha) / re(beta);
      s = inverse(alpha - beta);
    }
    if (c > j) {
      let f = cmul(t, top[c] + cmul(s, along));
      let h = mul(s, f);
      for (var r = q; r < ROWS; r += QS) {
        if (r > j) { a[r * NB + c] -= mul(a[r * NB + j], h); }
        if (r == j) { a[r * NB + c] = top[c] - f; }
      }
    }
    if (l == 0u) {
      tau[j] = t;
      scale[j] = s;
      diagonal[j] = beta;
    }
  }
  workgroupBarrier();
  let place = matrix * P[2].x + P[1].w + block * (ROWS * NB + NB * NB);
  for (var r = q; r < ROWS; r += QS) {
    let row = row_of(block, r);
    var x = a[r * NB + c];
    if (r < NB && row < P[0].x && c < width) {
      var y = lift(0.0);
      if (r < c) { y = x; }
      if (r == c) { y = diagonal[c]; }
      d[base + row * P[0].y] = y;
    }
    x = mul(x, scale[c]);
    if (r == c) { x = lift(1.0); }
    if (r < c || c >= width) { x = lift(0.0); }
    a[r * NB + c] = x;
    v[place + r * NB + c] = x;
  }
  workgroupBarrier();
  for (var e = l; e < NB * NB; e += WG) {
    var sum = lift(0.0);
    for (var r = 0u; r < ROWS; r++) { sum += cmul(a[r * NB + e / NB], a[r * NB + e % NB]); }
    if (e / NB == e % NB) { sum = tau[e % NB]; }
    v[place + ROWS * NB + e] = sum;
  }
}
