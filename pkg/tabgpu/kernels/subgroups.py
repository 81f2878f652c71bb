"""WGSL that takes the place of a kernel's portable blocks where the adapter offers subgroups."""

from __future__ import annotations

# The block `lanes` of scan_tiles. A subgroup has R times as many neighbouring quads as lanes: one barrier a tile.
SCAN_LANES = """
var<workgroup> tree: array<T, WG / 2u>; // two turns of up to WG / 4 subgroups

fn scan_lanes(x: ptr<function, array<T, R>>, l: u32, size: u32, id: u32, turn: u32, none: T) -> T {
  let most = min(size, LANES);
  let lane = id % most;
  var sum = none;
  for (var j = 0u; j < R; j++) {
    var own = (*x)[j];
    for (var step = 1u; step < most; step *= 2u) {
      let before = subgroupShuffleUp(own, step);
      if (lane >= step) { own = combine(before, own); }
    }
    let before = subgroupShuffleUp(own, 1u);
    (*x)[j] = sum;
    if (lane > 0u) { (*x)[j] = combine(sum, before); }
    sum = combine(sum, subgroupShuffle(own, id - lane + most - 1u));
  }
  if (LANES <= size) { return sum; }
  let side = turn * (WG / 4u);
  if (id == 0u) { tree[side + l / size] = sum; }
  workgroupBarrier();
  let base = side + (l - l % LANES) / size;
  var before = none;
  sum = none;
  for (var k = 0u; k < LANES / size; k++) {
    if (k == (l % LANES) / size) { before = sum; }
    sum = combine(sum, tree[base + k]);
  }
  for (var j = 0u; j < R; j++) { (*x)[j] = combine(before, (*x)[j]); }
  return sum;
}

fn quad(j: u32, l: u32, size: u32) -> u32 {
  let most = min(size, LANES);
  return (l % LANES) / most * most * R + j * most + l % most;
}
"""
ARGUMENTS = ", @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) id: u32\n"
