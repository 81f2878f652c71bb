// components: which places that are True are connected: trees of places whose roots are the first places of components.
//
// Three launches on the same parents: `begin` links runs of a row's segment of SEGMENT places, `join` links each place with
// its neighbours before it, by atomic minima and without waiting for other threads, `settle` points each place at its root.
//
// Parameters (group 1, u32 words):
//   0 places   1 axes   2 neighbours before a place   3 whether the last axis' direct neighbour is one of them
//   4 sizes of the axes, at most 8   12 for each neighbour the difference of its flat place, then two words of its
//   differences along axes, signed bytes, the first axis lowest
// Dispatch: ceil(places / WG) workgroups, for `begin` ceil(segments / WG), folded into x, y, z.
// Hooks: there.

const WG = 256u;
const SEGMENT = 32u;
const PV = 192u;
const NONE = 0xffffffffu;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> parents: array<atomic<u32>>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn there(at: u32) -> bool { return src[at] != 0u; }
fn word(k: u32) -> u32 { return P[k >> 2u][k & 3u]; }

// The root of a place; on the way, places are pointed at what their parents point at.
fn root(first: u32) -> u32 {
  var at = first;
  var up = atomicLoad(&parents[at]);
  while (up != at) {
    let next = atomicLoad(&parents[up]);
    if (next != up) { atomicMin(&parents[at], next); }
    at = up;
    up = next;
  }
  return at;
}
fn link(one: u32, other: u32) {
  var a = root(one);
  var b = root(other);
  while (a != b) {
    let high = max(a, b);
    let low = min(a, b);
    let old = atomicMin(&parents[high], low);
    if (old == high) { return; }
    a = root(old); // somebody had linked it elsewhere: both belong together
    b = root(low);
  }
}

fn begin(id: u32) {
  let n = word(3u + P[0].y);
  let segments = (n + SEGMENT - 1u) / SEGMENT;
  let row = id / segments;
  let from_ = (id - row * segments) * SEGMENT;
  let first = row * n;
  if (first >= P[0].x) { return; }
  var start = NONE;
  for (var k = from_; k < min(from_ + SEGMENT, n); k++) {
    let at = first + k;
    let here = there(at);
    start = select(NONE, select(at, start, start != NONE && P[0].w != 0u), here);
    atomicStore(&parents[at], start);
  }
}
fn join(id: u32) {
  if (id >= P[0].x || !there(id)) { return; }
  var rest = id;
  var places: array<i32, 8>;
  for (var k = P[0].y; k > 0u; k--) {
    let n = word(3u + k);
    places[k - 1u] = i32(rest % n);
    rest /= n;
  }
  for (var j = 0u; j < P[0].z; j++) {
    let w = 12u + 3u * j;
    var inside = true;
    for (var k = 0u; k < P[0].y; k++) {
      let step = bitcast<i32>(word(w + 1u + (k >> 2u)) << (24u - 8u * (k & 3u))) >> 24u;
      let at = places[k] + step;
      inside = inside && at >= 0 && at < i32(word(4u + k));
    }
    let other = id + word(w);
    if (inside && there(other)) { link(id, other); }
  }
}
fn settle(id: u32) {
  if (id < P[0].x && there(id)) { atomicStore(&parents[id], root(id)); }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let id = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  // phase: begin
  begin(id);
  // phase: end
}
