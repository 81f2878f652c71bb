// qr_apply: the reflectors that qr_panel left for a panel and level, applied to columns of d: Q^H, or Q where BACK.
//
// w = V^H d is made in registers and added up in workgroup memory; a substitution with the products of the vectors gives
// the coefficients that the reflectors one after the other would (so no T is formed); d -= V w.
// Parameters (group 1, u32 words):
//   0 rows of a matrix   1 elements a row of d   2 elements a matrix of d   3 blocks
//   4 first row of the panel   5 columns of d   6, 7, 8 as qr_panel's: rows between triangles, position, elements of v
//   9 workgroups in all   10 first column of d   11 tiles of CT columns
// Dispatch: blocks * tiles workgroups for each matrix, folded into x, y, z.

alias T = f32;
const WG = 256u;
const NB = 16u;
const ROWS = 128u;
const CT = 32u;
const PR = 4u; // sums that are added up at a time
const BACK = false;
const PV = 3u;

@group(0) @binding(0) var<storage, read> v: array<T>;
@group(0) @binding(1) var<storage, read_write> d: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const QS = WG / CT; // threads a column
var<workgroup> vs: array<T, ROWS * NB>;
var<workgroup> among: array<T, NB * NB>;
var<workgroup> part: array<T, WG * PR>;
var<workgroup> w: array<T, NB * CT>;

fn mul(a: T, b: T) -> T { return a * b; }
fn cmul(a: T, b: T) -> T { return a * b; }
fn lift(a: f32) -> T { return a; }

fn row_of(block: u32, r: u32) -> u32 {
  let hop = P[1].z;
  return P[1].x + select((block * (ROWS / NB) + r / NB) * hop + r % NB, block * ROWS + r, hop == 0u);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  if (job >= P[2].y) { return; }
  let tile = job % P[2].w;
  let block = (job / P[2].w) % P[0].w;
  let matrix = job / (P[2].w * P[0].w);
  let place = matrix * P[2].x + P[1].w + block * (ROWS * NB + NB * NB);
  for (var e = l; e < ROWS * NB; e += WG) { vs[e] = v[place + e]; }
  for (var e = l; e < NB * NB; e += WG) { among[e] = v[place + ROWS * NB + e]; }
  let c = l % CT;
  let q = l / CT;
  let inside = tile * CT + c < P[1].y;
  let base = matrix * P[0].z + P[2].z + tile * CT + c;
  var acc: array<T, NB>;
  for (var k = 0u; k < NB; k++) {
    acc[k] = lift(0.0);
  }
  workgroupBarrier();
  for (var r = q; r < ROWS; r += QS) {
    let row = row_of(block, r);
    if (inside && row < P[0].x) {
      let x = d[base + row * P[0].y];
      for (var k = 0u; k < NB; k++) {
        acc[k] += cmul(vs[r * NB + k], x);
      }
    }
  }
  for (var k = 0u; k < NB; k++) {
    part[(q * PR + k % PR) * CT + c] = acc[k];
    if (k % PR == PR - 1u) {
      workgroupBarrier();
      for (var e = l; e < PR * CT; e += WG) {
        var sum = lift(0.0);
        for (var i = 0u; i < QS; i++) { sum += part[i * PR * CT + e]; }
        w[(k + 1u - PR) * CT + e] = sum;
      }
      workgroupBarrier();
    }
  }
  if (l < CT) {
    for (var i = 0u; i < NB; i++) {
      let j = select(i, NB - 1u - i, BACK);
      var x = w[j * CT + l];
      for (var h = 0u; h < i; h++) {
        let k = select(h, NB - 1u - h, BACK);
        x -= mul(among[j * NB + k], w[k * CT + l]);
      }
      let t = among[j * NB + j];
      if (BACK) { x = mul(t, x); } else { x = cmul(t, x); }
      w[j * CT + l] = x;
    }
  }
  workgroupBarrier();
  for (var k = 0u; k < NB; k++) {
    acc[k] = w[k * CT + c];
  }
  for (var r = q; r < ROWS; r += QS) {
    let row = row_of(block, r);
    if (inside && row < P[0].x) {
      var x = d[base + row * P[0].y];
      for (var k = 0u; k < NB; k++) {
        x -= mul(vs[r * NB + k], acc[k]);
      }
      d[base + row * P[0].y] = x;
    }
  }
}
