// reduce_across: reduce.wgsl where outputs lie side by side in memory: a thread owns four neighbouring outputs, so that a
// load is one vec4 of each of them, and its threads walk down the reduced axis.
//
// LANES threads share a quad of outputs and WG / LANES quads a workgroup; a thread has four loads in flight. Parameters and
// hooks as reduce.wgsl, but begin(o) is given the first of four outputs (a multiple of 4), load4(r) their elements at place r.
// Dispatch: ceil(outputs / (4 * WG / LANES)) * chunks workgroups, folded into x, y, z.

alias T = f32;
const WG = 256u;
const LANES = 8u;
const PV = 4u;

@group(0) @binding(0) var<storage, read> src: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const OUTS = WG / LANES;
var<workgroup> tree: array<vec4<T>, WG>;
var<private> row: u32;

fn begin(o: u32) { row = o; }
fn load4(r: u32) -> vec4<T> { return bitcast<vec4<T>>(src[(row + r * P[0].x) >> 2u]); }
fn combine(a: vec4<T>, b: vec4<T>) -> vec4<T> { return a + b; }
fn emit(v: T, i: u32) { dst[i - P[2].x] = bitcast<u32>(v); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  var chunk = P[1].y + job % P[1].z;
  let lane = l / OUTS;
  var o = P[0].y + ((job / P[1].z) * OUTS + l % OUTS) * 4u;
  if (LANES == 1u) { // threads work alone: one for each chunk of each quad
    chunk = P[1].y + (job * WG + l) % P[1].z;
    o = P[0].y + (job * WG + l) / P[1].z * 4u;
  }
  let valid = o < P[0].x;
  let none = vec4<T>(bitcast<T>(P[1].w));
  var total = none;
  if (valid) {
    begin(o);
    let start = chunk * P[0].w;
    let end = min(start + P[0].w, P[0].z);
    var r = start + lane;
    var part = none;
    var k = 0u;
    while (r + 3u * LANES < end) {
      part = combine(part, combine(combine(load4(r), load4(r + LANES)), combine(load4(r + 2u * LANES), load4(r + 3u * LANES))));
      r += 4u * LANES;
      k++;
      if (k == 8u) {
        total = combine(total, part);
        part = none;
        k = 0u;
      }
    }
    while (r < end) {
      part = combine(part, load4(r));
      r += LANES;
    }
    total = combine(total, part);
  }
  // tree: begin
  tree[l] = total;
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (lane < step) { tree[l] = combine(tree[l], tree[l + step * OUTS]); }
  }
  let all = tree[l];
  // tree: end
  if (lane == 0u && valid) {
    let i = o * P[1].x + chunk * P[2].y;
    emit(all.x, i);
    emit(all.y, i + P[1].x);
    emit(all.z, i + 2u * P[1].x);
    emit(all.w, i + 3u * P[1].x);
  }
}
