// join: one array out of pieces that lie behind one another along an axis (concat, stack, block, delete). Copies bits.
//
// Each thread owns one 32-bit word of the result, which holds PER elements (4 of one byte, 2 of two bytes, or 1); it
// finds the piece of each element and reads it through the piece's own strides (modulo 2^32: they may be negative or 0).
// Where a launch covers only some pieces, words at their borders keep what an earlier launch has put there.
//
// Tunables (rewritten by specialise): WG threads; PER elements a word.
//
// Parameters (group 1, u32 words):
//   0 first word   1 words   2 unused   3 rank   4 which axis   5 pieces   6 words a piece
//   7 first coordinate of these pieces along the axis   8 one past the last   9 words of a run   10 from run to run
//   11 the word of the result that its binding begins with
//   12 first element   13 one past the last
//   16.. sizes of the axes of the result, row-major; then for each piece:
//   buffer (7: the word `offset` is the value)   end along the axis   start along the axis   offset   strides by axis
// Dispatch: ceil(words / WG) workgroups, folded into x, y, z in any way that covers them.

const WG = 256u;
const PER = 1u;
const PV = 256u;

@group(0) @binding(0) var<storage, read> in0: array<u32>;
@group(0) @binding(1) var<storage, read> in1: array<u32>;
@group(0) @binding(2) var<storage, read> in2: array<u32>;
@group(0) @binding(3) var<storage, read> in3: array<u32>;
@group(0) @binding(4) var<storage, read> in4: array<u32>;
@group(0) @binding(5) var<storage, read> in5: array<u32>;
@group(0) @binding(6) var<storage, read> in6: array<u32>;
@group(0) @binding(7) var<storage, read_write> out: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const BITS = 32u / PER;
const WHOLE = 0xffffffffu >> (32u - BITS);

fn param(k: u32) -> u32 { return P[k >> 2u][k & 3u]; }

fn word_of(buffer: u32, i: u32) -> u32 {
  switch (buffer) {
    case 0u: { return in0[i]; }
    case 1u: { return in1[i]; }
    case 2u: { return in2[i]; }
    case 3u: { return in3[i]; }
    case 4u: { return in4[i]; }
    case 5u: { return in5[i]; }
    default: { return in6[i]; }
  }
}

// The bits of element e of the result, and whether these pieces have it.
fn element(e: u32) -> vec2u {
  let rank = P[0].w;
  let axis = P[1].x;
  var rest = e;
  for (var d = rank - 1u; d > axis; d--) { rest /= param(16u + d); }
  let c = rest % param(16u + axis);
  if (e < P[3].x || e >= P[3].y || c < P[1].w || c >= P[2].x) { return vec2u(0u, 0u); }
  var at = 16u + rank;
  for (var k = 1u; k < P[1].y; k++) {
    if (c < param(at + 1u)) { break; }
    at += P[1].z;
  }
  var i = param(at + 3u);
  if (param(at) == 7u) { return vec2u(i, 1u); }
  rest = e;
  for (var d = rank; d > 0u; d--) {
    let n = param(15u + d);
    var x = rest % n;
    rest /= n;
    if (d - 1u == axis) { x -= param(at + 2u); }
    i += x * param(at + 3u + d);
  }
  return vec2u((word_of(param(at), i / PER) >> (i % PER * BITS)) & WHOLE, 1u);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let t = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (t >= P[0].y) { return; }
  let w = P[0].x + t / P[2].y * P[2].z + t % P[2].y;
  var value = 0u;
  var mask = 0u;
  for (var q = 0u; q < PER; q++) {
    let found = element(w * PER + q);
    value |= found.x << (q * BITS);
    mask |= select(0u, WHOLE, found.y == 1u) << (q * BITS);
  }
  let o = w - P[2].w;
  if (mask == 0xffffffffu) { out[o] = value; }
  else if (mask != 0u) { out[o] = (out[o] & ~mask) | value; }
}
