// remap: an array read through a map of its own on each axis (pad, roll, resize). Copies bits, computes nothing.
//
// Each thread owns one 32-bit word of the result, which holds PER elements (4 of one byte, 2 of two bytes, or 1). An
// axis takes coordinate c of the result to one of the source, all in u32 (so that nothing is ever negative):
//   mode 0  c - shift; before the source and behind it stand constants, of two outer axes the later decides
//   mode 1  c - shift, the nearest inside
//   mode 2  (c + shift) % period, from the source's size on counted backwards from `turn`
// Periods and turns make reflect (2n - 2 and 2n - 2), symmetric (2n and 2n - 1) and wrap (n and n) of mode 2.
//
// Tunables (rewritten by specialise): WG threads; PER elements a word; PAIRS true: the last axis is the two words of
// complex64, and the parity of an element says which of a constant's words is its own.
//
// Parameters (group 1, u32 words):
//   0 words   1 unused   2 rank   3 offset
//   4 first word   5 the word of the result that its binding begins with   6 first element   7 one past the last
//   12 for each axis: size of the result, size, stride, mode,  shift, period, turn, 0,
//   constant before (2 words), constant behind (2 words)
// Strides and offset are modulo 2^32.
// Dispatch: ceil(words / WG) workgroups, folded into x, y, z in any way that covers them.

const WG = 256u;
const PER = 1u;
const PAIRS = false;
const PV = 256u;

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

const BITS = 32u / PER;
const WHOLE = 0xffffffffu >> (32u - BITS);

fn element(e: u32) -> u32 {
  var rest = e;
  var i = P[0].w;
  for (var d = P[0].z; d > 0u; d--) {
    let a = P[3u * d - 1u];
    let b = P[3u * d];
    var c = rest % a.x;
    rest /= a.x;
    if (a.w == 2u) {
      c = (c + b.x) % b.y;
      if (c >= a.y) { c = b.z - c; }
    } else {
      let ahead = c < b.x;
      c -= b.x;
      if (ahead || c >= a.y) {
        if (a.w == 0u) {
          let k = P[3u * d + 1u];
          let own = select(k.zw, k.xy, ahead);
          return select(own.x, own.y, PAIRS && (e & 1u) == 1u);
        }
        c = select(a.y - 1u, 0u, ahead);
      }
    }
    i += c * a.z;
  }
  return (x[i / PER] >> (i % PER * BITS)) & WHOLE;
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(num_workgroups) ng: vec3u, @builtin(local_invocation_index) l: u32) {
  let t = (g.x + ng.x * (g.y + ng.y * g.z)) * WG + l;
  if (t >= P[0].x) { return; }
  let w = P[1].x + t;
  var value = 0u;
  var mask = 0u;
  for (var q = 0u; q < PER; q++) {
    let e = w * PER + q;
    if (e >= P[1].z && e < P[1].w) {
      value |= element(e) << (q * BITS);
      mask |= WHOLE << (q * BITS);
    }
  }
  let o = w - P[1].y;
  if (mask == 0xffffffffu) { out[o] = value; }
  else { out[o] = (out[o] & ~mask) | value; }
}
