// attention: softmax(scale * Q K^T + mask) V by an online softmax: scores never reach memory. Nothing else.
//
// The rows of a batch element z are its queries: row r is head r % G of the G that share keys, at position r / G. Scores
// are kept times FACTOR (log2 e where expo is exp2), a key that a row may not see counts as HIDDEN, and the running
// maximum begins above that, so that such keys weigh 0 and a row that sees none is 0. Keys from the length on and
// dimensions past the end are read as zeros. Keys may be cut in chunks (SPLIT): each leaves sums, maximum and total of a
// row, which the form `merge` joins.
//
// The block between `body: begin` and `body: end` is the plainest form, a thread a row; attention_inner.py writes tiles
// (queries x keys through workgroup memory), few (few queries, a thread a key), serial (for CPU adapters) and merge.
// codegen_attention.py declares the bindings that a form has and fills the hooks.
//
// Tunables: NT threads; SPLIT; PV vec4s of parameters. Hooks: q_quad, k_quad, v_quad, expo, keys_of, masked, put, part.
//
// Parameters (group 1, u32 words; strides and offsets in elements, modulo 2^32):
//   0 rows R   1 G   2 keys S   3 dimensions D of a head   4 those of a value, E   5 tiles of rows   6 chunks   7 keys a chunk
//   8 scale * FACTOR   9 FACTOR   10 keys that row 0 sees beyond the first (causal, signed)   11 1: causal, 2: and aligned
//   with the last key   12 batch elements   13 2 / cap   14 cap * FACTOR   15 offset of the lengths
//   16 17 18 sizes of the last three of the four batch axes   19 vec4s of a value   20 21 22 23 offsets of Q, K, V, mask
//   24 strides along the batch axes of Q, 28 K, 32 V, 36 mask, 40 lengths, 44 result
//   48 49 50 strides of Q along positions, heads, dimensions   51 52 of the result along positions, heads
//   53 54 of K along keys, dimensions   55 56 of V   57 58 59 of the mask along positions, heads, keys
//
// Dispatch: tiles * batch elements * chunks workgroups, folded into x, y, z in any way that covers them.

const NT = 64u;
const SPLIT = false;
const PV = 15u;

const HIDDEN = -3.3e38f;
const FLOOR = -3.1e38f;

@group(0) @binding(0) var<storage, read> q: array<u32>;
@group(0) @binding(1) var<storage, read> k: array<u32>;
@group(0) @binding(2) var<storage, read> v: array<u32>;
@group(0) @binding(3) var<storage, read> mask: array<u32>;
@group(0) @binding(4) var<storage, read> lengths: array<u32>;
@group(0) @binding(5) var<storage, read_write> dst: array<u32>;
@group(1) @binding(0) var<uniform> P: array<vec4u, PV>;

// Four elements from i on, `step` apart; from the left-th on zeros.
fn q_quad(i: u32, step: u32, left: u32) -> vec4f {
  let x = bitcast<vec4f>(vec4u(q[i], q[i + step], q[i + 2u * step], q[i + 3u * step]));
  return select(vec4f(), x, vec4u(0u, 1u, 2u, 3u) < vec4u(left));
}
fn k_quad(i: u32, step: u32, left: u32) -> vec4f {
  let x = bitcast<vec4f>(vec4u(k[i], k[i + step], k[i + 2u * step], k[i + 3u * step]));
  return select(vec4f(), x, vec4u(0u, 1u, 2u, 3u) < vec4u(left));
}
fn v_quad(i: u32, step: u32, left: u32) -> vec4f {
  let x = bitcast<vec4f>(vec4u(v[i], v[i + step], v[i + 2u * step], v[i + 3u * step]));
  return select(vec4f(), x, vec4u(0u, 1u, 2u, 3u) < vec4u(left));
}

// e^x for x <= 0, of x times FACTOR.
fn expo(x: vec4f) -> vec4f { return exp2(x); }

// Where a batch element's arrays begin, how many keys it has and how many its row 0 sees, less one.
struct Place { z: u32, q: u32, k: u32, v: u32, mask: u32, dst: u32, n: u32, shift: i32 }

fn along(c: vec4u, strides: vec4u) -> u32 {
  let p = c * strides;
  return p.x + p.y + p.z + p.w;
}

// The keys of a batch element.
fn keys_of(c: vec4u) -> u32 {
  return u32(clamp(bitcast<i32>(lengths[P[3].w + along(c, P[10])]), 0i, i32(P[0].z)));
}

fn place(z: u32) -> Place {
  let s = P[4];
  let c = vec4u(z / (s.x * s.y * s.z), z / (s.y * s.z) % s.x, z / s.z % s.y, z % s.z);
  let n = keys_of(c);
  var shift = bitcast<i32>(P[2].z);
  if (P[2].w == 2u) { shift = i32(n) - i32(P[0].x / P[0].y); }
  return Place(z, P[5].x + along(c, P[6]), P[5].y + along(c, P[7]), P[5].z + along(c, P[8]),
               P[5].w + along(c, P[9]), along(c, P[11]), n, shift);
}

// How many keys a row sees but for the mask.
fn seen(r: u32, at: Place) -> u32 {
  let n = clamp(i32(r / P[0].y) + at.shift + 1i, 0i, i32(at.n));
  return select(at.n, u32(n), P[2].w != 0u);
}

fn q_four(r: u32, d: u32, at: Place) -> vec4f {
  let x = r / P[0].y;
  let left = select(0u, P[0].w - min(d, P[0].w), r < P[0].x);
  return q_quad(at.q + x * P[12].x + (r - x * P[0].y) * P[12].y + d * P[12].z, P[12].z, left);
}

fn k_four(key: u32, d: u32, at: Place) -> vec4f {
  let left = select(0u, P[0].w - min(d, P[0].w), key < at.n);
  return k_quad(at.k + key * P[13].y + d * P[13].z, P[13].z, left);
}

fn v_four(key: u32, d: u32, at: Place) -> vec4f {
  let left = select(0u, P[1].x - min(d, P[1].x), key < at.n);
  return v_quad(at.v + key * P[13].w + d * P[14].x, P[14].x, left);
}

// Where a row of the mask begins.
fn mask_row(r: u32, at: Place) -> u32 {
  let x = r / P[0].y;
  return at.mask + x * P[14].y + (r - x * P[0].y) * P[14].z;
}

// Four scores limited to +-cap.
fn capped(s: vec4f) -> vec4f {
  let e = expo(-abs(s) * bitcast<f32>(P[3].y));
  let t = (1.0f - e) / (1.0f + e) * bitcast<f32>(P[3].z);
  return select(-t, t, s >= vec4f());
}

// Four scores under the mask's elements i: bools, a byte each.
fn barred(s: vec4f, i: vec4u) -> vec4f {
  let w = vec4u(mask[i.x >> 2u], mask[i.y >> 2u], mask[i.z >> 2u], mask[i.w >> 2u]);
  return select(s, vec4f(HIDDEN), ((w >> ((i & vec4u(3u)) * 8u)) & vec4u(255u)) == vec4u());
}

// The same, floats to be added. The lowest ones, which masks are made of, must not overflow; -inf hides as False does.
fn biased(s: vec4f, i: vec4u) -> vec4f {
  let w = vec4u(mask[i.x], mask[i.y], mask[i.z], mask[i.w]);
  let x = bitcast<vec4f>(w);
  let y = s + select(x, vec4f(-1.0e38f), x < vec4f(-1.0e38f)) * bitcast<f32>(P[2].y);
  return select(y, vec4f(HIDDEN), w == vec4u(0xff800000u));
}

// Four scores behind cap and mask, for rows that begin at `row` in the mask.
fn masked(s: vec4f, row: vec4u, key: vec4u) -> vec4f { return biased(capped(s), row + key * P[14].w); }

// Dimensions d to d + 3 of a row of the result.
fn put(r: u32, d: u32, y: vec4f, at: Place) {
  let x = r / P[0].y;
  let i = at.dst + x * P[12].w + (r - x * P[0].y) * P[13].x + d;
  let bits = bitcast<vec4u>(y);
  for (var j = 0u; j < min(4u, P[1].x - d); j++) { dst[i + j] = bits[j]; }
}

// What a workgroup knows of a row: o is not divided by the total l of weights yet, m the maximum.
fn leave(r: u32, d: u32, o: vec4f, m: f32, l: f32, chunk: u32, at: Place) {
  if (r >= P[0].x || d >= P[1].x) { return; }
  if (SPLIT) {
    let i = ((chunk * P[3].x + at.z) * P[0].x + r) * (P[4].w + 1u);
    part(i + d / 4u, o);
    if (d == 0u) { part(i + P[4].w, vec4f(m, l, 0.0f, 0.0f)); }
  } else {
    put(r, d, select(o / l, vec4f(), l == 0.0f), at);
  }
}

// A vec4 of what a chunk leaves.
fn part(i: u32, y: vec4f) {
  let bits = bitcast<vec4u>(y);
  for (var j = 0u; j < 4u; j++) { dst[i * 4u + j] = bits[j]; }
}

@compute @workgroup_size(NT)
fn main(@builtin(workgroup_id) wid: vec3u, @builtin(num_workgroups) nwg: vec3u,
        @builtin(local_invocation_index) li: u32) {
  let t = wid.x + nwg.x * (wid.y + nwg.y * wid.z);
  if (t >= P[1].y * P[3].x * P[1].z) {
    return;
  }
  let chunk = t % P[1].z;
  let at = place(t / P[1].z % P[3].x);
  let tile = P[1].y - 1u - t / P[1].z / P[3].x; // those that see most keys first
  let begin = chunk * P[1].w;
  // body: begin
  let r = tile * NT + li;
  let end = min(begin + P[1].w, seen(r, at));
  for (var d = 0u; d < P[1].x; d += 4u) {
    var o = vec4f();
    var m = FLOOR;
    var l = 0.0f;
    for (var key = begin; key < end; key++) {
      var s = 0.0f;
      for (var c = 0u; c < P[0].w; c += 4u) { s += dot(q_four(r, c, at), k_four(key, c, at)); }
      s = masked(vec4f(s * bitcast<f32>(P[2].x)), vec4u(mask_row(min(r, P[0].x - 1u), at)), vec4u(key)).x;
      let top = max(m, s);
      let w = expo(vec4f(m - top, s - top, 0.0f, 0.0f));
      o = o * w.x + w.y * v_four(key, d, at);
      l = l * w.x + w.y;
      m = top;
    }
    leave(r, d, o, m, l, chunk, at);
  }
  // body: end
}
