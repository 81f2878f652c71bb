// rows: softmax and its kin, layer and rms normalisation along one axis of (outer, n, inner): a *line* is what lies along it.
//
// LANES threads share a line. What fits a workgroup stays in registers between the two statistics (A: greatest mark and
// sum; B: sum of gains) and the result: one read, one write. Longer lines are cut in chunks: PARTIAL keeps each chunk's
// statistics, MERGE makes one of a line's, APPLY reads the elements again. A thread's quads are four neighbours along the
// line, or (ACROSS) four lines at one place. With LANES = 1 threads loop by themselves, without barriers (CPU adapters).
//
// Parameters (group 1, u32 words):
//   0 lines (outer * inner)   1 n   2 inner   3 elements a chunk (a multiple of 4)   4 chunks   5 bits of eps
//   6 offset of src   7, 8, 9 its strides along outer, n, inner   10 chunks in `parts`   11 elements of each
// Dispatch: ceil(lines / lines a workgroup) * chunks workgroups, folded into x, y, z.
// Hooks: fetch, put and the blocks are the unrolled form; mark .. result are the function's; fold and spread join a thread's quad.

alias V = f32; // what one line's number is: f32, or vec4f where a thread has four lines
alias U = u32;
const WG = 256u;
const LANES = 256u;
const ACROSS = false;
const VECTOR = true; // whether a quad is one aligned vec4 in src and dst
const PV = 3u;

@group(0) @binding(0) var<storage, read> src: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> dst: array<vec4u>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const OUTS = WG / LANES; // lines a workgroup, or quads of lines
struct Line { m: vec4f, scale: vec4f, bad: vec4<bool> }
var<workgroup> tops: array<U, WG>;
var<workgroup> sums: array<V, WG>;
var<workgroup> gains: array<V, WG>;
var<private> lane: u32;
var<private> first: u32; // the index of lane 0 of this line in the workgroup
var<private> start: u32; // of the chunk
var<private> end: u32;
var<private> line: vec4u;
var<private> live: vec4<bool>;
var<private> from_: vec4u; // where the lines begin in src
var<private> to: vec4u; // and in dst

fn places(k: u32) -> vec4u {
  if (ACROSS) { return vec4u(start + lane + LANES * k); }
  if (VECTOR) { return vec4u(start + 4u * (lane + LANES * k)) + vec4u(0u, 1u, 2u, 3u); }
  return vec4u(start + lane + LANES * 4u * k) + vec4u(0u, 1u, 2u, 3u) * LANES;
}
fn within(r: vec4u) -> vec4<bool> { return (r < vec4u(end)) & live; }
fn fetch(r: vec4u) -> vec4f { return bitcast<vec4f>(src[(from_.x + r.x * P[2].x) >> 2u]); }
fn put(r: vec4u, y: vec4f) { if (within(r).x) { dst[(to.x + r.x * P[0].z) >> 2u] = bitcast<vec4u>(y); } }

fn mark(x: vec4f) -> vec4u { return key4(x); }
fn center(top: vec4u, sum: vec4f, n: f32) -> Line {
  let m = from_key4(top);
  let bad = (bitcast<vec4u>(m) & vec4u(0x7fffffffu)) >= vec4u(0x7f800000u);
  return Line(select(m, vec4f(), bad), vec4f(1.0f), bad);
}
fn shift(x: vec4f, a: Line) -> vec4f { return exp_below4(x - a.m); }
fn gain(x: vec4f, a: Line) -> vec4f { return x; }
fn finish(gain: vec4f, a: Line, n: f32) -> vec4f { return vec4f(1.0f) / gain; }
fn result(x: vec4f, r: vec4u, b: vec4f, a: Line) -> vec4f { return nan_where4(x * b, a.bad); }

fn fold(x: vec4f) -> V { return (x.x + x.y) + (x.z + x.w); }
fn fold_top(x: vec4u) -> U { return max(max(x.x, x.y), max(x.z, x.w)); }
fn spread(x: V) -> vec4f { return vec4f(x); }
fn spread_top(x: U) -> vec4u { return vec4u(x); }

// trees: begin
fn share_first(l: u32, top: U, sum: V) {
  tops[l] = top;
  sums[l] = sum;
  let hop = select(1u, OUTS, ACROSS);
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (lane < step) {
      tops[l] = max(tops[l], tops[l + step * hop]);
      sums[l] += sums[l + step * hop];
    }
  }
  workgroupBarrier();
}
fn share_second(l: u32, gain: V) {
  gains[l] = gain;
  let hop = select(1u, OUTS, ACROSS);
  for (var step = LANES / 2u; step > 0u; step /= 2u) {
    workgroupBarrier();
    if (lane < step) { gains[l] += gains[l + step * hop]; }
  }
  workgroupBarrier();
}
fn shared_top() -> U { return tops[first]; }
fn shared_sum() -> V { return sums[first]; }
fn shared_gain() -> V { return gains[first]; }
// trees: end

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = g.x + ng.x * (g.y + ng.y * g.z);
  var chunk = job % P[1].x;
  let tile = job / P[1].x;
  if (!ACROSS) {
    lane = l % LANES;
    first = l - lane;
    line = vec4u(tile * OUTS + l / LANES);
  } else {
    lane = l / OUTS;
    first = l % OUTS;
    if (VECTOR) {
      line = vec4u((tile * OUTS + first) * 4u) + vec4u(0u, 1u, 2u, 3u);
    } else {
      line = vec4u(tile * OUTS * 4u + first) + vec4u(0u, 1u, 2u, 3u) * OUTS;
    }
  }
  if (LANES == 1u) { // threads work alone: one for each chunk of each line, or of four lines
    chunk = (job * WG + l) % P[1].x;
    let own = vec4u((job * WG + l) / P[1].x);
    line = select(own, own * 4u + vec4u(0u, 1u, 2u, 3u), ACROSS);
  }
  live = line < vec4u(P[0].x);
  start = chunk * P[0].w;
  end = min(start + P[0].w, P[0].y);
  let outer = line / P[0].z;
  let inner = line - outer * P[0].z;
  from_ = vec4u(P[1].z) + outer * P[1].w + inner * P[2].y;
  to = outer * (P[0].y * P[0].z) + inner;
  var top = vec4u();
  var sum = vec4f();
  var acc = vec4f();
  // first: begin
  let r0 = places(0u);
  let in0 = within(r0);
  var x0 = fetch(r0);
  top = max(top, select(vec4u(), mark(x0), in0));
  // first: end
  // middle: begin
  share_first(l, fold_top(top), fold(sum));
  let a = center(spread_top(shared_top()), spread(shared_sum()), f32(P[0].y));
  // middle: end
  // second: begin
  x0 = shift(x0, a);
  acc += select(vec4f(), gain(x0, a), in0);
  // second: end
  // last: begin
  share_second(l, fold(acc));
  let b = finish(spread(shared_gain()), a, f32(P[0].y));
  put(r0, result(x0, r0, b, a));
  // last: end
}
