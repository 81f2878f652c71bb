// reduce_arg_across: reduce_arg.wgsl where outputs lie side by side in memory; a thread owns four of them, as in
// reduce_across.wgsl, whose work, parameters and dispatch this has. Keys and hooks: as reduce_arg.wgsl.

const WG = 256u;
const LANES = 8u;
const PV = 4u;

@group(0) @binding(0) var<storage, read> keys_in: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> keys_out: array<u32>;
@group(0) @binding(2) var<storage, read_write> positions_out: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const OUTS = WG / LANES;
const NOWHERE = 0xffffffffu;
var<workgroup> tree_key: array<vec4u, WG>;
var<workgroup> tree_group: array<vec4u, WG>;
var<private> row: u32;

fn begin(o: u32) { row = o; }
fn load4(r: u32) -> vec4u { return keys_in[(row + r * P[0].x) >> 2u]; }
fn positions4(r: u32) -> vec4u { return vec4u(r); }
fn store(key: u32, position: u32, i: u32) { keys_out[i - P[2].x] = key; positions_out[i - P[2].x] = position; }

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
  let start = chunk * P[0].w;
  let end = min(start + P[0].w, P[0].z);
  // A lane has four places on end, so that the groups of all lanes lie in order: of each only its greatest key is kept,
  // and where it is is looked up once, in the first group that has it.
  var best = vec4u();
  var group = vec4u(NOWHERE);
  if (valid) {
    begin(o);
    var r = start + lane * 4u;
    if (r < end) { group = vec4u(r); }
    while (r < end) {
      let last = end - 1u;
      let low = max(load4(r), load4(min(r + 1u, last)));
      let top = max(low, max(load4(min(r + 2u, last)), load4(min(r + 3u, last))));
      let better = top > best;
      best = select(best, top, better);
      group = select(group, vec4u(r), better);
      r += 4u * LANES;
    }
  }
  // tree: begin
  tree_key[l] = best;
  tree_group[l] = group;
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (lane < step) {
      let other = tree_key[l + step * OUTS];
      let at = tree_group[l + step * OUTS];
      let ahead = (other > tree_key[l]) | ((other == tree_key[l]) & (at < tree_group[l]));
      tree_key[l] = select(tree_key[l], other, ahead);
      tree_group[l] = select(tree_group[l], at, ahead);
    }
  }
  let keys = tree_key[l];
  let groups = tree_group[l];
  // tree: end
  if (lane == 0u && valid) {
    var places = vec4u(NOWHERE);
    for (var j = 0u; j < 4u; j++) {
      for (var c = 0u; c < 4u; c++) {
        let q = min(groups[c] + j, end - 1u);
        if (places[c] == NOWHERE && load4(q)[c] == keys[c]) { places[c] = positions4(q)[c]; }
      }
    }
    let i = o * P[1].x + chunk * P[2].y;
    store(keys.x, places.x, i);
    store(keys.y, places.y, i + P[1].x);
    store(keys.z, places.z, i + 2u * P[1].x);
    store(keys.w, places.w, i + 3u * P[1].x);
  }
}
