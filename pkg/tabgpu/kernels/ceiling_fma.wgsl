// ceiling_fma: as many multiply-adds as the GPU computes: 32 independent chains a thread, in registers.
//
// A thread computes 256 operations a round. The factors come from parameters, so that no compiler knows the result.
// Parameters (group 1, u32 words): 0 rounds   1, 2 bits of a factor just below 1 and of a small addend.
// Dispatch: any number of workgroups; each writes one vec4 a thread.

const WG = 64u;
const PV = 1u;

@group(0) @binding(0) var<storage, read_write> dst: array<vec4f>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let m = vec4f(bitcast<f32>(P[0].y));
  let c = vec4f(bitcast<f32>(P[0].z));
  var a0 = vec4f(f32(i));
  var a1 = a0 + 1.0;
  var a2 = a0 + 2.0;
  var a3 = a0 + 3.0;
  var a4 = a0 + 4.0;
  var a5 = a0 + 5.0;
  var a6 = a0 + 6.0;
  var a7 = a0 + 7.0;
  for (var k = 0u; k < P[0].x; k++) {
    a0 = fma(a0, m, c); a1 = fma(a1, m, c); a2 = fma(a2, m, c); a3 = fma(a3, m, c);
    a4 = fma(a4, m, c); a5 = fma(a5, m, c); a6 = fma(a6, m, c); a7 = fma(a7, m, c);
    a0 = fma(a0, m, c); a1 = fma(a1, m, c); a2 = fma(a2, m, c); a3 = fma(a3, m, c);
    a4 = fma(a4, m, c); a5 = fma(a5, m, c); a6 = fma(a6, m, c); a7 = fma(a7, m, c);
    a0 = fma(a0, m, c); a1 = fma(a1, m, c); a2 = fma(a2, m, c); a3 = fma(a3, m, c);
    a4 = fma(a4, m, c); a5 = fma(a5, m, c); a6 = fma(a6, m, c); a7 = fma(a7, m, c);
    a0 = fma(a0, m, c); a1 = fma(a1, m, c); a2 = fma(a2, m, c); a3 = fma(a3, m, c);
    a4 = fma(a4, m, c); a5 = fma(a5, m, c); a6 = fma(a6, m, c); a7 = fma(a7, m, c);
  }
  dst[i] = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7));
}
