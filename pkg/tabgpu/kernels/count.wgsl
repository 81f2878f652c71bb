// count: how often each number 0 .. BINS - 1 occurs among N integers; others are left out. dst holds zeros before.
//
// A thread counts ROUNDS times four neighbours. Where bins fit workgroup memory (up to MOST) a workgroup counts there first,
// so that few bins are no queue; elsewhere and on CPU adapters `shared` and `call` are replaced. Integer addition: exact in
// any order. Parameters (group 1, u32 words): 0 N   1 BINS
// Dispatch: ceil(N / (4 * WG * ROUNDS)) workgroups, folded into x, y, z.

const WG = 256u;
const ROUNDS = 4u;
const MOST = 2048u;
const PV = 1u;

@group(0) @binding(0) var<storage, read> src: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> dst: array<atomic<u32>>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

// shared: begin
var<workgroup> own: array<atomic<u32>, MOST>;

fn add_shared(base: u32, l: u32) {
  for (var bin = l; bin < P[0].y; bin += WG) { atomicStore(&own[bin], 0u); }
  workgroupBarrier();
  for (var k = 0u; k < ROUNDS; k++) {
    let i = (base + k * WG + l) * 4u;
    if (i < P[0].x) {
      let bins = src[i / 4u];
      for (var c = 0u; c < 4u; c++) {
        if (bins[c] < P[0].y && i + c < P[0].x) { atomicAdd(&own[bins[c]], 1u); }
      }
    }
  }
  workgroupBarrier();
  for (var bin = l; bin < P[0].y; bin += WG) {
    let n = atomicLoad(&own[bin]);
    if (n > 0u) { atomicAdd(&dst[bin], n); }
  }
}
// shared: end

fn add(base: u32, l: u32) {
  for (var k = 0u; k < ROUNDS; k++) {
    let i = (base + k * WG + l) * 4u;
    if (i < P[0].x) {
      let bins = src[i / 4u];
      for (var c = 0u; c < 4u; c++) {
        if (bins[c] < P[0].y && i + c < P[0].x) { atomicAdd(&dst[bins[c]], 1u); }
      }
    }
  }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let base = (g.x + ng.x * (g.y + ng.y * g.z)) * WG * ROUNDS;
  // call: begin
  add_shared(base, l);
  // call: end
}
