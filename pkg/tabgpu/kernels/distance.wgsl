// distance: one axis of the distance to the nearest of some places: the least, over the elements of a line, of what has been
// found for them and how far along the axis they are. A thread looks to both sides until nothing nearer can come.
//
// src and dst: words of costs (a square, a sum or a greatest of distances, by metric), then of the places they are to; all
// ones where there is none.
//
// Parameters (group 1, u32 words):
//   0 elements   1 size of the axis   2 its stride   3 bits of the spacing along it (FLOATS)   4 number of the first element
// Dispatch: ceil(elements / WG) workgroups, folded into x, y, z.
// Hooks: along, joined, none.

alias C = u32; // costs
const WG = 256u;
const PV = 2u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn none(c: C) -> bool { return c == 0xffffffffu; }
fn along(d: u32) -> C { return d * d; }
fn joined(a: C, c: C) -> C { return a + c; }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = P[1].x + (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (i >= P[0].x) { return; }
  let k = i / P[0].z % P[0].y;
  let far = max(k, P[0].y - 1u - k);
  var best = bitcast<C>(src[i]);
  var at = src[P[0].x + i];
  for (var d = 1u; d <= far; d++) {
    let step = along(d);
    if (!none(best) && step >= best) { break; }
    for (var side = 0u; side < 2u; side++) {
      let inside = select((k + d) < P[0].y, (k >= d), side == 0u);
      if (inside) {
        let from_ = select(i + d * P[0].z, i - d * P[0].z, side == 0u);
        let c = bitcast<C>(src[from_]);
        if (!none(c)) {
          let sum = joined(step, c);
          if (none(best) || sum < best) {
            best = sum;
            at = src[P[0].x + from_];
          }
        }
      }
    }
  }
  dst[i] = bitcast<u32>(best);
  dst[P[0].x + i] = at;
}
