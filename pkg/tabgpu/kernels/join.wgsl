// join: one array out of pieces that lie behind one another along an axis (concat, stack, block, delete). Copies bits.
//
// A thread makes FOLD words of the result, WG words apart, of PER elements (4 of one byte, 2 of two bytes, or 1). It looks
// up the piece of an element and its place in the piece's strides (modulo 2^32: they may be negative or 0), and steps on
// from there along the last axis as far as that goes before it looks again: divisions are what this costs.
// Where a launch covers only some pieces, words at their borders keep what an earlier launch has put there.
//
// Tunables (rewritten by specialise): WG threads; PER elements a word; FOLD words a thread.
//
// Parameters (group 1, u32 words):
//   0 first word   1 words   2 unused   3 rank   4 which axis   5 pieces   6 words a piece
//   7 first coordinate of these pieces along the axis   8 one past the last   9 words of a run   10 from run to run
//   11 the word of the result that its binding begins with
//   12 first element   13 one past the last
//   16.. sizes of the axes of the result, row-major; then for each piece:
//   buffer (7: the word `offset` is the value)   end along the axis   start along the axis   offset   strides by axis
// Dispatch: ceil(words / (WG * FOLD)) workgroups, folded into x, y, z in any way that covers them.

const WG = 256u;
const PER = 1u;
const FOLD = 8u;
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
const CONSTANT = 7u;

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

// Where the thread is: an element of the result, how many it can step on (itself included), whether these pieces have
// them, the slot of their buffer, the element there.
var<private> here: u32;
var<private> left: u32;
var<private> have: bool;
var<private> slot: u32;
var<private> place: u32;
var<private> step: u32;

// Finds element e of the result.
fn locate(e: u32) {
  let rank = P[0].w;
  let axis = P[1].x;
  var c = e;
  for (var d = rank - 1u; d > axis; d--) { c /= param(16u + d); }
  if (axis > 0u) { c %= param(16u + axis); }
  here = e;
  left = 1u;
  have = e >= P[3].x && e < P[3].y && c >= P[1].w && c < P[2].x;
  if (!have) { return; }
  var at = 16u + rank;
  for (var k = 1u; k < P[1].y; k++) {
    if (c < param(at + 1u)) { break; }
    at += P[1].z;
  }
  slot = param(at);
  place = param(at + 3u);
  step = param(at + 3u + rank);
  var rest = e;
  for (var d = rank; d > 0u; d--) {
    let n = param(15u + d);
    var x = rest;
    if (d > 1u) {
      rest /= n;
      x -= rest * n;
    }
    if (d == rank) { left = select(n, param(at + 1u), axis + 1u == rank) - x; }
    if (d - 1u == axis) { x -= param(at + 2u); }
    place += x * param(at + 3u + d);
  }
  left = min(left, P[3].y - e);
}

// Goes on to element e, by steps where that is possible.
fn seek(e: u32) {
  let jump = e - here;
  if (jump < left) {
    here = e;
    left -= jump;
    place += jump * step;
  } else {
    locate(e);
  }
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let first = (g.x + ng.x * (g.y + ng.y * g.z)) * WG * FOLD + l;
  left = 0u;
  for (var k = 0u; k < FOLD; k++) {
    let t = first + k * WG;
    if (t >= P[0].y) { return; }
    var w = P[0].x + t;
    if (P[2].y < P[0].y) { w += t / P[2].y * (P[2].z - P[2].y); }
    let e = w * PER;
    var value = 0u;
    var mask = 0u;
    seek(e);
    if (PER > 1u && have && left >= PER && step == 1u && slot != CONSTANT && place % PER == 0u) {
      value = word_of(slot, place / PER);
      mask = 0xffffffffu;
    } else {
      for (var q = 0u; q < PER; q++) {
        if (q > 0u) { seek(e + q); }
        if (have) {
          var found = place;
          if (slot != CONSTANT) { found = (word_of(slot, place / PER) >> ((place % PER) * BITS)) & WHOLE; }
          value |= found << (q * BITS);
          mask |= WHOLE << (q * BITS);
        }
      }
    }
    let o = w - P[2].w;
    if (mask == 0xffffffffu) { out[o] = value; }
    else if (mask != 0u) { out[o] = (out[o] & ~mask) | value; }
  }
}
