// peaks_prominence: how far a peak rises above the higher of the valleys beside it. A thread a peak, which walks to both sides until
// an element is higher; blocks of BLOCK elements that lie below the peak are one step.
//
// keys order as the elements do (NaN greatest); tops and bottoms are the greatest and least key of each whole block. dst: rows
// of bits of the prominence, of the left and of the right base: the lowest elements, the nearest of equal ones.
// Parameters (group 1, u32 words): 0 N   1 peaks   2 the furthest step to a side   3 BLOCK
// Dispatch: ceil(peaks / WG) workgroups, folded into x, y, z. Peaks outside 0 .. N - 1 give 0 and -1.

const WG = 64u;
const PV = 1u;
const NONE = 0xffffffffu;

@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read> tops: array<u32>;
@group(0) @binding(3) var<storage, read> bottoms: array<u32>;
@group(0) @binding(4) var<storage, read> peaks: array<u32>;
@group(0) @binding(5) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn left_base(home: u32, low: u32) -> u32 {
  let size = P[0].w;
  let top = keys[home];
  var least = top;
  var base = home;
  var block = NONE;
  var p = home;
  while (p > low) {
    if (p % size == 0u && p >= low + size) {
      let b = p / size - 1u;
      if (tops[b] <= top) {
        if (bottoms[b] < least) {
          least = bottoms[b];
          block = b;
        }
        p -= size;
        continue;
      }
    }
    p -= 1u;
    let key = keys[p];
    if (key > top) { break; }
    if (key < least) {
      least = key;
      base = p;
      block = NONE;
    }
  }
  if (block != NONE) {
    base = (block + 1u) * size - 1u;
    while (base > block * size && keys[base] != least) { base -= 1u; }
  }
  return base;
}

fn right_base(home: u32, high: u32) -> u32 {
  let size = P[0].w;
  let top = keys[home];
  var least = top;
  var base = home;
  var block = NONE;
  var p = home + 1u;
  while (p <= high) {
    if (p % size == 0u && p + size <= high + 1u) {
      let b = p / size;
      if (tops[b] <= top) {
        if (bottoms[b] < least) {
          least = bottoms[b];
          block = b;
        }
        p += size;
        continue;
      }
    }
    let key = keys[p];
    if (key > top) { break; }
    if (key < least) {
      least = key;
      base = p;
      block = NONE;
    }
    p += 1u;
  }
  if (block != NONE) {
    base = block * size;
    while (base < (block + 1u) * size - 1u && keys[base] != least) { base += 1u; }
  }
  return base;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let count = P[0].y;
  if (job >= count) { return; }
  let home = peaks[job];
  if (home >= P[0].x) {
    dst[job] = 0u;
    dst[count + job] = NONE;
    dst[2u * count + job] = NONE;
    return;
  }
  let far = P[0].z;
  let left = left_base(home, select(0u, home - far, home > far));
  let right = right_base(home, select(P[0].x - 1u, home + far, far < P[0].x - 1u - home));
  let valley = max(values[left], values[right]);
  dst[job] = bitcast<u32>(values[home] - valley);
  dst[count + job] = left;
  dst[2u * count + job] = right;
}
