// stencil_serial: images correlated with one kernel by threads that work alone, four neighbours of a row each: CPU adapters.
//
// Parameters: as stencil.wgsl; 18 quads of a row, 19 rows of all results.
// Dispatch: ceil(quads / WG) workgroups, folded into x, y, z.
// Hooks: load.
// use border

const WG = 64u;
const PV = 5u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read> taps: array<f32>;
@group(0) @binding(2) var<storage, read_write> dst: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn load(at: u32) -> f32 { return bitcast<f32>(src[at]); }

fn element(base: u32, inside: bool, x: i32) -> f32 {
  let k = border_index(x, i32(P[0].y), P[3].w);
  var v = bitcast<f32>(P[4].x);
  if (inside && k >= 0) { v = load(base + u32(k) * P[3].y); }
  return v;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let id = (P[4].y + g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let row = id / P[4].z;
  if (row >= P[4].w) { return; }
  let x = 4u * (id - row * P[4].z);
  let lead = row / P[1].x;
  let outer = lead / P[2].x;
  let image = P[2].y + outer * P[2].z + (lead - outer * P[2].x) * P[2].w;
  let start = i32(x) - i32(P[1].w);
  let plain = start >= 0 && start + i32(P[0].w) + 3 <= i32(P[0].y);
  var total = vec4f();
  for (var ky = 0u; ky < P[0].z; ky++) {
    let y = border_index(i32(row - lead * P[1].x + ky) - i32(P[1].z), i32(P[0].x), P[3].z);
    let base = image + u32(y) * P[3].x;
    let at = ky * P[0].w;
    var sum = vec4f();
    if (plain && y >= 0) {
      var from_ = base + u32(start) * P[3].y;
      var v = vec4f(0.0f, load(from_), load(from_ + P[3].y), load(from_ + 2u * P[3].y));
      from_ += 3u * P[3].y;
      for (var kx = 0u; kx < P[0].w; kx++) {
        v = vec4f(v.yzw, load(from_));
        from_ += P[3].y;
        sum += taps[at + kx] * v;
      }
    } else {
      let inside = y >= 0;
      var v = vec4f(0.0f, element(base, inside, start), element(base, inside, start + 1), element(base, inside, start + 2));
      for (var kx = 0u; kx < P[0].w; kx++) {
        v = vec4f(v.yzw, element(base, inside, start + 3 + i32(kx)));
        sum += taps[at + kx] * v;
      }
    }
    total += sum;
  }
  let to = row * P[1].y + x;
  if (x < P[1].y) { dst[to] = total.x; }
  if (x + 1u < P[1].y) { dst[to + 1u] = total.y; }
  if (x + 2u < P[1].y) { dst[to + 2u] = total.z; }
  if (x + 3u < P[1].y) { dst[to + 3u] = total.w; }
}
