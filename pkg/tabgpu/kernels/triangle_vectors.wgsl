// triangle_vectors: the eigenvectors of upper triangles T, by back substitution: one thread a vector, from its own row upwards.
// Vectors are made smaller while they grow, so that those of nearly equal eigenvalues do not leave the range.
//
// t, x (count, n, n), complex; column k of x belongs to T's k-th diagonal element. A launch does rows P[0].w .. P[0].z.
// Parameters (group 1, u32 words): 0 matrices   1 n   2 row behind the last   3 first row
// Dispatch: a thread a vector, folded into x, y, z.

const WG = 64u;
const PV = 1u;
const EPS = 1.1920929e-7f;

@group(0) @binding(0) var<storage, read> t: array<vec2f>;
@group(0) @binding(1) var<storage, read_write> x: array<vec2f>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn full(a: vec2f, b: vec2f) -> vec2f { return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let id = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let n = P[0].y;
  let m = id / n;
  if (m >= P[0].x) { return; }
  let at = m * n * n;
  let k = id % n;
  let own = t[at + k * n + k];
  let least = max(EPS * max(abs(own.x), abs(own.y)), 1e-20f);
  var i = P[0].z;
  while (i > P[0].w) {
    i -= 1u;
    if (i >= k) {
      x[at + i * n + k] = vec2f(select(0.0f, 1.0f, i == k), 0.0f);
      continue;
    }
    var sum = vec2f();
    for (var j = i + 1u; j <= k; j++) { sum -= full(t[at + i * n + j], x[at + j * n + k]); }
    var d = t[at + i * n + i] - own;
    var size = max(abs(d.x), abs(d.y));
    if (size < least) {
      d = vec2f(least, 0.0f);
      size = least;
    }
    let e = d / size;
    var value = full(sum, vec2f(e.x, -e.y)) / (size * dot(e, e));
    let grown = max(abs(value.x), abs(value.y));
    if (grown > 1e10f) {
      let by = 1.0f / grown;
      value *= by;
      for (var j = i + 1u; j <= k; j++) { x[at + j * n + k] *= by; }
    }
    x[at + i * n + k] = value;
  }
}
