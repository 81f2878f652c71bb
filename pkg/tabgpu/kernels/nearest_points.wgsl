// nearest_points: the nearest of N points (the first of equals) to each query, by all squared distances.
//
// Each query keeps its best distance and position in dst (two words) while launches go through the points. Parameters (group
// 1, u32 words): 0 queries   1 axes   2 FIRST point   3 one behind the last.   Dispatch: ceil(queries / WG) workgroups.

const WG = 256u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> points: array<f32>;
@group(0) @binding(1) var<storage, read> queries: array<f32>;
@group(0) @binding(2) var<storage, read_write> dst: array<vec2u>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let i = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (i >= P[0].x) { return; }
  let axes = P[0].y;
  var best = vec2u(0x7f7fffffu, 0u);
  if (P[0].z > 0u) { best = dst[i]; }
  for (var k = P[0].z; k < P[0].w; k++) {
    var d = 0.0f;
    for (var a = 0u; a < axes; a++) {
      let t = points[k * axes + a] - queries[i * axes + a];
      d = fma(t, t, d);
    }
    // Squares are not negative: their bits are in order, NaN last.
    if (bitcast<u32>(d) < best.x) { best = vec2u(bitcast<u32>(d), k); }
  }
  dst[i] = best;
}
