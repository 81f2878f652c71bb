// piecewise: functions given by pieces between sorted knots, at any points: a binary search a value, then the hook `value`.
//
// The table has a row of M numbers for each knot, or (polynomials) K coefficients for each of N - 1 pieces, the highest
// power of x - knot first. Parameters (group 1, u32 words):
//   0 N knots   1 points   2 M   3 K   4 what stands left of the knots: 0 the first piece, 1 word 6, 2 the first row
//   5 right of them: 0 the last piece, 1 word 7, 2 the last row   6, 7 bits of a float
// Dispatch: ceil(points * M / WG) workgroups, folded into x, y, z.
// use ieee
// use order
// use div

const WG = 256u;
const PV = 2u;

@group(0) @binding(0) var<storage, read> knots: array<f32>;
@group(0) @binding(1) var<storage, read> table: array<f32>;
@group(0) @binding(2) var<storage, read> points: array<f32>;
@group(0) @binding(3) var<storage, read_write> dst: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

// At x in (or beyond) piece j, where `last` is the last knot that is not above x; column m.
fn value(j: u32, last: u32, x: f32, m: u32) -> f32 {
  let columns = P[0].z;
  let a = knots[j];
  let b = knots[min(j + 1u, P[0].x - 1u)];
  let p = table[j * columns + m];
  let q = table[min(j + 1u, P[0].x - 1u) * columns + m];
  if (order_key_f32(x) == order_key_f32(a)) { return p; }
  if (order_key_f32(x) == order_key_f32(b)) { return q; }
  // From the nearer end, so that both ends are exact.
  let d = q - p;
  let t = div_f32(x - a, b - a);
  let near = fma(t, d, p);
  let far = fma(-div_f32(b - x, b - a), d, q);
  return pick_f32(near, far, t > 0.5f);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let columns = P[0].z;
  if (i >= P[0].y * columns) { return; }
  let n = P[0].x;
  let x = points[i / columns];
  let m = i % columns;
  let key = order_key_f32(x);
  var low = 0u;
  var high = n;
  while (high - low > 1u) {
    let mid = (low + high) / 2u;
    if (order_key_f32(knots[mid]) <= key) { low = mid; } else { high = mid; }
  }
  var v = value(min(low, max(n, 2u) - 2u), low, x, m);
  let before = key < order_key_f32(knots[0]);
  let behind = key > order_key_f32(knots[n - 1u]);
  let side = select(select(0u, P[1].y, behind), P[1].x, before);
  if (side == 1u) { v = bitcast<f32>(select(P[1].w, P[1].z, before)); }
  if (side == 2u) { v = table[select((n - 1u) * columns, 0u, before) + m]; }
  dst[i] = keep_nan_f32(v, x);
}
