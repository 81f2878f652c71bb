// fft_stage: one radix pass of Stockham's Fourier transform from storage to storage; a thread does one butterfly by itself.
//
// For CPU adapters (no barriers, no workgroup memory) and for lengths that the block kernels do not take. Lines of n positions,
// D of them side by side: position p of line (a, d) of src is at P[1].x + a * P[1].y + d * P[1].z + p * P[1].w.
// Parameters (group 1, u32 words), those of all fft kernels:
//   0 threads (here), lines or elements   1 D   2 C   3 B   4 .. 7 src: offset, strides of a and d, hop between positions
//   8 .. 11 src: positions of a step of c, b and e, positions there are   12 .. 15 dst: strides of a and d, hop, positions to write
//   16 .. 18 dst: positions of a step of e, c and b   19 length of the transform   20 n   21 modulus of roots
//   22, 23 bits of 4 and 1 over it   24, 25 sign bits to flip of imaginary parts that are read and written   26 bits of the scale
//   27 results before this pass   28, 29 bits of 4 and 1 over (27 * R)   30 bits of 1 / 2 (19)   31 (others)
//   of cosine transforms: 32, 33 bits of the factors of element 0, read and written   34 N reals   35 bits of 1 / 8 N
//   36 flags: 1 elements are read from the last on, 2 written so, 4 odd ones change signs
// Dispatch: ceil(threads / WG) workgroups, folded into x, y, z. Hooks: load, store.

alias S = vec2f;
alias T = vec2f;
const R = 2u;
const WG = 64u;
const PV = 10u;
// use fft

@group(0) @binding(0) var<storage, read> src: array<S>;
@group(0) @binding(1) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

fn load(base: u32, p: u32) -> vec2f { return src[base + p * P[1].w]; }
fn store(base: u32, p: u32, v: vec2f) { dst[base + p * P[3].z] = v; }

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let job = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (job >= P[0].x) { return; }
  let d = job % P[0].y;
  let apart = P[5].x / R;
  let j = (job / P[0].y) % apart;
  let a = job / (P[0].y * apart);
  let before = P[6].w;
  let rest = j % before;
  let begin = P[1].x + a * P[1].y + d * P[1].z;
  let into = a * P[3].x + d * P[3].y;
  let place = (j - rest) * R + rest;
  // butterfly: begin
  let x0 = load(begin, j);
  let x1 = fft_times(load(begin, j + apart), fft_root(rest, before * R, bitcast<vec2f>(P[7].xy)));
  store(into, place, x0 + x1);
  store(into, place + before, x0 - x1);
  // butterfly: end
}
