// product_sum: adds the pieces of a product whose k was cut, in order; four neighbouring elements a thread.
//
// Words: 0 elements of the result   1 pieces   11 left to codegen; those from 24 on belong to codegen (as in gemm).
// Dispatch: ceil(elements / (4 * WG)) workgroups, folded into x, y, z in any way that covers them.
// Hook: emit4(v, i) stores four neighbours; i is a multiple of 4. A piece is followed by the next without a gap.

alias T = f32;
const WG = 64u;
const PV = 8u;

@group(0) @binding(0) var<storage, read> a: array<T>;
@group(0) @binding(1) var<storage, read_write> c: array<vec4u>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn emit4(v: vec4<T>, i: u32) {
  c[i / 4u] = bitcast<vec4u>(v);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u,
        @builtin(local_invocation_index) li: u32) {
  let i = ((wid.x + nwg.x * (wid.y + nwg.y * wid.z)) * WG + li) * 4u;
  let size = P[0].x;
  if (i >= size) {
    return;
  }
  var sum = vec4<T>();
  for (var s = 0u; s < P[0].y; s++) {
    let j = s * size + i;
    sum += vec4<T>(a[j], a[j + 1u], a[j + 2u], a[j + 3u]);
  }
  emit4(sum, i);
}
