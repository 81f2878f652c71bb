// peaks_distance: the highest peaks, no two of them nearer than a distance: what taking them from the highest down gives.
//
// Decided in rounds: a peak goes if a higher one nearby is kept, and is kept if no higher one nearby is left undecided. What many
// rounds leave undecided is decided by one thread, in order. Of equal peaks the later one counts as higher.
// STEP 0 begins (0 undecided, 2 gone), 1 is a round, 2 a round that tells in `left` whether any is undecided, 3 is in order.
// Parameters (group 1, u32 words): 0 peaks   1 the distance   2 the first of this launch's peaks in order   3 and how many
// Dispatch: ceil(peaks / WG) workgroups, folded into x, y, z; STEP 3: one.

const WG = 64u;
const STEP = 0u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> peaks: array<u32>;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read> alive: array<u32>;
@group(0) @binding(4) var<storage, read_write> state: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> left: array<atomic<u32>>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn higher(a: u32, b: u32) -> bool {
  let x = keys[a];
  let y = keys[b];
  return x > y || (x == y && a > b);
}

// What peak j, of the peaks to one side, must do: 0 wait, 1 stay, 2 go.
fn told(j: u32, step: u32) -> u32 {
  var k = j + step;
  while (k < P[0].x) { // below 0 wraps to above
    let far = select(peaks[k] - peaks[j], peaks[j] - peaks[k], k < j);
    if (far >= P[0].y) { return 1u; }
    if (higher(k, j)) {
      let s = atomicLoad(&state[k]);
      if (s == 0u) { return 0u; }
      if (s == 1u) { return 2u; }
    }
    k += step;
  }
  return 1u;
}

fn drop(j: u32, step: u32) {
  var k = j + step;
  while (k < P[0].x) {
    let far = select(peaks[k] - peaks[j], peaks[j] - peaks[k], k < j);
    if (far >= P[0].y) { return; }
    if (atomicLoad(&state[k]) == 0u) { atomicStore(&state[k], 2u); }
    k += step;
  }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (STEP == 3u) {
    if (job > 0u || atomicLoad(&left[0]) == 0u) { return; }
    for (var k = P[0].z; k < P[0].z + P[0].w; k++) {
      let j = order[P[0].x - 1u - k];
      if (atomicLoad(&state[j]) != 2u) {
        atomicStore(&state[j], 1u);
        drop(j, 1u);
        drop(j, 0xffffffffu);
      }
    }
    return;
  }
  if (job >= P[0].x) { return; }
  if (STEP == 0u) {
    atomicStore(&state[job], select(2u, 0u, alive[job] != 0u));
    if (job == 0u) { atomicStore(&left[0], 0u); }
    return;
  }
  if (atomicLoad(&state[job]) != 0u) { return; }
  let a = told(job, 0xffffffffu);
  let b = told(job, 1u);
  if (a == 2u || b == 2u) {
    atomicStore(&state[job], 2u);
  } else if (a == 1u && b == 1u) {
    atomicStore(&state[job], 1u);
  } else if (STEP == 2u) {
    atomicStore(&left[0], 1u);
  }
}
