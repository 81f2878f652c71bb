// remap: an array read through a map of its own on each axis (pad, roll, resize). Copies bits, computes nothing.
//
// A thread makes FOLD words of the result, WG words apart, of PER elements (4 of one byte, 2 of two bytes, or 1). It looks
// up the place of an element in the source and steps on from there along the last axis while its map is a line. An axis
// takes coordinate c of the result to one of the source, all in u32 (so that nothing is ever negative):
//   mode 0  c - shift; before the source and behind it stand constants, of two outer axes the later decides
//   mode 1  c - shift, the nearest inside
//   mode 2  (c + shift) % period, from the source's size on counted backwards from `turn`
// Periods and turns make reflect (2n - 2 and 2n - 2), symmetric (2n and 2n - 1) and wrap (n and n) of mode 2.
//
// Tunables (rewritten by specialise): WG threads; PER elements a word; FOLD words a thread; PAIRS true: the last axis is
// the two words of complex64, and the parity of an element says which of a constant's words is its own.
//
// Parameters (group 1, u32 words):
//   0 words   1 unused   2 rank   3 offset
//   4 first word   5 the word of the result that its binding begins with   6 first element   7 one past the last
//   12 for each axis: size of the result, size, stride, mode,  shift, period, turn, 0,
//   constant before (2 words), constant behind (2 words)
// Strides and offset are modulo 2^32.
// Dispatch: ceil(words / (WG * FOLD)) workgroups, folded into x, y, z in any way that covers them.

const WG = 256u;
const PER = 1u;
const FOLD = 8u;
const PAIRS = false;
const PV = 256u;

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const BITS = 32u / PER;
const WHOLE = 0xffffffffu >> (32u - BITS);

// Where the thread is: an element of the result, how many it can step on (itself included), the element of the source,
// or the constant that stands there.
var<private> here: u32;
var<private> left: u32;
var<private> place: u32;
var<private> step: u32;
var<private> filled: bool;
var<private> own: vec2u;

// Finds element e of the result.
fn locate(e: u32) {
  here = e;
  place = P[0].w;
  filled = false;
  var rest = e;
  for (var d = P[0].z; d > 0u; d--) {
    let a = P[3u * d - 1u];
    let b = P[3u * d];
    var c = rest;
    if (d > 1u) {
      rest /= a.x;
      c -= rest * a.x;
    }
    var run = a.x - c;
    var hop = a.z;
    if (a.w == 2u) {
      c = (c + b.x) % b.y;
      if (c >= a.y) {
        run = min(run, b.y - c);
        c = b.z - c;
        hop = 0u - hop;
      } else {
        run = min(run, a.y - c);
      }
    } else if (c >= b.x && c - b.x < a.y) {
      c -= b.x;
      run = min(run, a.y - c);
    } else {
      let ahead = c < b.x;
      if (a.w == 0u && !filled) {
        let k = P[3u * d + 1u];
        filled = true;
        own = select(k.zw, k.xy, ahead);
      }
      if (ahead) { run = b.x - c; }
      hop = 0u;
      c = select(a.y - 1u, 0u, ahead);
    }
    if (d == P[0].z) {
      left = run;
      step = hop;
    }
    place += c * a.z;
  }
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
    if (t >= P[0].x) { return; }
    let w = P[1].x + t;
    let e = w * PER;
    var value = 0u;
    var mask = 0u;
    seek(e);
    if (PER > 1u && !filled && left >= PER && step == 1u && place % PER == 0u && e >= P[1].z && e + PER <= P[1].w) {
      value = x[place / PER];
      mask = 0xffffffffu;
    } else {
      for (var q = 0u; q < PER; q++) {
        if (q > 0u) { seek(e + q); }
        if (e + q >= P[1].z && e + q < P[1].w) {
          var found = select(own.x, own.y, PAIRS && (e & 1u) == 1u);
          if (!filled) { found = (x[place / PER] >> ((place % PER) * BITS)) & WHOLE; }
          value |= found << (q * BITS);
          mask |= WHOLE << (q * BITS);
        }
      }
    }
    let o = w - P[1].y;
    if (mask == 0xffffffffu) { out[o] = value; }
    else { out[o] = (out[o] & ~mask) | value; }
  }
}
