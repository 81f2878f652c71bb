// beside_eye: each matrix of a stack with the columns of an identity behind its own: where factorisations begin.
//
// Parameters (group 1, u32 words): 0 rows of a matrix   1 columns of src   2 columns of dst   3 all elements of dst
// Dispatch: ceil(elements / WG) workgroups, folded into x, y, z.

alias T = f32;
const WG = 256u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> src: array<T>;
@group(0) @binding(1) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn lift(a: f32) -> T { return a; }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let e = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (e >= P[0].w) { return; }
  let row = e / P[0].z;
  let column = e % P[0].z;
  if (column < P[0].y) {
    dst[e] = src[row * P[0].y + column];
  } else {
    dst[e] = lift(select(0.0, 1.0, column - P[0].y == row % P[0].x));
  }
}
