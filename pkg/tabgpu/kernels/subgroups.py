"""WGSL that takes the place of a kernel's portable blocks where the adapter offers subgroups."""

from __future__ import annotations

from . import replace_block

# The block `lanes` of scan_tiles: a thread adds up R neighbouring quads, subgroups scan the sums and meet at a barrier.
SCAN_LANES = """
var<workgroup> stage: array<T, 2u * (WG * R + WG)>; // two turns
var<workgroup> tree: array<T, WG / 2u>; // two turns of up to WG / 4 subgroups

fn scan_lanes(x: ptr<function, array<T, R>>, l: u32, size: u32, id: u32, turn: u32, none: T) -> T {
  let lane = l % LANES;
  let row = (l - lane) * R + lane;
  let here = turn * (WG * R + WG);
  let own = here + l * (R + 1u);
  var sum = (*x)[0];
  if (R > 1u) {
    for (var j = 0u; j < R; j++) {
      let at = row + j * LANES;
      stage[here + at + at / R] = (*x)[j];
    }
    workgroupBarrier();
    for (var k = 0u; k < R; k++) { (*x)[k] = stage[own + k]; }
    sum = (*x)[0];
    for (var k = 1u; k < R; k++) { sum = combine(sum, (*x)[k]); }
  }
  let most = min(size, LANES);
  let place = id % most;
  for (var step = 1u; step < most; step *= 2u) {
    let left = subgroupShuffleUp(sum, step);
    if (place >= step) { sum = combine(left, sum); }
  }
  let left = subgroupShuffleUp(sum, 1u);
  var total = subgroupShuffle(sum, id - place + most - 1u);
  var before = none;
  if (LANES > size) {
    let side = turn * (WG / 4u);
    if (id == 0u) { tree[side + l / size] = total; }
    workgroupBarrier();
    let base = side + (l - lane) / size;
    total = none;
    for (var k = 0u; k < LANES / size; k++) {
      if (k == lane / size) { before = total; }
      total = combine(total, tree[base + k]);
    }
  }
  if (place > 0u) { before = combine(before, left); }
  if (R == 1u) {
    (*x)[0] = before;
    return total;
  }
  for (var k = 0u; k < R; k++) {
    stage[own + k] = before;
    before = combine(before, (*x)[k]);
  }
  workgroupBarrier();
  for (var j = 0u; j < R; j++) {
    let at = row + j * LANES;
    (*x)[j] = stage[here + at + at / R];
  }
  return total;
}
"""


def lanes(code: str, sizes: tuple[int, int]) -> str:
    """A text whose blocks `more` (arguments of main) and `ids` say how many lanes a subgroup has, and which this is."""
    known = sizes[0] == sizes[1]
    more = "" if known else "@builtin(subgroup_size) size: u32, "
    code = replace_block(code, "more", f", {more}@builtin(subgroup_invocation_id) id: u32\n")
    return "enable subgroups;\n" + replace_block(
        code, "ids", f"  const size = {sizes[0]}u;\n" if known else ""
    )
