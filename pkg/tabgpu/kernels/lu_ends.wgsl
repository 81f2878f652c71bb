// lu_ends: what stands before and behind the panels of an LU factorisation. STEP 0: the first columns as rows of l, places as
// they are, no verdict. STEP 1: the lower triangle of the result from l, and behind all matrices, as numbers: the places
// that rows were exchanged with, the rows in their new order, the verdicts. STEP 2: the verdicts alone.
//
// Parameters (group 1, u32 words): 0 m   1 n   2 least of both   4 batch stride of l
//   5 words of the table a batch   6 batches   7 columns that go to l   8, 9, 10 where pivots, rows and verdicts begin   11 no tail
// Dispatch: a thread for each of (elements + tail) * batches (STEP 2: of batches), folded into x, y, z.

alias E = f32;
const WG = 256u;
const STEP = 0u;
const PV = 3u;

@group(0) @binding(0) var<storage, read_write> l: array<E>;
@group(0) @binding(1) var<storage, read_write> table: array<u32>;
@group(0) @binding(2) var<storage, read_write> matrix: array<E>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;
// arithmetic: begin
fn number(a: u32) -> E { return f32(a); }
// arithmetic: end

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) li: u32) {
  let i = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + li;
  let m = P[0].x;
  let n = P[0].y;
  let least = P[0].z;
  let elements = m * select(least, P[1].w, STEP == 0u);
  if (STEP == 2u) {
    if (i < P[1].z) { matrix[P[2].z + i] = number(table[i * P[1].y + 2u * m + least]); }
    return;
  }
  let each = elements + m + least + 1u;
  if (i >= each * P[1].z) { return; }
  let z = i / each;
  let e = i % each;
  let base = z * P[1].x;
  let posts = z * P[1].y;
  if (STEP == 0u) {
    if (e < elements) {
      let c = e / m;
      l[base + e] = matrix[z * m * n + e % m * n + c];
    } else if (e < elements + m) {
      let r = e - elements;
      table[posts + r] = r;
      table[posts + m + r] = r;
    } else {
      table[posts + 2u * m + e - elements - m] = 0u;
    }
    return;
  }
  if (e >= elements && P[2].w == 1u) { return; }
  if (e < elements) {
    let r = e / least;
    let c = e % least;
    if (c < r) { matrix[z * m * n + r * n + c] = l[base + c * m + table[posts + m + r]]; }
  } else if (e < elements + m) {
    let r = e - elements;
    matrix[P[2].y + z * m + r] = number(table[posts + m + r]);
  } else {
    let k = e - elements - m;
    let v = number(table[posts + 2u * m + k]);
    if (k < least) { matrix[P[2].x + z * least + k] = v; } else { matrix[P[2].z + z] = v; }
  }
}
