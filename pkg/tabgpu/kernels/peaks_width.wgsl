// peaks_width: how wide peaks are at a height, between their bases, with crossings interpolated. A thread a peak; blocks of BLOCK
// elements that lie above the height are one step.
//
// dst: rows of widths, heights, left and right crossings. A width is whole steps and two fractions, so that it is exact where a
// crossing far from the beginning is rounded.
// Parameters (group 1, u32 words): 0 N   1 peaks   2 bits of the part of the prominence   3 BLOCK
// Dispatch: ceil(peaks / WG) workgroups, folded into x, y, z. Peaks outside 0 .. N - 1 give 0.

const WG = 64u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> values: array<f32>;
@group(0) @binding(1) var<storage, read> bottoms: array<f32>;
@group(0) @binding(2) var<storage, read> peaks: array<u32>;
@group(0) @binding(3) var<storage, read> prominences: array<f32>;
@group(0) @binding(4) var<storage, read> lefts: array<u32>;
@group(0) @binding(5) var<storage, read> rights: array<u32>;
@group(0) @binding(6) var<storage, read_write> dst: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  let count = P[0].y;
  if (job >= count) { return; }
  let home = peaks[job];
  let n = P[0].x;
  if (home >= n) {
    for (var k = 0u; k < 4u; k++) { dst[k * count + job] = 0.0f; }
    return;
  }
  let size = P[0].w;
  let height = values[home] - prominences[job] * bitcast<f32>(P[0].z);
  let low = min(lefts[job], home);
  let high = max(min(rights[job], n - 1u), home);
  var p = home;
  while (p > low && height < values[p]) {
    if (p % size == 0u && p >= low + size && height < bottoms[p / size - 1u]) {
      p -= size;
    } else {
      p -= 1u;
    }
  }
  var q = home;
  while (q < high && height < values[q]) {
    let b = (q + 1u) / size;
    if ((q + 1u) % size == 0u && q + size <= high && height < bottoms[b]) {
      q += size;
    } else {
      q += 1u;
    }
  }
  var before = 0.0f;
  var behind = 0.0f;
  if (values[p] < height && p < home) { before = (height - values[p]) / (values[p + 1u] - values[p]); }
  if (values[q] < height && q > home) { behind = (height - values[q]) / (values[q - 1u] - values[q]); }
  dst[job] = f32(q - p) - (before + behind);
  dst[count + job] = height;
  dst[2u * count + job] = f32(p) + before;
  dst[3u * count + job] = f32(q) - behind;
}
