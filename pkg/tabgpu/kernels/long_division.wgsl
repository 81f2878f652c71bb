// long_division: quotient and remainder of polynomials, highest degree first, in one workgroup.
//
// dst holds the numerator (N numbers) and becomes the quotient (N - V + 1) followed by the remainder (V - 1), from step FIRST
// up to LAST. Parameters (group 1, u32 words): 0 N   1 V (at most N)   2 FIRST   3 LAST   4 whether to copy first   5..7 -
// Dispatch: one workgroup.
// use ieee
// use div

alias T = f32;
const WG = 256u;
const PV = 2u;

@group(0) @binding(0) var<storage, read> numerator: array<T>;
@group(0) @binding(1) var<storage, read> divisor: array<T>;
@group(0) @binding(2) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn quotient(a: T, b: T) -> T { return div_f32(a, b); }
fn less(a: T, q: T, b: T) -> T { return fma(-q, b, a); }

@compute @workgroup_size(WG)
fn main(@builtin(local_invocation_index) l: u32) {
  let n = P[0].x;
  let v = P[0].y;
  if (P[1].x != 0u) {
    for (var k = l; k < n; k += WG) { dst[k] = numerator[k]; }
  }
  storageBarrier();
  for (var k = P[0].z; k < P[0].w; k++) {
    let q = quotient(dst[k], divisor[0]);
    workgroupBarrier();
    storageBarrier();
    if (l == 0u) { dst[k] = q; }
    for (var j = 1u + l; j < v; j += WG) { dst[k + j] = less(dst[k + j], q, divisor[j]); }
    workgroupBarrier();
    storageBarrier();
  }
}
