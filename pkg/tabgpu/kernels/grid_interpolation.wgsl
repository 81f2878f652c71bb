// grid_interpolation: values on a rectilinear grid of up to eight axes, at any points: linear or the nearest one.
//
// knots holds the coordinates of all axes behind one another, table the values (axes.., M). Parameters (group 1, u32 words):
//   0 axes   1 points   2 M   3 NEAREST   4 whether word 5 stands outside the grid   5 bits of a float   6, 7 -
//   8..15 elements of each axis
// Dispatch: ceil(points * M / WG) workgroups, folded into x, y, z.
// use ieee
// use order
// use div

const WG = 256u;
const PV = 4u;

@group(0) @binding(0) var<storage, read> knots: array<f32>;
@group(0) @binding(1) var<storage, read> table: array<f32>;
@group(0) @binding(2) var<storage, read> points: array<f32>;
@group(0) @binding(3) var<storage, read_write> dst: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let axes = P[0].x;
  let columns = P[0].z;
  if (i >= P[0].y * columns) { return; }
  let m = i % columns;
  var piece: array<u32, 8>;
  var part: array<f32, 8>;
  var start = 0u;
  var outside = false;
  var lost = false;
  for (var d = 0u; d < axes; d++) {
    let n = P[2u + d / 4u][d % 4u];
    let x = points[(i / columns) * axes + d];
    let key = order_key_f32(x);
    lost = lost | isnan_f32(x);
    outside = outside | (key < order_key_f32(knots[start])) | (key > order_key_f32(knots[start + n - 1u]));
    var low = 0u;
    var high = n;
    while (high - low > 1u) {
      let mid = (low + high) / 2u;
      if (order_key_f32(knots[start + mid]) <= key) { low = mid; } else { high = mid; }
    }
    let j = min(low, max(n, 2u) - 2u);
    let a = knots[start + j];
    let b = knots[start + min(j + 1u, n - 1u)];
    piece[d] = j;
    part[d] = select(div_f32(x - a, b - a), 0.0f, n == 1u);
    start += n;
  }
  var total = 0.0f;
  let corners = select(1u << axes, 1u, P[0].w != 0u);
  for (var corner = 0u; corner < corners; corner++) {
    var at = 0u;
    var weight = 1.0f;
    for (var d = 0u; d < axes; d++) {
      let n = P[2u + d / 4u][d % 4u];
      var upper = ((corner >> d) & 1u) != 0u;
      if (P[0].w != 0u) { upper = part[d] > 0.5f; } else { weight *= select(1.0f - part[d], part[d], upper); }
      at = at * n + min(piece[d] + select(0u, 1u, upper), n - 1u);
    }
    // A weight of 0 leaves out what is infinite.
    if (weight != 0.0f) { total = select(fma(weight, table[at * columns + m], total), table[at * columns + m], P[0].w != 0u); }
  }
  if (outside & (P[1].x != 0u)) { total = bitcast<f32>(P[1].y); }
  dst[i] = nan_if_f32(total, lost);
}
