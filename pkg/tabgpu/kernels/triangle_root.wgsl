// triangle_root: the square roots of upper triangles T, complex, diagonal by diagonal (Bjorck and Hammarling 1983): those nearer to
// the main one first; one workgroup a matrix. Where two roots of the diagonal add up to 0, an element is 0 or NaN.
//
// t, x (count, n, n).
// Parameters (group 1, u32 words): 0 matrices   1 n   2 first diagonal of this launch   3 diagonal behind the last
// Dispatch: a workgroup a matrix, folded into x, y, z.
// use complex

const WG = 64u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> t: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> x: array<vec2f>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let m = g.x + ng.x * (g.y + ng.y * g.z);
  if (m >= P[0].x) { return; }
  let n = P[0].y;
  let at = m * n * n;
  for (var d = P[0].z; d < P[0].w; d++) {
    for (var i = l; i < n; i += WG) {
      let j = i + d;
      if (d == 0u) {
        for (var k = 0u; k < i; k++) { x[at + i * n + k] = vec2f(); }
        x[at + i * n + i] = sqrt_c64(t[at + i * n + i]);
      } else if (j < n) {
        var sum = t[at + i * n + j];
        for (var k = i + 1u; k < j; k++) { sum -= multiply_c64(x[at + i * n + k], x[at + k * n + j]); }
        let by = x[at + i * n + i] + x[at + j * n + j];
        var value = vec2f();
        if (truth_c64(sum)) { value = divide_c64(sum, by); }
        x[at + i * n + j] = value;
      }
    }
    storageBarrier();
  }
}
