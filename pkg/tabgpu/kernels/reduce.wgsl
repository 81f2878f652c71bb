// reduce: for each of N outputs, combine R elements to one; pairwise, so that sums keep the error of a tree.
//
// LANES threads share one output and WG / LANES outputs share a workgroup. A thread loads four neighbours at a time, four
// such loads at once, and adds eight of those sums before they go to its total. A long axis is cut into chunks: pass 1
// writes one partial a chunk, the same kernel then reduces the partials. Four outputs a thread: reduce_across.wgsl.
//
// Parameters (group 1, u32 words):
//   0 end of this launch's outputs   1 its first output   2 R   3 elements a chunk (a multiple of 4)
//   4 what an output's number counts for in dst   5 first chunk of this launch   6 its number of chunks
//   7 bits of the identity   8 index at which the bound window of dst begins   9 what a chunk's number counts for
//   from 12 on: codegen's
// Dispatch: ceil(outputs / (WG / LANES)) * chunks workgroups (LANES = 1: outputs * chunks threads), folded into x, y, z.
// Hooks: begin(o) and load4(r) give the elements r .. r+3 of output o; combine; emit(v, i) stores. The block `tree` joins the
// lanes: by workgroup memory, by subgroups, or not at all (LANES = 1: CPU adapters, where barriers cost most).

alias T = f32;
const WG = 256u;
const LANES = 256u;
const OUT_FAST = false; // whether neighbouring threads walk along outputs (true) or along the reduced axis
const PV = 4u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const OUTS = WG / LANES;
const HOP = LANES * 4u;
var<workgroup> tree: array<T, WG>;
var<private> row: u32;

fn begin(o: u32) { row = o * P[0].z; }
fn load4(r: u32) -> vec4<T> { return vec4<T>(bitcast<T>(src[row + r]), bitcast<T>(src[row + r + 1u]), bitcast<T>(src[row + r + 2u]), bitcast<T>(src[row + r + 3u])); }
fn combine(a: vec4<T>, b: vec4<T>) -> vec4<T> { return a + b; }
fn emit(v: T, i: u32) { dst[i - P[2].x] = bitcast<u32>(v); }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  var chunk = P[1].y + job % P[1].z;
  var lane = l % LANES;
  var o = P[0].y + (job / P[1].z) * OUTS + l / LANES;
  var hop = 1u;
  if (OUT_FAST) {
    lane = l / OUTS;
    o = P[0].y + (job / P[1].z) * OUTS + l % OUTS;
    hop = OUTS;
  }
  if (LANES == 1u) { // threads work alone: one for each chunk of each output
    chunk = P[1].y + (job * WG + l) % P[1].z;
    o = P[0].y + (job * WG + l) / P[1].z;
  }
  let valid = o < P[0].x;
  let none = vec4<T>(bitcast<T>(P[1].w));
  var total = none;
  if (valid) {
    begin(o);
    let start = chunk * P[0].w;
    let end = min(start + P[0].w, P[0].z);
    var r = start + lane * 4u;
    var part = none;
    var k = 0u;
    while (r + 3u * HOP + 3u < end) {
      part = combine(part, combine(combine(load4(r), load4(r + HOP)), combine(load4(r + 2u * HOP), load4(r + 3u * HOP))));
      r += 4u * HOP;
      k++;
      if (k == 8u) {
        total = combine(total, part);
        part = none;
        k = 0u;
      }
    }
    while (r < end) {
      part = combine(part, select(none, load4(r), vec4u(r, r + 1u, r + 2u, r + 3u) < vec4u(end)));
      r += HOP;
    }
    total = combine(total, part);
  }
  let half = combine(total, total.zwxy);
  let own = combine(half, half.yxwz).x;
  // tree: begin
  tree[l] = own;
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (lane < step) {
      tree[l] = combine(vec4<T>(tree[l]), vec4<T>(tree[l + step * hop])).x;
    }
  }
  let all = tree[l];
  // tree: end
  if (lane == 0u && valid) {
    emit(all, o * P[1].x + chunk * P[2].y);
  }
}
