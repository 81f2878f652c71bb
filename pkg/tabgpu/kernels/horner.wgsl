// horner: polynomials at many points by Horner's rule, one thread a value.
//
// Coefficients of degree j stand in row j (or K - 1 - j) of a (K, M) matrix. Either each of M polynomials is taken at all NX
// points, or the i-th at the i-th (NX = M, paired). Parameters (group 1, u32 words):
//   0 K (at least 1)   1 M   2 NX   3 values   4 whether the highest degree comes first   5 paired   6, 7 -
// Dispatch: ceil(values / WG) workgroups, folded into x, y, z.

alias T = f32;
const WG = 256u;
const PV = 2u;

@group(0) @binding(0) var<storage, read> coefficients: array<T>;
@group(0) @binding(1) var<storage, read> points: array<T>;
@group(0) @binding(2) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

// a x + c
fn step(a: T, x: T, c: T) -> T { return fma(a, x, c); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (i >= P[0].w) { return; }
  let k = P[0].x;
  let m = P[0].y;
  let x = points[i % P[0].z];
  let column = select(i / P[0].z, i, P[1].y != 0u);
  let first = P[1].x != 0u;
  var v = coefficients[select(k - 1u, 0u, first) * m + column];
  for (var j = 1u; j < k; j++) {
    v = step(v, x, coefficients[select(k - 1u - j, j, first) * m + column]);
  }
  dst[i] = v;
}
