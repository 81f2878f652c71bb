// tridiagonal: one step of parallel cyclic reduction (R. Hockney & C. Jesshope 1981): each of N equations
// a x[i-S] + b x[i] + c x[i+S] = d loses its neighbours S away for those 2S away, in M columns d at once.
//
// bands and bands_out hold a, b, c, each N numbers; rhs and rhs_out (N, M). Parameters (group 1, u32 words):
//   0 N   1 M   2 S   3 whether indices wrap   4 whether rhs_out is to hold d / b, the solution   5..7 -
// Dispatch: ceil(N M / WG) workgroups, folded into x, y, z.
// use div

const WG = 256u;
const PV = 2u;

@group(0) @binding(0) var<storage, read> bands: array<f32>;
@group(0) @binding(1) var<storage, read> rhs: array<f32>;
@group(0) @binding(2) var<storage, read_write> bands_out: array<f32>;
@group(0) @binding(3) var<storage, read_write> rhs_out: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let t = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let n = P[0].x;
  let m = P[0].y;
  if (t >= n * m) { return; }
  let i = t / m;
  let s = P[0].z % n;
  let wraps = P[0].w != 0u;
  let up = (i + n - s) % n;
  let down = (i + s) % n;
  let has_up = wraps | (i >= P[0].z);
  let has_down = wraps | (i + P[0].z < n);
  let p = select(0.0f, -div_f32(bands[i], bands[n + up]), has_up);
  let q = select(0.0f, -div_f32(bands[2u * n + i], bands[n + down]), has_down);
  let b = bands[n + i] + select(0.0f, p * bands[2u * n + up], has_up) + select(0.0f, q * bands[down], has_down);
  let d = rhs[t] + select(0.0f, p * rhs[up * m + t % m], has_up) + select(0.0f, q * rhs[down * m + t % m], has_down);
  if (P[1].x != 0u) {
    rhs_out[t] = div_f32(d, b);
    return;
  }
  rhs_out[t] = d;
  if (t % m == 0u) {
    bands_out[i] = select(0.0f, p * bands[up], has_up);
    bands_out[n + i] = b;
    bands_out[2u * n + i] = select(0.0f, q * bands[2u * n + down], has_down);
  }
}
