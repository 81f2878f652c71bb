// sort_block: stable sort of segments of up to WG * 4 elements by merging in workgroup memory.
//
// Rows of N elements lie one after the other. A segment is a row, or a tile of SPAN elements of a long one (sort_merge does
// the rest). SPAN is a power of two from 4 to WG * 4, and WG * 4 / SPAN segments share a workgroup. A thread sorts four
// neighbours, then in each round it finds by a binary search which four elements of a merged pair of runs are its own.
// Slots behind the end of a row have the greatest key and come last, since the sort is stable.
//
// For SPAN = 4 the blocks `memory` and `rounds` are left out: CPU adapters pay dearly for barriers (see sort_serial).
// With POSITIONS the payload that moves along is the position in the row, otherwise the element's own bits.
// Parameters (group 1, u32 words):
//   0 N   1 rows   2 SPAN   3 segments a row   4 .. 6 the form of the keys (lib/sorting)   7 whether keys are wanted
// Dispatch: ceil(rows * segments / (WG * 4 / SPAN)) workgroups, folded into x, y, z.

const WG = 256u;
const POSITIONS = false;
const PV = 2u;
// use sorting

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> keys_out: array<u32>;
@group(0) @binding(2) var<storage, read_write> payload_out: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const TILE = WG * 4u;
// memory: begin
var<workgroup> keys: array<u32, TILE>;
var<workgroup> payload: array<u32, TILE>;

// The next element of two sorted runs: i goes through the first up to its end, j through the second.
var<private> i: u32;
var<private> j: u32;
fn next(i_end: u32, j_end: u32) -> vec2u {
  let left = keys[min(i, TILE - 1u)];
  let right = keys[min(j, TILE - 1u)];
  let first = j >= j_end || (i < i_end && left <= right);
  let at = select(j, i, first);
  i += select(0u, 1u, first);
  j += select(1u, 0u, first);
  return vec2u(select(right, left, first), payload[min(at, TILE - 1u)]);
}
// memory: end

// (key, payload) of one slot
fn element(row: u32, p: u32) -> vec2u {
  if (p >= P[0].x || row >= P[0].y) { return vec2u(0xffffffffu, 0u); }
  let bits = src[row * P[0].x + p];
  return vec2u(sorting_key(bits, P[1]), select(bits, p, POSITIONS));
}

fn write(p: u32, row: u32, e: vec2u) {
  if (p < P[0].x && row < P[0].y) {
    if (P[1].w != 0u) { keys_out[row * P[0].x + p] = e.x; }
    payload_out[row * P[0].x + p] = e.y;
  }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  let span = P[0].z;
  let slot = l * 4u;
  let segment = job * (TILE / span) + slot / span;
  let row = segment / P[0].w;
  let p = (segment % P[0].w) * span + slot % span;
  var a = element(row, p);
  var b = element(row, p + 1u);
  var c = element(row, p + 2u);
  var d = element(row, p + 3u);
  for (var round = 0u; round < 2u; round++) { // only neighbours change places, and only if they must: stable
    var swap = a.x > b.x;
    var t = a;
    a = select(a, b, swap);
    b = select(b, t, swap);
    swap = c.x > d.x;
    t = c;
    c = select(c, d, swap);
    d = select(d, t, swap);
    swap = b.x > c.x;
    t = b;
    b = select(b, c, swap);
    c = select(c, t, swap);
  }
  // rounds: begin
  for (var width = 4u; width < span; width *= 2u) {
    workgroupBarrier();
    keys[slot] = a.x;
    keys[slot + 1u] = b.x;
    keys[slot + 2u] = c.x;
    keys[slot + 3u] = d.x;
    payload[slot] = a.y;
    payload[slot + 1u] = b.y;
    payload[slot + 2u] = c.y;
    payload[slot + 3u] = d.y;
    workgroupBarrier();
    let base = slot & ~(2u * width - 1u);
    let at = slot - base;
    var low = select(0u, at - width, at > width);
    var high = min(at, width);
    while (low < high) {
      let middle = (low + high) / 2u;
      let before = keys[base + middle] <= keys[base + width + at - 1u - middle];
      low = select(low, middle + 1u, before);
      high = select(middle, high, before);
    }
    i = base + low;
    j = base + width + at - low;
    a = next(base + width, base + 2u * width);
    b = next(base + width, base + 2u * width);
    c = next(base + width, base + 2u * width);
    d = next(base + width, base + 2u * width);
  }
  // rounds: end
  write(p, row, a);
  write(p + 1u, row, b);
  write(p + 2u, row, c);
  write(p + 3u, row, d);
}
