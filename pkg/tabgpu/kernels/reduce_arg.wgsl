// reduce_arg: for each of N outputs, the first position of the greatest of R u32 keys (argmax, argmin over ordered keys).
//
// Shape of the work, parameters and dispatch: as reduce.wgsl. Keys are whole order-preserving u32 numbers, so ties and
// NaN need no care here: the greater key wins, then the lower position. Pass 1 of a long axis writes (key, position)
// pairs; pass 2 reads them through load4 and positions4. Four outputs a thread: reduce_arg_across.wgsl.
// Hooks: begin(o), load4(r) and positions4(r) give keys and positions r .. r+3 of output o; store keeps a result.

const WG = 256u;
const LANES = 256u;
const OUT_FAST = false;
const PV = 4u;

@group(0) @binding(0) var<storage, read> keys_in: array<u32>;
@group(0) @binding(1) var<storage, read_write> keys_out: array<u32>;
@group(0) @binding(2) var<storage, read_write> positions_out: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const OUTS = WG / LANES;
const HOP = LANES * 4u;
const NOWHERE = 0xffffffffu;
var<workgroup> tree_key: array<u32, WG>;
var<workgroup> tree_position: array<u32, WG>;
var<private> row: u32;

fn begin(o: u32) { row = o * P[0].z; }
fn load4(r: u32) -> vec4u { return vec4u(keys_in[row + r], keys_in[row + r + 1u], keys_in[row + r + 2u], keys_in[row + r + 3u]); }
// Whether (key, place) a comes before b: the greater key, then the lower position.
fn ahead(a: vec2u, a_place: vec2u, b: vec2u, b_place: vec2u) -> vec2<bool> {
  return (a > b) | ((a == b) & (a_place < b_place));
}
fn positions4(r: u32) -> vec4u { return vec4u(r, r + 1u, r + 2u, r + 3u); }
fn store(key: u32, position: u32, i: u32) { keys_out[i - P[2].x] = key; positions_out[i - P[2].x] = position; }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  let chunk = P[1].y + job % P[1].z;
  var lane = l % LANES;
  var o = P[0].y + (job / P[1].z) * OUTS + l / LANES;
  var hop = 1u;
  if (OUT_FAST) {
    lane = l / OUTS;
    o = P[0].y + (job / P[1].z) * OUTS + l % OUTS;
    hop = OUTS;
  }
  let valid = o < P[0].x;
  var key = 0u;
  var position = NOWHERE;
  if (valid) {
    begin(o);
    let start = chunk * P[0].w;
    let end = min(start + P[0].w, P[0].z);
    // Positions grow along r, so a later key must be greater; NOWHERE marks a lane that has seen nothing.
    var r = start + lane * 4u;
    var best = vec4u();
    var places = vec4u(NOWHERE);
    if (r < end) { places = select(places, positions4(r), vec4u(r, r + 1u, r + 2u, r + 3u) < vec4u(end)); }
    while (r + 3u * HOP + 3u < end) {
      let a = load4(r);
      let b = load4(r + HOP);
      let c = load4(r + 2u * HOP);
      let d = load4(r + 3u * HOP);
      let left = b > a;
      let right = d > c;
      let ab = select(a, b, left);
      let cd = select(c, d, right);
      let second = cd > ab;
      let top = select(ab, cd, second);
      let better = top > best;
      if (any(better)) {
        let at_ab = select(positions4(r), positions4(r + HOP), left);
        let at_cd = select(positions4(r + 2u * HOP), positions4(r + 3u * HOP), right);
        places = select(places, select(at_ab, at_cd, second), better);
        best = select(best, top, better);
      }
      r += 4u * HOP;
    }
    while (r < end) {
      let keys = load4(r);
      let better = (vec4u(r, r + 1u, r + 2u, r + 3u) < vec4u(end)) & (keys > best);
      best = select(best, keys, better);
      places = select(places, positions4(r), better);
      r += HOP;
    }
    let first = select(best.zw, best.xy, ahead(best.xy, places.xy, best.zw, places.zw));
    let place = select(places.zw, places.xy, ahead(best.xy, places.xy, best.zw, places.zw));
    let left = ahead(first.xx, place.xx, first.yy, place.yy).x;
    key = select(first.y, first.x, left);
    position = select(place.y, place.x, left);
  }
  // tree: begin
  tree_key[l] = key;
  tree_position[l] = position;
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (lane < step) {
      let other = tree_key[l + step * hop];
      let at = tree_position[l + step * hop];
      if (other > tree_key[l] || (other == tree_key[l] && at < tree_position[l])) {
        tree_key[l] = other;
        tree_position[l] = at;
      }
    }
  }
  let all = vec2u(tree_key[l], tree_position[l]);
  // tree: end
  if (lane == 0u && valid) {
    store(all.x, all.y, o * P[1].x + chunk * P[2].y);
  }
}
