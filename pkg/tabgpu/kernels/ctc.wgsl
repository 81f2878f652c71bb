// ctc: minus the logarithm of the probability that a row of class probabilities over time spells a target, with blanks and
// repeats taken out (Graves et al., 2006). One workgroup a batch item; its threads share the 2 S + 1 states of a step.
//
// logs (T, N, C); targets, of item n from starts[n] on; lengths of inputs and targets. alpha: scratch of two steps an item.
// A probability of 0 is LOW here, so that no infinities are computed with. On CPU adapters WG is 1 and `barrier` is empty.
// Parameters (group 1, u32 words): 0 N   1 T   2 C   3 states of an item in alpha   4 blank   5 size of targets
// Dispatch: N workgroups, folded into x, y, z.

const WG = 64u;
const PV = 2u;
const LOW = -1e30f;
// use exp, log

@group(0) @binding(0) var<storage, read> logs: array<f32>;
@group(0) @binding(1) var<storage, read> targets: array<i32>;
@group(0) @binding(2) var<storage, read> starts: array<i32>;
@group(0) @binding(3) var<storage, read> inputs: array<i32>;
@group(0) @binding(4) var<storage, read> lengths: array<i32>;
@group(0) @binding(5) var<storage, read_write> dst: array<f32>;
@group(0) @binding(6) var<storage, read_write> alpha: array<f32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn class_of(start: u32, state: u32) -> u32 {
  if ((state & 1u) == 0u) { return P[1].x; }
  return min(bitcast<u32>(targets[min(start + state / 2u, P[1].y - 1u)]), P[0].z - 1u);
}

fn log_at(t: u32, n: u32, c: u32) -> f32 { return max(logs[(t * P[0].x + n) * P[0].z + c], LOW); }

fn log_sum(a: f32, b: f32, c: f32) -> f32 {
  let top = max(max(a, b), c);
  return top + log_f32(exp_f32(a - top) + exp_f32(b - top) + exp_f32(c - top));
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let n = g.x + ng.x * (g.y + ng.y * g.z);
  if (n >= P[0].x) { return; }
  let start = bitcast<u32>(starts[n]);
  let steps = min(u32(max(inputs[n], 0)), P[0].y);
  let states = min(2u * u32(max(lengths[n], 0)) + 1u, P[0].w);
  let base = n * 2u * P[0].w;
  for (var s = l; s < states; s += WG) {
    var first = LOW;
    if (s < 2u && steps > 0u) { first = log_at(0u, n, class_of(start, s)); }
    if (s == 0u && steps == 0u) { first = 0.0f; }
    alpha[base + s] = first;
  }
  for (var t = 1u; t < P[0].y; t++) {
    // barrier: begin
    storageBarrier();
    // barrier: end
    let old = base + ((t + 1u) & 1u) * P[0].w;
    let new_ = base + (t & 1u) * P[0].w;
    for (var s = l; t < steps && s < states; s += WG) {
      let c = class_of(start, s);
      let stay = alpha[old + s];
      var one = LOW;
      var two = LOW;
      if (s > 0u) { one = alpha[old + s - 1u]; }
      if (s > 1u && (s & 1u) == 1u) {
        if (c != class_of(start, s - 2u)) { two = alpha[old + s - 2u]; }
      }
      alpha[new_ + s] = max(log_sum(stay, one, two), LOW) + log_at(t, n, c);
    }
  }
  // last: begin
  storageBarrier();
  // last: end
  if (l == 0u) {
    let at = base + ((max(steps, 1u) - 1u) & 1u) * P[0].w;
    var total = alpha[at + states - 1u];
    if (states > 1u) { total = log_sum(total, alpha[at + states - 2u], LOW); }
    dst[n] = bitcast<f32>(select(bitcast<u32>(-total), 0x7f800000u, total < 0.5f * LOW));
  }
}
