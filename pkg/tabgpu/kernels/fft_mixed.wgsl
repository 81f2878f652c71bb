// fft_mixed: as fft_block for any product of small primes: which radices is a parameter, and threads loop over butterflies.
//
// Two halves of workgroup memory, each of HALF positions: of n positions of each of the workgroup's lines. Parameters as fft_block,
// and 37, 38: radices, four bits a step from the lowest (0: no more)   39: lines a workgroup.
// Dispatch: ceil(lines / P[9].w) workgroups, folded into x, y, z. Hooks: load, store; the block `steps` is made (codegen_fft).

alias S = vec2f;
alias T = vec2f;
const WG = 256u;
const HALF = 2048u;
const PV = 10u;
// use fft

@group(0) @binding(0) var<storage, read> src: array<S>;
@group(0) @binding(1) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

var<workgroup> stage: array<vec2f, 2u * HALF>;

fn load(base: u32, p: u32) -> vec2f { return src[base + p * P[1].w]; }
fn store(base: u32, p: u32, v: vec2f) { dst[base + p * P[3].z] = v; }
fn place(line: u32) -> vec4u {
  if ((P[0].y | P[0].z | P[0].w) == 1u) { return vec4u(line, 0u, 0u, 0u); }
  let c = line / P[0].y;
  let b = c / P[0].z;
  return vec4u(b / P[0].w, b % P[0].w, c % P[0].z, line % P[0].y);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let n = P[5].x;
  let most = P[9].w;
  let first = (g.x + ng.x * (g.y + ng.y * g.z)) * most;
  let held = select(0u, min(most, P[0].x - first), first < P[0].x);
  for (var i = l; i < held * n; i += WG) {
    let at = select(vec2u(i % n, i / n), vec2u(i / held, i % held), (P[7].w & 1u) != 0u);
    let read = place(first + at.y);
    let begin = P[1].x + read.x * P[1].y + read.w * P[1].z;
    stage[at.y * n + at.x] = load(begin, read.z * P[2].x + read.y * P[2].y + at.x * P[2].z);
  }
  var half = 0u; // where what the next step reads begins
  var before = 1u;
  for (var k = 0u; k < 16u; k++) {
    workgroupBarrier();
    let radix = (select(P[9].y, P[9].z, k >= 8u) >> (4u * (k & 7u))) & 15u;
    if (radix == 0u) { break; }
    let apart = n / radix;
    let whole = before * radix;
    let by = vec2f(4.0f, 1.0f) / f32(whole);
    for (var i = l; i < held * apart; i += WG) {
      let line = i / apart;
      let j = i % apart;
      let rest = j % before;
      let read = half + line * n + j;
      let into = HALF - half + line * n + (j - rest) * radix + rest;
      // steps: begin
      let x0 = stage[read];
      let x1 = fft_times(stage[read + apart], fft_root(rest, whole, by));
      stage[into] = x0 + x1;
      stage[into + before] = x0 - x1;
      // steps: end
    }
    half = HALF - half;
    before = whole;
  }
  for (var i = l; i < held * n; i += WG) {
    let at = select(vec2u(i % n, i / n), vec2u(i / held, i % held), (P[7].w & 2u) != 0u);
    let write = place(first + at.y);
    let into = write.x * P[3].x + write.w * P[3].y;
    var v = stage[half + at.y * n + at.x];
    if (P[5].y != 0u) { v = fft_times(v, fft_root(write.z * at.x, P[5].y, bitcast<vec2f>(P[5].zw))); }
    store(into, write.z * P[4].y + write.y * P[4].z + at.x * P[4].x, v);
  }
}
