// from_roots: the coefficients of (x - r0)(x - r1) .., highest degree first, in one workgroup.
//
// dst holds N + 1 numbers, of which the first FIRST + 1 are the product so far; roots FIRST .. LAST - 1 are multiplied in.
// Parameters (group 1, u32 words): 0 N   1 FIRST   2 LAST   3 -.   Dispatch: one workgroup.

alias T = f32;
const WG = 256u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> roots: array<T>;
@group(0) @binding(1) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn one() -> T { return 1.0f; }
fn less(a: T, r: T, b: T) -> T { return fma(-r, b, a); }

@compute @workgroup_size(WG)
fn main(@builtin(local_invocation_index) l: u32) {
  let n = P[0].x;
  if (P[0].y == 0u) {
    for (var k = l; k <= n; k += WG) { dst[k] = select(T(), one(), k == 0u); }
  }
  for (var k = P[0].y; k < P[0].z; k++) {
    let r = roots[k];
    // Blocks from the highest index down, so that each reads what no other has written yet.
    let blocks = k / WG + 1u;
    for (var b = blocks; b > 0u; b--) {
      let j = (b - 1u) * WG + l + 1u;
      workgroupBarrier();
      storageBarrier();
      var v = T();
      if (j <= k + 1u) { v = less(dst[j], r, dst[j - 1u]); }
      workgroupBarrier();
      storageBarrier();
      if (j <= k + 1u) { dst[j] = v; }
    }
  }
}
