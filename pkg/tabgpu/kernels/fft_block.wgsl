// fft_block: the Fourier transform of lines of R positions, a power of two, in workgroup memory: LINES neighbouring lines a
// workgroup, E positions a thread, read once and written once. One pass of a longer transform, or all of a short one.
//
// Line number ((a B + b) C + c) D + d. Position e of it is at position c P[2].x + b P[2].y + e P[2].z of the memory that is read, and
// at e P[4].x + c P[4].y + b P[4].z of that which is written; times exp(-2 pi i c e / modulus) between two passes. Parameters as
// fft_stage; 8 .. 10 src: positions of c, b and an element; 31: whether neighbouring threads take neighbouring lines where they
// read (1), where they write (2). Banks: the low bits of addresses in `stage` are mixed with higher ones.
// Dispatch: ceil(lines / LINES) workgroups, folded into x, y, z. Hooks: load, store; the block `passes` is made (codegen_fft).

alias S = vec2f;
alias T = vec2f;
const R = 2u;
const E = 2u;
const LINES = 64u;
const PV = 10u;
// use fft

@group(0) @binding(0) var<storage, read> src: array<S>;
@group(0) @binding(1) var<storage, read_write> dst: array<T>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const APART = R / E; // threads a line, and between the positions of a thread
const WG = APART * LINES;
var<workgroup> stage: array<vec2f, LINES * R>;

fn load(base: u32, p: u32) -> vec2f { return src[base + p * P[1].w]; }
fn store(base: u32, p: u32, v: vec2f) { dst[base + p * P[3].z] = v; }
fn at(p: u32) -> u32 { return p ^ (((p >> 4u) ^ (p >> 8u)) & 15u); }
fn place(line: u32) -> vec4u {
  if ((P[0].y | P[0].z | P[0].w) == 1u) { return vec4u(line, 0u, 0u, 0u); }
  let c = line / P[0].y;
  let b = c / P[0].z;
  return vec4u(b / P[0].w, b % P[0].w, c % P[0].z, line % P[0].y);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let first = (g.x + ng.x * (g.y + ng.y * g.z)) * LINES;
  let in_lines = vec2u(l % APART, l / APART);
  let across = vec2u(l / LINES, l % LINES);
  let reads = select(in_lines, across, (P[7].w & 1u) != 0u); // (thread of the line, line)
  let writes = select(in_lines, across, (P[7].w & 2u) != 0u);
  let read = place(first + reads.y);
  let begin = P[1].x + read.x * P[1].y + read.w * P[1].z;
  let offset = read.z * P[2].x + read.y * P[2].y + reads.x * P[2].z;
  let write = place(first + writes.y);
  let into = write.x * P[3].x + write.w * P[3].y;
  let goal = write.z * P[4].y + write.y * P[4].z + writes.x * P[4].x;
  let reading = first + reads.y < P[0].x;
  let writing = first + writes.y < P[0].x;
  // passes: begin
  var x0 = vec2f();
  var x1 = vec2f();
  if (reading) {
    x0 = load(begin, offset);
    x1 = load(begin, offset + APART * P[2].z);
  }
  if (writing) {
    store(into, goal, x0 + x1);
    store(into, goal + APART * P[4].x, x0 - x1);
  }
  // passes: end
}
