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
const MOST = 16u; // loads of a group
var<workgroup> top_key: array<atomic<u32>, OUTS>;
var<workgroup> tree_key: array<u32, WG>;
var<workgroup> tree_position: array<u32, WG>;
var<private> row: u32;

fn begin(o: u32) { row = o * P[0].z; }
fn load4(r: u32) -> vec4u { return vec4u(keys_in[row + r], keys_in[row + r + 1u], keys_in[row + r + 2u], keys_in[row + r + 3u]); }
fn positions4(r: u32) -> vec4u { return vec4u(r, r + 1u, r + 2u, r + 3u); }
fn store(key: u32, position: u32, i: u32) { keys_out[i - P[2].x] = key; positions_out[i - P[2].x] = position; }

// The first place of a key in the four from q on.
fn sought(key: u32, q: u32, end: u32) -> u32 {
  if (q >= end) { return NOWHERE; }
  let same = (load4(q) == vec4u(key)) & (vec4u(q, q + 1u, q + 2u, q + 3u) < vec4u(end));
  let found = select(vec4u(NOWHERE), positions4(q), same);
  return min(min(found.x, found.y), min(found.z, found.w));
}

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
  var key = 0u;
  var at = NOWHERE;
  var end = 0u;
  // clear: begin
  let slot = select(l / LANES, l % OUTS, OUT_FAST);
  if (lane == 0u) { atomicStore(&top_key[slot], 0u); } // drivers of the native host leave what an earlier group left
  workgroupBarrier();
  // clear: end
  if (valid) {
    begin(o);
    let start = chunk * P[0].w;
    end = min(start + P[0].w, P[0].z);
    // Of many loads only the greatest key and where they began are kept. Places grow along r, so a later group must have
    // a greater key; one that has not been left holds nothing but zeros.
    var r = start + lane * 4u;
    var best = vec4u();
    var group = vec4u(select(NOWHERE, r, r < end));
    while (r + (MOST - 1u) * HOP + 3u < end) {
      let a = max(max(load4(r), load4(r + HOP)), max(load4(r + 2u * HOP), load4(r + 3u * HOP)));
      let b = max(max(load4(r + 4u * HOP), load4(r + 5u * HOP)), max(load4(r + 6u * HOP), load4(r + 7u * HOP)));
      let c = max(max(load4(r + 8u * HOP), load4(r + 9u * HOP)), max(load4(r + 10u * HOP), load4(r + 11u * HOP)));
      let d = max(max(load4(r + 12u * HOP), load4(r + 13u * HOP)), max(load4(r + 14u * HOP), load4(r + 15u * HOP)));
      let top = max(max(a, b), max(c, d));
      let better = top > best;
      best = select(best, top, better);
      group = select(group, vec4u(r), better);
      r += MOST * HOP;
    }
    while (r + 3u * HOP + 3u < end) {
      let top = max(max(load4(r), load4(r + HOP)), max(load4(r + 2u * HOP), load4(r + 3u * HOP)));
      let better = top > best;
      best = select(best, top, better);
      group = select(group, vec4u(r), better);
      r += 4u * HOP;
    }
    while (r < end) {
      let keys = load4(r);
      let better = (vec4u(r, r + 1u, r + 2u, r + 3u) < vec4u(end)) & (keys > best);
      best = select(best, keys, better);
      group = select(group, vec4u(r), better);
      r += HOP;
    }
    key = max(max(best.x, best.y), max(best.z, best.w));
    let begun = select(vec4u(NOWHERE), group, best == vec4u(key));
    at = min(min(begun.x, begun.y), min(begun.z, begun.w));
  }
  // Only lanes that have the output's greatest key look up its place, in the group from `at` on.
  // rivals: begin
  atomicMax(&top_key[slot], key);
  workgroupBarrier();
  let rival = key == atomicLoad(&top_key[slot]);
  // rivals: end
  var position = NOWHERE;
  if (rival && at != NOWHERE) {
    for (var j = 0u; j < MOST && position == NOWHERE; j += 4u) { // four at a time: one wait for memory
      let q = at + j * HOP;
      position = min(min(sought(key, q, end), sought(key, q + HOP, end)),
                     min(sought(key, q + 2u * HOP, end), sought(key, q + 3u * HOP, end)));
    }
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
