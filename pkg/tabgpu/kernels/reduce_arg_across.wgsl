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
var<workgroup> tree_position: array<vec4u, WG>;
var<private> row: u32;

fn begin(o: u32) { row = o; }
fn load4(r: u32) -> vec4u { return keys_in[(row + r * P[0].x) >> 2u]; }
fn positions4(r: u32) -> vec4u { return vec4u(r); }
fn store(key: u32, position: u32, i: u32) { keys_out[i - P[2].x] = key; positions_out[i - P[2].x] = position; }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  let chunk = P[1].y + job % P[1].z;
  let lane = l / OUTS;
  let o = P[0].y + ((job / P[1].z) * OUTS + l % OUTS) * 4u;
  let valid = o < P[0].x;
  var best = vec4u();
  var places = vec4u(NOWHERE);
  if (valid) {
    begin(o);
    let start = chunk * P[0].w;
    let end = min(start + P[0].w, P[0].z);
    var r = start + lane;
    if (r < end) { places = positions4(r); }
    while (r + 3u * LANES < end) {
      let a = load4(r);
      let b = load4(r + LANES);
      let c = load4(r + 2u * LANES);
      let d = load4(r + 3u * LANES);
      let left = b > a;
      let right = d > c;
      let ab = select(a, b, left);
      let cd = select(c, d, right);
      let second = cd > ab;
      let top = select(ab, cd, second);
      let better = top > best;
      if (any(better)) {
        let at_ab = select(positions4(r), positions4(r + LANES), left);
        let at_cd = select(positions4(r + 2u * LANES), positions4(r + 3u * LANES), right);
        places = select(places, select(at_ab, at_cd, second), better);
        best = select(best, top, better);
      }
      r += 4u * LANES;
    }
    while (r < end) {
      let keys = load4(r);
      let better = keys > best;
      best = select(best, keys, better);
      places = select(places, positions4(r), better);
      r += LANES;
    }
  }
  // tree: begin
  tree_key[l] = best;
  tree_position[l] = places;
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (lane < step) {
      let other = tree_key[l + step * OUTS];
      let at = tree_position[l + step * OUTS];
      let ahead = (other > tree_key[l]) | ((other == tree_key[l]) & (at < tree_position[l]));
      tree_key[l] = select(tree_key[l], other, ahead);
      tree_position[l] = select(tree_position[l], at, ahead);
    }
  }
  let keys = tree_key[l];
  let at = tree_position[l];
  // tree: end
  if (lane == 0u && valid) {
    let i = o * P[1].x + chunk * P[2].y;
    store(keys.x, at.x, i);
    store(keys.y, at.y, i + P[1].x);
    store(keys.z, at.z, i + 2u * P[1].x);
    store(keys.w, at.w, i + 3u * P[1].x);
  }
}
